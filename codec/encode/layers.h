/* Rate control and the headers it changes. */
#ifndef L2K_CODEC_ENCODE_LAYERS_H
#define L2K_CODEC_ENCODE_LAYERS_H

#include "codec/encode/encoder.h"

/* What the allocation of layers passes on to the output. */
typedef struct l2k_allocation {
    unsigned more_guard_bits; /* returned by l2k_encode_add_guard_bits */
    size_t fixed_bytes;       /* bytes that do not depend on packets, if a target needs them */
} l2k_allocation;

/* Decides which coding passes of encoder->tiles go into which layer. */
l2k_status l2k_encode_layers(l2k_encoder *encoder, l2k_allocation *allocation);

/* Whether one of the tiles needs more guard bits. */
bool l2k_encode_needs_guard_bits(const l2k_encoder *encoder);

/* Gives all tiles the guard bits that one of them needs. `whole`: the tiles are the image's, and the main header is
 * still to be written. Returns how many more guard bits the tile-part headers state than the main header. */
unsigned l2k_encode_add_guard_bits(l2k_encoder *encoder, bool whole);

/* The bound B of HT magnitudes of `bits` bits at the cleanup pass (8.7.3 of T.814). */
unsigned l2k_encode_magnitude_bound(const l2k_component_coding *coding, unsigned resolution, unsigned bits);

/* Writes the bound of the tiles coded so far into Ccap15. `more_guard_bits`: as above. */
void l2k_encode_state_magnitudes(l2k_encoder *encoder, unsigned more_guard_bits);

#endif
