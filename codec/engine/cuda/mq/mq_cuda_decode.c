/* The host's side of decoding MQ code-blocks on a device: chooses the passes and bytes that go there, lays out memory,
 * and orders the blocks. A frame may have tens of thousands of blocks, so the work for each is kept short. */
#include "codec/engine/cuda/mq/mq_cuda_coding.h"

#include <string.h>

#include "base/integer.h"
#include "codec/blocks/mq/t1.h"
#include "codec/engine/cuda/mq/mq_tables.h"
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

l2k_status l2k_mq_cuda_create(const l2k_context *context, l2k_mq_cuda *d)
{
    l2k_t1 *t1;
    L2K_TRY(l2k_cuda_blocks_create(context, &d->blocks, sizeof(l2k_mq_tables_on_cuda)));
    L2K_TRY(l2k_t1_create(context, &t1));
    const l2k_status status = l2k_t1_reserve(t1, 1);
    l2k_mq_tables_on_cuda *tables = (l2k_mq_tables_on_cuda *)d->blocks.pinned.at;
    if (status == L2K_OK)
        make_tables(t1->decoder, &tables->decode);
    l2k_t1_free(t1);
    L2K_TRY(status);
    l2k_mq_cuda_make_tables(&tables->encode);
    return l2k_cuda_blocks_send_tables(&d->blocks);
}

/* ---- Lists ---------------------------------------------------------------------------------------------------- */

/* Blocks are sorted by the length of their code, in units of 32 bits; the last of CLASSES has all longer ones. */
enum { CLASSES = 1024 };

/* The lists in pinned memory while they are made. */
typedef struct listing {
    l2k_mq_decode_batch at;
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
static inline uint32_t list_piece(l2k_mq_cuda *d, listing *list, const l2k_contribution *from, uint32_t most)
{
    const l2k_cuda_bytes *bytes = &d->blocks.bytes;
    l2k_mq_decode_piece piece = {(uint32_t)list->bytes, l2k_min_u32(from->bytes, most)};
    if (piece.bytes == 0)
        return 0;
    if (!bytes->direct)
        memcpy(bytes->gathered.at + list->bytes, from->data, piece.bytes);
    else if (!l2k_cuda_find_bytes(&d->blocks.more, from->data, piece.bytes, &piece.at))
        d->scattered = true;
    if (list->num_pieces < d->most_pieces)
        list->at.pieces[list->num_pieces] = piece;
    list->num_pieces++;
    list->bytes += piece.bytes;
    return piece.bytes;
}

/* Lists the segment from contribution `first` on; `left` passes are wanted. Returns where the next one begins. */
static inline const l2k_contribution *list_segment(l2k_mq_cuda *d, listing *list, const l2k_mq_decode_block *block,
                                                   const l2k_contribution *first, unsigned left,
                                                   l2k_mq_decode_segment *segment)
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
        bytes += list_piece(d, list, c, most - bytes);
    segment->num_pieces = (uint32_t)list->num_pieces - segment->pieces;
    segment->num_bits = l2k_mq_decode_num_bits(bytes);
    list->bits += segment->num_bits;
    return end;
}

static inline void list_segments(l2k_mq_cuda *d, listing *list, const l2k_contribution *first,
                                 l2k_mq_decode_block *block)
{
    const unsigned most = 3u * block->planes - 2;
    block->segments = (uint32_t)list->num_segments;
    while (first && block->passes < most) {
        l2k_mq_decode_segment segment;
        first = list_segment(d, list, block, first, most - block->passes, &segment);
        if (segment.passes == 0)
            continue;
        segment.raw = l2k_pass_is_raw(block->style, block->passes);
        block->passes = (uint8_t)(block->passes + segment.passes);
        if (list->num_segments < d->most_segments)
            list->at.segments[list->num_segments] = segment;
        list->num_segments++;
        block->num_segments++;
    }
}

static inline unsigned zero_table(unsigned orientation)
{
    return orientation == L2K_HL ? 1 : orientation == L2K_HH ? 2 : 0;
}

static inline l2k_status list_block(l2k_mq_cuda *d, const l2k_cuda_band *band, const l2k_block *from, listing *list,
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
        return l2k_fail(d->blocks.context, L2K_ERROR_CORRUPT, "a code-block of more than 2^32 bytes");
    list_segments(d, list, from->received.first, to);
    list->planes += l2k_mq_decode_plane_words(to);
    return L2K_OK;
}

static l2k_status list_blocks(l2k_mq_cuda *d, listing *list)
{
    const l2k_context *context = d->blocks.context;
    const l2k_block_batch *batch = &d->blocks.batch;
    l2k_cuda_band band = {0};
    uint32_t most_words = 0;
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_block_place *place = &batch->places[i];
        l2k_mq_decode_block *to = &list->at.blocks[i];
        const uint64_t bits = list->bits;
        l2k_cuda_fetch_ahead(batch, i);
        if (place->band != band.band)
            L2K_TRY(l2k_cuda_look_at_band(context, place->band, false, &band));
        L2K_TRY(list_block(d, &band, place->block, list, to));
        most_words = l2k_max_u32(most_words, l2k_mq_decode_words(&to->view));
        list->classes[i] = (uint16_t)(to->passes ? l2k_min_u32((uint32_t)(list->bits - bits), CLASSES - 1) : 0);
        list->in_class[list->classes[i]]++;
    }
    if (list->bits > UINT32_MAX || list->planes > UINT32_MAX || list->num_pieces > UINT32_MAX)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    d->decode.most_words = most_words;
    d->decode.most_lanes = l2k_mq_decode_most_lanes(most_words);
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

