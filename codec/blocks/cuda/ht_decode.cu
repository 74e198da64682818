/* The HT cleanup pass (7.3 of T.814) as a decoder on a device reads it, in three kernels. Two warps a block take the
 * stuffing out of its streams. A lane a block decodes significance and residuals of quads from MEL and VLC, where each
 * codeword depends on the one before. A warp a block, or half a warp, reads MagSgn, a row of quads at a time, a lane a
 * quad, at places that a sum over the row gives.
 *
 * Whatever the bytes are, a block's loops are bounded by its area and the lengths of its segments; reads stay in its
 * part of the scratch memory, where filler follows each stream's last word, and places beyond are moved there; writes
 * depend on its size alone. */
#include <cuda_runtime.h>

extern "C" {
#include "codec/blocks/cuda/ht_cuda.h"
}
#include "codec/blocks/cuda/ht_unstuff.cuh"

namespace
{

typedef l2k_ht_cuda_decode parameters;
typedef l2k_ht_cuda_decode_block block_type;

/* ---- Un-stuffing --------------------------------------------------------------------------------------------- */

enum { UNSTUFF_WARPS = 8 };

template <l2k_ht_stream STREAM>
__device__ __forceinline__ uint32_t unstuff(const uint8_t *segment, uint32_t bytes, uint4 *out, uint32_t *joint)
{
    l2k_ht_unstuffer<STREAM> u;
    u.segment = segment;
    u.bytes = bytes;
    u.out = reinterpret_cast<uint32_t *>(out);
    u.joint = joint;
    return u.run();
}

/* The last two bytes of a cleanup segment have the length of MEL and VLC together, Scup (7.1.1); 0 if it cannot be one.
 */
__device__ __forceinline__ uint32_t suffix_of(const uint8_t *segment, uint32_t length)
{
    if (length < 2)
        return 0;
    const uint32_t suffix = (uint32_t)__ldg(segment + length - 1) << 4 | (__ldg(segment + length - 2) & 15);
    return suffix >= 2 && suffix <= length && suffix <= L2K_HT_MOST_SUFFIX ? suffix : 0;
}

/* Two warps a block: MagSgn; VLC and MEL. A stream of no words tells the next kernel that the segment is none. */
__global__ void __launch_bounds__(32 * UNSTUFF_WARPS) unstuff_blocks(const parameters p)
{
    __shared__ uint32_t shared[UNSTUFF_WARPS][34];
    const unsigned warp = threadIdx.x / 32, number = (blockIdx.x * UNSTUFF_WARPS + warp) / 2;
    if (number >= p.num_blocks || p.blocks[number].length == 0)
        return;
    const block_type b = p.blocks[number];
    const l2k_ht_cuda_layout at = l2k_ht_cuda_lay_out(&b);
    const uint8_t *segment = p.bytes + b.bytes, *end = segment + b.length;
    const uint32_t suffix = suffix_of(segment, b.length);
    uint4 *scratch = reinterpret_cast<uint4 *>(p.scratch) + b.scratch;
    uint32_t *head = reinterpret_cast<uint32_t *>(scratch), *joint = shared[warp];
    if (warp & 1) {
        uint32_t vlc = 0, mel = 0;
        if (suffix) {
            vlc = unstuff<L2K_HT_VLC>(end - 2, suffix - 1, scratch + at.vlc, joint);
            mel = unstuff<L2K_HT_MEL>(end - suffix, suffix - 1, scratch + at.mel, joint);
        }
        if (l2k_lane() == 0)
            head[L2K_HT_VLC_WORDS] = vlc, head[L2K_HT_MEL_WORDS] = mel;
    } else if (suffix) {
        const uint32_t bytes = min(b.length - suffix, l2k_ht_cuda_most_magsgn(&b));
        const uint32_t magsgn = unstuff<L2K_HT_MAGSGN>(segment, bytes, scratch + at.magsgn, joint);
        if (l2k_lane() == 0)
            head[L2K_HT_MAGSGN_WORDS] = magsgn;
    }
}

/* ---- Quads: MEL and VLC -------------------------------------------------------------------------------------- */

/* 32 lanes, each with a block; rings of words in shared memory, lane by lane. */
enum { LANES = 32, VLC_RING = 32, MEL_RING = 16 };

/* What is kept of a quad: rho in bits 0 to 3, e_k, e_1, and the residual from bit 12 on, in 16 or 32 bits. */
template <bool WIDE> struct quad_words;

template <> struct quad_words<false> {
    enum { MOST_RESIDUAL = 15 };
    uint32_t w[4];

    __device__ __forceinline__ void clear()
    {
        w[0] = w[1] = w[2] = w[3] = 0;
    }
    __device__ __forceinline__ void set(int pair, uint32_t first, uint32_t second, uint32_t u, uint32_t v)
    {
        w[pair] = __byte_perm(first, second, 0x7632) + u * 0x1000u + v * 0x10000000u;
    }
    __device__ __forceinline__ void store(uint4 *to) const
    {
        to[0] = make_uint4(w[0], w[1], w[2], w[3]);
    }
};

template <> struct quad_words<true> {
    enum { MOST_RESIDUAL = 31 };
    uint32_t w[8];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int i = 0; i < 8; i++)
            w[i] = 0;
    }
    __device__ __forceinline__ void set(int pair, uint32_t first, uint32_t second, uint32_t u, uint32_t v)
    {
        w[2 * pair] = (first >> 16) + (u << 12);
        w[2 * pair + 1] = (second >> 16) + (v << 12);
    }
    __device__ __forceinline__ void store(uint4 *to) const
    {
        to[0] = make_uint4(w[0], w[1], w[2], w[3]);
        to[1] = make_uint4(w[4], w[5], w[6], w[7]);
    }
};

