/* Decoding with lift2k: shared by decoder.c and tiles.c. */
#ifndef COMPAT_OPENJP2_DECODER_H
#define COMPAT_OPENJP2_DECODER_H

#include "compat/openjp2/codec.h"

/* Sets the image's area, and positions and sizes of its components for the codec's reduction. Between opj_read_header
 * and opj_set_decode_area OpenJPEG reduces the size of the whole, not its edges: at odd origins that exceeds the true
 * size (B-14) by one, with samples of 0. */
bool decode_set_area(const codec *c, opj_image_t *image, const uint32_t area[4]);

/* Decodes the image's area into planes, one for each of its components; leaves those of unselected components alone. */
bool decode_planes(codec *c, const opj_image_t *image, const l2k_plane *planes);

/* Decodes the image's area into new samples of its selected components, or of all. */
bool decode_samples(codec *c, opj_image_t *image);

/* Decodes an area into new samples, to which the boxes of a JP2 file are applied on request, if components have not been
 * selected. */
bool decode_area(codec *c, opj_image_t *image, const uint32_t area[4], bool with_boxes);

/* Whether opj_set_decoded_components chose the component, or all. */
bool decode_is_selected(const decode_codec *d, uint32_t component);

/* A new image of an area with the header's facts, without samples, or NULL. */
opj_image_t *decode_new_image(const codec *c, const uint32_t area[4]);

#endif
