/* The order of slices and lifting steps in the third direction (1D_SD of F.4.6 and 1D_SR of F.3.6, with a slice in
 * place of a sample). */
#include "transform/volume/z_levels.h"

#include "base/integer.h"
#include "base/memory.h"
#include "dwt/kernel.h"

/* The most operations that one slice can cause at a level: all slices in its window arrive and leave, each with an
 * operation for each step and one for scaling; and the steps after the end. */
static size_t most_ops(const l2k_z_levels *z)
{
    return (L2K_Z_WINDOW + z->steps + 1) * ((size_t)z->steps + 1);
}

void l2k_z_append(l2k_z_queue *queue, l2k_z_slice *slice)
{
    slice->next = NULL;
    if (queue->last)
        queue->last->next = slice;
    else
        queue->first = slice;
    queue->last = slice;
    queue->count++;
}

void l2k_z_push(l2k_z_queue *queue, l2k_z_slice *slice)
{
    slice->next = queue->first;
    queue->first = slice;
    if (!queue->last)
        queue->last = slice;
    queue->count++;
}

l2k_z_slice *l2k_z_take(l2k_z_queue *queue)
{
    l2k_z_slice *slice = queue->first;
    if (!slice)
        return NULL;
    queue->first = slice->next;
    if (!queue->first)
        queue->last = NULL;
    queue->count--;
    return slice;
}

/* ---- Coordinates --------------------------------------------------------------------------------------------- */

uint32_t l2k_z_depth(uint32_t z0, uint32_t z1, unsigned level, bool high)
{
    if (high) /* B-15; else B-14 */
        return l2k_ceil_shift(z1, level - 1) / 2 - l2k_ceil_shift(z0, level - 1) / 2;
    return l2k_ceil_shift(z1, level) - l2k_ceil_shift(z0, level);
}

static bool is_high(int64_t y)
{
    return y & 1;
}

/* The place in its subband, counted from 0, of the slice at coordinate y of a level's samples. */
static l2k_z_place place_of(const l2k_z_levels *z, unsigned level, int64_t y)
{
    const int64_t first = z->level[level].first;
    if (z->levels == 0)
        return (l2k_z_place){0, false, (uint32_t)(y - first)};
    const int64_t index = is_high(y) ? (y >> 1) - (first >> 1) : (y >> 1) - ((first + 1) >> 1);
    return (l2k_z_place){level + 1, is_high(y), (uint32_t)index};
}

const l2k_kernel_step *l2k_z_step(const l2k_z_levels *z, unsigned number)
{
    return &z->wavelet->kernel.steps[z->inverse ? z->steps - 1 - number : number];
}

/* ---- Recording ----------------------------------------------------------------------------------------------- */

static l2k_z_slice *at(const l2k_z_level *level, int64_t y)
{
    return level->window[(uint64_t)y % L2K_Z_WINDOW];
}

static bool within(const l2k_z_level *level, int64_t y)
{
    return y >= level->first && y < level->end;
}

static bool is_lone(const l2k_z_level *level)
{
    return level->end - level->first == 1;
}

static l2k_z_op *record(l2k_z_levels *z, const l2k_z_level *level, l2k_z_kind kind)
{
    l2k_z_list *list = &z->list[level - z->level];
    l2k_z_op *op = &list->ops[list->count++];
    *op = (l2k_z_op){.kind = kind};
    return op;
}

/* The slice that tap k of a step on slice y finds. */
static int64_t tapped(const l2k_z_levels *z, const l2k_z_level *level, const l2k_kernel_step *step, unsigned k,
                      int64_t y)
{
    const int64_t place = y + l2k_kernel_first_tap(step) + 2 * (int)k;
    return l2k_kernel_place(&z->wavelet->kernel, place, level->first, level->end);
}

static void record_step(l2k_z_levels *z, const l2k_z_level *level, unsigned number, int64_t y)
{
    const l2k_kernel_step *step = l2k_z_step(z, number);
    l2k_z_op *op = record(z, level, z->kernel ? L2K_Z_TAPS : L2K_Z_STEP);
    op->step = number;
    op->rows[0] = at(level, y);
    for (unsigned k = 0; k < step->num_taps; k++)
        op->rows[1 + k] = at(level, tapped(z, level, step, k, y));
}

/* Whether the arrival of slice y allows all steps, within the level. */
static bool completes_chain(const l2k_z_levels *z, const l2k_z_level *level, int64_t y)
{
    return !z->kernel && is_high(y - 1) != z->inverse && within(level, y) && within(level, y - (int64_t)z->steps - 1);
}

