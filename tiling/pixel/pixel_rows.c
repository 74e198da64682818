/* Rows of samples to rows of values and back (Annex G). Compiled once per instruction set (base/cpu.h). */
#include "tiling/pixel/pixel_rows.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* ---- One component: level shift ------------------------------------------------------------------------------ */

/* l2k_shift_up_f32 for precisions up to 16: adding 1.5 * 2^23 rounds to an integer in the low bits. */
INLINE int32_t l2k_shift_up_short_f32(float value, l2k_level_shift s)
{
    const float low = (float)s.low, high = (float)s.high;
    float x = value > low ? value : low;
    int32_t word;
    x = (x < high ? x : high) + 12582912.0f;
    memcpy(&word, &x, sizeof word);
    return word - 0x4B400000 + s.shift;
}

/* Every loop is written once for any stride, and gets common ones as constants, so that the compiler can vectorise
 * these. */
#define BY_STRIDE(loop, stride, sample, ...)                                                                           \
    do {                                                                                                               \
        const ptrdiff_t size = sizeof(sample);                                                                         \
        if ((stride) == size)                                                                                          \
            loop(size, __VA_ARGS__);                                                                                   \
        else if ((stride) == 3 * size)                                                                                 \
            loop(3 * size, __VA_ARGS__);                                                                               \
        else if ((stride) == 4 * size)                                                                                 \
            loop(4 * size, __VA_ARGS__);                                                                               \
        else                                                                                                           \
            loop(stride, __VA_ARGS__);                                                                                 \
    } while (0)

