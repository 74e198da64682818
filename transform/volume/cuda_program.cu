/* From what l2k_z_levels has recorded for a group of slices to launches (cuda_slices.h). An operation loads a slice
 * where it is and stores it where it is to be, so samples in the caller's planes are neither copied before the first
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
    b->p.shift = l2k_level_shift_make(component->precision, component->is_signed);
    b->p.is_signed = component->is_signed;
    b->p.converts = v->cuda->value != L2K_CUDA_FLOAT32 && (is_inverse(v) || !component->is_signed);
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
    if (!slice->samples || (slice->samples == (char *)slice->values && !b->p.converts)) {
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

void count_uses(const l2k_z_levels *z)
{
    for (unsigned level = 0; level < z->levels; level++)
        for (size_t i = 0; i < z->program[level].count; i++)
            for (unsigned row = 0; row < rows_of(&z->program[level].ops[i]); row++)
                z->program[level].ops[i].rows[row]->uses++;
}

l2k_status add_all(builder *b, l2k_z_levels *z)
{
    for (unsigned level = 0; z->kernel && !z->kernel->reversible && level < z->levels; level++)
        chain_pairs(z, &z->program[level]);
    if (z->inverse)
        count_uses(z);
    for (unsigned level = 0; level < z->levels; level++) {
        const l2k_z_program *program = l2k_z_program_at(z, level);
        for (size_t i = 0; i < program->count; i++)
            L2K_TRY(add(b, z, &program->ops[i]));
    }
    return L2K_OK;
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

l2k_status l2k_cuda_programs_run(const l2k_volume *v, const l2k_z_queue *leaving)
{
    l2k_z_levels *z = &stage_of(v)->z;
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
