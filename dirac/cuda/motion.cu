/* Up-sampling of references, and overlapped-block motion compensation: the warps of a tile add up the predictions of the
 * blocks that reach into it, so that all lanes of one take the same way. */
#include <cuda_runtime.h>

extern "C" {
#include "dirac/cuda/stages.h"
#include "dirac/motion/motion_rows.h"
}

namespace
{

enum {
    EDGE = 3, /* samples that up-sampling takes from beyond an edge */
    THREADS_X = 32,
    THREADS_Y = 8,
    THREADS = 256,
    TILE_X = 64,
    TILE_Y = 32,
    PATCH = 8 /* lanes of a warp side by side; those of all its rows meet different banks */
};

dim3 blocks_for(uint32_t width, uint32_t height)
{
    return dim3((width + THREADS_X - 1) / THREADS_X, (height + THREADS_Y - 1) / THREADS_Y);
}

struct place {
    int x, y;
};

__device__ __forceinline__ place my_place()
{
    return {(int)(blockIdx.x * THREADS_X + threadIdx.x), (int)(blockIdx.y * THREADS_Y + threadIdx.y)};
}

/* ---- Up-sampling --------------------------------------------------------------------------------------------- */

/* Halfway between samples `step` apart, of a line of `size` samples in which `from` is number i; the last one's half is
 * itself. */
template <class T> __device__ T halfway(const T *from, ptrdiff_t step, int i, int size, int32_t most)
{
    int32_t near[8];
    for (int k = 0; k < 8; k++)
        near[k] = from[(l2k_clamp_i32(i - EDGE + k, i + 1 < size ? 0 : i, size - 1) - i) * step];
    const int32_t sum = l2k_dirac_half(near[3] + near[4], near[2] + near[5], near[1] + near[6], near[0] + near[7]);
    return (T)l2k_clamp_i32(sum >> 5, 0, most);
}

/* Even columns. */
template <class T>
__global__ void upsample_down(const T *from, ptrdiff_t stride, int width, int height, int32_t most, T *out)
{
    const place p = my_place();
    const T *at = from + p.y * stride + p.x;
    if (p.x >= width || p.y >= height)
        return;
    out += (ptrdiff_t)p.y * 4 * width + 2 * p.x;
    out[0] = *at;
    out[2 * width] = halfway(at, stride, p.y, height, most);
}

/* Odd columns from even ones. */
template <class T> __global__ void upsample_across(int width, int height, int32_t most, T *out)
{
    const place p = my_place();
    if (p.x >= width || p.y >= height)
        return;
    out += (ptrdiff_t)p.y * 2 * width + 2 * p.x;
    out[1] = halfway(out, 2, p.x, width, most);
}

template <class T> int upsample(const l2k_dirac_plane *plane, int32_t most, T *out, cudaStream_t stream)
{
    const int width = (int)plane->width, height = (int)plane->height;
    const dim3 threads(THREADS_X, THREADS_Y);
    upsample_down<T><<<blocks_for(plane->width, plane->height), threads, 0, stream>>>(
        (const T *)plane->data, plane->stride, width, height, most, out);
    upsample_across<T>
        <<<blocks_for(plane->width, 2 * plane->height), threads, 0, stream>>>(width, 2 * height, most, out);
    return cudaGetLastError();
}

/* ---- Prediction ---------------------------------------------------------------------------------------------- */

/* Where a block's prediction from a reference lies, in half-samples: those of a sample, and the weights, in 16ths, of the
 * four that it lies between. */
template <class T, bool UPSAMPLED> struct source {
    const T *from;
    int stride, width, height; /* of the reference, as it is stored */
    int right, below;
    int32_t weights[4];
    bool inside; /* all samples of the block are */

    /* Positions are in eighths of the plane's samples. No vector needs to reach farther than 2^20 samples. */
    __device__ void set(const l2k_dirac_cuda_motion &m, unsigned plane, unsigned reference, int32_t vector_x,
                        int32_t vector_y, place first, place end)
    {
        const auto &p = m.planes[plane];
        const int32_t most = 1 << 20 << m.precision, scale = 8 >> m.precision;
        const int32_t moved_x = l2k_clamp_i32(vector_x >> p.shift[0], -most, most) * scale;
        const int32_t moved_y = l2k_clamp_i32(vector_y >> p.shift[1], -most, most) * scale;
        const int32_t x = moved_x & 3, y = moved_y & 3;
        from = (const T *)p.reference[reference];
        stride = (int)p.reference_stride[reference];
        width = p.width << UPSAMPLED, height = p.height << UPSAMPLED;
        right = moved_x >> (UPSAMPLED ? 2 : 3), below = moved_y >> (UPSAMPLED ? 2 : 3);
        weights[0] = (4 - x) * (4 - y), weights[1] = x * (4 - y), weights[2] = (4 - x) * y, weights[3] = x * y;
        inside = (first.x << UPSAMPLED) + right >= 0 && ((end.x - 1) << UPSAMPLED) + right + 1 < width &&
                 (first.y << UPSAMPLED) + below >= 0 && ((end.y - 1) << UPSAMPLED) + below + 1 < height;
    }
    /* Half-samples outside of the picture equal the nearest one inside. */
    __device__ int32_t sample(place at) const
    {
        const int column = (at.x << UPSAMPLED) + right, row = (at.y << UPSAMPLED) + below;
        const T *a = from + row * stride + column;
        int next = 1, down = stride;
        if (!inside) {
            const int left = l2k_clamp_i32(column, 0, width - 1), top = l2k_clamp_i32(row, 0, height - 1);
            a = from + top * stride + left;
            next = l2k_clamp_i32(column + 1, 0, width - 1) - left;
            down = (l2k_clamp_i32(row + 1, 0, height - 1) - top) * stride;
        }
        return weights[0] == 16 ? *a
                                : (weights[0] * *a + weights[1] * a[next] + weights[2] * a[down] +
                                   weights[3] * a[down + next] + 8) >>
                                      4;
    }
};

template <class T, bool UPSAMPLED> struct prediction {
    source<T, UPSAMPLED> sources[2];
    l2k_dirac_weights weights;
    int32_t mode, dc;

    __device__ prediction(const l2k_dirac_cuda_motion &m, unsigned plane, const l2k_dirac_motion_block &block,
                          place first, place end)
    {
        weights = {{m.weight[0], m.weight[1]}, m.planes[plane].most / 2 + 1, m.weight_bits};
        mode = block.mode;
        dc = l2k_clamp_i32(block.value[plane], -weights.half, weights.half - 1) + weights.half;
        for (unsigned i = 0; i < 2; i++)
            sources[i].set(m, plane, i, block.value[2 * i], block.value[2 * i + 1], first, end);
    }
    __device__ int32_t sample(const l2k_dirac_cuda_motion &m, unsigned plane, place at)
    {
        int32_t value[2] = {0, 0};
        if (mode == 0)
            return dc;
#pragma unroll
        for (unsigned i = 0; i < 2; i++) {
            int32_t vector[2];
            if (!(mode >> i & 1))
                continue;
            if (mode & L2K_DIRAC_GLOBAL) { /* each sample has a vector of its own */
                l2k_dirac_global_vector(&m.globals[i], at.x, at.y, vector);
                sources[i].set(m, plane, i, vector[0], vector[1], at, {at.x + 1, at.y + 1});
            }
            value[i] = sources[i].sample(at);
        }
        return l2k_dirac_weigh(mode & 1 ? value[0] : value[1], mode & 2 ? value[1] : value[0], weights);
    }
};

/* Blocks in a direction: number i reaches from i * separation - offset to (i + 1) * separation + offset. */
struct direction {
    int separation, offset, blocks, begin, end; /* begin, end: of the tile in the plane */

