/* The block decoder of Annex D. Samples are stored as twice the reconstruction value, with the sign in bit 31, so that
 * the middle of the interval left by the passes decoded so far is always an integer.
 *
 * A pass goes through a block in windows of eight stripe columns. A window and the samples around it fit in one 64-bit
 * word, so significance, signs and the samples still to visit stay in registers: contexts are looked up by bits of
 * these words, and the next sample is the next set bit. */
#include "codec/blocks/mq/t1.h"

#include <string.h>

#include "base/cpu.h"
#include "base/integer.h"
#include "codec/blocks/mq/mq_decode.h"

typedef struct block_decoder {
    l2k_t1_decoder *memory;
    uint32_t width, height;
    uint32_t span;      /* windows of a stripe, and an empty one between stripes */
    uint16_t place[54]; /* of the bits of a window's word: the sample's, counted from the window's first sample */
    bool causal;
    l2k_mq_decoder mq;
    l2k_raw_decoder raw;
} block_decoder;

/* ---- Windows ------------------------------------------------------------------------------------------------- */

/* Bit 6 x + y of a word: column x 0 is west of the window, 1 to 8 in it, 9 east of it; row y 0 is above the stripe, 1
 * to 4 in it, 5 below it. So the neighbours of a bit are 1, 5, 6 and 7 bits away. */
#define COLUMNS 0x1041041041040ull /* row 0 of columns 1 to 8 */
#define ROW(y)  (0x041041041041041ull << (y))

/* A window during a pass. */
typedef struct window_iterator {
    uint32_t x, y;
    l2k_t1_window *window;
    uint32_t *samples;
} window_iterator;

INLINE window_iterator first_window(const block_decoder *b)
{
    return (window_iterator){0, 0, b->memory->windows + b->span + 1, b->memory->samples};
}

INLINE bool in_block(const block_decoder *b, const window_iterator *w)
{
    return w->y < b->height;
}

INLINE void next_window(const block_decoder *b, window_iterator *w)
{
    const uint32_t columns = l2k_min_u32(b->width - w->x, 8);
    w->x += columns;
    w->samples += columns;
    w->window++;
    if (w->x == b->width) {
        w->x = 0;
        w->y += 4;
        w->window++;
        w->samples += 3 * b->width;
    }
}

static void clear_windows(const block_decoder *b)
{
    memset(b->memory->windows, 0, (((b->height + 3) / 4 + 2) * (size_t)b->span + 1) * sizeof *b->memory->windows);
    for (window_iterator w = first_window(b); in_block(b, &w); next_window(b, &w)) {
        const uint32_t rows = l2k_min_u32(b->height - w.y, 4), columns = l2k_min_u32(b->width - w.x, 8);
        w.window->live = ((2ull << rows) - 2) * (COLUMNS & ((64ull << 6 * columns) - 1));
    }
}

/* A window's word and the columns on both sides; bits beyond column 9 do not matter. */
#define WITH_SIDES(window, word) ((window)->word | (window)[-1].word >> 48 | (window)[1].word << 48)

/* With the rows above and below; the last row does not see the one below it if `causal` (D.7). */
#define WITH_BORDER(b, window, word)                                                                                   \
    (WITH_SIDES(window, word) | (WITH_SIDES((window) - (b)->span, word) & ROW(4)) >> 4 |                               \
     ((b)->causal ? 0 : (WITH_SIDES((window) + (b)->span, word) & ROW(1)) << 4))

/* Samples with a significant neighbour. */
INLINE uint64_t neighbours(uint64_t significant)
{
    const uint64_t vertical = significant << 1 | significant >> 1, column = vertical | significant;
    return vertical | column << 6 | column >> 6;
}

/* The neighbours of bit `i` that come later in the scan: 1, 5, 6 and 7 bits away. */
INLINE uint64_t later_neighbours(uint64_t i)
{
    return 0xE2ull << i;
}

/* ---- Passes -------------------------------------------------------------------------------------------------- */

/* Contexts are indexed by the samples west of bit `i`, at it and east of it; for signs, without corners. */
INLINE uint32_t decode_zero(l2k_t1_decoder *d, l2k_mq_decoder *mq, uint64_t significant, uint64_t i)
{
    const uint64_t around = significant >> (i - 7), index = (around & 0x1C7) | (around >> 9 & 0x38);
    return l2k_mq_decode(mq, &d->model, d->zero_context[index]);
}

