/* Helpers on the public image description that encoder and decoder share. */
#ifndef L2K_CODEC_IMAGE_H
#define L2K_CODEC_IMAGE_H

#include "lift2k/lift2k.h"

/* Whether every value of a component fits a sample type. An impossible type holds nothing. */
bool l2k_sample_type_holds(l2k_sample_type type, uint32_t precision, bool is_signed);

#endif
