/* Hulls of code-blocks and the list of their segments (J.14), on made-up blocks with many ties: hulls compared with
 * their definition; every prefix of the list, as a device cuts it, with the sorted list; a list that is loaded bin by
 * bin, with one that is here. */
#include "support.h"

#include "codec/engine/cuda/packets/cuda_rate.h"

static const l2k_context context = {.threads = 1};

enum { MOST_BLOCKS = 40, MOST_PASSES = 30 };

typedef struct made_block {
    unsigned num_passes;
    uint32_t ends[MOST_PASSES];
    double gains[MOST_PASSES];
} made_block;

/* Few different values, so that slopes are often equal, infinite or of no gain; or any. */
static void make_block(made_block *b, unsigned kind)
{
    uint32_t bytes = 0;
    double gain = 0;
    b->num_passes = random_below(5) ? random_below(MOST_PASSES + 1) : 0;
    for (unsigned p = 0; p < b->num_passes; p++) {
        bytes += random_below(kind ? 3 : 200);
        gain += kind == 1 ? (double)random_below(3)
                : kind    ? (double)random_below(9) - 2
                          : ldexp(random_below(1000), -7);
        b->ends[p] = bytes | (random_below(3) ? 0 : L2K_PASS_TERMINATED);
        b->gains[p] = gain;
    }
}

/* ---- Hulls --------------------------------------------------------------------------------------------------- */

/* The definition: from a point, the steepest way up leads to the next one, the highest of those, the first of these. */
static unsigned plain_hull(const made_block *b, double weight, double *slopes, uint8_t *passes)
{
    unsigned count = 0, at = 0;
    for (;;) {
        const double from = l2k_hull_distortion(b->gains, at, weight);
        double best = 0, highest = 0;
        unsigned next = 0;
        for (unsigned p = at + 1; p <= b->num_passes; p++) {
            const double gain = l2k_hull_distortion(b->gains, p, weight) - from;
            const double slope = l2k_hull_slope(gain, l2k_hull_bytes(b->ends, p) - l2k_hull_bytes(b->ends, at));
            if (gain > 0 && (slope > best || (slope == best && gain > highest))) {
                best = slope;
                highest = gain;
                next = p;
            }
        }
        if (!next)
            return count;
        slopes[count] = best;
        passes[count++] = (uint8_t)next;
        at = next;
    }
}

static void test_hulls(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 20000; i++) {
        made_block b = {0};
        double slopes[MOST_PASSES], plain_slopes[MOST_PASSES];
        uint8_t passes[MOST_PASSES], plain_passes[MOST_PASSES];
        make_block(&b, i % 3);
        const double weight = i % 2 ? 1 : 0.25; /* exact, so that equal slopes are equal */
        const unsigned count = l2k_find_hull(b.ends, b.gains, b.num_passes, weight, slopes, passes);
        assert_int_equal(count, plain_hull(&b, weight, plain_slopes, plain_passes));
        for (unsigned k = 0; k < count; k++) {
            assert_true(slopes[k] == plain_slopes[k] && passes[k] == plain_passes[k]);
            assert_true(k == 0 || (slopes[k] < slopes[k - 1] && passes[k] > passes[k - 1]));
            assert_true(k == 0 || l2k_slope_bin_of(slopes[k]) >= l2k_slope_bin_of(slopes[k - 1]));
        }
    }
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

typedef struct made_list {
    made_block made[MOST_BLOCKS];
    l2k_block blocks[MOST_BLOCKS];
    l2k_block_place places[MOST_BLOCKS];
    l2k_component_coding coding;
    l2k_tile_coding tile_coding;
    l2k_tile_component component;
    l2k_subband band;
    l2k_tile tile;
    l2k_slope_list here, elsewhere;
    l2k_hull_segment segments[MOST_BLOCKS * MOST_PASSES];
    size_t loaded;
} made_list;

/* In another order than they have here. */
static l2k_status load(void *from, l2k_slope_bin *bin)
{
    made_list *l = from;
    const l2k_slope_bin *same = &l->here.bins[bin - l->elsewhere.bins];
    const size_t count = same[1].start - same->start;
    bin->segments = &l->segments[l->loaded];
    for (size_t i = 0; i < count; i++)
        bin->segments[i] = same->segments[count - 1 - i];
    l->loaded += count;
    return L2K_OK;
}

static void make_list(made_list *l, unsigned kind, unsigned count)
{
    *l = (made_list){.coding.levels = 2, .tile_coding.num_layers = 1};
    l->component = (l2k_tile_component){.coding = &l->coding, .precision = 8};
    l->band = (l2k_subband){.component = &l->component, .resolution = 1, .orientation = 1};
    l->tile = (l2k_tile){.coding = &l->tile_coding, .places = l->places, .num_places = count};
    for (unsigned i = 0; i < count; i++) {
        made_block *m = &l->made[i];
        make_block(m, kind);
        l->blocks[i].num_passes = (uint8_t)m->num_passes;
        l->blocks[i].coded = (l2k_coded_block){.pass_bytes = m->ends, .pass_distortion = m->gains};
        l->places[i] = (l2k_block_place){&l->blocks[i], &l->band};
    }
    assert_int_equal(l2k_slopes_create(&context, &l->tile, 1, &l->here), L2K_OK);
    l->elsewhere = (l2k_slope_list){.context = &context, .count = l->here.count, .load = load, .from = l};
    l->elsewhere.bins = malloc((L2K_SLOPE_BINS + 1) * sizeof *l->elsewhere.bins);
    assert_non_null(l->elsewhere.bins);
    for (size_t i = 0; i <= L2K_SLOPE_BINS; i++)
        l->elsewhere.bins[i] = (l2k_slope_bin){.start = l->here.bins[i].start, .bytes = l->here.bins[i].bytes};
}

