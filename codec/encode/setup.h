/* Turns options into the parameters of an image. */
#ifndef L2K_CODEC_ENCODE_SETUP_H
#define L2K_CODEC_ENCODE_SETUP_H

#include "codec/encode/encoding.h"

/* The most exponent of a quantiser step: no magnitude then reaches 2^26 and saturates (quant/quantiser.h). */
#define L2K_MOST_EXPONENT 25

/* Turns options into the contents of SIZ, COD and QCD, with every check that needs more than one option. Release also
 * after an error. */
l2k_status l2k_encode_setup(const struct l2k_encoder *encoder, const l2k_image *image, l2k_encoding *encoding);
void l2k_encoding_release(l2k_encoding *encoding);

/* Checks that no plane is missing and that their types hold the components' samples. */
l2k_status l2k_encode_check_planes(const l2k_encoding *encoding, l2k_rect area, const l2k_plane *planes);

#endif
