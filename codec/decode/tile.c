/* Reads a tile from the codestream: the bounds on what its headers may promise, and its packets. */

#include "codec/decode/packets.h"

/* ---- What headers may promise -------------------------------------------------------------------------------- */

/* A packet takes at least a byte. A truncated file may have fewer bytes than packets, so headers may promise some more,
 * bounded per tile and for all tiles together. Other work that takes no bytes counts as packets: four resolutions,
 * which may be empty and have no packet; 16 components of a tile-part header with marker segments; visits of precincts
 * by progression changes; and 8 progression changes, which every tile copies. */
enum {
    EXTRA_PACKETS_OF_TILE = 1 << 16,
    EXTRA_PACKETS = 1 << 20,
    RESOLUTIONS_OF_PACKET = 4,
    COMPONENTS_OF_PACKET = 16,
    LOOKS_OF_PACKET = 1 << 8,
    CHANGES_OF_PACKET = 8
};

static uint64_t extra_of(int_least64_t left)
{
    return left < 0 ? 0 : left < EXTRA_PACKETS_OF_TILE ? (uint64_t)left : EXTRA_PACKETS_OF_TILE;
}

/* One atomic exchange, so that two threads cannot both take the last packets that all tiles share. Timing decides which
 * tile gets them, so several threads may report another tile than one thread does. */
static l2k_status charge(const l2k_decoding *d, uint64_t packets, uint64_t bytes)
{
    uint64_t more = packets > bytes ? packets - bytes : 0;
    int_least64_t left = atomic_load(&d->findings->extra_packets);
    do {
        if (more > extra_of(left))
            return l2k_fail(d->context, L2K_ERROR_TRUNCATED,
                            "the file is too short for the components, tiles and packets that its headers promise");
    } while (more && !atomic_compare_exchange_weak(&d->findings->extra_packets, &left, left - (int_least64_t)more));
    return L2K_OK;
}

void l2k_start_series(l2k_decoder *decoder, const l2k_decoding *d)
{
    if (d->tiles[0] < decoder->next_tile || decoder->next_tile == 0)
        atomic_store(&decoder->findings.extra_packets, EXTRA_PACKETS);
    decoder->next_tile = d->tiles[d->num_tiles - 1] + 1;
}

/* ---- The tile ------------------------------------------------------------------------------------------------ */

/* The cost of reading the headers of a tile's parts, and of the main header's progression changes. Tile-parts whose
 * header is only SOD, without a share of PPM, cost nothing. */
static uint64_t packets_of_parts(const l2k_codestream *cs, uint32_t index)
{
    uint64_t headers = 0;
    for (size_t i = cs->first_part[index]; i != L2K_NO_PART; i = cs->parts[i].next)
        headers += l2k_part_has_segments(&cs->parts[i]);
    return headers * cs->siz.num_components / COMPONENTS_OF_PACKET + cs->coding.num_changes / CHANGES_OF_PACKET;
}

static bool has_nothing(const l2k_codestream *cs, uint32_t index)
{
    bool nothing = !cs->strict;
    for (size_t i = cs->first_part[index]; nothing && i != L2K_NO_PART; i = cs->parts[i].next) {
        const l2k_tile_part_span *span = &cs->parts[i];
        nothing = !l2k_part_has_segments(span) && span->packets == span->end && span->packed == span->packed_end;
    }
    return nothing;
}

/* Above this number of code-blocks, which take some hundred bytes each, a tree has only those in the windows, and a
 * window that moves reads packet headers again. */
enum { MOST_BLOCKS = 1 << 17 };

/* Releases the tree and its dependents. */
static void forget_tree(const l2k_context *context, l2k_tile_state *s)
{
    for (uint32_t c = 0; s->uploads && c < s->tile.num_components; c++)
        l2k_engine_release_memory(&s->uploads[c]);
    l2k_release(context, s->places);
    l2k_tile_release(context, &s->tile);
    s->places = NULL;
    s->num_places = 0;
    s->uploads = NULL;
    s->joined = NULL;
}

/* Releases all data kept from image to image. */
static void forget(const l2k_context *context, l2k_tile_state *s)
{
    forget_tree(context, s);
    l2k_tile_coding_release(context, &s->coding);
    l2k_packet_order_release(context, &s->order);
}

