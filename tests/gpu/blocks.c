/* gpu_blocks, opencl_blocks: code-blocks on the device compared with the CPU's coders, in random batches of several
 * images: shapes, types, densities, bit-planes, coded bytes and lengths, distortions; of HT refinement passes, several
 * sets, regions of interest, layers; of MQ all styles; damaged bytes. All of the device memory around the coefficients is
 * compared, too. OpenCL has HT alone, and encodes it without distortions and refinement passes.
 *
 *     gpu_blocks [BATCHES [SEED [MOST_SIDE]]]
 *
 * At the end, what the dearest blocks that can be made up take, alone on the device.
 *
 * Exits with 1 at the first difference, with 77 without a device, unless L2K_REQUIRE_GPU=1 or L2K_REQUIRE_OPENCL=1. */
#define _POSIX_C_SOURCE 200809L
#define L2K_OWN_ASSERTS
#include "ht_encode.h"

#include <math.h>
#include <time.h>

#include "block_images.h"
#include "require.h"
#ifdef L2K_TEST_OPENCL
#include "codec/engine/opencl/ht_cl_coder.h"
enum { IS_CUDA = false };
#else
#include "codec/engine/cuda/coder/cuda_coder.h"
enum { IS_CUDA = true };
#endif

enum { MOST_PARTS = 6 };

/* ---- Images --------------------------------------------------------------------------------------------------- */

/* Which coders: HT's or MQ's. */
static bool uses_mq;

static unsigned random_style(void)
{
    const unsigned all =
        L2K_STYLE_BYPASS | L2K_STYLE_RESET | L2K_STYLE_TERMALL | L2K_STYLE_VSC | L2K_STYLE_PTERM | L2K_STYLE_SEGSYM;
    if (uses_mq)
        return random_below(3) ? random_below(all + 1) : 0;
    return L2K_STYLE_HT | (random_below(3) ? 0 : L2K_STYLE_VSC);
}

static void make_image(image *m, bool decoding)
{
    const bool narrow = random_below(2), is_float = !decoding && !uses_mq && random_below(3) == 0;
    *m = (image){.coding = {.style = (uint8_t)random_style(),
                            .wavelet = (uint8_t)(is_float ? L2K_WAVELET_9_7 : random_below(2)),
                            .quantisation = L2K_QUANT_EXPOUNDED,
                            .num_steps = 1}};
    m->coding.steps[0] = (l2k_step){(uint8_t)(4 + random_below(8)), (uint16_t)random_below(2048)};
    choose_size(m);
    const uint32_t x = random_below(100), y = random_below(100);
    m->band = (l2k_subband){.rect = {x, y, x + random_side(m->log2_width), y + random_side(m->log2_height)},
                            .component = &m->component,
                            .orientation = (uint8_t)random_below(4)};
    m->band.max_planes = (uint16_t)(1 + random_below(narrow ? 14 : random_below(2) ? 20 : 30));
    if (IS_CUDA && !decoding && !uses_mq && random_below(2))
        m->coding.ht_passes = (uint8_t)(1 + random_below(3));
    if (decoding && random_below(4) == 0)
        m->coding.roi_shift = (uint8_t)(1 + random_below(m->band.max_planes));
    m->component = (l2k_tile_component){.num_resolutions = 1, .coding = &m->coding, .precision = 8};
    m->step = l2k_step_size(m->coding.steps[0], 8, 0);
    make_view(m, is_float ? L2K_COEFFICIENT_FLOAT32 : narrow ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32);
}

static void make_images(bool decoding)
{
    num_images = 1 + random_below(MOST_IMAGES);
    num_blocks = 0;
    for (size_t i = 0; i < num_images; i++) {
        make_image(&images[i], decoding);
        list_image(&images[i]);
    }
}

/* ---- Coders --------------------------------------------------------------------------------------------------- */

static l2k_block_coder *all_coders[2][2]; /* HT's and MQ's */
static l2k_block_coder *const *coders = all_coders[0];

static void make_coders(void)
{
#ifdef L2K_TEST_OPENCL
    static const l2k_block_coder_table *const tables[1][2] = {{&l2k_ht_on_cpu, &l2k_ht_on_opencl}};
#else
    static const l2k_block_coder_table *const tables[2][2] = {{&l2k_ht_on_cpu, &l2k_ht_on_cuda},
                                                              {&l2k_mq_on_cpu, &l2k_mq_on_cuda}};
#endif
    for (unsigned i = 0; i < 2 * sizeof tables / sizeof *tables; i++)
        assert_int_equal(l2k_block_coder_create(&context, tables[i / 2][i % 2], &all_coders[i / 2][i % 2]), L2K_OK);
}

