/* gpu_mq_decode: MQ code-blocks decoded on the device compared with the CPU's coder, in random batches of several
 * images: shapes, styles, types, layers, passes that are missing or too many, regions of interest, damaged and made-up
 * bytes. All of the device memory around the coefficients is compared, too.
 *
 *     gpu_mq_decode [BATCHES [SEED [MOST_SIDE]]]
 *
 * Exits with 1 at the first difference, with 77 without a GPU, unless L2K_REQUIRE_GPU=1. */
#define L2K_OWN_ASSERTS
#include "support.h"

#include "block_images.h"
#include "require.h"
#include "codec/engine/cuda/coder/cuda_coder.h"

enum { MOST_PARTS = L2K_MAX_RECEIVED_PASSES };
enum {
    STYLES = L2K_STYLE_BYPASS | L2K_STYLE_RESET | L2K_STYLE_TERMALL | L2K_STYLE_VSC | L2K_STYLE_PTERM | L2K_STYLE_SEGSYM
};

/* ---- Images --------------------------------------------------------------------------------------------------- */

static l2k_contribution parts[MOST_BLOCKS][MOST_PARTS];

static void make_image(image *m)
{
    *m = (image){.coding = {.wavelet = (uint8_t)(random_below(2) ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3)}};
    choose_size(m);
    const uint32_t x = random_below(100), y = random_below(100);
    const unsigned orientation = random_below(4);
    m->band = (l2k_subband){.rect = {x, y, x + random_side(m->log2_width), y + random_side(m->log2_height)},
                            .component = &m->component,
                            .resolution = orientation ? 1 : 0,
                            .orientation = (uint8_t)orientation};
    if (random_below(2))
        m->coding.style = (uint8_t)(random_below(64) & STYLES);
    if (random_below(4) == 0)
        m->coding.roi_shift = (uint8_t)(1 + random_below(random_below(2) ? 12 : 37));
    m->component = (l2k_tile_component){.num_resolutions = 2, .coding = &m->coding, .precision = 8};
    make_view(m, random_below(2) ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32);
    m->band.max_planes = (m->host.type == L2K_COEFFICIENT_INT16 ? 15 : 30) - (m->coding.wavelet == L2K_WAVELET_9_7);
}

static void make_images(void)
{
    num_images = 1 + random_below(MOST_IMAGES);
    num_blocks = 0;
    for (size_t i = 0; i < num_images; i++) {
        make_image(&images[i]);
        list_image(&images[i]);
    }
}

/* What was coded is made unrecognisable, and the device's memory begins as a copy of the host's. */
static void clear_memory(void)
{
    for (size_t i = 0; i < num_images; i++)
        memset(images[i].memory, POISON, images[i].bytes);
    copy_in();
}

/* ---- Coders --------------------------------------------------------------------------------------------------- */

enum { CODER_HOST, CODER_DEVICE, CODERS };
static l2k_block_coder *coders[CODERS];

static l2k_status run(unsigned coder, const l2k_block_place *list, size_t count, bool decode, atomic_bool *damaged)
{
    const l2k_cuda_batch more = {.bytes = stream_offered ? stream : NULL, .num_bytes = stream_offered};
    const l2k_block_batch batch = {
        .places = list, .num_places = count, .distortions = !decode, .damaged = damaged, .engine = &more};
    const l2k_block_coder_table *table = coders[coder]->table;
    use_views(coder >= CODER_DEVICE);
    const l2k_status status = (decode ? table->begin_decode : table->begin_encode)(coders[coder], &batch);
    return status == L2K_OK ? table->finish(coders[coder]) : status;
}

/* ---- Deliveries ----------------------------------------------------------------------------------------------- */

/* Zeros, sparse and dense blocks, all at the limit, single bits. */
static int32_t random_value(unsigned bits, unsigned density, unsigned kind)
{
    const uint32_t most = (uint32_t)(((uint64_t)1 << bits) - 1);
    uint32_t v = (uint32_t)random_u64() & most;
    if (kind == 0)
        v = most;
    if (kind == 1 && bits)
        v = v ? 1u << random_below(bits) : 0;
    if (kind == 2 && bits)
        v >>= random_below(bits);
    if (random_below(32) >= density)
        v = 0;
    return random_below(2) ? (int32_t)v : -(int32_t)v;
}

