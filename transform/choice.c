/* Chooses the backend of a plan for L2K_BACKEND_AUTO, and keeps a run's record of the choice. */
#include "transform/choice.h"

#include "base/cpu.h"
#include "transform/backend.h"
#include "transform/layout.h"

void l2k_choice_start(l2k_choice *choice, int64_t gpu_min_samples)
{
    choice->gpu_min_samples = choice->opencl_min_samples = gpu_min_samples;
    atomic_init(&choice->gpu_failed, false);
    atomic_init(&choice->cpu_noted, false);
}

void l2k_choice_start_part(l2k_choice *part, const l2k_choice *choice)
{
    l2k_choice_start(part, choice->gpu_min_samples);
    part->opencl_min_samples = choice->opencl_min_samples;
}

void l2k_choice_join(l2k_choice *choice, const l2k_choice *part)
{
    if (atomic_load(&part->gpu_failed))
        atomic_store(&choice->gpu_failed, true);
    if (atomic_load(&part->cpu_noted))
        atomic_store(&choice->cpu_noted, true);
}

bool l2k_choice_has_failed(const l2k_choice *choice)
{
    return atomic_load(&choice->gpu_failed);
}

int64_t l2k_gpu_min_samples(bool decodes, bool ht)
{
    static const int64_t measured[2][2] = {{L2K_GPU_MIN_ENCODE_MQ, L2K_GPU_MIN_ENCODE_HT},
                                           {L2K_GPU_MIN_DECODE_MQ, L2K_GPU_MIN_DECODE_HT}};
    return measured[decodes][ht];
}

void l2k_choice_start_image(l2k_choice *choice, int64_t option, bool decodes, bool ht, uint64_t samples)
{
    choice->seen += samples < UINT64_MAX - choice->seen ? samples : UINT64_MAX - choice->seen;
    const bool worth = choice->seen >= (ht ? L2K_GPU_OPENING_HT : L2K_GPU_OPENING_MQ);
    const int64_t least = worth || option == L2K_GPU_WHERE_FASTER ? l2k_gpu_min_samples(decodes, ht) : INT64_MAX;
    l2k_choice_start(choice, option < 0 ? least : option);
    if (option < 0 && !ht)
        choice->opencl_min_samples = INT64_MAX;
    if (option < 0 && ht && decodes && least < L2K_OPENCL_MIN_DECODE_HT)
        choice->opencl_min_samples = L2K_OPENCL_MIN_DECODE_HT;
}

bool l2k_choice_is_settled(const l2k_choice *choice)
{
    return !atomic_load(&choice->gpu_failed) && !atomic_load(&choice->cpu_noted);
}

uint64_t l2k_plan_samples(const l2k_plan_spec *spec)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < spec->num_components; c++) {
        const l2k_plan_component *component = &spec->components[c];
        l2k_rect r = l2k_plan_output(spec->direction, component);
        samples += l2k_rect_area(r);
    }
    return samples;
}

bool l2k_choice_is_gpu(const l2k_choice *choice, uint64_t samples)
{
    if (choice && atomic_load(&choice->gpu_failed))
        return false;
    return samples >= (uint64_t)(choice ? choice->gpu_min_samples : L2K_GPU_MIN_SAMPLES);
}

void l2k_choice_fall_back(const l2k_context *context, l2k_status status)
{
    if (context->choice && atomic_exchange(&context->choice->gpu_failed, true))
        return;
    l2k_note(context, "%s; the CPU does its work",
             status == L2K_ERROR_MEMORY ? "the GPU has too little memory" : "the GPU failed");
}

void l2k_choice_note_cpu(const l2k_context *context, const char *reason)
{
    if (!context->choice || !atomic_exchange(&context->choice->cpu_noted, true))
        l2k_note(context, "%s", reason);
}

/* ---- Plans --------------------------------------------------------------------------------------------------- */

/* Whether AUTO takes a device; an OpenCL CPU only if the caller named it. */
static bool is_chosen(const l2k_backend_functions *functions, int device, char *text, size_t bytes)
{
    return functions && functions->device->usable(device, text, bytes) &&
           (device >= 0 || !functions->device->has_gpu || functions->device->has_gpu());
}

/* The backend of the device that AUTO tries for that many samples, CUDA before OpenCL, or AUTO if it tries none. A
 * missing device is noted only if the caller named it. */
