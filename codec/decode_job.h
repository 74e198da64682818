/* What all tiles of one decoding share. */
#ifndef L2K_CODEC_DECODE_JOB_H
#define L2K_CODEC_DECODE_JOB_H

#include "codec/decoder.h"
#include "codec/packet.h"

struct tile_state;

typedef struct l2k_decode_job {
    l2k_decoder *decoder;
    const l2k_context *context;
    const l2k_codestream *codestream;
    l2k_rect area;           /* of the reference grid */
    const l2k_plane *planes; /* per component; data NULL = not wanted */
    uint32_t only, discard, layers;
    uint32_t *tiles; /* that meet the area */
    uint32_t num_tiles;
    struct tile_state *states; /* one per slot of the workers */
} l2k_decode_job;

/* Whether [low, high) of a subband or resolution `level` levels below its component is needed for [area_low, area_high)
 * of that component, when a sample depends on others up to `support` away. */
static inline bool l2k_reaches(uint64_t low, uint64_t high, uint32_t area_low, uint32_t area_high, unsigned level,
                               unsigned support)
{
    uint64_t from = (uint64_t)area_low >> level, to = l2k_ceil_shift(area_high, level);
    return high + support > from && low < to + support;
}

/* A sample of a component depends on coefficients at most this far from its place in a subband, whatever the level:
 * each level of 9/7 reaches four samples further and halves the distance. */
enum { L2K_SUPPORT = 5 };

/* Bytes of a tile's packets, packed headers left out. */
uint64_t l2k_tile_bytes(const l2k_codestream *codestream, uint32_t tile);

/* Reads the packets of a tile; what is not wanted is passed over. Where the stream ends early, or packets are missing,
 * what is there is kept, and the decoder's `incomplete` is set. */
l2k_status l2k_read_packets(const l2k_decode_job *job, l2k_tile *tile, uint32_t index,
                            const l2k_packed_headers *packed);

/* A tile without any packet: a warning, and `incomplete` where the stream ends early. */
l2k_status l2k_missing_tile(const l2k_decode_job *job, uint32_t index);

#endif