static void fill_block(const image *m, l2k_rect r)
{
    const bool narrow = m->host.type == L2K_COEFFICIENT_INT16;
    const l2k_band_view *at = &m->host.bands[m->host.num_bands - 1];
    const unsigned bits = random_below(4) ? random_below(10) : random_below(m->band.max_planes + 1u);
    const unsigned density = random_below(33), kind = random_below(6);
    for (uint32_t y = r.y0; y < r.y1; y++)
        for (uint32_t x = r.x0; x < r.x1; x++) {
            const size_t k = (at->y + y - m->band.rect.y0) * m->host.stride + at->x + x - m->band.rect.x0;
            const int32_t v = random_value(bits, density, kind);
            if (narrow)
                ((int16_t *)m->host.base)[k] = (int16_t)v;
            else
                ((int32_t *)m->host.base)[k] = v;
        }
}

static void mutate(uint8_t *bytes, size_t size, unsigned hits)
{
    for (unsigned i = 0; size && i < hits; i++) {
        const size_t at =
            random_below(4) ? random_below((uint32_t)size) : size - 1 - random_below(size < 4 ? (uint32_t)size : 4);
        if (random_below(3))
            bytes[at] = (uint8_t)(bytes[at] ^ 1u << random_below(8));
        else
            bytes[at] = random_below(2) ? 0xFF : (uint8_t)random_below(256);
        if (random_below(3) == 0 && at + 1 < size) { /* a carry after 0xFF */
            bytes[at] = 0xFF;
            bytes[at + 1] = (uint8_t)(0x7C + random_below(24));
        }
    }
}

static uint8_t *take_bytes(size_t bytes)
{
    assert_true(stream_used + bytes + 8 < sizeof stream);
    uint8_t *at = stream + stream_used;
    stream_used += bytes + random_below(8);
    return at;
}

/* Packets bring some passes each; a segment's bytes may come in several. Some blocks lack their last passes or bytes,
 * others have too many. */
static void deliver(size_t i, const uint8_t *bytes, const uint32_t *pass_bytes, unsigned passes, unsigned hits)
{
    const unsigned style = owners[i]->coding.style;
    const unsigned all = hits && random_below(4) == 0 ? passes + 1 + random_below(100) : passes;
    unsigned count = 0, at = 0;
    uint32_t from = 0;
    while (at < all && count < MOST_PARTS) {
        unsigned next = at + 1;
        while (next < all && !l2k_mq_on_cpu.ends_segment(style, next - 1) && random_below(8))
            next++;
        uint32_t end = next <= passes ? pass_bytes[next - 1] & ~L2K_PASS_TERMINATED : from; /* empty ones at the end */
        end = end > from ? end : from;
        uint8_t *copy = take_bytes(end - from);
        memcpy(copy, bytes + from, end - from);
        mutate(copy, end - from, hits && random_below(4) == 0 ? hits : hits / 8);
        parts[i][count++] =
            (l2k_contribution){.data = copy,
                               .bytes = hits && random_below(8) == 0 ? random_below(end - from + 1) : end - from,
                               .passes = (uint8_t)(next - at),
                               .starts_segment = at == 0 || l2k_mq_on_cpu.ends_segment(style, at - 1)};
        from = end;
        at = next;
    }
    for (unsigned k = 0; k + 1 < count; k++)
        parts[i][k].next = &parts[i][k + 1];
    for (unsigned k = 0; k < 2 && count; k++) {
        l2k_received_block *r = &both[k][i].received;
        *r = (l2k_received_block){.first = parts[i], .last = &parts[i][count - 1]};
        for (unsigned p = 0; p < count; p++)
            r->bytes += parts[i][p].bytes;
    }
}

/* Any bytes, which take as long as bytes can. */
static void make_up(size_t i)
{
    static uint8_t bytes[1 << 16];
    uint32_t ends[88];
    const unsigned planes = 1 + random_below(30), passes = 1 + random_below(3 * planes - 2), kind = random_below(4);
    for (size_t k = 0; k < sizeof bytes; k++)
        bytes[k] = kind == 0 ? 0 : kind == 1 ? 0xFF : (uint8_t)random_below(256);
    for (size_t k = 0; kind == 3 && k + 1 < sizeof bytes; k += 1 + random_below(20)) {
        bytes[k] = 0xFF;
        bytes[k + 1] = (uint8_t)random_below(0x90);
    }
    for (unsigned p = 0; p < passes; p++)
        ends[p] = (p ? ends[p - 1] : 0) + random_below(random_below(2) ? 20 : 700);
    for (unsigned k = 0; k < 2; k++)
        both[k][i].num_planes = (uint8_t)planes;
    deliver(i, bytes, ends, passes, 1);
}

