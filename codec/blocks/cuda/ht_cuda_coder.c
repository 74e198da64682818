/* The HT block coder (Part 15, T.814) on a device, as a table for codec/blocks/block_coder.h: which segments of a block
 * go there, where everything lies, and what becomes of what comes back. A frame may have tens of thousands of blocks,
 * so what is done for each of them here is kept short. */
#include <string.h>

#include "base/integer.h"
#include "codec/blocks/cuda/cuda_blocks.h"
#include "codec/blocks/cuda/ht_cuda.h"
#include "codec/blocks/ht/ht_block.h"
#include "codec/blocks/ht/ht_encode.h"
#include "transform/cuda/cuda_device.h"

/* Blocks of one form stand together. */
typedef struct form_range {
    uint32_t first, count;
} form_range;

typedef struct ht_coder {
    l2k_cuda_blocks blocks;
    l2k_cuda_list_key listed;
    l2k_cuda_memory tables; /* l2k_ht_cuda_tables */
    uint8_t *forms;         /* of the batch's blocks */
    size_t forms_capacity;
    form_range ranges[L2K_HT_FORMS];
    unsigned num_forms; /* that have blocks */
    bool encoding;
    bool any_refined; /* decoding: a block has refinement passes, or a region of interest */
    size_t list;      /* where the kernels' list of blocks is, in pinned and device memory */
    /* Encoding: what comes back; what stays in device memory. */
    size_t counters, gains, pass_ends, coded, results_end;
    size_t refined, slots, refinement, code;
    size_t refinement_units; /* of L2K_HT_CUDA_SCRATCH bytes */
    uint32_t code_capacity;  /* in units of 4 bytes */
    unsigned most_passes;    /* of a block: 1 or 3 */
    bool complete;           /* all code had room */
    size_t scratch;          /* decoding, in device memory */
} ht_coder;

/* ---- Forms --------------------------------------------------------------------------------------------------- */

/* Short rows are read by half warps, which only pays where there are many of them. */
enum { SHORT_ROW = 32, LONG_ROW = 64, LEAST_SHORT_SHARE = 8 };

static l2k_status start_forms(ht_coder *c)
{
    const l2k_context *context = c->blocks.context;
    const size_t count = c->blocks.batch.num_places;
    memset(c->ranges, 0, sizeof c->ranges);
    if (count > UINT32_MAX / 2)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "CUDA: %zu code-blocks at once", count);
    if (count <= c->forms_capacity)
        return L2K_OK;
    l2k_release(context, c->forms);
    c->forms_capacity = 0;
    c->forms = l2k_allocate(context, count, 1);
    if (!c->forms)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %zu code-blocks", count);
    c->forms_capacity = count;
    return L2K_OK;
}

static inline void note_form(ht_coder *c, size_t i, unsigned form)
{
    c->forms[i] = (uint8_t)form;
    c->ranges[form].count++;
}

/* Short rows may also be read like those of up to LONG_ROW samples. */
static void join_forms(ht_coder *c)
{
    c->num_forms = 0;
    for (unsigned wide = 0; wide <= L2K_HT_WIDE && !c->encoding; wide++) {
        form_range *few = &c->ranges[L2K_HT_SHORT | wide], *many = &c->ranges[wide];
        if (few->count >= many->count / LEAST_SHORT_SHARE)
            continue;
        many->count += few->count;
        few->count = 0;
    }
    for (unsigned form = 0; form < L2K_HT_FORMS; form++) {
        c->ranges[form].first = form ? c->ranges[form - 1].first + c->ranges[form - 1].count : 0;
        c->num_forms += c->ranges[form].count > 0;
    }
}

/* The list that is at `listed` in pinned memory, in the order of forms, or as it is where there is only one; returns
 * where that list is. There is as much room behind the first. */
