/* One launch of the OpenCL backend: a decomposition level, or none, of components of the same shape. Passed to kernels by
 * value, so it has the same layout on both sides: fixed sizes, the larger ones first.
 *
 * Coordinates are those of the samples less an even number, so that they begin at 0 or 1, and even ones are low. */
#ifndef L2K_TRANSFORM_OPENCL_CL_LEVEL_H
#define L2K_TRANSFORM_OPENCL_CL_LEVEL_H

enum {
    L2K_CL_COMPONENTS = 3, /* components of a launch */
    L2K_CL_LEAST_SIDE = 16 /* samples from which on one reflection extends a line as far as kernels read */
};

typedef struct l2k_cl_level {
    int64_t samples_at[3]; /* bytes from the start of its memory to the first sample, inverse to the first kept one */
    int64_t row_stride[3]; /* bytes */
    int64_t sample_stride[3]; /* bytes */
    int64_t low_at[3];        /* coefficients from the start to the first one of LL, unless it is the last level */
    int64_t bands_at[3][4];   /* the same of each subband, by orientation */
    int32_t first_x, end_x, first_y, end_y;     /* of the samples */
    int32_t kept_x0, kept_x1, kept_y0, kept_y1; /* those that the inverse stores */
    int32_t bands_stride, low_stride;           /* coefficients between rows */
    int32_t is_last;                            /* the LL is subband 0 */
    int32_t rounds;                             /* pairs of rows of a work-group */
    int32_t shift[3], low[3], high[3];          /* l2k_level_shift of pixels */
    float step[3][4], reciprocal[3][4];         /* of the quantiser; inverse: half of the step */
} l2k_cl_level;

#endif
