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

static bool is_cut(const l2k_ht_cuda_encoding *c)
{
    return c->lists->blocks.batch.task == L2K_CODE_CUT;
}

static l2k_status look_at_band(l2k_ht_cuda_encoding *c, const l2k_subband *from, encoded_band *to)
{
    const l2k_component_coding *coding = from->component->coding;
    L2K_TRY(l2k_cuda_look_at_band(c->lists->blocks.context, from, true, &to->band));
    to->planes = l2k_min_u32(from->max_planes, L2K_HT_MAX_BIT_PLANES);
    to->form = to->band.bytes > sizeof(int16_t) ? L2K_HT_WIDE : 0;
    to->block = (l2k_ht_cuda_encode_block){.passes = (uint8_t)l2k_max_u32(coding->ht_passes, 1),
                                           .causal = coding->style & L2K_STYLE_VSC,
                                           .reversible = to->band.reversible};
    if (to->band.is_float) {
        to->block.reciprocal = 1 / l2k_band_step_size(from);
        to->form = L2K_HT_FLOAT | (to->planes > NARROW_PLANES && !is_cut(c) ? L2K_HT_WIDE : 0);
    }
    if (to->block.passes > 1 || (is_cut(c) && !to->band.is_float))
        to->form |= L2K_HT_REFINED;
    if (!is_cut(c))
        return L2K_OK;
    if (c->num_bands == L2K_HT_CUDA_BANDS)
        return L2K_ERROR_UNSUPPORTED;
    to->block.band = (uint8_t)c->num_bands;
    c->bands[c->num_bands++] = from;
    c->forms = to->form;
    return L2K_OK;
}

