/* Decoding with lift2k: shared by decoder.c and tiles.c. */
#ifndef COMPAT_OPENJP2_DECODER_H
#define COMPAT_OPENJP2_DECODER_H

#include "compat/openjp2/codec.h"

/* Sets positions and sizes of the image's components for its area and the codec's reduction. Between opj_read_header
 * and opj_set_decode_area OpenJPEG reduces the size of the whole, not its edges: at odd origins that exceeds the true
 * size (B-14) by one, with samples of 0. */
bool decode_set_sizes(const codec *c, opj_image_t *image);

/* Whether OpenJPEG decodes the area, or the only tile, of a stream that seems to end early; false after a message. */
bool decodes_truncated(codec *c);

/* Decodes the image's area into planes, one for each of its components; leaves those of unselected components alone. */
bool decode_planes(codec *c, const opj_image_t *image, const l2k_plane *planes);

/* Decodes the image's area into new samples of its selected components, or of all. */
bool decode_samples(codec *c, opj_image_t *image);

/* Whether opj_set_decoded_components chose the component, or all. */
bool decode_is_selected(const decode_codec *d, uint32_t component);

/* A new image with the header's facts, without samples, or NULL. */
opj_image_t *decode_new_image(const codec *c);

#endif
