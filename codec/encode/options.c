/* The options of an encoder, its creation and its release. */
#include "codec/encode/encoder.h"

#include <string.h>

#include "base/integer.h"

const l2k_option_rule l2k_encoder_rules[] = {
    [L2K_ENCODER_FORMAT] = {"format", 0, L2K_FORMAT_CODESTREAM, L2K_FORMAT_JP2},
    [L2K_ENCODER_WAVELET] = {"wavelet", 0, L2K_WAVELET_W4, L2K_WAVELET_5_3},
    [L2K_ENCODER_LEVELS] = {"number of decomposition levels", 0, L2K_MAX_LEVELS, 5},
    [L2K_ENCODER_TILE_WIDTH] = {"tile width", 0, UINT32_MAX, 0},
    [L2K_ENCODER_TILE_HEIGHT] = {"tile height", 0, UINT32_MAX, 0},
    [L2K_ENCODER_TILE_X0] = {"tile origin", 0, UINT32_MAX - 1, 0},
    [L2K_ENCODER_TILE_Y0] = {"tile origin", 0, UINT32_MAX - 1, 0},
    [L2K_ENCODER_BLOCK_WIDTH] = {"code-block width", 4, 1024, 64},
    [L2K_ENCODER_BLOCK_HEIGHT] = {"code-block height", 4, 1024, 64},
    [L2K_ENCODER_PROGRESSION] = {"progression order", 0, L2K_CPRL, L2K_LRCP},
    [L2K_ENCODER_STYLE] = {"code-block style", 0, 127, 0},
    [L2K_ENCODER_COMPONENT_TRANSFORM] = {"component transform", 0, 1, 1},
    [L2K_ENCODER_SOP] = {"SOP", 0, 1, 0},
    [L2K_ENCODER_EPH] = {"EPH", 0, 1, 0},
    [L2K_ENCODER_PLT] = {"PLT", 0, 1, 0},
    [L2K_ENCODER_TLM] = {"TLM", 0, 1, 0},
    [L2K_ENCODER_TILE_PARTS] = {"tile-part division", 0, L2K_TILE_PARTS_COMPONENT, L2K_TILE_PARTS_ONE},
    [L2K_ENCODER_THREADS] = {"number of threads", 0, 1024, 0},
    [L2K_ENCODER_BACKEND] = {"backend", 0, L2K_BACKEND_OPENCL, L2K_BACKEND_AUTO},
    [L2K_ENCODER_LIMIT_SAMPLES] = {"limit of samples", 0, INT64_MAX, (int64_t)1 << 36},
    [L2K_ENCODER_GPU_MIN_SAMPLES] = {"number of samples for the GPU", L2K_GPU_WHERE_FASTER, INT64_MAX,
                                     L2K_GPU_WHERE_WORTH},
    [L2K_ENCODER_LIMIT_MEMORY] = {"limit of memory", 0, INT64_MAX, (int64_t)1 << 62},
    [L2K_ENCODER_TIMINGS] = {"timings", 0, 1, 0},
    [L2K_ENCODER_CPU] = {"instruction set", 0, L2K_CPU_SIMD128, L2K_CPU_AUTO},
    [L2K_ENCODER_HT_PASSES] = {"number of HT coding passes", 1, 3, 1},
    [L2K_ENCODER_MEMORY] = {"memory", 0, L2K_MEMORY_DEVICE, L2K_MEMORY_HOST},
    [L2K_ENCODER_IN_FLIGHT] = {"number of images in flight", 0, L2K_MOST_BATCH_WORKERS, 0},
    [L2K_ENCODER_DEVICE] = {"device", -1, L2K_MOST_DEVICES - 1, -1},
    [L2K_ENCODER_DEVICES] = {"set of devices", 0, INT64_MAX, 0},
    [L2K_ENCODER_GUARD_BITS] = {"number of guard bits", 1, 7, L2K_GUARD_BITS},
    [L2K_ENCODER_ROI_COMPONENT] = {"component of interest", -1, L2K_MAX_COMPONENTS - 1, -1},
    [L2K_ENCODER_ROI_SHIFT] = {"shift of a region of interest", 0, 37, 0},
    [L2K_ENCODER_BY_TILE] = {"tile by tile", 0, 1, 0},
    [L2K_ENCODER_PROFILE] = {"profile", 0, 65535, 0},
    [L2K_ENCODER_MAX_BYTES] = {"limit of bytes", 0, INT64_MAX, 0},
    [L2K_ENCODER_COMPONENT_BYTES] = {"limit of bytes of a component", 0, INT64_MAX, 0},
    [L2K_ENCODER_QUALITY] = {"quality factor", 0, 100, 0},
    [L2K_ENCODER_VISUAL] = {"viewing distance", 0, 16000, 0},
};

