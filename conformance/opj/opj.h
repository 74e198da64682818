/* OpenJPEG for the tests: opj_compress and opj_decompress as programs, libopenjp2 in memory. */
#ifndef CONFORMANCE_OPJ_H
#define CONFORMANCE_OPJ_H

#include "conformance/coding.h"

typedef enum container { CONTAINER_RAW = 0, CONTAINER_RAWL, CONTAINER_PNM, CONTAINER_PGX } container;

/* How a picture reaches opj_compress. `common` is the sub-sampling common to all components, given by -s (0 = 1x1); the
 * remainder goes into -F. */
typedef struct handover {
    container container;
    l2k_size common;
} handover;

/* The content of a file for it. */
bytes picture_file(const picture *p, container kind);

#define COMMAND_BYTES 1024

/* Runs opj_compress on files named `stem` + extension, which remain. The command is kept for messages; out->size is 0
 * where the program failed. */
void opj_program_encode(const picture *p, const coding *o, const handover *h, const char *stem, bytes *out,
                        char *command);

/* Runs opj_decompress on the file to PGX and reads the only component; NULL on failure. */
picture *opj_program_decode(const bytes *file, const char *stem);

/* A PGX file, or NULL. */
picture *read_pgx(const char *path);

/* The version of libopenjp2 that opj_compress reports; "" where it reports none. */
void opj_program_version(char *version, size_t size);

/* What the options cannot express: component of interest (RGN marker), guard bits (0 = 2); the rates of layers are in
 * coding.targets. */
typedef struct opj_extras {
    int roi_shift;
    unsigned guard_bits;
} opj_extras;

bool opj_library_encode(const picture *p, const coding *o, const opj_extras *x, bytes *out);
bool opj_library_encode_here(const picture *p, const coding *o, const opj_extras *x, bytes *out); /* in this process */
picture *opj_library_decode(const bytes *file, const decoding *d);

/* Why OpenJPEG 2.5.0's encoder cannot write this correctly, or NULL. Found with this test: its files for such options
 * do not decode to the picture with either decoder, or it refuses, stops, or divides tile-parts differently. */
const char *opj_cannot_encode(const picture *p, const coding *o);

/* Its decoder refuses images in which a tile has no samples of some component at the decoded resolution level. */
bool has_empty_tile_component(const picture *p, const coding *o, uint32_t reduce);

/* Not of OpenJPEG: the lowest resolution of a tile-component has less than `least` rows or columns. */
bool has_thin_resolution(const picture *p, const coding *o, uint32_t least);

/* Its RPCL and PCRL, in both directions, advance by the smallest precinct on the reference grid and so miss precincts
 * elsewhere, which exist where one component is sub-sampled by 3 and another by 1, 2 or 4. Also, precincts of 2^15 at
 * more than 15 levels, fewer where sub-sampled, exceed its 32 bits on the reference grid, for CPRL too. */
bool opj_misses_precincts(const picture *p, const coding *o);

#endif
