/* codec/blocks/ht/ht_encode.h: blocks of all shapes, magnitudes and kinds of content, through the decoder. What SigProp
 * visits is compared with a sample by sample model; the bytes of all instruction sets are the same. */
#include "ht_encode.h"

#include <math.h>

#include "base/integer.h"
#include "codec/blocks/ht/ht_block.h"
#include "codec/blocks/ht/ht_encode.h"

static const l2k_context context = {.cpu = L2K_CPU_C};
static l2k_ht_encoder encoder;
static l2k_context other_contexts[L2K_CPU_SIMD128];
static l2k_ht_encoder others[L2K_CPU_SIMD128]; /* with the other usable instruction sets */
static unsigned num_others;
static l2k_ht decoder;

/* ---- Blocks -------------------------------------------------------------------------------------------------- */

enum { MOST_STRIDE = 1024 + 8, MOST_WORDS = 8192 + 8 * 1024 };

/* A block with what surrounds it in its view, which must not matter. */
static int32_t wide[MOST_WORDS];
static int16_t narrow[MOST_WORDS];
static int32_t values[L2K_HT_SAMPLES];

typedef enum content { ZEROS, SINGLE, MOST, NOISE, SPARSE, EDGES, NUM_CONTENTS } content;

static int32_t value_of(content kind, unsigned bits, size_t i, size_t single)
{
    const uint32_t most = (uint32_t)(((uint64_t)1 << bits) - 1), random = (uint32_t)random_u64();
    uint32_t magnitude = 0;
    switch (kind) {
    case SINGLE:
        magnitude = i == single ? 1 + random % most : 0;
        break;
    case MOST:
        magnitude = most;
        break;
    case NOISE:
        magnitude = random & most;
        break;
    case SPARSE:
        magnitude = random_below(30) ? random_below(40) == 0 : random & most;
        break;
    case EDGES:
        magnitude = (uint32_t)((uint64_t)1 << random_below(bits + 1)) - random_below(2);
        break;
    default:
        break;
    }
    magnitude = l2k_min_u32(magnitude, most);
    return random_below(2) ? (int32_t)magnitude : -(int32_t)magnitude;
}

static void fill(const l2k_t1_block *block, content kind, unsigned bits)
{
    const size_t count = (size_t)block->width * block->height, single = random_below(count);
    for (size_t i = 0; i < MOST_WORDS; i++) {
        wide[i] = (int32_t)random_u64();
        narrow[i] = (int16_t)wide[i];
    }
    for (size_t i = 0; i < count; i++) {
        const size_t at = i / block->width * block->stride + i % block->width;
        wide[at] = values[i] = value_of(kind, bits, i, single);
        narrow[at] = (int16_t)values[i];
    }
}

static l2k_t1_block block_of(uint32_t width, uint32_t height, l2k_coefficient_type type)
{
    return (l2k_t1_block){.coefficients = type == L2K_COEFFICIENT_INT16 ? (void *)narrow : (void *)wide,
                          .type = type,
                          .stride = width + random_below(9),
                          .width = width,
                          .height = height,
                          .reversible = true};
}

static unsigned bits_of_largest(size_t count)
{
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= values[i] < 0 ? 0u - (uint32_t)values[i] : (uint32_t)values[i];
    return all ? l2k_log2(all) + 1 : 0;
}

/* The passes of `code` up to number `passes`, decoded; irreversible samples are doubled. */
static void decode(const l2k_t1_block *block, const l2k_ht_code *code, unsigned passes)
{
    const uint32_t cleanup = code->passes[0].bytes, all = code->passes[passes - 1].bytes;
    const unsigned scale = block->reversible ? 0 : 1, plane = code->plane + scale;
    uint8_t *first = malloc(cleanup), *second = malloc(all - cleanup + 1);
    memcpy(first, code->bytes, cleanup);
    memcpy(second, code->bytes + cleanup, all - cleanup);
    l2k_ht_set set = {first, second, cleanup, all - cleanup, passes, plane, code->magnitude_bits - code->plane};
    assert_true(l2k_ht_cleanup(&decoder, block, &set, L2K_HT_SIGNED_MAGNITUDE));
    if (passes > 1)
        l2k_ht_refine(&decoder, block, &set);
    free(first);
    free(second);
}

static int64_t decoded_at(const l2k_t1_block *block, size_t i)
{
    const uint32_t v = decoder.samples[i / block->width * l2k_ht_stride(block) + i % block->width];
    const int64_t magnitude = v & 0x7FFFFFFF;
    return v >> 31 ? -magnitude : magnitude;
}

