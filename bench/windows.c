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
#include <sys/stat.h>

#include "bench/process.h"

enum { MAX_RUNS = 99, MAX_COMPONENTS = 4, MANY = 100 };

typedef struct task {
    const char *path;
    uint32_t width, height; /* of the picture */
    uint32_t side, reduce, count;
    unsigned threads, in_parts;
    int64_t cache_bytes;
} task;

typedef struct area {
    uint32_t x0, y0, x1, y1;
} area;

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
    check(l2k_decoder_image(decoder, &image) == L2K_OK && image.num_components <= MAX_COMPONENTS, "opening by lift2k");
    for (uint32_t c = 0; c < image.num_components; c++) {
        const ptrdiff_t width = image.components[c].width;
        planes[c] = (l2k_plane){malloc((size_t)width * image.components[c].height), width, 1, L2K_SAMPLE_U8};
    }
    check(l2k_decoder_decode(decoder, planes) == L2K_OK, "decoding by lift2k");
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

static l2k_decoder *open_decoder(const task *t)
{
    static int file;
    struct stat about;
    file = open(t->path, O_RDONLY);
    check(file >= 0 && fstat(file, &about) == 0, "opening the file");
    const l2k_file parts = {(uint64_t)about.st_size, read_at, &file};
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    void *data = mmap(NULL, parts.bytes, PROT_READ, MAP_PRIVATE, file, 0);
    check(decoder && data != MAP_FAILED && madvise(data, parts.bytes, MADV_RANDOM) == 0, "mapping the file");
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, t->threads);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, t->reduce);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, t->count > 1 ? t->cache_bytes : 0);
    check((t->in_parts ? l2k_decoder_open_file(decoder, &parts)
                       : l2k_decoder_open_memory(decoder, data, parts.bytes)) == L2K_OK,
          "opening by lift2k");
    return decoder;
}

static uint64_t lift_windows(const task *t)
{
    uint64_t seed = 1, sum = 0;
    l2k_decoder *decoder = open_decoder(t);
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
    check(stream && codec && opj_setup_decoder(codec, &parameters) && opj_codec_set_threads(codec, (int)t->threads) &&
              opj_read_header(stream, codec, &image) &&
              opj_set_decode_area(codec, image, (int)a.x0, (int)a.y0, (int)a.x1, (int)a.y1) &&
              opj_decode(codec, stream, image),
          "decoding by libopenjp2");
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

/* The seconds are without the start and end of the process. */
typedef struct attempt {
    const task *task;
    uint64_t (*windows)(const task *);
    double seconds;
    uint64_t sum;
} attempt;

static void try(void *argument)
{
    attempt *a = argument;
    const double start = now();
    a->sum = a->windows(a->task);
    a->seconds = now() - start;
}

static void measure(const char *name, const task *t, unsigned runs)
{
    double seconds[2][MAX_RUNS], kib[2][MAX_RUNS];
    attempt *a = share(2 * sizeof *a);
    a[0] = (attempt){t, lift_windows, 0, 0};
    a[1] = (attempt){t, opj_windows, 0, 0};
    for (unsigned i = 0; i <= runs; i++) { /* the first turn is a warm-up */
        const unsigned at = i > 0 ? i - 1 : 0;
        for (int k = 0; k < 2; k++) {
            kib[k][at] = run_apart(try, &a[k]).peak_kib;
            seconds[k][at] = a[k].seconds;
        }
        check(a[0].sum == a[1].sum, "the comparison of samples");
    }
    const double s = median(seconds[0], runs), o = median(seconds[1], runs), m = median(kib[0], runs) / 1024,
                 n = median(kib[1], runs) / 1024;
    printf("| %s | %u | %u | %.3f | %.3f | %.2f | %.1f | %.1f | %.2f |\n", name, t->count, t->reduce, s, o, s / o, m, n,
           m / n);
    fflush(stdout);
    munmap(a, 2 * sizeof *a);
}

/* In a process of its own, whose memory the others do not inherit. */
static void ask_size(void *argument)
{
    task *t = argument;
    l2k_image image;
    check(l2k_decoder_image(open_decoder(t), &image) == L2K_OK, "opening by lift2k");
    t->width = image.x1;
    t->height = image.y1;
}

int main(int count, char **arguments)
{
    task *t = share(sizeof *t);
    const char *reductions = "0,2,4";
    unsigned runs = 7, many = 1;
    int at = 1;
    *t = (task){.side = 512, .threads = 1, .count = 1, .cache_bytes = 16 << 20};
    const number_option known[] = {
        {"-n", &runs}, {"-m", &many}, {"-s", &t->side}, {"-j", &t->threads}, {"-f", &t->in_parts}};
    if (count == 2 && strcmp(arguments[1], "--version") == 0) {
        printf("lift2k %s, libopenjp2 %s\n", l2k_version(), opj_version());
        return 0;
    }
    for (; at + 1 < count && arguments[at][0] == '-'; at += 2)
        if (strcmp(arguments[at], "-r") == 0)
            reductions = arguments[at + 1];
        else
            check(take_number(known, 5, arguments[at], arguments[at + 1]), arguments[at]);
    if (at >= count || runs < 1 || runs > MAX_RUNS || many > MAX_RUNS) {
        fprintf(stderr,
                "usage: windows [-n RUNS] [-m RUNS-OF-A-HUNDRED] [-s SIDE] [-j THREADS] [-r REDUCE,...] [-f 0|1] "
                "FILE [NAME]\n");
        return 2;
    }
    t->path = arguments[at];
    const char *name = at + 1 < count ? arguments[at + 1] : t->path;
    run_apart(ask_size, t);
    for (const char *r = reductions; *r; r += strcspn(r, ","), r += *r == ',') {
        t->reduce = (uint32_t)strtoul(r, NULL, 10);
        t->count = 1;
        measure(name, t, runs);
        t->count = MANY;
        if (many)
            measure(name, t, many);
    }
    return 0;
}