/* Records slices y - steps - 1 .. y, in the level's last operation if that ends two slices before. */
static void record_chain(l2k_z_levels *z, l2k_z_level *level, int64_t y)
{
    const l2k_z_list *list = &z->list[level - z->level];
    const unsigned steps = z->steps;
    l2k_z_op *op = list->count ? &list->ops[list->count - 1] : NULL;
    if (!op || op->kind != L2K_Z_CHAIN || op->pairs == L2K_CHAIN_PAIRS) {
        op = record(z, level, L2K_Z_CHAIN);
        for (unsigned i = 0; i < steps; i++)
            op->rows[i] = at(level, y - steps - 1 + i);
    }
    op->rows[2 * op->pairs + steps] = at(level, y - 1);
    op->rows[2 * op->pairs + steps + 1] = at(level, y);
    op->pairs++;
    if (level->scaled == level->chained)
        level->chained = y - steps - 1;
    level->scaled = y - steps + 1;
    for (unsigned number = 0; number < steps; number++)
        level->done[number] = y + 1 - number;
}

/* Whether a step, done on slices before `next`, is done on all that read slice y. Taps beyond the end read
 * a slice before it. */
static bool is_read(const l2k_z_level *level, const l2k_kernel_step *step, int64_t next, int64_t y)
{
    const bool at_end = y + (int64_t)l2k_kernel_step_reach(step) >= level->end - 1;
    return next >= level->end || (!at_end && next > y - l2k_kernel_first_tap(step));
}

/* Whether all slices that step `number` needs for slice y have come and passed the step before, and whether that one no
 * longer reads slice y. */
static bool can_lift(const l2k_z_levels *z, const l2k_z_level *level, unsigned number, int64_t y)
{
    const l2k_kernel_step *step = l2k_z_step(z, number);
    const int64_t others = number > 0 ? level->done[number - 1] : level->come;
    const int64_t own = number > 1 ? level->done[number - 2] : level->come;
    bool can = y < level->end && y < own;
    for (unsigned k = 0; can && k < step->num_taps; k++)
        can = tapped(z, level, step, k, y) < others;
    return can && (number == 0 || is_read(level, l2k_z_step(z, number - 1), others, y));
}

/* Whether all steps that change or read slice y are done. */
static bool is_finished(const l2k_z_levels *z, const l2k_z_level *level, int64_t y)
{
    bool finished = y < level->come;
    for (unsigned number = 0; finished && number < z->steps; number++) {
        const l2k_kernel_step *step = l2k_z_step(z, number);
        finished = step->high == is_high(y) ? y < level->done[number] : is_read(level, step, level->done[number], y);
    }
    return finished;
}

/* Records the steps that slice y, the last one present, allows. */
static void lift(l2k_z_levels *z, l2k_z_level *level, int64_t y)
{
    if (completes_chain(z, level, y))
        record_chain(z, level, y);
    for (unsigned number = 0; number < z->steps; number++)
        for (; can_lift(z, level, number, level->done[number]); level->done[number] += 2)
            record_step(z, level, number, level->done[number]);
    while (level->finished < level->end && is_finished(z, level, level->finished))
        level->finished++;
}

static void scale(l2k_z_levels *z, const l2k_z_level *level, int64_t y)
{
    const float factor = z->scales[is_high(y)];
    if (factor == 1 || is_lone(level))
        return;
    l2k_z_op *op = record(z, level, L2K_Z_SCALE);
    op->factor = factor;
    op->rows[0] = at(level, y);
}

static void lift_lone(l2k_z_levels *z, l2k_z_level *level)
{
    if (is_high(level->first))
        record(z, level, L2K_Z_LONE)->rows[0] = at(level, level->first);
    level->finished = level->end;
}

/* Takes the next slice of a level. */
static void arrive(l2k_z_levels *z, l2k_z_level *level, l2k_z_slice *slice)
{
    const int64_t y = level->come++;
    level->window[(uint64_t)y % L2K_Z_WINDOW] = slice;
    if (z->levels == 0) {
        level->finished = level->come;
        return;
    }
    if (z->inverse && !completes_chain(z, level, y) && !completes_chain(z, level, y + 1))
        scale(z, level, y);
    if (is_lone(level))
        lift_lone(z, level);
    else
        lift(z, level, y);
}

/* ---- From level to level ------------------------------------------------------------------------------------- */

static void leave(l2k_z_levels *z, l2k_z_slice *slice, l2k_z_place place)
{
    slice->place = place;
    l2k_z_append(&z->out, slice);
}

