/* Encodes the HT cleanup pass (7.3 of T.814). A work-group has a code-block, a work-item some pairs of quads. All
 * samples are known beforehand, so quads are coded in parallel: first the significance and exponents of each, then the
 * number of bits of each pair, then these bits, at places that a prefix sum gives, as streams without stuffing in local
 * memory. Three work-items go through the streams: two find where stuffing inserts bits, one codes MEL. The bytes equal
 * those of codec/blocks/ht/ht_encode.c. */
#include "transform/opencl/shim.clh"
#include "quant/quantiser.h"
#include "codec/engine/opencl/ht_cl.h"

#define ITEMS L2K_HT_CL_ENCODE_ITEMS

/* Quads of a block, in pairs; bits of VLC: 30 per pair behind the length field. MEL has a symbol per quad, and one per
 * pair of the first row, 256 of them in a row of 512 quads; they take at most 1535 bits. */
#define PAIRS        512
#define VLC_WORDS    ((30 * PAIRS + 12) / 32 + 4)
#define SYMBOL_WORDS (1536 / 32)
#define MEL_BYTES    256
#define MAGSGN_MARKS (4096 / 32 + 1)
#define VLC_MARKS    (VLC_WORDS / 32 + 1)

/* The most stuffing bits of a stream that are listed. */
#define LISTED 256

/* Where a pair's bits begin: in MagSgn and in VLC. */
#define MAGSGN_PLACE 18

typedef struct memory {
    uint vlc[VLC_WORDS];
    uint starts[PAIRS];
    ushort known[2 * PAIRS]; /* of quads: rho (4 bits), and exponents of the lower samples (6 each) */
    uint symbols[SYMBOL_WORDS], ones[SYMBOL_WORDS];
    uint magsgn_marks[MAGSGN_MARKS], vlc_marks[VLC_MARKS]; /* words in which stuffing may begin */
    uint magsgn_list[LISTED], vlc_list[LISTED];
    uint sums[2 * ITEMS];
    uchar mel[MEL_BYTES];
    uint magnitudes;
    uint magsgn_inserted, magsgn_end, vlc_inserted; /* bits; the place behind the last whole byte */
    uint mel_bytes, mel_last, mel_mask;             /* of an incomplete last byte */
    uint at, magsgn_bytes, vlc_bytes, vlc_last;
} memory;

/* LLVM 15 crashes when it decides about inlining large functions with structures. */
#define INLINE static inline __attribute__((always_inline))

/* ---- Quads --------------------------------------------------------------------------------------------------- */

/* Samples are numbered by columns: 0 and 1 on the left, 2 and 3 on the right. */
typedef struct quad {
    uint value[4];    /* 2 (magnitude - 1) + sign; 0 where insignificant */
    uint exponent[4]; /* of 2 magnitude - 1; 0 where insignificant */
    uint rho, magnitudes;
} quad;

typedef struct block {
    const __global uchar *coefficients;
    l2k_ht_cl_view view;
    float reciprocal;
    uint across, rows, pairs_across; /* quads in a row, rows of them */
} block;

static int sample_at(const block *b, uint x, uint y)
{
    if (x >= b->view.width || y >= b->view.height)
        return 0;
    const size_t at = b->view.at + (size_t)y * b->view.stride + x;
    if (b->view.type == L2K_HT_CL_INT16)
        return ((const __global short *)b->coefficients)[at];
    if (b->view.type == L2K_HT_CL_INT32)
        return ((const __global int *)b->coefficients)[at];
    return l2k_index(((const __global float *)b->coefficients)[at], b->reciprocal);
}

static quad load_quad(const block *b, uint x, uint y)
{
    quad q;
    q.rho = q.magnitudes = 0;
    for (uint k = 0; k < 4; k++) {
        const int v = sample_at(b, 2 * x + (k >> 1), 2 * y + (k & 1));
        const uint sign = (uint)v >> 31, magnitude = sign ? 0 - (uint)v : (uint)v;
        q.value[k] = magnitude ? 2 * (magnitude - 1) + sign : 0;
        q.exponent[k] = magnitude ? 33 - clz(magnitude - 1) : 0;
        q.rho |= (uint)(magnitude != 0) << k;
        q.magnitudes |= magnitude;
    }
    return q;
}

/* A quad's code, which depends on its neighbours. */
typedef struct coded_quad {
    quad q;
    uint context, bound, residual, entry;
} coded_quad;

