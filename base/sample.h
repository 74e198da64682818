/* Samples in the caller's memory, as l2k_plane describes them. */
#ifndef L2K_BASE_SAMPLE_H
#define L2K_BASE_SAMPLE_H

#include <string.h>

#include "lift2k/lift2k.h"

static inline size_t l2k_sample_bytes(l2k_sample_type type)
{
    return type <= L2K_SAMPLE_S8 ? 1 : type <= L2K_SAMPLE_S16 ? 2 : 4;
}

/* The sample in column x of row y. */
static inline uint8_t *l2k_sample_at(const l2k_plane *plane, uint32_t x, uint32_t y)
{
    return (uint8_t *)plane->data + (ptrdiff_t)y * plane->row_stride + (ptrdiff_t)x * plane->sample_stride;
}

/* Stores a value that the plane's integer type holds. */
static inline void l2k_sample_store(const l2k_plane *plane, uint32_t x, uint32_t y, int32_t value)
{
    uint8_t *at = l2k_sample_at(plane, x, y);
    uint8_t small = (uint8_t)value;
    uint16_t medium = (uint16_t)value;
    switch (l2k_sample_bytes(plane->type)) {
    case 1:
        *at = small;
        break;
    case 2:
        memcpy(at, &medium, sizeof medium);
        break;
    default:
        memcpy(at, &value, sizeof value);
        break;
    }
}

/* Whether every value of a component fits an integer sample type. Any other type holds nothing. */
static inline bool l2k_sample_type_holds(l2k_sample_type type, uint32_t precision, bool is_signed)
{
    static const struct {
        uint8_t bits;
        bool is_signed;
    } types[] = {[L2K_SAMPLE_U8] = {8, false},
                 [L2K_SAMPLE_S8] = {8, true},
                 [L2K_SAMPLE_U16] = {16, false},
                 [L2K_SAMPLE_S16] = {16, true},
                 [L2K_SAMPLE_S32] = {32, true}};
    if ((unsigned)type >= sizeof types / sizeof *types)
        return false;
    if (is_signed)
        return types[type].is_signed && precision <= types[type].bits;
    return precision <= (uint32_t)types[type].bits - types[type].is_signed;
}

#endif
