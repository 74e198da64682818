/* What an l2k_z_walk takes of a group of slices as launches: walks, or prisms, which do level 1 within the slices of
 * coefficients as well. These then have no values; the group's plan goes on with their LL, inverse it has made them. */
#include <string.h>

#include "transform/volume/cuda_volume.cuh"

namespace
{

/* ---- What both have -------------------------------------------------------------------------------------------- */

l2k_z_slice *band_of(const l2k_z_levels *z, const l2k_z_walk *found, unsigned i)
{
    return l2k_z_walk_band(z, found, i >> found->levels, i & ((1u << found->levels) - 1));
}

char *samples_or_values(const l2k_z_slice *slice)
{
    return slice->samples ? slice->samples : (char *)slice->values;
}

/* Slices that wait at a level before a walk of some periods, and after it. */
l2k_z_slice *const *rows_before(const l2k_z_walk *found, unsigned level, unsigned begin)
{
    const l2k_z_run *run = &found->runs[level];
    return l2k_z_rows(run, run->first + (begin << (found->levels - 1 - level)));
}

l2k_z_slice *const *rows_after(const l2k_z_walk *found, unsigned level, unsigned end)
{
    const l2k_z_run *run = &found->runs[level];
    return l2k_z_rows(run, run->first + (end << (found->levels - 1 - level)) - 1) + 2;
}

void place_waiting(l2k_cuda_z_walk *w, const l2k_z_levels *z, const l2k_z_walk *found, unsigned level, unsigned begin,
                   unsigned end)
{
    const unsigned count = l2k_z_waiting(z);
    l2k_z_slice *const *before = rows_before(found, level, begin), *const *after = rows_after(found, level, end);
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
    char **const samples = z->inverse ? w->to : w->from, **const bands = z->inverse ? w->from : w->to;
    const unsigned first = begin << found->levels;
    w->slices = (int32_t)((end - begin) << found->levels);
    w->waiting_outside = 0;
    memset(w->outside, 0, sizeof w->outside);
    for (unsigned level = 0; level < found->levels; level++)
        place_waiting(w, z, found, level, begin, end);
    for (unsigned i = 0; i < (unsigned)w->slices; i++) {
        const l2k_z_slice *sample = l2k_z_walk_sample(z, found, first + i), *band = band_of(z, found, first + i);
        samples[i] = samples_or_values(sample);
        w->outside[i / 32] |= (uint32_t)(sample->samples != NULL) << i % 32;
        bands[i] = band->in_prism ? NULL : (char *)band->values;
    }
}

/* What has passed is in the slices' own memory, or where it was to leave. */
void forget_samples(const l2k_z_levels *z, const l2k_z_walk *found, unsigned begin, unsigned end)
{
    for (unsigned row = 0; !z->inverse && row < l2k_z_waiting(z); row++)
        rows_before(found, 0, begin)[row]->samples = NULL;
    for (unsigned i = begin << found->levels; i < end << found->levels; i++)
        l2k_z_walk_sample(z, found, i)->samples = NULL;
}

/* ---- Prisms ---------------------------------------------------------------------------------------------------- */

l2k_span rows_of(const l2k_volume *v)
{
    const l2k_rect rect = v->spec.tile.components[0].rect;
    const uint32_t base = rect.y0 & ~(uint32_t)7;
    return l2k_span{(int32_t)(rect.y0 - base), (int32_t)(rect.y1 - base)};
}

void place_slots(l2k_cuda_prism *p, const l2k_volume *v, const l2k_cuda_slot *slot)
{
    l2k_first_level first;
    l2k_plan_first_level(slot->plan, &first);
    p->y = rows_of(v);
    p->width = (int32_t)l2k_rect_width(v->spec.tile.components[0].rect);
    p->parts = (int32_t)components_of(v);
    p->part_bytes = (int64_t)((stage_of(v)->samples / components_of(v)) * v->cuda->value_bytes);
    for (unsigned o = 0; o < 4; o++)
        p->bands.at[0][o] = first.bands[o];
    p->bands.stride = (int32_t)first.stride;
    p->low_stride = (int64_t)first.low_stride;
    p->to_next_band = (int64_t)first.to_next_band;
    p->to_next_low = (int64_t)first.to_next_low;
}

/* Other memory for a slice whose values are stored, since blocks of a forward prism read what lies around their tiles
 * while others store. What it had before goes to `old`: behind the launch it is spare memory. */
l2k_status exchange_memory(const l2k_volume *v, l2k_z_slice *slice, l2k_z_queue *old)
{
    l2k_z_slice *fresh = l2k_z_take(&v->cuda->spare);
    if (!fresh)
        L2K_TRY(l2k_cuda_new_slice(v, v->cuda->stream, &fresh));
    uint32_t *const values = fresh->values;
    fresh->values = slice->values;
    slice->values = values;
    l2k_z_append(old, fresh);
    return L2K_OK;
}

/* Slices whose values are stored: those that wait behind the walk, and coefficients without a slot. */
l2k_status exchange_all(const l2k_volume *v, l2k_cuda_z_walk *w, unsigned begin, unsigned end, l2k_z_queue *old)
{
    const l2k_z_levels *z = &stage_of(v)->z;
    const l2k_z_walk *found = &v->cuda->found;
    for (unsigned level = 0; level < found->levels; level++)
        for (unsigned row = 0; row < l2k_z_waiting(z); row++) {
            l2k_z_slice *slice = rows_after(found, level, end)[row];
            L2K_TRY(exchange_memory(v, slice, old));
            w->left[level][row] = (char *)slice->values;
        }
    for (unsigned i = 0; i < (unsigned)w->slices; i++) {
        l2k_z_slice *band = band_of(z, found, (begin << found->levels) + i);
        if (band->in_prism)
            continue;
        L2K_TRY(exchange_memory(v, band, old));
        w->to[i] = (char *)band->values;
    }
    return L2K_OK;
}

l2k_status launch_prism(const l2k_volume *v, l2k_cuda_prism *p, unsigned begin, unsigned end)
{
    const l2k_z_levels *z = &stage_of(v)->z;
    l2k_cuda_volume *d = v->cuda;
    l2k_z_queue old = {NULL, NULL, 0};
    for (unsigned i = 0; i < (unsigned)p->walk.slices; i++)
        p->slot[i] = (int16_t)band_of(z, &d->found, (begin << d->found.levels) + i)->slot;
    if (!z->inverse)
        L2K_TRY(exchange_all(v, &p->walk, begin, end, &old));
    const int error = (z->inverse ? l2k_cuda_inverse_prism : l2k_cuda_forward_prism)(p, d->stream);
    while (old.first)
        l2k_z_append(&d->spare, l2k_z_take(&old));
    return check(v, error, "launching the levels of a prism");
}

} // namespace

