/* The transform stage and tier-1 of all tiles. */
#include "codec/encoder.h"

#include <string.h>

#include "base/sample.h"
#include "codec/blocks/block_view.h"
#include "codec/workers.h"

/* ---- Tier-1 of one block ------------------------------------------------------------------------------------- */

typedef struct tile_blocks {
    l2k_encode_job *job;
    const l2k_plan *plan;
    const l2k_tile *tile;
    const l2k_block_place *places;
} tile_blocks;

/* What a squared error of one quantiser step in a subband is worth in squared samples of the image, in units of each
 * component's squared peak: the L2 norm of the subband's basis, and that of the inverse component transform's column.
 */
static double distortion_weight(const tile_blocks *b, const l2k_block_place *place)
{
    static const double transform_norms[2][3] = {{1.732, .8292, .8292}, {1.732, 1.805, 1.573}};
    const l2k_component_coding *coding = b->tile->components[place->component].coding;
    unsigned level = l2k_band_level(coding->levels, place->resolution), orientation = place->band->orientation;
    unsigned precision = b->job->siz.components[place->component].precision;
    double weight = l2k_subband_norm((l2k_wavelet)coding->wavelet, level, orientation);
    if (coding->wavelet == L2K_WAVELET_9_7) /* that norm and the step both contain the gain */
        weight *= l2k_step_size(l2k_coding_step(coding, place->resolution, orientation), precision, orientation) /
                  (1u << l2k_log2_gain(orientation));
    if (b->tile->coding->component_transform && place->component < 3)
        weight *= transform_norms[coding->wavelet][place->component];
    weight /= (double)((1u << precision) - 1);
    return weight * weight;
}

static l2k_status keep_code(const tile_blocks *b, const l2k_block_place *place, const l2k_t1_code *code,
                            l2k_arena *arena)
{
    const l2k_context *context = b->job->context;
    l2k_coded_block *coded = &place->block->coded;
    uint32_t num_layers = b->job->coding.num_layers;
    size_t passes = code->num_passes, bytes = code->passes[passes - 1].bytes;
    uint8_t *copy = l2k_arena_take(context, arena, bytes);
    coded->pass_bytes = l2k_arena_take(context, arena, passes * sizeof *coded->pass_bytes);
    coded->layer_passes = l2k_arena_take(context, arena, num_layers);
    if (b->job->measure)
        coded->pass_distortion = l2k_arena_take(context, arena, passes * sizeof *coded->pass_distortion);
    if (!copy || !coded->pass_bytes || !coded->layer_passes || (b->job->measure && !coded->pass_distortion))
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for coded blocks");
    memcpy(copy, code->bytes, bytes);
    coded->bytes = copy;
    memset(coded->layer_passes, (int)passes, num_layers);
    double weight = b->job->measure ? distortion_weight(b, place) : 0;
    for (size_t i = 0; i < passes; i++) {
        coded->pass_bytes[i] = code->passes[i].bytes | (code->passes[i].terminated ? L2K_PASS_TERMINATED : 0);
        if (b->job->measure)
            coded->pass_distortion[i] = weight * code->passes[i].distortion;
    }
    return L2K_OK;
}

static l2k_status encode_block(void *opaque, l2k_t1 *coder, unsigned thread, size_t index)
{
    const tile_blocks *b = opaque;
    const l2k_block_place *place = &b->places[index];
    l2k_t1_block block = l2k_block_in_view(b->tile, place, l2k_plan_coefficients(b->plan, place->component));
    l2k_t1_code code;
    L2K_TRY(l2k_t1_encode(coder, &block, b->job->measure, &code));
    if (code.num_planes > place->band->max_planes + 1u)
        return l2k_fail(b->job->context, L2K_ERROR_ARGUMENT, "a sample of component %u lies outside its precision",
                        place->component);
    if (code.num_planes > place->band->max_planes) {
#pragma omp atomic write
        b->job->needs_guard_bit = true;
    }
    l2k_run_advance(b->job->context, L2K_UNITS_TIER1 * (uint64_t)block.width * block.height);
    place->block->num_planes = (uint8_t)code.num_planes;
    place->block->num_passes = (uint8_t)code.num_passes;
    return code.num_passes ? keep_code(b, place, &code, &b->job->arenas[thread]) : L2K_OK;
}

/* ---- One tile ------------------------------------------------------------------------------------------------ */

static l2k_status prepare_all(const l2k_context *context, l2k_tile *tile)
{
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++)
            for (uint32_t p = 0; p < tile->components[c].resolutions[r].num_precincts; p++)
                L2K_TRY(l2k_precinct_prepare(context, tile, &tile->components[c], r, p));
    return L2K_OK;
}

