/* Marks the parts of an inverse plan's views that have coefficients. */
#include "transform/cells.h"

#include <string.h>

static size_t count_cells(const l2k_plan *plan)
{
    size_t count = 0;
    for (uint32_t c = 0; c < plan->spec.num_components; c++)
        count += l2k_cell_count(&plan->views[c]);
    return count;
}

void l2k_plan_hold_nothing(l2k_plan *plan)
{
    if (!plan->cells)
        return;
    memset(plan->cells, 0, count_cells(plan));
    plan->num_held = 0;
    plan->holds_parts = true;
}

void l2k_plan_hold(l2k_plan *plan, uint32_t c, const l2k_band_view *part)
{
    if (!plan->cells || part->width == 0 || part->height == 0)
        return;
    uint8_t *cells = plan->cells;
    for (uint32_t k = 0; k < c; k++)
        cells += l2k_cell_count(&plan->views[k]);
    const size_t size = l2k_coefficient_bytes(plan->views[c].type), across = l2k_cells_of(&plan->views[c]).across;
    const size_t first = part->x * size / L2K_CELL_BYTES,
                 last = ((part->x + (size_t)part->width) * size - 1) / L2K_CELL_BYTES;
    for (uint32_t y = part->y / L2K_CELL_ROWS; y <= (part->y + part->height - 1) / L2K_CELL_ROWS; y++)
        for (size_t x = first; x <= last; x++) {
            plan->num_held += !cells[y * across + x];
            cells[y * across + x] = 1;
        }
}

/* Assumes that reading cells one by one is as fast as one copy of everything if it leaves out a quarter. */
bool l2k_cells_are_few(const l2k_plan *plan)
{
    return plan->holds_parts && plan->num_held <= count_cells(plan) / 4 * 3;
}

uint64_t l2k_held_bytes(const l2k_plan *plan)
{
    return (uint64_t)plan->num_held * L2K_CELL_BYTES * L2K_CELL_ROWS + count_cells(plan);
}
