/* The tree that OpenJPEG builds for a tile, as passed between functions inside its static library: the layout of 2.5 on
 * x86-64, which no header of its package states. Members that the tests do not read only keep their place. */
#ifndef CONFORMANCE_OPJ_INSIDE_H
#define CONFORMANCE_OPJ_INSIDE_H

#include <openjpeg.h>
#include <stdbool.h>

typedef struct opj_pass {
    OPJ_UINT32 end; /* bytes from the start of the code-block */
    OPJ_FLOAT64 distortion;
    OPJ_UINT32 bytes;
    OPJ_UINT32 terminated : 1;
} opj_pass;

typedef struct opj_coded_block {
    OPJ_BYTE *data;
    void *layers;
    opj_pass *passes;
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_UINT32 planes; /* meaningless without passes */
    OPJ_UINT32 length_bits, room, passes_so_far, passes_in_layers;
    OPJ_UINT32 num_passes;
} opj_coded_block;

typedef struct opj_segment {
    OPJ_UINT32 bytes, passes_so_far, passes, most_passes, new_passes, new_bytes;
} opj_segment;

typedef struct opj_chunk {
    OPJ_BYTE *data;
    OPJ_UINT32 bytes;
} opj_chunk;

typedef struct opj_received_block {
    opj_segment *segments;
    opj_chunk *chunks;
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_UINT32 magnitude_bits, planes, length_bits, new_passes, segments_so_far;
    OPJ_UINT32 num_segments, most_segments, num_chunks, most_chunks;
    OPJ_INT32 *decoded;
} opj_received_block;

typedef struct opj_precinct {
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_UINT32 blocks_across, blocks_down;
    union {
        opj_coded_block *coded;
        opj_received_block *received;
    } blocks;
    OPJ_UINT32 blocks_bytes;
    void *inclusion, *zero_planes;
} opj_precinct;

typedef struct opj_band {
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_UINT32 orientation;
    opj_precinct *precincts;
    OPJ_UINT32 precincts_bytes;
    OPJ_INT32 magnitude_bits;
    OPJ_FLOAT32 step;
} opj_band;

typedef struct opj_resolution {
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_UINT32 precincts_across, precincts_down, num_bands;
    opj_band bands[3];
    OPJ_UINT32 window[4];
} opj_resolution;

typedef struct opj_tile_component {
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_UINT32 number, num_resolutions, num_decoded;
    opj_resolution *resolutions;
    OPJ_UINT32 resolutions_bytes;
    OPJ_INT32 *data; /* or floats; rows as wide as the highest decoded resolution level */
    OPJ_BOOL owns_data;
    size_t data_bytes_needed, data_bytes;
    OPJ_INT32 *window_data;
    OPJ_UINT32 window[4], samples;
} opj_tile_component;

typedef struct opj_tile {
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_UINT32 num_components;
    opj_tile_component *components;
} opj_tile;

static inline bool opj_band_empty(const opj_band *band)
{
    return band->x0 >= band->x1 || band->y0 >= band->y1;
}

#endif