static const l2k_object_kind object_kind = {.bytes = sizeof(l2k_encoder),
                                            .choice = offsetof(l2k_encoder, choice),
                                            .pool = offsetof(l2k_encoder, pool),
                                            .run = offsetof(l2k_encoder, run),
                                            .options = offsetof(l2k_encoder, options),
                                            .rules = l2k_encoder_rules,
                                            .num_options = L2K_ENCODER_NUM_OPTIONS};

l2k_encoder *l2k_encoder_new(const l2k_hooks *hooks)
{
    return l2k_object_create(&object_kind, hooks);
}

void l2k_encoder_free(l2k_encoder *encoder)
{
    if (!encoder)
        return;
    l2k_batch_workers_release(&encoder->batch);
    const int before = l2k_engine_enter(&encoder->context);
    l2k_encode_end(encoder, L2K_ERROR_CANCELLED);
    l2k_engine_leave(before);
    l2k_release(&encoder->context, encoder->memory.data);
    l2k_release(&encoder->context, encoder->targets);
    l2k_release(&encoder->context, encoder->poc);
    l2k_release(&encoder->context, encoder->comment);
    l2k_object_free(&object_kind, encoder);
}

/* The file's head states options, which must hold to its end. */
static l2k_status check_idle(const l2k_encoder *encoder)
{
    if (!encoder->has_image)
        return L2K_OK;
    return l2k_fail(&encoder->context, L2K_ERROR_STATE, "options cannot change between begin and end of an image");
}

l2k_status l2k_encoder_set(l2k_encoder *encoder, l2k_encoder_option option, int64_t value)
{
    const l2k_context *context = &encoder->context;
    L2K_TRY(check_idle(encoder));
    bool block = option == L2K_ENCODER_BLOCK_WIDTH || option == L2K_ENCODER_BLOCK_HEIGHT;
    if (block && !l2k_is_power_of_two((uint64_t)value))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%s %lld is not a power of two", l2k_encoder_rules[option].name,
                        (long long)value);
    int64_t *wavelet = &encoder->options[L2K_ENCODER_WAVELET];
    const int64_t before = *wavelet;
    L2K_TRY(l2k_object_set(&object_kind, encoder, option, value));
    if (option == L2K_ENCODER_LIMIT_MEMORY)
        encoder->pool.limit = (uint64_t)value;
    encoder->given |= (uint64_t)1 << option;
    if (option != L2K_ENCODER_WAVELET || value <= L2K_WAVELET_9_7)
        return L2K_OK;
    *wavelet = before;
    return l2k_wavelet_take_kernel(context, &l2k_wavelet_get((l2k_wavelet)value)->kernel, &encoder->own, wavelet);
}

l2k_status l2k_encoder_set_profile(l2k_encoder *encoder, uint32_t rsiz, double frames_per_second)
{
    bool fixes;
    L2K_TRY(l2k_profile_check(&encoder->context, rsiz, frames_per_second, &fixes));
    L2K_TRY(l2k_encoder_set(encoder, L2K_ENCODER_PROFILE, rsiz));
    encoder->fixed_by = fixes ? rsiz : 0;
    encoder->frames_per_second = frames_per_second;
    return L2K_OK;
}

l2k_status l2k_encoder_set_kernel(l2k_encoder *encoder, const char *text)
{
    l2k_kernel own;
    L2K_TRY(check_idle(encoder));
    L2K_TRY(l2k_kernel_parse(&encoder->context, text, &own));
    encoder->given |= (uint64_t)1 << L2K_ENCODER_WAVELET;
    return l2k_wavelet_take_kernel(&encoder->context, &own, &encoder->own, &encoder->options[L2K_ENCODER_WAVELET]);
}

l2k_status l2k_encoder_set_splits(l2k_encoder *encoder, const char *text)
{
    L2K_TRY(check_idle(encoder));
    return l2k_splits_parse(&encoder->context, text, &encoder->unsplit, &encoder->num_splits);
}

l2k_status l2k_encoder_set_precincts(l2k_encoder *encoder, const l2k_size *sizes, size_t count)
{
    const l2k_context *context = &encoder->context;
    L2K_TRY(check_idle(encoder));
    if (count > L2K_MAX_LEVELS + 1)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%zu precinct sizes, at most %u are possible", count,
                        L2K_MAX_LEVELS + 1);
    for (size_t i = 0; i < count; i++)
        if (!l2k_is_power_of_two(sizes[i].width) || !l2k_is_power_of_two(sizes[i].height) || sizes[i].width > 32768 ||
            sizes[i].height > 32768)
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "precinct size %u,%u: powers of two up to 32768 are possible",
                            sizes[i].width, sizes[i].height);
    if (count)
        memcpy(encoder->precincts, sizes, count * sizeof *sizes);
    encoder->num_precincts = count;
    return L2K_OK;
}

