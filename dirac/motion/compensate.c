/* Overlapped block motion compensation of a plane. Rows of blocks add their predictions to a strip of sums, whose rows
 * leave it when no block below reaches them. Neighbours in a row that move alike are predicted as one patch: their
 * weights add up to those of one wide block. */
#include "dirac/motion/motion.h"

#include <string.h>

#include "base/memory.h"
#include "dirac/motion/motion_rows.h"

enum {
    MOST_WIDTH = 128, /* of a patch of several blocks */
    EDGE = 3,         /* samples that up-sampling takes from beyond an edge */
    SPACES = 10,      /* four corners of each reference, then a prediction of each */
    PREDICTED = 8
};

typedef uint16_t space[L2K_DIRAC_PATCH_STRIDE * L2K_DIRAC_MOST_LENGTH]; /* for samples of either size */

typedef struct compensation {
    const l2k_context *context;
    const l2k_dirac_motion *motion;
    const l2k_dirac_motion_rows *rows;
    l2k_dirac_kind kind;
    unsigned plane;
    ptrdiff_t sample, sum, stride; /* bytes of a sample and of a sum; of the strip, in sums */
    int32_t width, height, most;
    l2k_dirac_grid grid;
    l2k_dirac_weights weights;
    l2k_dirac_view phases[2][4]; /* of each reference: its samples, and half-samples to the right, below, and both */
    space *spaces;
    char *sums;
    uint16_t down[L2K_DIRAC_MOST_LENGTH], across[L2K_DIRAC_PATCH_STRIDE]; /* weights of overlap */
} compensation;

typedef struct patch {
    int32_t x, y, width, height; /* what lies within the picture */
    int32_t steps;               /* the width, rounded up to L2K_DIRAC_PATCH_STEP */
} patch;

static void *sample_at(const compensation *c, l2k_dirac_view view, ptrdiff_t x, ptrdiff_t y)
{
    return (char *)view.data + (y * view.stride + x) * c->sample;
}

static void repeat(const compensation *c, void *out, const void *sample, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        memcpy((char *)out + i * c->sample, sample, (size_t)c->sample);
}

/* ---- Up-sampling -------------------------------------------------------------------------------------------- */

static void upsample_row(const compensation *c, const char *row, char *out)
{
    const ptrdiff_t end = (c->width - 1) * c->sample;
    const void *shifted[8];
    for (int i = 0; i < 8; i++)
        shifted[i] = c->sums + i * c->sample;
    repeat(c, c->sums, row, EDGE);
    memcpy(c->sums + EDGE * c->sample, row, (size_t)(end + c->sample));
    repeat(c, c->sums + (EDGE + c->width) * c->sample, row + end, EDGE + 1);
    c->rows->half(c->kind, shifted, (size_t)c->width, c->most, out);
    memcpy(out + end, row + end, (size_t)c->sample);
}

/* The last half-samples of rows and columns are the last samples: a picture does not reach beyond them. */
static l2k_status upsample(const compensation *c, l2k_dirac_plane *plane, l2k_dirac_view phases[4])
{
    const ptrdiff_t bytes = c->sample * c->width * c->height;
    const bool missing = !plane->half;
    if (missing)
        plane->half = l2k_allocate(c->context, 3, (size_t)bytes);
    L2K_TRY(l2k_check_memory(c->context, plane->half, "a reference picture"));
    for (int i = 1; i < 4; i++)
        phases[i] = (l2k_dirac_view){(char *)plane->half + (i - 1) * bytes, c->width};
    for (int32_t y = 0; y < c->height && missing; y++) {
        const void *near[8];
        for (int i = 0; i < 8; i++)
            near[i] = sample_at(c, phases[0], 0, l2k_clamp_i32(y - EDGE + i, y + 1 < c->height ? 0 : y, c->height - 1));
        c->rows->half(c->kind, near, (size_t)c->width, c->most, sample_at(c, phases[2], 0, y));
        for (int i = 0; i < 4; i += 2)
            upsample_row(c, sample_at(c, phases[i], 0, y), sample_at(c, phases[i + 1], 0, y));
    }
    return L2K_OK;
}

/* ---- Prediction of a patch ---------------------------------------------------------------------------------- */

/* x and y count half-samples. Those outside of the picture equal the nearest one inside. */
static l2k_dirac_view fetch(const compensation *c, const l2k_dirac_view phases[4], const patch *p, int32_t x, int32_t y,
                            l2k_dirac_view out)
{
    const int32_t left = x >> 1, top = y >> 1, odd = x & 1, below = (y & 1) * 2;
    const int32_t before = l2k_clamp_i32(-left, 0, p->width), end = l2k_clamp_i32(c->width - left, before, p->width);
    if (left >= 0 && top >= 0 && left + p->steps <= c->width && top + p->height <= c->height)
        return (l2k_dirac_view){sample_at(c, phases[odd + below], left, top), phases[odd + below].stride};
    for (int32_t i = 0; i < p->height; i++) {
        const int32_t from = l2k_clamp_i32(top + i, 0, c->height - 1);
        const l2k_dirac_view *even = &phases[top + i < 0 ? 0 : below];
        repeat(c, sample_at(c, out, 0, i), sample_at(c, *even, 0, from), before);
        if (end > before)
            memcpy(sample_at(c, out, before, i), sample_at(c, even[odd], left + before, from),
                   (size_t)((end - before) * c->sample));
        repeat(c, sample_at(c, out, end, i), sample_at(c, even[odd], c->width - 1, from), p->width - end);
    }
    return out;
}

