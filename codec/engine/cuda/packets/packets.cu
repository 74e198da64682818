/* Packet headers (B.10) and the bytes behind them, on a device. A CTA makes a header: the tag trees level by level;
 * then each thread takes a code-block and puts its bits where a prefix sum says (packet_leaves.h); in the end a warp
 * stuffs a 0 after each 0xFF, 128 bytes at a time (B.10.1). The last CTA adds up sizes. A second kernel copies headers
 * and code-blocks to their places. The bytes equal those of codec/packets/packet_write.c. */
#include "codec/engine/cuda/blocks/warp.cuh"

extern "C" {
#include "codec/engine/cuda/packets/cuda_packets.h"
}
#include "codec/engine/cuda/packets/packet_leaves.h"
#include "codec/engine/cuda/packets/packet_stuffing.h"

namespace
{

const unsigned MOST_THREADS = 1024, FEW_THREADS = 128;

struct cta_memory {
    l2k_cuda_packet_part parts[3];
    uint32_t end[3];                /* leaves up to the end of a part */
    l2k_cuda_packet_node *nodes[3]; /* of a part */
    uint64_t sums[32];              /* of warps */
    bool last;
    alignas(16) l2k_cuda_packet_node shared[L2K_SHARED_NODES]; /* then ends of pieces */
};

/* ---- Tag trees ----------------------------------------------------------------------------------------------- */

/* B of a magnitude of `bits` bits, as in l2k_encode_magnitude_bound. */
__device__ __forceinline__ uint32_t magnitude_bound(uint32_t bits, uint32_t level)
{
    return level == L2K_REVERSIBLE ? bits : bits + 1 - min(bits, level);
}

struct survey {
    uint32_t excess, failed, bound;
    uint32_t beyond; /* a block's code had no room */
};

__device__ __forceinline__ bool has_code(const l2k_cuda_coded &coded, const l2k_cuda_coded_block &block)
{
    const uint32_t units = (block.bytes + 3) / 4;
    return block.at <= coded.capacity && units <= coded.capacity - block.at;
}

__device__ __forceinline__ void make_leaves(const l2k_cuda_packet_run &p, const l2k_cuda_packet_part &part,
                                            l2k_cuda_packet_node *nodes, survey &seen)
{
    const uint32_t planes = part.max_planes + p.more_guard_bits;
    for (uint32_t i = threadIdx.x; i < part.across * part.down; i += blockDim.x) {
        const l2k_cuda_coded_block b = p.coded.blocks[part.first_block + i];
        const uint32_t zero_planes = b.num_planes < planes ? min(planes - b.num_planes, 0xFFu) : 0;
        nodes[i] = l2k_make_node(b.num_passes ? i : L2K_NO_BLOCK, zero_planes);
        seen.beyond |= !has_code(p.coded, b);
        seen.excess |= b.magnitude_bits > part.max_planes;
        if (b.magnitude_bits > part.max_planes + 1u)
            seen.failed = max(seen.failed, UINT32_MAX - (part.first_block + i));
        if (part.is_ht && b.num_passes)
            seen.bound = max(seen.bound, magnitude_bound(b.magnitude_bits - (b.num_planes - 1u), part.level));
    }
}

/* All levels above the leaves, of all parts in parallel. */
__device__ __forceinline__ void make_levels(cta_memory &memory, uint32_t num_parts)
{
    uint32_t across[3], down[3], start[3] = {0, 0, 0};
    for (uint32_t k = 0; k < 3; k++) {
        across[k] = k < num_parts ? memory.parts[k].across : 0;
        down[k] = k < num_parts ? memory.parts[k].down : 0;
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < 3; k++) {
            if (across[k] <= 1 && down[k] <= 1)
                continue;
            const uint32_t wide = (across[k] + 1) / 2, high = (down[k] + 1) / 2;
            const l2k_cuda_packet_node *below = memory.nodes[k] + start[k];
            start[k] += across[k] * down[k];
            for (uint32_t i = threadIdx.x; i < wide * high; i += blockDim.x)
                memory.nodes[k][start[k] + i] = l2k_join_nodes(below, across[k], down[k], i);
            across[k] = wide;
            down[k] = high;
            more = true;
        }
        __syncthreads();
    }
}

__device__ __forceinline__ void make_trees(const l2k_cuda_packet_run &p, cta_memory &memory, uint32_t num_parts)
{
    survey seen = {0, 0, 0, 0};
    for (uint32_t k = 0; k < num_parts; k++)
        make_leaves(p, memory.parts[k], memory.nodes[k], seen);
    for (unsigned d = 16; d > 0; d /= 2)
        seen.bound = max(seen.bound, __shfl_xor_sync(L2K_ALL_LANES, seen.bound, d));
    if ((threadIdx.x & 31) == 0 && seen.bound)
        atomicMax(&p.counters->bound, seen.bound);
    if (seen.beyond) /* rare, as the next two */
        p.counters->no_room = 1;
    if (seen.excess)
        p.counters->excess = 1;
    if (seen.failed)
        atomicMax(&p.counters->failed, seen.failed);
    __syncthreads();
    make_levels(memory, num_parts);
}