INLINE uint32_t decode_sign(l2k_t1_decoder *d, l2k_mq_decoder *mq, uint64_t significant, uint64_t negative, uint64_t i)
{
    const uint64_t around = significant >> (i - 7), signs = negative >> (i - 7);
    const uint64_t s = (around & 0x142) | (around >> 9 & 0x10), n = (signs & 0x142) | (signs >> 9 & 0x10);
    const unsigned entry = d->sign_context[s >> 1 | n];
    return l2k_mq_decode(mq, &d->model, entry & 0x7F) ^ entry >> 7;
}

/* Sample `i` becomes significant in `plane`. */
INLINE void set_sample(const block_decoder *b, const window_iterator *w, uint64_t i, unsigned plane, uint64_t sign,
                       uint64_t *significant, uint64_t *negative)
{
    w->samples[b->place[i]] = 3u << plane | (uint32_t)sign << 31;
    *significant |= 1ull << i;
    *negative |= sign << i;
}

INLINE void significance_pass(block_decoder *b, unsigned plane, bool raw)
{
    l2k_t1_decoder *const d = b->memory;
    l2k_mq_decoder mq = b->mq;
    for (window_iterator w = first_window(b); in_block(b, &w); next_window(b, &w)) {
        uint64_t significant = WITH_BORDER(b, w.window, significant);
        const uint64_t live = w.window->live, open = live & ~significant;
        uint64_t todo = neighbours(significant) & open, visited = todo;
        if (todo) {
            uint64_t negative = WITH_BORDER(b, w.window, negative);
            do {
                const uint64_t i = (uint64_t)__builtin_ctzll(todo);
                todo &= todo - 1;
                if (raw ? l2k_raw_decode(&b->raw) : decode_zero(d, &mq, significant, i)) {
                    const uint64_t sign = raw ? l2k_raw_decode(&b->raw) : decode_sign(d, &mq, significant, negative, i);
                    set_sample(b, &w, i, plane, sign, &significant, &negative);
                    todo |= later_neighbours(i) & open;
                    visited |= later_neighbours(i) & open;
                }
            } while (todo);
            w.window->significant = significant & live;
            w.window->negative = negative & live;
        }
        w.window->visited = visited;
    }
    b->mq = mq;
}

INLINE void refinement_pass(block_decoder *b, unsigned plane, bool raw)
{
    l2k_t1_decoder *const d = b->memory;
    l2k_mq_decoder mq = b->mq;
    const uint32_t half = 1u << plane;
    for (window_iterator w = first_window(b); in_block(b, &w); next_window(b, &w)) {
        const uint64_t again = w.window->refined;
        const uint64_t near = neighbours(WITH_BORDER(b, w.window, significant)) & ~again;
        uint64_t todo = w.window->significant & ~w.window->visited;
        w.window->refined = todo;
        for (; todo; todo &= todo - 1) {
            const uint64_t i = (uint64_t)__builtin_ctzll(todo);
            const unsigned context = (unsigned)(L2K_CONTEXT_REFINE + (near >> i & 1) + 2 * (again >> i & 1));
            const uint32_t bit = raw ? l2k_raw_decode(&b->raw) : l2k_mq_decode(&mq, &d->model, context);
            w.samples[b->place[i]] += 2 * bit * half - half;
        }
    }
    b->mq = mq;
}

static void cleanup_pass(block_decoder *b, unsigned plane)
{
    l2k_t1_decoder *const d = b->memory;
    l2k_mq_decoder mq = b->mq;
    for (window_iterator w = first_window(b); in_block(b, &w); next_window(b, &w)) {
        const uint64_t runs = b->height - w.y >= 4 ? ROW(1) : 0;
        const uint64_t live = w.window->live;
        uint64_t todo = live & ~w.window->significant & ~w.window->visited;
        w.window->visited = 0;
        if (!todo)
            continue;
        uint64_t significant = WITH_BORDER(b, w.window, significant), negative = WITH_BORDER(b, w.window, negative);
        do {
            uint64_t i = (uint64_t)__builtin_ctzll(todo);
            if (runs >> i & 1 && (significant >> (i - 7) & 0x3FFFF) == 0) {
                const uint64_t column = 15ull << i;
                todo &= ~column;
                if (!l2k_mq_decode(&mq, &d->model, L2K_CONTEXT_RUN))
                    continue;
                unsigned first = l2k_mq_decode(&mq, &d->model, L2K_CONTEXT_UNIFORM) << 1;
                first |= l2k_mq_decode(&mq, &d->model, L2K_CONTEXT_UNIFORM);
                todo |= column & column << (first + 1);
                i += first;
            } else {
                todo &= todo - 1;
                if (!decode_zero(d, &mq, significant, i))
                    continue;
            }
            const uint64_t sign = decode_sign(d, &mq, significant, negative, i);
            set_sample(b, &w, i, plane, sign, &significant, &negative);
        } while (todo);
        w.window->significant = significant & live;
        w.window->negative = negative & live;
    }
    b->mq = mq;
}