/* Positions are in eighths of the plane's samples. */
static l2k_dirac_view predict(const compensation *c, unsigned reference, const patch *p, const int32_t vector[2],
                              l2k_dirac_view out)
{
    const int32_t precision = (int32_t)c->motion->precision;
    const int32_t x = p->x * 8 + l2k_dirac_moved(vector[0], c->grid.shift[0], precision);
    const int32_t y = p->y * 8 + l2k_dirac_moved(vector[1], c->grid.shift[1], precision);
    l2k_dirac_view corner[4];
    for (unsigned i = 0; i < 4; i++) {
        const l2k_dirac_view at = {c->spaces[4 * reference + i], L2K_DIRAC_PATCH_STRIDE};
        const unsigned same = i & 1 && !(x & 3) ? 1 : i & 2 && !(y & 3) ? 2 : 0;
        corner[i] = same ? corner[i - same]
                         : fetch(c, c->phases[reference], p, (x >> 2) + (int)(i & 1), (y >> 2) + (int)(i >> 1), at);
    }
    if (!((x | y) & 3))
        return corner[0];
    c->rows->between(c->kind, corner, x & 3, y & 3, (size_t)p->steps, (size_t)p->height, (void *)out.data);
    return out;
}

/* Each sample of a plane has a vector of its own. */
static l2k_dirac_view predict_global(const compensation *c, unsigned reference, const patch *p, l2k_dirac_view out)
{
    for (int32_t i = 0; i < p->height * p->width; i++) {
        const patch one = {p->x + i % p->width, p->y + i / p->width, 1, 1, L2K_DIRAC_PATCH_STEP};
        int32_t vector[2];
        uint16_t sample[L2K_DIRAC_PATCH_STEP];
        l2k_dirac_global_vector(&c->motion->globals[reference], one.x, one.y, vector);
        memcpy(sample_at(c, out, i % p->width, i / p->width),
               predict(c, reference, &one, vector, (l2k_dirac_view){sample, 0}).data, (size_t)c->sample);
    }
    return out;
}

static void add_patch(const compensation *c, const l2k_dirac_motion_block *block, const patch *p,
                      const uint16_t *across, int32_t strip)
{
    l2k_dirac_weights weights = c->weights;
    l2k_dirac_view from[2];
    for (unsigned i = 0; i < 2; i++) {
        from[i] = (l2k_dirac_view){c->spaces[PREDICTED + i], L2K_DIRAC_PATCH_STRIDE};
        if (block->mode >> i & 1)
            from[i] = block->mode & L2K_DIRAC_GLOBAL ? predict_global(c, i, p, from[i])
                                                     : predict(c, i, p, &block->value[2 * i], from[i]);
    }
    if (block->mode == 0) {
        const int32_t dc = l2k_clamp_i32(block->value[c->plane], -weights.half, weights.half - 1) + weights.half;
        for (int32_t i = 0; i < p->steps; i++)
            c->spaces[PREDICTED][i] = (uint16_t)(c->sample == 1 ? dc * 0x101 : dc);
        from[0].stride = 0;
        weights = (l2k_dirac_weights){{1, 0}, weights.half, 0};
    }
    if ((block->mode & 3) != 3) /* the mean of two alike is one */
        from[!(block->mode & 2)] = from[block->mode >> 1 & 1];
    c->rows->accumulate(c->kind, from, weights, across, c->down + (p->y - strip), (size_t)p->steps, (size_t)p->height,
                        c->sums + ((p->y - strip) * c->stride + p->x) * c->sum, (size_t)c->stride);
}

/* ---- The plane ---------------------------------------------------------------------------------------------- */

/* Weights of n samples of a block, or of several as one: they rise in the overlap at either end, but not at the picture's
 * edges. */
static void weigh(uint16_t *weights, int32_t n, int32_t offset, bool first, bool last)
{
    for (int32_t i = 0; i < n; i++)
        weights[i] = 8;
    for (int32_t i = 0; i < 2 * offset; i++) {
        const int32_t weight = l2k_dirac_rise(i, offset);
        weights[i] = (uint16_t)(first ? 8 : weight);
        weights[n - 1 - i] = (uint16_t)(last ? 8 : weight);
    }
}

