#include "transform/choice.h"

#include "transform/layout.h"

void l2k_choice_start(l2k_choice *choice, int64_t gpu_min_samples)
{
    choice->gpu_min_samples = gpu_min_samples;
    atomic_init(&choice->gpu_failed, false);
    atomic_init(&choice->cpu_told, false);
}

bool l2k_choice_is_settled(const l2k_choice *choice)
{
    return !atomic_load(&choice->gpu_failed) && !atomic_load(&choice->cpu_told);
}

uint64_t l2k_plan_samples(const l2k_plan_spec *spec)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < spec->num_components; c++) {
        const l2k_plan_component *component = &spec->components[c];
        l2k_rect r = l2k_resolution_rect(component->rect, l2k_discarded(spec->direction, component));
        samples += (uint64_t)l2k_rect_width(r) * l2k_rect_height(r);
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
    l2k_note(context, "%s; it runs on the CPU",
             status == L2K_ERROR_MEMORY ? "the GPU's memory does not suffice for the transform"
                                        : "the GPU fails to make the transform ready");
}

void l2k_choice_tell(const l2k_context *context, const char *reason)
{
    if (!context->choice || !atomic_exchange(&context->choice->cpu_told, true))
        l2k_note(context, "%s", reason);
}
