/* The geometry of B.5 as memory: Mallat layout of a tile-component's subbands. */
#include "transform/layout.h"

#include <math.h>

#include "dwt/wavelet.h"
#include "quant/steps.h"

l2k_level l2k_level_of(const l2k_plan_component *component, unsigned level)
{
    l2k_rect in = l2k_resolution_rect(component->rect, level - 1), low = l2k_resolution_rect(component->rect, level);
    return (l2k_level){l2k_rect_width(in),   l2k_rect_height(in), l2k_rect_width(low),
                       l2k_rect_height(low), in.x0 & 1,           in.y0 & 1};
}

unsigned l2k_discarded(l2k_direction direction, const l2k_plan_component *component)
{
    return direction == L2K_INVERSE ? component->discard : 0;
}

/* Rows start on a cache line: 32 samples are a multiple of it for int16 and int32. Rows a multiple of 1 KiB apart would
 * share a few cache sets when a code-block is read column by column. */
static size_t choose_stride(uint32_t width, size_t size)
{
    size_t stride = ((size_t)width + 31) & ~(size_t)31;
    return stride * size % 1024 == 0 ? stride + 32 : stride;
}

void l2k_layout(l2k_direction direction, l2k_coefficient_type type, const l2k_plan_component *component,
                l2k_coefficients *view)
{
    unsigned levels = component->levels, discard = l2k_discarded(direction, component);
    l2k_rect whole = l2k_resolution_rect(component->rect, discard);
    l2k_rect lowest = l2k_resolution_rect(component->rect, levels);
    *view = (l2k_coefficients){.type = type, .width = l2k_rect_width(whole), .height = l2k_rect_height(whole)};
    view->stride = choose_stride(view->width, l2k_coefficient_bytes(type));
    view->num_bands = 3 * (levels - discard) + 1;
    view->bands[0] = (l2k_band_view){0, 0, l2k_rect_width(lowest), l2k_rect_height(lowest)};
    for (unsigned level = levels; level > discard; level--) {
        l2k_level l = l2k_level_of(component, level);
        uint32_t high_width = l.width - l.low_width, high_height = l.height - l.low_height;
        l2k_band_view *bands = &view->bands[l2k_band_number(levels - level + 1, 0)];
        bands[L2K_HL] = (l2k_band_view){l.low_width, 0, high_width, l.low_height};
        bands[L2K_LH] = (l2k_band_view){0, l.low_height, l.low_width, high_height};
        bands[L2K_HH] = (l2k_band_view){l.low_width, l.low_height, high_width, high_height};
    }
}

bool l2k_low_fits_int16(unsigned levels, unsigned discard, const uint8_t bits[L2K_MAX_SUBBANDS])
{
    double low = ldexp(1, bits[0]);
    for (unsigned level = levels; level > discard + 1; level--) {
        const uint8_t *band = &bits[l2k_band_number(levels - level + 1, 0)];
        low += 1.5 * (ldexp(1, band[L2K_HL]) + ldexp(1, band[L2K_LH])) + 2.25 * ldexp(1, band[L2K_HH]) + 8;
        if (low > INT16_MAX)
            return false;
    }
    return true;
}

l2k_subband_info l2k_describe_band(const l2k_plan_component *component, unsigned band, l2k_step step,
                                   unsigned guard_bits)
{
    unsigned resolution = l2k_band_resolution(band), orientation = l2k_band_orientation(band);
    unsigned level = l2k_band_level(component->levels, resolution);
    l2k_rect rect = l2k_subband_rect(component->rect, level, orientation);
    return (l2k_subband_info){.resolution = resolution,
                              .orientation = (l2k_orientation)orientation,
                              .level = level,
                              .x0 = rect.x0,
                              .y0 = rect.y0,
                              .x1 = rect.x1,
                              .y1 = rect.y1,
                              .step = step,
                              .step_size = l2k_wavelet_get(component->wavelet)->quantised ? component->steps[band] : 1,
                              .magnitude_bits = l2k_magnitude_bits(step, guard_bits)};
}
