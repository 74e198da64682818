/* cuda_rivals: lift2k beside nvJPEG2000 on one CUDA device, in one run and on the same pictures: pixels in device
 * memory to a codestream in host memory and back. Markdown tables of milliseconds an image.
 *
 *     cuda_rivals [OPTION ...] PICTURE.ppm [GRAY16.pgm]
 *         --size uhd|hd|small|gray   one of: the picture; 1920 x 1080 of it; 256 parts of 512 x 512; the gray picture
 *                                    side by side, 8192 x 8192; all of them otherwise
 *         --codec lift2k|nvjpeg2k    only this one
 *         --coding NUMBER            only this line of `codings`
 *         --block 32|64              only code-blocks of this size
 *         --flight N                 images in flight; 8
 *         --threads N                of each worker of lift2k, whose codestreams then have PLT; 1
 *         --seconds S                of each of the three measurements whose median is printed; 0.3
 *         --host                     pixels in host memory instead, also lift2k on OpenCL, and the mere copies
 *         --interleaved              pixels as RGB RGB ...; otherwise a component after the other
 *         --memory                   instead of times, the device memory that an image in flight takes, in megabytes
 *         --pageable                 host memory from malloc; pinned otherwise
 *
 * One at a time: one worker, a call after the other. In flight: as many threads as workers, each worker with handles,
 * buffers, CUDA stream and pictures of its own. What a lossless coding decodes to is compared with the pixels. The 9/7
 * gets the step at which lift2k's code-blocks of 64 x 64 make 2 bits a pixel, and nvJPEG2000 that at which its PSNR
 * equals lift2k's; nvJPEG2000 has no ratio, and gets its own 9/7 with that PSNR as the target instead. */
#define _POSIX_C_SOURCE 199309L
#include <cuda_runtime_api.h>
#include <math.h>

#include "bench/bench.h"
#include "bench/cuda/workers.h"

enum { SEARCHES = 16 };

static struct {
    unsigned flight, block, threads;
    int coding;
    double seconds;
    bool host, pageable, interleaved, memory;
    const char *size, *codec;
} options = {.flight = 8, .threads = 1, .coding = -1, .seconds = 0.3};

/* ---- A coding of a scene by a codec ---------------------------------------------------------------------------- */

typedef struct result {
    double encode[2], decode[2]; /* ms; one at a time, in flight; negative: not measured */
    double psnr, bits;           /* bits a pixel */
    unsigned block;
    size_t bytes; /* of the first image, or the mean of all of a batch */
} result;

/* Codes all images of the scene once, so that they have bytes to decode. */
static bool code_all(scene *e, const codec *c, worker *w, result *r)
{
    size_t sum = 0;
    scene_forget_bytes(e);
    for (unsigned i = 0; i < e->num_images; i++) {
        const uint8_t *bytes;
        size_t count;
        if (!c->encode(w, e->images[i].samples, &bytes, &count))
            return false;
        scene_keep_bytes(e, i, bytes, count);
        sum += count;
    }
    r->bytes = sum / e->num_images;
    r->bits = 8.0 * (double)r->bytes / ((double)e->shape.width * e->shape.height);
    if (!c->decode(w, e->images[0].bytes, e->images[0].count, e->images[0].decoded))
        return false;
    r->psnr = scene_psnr(e);
    return true;
}

/* A batch call is measured in flight alone: one image at a time it is the call for one. */
static void measure_workers(scene *e, workers *a, bool decodes, double ms[2])
{
    if (!a->codec->encode_batch)
        ms[0] = workers_measure(a, 1, 1, decodes, options.seconds);
    ms[1] = workers_measure(a, a->count, e->num_images, decodes, options.seconds);
}

