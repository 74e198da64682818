/* The host's side of encoding HT code-blocks (Part 15, T.814) on a device: the list of blocks, the layout of memory,
 * and results. */
#include "codec/engine/cuda/ht/ht_cuda_coding.h"

#include "base/integer.h"
#include "codec/blocks/ht/ht_encode.h"

/* ---- The list of blocks ---------------------------------------------------------------------------------------- */

/* The most code of a block, in units of 4 bytes, one bit-plane beyond its subband's included: for each sample a bit
 * more than its bit-planes, for each quad some 16 of VLC and MEL, two more for each sample in refinement passes, and
 * seven bits a byte. */
static inline uint32_t most_code(const l2k_cuda_view *view, unsigned planes, unsigned passes)
{
    const uint32_t quads = (view->width + 1u) / 2 * ((view->height + 1u) / 2);
    return quads * (4 * (planes + 2u + (passes > 1 ? 2 : 0)) + 16) / 7 / 4 + 16;
}

/* All blocks together hardly ever exceed two bits a sample more than its precision. Where this is much memory, no more
 * is taken unless it proves too little. */
static inline uint32_t usual_code(const l2k_cuda_view *view, unsigned precision, unsigned passes)
{
    return (uint32_t)view->width * view->height * (precision + 2u + (passes > 1 ? 2 : 0)) / 32 + 16;
}

enum { MUCH_CODE = 1 << 22 }; /* in units of 4 bytes */

/* Shared by all blocks of a subband. */
typedef struct encoded_band {
    l2k_cuda_band band;
    unsigned planes, form;
    l2k_ht_cuda_encode_block block;
} encoded_band;

/* Magnitudes of floats that take this many bits, and one more, are quantised to 16. */
enum { NARROW_PLANES = 14 };

static bool is_cut(const l2k_ht_cuda *c)
{
    return c->blocks.batch.task == L2K_CODE_CUT;
}

static l2k_status look_at_band(l2k_ht_cuda *c, const l2k_subband *from, encoded_band *to)
{
    const l2k_component_coding *coding = from->component->coding;
    L2K_TRY(l2k_cuda_look_at_band(c->blocks.context, from, true, &to->band));
    to->planes = l2k_min_u32(from->max_planes, L2K_HT_MAX_BIT_PLANES);
    to->form = to->band.bytes > sizeof(int16_t) ? L2K_HT_WIDE : 0;
    to->block = (l2k_ht_cuda_encode_block){.passes = (uint8_t)l2k_max_u32(coding->ht_passes, 1),
                                           .causal = coding->style & L2K_STYLE_VSC,
                                           .reversible = to->band.reversible};
    if (to->band.is_float) {
        to->block.reciprocal = 1 / l2k_band_step_size(from);
        to->form = L2K_HT_FLOAT | (to->planes > NARROW_PLANES && !is_cut(c) ? L2K_HT_WIDE : 0);
    }
    if (to->block.passes > 1)
        c->run.passes = 3;
    if (to->block.passes > 1 || (is_cut(c) && !to->band.is_float))
        to->form |= L2K_HT_REFINED;
    if (!is_cut(c))
        return L2K_OK;
    if (c->num_bands == L2K_HT_CUDA_BANDS)
        return L2K_ERROR_UNSUPPORTED;
    to->block.band = (uint8_t)c->num_bands;
    c->bands[c->num_bands++] = from;
    c->cut_form = to->form;
    return L2K_OK;
}

