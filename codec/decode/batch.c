/* Several images decoded at once, each by a decoder of its own. */
#include <string.h>

#include "base/object.h"
#include "codec/decode/decoder.h"
#include "codec/decode/options.h"

static void *create(const l2k_hooks *hooks)
{
    return l2k_decoder_new(hooks);
}

static void release(void *coder)
{
    l2k_decoder_free(coder);
}

static l2k_status settle(void *coder, const void *opaque, unsigned threads, unsigned in_flight, int device)
{
    l2k_decoder *worker = coder;
    const l2k_decoder *owner = opaque;
    memcpy(worker->options, owner->options, sizeof worker->options);
    worker->options[L2K_DECODER_THREADS] = threads;
    worker->options[L2K_DECODER_IN_FLIGHT] = in_flight;
    worker->options[L2K_DECODER_DEVICE] = device;
    worker->options[L2K_DECODER_DEVICES] = 0;
    worker->has_region = owner->has_region;
    worker->region = owner->region;
    worker->stream = owner->stream;
    worker->choice.seen = owner->choice.seen;
    return L2K_OK;
}

/* Closes the file when done, since its bytes then belong to the caller again. */
static void code(void *coder, void *items, size_t number)
{
    l2k_decode_item *item = (l2k_decode_item *)items + number;
    item->status = l2k_decoder_open_memory(coder, item->data, item->bytes);
    if (item->status == L2K_OK)
        item->status = l2k_decoder_decode(coder, item->planes);
    l2k_decoder_close(coder);
}

static void timings(const void *coder, double seconds[L2K_NUM_STAGES])
{
    l2k_decoder_timings(coder, seconds);
}

/* With AUTO, the CPU may have decoded the image after a failure. */
static bool lost_device(const void *coder, const void *items, size_t number, bool *failed)
{
    const l2k_decode_item *item = (const l2k_decode_item *)items + number;
    *failed = item->status == L2K_ERROR_BACKEND || item->status == L2K_ERROR_MEMORY;
    return *failed || l2k_choice_has_failed(&((const l2k_decoder *)coder)->choice);
}

static const l2k_batch_kind kind = {create, release, settle, code, lost_device, timings};

/* ---- How large the images are ------------------------------------------------------------------------------------ */

static uint64_t big_endian(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* A file with more boxes before its codestream counts as unreadable. */
enum { MOST_BOXES = 64 };

/* Finds the codestream, which may follow boxes (I.4); NULL if the file has none. */
static const uint8_t *find_codestream(const uint8_t *at, const uint8_t *end)
{
    for (int i = 0; i < MOST_BOXES && (size_t)(end - at) >= 16; i++) {
        const uint64_t length = big_endian(at, 4);
        const bool is_long = length == 1;
        const uint64_t bytes = is_long ? big_endian(at + 8, 8) : length;
        if (at[0] == 0xFF)
            return at;
        if (memcmp(at + 4, "jp2c", 4) == 0)
            return at + (is_long ? 16 : 8);
        if (bytes < 8 || bytes > (size_t)(end - at))
            return NULL;
        at += bytes;
    }
    return NULL;
}

/* Samples of all components by SIZ (A.5.1), sub-sampling ignored; 0 without SIZ. Only the number of workers depends on
 * it. */
static uint64_t samples_of(const l2k_decode_item *item, bool *ht)
{
    const uint8_t *end = item->data ? (const uint8_t *)item->data + item->bytes : NULL;
    const uint8_t *at = item->data ? find_codestream(item->data, end) : NULL;
    if (!at || end - at < 42 || big_endian(at, 4) != 0xFF4FFF51)
        return 0;
    const uint64_t x1 = big_endian(at + 8, 4), y1 = big_endian(at + 12, 4), x0 = big_endian(at + 16, 4),
                   y0 = big_endian(at + 20, 4), components = big_endian(at + 40, 2);
    if (x1 <= x0 || y1 <= y0 || components > L2K_MAX_COMPONENTS)
        return 0;
    *ht = at[6] & 0x40; /* Rsiz: CAP follows */
    const uint64_t area = (x1 - x0) * (y1 - y0);
    return area < UINT64_MAX >> 14 ? area * components : UINT64_MAX;
}

/* A batch of HT files and any MQ file counts as MQ. */
static l2k_batch_shape shape_of(l2k_decoder *decoder, const l2k_decode_item *items, size_t count)
{
    const int64_t *options = decoder->options;
    const int64_t reduce = options[L2K_DECODER_REDUCE] < 31 ? options[L2K_DECODER_REDUCE] : 31;
    bool all_ht = true;
    uint64_t all = 0;
    l2k_batch_shape shape = {
        .count = count, .threads = decoder->context.threads, .wanted = (unsigned)options[L2K_DECODER_IN_FLIGHT]};
    for (size_t i = 0; i < count; i++) {
        bool ht = true;
        const uint64_t samples = samples_of(&items[i], &ht) >> 2 * reduce;
        all_ht = all_ht && ht;
        all += samples < UINT64_MAX - all ? samples : 0;
        shape.samples = samples > shape.samples ? samples : shape.samples;
    }
    l2k_choice_start_image(&decoder->choice, options[L2K_DECODER_GPU_MIN_SAMPLES], true, all_ht, all);
    shape.on_device = options[L2K_DECODER_MEMORY] != L2K_MEMORY_HOST ||
                      l2k_backend_overlaps(&decoder->context, (l2k_backend)options[L2K_DECODER_BACKEND], shape.samples);
    return shape;
}

/* The first failure in the list; else whether any image is incomplete. */
static l2k_status outcome(const l2k_decode_item *items, size_t count)
{
    l2k_status status = L2K_OK;
    for (size_t i = 0; i < count; i++) {
        if (items[i].status != L2K_OK && items[i].status != L2K_INCOMPLETE)
            return items[i].status;
        status = items[i].status == L2K_INCOMPLETE ? L2K_INCOMPLETE : status;
    }
    return status;
}

l2k_status l2k_decoder_decode_batch(l2k_decoder *decoder, l2k_decode_item *items, size_t count)
{
    const int64_t *options = decoder->options;
    if (!items && count)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "no images to decode");
    decoder->context.threads = l2k_thread_count((unsigned)options[L2K_DECODER_THREADS]);
    l2k_run_start(&decoder->run, l2k_batch_units(count), options[L2K_DECODER_TIMINGS]);
    for (size_t i = 0; i < count; i++)
        items[i].status = L2K_ERROR_CANCELLED;
    if (!count)
        return L2K_OK;
    const int before = l2k_decoder_enter(decoder);
    l2k_status status = l2k_object_check_memory(&decoder->context, options[L2K_DECODER_MEMORY]);
    if (status == L2K_OK) { /* for all workers: each has one device */
        const l2k_batch_shape shape = shape_of(decoder, items, count);
        status = l2k_batch_workers_run(&decoder->batch, &kind, decoder, &decoder->context, &shape, items);
    }
    l2k_engine_leave(before);
    for (size_t i = 0; status != L2K_OK && i < count; i++)
        items[i].status = status;
    return outcome(items, count);
}