/* With values of 16 bits, or by the 9/7, walks and sweeps are faster (bench/lab/volumes.md). */
bool l2k_cuda_has_prisms(const l2k_volume *v)
{
    const l2k_volume_spec *spec = &v->spec;
    const l2k_plan_component *components = spec->tile.components;
    const l2k_rect rect = components[0].rect;
    const l2k_coefficient_type type = spec->tile.plan.type;
    const bool w4 = spec->wavelet == L2K_WAVELET_W4 && type == L2K_COEFFICIENT_FLOAT32;
    bool alike = spec->wavelet == spec->z_wavelet && spec->levels > 0 && spec->z_levels > 0;
    for (uint32_t c = 0; c < components_of(v); c++)
        alike = alike && memcmp(&components[c].rect, &rect, sizeof rect) == 0;
    if (!alike || v->cuda->group < 2 * L2K_CUDA_PERIOD || rect.x0 % 16 != 0 || rect.x1 % 16 != 0 ||
        l2k_rect_empty(rect))
        return false;
    /* At odd ends w4 takes rows for those beyond that are further away than what prisms have around a tile. */
    if (w4 ? rect.y0 % 2 != 0 || rect.y1 % 2 != 0 : spec->wavelet != L2K_WAVELET_5_3 || type != L2K_COEFFICIENT_INT32)
        return false;
    return (is_inverse(v) ? l2k_cuda_inverse_prism_fits : l2k_cuda_forward_prism_fits)(w4, (int)spec->z_levels);
}

l2k_status l2k_cuda_walk_run(const l2k_volume *v, const l2k_cuda_slot *slot)
{
    const l2k_cuda_volume *d = v->cuda;
    const l2k_z_levels *z = &stage_of(v)->z;
    const l2k_z_walk *found = &d->found;
    const unsigned most = L2K_CUDA_WALK_SLICES >> found->levels;
    l2k_cuda_prism p;
    memset(&p, 0, sizeof p);
    p.walk.threads = vectors_of(v, L2K_CUDA_WALK_BYTES);
    p.walk.samples = samples_of(v);
    p.walk.levels = (int32_t)found->levels;
    p.walk.kernel = z->kernel != NULL;
    memcpy(p.walk.scales, z->scales, sizeof p.walk.scales);
    for (unsigned number = 0; z->kernel && number < z->steps; number++)
        p.walk.steps[number] = kernel_step(z, number);
    if (d->prisms)
        place_slots(&p, v, slot);
    for (unsigned begin = 0; begin < found->periods; begin += most) {
        const unsigned end = found->periods - begin < most ? found->periods : begin + most;
        place_periods(&p.walk, z, found, begin, end);
        L2K_TRY(d->prisms ? launch_prism(v, &p, begin, end)
                          : check(v, l2k_cuda_z_walk_run(&p.walk, d->value, z->inverse, d->stream),
                                  "launching a walk across slices"));
        forget_samples(z, found, begin, end);
    }
    return L2K_OK;
}
