/* What a sample type can hold. */
#ifndef L2K_TILING_SAMPLES_H
#define L2K_TILING_SAMPLES_H

#include "lift2k/lift2k.h"

/* Whether every value of a component fits an integer sample type. Any other type holds nothing. */
bool l2k_sample_type_holds(l2k_sample_type type, uint32_t precision, bool is_signed);

#endif