/* Each target must exceed the one before it; after "everything", the same again gives empty layers. */
static l2k_status check_targets(const l2k_context *context, l2k_target kind, const double *targets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (targets[i] != targets[i] || targets[i] < 0 || targets[i] > 1e9)
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "impossible layer target %g", targets[i]);
        if (i == 0)
            continue;
        bool finer = kind == L2K_TARGET_RATIO ? targets[i] < targets[i - 1] : targets[i] > targets[i - 1];
        if (!l2k_target_is_everything(kind, targets[i]) && (!finer || l2k_target_is_everything(kind, targets[i - 1])))
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "layer target %g after %g: every layer must be finer",
                            targets[i], targets[i - 1]);
    }
    return L2K_OK;
}

l2k_status l2k_encoder_set_layers(l2k_encoder *encoder, l2k_target kind, const double *targets, size_t count)
{
    const l2k_context *context = &encoder->context;
    L2K_TRY(check_idle(encoder));
    if (kind != L2K_TARGET_RATIO && kind != L2K_TARGET_PSNR)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "unknown kind of layer target %d", (int)kind);
    if (count > 65535)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%zu layers, at most 65535 are possible", count);
    L2K_TRY(check_targets(context, kind, targets, count));
    double *copy = NULL;
    if (count) {
        copy = l2k_allocate(context, count, sizeof *copy);
        L2K_TRY(l2k_check_memory(context, copy, "%zu layers", count));
        memcpy(copy, targets, count * sizeof *copy);
    }
    l2k_release(context, encoder->targets);
    encoder->targets = copy;
    encoder->num_targets = count;
    encoder->target_kind = kind;
    return L2K_OK;
}

l2k_status l2k_encoder_set_step(l2k_encoder *encoder, double base)
{
    L2K_TRY(check_idle(encoder));
    if (base != 0 && !(base >= 0x1p-24 && base <= 1))
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "a base step of %g, 2^-24 to 1 are possible", base);
    encoder->base_step = base;
    return L2K_OK;
}

l2k_status l2k_encoder_set_palette(l2k_encoder *encoder, const uint8_t *entries, size_t count, unsigned channels)
{
    L2K_TRY(check_idle(encoder));
    if (count > L2K_MOST_ENTRIES || (count && (!entries || (channels != 3 && channels != 4))))
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT,
                        "a palette of %zu entries of %u channels: at most %u of 3 or 4 are possible", count, channels,
                        (unsigned)L2K_MOST_ENTRIES);
    encoder->palette.num_entries = (uint32_t)count;
    encoder->palette.num_columns = channels;
    if (count)
        memcpy(encoder->palette.values, entries, count * channels);
    return L2K_OK;
}

l2k_status l2k_encoder_set_poc(l2k_encoder *encoder, const l2k_poc *entries, size_t count)
{
    l2k_poc *copy;
    L2K_TRY(check_idle(encoder));
    L2K_TRY(l2k_poc_copy(&encoder->context, entries, count, &copy));
    l2k_release(&encoder->context, encoder->poc);
    encoder->poc = copy;
    encoder->num_poc = count;
    return L2K_OK;
}

/* Lcom counts itself and Rcom. */
enum { MOST_COMMENT_BYTES = 65535 - 4 };

l2k_status l2k_encoder_set_comment(l2k_encoder *encoder, const char *text)
{
    const l2k_context *context = &encoder->context;
    const size_t bytes = text ? strlen(text) : 0;
    char *copy = NULL;
    L2K_TRY(check_idle(encoder));
    if (bytes > MOST_COMMENT_BYTES)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "a comment of %zu bytes, at most %u are possible", bytes,
                        (unsigned)MOST_COMMENT_BYTES);
    if (text) {
        copy = l2k_allocate(context, bytes + 1, 1);
        L2K_TRY(l2k_check_memory(context, copy, "a comment"));
        memcpy(copy, text, bytes + 1);
    }
    l2k_release(context, encoder->comment);
    encoder->comment = copy;
    return L2K_OK;
}

void l2k_encoder_set_stream(l2k_encoder *encoder, void *stream)
{
    encoder->planes_stream = stream;
}

void l2k_encoder_timings(const l2k_encoder *encoder, double seconds[L2K_NUM_STAGES])
{
    l2k_run_timings(&encoder->run, seconds);
}
