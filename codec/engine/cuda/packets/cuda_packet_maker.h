/* Makes packets on a CUDA device, from code-blocks that stay there, so that a codestream crosses the bus in one copy:
 * for a tile with one layer of all coding passes, or of those that a ratio allows. */
#ifndef L2K_CODEC_ENGINE_CUDA_PACKETS_CUDA_PACKET_MAKER_H
#define L2K_CODEC_ENGINE_CUDA_PACKETS_CUDA_PACKET_MAKER_H

#include "codec/engine/cuda/coder/cuda_coder.h"
#include "codec/engine/engine.h"

typedef struct l2k_cuda_packet_maker l2k_cuda_packet_maker;

l2k_status l2k_cuda_packet_maker_create(const l2k_context *context, l2k_cuda_packet_maker **maker);
/* NULL is allowed. */
void l2k_cuda_packet_maker_free(l2k_cuda_packet_maker *maker);

/* The source of packets: all blocks of a tile, which the coder encodes as `batch` says, from beginning to end. */
typedef struct l2k_cuda_packet_source {
    l2k_block_coder *coder;
    const l2k_block_batch *batch;
    const l2k_cuda_batch *more; /* of the batch, which stays on the device */
    l2k_tile *tile;
    void *coefficients; /* their memory, in which packets are assembled once they are no longer needed */
    size_t coefficient_bytes;
    bool lengths;          /* of packets are wanted */
    double ratio;          /* the layer's target (rate.h), for which the batch needs distortions; 0: all passes */
    size_t fixed_bytes;    /* count towards a ratio, as in l2k_layers_allocate */
    bool *blocks_are_here; /* set: all code-blocks have come to the host instead of packets */
} l2k_cuda_packet_source;

/* `made->bytes` is NULL if the device cannot do it; the coefficients are then unchanged. Else it sets the tile's
 * missing_guard_bits, which the packets already allow for, and magnitude_bound. The packets remain until the next call.
 * Errors: as from the coder; L2K_ERROR_MEMORY, L2K_ERROR_BACKEND. */
l2k_status l2k_cuda_make_packets(l2k_cuda_packet_maker *maker, const l2k_cuda_packet_source *from,
                                 l2k_made_packets *made);

/* Truncated HT code-blocks, as l2k_engine_table's functions; deliver brings the packets of the last cut. The batch is of
 * L2K_CODE_CUT. */
l2k_status l2k_cuda_packets_estimate(l2k_cuda_packet_maker *maker, const l2k_cuda_packet_source *from, uint64_t *planes,
                                     struct l2k_slope_list **list);
l2k_status l2k_cuda_packets_sample(l2k_cuda_packet_maker *maker, const l2k_cuda_packet_source *from,
                                   l2k_block_sample *sample);
l2k_status l2k_cuda_packets_cut(l2k_cuda_packet_maker *maker, const l2k_cuda_packet_source *from, size_t prefix,
                                uint64_t *bytes);
l2k_status l2k_cuda_packets_deliver(l2k_cuda_packet_maker *maker, const l2k_cuda_packet_source *from,
                                    l2k_made_packets *made);

#endif
