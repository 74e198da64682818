/* The launches of an OpenCL plan: all levels of all components, between samples and coefficients in device memory. */
#ifndef L2K_TRANSFORM_OPENCL_CL_LEVELS_H
#define L2K_TRANSFORM_OPENCL_CL_LEVELS_H

#include "transform/backend.h"
#include "transform/opencl/cl_runtime.h"

/* The layout of a launch's samples: one component; three with a component transform, as planes or interleaved; LL
 * between levels, of one component. */
enum { L2K_CL_SINGLE, L2K_CL_PLANES, L2K_CL_TRIPLES, L2K_CL_BETWEEN, L2K_CL_FORMS };

/* State of a plan's launches. The kernels are made when a run first needs them. */
typedef struct l2k_cl_levels {
    l2k_cl_device *device;
    cl_mem coefficients;                                       /* of all components */
    size_t *first;                                             /* of each component, in coefficients */
    cl_mem low;                                                /* LL between levels */
    l2k_sample_type narrow;                                    /* its type */
    cl_kernel kernels[L2K_CL_FORMS][L2K_SAMPLE_F32 + 1][2][4]; /* [1][]: of no decomposition; by care */
} l2k_cl_levels;

/* The type of LL between levels, and its memory in bytes. */
l2k_sample_type l2k_cl_low_type(const l2k_plan_spec *spec);
size_t l2k_cl_low_bytes(const l2k_plan_spec *spec);

/* A plane of a launch: a buffer, and where in it the samples begin. */
typedef struct l2k_cl_plane {
    cl_mem memory;
    int64_t at, row_stride, sample_stride; /* bytes */
    l2k_sample_type type;
} l2k_cl_plane;

/* Enqueues the transform of the plan's direction. */
l2k_status l2k_cl_run_levels(const l2k_plan *plan, l2k_cl_levels *levels, const l2k_cl_plane *planes,
                             cl_command_queue queue);

void l2k_cl_release_kernels(l2k_cl_levels *levels);

#endif
