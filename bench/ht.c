/* ht: HT encoding and decoding from memory to memory against OpenJPH, which has one thread, in one run: both take turns
 * on each task. Times are milliseconds, the least and the median of the turns; both decode OpenJPH's file.
 *
 *     ht [--first] [--cpu c|avx2|avx512|neon] [--threads N] [--turns N] [--repeat ACROSSxDOWN] PICTURE...
 *
 * A picture is a binary PGM or PPM file, taken once or side by side ACROSS x DOWN times; its samples lie in memory
 * component by component, which suits OpenJPH best. Tasks: the 5/3, lossless, and the 9/7 at 2 bits a pixel: with
 * OpenJPH's base step for that size, and with ours; then ours to a ratio, with ours without in OpenJPH's columns. To
 * compare like with like, --cpu avx2 needs an OpenJPH without AVX-512 (its CMake option OJPH_DISABLE_AVX512).
 *
 * --first: what a new process pays to decode a file once, with no memory warm and nothing prepared. lift2k, OpenJPH and,
 * where the build found it, OpenHTJ2K take turns, each in its own process with one thread: milliseconds of processor
 * time for user and system, the least of the turns; and the most resident memory, samples and file included. The samples
 * lie on huge pages, so that the caller's page faults, the same for all, do not hide the differences. */
#define _DEFAULT_SOURCE
#include <math.h>

#include "bench/openjph.h"
#include "bench/pnm.h"
#include "bench/process.h"

enum { MOST_TURNS = 1000, HUGE_PAGE = 1 << 21 };

typedef struct settings {
    l2k_cpu cpu;
    unsigned threads, turns;
    uint32_t across, down;
    bool first;
} settings;

typedef struct bench {
    const settings *settings;
    pnm picture;
    l2k_encoder *encoder;
    l2k_decoder *decoder;
    openjph *other;
    uint8_t *decoded[2]; /* ours, OpenJPH's */
} bench;

/* What is measured: in ms, by codec (ours first) and turn. */
typedef struct times {
    double ms[2][MOST_TURNS];
} times;

typedef struct code {
    const uint8_t *bytes;
    size_t count;
} code;

/* ---- The two codecs ------------------------------------------------------------------------------------------ */

static openjph_picture for_openjph(const bench *b, uint8_t *samples)
{
    const pnm *p = &b->picture;
    return (openjph_picture){p->width, p->height, p->components, p->precision, samples};
}

static void make_planes(const bench *b, uint8_t *samples, l2k_plane planes[3])
{
    const pnm *p = &b->picture;
    for (uint32_t c = 0; c < p->components; c++)
        planes[c] = (l2k_plane){samples + c * pnm_plane_bytes(p), (ptrdiff_t)((size_t)p->width * p->bytes), p->bytes,
                                p->bytes == 2 ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
}

static code encode_ours(bench *b)
{
    const pnm *p = &b->picture;
    l2k_component components[3];
    l2k_plane planes[3];
    memset(components, 0, sizeof components);
    for (uint32_t c = 0; c < p->components; c++)
        components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = p->precision};
    l2k_image image = {.x1 = p->width, .y1 = p->height, .num_components = p->components, .components = components};
    code result;
    image.colour = p->components == 3 ? L2K_COLOUR_SRGB : L2K_COLOUR_GRAY;
    make_planes(b, p->samples, planes);
    check(l2k_encoder_encode_memory(b->encoder, &image, planes, &result.bytes, &result.count) == L2K_OK, "encoding");
    return result;
}

static code encode_theirs(bench *b, double step)
{
    const openjph_picture picture = for_openjph(b, b->picture.samples);
    code result;
    check(openjph_encode(b->other, &picture, (float)step, &result.bytes, &result.count), "OpenJPH's encoding");
    return result;
}

static void decode_ours(bench *b, code from)
{
    l2k_image image;
    l2k_plane planes[3];
    make_planes(b, b->decoded[0], planes);
    check(l2k_decoder_open_memory(b->decoder, from.bytes, from.count) == L2K_OK &&
              l2k_decoder_image(b->decoder, &image) == L2K_OK && l2k_decoder_decode(b->decoder, planes) == L2K_OK,
          "decoding");
}

static void decode_theirs(bench *b, code from)
{
    const openjph_picture picture = for_openjph(b, b->decoded[1]);
    check(openjph_decode(b->other, from.bytes, from.count, &picture), "OpenJPH's decoding");
}

/* ---- Tasks --------------------------------------------------------------------------------------------------- */

