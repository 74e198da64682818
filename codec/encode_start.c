/* An image in the encoder, from its start to its end: memory, threads, and what is kept for the next one. */
#include "codec/encoder.h"

/* Gives back what is kept for the next image. */
static void drop(l2k_encoder *encoder)
{
    l2k_teams_release(&encoder->teams);
    l2k_pool_drain(&encoder->pool, &encoder->context.hooks);
}

/* To find steps for a size, code-blocks are coded twice as a rule. */
static uint64_t count_units(const l2k_image *image, const l2k_step_target *by_step)
{
    const bool twice = by_step->given && by_step->kind == L2K_TARGET_RATIO;
    uint64_t samples = 0;
    for (uint32_t c = 0; c < image->num_components; c++) {
        uint32_t width, height;
        l2k_component_size(image, c, &width, &height);
        samples += (uint64_t)width * height;
    }
    return samples * (L2K_UNITS_TRANSFORM + L2K_UNITS_BLOCKS * (twice ? 2u : 1u) + L2K_UNITS_PACKETS);
}

l2k_status l2k_encode_start(l2k_encoder *encoder, const l2k_image *image, bool by_rows)
{
    const l2k_context *context = &encoder->context;
    const int64_t *options = encoder->options;
    l2k_encode_end(encoder, L2K_OK);
    encoder->context.threads = l2k_thread_count((unsigned)options[L2K_ENCODER_THREADS]);
    encoder->context.cpu = (l2k_cpu)options[L2K_ENCODER_CPU];
    l2k_choice_start(&encoder->choice, l2k_gpu_min_samples(options[L2K_ENCODER_GPU_MIN_SAMPLES], false,
                                                           options[L2K_ENCODER_STYLE] & L2K_STYLE_HT));
    l2k_pool_start_job(&encoder->pool, &context->hooks, (uint64_t)options[L2K_ENCODER_LIMIT_MEMORY]);
    if (l2k_pool_exceeds(&encoder->pool))
        drop(encoder);
    l2k_run_start(&encoder->run, 0, options[L2K_ENCODER_TIMINGS]);
    encoder->has_image = true;
    l2k_output_start(&encoder->output, context);
    L2K_TRY(l2k_encode_setup(encoder, image, &encoder->encoding));
    encoder->encoding.tile_steps = by_rows && encoder->encoding.by_step.given;
    encoder->run.total = count_units(image, &encoder->encoding.by_step);
    const l2k_siz *siz = &encoder->encoding.siz;
    encoder->num_tiles = by_rows ? l2k_tiles_across(&siz->grid) : encoder->encoding.num_tiles;
    encoder->tiles = l2k_allocate_zeroed(context, encoder->num_tiles, sizeof *encoder->tiles);
    if (!encoder->tiles)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u tiles", encoder->num_tiles);
    return l2k_teams_prepare(context, (l2k_backend)options[L2K_ENCODER_BACKEND],
                             l2k_block_coder_for((unsigned)options[L2K_ENCODER_STYLE]), siz, encoder->num_tiles,
                             l2k_teams_by_tile(context, siz, encoder->num_tiles), &encoder->teams);
}

l2k_status l2k_encode_end(l2k_encoder *encoder, l2k_status status)
{
    const l2k_context *context = &encoder->context;
    for (uint32_t t = 0; encoder->tiles && t < encoder->num_tiles; t++)
        l2k_tile_release(context, &encoder->tiles[t]);
    if (encoder->has_image) {
        l2k_teams_forget(&encoder->teams);
        l2k_release(context, encoder->tiles);
        l2k_encoding_release(&encoder->encoding);
        l2k_output_release(&encoder->output);
    }
    encoder->has_image = false;
    encoder->tiles = NULL;
    encoder->stream = NULL;
    if (status != L2K_OK || !l2k_choice_is_settled(&encoder->choice))
        drop(encoder);
    return status;
}
