/* Up-sampling of references, and overlapped-block motion compensation: each thread makes some samples of a row, from the
 * blocks that reach there. */
#include <cuda_runtime.h>

extern "C" {
#include "dirac/cuda/stages.h"
#include "dirac/motion/motion_rows.h"
}

namespace
{

enum {
    THREADS = 256,
    RUN = 4, /* samples of a row that a thread makes together */
    /* Up-sampling: */
    BEFORE = 3, /* samples from beyond an edge, and to the left and above; one more to the right and below */
    AROUND = 2 * BEFORE + 1,
    PART_X = 64,
    PART_Y = 16,
    /* Prediction: */
    TILE_Y = 16,
    RUNS = THREADS / TILE_Y, /* of a tile's rows */
    WARP_RUNS = 2            /* and of a warp, to be as small as blocks */
};

dim3 blocks_for(int32_t width, int32_t height, int32_t x, int32_t y)
{
    return dim3((unsigned)((width + x - 1) / x), (unsigned)((height + y - 1) / y), L2K_DIRAC_PLANES);
}

/* ---- Up-sampling --------------------------------------------------------------------------------------------- */

/* Halfway to the next of samples `step` apart, for RUN of them, and for the last one of a line itself. */
__device__ __forceinline__ void halfway(const int32_t *from, int step, int left, int32_t most, int32_t (&out)[RUN])
{
    int32_t near[RUN + AROUND];
#pragma unroll
    for (int i = 0; i < RUN + AROUND; i++)
        near[i] = from[i * step];
#pragma unroll
    for (int i = 0; i < RUN; i++) {
        const int32_t sum = l2k_dirac_half(near[i + 3] + near[i + 4], near[i + 2] + near[i + 5],
                                           near[i + 1] + near[i + 6], near[i] + near[i + 7]);
        out[i] = i + 1 < left ? l2k_clamp_i32(sum >> 5, 0, most) : near[i + BEFORE];
    }
}

/* A part of the plane, and half-samples below its samples; then those to the right of both. */
template <class T> __global__ void upsample(const __grid_constant__ l2k_dirac_cuda_upsampling u)
{
    enum { WIDTH = PART_X + AROUND, ROW = WIDTH + WIDTH % 2 + 1 };
    __shared__ int32_t samples[PART_Y + AROUND][ROW], below[PART_Y][ROW];
    struct alignas(2 * RUN * sizeof(T)) run {
        T samples[2 * RUN];
    };
    const auto &p = u.planes[blockIdx.z];
    const int x0 = (int)blockIdx.x * PART_X, y0 = (int)blockIdx.y * PART_Y;
    if (x0 >= p.width || y0 >= p.height)
        return;
    for (int i = (int)threadIdx.x; i < (PART_Y + AROUND) * WIDTH; i += THREADS) {
        const int x = l2k_clamp_i32(x0 - BEFORE + i % WIDTH, 0, p.width - 1);
        const int y = l2k_clamp_i32(y0 - BEFORE + i / WIDTH, 0, p.height - 1);
        samples[i / WIDTH][i % WIDTH] = ((const T *)p.from)[y * p.stride + x];
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < PART_Y / RUN * WIDTH; i += THREADS) {
        const int x = i % WIDTH, y = i / WIDTH * RUN;
        int32_t out[RUN];
        halfway(&samples[y][x], ROW, p.height - y0 - y, p.most, out);
#pragma unroll
        for (int k = 0; k < RUN; k++)
            below[y + k][x] = out[k];
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < 2 * PART_Y * (PART_X / RUN); i += THREADS) {
        const int x = i % (PART_X / RUN) * RUN, row = i / (PART_X / RUN), y = row / 2;
        const int32_t *from = row % 2 ? &below[y][x] : &samples[BEFORE + y][x];
        int32_t out[RUN];
        run all;
        if (x0 + x >= p.width || y0 + y >= p.height)
            continue;
        halfway(from, 1, p.width - x0 - x, p.most, out);
#pragma unroll
        for (int k = 0; k < RUN; k++)
            all.samples[2 * k] = (T)from[BEFORE + k], all.samples[2 * k + 1] = (T)out[k];
        *(run *)((T *)p.out + (2 * y0 + row) * p.stride_out + 2 * (x0 + x)) = all;
    }
}

/* ---- Prediction ---------------------------------------------------------------------------------------------- */

struct place {
    int x, y;
};

/* Samples from a place on, whatever its alignment. */
template <class T, int COUNT> __device__ __forceinline__ void load(const T *from, int32_t (&samples)[COUNT])
{
    enum { WORDS = COUNT * sizeof(T) / 4, PER_WORD = 4 / sizeof(T), BITS = 8 * sizeof(T) };
    const uint32_t *words = (const uint32_t *)((uintptr_t)from & ~(uintptr_t)3);
    const uint32_t skip = (uint32_t)((uintptr_t)from & 3) * 8;
    uint32_t word = words[0];
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        const uint32_t next = words[i + 1], whole = __funnelshift_r(word, next, skip);
        word = next;
#pragma unroll
        for (int k = 0; k < PER_WORD; k++)
            samples[PER_WORD * i + k] = (T)(whole >> BITS * k);
    }
}

