/* MQ code-blocks to decode on a device: the kernels' parameters. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_DECODE_BATCH_H
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_DECODE_BATCH_H

#include "base/scalar.h"
#include "codec/engine/cuda/blocks/cuda_memory.h"

/* ---- Tables -------------------------------------------------------------------------------------------------- */

/* Contexts of a block: those of Table D.7, and one whose decisions are raw bits. */
enum { L2K_MQ_DECODE_RAW = 19, L2K_MQ_DECODE_CONTEXTS = 20 };

/* Tables of contexts in their order, 512 entries each: zero coding of LL and LH, of HL, of HH; signs; refinement; raw
 * bits. */
enum {
    L2K_MQ_DECODE_ZEROS = 0,
    L2K_MQ_DECODE_SIGNS = 3 * 512,
    L2K_MQ_DECODE_REFINEMENT = 4 * 512,
    L2K_MQ_DECODE_RAW_BITS = 5 * 512,
    L2K_MQ_DECODE_LOOKUPS = 6 * 512
};

/* A state: Qe in the upper 16 bits, from bit 3 on the number of its entry, the MPS in bit 0. An entry has the states
 * after an MPS and after an LPS. Row i of Table C.2 with MPS s is entry 2 i + s; the next one is for raw bits. */
enum { L2K_MQ_DECODE_STATES = 96, L2K_MQ_DECODE_ENTRY = 0x3F8 };

typedef struct l2k_mq_decode_tables {
    uint32_t states[L2K_MQ_DECODE_STATES][2];
    uint32_t first[L2K_MQ_DECODE_CONTEXTS]; /* at the start of a block */
    uint8_t lookups[L2K_MQ_DECODE_LOOKUPS]; /* mq_decode_lane.cuh; bit 7: the sign is inverted */
} l2k_mq_decode_tables;

/* ---- Lists ---------------------------------------------------------------------------------------------------- */

typedef struct l2k_mq_decode_block {
    l2k_cuda_view view;
    uint32_t segments;  /* the first one's index */
    uint32_t planes_at; /* its memory for bit-planes, in words of 64 bits */
    uint8_t num_segments;
    uint8_t planes, passes; /* passes 0: nothing to decode, all samples are 0 */
    uint8_t style;          /* l2k_style values */
    uint8_t zeros;          /* table of zero coding */
    uint8_t roi_shift;
    uint8_t reversible;
    uint8_t wide; /* coefficients of 32 bits */
} l2k_mq_decode_block;

/* A codeword segment: consecutive pieces of bytes, and its place without stuffing. */
typedef struct l2k_mq_decode_segment {
    uint32_t pieces; /* the first one's index */
    uint32_t num_pieces;
    uint32_t bits_at;  /* l2k_mq_bits */
    uint32_t num_bits; /* of these, at least L2K_MQ_DECODE_LEAST_BITS */
    uint8_t passes, raw;
    uint16_t unused;
} l2k_mq_decode_segment;

enum { L2K_MQ_DECODE_LEAST_BITS = 3 };

typedef struct l2k_mq_decode_piece {
    uint32_t at, bytes;
} l2k_mq_decode_piece;

/* 32 bits of a segment without stuffing, the first one on top, and the carries that a byte after 0xFF may have: each
 * counts twice the bit at the same place of `bits`, once that is read. */
typedef struct l2k_mq_bits {
    uint32_t bits, carries;
} l2k_mq_bits;

/* Of `bytes` bytes: a word for every four, one for the rest, two that follow the end. */
L2K_HD uint32_t l2k_mq_decode_num_bits(uint32_t bytes)
{
    return bytes / 4 + L2K_MQ_DECODE_LEAST_BITS;
}

/* A warp decodes a group of blocks, a lane each. The 48 KiB of shared memory that a device gives by default limit the
 * blocks of a group. */
L2K_HD uint32_t l2k_mq_decode_lane_bytes(uint32_t block_words)
{
    return 8 * block_words + 4 * L2K_MQ_DECODE_CONTEXTS;
}

L2K_HD uint32_t l2k_mq_decode_most_lanes(uint32_t block_words)
{
    const uint32_t room = 48 * 1024 - (uint32_t)sizeof(l2k_mq_decode_tables);
    return 32 * l2k_mq_decode_lane_bytes(block_words) <= room ? 32 : 16;
}

/* Words of eight columns of a stripe, at most 256. */
L2K_HD uint32_t l2k_mq_decode_words(const l2k_cuda_view *view)
{
    return (view->width + 7u) / 8 * ((view->height + 3u) / 4);
}

/* The bit-planes of a block: for each plane, significance at its end and the bits of its refinement pass; then signs,
 * and what the significance pass has visited. */
L2K_HD uint32_t l2k_mq_decode_plane_words(const l2k_mq_decode_block *block)
{
    return (2u * block->planes + 2) * l2k_mq_decode_words(&block->view);
}

/* ---- Kernels -------------------------------------------------------------------------------------------------- */

typedef struct l2k_mq_decode_batch {
    const l2k_mq_decode_tables *tables;
    l2k_mq_decode_block *blocks;
    uint32_t *order;  /* blocks with passes, the longest first */
    uint32_t *starts; /* where in that order each group begins, and the last one ends */
    l2k_mq_decode_segment *segments;
    l2k_mq_decode_piece *pieces;
    const uint8_t *bytes;
    l2k_mq_bits *bits;
    uint64_t *planes;
    uint32_t num_blocks, num_groups, num_segments;
    uint32_t most_words; /* of a block */
    uint32_t most_lanes; /* of a group */
} l2k_mq_decode_batch;

/* In this order. Each is a cudaError_t. */
int l2k_mq_launch_unstuff(const l2k_mq_decode_batch *decode, void *stream);
int l2k_mq_launch_decode(const l2k_mq_decode_batch *decode, void *stream);
int l2k_mq_launch_samples(const l2k_mq_decode_batch *decode, void *stream);

#endif
