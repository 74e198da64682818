/* Opening a file: from a stream, which is read to its end, in memory, or in parts. */
#include "base/memory.h"
#include "codec/decode/decoder.h"

/* The signature box, or SOC. */
enum { ENOUGH_TO_DETECT = 12 };

static l2k_status check_kind(const l2k_context *context, const uint8_t *data, size_t bytes)
{
    if (l2k_jp2_detect(data, bytes) || (bytes >= 2 && data[0] == 0xFF && data[1] == 0x4F))
        return L2K_OK;
    return l2k_fail(context, L2K_ERROR_FORMAT, "neither a JP2 file nor a JPEG 2000 codestream");
}

/* Reads the stream to its end, unless its start shows that it is no picture. */
static l2k_status read_all(l2k_decoder *decoder, const l2k_stream *stream)
{
    const l2k_context *context = &decoder->context;
    l2k_buffer *file = &decoder->file;
    uint64_t limit = (uint64_t)decoder->options[L2K_DECODER_LIMIT_BYTES];
    if (!stream || !stream->read)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "no stream to read from");
    for (;;) {
        L2K_TRY(l2k_poll(context, L2K_POLL_NOW));
        L2K_TRY(l2k_check_memory(context, l2k_buffer_grow(file, 1 << 16), "the file"));
        ptrdiff_t got = stream->read(stream->user, file->data + file->size, file->capacity - file->size);
        if (got < 0)
            return l2k_fail(context, L2K_ERROR_IO, "reading failed");
        if (got == 0)
            return L2K_OK;
        bool was_checked = file->size >= ENOUGH_TO_DETECT;
        file->size += (size_t)got;
        if (!was_checked && file->size >= ENOUGH_TO_DETECT)
            L2K_TRY(check_kind(context, file->data, file->size));
        if (file->size > limit)
            return l2k_fail(context, L2K_ERROR_LIMIT, "the file has more than %llu bytes", (unsigned long long)limit);
    }
}

/* Data kept from other files may take at most half of the limit while this one is opened. */
static void set_limit(l2k_decoder *decoder, uint64_t limit)
{
    decoder->pool.limit = limit;
    if (decoder->pool.in_use + decoder->pool.idle > limit / 2)
        l2k_decoder_drop(decoder);
}

l2k_status l2k_decoder_open_bytes(l2k_decoder *decoder, const uint8_t *data, size_t bytes)
{
    const l2k_context *context = &decoder->context;
    if (bytes == 0)
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the file is empty");
    decoder->data = data;
    decoder->file_bytes =
        decoder->is_pushed && !decoder->has_ended && bytes < L2K_ARRIVING_BYTES ? L2K_ARRIVING_BYTES : bytes;
    L2K_TRY(l2k_need_header(context, data, ENOUGH_TO_DETECT, data + bytes));
    set_limit(decoder, l2k_decoder_memory_limit(decoder));
    L2K_TRY(check_kind(context, data, bytes));
    return l2k_decode_headers(decoder, data, bytes);
}

void l2k_decoder_start_opening(l2k_decoder *decoder)
{
    l2k_decoder_close(decoder);
    decoder->opened++;
    l2k_run_start(&decoder->run, 0, decoder->options[L2K_DECODER_TIMINGS]);
    int64_t limit = decoder->options[L2K_DECODER_LIMIT_MEMORY];
    l2k_pool_start_call(&decoder->pool, &decoder->context.hooks, limit ? (uint64_t)limit : UINT64_MAX);
    set_limit(decoder, decoder->pool.limit);
}

l2k_status l2k_decoder_finish_opening(l2k_decoder *decoder, l2k_status status)
{
    decoder->is_open = status == L2K_OK;
    if (status != L2K_OK) {
        l2k_decoder_close(decoder);
        l2k_decoder_drop(decoder);
    }
    return status;
}

l2k_status l2k_decoder_open(l2k_decoder *decoder, const l2k_stream *stream)
{
    l2k_decoder_start_opening(decoder);
    double start = l2k_stage_start(&decoder->context);
    l2k_status status = read_all(decoder, stream);
    if (status == L2K_OK)
        status = l2k_decoder_open_bytes(decoder, decoder->file.data, decoder->file.size);
    l2k_stage_end(&decoder->context, L2K_STAGE_READ, start);
    return l2k_decoder_finish_opening(decoder, status);
}

