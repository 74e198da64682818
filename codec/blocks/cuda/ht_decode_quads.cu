/* The first half of the HT cleanup pass (7.3 of T.814) as a decoder on a device reads it, in two kernels. Two warps a
 * block take the stuffing out of its streams. Then a lane a block decodes significance and residuals of quads from MEL
 * and VLC, where each codeword depends on the one before.
 *
 * Whatever the bytes are, a block's loops are bounded by its area and the lengths of its segments; reads stay in its
 * part of the scratch memory, where filler follows each stream's last word, and places beyond are moved there; writes
 * depend on its size alone. */
#include "codec/blocks/cuda/ht_launch.cuh"
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
    return suffix >= 2 && suffix <= length && suffix <= L2K_HT_CUDA_MOST_SUFFIX ? suffix : 0;
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

} // namespace

extern "C" int l2k_ht_cuda_launch_unstuff(const l2k_ht_cuda_decode *p, void *stream)
{
    return l2k_ht_launch(unstuff_blocks, p->num_blocks, UNSTUFF_WARPS / 2, 32 * UNSTUFF_WARPS, stream, *p);
}

extern "C" int l2k_ht_cuda_launch_quads(const l2k_ht_cuda_decode *p, void *stream)
{
    switch (p->form & (L2K_HT_WIDE | L2K_HT_LONG)) {
    case 0:
        return l2k_ht_launch(decode_quads<false, false>, p->num_blocks, LANES, LANES, stream, *p);
    case L2K_HT_WIDE:
        return l2k_ht_launch(decode_quads<true, false>, p->num_blocks, LANES, LANES, stream, *p);
    case L2K_HT_LONG:
        return l2k_ht_launch(decode_quads<false, true>, p->num_blocks, LANES, LANES, stream, *p);
    default:
        return l2k_ht_launch(decode_quads<true, true>, p->num_blocks, LANES, LANES, stream, *p);
    }
}
