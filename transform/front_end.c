/* l2k_transform, the transform stage of the public header: an object with options around a plan. */
#include "transform/front_end.h"

#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "base/sample.h"
#include "quant/steps.h"
#include "transform/backend.h"
#include "transform/layout.h"

static const l2k_option_rule rules[] = {
    [L2K_TRANSFORM_DIRECTION] = {"direction", 0, L2K_INVERSE, L2K_FORWARD},
    [L2K_TRANSFORM_WAVELET] = {"wavelet", 0, L2K_WAVELET_W4, L2K_WAVELET_5_3},
    [L2K_TRANSFORM_LEVELS] = {"number of decomposition levels", 0, L2K_MAX_LEVELS, 5},
    [L2K_TRANSFORM_REDUCE] = {"number of resolutions to leave out", 0, L2K_MAX_LEVELS, 0},
    [L2K_TRANSFORM_COMPONENT_TRANSFORM] = {"component transform", 0, 1, 0},
    [L2K_TRANSFORM_COEFFICIENTS] = {"coefficient type", 0, L2K_COEFFICIENT_FLOAT32, L2K_COEFFICIENT_INT32},
    [L2K_TRANSFORM_MEMORY] = {"memory", 0, L2K_MEMORY_DEVICE, L2K_MEMORY_HOST},
    [L2K_TRANSFORM_BACKEND] = {"backend", 0, L2K_BACKEND_OPENCL, L2K_BACKEND_AUTO},
    [L2K_TRANSFORM_THREADS] = {"number of threads", 0, 1024, 0},
    [L2K_TRANSFORM_LIMIT_SAMPLES] = {"limit of samples", 0, INT64_MAX, (int64_t)1 << 36},
    [L2K_TRANSFORM_GPU_MIN_SAMPLES] = {"number of samples for the GPU", 0, INT64_MAX, L2K_GPU_MIN_SAMPLES},
    [L2K_TRANSFORM_CPU] = {"instruction set", 0, L2K_CPU_SIMD128, L2K_CPU_AUTO},
    [L2K_TRANSFORM_DEVICE] = {"device", -1, L2K_MOST_DEVICES - 1, -1},
};

static const l2k_object_kind kind = {.bytes = sizeof(l2k_transform),
                                     .choice = offsetof(l2k_transform, choice),
                                     .options = offsetof(l2k_transform, options),
                                     .rules = rules,
                                     .num_options = L2K_TRANSFORM_NUM_OPTIONS};

/* ---- Life and options ---------------------------------------------------------------------------------------- */

l2k_transform *l2k_transform_new(const l2k_hooks *hooks)
{
    return l2k_object_create(&kind, hooks);
}

/* The plan is on the context's device. */
static void forget_tile(l2k_transform *t)
{
    const int before = l2k_device_enter(&t->context);
    l2k_plan_free(t->plan);
    l2k_device_leave(before);
    t->plan = NULL;
    l2k_tile_spec_release(&t->context, &t->tile);
}

/* Removes the steps of a component from the list. */
static void forget_steps(l2k_transform *t, uint32_t component)
{
    for (l2k_own_steps **at = &t->own_steps; *at; at = &(*at)->next)
        if ((*at)->component == component) {
            l2k_own_steps *own = *at;
            *at = own->next;
            l2k_release(&t->context, own);
            return;
        }
}

void l2k_transform_free(l2k_transform *transform)
{
    if (!transform)
        return;
    forget_tile(transform);
    while (transform->own_steps)
        forget_steps(transform, transform->own_steps->component);
    l2k_object_free(&kind, transform);
}

l2k_status l2k_transform_set(l2k_transform *transform, l2k_transform_option option, int64_t value)
{
    int64_t *wavelet = &transform->options[L2K_TRANSFORM_WAVELET];
    const int64_t before = *wavelet;
    transform->changed = true;
    L2K_TRY(l2k_object_set(&kind, transform, option, value));
    if (option != L2K_TRANSFORM_WAVELET || value <= L2K_WAVELET_9_7)
        return L2K_OK;
    *wavelet = before;
    return l2k_wavelet_take_kernel(&transform->context, &l2k_wavelet_get((l2k_wavelet)value)->kernel, &transform->own,
                                   wavelet);
}

l2k_status l2k_transform_set_kernel(l2k_transform *transform, const char *text)
{
    l2k_kernel own;
    L2K_TRY(l2k_kernel_parse(&transform->context, text, &own));
    transform->changed = true;
    return l2k_wavelet_take_kernel(&transform->context, &own, &transform->own,
                                   &transform->options[L2K_TRANSFORM_WAVELET]);
}

l2k_status l2k_transform_set_splits(l2k_transform *transform, const char *text)
{
    transform->changed = true;
    return l2k_splits_parse(&transform->context, text, &transform->unsplit, &transform->num_splits);
}