/* int16 where no subband's magnitudes need more than 15 bits; RCT may need one more than Mb says (docs/numerics.md). */
static l2k_coefficient_type coefficient_type(const l2k_tile *tile)
{
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_tile_component *component = &tile->components[c];
        bool rct = tile->coding->component_transform && c < 3 && component->coding->wavelet == L2K_WAVELET_5_3;
        for (uint32_t r = 0; r < component->num_resolutions; r++)
            for (uint32_t b = 0; b < component->resolutions[r].num_bands; b++)
                if (component->resolutions[r].bands[b].max_planes + rct > 15)
                    return L2K_COEFFICIENT_INT32;
    }
    return L2K_COEFFICIENT_INT16;
}

/* The tile's corner in the caller's planes, which are those of the rows in hand. */
static void tile_planes(const l2k_encode_job *job, const l2k_tile *tile, l2k_plane *planes)
{
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_tile_component *tc = &tile->components[c];
        l2k_rect area = l2k_component_rect(job->area, tc->dx, tc->dy);
        planes[c] = job->planes[c];
        if (l2k_rect_empty(tc->rect))
            continue; /* there may be no plane */
        planes[c].data = l2k_sample_at(&planes[c], tc->rect.x0 - area.x0, tc->rect.y0 - area.y0);
    }
}

static l2k_status begin_transform(l2k_encode_job *job, const l2k_team *team, l2k_tile_slot *slot, const l2k_tile *tile)
{
    const l2k_context *context = job->context;
    l2k_plan_component *components = l2k_allocate(context, tile->num_components, sizeof *components);
    l2k_plane *planes = l2k_allocate(context, tile->num_components, sizeof *planes);
    l2k_status status = L2K_OK;
    if (!components || !planes)
        status = l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for a tile");
    if (status == L2K_OK) {
        l2k_plan_spec spec = {.direction = L2K_FORWARD, .type = coefficient_type(tile)};
        l2k_coding_plan_spec(&job->siz, &job->coding, tile->rect, 0, components, &spec);
        status = l2k_team_plan(team, slot, &spec);
    }
    if (status == L2K_OK) {
        tile_planes(job, tile, planes);
        status = l2k_plan_begin(slot->plan, planes);
        l2k_run_advance(context, L2K_UNITS_TRANSFORM * l2k_tile_samples(tile));
    }
    l2k_release(context, components);
    l2k_release(context, planes);
    return status;
}

static l2k_status begin_tile(void *opaque, l2k_team *team, l2k_tile_slot *slot, uint32_t number)
{
    l2k_encode_job *job = opaque;
    uint32_t index = job->first_tile + number;
    l2k_tile *tile = &job->tiles[index];
    L2K_TRY(l2k_tile_create(job->context, &job->siz, &job->coding, index, UINT64_MAX, tile));
    L2K_TRY(prepare_all(job->context, tile));
    return begin_transform(job, team, slot, tile);
}

static l2k_status end_tile(void *opaque, l2k_team *team, l2k_tile_slot *slot, uint32_t number)
{
    l2k_encode_job *job = opaque;
    l2k_tile *tile = &job->tiles[job->first_tile + number];
    l2k_block_place *places;
    size_t count;
    L2K_TRY(l2k_plan_finish(slot->plan));
    L2K_TRY(l2k_tile_list_blocks(job->context, tile, UINT32_MAX, 0, &places, &count));
    tile_blocks blocks = {job, slot->plan, tile, places};
    double start = l2k_stage_start(job->context);
    l2k_status status = l2k_team_run(team, count, encode_block, &blocks);
    l2k_stage_end(job->context, L2K_STAGE_TIER1, start);
    l2k_release(job->context, places);
    return status;
}

/* The chroma of RCT has a bit more than its component's precision, which two guard bits do not always cover: strong
 * enough colours then need a third (docs/numerics.md). It is only written where it is needed, so that all other files
 * stay what OpenJPEG writes. */
static void add_guard_bit(l2k_encode_job *job)
{
    /* By rows, the main header is written already; these tiles' own headers say it (l2k_write_quantisation). */
    for (uint32_t c = 0; !job->by_rows && c < job->siz.num_components; c++)
        job->coding.components[c].guard_bits++;
    for (uint32_t t = job->first_tile; t < job->end_tile; t++)
        for (uint32_t c = 0; c < job->tiles[t].num_components; c++)
            for (uint32_t r = 0; r < job->tiles[t].components[c].num_resolutions; r++)
                for (uint32_t b = 0; b < job->tiles[t].components[c].resolutions[r].num_bands; b++)
                    job->tiles[t].components[c].resolutions[r].bands[b].max_planes++;
}

l2k_status l2k_encode_tiles(l2k_encode_job *job, l2k_workers *workers)
{
    uint32_t count = job->end_tile - job->first_tile;
    L2K_TRY(l2k_workers_run(workers, count, &(l2k_tile_work){begin_tile, end_tile}, job));
    if (job->needs_guard_bit)
        add_guard_bit(job);
    return L2K_OK;
}
