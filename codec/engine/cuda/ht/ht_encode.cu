/* Encodes the HT cleanup pass (7.3 of T.814) on a device. A warp takes a code-block, each lane a quad of 32 at a time:
 * part of a row, a row, or several rows. The encoder knows all samples beforehand, so contexts come from the row above
 * by shuffles or shared memory. A prefix sum over the warp gives every lane the places of its MagSgn and VLC bits,
 * which it adds to rings in shared memory; from there 128 bytes leave at a time, stuffed on the way. All lanes code MEL
 * alike. The bytes equal those of codec/blocks/ht/ht_encode.c. */
#include "codec/engine/cuda/ht/ht_encode_quads.cuh"
#include "codec/engine/cuda/ht/ht_encode_streams.cuh"
#include "codec/engine/cuda/ht/ht_launch.cuh"

namespace
{

/* CTAs of 4 warps, 8 of them per multiprocessor: fewer registers a lane would make one wave of 64 warps, but spill. */
const int WARPS = 4, CTAS = 8;

/* At most 1024 quads of 15 bits of VLC, and 1535 bits of MEL (the most that 1024 symbols can take), before stuffing,
 * which adds a bit for 15; whole chunks of 128 bytes. */
const int VLC_BYTES = 2304, MEL_BYTES = 256;

/* A slot's MagSgn bytes for each bit that a sample can take. */
const int MAGSGN_BYTES_OF_BIT = 552;

/* Bit i to bit 2 i. */
__device__ __forceinline__ uint64_t spread(uint32_t bits)
{
    uint64_t v = bits;
    v = (v | v << 16) & 0x0000FFFF0000FFFFull;
    v = (v | v << 8) & 0x00FF00FF00FF00FFull;
    v = (v | v << 4) & 0x0F0F0F0F0F0F0F0Full;
    v = (v | v << 2) & 0x3333333333333333ull;
    return (v | v << 1) & 0x5555555555555555ull;
}

/* ---- A block ------------------------------------------------------------------------------------------------- */

enum { VLC_RING = 64, ROW_WORDS = L2K_HT_CUDA_ROW + 2 };

/* Shared memory. */
template <class Quad, bool LONG> struct cta_memory {
    uint16_t codes[4096];
    uint32_t pairs[1024];
    uint32_t magsgn[WARPS][Quad::RING], vlc[WARPS][VLC_RING];
    uint8_t mel[WARPS][MEL_BYTES];
    uint32_t above[WARPS][LONG ? (int)ROW_WORDS : 1]; /* `lower` of a row, between zeros */
};

/* Where the lanes of a warp are. A row of up to 32 quads takes 2, 4, ... or 32 lanes, and a step as many rows as its 32
 * lanes hold; longer rows (LONG) take several steps. */
template <class Quad, bool LONG> struct quad_iterator {
    typedef typename Quad::sample sample;
    typedef typename Quad::pair pair;
    const sample *at; /* of the lane's quad */
    uint32_t stride;
    int step_rows;
    int pitch;       /* lanes of a row */
    int quad, quads; /* the lane's in its row, and their number */
    int row, rows;   /* of quads: the step's first, and their number */
    int row_in_step; /* the lane's */
    int left;        /* rows of samples from the lane's quad down; none if not positive */
    int width, height;
    bool second, aligned; /* whether the quad has a right column; whether both are one access */

    __device__ __forceinline__ void start(const l2k_cuda_view &view)
    {
        width = view.width;
        height = view.height;
        quads = (width + 1) / 2;
        rows = (height + 1) / 2;
        pitch = 32;
        if (!LONG)
            pitch = max(2, 1 << (l2k_highest_bit((uint32_t)quads - 1) + 1));
        stride = view.stride;
        step_rows = LONG ? 1 : 32 / pitch;
        row = 0;
        row_in_step = LONG ? 0 : l2k_lane() / pitch;
        at = reinterpret_cast<const sample *>(view.coefficients) + (size_t)(2 * row_in_step) * stride;
        aligned = (((uintptr_t)view.coefficients | (uintptr_t)stride * sizeof(sample)) & (2 * sizeof(sample) - 1)) == 0;
        go_to(LONG ? l2k_lane() : l2k_lane() % pitch);
    }
    /* To a quad of the row; `at` is at the row's beginning. */
    __device__ __forceinline__ void go_to(int number)
    {
        quad = number;
        second = 2 * quad + 1 < width;
        left = quad < quads ? height - 2 * (row + row_in_step) : 0;
    }
    __device__ __forceinline__ void load(pair &top, pair &low) const
    {
        const sample *from = at + 2 * quad;
        top = left > 0 ? load_pair(from, second, aligned && second) : pair{};
        low = left > 1 ? load_pair(from + stride, second, aligned && second) : pair{};
    }
    __device__ __forceinline__ void advance()
    {
        if (LONG && quad - (int)l2k_lane() + 32 < quads) {
            go_to(quad + 32);
            return;
        }
        row += step_rows;
        at += (size_t)(2 * step_rows) * stride;
        if (LONG)
            go_to(l2k_lane());
        else
            left -= 2 * step_rows;
    }
    __device__ __forceinline__ bool is_active() const
    {
        return left > 0;
    }
};

/* What a quad's code depends on. */
struct neighbours {
    uint32_t left, above, right; /* `lower` of the three quads above */
    uint32_t rho;                /* of the quad to the left */
};

template <class Quad, bool LONG> struct block_coder {
    cta_memory<Quad, LONG> &memory;
    const l2k_ht_cuda_encode &p;
    quad_iterator<Quad, LONG> place;
    stream<L2K_HT_FORWARD, Quad::RING, true> magsgn;
    stream<L2K_HT_BACKWARD, VLC_RING> vlc;
    mel_coder mel;
    uint32_t lower;      /* of the step before; LONG: of the quad above and to the left of the next step's first */
    uint32_t rho;        /* LONG: of the quad to the left of the next step's first */
    uint32_t magnitudes; /* OR of all samples of the lane so far */
    float reciprocal;    /* of the quantiser step */

    __device__ __forceinline__ block_coder(cta_memory<Quad, LONG> &shared, const l2k_ht_cuda_encode &parameters)
        : memory(shared), p(parameters)
    {
    }

    __device__ __forceinline__ unsigned warp() const
    {
        return threadIdx.x / 32;
    }
    __device__ __forceinline__ uint8_t *slot() const
    {
        return p.slots + (size_t)(blockIdx.x * WARPS + warp()) * (Quad::MOST_BITS * MAGSGN_BYTES_OF_BIT + VLC_BYTES);
    }

    /* VLC begins with ones where the length field will be. */
    __device__ __forceinline__ void start(const l2k_cuda_view &view)
    {
        place.start(view);
        magsgn.start(memory.magsgn[warp()], reinterpret_cast<uint32_t *>(slot()), 0);
        vlc.start(memory.vlc[warp()], reinterpret_cast<uint32_t *>(slot() + Quad::MOST_BITS * MAGSGN_BYTES_OF_BIT), 0);
        mel.start(memory.mel[warp()]);
        lower = rho = magnitudes = 0;
        for (int i = l2k_lane(); LONG && i < ROW_WORDS; i += 32)
            memory.above[warp()][i] = 0;
        __syncwarp();
        if (l2k_lane() == 0)
            vlc.ring[0] = 0xFFF;
        vlc.filled = 12;
        __syncwarp();
    }

    __device__ __forceinline__ neighbours look_around(uint32_t own_lower, uint32_t own_rho)
    {
        const unsigned lane = l2k_lane();
        neighbours n;
        if (LONG) {
            uint32_t *above = memory.above[warp()] + place.quad + 1;
            n.above = above[0];
            n.right = above[1];
            n.left = __shfl_up_sync(L2K_ALL_LANES, n.above, 1);
            n.rho = __shfl_up_sync(L2K_ALL_LANES, own_rho, 1);
            if (lane == 0) {
                n.left = place.quad ? lower : 0;
                n.rho = place.quad ? rho : 0;
            }
            lower = __shfl_sync(L2K_ALL_LANES, n.above, 31);
            rho = __shfl_sync(L2K_ALL_LANES, own_rho, 31);
            __syncwarp();
            above[0] = own_lower;
            __syncwarp();
            return n;
        }
        const uint32_t for_below = lane >= 32u - place.pitch ? lower : own_lower;
        n.above = __shfl_sync(L2K_ALL_LANES, for_below, (lane - place.pitch) & 31);
        lower = own_lower;
        n.left = __shfl_up_sync(L2K_ALL_LANES, n.above, 1);
        n.right = __shfl_down_sync(L2K_ALL_LANES, n.above, 1);
        n.rho = __shfl_up_sync(L2K_ALL_LANES, own_rho, 1);
        if (place.quad == 0)
            n.left = n.rho = 0;
        if (place.quad == place.pitch - 1)
            n.right = 0;
        return n;
    }

    /* MEL's symbols of a step: those of quads, and in the first row, after each pair with two residuals, whether both
     * exceed 2. */
    __device__ __forceinline__ void put_symbols(bool event, bool one, bool both, bool large)
    {
        uint32_t events = __ballot_sync(L2K_ALL_LANES, event), ones = __ballot_sync(L2K_ALL_LANES, one);
        const uint32_t pairs = __ballot_sync(L2K_ALL_LANES, both);
        if (pairs) {
            const uint64_t all = spread(events) | spread(pairs) << 1;
            const uint64_t set = spread(ones) | spread(__ballot_sync(L2K_ALL_LANES, large)) << 1;
            mel.symbols((uint32_t)all, (uint32_t)set);
            events = (uint32_t)(all >> 32);
            ones = (uint32_t)(set >> 32);
        }
        if (events)
            mel.symbols(events, ones);
    }

    __device__ __forceinline__ void put_bits(const typename Quad::code &code, uint32_t word, uint32_t width)
    {
        const uint32_t own = code.count | width << 16;
        uint32_t before = l2k_sum_up_to<32>(L2K_ALL_LANES, l2k_lane(), own);
        const uint32_t all = __shfl_sync(L2K_ALL_LANES, before, 31);
        before -= own;
        Quad::put(magsgn.ring, magsgn.filled + (before & 0xFFFF), code);
        vlc.put(vlc.filled + (before >> 16), word, width);
        magsgn.filled += all & 0xFFFF;
        vlc.filled += all >> 16;
    }

    /* A step without significant samples in it or above: each quad is a 0 of MEL. */
    __device__ __forceinline__ bool is_blank(const Quad &q)
    {
        if (LONG || __any_sync(L2K_ALL_LANES, (q.magnitudes | lower) != 0))
            return false;
        mel.zeros(__popc(__ballot_sync(L2K_ALL_LANES, place.is_active())));
        return true;
    }

    __device__ __forceinline__ void step(const Quad &q)
    {
        const bool first = place.row + place.row_in_step == 0, active = place.is_active(), odd = place.quad & 1;
        const uint32_t own = q.significance();
        const neighbours n = look_around(q.lower(), own);
        const uint32_t left = Quad::left_bits(n.left, n.above), right = Quad::right_bits(n.above, n.right);
        const uint32_t context =
            first ? n.rho >> 1 | (n.rho & 1)
                  : Quad::is_significant(left) | (n.rho & 12 ? 2 : 0) | Quad::is_significant(right) << 2;
        const int least = own & (own - 1) ? max(Quad::greatest(left, right) - 1, 1) : 1;
        const int bound = max(l2k_highest_bit(q.all()) + 1, least), residual = bound - least;
        const uint32_t reaching = residual ? q.with_bit(bound - 1) : 0;
        const uint32_t code = memory.codes[(first ? 0 : 2048) + (context << 8 | own << 4 | reaching)];
        uint32_t word = active ? code >> 7 : 0, width = active ? code & 7 : 0;
        const int other = __shfl_xor_sync(L2K_ALL_LANES, residual, 1);
        if (odd) {
            const uint32_t number = residual << 5 | other;
            const uint32_t both_codes = first ? __ldg(&p.tables->pairs[0][number]) : memory.pairs[number];
            word |= (both_codes >> 5) << width;
            width += both_codes & 31;
        }
        put_bits(q.magsgn(bound, code >> L2K_HT_E_K_AT & 15), word, width);
        const bool both = odd && first && residual && other;
        put_symbols(active && context == 0, active && context == 0 && own, both, both && min(residual, other) > 2);
        __syncwarp();
        magsgn.drain();
        vlc.drain();
    }

    __device__ __forceinline__ void run()
    {
        typename Quad::pair top, low;
        place.load(top, low);
        while (place.row < place.rows) {
            Quad q;
            quad_iterator<Quad, LONG> next = place;
            q.take(top, low, reciprocal);
            next.advance();
            next.load(top, low); /* in flight while the step runs */
            magnitudes |= q.magnitudes;
            if (!is_blank(q))
                step(q);
            place = next;
        }
    }

    /* MagSgn ends with the last byte that is not 0xFF. Returns its length. */
    __device__ __forceinline__ uint32_t end_magsgn()
    {
        uint32_t word;
        const uint32_t bytes = (magsgn.finish(word) + 7) / 8;
        return bytes && magsgn.last_of(bytes, word) == 0xFF ? bytes - 1 : bytes;
    }

    /* The last bytes of MEL and VLC merge if their bits agree, unless that would be 0xFF, after which MEL would be
     * stuffed, or VLC has only its length field. Returns VLC's length. */
    __device__ __forceinline__ uint32_t end_mel_and_vlc()
    {
        uint32_t word;
        const uint32_t bits = vlc.finish(word), bytes = bits / 8;
        const uint32_t at = (bytes - vlc.chunks * (CHUNK_BITS / 8)) & 127, mask = (1u << (bits & 7)) - 1;
        const uint32_t vlc_byte = __shfl_sync(L2K_ALL_LANES, word, at >> 2) >> 8 * (at & 3) & mask;
        if (mel.run)
            mel.put(1, 1);
        const int rest = mel.room - mel.count;
        const uint32_t mel_mask = 0xFFu << rest & 0xFF, mel_byte = mel.bits << rest & 0xFF, both = mel_byte | vlc_byte;
        if ((mel_mask | mask) == 0)
            return bytes;
        const bool agree = ((both ^ mel_byte) & mel_mask) == 0 && ((both ^ vlc_byte) & mask) == 0;
        if (agree && both != 0xFF && bytes > 1) {
            mel.bytes[mel.size++] = (uint8_t)both;
            return bytes;
        }
        mel.bytes[mel.size++] = (uint8_t)mel_byte;
        __syncwarp();
        if (l2k_lane() == 0)
            reinterpret_cast<uint8_t *>(vlc.slot)[bytes] = (uint8_t)vlc_byte;
        return bytes + 1;
    }

    /* The length of MEL and VLC in VLC's first bytes, which come last (7.1.1). */
    __device__ __forceinline__ void put_length(uint32_t suffix)
    {
        uint8_t *end = reinterpret_cast<uint8_t *>(vlc.slot);
        __syncwarp();
        if (l2k_lane() == 0) {
            end[0] = (uint8_t)(suffix >> 4);
            end[1] = (uint8_t)((end[1] & 0xF0) | (suffix & 15));
        }
        __syncwarp();
    }

    /* VLC backwards, in whole words but for both ends, from words of another alignment. */
    __device__ __forceinline__ void copy_vlc(uint8_t *to, uint32_t bytes) const
    {
        const uint8_t *from = reinterpret_cast<const uint8_t *>(vlc.slot);
        const uint32_t head = min((uint32_t)(-(intptr_t)to & 3), bytes), words = (bytes - head) / 4;
        const uint32_t tail = head + 4 * words;
        for (uint32_t i = l2k_lane(); i < words; i += 32) {
            const uint32_t lowest = bytes - 4 - head - 4 * i, at = lowest >> 2, shift = 8 * (lowest & 3);
            const uint32_t word = __funnelshift_r(vlc.slot[at], shift ? vlc.slot[at + 1] : 0, shift);
            reinterpret_cast<uint32_t *>(to + head)[i] = l2k_reverse_bytes(word);
        }
        if (l2k_lane() < head)
            to[l2k_lane()] = from[bytes - 1 - l2k_lane()];
        if (tail + l2k_lane() < bytes)
            to[tail + l2k_lane()] = from[bytes - 1 - tail - l2k_lane()];
    }

    __device__ __forceinline__ void copy_magsgn(uint8_t *to, uint32_t bytes) const
    {
        for (uint32_t i = l2k_lane(); i < bytes / 4; i += 32)
            reinterpret_cast<uint32_t *>(to)[i] = magsgn.slot[i];
        const uint32_t tail = (bytes & ~3u) + l2k_lane();
        if (tail < bytes)
            to[tail] = reinterpret_cast<const uint8_t *>(magsgn.slot)[tail];
    }

    /* SigProp and MagRef from scratch memory, the latter backwards. */
    __device__ __forceinline__ void copy_refinement(uint8_t *to, const l2k_ht_cuda_encode_block &block,
                                                    const l2k_ht_cuda_refined &r) const
    {
        const l2k_ht_cuda_encode_layout at = l2k_ht_cuda_lay_out_encoding(&block.view, p.form & L2K_HT_WIDE);
        const uint8_t *scratch = p.scratch + (size_t)block.scratch * L2K_HT_CUDA_SCRATCH;
        const uint8_t *sigprop = scratch + (size_t)at.sigprop * L2K_HT_CUDA_SCRATCH;
        const uint8_t *magref = scratch + (size_t)at.magref * L2K_HT_CUDA_SCRATCH;
        for (uint32_t i = l2k_lane(); i < r.sigprop; i += 32)
            to[i] = sigprop[i];
        for (uint32_t i = l2k_lane(); i < r.magref; i += 32)
            to[r.sigprop + i] = magref[r.magref - 1 - i];
    }

    /* Results of a block with code. A refinement pass without bytes is dropped. */
    __device__ __forceinline__ void keep(const l2k_ht_cuda_encode_block &block, const l2k_ht_cuda_refined &r,
                                         uint32_t at, uint32_t cleanup) const
    {
        const uint32_t all = cleanup + r.sigprop + r.magref, index = block.index;
        const uint8_t passes = all > cleanup ? r.passes : (uint8_t)1, planes = (uint8_t)(r.plane + 1);
        p.coded[index] = l2k_cuda_coded_block{at, all, 3 * index, planes, passes, r.magnitude_bits, 0};
        if (passes == 1)
            return;
        p.pass_ends[3 * index] = cleanup | L2K_HT_CUDA_TERMINATED;
        p.pass_ends[3 * index + 1] = passes == 2 ? all | L2K_HT_CUDA_TERMINATED : cleanup + r.sigprop;
        p.pass_ends[3 * index + 2] = all | L2K_HT_CUDA_TERMINATED;
    }

    /* MagSgn, MEL and VLC, then the refinement passes, in a place of their own in the code of all blocks. The counter
     * tells the host if room ran out. */
    __device__ __forceinline__ void end(const l2k_ht_cuda_encode_block &block, const l2k_ht_cuda_refined &r)
    {
        const uint32_t magsgn_bytes = end_magsgn(), vlc_bytes = end_mel_and_vlc();
        const uint32_t suffix = (uint32_t)mel.size + vlc_bytes, cleanup = magsgn_bytes + suffix;
        const uint32_t bytes = cleanup + r.sigprop + r.magref, units = (bytes + 3) / 4;
        uint32_t at = 0;
        put_length(suffix);
        if (l2k_lane() == 0) {
            at = atomicAdd(&p.counters->code, units);
            keep(block, r, at, cleanup);
        }
        at = __shfl_sync(L2K_ALL_LANES, at, 0);
        if (at > p.capacity || units > p.capacity - at)
            return;
        uint8_t *to = p.code + (size_t)at * 4;
        copy_magsgn(to, magsgn_bytes);
        for (int i = l2k_lane(); i < mel.size; i += 32)
            to[magsgn_bytes + i] = mel.bytes[i];
        copy_vlc(to + magsgn_bytes + mel.size, vlc_bytes);
        if (p.form & L2K_HT_REFINED)
            copy_refinement(to + cleanup, block, r);
        if (l2k_lane() < 4 * units - bytes) /* the host copies whole units */
            to[bytes + l2k_lane()] = 0;
    }

    /* With refinement passes, scratch memory holds the samples above their bit-plane. */
    __device__ __forceinline__ l2k_cuda_view view_of(const l2k_ht_cuda_encode_block &block) const
    {
        l2k_cuda_view view = block.view;
        if (p.form & L2K_HT_REFINED) {
            view.coefficients = p.scratch + (size_t)block.scratch * L2K_HT_CUDA_SCRATCH;
            view.stride = l2k_ht_cuda_copied_stride(&block.view);
        }
        return view;
    }

    /* What precedes the cleanup pass. An unquantised block is truncated here, by a larger step; the power of two keeps
     * all bits of the quotient. */
    __device__ __forceinline__ l2k_ht_cuda_refined prepare(const l2k_ht_cuda_encode_block &block)
    {
        l2k_ht_cuda_refined r = {0, 0, 0, 0, 1};
        l2k_ht_cut cut;
        if (p.form & L2K_HT_REFINED)
            return p.refined[block.index];
        reciprocal = block.reciprocal;
        if (p.cut && l2k_ht_find_cut(p, block, &cut, &r)) {
            r.passes = 1;
            r.plane = (uint8_t)cut.plane;
            reciprocal = ldexpf(p.reciprocals[block.band], -(int)cut.plane);
        }
        return r;
    }

    /* A block of zeros has no code. The bit-planes of a block end with that of its cleanup pass. */
    __device__ __forceinline__ void encode(const l2k_ht_cuda_encode_block &block)
    {
        l2k_ht_cuda_refined r = prepare(block);
        uint32_t all = 0;
        if (r.passes == L2K_HT_CUDA_UNCHANGED)
            return;
        if (r.passes) {
            start(view_of(block));
            run();
            all = Quad::joined(l2k_join(magnitudes));
            if (!(p.form & L2K_HT_REFINED))
                r.magnitude_bits = (uint8_t)(r.plane + l2k_highest_bit(all) + 1);
        }
        if (l2k_lane() == 0 && all == 0)
            p.coded[block.index] = l2k_cuda_coded_block{0, 0, 0, 0, 0, r.magnitude_bits, 0};
        if (l2k_lane() == 0 && all >> (Quad::MOST_PLANES - 1) >> 1)
            atomicMin(&p.counters->failed, block.index);
        if (all)
            end(block, r);
        __syncwarp();
    }
};

/* ---- Kernel -------------------------------------------------------------------------------------------------- */

/* Warps take blocks until none are left. */
template <class Quad, bool LONG>
__global__ void __launch_bounds__(32 * WARPS, CTAS) encode_blocks(const l2k_ht_cuda_encode p)
{
    __shared__ cta_memory<Quad, LONG> memory;
    for (int i = threadIdx.x; i < 2048; i += 32 * WARPS)
        reinterpret_cast<uint32_t *>(memory.codes)[i] = reinterpret_cast<const uint32_t *>(p.tables->codes)[i];
    for (int i = threadIdx.x; i < 1024; i += 32 * WARPS)
        memory.pairs[i] = p.tables->pairs[1][i];
    __syncthreads();
    block_coder<Quad, LONG> coder(memory, p);
    for (;;) {
        uint32_t number = 0;
        if (l2k_lane() == 0)
            number = atomicAdd(&p.counters->next[p.form], 1);
        number = __shfl_sync(L2K_ALL_LANES, number, 0);
        if (number >= p.num_blocks)
            return;
        coder.encode(p.blocks[number]);
    }
}

} // namespace

