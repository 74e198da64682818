/* The HT block coder on an OpenCL device: shared by encoding and decoding. Internal to this folder, except for the
 * table. */
#ifndef L2K_CODEC_ENGINE_OPENCL_HT_CL_CODER_H
#define L2K_CODEC_ENGINE_OPENCL_HT_CL_CODER_H

#include "codec/blocks/block_coder.h"
#include "codec/engine/opencl/ht_cl.h"
#include "transform/opencl/cl_runtime.h"

/* Encodes batches without distortions and refinement passes, decodes all of HT; views are on the device.
 * l2k_block_batch.engine is the queue (a cl_command_queue) to work in, after the work already enqueued there; NULL: one
 * of the coder's own. Decoding, and encoding up to `finish`, runs asynchronously. */
extern const l2k_block_coder_table l2k_ht_on_opencl;

/* Pinned memory in chunks; pieces stay valid until `used` and `chunk` are reset to 0. */
enum { L2K_CL_CHUNKS = 64 };

typedef struct l2k_cl_chunks {
    l2k_cl_pinned chunks[L2K_CL_CHUNKS];
    unsigned chunk; /* the one with free space */
    size_t used;    /* of it */
} l2k_cl_chunks;

typedef struct l2k_ht_cl {
    const l2k_context *context;
    l2k_cl_device *device;
    cl_command_queue own, queue; /* the coder's, and that of the batch */
    l2k_block_batch batch;       /* the one under way, unless it has no blocks */
    bool encodes;
    cl_mem coefficients, part; /* of the batch's views; and the view listed last, which begins at element part_at */
    size_t part_at;
    l2k_cl_pinned list, results; /* all that crosses the bus, except code */
    l2k_device_memory device_list, device_results;
    /* Encoding, from the first batch on: */
    cl_kernel encode;
    bool wide; /* the batch has coefficients of more than 16 bits */
    l2k_device_memory codes, pairs, code;
    l2k_cl_chunks kept; /* the code of encoded blocks */
    /* Decoding, likewise: */
    cl_kernel quads, samples, refine;
    l2k_device_memory vlc, bytes, scratch;
    l2k_cl_pinned gathered;
    cl_event done;
    bool any_refined;
} l2k_ht_cl;

/* Fills in a block's view for the list. */
l2k_status l2k_ht_cl_list(l2k_ht_cl *c, size_t number, l2k_ht_cl_view *view);

/* Enqueues a kernel over the blocks, `items` work-items each; its arguments follow the list and the coefficients. */
l2k_status l2k_ht_cl_launch(const l2k_ht_cl *c, cl_kernel kernel, size_t items, const l2k_cl_argument *more,
                            unsigned count);

l2k_status l2k_ht_cl_upload(const l2k_ht_cl *c, const l2k_device_memory *to, size_t at, const void *from, size_t bytes);
/* Waits for it. */
l2k_status l2k_ht_cl_make_table(l2k_ht_cl *c, l2k_device_memory *table, const void *from, size_t bytes);

l2k_status l2k_ht_cl_begin_encoding(l2k_ht_cl *c);
l2k_status l2k_ht_cl_finish_encoding(l2k_ht_cl *c);
l2k_status l2k_ht_cl_begin_decoding(l2k_ht_cl *c);
l2k_status l2k_ht_cl_finish_decoding(l2k_ht_cl *c);

#endif
