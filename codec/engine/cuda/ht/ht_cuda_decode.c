/* The host's side of decoding HT code-blocks (Part 15, T.814) on a device: chooses the segments that go there, and lays
 * out memory. */
#include "codec/engine/cuda/ht/ht_cuda_coding.h"

#include "base/failure.h"
#include "codec/blocks/ht/ht_block.h"

/* ---- The list of blocks ---------------------------------------------------------------------------------------- */

/* Of magnitudes in int16. */
enum { NARROW_BITS = 15 };

static void mark_damaged(const l2k_ht_cuda *c)
{
    if (c->blocks.batch.damaged)
        atomic_store(c->blocks.batch.damaged, true);
}

static l2k_status take_set(const l2k_ht_cuda *c, const l2k_cuda_band *band, const l2k_block *from,
                           const l2k_ht_received_set *received, l2k_ht_cuda_decode_block *block)
{
    l2k_ht_set set;
    L2K_TRY(l2k_ht_take_set(c->blocks.context, band->band, from, received, &set));
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
        return l2k_fail(c->blocks.context, L2K_ERROR_ARGUMENT, "CUDA: int16 coefficients of %d bits",
                        block->plane + block->planes);
    return L2K_OK;
}

/* False if a segment is not in the batch's bytes, or is in parts. */
static bool place_directly(const l2k_ht_cuda *c, const l2k_ht_received_set *set, l2k_ht_cuda_decode_block *block)
{
    const l2k_cuda_batch *batch = &c->blocks.more;
    if (!l2k_cuda_find_bytes(batch, set->cleanup->data, block->length, &block->bytes))
        return false;
    if (block->refinement_bytes == 0)
        return true;
    return set->last->bytes == block->refinement_bytes &&
           l2k_cuda_find_bytes(batch, set->last->data, block->refinement_bytes, &block->refinement);
}

static l2k_status list_block(const l2k_ht_cuda *c, const l2k_cuda_band *band, const l2k_block *from,
                             l2k_ht_cuda_decode_block *to)
{
    if (from->kind == L2K_BLOCK_MQ && from->received.first) /* without a packet, the kind is unknown */
        return l2k_fail(c->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: an MQ code-block among those of HT");
    const l2k_ht_received_set set = l2k_ht_find_set(&from->received);
    *to = (l2k_ht_cuda_decode_block){.view = l2k_cuda_view_of(band, from->rect), .wide = band->bytes > sizeof(int16_t)};
    if (set.cleanup)
        L2K_TRY(take_set(c, band, from, &set, to));
    if (to->length == 0)
        return L2K_OK;
    to->scratch = l2k_ht_cuda_lay_out(to).end;
    to->direct = place_directly(c, &set, to);
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
static l2k_status list_blocks(l2k_ht_cuda *c, l2k_ht_cuda_decode_block *to)
{
    const l2k_block_batch *batch = &c->blocks.batch;
    const l2k_context *context = c->blocks.context;
    const size_t count = batch->num_places, share = count / BLOCKS_OF_THREAD + 1;
    const unsigned threads = l2k_min_u32(share < MOST_THREADS ? (unsigned)share : MOST_THREADS, context->threads);
    l2k_first_failure first = L2K_NO_FAILURE;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        l2k_cuda_band band = {0};
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
                status = list_block(c, &band, place->block, &to[i]);
            l2k_record_status(&first, i, status);
        }
    }
    return l2k_first_status(&first);
}

