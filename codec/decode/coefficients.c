/* l2k_decoder_coefficients: decodes packets and code-blocks of one tile, without the inverse transform. */
#include "codec/decode/packets.h"
#include "transform/layout.h"

typedef struct coefficient_call {
    l2k_coefficient_sink sink;
    void *user;
} coefficient_call;

/* Tier-1 leaves twice the index at which to reconstruct (E.1.1.2). Its half, rounded towards 0, is the index itself if
 * all its bits are known, else the middle of its interval. */
static l2k_status halve(const l2k_context *context, const l2k_coefficients *view)
{
    for (uint32_t y = 0; y < view->height; y++) {
        int32_t *row = (int32_t *)view->base + y * view->stride;
        for (uint32_t x = 0; x < view->width; x++)
            row[x] /= 2;
        L2K_TRY(l2k_poll(context, view->width));
    }
    return L2K_OK;
}

/* Passes component c to the sink. */
static l2k_status give(const coefficient_call *call, const l2k_context *context, const l2k_tile_state *s, uint32_t c)
{
    const l2k_tile_component *component = &s->tile.components[c];
    const l2k_component_coding *coding = component->coding;
    const l2k_coefficients *view = component->view;
    l2k_wavelet wavelet = (l2k_wavelet)coding->wavelet;
    l2k_subband_info bands[L2K_MAX_SUBBANDS];
    l2k_rect r = component->rect;
    if (l2k_wavelet_get(wavelet)->quantised)
        L2K_TRY(halve(context, view));
    for (uint32_t b = 0; b < view->num_bands; b++) {
        l2k_step step = l2k_coding_step(coding, l2k_band_resolution(b), l2k_band_orientation(b));
        bands[b] = l2k_describe_band(&s->components[c], b, step, coding->guard_bits);
    }
    return call->sink(call->user,
                      &(l2k_tile_coefficients){.tile = s->tile.index,
                                               .component = c,
                                               .x0 = r.x0,
                                               .y0 = r.y0,
                                               .x1 = r.x1,
                                               .y1 = r.y1,
                                               .levels = coding->levels,
                                               .wavelet = wavelet,
                                               .component_transform = s->coding.component_transform && c < 3,
                                               .view = view,
                                               .bands = bands});
}

static l2k_status give_all(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    const l2k_decode_call *call = opaque;
    const l2k_decoding *d = call->decoding;
    l2k_tile_state *s = &call->states[job->slot->number];
    (void)group;
    for (uint32_t c = 0; !s->is_absent && c < s->tile.num_components; c++)
        if (l2k_wants_component(d, c))
            L2K_TRY(give(call->user, d->context, s, c));
    l2k_run_advance(d->context, L2K_UNITS_TILE - (s->is_begun ? L2K_UNITS_TILE_BLOCKS : 0));
    l2k_tile_state_leave(d, s);
    return L2K_OK;
}

static l2k_status take_all(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    const l2k_decode_call *call = opaque;
    const l2k_decoding *d = call->decoding;
    l2k_tile_state *s = &call->states[job->slot->number];
    L2K_TRY(l2k_decode_packets(d, s, &group->engine, d->tiles[job->tile]));
    if (s->is_absent)
        return L2K_OK;
    L2K_TRY(l2k_decode_blocks(d, s, &group->engine, job->slot));
    return l2k_report_damage(d, s);
}

/* One thread takes fewer samples than this: starting others for each of many small tiles would take longer. */
#define MIN_PARALLEL_SAMPLES ((uint64_t)1 << 16)

l2k_status l2k_decoder_coefficients(l2k_decoder *decoder, uint32_t tile, l2k_coefficient_sink sink, void *user)
{
    coefficient_call call = {sink, user};
    L2K_TRY(l2k_decoder_check_options(decoder));
    if (tile >= decoder->codestream.num_tiles)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "tile %u of only %u", tile,
                        decoder->codestream.num_tiles);
    if (!sink)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "no function to give coefficients to");
    l2k_decoding d = l2k_decode_start(decoder, l2k_tile_rect(&decoder->codestream.siz.grid, tile), NULL);
    if (l2k_rect_area(d.area) < MIN_PARALLEL_SAMPLES)
        decoder->context.threads = 1;
    return l2k_decode_end(decoder, l2k_decode_tiles(decoder, &d, L2K_BACKEND_CPU, take_all, give_all, &call));
}
