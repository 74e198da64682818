/* What a file may ask for. Samples cost next to nothing in a codestream, so a few bytes could ask for any amount of
 * memory: by default a file gets it in proportion to its own size, with enough for what blank pictures take. */
#ifndef L2K_CODEC_CODESTREAM_LIMITS_H
#define L2K_CODEC_CODESTREAM_LIMITS_H

#include "base/context.h"
#include "tiling/geometry.h"

typedef struct l2k_sample_limits {
    uint64_t samples; /* all components together */
    uint64_t bytes;   /* of these samples, in the smallest types that hold them */
    uint64_t file_bytes;
} l2k_sample_limits;

/* For L2K_DECODER_LIMIT_SAMPLES as the caller set it, 0 = by the file's size. */
l2k_sample_limits l2k_limit_samples(int64_t option, uint64_t file_bytes);

/* For L2K_DECODER_LIMIT_MEMORY, likewise. */
uint64_t l2k_limit_memory(int64_t option, uint64_t file_bytes);

/* L2K_ERROR_LIMIT where an image with these components is too much; L2K_ERROR_CORRUPT where one has no samples. */
l2k_status l2k_check_samples(const l2k_context *context, const l2k_sample_limits *limits, l2k_rect image,
                             uint32_t num_components, const l2k_component *components);

#endif
