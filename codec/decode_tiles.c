/* Tier-2, tier-1 and the inverse transform stage of all tiles that are wanted. */
#include "codec/decode_job.h"

#include <string.h>

#include "base/memory.h"
#include "base/sample.h"
#include "codec/block_view.h"
#include "codec/workers.h"
#include "tiling/pixel.h"

typedef l2k_decode_job decode_job;

/* ---- Tier-1 -------------------------------------------------------------------------------------------------- */

typedef struct tile_blocks {
    const decode_job *job;
    const l2k_plan *plan;
    const l2k_tile *tile;
    const uint32_t *plan_component; /* the plan's number of each component */
    const l2k_block_place *places;
} tile_blocks;

/* Whether a block has a part in the area. */
static bool needed(const tile_blocks *b, const l2k_block_place *place)
{
    const l2k_tile_component *component = &b->tile->components[place->component];
    l2k_rect area = l2k_component_rect(b->job->area, component->dx, component->dy), r = place->block->rect;
    unsigned level = l2k_band_level(component->coding->levels, place->resolution);
    return l2k_reaches(r.x0, r.x1, area.x0, area.x1, level, L2K_SUPPORT) &&
           l2k_reaches(r.y0, r.y1, area.y0, area.y1, level, L2K_SUPPORT);
}

static void clear_block(const l2k_t1_block *block)
{
    size_t bytes = l2k_coefficient_bytes(block->type);
    for (uint32_t y = 0; y < block->height; y++)
        memset((uint8_t *)block->coefficients + y * block->stride * bytes, 0, block->width * bytes);
}

/* Joins the contributions to codeword segments in the coder's memory. */
static l2k_status gather(const decode_job *job, l2k_t1 *coder, const l2k_block *block,
                         l2k_t1_segment segments[L2K_MAX_RECEIVED_PASSES], size_t *count)
{
    if (block->received.bytes > UINT32_MAX)
        return l2k_fail(job->context, L2K_ERROR_CORRUPT, "a code-block of more than 2^32 bytes");
    L2K_TRY(l2k_t1_reserve(coder, (size_t)block->received.bytes + 2 * L2K_MAX_RECEIVED_PASSES));
    uint8_t *to = coder->bytes;
    *count = 0;
    for (const l2k_contribution *c = block->received.first; c; c = c->next) {
        if (c->starts_segment || *count == 0) {
            to += *count ? 2 : 0;
            segments[(*count)++] = (l2k_t1_segment){0, 0};
        }
        memcpy(to, c->data, c->bytes);
        to += c->bytes;
        segments[*count - 1].bytes += c->bytes;
        segments[*count - 1].passes += c->passes;
    }
    return L2K_OK;
}

static l2k_status decode_block(void *opaque, l2k_t1 *coder, unsigned thread, size_t index)
{
    (void)thread;
    const tile_blocks *b = opaque;
    const l2k_block_place *place = &b->places[index];
    l2k_t1_block block =
        l2k_block_in_view(b->tile, place, l2k_plan_coefficients(b->plan, b->plan_component[place->component]));
    if (!place->block->received.first || !needed(b, place)) {
        clear_block(&block);
        return L2K_OK;
    }
    l2k_t1_segment segments[L2K_MAX_RECEIVED_PASSES];
    size_t count = 0;
    L2K_TRY(gather(b->job, coder, place->block, segments, &count));
    b->job->decoder->blocks_decoded++;
    l2k_t1_decode(coder, &block, place->block->num_planes, segments, count);
    return L2K_OK;
}

/* Bit-planes of a block's magnitudes once a region of interest has come down to the background (H.1). */
static unsigned magnitude_planes(const l2k_tile *tile, const l2k_block_place *place)
{
    unsigned planes = place->block->num_planes, shift = tile->components[place->component].coding->roi_shift;
    if (!place->block->received.first)
        return 0;
    return planes <= shift ? planes : planes - shift > shift ? planes - shift : shift;
}

