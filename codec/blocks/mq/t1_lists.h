/* The parts of the block encoder's coding passes. An encoder knows all significances beforehand, so it finds the
 * decisions of a bit-plane, with their contexts, for many samples at a time as bit masks, lists them in scan order, and
 * codes them afterwards. One table of functions per instruction set.
 *
 * Cells. A cell is a 64-bit mask of 16 stripe columns: sample k of column x is bit 4 x + k, so bits are in scan order.
 * The cells of a stripe follow each other and end in an empty one, which also precedes the next stripe; empty stripes
 * surround all. A sample's neighbours are therefore shifts of its cell and of the cells around it, without special
 * cases at the edges. */
#ifndef L2K_CODEC_BLOCKS_MQ_T1_LISTS_H
#define L2K_CODEC_BLOCKS_MQ_T1_LISTS_H

#include "base/cpu.h"
#include "codec/blocks/mq/t1.h"

/* Most cells of a block: those of 4 x 1024 samples, one and an empty one per stripe; and room for a vector after the
 * last. */
enum { L2K_T1_VECTOR_CELLS = 4, L2K_T1_CELLS = 258 * 2 + 2 + L2K_T1_VECTOR_CELLS };

/* Two decisions a sample; a run-length column takes five for its first sample. Room for stores of whole vectors. */
enum { L2K_T1_LIST_BYTES = 2 * 4096 + 3 * 1024 + 64 };

/* Decisions in the order of coding: context, then in bit 0 the decision. */
typedef struct l2k_t1_list {
    size_t count;
    uint8_t entries[L2K_T1_LIST_BYTES];
} l2k_t1_list;

typedef struct l2k_t1_planes {
    /* Orders in which bytes are picked by a mask of eight bits, and the bits in a mask. Pairs: bit k stands for byte k,
     * and byte 4 + k follows byte k. */
    uint8_t singles[256][8], pairs[256][8], ones[256];
    unsigned orientation;
    bool causal;
    size_t row, first, end; /* cells from one stripe to the next; the first one; one past the last */
    size_t spacing;         /* cells from one bit-plane to the next */
    uint64_t live[L2K_T1_CELLS], sign[L2K_T1_CELLS];
    /* Significant when the bit-plane before the current one began; when the current one began; after its significance
     * pass; after its cleanup pass. */
    uint64_t refined[L2K_T1_CELLS], before[L2K_T1_CELLS], visited[L2K_T1_CELLS], after[L2K_T1_CELLS];
    uint64_t *planes; /* bit-plane p from planes[p * spacing] on */
    size_t planes_capacity;
    /* The members below are those of the current bit-plane. */
    bool raw; /* signs in the significance pass are bits of their own (D.6) */
    l2k_t1_list lists[PASS_TYPES];
    l2k_t1_moments became[PASS_TYPES]; /* samples that became significant in the pass */
    l2k_t1_moments refined_to[2];      /* samples refined by a bit 0, and by a bit 1 */
} l2k_t1_planes;

/* A block encoder's memory. */
typedef struct l2k_t1_encoder {
    uint8_t *bytes; /* code of one block */
    size_t bytes_capacity;
    l2k_t1_planes planes;
} l2k_t1_encoder;

typedef struct l2k_t1_rows {
    /* The OR of all magnitudes. */
    uint32_t (*magnitudes)(const l2k_t1_block *block);
    /* Loads signs and `num_planes` bit-planes into the cells of a block that has been laid out. */
    void (*load)(const l2k_t1_block *block, unsigned num_planes, l2k_t1_planes *planes);
    /* Lists the decisions of a bit-plane; call it from the highest plane to the lowest. */
    void (*list)(l2k_t1_planes *planes, unsigned plane);
    /* Measures the bit-plane's moments, after `list`. */
    void (*measure)(l2k_t1_planes *planes, unsigned plane);
    /* Codes the decisions of a feed. */
    void (*code)(l2k_mq_feed *feed);
} l2k_t1_rows;

/* The samples of a cell that become significant in a pass of the current bit-plane or are refined in it,
 * after `list`. */
static inline uint64_t l2k_t1_pass_samples(const l2k_t1_planes *p, unsigned type, size_t cell)
{
    if (type == PASS_REFINEMENT)
        return p->before[cell];
    return type == PASS_SIGNIFICANCE ? p->visited[cell] & ~p->before[cell] : p->after[cell] & ~p->visited[cell];
}

/* Lays out a block in cells. */
void l2k_t1_lay_out(const l2k_t1_block *block, l2k_t1_planes *planes);

/* Fills in the orders. */
void l2k_t1_list_orders(l2k_t1_planes *planes);

L2K_CPU_DECLARE(l2k_t1_rows);

/* The functions of a usable instruction set, or of the best one. */
const l2k_t1_rows *l2k_t1_rows_get(l2k_cpu cpu);

#endif