static bool measure_coding(scene *e, const codec *c, const coding *k, result *r)
{
    const bool sized = k->quality == RATIO || k->quality == PSNR, copies = c == &codec_copies;
    workers a;
    *r = (result){{-1, -1}, {-1, -1}, 0, 0, k->block, 0};
    bool right = workers_make(&a, c, e, k, c->encode_batch ? 1 : options.flight);
    right = right && (copies || code_all(e, c, a.members[0], r));
    if (right) {
        if (k->quality == EVERYTHING && !k->irreversible && !copies && !isinf(r->psnr))
            fprintf(stderr, "cuda_rivals: %s is not lossless\n", c->name);
        measure_workers(e, &a, false, r->encode);
        if (!sized)
            measure_workers(e, &a, true, r->decode);
    }
    workers_free(&a);
    return right;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

static size_t device_memory_used(void)
{
    size_t left, all;
    check(cudaMemGetInfo(&left, &all) == cudaSuccess, "the GPU's memory");
    return all - left;
}

/* Of a second worker: the first one's memory includes what all have together, such as kernels. */
static void measure_memory(scene *e, const char *name, const codec *c, const coding *k)
{
    result r;
    size_t used[3];
    const uint8_t *bytes;
    size_t count;
    sample_image *image = &e->images[0];
    worker *first = c->make(&e->shape, k, e->on_device), *second = c->make(&e->shape, k, e->on_device);
    check(first && second && code_all(e, c, first, &r), c->name);
    used[0] = device_memory_used();
    check(c->encode(second, image->samples, &bytes, &count), "encoding");
    used[1] = device_memory_used();
    check(c->decode(second, image->bytes, image->count, image->decoded), "decoding");
    used[2] = device_memory_used();
    printf("| %s | %s | %u | %.1f | %.1f |\n", name, c->name, k->block, 1e-6 * (double)(used[1] - used[0]),
           1e-6 * (double)(used[2] - used[1]));
    fflush(stdout);
    c->free(first);
    c->free(second);
}

/* ---- Steps ----------------------------------------------------------------------------------------------------- */

/* Bits a pixel or decibels at a step, both of which fall as it grows. */
static bool try_step(scene *e, const codec *c, coding k, double log2_step, bool bits, double *value)
{
    result r = {.block = 64};
    k.quality = STEP;
    k.value = exp2(log2_step);
    k.block = 64;
    worker *w = c->make(&e->shape, &k, e->on_device);
    const bool right = w && code_all(e, c, w, &r);
    if (w)
        c->free(w);
    *value = bits ? r.bits : r.psnr;
    return right;
}

/* The step in [low, high], powers of two, at which bits or decibels are as wanted. */
static bool find_step(scene *e, const codec *c, const coding *k, const double range[2], bool bits, double wanted,
                      double *step)
{
    double low = range[0], high = range[1], value;
    const unsigned images = e->num_images;
    bool right = true;
    e->num_images = 1;
    for (int i = 0; i < SEARCHES && right; i++) {
        const double middle = (low + high) / 2;
        right = try_step(e, c, *k, middle, bits, &value);
        *(value > wanted ? &low : &high) = middle;
    }
    e->num_images = images;
    *step = exp2((low + high) / 2);
    return right;
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

typedef struct line {
    const char *name;
    coding coding;
} line;

static const line codings[] = {
    {"HT, 5/3, lossless", {.ht = true}},
    {"MQ, 5/3, lossless", {.ht = false}},
    {"HT, 9/7, 2 bits a pixel", {.ht = true, .irreversible = true, .quality = STEP}},
    {"MQ, 9/7, 2 bits a pixel", {.irreversible = true, .quality = STEP}},
    {"MQ, 5/3, ratio 12", {.quality = RATIO, .value = 12}},
    {"HT, 5/3, ratio 12", {.ht = true, .quality = RATIO, .value = 12}},
    {"HT, 9/7, ratio 12", {.ht = true, .irreversible = true, .quality = RATIO, .value = 12}},
};

enum { CODINGS = sizeof codings / sizeof *codings, BLOCKS = 2 };

/* lift2k comes first: the others are measured at its PSNR. */
static const codec *const codecs[] = {
    &codec_lift2k,
    &codec_lift2k_batch,
    &codec_lift2k_opencl,
#ifdef L2K_WITH_NVJPEG2K
    &codec_nvjpeg2k,
#endif
};
enum { CODECS = sizeof codecs / sizeof *codecs };

static const unsigned blocks[BLOCKS] = {64, 32};

static bool is_nvjpeg2k(const codec *c)
{
    return strcmp(c->name, "nvJPEG2000") == 0;
}

static bool wanted_codec(const codec *c)
{
    return !options.codec || (strcmp(options.codec, "nvjpeg2k") == 0) == is_nvjpeg2k(c);
}

/* The coding as a codec is asked for it; `psnr` is lift2k's once it is known. */
static bool prepare_coding(scene *e, const line *n, const codec *c, double *psnr, coding *k)
{
    static const double ours[2] = {-14, -1}, theirs[2] = {-4, 9};
    const bool other = is_nvjpeg2k(c);
    if (c->encode_batch && *psnr > 0) /* as prepared for single calls */
        return true;
    *k = n->coding;
    if (k->quality == RATIO && other) {
        *k = (coding){.ht = k->ht, .irreversible = true, .quality = PSNR, .value = *psnr};
        return *psnr > 0;
    }
    if (k->quality != STEP)
        return true;
    const bool bits = !other || *psnr == 0;
    if (!find_step(e, c, k, other ? theirs : ours, bits, bits ? 2 : *psnr, &k->value))
        return false;
    return other || try_step(e, c, *k, log2(k->value), false, psnr);
}

static int digits(double ms)
{
    return ms < 1 ? 3 : ms < 10 ? 2 : 1;
}

static void print_ms(double ms)
{
    if (ms < 0)
        printf(" - |");
    else
        printf(" %.*f |", digits(ms), ms);
}

static void print_result(const line *n, const codec *c, const coding *k, const result *r)
{
    char value[40] = "";
    if (k->quality == STEP)
        snprintf(value, sizeof value, ", step %.5g", k->value);
    if (k->quality == PSNR)
        snprintf(value, sizeof value, ", 9/7 for %.2f dB", k->value);
    printf("| %s | %s%s | %u |", n->name, c->name, value, r->block);
    for (int i = 0; i < 2; i++)
        print_ms(r->encode[i]);
    for (int i = 0; i < 2; i++)
        print_ms(r->decode[i]);
    if (c == &codec_copies)
        printf(" %.0f | | |\n", k->value);
    else
        printf(isinf(r->psnr) ? " %zu | %.3f | exact |\n" : " %zu | %.3f | %.2f |\n", r->bytes, r->bits, r->psnr);
    fflush(stdout);
}

/* The least of both block sizes, of lift2k's two ways or of nvJPEG2000; negative if there is none. */
static double best_of(result results[CODECS][BLOCKS], bool other, bool decodes, int flight)
{
    double best = -1;
    for (int c = 0; c < CODECS; c++)
        for (int b = 0; b < BLOCKS && is_nvjpeg2k(codecs[c]) == other; b++) {
            const double ms = (decodes ? results[c][b].decode : results[c][b].encode)[flight];
            if (ms > 0 && (best < 0 || ms < best))
                best = ms;
        }
    return best;
}

/* Each codec's best block size, figure by figure. */
static void print_best(result results[CODINGS][CODECS][BLOCKS])
{
    printf("\n| at the best block size, ms: one / in flight | nvJPEG2000 | lift2k |\n|---|---|---|\n");
    for (int i = 0; i < CODINGS; i++)
        for (int decodes = 0; decodes < 2; decodes++) {
            char text[2][64] = {"-", "-"};
            for (int ours = 0; ours < 2; ours++) {
                const double one = best_of(results[i], !ours, decodes, 0),
                             many = best_of(results[i], !ours, decodes, 1);
                if (one > 0 || many > 0)
                    snprintf(text[ours], sizeof text[ours], "%.*f / %.*f", digits(one), one, digits(many), many);
            }
            if (text[0][1] || text[1][1])
                printf("| %s, %s | %s | %s |\n", codings[i].name, decodes ? "decode" : "encode", text[0], text[1]);
        }
}

static void measure_line(scene *e, const line *n, result results[CODECS][BLOCKS])
{
    double psnr = 0;
    coding k = n->coding;
    for (int c = 0; c < CODECS; c++) {
        if (!wanted_codec(codecs[c]) || (codecs[c] == &codec_lift2k_opencl && !options.host) ||
            (options.memory && codecs[c]->encode_batch) || !prepare_coding(e, n, codecs[c], &psnr, &k))
            continue;
        for (int b = 0; b < BLOCKS; b++) {
            result *r = &results[c][b];
            k.block = blocks[b];
            k.flight = codecs[c]->encode_batch ? options.flight : 0;
            k.threads = options.threads;
            if (options.block && options.block != k.block)
                continue;
            if (options.memory) {
                measure_memory(e, n->name, codecs[c], &k);
                continue;
            }
            if (!measure_coding(e, codecs[c], &k, r))
                continue;
            print_result(n, codecs[c], &k, r);
            if (!is_nvjpeg2k(codecs[c]))
                psnr = isinf(r->psnr) ? 0 : r->psnr;
            if (options.host && c == 0) {
                result floor;
                coding copies = {.value = (double)r->bytes, .block = k.block};
                measure_coding(e, &codec_copies, &copies, &floor);
                print_result(n, &codec_copies, &copies, &floor);
            }
        }
    }
}

static void measure_scene(scene *e)
{
    static result results[CODINGS][CODECS][BLOCKS];
    memset(results, 0, sizeof results);
    printf("\n### %s: %u x %u x %u, %u bits\n\n", e->name, e->shape.width, e->shape.height, e->shape.components,
           e->shape.precision);
    if (options.memory)
        printf("| coding | codec | blocks | MB to encode | MB to decode |\n|---|---|---|---|---|\n");
    else
        printf("| coding | codec | blocks | encode, one | %u in flight | decode, one | %u in flight | bytes | bits a "
               "pixel "
               "| PSNR |\n|---|---|---|---|---|---|---|---|---|---|\n",
               options.flight, options.flight);
    for (int i = 0; i < CODINGS; i++)
        if (options.coding < 0 || options.coding == i)
            measure_line(e, &codings[i], results[i]);
    if (!options.memory)
        print_best(results);
}

/* ---- The program ----------------------------------------------------------------------------------------------- */

static void print_head(int count, char **arguments)
{
    const char *const host = options.pageable ? "pageable" : "pinned";
    struct cudaDeviceProp device;
    char driver[160] = "driver unknown";
    int number = 0;
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    check(cudaGetDevice(&number) == cudaSuccess && cudaGetDeviceProperties(&device, number) == cudaSuccess, "the GPU");
    if (file) {
        if (fgets(driver, sizeof driver, file))
            driver[strcspn(driver, "\n")] = 0;
        fclose(file);
    }
    printf("%s; %s; CUDA runtime %d", device.name, driver, CUDART_VERSION);
    for (int c = 0; c < CODECS; c++)
        if (!codecs[c]->encode_batch && codecs[c] != &codec_lift2k_opencl)
            printf("; %s %s", codecs[c]->name, codecs[c]->version());
    printf("\n\n   ");
    for (int i = 0; i < count; i++)
        printf(" %s", arguments[i]);
    printf("\n\n%s pixels in %s memory, codestreams to decode in %s memory; ms an image\n",
           options.interleaved ? "interleaved" : "planar", options.host ? host : "device", host);
}

static bool wanted_size(const char *name)
{
    return !options.size || strcmp(options.size, name) == 0;
}

static void measure_part(const char *size, const char *name, const pnm *p, uint32_t width, uint32_t height,
                         unsigned count)
{
    if (!wanted_size(size))
        return;
    scene e = {.name = name, .num_images = count, .on_device = !options.host, .pageable = options.pageable};
    e.shape = (shape){width, height, p->components, p->precision, p->bytes, options.interleaved};
    scene_make(&e, p, count > MOST_WORKERS);
    measure_scene(&e);
    scene_free(&e);
}

static bool parse_option(const char *name, const char *value)
{
    const number_option known[] = {
        {"--block", &options.block}, {"--flight", &options.flight}, {"--threads", &options.threads}};
    if (strcmp(name, "--size") == 0)
        options.size = value;
    else if (strcmp(name, "--codec") == 0)
        options.codec = value;
    else if (strcmp(name, "--coding") == 0)
        options.coding = atoi(value);
    else if (strcmp(name, "--seconds") == 0)
        options.seconds = atof(value);
    else
        return take_number(known, sizeof known / sizeof *known, name, value);
    return true;
}

int main(int count, char **arguments)
{
    int i = 1;
    for (; i < count && arguments[i][0] == '-'; i++)
        if (strcmp(arguments[i], "--host") == 0)
            options.host = true;
        else if (strcmp(arguments[i], "--interleaved") == 0)
            options.interleaved = true;
        else if (strcmp(arguments[i], "--memory") == 0)
            options.memory = true;
        else if (strcmp(arguments[i], "--pageable") == 0)
            options.pageable = true;
        else if (i + 1 >= count || !parse_option(arguments[i], arguments[i + 1]))
            break;
        else
            i++;
    if (i >= count || count - i > 2 || options.flight < 1 || options.flight > MOST_WORKERS) {
        fprintf(stderr,
                "usage: cuda_rivals [OPTION ...] PICTURE.ppm [GRAY16.pgm], options as in bench/cuda/rivals.c\n");
        return 2;
    }
    print_head(count, arguments);
    pnm p = pnm_read(arguments[i], 1, 1);
    measure_part("uhd", "the picture", &p, p.width, p.height, options.flight);
    measure_part("hd", "a part of it", &p, 1920, 1080, options.flight);
    measure_part("small", "256 parts of it", &p, 512, 512, 256);
    free(p.samples);
    if (i + 1 < count && wanted_size("gray")) {
        p = pnm_read(arguments[i + 1], 1, 1);
        measure_part("gray", "the gray picture, repeated", &p, 8192, 8192, options.flight);
        free(p.samples);
    }
    return 0;
}
