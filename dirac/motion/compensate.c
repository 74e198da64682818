/* Overlapped block motion compensation of a plane. Rows of blocks add their predictions to a strip of sums, whose rows
 * leave it when no block below reaches them. Neighbours in a row that move alike are predicted as one patch: their
 * weights add up to those of one wide block. */
#include "dirac/motion/blocks.h"

#include <string.h>

#include "base/integer.h"
#include "base/memory.h"
#include "dirac/motion/motion_rows.h"
#include "dirac/motion/scalars.h"

enum {
    MOST_WIDTH = 128, /* of a patch of several blocks */
    PATCH = L2K_DIRAC_PATCH_STRIDE * L2K_DIRAC_MOST_LENGTH,
    EDGE = 3, /* samples that up-sampling takes from beyond an edge */
};

/* Half-samples of a plane: to the right of, below, and below to the right of each sample. */
struct l2k_dirac_upsampled {
    void *planes[L2K_DIRAC_PLANES][3];
};

typedef struct compensation {
    const l2k_context *context;
    const l2k_dirac_motion *motion;
    const l2k_dirac_motion_rows *rows;
    unsigned plane, shift[2]; /* sub-sampling */
    size_t sample;            /* bytes of one */
    int32_t width, height, most, length[2], separation[2], offset[2];
    l2k_dirac_weights weights;
    l2k_dirac_view phases[2][4]; /* of each reference: its samples, and half-samples as above */
    char *sums;
    size_t stride, sum; /* of the strip, in sums; bytes of a sum */
    uint16_t down[L2K_DIRAC_MOST_LENGTH];
    uint16_t across[MOST_WIDTH / 2][L2K_DIRAC_PATCH_STRIDE]; /* by the number of blocks in a patch, less 1 */
    uint16_t edge[L2K_DIRAC_PATCH_STRIDE];                   /* of a patch at the picture's edge */
    uint16_t corners[2][4][PATCH], predicted[2][PATCH];      /* samples of either size */
} compensation;

static const void *sample_at(const compensation *c, l2k_dirac_view view, int32_t x, int32_t y)
{
    return (const char *)view.data + (y * view.stride + x) * (ptrdiff_t)c->sample;
}

/* ---- Up-sampling -------------------------------------------------------------------------------------------- */

static void upsample_row(const compensation *c, const void *row, char *line, void *out)
{
    const size_t bytes = c->sample, width = (size_t)c->width;
    const char *last = (const char *)row + (width - 1) * bytes;
    for (size_t i = 0; i <= EDGE; i++) {
        memcpy(line + i * bytes, row, bytes);
        memcpy(line + (EDGE + width + i) * bytes, last, bytes);
    }
    memcpy(line + EDGE * bytes, row, width * bytes);
    const void *shifted[8];
    for (size_t i = 0; i < 8; i++)
        shifted[i] = line + i * bytes;
    c->rows->half(shifted, width, c->most, out);
    memcpy((char *)out + (width - 1) * bytes, last, bytes); /* a picture ends with a sample, not a half-sample */
}

static l2k_status upsample(compensation *c, l2k_dirac_picture *picture, l2k_dirac_view phases[4])
{
    if (!picture->upsampled)
        picture->upsampled = l2k_allocate_zeroed(c->context, 1, sizeof *picture->upsampled);
    L2K_TRY(l2k_check_memory(c->context, picture->upsampled, "a reference picture"));
    void **planes = picture->upsampled->planes[c->plane];
    const bool done = planes[0];
    const size_t stride = (size_t)c->width, count = stride * (size_t)c->height;
    if (!done)
        planes[0] = l2k_allocate(c->context, 3 * count, c->sample);
    L2K_TRY(l2k_check_memory(c->context, planes[0], "a reference picture"));
    for (size_t i = 1; i < 4; i++)
        phases[i] = (l2k_dirac_view){(char *)planes[0] + (i - 1) * count * c->sample, (ptrdiff_t)stride};
    for (int32_t y = 0; y < c->height && !done; y++) {
        const void *near[8], *row = sample_at(c, phases[0], 0, y);
        void *below = (void *)sample_at(c, phases[2], 0, y);
        for (int32_t i = 0; i < 8; i++)
            near[i] = sample_at(c, phases[0], 0, l2k_clamp_i32(y - EDGE + i, 0, c->height - 1));
        if (y + 1 < c->height)
            c->rows->half(near, stride, c->most, below);
        else
            memcpy(below, row, stride * c->sample);
        upsample_row(c, row, c->sums, (void *)sample_at(c, phases[1], 0, y));
        upsample_row(c, below, c->sums, (void *)sample_at(c, phases[3], 0, y));
    }
    return L2K_OK;
}

