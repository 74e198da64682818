/* Decodes HT code-blocks (7.3 to 7.5 of T.814) in three kernels: quads from MEL and VLC, where each codeword depends on
 * the one before, a work-item per block, beside another that removes the stuffing from the other streams; samples from
 * MagSgn, a work-group per block; SigProp, MagRef and the shift of a region of interest (H.1).
 *
 * For any bytes, a block's area and the lengths of its segments bound its loops; reads beyond a stream's end are
 * clamped to filler behind it, and writes depend on the block's size alone. */
#include "transform/opencl/shim.clh"
#include "codec/engine/opencl/ht_cl.h"

/* Quads of the widest block, and samples of any. */
#define MOST_ACROSS  512
#define MOST_SAMPLES 4096

/* ---- Un-stuffing (7.1) --------------------------------------------------------------------------------------- */

typedef struct bit_writer {
    __global uint *words;
    uint count; /* of whole words */
    ulong bits; /* of the unfinished word */
    uint left;  /* their number */
} bit_writer;

static void put_bits(bit_writer *w, uint bits, uint count)
{
    w->bits |= (ulong)bits << w->left;
    w->left += count;
    if (w->left >= 32) {
        w->words[w->count++] = (uint)w->bits;
        w->bits >>= 32;
        w->left -= 32;
    }
}

/* Returns the number of words that have bits of the stream; filler follows. */
static uint end_bits(bit_writer *w, uint filler)
{
    w->words[w->count++] = (uint)w->bits | filler << w->left;
    for (uint i = 0; i < L2K_HT_CL_FILLER; i++)
        w->words[w->count + i] = filler;
    return w->count;
}

/* Of `count` bytes: MagSgn and SigProp from `from` on, where the byte after 0xFF has seven bits; backward, MagRef, from
 * the last one before `from`, where a byte whose low seven bits are ones has only those if the one read before exceeds
 * 0x8F. */
static uint unstuff(const __global uchar *from, uint count, bool backward, __global uint *to, uint filler)
{
    bit_writer w = {to, 0, 0, 0};
    uint before = backward ? 0xFF : 0;
    for (uint i = 0; i < count; i++) {
        const uint byte = backward ? *--from : *from++;
        const uint is_short = backward ? before > 0x8F && (byte & 0x7F) == 0x7F : before == 0xFF;
        put_bits(&w, is_short ? byte & 0x7F : byte, 8 - is_short);
        before = byte;
    }
    return end_bits(&w, filler);
}

/* Scup, the length of MEL and VLC together (7.1.1); 0 if the segment's last two bytes are out of range. */
static uint suffix_of(const __global uchar *segment, uint length)
{
    if (length < 2)
        return 0;
    const uint suffix = (uint)segment[length - 1] << 4 | (segment[length - 2] & 15);
    return suffix >= 2 && suffix <= length && suffix <= L2K_HT_CL_MOST_SUFFIX ? suffix : 0;
}

static void unstuff_block(const __global l2k_ht_cl_decode_block *b, const __global uchar *bytes, __global uint *scratch,
                          __global l2k_ht_cl_head *head)
{
    const __global uchar *segment = bytes + b->bytes, *refinement = bytes + b->refinement;
    const l2k_ht_cl_view view = b->view;
    const uint suffix = suffix_of(segment, b->length);
    const uint most = l2k_ht_cl_most_bytes(&view, b->planes + 1u);
    head->magsgn = unstuff(segment, min(b->length - suffix, most), false, scratch + b->magsgn, 0xFFFFFFFFu);
    if (b->passes > 1)
        head->sigprop = unstuff(refinement, min(b->refinement_bytes, l2k_ht_cl_most_bytes(&view, 2)), false,
                                scratch + b->sigprop, 0);
    if (b->passes > 2)
        head->magref = unstuff(refinement + b->refinement_bytes,
                               min(b->refinement_bytes, l2k_ht_cl_most_bytes(&view, 1)), true, scratch + b->magref, 0);
}

/* ---- MEL (7.3.3) --------------------------------------------------------------------------------------------- */

typedef struct mel_reader {
    const __global uchar *next, *end;
    uint bits, count;  /* from bit 31 down */
    uint before;       /* the byte before */
    uint state, zeros; /* zeros: still to come */
    bool one;          /* behind them */
} mel_reader;

