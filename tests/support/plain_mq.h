/* The MQ decoder of Annex C to the letter: its table and flow charts. */
#ifndef L2K_TESTS_SUPPORT_PLAIN_MQ_H
#define L2K_TESTS_SUPPORT_PLAIN_MQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Table C.2 in the standard's rows: Qe, NMPS, NLPS, SWITCH. */
static const struct {
    uint16_t qe;
    uint8_t nmps, nlps, flip;
} plain_rows[47] = {
    {0x5601, 1, 1, 1},   {0x3401, 2, 6, 0},   {0x1801, 3, 9, 0},   {0x0AC1, 4, 12, 0},  {0x0521, 5, 29, 0},
    {0x0221, 38, 33, 0}, {0x5601, 7, 6, 1},   {0x5401, 8, 14, 0},  {0x4801, 9, 14, 0},  {0x3801, 10, 14, 0},
    {0x3001, 11, 17, 0}, {0x2401, 12, 18, 0}, {0x1C01, 13, 20, 0}, {0x1601, 29, 21, 0}, {0x5601, 15, 14, 1},
    {0x5401, 16, 14, 0}, {0x5101, 17, 15, 0}, {0x4801, 18, 16, 0}, {0x3801, 19, 17, 0}, {0x3401, 20, 18, 0},
    {0x3001, 21, 19, 0}, {0x2801, 22, 19, 0}, {0x2401, 23, 20, 0}, {0x2201, 24, 21, 0}, {0x1C01, 25, 22, 0},
    {0x1801, 26, 23, 0}, {0x1601, 27, 24, 0}, {0x1401, 28, 25, 0}, {0x1201, 29, 26, 0}, {0x1101, 30, 27, 0},
    {0x0AC1, 31, 28, 0}, {0x09C1, 32, 29, 0}, {0x08A1, 33, 30, 0}, {0x0521, 34, 31, 0}, {0x0441, 35, 32, 0},
    {0x02A1, 36, 33, 0}, {0x0221, 37, 34, 0}, {0x0141, 38, 35, 0}, {0x0111, 39, 36, 0}, {0x0085, 40, 37, 0},
    {0x0049, 41, 38, 0}, {0x0025, 42, 39, 0}, {0x0015, 43, 40, 0}, {0x0009, 44, 41, 0}, {0x0005, 45, 42, 0},
    {0x0001, 45, 43, 0}, {0x5601, 46, 46, 0},
};

typedef struct plain_context {
    unsigned row, mps;
} plain_context;

typedef struct plain_decoder {
    uint64_t a, c;
    int ct;
    const uint8_t *b, *end; /* 0xFF 0xFF from `end` on */
} plain_decoder;

static inline unsigned plain_at(const plain_decoder *d, size_t ahead)
{
    return d->b + ahead < d->end ? d->b[ahead] : 0xFF;
}

static inline void plain_byte_in(plain_decoder *d)
{
    if (plain_at(d, 0) != 0xFF) {
        d->b++;
        d->c += plain_at(d, 0) << 8;
        d->ct = 8;
    } else if (plain_at(d, 1) > 0x8F) {
        d->c += 0xFF00;
        d->ct = 8;
    } else {
        d->b++;
        d->c += plain_at(d, 0) << 9;
        d->ct = 7;
    }
}

/* In damaged code C can pass A, and would then grow without end. The standard does not say what happens; in lift2k it
 * stays there. */
static inline void plain_limit(plain_decoder *d)
{
    if (d->c > d->a << 16)
        d->c = d->a << 16;
}

static inline void plain_decode_start(plain_decoder *d, const uint8_t *data, const uint8_t *end)
{
    d->b = data;
    d->end = end;
    d->c = (uint64_t)plain_at(d, 0) << 16;
    plain_byte_in(d);
    d->c <<= 7;
    d->ct -= 7;
    d->a = 0x8000;
    plain_limit(d);
}

static inline unsigned plain_decode(plain_decoder *d, plain_context *cx)
{
    uint32_t qe = plain_rows[cx->row].qe;
    bool lower = d->c >> 16 < qe, swap;
    unsigned bit = cx->mps;
    d->a -= qe;
    if (lower) {
        swap = d->a >= qe; /* LPS_EXCHANGE */
        d->a = qe;
    } else {
        d->c -= qe << 16;
        if (d->a & 0x8000)
            return bit;
        swap = d->a < qe; /* MPS_EXCHANGE */
    }
    if (swap) {
        bit = 1 - bit;
        if (plain_rows[cx->row].flip)
            cx->mps = 1 - cx->mps;
        cx->row = plain_rows[cx->row].nlps;
    } else {
        cx->row = plain_rows[cx->row].nmps;
    }
    do {
        if (d->ct == 0)
            plain_byte_in(d);
        d->a <<= 1;
        d->c <<= 1;
        d->ct--;
    } while (!(d->a & 0x8000));
    plain_limit(d);
    return bit;
}

#endif