/* int16 where every magnitude, for 9/7 doubled, has at most 15 bits. */
static l2k_coefficient_type coefficient_type(const l2k_tile *tile, const l2k_block_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool doubled = tile->components[places[i].component].coding->wavelet == L2K_WAVELET_9_7;
        if (magnitude_planes(tile, &places[i]) + doubled > 15)
            return L2K_COEFFICIENT_INT32;
    }
    return L2K_COEFFICIENT_INT16;
}

/* The bit-planes that the blocks of each subband of component c have. Blocks are listed component by component: `at` is
 * the first of c or of a later one, the result that of the next. */
static size_t measure_planes(const l2k_tile *tile, const l2k_block_place *places, size_t count, size_t at, uint32_t c,
                             uint8_t bits[L2K_MAX_SUBBANDS])
{
    memset(bits, 0, L2K_MAX_SUBBANDS);
    for (; at < count && places[at].component == c; at++) {
        const l2k_block_place *place = &places[at];
        unsigned band = l2k_band_number(place->resolution, place->band->orientation);
        unsigned planes = magnitude_planes(tile, place);
        if (planes > bits[band])
            bits[band] = (uint8_t)planes;
    }
    return at;
}

/* ---- One tile ------------------------------------------------------------------------------------------------ */

/* Everything that is allocated for a tile, so that one place frees it. */
typedef struct tile_state {
    l2k_tile_coding coding;
    l2k_packed_headers packed;
    l2k_tile tile;
    bool is_absent;    /* the stream has nothing of this tile */
    bool joined_later; /* the component transform follows the plan, which wants equal numbers of levels for it */
    l2k_block_place *places;
    size_t num_places;
    l2k_plan_component *components; /* of the plan */
    l2k_plane *planes;
    uint32_t *plan_component;
    void **cropped; /* per plan component: samples of the whole tile-component where the area cuts it */
} tile_state;

static void release_state(const l2k_context *context, tile_state *s)
{
    for (uint32_t c = 0; s->cropped && c < s->tile.num_components; c++)
        l2k_release(context, s->cropped[c]);
    l2k_tile_coding_release(context, &s->coding);
    if (s->packed.bytes.context)
        l2k_buffer_release(&s->packed.bytes);
    l2k_release(context, s->places);
    l2k_release(context, s->components);
    l2k_release(context, s->planes);
    l2k_release(context, s->plan_component);
    l2k_release(context, s->cropped);
    l2k_tile_release(context, &s->tile);
    *s = (tile_state){0};
}

static l2k_status allocate_state(const decode_job *job, tile_state *s)
{
    uint32_t count = s->tile.num_components;
    s->components = l2k_allocate(job->context, count, sizeof *s->components);
    s->planes = l2k_allocate_zeroed(job->context, count, sizeof *s->planes);
    s->plan_component = l2k_allocate_zeroed(job->context, count, sizeof *s->plan_component);
    s->cropped = l2k_allocate_zeroed(job->context, count, sizeof *s->cropped);
    if (!s->components || !s->planes || !s->plan_component || !s->cropped)
        return l2k_fail(job->context, L2K_ERROR_MEMORY, "out of memory for a tile");
    return L2K_OK;
}

static l2k_status check_reduction(const decode_job *job, const tile_state *s, uint32_t index)
{
    for (uint32_t c = 0; c < job->codestream->siz.num_components; c++)
        if (job->planes[c].data && job->discard > s->coding.components[c].levels)
            return l2k_fail(job->context, L2K_ERROR_ARGUMENT,
                            "%u resolutions cannot be left out: component %u of tile %u has only %u", job->discard, c,
                            index, s->coding.components[c].levels + 1u);
    return L2K_OK;
}

/* Every code-block of the wanted resolutions must exist, so that its samples are decoded or cleared. */
static l2k_status prepare_blocks(const decode_job *job, tile_state *s)
{
    for (uint32_t c = 0; c < s->tile.num_components; c++) {
        const l2k_tile_component *component = &s->tile.components[c];
        for (uint32_t r = 0; job->planes[c].data && r + job->discard < component->num_resolutions; r++)
            for (uint32_t p = 0; p < component->resolutions[r].num_precincts; p++)
                L2K_TRY(l2k_precinct_prepare(job->context, &s->tile, component, r, p));
    }
    return l2k_tile_list_blocks(job->context, &s->tile, job->only, job->discard, &s->places, &s->num_places);
}