/* ---- Bits of a header ---------------------------------------------------------------------------------------- */

/* A code-block, as a leaf of its part's tag trees. */
struct header_leaf {
    const l2k_cuda_packet_part *part; /* NULL: none */
    const l2k_cuda_packet_node *nodes;
    uint32_t number;
    l2k_cuda_coded_block block;
    const uint32_t *ends;
    uint32_t inclusion, zero_planes, lengths, ones; /* numbers of bits; those of the inclusion */
};

__device__ __forceinline__ header_leaf measure_leaf(const l2k_cuda_packet_run &p, const cta_memory &memory,
                                                    uint32_t number)
{
    header_leaf leaf = {};
    uint32_t k = 0;
    if (number >= memory.end[2])
        return leaf;
    while (number >= memory.end[k])
        k++;
    leaf.part = &memory.parts[k];
    leaf.nodes = memory.nodes[k];
    leaf.number = number - (k ? memory.end[k - 1] : 0);
    leaf.block = p.coded.blocks[leaf.part->first_block + leaf.number];
    leaf.ends = p.coded.pass_ends && leaf.part->has_segments ? p.coded.pass_ends + leaf.block.ends : NULL;
    leaf.inclusion = l2k_inclusion_bits(leaf.part, leaf.nodes, leaf.number, &leaf.ones);
    if (leaf.block.num_passes) {
        leaf.zero_planes = l2k_zero_plane_bits(leaf.part, leaf.nodes, leaf.number, NULL, 0);
        leaf.lengths = l2k_length_bits(&leaf.block, leaf.ends, NULL, 0);
    }
    return leaf;
}

__device__ __forceinline__ void put_leaf(const l2k_cuda_packet_run &p, const header_leaf &leaf, uint32_t *words,
                                         uint32_t at)
{
    l2k_put_header_bits(words, at, leaf.ones, leaf.inclusion);
    at += leaf.inclusion + leaf.zero_planes;
    if (leaf.block.num_passes) {
        l2k_zero_plane_bits(leaf.part, leaf.nodes, leaf.number, words, at);
        l2k_length_bits(&leaf.block, leaf.ends, words, at);
    }
}

/* Clears words before the first bits reach them. */
__device__ __forceinline__ void clear_words(uint32_t *words, uint32_t from_bit, uint32_t to_bit)
{
    for (uint32_t i = (from_bit >> 5) + 1 + threadIdx.x; i <= to_bit >> 5; i += blockDim.x)
        words[i] = 0;
    __syncthreads();
}

/* Returns the number of bits of the header, 0 if it has no room. A header begins with a 1, even where no block
 * contributes (as in OpenJPEG). */
__device__ __forceinline__ uint32_t put_header(const l2k_cuda_packet_run &p, cta_memory &memory,
                                               const l2k_cuda_packet &packet, uint32_t *body)
{
    uint32_t *words = p.words + packet.first_word;
    uint32_t bits = 1;
    *body = 0;
    if (threadIdx.x == 0)
        words[0] = 0x80000000u;
    for (uint32_t i = 0; i < memory.end[2]; i += blockDim.x) {
        const header_leaf leaf = measure_leaf(p, memory, i + threadIdx.x);
        const uint32_t own = leaf.inclusion + leaf.zero_planes + leaf.lengths;
        uint64_t all;
        const uint64_t before = l2k_cta_sum_before(memory.sums, (uint64_t)leaf.block.bytes << 32 | own, &all);
        const uint64_t end = (uint64_t)bits + (uint32_t)all;
        if (end + 32 > (uint64_t)packet.num_words * 32)
            return 0;
        clear_words(words, bits, (uint32_t)end);
        if (leaf.part) {
            p.places[leaf.part->first_block + leaf.number] =
                l2k_cuda_packet_place{blockIdx.x, *body + (uint32_t)(before >> 32)};
            put_leaf(p, leaf, words, bits + (uint32_t)before);
        }
        bits = (uint32_t)end;
        *body += (uint32_t)(all >> 32);
    }
    __syncthreads();
    return bits;
}

/* ---- Stuffing ------------------------------------------------------------------------------------------------ */

/* The exit of a warp's pieces for each entry, and the entry that they get. */
struct warp_pieces {
    uint32_t ends[32][16]; /* as of l2k_stuff_piece */
    uint32_t entry[33], before[33];
};