/* No two bytes of a segment make a marker code, nor does it end in a byte that could. */
static void check_markers(const l2k_ht_code *code)
{
    for (unsigned k = 0; k < code->num_passes; k++) {
        const uint32_t end = code->passes[k].bytes;
        for (uint32_t i = k ? code->passes[0].bytes : 0; i < end; i++)
            assert_true(code->bytes[i] < 0xFF || (i + 1 < end && code->bytes[i + 1] <= 0x8F));
    }
}

/* A copy of the block without anything beyond its last sample, for sanitizers to see what else is read. */
static l2k_t1_block exact_block(const l2k_t1_block *block)
{
    const size_t bytes = ((block->height - 1) * block->stride + block->width) * l2k_coefficient_bytes(block->type);
    l2k_t1_block exact = *block;
    exact.coefficients = malloc(bytes);
    memcpy(exact.coefficients, block->coefficients, bytes);
    return exact;
}

/* With all sets, whose code must be the same. */
static void encode(const l2k_t1_block *block, l2k_ht_cut cut, l2k_ht_code *code)
{
    l2k_t1_block exact = exact_block(block);
    assert_int_equal(l2k_ht_encode(&encoder, &exact, cut, true, code), L2K_OK);
    for (unsigned i = 0; i < num_others; i++) {
        l2k_ht_code other;
        assert_int_equal(l2k_ht_encode(&others[i], &exact, cut, true, &other), L2K_OK);
        assert_int_equal(other.magnitude_bits, code->magnitude_bits);
        assert_int_equal(other.num_passes, code->num_passes);
        for (unsigned k = 0; k < code->num_passes; k++)
            assert_int_equal(other.passes[k].bytes, code->passes[k].bytes);
        if (code->num_passes)
            assert_memory_equal(other.bytes, code->bytes, code->passes[code->num_passes - 1].bytes);
    }
    free(exact.coefficients);
}

static void check_block(const l2k_t1_block *block)
{
    const size_t count = (size_t)block->width * block->height;
    l2k_ht_code code;
    encode(block, (l2k_ht_cut){0, 1}, &code);
    assert_int_equal(code.magnitude_bits, bits_of_largest(count));
    assert_int_equal(code.num_passes, code.magnitude_bits > 0);
    if (code.num_passes == 0)
        return;
    check_markers(&code);
    decode(block, &code, 1);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(decoded_at(block, i), values[i]);
}

/* ---- Refinement ---------------------------------------------------------------------------------------------- */

/* Which samples the SigProp pass below `plane` makes significant: those of model->state 2. */
static void model_passes(const l2k_t1_block *block, unsigned plane, ht_source *model)
{
    static ht_source low;
    static ht_coded unused;
    low = (ht_source){.width = block->width, .height = block->height};
    for (size_t i = 0; i < (size_t)block->width * block->height; i++)
        low.magnitude[i] = (uint64_t)(values[i] < 0 ? -(int64_t)values[i] : values[i]) >> (plane ? plane - 1 : 0);
    *model = low;
    for (size_t i = 0; i < (size_t)block->width * block->height; i++)
        model->magnitude[i] >>= plane > 0;
    ht_encode_refinement(model, &low, &unused, block->style & L2K_STYLE_VSC);
}

/* What the passes up to that of `cut` leave of values[i], in halves if irreversible. */
static int64_t expected_of(const l2k_t1_block *block, const ht_source *model, size_t i, l2k_ht_cut cut)
{
    const int64_t magnitude = values[i] < 0 ? -(int64_t)values[i] : values[i];
    const bool found = cut.passes > 1 && model->state[i] == 2;
    const unsigned scale = block->reversible ? 0 : 1, plane = cut.plane - (found || cut.passes > 2) + scale;
    int64_t point = (magnitude << scale >> plane << plane) + ((int64_t)1 << plane >> 1);
    if (magnitude >> cut.plane == 0 && !(found && magnitude))
        point = 0;
    return values[i] < 0 ? -point : point;
}

/* Squared error of a block without any pass, less that with these. */
static double removed_error(const l2k_t1_block *block, const ht_source *model, l2k_ht_cut cut)
{
    double removed = 0;
    for (size_t i = 0; i < (size_t)block->width * block->height; i++) {
        const double sign = values[i] < 0 ? -1 : 1;
        const double value = values[i] && !block->reversible ? values[i] + sign / 2 : values[i];
        const double point = (double)expected_of(block, model, i, cut) / (block->reversible ? 1 : 2);
        removed += value * value - (value - point) * (value - point);
    }
    return removed;
}

