/* The HT cleanup pass by rows of quads, in two stages: first significance and residuals of a row from MEL and VLC, then
 * its magnitudes and signs from MagSgn. Compiled once for each instruction set. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_ROWS_H
#define L2K_CODEC_BLOCKS_HT_HT_ROWS_H

#include "base/cpu.h"
#include "codec/blocks/ht/ht_streams.h"
#include "codec/blocks/ht/ht_tables.h"

/* Sides of a code-block are at most 1024; rounded up to even numbers, they give at most 4096 samples. */
enum { L2K_HT_MOST_QUADS = 512, L2K_HT_MOST_COLUMNS = 2 * L2K_HT_MOST_QUADS };

/* Vector code works on groups of this many quads. */
enum { L2K_HT_GROUP = 8 };

/* ---- Quads --------------------------------------------------------------------------------------------------- */

/* The codes of 7.3.5 and 7.3.6, indexed by the next bits. */
typedef struct l2k_ht_decode_tables {
    /* Of the first row of quads and of all others; indexed by context << 7 | the next seven bits. From bit 0: the
     * codeword's length (6 bits). The quad's part of the next one's context: in the first row from bit 7 on (3); in
     * others, where only the second bit occurs, at bit 10, that bit's place in an offset in bytes. At bit 11 u_off,
     * which for a second quad is its place in an offset into residuals. From bit 12 on: the number of ones in e_k (4);
     * rho, e_1, e_k (4 each); the number of ones in rho. */
    uint32_t quads[2][1024];
    /* Both residuals of a pair, indexed by l2k_ht_pair << 8 | the next eight bits. From bit 0: the length of both codes
     * (6 bits), bit 7 set if that is more than eight bits; the first residual at bit 8 and the second at bit 16. */
    uint32_t residuals[6 << 8];
} l2k_ht_decode_tables;

/* Which quads of a pair have a residual: the first is 1, the second 2. Where both have one in the first row, MEL says
 * whether both exceed 2. */
typedef enum l2k_ht_pair { L2K_HT_BOTH = 3, L2K_HT_FIRST_ROW = 4, L2K_HT_FIRST_ROW_LARGE = 5 } l2k_ht_pair;

enum { L2K_HT_LONG_CODE = 1 << 7 };

/* Both residuals from the next bits, as in the table, but without bit 7. */
uint32_t l2k_ht_residuals(unsigned pair, uint64_t bits);

void l2k_ht_make_decode_tables(l2k_ht_decode_tables *tables);

/* ---- A pass -------------------------------------------------------------------------------------------------- */

/* Coefficients as in views, or magnitudes with the sign in bit 31. */
typedef enum l2k_ht_form { L2K_HT_INT16, L2K_HT_INT32, L2K_HT_SIGNED_MAGNITUDE } l2k_ht_form;

enum { L2K_HT_ROW = L2K_HT_MOST_QUADS + L2K_HT_GROUP };

/* A cleanup pass that is being decoded. One structure holds it all, so that the loops over quads need few registers. */
typedef struct l2k_ht_pass {
    const l2k_ht_decode_tables *tables;
    l2k_ht_mel mel;
    l2k_ht_window vlc;
    uint8_t *bits; /* of MagSgn; 0xFF from bytes_known on is yet to be written */
    size_t bytes_known;
    uint32_t position;      /* in them */
    unsigned planes, plane; /* of l2k_ht_set */
    l2k_ht_form form;
    bool deposits; /* use the processor's instruction for bit deposits */
    uint32_t num_quads;
    void *top, *bottom; /* where two rows of samples go, in groups of 2 L2K_HT_GROUP */
    bool waits;         /* the samples of the row that was read last are in `columns` only */
    /* The row of quads that was read last, from [1] on, with zeros around it: entries of the table. */
    uint32_t quads[1 + L2K_HT_ROW];
    uint32_t residuals[L2K_HT_ROW]; /* of these quads, from [0] on: in bits 8 to 15 */
    /* Derived from the row: its part of the next row's contexts, in bytes; quads from bit 12 on, with the exponent
     * bound from bit 24 on; the number of bits of each in MagSgn, or where they start. */
    uint32_t contexts[L2K_HT_ROW], bounded[L2K_HT_ROW], bits_of[L2K_HT_ROW];
    uint64_t fields[L2K_HT_ROW], added[L2K_HT_ROW]; /* to deposit bits of MagSgn: see find_deposits */
    /* The columns of the row that was read last, from [2] on, with zeros around them: twice the magnitude and the sign
     * of the lower sample in the upper half, and of the upper sample in the other; or, unless `waits`, the magnitude of
     * the lower sample. */
    uint32_t columns[3 + 2 * L2K_HT_ROW];
} l2k_ht_pass;

/* Most bytes of MagSgn: all samples have 32 bits. */
enum { L2K_HT_MAGSGN_BYTES = 4096 * 4 };

typedef struct l2k_ht_rows {
    /* Reads the first row of quads. */
    void (*first)(l2k_ht_pass *pass);
    /* Reads the samples of the row of quads that was read last, and the next row of quads, if there is one. False if a
     * quad has more bits than the block. */
    bool (*get)(l2k_ht_pass *pass, bool last);
    /* Then stores these samples. */
    void (*put)(l2k_ht_pass *pass);
} l2k_ht_rows;

L2K_CPU_DECLARE(l2k_ht_rows);
const l2k_ht_rows *l2k_ht_rows_get(l2k_cpu cpu);

#endif
