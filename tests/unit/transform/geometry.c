/* tiling/geometry.h compared with brute force: sample by sample, with the formulas of Annex B in 64 bits, and at the
 * largest coordinates. */
#include "support.h"

#include "tiling/geometry.h"

static int64_t ceil_of(int64_t a, int64_t b) /* a may be negative */
{
    return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

static void assert_rect(l2k_rect r, int64_t x0, int64_t y0, int64_t x1, int64_t y1)
{
    assert_int_equal(r.x0, x0);
    assert_int_equal(r.y0, y0);
    assert_int_equal(r.x1, x1);
    assert_int_equal(r.y1, y1);
}

static void test_helpers(void **unused)
{
    (void)unused;
    for (unsigned a = 0; a < 300; a++) {
        for (unsigned b = 1; b < 40; b++)
            assert_int_equal(l2k_ceil_div(a, b), ceil_of(a, b));
        for (unsigned s = 0; s <= 32; s++)
            assert_int_equal(l2k_ceil_shift(a, s), ceil_of(a, (int64_t)1 << s));
    }
    for (unsigned b = 1; b < 40; b++)
        assert_int_equal(l2k_ceil_div(UINT32_MAX, b), ceil_of(UINT32_MAX, b));
    for (unsigned s = 0; s <= 32; s++)
        assert_int_equal(l2k_ceil_shift(UINT32_MAX, s), ceil_of(UINT32_MAX, (int64_t)1 << s));
    for (unsigned s = 0; s < 32; s++) {
        assert_int_equal(l2k_log2(1u << s), s);
        assert_int_equal(l2k_log2((1u << s) | ((1u << s) - 1)), s);
        assert_true(l2k_is_power_of_two(1u << s));
        assert_int_equal(l2k_is_power_of_two((1u << s) + 1), s == 0);
    }
    assert_false(l2k_is_power_of_two(0));
}

static void test_intersection(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        l2k_rect r[2];
        for (int k = 0; k < 2; k++) {
            r[k].x0 = random_below(12);
            r[k].y0 = random_below(12);
            r[k].x1 = r[k].x0 + random_below(8);
            r[k].y1 = r[k].y0 + random_below(8);
        }
        l2k_rect common = l2k_rect_intersect(r[0], r[1]);
        uint64_t count = 0;
        for (uint32_t y = 0; y < 20; y++)
            for (uint32_t x = 0; x < 20; x++) {
                bool in[2];
                for (int k = 0; k < 2; k++)
                    in[k] = x >= r[k].x0 && x < r[k].x1 && y >= r[k].y0 && y < r[k].y1;
                count += in[0] && in[1];
            }
        assert_int_equal(l2k_rect_empty(common), count == 0);
        if (count)
            assert_int_equal((uint64_t)l2k_rect_width(common) * l2k_rect_height(common), count);
    }
}

/* ---- Tiles --------------------------------------------------------------------------------------------------- */

enum { SIDE = 48 };

static l2k_tile_grid random_grid(void)
{
    l2k_tile_grid g;
    g.image.x0 = random_below(SIDE - 1);
    g.image.y0 = random_below(SIDE - 1);
    g.image.x1 = random_between(g.image.x0 + 1, SIDE);
    g.image.y1 = random_between(g.image.y0 + 1, SIDE);
    g.tile_x0 = random_below(g.image.x0 + 1);
    g.tile_y0 = random_below(g.image.y0 + 1);
    /* Tile 0 must meet the image (B-4). */
    g.tile_width = g.image.x0 - g.tile_x0 + random_between(1, 30);
    g.tile_height = g.image.y0 - g.tile_y0 + random_between(1, 30);
    return g;
}