    __device__ int first() const
    {
        return begin > offset ? (begin - offset) / separation : 0;
    }
    __device__ int after() const
    {
        return l2k_clamp_i32((end + offset + separation - 1) / separation, 0, blocks);
    }
    __device__ int from(int block) const
    {
        return l2k_clamp_i32(block * separation - offset, begin, end);
    }
    __device__ int to(int block) const
    {
        return l2k_clamp_i32((block + 1) * separation + offset, begin, end);
    }
    /* In eighths. Weights rise in the overlap at either end of a block, but not at the picture's edges. */
    __device__ int32_t weight(int block, int at) const
    {
        const int before = at - (block * separation - offset), behind = separation + 2 * offset - 1 - before;
        const bool rises = before < 2 * offset && block > 0, falls = behind < 2 * offset && block + 1 < blocks;
        const int i = rises ? before : behind;
        return rises || falls ? l2k_dirac_rise(i, offset) : 8;
    }
    /* Of all of the tile's blocks: even blocks and odd ones do not overlap among themselves. */
    template <int SIZE> __device__ void weigh(int32_t (&weights)[2][SIZE]) const
    {
        for (int block = first() + (int)threadIdx.x / 32; block < after(); block += THREADS / 32)
            for (int at = from(block) + (int)threadIdx.x % 32; at < to(block); at += 32)
                weights[block & 1][at - begin] = weight(block, at);
    }
};

template <class T, bool UPSAMPLED>
__global__ void __launch_bounds__(THREADS) compensate(const __grid_constant__ l2k_dirac_cuda_motion m)
{
    __shared__ int32_t sums[TILE_Y][TILE_X + PATCH], across_weights[2][TILE_X], down_weights[2][TILE_Y];
    const unsigned plane = blockIdx.z, lane = threadIdx.x % 32;
    const auto &p = m.planes[plane];
    const int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y;
    if (x0 >= p.width || y0 >= p.height)
        return;
    const direction across = {p.separation[0], p.offset[0], m.across, x0, l2k_clamp_i32(x0 + TILE_X, 0, p.width)};
    const direction down = {p.separation[1], p.offset[1], m.down, y0, l2k_clamp_i32(y0 + TILE_Y, 0, p.height)};
    for (int i = (int)threadIdx.x; i < TILE_X * TILE_Y; i += THREADS)
        sums[i / TILE_X][i % TILE_X] = 32;
    across.weigh(across_weights);
    down.weigh(down_weights);
    __syncthreads();
    const int first = across.first(), columns = across.after() - first,
              blocks = columns * (down.after() - down.first());
    for (int i = (int)threadIdx.x / 32; i < blocks; i += THREADS / 32) {
        const int column = first + i % columns, row = down.first() + i / columns;
        const place from = {across.from(column), down.from(row)}, to = {across.to(column), down.to(row)};
        prediction<T, UPSAMPLED> predicted(m, plane, m.blocks[row * m.across + column], from, to);
        for (int y = from.y + (int)lane / PATCH; y < to.y; y += 32 / PATCH)
            for (int x = from.x + (int)lane % PATCH; x < to.x; x += PATCH)
                atomicAdd(&sums[y - y0][x - x0],
                          predicted.sample(m, plane, {x, y}) *
                              (across_weights[column & 1][x - x0] * down_weights[row & 1][y - y0]));
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < TILE_X * TILE_Y; i += THREADS) {
        const int x = x0 + i % TILE_X, y = y0 + i / TILE_X;
        if (x >= p.width || y >= p.height)
            continue;
        const int32_t residue = p.residue ? p.residue[y * p.residue_stride + x] : 0;
        ((T *)p.out)[y * p.stride + x] = (T)l2k_clamp_i32(
            (sums[i / TILE_X][i % TILE_X] >> 6) + l2k_clamp_i32(residue, -(1 << 26), 1 << 26), 0, p.most);
    }
}

} // namespace

extern "C" int l2k_dirac_cuda_upsample(const l2k_dirac_plane *plane, bool wide, int32_t most, void *half, void *stream)
{
    return wide ? upsample(plane, most, (uint16_t *)half, (cudaStream_t)stream)
                : upsample(plane, most, (uint8_t *)half, (cudaStream_t)stream);
}

extern "C" int l2k_dirac_cuda_predict(const l2k_dirac_cuda_motion *m, void *stream)
{
    const dim3 blocks((unsigned)(m->planes[0].width + TILE_X - 1) / TILE_X,
                      (unsigned)(m->planes[0].height + TILE_Y - 1) / TILE_Y, L2K_DIRAC_PLANES);
    const auto kernel = m->wide        ? m->upsampled ? compensate<uint16_t, true> : compensate<uint16_t, false>
                               : m->upsampled ? compensate<uint8_t, true>
                                       : compensate<uint8_t, false>;
    kernel<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(*m);
    return cudaGetLastError();
}