static void use_coders(bool mq)
{
    uses_mq = mq;
    coders = all_coders[mq];
}

static void free_coders(void)
{
    for (unsigned i = 0; i < 4; i++)
        l2k_block_coder_free(all_coders[i / 2][i % 2]);
}

static bool wants_distortions;

/* Device memory that is lent to a batch, all of it, less or nothing. */
enum { IDLE_BYTES = 1 << 20 };
static void *idle;

static l2k_status run(unsigned k, size_t first, size_t count, bool decode, atomic_bool *damaged)
{
#ifdef L2K_TEST_OPENCL
    const void *engine = NULL;
#else
    const l2k_cuda_batch more = {.idle = idle,
                                 .idle_bytes = random_below(2) ? random_below(IDLE_BYTES + 1) : 0,
                                 .bytes = stream_offered ? stream : NULL,
                                 .num_bytes = stream_offered};
    const void *engine = &more;
#endif
    const l2k_block_batch batch = {.places = places[k] + first,
                                   .num_places = count,
                                   .distortions = wants_distortions,
                                   .damaged = damaged,
                                   .engine = engine};
    const l2k_block_coder_table *table = coders[k]->table;
    use_views(k);
    const l2k_status status = (decode ? table->begin_decode : table->begin_encode)(coders[k], &batch);
    return status == L2K_OK ? table->finish(coders[k]) : status;
}

/* Some batches in two parts, since what a coder gives back stays until it is told to forget. */
static void run_both(bool decode, bool damaged[2])
{
    const size_t cut = random_below(3) ? num_blocks : random_below(num_blocks + 1);
    for (unsigned k = 0; k < 2; k++) {
        atomic_bool flag = false;
        assert_int_equal(run(k, 0, cut, decode, &flag), L2K_OK);
        assert_int_equal(run(k, cut, num_blocks - cut, decode, &flag), L2K_OK);
        damaged[k] = flag;
    }
}

/* ---- Encoding ------------------------------------------------------------------------------------------------- */

/* Blocks of zeros, sparse and dense ones, all at the limit, single bits. */
static int64_t random_value(unsigned bits, unsigned density, unsigned kind)
{
    int64_t most = ((int64_t)1 << bits) - 1, v = (int64_t)(random_u64() & (uint64_t)most);
    if (kind == 0)
        v = most;
    if (kind == 1 && bits)
        v = v ? (int64_t)1 << random_below(bits) : 0;
    if (kind == 2 && bits)
        v >>= random_below(bits);
    if (random_below(16) >= density)
        v = 0;
    return random_below(2) ? v : -v;
}

static void set_value(const image *m, uint32_t x, uint32_t y, int64_t v)
{
    const size_t at =
        (m->host.bands[0].y + y - m->band.rect.y0) * m->host.stride + m->host.bands[0].x + x - m->band.rect.x0;
    const float fraction = (float)random_below(1000) / 1000;
    if (m->host.type == L2K_COEFFICIENT_INT16)
        ((int16_t *)m->host.base)[at] = (int16_t)v;
    else if (m->host.type == L2K_COEFFICIENT_FLOAT32)
        ((float *)m->host.base)[at] = ((float)v + (v < 0 ? -fraction : fraction)) * m->step;
    else
        ((int32_t *)m->host.base)[at] = (int32_t)v;
}

/* A few blocks exceed their subband's bit-planes, up to what their type holds. */
static void fill_block(const image *m, l2k_rect r)
{
    const bool narrow = m->host.type == L2K_COEFFICIENT_INT16, is_float = m->host.type == L2K_COEFFICIENT_FLOAT32;
    const unsigned most = narrow ? 15 : is_float ? l2k_min_u32(m->band.max_planes, 29) : uses_mq ? 30 : 31;
    const unsigned bits =
        l2k_min_u32(most, random_below(8) ? random_below(m->band.max_planes + 1u) : random_below(most + 1u));
    const unsigned density = random_below(17), kind = random_below(6);
    for (uint32_t y = r.y0; y < r.y1; y++)
        for (uint32_t x = r.x0; x < r.x1; x++)
            set_value(m, x, y, random_value(bits, density, kind));
    if (narrow && random_below(20) == 0)
        set_value(m, r.x0, r.y0, INT16_MIN);
}

