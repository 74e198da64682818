#include "tiling/pixel/pixel.h"

#include <string.h>

#include "base/vector.h"

#define INLINE static inline __attribute__((always_inline))

/* Every loop below is written once for any distance between samples, counted in samples, and handed the distances that
 * matter as constants, so that the compiler can vectorise those. */
#define BY_DISTANCE(loop, distance, ...)                                                                               \
    do {                                                                                                               \
        if ((distance) == 1)                                                                                           \
            loop(1, __VA_ARGS__);                                                                                      \
        else if ((distance) == 3)                                                                                      \
            loop(3, __VA_ARGS__);                                                                                      \
        else if ((distance) == 4)                                                                                      \
            loop(4, __VA_ARGS__);                                                                                      \
        else                                                                                                           \
            loop(distance, __VA_ARGS__);                                                                               \
    } while (0)

static int32_t from_value_i32(int32_t x, l2k_level_shift s)
{
    return l2k_shift_up(x, s);
}

static int32_t from_value_f32(float x, l2k_level_shift s)
{
    return l2k_shift_up_f32(x, s);
}

/* Loads and stores for one sample type and one kind of value. Samples at odd addresses, or at distances that are no
 * multiple of their size, go byte by byte. */
#define DEFINE_ACCESS(name, sample, kind, value)                                                                       \
    INLINE void load_loop_##name##_##kind(ptrdiff_t distance, const sample *restrict in, size_t n, l2k_level_shift s,  \
                                          value *restrict row)                                                         \
    {                                                                                                                  \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            row[i] = (value)l2k_shift_down(in[(ptrdiff_t)i * distance], s);                                            \
    }                                                                                                                  \
    INLINE void store_loop_##name##_##kind(ptrdiff_t distance, sample *restrict out, size_t n, l2k_level_shift s,      \
                                           const value *restrict row)                                                  \
    {                                                                                                                  \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            out[(ptrdiff_t)i * distance] = (sample)from_value_##kind(row[i], s);                                       \
    }                                                                                                                  \
    L2K_VECTOR static void load_##name##_##kind(const l2k_pixel_row *pixels, size_t n, value *row)                     \
    {                                                                                                                  \
        if (is_regular(pixels, sizeof(sample))) {                                                                      \
            ptrdiff_t distance = pixels->stride / (ptrdiff_t)sizeof(sample);                                           \
            BY_DISTANCE(load_loop_##name##_##kind, distance, (const sample *)pixels->data, n, pixels->shift, row);     \
            return;                                                                                                    \
        }                                                                                                              \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            sample x;                                                                                                  \
            memcpy(&x, (const char *)pixels->data + (ptrdiff_t)i * pixels->stride, sizeof x);                          \
            row[i] = (value)l2k_shift_down(x, pixels->shift);                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    L2K_VECTOR static void store_##name##_##kind(const l2k_pixel_row *pixels, size_t n, const value *row)              \
    {                                                                                                                  \
        if (is_regular(pixels, sizeof(sample))) {                                                                      \
            ptrdiff_t distance = pixels->stride / (ptrdiff_t)sizeof(sample);                                           \
            BY_DISTANCE(store_loop_##name##_##kind, distance, (sample *)pixels->data, n, pixels->shift, row);          \
            return;                                                                                                    \
        }                                                                                                              \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            sample x = (sample)from_value_##kind(row[i], pixels->shift);                                               \
            memcpy((char *)pixels->data + (ptrdiff_t)i * pixels->stride, &x, sizeof x);                                \
        }                                                                                                              \
    }

static bool is_regular(const l2k_pixel_row *pixels, size_t size)
{
    return (uintptr_t)pixels->data % size == 0 && pixels->stride % (ptrdiff_t)size == 0;
}

DEFINE_ACCESS(u8, uint8_t, i32, int32_t)
DEFINE_ACCESS(s8, int8_t, i32, int32_t)
DEFINE_ACCESS(u16, uint16_t, i32, int32_t)
DEFINE_ACCESS(s16, int16_t, i32, int32_t)
DEFINE_ACCESS(s32, int32_t, i32, int32_t)
DEFINE_ACCESS(u8, uint8_t, f32, float)
DEFINE_ACCESS(s8, int8_t, f32, float)
DEFINE_ACCESS(u16, uint16_t, f32, float)
DEFINE_ACCESS(s16, int16_t, f32, float)
DEFINE_ACCESS(s32, int32_t, f32, float)

/* Float samples are values already. */
L2K_VECTOR static void load_f32_f32(const l2k_pixel_row *pixels, size_t n, float *row)
{
    for (size_t i = 0; i < n; i++)
        memcpy(&row[i], (const char *)pixels->data + (ptrdiff_t)i * pixels->stride, sizeof *row);
}

L2K_VECTOR static void store_f32_f32(const l2k_pixel_row *pixels, size_t n, const float *row)
{
    for (size_t i = 0; i < n; i++)
        memcpy((char *)pixels->data + (ptrdiff_t)i * pixels->stride, &row[i], sizeof *row);
}

/* Indexed by l2k_sample_type; float samples go with the 9/7 only. */
static void (*const load_i32[])(const l2k_pixel_row *, size_t, int32_t *) = {load_u8_i32, load_s8_i32, load_u16_i32,
                                                                             load_s16_i32, load_s32_i32};
static void (*const load_f32[])(const l2k_pixel_row *, size_t, float *) = {load_u8_f32,  load_s8_f32,  load_u16_f32,
                                                                           load_s16_f32, load_s32_f32, load_f32_f32};
static void (*const store_i32[])(const l2k_pixel_row *, size_t, const int32_t *) = {
    store_u8_i32, store_s8_i32, store_u16_i32, store_s16_i32, store_s32_i32};
static void (*const store_f32[])(const l2k_pixel_row *, size_t, const float *) = {
    store_u8_f32, store_s8_f32, store_u16_f32, store_s16_f32, store_s32_f32, store_f32_f32};

void l2k_pixels_load_i32(const l2k_pixel_row *pixels, size_t n, int32_t *row)
{
    load_i32[pixels->type](pixels, n, row);
}

void l2k_pixels_load_f32(const l2k_pixel_row *pixels, size_t n, float *row)
{
    load_f32[pixels->type](pixels, n, row);
}

void l2k_pixels_store_i32(const l2k_pixel_row *pixels, size_t n, const int32_t *row)
{
    store_i32[pixels->type](pixels, n, row);
}

void l2k_pixels_store_f32(const l2k_pixel_row *pixels, size_t n, const float *row)
{
    store_f32[pixels->type](pixels, n, row);
}

/* ---- Component transforms ------------------------------------------------------------------------------------ */

#define DEFINE_TRANSFORM(name, value)                                                                                  \
    L2K_VECTOR static void name##_rows(size_t n, value *restrict c0, value *restrict c1, value *restrict c2)           \
    {                                                                                                                  \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            value x0 = c0[i], x1 = c1[i], x2 = c2[i];                                                                  \
            l2k_##name(&x0, &x1, &x2);                                                                                 \
            c0[i] = x0;                                                                                                \
            c1[i] = x1;                                                                                                \
            c2[i] = x2;                                                                                                \
        }                                                                                                              \
    }

DEFINE_TRANSFORM(rct_forward, int32_t)
DEFINE_TRANSFORM(rct_inverse, int32_t)
DEFINE_TRANSFORM(ict_forward, float)
DEFINE_TRANSFORM(ict_inverse, float)

/* Rows are worked off in pieces that stay in the first-level cache between the passes. */
#define PIECE ((size_t)1024)

static l2k_pixel_row piece_of(const l2k_pixel_row *pixels, size_t first)
{
    l2k_pixel_row piece = *pixels;
    piece.data = (char *)piece.data + (ptrdiff_t)first * piece.stride;
    return piece;
}

#define DEFINE_JOINT(kind, value, transform)                                                                           \
    void l2k_pixels_load_##transform(const l2k_pixel_row pixels[3], size_t n, value *const rows[3])                    \
    {                                                                                                                  \
        if (l2k_triples_load_##transform(pixels, n, rows))                                                             \
            return;                                                                                                    \
        for (size_t first = 0; first < n; first += PIECE) {                                                            \
            size_t count = n - first < PIECE ? n - first : PIECE;                                                      \
            for (int c = 0; c < 3; c++) {                                                                              \
                l2k_pixel_row piece = piece_of(&pixels[c], first);                                                     \
                l2k_pixels_load_##kind(&piece, count, rows[c] + first);                                                \
            }                                                                                                          \
            transform##_forward_rows(count, rows[0] + first, rows[1] + first, rows[2] + first);                        \
        }                                                                                                              \
    }                                                                                                                  \
    void l2k_pixels_store_##transform(const l2k_pixel_row pixels[3], size_t n, value *const rows[3])                   \
    {                                                                                                                  \
        if (l2k_triples_store_##transform(pixels, n, rows))                                                            \
            return;                                                                                                    \
        for (size_t first = 0; first < n; first += PIECE) {                                                            \
            size_t count = n - first < PIECE ? n - first : PIECE;                                                      \
            transform##_inverse_rows(count, rows[0] + first, rows[1] + first, rows[2] + first);                        \
            for (int c = 0; c < 3; c++) {                                                                              \
                l2k_pixel_row piece = piece_of(&pixels[c], first);                                                     \
                l2k_pixels_store_##kind(&piece, count, rows[c] + first);                                               \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_JOINT(i32, int32_t, rct)
DEFINE_JOINT(f32, float, ict)
