/* The host's side of decoding HT code-blocks (Part 15, T.814) on a device: chooses the segments that go there, and lays
 * out memory. */
#include "codec/engine/cuda/ht/ht_cuda_coding.h"

#include "base/failure.h"
#include "codec/blocks/ht/ht_block.h"

/* ---- The list of blocks ---------------------------------------------------------------------------------------- */

/* Of magnitudes in int16. */
enum { NARROW_BITS = 15 };

static void mark_damaged(const l2k_ht_cuda_decoding *c)
{
    if (c->lists->blocks.batch.damaged)
        atomic_store(c->lists->blocks.batch.damaged, true);
}

static l2k_ht_received_set find_set(const l2k_received_block *received)
{
    const l2k_contribution *only = received->first;
    if (only && !only->next && only->passes == 1 && only->bytes)
        return (l2k_ht_received_set){.cleanup = only, .last = only, .passes = 1};
    return l2k_ht_find_set(received);
}

static l2k_status take_set(const l2k_ht_cuda_decoding *c, const l2k_cuda_band *band, const l2k_block *from,
                           const l2k_ht_received_set *received, l2k_ht_cuda_decode_block *block)
{
    l2k_ht_set set;
    L2K_TRY(l2k_ht_take_set(c->lists->blocks.context, band->band, from, received, &set));
    if (!set.cleanup)
        mark_damaged(c);
    block->length = set.cleanup_bytes;
    block->refinement_bytes = set.refinement_bytes;
    block->plane = (uint8_t)set.plane;
    block->planes = (uint8_t)set.planes;
    block->passes = (uint8_t)set.passes;
    block->scale = !band->reversible;
    block->roi_shift = band->band->component->coding->roi_shift;
    block->causal = (band->band->component->coding->style & L2K_STYLE_VSC) != 0;
    if (!block->wide && block->plane + block->planes > NARROW_BITS)
        return l2k_fail(c->lists->blocks.context, L2K_ERROR_ARGUMENT, "CUDA: int16 coefficients of %d bits",
                        block->plane + block->planes);
    return L2K_OK;
}

/* False if a segment is not in the batch's bytes, or is in parts. */
static bool place_directly(const l2k_ht_cuda_decoding *c, const l2k_ht_received_set *set,
                           l2k_ht_cuda_decode_block *block)
{
    const l2k_cuda_batch *batch = &c->lists->blocks.more;
    if (!l2k_cuda_find_bytes(batch, set->cleanup->data, block->length, &block->bytes))
        return false;
    if (block->refinement_bytes == 0)
        return true;
    return set->last->bytes == block->refinement_bytes &&
           l2k_cuda_find_bytes(batch, set->last->data, block->refinement_bytes, &block->refinement);
}

/* What several threads find. */
typedef struct findings {
    bool direct;  /* all bytes are in the batch's bytes */
    bool refined; /* a block has refinement passes, or a region of interest */
} findings;

