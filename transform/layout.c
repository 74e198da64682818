/* The geometry of B.5 in memory: Mallat layout of a tile-component's subbands. */
#include "transform/layout.h"

#include <math.h>

#include "base/sample.h"
#include "dwt/kernel.h"
#include "quant/steps.h"
#include "transform/window.h"

#define ALIGNED 16u

l2k_level l2k_level_of(const l2k_plan_component *component, unsigned level)
{
    const l2k_unsplit unsplit = l2k_unsplit_behind(component->unsplit, level - 1);
    const l2k_rect in = l2k_level_rect(component, level), low = l2k_unsplit_resolution(in, unsplit, 1);
    const l2k_rect passed = l2k_passed_rect(component, level);
    return (l2k_level){l2k_rect_width(in),
                       l2k_rect_height(in),
                       l2k_rect_width(low),
                       l2k_rect_height(low),
                       l2k_splits_across(unsplit, 1) ? in.x0 & 1 : 0,
                       l2k_splits_down(unsplit, 1) ? in.y0 & 1 : 0,
                       !l2k_splits_across(unsplit, 1),
                       !l2k_splits_down(unsplit, 1),
                       {passed.x0 - in.x0, passed.y0 - in.y0, passed.x1 - in.x0, passed.y1 - in.y0}};
}

unsigned l2k_discarded(l2k_direction direction, const l2k_plan_component *component)
{
    return direction == L2K_INVERSE ? component->discard : 0;
}

unsigned l2k_plan_bands(l2k_direction direction, const l2k_plan_component *component)
{
    return 3 * (component->levels - l2k_discarded(direction, component)) + 1;
}

l2k_rect l2k_plan_output(l2k_direction direction, const l2k_plan_component *component)
{
    return direction == L2K_INVERSE ? l2k_output_rect(component) : component->rect;
}

l2k_sample_type l2k_packed_type(const l2k_plan_component *components, unsigned count)
{
    l2k_sample_type type = L2K_SAMPLE_U8;
    for (unsigned c = 0; c < count && type < L2K_SAMPLE_S32;)
        if (l2k_sample_type_holds(type, components[c].precision, components[c].is_signed)) {
            c++;
        } else {
            type++;
            c = 0; /* a type with signs has fewer bits for those without */
        }
    return type;
}

bool l2k_are_packed(const l2k_plane *planes, unsigned count, l2k_sample_type type)
{
    const size_t bytes = l2k_sample_bytes(type);
    for (unsigned c = 0; c < count; c++)
        if (planes[c].type != type || planes[c].row_stride != planes[0].row_stride ||
            planes[c].sample_stride != (ptrdiff_t)(count * bytes) ||
            (char *)planes[c].data != (char *)planes[0].data + c * bytes)
            return false;
    return true;
}

/* Rows start on a cache line: 32 samples are a multiple of it for int16 and int32. Rows a multiple of 1 KiB apart would
 * share a few cache sets when a code-block is read column by column. */
static size_t choose_stride(uint32_t width, size_t size)
{
    size_t stride = ((size_t)width + 31) & ~(size_t)31;
    return stride * size % 1024 == 0 ? stride + 32 : stride;
}

/* Where a subband may begin, from `from` on: columns of a window's parts are aligned as in the subband's own domain. */
static uint32_t choose_column(const l2k_plan_component *component, uint32_t from, l2k_rect part)
{
    return l2k_has_window(component) ? l2k_ceil_div(from, ALIGNED) * ALIGNED + part.x0 % ALIGNED : from;
}

/* Puts a subband to the right of `x`, if it is high horizontally, and below `y`, if vertically. */
static void place_band(const l2k_plan_component *component, l2k_coefficients *view, unsigned band, l2k_rect part,
                       uint32_t x, uint32_t y)
{
    const unsigned orientation = l2k_band_orientation(band);
    const l2k_band_view place = {choose_column(component, orientation & L2K_HL ? x : 0, part),
                                 orientation & L2K_LH ? y : 0, l2k_rect_width(part), l2k_rect_height(part)};
    view->bands[band] = place;
    view->width = l2k_max_u32(view->width, place.x + place.width);
    view->height = l2k_max_u32(view->height, place.y + place.height);
}

/* Without a window each level fills the rectangle of its samples; with one, subbands are larger than their level needs,
 * and the next level's place begins where all of them end. */