/* A copy, since OpenJPH's own bytes go with its next call. */
static code keep(code from)
{
    uint8_t *copy = malloc(from.count);
    check(copy, "keeping a file");
    memcpy(copy, from.bytes, from.count);
    return (code){copy, from.count};
}

static double psnr(const bench *b, const uint8_t *decoded)
{
    const pnm *p = &b->picture;
    return pnm_psnr(decoded, p->samples, (size_t)p->width * p->height * p->components, p->bytes, p->precision);
}

static void print_times(const bench *b, const char *task, times *t)
{
    const unsigned n = b->settings->turns;
    const double a = median(t->ms[0], n), o = median(t->ms[1], n); /* sorted from here on */
    printf("| %s | %.1f | %.1f | **%.2f** | %.1f | %.1f | **%.2f** |", task, t->ms[0][0], t->ms[1][0],
           t->ms[0][0] / t->ms[1][0], a, o, a / o);
}

/* Ours and theirs with their settings as they are; the sizes. */
static void time_encoding(bench *b, const char *task, double step)
{
    static times t;
    size_t ours = 0, theirs = 0;
    for (unsigned i = 0; i < b->settings->turns; i++) {
        double from = now_ms();
        ours = encode_ours(b).count;
        double middle = now_ms();
        theirs = encode_theirs(b, step).count;
        t.ms[0][i] = middle - from;
        t.ms[1][i] = now_ms() - middle;
    }
    print_times(b, task, &t);
    printf(" %zu, %zu bytes |\n", ours, theirs);
    fflush(stdout);
}

static void time_decoding(bench *b, const char *task, code file)
{
    static times t;
    for (unsigned i = 0; i < b->settings->turns; i++) {
        double from = now_ms();
        decode_ours(b, file);
        double middle = now_ms();
        decode_theirs(b, file);
        t.ms[0][i] = middle - from;
        t.ms[1][i] = now_ms() - middle;
    }
    print_times(b, task, &t);
    printf(" %.2f, %.2f dB |\n", psnr(b, b->decoded[0]), psnr(b, b->decoded[1]));
    fflush(stdout);
}

static void set(bench *b, l2k_encoder_option option, int64_t value)
{
    check(l2k_encoder_set(b->encoder, option, value) == L2K_OK, "an option");
}

static void time_lossless(bench *b)
{
    set(b, L2K_ENCODER_WAVELET, L2K_WAVELET_5_3);
    code file = keep(encode_theirs(b, 0));
    time_encoding(b, "5/3 encode", 0);
    time_decoding(b, "5/3 decode", file);
    free((void *)file.bytes);
}

/* The base step for which a codec's file takes about `bytes`. */
static double find_step(bench *b, bool ours, size_t bytes)
{
    double low = 1e-6, high = 0.5;
    for (int i = 0; i < 24; i++) {
        const double step = sqrt(low * high);
        check(!ours || l2k_encoder_set_step(b->encoder, step) == L2K_OK, "the step");
        const size_t count = ours ? encode_ours(b).count : encode_theirs(b, step).count;
        *(count > bytes ? &low : &high) = step;
    }
    return high;
}

static void time_lossy(bench *b)
{
    const size_t bytes = (size_t)b->picture.width * b->picture.height * 2 / 8;
    set(b, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7);
    const double step = find_step(b, false, bytes);
    code file = keep(encode_theirs(b, step));
    check(l2k_encoder_set_step(b->encoder, step) == L2K_OK, "the step");
    time_encoding(b, "9/7 encode, 2 bits a pixel", step);
    time_decoding(b, "9/7 decode, 2 bits a pixel", file);
    find_step(b, true, file.count);
    code same = keep(encode_ours(b));
    decode_ours(b, same);
    decode_theirs(b, file);
    printf("| 9/7 at equal size | | | | | | | %zu, %zu bytes; %.3f, %.3f dB |\n", same.count, file.count,
           psnr(b, b->decoded[0]), psnr(b, b->decoded[1]));
    free((void *)file.bytes);
    free((void *)same.bytes);
}

/* ---- Targets ------------------------------------------------------------------------------------------------- */

static double psnr_of_ratio(bench *b, double ratio, size_t *bytes)
{
    check(l2k_encoder_set_layers(b->encoder, L2K_TARGET_RATIO, &ratio, 1) == L2K_OK, "a ratio");
    const code file = encode_ours(b);
    *bytes = file.count;
    decode_ours(b, file);
    return psnr(b, b->decoded[0]);
}

