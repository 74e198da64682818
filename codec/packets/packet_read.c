/* Reads packets (B.9, B.10): headers, and the bytes of each code-block, which stay in the file's memory. */
#include "codec/packets/packet_reader.h"

#include "base/run.h"

/* Work per packet and per code-block in it, for l2k_poll. */
enum { WEIGHT_OF_PACKET = 64, WEIGHT_OF_BLOCK = 16 };

/* Table B.4. */
static inline unsigned get_pass_count(l2k_bit_reader *bits)
{
    if (!l2k_bits_get(bits, 1))
        return 1;
    if (!l2k_bits_get(bits, 1))
        return 2;
    unsigned n = l2k_bits_get(bits, 2);
    if (n < 3)
        return 3 + n;
    n = l2k_bits_get(bits, 5);
    if (n < 31)
        return 6 + n;
    return 37 + l2k_bits_get(bits, 7);
}

/* Whether the next bits are the length of a single contribution: not for an MQ block with several segments, an HT block
 * that has its first pass, or placeholder passes. */
static inline bool has_one_length(const l2k_packet_reader *reader, const l2k_block_state *block, unsigned passes)
{
    if (block->kind == L2K_BLOCK_MQ)
        return reader->one_segment;
    return passes == 1 && block->num_passes == 0 && !(reader->style & L2K_STYLE_HT_MIXED);
}

/* Reads such a length. False for an HT block of 0 or 1 byte and for values beyond limits, which need the general
 * function. */
static inline bool get_one_length(l2k_block_state *block, unsigned passes, l2k_bit_reader *bits, uint32_t *bytes)
{
    const unsigned width = block->lblock + l2k_log2(passes);
    if (width > 32 || block->num_planes == 0 || block->num_passes + passes > L2K_MAX_RECEIVED_PASSES)
        return false;
    *bytes = l2k_bits_peek(bits, width);
    if (block->kind != L2K_BLOCK_MQ && *bytes < 2)
        return false;
    l2k_bits_skip(bits, width);
    block->kind = block->kind == L2K_BLOCK_MQ ? L2K_BLOCK_MQ : L2K_BLOCK_HT;
    return true;
}

/* Reads the number of a block's passes in this packet, and the lengths of their segments. */
static inline l2k_status get_contributions(l2k_packet_reader *reader, l2k_block_state *block, l2k_bit_reader *bits)
{
    const unsigned passes = get_pass_count(bits), room = 32u - block->lblock;
    const unsigned more = l2k_bits_run(bits, 1, room + 1);
    uint32_t bytes;
    reader->excess |= block->kind == L2K_BLOCK_MQ && block->num_passes + passes + 2u > 3u * block->num_planes;
    block->lblock = (uint8_t)(block->lblock + more);
    if (more <= room && has_one_length(reader, block, passes) && get_one_length(block, passes, bits, &bytes))
        return l2k_packet_contribute(reader, block, passes, block->num_passes == 0, bytes);
    reader->bits = *bits;
    if (more > room)
        return l2k_packet_corrupt(reader, "a length of more than 32 bits");
    l2k_status status = l2k_packet_lengths(reader, block, passes);
    *bits = reader->bits;
    return status;
}

static l2k_status too_many_planes(l2k_packet_reader *reader, const l2k_bit_reader *bits)
{
    reader->bits = *bits;
    return l2k_packet_corrupt(reader, "more empty bit-planes than the subband has");
}

/* A row of a precinct's code-blocks in a subband, while a packet's header is read. */
typedef struct block_row {
    l2k_tag_row inclusion, zero_planes;
    l2k_block_state *states;
    l2k_block *kept;            /* the blocks to keep, from column first_kept on */
    uint32_t first_kept, count; /* count: of those to keep */
} block_row;

static block_row row_of(const l2k_packet_reader *reader, const l2k_precinct *precinct, uint32_t y)
{
    const l2k_rect kept = precinct->kept;
    block_row row = {.inclusion = l2k_tag_row_of(&precinct->inclusion, y),
                     .zero_planes = l2k_tag_row_of(&precinct->zero_planes, y),
                     .states = precinct->states + (size_t)y * precinct->grid.across};
    if (!reader->keep || y < kept.y0 || y >= kept.y1)
        return row;
    row.first_kept = kept.x0;
    row.count = kept.x1 - kept.x0;
    row.kept = precinct->blocks + (size_t)(y - kept.y0) * row.count;
    return row;
}