/* The least bound (7.3.7) and the context (7.3.5). */
static uint look_around(const __local ushort *known, const block *b, uint x, uint y, uint rho, uint *context)
{
    const uint at = y * b->across + x, left = x ? known[at - 1] & 15 : 0;
    if (y == 0) {
        *context = left >> 1 | (left & 1);
        return 1;
    }
    const uint up = at - b->across, above = known[up];
    const uint west = x ? known[up - 1] : 0, east = x + 1 < b->across ? known[up + 1] : 0;
    *context = ((west >> 3 | above >> 1) & 1) | ((left >> 1 | left >> 2) & 2) | ((above >> 1 | east << 1) & 4);
    const uint most = max(max(west >> 10, above >> 4 & 63), max(above >> 10, east >> 4 & 63));
    return rho & (rho - 1) ? max(most, 2u) - 1 : 1;
}

INLINE coded_quad code_quad(const __local ushort *known, const block *b, uint x, uint y, const __global ushort *codes)
{
    coded_quad c;
    uint reaching = 0;
    c.q = load_quad(b, x, y);
    const uint least = look_around(known, b, x, y, c.q.rho, &c.context);
    c.bound = max(max(max(c.q.exponent[0], c.q.exponent[1]), max(c.q.exponent[2], c.q.exponent[3])), least);
    c.residual = c.bound - least;
    for (uint k = 0; k < 4; k++)
        reaching |= (uint)(c.residual && c.q.exponent[k] == c.bound) << k;
    c.entry = codes[(y ? 2048 : 0) + (c.context << 8 | c.q.rho << 4 | reaching)];
    return c;
}

/* Bits of a sample: its bound's, less one if the codeword tells the highest. */
static uint sample_bits(const coded_quad *c, uint k)
{
    return c->q.rho >> k & 1 ? c->bound - (c->entry >> (3 + k) & 1) : 0;
}

/* Two quads and their code in VLC. */
typedef struct coded_pair {
    coded_quad first, second;
    uint x, y, word, width;
    bool lone;
} coded_pair;

INLINE coded_pair code_pair(const __local ushort *known, const block *b, uint number, const __global ushort *codes,
                            const __global uint *pairs)
{
    const coded_quad none = {{{0}}};
    coded_pair p;
    p.y = number / b->pairs_across;
    p.x = 2 * (number - p.y * b->pairs_across);
    p.lone = p.x + 1 == b->across;
    p.first = code_quad(known, b, p.x, p.y, codes);
    p.second = none; /* completes the last pair of an odd row */
    if (!p.lone)
        p.second = code_quad(known, b, p.x + 1, p.y, codes);
    const uint residuals = pairs[(p.y ? 1024 : 0) + 32 * p.second.residual + p.first.residual];
    const uint first_width = p.first.entry & 7, both = first_width + (p.second.entry & 7);
    p.word = p.first.entry >> 7 | p.second.entry >> 7 << first_width | residuals >> 5 << both;
    p.width = both + (residuals & 31);
    return p;
}

/* ---- Bits ---------------------------------------------------------------------------------------------------- */

/* Up to 32 bits at a place that other work-items do not use. */
static void put(__local uint *stream, uint at, uint value, uint count)
{
    const uint shift = at & 31;
    if (count)
        atomic_or(&stream[at >> 5], value << shift);
    if (shift + count > 32)
        atomic_or(&stream[(at >> 5) + 1], value >> (32 - shift));
}

static uint put_samples(__local uint *stream, uint at, const coded_quad *c)
{
    for (uint k = 0; k < 4; k++) {
        const uint count = sample_bits(c, k);
        put(stream, at, count < 32 ? c->q.value[k] & ((1u << count) - 1) : c->q.value[k], count);
        at += count;
    }
    return at;
}

static uint bits_at(const __local uint *stream, uint at)
{
    const uint shift = at & 31, low = stream[at >> 5];
    return shift ? low >> shift | stream[(at >> 5) + 1] << (32 - shift) : low;
}

