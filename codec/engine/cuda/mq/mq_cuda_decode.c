/* The host's side of decoding MQ code-blocks on a device: chooses the passes and bytes that go there, lays out memory,
 * and orders the blocks. A frame may have tens of thousands of blocks, so the work for each is kept short. */
#include "codec/engine/cuda/mq/mq_cuda_coding.h"

#include <string.h>

#include "base/integer.h"
#include "codec/blocks/mq/t1.h"
#include "transform/cuda/cuda_device.h"

/* ---- Tables -------------------------------------------------------------------------------------------------- */

/* Entry `i` of the CPU's table (mq_decode.h) as a word. */
static uint32_t state_word(const l2k_mq_model *model, unsigned i)
{
    return (uint32_t)(model->states[i] >> 47) << 16 | i << 3 | (model->states[i] >> 16 & 1);
}

/* Half of A decides a raw bit, which makes it C's next bit. */
static void make_states(const l2k_mq_model *model, l2k_mq_decode_tables *tables)
{
    enum { ROWS = 94 };
    const uint32_t raw = 0x4000u << 16 | ROWS << 3 | 1;
    for (unsigned i = 0; i < ROWS; i++) {
        tables->states[i][0] = state_word(model, model->states[i] & 0xFF);
        tables->states[i][1] = state_word(model, model->states[i] >> 8 & 0xFF);
    }
    tables->states[ROWS][0] = tables->states[ROWS][1] = raw;
    for (unsigned k = 0; k < L2K_NUM_CONTEXTS; k++)
        for (unsigned i = 0; i < ROWS; i++)
            if (model->states[i] == model->contexts[k])
                tables->first[k] = state_word(model, i);
    tables->first[L2K_MQ_DECODE_RAW] = raw;
}

/* `index`: from bit 0, 2, 5 and 7 on, significance and sign of the neighbours on opposite sides: east, west; south,
 * north. The CPU's has four significances in bits 0, 3, 5 and 7, signs above them. */
static uint8_t sign_entry(const l2k_t1_decoder *cpu, unsigned index)
{
    return cpu->sign_context[(index & 3) | (index >> 2 & 3) << 3 | (index >> 5 & 3) << 5 | (index >> 7 & 3) << 7];
}

static void make_tables(const l2k_t1_decoder *cpu, l2k_mq_decode_tables *tables)
{
    memset(tables, 0, sizeof *tables);
    make_states(&cpu->model, tables);
    for (unsigned i = 0; i < 512; i++) {
        tables->lookups[L2K_MQ_DECODE_ZEROS + i] = cpu->zero_contexts[L2K_LL][i];
        tables->lookups[L2K_MQ_DECODE_ZEROS + 512 + i] = cpu->zero_contexts[L2K_HL][i];
        tables->lookups[L2K_MQ_DECODE_ZEROS + 1024 + i] = cpu->zero_contexts[L2K_HH][i];
        tables->lookups[L2K_MQ_DECODE_SIGNS + i] = sign_entry(cpu, i);
        tables->lookups[L2K_MQ_DECODE_REFINEMENT + i] = (uint8_t)(L2K_CONTEXT_REFINE + (i >> 5 & 3));
        tables->lookups[L2K_MQ_DECODE_RAW_BITS + i] = L2K_MQ_DECODE_RAW;
    }
}

static l2k_status make_and_upload(const l2k_cuda_blocks *b, l2k_mq_cuda_decoding *d, l2k_t1 *t1)
{
    L2K_TRY(l2k_t1_reserve(t1, 1));
    make_tables(t1->decoder, (l2k_mq_decode_tables *)b->pinned.at);
    L2K_TRY(l2k_cuda_upload(b->context, b->stream, d->tables.at, b->pinned.at, sizeof(l2k_mq_decode_tables)));
    return l2k_cuda_wait(b->context, b->stream);
}

l2k_status l2k_mq_cuda_create_decoding(l2k_cuda_blocks *b, l2k_mq_cuda_decoding *d)
{
    l2k_t1 *t1;
    d->bytes = &b->bytes;
    L2K_TRY(l2k_cuda_reserve(b->context, &d->tables, sizeof(l2k_mq_decode_tables)));
    L2K_TRY(l2k_cuda_reserve(b->context, &b->pinned, sizeof(l2k_mq_decode_tables)));
    L2K_TRY(l2k_t1_create(b->context, &t1));
    const l2k_status status = make_and_upload(b, d, t1);
    l2k_t1_free(t1);
    return status;
}

/* ---- Lists ---------------------------------------------------------------------------------------------------- */

/* Blocks are sorted by the length of their code, in units of 32 bits; the last of CLASSES has all longer ones. */
enum { CLASSES = 1024 };

