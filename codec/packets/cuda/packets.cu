/* Packet headers (B.10) and the bytes behind them, on a device. A CTA makes a header: the tag trees level by level;
 * then its threads take a code-block each, add up bits, and put those where the sum says (packet_leaves.h); in the end
 * a warp stuffs a 0 after each 0xFF, 128 bytes at a time (B.10.1). The CTA that is last adds up sizes. A second kernel
 * copies headers and code-blocks to their places. The bytes are those of codec/packets/packet_write.c. */
#include <cuda_runtime.h>

extern "C" {
#include "codec/packets/cuda/cuda_packets.h"
}
#include "codec/packets/cuda/packet_leaves.h"

namespace
{

const uint32_t ALL = 0xFFFFFFFFu;
const unsigned MOST_THREADS = 1024, FEW_THREADS = 128;
const uint32_t STAGE = 2048; /* words of a header in shared memory */

struct cta_memory {
    l2k_cuda_packet_part parts[3];
    uint32_t end[3];                /* leaves up to and with those of a part */
    l2k_cuda_packet_node *nodes[3]; /* of a part */
    uint64_t sums[32];              /* of warps */
    uint32_t staged[STAGE];         /* words of the header */
    uint32_t position, out, is_short;
    bool last;
    l2k_cuda_packet_node shared[L2K_SHARED_NODES];
};

/* ---- Sums ---------------------------------------------------------------------------------------------------- */

__device__ __forceinline__ uint64_t sum_of_warp_up_to(uint64_t v)
{
    const unsigned lane = threadIdx.x & 31;
    for (unsigned d = 1; d < 32; d *= 2) {
        const uint64_t other = __shfl_up_sync(ALL, v, d);
        v += lane >= d ? other : 0;
    }
    return v;
}

/* The sum over the threads before this one; `all` is that over all. */
__device__ __forceinline__ uint64_t sum_before(uint64_t *sums, uint64_t own, uint64_t *all)
{
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const uint64_t here = sum_of_warp_up_to(own);
    __syncthreads();
    if (lane == 31)
        sums[warp] = here;
    __syncthreads();
    if (warp == 0) {
        const uint64_t of_warp = sum_of_warp_up_to(lane < warps ? sums[lane] : 0);
        sums[lane] = of_warp;
    }
    __syncthreads();
    *all = sums[warps - 1];
    return here - own + (warp ? sums[warp - 1] : 0);
}

/* ---- Tag trees ----------------------------------------------------------------------------------------------- */

/* B of a magnitude of `bits` bits, as l2k_encode_magnitude_bound has it. */
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
            seen.failed = min(seen.failed, part.first_block + i);
        if (part.is_ht && b.num_passes)
            seen.bound = max(seen.bound, magnitude_bound(b.magnitude_bits - (b.num_planes - 1u), part.level));
    }
}

/* All levels above the leaves, those of all parts side by side. */
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
    survey seen = {0, UINT32_MAX, 0, 0};
    for (uint32_t k = 0; k < num_parts; k++)
        make_leaves(p, memory.parts[k], memory.nodes[k], seen);
    for (unsigned d = 16; d > 0; d /= 2)
        seen.bound = max(seen.bound, __shfl_xor_sync(ALL, seen.bound, d));
    if ((threadIdx.x & 31) == 0 && seen.bound)
        atomicMax(&p.counters->bound, seen.bound);
    if (seen.beyond) /* rare, as the next two */
        p.counters->no_room = 1;
    if (seen.excess)
        p.counters->excess = 1;
    if (seen.failed != UINT32_MAX)
        atomicMin(&p.counters->failed, seen.failed);
    __syncthreads();
    make_levels(memory, num_parts);
}

/* ---- Bits of a header ---------------------------------------------------------------------------------------- */