static size_t sort_list(ht_coder *c, size_t listed, size_t size)
{
    const size_t count = c->blocks.batch.num_places, sorted = l2k_cuda_aligned(listed + count * size);
    const uint8_t *from = c->blocks.pinned.at + listed;
    uint32_t next[L2K_HT_FORMS];
    join_forms(c);
    if (c->num_forms == 1)
        return listed;
    for (unsigned form = 0; form < L2K_HT_FORMS; form++)
        next[form] = c->ranges[form].first;
    for (size_t i = 0; i < count; i++) {
        unsigned form = c->forms[i];
        if (c->ranges[form].count == 0) /* short rows that were joined */
            form &= L2K_HT_WIDE;
        memcpy(c->blocks.pinned.at + sorted + size * next[form]++, from + size * i, size);
    }
    return sorted;
}

static l2k_status check_launch(const ht_coder *c, int error)
{
    return l2k_cuda_check(c->blocks.context, error, "launching the HT block coder");
}

static void reset_counters(ht_coder *c)
{
    memcpy(c->blocks.pinned.at + c->counters, &(l2k_ht_cuda_counters){.failed = UINT32_MAX},
           sizeof(l2k_ht_cuda_counters));
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

/* Bytes that a block's code can take, one bit-plane beyond its subband's included: for each sample a bit more than its
 * bit-planes, for each quad some 16 of VLC and MEL, two more for each sample in refinement passes, and seven bits a
 * byte. In units of 4 bytes. */
static inline uint32_t most_code(const l2k_cuda_view *view, unsigned planes, unsigned passes)
{
    const uint32_t quads = (view->width + 1u) / 2 * ((view->height + 1u) / 2);
    return quads * (4 * (planes + 2u + (passes > 1 ? 2 : 0)) + 16) / 7 / 4 + 16;
}

/* What all blocks together hardly ever exceed: two bits a sample more than it has. Where that is much memory, it is all
 * that is taken before it turns out to be too little. */
static inline uint32_t usual_code(const l2k_cuda_view *view, unsigned precision, unsigned passes)
{
    return (uint32_t)view->width * view->height * (precision + 2u + (passes > 1 ? 2 : 0)) / 32 + 16;
}

enum { MUCH_CODE = 1 << 22 }; /* in units of 4 bytes */

/* What is the same for all blocks of a subband. */
typedef struct encoded_band {
    l2k_cuda_band band;
    unsigned planes, form;
    l2k_ht_cuda_encode_block block;
} encoded_band;

/* Magnitudes of floats that take so many bits, and one more, are quantised to 16. */
enum { NARROW_PLANES = 14 };

static l2k_status look_at_band(const ht_coder *c, const l2k_subband *from, encoded_band *to)
{
    const l2k_component_coding *coding = from->component->coding;
    L2K_TRY(l2k_cuda_look_at_band(c->blocks.context, from, true, &to->band));
    to->planes = l2k_min_u32(from->max_planes, L2K_HT_MAX_BIT_PLANES);
    to->form = to->band.bytes > sizeof(int16_t) ? L2K_HT_WIDE : 0;
    to->block = (l2k_ht_cuda_encode_block){.passes = (uint8_t)l2k_max_u32(coding->ht_passes, 1),
                                           .causal = coding->style & L2K_STYLE_VSC,
                                           .reversible = to->band.reversible};
    if (to->band.is_float) {
        const l2k_step step = l2k_coding_step(coding, from->resolution, from->orientation);
        to->block.reciprocal = 1 / l2k_step_size(step, from->component->precision, from->orientation);
        to->form = L2K_HT_FLOAT | (to->planes > NARROW_PLANES ? L2K_HT_WIDE : 0);
    }
    if (to->block.passes > 1)
        to->form |= L2K_HT_REFINED;
    return L2K_OK;
}

static l2k_status list_to_encode(ht_coder *c, size_t listed)
{
    l2k_ht_cuda_encode_block *to = (l2k_ht_cuda_encode_block *)(c->blocks.pinned.at + listed);
    const l2k_block_batch *batch = &c->blocks.batch;
    encoded_band in = {0};
    uint64_t most = 0, usual = 0, refinement = 0;
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_block_place *place = &batch->places[i];
        l2k_cuda_fetch_ahead(batch, i);
        if (place->band != in.band.band)
            L2K_TRY(look_at_band(c, place->band, &in));
        to[i] = in.block;
        to[i].view = l2k_cuda_view_of(&in.band, place->block->rect);
        to[i].index = (uint32_t)i;
        note_form(c, i, in.form | (to[i].view.width > LONG_ROW ? L2K_HT_LONG : 0));
        most += most_code(&to[i].view, in.planes, in.block.passes);
        usual += usual_code(&to[i].view, place->band->component->precision, in.block.passes);
        if (in.form & L2K_HT_REFINED) {
            to[i].scratch = (uint32_t)refinement;
            refinement += l2k_ht_cuda_lay_out_encoding(&to[i].view, in.form & L2K_HT_WIDE).end;
        }
    }
    if (most > UINT32_MAX / 8 || refinement > UINT32_MAX)
        return l2k_fail(c->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    usual = usual > MUCH_CODE ? usual : MUCH_CODE;
    c->code_capacity = (uint32_t)(most < usual ? most : usual);
    c->refinement_units = (size_t)refinement;
    return L2K_OK;
}

/* The passes that a block of the batch can have; the subbands of a component have the same. */
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

/* What comes back begins with the counters. What is in device memory alone, but for the code, follows it. */
static void lay_out_results(ht_coder *c)
{
    const size_t count = c->blocks.batch.num_places;
    c->most_passes = find_most_passes(&c->blocks.batch);
    c->gains = l2k_cuda_aligned(c->counters + sizeof(l2k_ht_cuda_counters));
    c->pass_ends = c->gains + (c->blocks.batch.distortions ? count * c->most_passes * sizeof(double) : 0);
    c->coded = c->pass_ends + (c->most_passes > 1 ? count * c->most_passes * sizeof(uint32_t) : 0);
    c->results_end = c->coded + count * sizeof(l2k_cuda_coded_block);
    c->refined = l2k_cuda_aligned(c->results_end);
    c->slots = l2k_cuda_aligned(c->refined + (c->most_passes > 1 ? count * sizeof(l2k_ht_cuda_refined) : 0));
}

/* Pinned memory has two lists, the second for sorting. The one that is used goes up with the counters after it. */
static l2k_status prepare_encoding(ht_coder *c)
{
    if (l2k_cuda_is_listed(&c->blocks, &c->listed))
        return L2K_OK;
    c->listed.same = 0;
    const size_t count = c->blocks.batch.num_places, size = sizeof(l2k_ht_cuda_encode_block);
    c->counters = l2k_cuda_aligned(l2k_cuda_aligned(count * size) + count * size);
    lay_out_results(c);
    L2K_TRY(l2k_cuda_reserve(c->blocks.context, &c->blocks.pinned, c->refined));
    L2K_TRY(start_forms(c));
    L2K_TRY(list_to_encode(c, 0));
    c->list = sort_list(c, 0, size);
    return L2K_OK;
}

static size_t slots_bytes(const ht_coder *c)
{
    size_t most = 0;
    for (unsigned form = 0; form < L2K_HT_FORMS; form++) {
        const uint32_t warps = l2k_ht_cuda_encode_warps(c->ranges[form].count, c->blocks.processors);
        const size_t bytes = warps * l2k_ht_cuda_slot_bytes(form & L2K_HT_WIDE);
        most = bytes > most ? bytes : most;
    }
    return l2k_cuda_aligned(most);
}

static l2k_ht_cuda_encode encoding_of(const ht_coder *c, unsigned form)
{
    uint8_t *device = c->blocks.device.at;
    const form_range *range = &c->ranges[form];
    return (l2k_ht_cuda_encode){.blocks = (l2k_ht_cuda_encode_block *)(device + c->list) + range->first,
                                .num_blocks = range->count,
                                .form = form,
                                .tables = (l2k_ht_cuda_tables *)c->tables.at,
                                .coded = (l2k_cuda_coded_block *)(device + c->coded),
                                .pass_ends = (uint32_t *)(device + c->pass_ends),
                                .gains = c->blocks.batch.distortions ? (double *)(device + c->gains) : NULL,
                                .passes = c->most_passes,
                                .refined = (l2k_ht_cuda_refined *)(device + c->refined),
                                .scratch = device + c->refinement,
                                .counters = (l2k_ht_cuda_counters *)(device + c->counters),
                                .slots = device + c->slots,
                                .code = device + c->code,
                                .capacity = c->code_capacity,
                                .warps = l2k_ht_cuda_encode_warps(range->count, c->blocks.processors)};
}

static l2k_status launch_encoding(ht_coder *c, unsigned form)
{
    const l2k_ht_cuda_encode run = encoding_of(c, form);
    void *stream = c->blocks.running;
    if (run.num_blocks == 0)
        return L2K_OK;
    if (form & L2K_HT_REFINED)
        L2K_TRY(check_launch(c, l2k_ht_cuda_launch_encode_refinement(&run, stream)));
    else if (run.gains)
        L2K_TRY(check_launch(c, l2k_ht_cuda_launch_gains(&run, stream)));
    return check_launch(c, l2k_ht_cuda_launch_encode(&run, stream));
}

/* Memory that is taken anew has no list in it, wherever it is. */
static l2k_status reserve_to_encode(ht_coder *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    c->refinement = l2k_cuda_aligned(c->slots + slots_bytes(c));
    c->code = c->refinement + c->refinement_units * L2K_HT_CUDA_SCRATCH;
    const size_t bytes = c->code + (size_t)c->code_capacity * 4 + L2K_CUDA_ALIGNMENT;
    if (bytes > b->device.bytes)
        c->listed.same = 0;
    return l2k_cuda_reserve(b->context, &b->device, bytes);
}

/* Of a batch that stays, only counters. */
static l2k_status fetch_results(const ht_coder *c)
{
    const l2k_cuda_blocks *b = &c->blocks;
    return l2k_cuda_download(b->context, b->running, b->pinned.at + c->counters, b->device.at + c->counters,
                             (b->batch.stays ? c->gains : c->results_end) - c->counters);
}

static l2k_status enqueue_encoding(ht_coder *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    L2K_TRY(reserve_to_encode(c));
    reset_counters(c);
    const size_t from = l2k_cuda_is_listed(&c->blocks, &c->listed) ? c->counters : c->list;
    L2K_TRY(l2k_cuda_upload(b->context, b->running, b->device.at + from, b->pinned.at + from, c->gains - from));
    for (unsigned form = 0; form < L2K_HT_FORMS; form++)
        L2K_TRY(launch_encoding(c, form));
    c->listed = l2k_cuda_key_of(&c->blocks);
    return b->batch.stays ? L2K_OK : fetch_results(c); /* no copy between kernels of the coder and of packets */
}

static l2k_status start_encoding(ht_coder *c)
{
    L2K_TRY(prepare_encoding(c));
    return enqueue_encoding(c);
}

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
static l2k_status fetch_code(ht_coder *c, uint32_t units)
{
    l2k_cuda_blocks *b = &c->blocks;
    const l2k_cuda_coded_block *coded = (l2k_cuda_coded_block *)(b->pinned.at + c->coded);
    const size_t count = b->batch.num_places, passes = count * c->most_passes;
    const size_t distortions = b->batch.distortions ? passes * sizeof(double) : 0;
    const size_t lengths = passes * sizeof(uint32_t), bytes = (size_t)units * 4;
    uint8_t *kept;
    L2K_TRY(l2k_cuda_take_code(b, l2k_cuda_aligned(distortions + lengths + bytes), &kept));
    uint32_t *pass_bytes = (uint32_t *)(kept + distortions);
    uint8_t *code = kept + distortions + lengths;
    if (bytes)
        L2K_TRY(l2k_cuda_download(b->context, b->running, code, b->device.at + c->code, bytes));
    memcpy(kept, b->pinned.at + c->gains, distortions);
    if (c->most_passes > 1)
        memcpy(pass_bytes, b->pinned.at + c->pass_ends, lengths);
    for (size_t i = 0; i < count; i++) {
        l2k_block *block = b->batch.places[i].block;
        keep_block(block, &coded[i], code, &pass_bytes[i * c->most_passes]);
        if (distortions)
            block->coded.pass_distortion = (double *)kept + i * c->most_passes;
    }
    return l2k_cuda_blocks_wait(b);
}

/* A subband may have coefficients beyond its bit-planes; then the code is made again with more room. */
static l2k_status finish_encoding(ht_coder *c)
{
    l2k_ht_cuda_counters counters;
    if (c->blocks.batch.stays)
        L2K_TRY(fetch_results(c));
    for (;;) {
        L2K_TRY(l2k_cuda_blocks_wait(&c->blocks));
        memcpy(&counters, c->blocks.pinned.at + c->counters, sizeof counters);
        if (counters.failed != UINT32_MAX)
            return l2k_fail(c->blocks.context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
        c->complete = counters.code <= c->code_capacity;
        if (c->blocks.batch.stays)
            return L2K_OK;
        if (c->complete)
            return fetch_code(c, counters.code);
        c->code_capacity = counters.code;
        L2K_TRY(enqueue_encoding(c));
    }
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

/* Magnitudes of reversible blocks have 31 bits, others, doubled, 30; those in int16 have 15. */
enum { SAMPLE_BITS = 31, NARROW_BITS = 15 };

static void mark_damaged(const ht_coder *c)
{
    if (c->blocks.batch.damaged)
        atomic_store(c->blocks.batch.damaged, true);
}

static l2k_ht_received_set find_set(const l2k_received_block *received)
{
    const l2k_contribution *only = received->first;
    if (only && !only->next && only->passes == 1 && only->bytes)
        return (l2k_ht_received_set){.cleanup = only, .last = only, .passes = 1};
    return l2k_ht_find_set(received);
}

/* As in codec/blocks/ht/ht_coder.c: the cleanup pass is on bit-plane num_planes - 1 less the sets before. */
static l2k_status take_set(const ht_coder *c, const l2k_cuda_band *band, const l2k_block *from,
                           const l2k_ht_received_set *set, l2k_ht_cuda_decode_block *block)
{
    const l2k_context *context = c->blocks.context;
    const unsigned lowest = from->num_planes - 1u - set->number, scale = band->reversible ? 0 : 1;
    if (set->number >= from->num_planes) {
        mark_damaged(c);
        return L2K_OK;
    }
    if (lowest + scale >= SAMPLE_BITS)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "an HT code-block in bit-plane %u", lowest);
    if (set->refinement_bytes > UINT32_MAX)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "a code-block of more than 2^32 bytes");
    block->length = set->cleanup->bytes;
    block->plane = (uint8_t)(lowest + scale);
    block->planes = (uint8_t)l2k_min_u32(band->band->max_planes - lowest, SAMPLE_BITS - lowest - scale);
    block->passes = (uint8_t)(lowest > 0 ? set->passes : 1);
    block->refinement_bytes = block->passes > 1 ? (uint32_t)set->refinement_bytes : 0;
    block->scale = (uint8_t)scale;
    block->roi_shift = band->band->component->coding->roi_shift;
    block->causal = (band->band->component->coding->style & L2K_STYLE_VSC) != 0;
    if (!block->wide && block->plane + block->planes > NARROW_BITS)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "CUDA: int16 coefficients of %d bits",
                        block->plane + block->planes);
    return L2K_OK;
}

