/* Decodes the first half of the HT cleanup pass (7.3 of T.814) on a device, in two kernels. Two warps per block remove
 * the stuffing from its streams. Then a lane per block decodes significance and residuals of quads from MEL and VLC,
 * where each codeword depends on the one before.
 *
 * For any bytes, a block's area and the lengths of its segments bound its loops; reads stay in its part of the scratch
 * memory, where filler follows each stream's last word, and places beyond are clamped to the filler; writes depend on
 * its size alone. */
#include "codec/engine/cuda/ht/ht_launch.cuh"
#include "codec/engine/cuda/ht/ht_unstuff.cuh"

namespace
{

typedef l2k_ht_cuda_decode parameters;
typedef l2k_ht_cuda_decode_block block_type;

/* ---- Un-stuffing --------------------------------------------------------------------------------------------- */

enum { UNSTUFF_WARPS = 8 };

/* The last two bytes of a cleanup segment hold Scup, the length of MEL and VLC together (7.1.1); 0 if out of range. */
__device__ __forceinline__ uint32_t suffix_of(const uint8_t *segment, uint32_t length)
{
    if (length < 2)
        return 0;
    const uint32_t suffix = (uint32_t)__ldg(segment + length - 1) << 4 | (__ldg(segment + length - 2) & 15);
    return suffix >= 2 && suffix <= length && suffix <= L2K_HT_CUDA_MOST_SUFFIX ? suffix : 0;
}

/* Two warps a block: MagSgn; VLC and MEL. An empty stream tells the next kernel that the segment is invalid. */
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
            vlc = l2k_ht_unstuffer<L2K_HT_VLC>().run(end - 2, suffix - 1, scratch + at.vlc, joint);
            mel = l2k_ht_unstuffer<L2K_HT_MEL>().run(end - suffix, suffix - 1, scratch + at.mel, joint);
        }
        if (l2k_lane() == 0)
            head[L2K_HT_VLC_WORDS] = vlc, head[L2K_HT_MEL_WORDS] = mel;
    } else if (suffix) {
        const uint32_t bytes = min(b.length - suffix, l2k_ht_cuda_most_magsgn(&b));
        const uint32_t magsgn = l2k_ht_unstuffer<L2K_HT_MAGSGN>().run(segment, bytes, scratch + at.magsgn, joint);
        if (l2k_lane() == 0)
            head[L2K_HT_MAGSGN_WORDS] = magsgn;
    }
}

/* ---- Quads: MEL and VLC -------------------------------------------------------------------------------------- */

/* Two warps take up to 32 blocks, each with a lane in both. One warp decodes VLC, a chain of look-ups that nothing else
 * may lengthen. The other brings its bits and MEL's symbols for the next group of eight pairs of quads to shared
 * memory; then they meet. The rings of words interleave lanes. */
enum { LANES = 32, VLC_RING = 32, MEL_RING = 16, SYMBOL_RING = 4 };

/* Of a group: its pairs, the most words of VLC (30 bits a pair), and the most symbols of MEL. */
enum { GROUP_PAIRS = 8, GROUP_WORDS = 8, GROUP_SYMBOLS = 24 };

/* The first row's tables are used too seldom for shared memory. VLC's first row of words is repeated behind its
 * last. */
struct cta_memory {
    uint32_t quads[L2K_HT_CUDA_ENTRIES], residuals[L2K_HT_CUDA_MODES], runs[L2K_HT_CUDA_RUNS];
    uint32_t vlc[(VLC_RING + 1) * LANES], mel[MEL_RING * LANES], symbols[SYMBOL_RING * LANES];
    uint32_t used[2][2][LANES]; /* by odd or even group: bits of VLC, symbols of MEL */
    uint32_t most_groups;       /* of a block */
};

