/* Cells of a view: 128 bytes of 16 rows each. An inverse plan takes coefficients over a bus by cells if only some of
 * them are not 0. Internal to transform/. */
#ifndef L2K_TRANSFORM_CELLS_H
#define L2K_TRANSFORM_CELLS_H

#include "transform/backend.h"

enum { L2K_CELL_BYTES = 128, L2K_CELL_ROWS = 16 };

typedef struct l2k_cell_grid {
    uint32_t across, down;
} l2k_cell_grid;

/* The cells of all of a view's rows, including the gaps between them. */
static inline l2k_cell_grid l2k_cells_of(const l2k_coefficients *view)
{
    const size_t row = view->stride * l2k_coefficient_bytes(view->type);
    return (l2k_cell_grid){(uint32_t)((row + L2K_CELL_BYTES - 1) / L2K_CELL_BYTES),
                           view->height / L2K_CELL_ROWS + (view->height % L2K_CELL_ROWS != 0)};
}

static inline size_t l2k_cell_count(const l2k_coefficients *view)
{
    const l2k_cell_grid grid = l2k_cells_of(view);
    return (size_t)grid.across * grid.down;
}

/* Whether the next run holds so few parts that copying just these is worth it. */
bool l2k_cells_are_few(const l2k_plan *plan);

/* The bytes that then cross the bus: the cells held, and a byte for each cell. */
uint64_t l2k_held_bytes(const l2k_plan *plan);

#endif
