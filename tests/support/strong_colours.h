/* A picture with colours so strong that the chroma of RCT needs a third guard bit (docs/numerics.md). */
#ifndef L2K_TESTS_SUPPORT_STRONG_COLOURS_H
#define L2K_TESTS_SUPPORT_STRONG_COLOURS_H

#include <stdint.h>
#include <string.h>

enum {
    STRONG_SIDE = 512,
    STRONG_LEVELS = 5,
    STRONG_PITCH = 128,
    STRONG_TAPS = 4 * ((1 << STRONG_LEVELS) - 1) + 1,
};

/* The low-pass analysis filter of five levels of 5/3: the filter of each level, upsampled by two and convolved with the
 * others. */
static inline void strong_colours_filter(double taps[STRONG_TAPS])
{
    static const double one[5] = {-1 / 8., 2 / 8., 6 / 8., 2 / 8., -1 / 8.};
    double from[STRONG_TAPS] = {1};
    int length = 1;
    for (int level = 0; level < STRONG_LEVELS; level++) {
        double to[STRONG_TAPS] = {0};
        for (int i = 0; i < length; i++)
            for (int k = 0; k < 5; k++)
                to[i + (k << level)] += from[i] * one[k];
        length += 4 << level;
        memcpy(from, to, sizeof from);
    }
    memcpy(taps, from, sizeof from);
}

/* STRONG_SIDE rows of as many RGB pixels of 8 bits: blue where the filter is positive, green where it is negative,
 * around every crossing of a grid, so that U = B - G adds up. */
static inline void strong_colours_draw(uint8_t *pixels)
{
    double taps[STRONG_TAPS];
    strong_colours_filter(taps);
    for (int y = 0; y < STRONG_SIDE; y++)
        for (int x = 0; x < STRONG_SIDE; x++) {
            int i = x % STRONG_PITCH - STRONG_PITCH / 2 + STRONG_TAPS / 2;
            int k = y % STRONG_PITCH - STRONG_PITCH / 2 + STRONG_TAPS / 2;
            double value = i >= 0 && i < STRONG_TAPS && k >= 0 && k < STRONG_TAPS ? taps[i] * taps[k] : 0;
            uint8_t *pixel = pixels + 3 * (y * STRONG_SIDE + x);
            pixel[0] = 0;
            pixel[1] = value >= 0 ? 0 : 255;
            pixel[2] = value >= 0 ? 255 : 0;
        }
}

#endif