void l2k_layout_parts(l2k_direction direction, l2k_coefficient_type type, const l2k_plan_component *component,
                      const l2k_rect *parts, l2k_coefficients *view)
{
    const unsigned bands = l2k_plan_bands(direction, component);
    *view = (l2k_coefficients){.type = type, .num_bands = bands};
    place_band(component, view, 0, parts[0], 0, 0);
    for (unsigned band = 1; band < bands; band += 3) {
        const l2k_rect hl = parts[band], lh = parts[band + 1];
        const l2k_band_view low = {.x = l2k_max_u32(view->width, choose_column(component, 0, lh) + l2k_rect_width(lh)),
                                   .y = l2k_max_u32(view->height, l2k_rect_height(hl))};
        for (unsigned i = 0; i < 3; i++)
            place_band(component, view, band + i, parts[band + i], low.x, low.y);
    }
    view->stride = choose_stride(view->width, l2k_coefficient_bytes(type));
}

void l2k_layout(l2k_direction direction, l2k_coefficient_type type, const l2k_plan_component *component,
                l2k_coefficients *view)
{
    l2k_rect held[L2K_MAX_SUBBANDS];
    for (unsigned band = 0; band < l2k_plan_bands(direction, component); band++)
        held[band] = l2k_held_part(component, band);
    l2k_layout_parts(direction, type, component, held, view);
}

/* The subbands of the first level lie side by side, and below them all others: both take about the same width. */
void l2k_layout_rows(const l2k_rect *parts, const uint32_t *rows, l2k_coefficients *view)
{
    const uint32_t deep = view->num_bands > 3 ? view->num_bands - 3 : 0;
    view->width = view->height = 0;
    for (unsigned shelf = 0; shelf < 2; shelf++) {
        uint32_t x = 0, height = 0;
        for (uint32_t b = shelf ? 0 : deep; b < (shelf ? deep : view->num_bands); b++) {
            l2k_band_view *at = &view->bands[b];
            at->x = l2k_ceil_div(x, ALIGNED) * ALIGNED + parts[b].x0 % ALIGNED;
            at->y = view->height;
            x = at->x + at->width;
            height = l2k_max_u32(height, rows[b] ? rows[b] : at->height);
        }
        view->width = l2k_max_u32(view->width, x);
        view->height += height;
    }
    view->stride = choose_stride(view->width, l2k_coefficient_bytes(view->type));
}

/* A bound on samples of a line, from bounds on its low and high coefficients. */
static double most_of_line(const l2k_kernel *kernel, double low, double high, double *sums)
{
    double bounds[2] = {low, high};
    l2k_kernel_undo_bounds(kernel, bounds, sums);
    return fmax(bounds[0], bounds[1]);
}

/* A bound on a level's samples, and in `sums` on the sum of a step. */
static double most_of_level(const l2k_kernel *kernel, double low, const uint8_t *bits, double *sums)
{
    const double hl = ldexp(1, bits[L2K_HL]), lh = ldexp(1, bits[L2K_LH]), hh = ldexp(1, bits[L2K_HH]);
    if (!kernel)
        return low + 1.5 * (hl + lh) + 2.25 * hh + 8;
    return most_of_line(kernel, most_of_line(kernel, low, hl, sums), most_of_line(kernel, lh, hh, sums), sums);
}

bool l2k_low_fits_int16(const l2k_plan_component *component, const uint8_t bits[L2K_MAX_SUBBANDS])
{
    const l2k_kernel *kernel = component->own ? &component->own->kernel : NULL;
    double low = ldexp(1, bits[0]), sums = 0;
    for (unsigned level = component->levels; level > component->discard; level--) {
        low = most_of_level(kernel, low, &bits[l2k_band_number(component->levels - level + 1, 0)], &sums);
        const bool is_narrow =
            level > component->discard + 1 || kernel; /* kernels may pack a level's own samples, too */
        if ((is_narrow && low > INT16_MAX) || sums > INT32_MAX)
            return false;
    }
    return true;
}

l2k_subband_info l2k_describe_band(const l2k_plan_component *component, unsigned band, l2k_step step,
                                   unsigned guard_bits)
{
    unsigned resolution = l2k_band_resolution(band), orientation = l2k_band_orientation(band);
    unsigned level = l2k_band_level(component->levels, resolution);
    l2k_rect rect = l2k_held_part(component, band);
    return (l2k_subband_info){.resolution = resolution,
                              .orientation = (l2k_orientation)orientation,
                              .level = level,
                              .x0 = rect.x0,
                              .y0 = rect.y0,
                              .x1 = rect.x1,
                              .y1 = rect.y1,
                              .step = step,
                              .step_size = l2k_plan_wavelet(component)->quantised ? component->steps[band] : 1,
                              .magnitude_bits = l2k_magnitude_bits(step, guard_bits)};
}
