/* Coding parameters of a tile (Annex A.6), and what follows from them for the transform (E-5). */
#include "codec/tile/coding.h"

#include "base/memory.h"

void l2k_tile_coding_release(const l2k_context *context, l2k_tile_coding *coding)
{
    l2k_release(context, coding->components);
    l2k_release(context, coding->changes);
    *coding = (l2k_tile_coding){0};
}

l2k_step l2k_coding_step(const l2k_component_coding *coding, unsigned resolution, unsigned orientation)
{
    if (coding->quantisation != L2K_QUANT_DERIVED)
        return coding->steps[l2k_band_number(resolution, orientation)];
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
                                .discard = l2k_min_u32(discard, coding->levels),
                                .wavelet = (l2k_wavelet)coding->wavelet,
                                .precision = component->precision,
                                .is_signed = component->is_signed};
    if (!l2k_coding_wavelet(coding)->quantised)
        return;
    for (unsigned r = 0; r <= coding->levels; r++)
        for (unsigned o = r ? 1 : 0; o <= (r ? 3u : 0u); o++)
            out->steps[l2k_band_number(r, o)] = l2k_step_size(l2k_coding_step(coding, r, o), component->precision, o);
}

void l2k_coding_plan_spec(const l2k_siz *siz, const l2k_tile_coding *coding, l2k_rect tile, unsigned discard,
                          l2k_plan_component *components, l2k_plan_spec *spec)
{
    for (uint32_t c = 0; c < siz->num_components; c++)
        plan_component(&siz->components[c], &coding->components[c], tile, discard, &components[c]);
    spec->component_transform = coding->component_transform;
    spec->num_components = siz->num_components;
    spec->components = components;
}