/* The low nibble of the last byte belongs to the length field, and reads as ones, as does what follows. */
static void mel_byte(mel_reader *m)
{
    uint byte = 0xFF;
    if (m->next < m->end) {
        byte = *m->next++;
        if (m->next == m->end)
            byte |= 15;
    }
    const uint is_short = m->before == 0xFF;
    m->count += 8 - is_short;
    m->bits |= (is_short ? byte & 0x7F : byte) << (32 - m->count);
    m->before = byte;
}

/* A codeword: 1 for a full run of zeros; or 0, the length of a shorter run, and a one after it. */
static void mel_run(mel_reader *m)
{
    const uint exponent = (uint)(0x5433222111000ul >> 4 * m->state) & 7;
    while (m->count < 6)
        mel_byte(m);
    const bool full = m->bits >> 31;
    const uint used = full ? 1 : 1 + exponent;
    m->zeros = full ? 1u << exponent : m->bits >> (31 - exponent);
    m->one = !full;
    m->state = full ? min(12u, m->state + 1) : m->state ? m->state - 1 : 0;
    m->bits <<= used;
    m->count -= used;
}

static uint mel_symbol(mel_reader *m)
{
    if (m->zeros == 0 && !m->one)
        mel_run(m);
    if (m->zeros) {
        m->zeros--;
        return 0;
    }
    m->one = false;
    return 1;
}

/* ---- VLC (7.3.5, 7.3.6) -------------------------------------------------------------------------------------- */

typedef struct vlc_reader {
    const __global uchar *start;
    uint left; /* bytes from there on, read from the last one down; zeros follow */
    ulong bits;
    uint count, before;
} vlc_reader;

/* The low nibble of the first byte read belongs to the length field. */
static void start_vlc(vlc_reader *v, const __global uchar *start, uint bytes)
{
    const uint byte = start[bytes - 2], nibble = byte >> 4, is_short = (nibble & 7) == 7;
    v->start = start;
    v->left = bytes - 2;
    v->bits = is_short ? 7 : nibble;
    v->count = 4 - is_short;
    v->before = byte | 15;
}

/* Leaves the bits of a pair of quads, 30 at most. */
static void fill_vlc(vlc_reader *v)
{
    while (v->count < 32) {
        const uint byte = v->left ? v->start[--v->left] : 0;
        const uint is_short = v->before > 0x8F && (byte & 0x7F) == 0x7F;
        v->bits |= (ulong)(is_short ? byte & 0x7F : byte) << v->count;
        v->count += 8 - is_short;
        v->before = byte;
    }
}

static uint take(vlc_reader *v, uint count)
{
    const uint value = (uint)v->bits & ((1u << count) - 1);
    v->bits >>= count;
    v->count -= count;
    return value;
}

/* An entry of l2k_ht_vlc; in context 0, MEL tells whether one follows. */
static uint next_quad(vlc_reader *v, mel_reader *m, const __local ushort *codes, uint context)
{
    if (context == 0 && !mel_symbol(m))
        return 0;
    const uint entry = codes[context << 7 | ((uint)v->bits & 127)];
    take(v, entry & 7);
    return entry;
}

/* A U-VLC prefix (l2k_ht_prefixes), from the next three bits. */
typedef struct prefix {
    uint length, suffix, base;
} prefix;

static prefix next_prefix(vlc_reader *v)
{
    const uint shift = 4 * ((uint)v->bits & 7);
    const prefix p = {0x12131213u >> shift & 15, 0x00010005u >> shift & 15, 0x12131215u >> shift & 15};
    take(v, p.length);
    return p;
}

/* Residuals of both quads, the second in bits 16 to 31. Suffixes with extensions are beyond all bit-planes, so whatever
 * follows them does not matter. */
static uint next_residuals(vlc_reader *v, mel_reader *m, bool first_row, uint first, uint second)
{
    prefix p = {0, 0, 0}, q = {0, 0, 0};
    uint large = 0;
    const bool has_first = first & 8, has_second = second & 8, both = first_row && has_first && has_second;
    if (both)
        large = 2 * mel_symbol(m);
    if (has_first)
        p = next_prefix(v);
    if (both && !large && p.length == 3)
        q.base = 1 + take(v, 1);
    else if (has_second)
        q = next_prefix(v);
    const uint u = p.base + take(v, p.suffix) + large, w = q.base + take(v, q.suffix) + large;
    return u | w << 16;
}

