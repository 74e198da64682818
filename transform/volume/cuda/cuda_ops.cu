/* Turns the operations that l2k_z_levels has recorded for a group of slices into launches (cuda_slices.h). The first
 * operation on a slice loads it from the caller's planes, or the last one stores it there, so no copy is needed. */
#include <string.h>

#include "transform/volume/cuda/cuda_volume.cuh"

namespace
{

struct builder {
    const l2k_volume *v;
    const l2k_z_levels *z;
    l2k_cuda_z_ops p;
};

l2k_status launch(builder *b)
{
    const int error = l2k_cuda_z_run(&b->p, b->v->cuda->value, b->z->inverse, b->v->cuda->stream);
    b->p.count = 0;
    return check(b->v, error, "launching the transform across slices");
}

/* A slice whose samples stay in the caller's planes has one level shift for all components. */
l2k_cuda_z_samples samples_of(const l2k_volume *v)
{
    const l2k_plan_component *component = v->spec.tile.components;
    const bool converts = v->cuda->value != L2K_SAMPLE_F32 && (is_inverse(v) || !component->is_signed);
    return l2k_cuda_z_samples{converts, component->is_signed,
                              l2k_level_shift_make(component->precision, component->is_signed)};
}

l2k_cuda_z_step step_of(const l2k_z_levels *z, unsigned number)
{
    const l2k_kernel_step *step = l2k_z_step(z, number);
    l2k_cuda_z_step to = {{0}, step->rounding, step->num_taps, step->shift};
    for (unsigned i = 0; i < L2K_CUDA_Z_TAPS; i++)
        to.taps[i] = step->taps[i];
    return to;
}

void start(builder *b, const l2k_volume *v, const l2k_volume_stage *stage)
{
    const l2k_z_levels *z = &stage->z;
    memset(b, 0, sizeof *b);
    b->v = v;
    b->z = z;
    b->p.threads = (int64_t)((stage->samples * v->cuda->value_bytes + L2K_CUDA_Z_BYTES - 1) / L2K_CUDA_Z_BYTES);
    b->p.samples = samples_of(v);
    memcpy(b->p.scales, z->scales, sizeof b->p.scales);
    b->p.kernel = z->kernel != NULL;
    b->p.wide = z->kernel && v->lifting.sums == L2K_SUMS_64;
    for (unsigned number = 0; z->kernel && number < z->steps; number++)
        b->p.steps[number] = step_of(z, number);
}

/* ---- Operations ---------------------------------------------------------------------------------------------- */

unsigned rows_of(const l2k_z_op *op)
{
    unsigned rows = 0;
    while (rows < L2K_Z_ROWS && op->rows[rows])
        rows++;
    return rows;
}

/* Whether an operation changes row `row`. The 9/7's chains scale two rows without lifting them; those of w4 change all
 * but one. */
bool changes(const l2k_z_levels *z, const l2k_z_op *op, unsigned row)
{
    if (op->kind != L2K_Z_CHAIN)
        return row == 0;
    if (z->kernel)
        return !z->inverse || row != 1;
    const bool scales = z->steps == 4;
    const unsigned end = z->steps + 2 * op->pairs;
    return row >= (scales && !z->inverse ? 0u : 1u) && row < (scales && z->inverse ? end : end - 1);
}

/* Forward, changed rows go to the slice's own memory; inverse, the last operation leaves the slice in the planes. */
void place_row(const l2k_z_levels *z, l2k_cuda_z_op *op, unsigned row, l2k_cuda_slice *slice, bool changed)
{
    char *const own = (char *)slice->slice.values, *const samples = slice->samples;
    const bool last = z->inverse && --slice->uses == 0 && samples;
    const bool outside = z->inverse ? last : samples != NULL;
    op->from[row] = !z->inverse && samples ? samples : own;
    op->to[row] = last ? samples : changed ? own : NULL;
    op->samples |= (uint32_t)outside << row;
    if (z->inverse ? last : changed)
        slice->samples = NULL;
}

l2k_status next_op(builder *b, l2k_cuda_z_op **op)
{
    if (b->p.count == L2K_CUDA_Z_OPS)
        L2K_TRY(launch(b));
    *op = &b->p.of[b->p.count++];
    memset(*op, 0, sizeof **op);
    return L2K_OK;
}

l2k_status add(builder *b, const l2k_z_op *from)
{
    l2k_cuda_z_op *op;
    L2K_TRY(next_op(b, &op));
    op->kind = (int32_t)from->kind;
    op->step = (int32_t)from->step;
    op->pairs = (int32_t)from->pairs;
    op->rows = (int32_t)rows_of(from);
    op->factor = from->factor;
    for (int row = 0; row < op->rows; row++)
        place_row(b->z, op, (unsigned)row, of_device(from->rows[row]), changes(b->z, from, (unsigned)row));
    return L2K_OK;
}

/* Moves a slice that no operation has moved. */
l2k_status move(builder *b, l2k_cuda_slice *slice)
{
    if (!slice->samples)
        return L2K_OK;
    l2k_cuda_z_op *op = b->p.count ? &b->p.of[b->p.count - 1] : NULL;
    if (!op || op->kind != L2K_Z_SCALE || op->factor != 1 || op->rows == L2K_Z_ROWS) {
        L2K_TRY(next_op(b, &op));
        op->kind = L2K_Z_SCALE;
        op->factor = 1;
    }
    char *const own = (char *)slice->slice.values;
    op->from[op->rows] = b->z->inverse ? own : slice->samples;
    op->to[op->rows] = b->z->inverse ? slice->samples : own;
    op->samples |= 1u << op->rows++;
    slice->samples = NULL;
    return L2K_OK;
}

/* ---- Chains of w4 ------------------------------------------------------------------------------------------------ */

bool is_op(const l2k_z_op *op, l2k_z_kind kind, unsigned step, const l2k_z_slice *first)
{
    return op->kind == kind && op->rows[0] == first && (kind != L2K_Z_TAPS || op->step == step);
}

/* Whether five operations are those of a low slice and the high one after it, the last two of `rows`, behind the two
 * (forward) or four (inverse) slices before them. */
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

bool continues(const l2k_z_op *chain, l2k_z_slice *const *rows, unsigned before)
{
    bool same = chain->kind == L2K_Z_CHAIN && chain->pairs < L2K_CHAIN_PAIRS;
    for (unsigned i = 0; same && i < before; i++)
        same = chain->rows[2 * chain->pairs + i] == rows[i];
    return same;
}

/* Consecutive pairs become one operation, which loads and stores each slice once. */
void chain_pairs(const l2k_z_levels *z, l2k_z_list *list)
{
    const unsigned before = z->inverse ? 4 : 2, five = 5;
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        l2k_z_slice *rows[6];
        if (i + five > list->count || !is_pair(z, &list->ops[i], rows)) {
            list->ops[count++] = list->ops[i];
            continue;
        }
        if (count == 0 || !continues(&list->ops[count - 1], rows, before)) {
            l2k_z_op *chain = &list->ops[count++];
            memset(chain, 0, sizeof *chain);
            chain->kind = L2K_Z_CHAIN;
            memcpy(chain->rows, rows, before * sizeof *rows);
        }
        l2k_z_op *chain = &list->ops[count - 1];
        memcpy(&chain->rows[before + 2 * chain->pairs++], rows + before, 2 * sizeof *rows);
        i += five - 1;
    }
    list->count = count;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

template <class See> l2k_status each_op(const l2k_z_levels *z, const See &see)
{
    for (unsigned number = 0; number < z->levels; number++) {
        const l2k_z_list *list = l2k_z_list_at(z, number);
        for (size_t i = 0; i < list->count; i++)
            L2K_TRY(see(&list->ops[i]));
    }
    return L2K_OK;
}

/* Inverse: the last use of a slice leaves it in the planes. */
l2k_status count_uses(const l2k_z_op *op)
{
    for (unsigned row = 0; row < rows_of(op); row++)
        of_device(op->rows[row])->uses++;
    return L2K_OK;
}

/* Slices that wait for others. */
l2k_status move_windows(builder *b)
{
    for (unsigned i = 0; i < b->z->levels; i++)
        for (int64_t y = b->z->level[i].left; y < b->z->level[i].come; y++)
            L2K_TRY(move(b, of_device(b->z->level[i].window[(uint64_t)y % L2K_Z_WINDOW])));
    return L2K_OK;
}

} // namespace

extern "C" l2k_status l2k_cuda_ops_run(const l2k_volume *v, unsigned number, const l2k_z_queue *leaving)
{
    l2k_z_levels *z = &v->stages[number].z;
    builder b;
    start(&b, v, &v->stages[number]);
    for (unsigned level = 0; z->kernel && !z->kernel->reversible && level < z->levels; level++)
        chain_pairs(z, &z->list[level]);
    if (z->inverse)
        L2K_TRY(each_op(z, count_uses));
    L2K_TRY(each_op(z, [&](const l2k_z_op *op) { return add(&b, op); }));
    for (l2k_z_slice *slice = leaving->first; slice; slice = slice->next)
        L2K_TRY(move(&b, of_device(slice)));
    if (!z->inverse)
        L2K_TRY(move_windows(&b));
    l2k_z_forget(z);
    return launch(&b);
}
