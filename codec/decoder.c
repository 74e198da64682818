#include "codec/decoder.h"

#include <string.h>

#include "base/memory.h"
#include "base/object.h"

static const l2k_option_rule rules[] = {
    [L2K_DECODER_REDUCE] = {"number of resolutions to leave out", 0, L2K_MAX_LEVELS, 0},
    [L2K_DECODER_LAYERS] = {"number of layers", 0, 65535, 0},
    [L2K_DECODER_COMPONENT] = {"component", -1, L2K_MAX_COMPONENTS - 1, -1},
    [L2K_DECODER_THREADS] = {"number of threads", 0, 1024, 0},
    [L2K_DECODER_BACKEND] = {"backend", 0, L2K_BACKEND_CUDA, L2K_BACKEND_AUTO},
    [L2K_DECODER_LIMIT_SAMPLES] = {"limit of samples", 0, INT64_MAX, 0},
    [L2K_DECODER_LIMIT_BYTES] = {"limit of bytes", 0, INT64_MAX, (int64_t)1 << 40},
    [L2K_DECODER_GPU_MIN_SAMPLES] = {"number of samples for the GPU", 0, INT64_MAX, L2K_GPU_MIN_SAMPLES},
    [L2K_DECODER_STRICT] = {"strictness", 0, 1, 0},
    [L2K_DECODER_LIMIT_MEMORY] = {"limit of memory", 0, INT64_MAX, 0},
    [L2K_DECODER_TIMINGS] = {"timings", 0, 1, 0},
    [L2K_DECODER_LIMIT_COMPONENTS] = {"limit of components", 1, L2K_MAX_COMPONENTS, L2K_MAX_COMPONENTS},
    [L2K_DECODER_LIMIT_TILES] = {"limit of tiles", 1, 65535, 65535},
    [L2K_DECODER_CPU] = {"instruction set", 0, L2K_CPU_NEON, L2K_CPU_AUTO},
};

