/* The choice of L2K_BACKEND_AUTO, and what a run remembers of it. */
#include "transform/choice.h"

#include "transform/layout.h"

void l2k_choice_start(l2k_choice *choice, int64_t gpu_min_samples)
{
    choice->gpu_min_samples = gpu_min_samples;
    atomic_init(&choice->gpu_failed, false);
    atomic_init(&choice->cpu_noted, false);
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
    l2k_note(context, "%s; the CPU does its work",
             status == L2K_ERROR_MEMORY ? "the GPU has too little memory" : "the GPU failed");
}

void l2k_choice_miss(const l2k_context *context, const char *reason)
{
    if (!context->choice || !atomic_exchange(&context->choice->gpu_failed, true))
        l2k_note(context, "CUDA: no usable GPU: %s; the CPU does the work", reason);
}

void l2k_choice_note_cpu(const l2k_context *context, const char *reason)
{
    if (!context->choice || !atomic_exchange(&context->choice->cpu_noted, true))
        l2k_note(context, "%s", reason);
}
