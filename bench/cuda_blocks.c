/* cuda_blocks: code-blocks on a CUDA device, the block coder alone: coefficients in device memory to coded bytes in
 * host memory, and back. Milliseconds an image, medians.
 *
 *     cuda_blocks [PICTURE.ppm [SIDE [ht|mq]]]
 *     cuda_blocks worst
 *
 * Without a picture, the 3840 x 2160 gradient with noise of gpu_stream. 5 levels, RCT and 5/3, or ICT and 9/7 with
 * steps 16 times as large as the encoder's; code-blocks of 64 x 64 and 32 x 32, or of one SIDE; HT and MQ, or one of
 * them. 9/7 coefficients of MQ are quantised already; all passes are kept.
 *
 * "device": what begin enqueues, between two events in its stream, which is held up until all is there: the list of
 * blocks up (decoding: their bytes, too), the kernels, results down. "call": begin and finish on the host's clock,
 * which is the whole; bytes are in pinned memory.
 *
 * One image at a time; eight images in a batch; eight coders in rotation, each with an image of its own. Each image has
 * coefficients of its own in device memory. The first image's bytes are compared with the CPU's coder, and what all
 * images are decoded to.
 *
 * "worst": how long made-up bytes can keep the MQ decoder busy, for one code-block and for as many as a large picture
 * has.
 */
#define _POSIX_C_SOURCE 200809L
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/bench.h"
#include "codec/engine/cuda/coder/cuda_coder.h"
#include "quant/steps.h"

enum { COMPONENTS = 3, LEVELS = 5, IMAGES = 8, REPEATS = 15, HALVINGS = 4 };

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "cuda_blocks: failed: %s\n", what);
    exit(1);
}

static void cuda(cudaError_t error)
{
    require(error == cudaSuccess, cudaGetErrorString(error));
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user, (void)severity;
    fprintf(stderr, "cuda_blocks: %s\n", text);
}

static l2k_context context = {.hooks = {.message = print_message}};

/* ---- The picture ----------------------------------------------------------------------------------------------- */

typedef struct picture {
    uint32_t width, height;
    uint8_t *samples;
} picture;

static picture take_picture(uint32_t width, uint32_t height)
{
    picture p = {width, height, malloc((size_t)width * height * COMPONENTS)};
    require(p.samples, "taking memory");
    return p;
}

static picture draw_picture(void)
{
    picture p = take_picture(3840, 2160);
    uint32_t state = 1;
    for (size_t i = 0; i < (size_t)p.width * p.height * COMPONENTS; i++) {
        state = state * 1664525u + 1013904223u;
        p.samples[i] =
            (uint8_t)((i / COMPONENTS % p.width / 16 + i / (p.width * COMPONENTS) / 32) % 192 + (state >> 26));
    }
    return p;
}

static picture read_picture(const char *name)
{
    unsigned width, height, most;
    FILE *in = fopen(name, "rb");
    require(in && fscanf(in, "P6 %u %u %u", &width, &height, &most) == 3 && most == 255, "reading a PPM picture");
    getc(in);
    picture p = take_picture(width, height);
    require(fread(p.samples, COMPONENTS, (size_t)width * height, in) == (size_t)width * height, "reading the picture");
    fclose(in);
    return p;
}

/* ---- Images ---------------------------------------------------------------------------------------------------- */

/* A tile with its code-blocks and its coefficients on the device, those to encode and those decoded. */
typedef struct image {
    l2k_tile tile;
    l2k_block_place *places;
    size_t num_places;
    l2k_coefficients original[COMPONENTS], decoded[COMPONENTS];
    l2k_contribution *parts;
    uint8_t *bytes; /* of all blocks, as a codestream has them; in `bytes` of all images */
    size_t num_bytes;
} image;

typedef struct subject {
    l2k_siz siz;
    l2k_component components[COMPONENTS];
    l2k_component_coding codings[COMPONENTS];
    l2k_tile_coding coding;
    l2k_plan *plan;    /* the CPU's, with the coefficients on the host */
    l2k_plan *decoded; /* another, for its views */
    image images[IMAGES];
    l2k_block_place *all; /* places of all images */
    uint8_t *bytes;       /* pinned */
    size_t num_bytes;
} subject;

/* A coder on the device, and the one on the CPU whose bytes it makes. */
typedef struct kind {
    const char *name;
    unsigned style;
    const l2k_block_coder_table *device, *cpu;
} kind;