/* The lists, with which pinned and device memory begin. Returns their bytes. */
static size_t place_lists(const l2k_mq_cuda *d, const l2k_cuda_memory *memory, l2k_mq_decode_batch *at)
{
    const size_t count = d->blocks.batch.num_places;
    size_t used = 0;
    at->blocks = l2k_cuda_part(memory, &used, count * sizeof *at->blocks);
    at->order = l2k_cuda_part(memory, &used, count * sizeof *at->order);
    at->starts = l2k_cuda_part(memory, &used, (count + 1) * sizeof *at->starts);
    at->segments = l2k_cuda_part(memory, &used, d->most_segments * sizeof *at->segments);
    at->pieces = l2k_cuda_part(memory, &used, d->most_pieces * sizeof *at->pieces);
    return used;
}

/* Repeats if segments or pieces exceeded their room. */
static l2k_status make_lists(l2k_mq_cuda *d, listing *list)
{
    l2k_cuda_blocks *b = &d->blocks;
    const size_t count = b->batch.num_places;
    d->most_segments = count > d->most_segments ? count : d->most_segments;
    d->most_pieces = count > d->most_pieces ? count : d->most_pieces;
    for (;;) {
        *list = (listing){0};
        d->scattered = false;
        const size_t bytes = place_lists(d, &b->pinned, &list->at);
        L2K_TRY(l2k_cuda_pin(b->context, &b->pinned, bytes + count * sizeof *list->classes));
        place_lists(d, &b->pinned, &list->at);
        list->classes = (uint16_t *)(b->pinned.at + bytes);
        L2K_TRY(list_blocks(d, list));
        if (list->num_segments <= d->most_segments && list->num_pieces <= d->most_pieces)
            return L2K_OK;
        d->most_segments = list->num_segments > d->most_segments ? list->num_segments : d->most_segments;
        d->most_pieces = list->num_pieces > d->most_pieces ? list->num_pieces : d->most_pieces;
    }
}

static l2k_status make_lists_and_gather(l2k_mq_cuda *d, listing *list)
{
    l2k_cuda_blocks *b = &d->blocks;
    uint64_t bytes = 0;
    for (size_t i = 0; i < b->batch.num_places; i++) {
        const l2k_received_block *received = &b->batch.places[i].block->received;
        bytes += received->first && received->bytes <= UINT32_MAX ? received->bytes : 0;
    }
    if (bytes > UINT32_MAX)
        return l2k_fail(b->context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    L2K_TRY(l2k_cuda_bytes_gather(b, (size_t)bytes));
    L2K_TRY(make_lists(d, list));
    return l2k_cuda_bytes_upload(b, b->bytes.gathered.at, (size_t)list->bytes);
}

/* Segments without stuffing and bit-planes follow the lists. */
static size_t place_all(l2k_mq_cuda *d, const listing *list)
{
    const l2k_cuda_memory *device = &d->blocks.device;
    size_t used = place_lists(d, device, &d->decode);
    d->decode.bits = l2k_cuda_part(device, &used, list->bits * sizeof *d->decode.bits);
    d->decode.planes = l2k_cuda_part(device, &used, list->planes * sizeof *d->decode.planes);
    return used;
}

static l2k_status prepare(l2k_mq_cuda *d)
{
    l2k_cuda_blocks *b = &d->blocks;
    listing list;
    if (b->batch.num_places > UINT32_MAX / 2)
        return l2k_fail(b->context, L2K_ERROR_UNSUPPORTED, "CUDA: %zu code-blocks at once", b->batch.num_places);
    L2K_TRY(l2k_cuda_bytes_start(b));
    if (b->bytes.direct)
        L2K_TRY(make_lists(d, &list));
    if (!b->bytes.direct || d->scattered) {
        b->bytes.direct = false;
        L2K_TRY(make_lists_and_gather(d, &list));
    }
    const uint32_t ordered = put_in_order(&list, b->batch.num_places, list.at.order);
    d->decode.num_groups =
        divide(b->context->in_flight < 2, b->processors, d->decode.most_lanes, ordered, list.at.starts);
    d->decode.num_blocks = (uint32_t)b->batch.num_places;
    d->decode.num_segments = (uint32_t)list.num_segments;
    d->decode.tables = &((l2k_mq_tables_on_cuda *)b->tables.at)->decode;
    d->decode.bytes = l2k_cuda_bytes_at(b);
    L2K_TRY(l2k_cuda_reserve_for_code(b->context, &b->device, place_all(d, &list)));
    const size_t lists = place_lists(d, &b->device, &d->decode);
    place_all(d, &list);
    return l2k_cuda_upload(b->context, b->running, b->device.at, b->pinned.at, lists);
}

static l2k_status check_launch(const l2k_mq_cuda *d, int error)
{
    return l2k_cuda_check(d->blocks.context, error, "launching the MQ block decoder");
}

l2k_status l2k_mq_cuda_start_decoding(l2k_mq_cuda *d)
{
    l2k_cuda_blocks *b = &d->blocks;
    L2K_TRY(prepare(d));
    L2K_TRY(check_launch(d, l2k_mq_launch_unstuff(&d->decode, b->running)));
    L2K_TRY(check_launch(d, l2k_mq_launch_decode(&d->decode, b->running)));
    L2K_TRY(check_launch(d, l2k_mq_launch_samples(&d->decode, b->running)));
    return l2k_cuda_mark(b->context, &b->done, b->running);
}
