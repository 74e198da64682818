/* Packets of a tile of one layer, made on a CUDA device from code-blocks there: parameters and results of the
 * kernels. */
#ifndef L2K_CODEC_ENGINE_CUDA_PACKETS_CUDA_PACKETS_H
#define L2K_CODEC_ENGINE_CUDA_PACKETS_CUDA_PACKETS_H

#include "base/scalar.h"
#include "codec/engine/cuda/blocks/cuda_memory.h"

enum { L2K_REVERSIBLE = UINT8_MAX };

/* A precinct's part of one subband, in the order of the batch, in which its code-blocks follow one another. */
typedef struct l2k_cuda_packet_part {
    uint32_t first_block;
    uint32_t across, down; /* code-blocks; 0 and 0: none */
    uint32_t num_nodes;    /* of each of its tag trees */
    uint32_t first_node;   /* of them, among all */
    uint8_t max_planes;    /* Mb */
    uint8_t level;         /* of the irreversible transform, for B; else L2K_REVERSIBLE */
    uint8_t is_ht;
    uint8_t has_segments; /* 0: all passes of a block are in one codeword segment */
    double weight;        /* of its blocks' squared errors, for rate control */
} l2k_cuda_packet_part;

enum { L2K_MOST_PARTS = 3 };

/* A packet. Its parts, at most L2K_MOST_PARTS, are as many entries apart as the resolution has precincts. */
typedef struct l2k_cuda_packet {
    uint32_t first_part, num_parts, distance;
    uint32_t first_word, num_words; /* room for its header, without stuffing */
    uint32_t header;                /* room for its header with stuffing and markers, in units of 4 bytes */
} l2k_cuda_packet;

/* A node of the tag trees of inclusion and of zero bit-planes: in the upper 24 bits the first included block below it,
 * L2K_NO_BLOCK if there is none; in the lower 8 the least number of zero bit-planes of the blocks below it. Leaves come
 * first, in raster order; then level by level up. */
typedef uint32_t l2k_cuda_packet_node;

#define L2K_NO_BLOCK 0xFFFFFFu

L2K_HD l2k_cuda_packet_node l2k_make_node(uint32_t first, uint32_t zero_planes)
{
    return first << 8 | zero_planes;
}

L2K_HD uint32_t l2k_node_first(l2k_cuda_packet_node node)
{
    return node >> 8;
}

L2K_HD uint32_t l2k_node_zero_planes(l2k_cuda_packet_node node)
{
    return node & 0xFF;
}

/* Where a code-block's bytes go, relative to the end of its packet's header. */
typedef struct l2k_cuda_packet_place {
    uint32_t packet, offset;
} l2k_cuda_packet_place;

typedef struct l2k_cuda_packet_size {
    uint32_t header, body; /* bytes; the header with its markers */
} l2k_cuda_packet_size;

/* Counters that all packets share; all 0 at first. */
typedef struct l2k_cuda_packet_counters {
    uint64_t bytes;   /* of all packets */
    uint32_t done;    /* packets with complete headers */
    uint32_t excess;  /* not 0: a block has a bit-plane beyond those of its subband */
    uint32_t failed;  /* not 0: a block has two; the first such block is number UINT32_MAX - failed */
    uint32_t bound;   /* B that the HT blocks need (8.7.3 of T.814) */
    uint32_t no_room; /* not 0: a header, or a block's code, had no room */
} l2k_cuda_packet_counters;

/* Nodes of a packet's tag trees in shared memory. */
enum { L2K_SHARED_NODES = 8448 };

typedef struct l2k_cuda_packet_run {
    l2k_cuda_packet *packets; /* in the order of the tile */
    uint32_t num_packets, num_blocks;
    l2k_cuda_packet_part *parts;
    l2k_cuda_coded coded;
    l2k_cuda_packet_node *nodes; /* of packets that have more */
    uint32_t *words, *headers;
    l2k_cuda_packet_place *places; /* of the blocks */
    l2k_cuda_packet_size *sizes;
    uint32_t *starts; /* where each packet begins */
    l2k_cuda_packet_counters *counters;
    uint8_t *bytes;    /* all packets */
    uint64_t capacity; /* of them */
    uint32_t more_guard_bits;
    uint8_t sop, eph;
    uint8_t many_blocks;  /* packets have many blocks, so each gets many threads */
    uint8_t shared_nodes; /* all trees of a packet fit L2K_SHARED_NODES */
} l2k_cuda_packet_run;

/* Headers and their sizes; then copies to final places. Each is a cudaError_t. */
int l2k_cuda_launch_headers(const l2k_cuda_packet_run *run, void *stream);
int l2k_cuda_launch_gather(const l2k_cuda_packet_run *run, void *stream);

#endif