/* Half-samples of a row, or samples of one that is not up-sampled. Those outside of it equal the nearest one inside. */
template <class T, int COUNT>
__device__ __forceinline__ void load_row(const T *row, int column, int width, bool inside, int32_t (&samples)[COUNT])
{
    if constexpr (COUNT * sizeof(T) % 4 == 0)
        if (inside)
            return load(row + column, samples);
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        samples[i] = row[l2k_clamp_i32(column + i, 0, width - 1)];
}

/* Adds to sums what a reference gives, with its weight, for COUNT samples, from signed ones. */
template <class T, bool UPSAMPLED, int COUNT>
__device__ __forceinline__ void add_reference(const l2k_dirac_cuda_motion &m, unsigned plane, unsigned reference,
                                              const int32_t (&vector)[2], place at, int32_t weight, int32_t half,
                                              int32_t (&sums)[COUNT])
{
    enum { HALF = UPSAMPLED, SHIFT = UPSAMPLED ? 2 : 3, NEAR = COUNT << HALF };
    const auto &p = m.planes[plane];
    const T *from = (const T *)p.reference[reference];
    const int stride = (int)p.reference_stride[reference], width = p.width << HALF, height = p.height << HALF;
    const int32_t moved_x = l2k_dirac_moved(vector[0], p.grid.shift[0], m.precision);
    const int32_t moved_y = l2k_dirac_moved(vector[1], p.grid.shift[1], m.precision);
    const int column = (at.x << HALF) + (moved_x >> SHIFT), line = (at.y << HALF) + (moved_y >> SHIFT);
    const bool inside = column >= 0 && column + NEAR <= width;
    const int32_t x = moved_x & 3, y = moved_y & 3;
    int32_t above[NEAR], below[NEAR];
    load_row(from + l2k_clamp_i32(line, 0, height - 1) * stride, column, width, inside, above);
#pragma unroll
    for (int i = 0; i < NEAR; i++)
        below[i] = 0;
    if (HALF && y)
        load_row(from + l2k_clamp_i32(line + 1, 0, height - 1) * stride, column, width, inside, below);
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const int a = i << HALF, b = a + HALF;
        sums[i] +=
            weight * ((HALF ? l2k_dirac_between(above[a], above[b], below[a], below[b], x, y) : above[a]) - half);
    }
}

/* Samples from `at` on as a block predicts them. */
template <class T, bool UPSAMPLED, int COUNT>
__device__ __forceinline__ void predict(const l2k_dirac_cuda_motion &m, unsigned plane,
                                        const l2k_dirac_motion_block &block, place at, int32_t (&samples)[COUNT])
{
    const int32_t half = m.planes[plane].most / 2 + 1;
    const int32_t dc = plane == 0 ? block.value[0] : plane == 1 ? block.value[1] : block.value[2];
    int32_t sums[COUNT] = {};
#pragma unroll 1
    for (unsigned i = 0; i < 2; i++)
        if (block.mode >> i & 1) {
            int32_t vector[2] = {i ? block.value[2] : block.value[0], i ? block.value[3] : block.value[1]};
            if (COUNT == 1 && block.mode & L2K_DIRAC_GLOBAL)
                l2k_dirac_global_vector(&m.globals[i], at.x, at.y, vector);
            add_reference<T, UPSAMPLED>(m, plane, i, vector, at,
                                        (block.mode & 3) == 3 ? m.weight[i] : m.weight[0] + m.weight[1], half, sums);
        }
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        samples[k] = half + (block.mode & 3 ? (sums[k] + (1 << m.weight_bits >> 1)) >> m.weight_bits
                                            : l2k_clamp_i32(dc, -half, half - 1));
}

/* Blocks in a direction. */
struct direction {
    int separation, offset, blocks;
    const int32_t *weights; /* of a block's samples, in eighths, as if it had neighbours; around them zeros */

    __device__ int first(int at) const
    {
        return at > offset ? (at - offset) / separation : 0;
    }
    __device__ bool reaches(int block, int end) const
    {
        return block < blocks && block * separation - offset < end;
    }
    /* Weights rise in the overlap at either end of a block, but not at the picture's edges. */
    __device__ int32_t weight(int block, int at) const
    {
        const int i = at - (block * separation - offset);
        const bool flat = (block == 0 && i < 2 * offset) || (block + 1 == blocks && i >= separation);
        return flat ? 8 : weights[i];
    }
};