/* The missing bit-planes of a code-block (B.10.5). One query with the highest threshold reads the same bits as queries
 * with rising ones: a node reads none before its parent is known. */
static inline l2k_status get_planes(l2k_packet_reader *reader, const l2k_subband *band, const l2k_tag_row *row,
                                    uint32_t x, l2k_block_state *block, l2k_bit_reader *bits)
{
    if (!l2k_tag_decode(row, x, band->max_planes + 1u, bits))
        return too_many_planes(reader, bits);
    unsigned planes = band->max_planes - l2k_tag_value(row, x);
    bool may_be_ht = reader->style & L2K_STYLE_HT;
    L2K_TRY(l2k_packet_check_planes(reader, planes, may_be_ht ? UINT8_MAX : reader->coder->max_planes));
    block->num_planes = (uint8_t)planes;
    block->kind = may_be_ht ? L2K_BLOCK_OPEN : L2K_BLOCK_MQ;
    return L2K_OK;
}

/* Reads the header of the block in column x of a row; *is_out: it has no data yet. */
static inline l2k_status get_block_header(l2k_packet_reader *reader, const l2k_subband *band, const block_row *row,
                                          uint32_t x, uint32_t layer, l2k_bit_reader *bits, bool *is_out)
{
    l2k_block_state *block = &row->states[x];
    const uint32_t column = x - row->first_kept;
    *is_out = false;
    reader->block = column < row->count ? &row->kept[column] : NULL;
    if (block->num_passes == 0) {
        *is_out = !l2k_tag_decode(&row->inclusion, x, layer + 1, bits);
        if (*is_out)
            return L2K_OK;
        L2K_TRY(get_planes(reader, band, &row->zero_planes, x, block, bits));
    } else if (!l2k_bits_get(bits, 1)) {
        return L2K_OK;
    }
    return get_contributions(reader, block, bits);
}

/* A local copy of the bits, so that they can be in registers. A block without data tells how many more have none. */
static l2k_status get_precinct(l2k_packet_reader *reader, const l2k_subband *band, const l2k_precinct *precinct,
                               uint32_t layer)
{
    const uint32_t across = precinct->grid.across, down = precinct->grid.down;
    l2k_bit_reader bits = reader->bits;
    l2k_status status = L2K_OK;
    uint32_t advance = 1;
    for (uint32_t y = 0; y < down && advance != UINT32_MAX && !bits.exhausted && status == L2K_OK; y++) {
        const block_row row = row_of(reader, precinct, y);
        for (uint32_t x = 0; x < across && !bits.exhausted && status == L2K_OK; x += l2k_min_u32(advance, across - x)) {
            bool is_out;
            status = get_block_header(reader, band, &row, x, layer, &bits, &is_out);
            advance = is_out ? l2k_tag_above(&precinct->inclusion, x, y, layer + 1) : 1;
            reader->looks++;
        }
    }
    reader->bits = bits;
    return status;
}

static l2k_status get_header(l2k_packet_reader *reader, const l2k_resolution *resolution, const l2k_packet_id *id)
{
    if (!l2k_bits_get(&reader->bits, 1))
        return L2K_OK;
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        const l2k_subband *band = &resolution->bands[b];
        if (l2k_rect_empty(band->rect))
            continue;
        L2K_TRY(get_precinct(reader, band, l2k_precinct_of(resolution, b, id->precinct), id->layer));
    }
    return L2K_OK;
}

/* Appends a contribution, whose bytes are at `data`, to its block. */
static inline void keep_contribution(const l2k_pending *pending, const uint8_t *data, uint32_t layer,
                                     l2k_contribution *c)
{
    l2k_received_block *received = &pending->block->received;
    *c = (l2k_contribution){
        NULL, data, pending->bytes, (uint8_t)pending->passes, pending->starts_segment, (uint16_t)layer};
    if (received->last)
        received->last->next = c;
    else
        received->first = c;
    received->last = c;
    received->bytes += c->bytes;
}