void l2k_dirac_upsampled_release(const l2k_context *context, struct l2k_dirac_upsampled *upsampled)
{
    for (unsigned i = 0; upsampled && i < L2K_DIRAC_PLANES; i++)
        l2k_release(context, upsampled->planes[i][0]);
    l2k_release(context, upsampled);
}

/* ---- Prediction of a patch ---------------------------------------------------------------------------------- */

typedef struct patch {
    const l2k_dirac_motion_block *block;
    int32_t x, y, width, height; /* what lies within the picture */
    int32_t step;                /* the width, rounded up to L2K_DIRAC_PATCH_STEP */
} patch;

/* Half-samples that are not inside the picture equal the nearest one that is. x and y count half-samples. */
static l2k_dirac_view fetch(const compensation *c, const l2k_dirac_view phases[4], const patch *p, int32_t x, int32_t y,
                            void *space)
{
    const int32_t left = x >> 1, top = y >> 1;
    const unsigned odd = x & 1, below = (y & 1) * 2;
    if (left >= 0 && top >= 0 && left + p->step <= c->width && top + p->height <= c->height)
        return (l2k_dirac_view){sample_at(c, phases[odd + below], left, top), phases[odd + below].stride};
    const int32_t before = l2k_clamp_i32(-left, 0, p->width), end = l2k_clamp_i32(c->width - left, before, p->width);
    for (int32_t i = 0; i < p->height; i++) {
        char *out = (char *)space + (size_t)i * L2K_DIRAC_PATCH_STRIDE * c->sample;
        const int32_t from = l2k_clamp_i32(top + i, 0, c->height - 1);
        const unsigned phase = top + i < 0 ? 0 : below;
        const char *first = sample_at(c, phases[phase], 0, from);
        const char *last = sample_at(c, phases[phase + odd], c->width - 1, from);
        for (int32_t k = 0; k < before; k++)
            memcpy(out + (size_t)k * c->sample, first, c->sample);
        if (end > before)
            memcpy(out + (size_t)before * c->sample, sample_at(c, phases[phase + odd], left + before, from),
                   (size_t)(end - before) * c->sample);
        for (int32_t k = end; k < p->width; k++)
            memcpy(out + (size_t)k * c->sample, last, c->sample);
    }
    return (l2k_dirac_view){space, L2K_DIRAC_PATCH_STRIDE};
}

