/* The periods of a group of slices in the third direction (F.3.6, F.4.6): chains of one level that follow each other,
 * and where the chains of the next level begin among them. */
#include "transform/volume/z_walk.h"

#include <string.h>

/* Chains of a kernel are those of w4: two slices wait for a pair, inverse four. */
unsigned l2k_z_waiting(const l2k_z_levels *z)
{
    return !z->kernel ? z->lifting->steps : z->inverse ? 4 : 2;
}

/* Of the two slices that a pair finishes, forward, or takes, inverse: the low one. */
static unsigned low_row(const l2k_z_levels *z)
{
    return z->inverse ? l2k_z_waiting(z) : z->kernel ? 0 : 1;
}

static unsigned high_row(const l2k_z_levels *z)
{
    return z->inverse ? l2k_z_waiting(z) + 1 : z->kernel ? 1 : 0;
}

l2k_z_slice *const *l2k_z_rows(const l2k_z_run *run, unsigned j)
{
    return run->program->ops[run->begin + j / L2K_CHAIN_PAIRS].rows + 2 * (j % L2K_CHAIN_PAIRS);
}

l2k_z_slice *l2k_z_walk_sample(const l2k_z_levels *z, const l2k_z_walk *walk, unsigned i)
{
    const l2k_z_run *run = &walk->runs[0];
    return l2k_z_rows(run, run->first + i / 2)[(z->inverse ? 0 : l2k_z_waiting(z)) + i % 2];
}

l2k_z_slice *l2k_z_walk_band(const l2k_z_levels *z, const l2k_z_walk *walk, unsigned period, unsigned i)
{
    for (unsigned level = 0; level < walk->levels; level++) {
        const l2k_z_run *run = &walk->runs[level];
        const unsigned pairs = 1u << (walk->levels - 1 - level);
        if (i < pairs)
            return l2k_z_rows(run, run->first + period * pairs + i)[high_row(z)];
        i -= pairs;
    }
    const l2k_z_run *deepest = &walk->runs[walk->levels - 1];
    return l2k_z_rows(deepest, deepest->first + period)[low_row(z)];
}

/* ---- Finding --------------------------------------------------------------------------------------------------- */

/* Whether the chain after `last` begins where that ends. */
static bool goes_on(const l2k_z_levels *z, const l2k_z_op *last)
{
    return last->pairs == L2K_CHAIN_PAIRS &&
           memcmp(last[1].rows, last->rows + 2 * L2K_CHAIN_PAIRS, l2k_z_waiting(z) * sizeof *last->rows) == 0;
}

static l2k_z_run find_run(const l2k_z_levels *z, unsigned level)
{
    const l2k_z_program *program = &z->program[level];
    l2k_z_run run = {.program = program};
    while (run.begin < program->count && program->ops[run.begin].kind != L2K_Z_CHAIN)
        run.begin++;
    for (run.end = run.begin; run.end < program->count && program->ops[run.end].kind == L2K_Z_CHAIN; run.end++) {
        if (run.end > run.begin && !goes_on(z, &program->ops[run.end - 1]))
            break;
        run.pairs += program->ops[run.end].pairs;
    }
    return run;
}

/* The pair that has `slice` in row `row`; as many as there are, if none has. */
static unsigned find_pair(const l2k_z_run *run, unsigned row, const l2k_z_slice *slice)
{
    unsigned j = 0;
    while (j < run->pairs && l2k_z_rows(run, j)[row] != slice)
        j++;
    return j;
}

/* Where the finer levels begin if the deepest one begins with pair `first`: with the pair that takes, or makes, the
 * first low slice that the deeper level makes or takes. */
static bool begin_at(const l2k_z_levels *z, l2k_z_walk *walk, unsigned first)
{
    const unsigned next = l2k_z_waiting(z);
    walk->runs[walk->levels - 1].first = first;
    for (unsigned i = walk->levels - 1; i > 0; i--) {
        const l2k_z_run *deeper = &walk->runs[i];
        l2k_z_run *run = &walk->runs[i - 1];
        const l2k_z_slice *slice = l2k_z_rows(deeper, deeper->first)[z->inverse ? 0 : next];
        run->first = find_pair(run, low_row(z), slice);
        if (run->first == run->pairs)
            return false;
    }
    return true;
}

static l2k_z_walk find_walk(const l2k_z_levels *z, unsigned levels)
{
    l2k_z_walk walk = {.levels = levels};
    unsigned first = 0;
    for (unsigned i = 0; i < levels; i++)
        walk.runs[i] = find_run(z, i);
    while (first < walk.runs[levels - 1].pairs && !begin_at(z, &walk, first))
        first++;
    walk.periods = walk.runs[levels - 1].pairs - first;
    for (unsigned i = 0; i < levels && walk.periods > 0; i++) {
        const unsigned periods = (walk.runs[i].pairs - walk.runs[i].first) >> (levels - 1 - i);
        walk.periods = periods < walk.periods ? periods : walk.periods;
    }
    for (unsigned i = 0; i < levels; i++)
        walk.runs[i].walked = walk.periods << (levels - 1 - i);
    return walk;
}

static unsigned count_pairs(const l2k_z_walk *walk)
{
    return walk->periods * ((1u << walk->levels) - 1);
}

l2k_z_walk l2k_z_find_walk(const l2k_z_levels *z, unsigned least)
{
    l2k_z_walk best = {0};
    for (unsigned levels = least; levels <= z->levels && levels <= L2K_Z_WALK_LEVELS; levels++) {
        const l2k_z_walk walk = find_walk(z, levels);
        if (walk.periods > 0 && count_pairs(&walk) > count_pairs(&best))
            best = walk;
    }
    return best;
}

/* Pairs end with a low slice, at an even coordinate, or a high one. */
static bool ends_with_pair(const l2k_z_levels *z, const l2k_z_level *level)
{
    const bool low_is_next = !(level->come & 1);
    return level->come == level->end || low_is_next == (z->inverse || z->kernel);
}

bool l2k_z_may_end(const l2k_z_levels *z)
{
    bool may = true;
    for (unsigned i = 0; i < z->levels && i < L2K_Z_WALK_LEVELS; i++)
        may = may && ends_with_pair(z, &z->level[i]);
    return may;
}