/* A stream's words on their way to a lane: eight are loaded ahead, before the ring has room for them, since a load
 * takes as long as some pairs of quads. */
template <int RING> struct word_ring {
    uint32_t *ring;
    const uint4 *from;
    uint32_t next, end; /* units of 16 bytes; of those with bits of the stream */
    uint32_t filler;
    int filled;          /* words put into the ring so far */
    uint4 first, second; /* loaded ahead */

    __device__ __forceinline__ uint4 load()
    {
        const uint32_t at = next++;
        return at < end ? from[at] : make_uint4(filler, filler, filler, filler);
    }
    __device__ __forceinline__ void start(uint32_t *shared, const uint4 *stream, uint32_t words, uint32_t after)
    {
        ring = shared;
        from = stream;
        end = (words + 3) / 4;
        filler = after;
        next = filled = 0;
        first = load();
        second = load();
    }
    __device__ __forceinline__ uint32_t at(int word) const
    {
        return ring[(word & (RING - 1)) * LANES];
    }
    __device__ __forceinline__ void put(int word, uint32_t bits)
    {
        ring[(word & (RING - 1)) * LANES] = bits;
    }
    __device__ __forceinline__ void fill()
    {
        put(filled + 0, first.x), put(filled + 1, first.y), put(filled + 2, first.z), put(filled + 3, first.w);
        put(filled + 4, second.x), put(filled + 5, second.y), put(filled + 6, second.z), put(filled + 7, second.w);
        filled += 8;
        first = load();
        second = load();
    }
};

/* MEL (7.3.3): symbols that have been decoded and not used. Runs of zeros come from a word that begins with the next
 * bit. */
struct mel_decoder {
    word_ring<MEL_RING> words;
    uint64_t symbols; /* the next one lowest */
    int ready;        /* how many; beyond them `symbols` is 0 */
    uint32_t w0, w1;
    int next, shift, state;

    __device__ __forceinline__ void start(uint32_t *shared, const uint4 *stream, uint32_t count)
    {
        words.start(shared, stream, count, 0xFFFFFFFFu);
        words.fill();
        symbols = 0;
        ready = shift = state = 0;
        w0 = words.at(0);
        w1 = words.at(1);
        next = 2;
    }
    __device__ __forceinline__ void decode_run()
    {
        const uint32_t bits = __funnelshift_l(w1, w0, shift);
        const int exponent = (int)(0x5433222111000ull >> 4 * state) & 7;
        if (bits >> 31) {
            ready += 1 << exponent;
            state = min(12, state + 1);
            shift += 1;
        } else {
            ready += (bits & 0x7FFFFFFFu) >> (31 - exponent);
            symbols |= 1ull << ready++;
            state = max(0, state - 1);
            shift += exponent + 1;
        }
        if (shift >= 32) {
            shift -= 32;
            w0 = w1;
            w1 = words.at(next++);
        }
    }
    /* At least `count` symbols, 24 or fewer, which take no more than 144 bits. At most 56 are ready then. */
    __device__ __forceinline__ void prepare(int count)
    {
        if (words.filled - next <= 7)
            words.fill();
        while (ready < count)
            decode_run();
    }
    /* The next 24 or fewer symbols below a one that moves down as they are used. */
    __device__ __forceinline__ uint32_t lend() const
    {
        return ((uint32_t)symbols & 0xFFFFFF) | 0x80000000u;
    }
    __device__ __forceinline__ void take_back(uint32_t lent)
    {
        const int used = __clz((int)lent);
        symbols >>= used;
        ready -= used;
    }
};