/* Takes the tree of an earlier image, or makes a new one if the window needs other precincts. After an earlier window
 * of the same file, the tree has all its packets. */
static l2k_status make_tree(const l2k_decoding *d, l2k_tile_state *s, uint32_t index, uint64_t most_precincts)
{
    l2k_window_change change = s->tile.components ? l2k_window_set(d, &s->tile) : L2K_WINDOW_OTHER_PRECINCTS;
    if (change == L2K_WINDOW_OTHER_BLOCKS && s->tile.keeps_windows)
        change = L2K_WINDOW_OTHER_PRECINCTS;
    if (change == L2K_WINDOW_OTHER_BLOCKS) {
        l2k_release(d->context, s->places);
        s->places = NULL;
    }
    s->has_packets = change != L2K_WINDOW_OTHER_PRECINCTS && s->is_whole && s->opened == d->opened &&
                     s->layers == d->layers && s->is_kept;
    if (s->has_packets)
        return L2K_OK;
    s->opened = d->opened;
    s->layers = d->layers;
    s->is_whole = false;
    if (change != L2K_WINDOW_OTHER_PRECINCTS)
        return l2k_tile_restart(d->context, most_precincts, &s->tile);
    forget_tree(d->context, s);
    L2K_TRY(l2k_tile_outline(d->context, &d->codestream->siz, &s->coding, index, most_precincts, &s->tile));
    l2k_window_set(d, &s->tile);
    s->tile.keeps_windows = l2k_tile_wanted_blocks(&s->tile) > MOST_BLOCKS;
    return l2k_tile_take_precincts(d->context, &s->tile);
}

static l2k_status create_tile(const l2k_decoding *d, l2k_tile_state *s, uint32_t index, uint64_t bytes)
{
    uint64_t resolutions = 0, extra = extra_of(atomic_load(&d->findings->extra_packets));
    for (uint32_t c = 0; c < d->codestream->siz.num_components; c++)
        resolutions += s->coding.components[c].levels + 1u;
    const uint64_t packets = resolutions / RESOLUTIONS_OF_PACKET; /* the least, whatever the tile's size */
    L2K_TRY(charge(d, packets, bytes));
    L2K_TRY(make_tree(d, s, index, d->codestream->strict ? bytes : bytes + extra));
    uint64_t more = s->tile.num_precincts + s->tile.num_precincts * s->coding.num_changes / LOOKS_OF_PACKET;
    return more > packets ? charge(d, more - packets, bytes > packets ? bytes - packets : 0) : L2K_OK;
}

/* The main header determines the size of the decoded image. */
static l2k_status check_splits(const l2k_decoding *d, const l2k_tile_state *s)
{
    for (uint32_t c = 0; c < d->codestream->siz.num_components; c++)
        if (!l2k_same_splits(s->coding.components[c].unsplit, d->codestream->coding.components[c].unsplit, d->discard))
            return l2k_fail(d->context, L2K_ERROR_UNSUPPORTED,
                            "tile %u, component %u: reduced levels that split otherwise than those of the main header",
                            s->tile.index, c);
    return L2K_OK;
}

static l2k_status check_reduction(const l2k_decoding *d, const l2k_tile_state *s)
{
    for (uint32_t c = 0; c < d->codestream->siz.num_components; c++)
        if (l2k_wants_component(d, c) && d->discard > s->coding.components[c].levels)
            return l2k_fail(d->context, L2K_ERROR_ARGUMENT,
                            "%u resolutions cannot be left out: component %u of tile %u has %u, of which one must stay",
                            d->discard, c, s->tile.index, s->coding.components[c].levels + 1u);
    return check_splits(d, s);
}

/* Where most of a tile is wanted, an engine gets all bytes at once, before packet headers are read, which takes less time
 * than collecting those of the window. Bytes that are not in memory are not read for this. */