/* Annex G asks for components of one size; their numbers of levels may differ (COC). The plan then gives values without
 * level shift: of the 5/3 in the widest range that there is, of the 9/7 as floats. */
static void join_later(tile_state *s, l2k_plan_spec *spec)
{
    l2k_plan_component *k = s->components;
    s->joined_later = spec->component_transform && (k[1].levels != k[0].levels || k[2].levels != k[0].levels);
    if (!s->joined_later)
        return;
    spec->component_transform = false;
    for (int c = 0; c < 3; c++) {
        k[c].precision = 31;
        k[c].is_signed = true;
    }
}

/* The plan for all components, or for the only one that is wanted, then without component transform. */
static l2k_status make_plan(const decode_job *job, tile_state *s, l2k_team *team, l2k_tile_slot *slot)
{
    size_t at = 0;
    l2k_plan_spec spec = {.direction = L2K_INVERSE, .type = coefficient_type(&s->tile, s->places, s->num_places)};
    l2k_coding_plan_spec(&job->codestream->siz, &s->coding, s->tile.rect, job->discard, s->components, &spec);
    for (uint32_t c = 0; c < s->tile.num_components; c++) {
        uint8_t bits[L2K_MAX_SUBBANDS];
        s->plan_component[c] = c;
        at = measure_planes(&s->tile, s->places, s->num_places, at, c, bits);
        s->components[c].narrow_low = l2k_low_fits_int16(s->components[c].levels, s->components[c].discard, bits);
    }
    if (job->only != UINT32_MAX) {
        spec.component_transform = false;
        spec.num_components = 1;
        spec.components = &s->components[job->only];
        s->plan_component[job->only] = 0;
    }
    join_later(s, &spec);
    l2k_backend backend = team->backend;
    if (s->joined_later) /* floats reach the host from the CPU alone */
        team->backend = L2K_BACKEND_CPU;
    l2k_status status = l2k_team_plan(team, slot, &spec);
    team->backend = backend;
    return status;
}

/* Where the inverse transform of component c puts its samples: the output itself where the whole tile-component is
 * wanted, else memory of its own. */
static l2k_status place_plane(const decode_job *job, tile_state *s, uint32_t c, l2k_rect output, l2k_rect rect)
{
    const l2k_plane *plane = &job->planes[c];
    l2k_plane *out = &s->planes[s->plan_component[c]];
    bool join = s->joined_later && c < 3;
    *out = *plane;
    if (join)
        out->type = s->components[c].wavelet == L2K_WAVELET_9_7 ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32;
    if (!join && rect.x0 >= output.x0 && rect.y0 >= output.y0 && rect.x1 <= output.x1 && rect.y1 <= output.y1) {
        out->data = l2k_sample_at(plane, rect.x0 - output.x0, rect.y0 - output.y0);
        return L2K_OK;
    }
    size_t bytes = l2k_sample_bytes(out->type);
    s->cropped[c] = l2k_allocate(job->context, (size_t)l2k_rect_width(rect) * l2k_rect_height(rect), bytes);
    if (!s->cropped[c])
        return l2k_fail(job->context, L2K_ERROR_MEMORY, "out of memory for a tile of %u x %u", l2k_rect_width(rect),
                        l2k_rect_height(rect));
    out->data = s->cropped[c];
    out->sample_stride = (ptrdiff_t)bytes;
    out->row_stride = (ptrdiff_t)(l2k_rect_width(rect) * bytes);
    return L2K_OK;
}