/* Significance of the lower samples of a row of quads, four bits a pair: of the left and right one of each quad. Up to
 * 32 quads stand in a register pair; LONG rows in local memory. */
template <bool LONG> struct lower_row;

template <> struct lower_row<false> {
    uint64_t above, below;
    uint32_t before;

    __device__ __forceinline__ void clear()
    {
        above = below = 0;
    }
    __device__ __forceinline__ void start_row()
    {
        before = 0;
        below = 0;
    }
    /* 32 bits that begin with the right sample of the quad before the next four pairs. */
    __device__ __forceinline__ uint32_t next()
    {
        const uint32_t bits = (uint32_t)above << 1 | before;
        before = (uint32_t)above >> 15 & 1;
        above >>= 16;
        return bits;
    }
    __device__ __forceinline__ void put(uint32_t bits)
    {
        below = below >> 16 | (uint64_t)bits << 48;
    }
    __device__ __forceinline__ void end_row(int groups)
    {
        above = below >> 16 * (4 - groups);
    }
};

template <> struct lower_row<true> {
    uint16_t groups[L2K_HT_CUDA_ROW / 8 + 1]; /* of four pairs */
    uint32_t before;
    int at;

    __device__ __forceinline__ void clear()
    {
        for (int i = 0; i <= L2K_HT_CUDA_ROW / 8; i++)
            groups[i] = 0;
    }
    __device__ __forceinline__ void start_row()
    {
        before = 0;
        at = 0;
    }
    __device__ __forceinline__ uint32_t next()
    {
        const uint32_t own = groups[at], bits = (own | (uint32_t)groups[at + 1] << 16) << 1 | before;
        before = own >> 15 & 1;
        return bits;
    }
    __device__ __forceinline__ void put(uint32_t bits)
    {
        groups[at++] = (uint16_t)bits;
    }
    __device__ __forceinline__ void end_row(int)
    {
    }
};

