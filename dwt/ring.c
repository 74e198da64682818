/* The ring of rows: which rows come, which lifting steps they allow, and which rows leave (F.3.2 to F.3.8, F.4.2 to
 * F.4.8, in the vertical direction; T.801, Annex H). Each step follows the one before it at a distance. */
#include "dwt/ring.h"

#include "dwt/kernel.h"

static const l2k_kernel *kernel_of(const l2k_ring *ring)
{
    return &ring->lifting->wavelet->kernel;
}

static unsigned count_steps(const l2k_ring *ring)
{
    return ring->lifting ? kernel_of(ring)->num_steps : 0;
}

static const l2k_kernel_step *step_at(const l2k_ring *ring, unsigned number)
{
    return &kernel_of(ring)->steps[ring->inverse ? kernel_of(ring)->num_steps - 1u - number : number];
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static int reach_of(const l2k_ring *ring, unsigned number)
{
    return (int)l2k_kernel_step_reach(step_at(ring, number));
}

/* How many rows a step stays behind the end of the one before it: as far as its taps reach, upwards too because of the
 * first row's border; and as far as that one's taps reach up, since it still reads those rows. `number` count_steps: the
 * rows that leave. */
static int lag(const l2k_ring *ring, unsigned number)
{
    const int own = number < count_steps(ring) ? reach_of(ring, number) : 0;
    const int before = number == 0 ? 0 : -l2k_kernel_first_tap(step_at(ring, number - 1));
    return most(own, before);
}

unsigned l2k_ring_period(const l2k_ring *ring)
{
    int rows = 2;
    for (unsigned number = 0; number <= count_steps(ring); number++)
        rows += lag(ring, number);
    return (unsigned)rows;
}

static int64_t limit(int64_t y, l2k_row_range range)
{
    return y < range.first ? range.first : y > range.end ? range.end : y;
}

void l2k_ring_start(l2k_ring *ring, int64_t begin, int64_t end)
{
    const l2k_row_range all = {0, ring->height};
    int64_t reach = 0;
    for (unsigned number = 0; number < count_steps(ring) && ring->height > 1; number++)
        reach += reach_of(ring, number);
    ring->wanted = (l2k_row_range){begin, end};
    ring->read = (l2k_row_range){limit(begin - reach, all), limit(end + reach, all)};
    for (unsigned i = 0; i <= L2K_KERNEL_STEPS; i++)
        ring->done[i] = ring->read.first;
    ring->load = (l2k_row_range){ring->read.first, ring->read.first};
    ring->finished = (l2k_row_range){begin, begin};
}

/* The end of a step, or of the rows that leave, if the step before ends at `before`. */
static int64_t end_of(const l2k_ring *ring, unsigned number, int64_t before)
{
    return before == ring->read.end ? before : limit(before - lag(ring, number), ring->read);
}

bool l2k_ring_next(l2k_ring *ring)
{
    if (ring->finished.end >= ring->wanted.end)
        return false;
    ring->load = (l2k_row_range){ring->load.end, limit(ring->load.end + 2, ring->read)};
    int64_t end = ring->load.end;
    for (unsigned number = 0; number <= count_steps(ring) && ring->height > 1; number++)
        end = end_of(ring, number, end);
    ring->finished = (l2k_row_range){ring->finished.end, limit(end, ring->wanted)};
    return true;
}

/* Rows outside those that a stripe reads are mirrored, or as the kernel says. At the edge of the picture the transform
 * requires this; at a cut it gives wrong values, which travel as far as each step reaches and so never reach the wanted
 * rows. */
static void apply_step(const l2k_ring *ring, unsigned number, unsigned j, int64_t y)
{
    const l2k_row_range read = ring->read;
    const l2k_kernel_step *step = step_at(ring, number);
    const void *rows[L2K_KERNEL_TAPS];
    for (unsigned k = 0; k < step->num_taps; k++) {
        const int64_t place = y + l2k_kernel_first_tap(step) + 2 * (int)k;
        rows[k] = l2k_ring_row(ring, j, l2k_kernel_place(kernel_of(ring), place, read.first, read.end));
    }
    ring->lifting->step(step, ring->inverse, l2k_ring_row(ring, j, y), rows, ring->width);
}

static void lift_lone_row(const l2k_ring *ring)
{
    for (unsigned j = 0; j < ring->num_joined && ring->parity && ring->lifting; j++)
        l2k_kernel_lone(ring->lifting->wavelet, ring->inverse, l2k_ring_row(ring, j, 0), ring->width);
}

/* The first row that a step has not changed yet. */
static int64_t next_row(const l2k_ring *ring, unsigned number)
{
    const int64_t y = ring->done[number];
    return y + (((y + ring->parity) & 1) != step_at(ring, number)->high);
}

/* Between the ends each step has one row, next to that of the step before: all steps in one loop. */
static bool lift_at_once(l2k_ring *ring)
{
    enum { MOST_STEPS = 4 }; /* of Part 1's wavelets */
    const unsigned steps = count_steps(ring);
    const int64_t first = next_row(ring, 0) - steps;
    void *rows[MOST_STEPS + 2];
    if (first < ring->read.first || ring->load.end == ring->read.end)
        return false;
    for (unsigned j = 0; j < ring->num_joined; j++) {
        for (unsigned i = 0; i < steps + 2; i++)
            rows[i] = l2k_ring_row(ring, j, first + i);
        ring->lifting->fused->all[ring->inverse](rows, ring->width);
    }
    for (unsigned number = 0; number < steps; number++)
        ring->done[number] += 2;
    return true;
}

void l2k_ring_lift(l2k_ring *ring)
{
    int64_t end = ring->load.end;
    if (ring->height == 1) {
        lift_lone_row(ring);
        return;
    }
    if (ring->lifting && ring->lifting->fused && lift_at_once(ring))
        return;
    for (unsigned number = 0; number < count_steps(ring); number++) {
        end = end_of(ring, number, end);
        for (int64_t y = next_row(ring, number); y < end; y += 2)
            for (unsigned j = 0; j < ring->num_joined; j++)
                apply_step(ring, number, j, y);
        ring->done[number] = end;
    }
}
