/* The launches of an OpenCL plan: all levels of all components, between samples and coefficients in device memory; and
 * the way of the samples there. */
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

/* ---- Samples of a host plan, moved to the device and back through pinned memory, which has its layout ------------ */

/* The samples of a component on the device, or of the three of a component transform: three planes, or interleaved. */
typedef struct l2k_cl_pixels {
    l2k_sample_type type; /* the smallest that holds the precision of all of them */
    unsigned components;  /* 1 or 3 */
    uint32_t width, height;
    size_t row_bytes; /* of a plane; one behind the other */
    cl_mem memory;
    l2k_cl_pinned staging; /* as large */
    /* The current run's: */
    bool triples;      /* the device's layout */
    bool converted[3]; /* the caller's samples differ in type or distance */
} l2k_cl_pixels;

/* Everything but the memory, for the components from c on. */
l2k_cl_pixels l2k_cl_pixels_of(const l2k_plan_spec *spec, uint32_t c);

/* Of all planes. */
size_t l2k_cl_pixel_bytes(const l2k_cl_pixels *pixels);

/* For each run: where on the device the caller's planes, one per component, come from or go to. */
void l2k_cl_place_pixels(l2k_cl_pixels *pixels, const l2k_plane *planes, l2k_cl_plane *placed);

/* Enqueue the copies and return. Unpack completes the download into the planes once the queue has done it. */
l2k_status l2k_cl_upload_pixels(const l2k_context *context, const l2k_cl_pixels *pixels, const l2k_plane *planes,
                                cl_command_queue queue);
l2k_status l2k_cl_download_pixels(const l2k_context *context, const l2k_cl_pixels *pixels, cl_command_queue queue);
void l2k_cl_unpack_pixels(const l2k_context *context, const l2k_cl_pixels *pixels, const l2k_plane *planes);

#endif