/* What is stored of a quad, in 16 or 32 bits: the upper half of its entry, and the residual. */
template <bool WIDE> struct quad_words {
    enum { MOST_RESIDUAL = WIDE ? 31 : 15, WORDS = WIDE ? 8 : 4 };
    uint32_t w[WORDS];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            w[i] = 0;
    }
    __device__ __forceinline__ void set(int pair, uint32_t first, uint32_t second, uint32_t u, uint32_t v)
    {
        if constexpr (WIDE) {
            w[2 * pair] = (first >> 16) + (u << 16);
            w[2 * pair + 1] = (second >> 16) + (v << 16);
        } else {
            w[pair] = __byte_perm(first, second, 0x7632) + v * 0x10000u + u;
        }
    }
    __device__ __forceinline__ void store(uint4 *to) const
    {
#pragma unroll
        for (int i = 0; i < WORDS / 4; i++)
            to[i] = make_uint4(w[4 * i], w[4 * i + 1], w[4 * i + 2], w[4 * i + 3]);
    }
};

/* A stream's words on their way to a lane. A load takes as long as some pairs of quads, so eight words are loaded
 * before the ring has room for them. */
template <int RING, bool REPEATS> struct word_ring {
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
        if (REPEATS && (filled & (RING - 1)) == 0)
            ring[RING * LANES] = first.x;
        put(filled + 0, first.x), put(filled + 1, first.y), put(filled + 2, first.z), put(filled + 3, first.w);
        put(filled + 4, second.x), put(filled + 5, second.y), put(filled + 6, second.z), put(filled + 7, second.w);
        filled += 8;
        first = load();
        second = load();
    }
};

/* MEL (7.3.3): decodes some runs at a time to words of symbols. A symbol takes at most 3/2 bits, and the state up to 36
 * more, so that the 96 symbols of a group fit the loaded words. */
struct mel_decoder {
    word_ring<MEL_RING, false> words;
    const uint32_t *runs; /* by state, and the next bits */
    uint32_t *ring;       /* of symbols */
    uint32_t written;     /* words of them */
    uint64_t symbols;     /* not yet written, the next one lowest; 0 beyond them */
    uint32_t ready;       /* their number */
    uint32_t bits, more;  /* the next ones, the first one on top; the 32 after them */
    uint32_t place;       /* of the next bit */
    uint32_t state;       /* L2K_HT_CUDA_STATE */

    __device__ __forceinline__ void start(uint32_t *shared, uint32_t *to, const uint4 *stream, uint32_t count)
    {
        words.start(shared, stream, count, 0xFFFFFFFFu);
        words.fill();
        ring = to;
        symbols = 0;
        ready = written = place = state = 0;
        bits = words.at(0);
        more = words.at(1);
    }
    __device__ __forceinline__ void decode_runs()
    {
        const uint32_t entry = runs[state | bits >> 26];
        const uint32_t last = entry >> 12 & 31;
        bits = __funnelshift_l(more, bits, entry);
        place += entry & 31;
        more = __funnelshift_l(words.at((place >> 5) + 2), words.at((place >> 5) + 1), place);
        symbols |= (uint64_t)(entry >> 17 | (entry >> 5 & 1) << last) << ready;
        ready += last + 1;
        state = entry >> 2 & L2K_HT_CUDA_STATE;
    }
    /* Decodes until `count` words, or one more, have been written. */
    __device__ __forceinline__ void write(uint32_t count)
    {
        if (words.filled - (int)(place >> 5) <= MEL_RING / 2)
            words.fill();
        while (written < count) {
            decode_runs();
            if (ready >= 32) {
                ring[(written++ & (SYMBOL_RING - 1)) * LANES] = (uint32_t)symbols;
                symbols >>= 32;
                ready -= 32;
            }
        }
    }
};

