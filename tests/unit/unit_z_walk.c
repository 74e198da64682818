/* Walks through groups of slices (z_walk.h): what they take of the programs, lifted as a walk does with what waits in
 * variables of its own, and operations for the rest, give what the programs give; and in groups that end where a walk
 * may end, nothing is left over but at the ends of the volume. Slices have one sample. */
#include "support.h"

#include "transform/volume/z_walk.h"

enum { MOST_SLICES = 256, MOST_STATE = L2K_MAX_LIFTING_STEPS, MOST_PERIOD = 1 << L2K_Z_WALK_LEVELS };

/* The same volume, lifted in one of two ways. */
typedef struct side {
    l2k_z_levels z;
    l2k_z_slice slices[MOST_SLICES];
    uint32_t values[MOST_SLICES];
    size_t by_operation; /* steps and pairs of the last group that no walk has taken */
} side;

/* ---- Operations ------------------------------------------------------------------------------------------------ */

static void run_op(side *s, const l2k_z_op *op, unsigned begin, unsigned end)
{
    void *rows[L2K_Z_ROWS] = {0};
    const bool chain = op->kind == L2K_Z_CHAIN;
    for (unsigned i = 0; i + 2 * begin < L2K_Z_ROWS && op->rows[i + 2 * begin]; i++)
        rows[i] = op->rows[i + 2 * begin]->values;
    if (chain && begin < end)
        s->z.lifting->chain(rows, end - begin, 1, s->z.scales);
    else if (op->kind == L2K_Z_STEP)
        s->z.lifting->step[op->step](rows[0], rows[1], rows[2], 1);
    else if (op->kind == L2K_Z_LONE)
        s->z.lifting->lone(rows[0], 1);
    else if (op->kind == L2K_Z_SCALE)
        s->z.functions->scale(rows[0], 1, op->factor);
    s->by_operation += chain ? end - begin : 1;
}

static void run_ops(side *s, const l2k_z_program *program, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        run_op(s, &program->ops[i], 0, program->ops[i].pairs);
}

/* Pairs begin .. end - 1 of a run, one by one. */
static void run_pairs(side *s, const l2k_z_run *run, unsigned begin, unsigned end)
{
    for (unsigned j = begin; j < end; j++)
        run_op(s, &run->program->ops[run->begin + j / L2K_CHAIN_PAIRS], j % L2K_CHAIN_PAIRS, j % L2K_CHAIN_PAIRS + 1);
}

/* ---- Walks ----------------------------------------------------------------------------------------------------- */

typedef struct walker {
    const l2k_z_levels *z;
    unsigned count; /* of slices that wait at a level */
    uint32_t state[L2K_Z_WALK_LEVELS][MOST_STATE + 2];
} walker;

/* Two slices more at a level: gives the two that are done. */
static void feed(walker *w, unsigned level, uint32_t *a, uint32_t *b)
{
    uint32_t *state = w->state[level];
    void *rows[MOST_STATE + 2];
    for (unsigned i = 0; i < w->count + 2; i++)
        rows[i] = &state[i];
    state[w->count] = *a;
    state[w->count + 1] = *b;
    w->z->lifting->chain(rows, 1, 1, w->z->scales);
    *a = state[0];
    *b = state[1];
    memmove(state, state + 2, w->count * sizeof *state);
}

/* Forward: of x, the samples of a period, to coefficients in the order of l2k_z_walk_band. */
static void walk_forward(walker *w, unsigned levels, uint32_t *x, uint32_t *bands)
{
    unsigned band = 0;
    for (unsigned level = 0; level < levels; level++)
        for (unsigned pair = 0; pair < 1u << (levels - 1 - level); pair++) {
            feed(w, level, &x[2 * pair], &x[2 * pair + 1]);
            bands[band++] = x[2 * pair];
            x[pair] = x[2 * pair + 1];
        }
    bands[band] = x[0];
}

static void walk_inverse(walker *w, unsigned levels, uint32_t *x, uint32_t *bands)
{
    const unsigned period = 1u << levels;
    x[0] = bands[period - 1];
    for (unsigned level = levels; level-- > 0;) {
        const unsigned pairs = 1u << (levels - 1 - level);
        uint32_t low[MOST_PERIOD];
        memcpy(low, x, pairs * sizeof *low);
        for (unsigned pair = 0; pair < pairs; pair++) {
            x[2 * pair] = low[pair];
            x[2 * pair + 1] = bands[period - 2 * pairs + pair];
            feed(w, level, &x[2 * pair], &x[2 * pair + 1]);
        }
    }
}

static void walk_periods(const l2k_z_levels *z, const l2k_z_walk *walk)
{
    walker w = {.z = z, .count = l2k_z_waiting(z)};
    const unsigned period = 1u << walk->levels;
    for (unsigned level = 0; level < walk->levels; level++)
        for (unsigned i = 0; i < w.count; i++)
            w.state[level][i] = *l2k_z_rows(&walk->runs[level], walk->runs[level].first)[i]->values;
    for (unsigned p = 0; p < walk->periods; p++) {
        uint32_t x[MOST_PERIOD], bands[MOST_PERIOD];
        for (unsigned i = 0; i < period; i++) {
            x[i] = *l2k_z_walk_sample(z, walk, p * period + i)->values;
            bands[i] = *l2k_z_walk_band(z, walk, p, i)->values;
        }
        (z->inverse ? walk_inverse : walk_forward)(&w, walk->levels, x, bands);
        for (unsigned i = 0; i < period; i++)
            if (z->inverse)
                *l2k_z_walk_sample(z, walk, p * period + i)->values = x[i];
            else
                *l2k_z_walk_band(z, walk, p, i)->values = bands[i];
    }
    for (unsigned level = 0; level < walk->levels; level++)
        for (unsigned i = 0; i < w.count; i++) {
            const l2k_z_run *run = &walk->runs[level];
            *l2k_z_rows(run, run->first + run->walked - 1)[i + 2]->values = w.state[level][i];
        }
}

