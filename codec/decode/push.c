/* Opens a file whose bytes the caller pushes as they arrive. */
#include "codec/decode/tile_state.h"

/* Reads the headers as often as the file has grown by an eighth, until they are complete. */
static l2k_status try_to_open(l2k_decoder *decoder)
{
    const l2k_buffer *file = &decoder->file;
    if (!decoder->has_ended && file->size < decoder->next_try)
        return L2K_INCOMPLETE;
    decoder->next_try = file->size + file->size / 8;
    const l2k_status status = l2k_decoder_open_bytes(decoder, file->data, file->size);
    if (status == L2K_OK || decoder->has_ended)
        return l2k_decoder_finish_opening(decoder, status);
    l2k_decoder_forget_headers(decoder);
    return L2K_INCOMPLETE;
}

/* An open file has grown, and may have moved. */
static l2k_status extend(l2k_decoder *decoder)
{
    const uint8_t *before = decoder->data, *data = decoder->file.data;
    const size_t at = decoder->is_jp2 ? decoder->jp2.codestream_at : 0, size = decoder->file.size;
    const l2k_status status = l2k_codestream_extend(&decoder->codestream, data + at, size - at);
    if (data != before && decoder->rows && decoder->rows->in_strips)
        l2k_tile_move_contributions(&decoder->states[0].tile, before, data);
    if (decoder->jp2.icc)
        decoder->jp2.icc = data + (decoder->jp2.icc - before);
    decoder->data = data;
    if (decoder->has_ended || size > L2K_ARRIVING_BYTES)
        decoder->file_bytes = size;
    return status;
}

/* Appends to the file; *old keeps memory that the file has left. */
static l2k_status append(l2k_decoder *decoder, const void *data, size_t bytes, l2k_buffer *old)
{
    enum { LEAST_BYTES = 1 << 16 };
    l2k_buffer *file = &decoder->file;
    if (bytes > (uint64_t)decoder->options[L2K_DECODER_LIMIT_BYTES] - file->size)
        return l2k_fail(&decoder->context, L2K_ERROR_LIMIT, "the file has more than %llu bytes",
                        (unsigned long long)decoder->options[L2K_DECODER_LIMIT_BYTES]);
    if (bytes > file->capacity - file->size) {
        *old = *file;
        *file = (l2k_buffer){.context = &decoder->context};
        l2k_buffer_reserve(file, old->size + old->size / 2 + bytes + LEAST_BYTES);
        l2k_buffer_append(file, old->data, old->size);
    }
    l2k_buffer_append(file, data, bytes);
    return l2k_buffer_status(file);
}

static l2k_status push(l2k_decoder *decoder, const void *data, size_t bytes)
{
    l2k_buffer old = {.context = &decoder->context};
    l2k_status status = append(decoder, data, bytes, &old);
    const l2k_hooks hooks = decoder->context.hooks;
    if (!decoder->has_ended) /* messages about a file that ends early are kept back until it has ended */
        decoder->context.hooks.message = NULL;
    if (status == L2K_OK)
        status = decoder->is_open ? extend(decoder) : try_to_open(decoder);
    decoder->context.hooks = hooks;
    l2k_buffer_release(&old);
    if (status != L2K_OK || decoder->rows)
        return status;
    l2k_decoder_forget_windows(decoder); /* what they found holds for fewer bytes */
    return L2K_OK;
}

l2k_status l2k_decoder_push(l2k_decoder *decoder, const void *data, size_t bytes)
{
    if (bytes && !data)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "no bytes to push");
    if (!decoder->is_pushed || decoder->has_ended) {
        l2k_decoder_start_opening(decoder);
        decoder->is_pushed = true;
        decoder->next_try = 0;
    }
    decoder->has_ended = bytes == 0;
    l2k_status status = push(decoder, data, bytes);
    if (status == L2K_OK && decoder->rows)
        return l2k_rows_arrive(decoder);
    return status == L2K_OK || status == L2K_INCOMPLETE ? status : l2k_decoder_finish_opening(decoder, status);
}
