/* Coding parameters of a tile (Annex A.6), and the transform's parameters that follow from them (E-5). */
#include "codec/tile/coding.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"

struct l2k_kernels {
    atomic_uint users;
    unsigned count;
    l2k_wavelet_descriptor of[];
};

const l2k_wavelet_descriptor *l2k_kernels_find(const l2k_kernels *kernels, unsigned index)
{
    for (unsigned i = 0; kernels && i < kernels->count; i++)
        if (kernels->of[i].code == index)
            return &kernels->of[i];
    return NULL;
}

l2k_status l2k_kernels_add(const l2k_context *context, l2k_kernels **kernels, const l2k_wavelet_descriptor *wavelet)
{
    const unsigned count = *kernels ? (*kernels)->count : 0;
    l2k_kernels *more = l2k_allocate(context, 1, sizeof *more + (count + 1) * sizeof *more->of);
    L2K_TRY(l2k_check_memory(context, more, "a wavelet"));
    atomic_init(&more->users, 1);
    more->count = count + 1;
    if (count)
        memcpy(more->of, (*kernels)->of, count * sizeof *more->of);
    more->of[count] = *wavelet;
    l2k_release(context, *kernels);
    *kernels = more;
    return L2K_OK;
}

void l2k_tile_coding_release(const l2k_context *context, l2k_tile_coding *coding)
{
    l2k_release(context, coding->components);
    l2k_release(context, coding->changes);
    if (coding->kernels && atomic_fetch_sub(&coding->kernels->users, 1) == 1)
        l2k_release(context, coding->kernels);
    *coding = (l2k_tile_coding){0};
}

l2k_status l2k_tile_coding_copy(const l2k_context *context, const l2k_tile_coding *from, uint32_t num_components,
                                l2k_tile_coding *to)
{
    *to = *from;
    if (to->kernels)
        atomic_fetch_add(&to->kernels->users, 1);
    to->changes = NULL;
    to->components = l2k_allocate(context, num_components, sizeof *to->components);
    if (to->components && from->num_changes)
        to->changes = l2k_allocate(context, from->num_changes, sizeof *to->changes);
    L2K_TRY(l2k_check_memory(context, to->components && (to->changes || !from->num_changes),
                             "the headers of %u components", num_components));
    memcpy(to->components, from->components, num_components * sizeof *to->components);
    if (to->changes)
        memcpy(to->changes, from->changes, from->num_changes * sizeof *to->changes);
    return L2K_OK;
}

bool l2k_coding_same_steps(const l2k_component_coding *a, const l2k_component_coding *b)
{
    const unsigned count = a->quantisation == L2K_QUANT_DERIVED ? 1 : l2k_coding_bands(a);
    for (unsigned i = 0; i < count; i++)
        if (a->steps[i].exponent != b->steps[i].exponent || a->steps[i].mantissa != b->steps[i].mantissa)
            return false;
    return true;
}

static bool same_component(const l2k_component_coding *a, const l2k_component_coding *b)
{
    return a->levels == b->levels && l2k_same_splits(a->unsplit, b->unsplit, a->levels) &&
           a->log2_block_width == b->log2_block_width && a->log2_block_height == b->log2_block_height &&
           a->style == b->style && a->ht_passes == b->ht_passes && a->wavelet == b->wavelet &&
           (!a->own || l2k_kernel_equals(&a->own->kernel, &b->own->kernel)) && a->viewing.role == b->viewing.role &&
           a->viewing.distance == b->viewing.distance && a->quantisation == b->quantisation &&
           a->guard_bits == b->guard_bits && a->roi_shift == b->roi_shift &&
           memcmp(a->log2_precinct_width, b->log2_precinct_width, a->levels + 1u) == 0 &&
           memcmp(a->log2_precinct_height, b->log2_precinct_height, a->levels + 1u) == 0 && l2k_coding_same_steps(a, b);
}

bool l2k_same_changes(const l2k_tile_coding *a, const l2k_tile_coding *b)
{
    return a->num_changes == b->num_changes &&
           (!a->num_changes || memcmp(a->changes, b->changes, a->num_changes * sizeof *a->changes) == 0);
}

void l2k_clip_changes(l2k_tile_coding *coding, uint32_t num_components)
{
    size_t count = 0;
    for (size_t i = 0; i < coding->num_changes; i++) {
        l2k_poc *change = &coding->changes[count];
        *change = coding->changes[i];
        change->tile = 0;
        change->component_end = l2k_min_u32(change->component_end, num_components);
        change->layer_end = l2k_min_u32(change->layer_end, coding->num_layers);
        count += change->component_start < num_components;
    }
    coding->num_changes = count;
}

/* The packets' markers (SOP, EPH) and the contents of CAP do not matter. */
bool l2k_tile_coding_equals(const l2k_tile_coding *a, const l2k_tile_coding *b, uint32_t num_components)
{
    if (a->progression != b->progression || a->num_layers != b->num_layers ||
        a->component_transform != b->component_transform)
        return false;
    for (uint32_t c = 0; c < num_components; c++)
        if (!same_component(&a->components[c], &b->components[c]))
            return false;
    return l2k_same_changes(a, b);
}