template <bool WIDE, bool LONG> struct quad_decoder {
    const uint32_t *entries; /* of the CxtVLC tables: l2k_ht_cuda_tables.quads */
    const uint32_t *codes;   /* of U-VLC: l2k_ht_cuda_tables.residuals */
    word_ring<VLC_RING> vlc;
    mel_decoder mel;
    lower_row<LONG> lower;
    uint32_t w0, w1, w2; /* the word with the next bit of VLC, and the two after it */
    int next, shift;     /* of w2; of the bit in w0 */
    uint32_t symbols;    /* lent by MEL */
    uint32_t west;       /* what the quad to the left contributes to the next context */
    uint32_t too_large;  /* residuals together, where one is beyond what a quad's word can hold */

    /* A quad's entry. In context 0, MEL says whether there is anything; `none`: there is no such quad. */
    __device__ __forceinline__ uint32_t entry_of(const uint32_t *table, uint32_t context, uint32_t bits, bool none)
    {
        uint32_t entry = table[context | (bits & 127)];
        const bool asks = context == 0 && !none;
        if (none || (asks && !(symbols & 1)))
            entry = 0;
        symbols >>= asks;
        return entry;
    }

    __device__ __forceinline__ void skip(uint32_t bits)
    {
        shift += bits;
        const bool ends = shift >= 32;
        shift &= 31;
        if (ends) {
            w0 = w1;
            w1 = w2;
        }
        next += ends;
        w2 = vlc.at(next);
    }

    /* A pair of quads (7.3.5, 7.3.6). `above`: from bit 7 on, significance of the lower samples above each quad: to
     * its left, and to its right two bits on. Returns that of the pair's own. */
    template <bool FIRST>
    __device__ __forceinline__ uint32_t pair(quad_words<WIDE> &words, int number, uint32_t above, bool lone)
    {
        const uint32_t *table = FIRST ? entries : entries + 1024;
        uint32_t bits = __funnelshift_r(w0, w1, shift);
        const uint32_t first = entry_of(table, FIRST ? west : (above & 0x280) | west, bits, false);
        bits >>= first & 7;
        const uint32_t context = FIRST ? first >> 3 & 0x380 : (above >> 2 & 0x280) | (first & 0x100);
        const uint32_t second = entry_of(table, context, bits, lone);
        bits >>= second & 7;
        west = FIRST ? second >> 3 & 0x380 : second & 0x100;
        uint32_t mode = (first & 8) << 3 | (second & 8) << 4;
        if (FIRST) {
            if (mode == 0xC0) {
                mode += (symbols & 1) << 6;
                symbols >>= 1;
            }
            mode += 256;
        }
        const uint32_t code = codes[mode + (bits & 63)];
        skip((first & 7) + (second & 7) + (code & 31));
        const uint32_t u =
            l2k_bit_field(code, 18, 3) + l2k_bit_field(bits, l2k_bit_field(code, 5, 3), l2k_bit_field(code, 8, 3));
        const uint32_t v =
            l2k_bit_field(code, 21, 3) + l2k_bit_field(bits, l2k_bit_field(code, 14, 4), l2k_bit_field(code, 11, 3));
        words.set(number, first, second, u, v);
        too_large |= max(u, v) > quad_words<WIDE>::MOST_RESIDUAL;
        return (first >> 4 & 3) | (second >> 2 & 12);
    }

    /* Four pairs, or the `count` that are left of a row; the last may be `lone`, without a second quad. */
    template <bool FIRST, bool ALL> __device__ __forceinline__ void four_pairs(uint4 *to, int count, bool lone)
    {
        quad_words<WIDE> words;
        uint32_t above = lower.next(), significant = 0;
        above = (above | above >> 1) << 7;
        words.clear();
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (!ALL && i >= count)
                break;
            significant |= pair<FIRST>(words, i, above >> 4 * i, !ALL && lone && i == count - 1) << 4 * i;
        }
        words.store(to);
        lower.put(significant);
    }

    /* Up to eight pairs, for which there are symbols and bits enough. */
    __device__ __forceinline__ void eight_pairs(uint4 *to, bool first_row, int count, bool lone)
    {
        if (vlc.filled - next <= VLC_RING / 2)
            vlc.fill();
        mel.prepare(first_row ? 24 : 16);
        symbols = mel.lend();
#pragma unroll 1
        for (int i = 0; i < count; i += 4, to += WIDE ? 2 : 1) {
            const int left = min(count - i, 4);
            const bool ends = lone && i + 4 >= count;
            if (first_row)
                four_pairs<true, false>(to, left, ends);
            else if (left == 4 && !ends)
                four_pairs<false, true>(to, 4, false);
            else
                four_pairs<false, false>(to, left, ends);
        }
        mel.take_back(symbols);
    }

    __device__ __forceinline__ void run(const l2k_cuda_view &view, uint4 *to)
    {
        const int quads = (view.width + 1) / 2, pairs = (quads + 1) / 2, rows = (view.height + 1) / 2;
        const int pitch = (int)l2k_ht_cuda_pitch(&view) / 8 * (WIDE ? 2 : 1);
        lower.clear();
        for (int row = 0; row < rows; row++, to += pitch) {
            lower.start_row();
            west = 0;
            for (int i = 0; i < pairs; i += 8)
                eight_pairs(to + i / 4 * (WIDE ? 2 : 1), row == 0, min(pairs - i, 8), (quads & 1) && i + 8 >= pairs);
            lower.end_row((pairs + 3) / 4);
        }
    }
};

