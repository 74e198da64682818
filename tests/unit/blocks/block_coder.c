/* The block coders' interface (codec/blocks/block_coder.h) with the MQ coder on the CPU: a batch of code-blocks of two
 * images gives the same result as block by block; progress, cancelling, memory, codeword segments. */
#include "api_support.h"

#include "base/memory.h"
#include "base/run.h"
#include "codec/blocks/block_coder.h"

enum { MOST_BLOCKS = 400, MOST_COMPONENTS = 2, POISON = 0x5A, UNITS = 1000003 };

/* ---- Two images of one tile each ----------------------------------------------------------------------------- */

/* One set of coefficients of all components of a tile. */
typedef struct coefficient_set {
    l2k_coefficients views[MOST_COMPONENTS];
} coefficient_set;

typedef struct subject {
    l2k_siz siz;
    l2k_component components[MOST_COMPONENTS];
    l2k_component_coding codings[MOST_COMPONENTS];
    l2k_tile_coding coding;
    l2k_tile tile;
    coefficient_set original;
} subject;

static const l2k_context plain = {.threads = 1};

/* A view in Mallat layout. */
static l2k_coefficients make_view(const l2k_tile_component *component, l2k_coefficient_type type)
{
    l2k_coefficients view = {.type = type,
                             .width = l2k_rect_width(component->rect),
                             .height = l2k_rect_height(component->rect),
                             .num_bands = 3 * (component->num_resolutions - 1) + 1};
    view.stride = view.width + 3;
    for (uint32_t r = 0; r < component->num_resolutions; r++)
        for (uint32_t b = 0; b < component->resolutions[r].num_bands; b++) {
            const l2k_subband *band = &component->resolutions[r].bands[b];
            l2k_rect lower = r ? component->resolutions[r - 1].rect : (l2k_rect){0};
            view.bands[l2k_band_number(r, band->orientation)] =
                (l2k_band_view){.x = band->orientation & 1 ? l2k_rect_width(lower) : 0,
                                .y = band->orientation & 2 ? l2k_rect_height(lower) : 0,
                                .width = l2k_rect_width(band->rect),
                                .height = l2k_rect_height(band->rect)};
        }
    view.base = malloc(view.stride * view.height * l2k_coefficient_bytes(type));
    assert_non_null(view.base);
    memset(view.base, POISON, view.stride * view.height * l2k_coefficient_bytes(type));
    return view;
}

static coefficient_set make_set(const subject *s)
{
    coefficient_set set;
    for (uint32_t c = 0; c < s->siz.num_components; c++)
        set.views[c] =
            make_view(&s->tile.components[c], s->codings[c].wavelet ? L2K_COEFFICIENT_INT32 : L2K_COEFFICIENT_INT16);
    return set;
}

static void free_set(const subject *s, coefficient_set *set)
{
    for (uint32_t c = 0; c < s->siz.num_components; c++)
        free(set->views[c].base);
}

static void use_set(subject *s, const coefficient_set *set)
{
    for (uint32_t c = 0; c < s->siz.num_components; c++)
        s->tile.components[c].view = &set->views[c];
}

static int32_t *wide_at(const l2k_coefficients *view, uint32_t x, uint32_t y)
{
    assert_int_equal(view->type, L2K_COEFFICIENT_INT32);
    return (int32_t *)view->base + y * view->stride + x;
}

static int16_t *narrow_at(const l2k_coefficients *view, uint32_t x, uint32_t y)
{
    assert_int_equal(view->type, L2K_COEFFICIENT_INT16);
    return (int16_t *)view->base + y * view->stride + x;
}

static int32_t coefficient(const l2k_coefficients *view, uint32_t x, uint32_t y)
{
    return view->type == L2K_COEFFICIENT_INT16 ? *narrow_at(view, x, y) : *wide_at(view, x, y);
}

/* Mostly small values, and whole columns of zeros. */
static void fill_view(const l2k_coefficients *view)
{
    for (uint32_t y = 0; y < view->height; y++)
        for (uint32_t x = 0; x < view->width; x++) {
            int32_t v = x / 20 % 3 ? (int32_t)(random_u64() & ((1u << random_between(1, 11)) - 1)) : 0;
            v = random_below(2) ? v : -v;
            if (view->type == L2K_COEFFICIENT_INT16)
                *narrow_at(view, x, y) = (int16_t)v;
            else
                *wide_at(view, x, y) = v;
        }
}