/* Significance of the lower samples of a row of quads, 16 bits for each four pairs, the first sample highest. A
 * register pair holds up to 32 quads; LONG rows are in local memory. */
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
    /* 18 bits: those of the next four pairs, between the samples on both sides. */
    __device__ __forceinline__ uint32_t next()
    {
        const uint32_t both = (uint32_t)above, own = both & 0xFFFF, bits = before << 17 | own << 1 | both >> 31;
        before = own & 1;
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
        const uint32_t own = groups[at], bits = before << 17 | own << 1 | (uint32_t)groups[at + 1] >> 15;
        before = own & 1;
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

__device__ __forceinline__ uint32_t shifted(uint32_t v, int left)
{
    return left < 0 ? v >> -left : v << left;
}

/* Contexts and looked-up bits are byte offsets into tables: bits of the stream are shifted up by two, and entries serve
 * as shift counts unmasked, since shifts only take their low five bits. */
template <bool WIDE, bool LONG> struct quad_decoder {
    const cta_memory &memory;
    const l2k_ht_cuda_tables &tables;
    const uint8_t *vlc; /* the lane's ring */
    lower_row<LONG> lower;
    uint32_t bits, more; /* the next ones, from bit 2 on; the 32 after them */
    uint32_t ahead;      /* place of the latter in VLC */
    uint32_t symbols;    /* of MEL, below a one that moves down as they are used; after the first row inverted, the next
                            one at BLANK */
    uint32_t west;       /* entry of the quad to the left */
    uint32_t residual;   /* OR of all */
    int pairs, row, rows, pair; /* of a row; the next one */
    bool odd;                   /* the row ends with a pair of one quad */
    int pitch;
    uint4 *to;

    __device__ __forceinline__ quad_decoder(const cta_memory &shared, const l2k_ht_cuda_tables &all)
        : memory(shared), tables(all), vlc(reinterpret_cast<const uint8_t *>(shared.vlc + l2k_lane()))
    {
    }

    static __device__ __forceinline__ uint32_t at(const uint32_t *table, uint32_t place)
    {
        return *reinterpret_cast<const uint32_t *>(reinterpret_cast<const uint8_t *>(table) + place);
    }
    __device__ __forceinline__ void load_more()
    {
        const uint32_t *words = reinterpret_cast<const uint32_t *>(vlc + (ahead << 2 & (VLC_RING - 1) << 7));
        more = __funnelshift_r(words[0], words[LANES], ahead);
    }

    /* The entry of a quad with the lower samples `above` it, after the quad `before`. In context 0, MEL tells whether
     * any sample is significant. */
    template <bool FIRST> __device__ __forceinline__ uint32_t next_entry(uint32_t above, uint32_t before, uint32_t rest)
    {
        if (FIRST) {
            uint32_t context = before & L2K_HT_CUDA_CONTEXT;
            if (context == 0) {
                if (!(symbols & 1))
                    context = L2K_HT_CUDA_BLANK;
                symbols >>= 1;
            }
            return at(tables.first_quads, context | (rest & 127 << 2));
        }
        const uint32_t other = (above & L2K_HT_CUDA_ABOVE) | (symbols & L2K_HT_CUDA_BLANK);
        if (((other | before) & L2K_HT_CUDA_CONTEXT) == 0)
            symbols >>= 1;
        return at(memory.quads, ((before & L2K_HT_CUDA_WEST) | other) | (rest & 127 << 2));
    }

    __device__ __forceinline__ void start(const l2k_cuda_view &view, uint4 *quads)
    {
        const int across = (view.width + 1) / 2;
        pairs = (across + 1) / 2;
        rows = (view.height + 1) / 2;
        odd = across & 1;
        pitch = (int)l2k_ht_cuda_pitch(&view) / 8 * (WIDE ? 2 : 1);
        to = quads;
        row = pair = 0;
        residual = 0;
        lower.clear();
    }
    __device__ __forceinline__ int groups() const
    {
        return rows * ((pairs + GROUP_PAIRS - 1) / GROUP_PAIRS);
    }
    /* Four bits of the length field come first. */
    __device__ __forceinline__ void start_bits()
    {
        ahead = 2;
        load_more();
        bits = more;
        ahead += 32;
        load_more();
    }

    /* `bits` may be used before `more` has been loaded. */
    __device__ __forceinline__ void skip(uint32_t count)
    {
        bits = __funnelshift_r(bits, more, count);
        ahead += count & 31;
        load_more();
    }

    /* A pair of quads (7.3.5, 7.3.6). `above`: bit 11, significance of the lower samples directly above the first quad
     * and to its left; bit 9, to its right; the second quad's are two bits further down. `significant` gets the pair's
     * own. */
    template <bool FIRST>
    __device__ __forceinline__ void decode(quad_words<WIDE> &words, int number, uint32_t above, uint32_t above_second,
                                           bool lone, uint32_t &significant)
    {
        const uint32_t first = next_entry<FIRST>(above, west, bits);
        uint32_t rest = __funnelshift_r(bits, 0, first);
        const uint32_t second = lone ? 0 : next_entry<FIRST>(above_second, first, rest);
        rest = __funnelshift_r(rest, 0, second);
        west = second;
        uint32_t mode = (first & L2K_HT_CUDA_U_OFF) << 1 | (second & L2K_HT_CUDA_U_OFF);
        if (FIRST && mode == 3 * L2K_HT_CUDA_U_OFF) {
            mode += (symbols & 1) * L2K_HT_CUDA_U_OFF;
            symbols >>= 1;
        }
        const uint32_t code =
            at(FIRST ? tables.residuals + L2K_HT_CUDA_MODES : memory.residuals, mode | (rest & 63 << 2));
        skip(first + second + code);
        const uint32_t u = (code >> 25 & 7) + (__funnelshift_r(rest, 0, code >> 5) & code >> 15 & 31);
        const uint32_t v = (code >> 28) + (__funnelshift_r(rest, 0, code >> 10) & code >> 20 & 31);
        words.set(number, first, second, u, v);
        residual |= u | v;
        significant = __funnelshift_l(first, significant, 2);
        significant = __funnelshift_l(second, significant, 2);
    }

    /* Four pairs, or the `count` that are left of a row; the last may be `lone`, without a second quad. */
    template <bool FIRST, bool ALL> __device__ __forceinline__ void four_pairs(int count, bool lone)
    {
        quad_words<WIDE> words;
        uint32_t above = lower.next(), significant = 0;
        above |= above >> 1;
        words.clear();
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (!ALL && i >= count)
                break;
            decode<FIRST>(words, i, shifted(above, 4 * i - 5), shifted(above, 4 * i - 3),
                          !ALL && lone && i == count - 1, significant);
        }
        words.store(to + pair / 4 * (WIDE ? 2 : 1));
        lower.put(ALL ? significant : significant << 4 * (4 - count));
        pair += 4;
    }

    /* Up to eight pairs of a row. */
    __device__ __forceinline__ void group()
    {
        const int end = min(pairs, pair + GROUP_PAIRS);
        if (pair == 0) {
            lower.start_row();
            west = 0;
        }
#pragma unroll 1
        while (pair < end) {
            const int left = min(end - pair, 4);
            const bool ends = odd && pair + 4 >= pairs;
            if (row == 0)
                four_pairs<true, false>(left, ends);
            else if (left == 4 && !ends)
                four_pairs<false, true>(4, false);
            else
                four_pairs<false, false>(left, ends);
        }
        if (end < pairs)
            return;
        lower.end_row((pairs + 3) / 4);
        to += pitch;
        row++;
        pair = 0;
    }
};