/* Encoding to a ratio, 0: that which comes without one; and without. Both PSNRs, and that of MQ code-blocks of the same
 * size. */
static void time_target(bench *b, l2k_wavelet wavelet, double ratio)
{
    static times t;
    const double none = 1, raw = (double)pnm_plane_bytes(&b->picture) * b->picture.components;
    size_t without, with, mq;
    set(b, L2K_ENCODER_WAVELET, wavelet);
    const double first = psnr_of_ratio(b, 1, &without), to = ratio > 0 ? ratio : raw / (double)without;
    const double truncated = psnr_of_ratio(b, to, &with);
    for (unsigned i = 0; i < 2 * b->settings->turns; i++) {
        check(l2k_encoder_set_layers(b->encoder, L2K_TARGET_RATIO, i % 2 ? &none : &to, 1) == L2K_OK, "a ratio");
        const double from = now_ms();
        encode_ours(b);
        t.ms[i % 2][i / 2] = now_ms() - from;
    }
    set(b, L2K_ENCODER_STYLE, 0);
    const double of_mq = psnr_of_ratio(b, raw / (double)with, &mq);
    set(b, L2K_ENCODER_STYLE, L2K_STYLE_HT);
    check(l2k_encoder_set_layers(b->encoder, L2K_TARGET_RATIO, NULL, 0) == L2K_OK, "no ratio");
    char task[64];
    snprintf(task, sizeof task, "%s to a ratio of %.2f, and without", wavelet == L2K_WAVELET_5_3 ? "5/3" : "9/7", to);
    print_times(b, task, &t);
    printf(" %zu, %zu bytes; %.2f, %.2f dB; MQ %.2f |\n", with, without, truncated, first, of_mq);
}

/* ---- A new process -------------------------------------------------------------------------------------------- */

enum { CODECS = 3 };

typedef struct attempt {
    const settings *settings;
    const char *path;
    bool lossy, compares;
    int codec; /* ours, OpenJPH, OpenHTJ2K */
    /* Found by processes. */
    pnm shape; /* without samples */
    double psnr[CODECS];
    size_t count;
    uint8_t file[1 << 30]; /* pages without a part of the file are never touched */
} attempt;

static l2k_decoder *make_decoder(const settings *s)
{
    static const l2k_hooks hooks = {.message = report_message};
    l2k_decoder *d = l2k_decoder_new(&hooks);
    check(d && l2k_decoder_set(d, L2K_DECODER_THREADS, s->threads) == L2K_OK &&
              l2k_decoder_set(d, L2K_DECODER_CPU, s->cpu) == L2K_OK,
          "a decoder");
    return d;
}

static void make_file(void *argument)
{
    attempt *a = argument;
    bench b = {.settings = a->settings, .picture = pnm_read(a->path, a->settings->across, a->settings->down)};
    b.other = openjph_new();
    const size_t bytes = (size_t)b.picture.width * b.picture.height * 2 / 8;
    const code file = encode_theirs(&b, a->lossy ? find_step(&b, false, bytes) : 0);
    check(file.count <= sizeof a->file, "keeping a file");
    memcpy(a->file, file.bytes, file.count);
    a->count = file.count;
    a->shape = b.picture;
}

static void decode_first(void *argument)
{
    attempt *a = argument;
    bench b = {.settings = a->settings, .picture = a->shape};
    const code file = {a->file, a->count};
    const size_t bytes = pnm_plane_bytes(&b.picture) * b.picture.components;
    uint8_t *decoded = b.decoded[0] = b.decoded[1] = aligned_alloc(HUGE_PAGE, (bytes / HUGE_PAGE + 1) * HUGE_PAGE);
    check(decoded, "memory");
    madvise(decoded, bytes, MADV_HUGEPAGE); /* where the picture lies is the caller's choice */
    if (a->codec == 0) {
        b.decoder = make_decoder(a->settings);
        decode_ours(&b, file);
    } else if (a->codec == 1) {
        b.other = openjph_new();
        decode_theirs(&b, file);
    } else {
        const openjph_picture picture = for_openjph(&b, decoded);
        check(openhtj2k_decode(file.bytes, file.count, &picture), "OpenHTJ2K's decoding");
    }
    if (a->compares) {
        b.picture = pnm_read(a->path, a->settings->across, a->settings->down);
        a->psnr[a->codec] = psnr(&b, decoded);
    }
}