static l2k_backend device_to_try(const l2k_context *context, uint64_t samples)
{
    char text[160];
    const int device = l2k_device_of_share(context, 0);
    l2k_backend backend = L2K_BACKEND_CUDA;
    if (!l2k_choice_is_gpu(context->choice, samples))
        return L2K_BACKEND_AUTO;
    if (is_chosen(l2k_backend_functions_of(backend), device, text, sizeof text))
        return backend;
    const bool worth = !context->choice || samples >= (uint64_t)context->choice->opencl_min_samples;
    if (l2k_backend_functions_of(L2K_BACKEND_OPENCL) && (worth || context->devices) &&
        (device < 0 || (uint32_t)device >= l2k_device_base(L2K_BACKEND_OPENCL))) {
        backend = L2K_BACKEND_OPENCL;
        if (is_chosen(l2k_backend_functions_of(backend), device, text, sizeof text))
            return worth ? backend : L2K_BACKEND_AUTO;
    }
    if (context->devices && !l2k_device_usable(context, backend, text, sizeof text) &&
        (!context->choice || !atomic_exchange(&context->choice->gpu_failed, true)))
        l2k_note(context, "%s: no usable GPU: %s; the CPU does the work", l2k_backend_name(backend), text);
    return L2K_BACKEND_AUTO;
}

l2k_backend l2k_backend_for(const l2k_context *context, l2k_backend backend, uint64_t samples)
{
    backend = backend == L2K_BACKEND_AUTO ? device_to_try(context, samples) : backend;
    return backend == L2K_BACKEND_AUTO ? L2K_BACKEND_CPU : backend;
}

bool l2k_backend_overlaps(const l2k_context *context, l2k_backend backend, uint64_t samples)
{
    return l2k_backend_for(context, backend, samples) >= L2K_BACKEND_CUDA;
}

/* Why only the CPU can do the work: the specification's reason, or the backend's. */
static const char *reason_of(const l2k_context *context, l2k_backend backend, const l2k_plan_spec *spec)
{
    const l2k_backend_functions *functions = l2k_backend_functions_of(backend);
    if (spec->cpu_reason || !functions || !functions->device || !functions->device->cpu_reason)
        return spec->cpu_reason;
    return functions->device->cpu_reason(context, spec);
}

/* The attempt on the device is silent: if it fails, the CPU does the work, which is not an error. */
static l2k_status create_on_either(const l2k_context *context, const l2k_plan_spec *spec, l2k_plan **plan)
{
    const l2k_backend backend = device_to_try(context, l2k_plan_samples(spec));
    const char *reason = reason_of(context, backend, spec);
    if (backend != L2K_BACKEND_AUTO && reason)
        l2k_choice_note_cpu(context, reason);
    if (backend != L2K_BACKEND_AUTO && !reason) {
        l2k_context silent = *context;
        silent.hooks.message = NULL;
        l2k_status status = l2k_plan_create_on(&silent, l2k_backend_functions_of(backend), spec, plan);
        if (status == L2K_OK) {
            l2k_plan_use(*plan, context);
            return L2K_OK;
        }
        if (status == L2K_ERROR_MEMORY || status == L2K_ERROR_BACKEND)
            l2k_choice_fall_back(context, status);
        if (l2k_plan_on_device(spec)) /* the CPU cannot use these planes */
            return status;
    }
    return l2k_plan_create_on(context, &l2k_backend_cpu, spec, plan);
}

static l2k_status require_device(const l2k_context *context, l2k_backend backend)
{
    char text[160];
    if (!l2k_backend_functions_of(backend))
        return l2k_fail(context, L2K_ERROR_BACKEND, L2K_NO_BACKEND, l2k_backend_name(backend));
    if (!l2k_device_usable(context, backend, text, sizeof text))
        return l2k_fail(context, L2K_ERROR_BACKEND, "%s: no usable GPU: %s", l2k_backend_name(backend), text);
    return L2K_OK;
}

l2k_status l2k_plan_create(const l2k_context *context, l2k_backend backend, const l2k_plan_spec *spec, l2k_plan **plan)
{
    *plan = NULL;
    L2K_TRY(l2k_cpu_check(context));
    if ((unsigned)backend > L2K_BACKEND_OPENCL)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "there is no backend %d", (int)backend);
    if (backend == L2K_BACKEND_AUTO)
        return create_on_either(context, spec, plan);
    const l2k_backend_functions *functions = l2k_backend_functions_of(backend);
    const char *reason = backend == L2K_BACKEND_CPU ? NULL : reason_of(context, backend, spec);
    if (reason || !functions) /* the CPU takes the place of a named device, but its absence remains an error */
        L2K_TRY(require_device(context, backend));
    if (reason && l2k_plan_on_device(spec))
        return l2k_fail(context, L2K_ERROR_BACKEND, "%s: %s", l2k_backend_name(backend), reason);
    if (reason)
        l2k_choice_note_cpu(context, reason);
    return l2k_plan_create_on(context, reason ? &l2k_backend_cpu : functions, spec, plan);
}
