/* The transform stage as one object: the part that all backends share. */
#include "transform/plan.h"

#include <string.h>

#include "base/memory.h"
#include "dwt/wavelet.h"
#include "transform/backend.h"
#include "transform/layout.h"
#include "transform/window.h"

static bool same_wavelet(const l2k_plan_component *a, const l2k_plan_component *b)
{
    return a->wavelet == b->wavelet && (!a->own || l2k_kernel_equals(&a->own->kernel, &b->own->kernel));
}

static bool same_cells(const l2k_plan_component *a, const l2k_plan_component *b)
{
    return a->cell_log2_width == b->cell_log2_width && a->cell_log2_height == b->cell_log2_height &&
           memcmp(a->row_cells, b->row_cells, sizeof a->row_cells) == 0;
}

static bool same_place(const l2k_plan_component *a, const l2k_plan_component *b)
{
    return memcmp(&a->rect, &b->rect, sizeof a->rect) == 0 && memcmp(&a->window, &b->window, sizeof a->window) == 0 &&
           same_cells(a, b);
}

bool l2k_share_shape(const l2k_plan_component *a, const l2k_plan_component *b)
{
    return same_place(a, b) && a->levels == b->levels && a->discard == b->discard && same_wavelet(a, b) &&
           l2k_same_splits(a->unsplit, b->unsplit, a->levels);
}

/* Requests that only some backends or wavelets can fulfil. */
static l2k_status check_kind(const l2k_context *context, const l2k_backend_functions *functions,
                             const l2k_plan_spec *spec)
{
    if (l2k_plan_on_device(spec) && !functions->run_on_device)
        return l2k_fail(context, L2K_ERROR_BACKEND, "the CPU does not work on device memory");
    if (spec->truncates && functions->device)
        return l2k_fail(context, L2K_ERROR_BACKEND, "only the CPU truncates when it quantises");
    for (uint32_t c = 0; c < spec->num_components && spec->type == L2K_COEFFICIENT_FLOAT32; c++)
        if (!l2k_plan_wavelet(&spec->components[c])->is_float)
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "the %s wavelet has no float32 coefficients",
                            l2k_plan_wavelet(&spec->components[c])->name);
    return L2K_OK;
}

static l2k_status check_windows(const l2k_context *context, const l2k_plan_spec *spec)
{
    for (uint32_t c = 0; c < spec->num_components; c++) {
        const l2k_plan_component *component = &spec->components[c];
        const l2k_rect w = component->window,
                       r = l2k_unsplit_resolution(component->rect, component->unsplit, component->discard);
        if (!l2k_has_window(component))
            continue;
        if (spec->direction == L2K_FORWARD)
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "only an inverse transform can have a window");
        if (!l2k_rect_empty(w) && (w.x0 < r.x0 || w.y0 < r.y0 || w.x1 > r.x1 || w.y1 > r.y1))
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "component %u: a window outside its tile-component",
                            (unsigned)c);
    }
    return L2K_OK;
}

/* Damaged codestreams can ask for impossible component transforms. */
static l2k_status check_component_transform(const l2k_context *context, const l2k_plan_spec *spec)
{
    if (!spec->component_transform)
        return L2K_OK;
    if (spec->num_components < 3)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "a component transform needs three components, not %u",
                        (unsigned)spec->num_components);
    for (unsigned c = 1; c < 3; c++)
        if (!l2k_share_shape(&spec->components[0], &spec->components[c]))
            return l2k_fail(context, L2K_ERROR_ARGUMENT,
                            "a component transform needs components of one size, wavelet and number of levels");
    return L2K_OK;
}

/* Whether a component has a wavelet of its own that differs from that of the one before. */
static bool begins_wavelet(const l2k_plan_spec *spec, uint32_t c)
{
    return spec->components[c].own && (c == 0 || spec->components[c].own != spec->components[c - 1].own);
}

static size_t count_wavelets(const l2k_plan_spec *spec)
{
    size_t count = 0;
    for (uint32_t c = 0; c < spec->num_components; c++)
        count += begins_wavelet(spec, c);
    return count;
}

static l2k_status copy_wavelets(l2k_plan *plan, const l2k_plan_spec *spec)
{
    const size_t count = count_wavelets(spec);
    if (count == 0)
        return L2K_OK;
    plan->wavelets = l2k_allocate(plan->context, count, sizeof *plan->wavelets);
    L2K_TRY(l2k_check_memory(plan->context, plan->wavelets, "%zu wavelets", count));
    l2k_wavelet_descriptor *next = plan->wavelets;
    for (uint32_t c = 0; c < spec->num_components; c++) {
        if (begins_wavelet(spec, c))
            *next++ = *spec->components[c].own;
        if (spec->components[c].own)
            plan->components[c].own = next - 1;
    }
    return L2K_OK;
}