static uint32_t code_bytes(const l2k_block *b)
{
    return l2k_bytes_of_passes(b, b->num_passes);
}

/* The first pass that differs. A coder may leave out lengths that no packet needs. */
static unsigned same_passes(const l2k_block *a, const l2k_block *b)
{
    const bool lengths = a->coded.pass_bytes && b->coded.pass_bytes;
    unsigned i = 0;
    while (i < a->num_passes && ((!lengths && i + 1u < a->num_passes) || l2k_pass_end(a, i) == l2k_pass_end(b, i)) &&
           (!wants_distortions || a->coded.pass_distortion[i] == b->coded.pass_distortion[i]))
        i++;
    return i;
}

static void compare_block(size_t i)
{
    const l2k_block *a = &both[0][i], *b = &both[1][i];
    const bool alike = a->num_planes == b->num_planes && a->num_passes == b->num_passes &&
                       a->coded.magnitude_bits == b->coded.magnitude_bits;
    const unsigned passes = alike ? same_passes(a, b) : 0;
    const uint32_t bytes = l2k_min_u32(code_bytes(a), code_bytes(b));
    uint32_t same = 0;
    while (same < bytes && a->coded.bytes[same] == b->coded.bytes[same])
        same++;
    if (alike && passes == a->num_passes && same == bytes)
        return;
    fprintf(stderr, "block %zu, %u x %u, style %u: passes %u and %u, planes %u and %u, bits %u and %u\n", i,
            l2k_rect_width(a->rect), l2k_rect_height(a->rect), owners[i]->coding.style, a->num_passes, b->num_passes,
            a->num_planes, b->num_planes, a->coded.magnitude_bits, b->coded.magnitude_bits);
    fprintf(stderr, "the first %u passes alike; bytes %u and %u, the same up to %u\n", passes, code_bytes(a),
            code_bytes(b), same);
    exit(1);
}

static void forget(void)
{
    for (unsigned k = 0; k < 2; k++)
        coders[k]->table->forget(coders[k]);
}

static void check_encoding(void)
{
    bool damaged[2];
    make_images(false);
    for (size_t i = 0; i < num_blocks; i++)
        fill_block(owners[i], both[0][i].rect);
    copy_in();
    wants_distortions = IS_CUDA && random_below(2);
    run_both(false, damaged);
    for (size_t i = 0; i < num_blocks; i++)
        compare_block(i);
    compare_memory(true);
    if (random_below(2))
        forget();
}

/* ---- Decoding ------------------------------------------------------------------------------------------------- */

/* What packets would have brought. */
typedef struct delivery {
    l2k_contribution parts[MOST_PARTS];
    unsigned count;
} delivery;

static delivery deliveries[MOST_BLOCKS];

static void add_part(delivery *d, const uint8_t *data, size_t bytes, unsigned passes)
{
    assert_true(d->count < MOST_PARTS);
    d->parts[d->count] = (l2k_contribution){.data = data, .bytes = (uint32_t)bytes, .passes = (uint8_t)passes};
    if (d->count)
        d->parts[d->count - 1].next = &d->parts[d->count];
    d->count++;
}

static void mutate(uint8_t *bytes, size_t size, unsigned hits)
{
    for (unsigned i = 0; size && i < hits; i++) {
        uint8_t *at = &bytes[random_below(4) ? random_below(size) : size - 1 - random_below(size < 4 ? size : 4)];
        *at = (uint8_t)(random_below(3) ? *at ^ (1u << random_below(8)) : random_below(2) ? 0xFF : random_below(256));
    }
}