static l2k_status list_to_encode(l2k_ht_cuda *c)
{
    l2k_ht_cuda_encode_block *to = (l2k_ht_cuda_encode_block *)c->blocks.pinned.at;
    const l2k_block_batch *batch = &c->blocks.batch;
    encoded_band in = {0};
    uint64_t most = 0, usual = 0, refinement = 0;
    c->num_bands = 0;
    c->run.passes = 1;
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_block_place *place = &batch->places[i];
        l2k_cuda_fetch_ahead(batch, i);
        if (place->band != in.band.band)
            L2K_TRY(look_at_band(c, place->band, &in));
        to[i] = in.block;
        to[i].view = l2k_cuda_view_of(&in.band, place->block->rect);
        to[i].index = (uint32_t)i;
        l2k_ht_cuda_note_form(c, i, in.form | (to[i].view.width > L2K_HT_LONG_ROW ? L2K_HT_LONG : 0));
        most += most_code(&to[i].view, in.planes, in.block.passes);
        usual += usual_code(&to[i].view, place->band->component->precision, in.block.passes);
        if (in.form & L2K_HT_REFINED) {
            to[i].scratch = (uint32_t)refinement;
            refinement += l2k_ht_cuda_lay_out_encoding(&to[i].view, (in.form & L2K_HT_WIDE) || is_cut(c)).end;
        }
    }
    if (most > UINT32_MAX / 8 || refinement > UINT32_MAX)
        return l2k_fail(c->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    usual = usual > MUCH_CODE ? usual : MUCH_CODE;
    c->run.capacity = (uint32_t)(most < usual ? most : usual);
    c->refinement_units = (size_t)refinement;
    return L2K_OK;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Behind the lists, what crosses the bus: counters and reciprocals, which go up with the sorted list, and results. */
static size_t place_results(const l2k_ht_cuda *c, const l2k_cuda_memory *memory, l2k_ht_cuda_encode *run)
{
    size_t used = c->counters;
    run->counters = l2k_cuda_part(memory, &used, sizeof *run->counters);
    run->reciprocals = l2k_cuda_part(memory, &used, is_cut(c) ? L2K_HT_CUDA_BANDS * sizeof *run->reciprocals : 0);
    run->coded = l2k_cuda_part(memory, &used, c->blocks.batch.num_places * sizeof *run->coded);
    return used;
}

/* With what only the device has. */
static size_t place_all(l2k_ht_cuda *c, size_t slots, size_t code)
{
    const l2k_cuda_memory *device = &c->blocks.device;
    const size_t count = c->blocks.batch.num_places, passes = count * c->run.passes;
    l2k_ht_cuda_encode *run = &c->run;
    size_t used = place_results(c, device, run);
    run->gains = c->blocks.batch.distortions ? l2k_cuda_part(device, &used, passes * sizeof *run->gains) : NULL;
    run->pass_ends = run->passes > 1 ? l2k_cuda_part(device, &used, passes * sizeof *run->pass_ends) : NULL;
    run->refined = l2k_cuda_part(device, &used, run->passes > 1 || is_cut(c) ? count * sizeof *run->refined : 0);
    run->points = l2k_cuda_part(device, &used, is_cut(c) ? count : 0);
    run->slots = l2k_cuda_part(device, &used, slots);
    run->scratch = l2k_cuda_part(device, &used, c->refinement_units * L2K_HT_CUDA_SCRATCH);
    run->code = l2k_cuda_part(device, &used, code);
    return used;
}

static l2k_status prepare_encoding(l2k_ht_cuda *c)
{
    const size_t size = sizeof(l2k_ht_cuda_encode_block);
    if (l2k_cuda_is_listed(&c->blocks))
        return L2K_OK;
    c->blocks.listed.same = 0;
    L2K_TRY(l2k_ht_cuda_start_lists(c, size));
    L2K_TRY(l2k_cuda_pin(c->blocks.context, &c->blocks.pinned, place_results(c, &c->blocks.pinned, &c->host)));
    place_results(c, &c->blocks.pinned, &c->host);
    L2K_TRY(list_to_encode(c));
    l2k_ht_cuda_sort_list(c, size, false);
    return L2K_OK;
}

static size_t slots_bytes(const l2k_ht_cuda *c)
{
    size_t most = 0;
    for (unsigned form = 0; form < L2K_HT_FORMS; form++) {
        const uint32_t warps = l2k_ht_cuda_encode_warps(c->ranges[form].count, c->blocks.processors);
        const size_t bytes = warps * l2k_ht_cuda_slot_bytes((form & L2K_HT_WIDE) || is_cut(c));
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* ---- The work ---------------------------------------------------------------------------------------------------- */

static l2k_status launch_encoding(const l2k_ht_cuda *c, unsigned form, const l2k_cuda_coded_block *cut)
{
    const l2k_ht_form_range *range = &c->ranges[form];
    l2k_ht_cuda_encode run = c->run;
    void *stream = c->blocks.running;
    run.blocks = (l2k_ht_cuda_encode_block *)(c->blocks.device.at + c->list) + range->first;
    run.num_blocks = range->count;
    run.form = form | (is_cut(c) && c->wide ? L2K_HT_WIDE : 0);
    run.tables = (l2k_ht_cuda_tables *)c->blocks.tables.at;
    run.warps = l2k_ht_cuda_encode_warps(range->count, c->blocks.processors);
    run.cut = cut;
    if (run.num_blocks == 0)
        return L2K_OK;
    if (form & L2K_HT_REFINED)
        L2K_TRY(l2k_ht_cuda_check_launch(c, l2k_ht_cuda_launch_encode_refinement(&run, stream)));
    else if (run.gains)
        L2K_TRY(l2k_ht_cuda_check_launch(c, l2k_ht_cuda_launch_gains(&run, stream)));
    return l2k_ht_cuda_check_launch(c, l2k_ht_cuda_launch_encode(&run, stream));
}

static l2k_status launch_all(const l2k_ht_cuda *c, const l2k_cuda_coded_block *cut)
{
    for (unsigned form = 0; form < L2K_HT_FORMS; form++)
        L2K_TRY(launch_encoding(c, form, cut));
    return L2K_OK;
}

/* Slots or code go into the batch's idle memory if they fit. */
static l2k_status reserve_to_encode(l2k_ht_cuda *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    const size_t slots = slots_bytes(c), code = (size_t)c->run.capacity * 4 + L2K_CUDA_ALIGNMENT;
    const bool lends_slots = slots <= b->more.idle_bytes, lends_code = !lends_slots && code <= b->more.idle_bytes;
    const size_t own_slots = lends_slots ? 0 : slots, own_code = lends_code ? 0 : code;
    L2K_TRY(l2k_cuda_reserve_to_encode(b, place_all(c, own_slots, own_code)));
    place_all(c, own_slots, own_code);
    if (lends_slots)
        c->run.slots = b->more.idle;
    if (lends_code)
        c->run.code = b->more.idle;
    return L2K_OK;
}

/* Sends up the list, if it is new, and fresh counters with what follows them. */
static l2k_status send_list(l2k_ht_cuda *c, uint32_t code_used)
{
    l2k_cuda_blocks *b = &c->blocks;
    const size_t from = l2k_cuda_is_listed(b) ? c->counters : c->list;
    *c->host.counters = (l2k_ht_cuda_counters){.failed = UINT32_MAX, .code = code_used};
    L2K_TRY(l2k_cuda_upload(b->context, b->running, b->device.at + from, b->pinned.at + from,
                            l2k_cuda_span(b->pinned.at + from, c->host.coded)));
    b->listed = l2k_cuda_key_of(b);
    return L2K_OK;
}

/* Counters, and unless the batch stays results. */
static l2k_status fetch_results(const l2k_ht_cuda *c)
{
    const l2k_cuda_blocks *b = &c->blocks;
    const size_t all = l2k_cuda_span(c->host.counters, c->host.coded + b->batch.num_places);
    return l2k_cuda_download(b->context, b->running, c->host.counters, c->run.counters,
                             b->more.stays ? sizeof *c->host.counters : all);
}

static l2k_status enqueue_encoding(l2k_ht_cuda *c)
{
    L2K_TRY(reserve_to_encode(c));
    L2K_TRY(send_list(c, 0));
    L2K_TRY(launch_all(c, NULL));
    return c->blocks.more.stays ? L2K_OK : fetch_results(c); /* no copy between kernels of the coder and of packets */
}

/* ---- Truncated blocks ------------------------------------------------------------------------------------------ */

/* With the reciprocals of the present steps. */
static l2k_status start_cut(l2k_ht_cuda *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    L2K_TRY(reserve_to_encode(c));
    if (!b->more.same)
        return L2K_ERROR_UNSUPPORTED;
    c->starts |= !l2k_cuda_is_listed(b);
    c->wide = false;
    for (unsigned i = 0; i < c->num_bands; i++) {
        c->host.reciprocals[i] = 1 / l2k_band_step_size(c->bands[i]);
        c->wide |= (c->cut_form & L2K_HT_FLOAT) && c->bands[i]->max_planes > NARROW_PLANES;
    }
    if (c->starts) {
        L2K_TRY(l2k_cuda_clear(b->context, b->running, c->run.points, b->batch.num_places));
        c->code_used = 0;
    }
    return send_list(c, c->code_used);
}

l2k_status l2k_ht_cuda_cut(l2k_ht_cuda *c, const l2k_cuda_coded_block *cut)
{
    c->starts = false;
    return launch_all(c, cut);
}

/* With hulls, the points of a block take some 2 KB. */
enum { MOST_ESTIMATED = 1 << 18 };

l2k_status l2k_ht_cuda_estimate(l2k_ht_cuda *c, bool sums)
{
    l2k_cuda_blocks *b = &c->blocks;
    const size_t count = b->batch.num_places, points = count * L2K_HT_CUDA_POINTS;
    const size_t ends = points * sizeof(double), blocks = ends + points * sizeof(uint32_t);
    if (count > MOST_ESTIMATED)
        return L2K_ERROR_UNSUPPORTED;
    L2K_TRY(l2k_cuda_reserve(b->context, &c->estimates, blocks + count * sizeof(l2k_cuda_coded_block)));
    uint8_t *at = c->estimates.at;
    const l2k_ht_cuda_estimation run = {.blocks = (l2k_ht_cuda_encode_block *)(b->device.at + c->list),
                                        .num_blocks = (uint32_t)count,
                                        .form = c->cut_form,
                                        .reciprocals = c->run.reciprocals,
                                        .distance = b->batch.distance,
                                        .estimated = (l2k_cuda_coded_block *)(at + blocks),
                                        .point_ends = (uint32_t *)(at + ends),
                                        .gains = (double *)at,
                                        .counters = c->run.counters,
                                        .sums = sums};
    c->estimated = (l2k_cuda_coded){
        .blocks = run.estimated, .pass_ends = run.point_ends, .distortions = run.gains, .num_passes = (uint32_t)points};
    c->starts = true;
    return l2k_ht_cuda_check_launch(c, l2k_ht_cuda_launch_estimate(&run, b->running));
}

l2k_status l2k_ht_cuda_sample(l2k_ht_cuda *c, l2k_cuda_coded_block *cut)
{
    const l2k_cuda_blocks *b = &c->blocks;
    const l2k_ht_cuda_choice run = {.estimated = c->estimated.blocks,
                                    .point_ends = c->estimated.pass_ends,
                                    .num_blocks = (uint32_t)b->batch.num_places,
                                    .distance = b->batch.distance,
                                    .cut = cut,
                                    .counters = c->run.counters};
    L2K_TRY(l2k_ht_cuda_check_launch(c, l2k_ht_cuda_launch_sample(&run, b->running)));
    L2K_TRY(launch_all(c, cut));
    return l2k_cuda_download(b->context, b->running, c->host.coded, c->run.coded,
                             b->batch.num_places * sizeof *c->host.coded);
}

static l2k_status finish_cut(l2k_ht_cuda *c)
{
    const l2k_cuda_blocks *b = &c->blocks;
    const l2k_ht_cuda_counters *counters = c->host.counters;
    L2K_TRY(l2k_cuda_download(b->context, b->running, c->host.counters, c->run.counters, sizeof *counters));
    L2K_TRY(l2k_cuda_wait(b->context, b->running));
    c->code_used = counters->code;
    c->complete = counters->failed == UINT32_MAX && counters->code <= c->run.capacity;
    return c->complete ? L2K_OK : L2K_ERROR_UNSUPPORTED;
}

l2k_status l2k_ht_cuda_start_encoding(l2k_ht_cuda *c)
{
    L2K_TRY(prepare_encoding(c));
    return is_cut(c) ? start_cut(c) : enqueue_encoding(c);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

void l2k_ht_cuda_coded(const l2k_ht_cuda *c, l2k_cuda_coded *coded)
{
    *coded = (l2k_cuda_coded){.blocks = c->run.coded,
                              .pass_ends = c->run.pass_ends,
                              .distortions = c->run.gains,
                              .code = c->run.code,
                              .capacity = c->run.capacity,
                              .complete = c->complete};
}

/* A subband may have coefficients beyond its bit-planes; then its blocks are coded again with more room. */
l2k_status l2k_ht_cuda_finish_encoding(l2k_ht_cuda *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    const l2k_ht_cuda_counters *counters = c->host.counters;
    l2k_cuda_coded coded;
    if (is_cut(c))
        return finish_cut(c);
    if (b->more.stays)
        L2K_TRY(fetch_results(c));
    for (;;) {
        L2K_TRY(l2k_cuda_wait(b->context, b->running));
        if (counters->failed != UINT32_MAX)
            return l2k_fail(b->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
        c->complete = counters->code <= c->run.capacity;
        if (b->more.stays)
            return L2K_OK;
        l2k_ht_cuda_coded(c, &coded);
        if (c->complete)
            return l2k_cuda_fetch_code(b, &coded, c->host.coded, b->batch.num_places * c->run.passes, counters->code);
        c->run.capacity = counters->code;
        L2K_TRY(enqueue_encoding(c));
    }
}
