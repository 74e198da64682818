/* Packets made on a CUDA device, from code-blocks that stay there, so that a codestream crosses the bus in one copy: of
 * a tile with one layer, which has all coding passes, or those that a ratio allows. */
#ifndef L2K_CODEC_ENGINE_CUDA_PACKETS_CUDA_PACKET_MAKER_H
#define L2K_CODEC_ENGINE_CUDA_PACKETS_CUDA_PACKET_MAKER_H

#include "codec/engine/cuda/coder/cuda_coder.h"
#include "codec/engine/engine.h"

/* The maker's memory, lists and results. */
typedef struct l2k_cuda_packet_maker l2k_cuda_packet_maker;

l2k_status l2k_cuda_packet_maker_create(const l2k_context *context, l2k_cuda_packet_maker **maker);
/* NULL is allowed. */
void l2k_cuda_packet_maker_free(l2k_cuda_packet_maker *maker);

/* What packets are made of: all blocks of a tile, which the coder encodes as `batch` says, from the beginning of the
 * batch to its end. */
typedef struct l2k_cuda_packet_source {
    l2k_block_coder *coder;
    const l2k_block_batch *batch;
    const l2k_cuda_batch *more; /* of the batch, which stays on the device */
    l2k_tile *tile;
    void *coefficients; /* their memory, where all packets are put together, once they are not needed any more */
    size_t coefficient_bytes;
    bool lengths;          /* of packets are asked for */
    double ratio;          /* that the layer is to reach (rate.h); 0: all passes. Then the batch asks for distortions */
    size_t fixed_bytes;    /* which counts for a ratio, as for l2k_layers_allocate */
    bool *blocks_are_here; /* set: without packets, all code-blocks have come to the host instead */
} l2k_cuda_packet_source;

/* `made->bytes` is NULL if that cannot be done here; the coefficients are then as they were. Else it sets the tile's
 * missing_guard_bits, for which the packets have that bit already, and magnitude_bound. What is made remains until the
 * next time. Errors: as from the coder; L2K_ERROR_MEMORY, L2K_ERROR_BACKEND. */
l2k_status l2k_cuda_make_packets(l2k_cuda_packet_maker *maker, const l2k_cuda_packet_source *from,
                                 l2k_made_packets *made);

#endif