const uint8_t *l2k_tile_span(const l2k_decoding *d, uint32_t tile, size_t *bytes)
{
    const l2k_codestream *cs = d->codestream;
    const l2k_rect rect = l2k_tile_rect(&cs->siz.grid, tile);
    const uint64_t all = l2k_rect_area(rect), part = l2k_rect_area(l2k_rect_intersect(rect, d->area));
    const bool wants_most = d->only == UINT32_MAX && d->discard == 0 && d->layers == 0 &&
                            part >= (d->context->partial ? all : all - all / 4);
    const uint8_t *start = cs->end, *end = cs->data;
    uint64_t used = 0;
    *bytes = 0;
    for (size_t i = cs->first_part[tile]; i != L2K_NO_PART; i = cs->parts[i].next) {
        const l2k_tile_part_span *span = &cs->parts[i];
        start = span->packets < start ? span->packets : start;
        end = span->end > end ? span->end : end;
        used += (uint64_t)(span->end - span->packets);
    }
    if (used == 0 || (uint64_t)(end - start) > used + used / 4 || !wants_most)
        return NULL;
    *bytes = (size_t)(end - start);
    return start;
}

/* Releases a tree of another tile, or of one that is coded in another way. */
static l2k_status read_coding(const l2k_decoding *d, l2k_tile_state *s, uint32_t index)
{
    const l2k_siz *siz = &d->codestream->siz;
    L2K_TRY(l2k_codestream_tile_coding(d->codestream, index, &s->read, &s->packed));
    if (l2k_tile_fits(&s->tile, siz, index) && l2k_tile_coding_equals(&s->read, &s->coding, siz->num_components))
        return L2K_OK;
    forget(d->context, s);
    return l2k_tile_coding_copy(d->context, &s->read, siz->num_components, &s->coding);
}

l2k_status l2k_read_tile(const l2k_decoding *d, l2k_tile_state *s, uint32_t index, unsigned threads)
{
    const l2k_codestream *cs = d->codestream;
    s->is_absent = !d->arrives && has_nothing(cs, index);
    if (s->is_absent)
        return l2k_missing_tile(d, index);
    uint64_t bytes = l2k_tile_bytes(cs, index);
    if (d->arrives) /* an estimate that bounds what the headers may promise */
        bytes = l2k_rect_area(l2k_tile_rect(&cs->siz.grid, index)) * cs->siz.num_components;
    L2K_TRY(charge(d, packets_of_parts(cs, index), bytes));
    L2K_TRY(read_coding(d, s, index));
    bytes += s->packed.bytes.size;
    s->is_absent = bytes == 0 && !cs->strict;
    if (s->is_absent)
        return l2k_missing_tile(d, index);
    L2K_TRY(create_tile(d, s, index, bytes));
    if (!s->has_packets && !d->arrives)
        L2K_TRY(l2k_read_packets(d, s, threads));
    return check_reduction(d, s);
}

/* ---- Memory from image to image ------------------------------------------------------------------------------ */

/* Releases what belongs to this image alone. */
static void release_image(const l2k_context *context, l2k_tile_state *s)
{
    for (uint32_t c = 0; s->joined && c < s->tile.num_components; c++) {
        l2k_release(context, s->joined[c]);
        l2k_release(context, s->host_planes[c].data);
        s->joined[c] = s->host_planes[c].data = NULL;
    }
    l2k_release(context, s->rest);
    s->rest = NULL;
    if (s->packed.bytes.context)
        l2k_buffer_release(&s->packed.bytes);
    s->packed = (l2k_packed_headers){0};
    l2k_tile_coding_release(context, &s->read);
    s->is_absent = s->is_blank = s->joined_later = s->on_host = s->is_begun = false;
}

void l2k_tile_state_leave(const l2k_decoding *d, l2k_tile_state *s)
{
    release_image(d->context, s);
    s->is_kept = d->keeps_tiles;
    if (!s->is_kept)
        forget(d->context, s);
}

void l2k_decoder_release_tiles(l2k_decoder *decoder)
{
    for (unsigned k = 0; decoder->states && k < decoder->num_states; k++) {
        release_image(&decoder->context, &decoder->states[k]);
        forget(&decoder->context, &decoder->states[k]);
    }
    l2k_release(&decoder->context, decoder->states);
    decoder->states = NULL;
    decoder->num_states = 0;
}