static void free_list(made_list *l)
{
    l2k_slopes_release(&l->here);
    free(l->elsewhere.bins);
}

/* What a device leaves of each block at an end, compared with the passes that the sorted list has put there. */
static void check_cut(const made_list *l, const l2k_slope_end *end, const uint8_t *right)
{
    const double weight = l2k_distortion_weight(&l->tile, &l->band);
    for (uint32_t i = 0; i < l->tile.num_places; i++) {
        const made_block *m = &l->made[i];
        double slopes[MOST_PASSES];
        uint8_t passes[MOST_PASSES];
        const unsigned count = l2k_find_hull(m->ends, m->gains, m->num_passes, weight, slopes, passes);
        const unsigned before = l2k_segments_before(slopes, passes, count, i, end);
        const l2k_cuda_coded_block cut = l2k_cut_block((l2k_cuda_coded_block){.num_passes = (uint8_t)m->num_passes},
                                                       m->ends, before ? passes[before - 1] : 0);
        assert_int_equal(cut.num_passes, right[i]);
        assert_int_equal(cut.bytes, l2k_hull_bytes(m->ends, right[i]));
    }
}

static void check_list(made_list *l)
{
    uint8_t passes[MOST_BLOCKS] = {0};
    uint64_t bytes = 0;
    for (size_t at = 0; at <= l->here.count; at++) {
        l2k_slope_end end, same;
        uint64_t here, elsewhere;
        assert_int_equal(l2k_slopes_end(&l->here, at, &end), L2K_OK);
        assert_int_equal(l2k_slopes_end(&l->elsewhere, at, &same), L2K_OK);
        assert_true(end.slope == same.slope && end.bin == same.bin && end.block == same.block &&
                    end.passes == same.passes);
        assert_int_equal(l2k_slopes_bytes(&l->here, at, &here), L2K_OK);
        assert_int_equal(l2k_slopes_bytes(&l->elsewhere, at, &elsewhere), L2K_OK);
        assert_true(here == bytes && elsewhere == bytes);
        check_cut(l, &end, passes);
        if (at == l->here.count)
            return;
        assert_int_equal(l2k_slopes_sort(&l->here, at + 1 < l->here.count ? at + 1 : at), L2K_OK);
        assert_int_equal(l2k_slopes_sort(&l->here, at), L2K_OK);
        const l2k_hull_segment *next = &l->here.segments[at];
        assert_int_equal(next->before, passes[next->block]); /* each block's in their order */
        passes[next->block] = next->passes;
        bytes += next->bytes;
    }
}

static void test_lists(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 60; i++) {
        made_list *l = malloc(sizeof *l);
        assert_non_null(l);
        make_list(l, i % 3, i < 3 ? 0 : random_between(1, MOST_BLOCKS));
        check_list(l);
        free_list(l);
        free(l);
    }
}

/* Slopes beyond all bins are in the first and the last. */
static void test_bins(void **unused)
{
    (void)unused;
    assert_int_equal(l2k_slope_bin_of(INFINITY), 0);
    assert_int_equal(l2k_slope_bin_of(ldexp(1, 60)), 0);
    assert_int_equal(l2k_slope_bin_of(0), L2K_SLOPE_BINS - 1);
    assert_int_equal(l2k_slope_bin_of(ldexp(1, -200)), L2K_SLOPE_BINS - 1);
    assert_int_equal(l2k_slope_bin_of(ldexp(1, -80)), L2K_SLOPE_BINS - 1);
    assert_int_equal(l2k_slope_bin_of(ldexp(1, -79)), L2K_SLOPE_BINS - 1 - 64);
}

/* Parts without blocks, too, which begin where the next one does. */
static void test_parts(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 200; i++) {
        l2k_cuda_packet_part parts[20] = {{0}};
        uint32_t blocks = 0, number = 0;
        const uint32_t count = random_between(1, 20);
        for (uint32_t k = 0; k < count; k++) {
            parts[k].first_block = blocks;
            parts[k].across = parts[k].down = random_below(2) * random_between(1, 3);
            blocks += parts[k].across * parts[k].down;
        }
        for (uint32_t k = 0; k < count; k++)
            for (uint32_t n = parts[k].across * parts[k].down; n > 0; n--)
                assert_int_equal(l2k_part_of_block(parts, count, number++), k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hulls), cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_bins), cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