static void encode(void)
{
    for (size_t i = 0; i < num_blocks; i++) {
        fill_block(owners[i], both[0][i].rect);
        both[0][i].kind = both[1][i].kind = L2K_BLOCK_MQ;
    }
    stream_offered = 0;
    assert_int_equal(run(CODER_HOST, places[0], num_blocks, false, NULL), L2K_OK);
}

/* What is coded becomes what is received. */
static void deliver_code(size_t i, unsigned hits)
{
    const l2k_block coded = both[0][i];
    for (unsigned k = 0; k < 2; k++) {
        both[k][i].num_planes = coded.num_planes;
        memset(&both[k][i].received, 0, sizeof both[k][i].received);
    }
    if (random_below(10) == 0)
        return; /* nothing is received */
    if (hits && random_below(6) == 0) {
        make_up(i);
        return;
    }
    if (coded.num_passes) {
        const unsigned passes = random_below(3) ? coded.num_passes : 1 + random_below(coded.num_passes);
        deliver(i, coded.coded.bytes, coded.coded.pass_bytes, passes, hits);
    }
}

static bool decode_both(void)
{
    const size_t cut = random_below(2) ? random_below((uint32_t)num_blocks + 1) : num_blocks;
    atomic_bool damaged[2] = {false, false};
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(run(k, places[k], cut, true, &damaged[k]), L2K_OK);
        assert_int_equal(run(k, places[k] + cut, num_blocks - cut, true, &damaged[k]), L2K_OK);
    }
    assert_true(damaged[0] == damaged[1]);
    return damaged[0];
}

static void check_batch(void)
{
    const unsigned damage = random_below(3); /* 0: valid streams alone */
    make_images();
    encode();
    stream_used = random_below(100);
    for (size_t i = 0; i < num_blocks; i++)
        deliver_code(i, damage && random_below(3) ? 1 + random_below(damage == 1 ? 8 : 60) : 0);
    coders[CODER_HOST]->table->forget(coders[CODER_HOST]);
    clear_memory();
    stream_offered = random_below(3) ? stream_used : random_below(4) ? 0 : random_below((uint32_t)stream_used + 1);
    const bool damaged = decode_both();
    assert_true(damage || !damaged);
    compare_memory(false);
}

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

static void check_errors(void)
{
    expects_errors = true;
    make_images();
    l2k_contribution huge = {.data = stream, .bytes = 1, .passes = 1};
    both[1][0].num_planes = 1;
    both[1][0].received = (l2k_received_block){&huge, &huge, (uint64_t)UINT32_MAX + 1};
    assert_int_equal(run(CODER_DEVICE, places[1], num_blocks, true, NULL), L2K_ERROR_CORRUPT);
    memset(&both[1][0].received, 0, sizeof both[1][0].received);
    images[0].device.on_device = false;
    assert_int_equal(run(CODER_DEVICE, places[1], num_blocks, true, NULL), L2K_ERROR_ARGUMENT);
    images[0].device.on_device = true;
    assert_int_equal(run(CODER_DEVICE, places[1], num_blocks, true, NULL), L2K_OK);
    assert_int_equal(run(CODER_DEVICE, places[1], 0, true, NULL), L2K_OK);
    for (size_t i = 0; i < num_images; i++)
        free_image(&images[i]);
    expects_errors = false;
}

int main(int argc, char **argv)
{
    const unsigned batches = argc > 1 ? (unsigned)atoi(argv[1]) : 600;
    const l2k_block_coder_table *const tables[CODERS] = {&l2k_mq_on_cpu, &l2k_mq_on_cuda};
    const int missing = gpu_missing();
    if (missing)
        return missing;
    random_state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
    most_side = argc > 3 ? (uint32_t)atoi(argv[3]) : 200;
    size_t decoded = 0;
    for (unsigned k = 0; k < CODERS; k++)
        assert_int_equal(l2k_block_coder_create(&context, tables[k], &coders[k]), L2K_OK);
    check_errors();
    for (unsigned i = 0; i < batches; i++) {
        context.in_flight = i % 3 == 1 ? 8 : 0; /* an image by itself is decoded in another way */
        check_batch();
        decoded += num_blocks;
        for (size_t k = 0; k < num_images; k++)
            free_image(&images[k]);
    }
    for (unsigned k = 0; k < CODERS; k++)
        l2k_block_coder_free(coders[k]);
    printf("%u batches: %zu code-blocks decoded as the CPU does\n", batches, decoded);
    return 0;
}
