/* Several images decoded at once, each by a decoder of its own. */
#include <string.h>

#include "codec/decode/decoder.h"

static void *create(const l2k_hooks *hooks)
{
    return l2k_decoder_new(hooks);
}

static void release(void *coder)
{
    l2k_decoder_free(coder);
}

static l2k_status settle(void *coder, const void *opaque)
{
    l2k_decoder *worker = coder;
    const l2k_decoder *owner = opaque;
    worker->has_region = owner->has_region;
    worker->region = owner->region;
    worker->stream = owner->stream;
    return L2K_OK;
}

/* Closes the file when done, since its bytes then belong to the caller again. */
static l2k_status code(void *coder, const void *opaque)
{
    const l2k_decode_item *item = opaque;
    l2k_status status = l2k_decoder_open_memory(coder, item->data, item->bytes);
    if (status == L2K_OK)
        status = l2k_decoder_decode(coder, item->planes);
    l2k_decoder_close(coder);
    return status;
}

/* ---- How large the images are ------------------------------------------------------------------------------------ */

/* Samples of all components by SIZ (A.5.1), sub-sampling ignored; 0 without SIZ. Only the choice of processor and the
 * number of workers depend on it. */
static uint64_t samples_of(const void *owner, const void *opaque, bool *ht)
{
    enum { LEAST = 42 }; /* bytes up to the number of components */
    const uint32_t SOC_AND_SIZ = 0xFF4FFF51;
    const l2k_decode_item *item = opaque;
    const int64_t reduce = ((const l2k_decoder *)owner)->options[L2K_DECODER_REDUCE];
    const uint8_t *at = item->data, *end = at ? at + item->bytes : NULL;
    while (at && end - at >= LEAST && l2k_get_be(at, 4) != SOC_AND_SIZ) /* boxes may come before them (I.4) */
        at = memchr(at + 1, SOC_AND_SIZ >> 24, (size_t)(end - at - 1));
    if (!at || end - at < LEAST)
        return 0;
    const uint64_t x1 = l2k_get_be(at + 8, 4), y1 = l2k_get_be(at + 12, 4), x0 = l2k_get_be(at + 16, 4),
                   y0 = l2k_get_be(at + 20, 4), components = l2k_get_be(at + 40, 2);
    if (x1 <= x0 || y1 <= y0 || components > L2K_MAX_COMPONENTS)
        return 0;
    *ht = at[6] & 0x40; /* Rsiz: CAP follows */
    const uint64_t area = (x1 - x0) * (y1 - y0);
    return (area < UINT64_MAX >> 14 ? area * components : UINT64_MAX) >> (reduce < 31 ? 2 * reduce : 62);
}

static const l2k_batch_kind kind = {.decodes = true,
                                    .item_bytes = sizeof(l2k_decode_item),
                                    .status = offsetof(l2k_decode_item, status),
                                    .options = offsetof(l2k_decoder, options),
                                    .num_options = L2K_DECODER_NUM_OPTIONS,
                                    .threads = L2K_DECODER_THREADS,
                                    .in_flight = L2K_DECODER_IN_FLIGHT,
                                    .device = L2K_DECODER_DEVICE,
                                    .devices = L2K_DECODER_DEVICES,
                                    .backend = L2K_DECODER_BACKEND,
                                    .memory = L2K_DECODER_MEMORY,
                                    .min_samples = L2K_DECODER_GPU_MIN_SAMPLES,
                                    .timings = L2K_DECODER_TIMINGS,
                                    .create = create,
                                    .free = release,
                                    .settle = settle,
                                    .code = code,
                                    .samples = samples_of};

l2k_status l2k_decoder_decode_batch(l2k_decoder *decoder, l2k_decode_item *items, size_t count)
{
    const int before = l2k_decoder_enter(decoder);
    return l2k_engine_left(before, l2k_batch_run(&decoder->batch, &kind, decoder, items, count));
}
