/* Starts and ends an image in the encoder: memory, threads, and data kept for the next one. */
#include "codec/encode/start.h"

#include "base/object.h"
#include "codec/encode/keep.h"
#include "codec/encode/setup.h"

/* Gives back all memory kept for the next image. */
static void drop(l2k_encoder *encoder)
{
    l2k_encode_release_tiles(encoder);
    l2k_workers_release(&encoder->workers);
    l2k_pool_drain(&encoder->pool, &encoder->context.hooks);
}

static uint64_t count_units(const l2k_image *image)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < image->num_components; c++) {
        uint32_t width, height;
        l2k_component_size(image, c, &width, &height);
        samples += (uint64_t)width * height;
    }
    return samples * (L2K_UNITS_TRANSFORM + L2K_UNITS_BLOCKS + L2K_UNITS_PACKETS);
}

static l2k_status set_up(l2k_encoder *encoder, const l2k_image *image, bool by_rows, l2k_encoding *e)
{
    L2K_TRY(l2k_encode_setup(encoder, image, e));
    e->tile_steps = by_rows && e->finds_steps;
    e->keeps_tiles = !by_rows && (!l2k_encoding_truncates(e) || e->num_tiles == 1) && !e->changes;
    encoder->run.total = count_units(image);
    const uint32_t in_part = encoder->options[L2K_ENCODER_BY_TILE] ? 1 : l2k_tiles_across(&e->siz.grid);
    const uint32_t num_tiles = by_rows ? in_part : e->num_tiles;
    if (num_tiles < e->num_tiles && (l2k_targets_have_limits(&e->targets) || l2k_targets_have_limits(&e->truncation)))
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "a limit of bytes needs all tiles at once");
    return l2k_encode_take_tiles(encoder, e, num_tiles);
}

/* Sets up the image's parameters and tiles; kept tiles if they fit the image. */
static l2k_status take_image(l2k_encoder *encoder, const l2k_image *image, bool by_rows)
{
    l2k_encoding encoding;
    const l2k_status status = set_up(encoder, image, by_rows, &encoding);
    l2k_encoding_release(&encoding);
    return status;
}

/* Room for a head before the only tile. */
enum { FRONT_BYTES = 4096 };

uint64_t l2k_image_samples(const l2k_image *image)
{
    if (image->x1 <= image->x0 || image->y1 <= image->y0 || image->num_components > L2K_MAX_COMPONENTS)
        return 0;
    const uint64_t area = (uint64_t)(image->x1 - image->x0) * (image->y1 - image->y0), n = image->num_components;
    return !n || area <= UINT64_MAX / n ? area * n : UINT64_MAX;
}

l2k_status l2k_encode_start(l2k_encoder *encoder, const l2k_image *image, bool by_rows)
{
    const l2k_context *context = &encoder->context;
    const int64_t *options = encoder->options;
    l2k_encode_end(encoder, L2K_OK);
    encoder->context.threads = l2k_thread_count((unsigned)options[L2K_ENCODER_THREADS]);
    encoder->context.cpu = (l2k_cpu)options[L2K_ENCODER_CPU];
    encoder->context.in_flight = (unsigned)options[L2K_ENCODER_IN_FLIGHT];
    /* With planes off the host, AUTO leaves their processor only if that fails. */
    l2k_choice_start_image(&encoder->choice,
                           options[L2K_ENCODER_MEMORY] != L2K_MEMORY_HOST ? 0 : options[L2K_ENCODER_GPU_MIN_SAMPLES],
                           false, options[L2K_ENCODER_STYLE] & L2K_STYLE_HT, l2k_image_samples(image));
    l2k_buffer_release(&encoder->memory);
    encoder->memory.context = context;
    l2k_pool_start_call(&encoder->pool, &context->hooks, (uint64_t)options[L2K_ENCODER_LIMIT_MEMORY]);
    if (l2k_pool_exceeds(&encoder->pool))
        drop(encoder);
    l2k_run_start(&encoder->run, 0, options[L2K_ENCODER_TIMINGS]);
    encoder->has_image = true;
    L2K_TRY(take_image(encoder, image, by_rows));
    L2K_TRY(l2k_output_start(&encoder->output, context, encoder->num_tiles,
                             by_rows || encoder->num_tiles > 1 ? 0 : FRONT_BYTES));
    const l2k_siz *siz = &encoder->encoding.siz;
    return l2k_workers_prepare(context, (l2k_backend)options[L2K_ENCODER_BACKEND],
                               l2k_block_coder_for((unsigned)options[L2K_ENCODER_STYLE]), siz, encoder->num_tiles,
                               l2k_workers_by_tile(context, siz, encoder->num_tiles),
                               !l2k_encoding_truncates(&encoder->encoding), &encoder->workers);
}

l2k_status l2k_encode_end(l2k_encoder *encoder, l2k_status status)
{
    if (encoder->has_image) {
        if (encoder->in_strips && encoder->next_tile == 0) /* abandoned */
            l2k_engine_finish(&encoder->workers.groups[0].slots[0]);
        encoder->in_strips = encoder->writes_packets = encoder->leaves_early = false;
        l2k_workers_forget(&encoder->workers);
        l2k_output_release(&encoder->output);
    }
    if (!encoder->encoding.keeps_tiles)
        l2k_encode_release_tiles(encoder);
    encoder->has_image = false;
    encoder->stream = NULL;
    if (status != L2K_OK || !l2k_choice_is_settled(&encoder->choice))
        drop(encoder);
    return status;
}

int l2k_encode_enter(l2k_encoder *encoder)
{
    const int64_t *options = encoder->options;
    const uint64_t devices =
        l2k_object_devices(options[L2K_ENCODER_BACKEND], options[L2K_ENCODER_DEVICE], options[L2K_ENCODER_DEVICES]);
    if (devices != encoder->context.devices) {
        const int before = l2k_engine_enter(&encoder->context);
        l2k_encode_end(encoder, L2K_ERROR_CANCELLED);
        l2k_engine_leave(before);
        encoder->context.devices = devices;
    }
    return l2k_engine_enter(&encoder->context);
}