/* Tile 3 of 2 x 2; the second component has other styles and sub-sampling. */
static void make_subject(subject *s, uint32_t width, uint32_t height, unsigned style, l2k_wavelet wavelet)
{
    *s = (subject){.siz = {.grid = {{3, 5, 3 + width, 5 + height}, 0, 0, 3 + width / 2, 5 + height / 2},
                           .num_components = MOST_COMPONENTS}};
    s->siz.components = s->components;
    s->coding = (l2k_tile_coding){.num_layers = 1, .components = s->codings};
    for (uint32_t c = 0; c < MOST_COMPONENTS; c++) {
        l2k_component_coding *k = &s->codings[c];
        s->components[c] = (l2k_component){.dx = c + 1, .dy = 1, .precision = 8};
        *k = (l2k_component_coding){.levels = (uint8_t)(2 + c),
                                    .log2_block_width = 4,
                                    .log2_block_height = (uint8_t)(4 - c),
                                    .style = (uint8_t)(style ^ (c ? L2K_STYLE_VSC : 0)),
                                    .wavelet = (uint8_t)wavelet,
                                    .guard_bits = 2};
        memset(k->log2_precinct_width, 15, sizeof k->log2_precinct_width);
        memset(k->log2_precinct_height, 15, sizeof k->log2_precinct_height);
        for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
            k->steps[b].exponent = 12;
    }
    assert_int_equal(l2k_tile_create(&plain, &s->siz, &s->coding, 3, UINT64_MAX, &s->tile), L2K_OK);
    for (uint32_t c = 0; c < MOST_COMPONENTS; c++)
        for (uint32_t r = 0; r < s->tile.components[c].num_resolutions; r++)
            for (uint32_t p = 0; p < s->tile.components[c].resolutions[r].num_precincts; p++)
                assert_int_equal(l2k_precinct_prepare(&plain, &s->tile, &s->tile.components[c], r, p), L2K_OK);
    s->original = make_set(s);
    for (uint32_t c = 0; c < MOST_COMPONENTS; c++)
        fill_view(&s->original.views[c]);
    use_set(s, &s->original);
}

static void free_subject(subject *s)
{
    free_set(s, &s->original);
    l2k_tile_release(&plain, &s->tile);
}

/* ---- A batch of both ----------------------------------------------------------------------------------------- */

static subject subjects[2];
static l2k_block_place places[MOST_BLOCKS];
static size_t num_places;

/* The code-blocks of both images in random order. */
static void list_places(void)
{
    num_places = 0;
    for (int i = 0; i < 2; i++) {
        l2k_block_place *list;
        size_t count;
        assert_int_equal(l2k_tile_list_blocks(&plain, &subjects[i].tile, &list, &count), L2K_OK);
        assert_true(count > 20 && num_places + count <= MOST_BLOCKS);
        memcpy(places + num_places, list, count * sizeof *list);
        num_places += count;
        l2k_release(&plain, list);
    }
    for (size_t i = num_places; i-- > 1;) {
        size_t k = random_below(i + 1);
        l2k_block_place place = places[i];
        places[i] = places[k];
        places[k] = place;
    }
}

static int setup(void **unused)
{
    (void)unused;
    make_subject(&subjects[0], 300, 200, L2K_STYLE_BYPASS, L2K_WAVELET_5_3);
    make_subject(&subjects[1], 170, 260, L2K_STYLE_TERMALL | L2K_STYLE_RESET, L2K_WAVELET_9_7);
    list_places();
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++)
        free_subject(&subjects[i]);
    return 0;
}

typedef l2k_status begin_function(l2k_block_coder *coder, const l2k_block_batch *batch);

static l2k_status run_batch(l2k_block_coder *coder, begin_function *begin, size_t first, size_t count)
{
    l2k_block_batch batch = {.places = places + first, .num_places = count, .distortions = true, .units = UNITS};
    l2k_status status = begin(coder, &batch);
    return status == L2K_OK ? coder->table->finish(coder) : status;
}

static l2k_block_coder *new_coder(const l2k_context *context)
{
    l2k_block_coder *coder;
    assert_int_equal(l2k_block_coder_create(context, &l2k_mq_on_cpu, &coder), L2K_OK);
    return coder;
}