static l2k_status check_steps(const l2k_context *context, uint32_t component, const l2k_step *steps, size_t count)
{
    if (component != L2K_ALL_COMPONENTS && component >= L2K_MAX_COMPONENTS)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "there is no component %u", (unsigned)component);
    if (count > L2K_MAX_SUBBANDS || (count && !steps))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%zu quantiser steps, at most %u are possible", count,
                        L2K_MAX_SUBBANDS);
    for (size_t i = 0; i < count; i++)
        if (steps[i].exponent > 31 || steps[i].mantissa > 2047)
            return l2k_fail(context, L2K_ERROR_ARGUMENT,
                            "subband %zu: no quantiser step has exponent %u and mantissa %u", i, steps[i].exponent,
                            steps[i].mantissa);
    return L2K_OK;
}

l2k_status l2k_transform_set_steps(l2k_transform *transform, uint32_t component, const l2k_step *steps, size_t count)
{
    const l2k_context *context = &transform->context;
    l2k_own_steps *own = NULL;
    L2K_TRY(check_steps(context, component, steps, count));
    if (count) {
        own = l2k_allocate(context, 1, sizeof *own);
        L2K_TRY(l2k_check_memory(context, own, "quantiser steps"));
        memcpy(own->steps, steps, count * sizeof *steps);
        own->component = component;
        own->count = (uint32_t)count;
    }
    forget_steps(transform, component);
    transform->changed = true;
    if (own) {
        own->next = transform->own_steps;
        transform->own_steps = own;
    }
    return L2K_OK;
}

l2k_status l2k_transform_set_region(l2k_transform *transform, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1)
{
    if (x0 >= x1 || y0 >= y1)
        return l2k_fail(&transform->context, L2K_ERROR_ARGUMENT, "an empty region");
    transform->region = (l2k_rect){x0, y0, x1, y1};
    return L2K_OK;
}

/* ---- Preparing ----------------------------------------------------------------------------------------------- */

/* The backend for planes in device memory: the named one, else CUDA. */
static l2k_backend device_backend(const l2k_transform *t)
{
    const l2k_backend named = (l2k_backend)t->options[L2K_TRANSFORM_BACKEND];
    return named >= L2K_BACKEND_CUDA ? named : L2K_BACKEND_CUDA;
}

l2k_status l2k_transform_device_bytes(const l2k_transform *transform, const l2k_image *tile, uint64_t *bytes)
{
    const l2k_backend backend = device_backend(transform);
    const l2k_backend_functions *functions = l2k_backend_functions_of(backend);
    l2k_tile_spec spec;
    L2K_TRY(l2k_tile_spec_make(transform, tile, &spec));
    *bytes = functions ? functions->device->bytes(&spec.plan) : 0;
    l2k_tile_spec_release(&transform->context, &spec);
    return functions ? L2K_OK
                     : l2k_fail(&transform->context, L2K_ERROR_BACKEND, L2K_NO_BACKEND, l2k_backend_name(backend));
}

static l2k_status make_plan(l2k_transform *t, const l2k_plan_spec *spec)
{
    l2k_backend backend = (l2k_backend)t->options[L2K_TRANSFORM_BACKEND];
    if (l2k_plan_on_device(spec) && backend == L2K_BACKEND_AUTO)
        backend = device_backend(t);
    t->context.threads = l2k_thread_count((unsigned)t->options[L2K_TRANSFORM_THREADS]);
    t->context.cpu = (l2k_cpu)t->options[L2K_TRANSFORM_CPU];
    t->context.devices = l2k_object_devices(backend, t->options[L2K_TRANSFORM_DEVICE], 0);
    l2k_choice_start(&t->choice, t->options[L2K_TRANSFORM_GPU_MIN_SAMPLES]);
    const int before = l2k_device_enter(&t->context);
    return l2k_device_left(before, l2k_plan_create(&t->context, backend, spec, &t->plan));
}

l2k_status l2k_transform_prepare(l2k_transform *transform, const l2k_image *tile)
{
    l2k_tile_spec spec;
    l2k_status status = l2k_tile_spec_make(transform, tile, &spec);
    if (status == L2K_OK && transform->plan && !transform->changed && l2k_plan_fits(transform->plan, &spec.plan)) {
        l2k_tile_spec_release(&transform->context, &transform->tile);
        transform->tile = spec;
        return L2K_OK;
    }
    forget_tile(transform);
    if (status != L2K_OK)
        return status;
    transform->tile = spec;
    status = make_plan(transform, &spec.plan);
    if (status != L2K_OK)
        forget_tile(transform);
    transform->changed = false;
    return status;
}

/* ---- The prepared transform ---------------------------------------------------------------------------------- */

