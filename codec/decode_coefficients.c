/* The coefficients of a codestream as l2k_decoder_coefficients gives them: tier-2 and tier-1 of one tile, and no
 * inverse transform. */
#include "codec/decode_job.h"

#include "base/run.h"
#include "transform/layout.h"

typedef struct coefficient_call {
    l2k_coefficient_sink sink;
    void *user;
    uint32_t tile;
} coefficient_call;

/* Tier-1 leaves twice the index at which to reconstruct (E.1.1.2). Towards 0, its half is the index itself where all
 * its bits are known, or the middle of what it can be. */
static l2k_status halve(const l2k_context *context, const l2k_coefficients *view, size_t *steps)
{
    for (uint32_t y = 0; y < view->height; y++)
        for (uint32_t x = 0, end; x < view->width; x = end) {
            int32_t *row = (int32_t *)view->base + y * view->stride;
            end = x + l2k_samples_at_a_time(view->width - x);
            for (uint32_t i = x; i < end; i++)
                row[i] /= 2;
            L2K_TRY(l2k_check_steps(context, steps, l2k_steps_of_samples(end - x)));
        }
    return L2K_OK;
}

static void describe_bands(const l2k_tile_state *s, uint32_t c, const l2k_coefficients *view,
                           l2k_subband_info bands[L2K_MAX_SUBBANDS])
{
    const l2k_component_coding *coding = s->tile.components[c].coding;
    for (uint32_t b = 0; b < view->num_bands; b++) {
        l2k_step step = l2k_coding_step(coding, l2k_band_resolution(b), l2k_band_orientation(b));
        bands[b] = l2k_describe_band(&s->components[c], b, step, coding->guard_bits);
    }
}

/* Hands out component c. */
static l2k_status give(const l2k_decode_job *job, l2k_tile_state *s, const l2k_plan *plan, uint32_t c)
{
    const coefficient_call *call = job->user;
    const l2k_coefficients *view = l2k_plan_coefficients(plan, s->plan_component[c]);
    const l2k_tile_component *component = &s->tile.components[c];
    l2k_wavelet wavelet = (l2k_wavelet)component->coding->wavelet;
    l2k_subband_info bands[L2K_MAX_SUBBANDS];
    l2k_rect r = component->rect;
    if (wavelet == L2K_WAVELET_9_7)
        L2K_TRY(halve(job->context, view, &s->tile.steps));
    describe_bands(s, c, view, bands);
    return call->sink(call->user,
                      &(l2k_tile_coefficients){.tile = call->tile,
                                               .component = c,
                                               .x0 = r.x0,
                                               .y0 = r.y0,
                                               .x1 = r.x1,
                                               .y1 = r.y1,
                                               .levels = component->coding->levels,
                                               .wavelet = wavelet,
                                               .component_transform = s->coding.component_transform && c < 3,
                                               .view = view,
                                               .bands = bands});
}

static l2k_status begin_tile(void *opaque, l2k_team *team, l2k_tile_slot *slot, uint32_t i)
{
    l2k_decode_job *job = opaque;
    return l2k_decode_to_views(job, &job->states[slot->number], team, slot, job->tiles[i]);
}

static l2k_status end_tile(void *opaque, l2k_team *team, l2k_tile_slot *slot, uint32_t i)
{
    (void)team;
    (void)i;
    const l2k_decode_job *job = opaque;
    l2k_tile_state *s = &job->states[slot->number];
    for (uint32_t c = 0; !s->is_absent && c < s->tile.num_components; c++)
        if (l2k_wants_component(job, c))
            L2K_TRY(give(job, s, slot->plan, c));
    l2k_run_advance(job->context, L2K_UNITS_TILE - (s->num_places ? L2K_UNITS_BLOCKS : 0));
    return L2K_OK;
}

static l2k_status check_call(l2k_decoder *decoder, uint32_t tile, l2k_coefficient_sink sink)
{
    L2K_TRY(l2k_decoder_check_options(decoder));
    if (tile >= decoder->codestream.num_tiles)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "tile %u of only %u", tile,
                        decoder->codestream.num_tiles);
    if (!sink)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "nobody to give coefficients to");
    return L2K_OK;
}

/* Fewer samples are done by one thread: starting others for each of many small tiles would take longer. */
#define MIN_PARALLEL_SAMPLES ((uint64_t)1 << 16)

l2k_status l2k_decoder_coefficients(l2k_decoder *decoder, uint32_t tile, l2k_coefficient_sink sink, void *user)
{
    coefficient_call call = {sink, user, tile};
    L2K_TRY(check_call(decoder, tile, sink));
    l2k_decoder_start(decoder);
    l2k_rect area = l2k_tile_rect(&decoder->codestream.siz.grid, tile);
    if ((uint64_t)l2k_rect_width(area) * l2k_rect_height(area) < MIN_PARALLEL_SAMPLES)
        decoder->context.threads = 1;
    l2k_status status =
        l2k_decode_with(decoder, area, NULL, L2K_BACKEND_CPU, &(l2k_tile_work){begin_tile, end_tile}, &call);
    if (status == L2K_OK)
        status = l2k_check_run(&decoder->context);
    return l2k_decoder_finish(decoder, status);
}
