/* Records what the block coder is given to decode. Blocks without bytes are left out: whether such a block has passes
 * is an encoder's choice. */
#include "conformance/ht/codes.h"

#include <stdlib.h>
#include <string.h>

#include "codec/blocks/block_coder.h"

static _Thread_local block_codes *recording;

/* Room for `needed` elements. */
static void *grow(void *block, size_t needed, size_t *most, size_t size)
{
    if (needed <= *most)
        return block;
    *most = 2 * needed;
    block = realloc(block, *most * size);
    if (!block)
        abort();
    return block;
}

static void record_block(const l2k_block_place *place)
{
    const l2k_block *block = place->block;
    const l2k_rect r = block->rect;
    const l2k_subband *band = place->band;
    block_codes *to = recording;
    const size_t size = (size_t)block->received.bytes;
    if (size == 0)
        return;
    to->blocks = grow(to->blocks, to->count + 1, &to->most_blocks, sizeof *to->blocks);
    to->all = grow(to->all, to->size + size, &to->most_bytes, 1);
    to->blocks[to->count++] =
        (block_code){band->component->index, band->resolution,  band->orientation, r.x0, r.y0, r.x1, r.y1,
                     block->num_planes,      block->num_passes, to->size,          size};
    for (const l2k_contribution *c = block->received.first; c; c = c->next) {
        if (c->bytes)
            memcpy(to->all + to->size, c->data, c->bytes);
        to->size += c->bytes;
    }
}

l2k_status __real_l2k_cpu_coder_run(l2k_block_coder *coder, const l2k_block_batch *batch, size_t most,
                                    l2k_cpu_block_work *work);
l2k_status __wrap_l2k_cpu_coder_run(l2k_block_coder *coder, const l2k_block_batch *batch, size_t most,
                                    l2k_cpu_block_work *work);

l2k_status __wrap_l2k_cpu_coder_run(l2k_block_coder *coder, const l2k_block_batch *batch, size_t most,
                                    l2k_cpu_block_work *work)
{
    for (size_t i = 0; recording && i < batch->num_places; i++)
        record_block(&batch->places[i]);
    return __real_l2k_cpu_coder_run(coder, batch, most, work);
}

static l2k_status decode(l2k_decoder *decoder, const uint8_t *data, size_t size)
{
    l2k_image image;
    L2K_TRY(l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1)); /* the blocks come in this thread */
    L2K_TRY(l2k_decoder_open_memory(decoder, data, size));
    L2K_TRY(l2k_decoder_image(decoder, &image));
    l2k_plane *planes = calloc(image.num_components, sizeof *planes);
    for (uint32_t c = 0; planes && c < image.num_components; c++) {
        const l2k_component *k = &image.components[c];
        planes[c] = (l2k_plane){malloc((size_t)k->width * k->height * 4), (ptrdiff_t)k->width * 4, 4, L2K_SAMPLE_S32};
    }
    l2k_status status = planes ? l2k_decoder_decode(decoder, planes) : L2K_ERROR_MEMORY;
    for (uint32_t c = 0; planes && c < image.num_components; c++)
        free(planes[c].data);
    free(planes);
    return status;
}

bool block_codes_read(const uint8_t *data, size_t size, block_codes *codes)
{
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    *codes = (block_codes){0};
    recording = codes;
    l2k_status status = decoder ? decode(decoder, data, size) : L2K_ERROR_MEMORY;
    recording = NULL;
    l2k_decoder_free(decoder);
    return status == L2K_OK;
}

void block_codes_free(block_codes *codes)
{
    free(codes->blocks);
    free(codes->all);
    *codes = (block_codes){0};
}

static bool same_place(const block_code *a, const block_code *b)
{
    return a->component == b->component && a->resolution == b->resolution && a->orientation == b->orientation &&
           a->x0 == b->x0 && a->y0 == b->y0 && a->x1 == b->x1 && a->y1 == b->y1;
}

size_t block_codes_compare(const block_codes *a, const block_codes *b)
{
    size_t i = 0, j = 0;
    for (; i < a->count; i++, j++) {
        const block_code *k = &a->blocks[i], *m = b->blocks;
        while (j < b->count && !same_place(k, &m[j]))
            j++;
        if (j == b->count || k->num_planes != m[j].num_planes || k->num_passes != m[j].num_passes ||
            k->size != m[j].size || memcmp(a->all + k->offset, b->all + m[j].offset, k->size) != 0)
            return i;
    }
    return i;
}