/* Low slices go on to the next level, others leave. */
static void put_forward(l2k_z_levels *z, l2k_z_slice *slice)
{
    unsigned deepest = z->levels ? z->levels - 1 : 0;
    arrive(z, &z->level[0], slice);
    for (unsigned i = 0; i <= deepest; i++)
        for (l2k_z_level *level = &z->level[i]; level->left < level->finished; level->left++) {
            const int64_t y = level->left;
            if (z->levels && (y < level->chained || y >= level->scaled))
                scale(z, level, y);
            if (is_high(y) || i == deepest)
                leave(z, at(level, y), place_of(z, i, y));
            else
                arrive(z, &z->level[i + 1], at(level, y));
        }
}

/* Finished slices of samples leave; those of deeper levels stay until the level above wants them. */
static void leave_samples(l2k_z_levels *z)
{
    for (l2k_z_level *level = &z->level[0]; level->left < level->finished; level->left++)
        leave(z, at(level, level->left), (l2k_z_place){0, false, (uint32_t)(level->left - level->first)});
}

/* Gives the finest level that wants a low slice a finished one; false if there is none. */
static bool move_up(l2k_z_levels *z)
{
    for (unsigned i = 0; i + 1 < z->levels; i++) {
        l2k_z_level *level = &z->level[i], *deeper = &z->level[i + 1];
        if (level->come == level->end || is_high(level->come))
            return false;
        if (deeper->left < deeper->finished) {
            arrive(z, level, at(deeper, deeper->left++));
            return true;
        }
    }
    return false;
}

/* The slice is for the finest level whose next slice no other level makes. */
static void put_inverse(l2k_z_levels *z, l2k_z_slice *slice)
{
    l2k_z_level *level = z->level;
    while (level + 1 < z->level + z->levels && !is_high(level->come))
        level++;
    arrive(z, level, slice);
    do
        leave_samples(z);
    while (move_up(z));
}

static l2k_status make_room(const l2k_context *context, l2k_z_list *list, size_t most)
{
    const size_t room = list->count + most;
    if (room <= list->room)
        return L2K_OK;
    l2k_z_op *more = l2k_enlarge(context, list->ops, list->count, 2 * room, sizeof *more);
    L2K_TRY(l2k_check_memory(context, more, "the third direction of a volume"));
    list->ops = more;
    list->room = 2 * room;
    return L2K_OK;
}

bool l2k_z_wanted(const l2k_z_levels *z, l2k_z_place *place)
{
    unsigned i = 0;
    while (z->inverse && i + 1 < z->levels && z->level[i].come < z->level[i].end && !is_high(z->level[i].come))
        i++;
    const l2k_z_level *level = &z->level[i];
    *place = z->inverse ? place_of(z, i, level->come) : (l2k_z_place){0, false, (uint32_t)(level->come - level->first)};
    return level->come < level->end;
}

l2k_status l2k_z_put(const l2k_context *context, l2k_z_levels *z, l2k_z_slice *slice)
{
    for (unsigned i = 0; i < z->levels; i++)
        L2K_TRY(make_room(context, &z->list[i], most_ops(z)));
    if (z->inverse)
        put_inverse(z, slice);
    else
        put_forward(z, slice);
    return L2K_OK;
}

const l2k_z_list *l2k_z_list_at(const l2k_z_levels *z, unsigned number)
{
    return &z->list[z->inverse ? z->levels - 1 - number : number];
}

void l2k_z_forget(l2k_z_levels *z)
{
    for (unsigned i = 0; i <= L2K_MAX_LEVELS; i++)
        z->list[i].count = 0;
}

/* ---- Start --------------------------------------------------------------------------------------------------- */

void l2k_z_start(l2k_z_levels *z, const l2k_wavelet_descriptor *wavelet, bool inverse, unsigned levels, uint32_t z0,
                 uint32_t z1)
{
    z->wavelet = wavelet;
    z->kernel = l2k_wavelet_is_kernel(wavelet) ? &wavelet->kernel : NULL;
    z->steps = wavelet->kernel.num_steps;
    z->scales = inverse ? wavelet->inverse_scale : wavelet->forward_scale;
    z->inverse = inverse;
    z->levels = levels;
    l2k_z_forget(z);
    z->out = (l2k_z_queue){0};
    for (unsigned i = 0; i <= levels; i++) {
        const int64_t first = l2k_ceil_shift(z0, i), end = l2k_ceil_shift(z1, i);
        z->level[i] = (l2k_z_level){.first = first,
                                    .end = end,
                                    .come = first,
                                    .finished = first,
                                    .left = first,
                                    .chained = first,
                                    .scaled = first};
        for (unsigned number = 0; number < z->steps; number++)
            z->level[i].done[number] = first + (is_high(first) != l2k_z_step(z, number)->high);
    }
}

void l2k_z_release(const l2k_context *context, l2k_z_levels *z)
{
    for (unsigned i = 0; i <= L2K_MAX_LEVELS; i++)
        l2k_release(context, z->list[i].ops);
    *z = (l2k_z_levels){0};
}
