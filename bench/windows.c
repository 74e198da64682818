/* windows [-n RUNS] [-s SIDE] [-j THREADS] [-r REDUCE,...] [-f 0|1] FILE [LIBRARY-NAME]: windows of one file with
 * lift2k and with libopenjp2, in turn, each in a process of its own.
 *
 * For each reduction: the file is opened and a window of SIDE x SIDE samples (512) is decoded out of its middle; then a
 * hundred windows at random places, for lift2k from one open decoder, for libopenjp2 (which decodes an area once) from
 * a hundred. lift2k has the file mapped, with -f 1 it reads parts of it (l2k_decoder_open_file). Prints medians of
 * seconds and of peak resident memory as a table. The samples of both must be the same, or the program fails. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <openjpeg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "lift2k/lift2k.h"

enum { MAX_RUNS = 99, MAX_COMPONENTS = 4, MANY = 100 };

typedef struct task {
    const char *path;
    uint32_t width, height; /* of the picture */
    uint32_t side, reduce, count;
    int threads;
    int64_t cache_bytes;
    bool in_parts;
} task;

/* What a process found out; the seconds are without its start and end. */
typedef struct outcome {
    double seconds;
    uint64_t sum;
    long kib;
} outcome;

typedef struct area {
    uint32_t x0, y0, x1, y1;
} area;

static void fail(const char *what)
{
    fprintf(stderr, "windows: %s\n", what);
    exit(1);
}

/* The middle for a single window; else the same random places for both libraries. */
static area place(const task *t, uint64_t *seed)
{
    const uint32_t side = t->side << t->reduce;
    const uint32_t x = t->width > side ? t->width - side : 0, y = t->height > side ? t->height - side : 0;
    area a = {x / 2, y / 2, 0, 0};
    if (t->count > 1) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        a.x0 = (uint32_t)((*seed >> 33) % (x + 1));
        a.y0 = (uint32_t)((*seed >> 40) % (y + 1));
    }
    a.x1 = a.x0 + side < t->width ? a.x0 + side : t->width;
    a.y1 = a.y0 + side < t->height ? a.y0 + side : t->height;
    return a;
}

static uint64_t add_sample(uint64_t sum, int32_t sample)
{
    return (sum ^ (uint32_t)sample) * 1099511628211u;
}

/* ---- lift2k -------------------------------------------------------------------------------------------------- */

static uint64_t lift_window(l2k_decoder *decoder, area a, uint64_t sum)
{
    l2k_image image;
    l2k_plane planes[MAX_COMPONENTS];
    l2k_decoder_set_region(decoder, a.x0, a.y0, a.x1, a.y1);
    if (l2k_decoder_image(decoder, &image) != L2K_OK || image.num_components > MAX_COMPONENTS)
        fail("lift2k does not open the file");
    for (uint32_t c = 0; c < image.num_components; c++) {
        const ptrdiff_t width = image.components[c].width;
        planes[c] = (l2k_plane){malloc((size_t)width * image.components[c].height), width, 1, L2K_SAMPLE_U8};
    }
    if (l2k_decoder_decode(decoder, planes) != L2K_OK)
        fail("lift2k does not decode the file");
    for (uint32_t c = 0; c < image.num_components; c++) {
        const size_t count = (size_t)image.components[c].width * image.components[c].height;
        for (size_t i = 0; i < count; i++)
            sum = add_sample(sum, ((const uint8_t *)planes[c].data)[i]);
        free(planes[c].data);
    }
    return sum;
}

static int read_at(void *user, uint64_t offset, void *buffer, size_t bytes)
{
    return pread(*(const int *)user, buffer, bytes, (off_t)offset) == (ssize_t)bytes ? 0 : -1;
}

static uint64_t lift_windows(const task *t)
{
    uint64_t seed = 1, sum = 0;
    struct stat about;
    const int file = open(t->path, O_RDONLY);
    if (file < 0 || fstat(file, &about) != 0)
        fail("cannot open the file");
    l2k_file parts = {(uint64_t)about.st_size, read_at, (void *)&file};
    void *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED)
        fail("cannot map the file");
    madvise(data, (size_t)about.st_size, MADV_RANDOM);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, t->threads);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, t->reduce);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, t->count > 1 ? t->cache_bytes : 0);
    if ((t->in_parts ? l2k_decoder_open_file(decoder, &parts)
                     : l2k_decoder_open_memory(decoder, data, (size_t)about.st_size)) != L2K_OK)
        fail("lift2k does not open the file");
    for (uint32_t i = 0; i < t->count; i++)
        sum = lift_window(decoder, place(t, &seed), sum);
    l2k_decoder_free(decoder);
    return sum;
}

/* ---- libopenjp2 ---------------------------------------------------------------------------------------------- */