static void check_passes(const l2k_t1_block *block, l2k_ht_cut cut)
{
    static ht_source model;
    l2k_ht_code code;
    encode(block, cut, &code);
    model_passes(block, cut.plane, &model);
    assert_int_equal(code.num_passes > 0, code.magnitude_bits > cut.plane);
    assert_int_equal(code.plane, cut.plane);
    for (unsigned k = 1; k <= code.num_passes; k++) {
        const l2k_ht_cut part = {cut.plane, k};
        const double removed = removed_error(block, &model, part);
        assert_true(fabs(code.passes[k - 1].distortion - removed) <= 1e-9 * fabs(removed));
        assert_int_equal(code.passes[k - 1].terminated, k == 1 || k == code.num_passes);
        decode(block, &code, k);
        for (size_t i = 0; i < (size_t)block->width * block->height; i++)
            assert_int_equal(decoded_at(block, i), expected_of(block, &model, i, part));
    }
}

/* ---- Tests --------------------------------------------------------------------------------------------------- */

/* Every shape that a code-block can have, and parts of it at the edge of a subband. */
static void test_shapes(void **unused)
{
    (void)unused;
    for (unsigned w = 0; w <= 10; w++)
        for (unsigned h = 0; h <= 10 && w + h <= 12; h++)
            for (unsigned i = 0; i < 12; i++) {
                const uint32_t width = i < 6 ? 1u << w : 1 + random_below(1u << w);
                const uint32_t height = i < 6 ? 1u << h : 1 + random_below(1u << h);
                l2k_t1_block block = block_of(width, height, i % 2 ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32);
                fill(&block, (content)(i % NUM_CONTENTS), 1 + random_below(15));
                check_block(&block);
            }
}

/* Magnitudes up to 31 bits, all kinds of content. */
static void test_magnitudes(void **unused)
{
    (void)unused;
    for (unsigned bits = 1; bits <= 31; bits++)
        for (unsigned i = 0; i < 4 * NUM_CONTENTS; i++) {
            const l2k_coefficient_type type = bits < 16 && i % 2 ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32;
            l2k_t1_block block = block_of(1 + random_below(64), 1 + random_below(64), type);
            fill(&block, (content)(i % NUM_CONTENTS), bits);
            check_block(&block);
        }
}

static void test_passes(void **unused)
{
    (void)unused;
    unsigned fewer = 0;
    for (unsigned i = 0; i < 3000; i++) {
        const unsigned bits = 1 + random_below(i % 3 ? 6 : 30), passes = 1 + i % 3;
        const l2k_ht_cut cut = {(passes > 1) + random_below(i % 2 ? 1 : bits), passes};
        const l2k_coefficient_type type = bits < 16 && i % 5 ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32;
        l2k_ht_code code;
        l2k_t1_block block = block_of(1 + random_below(1u << random_below(8)), 1 + random_below(32), type);
        block.reversible = i % 4 < 2;
        block.style = i % 7 ? 0 : L2K_STYLE_VSC;
        fill(&block, (content)(random_below(NUM_CONTENTS)), bits);
        check_passes(&block, cut);
        assert_int_equal(l2k_ht_encode(&encoder, &block, cut, false, &code), L2K_OK);
        check_markers(&code);
        fewer += code.num_passes > 0 && code.num_passes < passes;
    }
    assert_in_range(fewer, 1, 2000);
}

/* -32768 has a magnitude of 16 bits; -2^31 is none of 31. */
static void test_lowest(void **unused)
{
    (void)unused;
    l2k_ht_code code;
    l2k_t1_block block = block_of(16, 16, L2K_COEFFICIENT_INT16);
    fill(&block, ZEROS, 1);
    narrow[3 * block.stride + 5] = INT16_MIN;
    values[3 * 16 + 5] = INT16_MIN;
    check_block(&block);
    block = block_of(16, 16, L2K_COEFFICIENT_INT32);
    fill(&block, NOISE, 31);
    wide[7 * block.stride + 7] = INT32_MIN;
    assert_int_equal(l2k_ht_encode(&encoder, &block, (l2k_ht_cut){0, 1}, false, &code), L2K_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_magnitudes),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_lowest),
    };
    l2k_ht_encoder_prepare(&context, &encoder);
    for (int cpu = L2K_CPU_C + 1; cpu <= L2K_CPU_SIMD128; cpu++)
        if (l2k_cpu_usable((l2k_cpu)cpu)) {
            other_contexts[num_others].cpu = (l2k_cpu)cpu;
            l2k_ht_encoder_prepare(&other_contexts[num_others], &others[num_others]);
            num_others++;
        }
    decoder.rows = l2k_ht_rows_get(L2K_CPU_C);
    l2k_ht_make_decode_tables(&decoder.tables);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
