/* The ring of rows for a kernel, each of whose steps follows the one before it at a distance (T.801, Annex H). */
#include "dwt/kernel.h"
#include "dwt/ring.h"

static const l2k_kernel_step *step_at(const l2k_kernel *kernel, bool inverse, unsigned number)
{
    return &kernel->steps[inverse ? kernel->num_steps - 1u - number : number];
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* How many rows a step stays behind the end of the one before it: as far as its taps reach, upwards too because of the
 * first row's border; and as far as that one's taps reach up, since it still reads those rows. `number` num_steps: the
 * rows that leave. */
static int lag(const l2k_kernel *kernel, bool inverse, unsigned number)
{
    const int own = number < kernel->num_steps ? (int)l2k_kernel_step_reach(step_at(kernel, inverse, number)) : 0;
    return most(own, number > 0 ? -l2k_kernel_first_tap(step_at(kernel, inverse, number - 1)) : 0);
}

unsigned l2k_kernel_period(const l2k_kernel *kernel, bool inverse)
{
    int rows = 2;
    for (unsigned number = 0; number <= kernel->num_steps; number++)
        rows += lag(kernel, inverse, number);
    return (unsigned)rows;
}

static int64_t limit(int64_t y, l2k_row_range range)
{
    return y < range.first ? range.first : y > range.end ? range.end : y;
}

void l2k_kernel_ring_start(l2k_ring *ring, int64_t begin, int64_t end)
{
    const l2k_row_range all = {0, ring->height};
    const int64_t reach = ring->height == 1 ? 0 : l2k_kernel_reach(&ring->kernel->wavelet->kernel);
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
    return before == ring->read.end
               ? before
               : limit(before - lag(&ring->kernel->wavelet->kernel, ring->inverse, number), ring->read);
}

bool l2k_kernel_ring_next(l2k_ring *ring)
{
    const unsigned steps = ring->height == 1 ? 0 : ring->kernel->wavelet->kernel.num_steps;
    if (ring->finished.end >= ring->wanted.end)
        return false;
    ring->load = (l2k_row_range){ring->load.end, limit(ring->load.end + 2, ring->read)};
    int64_t end = ring->load.end;
    for (unsigned number = 0; number <= steps && ring->height > 1; number++)
        end = end_of(ring, number, end);
    ring->finished = (l2k_row_range){ring->finished.end, limit(end, ring->wanted)};
    return true;
}

static void apply_step(const l2k_ring *ring, const l2k_kernel_step *step, int64_t y)
{
    const l2k_kernel_lifting *l = ring->kernel;
    const void *rows[L2K_KERNEL_TAPS];
    for (unsigned j = 0; j < ring->num_joined; j++) {
        for (unsigned k = 0; k < step->num_taps; k++) {
            const int64_t place = y + l2k_kernel_first_tap(step) + 2 * (int)k;
            rows[k] =
                l2k_ring_row(ring, j, l2k_kernel_place(&l->wavelet->kernel, place, ring->read.first, ring->read.end));
        }
        l->rows->step[l->sums](step, ring->inverse, l2k_ring_row(ring, j, y), rows, ring->width);
    }
}

void l2k_kernel_ring_lift(l2k_ring *ring)
{
    const l2k_kernel *kernel = &ring->kernel->wavelet->kernel;
    int64_t end = ring->load.end;
    for (unsigned j = 0; j < ring->num_joined && ring->height == 1 && ring->parity; j++)
        l2k_kernel_lone(ring->kernel, ring->inverse, l2k_ring_row(ring, j, 0), ring->width);
    for (unsigned number = 0; number < kernel->num_steps && ring->height > 1; number++) {
        const l2k_kernel_step *step = step_at(kernel, ring->inverse, number);
        int64_t y = ring->done[number];
        end = end_of(ring, number, end);
        y += ((y + ring->parity) & 1) != step->high;
        for (; y < end; y += 2)
            apply_step(ring, step, y);
        ring->done[number] = end;
    }
}
