/* Limits on what a file may need. Blank samples take almost no bytes in a codestream, so a few bytes could require any
 * amount of memory: by default the limits are proportional to the file's size, with a minimum that suffices for blank
 * pictures. */
#ifndef L2K_CODEC_CODESTREAM_LIMITS_H
#define L2K_CODEC_CODESTREAM_LIMITS_H

#include "base/context.h"
#include "tiling/geometry.h"

typedef struct l2k_sample_limits {
    uint64_t samples; /* all components together */
    uint64_t bytes;   /* of these samples, in the smallest types that hold them */
    uint64_t file_bytes;
} l2k_sample_limits;

/* The limits for a value of L2K_DECODER_LIMIT_SAMPLES, 0 = by the file's size. */
l2k_sample_limits l2k_limit_samples(int64_t option, uint64_t file_bytes);

/* The limit for a value of L2K_DECODER_LIMIT_MEMORY, 0 = by the file's size. */
uint64_t l2k_limit_memory(int64_t option, uint64_t file_bytes);

/* L2K_ERROR_LIMIT if an image with these components is too large; L2K_ERROR_CORRUPT if a component has no samples. */
l2k_status l2k_check_samples(const l2k_context *context, const l2k_sample_limits *limits, l2k_rect image,
                             uint32_t num_components, const l2k_component *components);

#endif
