/* From what l2k_z_levels has recorded for a group of slices to launches (cuda_slices.h): a walk through what the finest
 * levels have in common, and programs for the rest, at the ends of the volume and at deeper levels. Both load a slice
 * where it is and store it where it is to be, so samples in the caller's planes are neither copied before the first
 * operation nor after the last one. */
#include <string.h>

#include "transform/volume/cuda_volume.cuh"

namespace
{

struct builder {
    const l2k_volume *v;
    l2k_cuda_z_program p;
};

l2k_status launch(builder *b)
{
    const int error = l2k_cuda_z_run(&b->p, b->v->cuda->value, is_inverse(b->v), b->v->cuda->stream);
    b->p.count = 0;
    return check(b->v, error, "launching the transform across slices");
}

void take_kernel(builder *b, const l2k_z_levels *z)
{
    b->p.kernel = true;
    b->p.wide = b->v->sums == L2K_SUMS_64;
    for (unsigned number = 0; number < z->steps; number++) {
        const l2k_kernel_step *step = l2k_z_step(z, number);
        l2k_cuda_z_step *to = &b->p.steps[number];
        memcpy(to->taps, step->taps, sizeof to->taps);
        to->rounding = step->rounding;
        to->num_taps = step->num_taps;
        to->shift = step->shift;
    }
}

/* All components of a slice whose samples a program takes have one level shift. */
void start(builder *b, const l2k_volume *v)
{
    const l2k_plan_component *component = v->spec.tile.components;
    const l2k_z_levels *z = &stage_of(v)->z;
    memset(b, 0, sizeof *b);
    b->v = v;
    b->p.threads = (int64_t)((stage_of(v)->samples * v->cuda->value_bytes + L2K_CUDA_Z_BYTES - 1) / L2K_CUDA_Z_BYTES);
    b->p.samples.shift = l2k_level_shift_make(component->precision, component->is_signed);
    b->p.samples.is_signed = component->is_signed;
    b->p.samples.converts = v->cuda->value != L2K_CUDA_FLOAT32 && (is_inverse(v) || !component->is_signed);
    memcpy(b->p.scales, z->scales, sizeof b->p.scales);
    if (z->kernel)
        take_kernel(b, z);
}

/* ---- Operations ---------------------------------------------------------------------------------------------- */

unsigned rows_of(const l2k_z_op *op)
{
    unsigned rows = 0;
    while (rows < L2K_Z_ROWS && op->rows[rows])
        rows++;
    return rows;
}

/* Whether an operation changes its row number `row`. The 9/7's chains scale two rows that are not lifted; those of w4
 * change all but one. */
bool changes(const l2k_z_levels *z, const l2k_z_op *op, unsigned row)
{
    if (op->kind != L2K_Z_CHAIN)
        return row == 0;
    if (z->kernel)
        return !z->inverse || row != 1;
    const bool scales = z->lifting->steps == 4;
    const unsigned end = z->lifting->steps + 2 * op->pairs;
    return row >= (scales && !z->inverse ? 0u : 1u) && row < (scales && z->inverse ? end : end - 1);
}

/* Forward, what changes comes into the slice's own memory; inverse, the last operation leaves the slice in the planes.
 */
void place_row(const l2k_z_levels *z, l2k_cuda_z_op *op, unsigned row, l2k_z_slice *slice, bool changed)
{
    char *const own = (char *)slice->values, *const samples = slice->samples;
    const bool last = z->inverse && --slice->uses == 0 && samples;
    const bool outside = z->inverse ? last : samples != NULL;
    op->from[row] = !z->inverse && samples ? samples : own;
    op->to[row] = last ? samples : changed ? own : NULL;
    op->samples |= (uint32_t)outside << row;
    if (z->inverse ? last : changed)
        slice->samples = NULL;
}

l2k_status add(builder *b, const l2k_z_levels *z, const l2k_z_op *from)
{
    if (b->p.count == L2K_CUDA_Z_OPS)
        L2K_TRY(launch(b));
    l2k_cuda_z_op *op = &b->p.ops[b->p.count++];
    memset(op, 0, sizeof *op);
    op->kind = (int32_t)from->kind;
    op->step = (int32_t)from->step;
    op->pairs = (int32_t)from->pairs;
    op->rows = (int32_t)rows_of(from);
    op->factor = from->factor;
    for (int row = 0; row < op->rows; row++)
        place_row(z, op, (unsigned)row, from->rows[row], changes(z, from, (unsigned)row));
    return L2K_OK;
}

/* A slice that no operation has moved. */
l2k_status move(builder *b, l2k_z_slice *slice)
{
    if (!slice->samples || (slice->samples == (char *)slice->values && !b->p.samples.converts)) {
        slice->samples = NULL;
        return L2K_OK;
    }
    l2k_cuda_z_op *op = b->p.count ? &b->p.ops[b->p.count - 1] : NULL;
    if (!op || op->kind != L2K_Z_SCALE || op->factor != 1 || op->rows == L2K_Z_ROWS) {
        if (b->p.count == L2K_CUDA_Z_OPS)
            L2K_TRY(launch(b));
        op = &b->p.ops[b->p.count++];
        memset(op, 0, sizeof *op);
        op->kind = L2K_Z_SCALE;
        op->factor = 1;
    }
    const bool inverse = is_inverse(b->v);
    char *const own = (char *)slice->values;
    op->from[op->rows] = inverse ? own : slice->samples;
    op->to[op->rows] = inverse ? slice->samples : own;
    op->samples |= 1u << op->rows++;
    slice->samples = NULL;
    return L2K_OK;
}

/* ---- Chains of w4 ------------------------------------------------------------------------------------------------ */

bool is_op(const l2k_z_op *op, l2k_z_kind kind, unsigned step, const l2k_z_slice *first)
{
    return op->kind == kind && op->rows[0] == first && (kind != L2K_Z_TAPS || op->step == step);
}

/* Whether five operations are what two slices cause, a low one and a high one after it, `rows` the last two; the two
 * (forward) or four (inverse) before them come first. */
bool is_pair(const l2k_z_levels *z, const l2k_z_op *ops, l2k_z_slice *rows[6])
{
    if (z->inverse) {
        rows[4] = ops[0].rows[0], rows[5] = ops[1].rows[0];
        rows[2] = ops[2].rows[0], rows[3] = ops[3].rows[0];
        rows[0] = ops[4].rows[0], rows[1] = ops[4].rows[1];
        return ops[0].kind == L2K_Z_SCALE && ops[1].kind == L2K_Z_SCALE && is_op(&ops[2], L2K_Z_TAPS, 0, rows[2]) &&
               ops[2].rows[1] == rows[5] && is_op(&ops[3], L2K_Z_TAPS, 1, rows[3]) && ops[3].rows[1] == rows[0] &&
               ops[3].rows[2] == rows[2] && is_op(&ops[4], L2K_Z_TAPS, 2, rows[0]) && rows[0] != rows[2];
    }
    rows[2] = ops[0].rows[0], rows[3] = ops[1].rows[0];
    rows[0] = ops[2].rows[0], rows[1] = ops[4].rows[0];
    return is_op(&ops[0], L2K_Z_TAPS, 0, rows[2]) && ops[0].rows[1] == rows[3] &&
           is_op(&ops[1], L2K_Z_TAPS, 1, rows[3]) && ops[1].rows[1] == rows[0] && ops[1].rows[2] == rows[2] &&
           is_op(&ops[2], L2K_Z_TAPS, 2, rows[0]) && ops[2].rows[1] == rows[3] &&
           is_op(&ops[3], L2K_Z_SCALE, 0, rows[0]) && ops[4].kind == L2K_Z_SCALE && rows[0] != rows[2];
}

/* Whether a pair goes on where a chain ends. */
bool continues(const l2k_z_op *chain, l2k_z_slice *const *rows, unsigned before)
{
    bool same = chain->kind == L2K_Z_CHAIN && chain->pairs < L2K_CHAIN_PAIRS;
    for (unsigned i = 0; same && i < before; i++)
        same = chain->rows[2 * chain->pairs + i] == rows[i];
    return same;
}

/* Pairs in a row become one operation, which loads and stores each slice once. */
void chain_pairs(const l2k_z_levels *z, l2k_z_program *program)
{
    const unsigned before = z->inverse ? 4 : 2, five = 5;
    size_t count = 0;
    for (size_t i = 0; i < program->count; i++) {
        l2k_z_slice *rows[6];
        if (i + five > program->count || !is_pair(z, &program->ops[i], rows)) {
            program->ops[count++] = program->ops[i];
            continue;
        }
        if (count == 0 || !continues(&program->ops[count - 1], rows, before)) {
            l2k_z_op *chain = &program->ops[count++];
            memset(chain, 0, sizeof *chain);
            chain->kind = L2K_Z_CHAIN;
            memcpy(chain->rows, rows, before * sizeof *rows);
        }
        l2k_z_op *chain = &program->ops[count - 1];
        memcpy(&chain->rows[before + 2 * chain->pairs++], rows + before, 2 * sizeof *rows);
        i += five - 1;
    }
    program->count = count;
}

/* ---- Walks ------------------------------------------------------------------------------------------------------ */

/* Slices that wait at a level before a walk of some periods, and after it. */
void place_waiting(l2k_cuda_z_walk *w, const l2k_z_levels *z, const l2k_z_walk *found, unsigned level, unsigned begin,
                   unsigned end)
{
    const l2k_z_run *run = &found->runs[level];
    const unsigned pairs = 1u << (found->levels - 1 - level), count = l2k_z_waiting(z);
    l2k_z_slice *const *before = l2k_z_rows(run, run->first + begin * pairs);
    l2k_z_slice *const *after = l2k_z_rows(run, run->first + end * pairs - 1) + 2;
    for (unsigned row = 0; row < count; row++) {
        const bool outside = !z->inverse && before[row]->samples;
        w->waiting[level][row] = outside ? before[row]->samples : (char *)before[row]->values;
        w->waiting_outside |= (uint32_t)outside << (level * count + row);
        w->left[level][row] = (char *)after[row]->values;
    }
}

/* Periods begin .. end - 1. */
void place_periods(l2k_cuda_z_walk *w, const l2k_z_levels *z, const l2k_z_walk *found, unsigned begin, unsigned end)
{
    const unsigned period = 1u << found->levels;
    char **const samples = z->inverse ? w->to : w->from, **const bands = z->inverse ? w->from : w->to;
    for (unsigned level = 0; level < found->levels; level++)
        place_waiting(w, z, found, level, begin, end);
    for (unsigned i = begin * period; i < end * period; i++) {
        const l2k_z_slice *slice = l2k_z_walk_sample(z, found, i);
        samples[i - begin * period] = slice->samples ? slice->samples : (char *)slice->values;
        bands[i - begin * period] = (char *)l2k_z_walk_band(z, found, i / period, i % period)->values;
    }
}

/* What has passed is in the slices' own memory, or where it was to leave. */
void forget_samples(const l2k_z_levels *z, const l2k_z_walk *found, unsigned begin, unsigned end)
{
    const l2k_z_run *run = &found->runs[0];
    for (unsigned row = 0; !z->inverse && row < l2k_z_waiting(z); row++)
        l2k_z_rows(run, run->first + (begin << (found->levels - 1)))[row]->samples = NULL;
    for (unsigned i = begin << found->levels; i < end << found->levels; i++)
        l2k_z_walk_sample(z, found, i)->samples = NULL;
}

l2k_status walk(builder *b, const l2k_z_levels *z, const l2k_z_walk *found)
{
    const unsigned most = L2K_CUDA_WALK_SLICES >> found->levels;
    l2k_cuda_z_walk w;
    memset(&w, 0, sizeof w);
    w.threads =
        (int64_t)((stage_of(b->v)->samples * b->v->cuda->value_bytes + L2K_CUDA_WALK_BYTES - 1) / L2K_CUDA_WALK_BYTES);
    w.samples = b->p.samples;
    memcpy(w.scales, b->p.scales, sizeof w.scales);
    w.levels = (int32_t)found->levels;
    w.outside = l2k_z_walk_sample(z, found, 0)->samples != NULL;
    L2K_TRY(launch(b));
    for (unsigned begin = 0; begin < found->periods; begin += most) {
        const unsigned end = found->periods - begin < most ? found->periods : begin + most;
        w.waiting_outside = 0;
        w.slices = (int32_t)((end - begin) << found->levels);
        place_periods(&w, z, found, begin, end);
        const int error = l2k_cuda_z_walk_run(&w, b->v->cuda->value, z->inverse, b->v->cuda->stream);
        L2K_TRY(check(b->v, error, "launching a walk across slices"));
        forget_samples(z, found, begin, end);
    }
    return L2K_OK;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

typedef l2k_status visit(builder *b, const l2k_z_levels *z, const l2k_z_op *op);

/* Pairs begin .. end - 1 of a run, with those of one operation together. */
l2k_status visit_pairs(builder *b, const l2k_z_levels *z, const l2k_z_run *run, unsigned begin, unsigned end,
                       visit *see)
{
    while (begin < end) {
        const unsigned skipped = begin % L2K_CHAIN_PAIRS, most = L2K_CHAIN_PAIRS - skipped;
        l2k_z_op op;
        memset(&op, 0, sizeof op);
        op.kind = L2K_Z_CHAIN;
        op.pairs = end - begin < most ? end - begin : most;
        memcpy(op.rows, l2k_z_rows(run, begin), (l2k_z_waiting(z) + 2 * op.pairs) * sizeof *op.rows);
        L2K_TRY(see(b, z, &op));
        begin += op.pairs;
    }
    return L2K_OK;
}

l2k_status visit_ops(builder *b, const l2k_z_levels *z, const l2k_z_program *program, size_t begin, size_t end,
                     visit *see)
{
    for (size_t i = begin; i < end; i++)
        L2K_TRY(see(b, z, &program->ops[i]));
    return L2K_OK;
}

/* What comes before a walk at a level that it takes, and what comes after it. */
l2k_status visit_before(builder *b, const l2k_z_levels *z, const l2k_z_run *run, visit *see)
{
    L2K_TRY(visit_ops(b, z, run->program, 0, run->begin, see));
    return visit_pairs(b, z, run, 0, run->first, see);
}

l2k_status visit_after(builder *b, const l2k_z_levels *z, const l2k_z_run *run, visit *see)
{
    L2K_TRY(visit_pairs(b, z, run, run->first + run->walked, run->pairs, see));
    return visit_ops(b, z, run->program, run->end, run->program->count, see);
}

l2k_status visit_deep(builder *b, const l2k_z_levels *z, unsigned walked, visit *see)
{
    for (unsigned number = 0; number < z->levels; number++)
        if ((z->inverse ? z->levels - 1 - number : number) >= walked) {
            const l2k_z_program *program = l2k_z_program_at(z, number);
            L2K_TRY(visit_ops(b, z, program, 0, program->count, see));
        }
    return L2K_OK;
}

/* The levels of a walk, in the order of the direction. */
l2k_status visit_walked(builder *b, const l2k_z_levels *z, const l2k_z_walk *found, visit *see,
                        l2k_status (*part)(builder *, const l2k_z_levels *, const l2k_z_run *, visit *))
{
    for (unsigned i = 0; i < found->levels; i++)
        L2K_TRY(part(b, z, &found->runs[z->inverse ? found->levels - 1 - i : i], see));
    return L2K_OK;
}

l2k_status count_use(builder *, const l2k_z_levels *, const l2k_z_op *op)
{
    for (unsigned row = 0; row < rows_of(op); row++)
        op->rows[row]->uses++;
    return L2K_OK;
}

/* Inverse: the last operation on a slice leaves it in the planes. A walk counts until it has been launched. */
l2k_status count_uses(builder *b, const l2k_z_levels *z, const l2k_z_walk *found)
{
    L2K_TRY(visit_deep(b, z, found->levels, count_use));
    L2K_TRY(visit_walked(b, z, found, count_use, visit_before));
    L2K_TRY(visit_walked(b, z, found, count_use, visit_after));
    for (unsigned i = 0; i < found->periods << found->levels; i++)
        l2k_z_walk_sample(z, found, i)->uses++;
    return L2K_OK;
}

l2k_status add_walk(builder *b, const l2k_z_levels *z, const l2k_z_walk *found)
{
    if (found->periods == 0)
        return L2K_OK;
    L2K_TRY(walk(b, z, found));
    for (unsigned i = 0; z->inverse && i < found->periods << found->levels; i++)
        l2k_z_walk_sample(z, found, i)->uses--;
    return L2K_OK;
}

l2k_status add_all(builder *b, l2k_z_levels *z)
{
    for (unsigned level = 0; z->kernel && !z->kernel->reversible && level < z->levels; level++)
        chain_pairs(z, &z->program[level]);
    const l2k_z_walk found = l2k_z_find_walk(z);
    if (z->inverse) {
        L2K_TRY(count_uses(b, z, &found));
        L2K_TRY(visit_deep(b, z, found.levels, add));
    }
    L2K_TRY(visit_walked(b, z, &found, add, visit_before));
    L2K_TRY(add_walk(b, z, &found));
    L2K_TRY(visit_walked(b, z, &found, add, visit_after));
    return z->inverse ? L2K_OK : visit_deep(b, z, found.levels, add);
}

/* Slices that wait for others. */
l2k_status move_windows(builder *b, const l2k_z_levels *z)
{
    for (unsigned i = 0; i < z->levels; i++)
        for (int64_t y = z->level[i].left; y < z->level[i].come; y++)
            L2K_TRY(move(b, z->level[i].window[(uint64_t)y % L2K_Z_WINDOW]));
    return L2K_OK;
}

} // namespace

l2k_status l2k_cuda_programs_run(const l2k_volume *v, l2k_z_levels *z, const l2k_z_queue *leaving)
{
    builder b;
    start(&b, v);
    L2K_TRY(add_all(&b, z));
    for (l2k_z_slice *slice = leaving->first; slice; slice = slice->next)
        L2K_TRY(move(&b, slice));
    if (!z->inverse)
        L2K_TRY(move_windows(&b, z));
    l2k_z_forget_programs(z);
    return launch(&b);
}
