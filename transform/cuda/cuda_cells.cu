/* Coefficients that are mostly 0 cross the bus cell by cell: a warp reads a marked cell from host memory, or writes
 * zeros. Empty cells thus cost bandwidth of device memory but not of the bus, and nothing needs packing. */
#include <cuda_runtime.h>

extern "C" {
#include "transform/cells.h"
#include "transform/cuda/cuda_levels.h"
}

namespace
{

enum { WARPS = 4, LANES_OF_ROW = L2K_CELL_BYTES / 16, ROWS_AT_ONCE = 32 / LANES_OF_ROW };

struct cells_of_view {
    const char *from;
    char *to;
    const uint8_t *cells;
    uint32_t count, across, row_bytes, height;
};

/* A lane issues all loads before its first store. */
__global__ void __launch_bounds__(32 * WARPS) upload_cells_kernel(const cells_of_view v)
{
    enum { TIMES = L2K_CELL_ROWS / ROWS_AT_ONCE };
    const uint32_t cell = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (cell >= v.count)
        return;
    const uint32_t x = cell % v.across * L2K_CELL_BYTES + lane % LANES_OF_ROW * 16;
    const uint32_t y = cell / v.across * L2K_CELL_ROWS + lane / LANES_OF_ROW;
    if (x >= v.row_bytes)
        return;
    const bool held = v.cells[cell] != 0;
    uint4 piece[TIMES];
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
        const uint32_t row = y + i * ROWS_AT_ONCE;
        piece[i] = held && row < v.height ? *reinterpret_cast<const uint4 *>(v.from + (size_t)row * v.row_bytes + x)
                                          : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
        const uint32_t row = y + i * ROWS_AT_ONCE;
        if (row < v.height)
            *reinterpret_cast<uint4 *>(v.to + (size_t)row * v.row_bytes + x) = piece[i];
    }
}

} // namespace

extern "C" int l2k_cuda_upload_cells(const l2k_coefficients *view, const uint8_t *cells, void *device, void *stream)
{
    const l2k_cell_grid grid = l2k_cells_of(view);
    const uint32_t count = grid.across * grid.down;
    const cells_of_view v = {(const char *)view->base,
                             (char *)device,
                             cells,
                             count,
                             grid.across,
                             (uint32_t)(view->stride * l2k_coefficient_bytes(view->type)),
                             view->height};
    if (count == 0)
        return cudaSuccess;
    upload_cells_kernel<<<(count + WARPS - 1) / WARPS, 32 * WARPS, 0, (cudaStream_t)stream>>>(v);
    return cudaGetLastError();
}
