/* Motion compensation of Dirac, in every instruction set, against the specification taken sample by sample: random
 * blocks, sizes, overlaps, precisions, weights, depths, chroma formats and global motion, most of which no stream of
 * other encoders has. A number of cases may be given. */
#include "support.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "dirac/motion/motion.h"

static unsigned cases = 300;

typedef struct moved {
    l2k_dirac_sequence sequence;
    l2k_dirac_motion motion;
    l2k_dirac_picture reference[2], picture;
    int32_t most, half, residue[200 * 120];
} moved;

static int clamp(int64_t x, int64_t low, int64_t high)
{
    return (int)(x < low ? low : x > high ? high : x);
}

static int between(int low, int high)
{
    return low + (int)random_below((uint64_t)(high - low) + 1);
}

/* ---- The specification -------------------------------------------------------------------------------------- */

static int get(const moved *m, const l2k_dirac_plane *p, int x, int y)
{
    const ptrdiff_t at = clamp(y, 0, (int)p->height - 1) * p->stride + clamp(x, 0, (int)p->width - 1);
    return m->sequence.wide ? ((const uint16_t *)p->data)[at] : ((const uint8_t *)p->data)[at];
}

/* The picture up-sampled by two, first down, then across; its last row and column are those of the picture. */
static int up_sampled(const moved *m, const l2k_dirac_plane *p, int x, int y)
{
    static const int taps[4] = {21, -7, 3, -1};
    const int u = clamp(x, 0, 2 * (int)p->width - 2), v = clamp(y, 0, 2 * (int)p->height - 2);
    int sum = 16;
    if (u % 2 == 0 && v % 2 == 0)
        return get(m, p, u / 2, v / 2);
    for (int i = 0; i < 4; i++)
        sum += taps[i] * (u % 2 == 0 ? get(m, p, u / 2, v / 2 - i) + get(m, p, u / 2, v / 2 + 1 + i)
                                     : up_sampled(m, p, u - 1 - 2 * i, v) + up_sampled(m, p, u + 1 + 2 * i, v));
    return clamp(sum >> 5, 0, m->most);
}

/* A vector in 2^precision-ths of a sample. */
static int at_vector(const moved *m, const l2k_dirac_plane *p, int x, int y, const int v[2])
{
    const int scale = 8 >> m->motion.precision, ex = 8 * x + v[0] * scale, ey = 8 * y + v[1] * scale;
    int sum = 8;
    for (int i = 0; i < 4; i++)
        if ((i & 1 ? ex & 3 : 4 - (ex & 3)) && (i & 2 ? ey & 3 : 4 - (ey & 3)))
            sum += (i & 1 ? ex & 3 : 4 - (ex & 3)) * (i & 2 ? ey & 3 : 4 - (ey & 3)) *
                   up_sampled(m, p, (ex >> 2) + (i & 1), (ey >> 2) + (i >> 1));
    return sum >> 4;
}

static int predicted(const moved *m, const l2k_dirac_motion_block *b, unsigned plane, int x, int y)
{
    const unsigned shift[2] = {plane ? m->sequence.chroma_x : 0, plane ? m->sequence.chroma_y : 0};
    int value[2] = {0, 0};
    for (unsigned r = 0; r < 2; r++) {
        const l2k_dirac_global *g = &m->motion.globals[r];
        int v[2];
        for (unsigned i = 0; i < 2; i++) {
            const int64_t scale = (1 << g->exponent[2]) - (g->perspective[0] * x + g->perspective[1] * y);
            const int64_t moves =
                g->matrix[2 * i] * x + g->matrix[2 * i + 1] * y + (int64_t)g->pan[i] * (1 << g->exponent[1]);
            const int64_t all = scale * moves >> (g->exponent[1] + g->exponent[2]);
            v[i] = (int)(b->mode & L2K_DIRAC_GLOBAL ? all : b->value[2 * r + i]) >> shift[i];
        }
        if (b->mode >> r & 1)
            value[r] = at_vector(m, &m->reference[r].planes[plane], x, y, v) - m->half;
    }
    const int32_t *w = m->motion.weight, rounding = 1 << m->motion.weight_bits >> 1;
    switch (b->mode & 3) {
    case 0:
        return b->value[plane];
    case 3:
        return (value[0] * w[0] + value[1] * w[1] + rounding) >> m->motion.weight_bits;
    default:
        return ((value[0] + value[1]) * (w[0] + w[1]) + rounding) >> m->motion.weight_bits;
    }
}

