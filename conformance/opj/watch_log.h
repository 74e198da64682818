/* The log of the input and output of OpenJPEG's stages: written during coding (watch.h), read here. */
#ifndef CONFORMANCE_OPJ_WATCH_LOG_H
#define CONFORMANCE_OPJ_WATCH_LOG_H

#include "conformance/coding.h"
#include "tiling/geometry.h"

typedef enum watch_kind {
    /* Planes when encoding */
    WATCH_SHIFTED = 1, /* after the level shift */
    WATCH_JOINED,      /* after the component transform; only the three components it applied to */
    WATCH_ANALYSED,    /* after the wavelet transform: coefficients */
    /* Planes when decoding */
    WATCH_DEQUANTISED, /* after tier-1 and the dequantiser: coefficients */
    WATCH_SYNTHESISED, /* after the inverse wavelet transform */
    WATCH_SEPARATED,   /* after the inverse component transform */
    WATCH_PICTURE,     /* the component of the decoded picture, all tiles */
    /* Code-blocks */
    WATCH_CODED,   /* output of tier-1 when encoding */
    WATCH_RECEIVED /* input of tier-1 when decoding */
} watch_kind;

typedef union watch_value {
    int32_t i; /* 5/3, and pictures */
    float f;   /* 9/7 */
} watch_value;

/* Values without padding between rows. */
typedef struct watch_plane {
    watch_kind kind;
    uint32_t component;
    l2k_rect rect; /* the tile-component at full resolution; unused for a picture */
    uint32_t width, height;
    uint32_t num_bands; /* number of subbands that the following describe */
    float steps[L2K_MAX_SUBBANDS];
    int32_t magnitude_bits[L2K_MAX_SUBBANDS];
    const watch_value *values;
} watch_plane;

typedef struct watch_pass {
    uint32_t end; /* bytes from the start of the block */
    bool terminated;
} watch_pass;

typedef struct watch_segment {
    uint32_t passes, bytes;
} watch_segment;

typedef struct watch_block {
    watch_kind kind;
    uint32_t component;
    l2k_rect rect; /* the tile-component */
    uint32_t resolution, orientation;
    l2k_rect place; /* in the subband's domain */
    uint32_t num_planes;
    uint32_t num_ends; /* passes of a coded block, segments of a received one */
    uint32_t num_bytes;
    union {
        const watch_pass *passes;
        const watch_segment *segments;
    };
    const uint8_t *bytes;
} watch_block;

typedef struct watch_log {
    watch_plane *planes;
    watch_block *blocks;
    size_t num_planes, num_blocks;
} watch_log;

/* Writing: the data that `plane` and `block` point to is copied. */
void watch_write_plane(bytes *log, const watch_plane *plane);
void watch_write_block(bytes *log, const watch_block *block);

/* Reading: the result points into `log`. */
watch_log watch_read(const bytes *log);
void watch_free(watch_log *log);

bool watch_same_rect(l2k_rect a, l2k_rect b);

/* The plane of a tile-component, or NULL. */
const watch_plane *watch_find(const watch_log *log, watch_kind kind, uint32_t component, l2k_rect rect);

#endif
