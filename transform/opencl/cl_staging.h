/* Moves the samples of a host plan to the device and back through pinned memory, which has the device's layout. Internal to
 * the OpenCL backend. */
#ifndef L2K_TRANSFORM_OPENCL_CL_STAGING_H
#define L2K_TRANSFORM_OPENCL_CL_STAGING_H

#include "transform/opencl/cl_levels.h"

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