/* Of block i of `count` at x, in eighths. */
static int overlap(int x, int i, int separation, int length, int count)
{
    const int offset = (length - separation) / 2, start = i * separation - offset, end = start + length;
    if (x < start || x >= end)
        return 0;
    const int place = x - start < end - 1 - x ? x - start : end - 1 - x;
    if (place >= 2 * offset || x < offset || x >= count * separation - offset)
        return 8;
    return offset == 1 ? 3 + 2 * place : 1 + (6 * place + offset - 1) / (2 * offset - 1);
}

static int sample_of(const moved *m, unsigned plane, int x, int y)
{
    const l2k_dirac_motion *motion = &m->motion;
    const unsigned shift_x = plane ? m->sequence.chroma_x : 0, shift_y = plane ? m->sequence.chroma_y : 0;
    int64_t sum = 32;
    for (int j = 0; j < (int)motion->down; j++) {
        const int down =
            overlap(y, j, (int)motion->separation[1] >> shift_y, (int)motion->length[1] >> shift_y, (int)motion->down);
        for (int i = 0; down && i < (int)motion->across; i++) {
            const int across = overlap(x, i, (int)motion->separation[0] >> shift_x, (int)motion->length[0] >> shift_x,
                                       (int)motion->across);
            if (across)
                sum += (int64_t)predicted(m, &motion->blocks[j * (int)motion->across + i], plane, x, y) * across * down;
        }
    }
    return clamp((sum >> 6) + m->half + m->residue[y * 200 + x], 0, m->most);
}

/* ---- Cases -------------------------------------------------------------------------------------------------- */

static void choose_blocks(moved *m)
{
    static const uint8_t sizes[][2] = {{8, 4},   {12, 8},  {16, 12}, {24, 16}, {16, 8}, {24, 12},
                                       {32, 16}, {64, 32}, {4, 4},   {20, 12}, {64, 48}};
    l2k_dirac_motion *motion = &m->motion;
    const uint32_t frame[2] = {m->sequence.width, m->sequence.height};
    uint32_t count[2];
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t *size = sizes[random_below(sizeof sizes / sizeof *sizes)];
        motion->length[i] = size[0];
        motion->separation[i] = size[1];
        count[i] = 4 * ((frame[i] + 4 * size[1] - 1) / (4 * size[1]));
    }
    motion->across = count[0];
    motion->down = count[1];
    motion->blocks = calloc((size_t)count[0] * count[1], sizeof *motion->blocks);
    const unsigned alike = random_below(8);
    const int far = random_below(10) ? 20 << motion->precision : 3000;
    for (uint32_t k = 0; k < count[0] * count[1]; k++) {
        l2k_dirac_motion_block *b = &motion->blocks[k];
        if (k && random_below(8) < alike) {
            *b = b[-1];
            continue;
        }
        b->mode = (int32_t)random_below(motion->references == 2 ? 4 : 2);
        if (b->mode && motion->global && random_below(2))
            b->mode |= L2K_DIRAC_GLOBAL;
        for (int i = 0; i < 4; i++)
            if (b->mode == 0)
                b->value[i] = i < 3 ? between(-m->half, m->half - 1) : 0;
            else if (b->mode >> i / 2 & 1 && !(b->mode & L2K_DIRAC_GLOBAL))
                b->value[i] = between(-far, far);
    }
}

static void choose_motion(moved *m)
{
    l2k_dirac_motion *motion = &m->motion;
    motion->references = 1 + random_below(2);
    motion->precision = random_below(4);
    motion->global = random_below(5) == 0;
    const bool weighted = random_below(3) == 0;
    motion->weight_bits = weighted ? random_below(L2K_DIRAC_MOST_WEIGHT_BITS + 1) : 1;
    for (unsigned r = 0; r < 2; r++) {
        l2k_dirac_global *g = &motion->globals[r];
        motion->weight[r] = weighted && r < motion->references ? between(-128, 128) : 1;
        g->exponent[1] = random_below(12);
        g->exponent[2] = random_below(10);
        for (unsigned i = 0; i < 4; i++) {
            g->matrix[i] = between(-50, 50);
            g->pan[i / 2] = between(-30, 30);
            g->perspective[i / 2] = between(-1, 1);
        }
    }
}