static uint32_t code_bytes(const l2k_block *block)
{
    return block->num_passes ? block->coded.pass_bytes[block->num_passes - 1] & ~L2K_PASS_TERMINATED : 0;
}

static void assert_same_code(const l2k_block *a, const l2k_block *b)
{
    assert_int_equal(a->num_planes, b->num_planes);
    assert_int_equal(a->num_passes, b->num_passes);
    if (a->num_passes == 0)
        return;
    assert_memory_equal(a->coded.pass_bytes, b->coded.pass_bytes, a->num_passes * sizeof(uint32_t));
    assert_memory_equal(a->coded.pass_distortion, b->coded.pass_distortion, a->num_passes * sizeof(double));
    assert_memory_equal(a->coded.bytes, b->coded.bytes, code_bytes(a));
}

/* ---- Decoding what was coded --------------------------------------------------------------------------------- */

/* A block's code as packets would have brought it: a contribution for each codeword segment, or two. */
typedef struct delivery {
    l2k_contribution parts[2 * L2K_MAX_RECEIVED_PASSES];
    size_t count;
} delivery;

static void deliver(delivery *to, l2k_block *block, unsigned style)
{
    const l2k_coded_block code = block->coded;
    uint32_t at = 0, first = 0;
    to->count = 0;
    for (uint32_t i = 0; i < block->num_passes; i++) {
        uint32_t end = code.pass_bytes[i] & ~L2K_PASS_TERMINATED, passes = i + 1 - first;
        bool last = i + 1 == block->num_passes, ends = l2k_mq_on_cpu.ends_segment(style, i) || last;
        assert_int_equal((code.pass_bytes[i] & L2K_PASS_TERMINATED) != 0, ends);
        if (!ends)
            continue;
        uint32_t cut = passes > 1 ? (end - at) / 2 : end - at;
        to->parts[to->count++] =
            (l2k_contribution){NULL, code.bytes + at, cut, passes > 1 ? 1 : (uint8_t)passes, true, 0};
        if (passes > 1)
            to->parts[to->count++] =
                (l2k_contribution){NULL, code.bytes + at + cut, end - at - cut, (uint8_t)(passes - 1), false, 0};
        at = end;
        first = i + 1;
    }
    for (size_t i = 1; i < to->count; i++)
        to->parts[i - 1].next = &to->parts[i];
    block->received = (l2k_received_block){NULL, NULL, at};
    if (to->count) {
        block->received.first = to->parts;
        block->received.last = &to->parts[to->count - 1];
    }
}

/* What decoding a whole block gives for a coefficient (l2k_coefficients in the public header). */
static int32_t expected_of(int32_t original, bool reversible)
{
    if (reversible || original == 0)
        return original;
    return original < 0 ? 2 * original - 1 : 2 * original + 1;
}

static void assert_decoded(const subject *s, const coefficient_set *set)
{
    for (uint32_t c = 0; c < MOST_COMPONENTS; c++) {
        const l2k_coefficients *view = &set->views[c];
        for (uint32_t y = 0; y < view->height; y++)
            for (uint32_t x = 0; x < view->width; x++)
                assert_int_equal(coefficient(view, x, y), expected_of(coefficient(&s->original.views[c], x, y),
                                                                      s->codings[c].wavelet == L2K_WAVELET_5_3));
        const size_t row = view->stride * l2k_coefficient_bytes(view->type);
        for (size_t i = 0; i < row * view->height; i++) /* the margin is untouched */
            if (i % row >= view->width * l2k_coefficient_bytes(view->type))
                assert_int_equal(((uint8_t *)view->base)[i], POISON);
    }
}

/* Memory to decode both images into. */
static void begin_decoding(coefficient_set sets[2])
{
    for (int i = 0; i < 2; i++) {
        sets[i] = make_set(&subjects[i]);
        use_set(&subjects[i], &sets[i]);
    }
}

static void end_decoding(coefficient_set sets[2])
{
    for (int i = 0; i < 2; i++) {
        use_set(&subjects[i], &subjects[i].original);
        free_set(&subjects[i], &sets[i]);
    }
}

static void receive_nothing(void)
{
    for (size_t i = 0; i < num_places; i++)
        places[i].block->received = (l2k_received_block){0};
}