static void print_first(attempt *a)
{
    const int codecs = openhtj2k_decode ? CODECS : CODECS - 1;
    double ms[CODECS] = {1e9, 1e9, 1e9}, kib[CODECS] = {0};
    run_apart(make_file, a);
    for (unsigned turn = 0; turn <= a->settings->turns; turn++) /* the first compares samples and is not timed */
        for (a->codec = 0; a->codec < codecs; a->codec++) {
            a->compares = turn == 0;
            const cost c = run_apart(decode_first, a);
            if (turn > 0) {
                ms[a->codec] = 1e3 * c.seconds < ms[a->codec] ? 1e3 * c.seconds : ms[a->codec];
                kib[a->codec] = c.peak_kib;
            }
        }
    const char *name = strrchr(a->path, '/');
    printf("| %s, %u bits, %s |", name ? name + 1 : a->path, a->shape.precision, a->lossy ? "9/7" : "5/3");
    for (int i = 0; i < codecs; i++)
        printf(" %.1f |", ms[i]);
    for (int i = 1; i < codecs; i++)
        printf(" **%.2f** |", ms[0] / ms[i]);
    for (int i = 0; i < codecs; i++)
        printf(" %.0f |", kib[i] / 1024);
    printf(" %zu bytes; %.2f, %.2f, %.2f dB |\n", a->count, a->psnr[0], a->psnr[1], a->psnr[2]);
    fflush(stdout);
}

/* ---- The program --------------------------------------------------------------------------------------------- */

static void run(const settings *s, const char *path)
{
    const l2k_hooks hooks = {.message = report_message};
    bench b = {.settings = s, .picture = pnm_read(path, s->across, s->down)};
    const pnm *p = &b.picture;
    b.encoder = l2k_encoder_new(&hooks);
    b.decoder = make_decoder(s);
    b.other = openjph_new();
    for (int i = 0; i < 2; i++)
        b.decoded[i] = malloc(pnm_plane_bytes(p) * p->components);
    check(b.encoder && b.other && b.decoded[0] && b.decoded[1], "memory");
    set(&b, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    set(&b, L2K_ENCODER_STYLE, L2K_STYLE_HT);
    set(&b, L2K_ENCODER_PROGRESSION, L2K_RPCL);
    set(&b, L2K_ENCODER_THREADS, s->threads);
    set(&b, L2K_ENCODER_CPU, s->cpu);
    const char *name = strrchr(path, '/');
    printf("\n| %s, %u x %u x %u, %u bits | lift2k | OpenJPH | ratio of least | lift2k | OpenJPH | ratio of medians | "
           "|\n|---|---|---|---|---|---|---|---|\n",
           name ? name + 1 : path, p->width, p->height, p->components, p->precision);
    time_lossless(&b);
    time_lossy(&b);
    check(l2k_encoder_set_step(b.encoder, 0) == L2K_OK, "no step");
    for (int i = 0; i < 6; i++)
        time_target(&b, i % 2 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3, (const double[]){4, 10, 0}[i / 2]);
    openjph_free(b.other);
    l2k_decoder_free(b.decoder);
    l2k_encoder_free(b.encoder);
    for (int i = 0; i < 2; i++)
        free(b.decoded[i]);
    free(b.picture.samples);
}

int main(int argc, char **argv)
{
    settings s = {.threads = 1, .turns = 11, .across = 1, .down = 1};
    const number_option known[] = {{"--threads", &s.threads}, {"--turns", &s.turns}};
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--first") == 0)
            s.first = i--;
        else if (strcmp(argv[i], "--cpu") == 0)
            s.cpu = cpu_named(value);
        else if (!take_number(known, 2, argv[i], value) &&
                 (strcmp(argv[i], "--repeat") != 0 || sscanf(value, "%ux%u", &s.across, &s.down) != 2))
            break;
    }
    if (i >= argc || argv[i][0] == '-' || s.turns < 1 || s.turns > MOST_TURNS || s.across < 1 || s.down < 1) {
        fprintf(stderr,
                "usage: ht [--first] [--cpu SET] [--threads N] [--turns N] [--repeat ACROSSxDOWN] PICTURE...\n");
        return 2;
    }
    printf("OpenJPH %s, one thread; lift2k %s, %u thread(s); %u turns, ms\n", openjph_version(), l2k_version(),
           s.threads, s.turns);
    attempt *a = share(sizeof *a);
    a->settings = &s;
    for (; i < argc; i++)
        if (s.first)
            for (int lossy = 0; lossy < 2; lossy++) {
                a->path = argv[i];
                a->lossy = lossy;
                print_first(a);
            }
        else
            run(&s, argv[i]);
    return 0;
}