static const kind kinds[] = {{"HT", L2K_STYLE_HT, &l2k_ht_on_cuda, &l2k_ht_on_cpu},
                             {"MQ", 0, &l2k_mq_on_cuda, &l2k_mq_on_cpu}};
static const kind *chosen;

static bool is_ht(void)
{
    return chosen->style & L2K_STYLE_HT;
}

static void set_coding(l2k_wavelet wavelet, unsigned log2_side, l2k_component_coding *k)
{
    *k = (l2k_component_coding){.levels = LEVELS,
                                .log2_block_width = (uint8_t)log2_side,
                                .log2_block_height = (uint8_t)log2_side,
                                .style = (uint8_t)chosen->style,
                                .wavelet = (uint8_t)wavelet,
                                .quantisation = wavelet == L2K_WAVELET_9_7 ? L2K_QUANT_EXPOUNDED : L2K_QUANT_NONE,
                                .guard_bits = 2};
    memset(k->log2_precinct_width, 15, sizeof k->log2_precinct_width);
    memset(k->log2_precinct_height, 15, sizeof k->log2_precinct_height);
    l2k_steps_choose(l2k_wavelet_get(wavelet), 8, LEVELS, k->steps);
    for (unsigned b = 0; b <= 3 * LEVELS && wavelet == L2K_WAVELET_9_7; b++)
        k->steps[b].exponent = (uint8_t)(k->steps[b].exponent - HALVINGS);
}

/* The coefficients of the 9/7 are quantised by the block coder, if it is HT's. */
static void transform(subject *s, const picture *p, l2k_wavelet wavelet)
{
    l2k_plan_component components[COMPONENTS];
    l2k_plane planes[COMPONENTS];
    l2k_plan_spec spec = {.direction = L2K_FORWARD, .type = L2K_COEFFICIENT_INT16};
    l2k_coding_plan_spec(&s->siz, &s->coding, s->images[0].tile.rect, 0, components, &spec);
    require(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &s->decoded) == L2K_OK, "making a plan");
    if (wavelet == L2K_WAVELET_9_7 && is_ht())
        spec.type = L2K_COEFFICIENT_FLOAT32;
    require(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &s->plan) == L2K_OK, "making a plan");
    for (uint32_t c = 0; c < COMPONENTS; c++)
        planes[c] = (l2k_plane){p->samples + c, (ptrdiff_t)p->width * COMPONENTS, COMPONENTS, L2K_SAMPLE_U8};
    require(l2k_plan_forward(s->plan, planes) == L2K_OK, "the transform");
}

static size_t view_bytes(const l2k_coefficients *view)
{
    return view->stride * view->height * l2k_coefficient_bytes(view->type);
}

static l2k_coefficients copy_on_device(const l2k_coefficients *view)
{
    l2k_coefficients copy = *view;
    copy.on_device = true;
    cuda(cudaMalloc(&copy.base, view_bytes(view)));
    cuda(cudaMemcpy(copy.base, view->base, view_bytes(view), cudaMemcpyHostToDevice));
    return copy;
}

static void make_tile(subject *s, image *m)
{
    require(l2k_tile_create(&context, &s->siz, &s->coding, 0, UINT64_MAX, &m->tile) == L2K_OK, "making a tile");
    for (uint32_t c = 0; c < COMPONENTS; c++)
        for (uint32_t r = 0; r <= LEVELS; r++)
            for (uint32_t i = 0; i < m->tile.components[c].resolutions[r].num_precincts; i++)
                require(l2k_precinct_prepare(&context, &m->tile, &m->tile.components[c], r, i) == L2K_OK, "a precinct");
    require(l2k_tile_list_blocks(&context, &m->tile, UINT32_MAX, 0, &m->places, &m->num_places) == L2K_OK, "a list");
    m->parts = calloc(m->num_places, sizeof *m->parts);
    require(m->parts, "taking memory");
}