/* The bytes of the set that counts: cleanup, then refinement. */
static void deliver_set(delivery *d, const ht_coded *c, unsigned passes, unsigned hits)
{
    size_t cleanup = c->cleanup_bytes, refinement = passes > 1 ? c->refinement_bytes : 0;
    assert_true(stream_used + cleanup + refinement + 8 < sizeof stream);
    uint8_t *bytes = stream + stream_used;
    stream_used += cleanup + refinement + random_below(8);
    memcpy(bytes, c->cleanup, cleanup);
    memcpy(bytes + cleanup, c->refinement, refinement);
    mutate(bytes, cleanup + refinement, hits);
    if (hits && random_below(4) == 0)
        cleanup = random_below(cleanup + 1);
    if (hits && random_below(4) == 0)
        refinement = random_below(refinement + 1);
    add_part(d, bytes, cleanup, 1);
    const uint8_t *more = bytes + c->cleanup_bytes;
    if (passes == 3 && random_below(2)) { /* SigProp and MagRef in different layers */
        const size_t cut = random_below(refinement + 1);
        add_part(d, more, cut, 1);
        add_part(d, more + cut, refinement - cut, 1);
    } else if (passes > 1) {
        add_part(d, more, refinement, passes - 1);
    }
}

/* Codes `planes` bit-planes of random samples; the sets before it are placeholders. */
static void make_delivery(size_t i, unsigned hits)
{
    static ht_source s, low;
    static ht_coded c;
    delivery *d = &deliveries[i];
    const image *m = owners[i];
    const l2k_rect r = both[0][i].rect;
    const unsigned scale = m->coding.wavelet == L2K_WAVELET_9_7, most = m->band.max_planes;
    const unsigned planes = 1 + random_below(most), lowest = most - planes,
                   sets = random_below(4) ? 0 : random_below(3);
    const unsigned passes = lowest && lowest + scale < 31 && random_below(2) ? 2 + random_below(2) : 1;
    *d = (delivery){0};
    ht_fill(&low, l2k_rect_width(r), l2k_rect_height(r), planes + (passes > 1));
    s = low;
    for (size_t k = 0; passes > 1 && k < (size_t)low.width * low.height; k++)
        s.magnitude[k] >>= 1;
    ht_encode_cleanup(&s, &c);
    if (passes > 1)
        ht_encode_refinement(&s, &low, &c, m->coding.style & L2K_STYLE_VSC);
    if (sets)
        add_part(d, NULL, 0, 3 * sets);
    deliver_set(d, &c, passes, hits);
    for (unsigned k = 0; k < 2; k++) {
        l2k_block *b = &both[k][i];
        b->kind = L2K_BLOCK_HT;
        b->num_planes = (uint8_t)(lowest + 1 + sets);
        b->received.first = d->parts;
        b->received.last = &d->parts[d->count - 1];
        for (unsigned part = 0; part < d->count; part++) {
            b->received.bytes += d->parts[part].bytes;
            b->num_passes = (uint8_t)(b->num_passes + d->parts[part].passes);
        }
    }
}

static void receive_nothing(size_t i)
{
    deliveries[i] = (delivery){0};
    for (unsigned k = 0; k < 2; k++)
        both[k][i].kind = L2K_BLOCK_OPEN;
}

/* int16 has room for no more than 15 bits, doubled ones included. */
static void limit_planes(image *m)
{
    const unsigned scale = m->coding.wavelet == L2K_WAVELET_9_7;
    const unsigned most = (m->host.type == L2K_COEFFICIENT_INT16 ? 15u : 31u) - scale;
    m->band.max_planes = (uint16_t)l2k_min_u32(m->band.max_planes, most);
}

static unsigned check_decoding(void)
{
    bool damaged[2];
    wants_distortions = false;
    const unsigned mutated = random_below(3); /* 0: valid streams alone */
    make_images(true);
    stream_used = random_below(100);
    for (size_t i = 0; i < num_images; i++)
        limit_planes(&images[i]);
    for (size_t i = 0; i < num_blocks; i++)
        if (random_below(10))
            make_delivery(i, mutated && random_below(3) ? 1 + random_below(mutated == 1 ? 3 : 60) : 0);
        else
            receive_nothing(i);
    stream_offered = random_below(2) ? stream_used : random_below(4) ? 0 : random_below(stream_used + 1);
    copy_in();
    run_both(true, damaged);
    compare_memory(false);
    assert_true(damaged[0] == damaged[1]);
    assert_true(mutated || !damaged[0]);
    return damaged[0];
}

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

