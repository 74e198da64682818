/* The default limits of samples and memory, and the check of an image against the limit of samples. */
#include "codec/codestream/codestream_read.h"

/* These allow a file of a hundred bytes 21 MB of samples and 30 MiB of other memory, less than 64 MiB together. */
#define MOST_SAMPLES          ((uint64_t)1 << 36)
#define LEAST_SAMPLE_BYTES    ((uint64_t)1 << 23)
#define SAMPLE_BYTES_PER_BYTE ((uint64_t)1 << 17)
#define LEAST_MEMORY          ((uint64_t)24 << 20)
#define MEMORY_PER_BYTE       ((uint64_t)1 << 16)

/* least + bytes * per_byte, without overflow. */
static uint64_t in_proportion(uint64_t least, uint64_t per_byte, uint64_t bytes)
{
    return bytes < ((uint64_t)1 << 62) / per_byte ? least + bytes * per_byte : (uint64_t)1 << 62;
}

l2k_sample_limits l2k_limit_samples(int64_t option, uint64_t file_bytes)
{
    if (option)
        return (l2k_sample_limits){(uint64_t)option, UINT64_MAX, file_bytes};
    return (l2k_sample_limits){MOST_SAMPLES, in_proportion(LEAST_SAMPLE_BYTES, SAMPLE_BYTES_PER_BYTE, file_bytes),
                               file_bytes};
}

uint64_t l2k_limit_memory(int64_t option, uint64_t file_bytes)
{
    return option ? (uint64_t)option : in_proportion(LEAST_MEMORY, MEMORY_PER_BYTE, file_bytes);
}

static l2k_status refuse(const l2k_context *context, const l2k_sample_limits *limits, l2k_rect image, uint32_t count)
{
    return l2k_fail(context, L2K_ERROR_LIMIT,
                    "an image of %u x %u x %u in a file of %llu bytes is more than the limit of samples allows",
                    l2k_rect_width(image), l2k_rect_height(image), count, (unsigned long long)limits->file_bytes);
}

l2k_status l2k_check_samples(const l2k_context *context, const l2k_sample_limits *limits, l2k_rect image,
                             uint32_t num_components, const l2k_component *components)
{
    uint64_t samples = 0, bytes = 0;
    for (uint32_t c = 0; c < num_components; c++) {
        const l2k_component *k = &components[c];
        l2k_rect rect = l2k_component_rect(image, k->dx, k->dy);
        uint64_t area = l2k_rect_area(rect);
        uint64_t size = k->precision <= 8 ? 1 : k->precision <= 16 ? 2 : 4;
        if (l2k_rect_empty(rect))
            return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: component %u has no samples", c);
        if (area > limits->samples - samples || area > (limits->bytes - bytes) / size)
            return refuse(context, limits, image, num_components);
        samples += area;
        bytes += area * size;
    }
    return L2K_OK;
}