static void make_subject(subject *s, const picture *p, l2k_wavelet wavelet, unsigned log2_side)
{
    *s = (subject){
        .siz = {.grid = {{0, 0, p->width, p->height}, 0, 0, p->width, p->height}, .num_components = COMPONENTS}};
    s->siz.components = s->components;
    s->coding = (l2k_tile_coding){.num_layers = 1, .components = s->codings, .component_transform = true};
    for (uint32_t c = 0; c < COMPONENTS; c++) {
        s->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
        set_coding(wavelet, log2_side, &s->codings[c]);
    }
    for (unsigned i = 0; i < IMAGES; i++)
        make_tile(s, &s->images[i]);
    transform(s, p, wavelet);
    const size_t count = s->images[0].num_places;
    s->all = calloc(IMAGES * count, sizeof *s->all);
    require(s->all, "taking memory");
    for (unsigned i = 0; i < IMAGES; i++) {
        memcpy(s->all + i * count, s->images[i].places, count * sizeof *s->all);
        for (uint32_t c = 0; c < COMPONENTS; c++) {
            s->images[i].original[c] = copy_on_device(l2k_plan_coefficients(s->plan, c));
            s->images[i].decoded[c] = copy_on_device(l2k_plan_coefficients(s->decoded, c));
        }
    }
}

static void free_subject(subject *s)
{
    for (unsigned i = 0; i < IMAGES; i++) {
        image *m = &s->images[i];
        for (uint32_t c = 0; c < COMPONENTS; c++) {
            cuda(cudaFree(m->original[c].base));
            cuda(cudaFree(m->decoded[c].base));
        }
        l2k_tile_release(&context, &m->tile);
        l2k_release(&context, m->places);
        free(m->parts);
    }
    cuda(cudaFreeHost(s->bytes));
    l2k_plan_free(s->plan);
    l2k_plan_free(s->decoded);
    free(s->all);
}

static void use_views(subject *s, bool decode)
{
    for (unsigned i = 0; i < IMAGES; i++)
        for (uint32_t c = 0; c < COMPONENTS; c++)
            s->images[i].tile.components[c].view = decode ? &s->images[i].decoded[c] : &s->images[i].original[c];
}

static uint32_t code_bytes(const l2k_block *b)
{
    return b->coded.pass_bytes[b->num_passes - 1] & ~L2K_PASS_TERMINATED;
}

/* What packets would bring: the code of an image's blocks one after another. */
static void deliver(image *m, uint8_t *to)
{
    m->bytes = to;
    for (size_t i = 0; i < m->num_places; to += m->parts[i].bytes, i++) {
        l2k_block *b = m->places[i].block;
        const bool some = b->num_passes;
        if (some)
            memcpy(to, b->coded.bytes, m->parts[i].bytes);
        m->parts[i].data = to;
        m->parts[i].passes = b->num_passes;
        m->parts[i].starts_segment = true;
        b->kind = is_ht() ? L2K_BLOCK_HT : L2K_BLOCK_MQ;
        b->received = (l2k_received_block){.bytes = m->parts[i].bytes};
        if (some)
            b->received.first = b->received.last = &m->parts[i];
    }
}

static void deliver_all(subject *s)
{
    for (unsigned k = 0; k < IMAGES; k++) {
        image *m = &s->images[k];
        for (size_t i = 0; i < m->num_places; i++) {
            const l2k_block *b = m->places[i].block;
            m->parts[i].bytes = b->num_passes ? code_bytes(b) : 0;
            m->num_bytes += m->parts[i].bytes;
        }
        s->num_bytes += m->num_bytes;
    }
    cuda(cudaMallocHost((void **)&s->bytes, s->num_bytes));
    uint8_t *to = s->bytes;
    for (unsigned k = 0; k < IMAGES; to += s->images[k].num_bytes, k++)
        deliver(&s->images[k], to);
}

/* ---- Checks ---------------------------------------------------------------------------------------------------- */

/* Before `deliver`: the first image as the CPU codes it. */
static void check_code(subject *s)
{
    image *m = &s->images[0];
    l2k_block_coder *cpu;
    l2k_block_batch batch = {.places = m->places, .num_places = m->num_places};
    l2k_block *coded = malloc(m->num_places * sizeof *coded);
    require(coded && l2k_block_coder_create(&context, chosen->cpu, &cpu) == L2K_OK, "making a coder");
    for (size_t i = 0; i < m->num_places; i++)
        coded[i] = *m->places[i].block;
    for (uint32_t c = 0; c < COMPONENTS; c++)
        m->tile.components[c].view = l2k_plan_coefficients(s->plan, c);
    require(cpu->table->begin_encode(cpu, &batch) == L2K_OK && cpu->table->finish(cpu) == L2K_OK, "the CPU's coder");
    for (size_t i = 0; i < m->num_places; i++) {
        const l2k_block *b = m->places[i].block, *a = &coded[i];
        require(a->num_passes == b->num_passes && a->num_planes == b->num_planes, "passes as the CPU's");
        require(!a->num_passes || (memcmp(a->coded.pass_bytes, b->coded.pass_bytes,
                                          a->num_passes * sizeof *a->coded.pass_bytes) == 0 &&
                                   memcmp(a->coded.bytes, b->coded.bytes, code_bytes(a)) == 0),
                "bytes as the CPU's");
        *m->places[i].block = *a;
    }
    l2k_block_coder_free(cpu);
    free(coded);
}