__device__ __forceinline__ bool is_alike(const l2k_dirac_motion_block &a, const l2k_dirac_motion_block &b)
{
    return ((a.mode ^ b.mode) | (a.value[0] ^ b.value[0]) | (a.value[1] ^ b.value[1]) | (a.value[2] ^ b.value[2]) |
            (a.value[3] ^ b.value[3])) == 0;
}

/* Global motion gives each sample a vector of its own: COUNT is then 1. */
template <class T, bool UPSAMPLED, int COUNT>
__global__ void __launch_bounds__(THREADS) compensate(const __grid_constant__ l2k_dirac_cuda_motion m)
{
    enum { LENGTH = L2K_DIRAC_MOST_LENGTH + 2 * RUN };
    __shared__ int32_t weights[2][LENGTH];
    struct alignas(COUNT * sizeof(T)) run {
        T samples[COUNT];
    } all;
    const unsigned plane = blockIdx.z, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const auto &p = m.planes[plane];
    const direction across = {p.grid.separation[0], p.grid.offset[0], m.across, weights[0] + RUN};
    const direction down = {p.grid.separation[1], p.grid.offset[1], m.down, weights[1] + RUN};
    const int x = (int)(blockIdx.x * RUNS + warp % (RUNS / WARP_RUNS) * WARP_RUNS + lane % WARP_RUNS) * COUNT;
    const int y = (int)(blockIdx.y * TILE_Y + warp / (RUNS / WARP_RUNS) * (32 / WARP_RUNS) + lane / WARP_RUNS);
    for (int i = (int)threadIdx.x; i < 2 * LENGTH; i += THREADS) {
        const direction &d = i < LENGTH ? across : down;
        const int before = i % LENGTH - RUN, behind = d.separation + 2 * d.offset - 1 - before;
        const int nearest = before < behind ? before : behind;
        weights[i / LENGTH][i % LENGTH] = nearest < 0              ? 0
                                          : nearest < 2 * d.offset ? l2k_dirac_rise(nearest, d.offset)
                                                                   : 8;
    }
    __syncthreads();
    if (x >= p.width || y >= p.height)
        return;
    const int first = across.first(x);
    int column = first, row = down.first(y);
    int32_t sums[COUNT], weight[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        sums[k] = 32, weight[k] = 0;
    l2k_dirac_motion_block block = m.blocks[row * m.across + column];
    for (bool more = true; more;) {
        const int32_t weight_down = down.weight(row, y);
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            weight[k] += weight_down * across.weight(column, x + k);
        if (!across.reaches(++column, x + COUNT))
            column = first, more = down.reaches(++row, y + 1);
        const l2k_dirac_motion_block next = more ? m.blocks[row * m.across + column] : block;
        if (more && is_alike(block, next)) /* their weights add up to those of a larger one */
            continue;
        int32_t samples[COUNT];
        predict<T, UPSAMPLED>(m, plane, block, {x, y}, samples);
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            sums[k] += samples[k] * weight[k], weight[k] = 0;
        block = next;
    }
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        const int32_t residue = p.residue ? p.residue[y * p.residue_stride + x + k] : 0;
        all.samples[k] = (T)l2k_clamp_i32((sums[k] >> 6) + l2k_clamp_i32(residue, -(1 << 26), 1 << 26), 0, p.most);
    }
    T *out = (T *)p.out + y * p.stride + x;
    if (x + COUNT <= p.width)
        *(run *)out = all;
    else
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            if (x + k < p.width)
                out[k] = all.samples[k];
}

template <class T, bool UPSAMPLED> void launch(const l2k_dirac_cuda_motion &m, cudaStream_t stream)
{
    const auto &p = m.planes[0];
    if (m.global)
        compensate<T, UPSAMPLED, 1><<<blocks_for(p.width, p.height, RUNS, TILE_Y), THREADS, 0, stream>>>(m);
    else
        compensate<T, UPSAMPLED, RUN><<<blocks_for(p.width, p.height, RUNS * RUN, TILE_Y), THREADS, 0, stream>>>(m);
}

} // namespace

extern "C" int l2k_dirac_cuda_upsample(const l2k_dirac_cuda_upsampling *u, void *stream)
{
    const dim3 blocks = blocks_for(u->planes[0].width, u->planes[0].height, PART_X, PART_Y);
    const auto kernel = u->wide ? upsample<uint16_t> : upsample<uint8_t>;
    kernel<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(*u);
    return cudaGetLastError();
}

extern "C" int l2k_dirac_cuda_predict(const l2k_dirac_cuda_motion *m, void *stream)
{
    (m->wide        ? m->upsampled ? launch<uint16_t, true> : launch<uint16_t, false>
            : m->upsampled ? launch<uint8_t, true>
                    : launch<uint8_t, false>)(*m, (cudaStream_t)stream);
    return cudaGetLastError();
}