template <bool WIDE, bool LONG> __global__ void __launch_bounds__(LANES) decode_quads(const parameters p)
{
    __shared__ uint32_t entries[2048], codes[576], vlc_ring[VLC_RING * LANES], mel_ring[MEL_RING * LANES];
    for (int i = threadIdx.x; i < 512; i += LANES)
        reinterpret_cast<uint4 *>(entries)[i] = reinterpret_cast<const uint4 *>(p.tables->quads)[i];
    for (int i = threadIdx.x; i < 144; i += LANES)
        reinterpret_cast<uint4 *>(codes)[i] = reinterpret_cast<const uint4 *>(p.tables->residuals)[i];
    __syncthreads();
    const uint32_t number = blockIdx.x * LANES + threadIdx.x;
    if (number >= p.num_blocks || p.blocks[number].length == 0)
        return;
    const block_type b = p.blocks[number];
    const l2k_ht_cuda_layout at = l2k_ht_cuda_lay_out(&b);
    uint4 *scratch = reinterpret_cast<uint4 *>(p.scratch) + b.scratch;
    uint32_t *head = reinterpret_cast<uint32_t *>(scratch);
    if (head[L2K_HT_VLC_WORDS] == 0) {
        head[L2K_HT_BAD] = 1;
        return;
    }
    quad_decoder<WIDE, LONG> d;
    d.entries = entries;
    d.codes = codes;
    d.mel.start(mel_ring + threadIdx.x, scratch + at.mel, head[L2K_HT_MEL_WORDS]);
    d.vlc.start(vlc_ring + threadIdx.x, scratch + at.vlc, head[L2K_HT_VLC_WORDS], 0);
    d.vlc.fill();
    d.w0 = d.vlc.at(0);
    d.w1 = d.vlc.at(1);
    d.w2 = d.vlc.at(2);
    d.next = 2;
    d.shift = 4; /* bits of the length field */
    d.too_large = 0;
    d.run(b.view, scratch + at.quads);
    head[L2K_HT_BAD] = d.too_large;
}

/* ---- Samples: MagSgn ----------------------------------------------------------------------------------------- */

/* A block's MagSgn bits at absolute places; beyond the last word there is filler. */
struct magsgn_bits {
    const uint32_t *words;
    uint32_t last; /* the first word of filler */

    __device__ __forceinline__ uint32_t word(uint32_t at) const
    {
        return min(at >> 5, last);
    }
};

/* From the value 2 (mu - 1) + sign that was read to a sample. */
struct scale {
    uint32_t plane, half, mask;
    uint32_t top, unsign; /* two samples in a word: where a magnitude ends, and bits that tell which become 0 beyond */
};

__device__ __forceinline__ scale scale_of(const block_type &b)
{
    const uint32_t top = b.plane + b.planes, half = (1u << b.plane) >> 1;
    return scale{b.plane, half, (1u << top) - 1, top, half ? 0 : 0x10001u};
}

/* Samples of a quad, two in a word: 0 and 2 in `top`, 1 and 3 in `low`. */
struct narrow_samples {
    typedef int16_t sample;
    typedef uint16_t word; /* of a quad */
    uint32_t ones_top, ones_low, bits_top, bits_low, count, top, low;

