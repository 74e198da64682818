/* Images of code-blocks in host and in device memory for comparisons of block coders: subbands in views that are wider,
 * with guard bands around; a list of their blocks for the CPU, and one for the device. Included after support.h. */
#ifndef L2K_TESTS_GPU_BLOCK_IMAGES_H
#define L2K_TESTS_GPU_BLOCK_IMAGES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/blocks/block_coder.h"
#include "device.h"

enum { MOST_IMAGES = 4, MOST_BLOCKS = 400, GUARD = 1024, POISON = 0x5A };

/* One subband, in a view that is wider, in memory with guards on both sides. */
typedef struct image {
    l2k_component_coding coding;
    l2k_tile_component component;
    l2k_subband band;
    l2k_coefficients host, device;
    uint8_t *memory, *original, *result; /* the host's, before a batch, and the device's after it */
    void *device_memory;
    size_t bytes;
    unsigned log2_width, log2_height; /* of a code-block */
    float step;                       /* of the quantiser */
} image;

static image images[MOST_IMAGES];
static l2k_block both[2][MOST_BLOCKS]; /* for the CPU, and for the device */
static const image *owners[MOST_BLOCKS];
static l2k_block_place places[2][MOST_BLOCKS];
static size_t num_images, num_blocks;
static uint32_t most_side = 300; /* of an image, roughly */

static inline uint32_t random_side(unsigned log2)
{
    const uint32_t side = 1u << log2;
    uint32_t length = random_below(3) ? 1 + random_below(3 * side) : side * (1 + random_below(2));
    return length > most_side && most_side < side ? side : length;
}

static inline void choose_size(image *m)
{
    m->log2_width = random_below(3) ? 2 + random_below(5) : 2 + random_below(9);
    m->log2_height = random_below(3) ? 2 + random_below(5) : 2 + random_below(9);
    while (m->log2_width + m->log2_height > 12)
        *(random_below(2) && m->log2_width > 2 ? &m->log2_width : &m->log2_height) -= 1;
    if (m->log2_height < 2)
        m->log2_height = 2;
    while (m->log2_width + m->log2_height > 12)
        m->log2_width--;
}

static inline void make_view(image *m, l2k_coefficient_type type)
{
    const uint32_t width = l2k_rect_width(m->band.rect), height = l2k_rect_height(m->band.rect);
    const unsigned number = l2k_band_number(m->band.resolution, m->band.orientation);
    m->host = (l2k_coefficients){.type = type, .num_bands = number + 1};
    m->host.bands[number] = (l2k_band_view){random_below(4), random_below(4), width, height};
    m->host.width = m->host.bands[number].x + width;
    m->host.height = m->host.bands[number].y + height;
    m->host.stride = m->host.width + random_below(9);
    m->bytes = 2 * GUARD + m->host.stride * m->host.height * l2k_coefficient_bytes(type);
    m->memory = malloc(m->bytes);
    m->original = malloc(m->bytes);
    m->result = malloc(m->bytes);
    assert_true(m->memory && m->original && m->result);
    memset(m->memory, POISON, m->bytes);
    m->device = m->host;
    m->device_memory = gpu_take(m->bytes);
    m->host.base = m->memory + GUARD;
    m->device.base = gpu_part(m->device_memory, GUARD, m->bytes - GUARD);
    m->device.on_device = true;
}

static inline void list_block(const image *m, l2k_rect rect)
{
    if (num_blocks == MOST_BLOCKS)
        return;
    for (unsigned k = 0; k < 2; k++) {
        memset(&both[k][num_blocks], 0, sizeof both[k][num_blocks]);
        both[k][num_blocks].rect = rect;
        places[k][num_blocks] = (l2k_block_place){&both[k][num_blocks], &m->band};
    }
    owners[num_blocks++] = m;
}

/* Code-blocks lie on a grid that begins at 0, so those at the subband's edges are smaller. */
static inline void list_image(const image *m)
{
    const l2k_rect band = m->band.rect;
    const uint32_t width = 1u << m->log2_width, height = 1u << m->log2_height;
    for (uint32_t y = band.y0 / height * height; y < band.y1; y += height)
        for (uint32_t x = band.x0 / width * width; x < band.x1; x += width)
            list_block(m, l2k_rect_intersect((l2k_rect){x, y, x + width, y + height}, band));
}

static inline void free_image(image *m)
{
    gpu_give_back(m->device_memory);
    free(m->memory);
    free(m->original);
    free(m->result);
}

/* The device's memory begins as a copy of the host's. */
static inline void copy_in(void)
{
    for (size_t i = 0; i < num_images; i++) {
        memcpy(images[i].original, images[i].memory, images[i].bytes);
        gpu_copy_in(images[i].device_memory, images[i].memory, images[i].bytes);
    }
}

static inline void use_views(bool device)
{
    for (size_t i = 0; i < num_images; i++)
        images[i].component.view = device ? &images[i].device : &images[i].host;
}

/* Guards and the elements between rows included. */
static inline void compare_memory(bool with_original)
{
    for (size_t i = 0; i < num_images; i++) {
        const image *m = &images[i];
        gpu_copy_out(m->result, m->device_memory, m->bytes);
        const uint8_t *wanted = with_original ? m->original : m->memory;
        for (size_t k = 0; k < m->bytes; k++)
            if (m->result[k] != wanted[k]) {
                const size_t at = (k - GUARD) / l2k_coefficient_bytes(m->host.type);
                fprintf(stderr,
                        "image %zu (%u x %u in blocks of %u x %u, style %u, %s): differs at column %zu, row %zu\n", i,
                        m->host.width, m->host.height, 1u << m->log2_width, 1u << m->log2_height, m->coding.style,
                        m->host.type == L2K_COEFFICIENT_INT16   ? "int16"
                        : m->host.type == L2K_COEFFICIENT_INT32 ? "int32"
                                                                : "float",
                        at % m->host.stride, at / m->host.stride);
                exit(1);
            }
    }
}

/* ---- Errors, and bytes to decode ----------------------------------------------------------------------------------
 */

static bool expects_errors;

/* What blocks to decode are made of; how much of it the device's coder may copy as a whole, which need not be enough.
 */
static uint8_t stream[1 << 24];
static size_t stream_used, stream_offered;

static inline void print_error(void *user, l2k_severity severity, const char *text)
{
    (void)user, (void)severity;
    if (!expects_errors)
        fprintf(stderr, "lift2k: %s\n", text);
}

static l2k_context context = {.threads = 2, .hooks = {.message = print_error}};

#endif