/* Exclusive prefix sum over work-items; *all gets the total. A value may pack several sums. */
static uint sum_before(__local uint *sums, uint item, uint own, uint *all)
{
    uint from = 0;
    sums[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < ITEMS; d *= 2) {
        const uint v = sums[from + item] + (item >= d ? sums[from + item - d] : 0);
        from ^= ITEMS;
        sums[from + item] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = sums[from + ITEMS - 1];
    return sums[from + item] - own;
}

/* ---- Stuffing (7.1) ------------------------------------------------------------------------------------------ */

/* Where in a word a byte would begin after which, or within which, a bit is inserted: MagSgn has one on top of the byte
 * after 0xFF; VLC on top of a byte whose low seven bits are ones, after one that exceeds 0x8F. */
static uint find_marks(const __local uint *stream, uint word, bool backward)
{
    const uint own = stream[word];
    const ulong both = own | (ulong)stream[word + 1] << 32, two = both & both >> 1, four = two & two >> 2;
    if (!backward)
        return (uint)(four & four >> 4);
    const ulong before = (ulong)own << 32 | (word ? stream[word - 1] : 0);
    return (uint)(four & four >> 3) & (uint)(before >> 31) & (uint)(before >> 30 | before >> 29 | before >> 28);
}

static void note_marks(const __local uint *stream, uint count, bool backward, __local uint *marks, uint item)
{
    for (uint word = item; word <= count / 32; word += ITEMS)
        if (find_marks(stream, word, backward))
            atomic_or(&marks[word >> 5], 1u << (word & 31));
}

/* Lists the places of inserted bits among the stuffed ones. Returns their number, which may exceed the list; *end is
 * behind the last byte that has one. */
static uint find_inserted(const __local uint *stream, uint count, bool backward, const __local uint *marks,
                          __local uint *list, uint *end)
{
    const uint needed = backward ? 7 : 9, top = backward ? 7 : 15;
    uint next = 0, inserted = 0; /* the next byte's place */
    for (uint i = 0; i <= count / 1024; i++)
        for (uint left = marks[i]; left; left &= left - 1) {
            const uint word = 32 * i + 31 - clz(left & (0 - left)), first = 32 * word;
            const uint found = find_marks(stream, word, backward);
            while (next < first + 32) {
                const uint from = max(next, first) - first;
                const uint mine = found & 0x01010101u << (next & 7) & 0xFFFFFFFFu << from;
                if (!mine)
                    break;
                const uint place = first + 31 - clz(mine & (0 - mine));
                if (place + needed > count)
                    break;
                if (inserted < LISTED)
                    list[inserted] = place + top + inserted;
                inserted++;
                next = place + 15;
            }
        }
    *end = next;
    return inserted;
}

/* Four bytes of a stuffed stream of which all inserted bits are listed; *i is the first one that is not before them,
 * and below as many for fewer bytes. */
static uint stuffed_word(const __local uint *stream, const __local uint *list, uint inserted, uint number, uint *i)
{
    const uint at = 32 * number;
    while (*i < inserted && list[*i] < at)
        ++*i;
    uint word = bits_at(stream, at - *i);
    for (uint k = *i; k < inserted && list[k] < at + 32; k++) {
        const uint below = (1u << (list[k] - at)) - 1;
        word = (word & below) | (word & ~below) << 1;
    }
    return word;
}

/* Reads a stream with more of them than the list holds byte by byte. */
typedef struct byte_reader {
    const __local uint *stream;
    uint at, before;
    bool backward;
} byte_reader;

static uint next_byte(byte_reader *r)
{
    const uint byte = bits_at(r->stream, r->at) & 0xFF;
    const bool is_short = r->backward ? (byte & 0x7F) == 0x7F && r->before > 0x8F : r->before == 0xFF;
    r->at += is_short ? 7 : 8;
    return r->before = is_short ? byte & 0x7F : byte;
}

static uint stuffed_byte(const __local uint *stream, const __local uint *list, uint inserted, bool backward,
                         uint number)
{
    uint i = 0, byte = 0;
    if (inserted <= LISTED)
        return stuffed_word(stream, list, inserted, number / 4, &i) >> 8 * (number & 3) & 0xFF;
    byte_reader r = {stream, 0, 0, backward};
    for (; i <= number; i++)
        byte = next_byte(&r);
    return byte;
}

/* ---- MEL (7.3.3) --------------------------------------------------------------------------------------------- */

typedef struct mel_coder {
    __local uchar *bytes;
    uint bits, count, room, size; /* the unfinished byte, its bits, its capacity; bytes so far */
    uint state, run;
} mel_coder;

static uint mel_exponent(uint state)
{
    return (uint)(0x5433222111000ul >> 4 * state) & 7;
}

/* Up to six bits; each byte from its highest bit, and seven of them after 0xFF. */
static void mel_put(mel_coder *m, uint value, uint width)
{
    m->bits = m->bits << width | value;
    m->count += width;
    if (m->count >= m->room) {
        m->count -= m->room;
        const uint byte = m->bits >> m->count;
        m->bits &= (1u << m->count) - 1;
        m->bytes[m->size++] = (uchar)byte;
        m->room = byte == 0xFF ? 7 : 8;
    }
}

static void mel_zeros(mel_coder *m, uint number)
{
    m->run += number;
    for (uint e = mel_exponent(m->state); m->run >= 1u << e; e = mel_exponent(m->state)) {
        mel_put(m, 1, 1);
        m->run -= 1u << e;
        m->state = min(12u, m->state + 1);
    }
}

/* The symbols at the bits of `symbols`, lowest first; those in `ones` are 1. */
static void mel_symbols(mel_coder *m, uint symbols, uint ones)
{
    for (; ones; ones &= ones - 1) {
        const uint below = (ones & (0 - ones)) - 1;
        mel_zeros(m, popcount(symbols & below));
        mel_put(m, m->run, mel_exponent(m->state) + 1);
        m->run = 0;
        m->state = m->state ? m->state - 1 : 0;
        symbols &= ~(2 * below + 1);
    }
    mel_zeros(m, popcount(symbols));
}

static void code_mel(__local memory *m)
{
    mel_coder c = {m->mel, 0, 0, 8, 0, 0, 0};
    for (uint i = 0; i < SYMBOL_WORDS; i++)
        if (m->symbols[i])
            mel_symbols(&c, m->symbols[i], m->ones[i]);
    if (c.run)
        mel_put(&c, 1, 1);
    m->mel_bytes = c.size;
    m->mel_last = c.bits << (c.room - c.count) & 0xFF;
    m->mel_mask = 0xFFu << (c.room - c.count) & 0xFF;
}

/* ---- Steps of a block ---------------------------------------------------------------------------------------- */

static void clear_memory(__local memory *m, __local uint *magsgn, uint magsgn_words, uint item)
{
    for (uint i = item; i < magsgn_words; i += ITEMS)
        magsgn[i] = 0;
    for (uint i = item; i < VLC_WORDS; i += ITEMS)
        m->vlc[i] = i ? 0 : 0xFFF; /* ones where the length field will be */
    for (uint i = item; i < SYMBOL_WORDS; i += ITEMS)
        m->symbols[i] = m->ones[i] = 0;
    for (uint i = item; i < MAGSGN_MARKS; i += ITEMS)
        m->magsgn_marks[i] = 0;
    for (uint i = item; i < VLC_MARKS; i += ITEMS)
        m->vlc_marks[i] = 0;
    if (item == 0)
        m->magnitudes = 0;
}

static void note_quads(__local memory *m, const block *b, uint item)
{
    uint magnitudes = 0;
    for (uint i = item; i < b->across * b->rows; i += ITEMS) {
        const uint y = i / b->across;
        const quad q = load_quad(b, i - y * b->across, y);
        m->known[i] = (ushort)(q.rho | q.exponent[1] << 4 | q.exponent[3] << 10);
        magnitudes |= q.magnitudes;
    }
    atomic_or(&m->magnitudes, magnitudes);
}

static void put_symbol(__local memory *m, uint at, bool one)
{
    atomic_or(&m->symbols[at >> 5], 1u << (at & 31));
    if (one)
        atomic_or(&m->ones[at >> 5], 1u << (at & 31));
}

/* Symbols of the first row take every other place; behind two quads comes the one that tells whether both residuals
 * exceed 2. */
static void put_symbols(__local memory *m, const block *b, const coded_pair *p)
{
    const uint at = p->y ? b->across + p->y * b->across + p->x : 2 * p->x, step = p->y ? 1 : 2;
    const uint u = p->first.residual, v = p->second.residual;
    if (p->first.context == 0)
        put_symbol(m, at, p->first.q.rho);
    if (!p->lone && p->second.context == 0)
        put_symbol(m, at + step, p->second.q.rho);
    if (p->y == 0 && u && v)
        put_symbol(m, at + 3, u > 2 && v > 2);
}

static void measure_pairs(__local memory *m, const block *b, const __global ushort *codes, const __global uint *pairs,
                          uint item)
{
    const uint count = b->pairs_across * b->rows;
    for (uint i = item; i < PAIRS; i += ITEMS) {
        uint bits = 0;
        if (i < count) {
            const coded_pair p = code_pair(m->known, b, i, codes, pairs);
            for (uint k = 0; k < 4; k++)
                bits += sample_bits(&p.first, k) + sample_bits(&p.second, k);
            bits |= p.width << MAGSGN_PLACE;
            put_symbols(m, b, &p);
        }
        m->starts[i] = bits;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Returns the bits of MagSgn and those of VLC. */
static uint place_pairs(__local memory *m, uint item)
{
    enum { OWN = PAIRS / ITEMS };
    __local uint *own = m->starts + OWN * item;
    uint sum = 0, all;
    for (uint i = 0; i < OWN; i++)
        sum += own[i];
    sum = sum_before(m->sums, item, sum, &all);
    for (uint i = 0; i < OWN; i++) {
        const uint bits = own[i];
        own[i] = sum;
        sum += bits;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}

static void put_pairs(__local memory *m, __local uint *magsgn, const block *b, const __global ushort *codes,
                      const __global uint *pairs, uint item)
{
    for (uint i = item; i < b->pairs_across * b->rows; i += ITEMS) {
        const coded_pair p = code_pair(m->known, b, i, codes, pairs);
        uint at = m->starts[i] & ((1u << MAGSGN_PLACE) - 1);
        put(m->vlc, 12 + (m->starts[i] >> MAGSGN_PLACE), p.word, p.width);
        at = put_samples(magsgn, at, &p.first);
        put_samples(magsgn, at, &p.second);
    }
}

/* MagSgn ends with the last byte that is not 0xFF; its last bits are ones. */
static void end_magsgn(__local memory *m, const __local uint *magsgn, uint count)
{
    const uint inserted = m->magsgn_inserted, bytes = (max(count, m->magsgn_end) + inserted + 7) / 8;
    const bool dropped = bytes && stuffed_byte(magsgn, m->magsgn_list, inserted, false, bytes - 1) == 0xFF;
    m->magsgn_bytes = bytes - dropped;
}

/* The last bytes of MEL and VLC merge if their bits agree, unless that would be 0xFF, after which MEL would be stuffed,
 * or VLC has only its length field. */
static void end_mel_and_vlc(__local memory *m, uint count)
{
    const uint bits = count + m->vlc_inserted, bytes = bits / 8, mask = (1u << (bits & 7)) - 1;
    const uint last = mask ? stuffed_byte(m->vlc, m->vlc_list, m->vlc_inserted, true, bytes) & mask : 0;
    const uint both = m->mel_last | last;
    m->vlc_bytes = bytes;
    m->vlc_last = last;
    if ((m->mel_mask | mask) == 0)
        return;
    if (((both ^ m->mel_last) & m->mel_mask) == 0 && ((both ^ last) & mask) == 0 && both != 0xFF && bytes > 1) {
        m->mel[m->mel_bytes++] = (uchar)both;
        return;
    }
    m->mel[m->mel_bytes++] = (uchar)m->mel_last;
    m->vlc_bytes++;
}

/* ---- Code ---------------------------------------------------------------------------------------------------- */

static void copy_magsgn(const __local memory *m, const __local uint *magsgn, __global uchar *to, uint item)
{
    const uint bytes = m->magsgn_bytes;
    uint number = 0;
    if (m->magsgn_inserted > LISTED) {
        byte_reader r = {magsgn, 0, 0, false};
        for (uint i = 0; item == 0 && i < bytes; i++)
            to[i] = (uchar)next_byte(&r);
        return;
    }
    for (uint i = item; i < (bytes + 3) / 4; i += ITEMS) {
        const uint word = stuffed_word(magsgn, m->magsgn_list, m->magsgn_inserted, i, &number);
        if (4 * i + 4 <= bytes)
            ((__global uint *)to)[i] = word;
        else
            for (uint k = 4 * i; k < bytes; k++)
                to[k] = (uchar)(word >> 8 * (k & 3));
    }
}

/* VLC backwards; its first two bytes have the length of MEL and VLC (7.1.1). */
static void put_vlc_byte(__global uchar *to, uint bytes, uint i, uint byte, uint length)
{
    if (i == 0)
        byte = length >> 4;
    if (i == 1)
        byte = (byte & 0xF0) | (length & 15);
    to[bytes - 1 - i] = (uchar)byte;
}

static void copy_vlc(const __local memory *m, __global uchar *to, uint whole, uint item)
{
    const uint bytes = m->vlc_bytes, length = bytes + m->mel_bytes;
    uint number = 0;
    if (m->vlc_inserted > LISTED) {
        byte_reader r = {m->vlc, 0, 0, true};
        for (uint i = 0; item == 0 && i < bytes; i++)
            put_vlc_byte(to, bytes, i, i < whole ? next_byte(&r) : m->vlc_last, length);
        return;
    }
    for (uint i = item; i < bytes; i += ITEMS) {
        const uint byte = stuffed_word(m->vlc, m->vlc_list, m->vlc_inserted, i / 4, &number) >> 8 * (i & 3) & 0xFF;
        put_vlc_byte(to, bytes, i, i < whole ? byte : m->vlc_last, length);
    }
}

/* Takes a place of the block's own in the code of all blocks. */
static void take_place(__local memory *m, __global l2k_ht_cl_encode_counters *counters,
                       __global l2k_ht_cl_coded_block *coded)
{
    const uint bytes = m->magsgn_bytes + m->mel_bytes + m->vlc_bytes;
    m->at = atomic_add(&counters->code, (bytes + 3) / 4);
    coded->at = m->at;
    coded->bytes = bytes;
}

/* ---- Kernel -------------------------------------------------------------------------------------------------- */

/* MagSgn has room for all bits of the samples, and four words more. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
ht_encode(const __global l2k_ht_cl_encode_block *blocks, const __global uchar *coefficients,
          const __global ushort *codes, const __global uint *pairs, __global l2k_ht_cl_encode_counters *counters,
          __global uchar *code, uint capacity, __local uint *magsgn, uint magsgn_words)
{
    __local memory m;
    const uint item = (uint)get_local_id(0), number = (uint)get_group_id(0);
    __global l2k_ht_cl_coded_block *coded = (__global l2k_ht_cl_coded_block *)(counters + 1) + number;
    block b;
    b.view = blocks[number].view;
    b.reciprocal = blocks[number].reciprocal;
    b.coefficients = coefficients;
    b.across = (b.view.width + 1) / 2;
    b.rows = (b.view.height + 1) / 2;
    b.pairs_across = (b.across + 1) / 2;
    clear_memory(&m, magsgn, magsgn_words, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    note_quads(&m, &b, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        coded->magnitude_bits = 32 - clz(m.magnitudes);
        coded->bytes = coded->at = 0;
        if (m.magnitudes >> 31)
            atomic_min(&counters->failed, number);
    }
    if (m.magnitudes == 0) /* of all work-items */
        return;

    measure_pairs(&m, &b, codes, pairs, item);
    const uint bits = place_pairs(&m, item);
    const uint magsgn_bits = bits & ((1u << MAGSGN_PLACE) - 1), vlc_bits = 12 + (bits >> MAGSGN_PLACE);
    put_pairs(&m, magsgn, &b, codes, pairs, item);
    if (item == 0)
        put(magsgn, magsgn_bits, 0xFFFF, 16);
    barrier(CLK_LOCAL_MEM_FENCE);
    note_marks(magsgn, magsgn_bits, false, m.magsgn_marks, item);
    note_marks(m.vlc, vlc_bits, true, m.vlc_marks, item);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint end;
    if (item == 0) {
        m.magsgn_inserted = find_inserted(magsgn, magsgn_bits, false, m.magsgn_marks, m.magsgn_list, &end);
        m.magsgn_end = end;
        end_magsgn(&m, magsgn, magsgn_bits);
    }
    if (item == 32)
        m.vlc_inserted = find_inserted(m.vlc, vlc_bits, true, m.vlc_marks, m.vlc_list, &end);
    if (item == 64)
        code_mel(&m);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        end_mel_and_vlc(&m, vlc_bits);
        take_place(&m, counters, coded);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint bytes = m.magsgn_bytes + m.mel_bytes + m.vlc_bytes, units = (bytes + 3) / 4;
    if (m.at > capacity || units > capacity - m.at) /* the host sees that from the counter */
        return;
    __global uchar *to = code + (size_t)m.at * 4;
    copy_magsgn(&m, magsgn, to, item);
    to += m.magsgn_bytes;
    for (uint i = item; i < m.mel_bytes; i += ITEMS)
        to[i] = m.mel[i];
    to += m.mel_bytes;
    copy_vlc(&m, to, (vlc_bits + m.vlc_inserted) / 8, item);
    if (item < 4 * units - bytes) /* the host copies whole units */
        to[m.vlc_bytes + item] = 0;
}