__device__ __forceinline__ l2k_piece load_piece(const uint32_t *words, uint32_t num_bits, uint32_t number)
{
    l2k_piece piece = {};
    const uint32_t num_words = (num_bits + 31) / 32;
    for (uint32_t k = 0; k < 3; k++)
        piece.words[k] = 2 * number + k < num_words ? __ldcg(words + 2 * number + k) : 0;
    if (number < (num_bits + L2K_PIECE_BITS - 1) / L2K_PIECE_BITS)
        piece.limit = min(num_bits - number * L2K_PIECE_BITS, (uint32_t)L2K_PIECE_BITS);
    return piece;
}

/* Each lane follows one entry through the pieces of the warp. */
__device__ __forceinline__ void join_pieces(const uint8_t (*ends)[16], uint32_t *joined)
{
    const unsigned lane = threadIdx.x & 31;
    uint32_t entry = lane, bytes = 0;
    if (lane >= L2K_PIECE_ENTRIES)
        return;
    for (unsigned i = 0; i < 32; i++) {
        const uint32_t end = ends[i][entry];
        entry = end & 15;
        bytes += end >> 4;
    }
    joined[lane] = entry | bytes << 4;
}

/* Through all warps, from the exit of earlier pieces. */
__device__ __forceinline__ void join_warps(warp_pieces &w, uint32_t entry, uint32_t before)
{
    const unsigned warps = blockDim.x / 32;
    for (unsigned i = 0; i < warps; i++) {
        w.entry[i] = entry;
        w.before[i] = before;
        before += w.ends[i][entry] >> 4;
        entry = w.ends[i][entry] & 15;
    }
    w.entry[32] = entry;
    w.before[32] = before;
}

/* The words of the header become bytes at `out`, a piece a thread. Returns their number. */
__device__ __forceinline__ uint32_t stuff_header(cta_memory &memory, const uint32_t *words, uint32_t num_bits,
                                                 uint8_t *out)
{
    __shared__ warp_pieces warps;
    uint8_t(*ends)[16] = reinterpret_cast<uint8_t(*)[16]>(memory.shared);
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t entry = 0, before = 0;
    for (uint32_t first = 0; first * L2K_PIECE_BITS < num_bits; first += blockDim.x) {
        const l2k_piece piece = load_piece(words, num_bits, first + threadIdx.x);
        const uint64_t full = l2k_full_bytes(&piece);
        for (uint32_t e = 0; e < L2K_PIECE_ENTRIES; e++)
            ends[threadIdx.x][e] = (uint8_t)l2k_stuff_piece(full, piece.limit, e);
        __syncwarp();
        join_pieces(ends + 32 * warp, warps.ends[warp]);
        __syncthreads();
        if (threadIdx.x == 0)
            join_warps(warps, entry, before);
        __syncthreads();
        uint32_t own = warps.entry[warp], at = warps.before[warp];
        for (unsigned i = 0; i < lane; i++) {
            const uint32_t end = ends[32 * warp + i][own];
            own = end & 15;
            at += end >> 4;
        }
        l2k_put_piece(&piece, full, own, out + at);
        entry = warps.entry[32];
        before = warps.before[32];
        __syncthreads();
    }
    return before;
}

/* ---- Sizes --------------------------------------------------------------------------------------------------- */

__device__ __forceinline__ void add_up_sizes(const l2k_cuda_packet_run &p, cta_memory &memory)
{
    uint64_t start = 0;
    for (uint32_t i = 0; i < p.num_packets; i += blockDim.x) {
        const uint32_t number = i + threadIdx.x;
        uint64_t own = 0, all;
        if (number < p.num_packets) {
            const uint2 size = __ldcg(reinterpret_cast<const uint2 *>(p.sizes + number));
            own = (uint64_t)size.x + size.y;
        }
        const uint64_t before = l2k_cta_sum_before(memory.sums, own, &all);
        if (number < p.num_packets)
            p.starts[number] = (uint32_t)(start + before);
        start += all;
    }
    if (threadIdx.x == 0)
        p.counters->bytes = start;
}

__device__ __forceinline__ void finish_packet(const l2k_cuda_packet_run &p, cta_memory &memory,
                                              l2k_cuda_packet_size size)
{
    if (threadIdx.x == 0) {
        p.sizes[blockIdx.x] = size;
        __threadfence();
        memory.last = atomicAdd(&p.counters->done, 1) + 1 == p.num_packets;
        __threadfence();
    }
    __syncthreads();
    if (memory.last)
        add_up_sizes(p, memory);
}

/* ---- Kernels ------------------------------------------------------------------------------------------------- */

enum { SOP_BYTES = 6, EPH_BYTES = 2 };

