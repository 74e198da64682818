/* One sample out of a plane. */
#ifndef L2K_PICTURES_SAMPLE_H
#define L2K_PICTURES_SAMPLE_H

#include "lift2k/lift2k.h"

/* Not of L2K_SAMPLE_F32, which no picture of the command has. */
static inline int32_t cli_load_sample(const char *at, l2k_sample_type type)
{
    switch (type) {
    case L2K_SAMPLE_U8:
        return *(const uint8_t *)at;
    case L2K_SAMPLE_S8:
        return *(const int8_t *)at;
    case L2K_SAMPLE_U16:
        return *(const uint16_t *)(const void *)at;
    case L2K_SAMPLE_S16:
        return *(const int16_t *)(const void *)at;
    default:
        return *(const int32_t *)(const void *)at;
    }
}

#endif
