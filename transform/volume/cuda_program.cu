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

void start(builder *b, const l2k_volume *v)
{
    const l2k_z_levels *z = &stage_of(v)->z;
    memset(b, 0, sizeof *b);
    b->v = v;
    b->p.threads = vectors_of(v, L2K_CUDA_Z_BYTES);
    b->p.samples = samples_of(v);
    memcpy(b->p.scales, z->scales, sizeof b->p.scales);
    b->p.kernel = z->kernel != NULL;
    b->p.wide = z->kernel && v->sums == L2K_SUMS_64;
    for (unsigned number = 0; z->kernel && number < z->steps; number++)
        b->p.steps[number] = kernel_step(z, number);
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

l2k_status add_walk(builder *b, const l2k_z_levels *z, const l2k_z_walk *found, const l2k_cuda_slot *slot)
{
    if (found->periods == 0)
        return L2K_OK;
    L2K_TRY(launch(b));
    L2K_TRY(l2k_cuda_walk_run(b->v, slot));
    for (unsigned i = 0; z->inverse && i < found->periods << found->levels; i++)
        l2k_z_walk_sample(z, found, i)->uses--;
    return L2K_OK;
}

l2k_status add_all(builder *b, const l2k_z_levels *z, const l2k_cuda_slot *slot)
{
    const l2k_z_walk found = b->v->cuda->found;
    if (z->inverse) {
        L2K_TRY(count_uses(b, z, &found));
        L2K_TRY(visit_deep(b, z, found.levels, add));
    }
    L2K_TRY(visit_walked(b, z, &found, add, visit_before));
    L2K_TRY(add_walk(b, z, &found, slot));
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

void l2k_cuda_find_walk(const l2k_volume *v)
{
    l2k_z_levels *z = &stage_of(v)->z;
    l2k_z_walk *found = &v->cuda->found;
    for (unsigned level = 0; z->kernel && !z->kernel->reversible && level < z->levels; level++)
        chain_pairs(z, &z->program[level]);
    *found = has_walks(v) ? l2k_z_find_walk(z, v->cuda->prisms ? 1 : 2) : l2k_z_walk{};
    const unsigned last = (1u << found->levels) - 1;
    for (unsigned i = 0; v->cuda->prisms && i < found->periods << found->levels; i++) {
        l2k_z_slice *band = l2k_z_walk_band(z, found, i >> found->levels, i & last);
        const bool goes_deeper = (i & last) == last && found->levels < z->levels;
        band->in_prism = band->slot >= 0 && !goes_deeper;
    }
}

l2k_status l2k_cuda_programs_run(const l2k_volume *v, const l2k_cuda_slot *slot, const l2k_z_queue *leaving)
{
    l2k_z_levels *z = &stage_of(v)->z;
    builder b;
    start(&b, v);
    L2K_TRY(add_all(&b, z, slot));
    for (l2k_z_slice *slice = leaving->first; slice; slice = slice->next)
        L2K_TRY(move(&b, slice));
    if (!z->inverse)
        L2K_TRY(move_windows(&b, z));
    l2k_z_forget_programs(z);
    v->cuda->found = l2k_z_walk{};
    return launch(&b);
}