static l2k_status list_block(const l2k_ht_cuda_decoding *c, const l2k_cuda_band *band, const l2k_block *from,
                             l2k_ht_cuda_decode_block *to, findings *found)
{
    if (from->kind == L2K_BLOCK_MQ && from->received.first) /* without a packet, the kind is unknown */
        return l2k_fail(c->lists->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: an MQ code-block among those of HT");
    const l2k_ht_received_set set = find_set(&from->received);
    *to = (l2k_ht_cuda_decode_block){.view = l2k_cuda_view_of(band, from->rect), .wide = band->bytes > sizeof(int16_t)};
    if (set.cleanup)
        L2K_TRY(take_set(c, band, from, &set, to));
    if (to->length == 0)
        return L2K_OK;
    to->scratch = l2k_ht_cuda_lay_out(to).end;
    found->refined |= to->passes > 1 || to->roi_shift;
    found->direct = found->direct && place_directly(c, &set, to);
    return L2K_OK;
}

static inline unsigned form_to_decode(const l2k_ht_cuda_decode_block *block)
{
    const unsigned width = block->view.width;
    return (width > L2K_HT_LONG_ROW     ? L2K_HT_LONG
            : width <= L2K_HT_SHORT_ROW ? L2K_HT_SHORT
                                        : 0u) |
           (block->wide ? L2K_HT_WIDE : 0u);
}

/* The least number of blocks for a thread: some ten microseconds of work. Starting more than MOST_THREADS takes longer
 * than what they save. */
enum { BLOCKS_OF_THREAD = 512, MOST_THREADS = 4 };

/* Lists all blocks, each with the size of its scratch memory. */
static l2k_status list_blocks(l2k_ht_cuda_decoding *c, l2k_ht_cuda_decode_block *to)
{
    const l2k_block_batch *batch = &c->lists->blocks.batch;
    const l2k_context *context = c->lists->blocks.context;
    const size_t count = batch->num_places, share = count / BLOCKS_OF_THREAD + 1;
    const unsigned threads = l2k_min_u32(share < MOST_THREADS ? (unsigned)share : MOST_THREADS, context->threads);
    const bool may_be_direct = c->lists->blocks.bytes.direct;
    bool direct = may_be_direct, refined = false;
    l2k_first_failure first = L2K_NO_FAILURE;
#pragma omp parallel num_threads(threads) reduction(&& : direct) reduction(|| : refined) if (threads > 1)
    {
        l2k_cuda_band band = {0};
        findings found = {may_be_direct, false};
#pragma omp for schedule(static)
        for (size_t i = 0; i < count; i++) {
            const l2k_block_place *place = &batch->places[i];
            l2k_status status = L2K_OK;
            if (l2k_failed_before(&first, i))
                continue;
            l2k_cuda_fetch_ahead(batch, i);
            if (place->band != band.band)
                status = l2k_cuda_look_at_band(context, place->band, false, &band);
            if (status == L2K_OK)
                status = list_block(c, &band, place->block, &to[i], &found);
            l2k_record_status(&first, i, status);
        }
        direct = found.direct;
        refined = found.refined;
    }
    c->lists->blocks.bytes.direct = direct;
    c->any_refined = refined;
    return l2k_first_status(&first);
}

/* Adds up the bytes to gather, if they do not go up directly, and the scratch memory. */
static l2k_status list_to_decode(l2k_ht_cuda_decoding *c, uint64_t *gathered, size_t *scratch)
{
    l2k_ht_cuda_decode_block *to = (l2k_ht_cuda_decode_block *)c->lists->blocks.pinned.at;
    uint64_t units = 0;
    *gathered = 0;
    L2K_TRY(list_blocks(c, to));
    for (size_t i = 0; i < c->lists->blocks.batch.num_places; i++) {
        const uint32_t own = to[i].scratch;
        l2k_ht_cuda_note_form(c->lists, i, form_to_decode(&to[i]));
        *gathered += (uint64_t)to[i].length + to[i].refinement_bytes;
        to[i].scratch = (uint32_t)units;
        units += own;
    }
    if ((*gathered > UINT32_MAX && !c->lists->blocks.bytes.direct) || units > UINT32_MAX)
        return l2k_fail(c->lists->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    *scratch = (size_t)units * 16;
    return L2K_OK;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static uint32_t gather_block(const l2k_block *from, l2k_ht_cuda_decode_block *block, uint8_t *bytes, uint32_t at)
{
    const l2k_ht_received_set set = find_set(&from->received);
    block->bytes = at;
    block->refinement = at + block->length;
    memcpy(bytes + at, set.cleanup->data, block->length);
    if (block->refinement_bytes)
        l2k_ht_copy_refinement(&set, bytes + block->refinement);
    return block->refinement + block->refinement_bytes;
}

static void gather_bytes(l2k_ht_cuda_decoding *c)
{
    l2k_ht_cuda_decode_block *blocks = (l2k_ht_cuda_decode_block *)c->lists->blocks.pinned.at;
    uint32_t at = 0;
    for (size_t i = 0; i < c->lists->blocks.batch.num_places; i++)
        if (blocks[i].length)
            at = gather_block(c->lists->blocks.batch.places[i].block, &blocks[i], c->lists->blocks.bytes.gathered.at,
                              at);
}

/* ---- The work ---------------------------------------------------------------------------------------------------- */

static l2k_ht_cuda_decode decoding_of(const l2k_ht_cuda_decoding *c, unsigned form)
{
    uint8_t *device = c->lists->blocks.device.at;
    return (l2k_ht_cuda_decode){.blocks = (l2k_ht_cuda_decode_block *)(device + c->lists->list) +
                                          c->lists->ranges[form].first,
                                .num_blocks = c->lists->ranges[form].count,
                                .form = form,
                                .tables = (l2k_ht_cuda_tables *)c->lists->tables.at,
                                .counters = (l2k_ht_cuda_counters *)(device + c->lists->counters),
                                .bytes = l2k_cuda_bytes_at(&c->lists->blocks),
                                .scratch = device + c->scratch};
}

static l2k_status launch_decoding(const l2k_ht_cuda_decoding *c)
{
    void *stream = c->lists->blocks.running;
    l2k_ht_cuda_decode all = decoding_of(c, 0);
    all.num_blocks = (uint32_t)c->lists->blocks.batch.num_places;
    L2K_TRY(l2k_ht_cuda_check_launch(c->lists, l2k_ht_cuda_launch_unstuff(&all, stream)));
    for (unsigned form = 0; form < L2K_HT_FORMS; form++) {
        const l2k_ht_cuda_decode run = decoding_of(c, form);
        if (run.num_blocks == 0)
            continue;
        L2K_TRY(l2k_ht_cuda_check_launch(c->lists, l2k_ht_cuda_launch_quads(&run, stream)));
        L2K_TRY(l2k_ht_cuda_check_launch(c->lists, l2k_ht_cuda_launch_samples(&run, stream)));
        if (c->any_refined)
            L2K_TRY(l2k_ht_cuda_check_launch(c->lists, l2k_ht_cuda_launch_refine(&run, stream)));
    }
    return L2K_OK;
}

/* If segments of some block are in parts or not in the batch's bytes, the host gathers those of all blocks. */
static l2k_status gather_and_upload(l2k_ht_cuda_decoding *c, size_t gathered)
{
    L2K_TRY(l2k_cuda_bytes_gather(&c->lists->blocks, gathered));
    gather_bytes(c);
    return l2k_cuda_bytes_upload(&c->lists->blocks, c->lists->blocks.bytes.gathered.at, gathered);
}

/* Bytes that go up as a whole do so while the host makes the list of blocks. Pinned memory has two lists, the second
 * for sorting, and the counters. */
static l2k_status prepare_decoding(l2k_ht_cuda_decoding *c)
{
    l2k_cuda_blocks *b = &c->lists->blocks;
    const size_t count = b->batch.num_places, size = sizeof(l2k_ht_cuda_decode_block);
    uint64_t gathered = 0;
    size_t scratch = 0;
    c->lists->counters = l2k_cuda_aligned(l2k_cuda_aligned(count * size) + count * size);
    c->scratch = l2k_cuda_aligned(c->lists->counters + sizeof(l2k_ht_cuda_counters));
    L2K_TRY(l2k_ht_cuda_start_forms(c->lists));
    L2K_TRY(l2k_cuda_reserve(b->context, &b->pinned, c->scratch));
    L2K_TRY(l2k_cuda_bytes_start(b));
    L2K_TRY(list_to_decode(c, &gathered, &scratch));
    if (!c->lists->blocks.bytes.direct)
        L2K_TRY(gather_and_upload(c, (size_t)gathered));
    l2k_ht_cuda_sort_list(c->lists, size, true);
    return l2k_cuda_reserve_for_code(b->context, &b->device, c->scratch + scratch);
}

l2k_status l2k_ht_cuda_start_decoding(l2k_ht_cuda_decoding *c)
{
    l2k_cuda_blocks *b = &c->lists->blocks;
    L2K_TRY(prepare_decoding(c));
    const size_t lists_end = c->lists->counters + sizeof(l2k_ht_cuda_counters);
    l2k_ht_cuda_reset_counters(c->lists);
    L2K_TRY(l2k_cuda_upload(b->context, b->running, b->device.at + c->lists->list, b->pinned.at + c->lists->list,
                            lists_end - c->lists->list));
    L2K_TRY(launch_decoding(c));
    L2K_TRY(l2k_cuda_download(b->context, b->running, b->pinned.at + c->lists->counters,
                              b->device.at + c->lists->counters, sizeof(l2k_ht_cuda_counters)));
    return l2k_cuda_mark(b->context, &b->done, b->running);
}

l2k_status l2k_ht_cuda_finish_decoding(l2k_ht_cuda_decoding *c)
{
    const l2k_cuda_blocks *b = &c->lists->blocks;
    l2k_ht_cuda_counters counters;
    L2K_TRY(l2k_cuda_wait_to_mark(b->context, b->done));
    memcpy(&counters, b->pinned.at + c->lists->counters, sizeof counters);
    if (counters.damaged)
        mark_damaged(c);
    return L2K_OK;
}