/* Every sample of the reference grid belongs to the tile that its position gives, and to no other. */
static void test_tiles_cover(void **unused)
{
    (void)unused;
    for (int round = 0; round < 3000; round++) {
        l2k_tile_grid g = random_grid();
        static int owner[SIDE][SIDE];
        memset(owner, -1, sizeof owner);
        uint32_t across = l2k_tiles_across(&g), down = l2k_tiles_down(&g);
        for (uint32_t t = 0; t < across * down; t++) {
            l2k_rect r = l2k_tile_rect(&g, t);
            assert_false(l2k_rect_empty(r));
            for (uint32_t y = r.y0; y < r.y1; y++)
                for (uint32_t x = r.x0; x < r.x1; x++) {
                    assert_int_equal(owner[y][x], -1);
                    owner[y][x] = (int)t;
                }
        }
        for (uint32_t y = 0; y < SIDE; y++)
            for (uint32_t x = 0; x < SIDE; x++) {
                bool inside = x >= g.image.x0 && x < g.image.x1 && y >= g.image.y0 && y < g.image.y1;
                int expected = -1;
                if (inside)
                    expected = (int)((y - g.tile_y0) / g.tile_height * across + (x - g.tile_x0) / g.tile_width);
                assert_int_equal(owner[y][x], expected);
            }
    }
}

/* The last tiles of the largest images: nothing overflows. */
static void test_tiles_far(void **unused)
{
    (void)unused;
    l2k_tile_grid g = {{0, 0, UINT32_MAX, UINT32_MAX}, 0, 0, UINT32_MAX, UINT32_MAX};
    assert_int_equal(l2k_tiles_across(&g), 1);
    assert_rect(l2k_tile_rect(&g, 0), 0, 0, UINT32_MAX, UINT32_MAX);
    g.tile_width = g.tile_height = 0x01000001;
    assert_int_equal(l2k_tiles_across(&g), 256);
    assert_rect(l2k_tile_rect(&g, 256 * 256 - 1), 255ll * 0x01000001, 255ll * 0x01000001, UINT32_MAX, UINT32_MAX);
    g = (l2k_tile_grid){{UINT32_MAX - 1, UINT32_MAX - 1, UINT32_MAX, UINT32_MAX}, UINT32_MAX - 9, UINT32_MAX - 9, 9, 9};
    assert_int_equal(l2k_tiles_across(&g) * l2k_tiles_down(&g), 1);
    assert_rect(l2k_tile_rect(&g, 0), UINT32_MAX - 1ll, UINT32_MAX - 1ll, UINT32_MAX, UINT32_MAX);
    g.tile_width = UINT32_MAX;
    assert_rect(l2k_tile_rect(&g, 0), UINT32_MAX - 1ll, UINT32_MAX - 1ll, UINT32_MAX, UINT32_MAX);
}

/* ---- Components, resolutions, subbands ----------------------------------------------------------------------- */

/* Small rectangles anywhere, or at the far end of the grid. */
static l2k_rect random_rect(void)
{
    uint32_t base = random_below(2)   ? UINT32_MAX - 100
                    : random_below(3) ? random_below(200)
                                      : (uint32_t)random_u64() / 2;
    l2k_rect r = {base + random_below(40), base + random_below(40), 0, 0};
    r.x1 = r.x0 + random_below(50);
    r.y1 = r.y0 + random_below(50);
    return r;
}

/* B-12 directly, and by counting the grid points that are multiples of the sub-sampling. */
static void test_component(void **unused)
{
    (void)unused;
    for (int round = 0; round < 20000; round++) {
        l2k_rect r = random_rect();
        uint32_t dx = random_between(1, 255), dy = random_between(1, random_below(2) ? 4 : 255), columns = 0;
        l2k_rect c = l2k_component_rect(r, dx, dy);
        assert_rect(c, ceil_of(r.x0, dx), ceil_of(r.y0, dy), ceil_of(r.x1, dx), ceil_of(r.y1, dy));
        for (uint64_t x = r.x0; x < r.x1; x++)
            columns += x % dx == 0;
        assert_int_equal(l2k_rect_width(c), columns);
    }
}

static void test_formulas(void **unused)
{
    (void)unused;
    for (int round = 0; round < 5000; round++) {
        l2k_rect r = random_rect();
        assert_rect(l2k_resolution_rect(r, 0), r.x0, r.y0, r.x1, r.y1);
        assert_rect(l2k_subband_rect(r, 0, L2K_LL), r.x0, r.y0, r.x1, r.y1);
        for (unsigned level = 1; level <= 32; level++) {
            int64_t n = (int64_t)1 << level;
            assert_rect(l2k_resolution_rect(r, level), ceil_of(r.x0, n), ceil_of(r.y0, n), ceil_of(r.x1, n),
                        ceil_of(r.y1, n)); /* B-14 */
            for (unsigned b = 0; b < 4; b++) {
                int64_t x = n / 2 * (b & 1), y = n / 2 * (b >> 1); /* B-15 */
                assert_rect(l2k_subband_rect(r, level, b), ceil_of(r.x0 - x, n), ceil_of(r.y0 - y, n),
                            ceil_of(r.x1 - x, n), ceil_of(r.y1 - y, n));
            }
        }
    }
}