/* The lists in pinned memory while they are made. */
typedef struct listing {
    l2k_mq_decode_block *blocks;
    l2k_mq_decode_segment *segments;
    l2k_mq_decode_piece *pieces;
    size_t num_segments, num_pieces; /* those beyond the room for them are only counted */
    uint64_t bytes, bits, planes;    /* of all pieces; l2k_mq_bits; words of bit-planes */
    uint16_t *classes;               /* of the blocks; 0: without passes */
    uint32_t in_class[CLASSES];
} listing;

/* A decision shifts C by at most 15 bits. A pass takes at most two of them a sample and three a column, which bounds
 * the bytes that the passes of a segment can use. */
static uint32_t most_bytes(const l2k_mq_decode_block *block, unsigned passes)
{
    enum { DECISIONS = 3, SHIFT = 15, LEAST = 64 };
    return (uint32_t)block->view.width * block->view.height * DECISIONS * SHIFT / 7 * passes + LEAST;
}

/* Adds a piece of at most `most` bytes; returns its bytes. Unless all bytes go up directly, copies them. */
static inline uint32_t list_piece(l2k_mq_cuda_decoding *d, const l2k_cuda_batch *batch, listing *list,
                                  const l2k_contribution *from, uint32_t most)
{
    l2k_mq_decode_piece piece = {(uint32_t)list->bytes, l2k_min_u32(from->bytes, most)};
    if (piece.bytes == 0)
        return 0;
    if (!d->bytes->direct)
        memcpy(d->bytes->gathered.at + list->bytes, from->data, piece.bytes);
    else if (!l2k_cuda_find_bytes(batch, from->data, piece.bytes, &piece.at))
        d->scattered = true;
    if (list->num_pieces < d->most_pieces)
        list->pieces[list->num_pieces] = piece;
    list->num_pieces++;
    list->bytes += piece.bytes;
    return piece.bytes;
}

/* Lists the segment from contribution `first` on; `left` passes are wanted. Returns where the next one begins. */
static inline const l2k_contribution *list_segment(l2k_mq_cuda_decoding *d, const l2k_cuda_batch *batch, listing *list,
                                                   const l2k_mq_decode_block *block, const l2k_contribution *first,
                                                   unsigned left, l2k_mq_decode_segment *segment)
{
    const l2k_contribution *end = first->next;
    unsigned passes = first->passes;
    uint32_t bytes = 0;
    for (; end && !end->starts_segment; end = end->next)
        passes += end->passes;
    *segment = (l2k_mq_decode_segment){.pieces = (uint32_t)list->num_pieces,
                                       .bits_at = (uint32_t)list->bits,
                                       .passes = (uint8_t)l2k_min_u32(passes, left)};
    const uint32_t most = most_bytes(block, segment->passes);
    for (const l2k_contribution *c = first; c != end; c = c->next)
        bytes += list_piece(d, batch, list, c, most - bytes);
    segment->num_pieces = (uint32_t)list->num_pieces - segment->pieces;
    segment->num_bits = l2k_mq_decode_num_bits(bytes);
    list->bits += segment->num_bits;
    return end;
}

static inline void list_segments(l2k_mq_cuda_decoding *d, const l2k_cuda_batch *batch, listing *list,
                                 const l2k_contribution *first, l2k_mq_decode_block *block)
{
    const unsigned most = 3u * block->planes - 2;
    block->segments = (uint32_t)list->num_segments;
    while (first && block->passes < most) {
        l2k_mq_decode_segment segment;
        first = list_segment(d, batch, list, block, first, most - block->passes, &segment);
        if (segment.passes == 0)
            continue;
        segment.raw = l2k_pass_is_raw(block->style, block->passes);
        block->passes = (uint8_t)(block->passes + segment.passes);
        if (list->num_segments < d->most_segments)
            list->segments[list->num_segments] = segment;
        list->num_segments++;
        block->num_segments++;
    }
}

static inline unsigned zero_table(unsigned orientation)
{
    return orientation == L2K_HL ? 1 : orientation == L2K_HH ? 2 : 0;
}

static inline l2k_status list_block(const l2k_context *context, l2k_mq_cuda_decoding *d, const l2k_cuda_batch *batch,
                                    const l2k_cuda_band *band, const l2k_block *from, listing *list,
                                    l2k_mq_decode_block *to)
{
    const l2k_component_coding *coding = band->band->component->coding;
    *to = (l2k_mq_decode_block){.view = l2k_cuda_view_of(band, from->rect),
                                .planes = from->num_planes,
                                .style = coding->style,
                                .zeros = (uint8_t)zero_table(band->band->orientation),
                                .roi_shift = coding->roi_shift,
                                .reversible = band->reversible,
                                .wide = band->bytes > sizeof(int16_t),
                                .planes_at = (uint32_t)list->planes};
    if (!from->received.first || from->num_planes == 0)
        return L2K_OK;
    if (from->received.bytes > UINT32_MAX)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "a code-block of more than 2^32 bytes");
    list_segments(d, batch, list, from->received.first, to);
    list->planes += l2k_mq_decode_plane_words(to);
    return L2K_OK;
}

