/* Turns options and a tile into the specification of a plan, with every check that needs more than one option. */
#include "transform/front_end.h"

#include <string.h>

#include "base/memory.h"
#include "dwt/wavelet.h"
#include "quant/steps.h"

/* ---- Checks -------------------------------------------------------------------------------------------------- */

static const l2k_wavelet_descriptor *wavelet_of(const l2k_transform *t)
{
    const int64_t wavelet = t->options[L2K_TRANSFORM_WAVELET];
    return wavelet > L2K_WAVELET_9_7 ? &t->own : l2k_wavelet_get((l2k_wavelet)wavelet);
}

static l2k_status check_options(const l2k_transform *t)
{
    const int64_t *o = t->options;
    const l2k_context *context = &t->context;
    const l2k_wavelet_descriptor *wavelet = wavelet_of(t);
    int64_t reduce = o[L2K_TRANSFORM_REDUCE], levels = o[L2K_TRANSFORM_LEVELS];
    if (o[L2K_TRANSFORM_DIRECTION] == L2K_FORWARD && reduce > 0)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "only an inverse transform can leave out resolutions");
    if (o[L2K_TRANSFORM_DIRECTION] == L2K_INVERSE && reduce > levels)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%d resolutions cannot be left out of %d levels", (int)reduce,
                        (int)levels);
    if (!wavelet->is_float && o[L2K_TRANSFORM_COEFFICIENTS] == L2K_COEFFICIENT_FLOAT32)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "the %s wavelet has no float32 coefficients", wavelet->name);
    if (!wavelet->quantised && t->own_steps)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "the %s wavelet has no quantiser steps", wavelet->name);
    if (o[L2K_TRANSFORM_BACKEND] == L2K_BACKEND_CPU && o[L2K_TRANSFORM_MEMORY] == L2K_MEMORY_DEVICE)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "the CPU does not work on device memory");
    if (t->num_splits > levels)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "directions of %u levels, but %u decomposition levels",
                        t->num_splits, (unsigned)levels);
    return L2K_OK;
}

static l2k_rect area_of(const l2k_image *tile)
{
    return (l2k_rect){tile->x0, tile->y0, tile->x1, tile->y1};
}

static l2k_status refuse(const l2k_transform *t, uint32_t c, const char *what, uint32_t value)
{
    return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "component %u: %s %u is not possible", (unsigned)c, what,
                    (unsigned)value);
}

/* An inverse transform takes any precision, since decoders do not choose it. */
static uint32_t most_precision(const l2k_transform *t)
{
    return t->options[L2K_TRANSFORM_DIRECTION] == L2K_INVERSE ? 31 : wavelet_of(t)->most_bits;
}

static l2k_status check_component(const l2k_transform *t, const l2k_component *component, uint32_t c)
{
    if (component->dx < 1 || component->dx > 255)
        return refuse(t, c, "a sub-sampling of", component->dx);
    if (component->dy < 1 || component->dy > 255)
        return refuse(t, c, "a sub-sampling of", component->dy);
    if (component->precision < 1 || component->precision > most_precision(t))
        return refuse(t, c, "a precision of", component->precision);
    return L2K_OK;
}

static l2k_status check_joined(const l2k_transform *t, const l2k_image *tile)
{
    const l2k_component *c = tile->components;
    if (!t->options[L2K_TRANSFORM_COMPONENT_TRANSFORM])
        return L2K_OK;
    if (tile->num_components < 3)
        return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "a component transform needs three components, not %u",
                        (unsigned)tile->num_components);
    for (int i = 1; i < 3; i++)
        if (c[i].dx != c[0].dx || c[i].dy != c[0].dy || c[i].precision != c[0].precision ||
            c[i].is_signed != c[0].is_signed)
            return l2k_fail(&t->context, L2K_ERROR_ARGUMENT,
                            "a component transform needs three components of one sub-sampling, precision and sign");
    return L2K_OK;
}