/* A code-block, as a leaf of its part's tag trees. */
struct header_leaf {
    const l2k_cuda_packet_part *part; /* NULL: there is none */
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
    leaf.ends = p.coded.pass_ends ? p.coded.pass_ends + leaf.block.ends : NULL;
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

/* Words that no bits have reached before are cleared first. */
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
        const uint64_t before = sum_before(memory.sums, (uint64_t)leaf.block.bytes << 32 | own, &all);
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

/* Up to 128 bytes, 4 a lane, up to and with the first 0xFF. After one, a byte begins with a 0, as if the bits began a
 * bit earlier. `first` is the bit where the staged words begin. */
__device__ __forceinline__ void stuff_step(const uint32_t *staged, uint32_t first, uint32_t num_bits, uint8_t *out,
                                           uint32_t &position, uint32_t &written, uint32_t &is_short)
{
    const unsigned lane = threadIdx.x & 31;
    const uint32_t start = position - is_short, at = start - first + 32 * lane;
    const uint32_t left = (num_bits - start + 7) / 8;
    uint32_t word = __funnelshift_l(staged[(at >> 5) + 1], staged[at >> 5], at & 31);
    if (lane == 0 && is_short)
        word &= 0x7FFFFFFFu;
    const uint32_t full = __vcmpeq4(word, 0xFFFFFFFFu), with = __ballot_sync(ALL, full != 0);
    const unsigned lane_of_first = with ? __ffs(with) - 1 : 31;
    const uint32_t first_full = __shfl_sync(ALL, __clz(full) / 8, lane_of_first);
    uint32_t count = with ? 4 * lane_of_first + first_full + 1 : 128;
    is_short = with && count <= left;
    count = min(count, left);
    for (unsigned k = 0; k < 4; k++)
        if (4 * lane + k < count)
            out[written + 4 * lane + k] = (uint8_t)(word >> (24 - 8 * k));
    written += count;
    position = start + 8 * count;
}

/* The words of the header become bytes at `out`. Returns their number. */
__device__ __forceinline__ uint32_t stuff_header(cta_memory &memory, const uint32_t *words, uint32_t num_bits,
                                                 uint8_t *out)
{
    const uint32_t num_words = (num_bits + 31) / 32, stage_bits = (STAGE - 34) * 32;
    uint32_t position = 0, written = 0, is_short = 0;
    while (position < num_bits) {
        const uint32_t first = (position - is_short) / 32;
        for (uint32_t i = threadIdx.x; i < STAGE; i += blockDim.x)
            memory.staged[i] = first + i < num_words ? __ldcg(words + first + i) : 0;
        __syncthreads();
        if (threadIdx.x < 32) {
            while (position < num_bits && position - is_short - first * 32 < stage_bits)
                stuff_step(memory.staged, first * 32, num_bits, out, position, written, is_short);
            if (threadIdx.x == 0) {
                memory.position = position;
                memory.out = written;
                memory.is_short = is_short;
            }
        }
        __syncthreads();
        position = memory.position;
        written = memory.out;
        is_short = memory.is_short;
    }
    if (is_short && threadIdx.x == 0) /* a header does not end in 0xFF */
        out[written] = 0;
    return written + is_short;
}

/* ---- Sizes --------------------------------------------------------------------------------------------------- */

/* Where packets begin. */
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
        const uint64_t before = sum_before(memory.sums, own, &all);
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

/* Whole words of `to`, from words that do not begin where these do. */
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

/* The first CTAs copy headers, the others code-blocks, a warp each. */
__global__ void __launch_bounds__(GATHER_THREADS) gather(const l2k_cuda_packet_run p)
{
    if (p.counters->bytes > p.capacity || p.counters->no_room)
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

int launch(void (*kernel)(l2k_cuda_packet_run), const l2k_cuda_packet_run *run, uint32_t ctas, unsigned threads,
           void *stream)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(ctas);
    config.blockDim = dim3(threads);
    config.stream = (cudaStream_t)stream;
    return cudaLaunchKernelEx(&config, kernel, *run);
}

} // namespace

extern "C" int l2k_cuda_launch_headers(const l2k_cuda_packet_run *run, void *stream)
{
    const unsigned threads = run->many_blocks ? MOST_THREADS : FEW_THREADS;
    return launch(make_headers, run, run->num_packets, threads, stream);
}

extern "C" int l2k_cuda_launch_gather(const l2k_cuda_packet_run *run, void *stream)
{
    const uint32_t blocks = (run->num_blocks + GATHER_THREADS / 32 - 1) / (GATHER_THREADS / 32);
    return launch(gather, run, run->num_packets + blocks, GATHER_THREADS, stream);
}