__global__ void __launch_bounds__(MOST_THREADS) make_headers(const l2k_cuda_packet_run p)
{
    __shared__ cta_memory memory;
    const l2k_cuda_packet packet = p.packets[blockIdx.x];
    uint8_t *header = reinterpret_cast<uint8_t *>(p.headers + packet.header);
    uint32_t bytes = p.sop ? SOP_BYTES : 0, body = 0;
    if (threadIdx.x == 0) {
        uint32_t end = 0, nodes = 0;
        for (uint32_t k = 0; k < 3; k++) {
            if (k < packet.num_parts) {
                memory.parts[k] = p.parts[packet.first_part + k * packet.distance];
                memory.nodes[k] = p.shared_nodes ? memory.shared + nodes : p.nodes + memory.parts[k].first_node;
                end += memory.parts[k].across * memory.parts[k].down;
                nodes += memory.parts[k].num_nodes;
            }
            memory.end[k] = end;
        }
    }
    __syncthreads();
    make_trees(p, memory, packet.num_parts);
    const uint32_t bits = put_header(p, memory, packet, &body);
    if (bits)
        bytes += stuff_header(memory, p.words + packet.first_word, bits, header + bytes);
    if (threadIdx.x == 0) {
        const uint8_t sop[SOP_BYTES] = {0xFF, 0x91, 0, 4, (uint8_t)(blockIdx.x >> 8), (uint8_t)blockIdx.x};
        for (int i = 0; i < SOP_BYTES && p.sop; i++)
            header[i] = sop[i];
        if (p.eph) {
            header[bytes] = 0xFF;
            header[bytes + 1] = 0x92;
        }
        if (!bits)
            p.counters->no_room = 1;
    }
    finish_packet(p, memory, l2k_cuda_packet_size{bytes + (p.eph ? EPH_BYTES : 0), body});
}

/* Whole words of `to`, from words of another alignment. */
__device__ __forceinline__ void copy_bytes(uint8_t *__restrict__ to, const uint32_t *__restrict__ from, uint32_t bytes,
                                           unsigned thread, unsigned threads)
{
    const uint32_t head = min((uint32_t)(-(intptr_t)to & 3), bytes), words = (bytes - head) / 4;
    const uint32_t tail = head + 4 * words, shift = 8 * head;
    uint32_t *whole = reinterpret_cast<uint32_t *>(to + head);
#pragma unroll 4
    for (uint32_t i = thread; i < words; i += threads)
        whole[i] = __funnelshift_r(from[i], shift ? from[i + 1] : 0, shift);
    if (thread < head)
        to[thread] = (uint8_t)(from[0] >> 8 * thread);
    if (thread < bytes - tail)
        to[tail + thread] = (uint8_t)(from[(tail + thread) / 4] >> 8 * ((tail + thread) & 3));
}

enum { GATHER_THREADS = 256 };

/* Headers to be made again with another guard bit must not overwrite the coefficients: if they then find no room, the
 * blocks are coded once more. */
__device__ __forceinline__ bool can_gather(const l2k_cuda_packet_run &p)
{
    return p.counters->bytes <= p.capacity && !p.counters->no_room && (!p.counters->excess || p.more_guard_bits);
}

/* The first CTAs copy headers, the others code-blocks, a warp each. */
__global__ void __launch_bounds__(GATHER_THREADS) gather(const l2k_cuda_packet_run p)
{
    if (!can_gather(p))
        return;
    if (blockIdx.x < p.num_packets) {
        copy_bytes(p.bytes + p.starts[blockIdx.x], p.headers + p.packets[blockIdx.x].header, p.sizes[blockIdx.x].header,
                   threadIdx.x, GATHER_THREADS);
        return;
    }
    const uint32_t number = (blockIdx.x - p.num_packets) * (GATHER_THREADS / 32) + threadIdx.x / 32;
    if (number >= p.num_blocks)
        return;
    const l2k_cuda_coded_block block = p.coded.blocks[number];
    const l2k_cuda_packet_place place = p.places[number];
    uint8_t *to = p.bytes + p.starts[place.packet] + p.sizes[place.packet].header + place.offset;
    copy_bytes(to, reinterpret_cast<const uint32_t *>(p.coded.code) + block.at, block.bytes, threadIdx.x & 31, 32);
}

} // namespace

extern "C" int l2k_cuda_launch_headers(const l2k_cuda_packet_run *run, void *stream)
{
    const unsigned threads = run->many_blocks ? MOST_THREADS : FEW_THREADS;
    return l2k_launch(make_headers, run->num_packets, 1, threads, stream, *run);
}

extern "C" int l2k_cuda_launch_gather(const l2k_cuda_packet_run *run, void *stream)
{
    const uint32_t blocks = (run->num_blocks + GATHER_THREADS / 32 - 1) / (GATHER_THREADS / 32);
    return l2k_launch(gather, run->num_packets + blocks, 1, GATHER_THREADS, stream, *run);
}