extern "C" size_t l2k_ht_cuda_slot_bytes(bool wide)
{
    return (size_t)(wide ? 32 : 16) * MAGSGN_BYTES_OF_BIT + VLC_BYTES;
}

extern "C" uint32_t l2k_ht_cuda_encode_warps(uint32_t blocks, uint32_t processors)
{
    const uint32_t most = processors * CTAS * WARPS, all = (blocks + WARPS - 1) / WARPS * WARPS;
    return all < most ? all : most;
}

extern "C" int l2k_ht_cuda_launch_encode(const l2k_ht_cuda_encode *p, void *stream)
{
    typedef void kernel(l2k_ht_cuda_encode);
    static kernel *const kernels[] = {encode_blocks<narrow_quad, false>,       encode_blocks<wide_quad, false>,
                                      encode_blocks<narrow_quad, true>,        encode_blocks<wide_quad, true>,
                                      encode_blocks<narrow_float_quad, false>, encode_blocks<wide_float_quad, false>,
                                      encode_blocks<narrow_float_quad, true>,  encode_blocks<wide_float_quad, true>};
    const uint32_t from = p->form & L2K_HT_REFINED ? 0 : L2K_HT_FLOAT; /* refinement has quantised */
    return l2k_launch(kernels[p->form & (L2K_HT_WIDE | L2K_HT_LONG | from)], p->warps, WARPS, 32 * WARPS, stream, *p);
}