/* A frame's blocks take megabytes and have left the cache since their last use. */
static inline void fetch_ahead(const l2k_block_batch *batch, size_t i)
{
    enum { AHEAD = 24, NEAR = 12 };
    if (i + AHEAD < batch->num_places)
        __builtin_prefetch(batch->places[i + AHEAD].block);
    if (i + NEAR < batch->num_places)
        __builtin_prefetch(batch->places[i + NEAR].block->received.first);
}

static l2k_status list_blocks(const l2k_cuda_blocks *b, l2k_mq_cuda_decoding *d, listing *list)
{
    const l2k_block_batch *batch = &b->batch;
    l2k_cuda_band band = {0};
    uint32_t most_words = 0;
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_block_place *place = &batch->places[i];
        l2k_mq_decode_block *to = &list->blocks[i];
        const uint64_t bits = list->bits;
        fetch_ahead(batch, i);
        if (place->band != band.band)
            L2K_TRY(l2k_cuda_look_at_band(b->context, place->band, false, &band));
        L2K_TRY(list_block(b->context, d, &b->more, &band, place->block, list, to));
        most_words = l2k_max_u32(most_words, l2k_mq_decode_words(&to->view));
        list->classes[i] = (uint16_t)(to->passes ? l2k_min_u32((uint32_t)(list->bits - bits), CLASSES - 1) : 0);
        list->in_class[list->classes[i]]++;
    }
    if (list->bits > UINT32_MAX || list->planes > UINT32_MAX || list->num_pieces > UINT32_MAX)
        return l2k_fail(b->context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    d->run.most_words = most_words;
    d->run.most_lanes = l2k_mq_decode_most_lanes(most_words);
    return L2K_OK;
}

/* ---- Order ---------------------------------------------------------------------------------------------------- */

/* The longest first. */
static uint32_t put_in_order(const listing *list, size_t count, uint32_t *order)
{
    uint32_t next[CLASSES], sum = 0;
    for (unsigned k = CLASSES; k-- > 1;) {
        next[k] = sum;
        sum += list->in_class[k];
    }
    for (size_t i = 0; i < count; i++)
        if (list->classes[i])
            order[next[list->classes[i]]++] = (uint32_t)i;
    return sum;
}

/* An image alone on the device waits for its longest blocks: these have a warp each, and the following ones share a
 * warp with fewer than 32, as many as warps allow. That takes more instructions in all. Returns the number of
 * groups. */
static uint32_t divide(bool alone, uint32_t processors, uint32_t most_lanes, uint32_t count, uint32_t *starts)
{
    static const struct {
        uint32_t lanes, blocks; /* of a group; of all groups, for each multiprocessor */
    } parts[] = {{1, 2}, {4, 2}, {8, 4}, {16, 8}};
    uint32_t groups = 0, at = 0;
    for (unsigned k = 0; alone && k < sizeof parts / sizeof *parts; k++)
        for (uint32_t end = l2k_min_u32(at + parts[k].blocks * processors, count); at < end; at += parts[k].lanes)
            starts[groups++] = at;
    for (; at < count; at += most_lanes)
        starts[groups++] = at;
    starts[groups] = count;
    return groups;
}

/* ---- Start ---------------------------------------------------------------------------------------------------- */

static l2k_status lay_out_lists(l2k_cuda_blocks *b, l2k_mq_cuda_decoding *d, listing *list)
{
    const size_t count = b->batch.num_places;
    d->order = l2k_cuda_aligned(count * sizeof(l2k_mq_decode_block));
    d->starts = d->order + count * sizeof(uint32_t);
    d->segments = l2k_cuda_aligned(d->starts + (count + 1) * sizeof(uint32_t));
    d->pieces = l2k_cuda_aligned(d->segments + d->most_segments * sizeof(l2k_mq_decode_segment));
    d->lists_end = l2k_cuda_aligned(d->pieces + d->most_pieces * sizeof(l2k_mq_decode_piece));
    L2K_TRY(l2k_cuda_reserve(b->context, &b->pinned, d->lists_end + count * sizeof(uint16_t)));
    uint8_t *at = b->pinned.at;
    *list = (listing){.blocks = (l2k_mq_decode_block *)at,
                      .segments = (l2k_mq_decode_segment *)(at + d->segments),
                      .pieces = (l2k_mq_decode_piece *)(at + d->pieces),
                      .classes = (uint16_t *)(at + d->lists_end)};
    return L2K_OK;
}

