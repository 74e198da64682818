/* The options of a decoder, its creation and its release. */

#include "base/memory.h"
#include "base/object.h"
#include "codec/decode/tile_state.h"

static const l2k_option_rule rules[] = {
    [L2K_DECODER_REDUCE] = {"number of resolutions to leave out", 0, L2K_MAX_LEVELS, 0},
    [L2K_DECODER_LAYERS] = {"number of layers", 0, 65535, 0},
    [L2K_DECODER_COMPONENT] = {"component", -1, L2K_MAX_COMPONENTS - 1, -1},
    [L2K_DECODER_THREADS] = {"number of threads", 0, 1024, 0},
    [L2K_DECODER_BACKEND] = {"backend", 0, L2K_BACKEND_OPENCL, L2K_BACKEND_AUTO},
    [L2K_DECODER_LIMIT_SAMPLES] = {"limit of samples", 0, INT64_MAX, 0},
    [L2K_DECODER_LIMIT_BYTES] = {"limit of bytes", 0, INT64_MAX, (int64_t)1 << 40},
    [L2K_DECODER_GPU_MIN_SAMPLES] = {"number of samples for the GPU", L2K_GPU_WHERE_FASTER, INT64_MAX,
                                     L2K_GPU_WHERE_WORTH},
    [L2K_DECODER_STRICT] = {"strictness", 0, 1, 0},
    [L2K_DECODER_LIMIT_MEMORY] = {"limit of memory", 0, INT64_MAX, 0},
    [L2K_DECODER_TIMINGS] = {"timings", 0, 1, 0},
    [L2K_DECODER_LIMIT_COMPONENTS] = {"limit of components", 1, L2K_MAX_COMPONENTS, L2K_MAX_COMPONENTS},
    [L2K_DECODER_LIMIT_TILES] = {"limit of tiles", 1, 65535, 65535},
    [L2K_DECODER_CPU] = {"instruction set", 0, L2K_CPU_SIMD128, L2K_CPU_AUTO},
    [L2K_DECODER_MEMORY] = {"memory", 0, L2K_MEMORY_DEVICE, L2K_MEMORY_HOST},
    [L2K_DECODER_CACHE_BYTES] = {"bytes of decoded code-blocks", 0, INT64_MAX, 0},
    [L2K_DECODER_IN_FLIGHT] = {"number of images in flight", 0, L2K_MOST_BATCH_WORKERS, 0},
    [L2K_DECODER_DEVICE] = {"device", -1, L2K_MOST_DEVICES - 1, -1},
    [L2K_DECODER_DEVICES] = {"set of devices", 0, INT64_MAX, 0},
    [L2K_DECODER_LIKE_OPENJPEG] = {"likeness to OpenJPEG", 0, 1, 0},
    [L2K_DECODER_BLOCK_CODER] = {"backend of the code-blocks", 0, L2K_BACKEND_CPU, L2K_BACKEND_AUTO},
};

static const l2k_object_kind object_kind = {.bytes = sizeof(l2k_decoder),
                                            .choice = offsetof(l2k_decoder, choice),
                                            .pool = offsetof(l2k_decoder, pool),
                                            .run = offsetof(l2k_decoder, run),
                                            .options = offsetof(l2k_decoder, options),
                                            .rules = rules,
                                            .num_options = L2K_DECODER_NUM_OPTIONS};

l2k_decoder *l2k_decoder_new(const l2k_hooks *hooks)
{
    l2k_decoder *decoder = l2k_object_create(&object_kind, hooks);
    if (decoder)
        decoder->cache = (l2k_block_cache){.lock = PTHREAD_MUTEX_INITIALIZER, .context = &decoder->context};
    return decoder;
}

void l2k_decoder_forget_windows(l2k_decoder *decoder)
{
    for (uint32_t t = 0; decoder->indices && t < decoder->codestream.num_tiles; t++)
        l2k_packet_index_free(&decoder->context, decoder->indices[t]);
    l2k_release(&decoder->context, decoder->indices);
    decoder->indices = NULL;
    decoder->opened++;
}

void l2k_decoder_leave_rows(l2k_decoder *decoder)
{
    struct l2k_row_decoding *r = decoder->rows;
    if (!r)
        return;
    decoder->rows = NULL;
    if (r->under_way)
        l2k_engine_finish(&decoder->workers.groups[0].slots[0]);
    if (r->in_strips)
        l2k_decoder_release_tiles(decoder);
    l2k_release(&decoder->context, r->reader);
    l2k_release(&decoder->context, r);
}