    /* How many bits each sample takes. */
    __device__ __forceinline__ void measure(uint32_t quad, uint32_t bound)
    {
        const uint32_t rho = (quad & 15) * 0x4001u, known = (quad >> 4 & 15) * 0x4001u;
        ones_top = rho & 0x10001;
        ones_low = rho >> 1 & 0x10001;
        bits_top = ones_top * bound - (known & 0x10001);
        bits_low = ones_low * bound - (known >> 1 & 0x10001);
        const uint32_t sum = bits_top + bits_low;
        count = (sum & 0xFFFF) + (sum >> 16);
    }
    /* Reads them, and adds the bit that the quad's code implies. */
    __device__ __forceinline__ void read(const magsgn_bits &from, uint32_t at, uint32_t quad)
    {
        const uint32_t *words = from.words + from.word(at);
        const uint32_t w0 = __ldg(words), w1 = __ldg(words + 1), w2 = __ldg(words + 2);
        uint32_t bits = __funnelshift_r(w0, w1, at), rest = __funnelshift_r(w1, w2, at);
        const uint32_t b2 = bits_top >> 16, b3 = bits_low >> 16;
        const uint32_t v0 = (bits & l2k_low_bits(bits_top)) | (quad >> 8 & 1) << (bits_top & 31);
        bits = __funnelshift_r(bits, rest, bits_top);
        rest = __funnelshift_r(rest, 0, bits_top);
        const uint32_t v1 = (bits & l2k_low_bits(bits_low)) | (quad >> 9 & 1) << (bits_low & 31);
        bits = __funnelshift_r(bits, rest, bits_low);
        rest = __funnelshift_r(rest, 0, bits_low);
        const uint32_t v2 = (bits & l2k_low_bits(b2)) | (quad >> 10 & 1) << b2;
        bits = __funnelshift_r(bits, rest, b2);
        const uint32_t v3 = (bits & l2k_low_bits(b3)) | (quad >> 11 & 1) << b3;
        top = __byte_perm(v0, v2, 0x5410);
        low = __byte_perm(v1, v3, 0x5410);
    }
    /* What the row below has to know: exponents of the lower samples, as bits. */
    __device__ __forceinline__ uint32_t lower() const
    {
        return (low | 0x10001) & ones_low * 0xFFFFu;
    }
    static __device__ __forceinline__ int greatest(uint32_t left, uint32_t above, uint32_t right)
    {
        return l2k_highest_bit(((left | above) >> 16 | right | above) & 0xFFFF) + 1;
    }
    static __device__ __forceinline__ uint32_t coefficients(uint32_t values, uint32_t ones, const scale &s)
    {
        uint32_t magnitude = ((values >> 1 & 0x7FFF7FFFu) + 0x10001) << s.plane | s.half * 0x10001;
        const uint32_t sign = values & 0x10001 & ~(magnitude >> s.top & s.unsign); /* -0 would be a carry */
        magnitude &= s.mask * 0x10001;
        return ((magnitude ^ sign * 0xFFFFu) + sign) & ones * 0xFFFFu;
    }
    static __device__ __forceinline__ void store_row(int16_t *to, uint32_t row, bool second, bool aligned)
    {
        if (aligned) {
            *reinterpret_cast<uint32_t *>(to) = row;
            return;
        }
        to[0] = (int16_t)row;
        if (second)
            to[1] = (int16_t)(row >> 16);
    }
    __device__ __forceinline__ void store(int16_t *to, uint32_t stride, const scale &s, bool second, bool two,
                                          bool aligned) const
    {
        store_row(to, coefficients(top, ones_top, s), second, aligned);
        if (two)
            store_row(to + stride, coefficients(low, ones_low, s), second, aligned);
    }
};

struct wide_samples {
    typedef int32_t sample;
    typedef uint32_t word;
    uint32_t bits[4], count, values[4], rho;

    __device__ __forceinline__ void measure(uint32_t quad, uint32_t bound)
    {
        rho = quad & 15;
        count = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            bits[k] = rho >> k & 1 ? bound - (quad >> (4 + k) & 1) : 0;
            count += bits[k];
        }
    }
    __device__ __forceinline__ void read(const magsgn_bits &from, uint32_t at, uint32_t quad)
    {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t *words = from.words + from.word(at);
            const uint32_t read = __funnelshift_r(__ldg(words), __ldg(words + 1), at);
            values[k] = bits[k] < 32 ? (read & l2k_low_bits(bits[k])) | (quad >> (8 + k) & 1) << bits[k] : read;
            at += bits[k];
        }
    }
    __device__ __forceinline__ uint32_t exponent(int k) const
    {
        return rho >> k & 1 ? l2k_highest_bit(values[k] | 1) + 1 : 0;
    }
    /* Two exponents. */
    __device__ __forceinline__ uint32_t lower() const
    {
        return exponent(1) | exponent(3) << 16;
    }
    static __device__ __forceinline__ int greatest(uint32_t left, uint32_t above, uint32_t right)
    {
        return (int)max(max(left >> 16, above >> 16), max(right & 0xFFFF, above & 0xFFFF));
    }
    __device__ __forceinline__ int32_t coefficient(int k, const scale &s) const
    {
        const uint32_t magnitude = (((values[k] >> 1) + 1) << s.plane | s.half) & s.mask;
        return rho >> k & 1 ? (int32_t)(values[k] & 1 ? 0 - magnitude : magnitude) : 0;
    }
    __device__ __forceinline__ void store_row(int32_t *to, int k, const scale &s, bool second, bool aligned) const
    {
        if (aligned) {
            *reinterpret_cast<int2 *>(to) = make_int2(coefficient(k, s), coefficient(k + 2, s));
            return;
        }
        to[0] = coefficient(k, s);
        if (second)
            to[1] = coefficient(k + 2, s);
    }
    __device__ __forceinline__ void store(int32_t *to, uint32_t stride, const scale &s, bool second, bool two,
                                          bool aligned) const
    {
        store_row(to, 0, s, second, aligned);
        if (two)
            store_row(to + stride, 1, s, second, aligned);
    }
};

enum { SAMPLE_WARPS = 8, ROW_WORDS = L2K_HT_CUDA_ROW + 2 };