/* False if a segment is not in the batch's bytes, or is in parts. */
static bool place_directly(const ht_coder *c, const l2k_ht_received_set *set, l2k_ht_cuda_decode_block *block)
{
    const l2k_block_batch *batch = &c->blocks.batch;
    if (!l2k_cuda_find_bytes(batch, set->cleanup->data, block->length, &block->bytes))
        return false;
    if (block->refinement_bytes == 0)
        return true;
    return set->last->bytes == block->refinement_bytes &&
           l2k_cuda_find_bytes(batch, set->last->data, block->refinement_bytes, &block->refinement);
}

static l2k_status list_block(ht_coder *c, const l2k_cuda_band *band, const l2k_block *from,
                             l2k_ht_cuda_decode_block *to)
{
    if (from->kind == L2K_BLOCK_MQ && from->received.first) /* of others, no packet has said what they are */
        return l2k_fail(c->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: an MQ code-block among those of HT");
    const l2k_ht_received_set set = find_set(&from->received);
    *to = (l2k_ht_cuda_decode_block){.view = l2k_cuda_view_of(band, from->rect), .wide = band->bytes > sizeof(int16_t)};
    if (set.cleanup)
        L2K_TRY(take_set(c, band, from, &set, to));
    if (to->length == 0)
        return L2K_OK;
    c->any_refined |= to->passes > 1 || to->roi_shift;
    c->blocks.bytes.direct = c->blocks.bytes.direct && place_directly(c, &set, to);
    return L2K_OK;
}

static inline unsigned form_to_decode(const l2k_ht_cuda_decode_block *block)
{
    const unsigned width = block->view.width;
    return (width > LONG_ROW ? L2K_HT_LONG : width <= SHORT_ROW ? L2K_HT_SHORT : 0u) | (block->wide ? L2K_HT_WIDE : 0u);
}

/* Adds up the bytes to gather, if they do not go up directly, and the scratch memory. */
static l2k_status list_to_decode(ht_coder *c, size_t listed, uint64_t *gathered, size_t *scratch)
{
    l2k_ht_cuda_decode_block *to = (l2k_ht_cuda_decode_block *)(c->blocks.pinned.at + listed);
    const l2k_block_batch *batch = &c->blocks.batch;
    l2k_cuda_band band = {0};
    uint64_t units = 0;
    *gathered = 0;
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_block_place *place = &batch->places[i];
        l2k_cuda_fetch_ahead(batch, i);
        if (place->band != band.band)
            L2K_TRY(l2k_cuda_look_at_band(c->blocks.context, place->band, false, &band));
        L2K_TRY(list_block(c, &band, place->block, &to[i]));
        note_form(c, i, form_to_decode(&to[i]));
        *gathered += (uint64_t)to[i].length + to[i].refinement_bytes;
        to[i].scratch = (uint32_t)units;
        units += to[i].length ? l2k_ht_cuda_lay_out(&to[i]).end : 0;
    }
    if ((*gathered > UINT32_MAX && !c->blocks.bytes.direct) || units > UINT32_MAX)
        return l2k_fail(c->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    *scratch = (size_t)units * 16;
    return L2K_OK;
}

/* Copies a block's segments, one after another. */
static uint32_t gather_block(const l2k_block *from, l2k_ht_cuda_decode_block *block, uint8_t *bytes, uint32_t at)
{
    const l2k_ht_received_set set = find_set(&from->received);
    block->bytes = at;
    block->refinement = at + block->length;
    memcpy(bytes + at, set.cleanup->data, block->length);
    at += block->length;
    for (const l2k_contribution *k = set.cleanup; block->refinement_bytes && k != set.last; at += k->bytes) {
        k = k->next;
        if (k->bytes)
            memcpy(bytes + at, k->data, k->bytes);
    }
    return at;
}

static void gather_bytes(ht_coder *c)
{
    l2k_ht_cuda_decode_block *blocks = (l2k_ht_cuda_decode_block *)c->blocks.pinned.at;
    uint32_t at = 0;
    for (size_t i = 0; i < c->blocks.batch.num_places; i++)
        if (blocks[i].length)
            at = gather_block(c->blocks.batch.places[i].block, &blocks[i], c->blocks.bytes.gathered.at, at);
}

static l2k_ht_cuda_decode decoding_of(const ht_coder *c, unsigned form)
{
    uint8_t *device = c->blocks.device.at;
    return (l2k_ht_cuda_decode){.blocks = (l2k_ht_cuda_decode_block *)(device + c->list) + c->ranges[form].first,
                                .num_blocks = c->ranges[form].count,
                                .form = form,
                                .tables = (l2k_ht_cuda_tables *)c->tables.at,
                                .counters = (l2k_ht_cuda_counters *)(device + c->counters),
                                .bytes = l2k_cuda_bytes_at(&c->blocks),
                                .scratch = device + c->scratch};
}

static l2k_status launch_decoding(const ht_coder *c)
{
    void *stream = c->blocks.running;
    l2k_ht_cuda_decode all = decoding_of(c, 0);
    all.num_blocks = (uint32_t)c->blocks.batch.num_places;
    L2K_TRY(check_launch(c, l2k_ht_cuda_launch_unstuff(&all, stream)));
    for (unsigned form = 0; form < L2K_HT_FORMS; form++) {
        const l2k_ht_cuda_decode run = decoding_of(c, form);
        if (run.num_blocks == 0)
            continue;
        L2K_TRY(check_launch(c, l2k_ht_cuda_launch_quads(&run, stream)));
        L2K_TRY(check_launch(c, l2k_ht_cuda_launch_samples(&run, stream)));
        if (c->any_refined)
            L2K_TRY(check_launch(c, l2k_ht_cuda_launch_refine(&run, stream)));
    }
    return L2K_OK;
}

/* If some block's segments are not in the batch's bytes, or in parts, those of all blocks are gathered. */
static l2k_status gather_and_upload(ht_coder *c, size_t gathered)
{
    L2K_TRY(l2k_cuda_bytes_gather(&c->blocks, gathered));
    gather_bytes(c);
    return l2k_cuda_bytes_upload(&c->blocks, c->blocks.bytes.gathered.at, gathered);
}

/* Bytes that go up as a whole do so while the list of blocks is made. Pinned memory has two lists, the second for
 * sorting, and the counters. */
static l2k_status prepare_decoding(ht_coder *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    const size_t count = b->batch.num_places, size = sizeof(l2k_ht_cuda_decode_block);
    uint64_t gathered = 0;
    size_t scratch = 0;
    c->counters = l2k_cuda_aligned(l2k_cuda_aligned(count * size) + count * size);
    c->scratch = l2k_cuda_aligned(c->counters + sizeof(l2k_ht_cuda_counters));
    c->any_refined = false;
    c->listed.same = 0;
    L2K_TRY(start_forms(c));
    L2K_TRY(l2k_cuda_reserve(b->context, &b->pinned, c->scratch));
    L2K_TRY(l2k_cuda_bytes_start(b));
    L2K_TRY(list_to_decode(c, 0, &gathered, &scratch));
    if (!c->blocks.bytes.direct)
        L2K_TRY(gather_and_upload(c, (size_t)gathered));
    c->list = sort_list(c, 0, size);
    return l2k_cuda_reserve_for_code(b->context, &b->device, c->scratch + scratch);
}

static l2k_status start_decoding(ht_coder *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    L2K_TRY(prepare_decoding(c));
    const size_t lists_end = c->counters + sizeof(l2k_ht_cuda_counters);
    reset_counters(c);
    L2K_TRY(
        l2k_cuda_upload(b->context, b->running, b->device.at + c->list, b->pinned.at + c->list, lists_end - c->list));
    L2K_TRY(launch_decoding(c));
    L2K_TRY(l2k_cuda_download(b->context, b->running, b->pinned.at + c->counters, b->device.at + c->counters,
                              sizeof(l2k_ht_cuda_counters)));
    return l2k_cuda_blocks_mark(b);
}

static l2k_status finish_decoding(ht_coder *c)
{
    l2k_ht_cuda_counters counters;
    L2K_TRY(l2k_cuda_blocks_wait_to_mark(&c->blocks));
    memcpy(&counters, c->blocks.pinned.at + c->counters, sizeof counters);
    if (counters.damaged)
        mark_damaged(c);
    return L2K_OK;
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static l2k_status begin(l2k_block_coder *coder, const l2k_block_batch *batch, bool encoding)
{
    ht_coder *c = coder->state;
    L2K_TRY(l2k_cuda_blocks_enter(&c->blocks, batch));
    c->encoding = encoding;
    if (batch->num_places == 0)
        return L2K_OK;
    const l2k_status status = encoding ? start_encoding(c) : start_decoding(c);
    if (status != L2K_OK)
        l2k_cuda_blocks_abandon(&c->blocks);
    return status;
}

static l2k_status begin_encode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return begin(coder, batch, true);
}

static l2k_status begin_decode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return begin(coder, batch, false);
}