/* A barrier of both warps. They arrive at different places, which __syncthreads does not allow. */
__device__ __forceinline__ void meet()
{
    asm volatile("barrier.sync 1, 64;" ::: "memory");
}

/* All threads copy `count` words, a multiple of four. */
__device__ __forceinline__ void copy(uint32_t *to, const uint32_t *from, int count)
{
    for (int i = threadIdx.x; i < count / 4; i += 2 * LANES)
        reinterpret_cast<uint4 *>(to)[i] = __ldg(reinterpret_cast<const uint4 *>(from) + i);
}

/* The warp that feeds the other one. It provides words of VLC for the group under way, for the next one, and for the
 * look-ahead. */
__device__ __forceinline__ void feed(cta_memory &memory, const uint32_t *head, const uint4 *scratch,
                                     const l2k_ht_cuda_layout &at, bool used)
{
    const unsigned lane = l2k_lane();
    word_ring<VLC_RING, true> vlc;
    mel_decoder mel;
    if (used) {
        vlc.start(memory.vlc + lane, scratch + at.vlc, head[L2K_HT_VLC_WORDS], 0);
        mel.runs = memory.runs;
        mel.start(memory.mel + lane, memory.symbols + lane, scratch + at.mel, head[L2K_HT_MEL_WORDS]);
        vlc.fill();
        vlc.fill();
        mel.write(2);
    }
    meet();
    const uint32_t groups = memory.most_groups;
    for (uint32_t i = 0; i < groups; i++) {
        if (used) {
            const int word = (int)(memory.used[i & 1][0][lane] >> 5);
            if (vlc.filled - word <= VLC_RING - GROUP_WORDS)
                vlc.fill();
            mel.write((memory.used[i & 1][1][lane] + GROUP_SYMBOLS) / 32 + 2);
        }
        meet();
    }
}