/* GROUP lanes have a block. Rows of more than 32 quads (LONG) are read in parts, and what the row below has to know is
 * in shared memory, between zeros. */
template <class Samples, int GROUP, bool LONG> struct sample_reader {
    typedef typename Samples::sample sample;
    const block_type &b;
    uint32_t group; /* its lanes */
    int lane;       /* in the group */
    int quads, rows, pitch;
    const typename Samples::word *from; /* of the row */
    sample *to;                         /* of the row's upper samples */
    magsgn_bits bits;
    scale to_sample;
    uint32_t limit;       /* of the exponent bound */
    uint32_t at;          /* bits read so far */
    uint32_t lower;       /* of the row above; LONG: of the quad to the left of the part */
    uint32_t *above;      /* LONG */
    const uint32_t *head; /* of the scratch memory */
    bool aligned;

    __device__ __forceinline__ sample_reader(const block_type &block, const parameters &p, uint32_t *shared)
        : b(block), above(shared)
    {
        const l2k_ht_cuda_layout layout = l2k_ht_cuda_lay_out(&b);
        const uint4 *scratch = reinterpret_cast<const uint4 *>(p.scratch) + b.scratch;
        lane = l2k_lane() % GROUP;
        group = GROUP == 32 ? L2K_ALL_LANES : 0xFFFFu << (l2k_lane() & 16);
        quads = (b.view.width + 1) / 2;
        rows = (b.view.height + 1) / 2;
        pitch = (int)l2k_ht_cuda_pitch(&b.view);
        from = reinterpret_cast<const typename Samples::word *>(scratch + layout.quads);
        to = reinterpret_cast<sample *>(b.view.coefficients);
        bits.words = reinterpret_cast<const uint32_t *>(scratch + layout.magsgn);
        head = reinterpret_cast<const uint32_t *>(scratch);
        to_sample = scale_of(b);
        limit = b.planes + 1;
        at = lower = 0;
        aligned = (((uintptr_t)b.view.coefficients | (uintptr_t)b.view.stride * sizeof(sample)) &
                   (2 * sizeof(sample) - 1)) == 0;
        for (int i = lane; LONG && i < ROW_WORDS; i += 32)
            above[i] = 0;
        __syncwarp(group);
    }

    /* The greatest exponent above a quad. */
    __device__ __forceinline__ int exponent_above(int quad)
    {
        uint32_t here = lower, left, right;
        if (LONG) {
            here = above[quad + 1];
            right = above[quad + 2];
            left = __shfl_up_sync(group, here, 1);
            if (lane == 0)
                left = quad ? lower : 0;
            lower = __shfl_sync(group, here, 31);
            return Samples::greatest(left, here, right);
        }
        left = __shfl_up_sync(group, here, 1, GROUP);
        right = __shfl_down_sync(group, here, 1, GROUP);
        return Samples::greatest(lane ? left : 0, here, lane < GROUP - 1 ? right : 0);
    }

    /* The lane's quad of row `row`. False if a quad's exponent bound is beyond its subband's bit-planes. */
    __device__ __forceinline__ bool read_quad(uint32_t quad, int number, int row)
    {
        Samples s;
        const uint32_t rho = quad & 15, residual = quad >> 12;
        const int most = exponent_above(number);
        const uint32_t bound = residual + (rho & (rho - 1) ? max(most - 1, 1) : 1);
        if (__any_sync(group, rho && bound > limit))
            return false;
        s.measure(quad, bound);
        const uint32_t up_to = l2k_sum_up_to<GROUP>(group, lane, s.count);
        s.read(bits, at + up_to - s.count, quad);
        at += __shfl_sync(group, up_to, GROUP - 1, GROUP);
        if (LONG) {
            __syncwarp(group);
            above[number + 1] = s.lower();
            __syncwarp(group);
        } else {
            lower = s.lower();
        }
        const bool second = 2 * number + 1 < b.view.width;
        if (number < quads)
            s.store(to + 2 * number, b.view.stride, to_sample, second, 2 * row + 1 < b.view.height, aligned && second);
        return true;
    }

    __device__ __forceinline__ uint32_t load(int number, int row) const
    {
        return number < quads && row < rows ? from[(size_t)row * pitch + number] : 0;
    }

    __device__ __forceinline__ bool run()
    {
        uint32_t next = load(lane, 0);
        bits.last = head[L2K_HT_MAGSGN_WORDS];
        for (int row = 0; row < rows; row++, to += 2 * (size_t)b.view.stride)
            for (int first = 0; first < quads; first += GROUP) {
                const uint32_t quad = next;
                const bool ends = !LONG || first + GROUP >= quads;
                next = ends ? load(lane, row + 1) : load(first + GROUP + lane, row); /* ahead of its use */
                if (!read_quad(quad, first + lane, row))
                    return false;
                if (!LONG)
                    break;
            }
        return true;
    }

    __device__ __forceinline__ void clear()
    {
        sample *row = reinterpret_cast<sample *>(b.view.coefficients);
        for (int y = 0; y < b.view.height; y++, row += b.view.stride)
            for (int x = lane; x < b.view.width; x += GROUP)
                row[x] = 0;
    }
};

