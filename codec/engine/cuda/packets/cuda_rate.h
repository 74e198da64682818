/* Rate control for one layer of packets made on a CUDA device (J.14): hulls of code-blocks, the sums by which the host
 * searches, and blocks cut where the host ends the layer. The search is that of codec/packets/rate_search.c. */
#ifndef L2K_CODEC_ENGINE_CUDA_PACKETS_CUDA_RATE_H
#define L2K_CODEC_ENGINE_CUDA_PACKETS_CUDA_RATE_H

#include "codec/engine/cuda/packets/cuda_packets.h"
#include "codec/packets/slopes.h"

/* Counters that all blocks share; all 0 at first. */
typedef struct l2k_cuda_rate_sums {
    uint64_t bins[L2K_SLOPE_BINS]; /* of each: its segments, times 2^32, and their bytes */
    uint32_t loaded;               /* segments listed so far */
    uint32_t excess, failed;       /* as l2k_cuda_packet_counters */
    uint32_t unused;
} l2k_cuda_rate_sums;

typedef struct l2k_cuda_rate_run {
    const l2k_cuda_packet_part *parts;
    uint32_t num_parts, num_blocks;
    l2k_cuda_coded coded; /* with distortions */
    double *slopes;       /* of a block's hull, from the number of its first pass on, as l2k_find_hull has them */
    uint8_t *passes;
    uint8_t *counts; /* per block, of its segments */
    l2k_cuda_rate_sums *sums;
    l2k_hull_segment *segments; /* of a bin, in any order */
    l2k_cuda_coded_block *cut;  /* the blocks, cut for the layer */
} l2k_cuda_rate_run;

/* Of a bin's sum. */
enum { L2K_BIN_COUNT_AT = 32 };

/* The host's side of it. */
typedef struct l2k_cuda_rate {
    const l2k_context *context; /* of the image under way */
    void *stream;               /* likewise */
    l2k_cuda_memory device;     /* sums, segments of bins, and parts that stay */
    l2k_cuda_memory pinned;     /* sums and segments, as they come down */
    l2k_cuda_rate_run run;
    const l2k_cuda_rate_sums *sums; /* in pinned memory */
    l2k_slope_list list;
    uint32_t loaded; /* segments of bins so far */
} l2k_cuda_rate;

void l2k_cuda_rate_release(l2k_cuda_rate *rate);

/* Enqueues hulls and sums behind a batch; rate->sums can be read after the stream has reached them. */
l2k_status l2k_cuda_rate_start(const l2k_context *context, l2k_cuda_rate *rate, const l2k_cuda_packet_part *parts,
                               uint32_t num_parts, uint32_t num_blocks, const l2k_cuda_coded *coded, void *stream);

/* Then makes rate->list of them. Its loads return L2K_ERROR_UNSUPPORTED, without a message, if the host had better search
 * by itself. */
l2k_status l2k_cuda_rate_list(l2k_cuda_rate *rate);

/* Enqueues the cut at a prefix of the list; rate->run.cut gets the blocks. */
l2k_status l2k_cuda_rate_cut(l2k_cuda_rate *rate, size_t prefix);

/* Hulls and their sums; the segments of a bin, from sums->loaded on; blocks cut at an end. Each is a cudaError_t. */
int l2k_cuda_launch_hulls(const l2k_cuda_rate_run *run, void *stream);
int l2k_cuda_launch_load(const l2k_cuda_rate_run *run, uint32_t bin, void *stream);
int l2k_cuda_launch_cut(const l2k_cuda_rate_run *run, const l2k_slope_end *end, void *stream);

/* The part that a block belongs to: the last one, not empty, that begins with it or before it. */
L2K_HD uint32_t l2k_part_of_block(const l2k_cuda_packet_part *parts, uint32_t num_parts, uint32_t block)
{
    uint32_t low = 0, high = num_parts;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (parts[middle].first_block <= block)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* How many of a block's segments are before an end. */
L2K_HD uint32_t l2k_segments_before(const double *slopes, const uint8_t *passes, uint32_t count, uint32_t block,
                                    const l2k_slope_end *end)
{
    uint32_t low = 0;
    while (low < count) {
        const uint32_t middle = (low + count) / 2;
        if (l2k_is_before_end(slopes[middle], block, passes[middle], end))
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* A block with its first passes alone. */
L2K_HD l2k_cuda_coded_block l2k_cut_block(l2k_cuda_coded_block block, const uint32_t *pass_ends, unsigned passes)
{
    block.bytes = passes ? l2k_hull_bytes(pass_ends + block.ends, passes) : 0;
    block.num_passes = (uint8_t)passes;
    return block;
}

#endif