static l2k_status check_tile(const l2k_transform *t, const l2k_image *tile)
{
    uint64_t left = (uint64_t)t->options[L2K_TRANSFORM_LIMIT_SAMPLES];
    if (!tile || !tile->components)
        return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "no tile, or one without components");
    if (tile->x0 >= tile->x1 || tile->y0 >= tile->y1)
        return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "a tile without area");
    if (tile->num_components < 1 || tile->num_components > L2K_MAX_COMPONENTS)
        return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "%u components, 1 to %u are possible",
                        (unsigned)tile->num_components, L2K_MAX_COMPONENTS);
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_component *component = &tile->components[c];
        L2K_TRY(check_component(t, component, c));
        uint64_t samples = l2k_rect_area(l2k_component_rect(area_of(tile), component->dx, component->dy));
        if (samples > left)
            return l2k_fail(&t->context, L2K_ERROR_LIMIT, "a tile of %u x %u x %u is more than the limit allows",
                            (unsigned)(tile->x1 - tile->x0), (unsigned)(tile->y1 - tile->y0),
                            (unsigned)tile->num_components);
        left -= samples;
    }
    return check_joined(t, tile);
}

static l2k_status check_own_steps(const l2k_transform *t, const l2k_image *tile)
{
    unsigned bands = 3 * (unsigned)t->options[L2K_TRANSFORM_LEVELS] + 1;
    for (const l2k_own_steps *own = t->own_steps; own; own = own->next) {
        if (own->component != L2K_ALL_COMPONENTS && own->component >= tile->num_components)
            return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "quantiser steps for component %u of only %u",
                            (unsigned)own->component, (unsigned)tile->num_components);
        if (own->count != bands)
            return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "%u quantiser steps for %u subbands", (unsigned)own->count,
                            bands);
    }
    return L2K_OK;
}

/* Forward, int16 requires Mb <= 15, or 14 with the RCT (docs/numerics.md); inverse, the caller knows the bit-planes. */
static l2k_status check_int16(const l2k_transform *t, const l2k_tile_spec *s)
{
    if (s->plan.type != L2K_COEFFICIENT_INT16 || s->plan.direction != L2K_FORWARD)
        return L2K_OK;
    for (uint32_t c = 0; c < s->plan.num_components; c++) {
        bool rct = s->plan.component_transform && c < 3 && wavelet_of(t)->reversible;
        for (unsigned band = 0; band < s->bands; band++) {
            unsigned bits = l2k_magnitude_bits(s->steps[c * s->bands + band], L2K_GUARD_BITS) + rct;
            if (bits > 15)
                return l2k_fail(&t->context, L2K_ERROR_ARGUMENT,
                                "component %u, subband %u: magnitudes of %u bits are too large for int16 coefficients",
                                (unsigned)c, band, bits);
        }
    }
    return L2K_OK;
}

/* ---- Making -------------------------------------------------------------------------------------------------- */

/* The steps of one component: its own, those for all components, or those the encoder would choose. */
static void choose_steps(const l2k_transform *t, uint32_t c, unsigned precision, l2k_step *steps)
{
    const l2k_own_steps *found = NULL;
    const unsigned levels = (unsigned)t->options[L2K_TRANSFORM_LEVELS];
    memset(steps, 0, (3 * levels + 1) * sizeof *steps);
    for (const l2k_own_steps *own = t->own_steps; own; own = own->next)
        if (own->component == c || (own->component == L2K_ALL_COMPONENTS && !found))
            found = own;
    if (found)
        memcpy(steps, found->steps, found->count * sizeof *steps);
    else
        for (unsigned band = 0; band <= 3 * levels; band++) {
            const unsigned level = l2k_band_level(levels, l2k_band_resolution(band));
            const l2k_depth depth = {l2k_count_across(t->unsplit, level), l2k_count_down(t->unsplit, level)};
            if (level == 0 || l2k_band_exists(t->unsplit, level, l2k_band_orientation(band)))
                steps[band] = l2k_step_choose(wavelet_of(t), precision, depth, l2k_band_orientation(band));
        }
}

/* The part of the tile inside the region. */
static l2k_rect wanted_of(const l2k_transform *t, const l2k_image *tile)
{
    return l2k_rect_empty(t->region) ? area_of(tile) : l2k_rect_intersect(area_of(tile), t->region);
}

static l2k_status check_region(const l2k_transform *t, const l2k_image *tile)
{
    const l2k_rect wanted = wanted_of(t, tile);
    if (t->options[L2K_TRANSFORM_DIRECTION] == L2K_FORWARD && !l2k_rect_equals(wanted, area_of(tile)))
        return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "only an inverse transform can have a region");
    if (l2k_rect_empty(wanted))
        return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "the region is outside the tile");
    return L2K_OK;
}