static uint64_t opj_window(const task *t, area a, uint64_t sum)
{
    opj_dparameters_t parameters;
    opj_image_t *image = NULL;
    opj_stream_t *stream = opj_stream_create_default_file_stream(t->path, OPJ_TRUE);
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_JP2);
    opj_set_default_decoder_parameters(&parameters);
    parameters.cp_reduce = t->reduce;
    if (!stream || !codec || !opj_setup_decoder(codec, &parameters) || !opj_codec_set_threads(codec, t->threads) ||
        !opj_read_header(stream, codec, &image) ||
        !opj_set_decode_area(codec, image, (int)a.x0, (int)a.y0, (int)a.x1, (int)a.y1) ||
        !opj_decode(codec, stream, image))
        fail("libopenjp2 does not decode the file");
    for (uint32_t c = 0; c < image->numcomps; c++)
        for (size_t i = 0; i < (size_t)image->comps[c].w * image->comps[c].h; i++)
            sum = add_sample(sum, image->comps[c].data[i]);
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
    return sum;
}

static uint64_t opj_windows(const task *t)
{
    uint64_t seed = 1, sum = 0;
    for (uint32_t i = 0; i < t->count; i++)
        sum = opj_window(t, place(t, &seed), sum);
    return sum;
}

/* ---- Processes ----------------------------------------------------------------------------------------------- */

typedef uint64_t library(const task *);

static outcome run(const task *t, library *decode)
{
    outcome *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), result;
    struct rusage usage;
    int status;
    if (shared == MAP_FAILED)
        fail("no memory");
    const pid_t child = fork();
    if (child == 0) {
        const double start = now();
        shared->sum = decode(t);
        shared->seconds = now() - start;
        _exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status))
        fail("a process failed");
    result = *shared;
    result.kib = usage.ru_maxrss;
    munmap(shared, sizeof *shared);
    return result;
}

static void measure(const char *name, const task *t, int runs)
{
    double seconds[2][MAX_RUNS], kib[2][MAX_RUNS];
    for (int i = -1; i < runs; i++) {
        const outcome lift = run(t, lift_windows), opj = run(t, opj_windows);
        if (lift.sum != opj.sum)
            fail("the samples differ");
        if (i < 0)
            continue;
        seconds[0][i] = lift.seconds;
        seconds[1][i] = opj.seconds;
        kib[0][i] = (double)lift.kib;
        kib[1][i] = (double)opj.kib;
    }
    const double a = median(seconds[0], (size_t)runs), b = median(seconds[1], (size_t)runs),
                 m = median(kib[0], (size_t)runs) / 1024, n = median(kib[1], (size_t)runs) / 1024;
    printf("| %s | %u | %u | %.3f | %.3f | %.2f | %.1f | %.1f | %.2f |\n", name, t->count, t->reduce, a, b, a / b, m, n,
           m / n);
    fflush(stdout);
}

/* In a process of its own, whose memory the others do not inherit. */
static uint64_t ask_size(const task *t)
{
    uint64_t size = 0;
    opj_dparameters_t parameters;
    opj_image_t *image = NULL;
    opj_stream_t *stream = opj_stream_create_default_file_stream(t->path, OPJ_TRUE);
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_JP2);
    opj_set_default_decoder_parameters(&parameters);
    if (!stream || !opj_setup_decoder(codec, &parameters) || !opj_read_header(stream, codec, &image))
        fail("libopenjp2 does not open the file");
    size = (uint64_t)image->x1 << 32 | image->y1;
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
    return size;
}

int main(int count, char **arguments)
{
    task t = {.side = 512, .threads = 1, .count = 1, .cache_bytes = 16 << 20};
    const char *reductions = "0,2,4";
    int runs = 7, many = 1, at = 1;
    if (count == 2 && strcmp(arguments[1], "--version") == 0) {
        printf("lift2k %s, libopenjp2 %s\n", l2k_version(), opj_version());
        return 0;
    }
    for (; at + 1 < count && arguments[at][0] == '-'; at += 2) {
        const char *value = arguments[at + 1];
        switch (arguments[at][1]) {
        case 'n':
            runs = atoi(value);
            break;
        case 'm':
            many = atoi(value);
            break;
        case 's':
            t.side = (uint32_t)atoi(value);
            break;
        case 'j':
            t.threads = atoi(value);
            break;
        case 'r':
            reductions = value;
            break;
        case 'f':
            t.in_parts = atoi(value);
            break;
        default:
            fail("an option that is not known");
        }
    }
    if (at >= count || runs < 1 || runs > MAX_RUNS)
        fail("usage: windows [-n RUNS] [-m RUNS-OF-A-HUNDRED] [-s SIDE] [-j THREADS] [-r REDUCE,...] [-f 0|1] "
             "FILE [NAME]");
    t.path = arguments[at];
    const char *name = at + 1 < count ? arguments[at + 1] : t.path;
    const outcome size = run(&t, ask_size);
    t.width = (uint32_t)(size.sum >> 32);
    t.height = (uint32_t)size.sum;
    for (const char *r = reductions; *r; r += strcspn(r, ","), r += *r == ',') {
        t.reduce = (uint32_t)strtoul(r, NULL, 10);
        t.count = 1;
        measure(name, &t, runs);
        t.count = MANY;
        if (many)
            measure(name, &t, many);
    }
    return 0;
}