static void check_errors(void)
{
    expects_errors = true;
    do {
        make_images(false);
        if (num_blocks > 4 && images[0].host.type == L2K_COEFFICIENT_INT32)
            break;
        for (size_t i = 0; i < num_images; i++)
            free_image(&images[i]);
    } while (true);
    for (size_t i = 0; i < num_blocks; i++)
        fill_block(owners[i], both[0][i].rect);
    set_value(owners[0], both[0][0].rect.x1 - 1, both[0][0].rect.y1 - 1, INT32_MIN);
    copy_in();
    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(run(k, 0, num_blocks, false, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(run(1, 1, num_blocks - 1, false, NULL), L2K_OK);
    images[0].device.on_device = false;
    assert_int_equal(run(1, 0, num_blocks, false, NULL), L2K_ERROR_ARGUMENT);
    images[0].device.on_device = true;
    images[0].coding.ht_passes = 2;
    assert_int_equal(run(0, 0, num_blocks, false, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(run(1, 0, num_blocks, false, NULL), IS_CUDA ? L2K_ERROR_ARGUMENT : L2K_ERROR_UNSUPPORTED);
    images[0].coding.ht_passes = 0;
    both[1][0].kind = L2K_BLOCK_MQ;
    memset(&both[1][0].received, 0, sizeof both[1][0].received);
    assert_int_equal(run(1, 0, 1, true, NULL), L2K_OK); /* zeros of either kind */
    l2k_contribution mq = {.passes = 1};
    both[1][0].received.first = &mq;
    assert_int_equal(run(1, 0, 1, true, NULL), L2K_ERROR_UNSUPPORTED);
    assert_int_equal(run(1, 0, 0, true, NULL), L2K_OK);
    for (size_t i = 0; i < num_images; i++)
        free_image(&images[i]);
    expects_errors = false;
}

/* ---- The dearest blocks ---------------------------------------------------------------------------------------- */

/* What takes a lane or a warp longest: the longest codewords everywhere; symbols of MEL one by one; samples that
 * SigProp all visits and finds, each because of the one before; any bytes, in whatever way they are wrong. */
enum { LONG_CODEWORDS, MANY_SYMBOLS, ALL_FOUND, ANY_BYTES, NUM_KINDS };

static const char *const kind_names[NUM_KINDS] = {"long codewords", "many MEL symbols", "all found by SigProp",
                                                  "any bytes"};

static void fill_dearest(unsigned kind, ht_source *s)
{
    for (size_t i = 0; i < (size_t)s->width * s->height; i++) {
        const size_t x = i % s->width, y = i / s->width;
        s->negative[i] = random_below(2);
        s->magnitude[i] = ((uint64_t)1 << s->planes) - 1 - random_below(4);
        if (kind == MANY_SYMBOLS)
            s->magnitude[i] = x % 4 == 0 && y % 4 == 0 ? 1 : 0;
        if (kind == ALL_FOUND)
            s->magnitude[i] = i == 0 ? 2 : 1;
    }
}

/* Of one block with all passes, the cleanup pass on bit-plane 1. */
static void deliver_dearest(unsigned kind)
{
    static ht_source s, low;
    static ht_coded c;
    const l2k_rect r = both[0][0].rect;
    delivery *d = &deliveries[0];
    ht_fill(&low, l2k_rect_width(r), l2k_rect_height(r), kind == MANY_SYMBOLS ? 1 : 28);
    fill_dearest(kind, &low);
    s = low;
    for (size_t k = 0; k < (size_t)low.width * low.height; k++)
        s.magnitude[k] >>= kind != MANY_SYMBOLS;
    ht_encode_cleanup(&s, &c);
    c.refinement_bytes = 0;
    if (kind != MANY_SYMBOLS)
        ht_encode_refinement(&s, &low, &c, false);
    if (kind == ANY_BYTES)
        for (size_t i = 0; i + 2 < c.cleanup_bytes; i++)
            c.cleanup[i] = (uint8_t)random_below(256);
    *d = (delivery){0};
    deliver_set(d, &c, c.refinement_bytes ? 3 : 1, 0);
    for (unsigned k = 0; k < 2; k++) {
        both[k][0].kind = L2K_BLOCK_HT;
        both[k][0].num_planes = 2;
        both[k][0].num_passes = 0;
        both[k][0].received = (l2k_received_block){.first = d->parts, .last = &d->parts[d->count - 1]};
    }
}

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double time_block(void)
{
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        const double start = milliseconds();
        atomic_bool damaged = false;
        assert_int_equal(run(1, 0, 1, true, &damaged), L2K_OK);
        best = fmin(best, milliseconds() - start);
    }
    return best;
}

static void make_plain_image(image *m, uint32_t width, uint32_t height)
{
    num_images = 1;
    num_blocks = 0;
    stream_used = stream_offered = 0;
    *m = (image){.coding = {.style = L2K_STYLE_HT, .wavelet = L2K_WAVELET_5_3},
                 .component = {.num_resolutions = 1, .precision = 8},
                 .band = {.rect = {0, 0, width, height}, .max_planes = 30},
                 .log2_width = 10,
                 .log2_height = 10};
    m->band.component = &m->component;
    m->component.coding = &m->coding;
    make_view(m, L2K_COEFFICIENT_INT32);
    list_block(m, m->band.rect);
}

/* Decodes the only block on both sides and compares them; returns the device's time. */
static double measure_block(unsigned kind)
{
    bool damaged[2];
    deliver_dearest(kind);
    copy_in();
    run_both(true, damaged);
    compare_memory(false);
    assert_true(damaged[0] == damaged[1]);
    return time_block();
}

/* One block after another, alone on the device. */
static void measure_dearest(void)
{
    static const uint32_t sides[][2] = {{64, 64}, {1024, 4}, {4, 1024}, {32, 32}};
    for (unsigned kind = 0; kind < NUM_KINDS; kind++) {
        printf("milliseconds for a block, %s:", kind_names[kind]);
        for (unsigned i = 0; i < sizeof sides / sizeof *sides; i++) {
            make_plain_image(&images[0], sides[i][0], sides[i][1]);
            printf(" %.3f (%u x %u)", measure_block(kind), sides[i][0], sides[i][1]);
            free_image(&images[0]);
        }
        printf("\n");
    }
}

/* A magnitude of 31 bits, and views that MQ blocks cannot be in. */
static void check_mq_errors(void)
{
    expects_errors = true;
    use_coders(true);
    do {
        make_images(false);
        if (num_blocks > 4 && images[0].host.type == L2K_COEFFICIENT_INT32)
            break;
        for (size_t i = 0; i < num_images; i++)
            free_image(&images[i]);
    } while (true);
    for (size_t i = 0; i < num_blocks; i++)
        fill_block(owners[i], both[0][i].rect);
    set_value(owners[0], both[0][0].rect.x0, both[0][0].rect.y0, -((int64_t)1 << 30));
    copy_in();
    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(run(k, 0, num_blocks, false, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(run(1, 1, num_blocks - 1, false, NULL), L2K_OK);
    images[0].device.type = L2K_COEFFICIENT_FLOAT32;
    assert_int_equal(run(1, 0, num_blocks, false, NULL), L2K_ERROR_ARGUMENT);
    images[0].device.type = L2K_COEFFICIENT_INT32;
    images[0].device.on_device = false;
    assert_int_equal(run(1, 0, num_blocks, false, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(run(1, 0, 0, false, NULL), L2K_OK);
    for (size_t i = 0; i < num_images; i++)
        free_image(&images[i]);
    use_coders(false);
    expects_errors = false;
}

int main(int argc, char **argv)
{
    const unsigned batches = argc > 1 ? (unsigned)atoi(argv[1]) : 600;
    const int missing = gpu_missing();
    if (missing)
        return missing;
    random_state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
    most_side = argc > 3 ? (uint32_t)atoi(argv[3]) : most_side;
    size_t encoded = 0, decoded = 0;
    unsigned damaged = 0;
    ht_prepare();
    make_coders();
    idle = gpu_take(IDLE_BYTES);
    check_errors();
    if (IS_CUDA)
        check_mq_errors();
    for (unsigned i = 0; i < batches; i++) {
        use_coders(IS_CUDA && i % 4 == 2);
        context.in_flight = i / 4 % 3 == 1 ? 8 : 0; /* an image by itself is coded in another way */
        if (i % 2)
            damaged += check_decoding();
        else
            check_encoding();
        *(i % 2 ? &decoded : &encoded) += num_blocks;
        for (size_t k = 0; k < num_images; k++)
            free_image(&images[k]);
    }
    measure_dearest();
    free_coders();
    gpu_give_back(idle);
    printf("%u batches: %zu code-blocks encoded and %zu decoded as the CPU does, in %u batches damaged ones\n", batches,
           encoded, decoded, damaged);
    return 0;
}