l2k_decoder *l2k_decoder_new(const l2k_hooks *hooks)
{
    l2k_context context = {.threads = 1};
    if (hooks)
        context.hooks = *hooks;
    l2k_decoder *decoder = l2k_allocate_zeroed(&context, 1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->context = context;
    decoder->context.choice = &decoder->choice;
    decoder->context.pool = &decoder->pool;
    decoder->context.run = &decoder->run;
    l2k_pool_init(&decoder->pool, UINT64_MAX);
    l2k_options_reset(rules, L2K_DECODER_NUM_OPTIONS, decoder->options);
    return decoder;
}

static void close_file(l2k_decoder *decoder)
{
    decoder->is_open = false;
    l2k_codestream_close(&decoder->codestream);
    l2k_jp2_close(&decoder->jp2);
    l2k_release(&decoder->context, decoder->outputs);
    l2k_release(&decoder->context, decoder->components);
    l2k_release(&decoder->context, decoder->memory);
    l2k_release(&decoder->context, decoder->memory_planes);
    decoder->memory = decoder->memory_planes = NULL;
    decoder->outputs = NULL;
    decoder->components = NULL;
    decoder->num_outputs = 0;
    decoder->next_tile = 0;
    decoder->file.context = &decoder->context;
    l2k_buffer_release(&decoder->file);
}

void l2k_decoder_drop(l2k_decoder *decoder)
{
    l2k_workers_release(&decoder->workers);
    l2k_pool_drain(&decoder->pool, &decoder->context.hooks);
}

void l2k_decoder_free(l2k_decoder *decoder)
{
    if (!decoder)
        return;
    close_file(decoder);
    l2k_workers_release(&decoder->workers);
    l2k_pool_end(&decoder->pool, &decoder->context.hooks);
    l2k_context context = {.hooks = decoder->context.hooks};
    l2k_release(&context, decoder);
}

l2k_status l2k_decoder_set(l2k_decoder *decoder, l2k_decoder_option option, int64_t value)
{
    return l2k_option_set(&decoder->context, rules, L2K_DECODER_NUM_OPTIONS, decoder->options, option, value);
}

l2k_status l2k_decoder_set_region(l2k_decoder *decoder, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1)
{
    if (x0 >= x1 || y0 >= y1)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "region %u,%u,%u,%u is empty", x0, y0, x1, y1);
    decoder->region = (l2k_rect){x0, y0, x1, y1};
    decoder->has_region = true;
    return L2K_OK;
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

/* The signature box, or SOC. */
enum { ENOUGH_TO_DETECT = 12 };

static l2k_status check_kind(const l2k_context *context, const uint8_t *data, size_t bytes)
{
    if (l2k_jp2_detect(data, bytes) || (bytes >= 2 && data[0] == 0xFF && data[1] == 0x4F))
        return L2K_OK;
    return l2k_fail(context, L2K_ERROR_FORMAT, "neither a JP2 file nor a JPEG 2000 codestream");
}

/* What is no picture is not read to its end. */
static l2k_status read_all(l2k_decoder *decoder, const l2k_stream *stream)
{
    const l2k_context *context = &decoder->context;
    l2k_buffer *file = &decoder->file;
    uint64_t limit = (uint64_t)decoder->options[L2K_DECODER_LIMIT_BYTES];
    for (;;) {
        L2K_TRY(l2k_check_run(context));
        if (!l2k_buffer_grow(file, 1 << 16))
            return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the file");
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

/* A file that was read into memory counts as well. */
uint64_t l2k_decoder_memory_limit(const l2k_decoder *decoder)
{
    uint64_t limit = l2k_limit_memory(decoder->options[L2K_DECODER_LIMIT_MEMORY], decoder->file_bytes);
    bool by_size = decoder->options[L2K_DECODER_LIMIT_MEMORY] == 0;
    return by_size ? limit + decoder->file.capacity : limit;
}

/* What is kept of a larger file must not stand in the way of this one. */
static void lower_limit(l2k_decoder *decoder)
{
    decoder->pool.limit = l2k_decoder_memory_limit(decoder);
    if (l2k_pool_exceeds(&decoder->pool))
        l2k_decoder_drop(decoder);
}

static l2k_status open_bytes(l2k_decoder *decoder, const uint8_t *data, size_t bytes)
{
    const l2k_context *context = &decoder->context;
    if (bytes == 0)
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the file is empty");
    bool strict = decoder->options[L2K_DECODER_STRICT];
    l2k_sample_limits size = l2k_limit_samples(decoder->options[L2K_DECODER_LIMIT_SAMPLES], bytes);
    decoder->file_bytes = bytes;
    lower_limit(decoder);
    L2K_TRY(check_kind(context, data, bytes));
    decoder->is_jp2 = l2k_jp2_detect(data, bytes);
    if (decoder->is_jp2) {
        L2K_TRY(l2k_jp2_open(context, data, bytes, strict, &decoder->jp2));
        data += decoder->jp2.codestream_at;
        bytes = decoder->jp2.codestream_bytes;
    }
    l2k_codestream_limits limits = {size, (uint32_t)decoder->options[L2K_DECODER_LIMIT_COMPONENTS],
                                    (uint32_t)decoder->options[L2K_DECODER_LIMIT_TILES], strict};
    L2K_TRY(l2k_codestream_open(context, data, bytes, &limits, &decoder->codestream));
    if (decoder->is_jp2)
        L2K_TRY(l2k_jp2_settle_palette(&decoder->jp2, decoder->codestream.siz.num_components));
    L2K_TRY(l2k_decoder_plan_outputs(decoder));
    return l2k_decoder_check_outputs(decoder, &size);
}

static void start_opening(l2k_decoder *decoder)
{
    close_file(decoder);
    l2k_run_start(&decoder->run, 0, decoder->options[L2K_DECODER_TIMINGS]);
    int64_t limit = decoder->options[L2K_DECODER_LIMIT_MEMORY];
    l2k_pool_start_job(&decoder->pool, &decoder->context.hooks, limit ? (uint64_t)limit : UINT64_MAX);
    if (l2k_pool_exceeds(&decoder->pool))
        l2k_decoder_drop(decoder);
}

static l2k_status finish_opening(l2k_decoder *decoder, l2k_status status)
{
    decoder->is_open = status == L2K_OK;
    if (status != L2K_OK) {
        close_file(decoder);
        l2k_decoder_drop(decoder);
    }
    return status;
}

l2k_status l2k_decoder_open(l2k_decoder *decoder, const l2k_stream *stream)
{
    start_opening(decoder);
    if (!stream || !stream->read)
        return finish_opening(decoder, l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "no stream to read from"));
    double start = l2k_stage_start(&decoder->context);
    l2k_status status = read_all(decoder, stream);
    if (status == L2K_OK)
        status = open_bytes(decoder, decoder->file.data, decoder->file.size);
    l2k_stage_end(&decoder->context, L2K_STAGE_READ, start);
    return finish_opening(decoder, status);
}

l2k_status l2k_decoder_open_memory(l2k_decoder *decoder, const void *data, size_t bytes)
{
    const l2k_context *context = &decoder->context;
    start_opening(decoder);
    if (!data)
        return finish_opening(decoder, l2k_fail(context, L2K_ERROR_ARGUMENT, "no file to read from"));
    if (bytes > (uint64_t)decoder->options[L2K_DECODER_LIMIT_BYTES])
        return finish_opening(
            decoder, l2k_fail(context, L2K_ERROR_LIMIT, "a file of %zu bytes is more than the limit allows", bytes));
    double start = l2k_stage_start(context);
    l2k_status status = open_bytes(decoder, data, bytes);
    l2k_stage_end(context, L2K_STAGE_READ, start);
    return finish_opening(decoder, status);
}

void l2k_decoder_timings(const l2k_decoder *decoder, double seconds[L2K_NUM_STAGES])
{
    l2k_run_timings(&decoder->run, seconds);
}