void l2k_decoder_forget_headers(l2k_decoder *decoder)
{
    l2k_codestream_close(&decoder->codestream);
    l2k_jp2_close(&decoder->jp2);
    l2k_release(&decoder->context, decoder->outputs);
    l2k_release(&decoder->context, decoder->components);
    decoder->outputs = NULL;
    decoder->components = NULL;
    decoder->num_outputs = 0;
}

void l2k_decoder_close(l2k_decoder *decoder)
{
    l2k_decoder_leave_rows(decoder);
    l2k_decoder_forget_windows(decoder);
    decoder->is_open = false;
    l2k_decoder_forget_headers(decoder);
    l2k_arena_release(&decoder->context, &decoder->memory);
    decoder->memory_planes = NULL;
    decoder->next_tile = 0;
    decoder->is_pushed = decoder->has_ended = false;
    decoder->file.context = &decoder->context;
    l2k_buffer_release(&decoder->file);
    if (decoder->context.partial)
        l2k_partial_close(&decoder->parts);
    decoder->context.partial = NULL;
}

static void release_kept(l2k_decoder *decoder)
{
    const int before = l2k_engine_enter(&decoder->context);
    l2k_workers_release(&decoder->workers);
    l2k_decoder_release_tiles(decoder);
    l2k_release(&decoder->context, decoder->bounds);
    decoder->bounds = NULL;
    decoder->num_bounds = 0;
    l2k_engine_leave(before);
}

void l2k_decoder_drop(l2k_decoder *decoder)
{
    release_kept(decoder);
    l2k_block_cache_clear(&decoder->cache);
    l2k_pool_drain(&decoder->pool, &decoder->context.hooks);
}

int l2k_decoder_enter(l2k_decoder *decoder)
{
    const int64_t *options = decoder->options;
    const uint64_t devices =
        l2k_object_devices(options[L2K_DECODER_BACKEND], options[L2K_DECODER_DEVICE], options[L2K_DECODER_DEVICES]);
    if (devices != decoder->context.devices) {
        l2k_decoder_leave_rows(decoder);
        l2k_decoder_drop(decoder);
    }
    decoder->context.devices = devices;
    return l2k_engine_enter(&decoder->context);
}

void l2k_decoder_free(l2k_decoder *decoder)
{
    if (!decoder)
        return;
    l2k_batch_workers_release(&decoder->batch);
    l2k_decoder_close(decoder);
    release_kept(decoder);
    l2k_block_cache_clear(&decoder->cache);
    pthread_mutex_destroy(&decoder->cache.lock);
    l2k_object_free(&object_kind, decoder);
}

l2k_status l2k_decoder_set(l2k_decoder *decoder, l2k_decoder_option option, int64_t value)
{
    return l2k_object_set(&object_kind, decoder, option, value);
}

l2k_status l2k_decoder_set_region(l2k_decoder *decoder, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1)
{
    if (x0 >= x1 || y0 >= y1)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "region %u,%u,%u,%u is empty", x0, y0, x1, y1);
    decoder->region = (l2k_rect){x0, y0, x1, y1};
    decoder->has_region = true;
    return L2K_OK;
}

void l2k_decoder_set_stream(l2k_decoder *decoder, void *stream)
{
    decoder->stream = stream;
}

uint64_t l2k_decoder_memory_limit(const l2k_decoder *decoder)
{
    uint64_t limit = l2k_limit_memory(decoder->options[L2K_DECODER_LIMIT_MEMORY], decoder->file_bytes);
    bool by_size = decoder->options[L2K_DECODER_LIMIT_MEMORY] == 0;
    return by_size ? limit + decoder->file.capacity : limit;
}

l2k_status l2k_decoder_check_open(const l2k_decoder *decoder)
{
    return decoder->is_open ? L2K_OK : l2k_fail(&decoder->context, L2K_ERROR_STATE, "no file has been opened");
}

l2k_status l2k_decoder_check_options(const l2k_decoder *decoder)
{
    L2K_TRY(l2k_decoder_check_open(decoder));
    const l2k_codestream *cs = &decoder->codestream;
    uint32_t only = l2k_decoder_only_component(decoder);
    if (only != UINT32_MAX && only >= cs->siz.num_components)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "there is no component %u, only 0 to %u", only,
                        cs->siz.num_components - 1);
    return L2K_OK;
}

void l2k_decoder_timings(const l2k_decoder *decoder, double seconds[L2K_NUM_STAGES])
{
    l2k_run_timings(&decoder->run, seconds);
}