/* {0} if the region covers `all` of the component. */
static l2k_rect window_of(const l2k_transform *t, const l2k_image *tile, const l2k_component *component, l2k_rect all)
{
    const l2k_rect wanted = l2k_component_rect(wanted_of(t, tile), component->dx, component->dy);
    if (l2k_rect_equals(wanted, all))
        return (l2k_rect){0};
    return l2k_unsplit_resolution(wanted, t->unsplit, (unsigned)t->options[L2K_TRANSFORM_REDUCE]);
}

static void fill_component(const l2k_transform *t, const l2k_image *tile, uint32_t c, l2k_tile_spec *s)
{
    const l2k_component *component = &tile->components[c];
    l2k_plan_component *out = &s->components[c];
    l2k_step *steps = &s->steps[c * s->bands];
    const l2k_rect rect = l2k_component_rect(area_of(tile), component->dx, component->dy);
    *out = (l2k_plan_component){.rect = rect,
                                .levels = (unsigned)t->options[L2K_TRANSFORM_LEVELS],
                                .unsplit = t->unsplit,
                                .discard = (unsigned)t->options[L2K_TRANSFORM_REDUCE],
                                .window = window_of(t, tile, component, rect),
                                .wavelet = (l2k_wavelet)t->options[L2K_TRANSFORM_WAVELET],
                                .own = l2k_wavelet_is_kernel(wavelet_of(t)) ? &t->own : NULL,
                                .precision = component->precision,
                                .is_signed = component->is_signed};
    choose_steps(t, c, component->precision, steps);
    for (unsigned band = 0; band < s->bands; band++)
        out->steps[band] = wavelet_of(t)->quantised
                               ? l2k_step_size(steps[band], component->precision, l2k_band_orientation(band))
                               : 1.0f;
}

void l2k_tile_spec_release(const l2k_context *context, l2k_tile_spec *spec)
{
    l2k_release(context, spec->components);
    l2k_release(context, spec->steps);
    *spec = (l2k_tile_spec){0};
}

static l2k_status fill_spec(const l2k_transform *t, const l2k_image *tile, l2k_tile_spec *s)
{
    uint32_t count = tile->num_components;
    s->bands = 3 * (unsigned)t->options[L2K_TRANSFORM_LEVELS] + 1;
    s->components = l2k_allocate(&t->context, count, sizeof *s->components);
    s->steps = l2k_allocate(&t->context, (size_t)count * s->bands, sizeof *s->steps);
    L2K_TRY(l2k_check_memory(&t->context, s->components && s->steps, "%u components", (unsigned)count));
    for (uint32_t c = 0; c < count; c++)
        fill_component(t, tile, c, s);
    s->plan = (l2k_plan_spec){
        .direction = (l2k_direction)t->options[L2K_TRANSFORM_DIRECTION],
        .type = (l2k_coefficient_type)t->options[L2K_TRANSFORM_COEFFICIENTS],
        .component_transform = t->options[L2K_TRANSFORM_COMPONENT_TRANSFORM],
        .num_components = count,
        .components = s->components,
        .cpu_reason = l2k_splits_all(t->unsplit) ? l2k_wavelet_reason((l2k_wavelet)t->options[L2K_TRANSFORM_WAVELET],
                                                                      t->options[L2K_TRANSFORM_COMPONENT_TRANSFORM])
                                                 : L2K_SPLIT_REASON,
        .memory = t->options[L2K_TRANSFORM_MEMORY] == L2K_MEMORY_DEVICE ? L2K_PLAN_DEVICE : L2K_PLAN_HOST};
    return check_int16(t, s);
}

l2k_status l2k_tile_spec_make(const l2k_transform *transform, const l2k_image *tile, l2k_tile_spec *out)
{
    *out = (l2k_tile_spec){0};
    L2K_TRY(check_options(transform));
    L2K_TRY(check_tile(transform, tile));
    L2K_TRY(check_region(transform, tile));
    L2K_TRY(check_own_steps(transform, tile));
    l2k_status status = fill_spec(transform, tile, out);
    if (status != L2K_OK)
        l2k_tile_spec_release(&transform->context, out);
    return status;
}