static l2k_status list_to_encode(l2k_ht_cuda_encoding *c)
{
    l2k_ht_cuda_encode_block *to = (l2k_ht_cuda_encode_block *)c->lists->blocks.pinned.at;
    const l2k_block_batch *batch = &c->lists->blocks.batch;
    encoded_band in = {0};
    uint64_t most = 0, usual = 0, refinement = 0;
    c->num_bands = 0;
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_block_place *place = &batch->places[i];
        l2k_cuda_fetch_ahead(batch, i);
        if (place->band != in.band.band)
            L2K_TRY(look_at_band(c, place->band, &in));
        to[i] = in.block;
        to[i].view = l2k_cuda_view_of(&in.band, place->block->rect);
        to[i].index = (uint32_t)i;
        l2k_ht_cuda_note_form(c->lists, i, in.form | (to[i].view.width > L2K_HT_LONG_ROW ? L2K_HT_LONG : 0));
        most += most_code(&to[i].view, in.planes, in.block.passes);
        usual += usual_code(&to[i].view, place->band->component->precision, in.block.passes);
        if (in.form & L2K_HT_REFINED) {
            to[i].scratch = (uint32_t)refinement;
            refinement += l2k_ht_cuda_lay_out_encoding(&to[i].view, (in.form & L2K_HT_WIDE) || is_cut(c)).end;
        }
    }
    if (most > UINT32_MAX / 8 || refinement > UINT32_MAX)
        return l2k_fail(c->lists->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    usual = usual > MUCH_CODE ? usual : MUCH_CODE;
    c->code_capacity = (uint32_t)(most < usual ? most : usual);
    c->refinement_units = (size_t)refinement;
    return L2K_OK;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* The most passes of a block; the subbands of a component share them. */
static unsigned find_most_passes(const l2k_block_batch *batch)
{
    const l2k_tile_component *component = NULL;
    unsigned most = 1;
    for (size_t i = 0; i < batch->num_places; i++)
        if (batch->places[i].band->component != component) {
            component = batch->places[i].band->component;
            most = component->coding->ht_passes > 1 ? 3 : most;
        }
    return most;
}

/* Results begin with the counters. Parts that only the device has follow, except for the code. */
static void lay_out_results(l2k_ht_cuda_encoding *c)
{
    const size_t count = c->lists->blocks.batch.num_places, bands = is_cut(c) ? L2K_HT_CUDA_BANDS : 0;
    c->most_passes = find_most_passes(&c->lists->blocks.batch);
    c->reciprocals = l2k_cuda_aligned(c->lists->counters + sizeof(l2k_ht_cuda_counters));
    c->gains = c->reciprocals + bands * sizeof(float);
    c->pass_ends = c->gains + (c->lists->blocks.batch.distortions ? count * c->most_passes * sizeof(double) : 0);
    c->coded = c->pass_ends + (c->most_passes > 1 ? count * c->most_passes * sizeof(uint32_t) : 0);
    c->results_end = c->coded + count * sizeof(l2k_cuda_coded_block);
    c->refined = l2k_cuda_aligned(c->results_end);
    c->points = l2k_cuda_aligned(c->refined + (c->most_passes > 1 || bands ? count * sizeof(l2k_ht_cuda_refined) : 0));
    c->behind_results = l2k_cuda_aligned(c->points + (bands ? count : 0));
}

/* Pinned memory has two lists, the second for sorting. The sorted one goes up with the counters after it. */
static l2k_status prepare_encoding(l2k_ht_cuda_encoding *c)
{
    if (l2k_cuda_is_listed(&c->lists->blocks, &c->listed))
        return L2K_OK;
    c->listed.same = 0;
    const size_t count = c->lists->blocks.batch.num_places, size = sizeof(l2k_ht_cuda_encode_block);
    c->lists->counters = l2k_cuda_aligned(l2k_cuda_aligned(count * size) + count * size);
    lay_out_results(c);
    L2K_TRY(l2k_cuda_reserve(c->lists->blocks.context, &c->lists->blocks.pinned, c->refined));
    L2K_TRY(l2k_ht_cuda_start_forms(c->lists));
    L2K_TRY(list_to_encode(c));
    l2k_ht_cuda_sort_list(c->lists, size, false);
    return L2K_OK;
}

static size_t slots_bytes(const l2k_ht_cuda_encoding *c)
{
    size_t most = 0;
    for (unsigned form = 0; form < L2K_HT_FORMS; form++) {
        const uint32_t warps = l2k_ht_cuda_encode_warps(c->lists->ranges[form].count, c->lists->blocks.processors);
        const size_t bytes = warps * l2k_ht_cuda_slot_bytes((form & L2K_HT_WIDE) || is_cut(c));
        most = bytes > most ? bytes : most;
    }
    return l2k_cuda_aligned(most);
}

/* ---- The work ---------------------------------------------------------------------------------------------------- */

/* Of the blocks that are listed with this form. */
static l2k_ht_cuda_encode encoding_of(const l2k_ht_cuda_encoding *c, unsigned form)
{
    uint8_t *device = c->lists->blocks.device.at;
    const l2k_ht_form_range *range = &c->lists->ranges[form];
    return (l2k_ht_cuda_encode){.blocks = (l2k_ht_cuda_encode_block *)(device + c->lists->list) + range->first,
                                .num_blocks = range->count,
                                .form = form | (is_cut(c) && c->wide ? L2K_HT_WIDE : 0),
                                .tables = (l2k_ht_cuda_tables *)c->lists->tables.at,
                                .coded = (l2k_cuda_coded_block *)(device + c->coded),
                                .pass_ends = (uint32_t *)(device + c->pass_ends),
                                .gains = c->lists->blocks.batch.distortions ? (double *)(device + c->gains) : NULL,
                                .passes = c->most_passes,
                                .refined = (l2k_ht_cuda_refined *)(device + c->refined),
                                .scratch = device + c->refinement,
                                .counters = (l2k_ht_cuda_counters *)(device + c->lists->counters),
                                .slots = c->slots,
                                .code = c->code,
                                .capacity = c->code_capacity,
                                .points = device + c->points,
                                .reciprocals = (float *)(device + c->reciprocals),
                                .warps = l2k_ht_cuda_encode_warps(range->count, c->lists->blocks.processors)};
}

static l2k_status launch_encoding(l2k_ht_cuda_encoding *c, unsigned form, const l2k_cuda_coded_block *cut)
{
    l2k_ht_cuda_encode run = encoding_of(c, form);
    void *stream = c->lists->blocks.running;
    run.cut = cut;
    if (run.num_blocks == 0)
        return L2K_OK;
    if (form & L2K_HT_REFINED)
        L2K_TRY(l2k_ht_cuda_check_launch(c->lists, l2k_ht_cuda_launch_encode_refinement(&run, stream)));
    else if (run.gains)
        L2K_TRY(l2k_ht_cuda_check_launch(c->lists, l2k_ht_cuda_launch_gains(&run, stream)));
    return l2k_ht_cuda_check_launch(c->lists, l2k_ht_cuda_launch_encode(&run, stream));
}

/* Slots or code go into the batch's idle memory if they fit. Reallocated memory holds no list, even at the same
 * address. */
static l2k_status reserve_to_encode(l2k_ht_cuda_encoding *c)
{
    l2k_cuda_blocks *b = &c->lists->blocks;
    const size_t slots = slots_bytes(c), code = (size_t)c->code_capacity * 4 + L2K_CUDA_ALIGNMENT;
    const bool lends_slots = slots <= b->more.idle_bytes, lends_code = !lends_slots && code <= b->more.idle_bytes;
    c->refinement = l2k_cuda_aligned(c->behind_results + (lends_slots ? 0 : slots));
    const size_t code_at = c->refinement + c->refinement_units * L2K_HT_CUDA_SCRATCH;
    const size_t bytes = code_at + (lends_code ? 0 : code);
    if (bytes > b->device.bytes)
        c->listed.same = 0;
    L2K_TRY(l2k_cuda_reserve(b->context, &b->device, bytes));
    c->slots = lends_slots ? b->more.idle : b->device.at + c->behind_results;
    c->code = lends_code ? b->more.idle : b->device.at + code_at;
    return L2K_OK;
}

/* A batch that stays returns only counters. */
static l2k_status fetch_results(const l2k_ht_cuda_encoding *c)
{
    const l2k_cuda_blocks *b = &c->lists->blocks;
    return l2k_cuda_download(b->context, b->running, b->pinned.at + c->lists->counters,
                             b->device.at + c->lists->counters,
                             (b->more.stays ? c->gains : c->results_end) - c->lists->counters);
}

static l2k_status enqueue_encoding(l2k_ht_cuda_encoding *c)
{
    l2k_cuda_blocks *b = &c->lists->blocks;
    L2K_TRY(reserve_to_encode(c));
    l2k_ht_cuda_reset_counters(c->lists);
    const size_t from = l2k_cuda_is_listed(&c->lists->blocks, &c->listed) ? c->lists->counters : c->lists->list;
    L2K_TRY(l2k_cuda_upload(b->context, b->running, b->device.at + from, b->pinned.at + from, c->gains - from));
    for (unsigned form = 0; form < L2K_HT_FORMS; form++)
        L2K_TRY(launch_encoding(c, form, NULL));
    c->listed = l2k_cuda_key_of(&c->lists->blocks);
    return b->more.stays ? L2K_OK : fetch_results(c); /* no copy between kernels of the coder and of packets */
}

/* ---- Truncated blocks ------------------------------------------------------------------------------------------ */

/* Sends up the list, if it is new, and the counters with the reciprocals of the present steps. */
static l2k_status start_cut(l2k_ht_cuda_encoding *c)
{
    l2k_cuda_blocks *b = &c->lists->blocks;
    L2K_TRY(reserve_to_encode(c));
    const bool listed = l2k_cuda_is_listed(b, &c->listed);
    const size_t from = listed ? c->lists->counters : c->lists->list;
    float *reciprocals = (float *)(b->pinned.at + c->reciprocals);
    if (!b->more.same)
        return L2K_ERROR_UNSUPPORTED;
    c->starts |= !listed;
    c->wide = false;
    for (unsigned i = 0; i < c->num_bands; i++) {
        reciprocals[i] = 1 / l2k_band_step_size(c->bands[i]);
        c->wide |= (c->forms & L2K_HT_FLOAT) && c->bands[i]->max_planes > NARROW_PLANES;
    }
    if (c->starts) {
        L2K_TRY(l2k_cuda_clear(b->context, b->running, b->device.at + c->points, b->batch.num_places));
        c->code_used = 0;
    }
    l2k_ht_cuda_reset_counters(c->lists);
    ((l2k_ht_cuda_counters *)(b->pinned.at + c->lists->counters))->code = c->code_used;
    L2K_TRY(l2k_cuda_upload(b->context, b->running, b->device.at + from, b->pinned.at + from, c->gains - from));
    c->listed = l2k_cuda_key_of(b);
    return L2K_OK;
}

static l2k_status launch_cut(l2k_ht_cuda_encoding *c, const l2k_cuda_coded_block *cut)
{
    for (unsigned form = 0; form < L2K_HT_FORMS; form++)
        L2K_TRY(launch_encoding(c, form, cut));
    return L2K_OK;
}

l2k_status l2k_ht_cuda_cut(l2k_ht_cuda_encoding *c, const l2k_cuda_coded_block *cut)
{
    c->starts = false;
    return launch_cut(c, cut);
}

/* With hulls, the points of a block take some 2 KB. */
enum { MOST_ESTIMATED = 1 << 18 };

l2k_status l2k_ht_cuda_estimate(l2k_ht_cuda_encoding *c, bool sums, l2k_cuda_coded *estimated)
{
    l2k_cuda_blocks *b = &c->lists->blocks;
    const size_t count = b->batch.num_places, points = count * L2K_HT_CUDA_POINTS;
    const size_t ends = points * sizeof(double), blocks = ends + points * sizeof(uint32_t);
    if (count > MOST_ESTIMATED)
        return L2K_ERROR_UNSUPPORTED;
    L2K_TRY(l2k_cuda_reserve(b->context, &c->estimated, blocks + count * sizeof(l2k_cuda_coded_block)));
    uint8_t *at = c->estimated.at, *device = b->device.at;
    const l2k_ht_cuda_estimation run = {.blocks = (l2k_ht_cuda_encode_block *)(device + c->lists->list),
                                        .num_blocks = (uint32_t)count,
                                        .form = c->forms,
                                        .reciprocals = (float *)(device + c->reciprocals),
                                        .distance = b->batch.distance,
                                        .estimated = (l2k_cuda_coded_block *)(at + blocks),
                                        .point_ends = (uint32_t *)(at + ends),
                                        .gains = (double *)at,
                                        .counters = (l2k_ht_cuda_counters *)(device + c->lists->counters),
                                        .sums = sums};
    *estimated = (l2k_cuda_coded){
        .blocks = run.estimated, .pass_ends = run.point_ends, .distortions = run.gains, .num_passes = (uint32_t)points};
    c->starts = true;
    return l2k_ht_cuda_check_launch(c->lists, l2k_ht_cuda_launch_estimate(&run, b->running));
}

l2k_status l2k_ht_cuda_sample(l2k_ht_cuda_encoding *c, const l2k_cuda_coded *estimated, l2k_cuda_coded_block *cut)
{
    const l2k_cuda_blocks *b = &c->lists->blocks;
    const l2k_ht_cuda_choice run = {.estimated = estimated->blocks,
                                    .point_ends = estimated->pass_ends,
                                    .num_blocks = (uint32_t)b->batch.num_places,
                                    .distance = b->batch.distance,
                                    .cut = cut,
                                    .counters = (l2k_ht_cuda_counters *)(b->device.at + c->lists->counters)};
    L2K_TRY(l2k_ht_cuda_check_launch(c->lists, l2k_ht_cuda_launch_sample(&run, b->running)));
    L2K_TRY(launch_cut(c, cut));
    return l2k_cuda_download(b->context, b->running, b->pinned.at + c->coded, b->device.at + c->coded,
                             c->results_end - c->coded);
}

const uint64_t *l2k_ht_cuda_plane_sums(const l2k_ht_cuda_encoding *c)
{
    return ((const l2k_ht_cuda_counters *)(c->lists->blocks.pinned.at + c->lists->counters))->planes;
}

uint64_t l2k_ht_cuda_coded_bytes(const l2k_ht_cuda_encoding *c)
{
    const l2k_cuda_coded_block *coded = (const l2k_cuda_coded_block *)(c->lists->blocks.pinned.at + c->coded);
    const size_t count = (c->results_end - c->coded) / sizeof *coded;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += coded[i].bytes;
    return bytes;
}

static l2k_status finish_cut(l2k_ht_cuda_encoding *c)
{
    l2k_cuda_blocks *b = &c->lists->blocks;
    l2k_ht_cuda_counters counters;
    L2K_TRY(l2k_cuda_download(b->context, b->running, b->pinned.at + c->lists->counters,
                              b->device.at + c->lists->counters, sizeof counters));
    L2K_TRY(l2k_cuda_wait(b->context, b->running));
    memcpy(&counters, b->pinned.at + c->lists->counters, sizeof counters);
    c->code_used = counters.code;
    c->complete = counters.failed == UINT32_MAX && counters.code <= c->code_capacity;
    return c->complete ? L2K_OK : L2K_ERROR_UNSUPPORTED;
}

l2k_status l2k_ht_cuda_start_encoding(l2k_ht_cuda_encoding *c)
{
    L2K_TRY(prepare_encoding(c));
    return is_cut(c) ? start_cut(c) : enqueue_encoding(c);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static void keep_block(l2k_block *block, const l2k_cuda_coded_block *coded, const uint8_t *code, uint32_t *pass_bytes)
{
    block->num_planes = coded->num_planes;
    block->num_passes = coded->num_passes;
    block->coded.magnitude_bits = coded->magnitude_bits;
    if (!coded->num_passes)
        return;
    if (coded->num_passes == 1)
        *pass_bytes = coded->bytes | L2K_PASS_TERMINATED;
    block->coded.bytes = code + (size_t)coded->at * 4;
    block->coded.pass_bytes = pass_bytes;
}

/* Distortions, lengths and code of all blocks stay together in pinned memory. */
static l2k_status fetch_code(l2k_ht_cuda_encoding *c, uint32_t units)
{
    l2k_cuda_blocks *b = &c->lists->blocks;
    const l2k_cuda_coded_block *coded = (l2k_cuda_coded_block *)(b->pinned.at + c->coded);
    const size_t count = b->batch.num_places, passes = count * c->most_passes;
    const size_t distortions = b->batch.distortions ? passes * sizeof(double) : 0;
    const size_t lengths = passes * sizeof(uint32_t), bytes = (size_t)units * 4;
    uint8_t *kept;
    L2K_TRY(l2k_cuda_take_code(b, l2k_cuda_aligned(distortions + lengths + bytes), &kept));
    uint32_t *pass_bytes = (uint32_t *)(kept + distortions);
    uint8_t *code = kept + distortions + lengths;
    if (bytes)
        L2K_TRY(l2k_cuda_download(b->context, b->running, code, c->code, bytes));
    memcpy(kept, b->pinned.at + c->gains, distortions);
    if (c->most_passes > 1)
        memcpy(pass_bytes, b->pinned.at + c->pass_ends, lengths);
    for (size_t i = 0; i < count; i++) {
        l2k_block *block = b->batch.places[i].block;
        keep_block(block, &coded[i], code, &pass_bytes[i * c->most_passes]);
        if (distortions)
            block->coded.pass_distortion = (double *)kept + i * c->most_passes;
    }
    return l2k_cuda_wait(b->context, b->running);
}

/* A subband may have coefficients beyond its bit-planes; then its blocks are coded again with more room. */
l2k_status l2k_ht_cuda_finish_encoding(l2k_ht_cuda_encoding *c)
{
    const l2k_cuda_blocks *b = &c->lists->blocks;
    l2k_ht_cuda_counters counters;
    if (is_cut(c))
        return finish_cut(c);
    if (b->more.stays)
        L2K_TRY(fetch_results(c));
    for (;;) {
        L2K_TRY(l2k_cuda_wait(b->context, b->running));
        memcpy(&counters, b->pinned.at + c->lists->counters, sizeof counters);
        if (counters.failed != UINT32_MAX)
            return l2k_fail(b->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
        c->complete = counters.code <= c->code_capacity;
        if (b->more.stays)
            return L2K_OK;
        if (c->complete)
            return fetch_code(c, counters.code);
        c->code_capacity = counters.code;
        L2K_TRY(enqueue_encoding(c));
    }
}

void l2k_ht_cuda_coded(const l2k_ht_cuda_encoding *c, l2k_cuda_coded *coded)
{
    const uint8_t *device = c->lists->blocks.device.at;
    *coded = (l2k_cuda_coded){.blocks = (const l2k_cuda_coded_block *)(device + c->coded),
                              .pass_ends = c->most_passes > 1 ? (const uint32_t *)(device + c->pass_ends) : NULL,
                              .code = c->code,
                              .capacity = c->code_capacity,
                              .complete = c->complete};
}