static l2k_status finish(l2k_block_coder *coder)
{
    ht_coder *c = coder->state;
    l2k_status status = L2K_OK;
    if (c->blocks.batch.num_places)
        status = c->encoding ? finish_encoding(c) : finish_decoding(c);
    if (status == L2K_OK)
        l2k_cuda_blocks_leave(&c->blocks);
    else
        l2k_cuda_blocks_abandon(&c->blocks);
    return status;
}

static l2k_status upload_tables(ht_coder *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    const size_t bytes = sizeof(l2k_ht_cuda_tables);
    L2K_TRY(l2k_cuda_reserve(b->context, &c->tables, bytes));
    L2K_TRY(l2k_cuda_reserve(b->context, &b->pinned, bytes));
    l2k_ht_cuda_make_tables((l2k_ht_cuda_tables *)b->pinned.at);
    L2K_TRY(l2k_cuda_upload(b->context, b->stream, c->tables.at, b->pinned.at, bytes));
    return l2k_cuda_wait(b->context, b->stream);
}

static l2k_status create(l2k_block_coder *coder)
{
    ht_coder *c = coder->state = l2k_allocate_zeroed(coder->context, 1, sizeof *c);
    if (!c)
        return l2k_fail(coder->context, L2K_ERROR_MEMORY, "out of memory for the block coder");
    L2K_TRY(l2k_cuda_blocks_create(coder->context, &c->blocks));
    return upload_tables(c);
}

