/* Estimates, before the first tile, the memory that the tiles of a decoding may take, and the number of threads that
 * fit below the caller's limit. The bounds are those of the main header and of blocks no longer than their samples: a
 * file whose tiles differ from that can still meet its limit with several threads. Bytes are doubles here, since
 * headers can require more than 64 bits hold. */

#include <math.h>

#include "codec/decode/packets.h"
#include "codec/packets/packet_order.h"

/* Adds the overhead of allocation, which rounds sizes up by at most an eighth (base/pool.c) and gives each block a
 * header. */
static double with_overhead(double bytes)
{
    return bytes + bytes / 8 + 4096;
}

typedef struct tree_size {
    double precincts, blocks; /* precincts: their parts in subbands */
} tree_size;

/* Blocks are no larger than their precincts. */
static void count_component(const l2k_component_coding *coding, l2k_rect rect, tree_size *size)
{
    for (unsigned r = 0; r <= coding->levels; r++) {
        const unsigned across = coding->log2_precinct_width[r], down = coding->log2_precinct_height[r];
        const unsigned level = l2k_band_level(coding->levels, r);
        l2k_rect resolution = l2k_unsplit_resolution(rect, coding->unsplit, coding->levels - r);
        l2k_partition p = l2k_partition_make(resolution, across, down);
        for (unsigned o = r ? L2K_HL : L2K_LL; o <= (r ? L2K_HH : L2K_LL); o++) {
            l2k_partition blocks =
                l2k_partition_make(l2k_unsplit_subband(rect, coding->unsplit, level, o),
                                   l2k_min_u32(coding->log2_block_width, across - l2k_coding_halves_across(coding, r)),
                                   l2k_min_u32(coding->log2_block_height, down - l2k_coding_halves_down(coding, r)));
            /* Other tiles of this size may cut one more precinct or block on each side. */
            size->blocks += (blocks.across + 1.0) * (blocks.down + 1.0);
            size->precincts += (p.across + 1.0) * (p.down + 1.0);
        }
    }
}

/* Contributions of a block: one a layer, or one a codeword segment. */
static unsigned contributions_of_block(const l2k_tile_coding *coding, unsigned style)
{
    bool many_segments = style & (L2K_STYLE_BYPASS | L2K_STYLE_TERMALL | L2K_STYLE_HT);
    return many_segments ? L2K_MAX_RECEIVED_PASSES : l2k_min_u32(coding->num_layers, L2K_MAX_RECEIVED_PASSES);
}

/* Tag trees have at most two nodes a leaf, and a root; there are two trees for each precinct of a subband. Up to half
 * of an arena's chunks may stay unused. A contribution takes at least three bits of a packet header. */
static double bytes_of_tree(const l2k_decoding *d, l2k_rect tile, uint64_t packet_bytes)
{
    const l2k_siz *siz = &d->codestream->siz;
    const l2k_tile_coding *coding = &d->codestream->coding;
    double bytes = 0, contributions = 0, resolutions = 0;
    for (uint32_t c = 0; c < siz->num_components; c++) {
        tree_size size = {0};
        resolutions += coding->components[c].levels + 1u;
        if (!l2k_wants_component(d, c))
            continue;
        count_component(&coding->components[c], l2k_component_rect(tile, siz->components[c].dx, siz->components[c].dy),
                        &size);
        contributions += size.blocks * contributions_of_block(coding, coding->components[c].style);
        bytes += size.blocks * (sizeof(l2k_block) + sizeof(l2k_block_place) + sizeof(l2k_block_state) +
                                4 * sizeof *((l2k_tag_tree *)0)->nodes);
        bytes += size.precincts *
                 (sizeof(l2k_precinct) + 2 * sizeof(uint32_t) + sizeof(l2k_precinct_key) + sizeof(uint16_t));
        bytes += size.precincts * /* read by several threads (packets.c) */
                 (sizeof(l2k_packet_id) + (sizeof(uint64_t) + sizeof(uint32_t)) * (double)coding->num_layers);
    }
    contributions = fmin(contributions, (double)packet_bytes * 8 / 3);
    bytes += resolutions * sizeof(l2k_resolution) + contributions * (sizeof(l2k_contribution) + sizeof(l2k_pending));
    bytes += (double)siz->num_components * (sizeof(l2k_tile_component) + sizeof(l2k_component_coding) +
                                            sizeof(l2k_plan_component) + sizeof(l2k_plane) + 64);
    return with_overhead(2 * bytes);
}

typedef struct tile_bound {
    double tile;   /* one tile, with one thread */
    double thread; /* each further thread at the tile */
} tile_bound;

/* The largest wanted part of any tile to decode, and the most bytes of any tile's packets. */
static l2k_rect largest_tile(const l2k_decoding *d, uint64_t *packet_bytes)
{
    l2k_rect largest = {0};
    uint64_t most = 0;
    *packet_bytes = 0;
    for (uint32_t i = 0; i < d->num_tiles; i++) {
        l2k_rect tile = l2k_tile_rect(&d->codestream->siz.grid, d->tiles[i]);
        uint64_t bytes = l2k_tile_bytes(d->codestream, d->tiles[i]);
        const uint64_t area = l2k_rect_area(l2k_rect_intersect(tile, d->area));
        largest = area > most ? tile : largest;
        most = area > most ? area : most;
        *packet_bytes = bytes > *packet_bytes ? bytes : *packet_bytes;
    }
    return largest;
}

