/* Makes packets on a CUDA device, from code-blocks that stay there, so that a codestream crosses the bus in one copy:
 * for a tile with one layer of all coding passes, or of those that a ratio allows. */
#ifndef L2K_CODEC_ENGINE_CUDA_PACKETS_CUDA_PACKET_MAKER_H
#define L2K_CODEC_ENGINE_CUDA_PACKETS_CUDA_PACKET_MAKER_H

#include "codec/engine/cuda/coder/cuda_coder.h"
#include "codec/engine/cuda/packets/cuda_rate.h"
#include "codec/engine/engine.h"

/* The engine's state. Zero-initialise before the first use. */
typedef struct l2k_cuda_packet_maker {
    l2k_block_coder *coder; /* of the kind that the last tile needed */
    /* The source, which the engine fills in for each call: */
    const l2k_encode_request *request;
    l2k_block_batch batch; /* all blocks of the request's tile */
    l2k_cuda_batch more;   /* of the batch */
    void *coefficients;    /* their memory, in which packets are assembled once they are no longer needed */
    size_t coefficient_bytes;
    bool blocks_are_here; /* result: all code-blocks have come to the host instead of packets */
    /* At work: */
    uint64_t same;             /* of the batch that the lists are for; 0: no lists */
    l2k_cuda_memory device;    /* lists, then intermediate results */
    l2k_cuda_memory pinned;    /* of it: the lists while they go up, and results */
    l2k_cuda_memory out;       /* in pinned memory */
    l2k_cuda_packet_run run;   /* on the device */
    l2k_cuda_packet_run lists; /* in pinned memory */
    uint32_t *first_parts;     /* number of the first part of each resolution, likewise */
    uint32_t num_parts;
    size_t expected; /* bytes copied before their number is known */
    l2k_cuda_rate rate;
    size_t at; /* the headers' prefix of its list */
} l2k_cuda_packet_maker;

void l2k_cuda_packet_maker_release(l2k_cuda_packet_maker *maker);

/* Encodes the batch, from beginning to end. `made->bytes` is NULL if the device cannot do it; the coefficients are then
 * unchanged. Else it sets the tile's missing_guard_bits, which the packets already allow for, and magnitude_bound. The
 * packets remain until the next call. Errors: as from the coder; L2K_ERROR_MEMORY, L2K_ERROR_BACKEND. */
l2k_status l2k_cuda_make_packets(l2k_cuda_packet_maker *maker, l2k_made_packets *made);

/* Truncated HT code-blocks, as l2k_engine_table's functions; deliver brings the packets of the last cut. The batch is of
 * L2K_CODE_CUT. */
l2k_status l2k_cuda_packets_estimate(l2k_cuda_packet_maker *maker, uint64_t *planes, l2k_slope_list **list);
l2k_status l2k_cuda_packets_sample(l2k_cuda_packet_maker *maker, l2k_block_sample *sample);
l2k_status l2k_cuda_packets_cut(l2k_cuda_packet_maker *maker, size_t prefix, uint64_t *bytes);
l2k_status l2k_cuda_packets_deliver(l2k_cuda_packet_maker *maker, l2k_made_packets *made);

#endif
