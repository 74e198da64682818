/* first: what a new process pays to decode one HT file, from memory to memory, with one thread: no memory is warm, and
 * nothing is prepared. lift2k, OpenJPH and, where it was found, OpenHTJ2K take turns, each in a process of its own, with
 * OpenJPH's file. Prints the least processor time of the turns, for user and system, and the most resident memory, with
 * the decoded picture and the file.
 *
 *     first [--cpu c|avx2|avx512|neon] [--turns N] [--repeat ACROSSxDOWN] PICTURE...
 *
 * Tasks and pictures are those of bench/ht.c. OpenJPH's fastest build for a processor may be one without AVX-512 (its
 * CMake option OJPH_DISABLE_AVX512). */
#define _DEFAULT_SOURCE
#include "bench/openjph.h"
#include "bench/pnm.h"
#include "bench/process.h"

enum { LIFT2K, OPENJPH, OPENHTJ2K, CODECS };

typedef struct task {
    const char *path;
    uint32_t across, down;
    l2k_cpu cpu;
    float step; /* of the 9/7; 0: 5/3 */
    int codec;
    bool compares;
    /* Found by processes. */
    openjph_picture picture; /* without samples */
    size_t count;
    double psnr[CODECS];
    uint8_t file[1 << 30]; /* pages that no file needs are never touched */
} task;

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static openjph_picture shape_of(const pnm *p, void *samples)
{
    return (openjph_picture){p->width, p->height, p->components, p->precision, samples};
}

/* In the 9/7's file the step falls until it has 2 bits a pixel. */
static void encode(void *argument)
{
    task *t = argument;
    const pnm p = pnm_read(t->path, t->across, t->down);
    const openjph_picture picture = shape_of(&p, p.samples);
    openjph *codec = openjph_new();
    const uint8_t *bytes;
    do {
        check(openjph_encode(codec, &picture, t->step, &bytes, &t->count), "OpenJPH's encoding");
        t->step /= 1.1f;
    } while (t->step > 0 && t->count < (size_t)p.width * p.height * 2 / 8);
    check(t->count <= sizeof t->file, "keeping the file");
    memcpy(t->file, bytes, t->count);
    t->picture = shape_of(&p, NULL);
}

/* ---- Decoding ---------------------------------------------------------------------------------------------------- */

static bool decode_by_lift2k(const task *t, const openjph_picture *p)
{
    const l2k_hooks hooks = {.message = report_message};
    const size_t row = (size_t)p->width * (p->precision > 8 ? 2 : 1);
    l2k_plane planes[3];
    l2k_decoder *d = l2k_decoder_new(&hooks);
    for (uint32_t c = 0; c < p->components; c++)
        planes[c] = (l2k_plane){(uint8_t *)p->samples + c * row * p->height, (ptrdiff_t)row, p->precision > 8 ? 2 : 1,
                                p->precision > 8 ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
    const bool right = d && l2k_decoder_set(d, L2K_DECODER_THREADS, 1) == L2K_OK &&
                       l2k_decoder_set(d, L2K_DECODER_CPU, t->cpu) == L2K_OK &&
                       l2k_decoder_open_memory(d, t->file, t->count) == L2K_OK &&
                       l2k_decoder_decode(d, planes) == L2K_OK;
    l2k_decoder_free(d);
    return right;
}

static bool decode_by_openjph(const task *t, const openjph_picture *p)
{
    openjph *codec = openjph_new();
    const bool right = openjph_decode(codec, t->file, t->count, p);
    openjph_free(codec);
    return right;
}

static void decode(void *argument)
{
    task *t = argument;
    openjph_picture p = t->picture;
    p.samples = malloc((size_t)p.width * p.height * p.components * (p.precision > 8 ? 2 : 1));
    check(p.samples && (t->codec == LIFT2K    ? decode_by_lift2k(t, &p)
                        : t->codec == OPENJPH ? decode_by_openjph(t, &p)
                                              : openhtj2k_decode(t->file, t->count, &p)),
          "decoding");
    if (t->compares) {
        const pnm right = pnm_read(t->path, t->across, t->down);
        t->psnr[t->codec] =
            pnm_psnr(p.samples, right.samples, (size_t)p.width * p.height * p.components, right.bytes, right.precision);
    }
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static void row(task *t, const char *name, unsigned turns)
{
    const int codecs = openhtj2k_found() ? CODECS : OPENHTJ2K;
    double seconds[CODECS] = {1e9, 1e9, 1e9}, mib[CODECS] = {0};
    run_apart(encode, t);
    for (unsigned i = 0; i <= turns; i++) /* the first turn compares samples and is not timed */
        for (t->codec = 0; t->codec < codecs; t->codec++) {
            t->compares = i == 0;
            const cost c = run_apart(decode, t);
            if (i > 0) {
                seconds[t->codec] = c.seconds < seconds[t->codec] ? c.seconds : seconds[t->codec];
                mib[t->codec] = c.peak_kib / 1024;
            }
        }
    printf("| %s, %u bits, %zu bytes |", name, t->picture.precision, t->count);
    for (int k = 0; k < codecs; k++)
        printf(" %.1f |", 1e3 * seconds[k]);
    for (int k = 1; k < codecs; k++)
        printf(" **%.2f** |", seconds[LIFT2K] / seconds[k]);
    for (int k = 0; k < codecs; k++)
        printf(" %.0f |", mib[k]);
    for (int k = 0; k < codecs; k++)
        printf(" %.2f%s", t->psnr[k], k + 1 < codecs ? "," : " |\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    unsigned turns = 11;
    task *t = share(sizeof *t);
    const number_option known[] = {{"--turns", &turns}};
    int i = 1;
    t->across = t->down = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
        if (strcmp(argv[i], "--cpu") == 0)
            t->cpu = cpu_named(argv[i + 1]);
        else if (!take_number(known, 1, argv[i], argv[i + 1]) &&
                 (strcmp(argv[i], "--repeat") != 0 || sscanf(argv[i + 1], "%ux%u", &t->across, &t->down) != 2))
            break;
    if (i >= argc || argv[i][0] == '-' || !turns || !t->across || !t->down) {
        fprintf(stderr, "usage: first [--cpu SET] [--turns N] [--repeat ACROSSxDOWN] PICTURE...\n");
        return 2;
    }
    printf("lift2k %s, OpenJPH %s%s: ms of processor time, MiB, dB\n", l2k_version(), openjph_version(),
           openhtj2k_found() ? ", OpenHTJ2K" : "");
    for (; i < argc; i++)
        for (int lossy = 0; lossy < 2; lossy++) {
            t->path = argv[i];
            t->step = lossy ? 0.5f : 0;
            row(t, lossy ? "9/7, 2 bits a pixel" : "5/3", turns);
        }
    return 0;
}