static l2k_status copy_spec(l2k_plan *plan, const l2k_plan_spec *spec)
{
    size_t count = spec->num_components;
    plan->components = l2k_allocate(plan->context, count, sizeof *plan->components);
    plan->views = l2k_allocate_zeroed(plan->context, count, sizeof *plan->views);
    plan->planes = l2k_allocate(plan->context, count, sizeof *plan->planes);
    L2K_TRY(l2k_check_memory(plan->context, plan->components && plan->views && plan->planes,
                             "a transform of %zu components", count));
    memcpy(plan->components, spec->components, count * sizeof *plan->components);
    plan->spec = *spec;
    plan->spec.components = plan->components;
    for (size_t c = 0; c < count && plan->backend->device; c++) /* the CPU's follow from the rows that it keeps */
        l2k_layout(spec->direction, spec->type, &plan->components[c], &plan->views[c]);
    return copy_wavelets(plan, spec);
}

l2k_status l2k_plan_create_on(const l2k_context *context, const l2k_backend_functions *functions,
                              const l2k_plan_spec *spec, l2k_plan **plan)
{
    *plan = NULL;
    L2K_TRY(check_kind(context, functions, spec));
    L2K_TRY(check_windows(context, spec));
    L2K_TRY(check_component_transform(context, spec));
    l2k_plan *made = l2k_allocate_zeroed(context, 1, sizeof *made);
    L2K_TRY(l2k_check_memory(context, made, "a transform"));
    made->context = context;
    made->backend = functions;
    l2k_status status = copy_spec(made, spec);
    if (status == L2K_OK)
        status = functions->create(made);
    if (status != L2K_OK) {
        l2k_plan_free(made);
        return status;
    }
    *plan = made;
    return L2K_OK;
}

l2k_backend l2k_plan_backend(const l2k_plan *plan)
{
    return plan->backend->kind;
}

void l2k_plan_free(l2k_plan *plan)
{
    if (!plan)
        return;
    if (plan->views)
        plan->backend->free(plan);
    l2k_release(plan->context, plan->planes);
    l2k_release(plan->context, plan->views);
    l2k_release(plan->context, plan->components);
    l2k_release(plan->context, plan->wavelets);
    l2k_release(plan->context, plan);
}

/* The origin matters only through its parity at each level, that is modulo 2^levels. */
static bool same_side(uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1, unsigned levels)
{
    uint32_t mask = levels < 32 ? ((uint32_t)1 << levels) - 1 : UINT32_MAX;
    return a1 - a0 == b1 - b0 && ((a0 ^ b0) & mask) == 0;
}

/* Whether two parts of subbands have the same size, and the part read has the same place in them. */
static bool same_part(const l2k_plan_component *a, const l2k_plan_component *b, unsigned band)
{
    const l2k_rect in_a = l2k_read_part(a, band), in_b = l2k_read_part(b, band);
    const l2k_rect of_a = l2k_held_part(a, band), of_b = l2k_held_part(b, band);
    return l2k_rect_width(of_a) == l2k_rect_width(of_b) && l2k_rect_height(of_a) == l2k_rect_height(of_b) &&
           in_a.x0 - of_a.x0 == in_b.x0 - of_b.x0 && in_a.y0 - of_a.y0 == in_b.y0 - of_b.y0 &&
           l2k_rect_width(in_a) == l2k_rect_width(in_b) && l2k_rect_height(in_a) == l2k_rect_height(in_b);
}

static bool same_windows(const l2k_plan_component *a, const l2k_plan_component *b, unsigned discard)
{
    if (same_place(a, b)) /* the rest follows, and most windows equal the last image's */
        return true;
    for (unsigned level = discard + 1; level <= a->levels; level++) {
        const l2k_level of_a = l2k_level_of(a, level), of_b = l2k_level_of(b, level);
        if (memcmp(&of_a, &of_b, sizeof of_a) != 0)
            return false;
    }
    for (unsigned band = 0; band <= 3 * (a->levels - discard); band++)
        if (!same_part(a, b, band))
            return false;
    return true;
}

static bool same_geometry(const l2k_plan_component *a, const l2k_plan_component *b, unsigned discard)
{
    if (l2k_has_window(a) || l2k_has_window(b))
        return l2k_has_window(a) == l2k_has_window(b) && same_windows(a, b, discard);
    return same_side(a->rect.x0, a->rect.x1, b->rect.x0, b->rect.x1, a->levels) &&
           same_side(a->rect.y0, a->rect.y1, b->rect.y0, b->rect.y1, a->levels);
}

static bool component_fits(l2k_direction direction, const l2k_plan_component *a, const l2k_plan_component *b)
{
    if (a->dy != b->dy || a->levels != b->levels || !l2k_same_splits(a->unsplit, b->unsplit, a->levels) ||
        !same_wavelet(a, b) || a->precision != b->precision || a->is_signed != b->is_signed ||
        a->narrow_low != b->narrow_low)
        return false;
    unsigned discard = l2k_discarded(direction, a);
    if (discard != l2k_discarded(direction, b))
        return false;
    if (!same_geometry(a, b, discard))
        return false;
    if (!l2k_wavelet_get(a->wavelet)->quantised)
        return true;
    for (unsigned band = 0; band <= 3 * (a->levels - discard); band++)
        if (a->steps[band] != b->steps[band])
            return false;
    return true;
}

