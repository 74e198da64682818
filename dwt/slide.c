#include "dwt/slide.h"

/* The rows a stripe reads. What lies beyond them is mirrored: at the rim of the picture that is the transform, at a cut
 * it gives wrong values, which travel one row per step and so never reach the rows that are emitted. */
typedef struct span {
    int64_t first, end;
} span;

static bool within(span s, int64_t y)
{
    return y >= s.first && y < s.end;
}

static void *slot(const l2k_slide *slide, unsigned lane, int64_t y)
{
    size_t row = (size_t)y % (slide->lifting->steps + 2);
    return (uint32_t *)slide->ring + (lane * L2K_SLIDE_ROWS + row) * slide->stride;
}

static void move(const l2k_slide *slide, void (*callback)(void *, int64_t, void *const *), int64_t y)
{
    void *rows[L2K_MAX_LANES] = {0};
    for (unsigned lane = 0; lane < slide->lanes; lane++)
        rows[lane] = slot(slide, lane, y);
    if (slide->goes_on(slide->user, slide->lanes * slide->width))
        callback(slide->user, y, rows);
}

static void step(const l2k_slide *slide, span s, unsigned number, int64_t y)
{
    int64_t above = y > s.first ? y - 1 : y + 1, below = y + 1 < s.end ? y + 1 : y - 1;
    for (unsigned lane = 0; lane < slide->lanes && slide->goes_on(slide->user, slide->width); lane++)
        slide->lifting->step[number](slot(slide, lane, y), slot(slide, lane, above), slot(slide, lane, below),
                                     slide->width);
}

/* Steps 0, 1, .. on rows y - 1, y - 2, .. */
static void lift(const l2k_slide *slide, span s, int64_t y)
{
    unsigned steps = slide->lifting->steps;
    if (within(s, y) && within(s, y - steps - 1)) {
        for (unsigned lane = 0; lane < slide->lanes && slide->goes_on(slide->user, slide->width); lane++) {
            void *rows[L2K_SLIDE_ROWS];
            for (unsigned i = 0; i < steps + 2; i++)
                rows[i] = slot(slide, lane, y - steps - 1 + i);
            slide->lifting->all(rows, slide->width);
        }
        return;
    }
    for (unsigned number = 0; number < steps; number++)
        if (within(s, y - 1 - number))
            step(slide, s, number, y - 1 - number);
}

static void run_single_row(const l2k_slide *slide)
{
    move(slide, slide->load, 0);
    if (slide->parity)
        for (unsigned lane = 0; lane < slide->lanes && slide->goes_on(slide->user, slide->width); lane++)
            slide->lifting->lone(slot(slide, lane, 0), slide->width);
    move(slide, slide->emit, 0);
}

void l2k_slide_run(const l2k_slide *slide, int64_t begin, int64_t end)
{
    if (slide->height == 1) {
        run_single_row(slide);
        return;
    }
    int64_t steps = slide->lifting->steps;
    span read = {begin > steps ? begin - steps : 0, end + steps < slide->height ? end + steps : slide->height};
    span wanted = {begin, end};
    /* y runs over the rows that step 0 does not touch; once y is there, row y - 1 has both its neighbours. */
    int64_t y = read.first + (((unsigned)read.first + slide->parity) % 2 == slide->lifting->first);
    for (; y - steps - 1 < end && slide->goes_on(slide->user, 0); y += 2) {
        for (int64_t i = y - 1; i <= y; i++)
            if (within(read, i))
                move(slide, slide->load, i);
        lift(slide, read, y);
        for (int64_t i = y - steps - 1; i <= y - steps; i++)
            if (within(wanted, i))
                move(slide, slide->emit, i);
    }
}