static void crop(const decode_job *job, const tile_state *s, uint32_t c, l2k_rect output, l2k_rect rect)
{
    const l2k_plane *from = &s->planes[s->plan_component[c]], *to = &job->planes[c];
    l2k_rect common = l2k_rect_intersect(output, rect);
    size_t bytes = l2k_sample_bytes(from->type);
    for (uint32_t y = common.y0; y < common.y1; y++)
        for (uint32_t x = common.x0; x < common.x1; x++)
            memcpy(l2k_sample_at(to, x - output.x0, y - output.y0), l2k_sample_at(from, x - rect.x0, y - rect.y0),
                   bytes);
}

/* Component transform and level shift of three planes of values into the output. */
static void join_components(const decode_job *job, const tile_state *s, l2k_rect output, l2k_rect rect)
{
    l2k_rect common = l2k_rect_intersect(output, rect);
    for (uint32_t y = common.y0; y < common.y1; y++) {
        l2k_pixel_row pixels[3];
        void *rows[3];
        for (int c = 0; c < 3; c++) {
            const l2k_plane *to = &job->planes[c];
            const l2k_component *k = &job->codestream->siz.components[c];
            pixels[c] = (l2k_pixel_row){l2k_sample_at(to, common.x0 - output.x0, y - output.y0), to->sample_stride,
                                        to->type, l2k_level_shift_make(k->precision, k->is_signed)};
            rows[c] = l2k_sample_at(&s->planes[c], common.x0 - rect.x0, y - rect.y0);
        }
        if (s->components[0].wavelet == L2K_WAVELET_9_7)
            l2k_pixels_store_ict(pixels, l2k_rect_width(common), (float *const[3]){rows[0], rows[1], rows[2]});
        else
            l2k_pixels_store_rct(pixels, l2k_rect_width(common), (int32_t *const[3]){rows[0], rows[1], rows[2]});
    }
}

static l2k_rect reduced_rect(const decode_job *job, const tile_state *s, uint32_t c)
{
    return l2k_resolution_rect(s->tile.components[c].rect, job->discard);
}

/* A tile of which there is nothing is black, as OpenJPEG has it. */
static void fill_absent(const decode_job *job, uint32_t index)
{
    const l2k_siz *siz = &job->codestream->siz;
    for (uint32_t c = 0; c < siz->num_components; c++) {
        const l2k_component *k = &siz->components[c];
        if (!job->planes[c].data)
            continue;
        l2k_rect output = l2k_decoder_component_area(job->decoder, job->area, c);
        l2k_rect tile = l2k_component_rect(l2k_tile_rect(&siz->grid, index), k->dx, k->dy);
        l2k_rect common = l2k_rect_intersect(output, l2k_resolution_rect(tile, job->discard));
        for (uint32_t y = common.y0; y < common.y1; y++)
            for (uint32_t x = common.x0; x < common.x1; x++)
                l2k_sample_store(&job->planes[c], x - output.x0, y - output.y0, 0);
    }
}

static l2k_status begin_inverse(const decode_job *job, tile_state *s, l2k_plan *plan)
{
    for (uint32_t c = 0; c < s->tile.num_components; c++)
        if (job->planes[c].data)
            L2K_TRY(place_plane(job, s, c, l2k_decoder_component_area(job->decoder, job->area, c),
                                reduced_rect(job, s, c)));
    return l2k_plan_begin(plan, s->planes);
}

/* Where a file ends early it need not have as many bytes as packets, yet what a header can ask for has a bound. */
enum { LEAST_MOST_PRECINCTS = 1 << 16 };

static l2k_status read_tile(const decode_job *job, tile_state *s, uint32_t index)
{
    const l2k_codestream *cs = job->codestream;
    L2K_TRY(l2k_codestream_tile_coding(cs, index, &s->coding, &s->packed));
    uint64_t bytes = l2k_tile_bytes(cs, index) + s->packed.bytes.size;
    s->is_absent = bytes == 0 && !cs->strict;
    if (s->is_absent)
        return l2k_missing_tile(job, index);
    uint64_t most = bytes > LEAST_MOST_PRECINCTS || cs->strict ? bytes : LEAST_MOST_PRECINCTS;
    L2K_TRY(l2k_tile_create(job->context, &cs->siz, &s->coding, index, most, &s->tile));
    return l2k_read_packets(job, &s->tile, index, &s->packed);
}