/* The same along one axis by separating even and odd samples, level by level (F.3): sample u becomes sample u / 2. */
static void test_parities(void **unused)
{
    (void)unused;
    for (int round = 0; round < 5000; round++) {
        l2k_rect r = random_rect();
        uint64_t low0 = r.x0, low1 = r.x1; /* the low-pass samples at this level */
        for (unsigned level = 1; level <= 32; level++) {
            uint64_t count[2] = {0, 0}, first[2] = {0, 0};
            for (uint64_t u = low0; u < low1; u++)
                if (count[u & 1]++ == 0)
                    first[u & 1] = u >> 1;
            l2k_rect ll = l2k_subband_rect(r, level, L2K_LL), hl = l2k_subband_rect(r, level, L2K_HL);
            assert_int_equal(ll.x1 - ll.x0, count[0]);
            assert_int_equal(hl.x1 - hl.x0, count[1]);
            if (count[0])
                assert_int_equal(ll.x0, first[0]);
            if (count[1])
                assert_int_equal(hl.x0, first[1]);
            l2k_rect reduced = l2k_resolution_rect(r, level);
            assert_memory_equal(&reduced, &ll, sizeof ll);
            low0 = ll.x0;
            low1 = ll.x1;
        }
    }
}

/* A subband's width and height are independent of each other, and the four subbands have as many samples as the
 * resolution above. */
static void test_subbands_add_up(void **unused)
{
    (void)unused;
    for (int round = 0; round < 5000; round++) {
        l2k_rect r = random_rect();
        for (unsigned level = 1; level <= 32; level++) {
            uint64_t sum = 0;
            for (unsigned b = 0; b < 4; b++) {
                l2k_rect s = l2k_subband_rect(r, level, b);
                sum += (uint64_t)l2k_rect_width(s) * l2k_rect_height(s);
            }
            l2k_rect above = l2k_resolution_rect(r, level - 1);
            assert_int_equal(sum, (uint64_t)l2k_rect_width(above) * l2k_rect_height(above));
        }
    }
}

/* ---- Partitions ---------------------------------------------------------------------------------------------- */

static void test_partition(void **unused)
{
    (void)unused;
    for (int round = 0; round < 20000; round++) {
        l2k_rect r = random_rect();
        unsigned w = random_below(random_below(3) ? 6 : 16), h = random_below(random_below(3) ? 6 : 16);
        l2k_partition p = l2k_partition_make(r, w, h);
        static uint8_t seen[64][64];
        memset(seen, 0, sizeof seen);
        if (l2k_rect_empty(r)) {
            assert_int_equal((uint64_t)p.across * p.down, 0);
            continue;
        }
        for (uint32_t i = 0; i < p.across * p.down; i++) {
            l2k_rect c = l2k_partition_cell(&p, i);
            uint32_t column = p.first_x + i % p.across, row = p.first_y + i / p.across;
            assert_false(l2k_rect_empty(c));
            for (uint32_t y = c.y0; y < c.y1; y++)
                for (uint32_t x = c.x0; x < c.x1; x++) {
                    assert_true(x >= r.x0 && x < r.x1 && y >= r.y0 && y < r.y1);
                    assert_int_equal(x >> w, column);
                    assert_int_equal(y >> h, row);
                    assert_int_equal(seen[y - r.y0][x - r.x0]++, 0);
                }
        }
        for (uint32_t y = r.y0; y < r.y1; y++)
            for (uint32_t x = r.x0; x < r.x1; x++)
                assert_int_equal(seen[y - r.y0][x - r.x0], 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_helpers),   cmocka_unit_test(test_intersection),    cmocka_unit_test(test_tiles_cover),
        cmocka_unit_test(test_tiles_far), cmocka_unit_test(test_component),       cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_parities),  cmocka_unit_test(test_subbands_add_up), cmocka_unit_test(test_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
