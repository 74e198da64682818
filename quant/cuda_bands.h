/* The subbands of up to two decomposition levels of a component in device memory, as kernels take them. */
#ifndef L2K_QUANT_CUDA_BANDS_H
#define L2K_QUANT_CUDA_BANDS_H

#include "quant/quantiser.h"

typedef struct l2k_cuda_bands {
    void *at[2][4]; /* first coefficient by level of the launch (0 = its first) and orientation */
    int32_t stride; /* in coefficients, the same for all */
} l2k_cuda_bands;

/* Their quantiser steps (inverse: half of them); not used by the 5/3. */
typedef struct l2k_cuda_steps {
    l2k_quantiser_step of[2][4];
} l2k_cuda_steps;

#endif