#define DEFINE_ACCESS(name, sample, value, up)                                                                         \
    INLINE void load_loop_##name(ptrdiff_t stride, const char *restrict in, size_t n, l2k_level_shift s,               \
                                 value *restrict row)                                                                  \
    {                                                                                                                  \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            sample x;                                                                                                  \
            memcpy(&x, in + (ptrdiff_t)i * stride, sizeof x);                                                          \
            row[i] = (value)l2k_shift_down(x, s);                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    INLINE void store_loop_##name(ptrdiff_t stride, char *restrict out, size_t n, l2k_level_shift s,                   \
                                  const value *restrict row)                                                           \
    {                                                                                                                  \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const sample x = (sample)up(row[i], s);                                                                    \
            memcpy(out + (ptrdiff_t)i * stride, &x, sizeof x);                                                         \
        }                                                                                                              \
    }                                                                                                                  \
    static void load_##name(const l2k_pixel_row *pixels, size_t n, void *values)                                       \
    {                                                                                                                  \
        BY_STRIDE(load_loop_##name, pixels->stride, sample, pixels->data, n, pixels->shift, values);                   \
    }                                                                                                                  \
    static void store_##name(const l2k_pixel_row *pixels, size_t n, const void *values)                                \
    {                                                                                                                  \
        BY_STRIDE(store_loop_##name, pixels->stride, sample, pixels->data, n, pixels->shift, values);                  \
    }

DEFINE_ACCESS(u8_i32, uint8_t, int32_t, l2k_shift_up)
DEFINE_ACCESS(s8_i32, int8_t, int32_t, l2k_shift_up)
DEFINE_ACCESS(u16_i32, uint16_t, int32_t, l2k_shift_up)
DEFINE_ACCESS(s16_i32, int16_t, int32_t, l2k_shift_up)
DEFINE_ACCESS(s32_i32, int32_t, int32_t, l2k_shift_up)
DEFINE_ACCESS(u8_f32, uint8_t, float, l2k_shift_up_short_f32)
DEFINE_ACCESS(s8_f32, int8_t, float, l2k_shift_up_short_f32)
DEFINE_ACCESS(u16_f32, uint16_t, float, l2k_shift_up_short_f32)
DEFINE_ACCESS(s16_f32, int16_t, float, l2k_shift_up_short_f32)
DEFINE_ACCESS(s32_f32, int32_t, float, l2k_shift_up_f32)

/* Float samples are values already. */
static void load_f32_f32(const l2k_pixel_row *pixels, size_t n, void *values)
{
    float *row = values;
    for (size_t i = 0; i < n; i++)
        memcpy(&row[i], (const char *)pixels->data + (ptrdiff_t)i * pixels->stride, sizeof *row);
}

static void store_f32_f32(const l2k_pixel_row *pixels, size_t n, const void *values)
{
    const float *row = values;
    for (size_t i = 0; i < n; i++)
        memcpy((char *)pixels->data + (ptrdiff_t)i * pixels->stride, &row[i], sizeof *row);
}

/* ---- Three components: component transforms ------------------------------------------------------------------ */

#define DEFINE_TRANSFORM(name, value)                                                                                  \
    static void name(size_t n, void *row0, void *row1, void *row2)                                                     \
    {                                                                                                                  \
        value *restrict c0 = row0, *restrict c1 = row1, *restrict c2 = row2;                                           \
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

/* Three components of one type that alternate in memory, as in image files: one loop writes all three, so that the
 * compiler moves whole vectors and permutes them in registers. Reading so gains nothing. */
#define DEFINE_INTERLEAVED(name, sample, inverse, value, up)                                                           \
    static void store_three_##name(void *restrict samples, const l2k_pixel_row pixels[3], size_t n,                    \
                                   const void *restrict row0, const void *restrict row1, const void *restrict row2)    \
    {                                                                                                                  \
        sample *restrict out = samples;                                                                                \
        const value *restrict c0 = row0, *restrict c1 = row1, *restrict c2 = row2;                                     \
        l2k_level_shift s0 = pixels[0].shift, s1 = pixels[1].shift, s2 = pixels[2].shift;                              \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            value x0 = c0[i], x1 = c1[i], x2 = c2[i];                                                                  \
            l2k_##inverse(&x0, &x1, &x2);                                                                              \
            out[3 * i] = (sample)up(x0, s0);                                                                           \
            out[3 * i + 1] = (sample)up(x1, s1);                                                                       \
            out[3 * i + 2] = (sample)up(x2, s2);                                                                       \
        }                                                                                                              \
    }

DEFINE_INTERLEAVED(u8_rct, uint8_t, rct_inverse, int32_t, l2k_shift_up)
DEFINE_INTERLEAVED(u16_rct, uint16_t, rct_inverse, int32_t, l2k_shift_up)
DEFINE_INTERLEAVED(u8_ict, uint8_t, ict_inverse, float, l2k_shift_up_short_f32)
DEFINE_INTERLEAVED(u16_ict, uint16_t, ict_inverse, float, l2k_shift_up_short_f32)

/* ---- The table ----------------------------------------------------------------------------------------------- */

const l2k_pixel_rows L2K_ROWS_TABLE(l2k_pixel_rows) = {
    .store = {{store_u8_i32, store_s8_i32, store_u16_i32, store_s16_i32, store_s32_i32, NULL},
              {store_u8_f32, store_s8_f32, store_u16_f32, store_s16_f32, store_s32_f32, store_f32_f32}},
    .store_interleaved = {{store_three_u8_rct, store_three_u16_rct}, {store_three_u8_ict, store_three_u16_ict}},
    .inverse = {rct_inverse, ict_inverse},
#ifndef L2K_WITHOUT_ENCODER
    .load = {{load_u8_i32, load_s8_i32, load_u16_i32, load_s16_i32, load_s32_i32, NULL},
             {load_u8_f32, load_s8_f32, load_u16_f32, load_s16_f32, load_s32_f32, load_f32_f32}},
    .forward = {rct_forward, ict_forward},
#endif
};

#ifdef L2K_ROWS_BASE
const l2k_pixel_rows *l2k_pixel_rows_get(l2k_cpu cpu)
{
    static const l2k_pixel_rows *const tables[] = L2K_CPU_TABLES(l2k_pixel_rows);
    return tables[l2k_cpu_resolve(cpu)];
}
#endif