/* Repeats if segments or pieces exceeded their room. */
static l2k_status make_lists(l2k_cuda_blocks *b, l2k_mq_cuda_decoding *d, listing *list)
{
    const size_t count = b->batch.num_places;
    d->most_segments = count > d->most_segments ? count : d->most_segments;
    d->most_pieces = count > d->most_pieces ? count : d->most_pieces;
    for (;;) {
        d->scattered = false;
        L2K_TRY(lay_out_lists(b, d, list));
        L2K_TRY(list_blocks(b, d, list));
        if (list->num_segments <= d->most_segments && list->num_pieces <= d->most_pieces)
            return L2K_OK;
        d->most_segments = list->num_segments > d->most_segments ? list->num_segments : d->most_segments;
        d->most_pieces = list->num_pieces > d->most_pieces ? list->num_pieces : d->most_pieces;
    }
}

static l2k_status make_lists_and_gather(l2k_cuda_blocks *b, l2k_mq_cuda_decoding *d, listing *list)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < b->batch.num_places; i++) {
        const l2k_received_block *received = &b->batch.places[i].block->received;
        bytes += received->first && received->bytes <= UINT32_MAX ? received->bytes : 0;
    }
    if (bytes > UINT32_MAX)
        return l2k_fail(b->context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    L2K_TRY(l2k_cuda_bytes_gather(b, (size_t)bytes));
    L2K_TRY(make_lists(b, d, list));
    return l2k_cuda_bytes_upload(b, d->bytes->gathered.at, (size_t)list->bytes);
}

/* Segments without stuffing and bit-planes follow the lists. */
static l2k_status lay_out_device(l2k_cuda_blocks *b, l2k_mq_cuda_decoding *d, const listing *list)
{
    const size_t bits = d->lists_end, planes = l2k_cuda_aligned(bits + list->bits * sizeof(l2k_mq_bits));
    L2K_TRY(l2k_cuda_reserve_for_code(b->context, &b->device, planes + list->planes * sizeof(uint64_t)));
    uint8_t *at = b->device.at;
    l2k_mq_decode_batch *run = &d->run;
    run->tables = (l2k_mq_decode_tables *)d->tables.at;
    run->blocks = (l2k_mq_decode_block *)at;
    run->order = (uint32_t *)(at + d->order);
    run->starts = (uint32_t *)(at + d->starts);
    run->segments = (l2k_mq_decode_segment *)(at + d->segments);
    run->pieces = (l2k_mq_decode_piece *)(at + d->pieces);
    run->bytes = l2k_cuda_bytes_at(b);
    run->bits = (l2k_mq_bits *)(at + bits);
    run->planes = (uint64_t *)(at + planes);
    run->num_blocks = (uint32_t)b->batch.num_places;
    run->num_segments = (uint32_t)list->num_segments;
    return L2K_OK;
}

static l2k_status prepare(l2k_cuda_blocks *b, l2k_mq_cuda_decoding *d)
{
    listing list;
    if (b->batch.num_places > UINT32_MAX / 2)
        return l2k_fail(b->context, L2K_ERROR_UNSUPPORTED, "CUDA: %zu code-blocks at once", b->batch.num_places);
    L2K_TRY(l2k_cuda_bytes_start(b));
    if (d->bytes->direct)
        L2K_TRY(make_lists(b, d, &list));
    if (!d->bytes->direct || d->scattered) {
        d->bytes->direct = false;
        L2K_TRY(make_lists_and_gather(b, d, &list));
    }
    const uint32_t ordered = put_in_order(&list, b->batch.num_places, (uint32_t *)(b->pinned.at + d->order));
    d->run.num_groups = divide(b->context->in_flight < 2, b->processors, d->run.most_lanes, ordered,
                               (uint32_t *)(b->pinned.at + d->starts));
    return lay_out_device(b, d, &list);
}

static l2k_status check_launch(const l2k_cuda_blocks *b, int error)
{
    return l2k_cuda_check(b->context, error, "launching the MQ block decoder");
}

l2k_status l2k_mq_cuda_start_decoding(l2k_cuda_blocks *b, l2k_mq_cuda_decoding *d)
{
    L2K_TRY(prepare(b, d));
    L2K_TRY(l2k_cuda_upload(b->context, b->running, b->device.at, b->pinned.at, d->lists_end));
    L2K_TRY(check_launch(b, l2k_mq_launch_unstuff(&d->run, b->running)));
    L2K_TRY(check_launch(b, l2k_mq_launch_decode(&d->run, b->running)));
    L2K_TRY(check_launch(b, l2k_mq_launch_samples(&d->run, b->running)));
    return l2k_cuda_mark(b->context, &b->done, b->running);
}