static int64_t wrapping_product(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* The vector at a sample, in the units of block vectors. */
static void global_vector(const l2k_dirac_global *g, int32_t x, int32_t y, int32_t vector[2])
{
    const int64_t scale =
        ((int64_t)1 << g->perspective_exponent) - ((int64_t)g->perspective[0] * x + (int64_t)g->perspective[1] * y);
    for (unsigned i = 0; i < 2; i++) {
        const int64_t moved = (int64_t)g->matrix[i][0] * x + (int64_t)g->matrix[i][1] * y +
                              g->pan[i] * ((int64_t)1 << g->matrix_exponent);
        const int64_t v = wrapping_product(scale, moved) >> (g->matrix_exponent + g->perspective_exponent);
        vector[i] = (int32_t)(v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
    }
}

/* In eighths of a sample of the plane. No vector needs to reach farther than 2^20 samples. */
static int32_t position(const compensation *c, unsigned axis, int32_t at, int32_t vector)
{
    const int32_t most = 1 << 20 << c->motion->precision;
    return at * 8 + l2k_clamp_i32(vector >> c->shift[axis], -most, most) * (8 >> c->motion->precision);
}

/* `space` is for a patch between half-samples. */
static l2k_dirac_view predict(compensation *c, unsigned reference, const patch *p, int32_t vector_x, int32_t vector_y,
                              void *space)
{
    const l2k_dirac_view *phases = c->phases[reference];
    const int32_t eighths_x = position(c, 0, p->x, vector_x), eighths_y = position(c, 1, p->y, vector_y);
    const int32_t x = eighths_x >> 2, y = eighths_y >> 2;
    const unsigned part_x = eighths_x & 3, part_y = eighths_y & 3;
    l2k_dirac_view corner[4];
    for (unsigned i = 0; i < 4; i++)
        corner[i] = (i & 1 && !part_x) || (i & 2 && !part_y)
                        ? corner[0]
                        : fetch(c, phases, p, x + (i & 1), y + (i >> 1), c->corners[reference][i]);
    if (!part_x && !part_y)
        return corner[0];
    c->rows->between(corner, part_x, part_y, (size_t)p->step, (size_t)p->height, space);
    return (l2k_dirac_view){space, L2K_DIRAC_PATCH_STRIDE};
}

static l2k_dirac_view predict_global(compensation *c, unsigned reference, const patch *p)
{
    char *out = (char *)c->predicted[reference];
    for (int32_t y = 0; y < p->height; y++)
        for (int32_t x = 0; x < p->width; x++) {
            const patch one = {p->block, p->x + x, p->y + y, 1, 1, L2K_DIRAC_PATCH_STEP};
            int32_t vector[2];
            uint16_t space[L2K_DIRAC_PATCH_STEP];
            global_vector(&c->motion->globals[reference], one.x, one.y, vector);
            const l2k_dirac_view sample = predict(c, reference, &one, vector[0], vector[1], space);
            memcpy(out + (size_t)(y * L2K_DIRAC_PATCH_STRIDE + x) * c->sample, sample.data, c->sample);
        }
    return (l2k_dirac_view){out, L2K_DIRAC_PATCH_STRIDE};
}

static void add_patch(compensation *c, const patch *p, const uint16_t *across, int32_t strip_top)
{
    const l2k_dirac_motion_block *block = p->block;
    l2k_dirac_weights weights = c->weights;
    l2k_dirac_view from[2] = {{NULL, 0}, {NULL, 0}};
    unsigned count = 0;
    for (unsigned i = 0; i < 2; i++)
        if (block->references >> i & 1)
            from[count++] = block->global ? predict_global(c, i, p)
                                          : predict(c, i, p, block->vector[i].x, block->vector[i].y, c->predicted[i]);
    if (count == 0) {
        const int32_t dc = l2k_clamp_i32(block->dc[c->plane], -weights.half, weights.half - 1) + weights.half;
        for (int32_t i = 0; i < p->step; i++)
            if (c->sample == 1)
                ((uint8_t *)c->predicted[0])[i] = (uint8_t)dc;
            else
                c->predicted[0][i] = (uint16_t)dc;
        from[0] = (l2k_dirac_view){c->predicted[0], 0};
        weights = (l2k_dirac_weights){{1, 0}, weights.half, 0};
    } else if (count == 1) {
        weights.weight[0] += weights.weight[1];
    }
    c->rows->accumulate(from, &weights, across, c->down + (p->y - strip_top), (size_t)p->step, (size_t)p->height,
                        c->sums + ((size_t)(p->y - strip_top) * c->stride + (size_t)p->x) * c->sum, c->stride);
}

/* ---- The plane ---------------------------------------------------------------------------------------------- */

/* Weights of a block, or of several as one, from `start` to `end`, where all blocks reach from -offset to `total` +
 * offset. Nothing overlaps the outermost samples. */
static void weigh(uint16_t *weights, int32_t start, int32_t end, int32_t offset, int32_t total)
{
    for (int32_t x = start; x < end; x++) {
        const int32_t place = x - start < end - 1 - x ? x - start : end - 1 - x;
        *weights++ = (uint16_t)(x < offset || x >= total - offset ? 8 : l2k_dirac_ramp(place, offset));
    }
}

static void add_block_row(compensation *c, uint32_t row, int32_t top, int32_t bottom)
{
    const l2k_dirac_motion *motion = c->motion;
    const l2k_dirac_motion_block *blocks = &motion->blocks[(size_t)row * motion->across];
    const int32_t separation = c->separation[0], offset = c->offset[0], overlap = 2 * offset;
    const int32_t total = (int32_t)motion->across * separation, most = (MOST_WIDTH - overlap) / separation;
    const int32_t y = top > 0 ? top : 0, visible = bottom < c->height ? bottom : c->height;
    int32_t number;
    for (int32_t i = 0; i * separation - offset < c->width && i < (int32_t)motion->across; i += number) {
        number = 1;
        while (number < most && i + number < (int32_t)motion->across &&
               memcmp(&blocks[i], &blocks[i + number], sizeof *blocks) == 0)
            number++;
        const int32_t start = i * separation - offset, end = start + number * separation + overlap;
        const int32_t x = start > 0 ? start : 0, width = (end < c->width ? end : c->width) - x;
        const uint16_t *across = c->across[number - 1];
        if (start < 0 || i + number == (int32_t)motion->across) {
            memset(c->edge, 0, sizeof c->edge);
            weigh(c->edge, start, end, offset, total);
            across = c->edge + (x - start);
        }
        const int32_t steps = (width + L2K_DIRAC_PATCH_STEP - 1) / L2K_DIRAC_PATCH_STEP;
        const patch p = {&blocks[i], x, y, width, visible - y, steps * L2K_DIRAC_PATCH_STEP};
        add_patch(c, &p, across, top);
    }
}

static void add_rows(compensation *c, const l2k_dirac_residue *residue, l2k_dirac_plane *plane)
{
    const size_t row_bytes = c->stride * c->sum, residue_bytes = c->sample * 2;
    const int32_t down = (int32_t)c->motion->down, separation = c->separation[1], length = c->length[1];
    const size_t kept = (size_t)(length - separation) * row_bytes;
    memset(c->sums, 0, (size_t)length * row_bytes);
    for (int32_t i = 0; i < down; i++) {
        const int32_t top = i * separation - c->offset[1], bottom = top + length;
        if (top >= c->height)
            break;
        weigh(c->down, top, bottom, c->offset[1], down * separation);
        add_block_row(c, (uint32_t)i, top, bottom);
        const int32_t done = i + 1 == down ? bottom : bottom - 2 * c->offset[1];
        for (int32_t y = top > 0 ? top : 0; y < done && y < c->height; y++)
            c->rows->finish(c->sums + (size_t)(y - top) * row_bytes,
                            residue->data ? (const char *)residue->data + y * residue->stride * (ptrdiff_t)residue_bytes
                                          : NULL,
                            (size_t)c->width, c->most, (char *)plane->data + y * plane->stride * (ptrdiff_t)c->sample);
        memmove(c->sums, c->sums + (size_t)separation * row_bytes, kept);
        memset(c->sums + kept, 0, (size_t)separation * row_bytes);
    }
}

static l2k_status prepare(compensation *c, const l2k_dirac_sequence *sequence, l2k_dirac_picture *const references[2])
{
    const l2k_dirac_motion *motion = c->motion;
    for (unsigned i = 0; i < 2; i++) {
        c->shift[i] = c->plane == 0 ? 0 : i == 0 ? sequence->chroma_x : sequence->chroma_y;
        c->length[i] = (int32_t)(motion->length[i] >> c->shift[i]);
        c->separation[i] = (int32_t)(motion->separation[i] >> c->shift[i]);
        c->offset[i] = (c->length[i] - c->separation[i]) / 2;
    }
    const int32_t most = (MOST_WIDTH - 2 * c->offset[0]) / c->separation[0];
    memset(c->across, 0, sizeof c->across);
    for (int32_t i = 0; i < most; i++) /* far from the picture's edges */
        weigh(c->across[i], c->length[0], 2 * c->length[0] + i * c->separation[0], c->offset[0], INT32_MAX);
    for (unsigned i = 0; i < motion->references; i++) {
        const l2k_dirac_plane *plane = &references[i]->planes[c->plane];
        if (plane->width != (uint32_t)c->width || plane->height != (uint32_t)c->height)
            return l2k_fail(c->context, L2K_ERROR_CORRUPT, "a reference picture has another size");
        c->phases[i][0] = (l2k_dirac_view){plane->data, plane->stride};
        if (motion->precision > 0)
            L2K_TRY(upsample(c, references[i], c->phases[i]));
    }
    return L2K_OK;
}

l2k_status l2k_dirac_motion_apply(const l2k_context *context, l2k_dirac_motion *motion,
                                  const l2k_dirac_sequence *sequence, unsigned plane,
                                  l2k_dirac_picture *const references[2], const l2k_dirac_residue *residue,
                                  l2k_dirac_picture *picture)
{
    const l2k_dirac_kind kind = sequence->wide     ? L2K_DIRAC_WIDE
                                : motion->weighted ? L2K_DIRAC_WEIGHTED
                                                   : L2K_DIRAC_NARROW;
    l2k_dirac_plane *out = &picture->planes[plane];
    const size_t sum = kind == L2K_DIRAC_NARROW ? 2 : 4, stride = out->width + L2K_DIRAC_PATCH_STEP;
    const size_t rows = motion->length[1] > 8 ? motion->length[1] : 8; /* up-sampling takes a part of one */
    if (!motion->space || rows * stride * sum > motion->space_bytes) {
        l2k_release(context, motion->space);
        motion->space_bytes = rows * stride * sum;
        motion->space = l2k_allocate_zeroed(context, sizeof(compensation) + motion->space_bytes, 1);
        L2K_TRY(l2k_check_memory(context, motion->space, "motion compensation"));
    }
    compensation *c = motion->space;
    const unsigned depth = l2k_dirac_depth(sequence, plane);
    c->context = context;
    c->motion = motion;
    c->rows = l2k_dirac_motion_rows_get(context->cpu, kind);
    c->plane = plane;
    c->sample = sequence->wide ? 2 : 1;
    c->width = (int32_t)out->width;
    c->height = (int32_t)out->height;
    c->most = (1 << depth) - 1;
    c->weights = (l2k_dirac_weights){{motion->weight[0], motion->weight[1]}, 1 << (depth - 1), motion->weight_bits};
    c->sums = (char *)(c + 1);
    c->stride = stride;
    c->sum = sum;
    L2K_TRY(prepare(c, sequence, references));
    add_rows(c, residue, out);
    return L2K_OK;
}
