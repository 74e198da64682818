/* Several images encoded at once, each by an encoder of its own. */
#include <string.h>

#include "base/object.h"
#include "codec/encode/encoder.h"
#include "codec/encode/start.h"

static void *create(const l2k_hooks *hooks)
{
    return l2k_encoder_new(hooks);
}

static void release(void *coder)
{
    l2k_encoder_free(coder);
}

static bool same_layers(const l2k_encoder *a, const l2k_encoder *b)
{
    return a->target_kind == b->target_kind && a->num_targets == b->num_targets &&
           (!a->num_targets || memcmp(a->targets, b->targets, a->num_targets * sizeof *a->targets) == 0);
}

static bool same_changes(const l2k_encoder *a, const l2k_encoder *b)
{
    return a->num_poc == b->num_poc && (!a->num_poc || memcmp(a->poc, b->poc, a->num_poc * sizeof *a->poc) == 0);
}

static bool same_comment(const l2k_encoder *a, const l2k_encoder *b)
{
    return a->comment && b->comment ? strcmp(a->comment, b->comment) == 0 : a->comment == b->comment;
}

static l2k_status settle(void *coder, const void *opaque, unsigned threads, unsigned in_flight, int device)
{
    l2k_encoder *worker = coder;
    const l2k_encoder *owner = opaque;
    memcpy(worker->options, owner->options, sizeof worker->options);
    worker->given = owner->given;
    worker->fixed_by = owner->fixed_by;
    worker->frames_per_second = owner->frames_per_second;
    worker->options[L2K_ENCODER_THREADS] = threads;
    worker->options[L2K_ENCODER_IN_FLIGHT] = in_flight;
    worker->options[L2K_ENCODER_DEVICE] = device;
    worker->options[L2K_ENCODER_DEVICES] = 0;
    worker->pool.limit = owner->pool.limit;
    worker->own = owner->own;
    worker->unsplit = owner->unsplit;
    worker->num_splits = owner->num_splits;
    memcpy(worker->precincts, owner->precincts, sizeof worker->precincts);
    worker->num_precincts = owner->num_precincts;
    worker->base_step = owner->base_step;
    worker->palette = owner->palette;
    worker->planes_stream = owner->planes_stream;
    worker->choice.seen = owner->choice.seen;
    if (!same_changes(worker, owner))
        L2K_TRY(l2k_encoder_set_poc(worker, owner->poc, owner->num_poc));
    if (!same_comment(worker, owner))
        L2K_TRY(l2k_encoder_set_comment(worker, owner->comment));
    return same_layers(worker, owner)
               ? L2K_OK
               : l2k_encoder_set_layers(worker, owner->target_kind, owner->targets, owner->num_targets);
}

static void code(void *coder, void *items, size_t number)
{
    l2k_encode_item *item = (l2k_encode_item *)items + number;
    item->status = l2k_encoder_encode(coder, item->image, item->planes, item->stream);
}

static void timings(const void *coder, double seconds[L2K_NUM_STAGES])
{
    l2k_encoder_timings(coder, seconds);
}

/* With AUTO, the CPU may have encoded the image after a failure. */
static bool lost_device(const void *coder, const void *items, size_t number, bool *failed)
{
    const l2k_encode_item *item = (const l2k_encode_item *)items + number;
    *failed = item->status == L2K_ERROR_BACKEND || item->status == L2K_ERROR_MEMORY;
    return *failed || l2k_choice_has_failed(&((const l2k_encoder *)coder)->choice);
}

static const l2k_batch_kind kind = {create, release, settle, code, lost_device, timings};

/* Images are checked only when they are encoded. */
static l2k_batch_shape shape_of(l2k_encoder *encoder, const l2k_encode_item *items, size_t count)
{
    const int64_t *options = encoder->options;
    uint64_t all = 0;
    l2k_batch_shape shape = {
        .count = count, .threads = encoder->context.threads, .wanted = (unsigned)options[L2K_ENCODER_IN_FLIGHT]};
    for (size_t i = 0; i < count; i++) {
        const uint64_t samples = items[i].image ? l2k_image_samples(items[i].image) : 0;
        shape.samples = samples > shape.samples ? samples : shape.samples;
        all += samples < UINT64_MAX - all ? samples : 0;
    }
    l2k_choice_start_image(&encoder->choice, options[L2K_ENCODER_GPU_MIN_SAMPLES], false,
                           options[L2K_ENCODER_STYLE] & L2K_STYLE_HT, all);
    shape.on_device = options[L2K_ENCODER_MEMORY] != L2K_MEMORY_HOST ||
                      l2k_backend_overlaps(&encoder->context, (l2k_backend)options[L2K_ENCODER_BACKEND], shape.samples);
    return shape;
}

static l2k_status encode_batch(l2k_encoder *encoder, l2k_encode_item *items, size_t count)
{
    const int64_t *options = encoder->options;
    l2k_encode_end(encoder, L2K_OK);
    if (!items && count)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "no images to encode");
    encoder->context.threads = l2k_thread_count((unsigned)options[L2K_ENCODER_THREADS]);
    l2k_run_start(&encoder->run, l2k_batch_units(count), options[L2K_ENCODER_TIMINGS]);
    for (size_t i = 0; i < count; i++)
        items[i].status = L2K_ERROR_CANCELLED;
    if (!count)
        return L2K_OK;
    l2k_status status = l2k_object_check_memory(&encoder->context, options[L2K_ENCODER_MEMORY]); /* for all workers */
    if (status == L2K_OK) {
        const l2k_batch_shape shape = shape_of(encoder, items, count);
        status = l2k_batch_workers_run(&encoder->batch, &kind, encoder, &encoder->context, &shape, items);
    }
    for (size_t i = 0; status != L2K_OK && i < count; i++)
        items[i].status = status;
    for (size_t i = 0; i < count; i++)
        L2K_TRY(items[i].status);
    return L2K_OK;
}

l2k_status l2k_encoder_encode_batch(l2k_encoder *encoder, l2k_encode_item *items, size_t count)
{
    const int before = l2k_encode_enter(encoder);
    const l2k_status status = encode_batch(encoder, items, count);
    l2k_engine_leave(before);
    return status;
}