/* Decodes all places, `each` in a call. */
static void check_decoding(l2k_block_coder *coder, size_t each)
{
    coefficient_set sets[2];
    begin_decoding(sets);
    for (size_t i = 0; i < num_places; i += each)
        assert_int_equal(run_batch(coder, coder->table->begin_decode, i, i + each < num_places ? each : num_places - i),
                         L2K_OK);
    for (int i = 0; i < 2; i++)
        assert_decoded(&subjects[i], &sets[i]);
    end_decoding(sets);
}

/* ---- Tests --------------------------------------------------------------------------------------------------- */

static void test_batch(void **unused)
{
    (void)unused;
    static l2k_block batched[MOST_BLOCKS];
    static delivery deliveries[MOST_BLOCKS];
    const l2k_context context = {.threads = l2k_thread_count(4)};
    l2k_block_coder *together = new_coder(&context), *single = new_coder(&plain);
    size_t empty = 0;
    assert_int_equal(run_batch(together, together->table->begin_encode, 0, num_places), L2K_OK);
    for (size_t i = 0; i < num_places; i++)
        batched[i] = *places[i].block;
    for (size_t i = 0; i < num_places; i++) {
        assert_int_equal(run_batch(single, single->table->begin_encode, i, 1), L2K_OK);
        assert_same_code(places[i].block, &batched[i]);
        empty += batched[i].num_passes == 0;
    }
    assert_in_range(empty, 1, num_places / 2);
    for (size_t i = 0; i < num_places; i++)
        deliver(&deliveries[i], places[i].block, places[i].band->component->coding->style);
    check_decoding(together, num_places);
    check_decoding(together, 7);
    check_decoding(single, 1);
    assert_int_equal(run_batch(single, single->table->begin_encode, 0, 0), L2K_OK); /* nothing to do */
    assert_int_equal(run_batch(single, single->table->begin_decode, 0, 0), L2K_OK);
    l2k_block_coder_free(together);
    l2k_block_coder_free(single);
}

/* What a batch is worth in progress arrives exactly, however many blocks share it. */
static void test_progress(void **unused)
{
    (void)unused;
    l2k_run run;
    const l2k_context context = {.threads = l2k_thread_count(3), .run = &run};
    l2k_block_coder *coder = new_coder(&context);
    for (size_t count = 1; count <= num_places; count += 1 + count / 3) {
        l2k_run_start(&run, 2 * UNITS, false);
        assert_int_equal(run_batch(coder, coder->table->begin_encode, 0, count), L2K_OK);
        assert_int_equal(atomic_load(&run.done), UNITS);
    }
    coefficient_set sets[2];
    begin_decoding(sets);
    receive_nothing();
    assert_int_equal(run_batch(coder, coder->table->begin_decode, 0, num_places), L2K_OK);
    assert_int_equal(atomic_load(&run.done), 2 * UNITS);
    end_decoding(sets);
    l2k_block_coder_free(coder);
}

/* After a "no" from the progress hook the batch ends before its last block; the coder can be used again. */
static void test_cancelled(void **unused)
{
    (void)unused;
    meter m;
    l2k_run run;
    const l2k_context context = {.hooks = metered_hooks(&m), .threads = 1, .run = &run};
    coefficient_set sets[2];
    l2k_block_coder *coder = new_coder(&context);
    for (int decoding = 0; decoding < 2; decoding++) {
        begin_function *begin = decoding ? coder->table->begin_decode : coder->table->begin_encode;
        if (decoding) {
            begin_decoding(sets);
            receive_nothing();
        }
        for (int stop = 1; stop >= 0; stop--) {
            l2k_run_start(&run, UNITS, false);
            m.stop = stop;
            assert_int_equal(run_batch(coder, begin, 0, num_places), stop ? L2K_ERROR_CANCELLED : L2K_OK);
            assert_true(stop ? atomic_load(&run.done) < UNITS : atomic_load(&run.done) == UNITS);
        }
    }
    end_decoding(sets);
    l2k_block_coder_free(coder);
    assert_int_equal(m.bytes, 0);
}

