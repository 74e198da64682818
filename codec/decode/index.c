/* The packet indices that windows of a file leave to later ones, and the sources of their packets' places: lengths that
 * headers state, and SOP. */
#include "codec/decode/tile_state.h"

l2k_status l2k_start_packets(const l2k_decoding *d, l2k_tile_state *s)
{
    if (!s->order.keys)
        return l2k_packet_order_create(d->context, &s->tile, &s->order);
    l2k_packet_order_restart(&s->order);
    return s->order.status;
}

/* Enters the packets of a tile-part. *is_right: the index has them all. *is_stated: a header lists their lengths. Looking
 * for SOP instead reads all bytes of the packets, which a file that is read in parts avoids. */
static l2k_status enter_part(const l2k_decoding *d, l2k_tile_state *s, const l2k_tile_part_span *part,
                             l2k_packet_entry *entry, l2k_packet_index *index, bool *is_stated, bool *is_right)
{
    l2k_buffer lengths = {.context = d->context};
    const l2k_status status = l2k_codestream_lengths(d->codestream, part, &lengths);
    const l2k_packet_span span = {part->packets, part->end, lengths.data, l2k_buffer_end(&lengths)};
    *is_stated = *is_stated || lengths.size > 0;
    *is_right = status == L2K_OK &&
                (lengths.size > 0 || (s->coding.sop && !d->context->partial) || part->packets == part->end) &&
                l2k_packet_index_enter(index, entry, &span);
    l2k_buffer_release(&lengths);
    return status;
}

static const char wrong_lengths[] = "the packet lengths of tile %u do not match its packets";

l2k_status l2k_enter_lengths(const l2k_decoding *d, l2k_tile_state *s, l2k_packet_index *index)
{
    const l2k_codestream *cs = d->codestream;
    l2k_packet_entry entry = {&s->tile, cs->data, &s->order, 0};
    l2k_packet_id id;
    bool is_stated = false, is_right = l2k_packet_index_take_lengths(d->context, &s->tile, index);
    const bool has_memory = is_right;
    L2K_TRY(l2k_start_packets(d, s));
    for (size_t i = cs->first_part[s->tile.index]; is_right && i != L2K_NO_PART; i = cs->parts[i].next)
        L2K_TRY(enter_part(d, s, &cs->parts[i], &entry, index, &is_stated, &is_right));
    index->is_whole = is_right && !l2k_packet_order_next(&s->order, &id);
    if (!index->is_whole)
        l2k_packet_index_empty(d->context, index);
    if (!index->is_whole && has_memory && is_stated)
        l2k_note(d->context, wrong_lengths, s->tile.index);
    return s->order.status;
}

l2k_status l2k_find_index(const l2k_decoding *d, l2k_tile_state *s, uint64_t bytes, l2k_packet_index **index)
{
    *index = NULL;
    if (!d->indices)
        return L2K_OK;
    *index = d->indices[s->tile.index];
    if (*index && l2k_packet_index_fits(*index, &s->tile))
        return L2K_OK;
    l2k_packet_index_free(d->context, *index);
    *index = d->indices[s->tile.index] = l2k_packet_index_create(d->context, &s->tile, bytes);
    const l2k_status status = *index ? l2k_enter_lengths(d, s, *index) : L2K_OK;
    if (status != L2K_OK) { /* the next window tries again */
        l2k_packet_index_free(d->context, *index);
        *index = d->indices[s->tile.index] = NULL;
    }
    return status;
}

l2k_status l2k_distrust_index(const l2k_decoding *d, l2k_tile_state *s, l2k_packet_index *index)
{
    if (d->codestream->strict)
        return l2k_fail(d->context, L2K_ERROR_CORRUPT, wrong_lengths, s->tile.index);
    l2k_note(d->context, wrong_lengths, s->tile.index);
    atomic_store(&d->findings->lengths_are_wrong, true);
    l2k_packet_index_empty(d->context, index);
    return l2k_tile_restart(d->context, UINT64_MAX, &s->tile);
}