static l2k_status check_component(const l2k_transform *t, uint32_t component)
{
    if (!t->plan)
        return l2k_fail(&t->context, L2K_ERROR_STATE, "the transform has not been prepared");
    if (component >= t->tile.plan.num_components)
        return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "component %u of only %u", (unsigned)component,
                        (unsigned)t->tile.plan.num_components);
    return L2K_OK;
}

l2k_backend l2k_transform_backend(const l2k_transform *transform)
{
    return transform->plan ? l2k_plan_backend(transform->plan) : L2K_BACKEND_AUTO;
}

const l2k_coefficients *l2k_transform_coefficients(const l2k_transform *transform, uint32_t component)
{
    return check_component(transform, component) == L2K_OK ? l2k_plan_coefficients(transform->plan, component) : NULL;
}

l2k_status l2k_transform_subband(const l2k_transform *transform, uint32_t component, uint32_t band,
                                 l2k_subband_info *subband)
{
    L2K_TRY(check_component(transform, component));
    uint32_t bands = l2k_plan_coefficients(transform->plan, component)->num_bands;
    if (band >= bands)
        return l2k_fail(&transform->context, L2K_ERROR_ARGUMENT, "subband %u of only %u", (unsigned)band,
                        (unsigned)bands);
    const l2k_plan_component *c = &transform->tile.components[component];
    l2k_step step = transform->tile.steps[(size_t)component * transform->tile.bands + band];
    *subband = l2k_describe_band(c, band, step, L2K_GUARD_BITS);
    return L2K_OK;
}

/* ---- Running ------------------------------------------------------------------------------------------------- */

static l2k_status check_prepared(const l2k_transform *t, l2k_direction direction, bool on_device)
{
    L2K_TRY(check_component(t, 0)); /* there is a plan */
    if (t->tile.plan.direction != direction)
        return l2k_fail(&t->context, L2K_ERROR_STATE, "the transform has been prepared for the other direction");
    if (l2k_plan_on_device(&t->tile.plan) != on_device)
        return l2k_fail(&t->context, L2K_ERROR_STATE, "the transform has been prepared for %s memory",
                        on_device ? "the host's" : "device");
    return L2K_OK;
}

static bool is_aligned(const l2k_plane *plane)
{
    uintptr_t all = (uintptr_t)plane->data | (uintptr_t)plane->row_stride | (uintptr_t)plane->sample_stride;
    return all % l2k_sample_bytes(plane->type) == 0;
}

l2k_status l2k_plane_check(const l2k_context *context, const l2k_plane *plane, const l2k_plan_component *component,
                           bool has_samples, uint32_t c)
{
    if (!plane->data && has_samples)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "component %u: no samples", (unsigned)c);
    /* The plan checks whether float samples are possible. */
    if (plane->type != L2K_SAMPLE_F32 &&
        !l2k_sample_type_holds(plane->type, component->precision, component->is_signed))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "component %u: its sample type cannot hold a precision of %u",
                        (unsigned)c, component->precision);
    if (!is_aligned(plane))
        return l2k_fail(context, L2K_ERROR_ARGUMENT,
                        "component %u: data and strides must be multiples of the sample's size", (unsigned)c);
    return L2K_OK;
}

static l2k_status check_planes(const l2k_transform *t, const l2k_plane *planes)
{
    if (!planes)
        return l2k_fail(&t->context, L2K_ERROR_ARGUMENT, "no planes");
    for (uint32_t c = 0; c < t->tile.plan.num_components; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(t->plan, c);
        L2K_TRY(l2k_plane_check(&t->context, &planes[c], &t->tile.components[c], view->width && view->height, c));
    }
    return L2K_OK;
}

static l2k_status run(l2k_transform *t, l2k_direction direction, const l2k_plane *planes, bool on_device, void *stream)
{
    L2K_TRY(check_prepared(t, direction, on_device));
    L2K_TRY(check_planes(t, planes));
    const int before = l2k_device_enter(&t->context);
    return l2k_device_left(before,
                           on_device ? l2k_plan_run_on_device(t->plan, planes, stream) : l2k_plan_run(t->plan, planes));
}

l2k_status l2k_transform_forward(l2k_transform *transform, const l2k_plane *planes)
{
    return run(transform, L2K_FORWARD, planes, false, NULL);
}

l2k_status l2k_transform_inverse(l2k_transform *transform, const l2k_plane *planes)
{
    return run(transform, L2K_INVERSE, planes, false, NULL);
}

l2k_status l2k_transform_forward_on_device(l2k_transform *transform, const l2k_plane *planes, void *stream)
{
    return run(transform, L2K_FORWARD, planes, true, stream);
}

l2k_status l2k_transform_inverse_on_device(l2k_transform *transform, const l2k_plane *planes, void *stream)
{
    return run(transform, L2K_INVERSE, planes, true, stream);
}