/* Planes are no larger than their samples need, for sanitizers. */
static void choose_plane(const moved *m, l2k_dirac_plane *p, unsigned plane)
{
    l2k_dirac_size(&m->sequence, plane, &p->width, &p->height);
    p->stride = (ptrdiff_t)(p->width + random_below(20));
    const size_t count = (size_t)p->stride * (p->height - 1) + p->width;
    const bool extreme = random_below(3) == 0;
    p->data = malloc(count * (m->sequence.wide ? 2 : 1));
    for (size_t i = 0; i < count; i++) {
        const int value = extreme ? between(0, 1) * m->most : between(0, m->most);
        if (m->sequence.wide)
            ((uint16_t *)p->data)[i] = (uint16_t)value;
        else
            ((uint8_t *)p->data)[i] = (uint8_t)value;
    }
}

static void compare_plane(moved *m, unsigned plane)
{
    l2k_dirac_plane *p = &m->picture.planes[plane];
    l2k_dirac_picture *references[2] = {&m->reference[0], m->motion.references > 1 ? &m->reference[1] : NULL};
    const int strong = random_below(4) ? 200 : 30000;
    const bool empty = random_below(4) == 0;
    static int16_t narrow[200 * 120];
    for (size_t i = 0; i < 200 * 120; i++)
        narrow[i] = (int16_t)(m->residue[i] = empty ? 0 : between(-strong, strong));
    const l2k_dirac_residue residue = {empty ? NULL : m->sequence.wide ? (void *)m->residue : narrow, 200};
    for (int cpu = L2K_CPU_C; cpu <= L2K_CPU_SIMD128; cpu++) {
        const l2k_context context = {.cpu = (l2k_cpu)cpu};
        if (!l2k_cpu_usable((l2k_cpu)cpu))
            continue;
        assert_int_equal(
            l2k_dirac_motion_apply(&context, &m->motion, &m->sequence, plane, references, &residue, &m->picture),
            L2K_OK);
        for (int y = 0; y < (int)p->height; y++)
            for (int x = 0; x < (int)p->width; x++)
                assert_int_equal(get(m, p, x, y), sample_of(m, plane, x, y));
        for (unsigned r = 0; r < 2; r++) {
            l2k_release(&context, m->reference[r].planes[plane].half);
            m->reference[r].planes[plane].half = NULL;
        }
    }
}

static void test_cases(void **unused)
{
    (void)unused;
    static moved m;
    for (unsigned i = 0; i < cases; i++) {
        memset(&m, 0, sizeof m);
        m.sequence.width = random_between(1, 150);
        m.sequence.height = random_between(1, 90);
        m.sequence.chroma_x = random_below(2);
        m.sequence.chroma_y = m.sequence.chroma_x && random_below(2);
        m.sequence.wide = random_below(3) == 0;
        m.sequence.depth[0] = m.sequence.depth[1] = m.sequence.wide ? random_between(9, 16) : random_between(1, 8);
        m.most = (1 << m.sequence.depth[0]) - 1;
        m.half = 1 << (m.sequence.depth[0] - 1);
        choose_motion(&m);
        choose_blocks(&m);
        for (unsigned p = 0; p < L2K_DIRAC_PLANES; p++) {
            choose_plane(&m, &m.reference[0].planes[p], p);
            choose_plane(&m, &m.reference[1].planes[p], p);
            choose_plane(&m, &m.picture.planes[p], p);
            compare_plane(&m, p);
            free(m.reference[0].planes[p].data);
            free(m.reference[1].planes[p].data);
            free(m.picture.planes[p].data);
        }
        free(m.motion.blocks);
        l2k_release(&(l2k_context){.cpu = L2K_CPU_AUTO}, m.motion.space);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    if (argc > 1)
        cases = (unsigned)atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
