/* Rate control, and what it changes in headers. */
#ifndef L2K_CODEC_ENCODE_LAYERS_H
#define L2K_CODEC_ENCODE_LAYERS_H

#include "codec/encode/encoder.h"

/* What allocating layers leaves for the output. */
typedef struct l2k_allocation {
    unsigned more_guard_bits; /* as from l2k_encode_add_guard_bits */
    size_t fixed_bytes;       /* that do not depend on packets, if any target asks for them */
} l2k_allocation;

/* Decides which coding passes of encoder->tiles go into which layer. */
l2k_status l2k_encode_layers(l2k_encoder *encoder, l2k_allocation *allocation);

/* Whether one of the tiles needs more guard bits. */
bool l2k_encode_needs_guard_bits(const l2k_encoder *encoder);

/* Adds to all tiles the guard bits that one of them needs. `whole`: the tiles are the image's, and the main header is
 * still to be written. Returns how many guard bits their tile-part headers have more than the main header. */
unsigned l2k_encode_add_guard_bits(l2k_encoder *encoder, bool whole);

/* The bound B of HT magnitudes of `bits` bits at the cleanup pass (8.7.3 of T.814). */
unsigned l2k_encode_magnitude_bound(const l2k_component_coding *coding, unsigned resolution, unsigned bits);

/* Ccap15 becomes what the tiles so far are. `more_guard_bits`: as above. */
void l2k_encode_state_magnitudes(l2k_encoder *encoder, unsigned more_guard_bits);

#endif