static l2k_status check_file(const l2k_decoder *decoder, bool is_given, uint64_t bytes)
{
    if (!is_given)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "no file to read from");
    if (bytes == 0)
        return l2k_fail(&decoder->context, L2K_ERROR_TRUNCATED, "the file is empty");
    if (bytes > (uint64_t)decoder->options[L2K_DECODER_LIMIT_BYTES])
        return l2k_fail(&decoder->context, L2K_ERROR_LIMIT, "a file of %llu bytes is more than the limit allows",
                        (unsigned long long)bytes);
    return L2K_OK;
}

l2k_status l2k_decoder_open_memory(l2k_decoder *decoder, const void *data, size_t bytes)
{
    l2k_decoder_start_opening(decoder);
    double start = l2k_stage_start(&decoder->context);
    l2k_status status = check_file(decoder, data, bytes);
    if (status == L2K_OK)
        status = l2k_decoder_open_bytes(decoder, data, bytes);
    l2k_stage_end(&decoder->context, L2K_STAGE_READ, start);
    return l2k_decoder_finish_opening(decoder, status);
}

l2k_status l2k_decoder_open_file(l2k_decoder *decoder, const l2k_file *file)
{
    l2k_decoder_start_opening(decoder);
    double start = l2k_stage_start(&decoder->context);
    l2k_status status = check_file(decoder, file && file->read_at, file ? file->bytes : 0);
    if (status == L2K_OK)
        status = l2k_partial_open(&decoder->context, file, &decoder->parts);
    if (status == L2K_OK) {
        decoder->context.partial = &decoder->parts;
        status = l2k_decoder_open_bytes(decoder, decoder->parts.data, (size_t)file->bytes);
    }
    l2k_stage_end(&decoder->context, L2K_STAGE_READ, start);
    return l2k_decoder_finish_opening(decoder, status);
}

void l2k_decoder_read_count(const l2k_decoder *decoder, uint64_t *bytes, uint64_t *calls)
{
    *bytes = decoder->context.partial ? decoder->parts.bytes : 0;
    *calls = decoder->context.partial ? decoder->parts.calls : 0;
}

/* Copies another decoder's packet indices; if memory runs out, the decoder builds its own. */
static void copy_indices(l2k_decoder *decoder, const l2k_decoder *opened)
{
    const uint32_t count = opened->codestream.num_tiles;
    if (!opened->indices || count != decoder->codestream.num_tiles)
        return;
    decoder->indices = l2k_allocate_zeroed(&decoder->context, count, sizeof *decoder->indices);
    for (uint32_t t = 0; decoder->indices && t < count; t++)
        if (opened->indices[t])
            decoder->indices[t] = l2k_packet_index_copy(&decoder->context, opened->indices[t]);
}

l2k_status l2k_decoder_open_again(l2k_decoder *decoder, const l2k_decoder *opened)
{
    if (!opened || !opened->is_open || opened->file.data || opened == decoder)
        return l2k_fail(&decoder->context, L2K_ERROR_STATE, "no file in memory or in parts has been opened");
    L2K_TRY(opened->context.partial ? l2k_decoder_open_file(decoder, &opened->parts.file)
                                    : l2k_decoder_open_memory(decoder, opened->data, (size_t)opened->file_bytes));
    copy_indices(decoder, opened);
    return L2K_OK;
}

static l2k_status decode_opened(l2k_decoder *decoder, l2k_image *image)
{
    if (decoder->options[L2K_DECODER_MEMORY] != L2K_MEMORY_HOST)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "planes of the decoder's own are in host memory");
    L2K_TRY(l2k_decoder_image(decoder, image));
    L2K_TRY(l2k_decoder_take_planes(decoder, image));
    return l2k_decoder_decode(decoder, decoder->memory_planes);
}

l2k_status l2k_decoder_decode_memory(l2k_decoder *decoder, const void *data, size_t bytes, l2k_image *image,
                                     const l2k_plane **planes)
{
    if (planes)
        *planes = NULL;
    if (!image || !planes)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "nowhere to return the image to");
    L2K_TRY(l2k_decoder_open_memory(decoder, data, bytes));
    const l2k_status status = decode_opened(decoder, image);
    if (status != L2K_OK && status != L2K_INCOMPLETE)
        return l2k_decoder_finish_opening(decoder, status); /* closes the file */
    *planes = decoder->memory_planes;
    return status;
}