/* ---- Quads --------------------------------------------------------------------------------------------------- */

/* Significance of the lower samples of a row of quads, two bits each: words of 16 quads, interleaved over the blocks of
 * a work-group. */
#define LOWER_WORDS (MOST_ACROSS / 16)

/* Decodes the row of quads at `to`. Returns the OR of all residuals. */
static uint decode_row(vlc_reader *v, mel_reader *m, const __local ushort *codes, __local uint *lower, uint across,
                       bool first_row, __global uint *to)
{
    uint left = 0, carry = 0, below = 0, residuals = 0; /* left: rho of the quad there */
    ulong above = 0;                                    /* whether one of two adjacent samples is significant */
    for (uint x = 0; x < across; x += 2, above >>= 4) {
        const uint word = x / 16 * L2K_HT_CL_GROUP_BLOCKS;
        if (x % 16 == 0) {
            const uint own = lower[word], next = x / 16 + 1 < LOWER_WORDS ? lower[word + L2K_HT_CL_GROUP_BLOCKS] : 0;
            above = carry | (ulong)own << 1 | (ulong)next << 33;
            above |= above >> 1;
            carry = own >> 31;
        }
        const uint lone = x + 1 == across;
        uint up = first_row ? 0 : (uint)above;
        uint context = first_row ? left >> 1 | (left & 1) : (up & 1) | (left & 12 ? 2 : 0) | (up & 4);
        fill_vlc(v);
        const uint first = next_quad(v, m, codes, context);
        left = first >> 4 & 15;
        up >>= 2;
        context = first_row ? left >> 1 | (left & 1) : (up & 1) | (left & 12 ? 2 : 0) | (up & 4);
        const uint second = lone ? 0 : next_quad(v, m, codes, context);
        left = second >> 4 & 15;
        const uint both = first | second ? next_residuals(v, m, first_row, first, second) : 0;
        residuals |= both | both >> 16;
        to[x] = first | both << 16;
        if (!lone)
            to[x + 1] = second | (both & 0xFFFF0000u);
        below |= ((first >> 5 & 1) | (first >> 6 & 2) | (second >> 3 & 4) | (second >> 4 & 8)) << 2 * (x % 16);
        if (x % 16 == 14 || x + 2 >= across) {
            lower[word] = below;
            below = 0;
        }
    }
    return residuals & 0xFFFF;
}

static bool decode_block(const __global l2k_ht_cl_decode_block *b, const __global uchar *bytes,
                         const __local ushort *codes, __local uint *lower, __global uint *scratch)
{
    const uint across = (b->view.width + 1u) / 2, rows = (b->view.height + 1u) / 2;
    const __global uchar *segment = bytes + b->bytes;
    const uint suffix = suffix_of(segment, b->length);
    __global uint *to = scratch + b->quads;
    uint residuals = 0;
    if (suffix == 0)
        return false;
    segment += b->length - suffix;
    mel_reader m = {segment, segment + suffix - 1, 0, 0, 0, 0, 0, false};
    vlc_reader v;
    start_vlc(&v, segment, suffix);
    for (uint i = 0; i < LOWER_WORDS; i++)
        lower[i * L2K_HT_CL_GROUP_BLOCKS] = 0;
    for (uint y = 0; y < rows; y++, to += across)
        residuals |= decode_row(&v, &m, codes + (y ? 1024 : 0), lower, across, y == 0, to);
    return residuals < 32;
}

