/* What an image is encoded with: options become the contents of SIZ, COD and QCD. */
#ifndef L2K_CODEC_ENCODE_SETUP_H
#define L2K_CODEC_ENCODE_SETUP_H

#include "codec/encode/encoding.h"

/* Of a quantiser step: no magnitude then reaches 2^26 and saturates (quant/quantiser.h). */
#define L2K_MOST_EXPONENT 25

/* Turns options into what SIZ, COD and QCD say, with every check that needs more than one option. Release also after an
 * error. */
l2k_status l2k_encode_setup(const struct l2k_encoder *encoder, const l2k_image *image, l2k_encoding *encoding);
void l2k_encoding_release(l2k_encoding *encoding);

/* Whether the planes are there and their types hold the components' samples. */
l2k_status l2k_encode_check_planes(const l2k_encoding *encoding, l2k_rect area, const l2k_plane *planes);

#endif