/* Adds up the scratch memory, and the bytes to gather if some do not go up directly. */
static l2k_status list_to_decode(l2k_ht_cuda *c, uint64_t *gathered, size_t *scratch)
{
    bool *direct = &c->blocks.bytes.direct;
    l2k_ht_cuda_decode_block *to = (l2k_ht_cuda_decode_block *)c->blocks.pinned.at;
    uint64_t units = 0;
    *gathered = 0;
    c->any_refined = false;
    L2K_TRY(list_blocks(c, to));
    for (size_t i = 0; i < c->blocks.batch.num_places; i++) {
        const uint32_t own = to[i].scratch;
        l2k_ht_cuda_note_form(c, i, form_to_decode(&to[i]));
        *direct &= to[i].direct || to[i].length == 0;
        c->any_refined |= to[i].passes > 1 || to[i].roi_shift;
        *gathered += (uint64_t)to[i].length + to[i].refinement_bytes;
        to[i].scratch = (uint32_t)units;
        units += own;
    }
    if ((*gathered > UINT32_MAX && !*direct) || units > UINT32_MAX)
        return l2k_fail(c->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    *scratch = (size_t)units * 16;
    return L2K_OK;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* If segments of some block are in parts or not in the batch's bytes, the host gathers those of all blocks. */
static l2k_status gather_and_upload(l2k_ht_cuda *c, size_t gathered)
{
    l2k_cuda_blocks *b = &c->blocks;
    l2k_ht_cuda_decode_block *block = (l2k_ht_cuda_decode_block *)b->pinned.at;
    uint32_t at = 0;
    L2K_TRY(l2k_cuda_bytes_gather(b, gathered));
    uint8_t *bytes = b->bytes.gathered.at;
    for (size_t i = 0; i < b->batch.num_places; i++, block++) {
        if (block->length == 0)
            continue;
        const l2k_ht_received_set set = l2k_ht_find_set(&b->batch.places[i].block->received);
        block->bytes = at;
        block->refinement = at + block->length;
        memcpy(bytes + at, set.cleanup->data, block->length);
        if (block->refinement_bytes)
            l2k_ht_copy_refinement(&set, bytes + block->refinement);
        at = block->refinement + block->refinement_bytes;
    }
    return l2k_cuda_bytes_upload(b, bytes, gathered);
}

/* ---- The work ---------------------------------------------------------------------------------------------------- */

static l2k_status launch_decoding(const l2k_ht_cuda *c)
{
    void *stream = c->blocks.running;
    uint8_t *device = c->blocks.device.at;
    const l2k_ht_cuda_decode_block *list = (l2k_ht_cuda_decode_block *)(device + c->list);
    l2k_ht_cuda_decode run = {.blocks = list,
                              .num_blocks = (uint32_t)c->blocks.batch.num_places,
                              .tables = (l2k_ht_cuda_tables *)c->blocks.tables.at,
                              .counters = (l2k_ht_cuda_counters *)(device + c->counters),
                              .bytes = l2k_cuda_bytes_at(&c->blocks),
                              .scratch = device + c->scratch};
    L2K_TRY(l2k_ht_cuda_check_launch(c, l2k_ht_cuda_launch_unstuff(&run, stream)));
    for (; run.form < L2K_HT_FORMS; run.form++) {
        run.blocks = list + c->ranges[run.form].first;
        run.num_blocks = c->ranges[run.form].count;
        if (run.num_blocks == 0)
            continue;
        L2K_TRY(l2k_ht_cuda_check_launch(c, l2k_ht_cuda_launch_quads(&run, stream)));
        L2K_TRY(l2k_ht_cuda_check_launch(c, l2k_ht_cuda_launch_samples(&run, stream)));
        if (c->any_refined)
            L2K_TRY(l2k_ht_cuda_check_launch(c, l2k_ht_cuda_launch_refine(&run, stream)));
    }
    return L2K_OK;
}

static l2k_ht_cuda_counters *counters_of(const l2k_ht_cuda *c)
{
    return (l2k_ht_cuda_counters *)(c->blocks.pinned.at + c->counters);
}

/* Bytes that go up as a whole do so while the host makes the list of blocks. */
static l2k_status prepare_decoding(l2k_ht_cuda *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    const size_t size = sizeof(l2k_ht_cuda_decode_block);
    uint64_t gathered = 0;
    size_t scratch = 0;
    L2K_TRY(l2k_ht_cuda_start_lists(c, size));
    c->scratch = l2k_cuda_aligned(c->counters + sizeof(l2k_ht_cuda_counters));
    L2K_TRY(l2k_cuda_pin(b->context, &b->pinned, c->scratch));
    L2K_TRY(l2k_cuda_bytes_start(b));
    L2K_TRY(list_to_decode(c, &gathered, &scratch));
    if (!b->bytes.direct)
        L2K_TRY(gather_and_upload(c, (size_t)gathered));
    l2k_ht_cuda_sort_list(c, size, true);
    return l2k_cuda_reserve_for_code(b->context, &b->device, c->scratch + scratch);
}

l2k_status l2k_ht_cuda_start_decoding(l2k_ht_cuda *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    L2K_TRY(prepare_decoding(c));
    *counters_of(c) = (l2k_ht_cuda_counters){0};
    L2K_TRY(l2k_cuda_upload(b->context, b->running, b->device.at + c->list, b->pinned.at + c->list,
                            c->counters + sizeof(l2k_ht_cuda_counters) - c->list));
    L2K_TRY(launch_decoding(c));
    L2K_TRY(l2k_cuda_download(b->context, b->running, counters_of(c), b->device.at + c->counters,
                              sizeof(l2k_ht_cuda_counters)));
    return l2k_cuda_mark(b->context, &b->done, b->running);
}

l2k_status l2k_ht_cuda_finish_decoding(l2k_ht_cuda *c)
{
    L2K_TRY(l2k_cuda_wait_to_mark(c->blocks.context, c->blocks.done));
    if (counters_of(c)->damaged)
        mark_damaged(c);
    return L2K_OK;
}