/* All images against what the CPU decodes, which of the 5/3 is the original. */
static void check_samples(subject *s, l2k_wavelet wavelet)
{
    image *first = &s->images[0];
    l2k_block_coder *cpu;
    l2k_block_batch batch = {.places = first->places, .num_places = first->num_places};
    for (uint32_t c = 0; c < COMPONENTS; c++)
        first->tile.components[c].view = l2k_plan_coefficients(s->decoded, c);
    require(l2k_block_coder_create(&context, chosen->cpu, &cpu) == L2K_OK, "making a coder");
    require(cpu->table->begin_decode(cpu, &batch) == L2K_OK && cpu->table->finish(cpu) == L2K_OK, "the CPU's coder");
    l2k_block_coder_free(cpu);
    for (unsigned i = 0; i < IMAGES; i++)
        for (uint32_t c = 0; c < COMPONENTS; c++) {
            const l2k_coefficients *wanted = l2k_plan_coefficients(s->decoded, c);
            const l2k_coefficients *original = l2k_plan_coefficients(s->plan, c);
            uint8_t *copy = malloc(view_bytes(wanted));
            require(copy, "taking memory");
            cuda(cudaMemcpy(copy, s->images[i].decoded[c].base, view_bytes(wanted), cudaMemcpyDeviceToHost));
            for (uint32_t y = 0; y < wanted->height; y++) {
                const size_t at = 2 * y * wanted->stride, row = 2 * wanted->width;
                require(memcmp(copy + at, (uint8_t *)wanted->base + at, row) == 0, "samples as the CPU's");
                require(wavelet == L2K_WAVELET_9_7 || memcmp(copy + at, (uint8_t *)original->base + at, row) == 0,
                        "samples as they were");
            }
            free(copy);
        }
}

/* ---- Times ----------------------------------------------------------------------------------------------------- */

typedef struct lane {
    l2k_block_coder *coder;
    cudaStream_t stream;
    cudaEvent_t from, to;
} lane;

static lane lanes[IMAGES];

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, size_t count)
{
    qsort(times, count, sizeof *times, compare_times);
    return times[count / 2];
}

/* Holds up a stream until the host has enqueued everything. */
static atomic_bool open_gate;

static void CUDART_CB wait_at_gate(void *unused)
{
    (void)unused;
    while (!atomic_load(&open_gate)) {
    }
}

/* Of image `number`, or of all. */
static void begin(subject *s, lane *l, int number, bool decode, bool gated)
{
    const bool all = number == IMAGES;
    const image *m = &s->images[all ? 0 : number];
    const l2k_cuda_batch more = {
        .stream = l->stream, .bytes = decode ? m->bytes : NULL, .num_bytes = all ? s->num_bytes : m->num_bytes};
    const l2k_block_batch batch = {
        .places = all ? s->all : m->places, .num_places = m->num_places * (all ? IMAGES : 1), .engine = &more};
    atomic_store(&open_gate, false);
    if (gated)
        cuda(cudaLaunchHostFunc(l->stream, wait_at_gate, NULL));
    cuda(cudaEventRecord(l->from, l->stream));
    require((decode ? chosen->device->begin_decode : chosen->device->begin_encode)(l->coder, &batch) == L2K_OK,
            "begin");
    cuda(cudaEventRecord(l->to, l->stream));
    atomic_store(&open_gate, true);
}

static void finish(lane *l, bool last)
{
    require(chosen->device->finish(l->coder) == L2K_OK, "finish");
    if (!last)
        chosen->device->forget(l->coder);
}