/* Drops the received data of the packet's code-blocks from `from` on. */
static void drop_blocks(const l2k_resolution *resolution, const l2k_packet_id *id, const l2k_block *from)
{
    bool behind = false;
    for (uint32_t b = 0; from && b < resolution->num_bands; b++) {
        const l2k_precinct *precinct = l2k_precinct_of(resolution, b, id->precinct);
        const uint64_t count = precinct->blocks ? l2k_rect_area(precinct->kept) : 0;
        for (uint64_t i = 0; i < count; i++) {
            behind = behind || &precinct->blocks[i] == from;
            if (behind)
                precinct->blocks[i].received = (l2k_received_block){0};
        }
    }
}

/* The bytes end before the contribution `at`. */
static l2k_status end_body(const l2k_packet_reader *reader, const l2k_packet_id *id, size_t at, l2k_packet_input *input)
{
    const l2k_pending *pending = reader->pending->at;
    if (!input->like_openjpeg)
        return L2K_ERROR_TRUNCATED;
    while (at < reader->num_pending && !pending[at].block)
        at++;
    if (at < reader->num_pending)
        drop_blocks(&reader->tile->components[id->component].resolutions[id->resolution], id, pending[at].block);
    input->data = input->end;
    return L2K_ERROR_TRUNCATED;
}

/* If several threads read packets of the tile: one of them at a time uses its arenas. */
static void lock(const l2k_packet_input *input)
{
    if (input->lock)
        pthread_mutex_lock(input->lock);
}

static void unlock(const l2k_packet_input *input)
{
    if (input->lock)
        pthread_mutex_unlock(input->lock);
}

/* Takes memory for all contributions of the packet to code-blocks that are kept. */
static l2k_status take_contributions(const l2k_packet_reader *reader, const l2k_packet_input *input,
                                     l2k_contribution **contributions)
{
    const l2k_context *context = reader->context;
    size_t kept = 0;
    for (size_t i = 0; i < reader->num_pending; i++)
        kept += reader->pending->at[i].block != NULL;
    *contributions = NULL;
    if (kept == 0)
        return L2K_OK;
    lock(input);
    *contributions = l2k_arena_take(context, &reader->tile->contributions, kept * sizeof **contributions);
    reader->tile->has_contributions = true;
    unlock(input);
    return l2k_check_memory(context, *contributions, "packet contents");
}

static l2k_status take_body(const l2k_packet_reader *reader, const l2k_packet_id *id, l2k_packet_input *input)
{
    l2k_contribution *to;
    L2K_TRY(take_contributions(reader, input, &to));
    for (size_t i = 0; i < reader->num_pending; i++) {
        const l2k_pending *pending = &reader->pending->at[i];
        if (pending->bytes > (size_t)(input->end - input->data))
            return end_body(reader, id, i, input);
        if (pending->block)
            keep_contribution(pending, input->data, id->layer, to++);
        input->data += pending->bytes;
    }
    return L2K_OK;
}

/* Whether the bytes of the body are still arriving. */
static bool awaits_body(const l2k_packet_reader *reader, l2k_packet_input *input)
{
    uint64_t bytes = 0;
    for (size_t i = 0; input->arrives && i < reader->num_pending; i++)
        bytes += reader->pending->at[i].bytes;
    input->body_is_due = bytes > (uint64_t)(input->end - input->data);
    input->num_pending = reader->num_pending;
    return input->body_is_due;
}

static bool at_marker(const uint8_t *data, const uint8_t *end, unsigned code)
{
    return end - data >= 2 && data[0] == 0xFF && data[1] == code;
}

/* SOP may be missing from any packet although COD announces it, and some encoders write it unannounced (A.8.1). A
 * packet header cannot start with these two bytes, because a 0 is stuffed after a byte 0xFF. */
static l2k_status skip_sop(l2k_packet_input *input)
{
    if (!at_marker(input->data, input->end, 0x91))
        return L2K_OK;
    if (input->end - input->data < 6) /* OpenJPEG takes it for a packet header */
        return input->like_openjpeg ? L2K_OK : L2K_ERROR_TRUNCATED;
    input->data += 6;
    return L2K_OK;
}

