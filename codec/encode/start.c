/* Starts and ends an image in the encoder: memory, threads, and data kept for the next one. The trees of the tiles are
 * kept as long as images are cut and coded alike. Encoding by rows of tiles keeps nothing, nor does truncation of HT
 * code-blocks, which keeps the coefficients of all tiles. */
#include "codec/encode/encoder.h"

#include <string.h>

void l2k_encode_release_tile(const l2k_context *context, l2k_tile *tile)
{
    l2k_release(context, tile->places);
    tile->places = NULL;
    l2k_tile_release(context, tile);
}

void l2k_encode_release_tiles(l2k_encoder *encoder)
{
    const l2k_context *context = &encoder->context;
    for (uint32_t t = 0; encoder->tiles && t < encoder->num_tiles; t++)
        l2k_encode_release_tile(context, &encoder->tiles[t]);
    l2k_release(context, encoder->tiles);
    l2k_release(context, encoder->as_set_up);
    l2k_encoding_release(&encoder->encoding);
    encoder->tiles = NULL;
    encoder->as_set_up = NULL;
}

static bool are_kept(const l2k_encoder *encoder, const l2k_encoding *encoding)
{
    const l2k_encoding *kept = &encoder->encoding;
    bool fit = encoder->tiles && encoding->keeps_tiles && encoder->num_tiles == encoding->num_tiles;
    for (uint32_t t = 0; fit && t < encoder->num_tiles; t++)
        fit = l2k_tile_fits(&encoder->tiles[t], &encoding->siz, t);
    l2k_tile_coding coding = kept->coding;
    coding.components = encoder->as_set_up;
    return fit && l2k_tile_coding_equals(&coding, &encoding->coding, kept->siz.num_components);
}

/* Kept trees point to the encoder's arrays of components, which get the contents of the new ones. */
static void take_encoding(l2k_encoder *encoder, l2k_encoding *encoding)
{
    const l2k_encoding kept = encoder->encoding;
    const uint32_t count = encoding->siz.num_components;
    memcpy(kept.siz.components, encoding->siz.components, count * sizeof *kept.siz.components);
    memcpy(kept.coding.components, encoding->coding.components, count * sizeof *kept.coding.components);
    encoder->encoding = *encoding;
    encoder->encoding.siz.components = kept.siz.components;
    encoder->encoding.coding.components = kept.coding.components;
    encoding->own_targets = kept.own_targets;
}

static l2k_status take_new_tiles(l2k_encoder *encoder, l2k_encoding *encoding, uint32_t num_tiles)
{
    const l2k_context *context = &encoder->context;
    const uint32_t count = encoding->siz.num_components;
    encoder->encoding = *encoding;
    *encoding = (l2k_encoding){.context = context};
    encoder->as_set_up = l2k_allocate(context, count, sizeof *encoder->as_set_up);
    L2K_TRY(l2k_check_memory(context, encoder->as_set_up, "%u components", count));
    memcpy(encoder->as_set_up, encoder->encoding.coding.components, count * sizeof *encoder->as_set_up);
    encoder->num_trees++;
    encoder->num_tiles = num_tiles;
    encoder->tiles = l2k_allocate_zeroed(context, num_tiles, sizeof *encoder->tiles);
    return l2k_check_memory(context, encoder->tiles, "%u tiles", num_tiles);
}

/* Resets the tiles except the shape of their trees; guard bits are those of the setup again. */
static l2k_status renew_tiles(l2k_encoder *encoder)
{
    for (uint32_t t = 0; t < encoder->num_tiles; t++) {
        L2K_TRY(l2k_tile_restart(&encoder->context, UINT64_MAX, &encoder->tiles[t]));
        l2k_tile_take_steps(&encoder->tiles[t]);
    }
    return L2K_OK;
}

/* Gives back all memory kept for the next image. */
static void drop(l2k_encoder *encoder)
{
    l2k_encode_release_tiles(encoder);
    l2k_workers_release(&encoder->workers);
    l2k_pool_drain(&encoder->pool, &encoder->context.hooks);
}

/* Sets up the image's parameters and tiles; kept tiles if they fit the image. */
static l2k_status set_up(l2k_encoder *encoder, const l2k_image *image, bool by_rows, l2k_encoding *e)
{
    L2K_TRY(l2k_encode_setup(encoder, image, e));
    e->tile_steps = by_rows && e->finds_steps;
    e->keeps_tiles = !by_rows && (!l2k_encoding_truncates(e) || e->num_tiles == 1) && !e->changes;
    encoder->run.total = e->samples * (L2K_UNITS_TRANSFORM + L2K_UNITS_BLOCKS + L2K_UNITS_PACKETS);
    const uint32_t in_part = encoder->options[L2K_ENCODER_BY_TILE] ? 1 : l2k_tiles_across(&e->siz.grid);
    const uint32_t num_tiles = by_rows ? in_part : e->num_tiles;
    if (num_tiles < e->num_tiles && (l2k_targets_have_limits(&e->targets) || l2k_targets_have_limits(&e->truncation)))
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "a limit of bytes needs all tiles at once");
    if (are_kept(encoder, e)) {
        take_encoding(encoder, e);
        return renew_tiles(encoder);
    }
    l2k_encode_release_tiles(encoder);
    return take_new_tiles(encoder, e, num_tiles);
}

uint64_t l2k_image_samples(const l2k_image *image)
{
    if (image->x1 <= image->x0 || image->y1 <= image->y0 || image->num_components > L2K_MAX_COMPONENTS)
        return 0;
    const uint64_t area = (uint64_t)(image->x1 - image->x0) * (image->y1 - image->y0), n = image->num_components;
    return !n || area <= UINT64_MAX / n ? area * n : UINT64_MAX;
}

void l2k_encode_start_call(l2k_encoder *encoder)
{
    const l2k_context *context = &encoder->context;
    const int64_t *options = encoder->options;
    l2k_encode_end(encoder, L2K_OK);
    encoder->context.threads = l2k_thread_count((unsigned)options[L2K_ENCODER_THREADS]);
    encoder->context.cpu = (l2k_cpu)options[L2K_ENCODER_CPU];
    encoder->context.in_flight = (unsigned)options[L2K_ENCODER_IN_FLIGHT];
    l2k_buffer_release(&encoder->memory);
    encoder->memory.context = context;
    l2k_pool_start_call(&encoder->pool, &context->hooks, (uint64_t)options[L2K_ENCODER_LIMIT_MEMORY]);
    if (l2k_pool_exceeds(&encoder->pool))
        drop(encoder);
    l2k_run_start(&encoder->run, 0, options[L2K_ENCODER_TIMINGS]);
    encoder->has_image = true;
}

l2k_status l2k_encode_start(l2k_encoder *encoder, const l2k_image *image, bool by_rows)
{
    const l2k_context *context = &encoder->context;
    const int64_t *options = encoder->options;
    l2k_encoding encoding;
    l2k_encode_start_call(encoder);
    /* With planes off the host, AUTO leaves their processor only if that fails. */
    l2k_choice_start_image(&encoder->choice,
                           options[L2K_ENCODER_MEMORY] != L2K_MEMORY_HOST ? 0 : options[L2K_ENCODER_GPU_MIN_SAMPLES],
                           false, options[L2K_ENCODER_STYLE] & L2K_STYLE_HT, l2k_image_samples(image));
    const l2k_status status = set_up(encoder, image, by_rows, &encoding);
    l2k_encoding_release(&encoding); /* what the encoder has not taken */
    L2K_TRY(status);
    L2K_TRY(l2k_output_start(&encoder->output, context, encoder->num_tiles));
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