/* H.1: magnitudes that reach above the shift belong to the region and are shifted down; smaller ones are background.
 * Bits below the shift are dropped, including half steps. */
static void unshift_region(uint32_t *samples, size_t count, unsigned shift, unsigned border)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t magnitude = samples[i] & 0x7FFFFFFFu;
        if (magnitude >> border)
            samples[i] = (samples[i] & 0x80000000u) | magnitude >> shift;
    }
}

#define DEFINE_STORE(name, type)                                                                                       \
    static void name(const l2k_t1_block *block, const uint32_t *samples, size_t stride, unsigned shift)                \
    {                                                                                                                  \
        for (uint32_t y = 0; y < block->height; y++, samples += stride) {                                              \
            type *row = (type *)block->coefficients + y * block->stride;                                               \
            L2K_INDEPENDENT                                                                                            \
            for (uint32_t x = 0; x < block->width; x++) {                                                              \
                const int32_t negative = -(int32_t)(samples[x] >> 31);                                                 \
                row[x] = (type)(((int32_t)((samples[x] & 0x7FFFFFFFu) >> shift) ^ negative) - negative);               \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_STORE(store_int16, int16_t)
DEFINE_STORE(store_int32, int32_t)

/* The reversible transform halves towards 0, which drops the half step, the irreversible one keeps it. */
void l2k_t1_store(const l2k_t1_block *block, uint32_t *samples, size_t stride, bool doubled)
{
    const unsigned border = block->roi_shift + doubled;
    if (block->roi_shift && border < 31)
        unshift_region(samples, stride * block->height, block->roi_shift, border);
    (block->type == L2K_COEFFICIENT_INT16 ? store_int16 : store_int32)(block, samples, stride,
                                                                       doubled && block->reversible);
}

static void start_segment(block_decoder *b, uint8_t *bytes, uint32_t length)
{
    bytes[length] = bytes[length + 1] = 0xFF; /* reads as ones from here on */
    l2k_raw_decode_start(&b->raw, bytes);
    l2k_mq_decode_start(&b->mq, bytes);
}

static void decode_pass(block_decoder *b, const l2k_t1_block *block, coding_pass at)
{
    const bool raw = l2k_pass_is_raw(block->style, at.number);
    if (at.type == PASS_CLEANUP)
        cleanup_pass(b, at.plane);
    else if (at.type == PASS_SIGNIFICANCE && raw)
        significance_pass(b, at.plane, true);
    else if (at.type == PASS_SIGNIFICANCE)
        significance_pass(b, at.plane, false);
    else if (raw)
        refinement_pass(b, at.plane, true);
    else
        refinement_pass(b, at.plane, false);
    if (at.type == PASS_CLEANUP && (block->style & L2K_STYLE_SEGSYM))
        for (int symbol = 0; symbol < 4; symbol++)
            l2k_mq_decode(&b->mq, &b->memory->model, L2K_CONTEXT_UNIFORM);
    if (block->style & L2K_STYLE_RESET)
        l2k_mq_model_reset(&b->memory->model);
}

static void decode_passes(block_decoder *b, const l2k_t1_block *block, unsigned num_planes, uint8_t *bytes,
                          const l2k_t1_segment *segments, size_t num_segments)
{
    coding_pass at = first_pass(num_planes);
    for (size_t s = 0; s < num_segments; s++) {
        start_segment(b, bytes, segments[s].bytes);
        for (uint32_t i = 0; i < segments[s].passes; i++) {
            decode_pass(b, block, at);
            if (is_last_pass(at))
                return;
            at = next_pass(at);
        }
        bytes += segments[s].bytes + 2;
    }
}

void l2k_t1_decode(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const l2k_t1_segment *segments,
                   size_t num_segments)
{
    l2k_t1_decoder *const d = t1->decoder;
    block_decoder b = {.memory = d,
                       .width = block->width,
                       .height = block->height,
                       .span = (block->width + 7) / 8 + 1,
                       .causal = block->style & L2K_STYLE_VSC};
    for (unsigned i = 7; i < 54; i++)
        b.place[i] = (uint16_t)((i % 6 - 1) * block->width + i / 6 - 1);
    memset(d->samples, 0, (size_t)block->height * block->width * sizeof *d->samples);
    clear_windows(&b);
    l2k_mq_model_reset(&d->model);
    memcpy(d->zero_context, d->zero_contexts[block->orientation], sizeof d->zero_context);
    decode_passes(&b, block, num_planes, t1->bytes, segments, num_segments);
    l2k_t1_store(block, d->samples, block->width, true);
}