static void free_coder(l2k_block_coder *coder)
{
    ht_coder *c = coder->state;
    if (!c)
        return;
    l2k_cuda_blocks_free(&c->blocks);
    l2k_cuda_release(&c->tables);
    l2k_release(coder->context, c->forms);
    l2k_release(coder->context, c);
}

static void forget(l2k_block_coder *coder)
{
    l2k_cuda_blocks_forget(&((ht_coder *)coder->state)->blocks);
}

static l2k_status fetch(l2k_block_coder *coder, const l2k_coefficients *view, const l2k_band_view *part,
                        uint32_t distance, void *to)
{
    return l2k_cuda_blocks_fetch(&((ht_coder *)coder->state)->blocks, view, part, distance, to);
}

static l2k_status keep(l2k_block_coder *coder, const l2k_coefficients *view, l2k_coefficients *copy)
{
    return l2k_cuda_blocks_keep(&((ht_coder *)coder->state)->blocks, view, copy);
}

static void drop(l2k_block_coder *coder)
{
    l2k_cuda_blocks_drop(&((ht_coder *)coder->state)->blocks);
}

static void get_coded(const l2k_block_coder *coder, l2k_cuda_coded *coded)
{
    const ht_coder *c = coder->state;
    *coded = (l2k_cuda_coded){.blocks = (const l2k_cuda_coded_block *)(c->blocks.device.at + c->coded),
                              .pass_ends =
                                  c->most_passes > 1 ? (const uint32_t *)(c->blocks.device.at + c->pass_ends) : NULL,
                              .code = c->blocks.device.at + c->code,
                              .capacity = c->code_capacity,
                              .complete = c->complete};
}

static void send(l2k_block_coder *coder, const uint8_t *bytes, size_t num_bytes)
{
    l2k_cuda_bytes_send(&((ht_coder *)coder->state)->blocks, bytes, num_bytes);
}

const l2k_block_coder_table l2k_ht_on_cuda = {
    .name = "HT on CUDA",
    .max_planes = L2K_HT_MAX_BIT_PLANES,
    .bytes_per_thread = sizeof(ht_coder),
    .create = create,
    .free = free_coder,
    .begin_encode = begin_encode,
    .begin_decode = begin_decode,
    .finish = finish,
    .forget = forget,
    .ends_segment = l2k_pass_terminates,
    .coded = get_coded,
    .send = send,
    .fetch = fetch,
    .keep = keep,
    .drop = drop,
};