static l2k_status begin_tile(void *opaque, l2k_team *team, l2k_tile_slot *slot, uint32_t i)
{
    const decode_job *job = opaque;
    tile_state *s = &job->states[slot->number];
    uint32_t index = job->tiles[i];
    L2K_TRY(read_tile(job, s, index));
    L2K_TRY(check_reduction(job, s, index));
    if (s->is_absent)
        return L2K_OK;
    L2K_TRY(allocate_state(job, s));
    L2K_TRY(prepare_blocks(job, s));
    L2K_TRY(make_plan(job, s, team, slot));
    tile_blocks blocks = {job, slot->plan, &s->tile, s->plan_component, s->places};
    L2K_TRY(l2k_team_run(team, s->num_places, decode_block, &blocks));
    return begin_inverse(job, s, slot->plan);
}

static l2k_status end_tile(void *opaque, l2k_team *team, l2k_tile_slot *slot, uint32_t i)
{
    (void)team;
    const decode_job *job = opaque;
    tile_state *s = &job->states[slot->number];
    if (s->is_absent)
        fill_absent(job, job->tiles[i]);
    else
        L2K_TRY(l2k_plan_finish(slot->plan));
    if (s->joined_later)
        join_components(job, s, l2k_decoder_component_area(job->decoder, job->area, 0), reduced_rect(job, s, 0));
    for (uint32_t c = s->joined_later ? 3 : 0; c < s->tile.num_components; c++)
        if (s->cropped[c])
            crop(job, s, c, l2k_decoder_component_area(job->decoder, job->area, c), reduced_rect(job, s, c));
    release_state(job->context, s);
    return L2K_OK;
}

static l2k_status select_tiles(decode_job *job)
{
    const l2k_codestream *cs = job->codestream;
    job->tiles = l2k_allocate(job->context, cs->num_tiles, sizeof *job->tiles);
    if (!job->tiles)
        return l2k_fail(job->context, L2K_ERROR_MEMORY, "out of memory for %u tiles", cs->num_tiles);
    for (uint32_t t = 0; t < cs->num_tiles; t++)
        if (!l2k_rect_empty(l2k_rect_intersect(l2k_tile_rect(&cs->siz.grid, t), job->area)))
            job->tiles[job->num_tiles++] = t;
    return L2K_OK;
}

/* A failure can leave tiles in the slots: they are freed when no plan works on their memory any more. */
static l2k_status decode_all(decode_job *job)
{
    l2k_workers workers;
    L2K_TRY(l2k_workers_create(job->context, (l2k_backend)job->decoder->options[L2K_DECODER_BACKEND],
                               &job->codestream->siz, job->num_tiles, &workers));
    l2k_status status = L2K_OK;
    job->states = l2k_allocate_zeroed(job->context, workers.num_slots, sizeof *job->states);
    if (!job->states)
        status = l2k_fail(job->context, L2K_ERROR_MEMORY, "out of memory for %u tiles", workers.num_slots);
    else
        status = l2k_workers_run(&workers, job->num_tiles, &(l2k_tile_work){begin_tile, end_tile}, job);
    l2k_workers_release(&workers);
    for (unsigned k = 0; job->states && k < workers.num_slots; k++)
        release_state(job->context, &job->states[k]);
    l2k_release(job->context, job->states);
    return status;
}

l2k_status l2k_decode_tiles(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes)
{
    decode_job job = {.decoder = decoder,
                      .context = &decoder->context,
                      .codestream = &decoder->codestream,
                      .area = area,
                      .planes = planes,
                      .only = l2k_decoder_only_component(decoder),
                      .discard = (uint32_t)decoder->options[L2K_DECODER_REDUCE],
                      .layers = (uint32_t)decoder->options[L2K_DECODER_LAYERS]};
    L2K_TRY(select_tiles(&job));
    l2k_status status = decode_all(&job);
    l2k_release(job.context, job.tiles);
    return status;
}