/* One coefficient that is too large: the batch fails, however many blocks are good. */
static void test_too_large(void **unused)
{
    (void)unused;
    watch w;
    const l2k_context context = {.hooks = watch_hooks(&w), .threads = 1};
    l2k_block_coder *coder = new_coder(&context);
    int32_t *at = wide_at(&subjects[1].original.views[0], 5, 9), before = *at;
    *at = (int32_t)(1u << coder->table->max_planes);
    assert_int_equal(run_batch(coder, coder->table->begin_encode, 0, num_places), L2K_ERROR_ARGUMENT);
    *at = before;
    assert_int_equal(w.errors, 1);
    assert_int_equal(run_batch(coder, coder->table->begin_encode, 0, num_places), L2K_OK);
    l2k_block_coder_free(coder);
    assert_int_equal(w.live, 0);
}

/* The code of all batches is kept until `forget`, which releases all of it and nothing else. */
static void test_forget(void **unused)
{
    (void)unused;
    meter m;
    const l2k_context context = {.hooks = metered_hooks(&m), .threads = 1};
    l2k_block_coder *coder = new_coder(&context), *other = new_coder(&plain);
    const size_t half = num_places / 2;
    assert_int_equal(run_batch(coder, coder->table->begin_encode, 0, num_places), L2K_OK);
    coder->table->forget(coder);
    const size_t idle = m.bytes;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(run_batch(coder, coder->table->begin_encode, 0, half), L2K_OK);
        const size_t first = m.bytes;
        assert_int_equal(run_batch(coder, coder->table->begin_encode, half, num_places - half), L2K_OK);
        assert_true(first > idle && m.bytes >= first);
        uint64_t bytes = 0;
        for (size_t i = 0; i < num_places; i++) {
            l2k_block kept = *places[i].block;
            bytes += code_bytes(&kept);
            assert_int_equal(run_batch(other, other->table->begin_encode, i, 1), L2K_OK);
            assert_same_code(&kept, places[i].block);
        }
        assert_true(m.bytes >= idle + bytes);
        coder->table->forget(coder);
        assert_int_equal(m.bytes, idle);
    }
    coder->table->forget(coder); /* nothing is left to forget */
    assert_int_equal(m.bytes, idle);
    l2k_block_coder_free(coder);
    assert_int_equal(m.bytes, 0);
    l2k_block_coder_free(other);
    l2k_block_coder_free(NULL);
}

/* Each allocation of a coder's creation and work fails once. */
static void test_out_of_memory(void **unused)
{
    (void)unused;
    bool failed = true;
    for (size_t n = 0; failed; n++) {
        watch w;
        l2k_block_coder *coder = NULL;
        const l2k_context context = {.hooks = watch_hooks(&w), .threads = 2};
        w.fail_at = n;
        w.once = true;
        l2k_status status = l2k_block_coder_create(&context, &l2k_mq_on_cpu, &coder);
        if (status == L2K_OK)
            status = run_batch(coder, coder->table->begin_encode, 0, 1);
        failed = w.allocations > n;
        assert_int_equal(status, failed ? L2K_ERROR_MEMORY : L2K_OK);
        assert_int_equal(w.errors, failed);
        l2k_block_coder_free(coder);
        assert_int_equal(w.live, 0);
        assert_true(failed || n > 6);
    }
}

/* Tables D.8 and D.9: a block's passes from its first bit-plane, which has a clean-up pass alone; 1 where a pass ends
 * its codeword segment. From the fifth bit-plane on, bypass takes turns: two raw passes, one of MQ. */
static void test_segments(void **unused)
{
    (void)unused;
    static const char bypass[] = "0 000 000 001 011 011 011";
    for (unsigned style = 0; style < 64; style++) {
        unsigned pass = 0;
        for (const char *at = bypass; *at; at++) {
            if (*at == ' ')
                continue;
            bool ends = style & L2K_STYLE_TERMALL || (style & L2K_STYLE_BYPASS && *at == '1');
            assert_int_equal(l2k_mq_on_cpu.ends_segment(style, pass), ends);
            pass++;
        }
        for (; pass < 90; pass++) /* bit-planes repeat */
            assert_int_equal(l2k_mq_on_cpu.ends_segment(style, pass), l2k_mq_on_cpu.ends_segment(style, pass - 3));
        assert_ptr_equal(l2k_block_coder_for(style), &l2k_mq_on_cpu);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch),     cmocka_unit_test(test_progress), cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_too_large), cmocka_unit_test(test_forget),   cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_segments),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