static void add_block_row(compensation *c, int32_t row, int32_t top, int32_t bottom)
{
    const int32_t across = (int32_t)c->motion->across, separation = c->grid.separation[0], offset = c->grid.offset[0];
    const l2k_dirac_motion_block *blocks = &c->motion->blocks[(ptrdiff_t)row * across];
    for (int32_t i = 0, end; i < across && i * separation - offset < c->width; i = end) {
        for (end = i + 1; end < across && (end + 1 - i) * separation + 2 * offset <= MOST_WIDTH; end++)
            if (memcmp(&blocks[i], &blocks[end], sizeof *blocks) != 0)
                break;
        const int32_t left = i * separation - offset, right = end * separation + offset;
        patch p = {left > 0 ? left : 0, top > 0 ? top : 0, 0, 0, 0};
        p.width = (right < c->width ? right : c->width) - p.x;
        p.height = (bottom < c->height ? bottom : c->height) - p.y;
        p.steps = (p.width + L2K_DIRAC_PATCH_STEP - 1) & -L2K_DIRAC_PATCH_STEP;
        weigh(c->across, right - left, offset, i == 0, end == across);
        memset(c->across + (right - left), 0, L2K_DIRAC_PATCH_STEP * sizeof *c->across);
        add_patch(c, &blocks[i], &p, c->across + (p.x - left), top);
    }
}

static void add_block_rows(compensation *c, const l2k_dirac_residue *residue, l2k_dirac_view out)
{
    const int32_t down = (int32_t)c->motion->down, separation = c->grid.separation[1];
    const int32_t offset = c->grid.offset[1], length = separation + 2 * offset;
    const ptrdiff_t row_bytes = c->stride * c->sum;
    const size_t leaving = (size_t)(separation * row_bytes), staying = (size_t)(length * row_bytes) - leaving;
    memset(c->sums, 0, leaving + staying);
    for (int32_t i = 0; i < down && i * separation - offset < c->height; i++) {
        const int32_t top = i * separation - offset, end = top + (i + 1 < down ? separation : length);
        weigh(c->down, length, offset, i == 0, i + 1 == down);
        add_block_row(c, i, top, top + length);
        for (int32_t y = top > 0 ? top : 0; y < end && y < c->height; y++)
            c->rows->finish(c->kind, c->sums + (y - top) * row_bytes,
                            residue->data ? (const char *)residue->data + y * residue->stride * 2 * c->sample : NULL,
                            (size_t)c->width, c->most, sample_at(c, out, 0, y));
        memmove(c->sums, c->sums + leaving, staying);
        memset(c->sums + staying, 0, leaving);
    }
}

l2k_status l2k_dirac_motion_apply(const l2k_context *context, l2k_dirac_motion *motion,
                                  const l2k_dirac_sequence *sequence, unsigned plane,
                                  l2k_dirac_picture *const references[2], const l2k_dirac_residue *residue,
                                  l2k_dirac_picture *picture)
{
    const bool weighted = motion->weight_bits != 1 || motion->weight[0] != 1 || motion->weight[1] != 1;
    const l2k_dirac_plane *out = &picture->planes[plane];
    const size_t stride = out->width + L2K_DIRAC_PATCH_STEP; /* 8 rows or more: up-sampling puts a row there */
    const size_t bytes = SPACES * sizeof(space) + (motion->length[1] + 8) * stride * sizeof(int32_t);
    l2k_release(context, motion->space);
    motion->space = l2k_allocate(context, bytes, 1);
    L2K_TRY(l2k_check_memory(context, motion->space, "motion compensation"));
    const int32_t most = (1 << l2k_dirac_depth(sequence, plane)) - 1;
    compensation c = {.context = context,
                      .motion = motion,
                      .rows = l2k_dirac_motion_rows_get(context->cpu),
                      .kind = sequence->wide ? L2K_DIRAC_WIDE
                              : weighted     ? L2K_DIRAC_WEIGHTED
                                             : L2K_DIRAC_NARROW,
                      .plane = plane,
                      .sample = sequence->wide ? 2 : 1,
                      .sum = sequence->wide || weighted ? 4 : 2,
                      .stride = (ptrdiff_t)stride,
                      .width = (int32_t)out->width,
                      .height = (int32_t)out->height,
                      .most = most,
                      .grid = l2k_dirac_grid_of(motion, sequence, plane),
                      .weights = {{motion->weight[0], motion->weight[1]}, most / 2 + 1, motion->weight_bits},
                      .spaces = motion->space,
                      .sums = (char *)motion->space + SPACES * sizeof(space)};
    for (unsigned i = 0; i < motion->references; i++) {
        l2k_dirac_plane *from = &references[i]->planes[plane];
        c.phases[i][0] = (l2k_dirac_view){from->data, from->stride};
        if (motion->precision > 0)
            L2K_TRY(upsample(&c, from, c.phases[i]));
    }
    add_block_rows(&c, residue, (l2k_dirac_view){out->data, out->stride});
    return L2K_OK;
}
