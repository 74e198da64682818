/* Several images encoded at once, each by an encoder of its own. */
#include "codec/encode/encoder.h"

#include <string.h>

static void *create(const l2k_hooks *hooks)
{
    return l2k_encoder_new(hooks);
}

static void release(void *coder)
{
    l2k_encoder_free(coder);
}

static l2k_status settle(void *coder, const void *opaque)
{
    l2k_encoder *worker = coder;
    const l2k_encoder *owner = opaque;
    worker->given = owner->given;
    worker->fixed_by = owner->fixed_by;
    worker->frames_per_second = owner->frames_per_second;
    worker->pool.limit = owner->pool.limit;
    worker->own = owner->own;
    worker->unsplit = owner->unsplit;
    worker->num_splits = owner->num_splits;
    memcpy(worker->precincts, owner->precincts, sizeof worker->precincts);
    worker->num_precincts = owner->num_precincts;
    worker->base_step = owner->base_step;
    worker->palette = owner->palette;
    worker->planes_stream = owner->planes_stream;
    L2K_TRY(l2k_encoder_set_poc(worker, owner->poc, owner->num_poc));
    L2K_TRY(l2k_encoder_set_comment(worker, owner->comment));
    return l2k_encoder_set_layers(worker, owner->target_kind, owner->targets, owner->num_targets);
}

static l2k_status code(void *coder, const void *opaque)
{
    const l2k_encode_item *item = opaque;
    return l2k_encoder_encode(coder, item->image, item->planes, item->stream);
}

/* Images are checked only when they are encoded. */
static uint64_t samples_of(const void *owner, const void *opaque, bool *ht)
{
    const l2k_encode_item *item = opaque;
    *ht = ((const l2k_encoder *)owner)->options[L2K_ENCODER_STYLE] & L2K_STYLE_HT;
    return item->image ? l2k_image_samples(item->image) : 0;
}

static const l2k_batch_kind kind = {.item_bytes = sizeof(l2k_encode_item),
                                    .status = offsetof(l2k_encode_item, status),
                                    .options = offsetof(l2k_encoder, options),
                                    .num_options = L2K_ENCODER_NUM_OPTIONS,
                                    .threads = L2K_ENCODER_THREADS,
                                    .in_flight = L2K_ENCODER_IN_FLIGHT,
                                    .device = L2K_ENCODER_DEVICE,
                                    .devices = L2K_ENCODER_DEVICES,
                                    .backend = L2K_ENCODER_BACKEND,
                                    .memory = L2K_ENCODER_MEMORY,
                                    .min_samples = L2K_ENCODER_GPU_MIN_SAMPLES,
                                    .timings = L2K_ENCODER_TIMINGS,
                                    .create = create,
                                    .free = release,
                                    .settle = settle,
                                    .code = code,
                                    .samples = samples_of};

l2k_status l2k_encoder_encode_batch(l2k_encoder *encoder, l2k_encode_item *items, size_t count)
{
    const int before = l2k_encode_enter(encoder);
    l2k_encode_end(encoder, L2K_OK);
    return l2k_engine_left(before, l2k_batch_run(&encoder->batch, &kind, encoder, items, count));
}