/* ---- Groups ---------------------------------------------------------------------------------------------------- */

static void run_programs(side *s)
{
    for (unsigned i = 0; i < s->z.levels; i++)
        run_ops(s, l2k_z_program_at(&s->z, i), 0, l2k_z_program_at(&s->z, i)->count);
}

/* Levels that the walk does not take. */
static void run_deep(side *s, const l2k_z_walk *walk)
{
    for (unsigned i = 0; i < s->z.levels; i++)
        if ((s->z.inverse ? s->z.levels - 1 - i : i) >= walk->levels)
            run_ops(s, l2k_z_program_at(&s->z, i), 0, l2k_z_program_at(&s->z, i)->count);
}

static const l2k_z_run *run_of(const side *s, const l2k_z_walk *walk, unsigned i)
{
    return &walk->runs[s->z.inverse ? walk->levels - 1 - i : i];
}

/* Returns how many slices the walk takes. */
static unsigned run_walk(side *s)
{
    const l2k_z_walk walk = l2k_z_find_walk(&s->z, 1);
    if (s->z.inverse)
        run_deep(s, &walk);
    s->by_operation = 0;
    for (unsigned i = 0; i < walk.levels; i++) {
        const l2k_z_run *run = run_of(s, &walk, i);
        run_ops(s, run->program, 0, run->begin);
        run_pairs(s, run, 0, run->first);
    }
    if (walk.periods > 0)
        walk_periods(&s->z, &walk);
    for (unsigned i = 0; i < walk.levels; i++) {
        const l2k_z_run *run = run_of(s, &walk, i);
        run_pairs(s, run, run->first + run->walked, run->pairs);
        run_ops(s, run->program, run->end, run->program->count);
    }
    const size_t left_over = s->by_operation;
    if (!s->z.inverse)
        run_deep(s, &walk);
    s->by_operation = left_over;
    return walk.periods << walk.levels;
}

/* ---- Volumes --------------------------------------------------------------------------------------------------- */

typedef struct scene {
    side programs, walks;
    unsigned put, walked;
} scene;

static void start(scene *v, l2k_wavelet wavelet, bool inverse, unsigned levels, uint32_t z0, uint32_t z1)
{
    const l2k_wavelet_rows *rows = l2k_wavelet_rows_get(L2K_CPU_C, wavelet);
    side *sides[] = {&v->programs, &v->walks};
    memset(v, 0, sizeof *v);
    for (int i = 0; i < 2; i++) {
        l2k_z_start(&sides[i]->z, l2k_wavelet_get(wavelet), rows, inverse, levels, z0, z1);
        for (unsigned k = 0; k < MOST_SLICES; k++)
            sides[i]->slices[k].values = &sides[i]->values[k];
    }
}

/* The same random sample to both. */
static void put(scene *v, const l2k_context *context, bool is_float)
{
    const int32_t number = (int32_t)random_below(65536) - 32768;
    const float real = (float)number;
    uint32_t bits = (uint32_t)number;
    if (is_float)
        memcpy(&bits, &real, sizeof bits);
    v->programs.values[v->put] = v->walks.values[v->put] = bits;
    assert_int_equal(l2k_z_put(context, &v->programs.z, &v->programs.slices[v->put]), L2K_OK);
    assert_int_equal(l2k_z_put(context, &v->walks.z, &v->walks.slices[v->put]), L2K_OK);
    v->put++;
}

/* All slices are as they are in the other side, also those that wait. */
static void run_group(scene *v)
{
    run_programs(&v->programs);
    v->walked += run_walk(&v->walks);
    l2k_z_forget_programs(&v->programs.z);
    l2k_z_forget_programs(&v->walks.z);
    v->programs.z.out = v->walks.z.out = (l2k_z_queue){0};
    assert_memory_equal(v->programs.values, v->walks.values, v->put * sizeof *v->walks.values);
}

/* A group is run at random, or, `whole`, where a walk may end. */
static void run_volume(scene *v, bool whole, bool is_float)
{
    const l2k_context context = {0};
    bool was_whole = false;
    unsigned in_group = 0, groups = 0;
    l2k_z_place place;
    while (l2k_z_wanted(&v->walks.z, &place)) {
        put(v, &context, is_float);
        in_group++;
        const bool ends = l2k_z_may_end(&v->walks.z), last = !l2k_z_wanted(&v->walks.z, &place);
        if (!last && (whole ? !ends || in_group < 24 : random_below(20) > 0))
            continue;
        run_group(v);
        if (whole && was_whole && !last && groups > 1 && v->walks.z.levels <= L2K_Z_WALK_LEVELS)
            assert_int_equal(v->walks.by_operation, 0);
        was_whole = ends && !last;
        in_group = 0;
        groups++;
    }
    l2k_z_release(&context, &v->programs.z);
    l2k_z_release(&context, &v->walks.z);
}

static void test_random(void **unused)
{
    static scene v;
    (void)unused;
    unsigned walked = 0;
    for (int i = 0; i < 2000; i++) {
        const uint32_t z0 = random_below(40), depth = random_between(1, MOST_SLICES);
        const bool real = random_below(2), whole = random_below(2);
        start(&v, real ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3, random_below(2), random_below(7), z0, z0 + depth);
        run_volume(&v, whole, real);
        walked += v.walked;
    }
    assert_true(walked > 2000 * MOST_SLICES / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