/* One call at a time, of one image or of all; the images take turns. The first calls take memory. */
static double time_calls(subject *s, bool decode, bool all, bool gated)
{
    double times[REPEATS];
    for (int i = -3; i < REPEATS; i++) {
        const double start = now_ms();
        float ms;
        begin(s, &lanes[0], all ? IMAGES : (i + IMAGES) % IMAGES, decode, gated && i >= 0);
        finish(&lanes[0], decode || i == REPEATS - 1);
        const double call = now_ms() - start;
        cuda(cudaEventElapsedTime(&ms, lanes[0].from, lanes[0].to));
        times[i < 0 ? 0 : i] = gated ? ms : call;
    }
    return median(times, REPEATS) / (all ? IMAGES : 1);
}

static double time_rotation(subject *s, bool decode)
{
    double start = 0;
    for (int i = 0; i < IMAGES; i++)
        begin(s, &lanes[i], i, decode, false);
    for (int i = 0; i < (REPEATS + 1) * IMAGES; i++) {
        lane *l = &lanes[i % IMAGES];
        if (i == IMAGES)
            start = now_ms();
        finish(l, decode || i >= REPEATS * IMAGES);
        if (i < REPEATS * IMAGES)
            begin(s, l, i % IMAGES, decode, false);
    }
    return (now_ms() - start) / (REPEATS * IMAGES);
}

static void print_row(subject *s, const char *name, unsigned side, bool decode)
{
    double one[2], all[2];
    use_views(s, decode);
    for (int gated = 0; gated < 2; gated++) {
        one[gated] = time_calls(s, decode, false, gated);
        all[gated] = time_calls(s, decode, true, gated);
    }
    const double rotation = time_rotation(s, decode);
    printf("| %s, %s, %u x %u, %s | %zu | %.3f / %.3f | %.3f / %.3f | %.3f |", chosen->name, name, side, side,
           decode ? "decode" : "encode", s->images[0].num_places, one[1], one[0], all[1], all[0], rotation);
}

static void measure(const picture *p, const char *name, l2k_wavelet wavelet, unsigned log2_side)
{
    subject s;
    make_subject(&s, p, wavelet, log2_side);
    print_row(&s, name, 1u << log2_side, false);
    check_code(&s);
    deliver_all(&s);
    printf(" %.2f |\n", (double)s.images[0].num_bytes / 1e6);
    print_row(&s, name, 1u << log2_side, true);
    check_samples(&s, wavelet);
    printf(" %.2f |\n", (double)s.images[0].num_bytes / 1e6);
    fflush(stdout);
    free_subject(&s);
}

static void measure_kind(const picture *p, const kind *k, int side)
{
    chosen = k;
    for (unsigned i = 0; i < IMAGES; i++)
        require(l2k_block_coder_create(&context, k->device, &lanes[i].coder) == L2K_OK, "making a coder");
    for (unsigned log2_side = 6; log2_side >= 5; log2_side--) {
        if (side && side != 1 << log2_side)
            continue;
        measure(p, "5/3", L2K_WAVELET_5_3, log2_side);
        measure(p, "9/7", L2K_WAVELET_9_7, log2_side);
    }
    for (unsigned i = 0; i < IMAGES; i++)
        l2k_block_coder_free(lanes[i].coder);
}

/* ---- Made-up bytes --------------------------------------------------------------------------------------------- */

enum { WORST_BLOCKS = 6144, WORST_PLANES = 30, WORST_PASSES = 3 * WORST_PLANES - 2, WORST_BYTES = 1 << 17 };

/* A column of blocks with all passes, which share their bytes. */
typedef struct worst_case {
    l2k_component_coding coding;
    l2k_tile_component component;
    l2k_subband band;
    l2k_coefficients view;
    l2k_contribution part;
    l2k_block blocks[WORST_BLOCKS];
    l2k_block_place places[WORST_BLOCKS];
    uint8_t *bytes;
} worst_case;