template <class Samples, int GROUP, bool LONG>
__global__ void __launch_bounds__(32 * SAMPLE_WARPS) decode_samples(const parameters p)
{
    __shared__ uint32_t above[SAMPLE_WARPS][LONG ? (int)ROW_WORDS : 1];
    const uint32_t number = (blockIdx.x * SAMPLE_WARPS * 32 + threadIdx.x) / GROUP;
    if (number >= p.num_blocks)
        return;
    const block_type b = p.blocks[number];
    uint32_t *head = reinterpret_cast<uint32_t *>(reinterpret_cast<uint4 *>(p.scratch) + b.scratch);
    sample_reader<Samples, GROUP, LONG> reader(b, p, above[threadIdx.x / 32]);
    if (b.length && !head[L2K_HT_BAD] && reader.run())
        return;
    reader.clear();
    if (b.length && reader.lane == 0) {
        head[L2K_HT_BAD] = 1; /* for the refinement passes */
        p.counters->damaged = 1;
    }
}

/* ---- Launches ------------------------------------------------------------------------------------------------ */

template <class Kernel, class... Arguments>
int launch(Kernel *kernel, uint32_t blocks, uint32_t per_cta, int threads, void *stream, Arguments... arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((blocks + per_cta - 1) / per_cta);
    config.blockDim = dim3((unsigned)threads);
    config.stream = (cudaStream_t)stream;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <class Samples, int GROUP, bool LONG> int launch_samples(const parameters &p, void *stream)
{
    return launch(decode_samples<Samples, GROUP, LONG>, p.num_blocks, SAMPLE_WARPS * 32 / GROUP, 32 * SAMPLE_WARPS,
                  stream, p);
}

} // namespace

extern "C" int l2k_ht_cuda_launch_unstuff(const l2k_ht_cuda_decode *p, void *stream)
{
    return launch(unstuff_blocks, p->num_blocks, UNSTUFF_WARPS / 2, 32 * UNSTUFF_WARPS, stream, *p);
}

extern "C" int l2k_ht_cuda_launch_quads(const l2k_ht_cuda_decode *p, void *stream)
{
    switch (p->form & (L2K_HT_WIDE | L2K_HT_LONG)) {
    case 0:
        return launch(decode_quads<false, false>, p->num_blocks, LANES, LANES, stream, *p);
    case L2K_HT_WIDE:
        return launch(decode_quads<true, false>, p->num_blocks, LANES, LANES, stream, *p);
    case L2K_HT_LONG:
        return launch(decode_quads<false, true>, p->num_blocks, LANES, LANES, stream, *p);
    default:
        return launch(decode_quads<true, true>, p->num_blocks, LANES, LANES, stream, *p);
    }
}

extern "C" int l2k_ht_cuda_launch_samples(const l2k_ht_cuda_decode *p, void *stream)
{
    switch (p->form) {
    case 0:
        return launch_samples<narrow_samples, 32, false>(*p, stream);
    case L2K_HT_WIDE:
        return launch_samples<wide_samples, 32, false>(*p, stream);
    case L2K_HT_LONG:
        return launch_samples<narrow_samples, 32, true>(*p, stream);
    case L2K_HT_LONG | L2K_HT_WIDE:
        return launch_samples<wide_samples, 32, true>(*p, stream);
    case L2K_HT_SHORT:
        return launch_samples<narrow_samples, 16, false>(*p, stream);
    default:
        return launch_samples<wide_samples, 16, false>(*p, stream);
    }
}
