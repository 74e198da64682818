/* The ring of rows: which rows come, which lifting steps they allow, and which rows leave (F.3.2 to F.3.8, F.4.2 to
 * F.4.8, in the vertical direction). */
#include "dwt/ring.h"

static bool within(l2k_row_range range, int64_t y)
{
    return y >= range.first && y < range.end;
}

static l2k_row_range common(l2k_row_range range, int64_t first, int64_t end)
{
    return (l2k_row_range){first > range.first ? first : range.first, end < range.end ? end : range.end};
}

/* Rows outside those that a stripe reads are mirrored. At the edge of the picture the transform requires this; at a cut
 * it gives wrong values, which travel one row per step and so never reach the wanted rows. */
static void apply_step(const l2k_ring *ring, unsigned number, int64_t y)
{
    int64_t above = y > ring->read.first ? y - 1 : y + 1, below = y + 1 < ring->read.end ? y + 1 : y - 1;
    for (unsigned j = 0; j < ring->num_joined; j++)
        ring->lifting->step[number](l2k_ring_row(ring, j, y), l2k_ring_row(ring, j, above),
                                    l2k_ring_row(ring, j, below), ring->width);
}

static void apply_all(const l2k_ring *ring)
{
    unsigned steps = ring->lifting->steps;
    for (unsigned j = 0; j < ring->num_joined; j++) {
        void *rows[L2K_RING_ROWS];
        for (unsigned i = 0; i < steps + 2; i++)
            rows[i] = l2k_ring_row(ring, j, ring->y - steps - 1 + i);
        ring->lifting->all(rows, ring->width);
    }
}

static void lift_lone_row(const l2k_ring *ring)
{
    for (unsigned j = 0; j < ring->num_joined && ring->parity; j++)
        ring->lifting->lone(l2k_ring_row(ring, j, 0), ring->width);
}

/* Steps 0, 1, .. on rows y - 1, y - 2, .. */
void l2k_ring_lift(l2k_ring *ring)
{
    if (!ring->lifting) {
        if (ring->kernel)
            l2k_kernel_ring_lift(ring);
        return;
    }
    unsigned steps = ring->lifting->steps;
    if (ring->height == 1) {
        lift_lone_row(ring);
        return;
    }
    if (within(ring->read, ring->y) && within(ring->read, ring->y - steps - 1)) {
        apply_all(ring);
        return;
    }
    for (unsigned number = 0; number < steps; number++)
        if (within(ring->read, ring->y - 1 - number))
            apply_step(ring, number, ring->y - 1 - number);
}

/* y runs over the rows that step 0 does not change; once y is loaded, row y - 1 has both its neighbours. */
void l2k_ring_start(l2k_ring *ring, int64_t begin, int64_t end)
{
    if (!ring->lifting) {
        ring->wanted = (l2k_row_range){begin, end};
        ring->y = begin - 1;
        if (ring->kernel)
            l2k_kernel_ring_start(ring, begin, end);
        return;
    }
    int64_t steps = ring->lifting->steps;
    ring->wanted = (l2k_row_range){begin, end};
    ring->read = common((l2k_row_range){0, ring->height}, begin - steps, end + steps);
    ring->y = ring->read.first + (((unsigned)ring->read.first + ring->parity) % 2 == ring->lifting->first) - 2;
    if (ring->height == 1)
        ring->y = -1;
}

static bool pass_row(l2k_ring *ring)
{
    ring->y++;
    ring->load = ring->finished = common(ring->wanted, ring->y, ring->y + 1);
    return ring->y < ring->wanted.end;
}

bool l2k_ring_next(l2k_ring *ring)
{
    if (!ring->lifting)
        return ring->kernel ? l2k_kernel_ring_next(ring) : pass_row(ring);
    int64_t steps = ring->height == 1 ? 0 : ring->lifting->steps; /* a lone row is finished once loaded */
    ring->y += 2;
    ring->load = common(ring->read, ring->y - 1, ring->y + 1);
    ring->finished = common(ring->wanted, ring->y - steps - 1, ring->y - steps + 1);
    return ring->y - steps - 1 < ring->wanted.end;
}
