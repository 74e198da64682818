#include "tiling/pixel/pixel.h"

#include "base/vector.h"

/* Three components of one type that alternate in memory, as image files have them: one pass reads or writes all three,
 * so that the compiler moves whole vectors and sorts them in registers. */
#define DEFINE_TRIPLES(name, sample, transform, value, up)                                                             \
    L2K_VECTOR static void load_##name##_##transform(const sample *restrict in, const l2k_pixel_row pixels[3],         \
                                                     size_t n, value *restrict c0, value *restrict c1,                 \
                                                     value *restrict c2)                                               \
    {                                                                                                                  \
        l2k_level_shift s0 = pixels[0].shift, s1 = pixels[1].shift, s2 = pixels[2].shift;                              \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            value x0 = (value)l2k_shift_down(in[3 * i], s0), x1 = (value)l2k_shift_down(in[3 * i + 1], s1);            \
            value x2 = (value)l2k_shift_down(in[3 * i + 2], s2);                                                       \
            l2k_##transform##_forward(&x0, &x1, &x2);                                                                  \
            c0[i] = x0;                                                                                                \
            c1[i] = x1;                                                                                                \
            c2[i] = x2;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    L2K_VECTOR static void store_##name##_##transform(sample *restrict out, const l2k_pixel_row pixels[3], size_t n,   \
                                                      const value *restrict c0, const value *restrict c1,              \
                                                      const value *restrict c2)                                        \
    {                                                                                                                  \
        l2k_level_shift s0 = pixels[0].shift, s1 = pixels[1].shift, s2 = pixels[2].shift;                              \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            value x0 = c0[i], x1 = c1[i], x2 = c2[i];                                                                  \
            l2k_##transform##_inverse(&x0, &x1, &x2);                                                                  \
            out[3 * i] = (sample)up(x0, s0);                                                                           \
            out[3 * i + 1] = (sample)up(x1, s1);                                                                       \
            out[3 * i + 2] = (sample)up(x2, s2);                                                                       \
        }                                                                                                              \
    }

DEFINE_TRIPLES(u8, uint8_t, rct, int32_t, l2k_shift_up)
DEFINE_TRIPLES(u16, uint16_t, rct, int32_t, l2k_shift_up)
DEFINE_TRIPLES(u8, uint8_t, ict, float, l2k_shift_up_f32)
DEFINE_TRIPLES(u16, uint16_t, ict, float, l2k_shift_up_f32)

/* The size of a sample where the rows are such triples, else 0. */
static size_t triple_size(const l2k_pixel_row pixels[3])
{
    l2k_sample_type type = pixels[0].type;
    size_t size = type == L2K_SAMPLE_U8 ? sizeof(uint8_t) : type == L2K_SAMPLE_U16 ? sizeof(uint16_t) : 0;
    if (size == 0 || (uintptr_t)pixels[0].data % size != 0)
        return 0;
    for (size_t c = 0; c < 3; c++)
        if (pixels[c].type != type || pixels[c].stride != (ptrdiff_t)(3 * size) ||
            (char *)pixels[c].data != (char *)pixels[0].data + c * size)
            return 0;
    return size;
}

#define DEFINE_CHOICE(transform, value)                                                                                \
    bool l2k_triples_load_##transform(const l2k_pixel_row pixels[3], size_t n, value *const rows[3])                   \
    {                                                                                                                  \
        size_t size = triple_size(pixels);                                                                             \
        if (size == sizeof(uint8_t))                                                                                   \
            load_u8_##transform(pixels[0].data, pixels, n, rows[0], rows[1], rows[2]);                                 \
        else if (size == sizeof(uint16_t))                                                                             \
            load_u16_##transform(pixels[0].data, pixels, n, rows[0], rows[1], rows[2]);                                \
        return size != 0;                                                                                              \
    }                                                                                                                  \
    bool l2k_triples_store_##transform(const l2k_pixel_row pixels[3], size_t n, value *const rows[3])                  \
    {                                                                                                                  \
        size_t size = triple_size(pixels);                                                                             \
        if (size == sizeof(uint8_t))                                                                                   \
            store_u8_##transform(pixels[0].data, pixels, n, rows[0], rows[1], rows[2]);                                \
        else if (size == sizeof(uint16_t))                                                                             \
            store_u16_##transform(pixels[0].data, pixels, n, rows[0], rows[1], rows[2]);                               \
        return size != 0;                                                                                              \
    }

DEFINE_CHOICE(rct, int32_t)
DEFINE_CHOICE(ict, float)
