/* Coding options common to both codecs, and lift2k in memory through its public API. */
#ifndef CONFORMANCE_CODING_H
#define CONFORMANCE_CODING_H

#include "conformance/pictures.h"

#define CODING_MAX_PRECINCTS 4
#define CODING_MAX_TARGETS   8
#define CODING_MAX_CHANGES   4

/* Zeros are the defaults of both: 5/3, six resolution levels, one tile, 64x64 code-blocks, LRCP, one layer with
 * everything. */
typedef struct coding {
    bool irreversible;
    l2k_wavelet kernel;   /* a named one in place of Part 1's, or 0 */
    uint32_t resolutions; /* 0 = 6 */
    l2k_size tile;
    uint32_t tile_x0, tile_y0;
    l2k_size block; /* 0 = 64 */
    unsigned num_precincts;
    l2k_size precincts[CODING_MAX_PRECINCTS];
    l2k_progression progression;
    unsigned style;
    unsigned ht_passes; /* 0 = 1 */
    double step;        /* base step of the 9/7; 0 = the default */
    bool no_mct, sop, eph, plt, tlm;
    l2k_tile_parts tile_parts;
    unsigned num_changes; /* progression order changes, each of tile 0 */
    l2k_poc changes[CODING_MAX_CHANGES];
    unsigned roi_shift; /* of component roi_component */
    unsigned roi_component;
    unsigned guard_bits;                 /* 0 = 2 */
    uint32_t profile;                    /* Rsiz, with all that it fixes */
    unsigned frames;                     /* per second */
    uint32_t max_bytes, component_bytes; /* 0 = any */
    l2k_target target_kind;
    unsigned num_targets;
    double targets[CODING_MAX_TARGETS];
    unsigned threads; /* 0 = all */
    bool narrow;      /* give lift2k 8- or 16-bit planes where they hold the samples, otherwise 32-bit ones */
} coding;

/* What to decode; zeros stand for everything. */
typedef struct decoding {
    uint32_t reduce, layers;
    bool one_component;
    uint32_t component;
    bool region;  /* otherwise x0 to y1 are 0 */
    bool no_area; /* libopenjp2 without opj_set_decode_area */
    uint32_t x0, y0, x1, y1;
    unsigned threads;
} decoding;

typedef struct bytes {
    uint8_t *data;
    size_t size, capacity;
} bytes;

void bytes_append(bytes *b, const void *data, size_t size);
void bytes_free(bytes *b);
bool bytes_equal(const bytes *a, const bytes *b);
size_t bytes_first_difference(const bytes *a, const bytes *b);
bytes bytes_read(const char *path); /* size 0 on failure */
bool bytes_write(const bytes *b, const char *path);

#define MESSAGE_BYTES 256

l2k_status lift_encode(const picture *p, const coding *o, l2k_format format, bytes *out, char *message);
picture *lift_decode(const bytes *file, const decoding *d, l2k_status *status, char *message);

/* All options, on an object that may have been used with others. */
bool coding_set_encoder(l2k_encoder *encoder, const coding *o, l2k_format format);
l2k_status coding_set_decoder(l2k_decoder *decoder, const decoding *d);

uint32_t coding_levels(const coding *o);

/* What the main header of a codestream says: a component transform in COD; the parameter B of CAP, for HT code-blocks.
 */
bool codestream_has_transform(const bytes *file);
unsigned codestream_ht_bits(const bytes *file);

/* Whether an order from `first` to `last` is that of the packets, or, in some tile, of a part of them. */
bool coding_has_order(const coding *o, l2k_progression first, l2k_progression last);

/* The number of tiles (B-5). */
uint32_t coding_tiles(const coding *o, const l2k_image *image);

/* Random valid options for the picture: one layer with everything, 5/3. */
coding random_coding(rng *r, const picture *p, uint32_t max_levels);

/* Adds, to some, progression order changes, a component of interest that decoders have the bit-planes for, guard bits,
 * and limits of bytes; not for profiles. */
void random_extras(rng *r, const picture *p, coding *o);

/* One line for messages, in terms of `lift2k encode` and of the sample format. */
void print_case(const picture *p, const coding *o);
void print_decoding(const decoding *d);

#endif