/* The place of a subband among the steps. */
static unsigned step_number(const l2k_component_coding *coding, unsigned resolution, unsigned orientation)
{
    if (resolution == 0 || l2k_splits_all(coding->unsplit))
        return l2k_band_number(resolution, orientation);
    unsigned number = l2k_count_bands(coding->unsplit, coding->levels, resolution);
    for (unsigned o = L2K_HL; o < orientation; o++)
        number += l2k_coding_has_band(coding, resolution, o);
    return number;
}

void l2k_coding_steps(const l2k_component_coding *coding, float base, l2k_quality_of of, l2k_step *steps)
{
    const l2k_wavelet_descriptor *wavelet = l2k_coding_wavelet(coding);
    for (unsigned band = 0; band <= 3u * coding->levels; band++) {
        const unsigned r = l2k_band_resolution(band), o = l2k_band_orientation(band);
        const l2k_depth depth = l2k_coding_depth(coding, r);
        const float seen = base / l2k_error_weight(coding->viewing, depth, o);
        if (l2k_coding_has_band(coding, r, o))
            *steps++ = base > 0     ? l2k_step_of_base(wavelet, seen, depth, o)
                       : of.quality ? l2k_step_of_quality(wavelet, of, depth, o)
                                    : l2k_step_choose(wavelet, of.precision, depth, o);
    }
}

l2k_step l2k_coding_step(const l2k_component_coding *coding, unsigned resolution, unsigned orientation)
{
    if (!l2k_coding_has_band(coding, resolution, orientation))
        return (l2k_step){0};
    if (coding->quantisation != L2K_QUANT_DERIVED)
        return coding->steps[step_number(coding, resolution, orientation)];
    /* E-5: epsilon_b = epsilon_0 - NL + nb */
    int exponent = (int)coding->steps[0].exponent - (int)coding->levels;
    exponent += (int)l2k_band_level(coding->levels, resolution);
    return (l2k_step){(uint8_t)(exponent > 0 ? exponent : 0), coding->steps[0].mantissa};
}

unsigned l2k_magnitude_bound(unsigned code)
{
    return code < 20 ? code + 8 : code < 31 ? 4 * (code - 19) + 27 : 74;
}

unsigned l2k_magnitude_code(unsigned bound)
{
    unsigned code = 0;
    while (code < 31 && l2k_magnitude_bound(code) < bound)
        code++;
    return code;
}

static void plan_component(const l2k_component *component, const l2k_component_coding *coding, l2k_rect tile,
                           unsigned discard, l2k_plan_component *out)
{
    *out = (l2k_plan_component){.rect = l2k_component_rect(tile, component->dx, component->dy),
                                .levels = coding->levels,
                                .unsplit = coding->unsplit,
                                .discard = l2k_min_u32(discard, coding->levels),
                                .wavelet = (l2k_wavelet)coding->wavelet,
                                .own = coding->own,
                                .dy = (uint8_t)component->dy,
                                .precision = component->precision,
                                .is_signed = component->is_signed};
    if (!l2k_coding_wavelet(coding)->quantised)
        return;
    for (unsigned r = 0; r <= coding->levels; r++)
        for (unsigned o = r ? 1 : 0; o <= (r ? 3u : 0u); o++)
            out->steps[l2k_band_number(r, o)] = l2k_step_size(l2k_coding_step(coding, r, o), component->precision, o);
}

void l2k_coding_set_cells(const l2k_tile_coding *coding, uint32_t num_components, uint32_t c,
                          l2k_plan_component *component)
{
    const bool joined = coding->component_transform && c < 3 && num_components >= 3;
    for (uint32_t i = joined ? 0 : c; i <= (joined ? 2 : c); i++) {
        const l2k_component_coding *k = &coding->components[i];
        component->cell_log2_width = (uint8_t)l2k_max_u32(component->cell_log2_width, k->log2_block_width);
        component->cell_log2_height = (uint8_t)l2k_max_u32(component->cell_log2_height, k->log2_block_height);
        for (unsigned r = 0; r <= k->levels; r++)
            component->row_cells[r] = (uint8_t)l2k_max_u32(component->row_cells[r], l2k_coding_block_height(k, r));
    }
}

void l2k_coding_plan_spec(const l2k_siz *siz, const l2k_tile_coding *coding, l2k_rect tile, unsigned discard,
                          l2k_plan_component *components, l2k_plan_spec *spec)
{
    for (uint32_t c = 0; c < siz->num_components; c++) {
        plan_component(&siz->components[c], &coding->components[c], tile, discard, &components[c]);
        l2k_coding_set_cells(coding, siz->num_components, c, &components[c]);
    }
    for (uint32_t c = 0; c < siz->num_components && !spec->cpu_reason; c++)
        spec->cpu_reason =
            l2k_splits_all(coding->components[c].unsplit)
                ? l2k_wavelet_reason((l2k_wavelet)coding->components[c].wavelet, coding->component_transform && c < 3)
                : L2K_SPLIT_REASON;
    spec->component_transform = coding->component_transform;
    spec->num_components = siz->num_components;
    spec->components = components;
}