static void make_worst(worst_case *w, uint32_t width, uint32_t height, unsigned style)
{
    *w = (worst_case){.coding = {.style = (uint8_t)style}, .bytes = w->bytes};
    w->component = (l2k_tile_component){.num_resolutions = 1, .coding = &w->coding, .view = &w->view};
    w->band = (l2k_subband){.rect = {0, 0, width, height * WORST_BLOCKS}, .component = &w->component};
    w->view = (l2k_coefficients){.type = L2K_COEFFICIENT_INT32,
                                 .num_bands = 1,
                                 .width = width,
                                 .height = height * WORST_BLOCKS,
                                 .stride = width,
                                 .on_device = true};
    w->view.bands[0] = (l2k_band_view){0, 0, width, height * WORST_BLOCKS};
    cuda(cudaMalloc(&w->view.base, view_bytes(&w->view)));
    w->part =
        (l2k_contribution){.data = w->bytes, .bytes = WORST_BYTES, .passes = WORST_PASSES, .starts_segment = true};
    for (uint32_t i = 0; i < WORST_BLOCKS; i++) {
        w->blocks[i] = (l2k_block){.rect = {0, i * height, width, (i + 1) * height}, .num_planes = WORST_PLANES};
        w->blocks[i].received = (l2k_received_block){&w->part, &w->part, WORST_BYTES};
        w->places[i] = (l2k_block_place){&w->blocks[i], &w->band};
    }
}

static double time_worst(const worst_case *w, size_t count)
{
    lane *l = &lanes[0];
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        const l2k_cuda_batch more = {.stream = l->stream, .bytes = w->bytes, .num_bytes = WORST_BYTES};
        const l2k_block_batch batch = {.places = w->places, .num_places = count, .engine = &more};
        const double start = now_ms();
        require(l->coder->table->begin_decode(l->coder, &batch) == L2K_OK, "begin");
        finish(l, true);
        best = now_ms() - start < best ? now_ms() - start : best;
    }
    return best;
}

static void measure_worst(void)
{
    static const uint32_t shapes[][2] = {{64, 64}, {32, 32}, {4, 1024}, {1024, 4}};
    static const char *const bytes[] = {"zeros", "ones", "0xFF 0x7F", "random"};
    worst_case *w = calloc(1, sizeof *w);
    uint32_t state = 1;
    chosen = &kinds[1];
    require(w && l2k_block_coder_create(&context, chosen->device, &lanes[0].coder) == L2K_OK, "making a coder");
    cuda(cudaMallocHost((void **)&w->bytes, WORST_BYTES));
    printf("\n| made-up bytes, %d passes | one block, ms | %d blocks, ms |\n|---|---|---|\n", WORST_PASSES,
           WORST_BLOCKS);
    for (size_t k = 0; k < 16; k++) {
        for (size_t i = 0; i < WORST_BYTES; i++) {
            state = state * 1664525u + 1013904223u;
            w->bytes[i] = (uint8_t)(k % 4 == 0 ? 0 : k % 4 == 1 ? 0xFF : k % 4 == 2 ? 0xFFu >> i % 2 : state >> 24);
        }
        make_worst(w, shapes[k / 4][0], shapes[k / 4][1], 0);
        printf("| %u x %u, %s | %.1f |", shapes[k / 4][0], shapes[k / 4][1], bytes[k % 4], time_worst(w, 1));
        printf(" %.1f |\n", time_worst(w, WORST_BLOCKS));
        cuda(cudaFree(w->view.base));
    }
    l2k_block_coder_free(lanes[0].coder);
    cuda(cudaFreeHost(w->bytes));
    free(w);
}

static void measure_all(const picture *p, int side, const char *only)
{
    printf("| work | code-blocks | one: device / call | batch of %d: device / call | %d coders | MB |\n"
           "|---|---|---|---|---|---|\n",
           (int)IMAGES, (int)IMAGES);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!only || (only[0] == 'm') == (kinds[k].style == 0))
            measure_kind(p, &kinds[k], side);
}

int main(int argc, char **argv)
{
    const bool worst = argc > 1 && strcmp(argv[1], "worst") == 0;
    char text[200];
    picture p = argc > 1 && !worst ? read_picture(argv[1]) : draw_picture();
    context.threads = l2k_thread_count(0);
    l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text);
    printf("%s, %u threads on the host; %u x %u RGB, 8 bits; milliseconds an image\n\n", text, context.threads, p.width,
           p.height);
    for (unsigned i = 0; i < IMAGES; i++) {
        cuda(cudaStreamCreateWithFlags(&lanes[i].stream, cudaStreamNonBlocking));
        cuda(cudaEventCreate(&lanes[i].from));
        cuda(cudaEventCreate(&lanes[i].to));
    }
    if (worst)
        measure_worst();
    else
        measure_all(&p, argc > 2 ? atoi(argv[2]) : 0, argc > 3 ? argv[3] : NULL);
    for (unsigned i = 0; i < IMAGES; i++)
        cuda(cudaStreamDestroy(lanes[i].stream));
    free(p.samples);
    return 0;
}