__kernel __attribute__((reqd_work_group_size(2 * L2K_HT_CL_GROUP_BLOCKS, 1, 1))) void
ht_decode_quads(const __global l2k_ht_cl_decode_block *blocks, uint count, const __global uchar *bytes,
                __global uint *scratch, const __global ushort *codes)
{
    __local ushort own_codes[2048];
    __local uint lower[LOWER_WORDS * L2K_HT_CL_GROUP_BLOCKS];
    const uint item = (uint)get_local_id(0), lane = item % L2K_HT_CL_GROUP_BLOCKS;
    const uint number = (uint)get_group_id(0) * L2K_HT_CL_GROUP_BLOCKS + lane;
    for (uint i = item; i < 2048; i += 2 * L2K_HT_CL_GROUP_BLOCKS)
        own_codes[i] = codes[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (number >= count || blocks[number].length == 0)
        return;
    __global l2k_ht_cl_head *head = (__global l2k_ht_cl_head *)scratch + number;
    if (item < L2K_HT_CL_GROUP_BLOCKS)
        head->bad = !decode_block(blocks + number, bytes, own_codes, lower + lane, scratch);
    else
        unstuff_block(blocks + number, bytes, scratch, head);
}

/* ---- Samples: MagSgn (7.3.7, 7.3.8) -------------------------------------------------------------------------- */

#define ITEMS L2K_HT_CL_SAMPLE_ITEMS

/* A stream without stuffing; filler starts at word `last`. */
typedef struct bit_reader {
    const __global uint *words;
    uint last;
} bit_reader;

static uint bits_at(bit_reader r, uint at)
{
    const __global uint *word = r.words + min(at >> 5, r.last);
    const uint shift = at & 31;
    return shift ? word[0] >> shift | word[1] << (32 - shift) : word[0];
}

/* Inclusive prefix sum over work-items; *all gets the total. A barrier must follow. */
static uint sum_up_to(__local uint *sums, uint item, uint own, uint *all)
{
    uint from = 0;
    sums[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < ITEMS; d *= 2) {
        own += item >= d ? sums[from + item - d] : 0;
        from ^= ITEMS;
        sums[from + item] = own;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = sums[from + ITEMS - 1];
    return own;
}

typedef struct block {
    __global uchar *coefficients;
    l2k_ht_cl_view view;
} block;

static int load_sample(const block *b, uint x, uint y)
{
    const size_t at = b->view.at + (size_t)y * b->view.stride + x;
    return b->view.type == L2K_HT_CL_INT16 ? ((__global short *)b->coefficients)[at]
                                           : ((__global int *)b->coefficients)[at];
}

static void store_sample(const block *b, uint x, uint y, uint magnitude, bool negative)
{
    const size_t at = b->view.at + (size_t)y * b->view.stride + x;
    const int v = (int)(negative ? 0 - magnitude : magnitude);
    if (x >= b->view.width || y >= b->view.height)
        return;
    if (b->view.type == L2K_HT_CL_INT16)
        ((__global short *)b->coefficients)[at] = (short)v;
    else
        ((__global int *)b->coefficients)[at] = v;
}

static void clear_block(const block *b, uint item)
{
    for (uint y = 0; y < b->view.height; y++)
        for (uint x = item; x < b->view.width; x += ITEMS)
            store_sample(b, x, y, 0, false);
}

/* The exponents of a quad's lower samples less one, in eight bits each. In 32 bits, the greatest value and two wraps to
 * 0 or 1, as on the CPU. */
static uint lower_exponents(uint first, uint second)
{
    first >>= 1;
    second >>= 1;
    return (32 - clz(max(first, 1u) - 1)) | (32 - clz(max(second, 1u) - 1)) << 8;
}

/* Twice the magnitudes and the signs, or 0. */
static void read_samples(bit_reader bits, uint at, uint quad, uint bound, uint sample[4])
{
    for (uint k = 0; k < 4; k++) {
        const uint significant = quad >> (4 + k) & 1, count = significant ? bound - (quad >> (12 + k) & 1) : 0;
        const uint value = bits_at(bits, at);
        sample[k] = count < 32 ? (value & ((1u << count) - 1)) | (quad >> (8 + k) & 1) << count : value;
        sample[k] = significant ? sample[k] + 2 : 0;
        at += count;
    }
}

/* Exponents of the row above, between zeros, and of the current row. */
typedef struct sample_memory {
    ushort lower[2][MOST_ACROSS + 2];
    uint sums[2 * ITEMS];
    uint bad;
} sample_memory;

/* The bound of a quad is its residual plus 1, or with several significant samples plus the greatest exponent above less
 * 1 if that is larger. */
static uint bound_of(const __local ushort *above, uint quad)
{
    const uint rho = quad >> 4 & 15;
    uint least = 0;
    if (rho & (rho - 1)) {
        const uint here = above[0];
        least = max(max((uint)above[-1] >> 8, here & 255), max(here >> 8, (uint)above[1] & 255));
        least = least ? least - 1 : 0;
    }
    return (quad >> 16) + least + 1;
}

/* False if a quad's bound is beyond its subband's bit-planes; the same for all work-items. */
static bool read_block(const __global l2k_ht_cl_decode_block *from, const block *b, const __global uint *scratch,
                       bit_reader bits, __local sample_memory *m, uint item)
{
    const uint across = (b->view.width + 1) / 2, limit = from->planes + 1u;
    /* magnitudes are scaled to the middle of the interval below the lowest bit-plane */
    const uint middle = (1u << from->plane) >> 1, mask = (1u << (from->plane + from->planes)) - 1;
    const __global uint *quads = scratch + from->quads;
    uint at = 0, row = 0;
    for (uint i = item; i < MOST_ACROSS + 2; i += ITEMS)
        m->lower[0][i] = m->lower[1][i] = 0;
    if (item == 0)
        m->bad = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = 0; y < b->view.height; y += 2, quads += across, row ^= 1)
        for (uint first = 0; first < across; first += ITEMS) {
            const uint x = first + item, quad = x < across ? quads[x] : 0;
            uint bound = x < across ? bound_of(&m->lower[row][x + 1], quad) : 1;
            if (bound > limit) {
                atomic_or(&m->bad, 1);
                bound = 1;
            }
            const uint count = bound * popcount(quad & 0xF0) - popcount(quad & 0xF000);
            uint sample[4], all;
            const uint up_to = sum_up_to(m->sums, item, count, &all);
            read_samples(bits, at + up_to - count, quad, bound, sample);
            at += all;
            for (uint k = 0; k < 4 && x < across; k++)
                store_sample(b, 2 * x + (k >> 1), y + (k & 1),
                             sample[k] ? ((sample[k] >> 1 << from->plane) | middle) & mask : 0, sample[k] & 1);
            if (x < across)
                m->lower[row ^ 1][x + 1] = (ushort)lower_exponents(sample[1], sample[3]);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    return !m->bad;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
ht_decode_samples(const __global l2k_ht_cl_decode_block *blocks, __global uchar *coefficients, __global uint *scratch,
                  __global uint *damaged)
{
    __local sample_memory m;
    const uint item = (uint)get_local_id(0), number = (uint)get_group_id(0);
    const __global l2k_ht_cl_decode_block *from = blocks + number;
    const block b = {coefficients, from->view};
    __global l2k_ht_cl_head *head = (__global l2k_ht_cl_head *)scratch + number;
    const bit_reader bits = {scratch + from->magsgn, head->magsgn};
    const bool right = from->length && !head->bad && read_block(from, &b, scratch, bits, &m, item);
    barrier(CLK_GLOBAL_MEM_FENCE); /* every work-item has read head->bad */
    if (right)
        return;
    clear_block(&b, item);
    if (from->length && item == 0) {
        head->bad = 1; /* for the refinement passes */
        *damaged = 1;
    }
}

/* ---- Refinement (7.4, 7.5) ------------------------------------------------------------------------------------- */

/* Significance of columns of four samples, with a border all around; a 1024 x 4 block has the most. */
#define COLUMNS (1026 * 3)

typedef struct refinement {
    const block *b;
    __local uchar *columns; /* the first stripe's first one */
    uint pitch;             /* from stripe to stripe */
    uint bit, middle;       /* of the bit-plane of both passes */
    bool causal;
} refinement;

static void find_significance(const refinement *r, uint item)
{
    const uint width = r->b->view.width, height = r->b->view.height;
    for (uint i = item; i < r->pitch * ((height + 3) / 4 + 2); i += ITEMS)
        r->columns[(int)i - (int)r->pitch - 1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = 0; y < height; y += 4)
        for (uint x = item; x < width; x += ITEMS) {
            uint significant = 0;
            for (uint k = 0; k < min(height - y, 4u); k++)
                significant |= (uint)(load_sample(r->b, x, y + k) != 0) << k;
            r->columns[y / 4 * r->pitch + x] = (uchar)significant;
        }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* In a refined sample, the bit replaces the middle of its interval. */
static void refine_magnitudes(const refinement *r, bit_reader bits, __local uint *sums, uint item)
{
    uint at = 0, all;
    for (uint y = 0; y < r->b->view.height; y += 4)
        for (uint first = 0; first < r->b->view.width; first += ITEMS) {
            const uint x = first + item;
            uint significant = x < r->b->view.width ? r->columns[y / 4 * r->pitch + x] : 0;
            const uint own = popcount(significant), up_to = sum_up_to(sums, item, own, &all);
            uint place = at + up_to - own;
            for (uint k = 0; significant; significant >>= 1, k++)
                if (significant & 1) {
                    const int v = load_sample(r->b, x, y + k);
                    const uint one = bits_at(bits, place++) & 1 ? r->bit : 0;
                    store_sample(r->b, x, y + k, (abs(v) & ~r->bit) | one | r->middle, v < 0);
                }
            at += all;
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
}

/* Significance of a column with the samples directly above and below it: bits 0 to 5. */
static uint tall(const refinement *r, const __local uchar *column)
{
    const uint below = r->causal ? 0 : column[r->pitch] & 1;
    return column[-(int)r->pitch] >> 3 | (uint)*column << 1 | below << 5;
}

/* Visits insignificant samples of a column with a significant neighbour, including neighbours that have just become
 * significant. Returns the new ones. */
static uint visit_column(const refinement *r, bit_reader bits, uint *at, const __local uchar *column, uint rows)
{
    uint here = tall(r, column), found = 0;
    const uint others = tall(r, column - 1) | tall(r, column + 1);
    for (uint k = 0; k < rows && (here | others); k++)
        if (!(here >> (k + 1) & 1) && (here | others) >> k & 7 && bits_at(bits, (*at)++) & 1) {
            found |= 1u << k;
            here |= 2u << k;
        }
    return found;
}

/* Four columns: first the bits of all of them, then the signs. */
static void propagate_group(const refinement *r, bit_reader bits, uint *at, uint x, uint y)
{
    __local uchar *column = r->columns + y / 4 * r->pitch + x;
    uint found = 0; /* four bits a column */
    for (uint i = 0; i < min(r->b->view.width - x, 4u); i++) {
        const uint own = visit_column(r, bits, at, column + i, min(r->b->view.height - y, 4u));
        column[i] |= (uchar)own;
        found |= own << 4 * i;
    }
    for (uint i = 0; i < 16; i++)
        if (found >> i & 1)
            store_sample(r->b, x + i / 4, y + i % 4, r->bit | r->middle, bits_at(bits, (*at)++) & 1);
}

static void propagate_significance(const refinement *r, bit_reader bits)
{
    uint at = 0;
    for (uint y = 0; y < r->b->view.height; y += 4)
        for (uint x = 0; x < r->b->view.width; x += 4)
            propagate_group(r, bits, &at, x, y);
}

static void unshift_region(const block *b, uint shift, uint scale, uint item)
{
    for (uint y = 0; y < b->view.height; y++)
        for (uint x = item; x < b->view.width; x += ITEMS) {
            const int v = load_sample(b, x, y);
            if (abs(v) >> (shift + scale))
                store_sample(b, x, y, abs(v) >> shift, v < 0);
        }
}

/* MagRef runs in parallel; SigProp on one work-item, since each of its bits decides the meaning of the next one. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
ht_decode_refine(const __global l2k_ht_cl_decode_block *blocks, __global uchar *coefficients, __global uint *scratch)
{
    __local uchar columns[COLUMNS];
    __local uint sums[2 * ITEMS];
    const uint item = (uint)get_local_id(0), number = (uint)get_group_id(0);
    const __global l2k_ht_cl_decode_block *from = blocks + number;
    const __global l2k_ht_cl_head *head = (const __global l2k_ht_cl_head *)scratch + number;
    const block b = {coefficients, from->view};
    if (from->length == 0 || head->bad)
        return;
    if (from->passes > 1) {
        const uint pitch = b.view.width + 2, bit = 1u << from->plane >> 1;
        const refinement r = {&b, columns + pitch + 1, pitch, bit, bit >> 1, from->causal};
        const bit_reader sigprop = {scratch + from->sigprop, head->sigprop};
        const bit_reader magref = {scratch + from->magref, head->magref};
        find_significance(&r, item);
        if (from->passes > 2) /* first, since it only refines samples of the cleanup pass */
            refine_magnitudes(&r, magref, sums, item);
        if (item == 0)
            propagate_significance(&r, sigprop);
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    if (from->roi_shift && from->roi_shift + from->scale < 31) /* magnitudes have 31 bits, doubled ones 30 */
        unshift_region(&b, from->roi_shift, from->scale, item);
}