bool l2k_plan_fits(const l2k_plan *plan, const l2k_plan_spec *spec)
{
    const l2k_plan_spec *own = &plan->spec;
    if (own->direction != spec->direction || own->type != spec->type || own->memory != spec->memory ||
        own->by_rows != spec->by_rows || own->strip_samples != spec->strip_samples ||
        own->truncates != spec->truncates || !own->cpu_reason != !spec->cpu_reason ||
        own->component_transform != spec->component_transform || own->num_components != spec->num_components)
        return false;
    for (uint32_t c = 0; c < spec->num_components; c++)
        if (!component_fits(spec->direction, &own->components[c], &spec->components[c]) ||
            (plan->keeps_rows && !same_place(&own->components[c], &spec->components[c])))
            return false;
    return true;
}

uint64_t l2k_plan_host_bytes(const l2k_plan_spec *spec, unsigned threads)
{
    const uint64_t count = spec->num_components;
    const size_t wavelets = count_wavelets(spec);
    return (wavelets ? l2k_allocation_bytes(wavelets, sizeof(l2k_wavelet_descriptor)) : 0) +
           l2k_allocation_bytes(1, sizeof(l2k_plan)) + l2k_allocation_bytes(count, sizeof(l2k_plan_component)) +
           l2k_allocation_bytes(count, sizeof(l2k_coefficients)) + l2k_allocation_bytes(count, sizeof(l2k_plane)) +
           l2k_cpu_bytes(spec, threads);
}

const l2k_coefficients *l2k_plan_coefficients(const l2k_plan *plan, uint32_t c)
{
    return &plan->views[c];
}

/* Float samples need float values and no component transform. Devices take them in their own memory only. */
static l2k_status check_planes(const l2k_plan *plan, const l2k_plane *planes)
{
    const bool crosses = plan->backend->device && !l2k_plan_on_device(&plan->spec);
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        const bool joined = plan->spec.component_transform && c < 3, is_float = planes[c].type == L2K_SAMPLE_F32;
        if ((unsigned)planes[c].type > L2K_SAMPLE_F32 ||
            (is_float && (joined || !l2k_wavelet_get(plan->components[c].wavelet)->is_float)))
            return l2k_fail(plan->context, L2K_ERROR_ARGUMENT,
                            "component %u: its transform does not take samples of this type", (unsigned)c);
        if (is_float && crosses)
            return l2k_fail(plan->context, L2K_ERROR_ARGUMENT, "%s: float samples must be in device memory",
                            l2k_backend_name(plan->backend->kind));
    }
    return L2K_OK;
}

static l2k_status keep_planes(l2k_plan *plan, const l2k_plane *planes)
{
    L2K_TRY(check_planes(plan, planes));
    memcpy(plan->planes, planes, plan->spec.num_components * sizeof *planes);
    return L2K_OK;
}

l2k_status l2k_plan_begin(l2k_plan *plan, const l2k_plane *planes)
{
    if (plan->under_way)
        return l2k_fail(plan->context, L2K_ERROR_STATE, "a transform plan was begun twice");
    if (planes)
        L2K_TRY(keep_planes(plan, planes));
    L2K_TRY(plan->backend->begin(plan, planes));
    plan->under_way = true;
    return L2K_OK;
}

l2k_status l2k_plan_finish(l2k_plan *plan)
{
    if (!plan->under_way)
        return l2k_fail(plan->context, L2K_ERROR_STATE, "a transform plan was finished that had not begun");
    plan->under_way = false;
    return plan->backend->finish ? plan->backend->finish(plan, plan->planes) : L2K_OK;
}

bool l2k_plan_is_by_rows(const l2k_plan *plan)
{
    return plan->spec.by_rows && !plan->backend->device;
}

l2k_status l2k_plan_take_planes(l2k_plan *plan, const l2k_plane *planes)
{
    L2K_TRY(keep_planes(plan, planes));
    l2k_cpu_take_planes(plan);
    return L2K_OK;
}

l2k_status l2k_plan_run(l2k_plan *plan, const l2k_plane *planes)
{
    L2K_TRY(l2k_plan_begin(plan, planes));
    return l2k_plan_finish(plan);
}

l2k_status l2k_plan_run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream)
{
    if (!l2k_plan_on_device(&plan->spec))
        return l2k_fail(plan->context, L2K_ERROR_STATE, "this transform plan works on host memory");
    L2K_TRY(check_planes(plan, planes));
    return plan->backend->run_on_device(plan, planes, stream);
}