/* Stays for the next image, since a plan would take and keep this memory if it went back to the pool. */
static l2k_plan_component *take_bounds(l2k_decoder *decoder)
{
    const uint32_t count = decoder->codestream.siz.num_components;
    if (decoder->num_bounds != count) {
        l2k_release(&decoder->context, decoder->bounds);
        decoder->bounds = l2k_allocate(&decoder->context, count, sizeof *decoder->bounds);
        decoder->num_bounds = decoder->bounds ? count : 0;
    }
    return decoder->bounds;
}

static void bound_tile(const l2k_decoding *d, l2k_rect tile, uint64_t packet_bytes, l2k_plan_component *components,
                       tile_bound *bound)
{
    const l2k_siz *siz = &d->codestream->siz;
    const l2k_tile_coding *coding = &d->codestream->coding;
    l2k_plan_spec spec = {.direction = L2K_INVERSE,
                          .type = L2K_COEFFICIENT_INT32,
                          .by_rows = d->planes && !d->cache,
                          .strip_samples = d->context->strip_samples};
    l2k_coding_plan_spec(siz, coding, tile, d->discard, components, &spec);
    for (uint32_t c = 0; c < siz->num_components; c++)
        l2k_window_enter(d, c, &components[c]);
    if (d->only != UINT32_MAX) {
        spec.component_transform = false;
        spec.num_components = 1;
        spec.components = &components[d->only];
    }
    double coder = with_overhead((double)l2k_decode_coders(d->codestream)->bytes_per_thread);
    double one = (double)l2k_plan_host_bytes(&spec, 1), two = (double)l2k_plan_host_bytes(&spec, 2);
    const double samples = (double)l2k_plan_samples(&spec) * sizeof(int32_t); /* may not go straight to the output */
    bound->tile = one + with_overhead(samples) + bytes_of_tree(d, tile, packet_bytes) + coder;
    bound->thread = two - one + coder;
}

/* Memory of the packet indices that tiles still lack, as if each were like `tile`. */
static double bytes_of_indices(const l2k_decoding *d, l2k_rect tile, uint64_t packet_bytes)
{
    const l2k_tile_coding *coding = &d->codestream->coding;
    const l2k_siz *siz = &d->codestream->siz;
    tree_size size = {0};
    double tiles = 0;
    for (uint32_t i = 0; i < d->num_tiles; i++)
        tiles += !d->indices[d->tiles[i]];
    for (uint32_t c = 0; c < siz->num_components && tiles > 0; c++)
        count_component(&coding->components[c], l2k_component_rect(tile, siz->components[c].dx, siz->components[c].dy),
                        &size);
    const double packets = fmin(size.precincts * coding->num_layers, (double)packet_bytes);
    return with_overhead(tiles * packets * L2K_INDEX_BYTES_OF_PACKET);
}

l2k_thread_room l2k_decode_threads(l2k_decoder *decoder, const l2k_decoding *d, bool by_tile)
{
    tile_bound bound;
    uint64_t packet_bytes;
    const unsigned threads = d->context->threads;
    const l2k_rect tile = largest_tile(d, &packet_bytes);
    if (packet_bytes == 0) /* nothing to decode, whatever headers promise */
        return (l2k_thread_room){threads, threads, true, true};
    l2k_plan_component *components = take_bounds(decoder);
    if (!components) /* even this does not fit */
        return (l2k_thread_room){1, 1, false, false};
    bound_tile(d, tile, packet_bytes, components, &bound);
    if (decoder->options[L2K_DECODER_BACKEND] != L2K_BACKEND_CPU)
        bound.tile *= L2K_SLOTS_OF_GROUP;
    const double limit = (double)decoder->pool.limit, each = by_tile ? bound.tile : bound.thread;
    if ((double)decoder->pool.in_use + bound.tile + (threads - 1) * each > limit)
        l2k_decoder_drop(decoder);
    double left = limit - (double)decoder->pool.in_use - bound.tile;
    if (left < 0) { /* nothing can be kept */
        l2k_decoder_forget_windows(decoder);
        return (l2k_thread_room){1, 1, false, false};
    }
    const double of_indices = d->indices ? bytes_of_indices(d, tile, packet_bytes) : 0;
    const bool indices = of_indices <= left;
    left -= indices ? of_indices : 0;
    const unsigned tiles = 1 + (unsigned)fmin(left / bound.tile, L2K_MOST_PROCESSORS);
    const unsigned more = (unsigned)fmin(left / each, threads - 1);
    l2k_block_cache_bound(&decoder->cache, (uint64_t)fmin(left - more * each, 0x1p62));
    return (l2k_thread_room){1 + more, tiles, true, indices};
}
