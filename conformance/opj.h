/* OpenJPEG as the tests use it: opj_compress and opj_decompress as programs, libopenjp2 in memory. */
#ifndef CONFORMANCE_OPJ_H
#define CONFORMANCE_OPJ_H

#include "conformance/coding.h"

typedef enum container { CONTAINER_RAW = 0, CONTAINER_RAWL, CONTAINER_PNM, CONTAINER_PGX } container;

/* How a picture reaches opj_compress. `common` is the part of the sub-sampling that all components share and that is
 * given by -s (0 = 1x1); the rest goes into -F. */
typedef struct handover {
    container container;
    l2k_size common;
} handover;

#define COMMAND_BYTES 1024

/* Runs opj_compress over files named `stem` + extension, which it leaves behind. The command is kept for messages;
 * out->size is 0 where the program failed. */
void opj_program_encode(const picture *p, const coding *o, const handover *h, const char *stem, bytes *out,
                        char *command);

/* Runs opj_decompress on the file to a PGX and reads the only component; NULL where that fails. */
picture *opj_program_decode(const bytes *file, const char *stem);

/* A PGX file, or NULL. */
picture *read_pgx(const char *path);

/* A directory for such files, and its removal with all that is in it. Ends the program where that is impossible. */
void scratch_make(char *path, size_t size);
void scratch_remove(const char *path);

/* Runs a program found through PATH, its output going to the file, or nowhere if that is NULL. True for status 0. */
bool run_program(char *const argv[], const char *output);
bool program_exists(const char *name);

/* The version of libopenjp2 that opj_compress says it was built against; "" where it says none. */
void opj_program_version(char *version, size_t size);

/* Things the options cannot say: component of interest (RGN marker), guard bits (0 = 2), rates of layers are in
 * coding.targets. */
typedef struct opj_extras {
    int roi_shift;
    unsigned guard_bits;
} opj_extras;

bool opj_library_encode(const picture *p, const coding *o, const opj_extras *x, bytes *out);
bool opj_library_encode_here(const picture *p, const coding *o, const opj_extras *x, bytes *out); /* not apart */
picture *opj_library_decode(const bytes *file, const decoding *d);

/* Why OpenJPEG 2.5.0's encoder cannot write this rightly, or NULL. Found with this test: its files for such options do
 * not decode to the picture by either decoder, or it refuses or stops, or it cuts tile-parts in places of its own. */
const char *opj_cannot_encode(const picture *p, const coding *o);

/* Its decoder refuses images in which a tile has no samples of some component, at the resolution that is decoded. */
bool has_empty_tile_component(const picture *p, const coding *o, uint32_t reduce);

/* Its RPCL and PCRL, in both directions, step by the least precinct on the reference grid and so miss precincts at
 * other places, which there are where one component is sub-sampled by 3 and another by 1, 2 or 4. And precincts of 2^15
 * at more than 15 levels are beyond its 32 bits on the reference grid, for CPRL too. */
bool opj_misses_precincts(const picture *p, const coding *o);

#endif
