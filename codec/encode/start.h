/* The start and end of an image in the encoder. */
#ifndef L2K_CODEC_ENCODE_START_H
#define L2K_CODEC_ENCODE_START_H

#include "codec/encode/encoder.h"

/* Checks image and options, and prepares for all tiles together, or for a row of tiles at a time. */
l2k_status l2k_encode_start(l2k_encoder *encoder, const l2k_image *image, bool by_rows);

/* l2k_engine_enter for the processor of the options; first gives back what is kept on another. */
int l2k_encode_enter(l2k_encoder *encoder);

/* Samples of all components as if none were sub-sampled; safe for an unchecked image. */
uint64_t l2k_image_samples(const l2k_image *image);

/* Ends the image, if any, and returns `status`; after a failure keeps nothing for the next image. */
l2k_status l2k_encode_end(l2k_encoder *encoder, l2k_status status);

#endif
