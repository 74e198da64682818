/* The state of a comparison of decoding, from code-blocks to samples. */
#ifndef CONFORMANCE_COEFFICIENTS_INVERSE_H
#define CONFORMANCE_COEFFICIENTS_INVERSE_H

#include "conformance/coefficients/coefficients.h"

typedef struct inverse {
    stage_table *table;
    const trial *t;
    l2k_backend backend;
    const watch_log *log;
    bool joint; /* there was a component transform */
} inverse;

/* A transform that begins with the coefficients of the trial. */
wish inverse_wish(const inverse *v, l2k_coefficient_type type);

/* A tile-component at the decoded resolution level. */
l2k_rect inverse_rect(const inverse *v, const tile_frame *tile, uint32_t c);

/* OpenJPEG's coefficients in units of samples; `doubled`: as output by tier-1, where the 9/7 has twice the index. */
grid inverse_coefficients(const inverse *v, const watch_plane *plane, const l2k_coefficients *view, bool doubled);

/* All samples of an int32 plane without padding. */
grid grid_of_ints(const int32_t *samples, uint32_t width, uint32_t height);

/* From OpenJPEG's code-blocks to samples (decode.c). */
void compare_from_blocks(inverse *v, const tile_frame *tile);

#endif
