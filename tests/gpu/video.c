/* gpu_video: streams of Dirac and VC-2 on the GPU, with frames in host and in device memory, against the CPU's frames;
 * whole, and damaged in CASES ways.
 *
 *     gpu_video FOLDER [CASES]
 *
 * Exits with 77 without a GPU, unless L2K_REQUIRE_GPU=1. */
#include <dirent.h>

#include "base/sample.h"
#include "device.h"
#include "require.h"

enum { MOST_FRAMES = 64, MOST_BYTES = 1 << 20 };

static uint64_t state = 1;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static void check(bool right, const char *what, const char *name, unsigned number)
{
    if (right)
        return;
    fprintf(stderr, "FAILED: %s, case %u: %s\n", name, number, what);
    exit(1);
}

/* Frames in the order of display, as hashes of their samples. */
typedef struct outcome {
    unsigned frames, errors;
    uint64_t hashes[MOST_FRAMES];
    bool incomplete[MOST_FRAMES];
} outcome;

static uint64_t hash_of(const l2k_video_frame *frame, bool on_device)
{
    uint64_t hash = frame->number;
    for (uint32_t c = 0; c < frame->image.num_components; c++) {
        const l2k_component *k = &frame->image.components[c];
        const l2k_plane *plane = &frame->planes[c];
        const size_t bytes =
            (size_t)(k->height - 1) * (size_t)plane->row_stride + k->width * l2k_sample_bytes(plane->type);
        uint8_t *host = on_device ? malloc(bytes) : plane->data;
        if (on_device)
            gpu_copy_out(host, plane->data, bytes);
        for (uint32_t y = 0; y < k->height; y++)
            for (size_t x = 0; x < k->width * l2k_sample_bytes(plane->type); x++)
                hash = (hash ^ host[y * (size_t)plane->row_stride + x]) * 0x100000001b3;
        if (on_device)
            free(host);
    }
    return hash;
}

static void decode(const uint8_t *data, size_t bytes, l2k_backend backend, l2k_memory memory, outcome *o)
{
    l2k_video_decoder *decoder = l2k_video_decoder_new(NULL);
    const l2k_video_frame *frame;
    *o = (outcome){0};
    if (l2k_video_decoder_set(decoder, L2K_VIDEO_BACKEND, backend) != L2K_OK ||
        l2k_video_decoder_set(decoder, L2K_VIDEO_MEMORY, memory) != L2K_OK ||
        l2k_video_decoder_set(decoder, L2K_VIDEO_LIMIT_SAMPLES, 1 << 22) != L2K_OK ||
        l2k_video_decoder_push(decoder, data, bytes) != L2K_OK || l2k_video_decoder_push(decoder, NULL, 0) != L2K_OK)
        exit(1);
    for (bool more = true; more && o->frames < MOST_FRAMES;) {
        const l2k_status status = l2k_video_decoder_pull(decoder, &frame);
        if (frame) {
            o->incomplete[o->frames] = status == L2K_INCOMPLETE;
            o->hashes[o->frames++] = hash_of(frame, memory == L2K_MEMORY_DEVICE);
        }
        o->errors += !frame && status != L2K_OK;
        if (status == L2K_ERROR_BACKEND)
            exit(1);
        more = frame || (status != L2K_OK && status != L2K_ERROR_FORMAT);
    }
    l2k_video_decoder_free(decoder);
}

static void compare(const uint8_t *data, size_t bytes, const char *name, unsigned number)
{
    static outcome expected, found;
    decode(data, bytes, L2K_BACKEND_CPU, L2K_MEMORY_HOST, &expected);
    decode(data, bytes, L2K_BACKEND_CUDA, number % 2 ? L2K_MEMORY_DEVICE : L2K_MEMORY_HOST, &found);
    check(expected.frames == found.frames, "another number of frames", name, number);
    check(expected.errors == found.errors, "another number of errors", name, number);
    for (unsigned i = 0; i < expected.frames; i++) {
        check(expected.hashes[i] == found.hashes[i], "other samples", name, number);
        check(expected.incomplete[i] == found.incomplete[i], "another status", name, number);
    }
}

static void damage(uint8_t *data, size_t *bytes)
{
    for (uint32_t n = 1 + below(20); n > 0; n--) {
        const size_t at = below(below(3) ? (uint32_t)*bytes : 200);
        data[at] = below(2) ? (uint8_t)below(256) : (uint8_t)(data[at] ^ 1u << below(8));
    }
    *bytes = below(4) ? *bytes : 1 + below((uint32_t)*bytes);
}

/* The stream up to some bytes of its last picture. */
static void cut(const uint8_t *data, size_t bytes, const char *name)
{
    enum { PARSE_INFO = 13, PARAMETERS = 48 };
    size_t last = 0;
    for (size_t at = 0; at + PARSE_INFO < bytes; at++)
        last = memcmp(data + at, "BBCD", 4) == 0 && data[at + 4] & 8 ? at : last;
    for (unsigned i = 0; i < PARAMETERS && last + PARSE_INFO + i < bytes; i++)
        compare(data, last + PARSE_INFO + i, name, i);
}

int main(int argc, char **argv)
{
    const unsigned cases = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 20;
    const int missing = gpu_missing();
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
    uint8_t *stream = malloc(MOST_BYTES), *damaged = malloc(MOST_BYTES);
    unsigned streams = 0;
    if (missing)
        return missing;
    if (!folder || !stream || !damaged)
        return 2;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%.200s", argv[1], entry->d_name);
        FILE *file = strstr(entry->d_name, ".drc") ? fopen(path, "rb") : NULL;
        const size_t all = file ? fread(stream, 1, MOST_BYTES, file) : 0;
        if (!file)
            continue;
        fclose(file);
        for (unsigned i = 0; i < 2; i++)
            compare(stream, all, entry->d_name, i);
        cut(stream, all, entry->d_name);
        for (unsigned i = 2; i < cases; i++) {
            size_t bytes = all;
            memcpy(damaged, stream, all);
            damage(damaged, &bytes);
            compare(damaged, bytes, entry->d_name, i);
        }
        streams++;
    }
    closedir(folder);
    free(stream);
    free(damaged);
    printf("%u streams, each damaged in %u ways\n", streams, cases - 2);
    return streams > 0 ? 0 : 1;
}