/* EPH follows the header, packed or not (A.8.2). It is accepted even if unannounced, since a body cannot start with a
 * marker. */
static void skip_eph(const uint8_t **at, const uint8_t *end)
{
    if (at_marker(*at, end, 0x92))
        *at += 2;
}

/* Whether a header, or the EPH after it, extends beyond the part of the file that has been read. */
static bool goes_beyond(const l2k_packet_reader *reader, const uint8_t *sure)
{
    return sure && sure - reader->bits.next < 2;
}

/* OpenJPEG reads zeros past the end, but insists on EPH. */
static l2k_status end_as_openjpeg(l2k_packet_reader *reader, const uint8_t *at, const uint8_t *end)
{
    if (!reader->tile->coding->eph || at_marker(at, end, 0x92))
        return L2K_OK;
    reader->fault = "no EPH marker behind it";
    return L2K_ERROR_CORRUPT;
}

static l2k_status receive_precinct(const l2k_packet_reader *reader, const l2k_packet_id *id,
                                   const l2k_packet_input *input)
{
    lock(input);
    const l2k_status status = l2k_precinct_receive(
        reader->context, reader->tile, &reader->tile->components[id->component], id->resolution, id->precinct);
    unlock(input);
    return status;
}

static l2k_status read_header(l2k_packet_reader *reader, const l2k_packet_id *id, l2k_packet_input *input)
{
    const l2k_tile_component *component = &reader->tile->components[id->component];
    const uint8_t **at = input->packed ? &input->header : &input->data;
    const uint8_t *end = input->packed ? input->header_end : input->end;
    if (*at == end && input->like_openjpeg)
        L2K_TRY(end_as_openjpeg(reader, *at, end));
    if (*at == end)
        return L2K_ERROR_TRUNCATED;
    reader->bits = l2k_bits_from(*at, end);
    if (**at & 0x80) /* an empty packet needs no code-blocks */
        L2K_TRY(receive_precinct(reader, id, input));
    l2k_status status = get_header(reader, &component->resolutions[id->resolution], id);
    if (status == L2K_OK)
        l2k_bits_align(&reader->bits);
    input->beyond = goes_beyond(reader, input->packed ? NULL : input->sure);
    if (status != L2K_OK && !(status == L2K_ERROR_TRUNCATED && input->like_openjpeg))
        return status;
    if (reader->bits.exhausted && !input->like_openjpeg)
        return L2K_ERROR_TRUNCATED;
    *at = reader->bits.next;
    if (input->like_openjpeg)
        L2K_TRY(end_as_openjpeg(reader, *at, end));
    skip_eph(at, end);
    return L2K_OK;
}

static l2k_status read_header_of(l2k_packet_reader *reader, const l2k_packet_id *id, l2k_packet_input *input)
{
    L2K_TRY(skip_sop(input));
    const l2k_status status = read_header(reader, id, input);
    input->fault = reader->fault;
    input->excess |= reader->excess;
    input->looks += reader->looks;
    return status;
}

l2k_status l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                           l2k_packet_input *input)
{
    const unsigned style = tile->components[id->component].coding->style;
    l2k_packet_reader reader = {
        .context = context, .tile = tile, .coder = l2k_block_coder_for(style), .style = style, .keep = keep};
    reader.pending = input->pending ? input->pending : &tile->pending;
    reader.one_segment = !(style & (L2K_STYLE_BYPASS | L2K_STYLE_TERMALL));
    if (input->body_is_due)
        reader.num_pending = input->num_pending;
    else
        L2K_TRY(read_header_of(&reader, id, input));
    if (awaits_body(&reader, input))
        return L2K_OK;
    L2K_TRY(take_body(&reader, id, input));
    if (id->layer + 1 == tile->coding->num_layers)
        l2k_precinct_leave(tile, &tile->components[id->component].resolutions[id->resolution], id->precinct);
    return l2k_poll(context, WEIGHT_OF_PACKET + WEIGHT_OF_BLOCK * reader.looks);
}