template <bool WIDE, bool LONG>
__device__ __forceinline__ uint32_t decode_lane(cta_memory &memory, const l2k_ht_cuda_tables &tables,
                                                const l2k_cuda_view &view, uint4 *to, bool used)
{
    const unsigned lane = l2k_lane();
    const uint32_t *symbols = memory.symbols + lane;
    quad_decoder<WIDE, LONG> d(memory, tables);
    uint32_t own = 0, taken = 0; /* groups; symbols */
    if (used) {
        d.start(view, to);
        own = (uint32_t)d.groups();
        atomicMax(&memory.most_groups, own);
    }
    memory.used[0][0][lane] = 0;
    memory.used[0][1][lane] = 0;
    meet();
    const uint32_t groups = memory.most_groups;
    if (used)
        d.start_bits();
    for (uint32_t i = 0; i < groups; i++) {
        if (i < own) {
            const uint32_t w0 = symbols[(taken / 32 & (SYMBOL_RING - 1)) * LANES];
            const uint32_t w1 = symbols[(taken / 32 + 1 & (SYMBOL_RING - 1)) * LANES];
            const uint32_t lent = __funnelshift_r(w0, w1, taken);
            d.symbols = 0x80000000u | (d.row ? (~lent & 0xFFFF) * L2K_HT_CUDA_BLANK : lent & 0xFFFFFF);
            d.group();
            taken += (uint32_t)__clz((int)d.symbols);
            memory.used[(i + 1) & 1][0][lane] = d.ahead - 32;
            memory.used[(i + 1) & 1][1][lane] = taken;
        }
        meet();
    }
    return used && d.residual > quad_words<WIDE>::MOST_RESIDUAL;
}

template <bool WIDE, bool LONG> __global__ void __launch_bounds__(2 * LANES) decode_quads(const parameters p)
{
    __shared__ cta_memory memory;
    copy(memory.quads, p.tables->quads, L2K_HT_CUDA_ENTRIES);
    copy(memory.residuals, p.tables->residuals, L2K_HT_CUDA_MODES);
    copy(memory.runs, p.tables->runs, L2K_HT_CUDA_RUNS);
    if (threadIdx.x == 0)
        memory.most_groups = 0;
    __syncthreads();
    const uint32_t lane = l2k_lane(), number = blockIdx.x * LANES + lane;
    block_type b = {};
    l2k_ht_cuda_layout at = {};
    uint4 *scratch = reinterpret_cast<uint4 *>(p.scratch);
    if (number < p.num_blocks)
        b = p.blocks[number];
    bool used = b.length > 0;
    if (used) {
        at = l2k_ht_cuda_lay_out(&b);
        scratch += b.scratch;
    }
    uint32_t *head = reinterpret_cast<uint32_t *>(scratch);
    const bool bad = used && head[L2K_HT_VLC_WORDS] == 0;
    used = used && !bad;
    if (threadIdx.x >= LANES) {
        feed(memory, head, scratch, at, used);
        return;
    }
    const uint32_t too_large = decode_lane<WIDE, LONG>(memory, *p.tables, b.view, scratch + at.quads, used);
    if (used || bad)
        head[L2K_HT_BAD] = bad || too_large;
}

} // namespace

extern "C" int l2k_ht_cuda_launch_unstuff(const l2k_ht_cuda_decode *p, void *stream)
{
    return l2k_launch(unstuff_blocks, p->num_blocks, UNSTUFF_WARPS / 2, 32 * UNSTUFF_WARPS, stream, *p);
}

extern "C" int l2k_ht_cuda_launch_quads(const l2k_ht_cuda_decode *p, void *stream)
{
    typedef void kernel(parameters);
    static kernel *const kernels[] = {decode_quads<false, false>, decode_quads<true, false>, decode_quads<false, true>,
                                      decode_quads<true, true>};
    return l2k_launch(kernels[p->form & (L2K_HT_WIDE | L2K_HT_LONG)], p->num_blocks, LANES, 2 * LANES, stream, *p);
}
