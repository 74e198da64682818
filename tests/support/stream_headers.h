/* Codestreams made of headers alone or with arbitrary bytes as packets, to test limits. */
#ifndef L2K_TESTS_SUPPORT_STREAM_HEADERS_H
#define L2K_TESTS_SUPPORT_STREAM_HEADERS_H

#include "api_support.h"

/* Grows in large increments, because realloc is slow under sanitizers. */
static inline void put(memory_file *file, uint64_t value, unsigned bytes)
{
    while (bytes-- > 0) {
        if (file->size % (1 << 18) == 0)
            file->data = realloc(file->data, file->size + (1 << 18));
        assert_non_null(file->data);
        file->data[file->size++] = (uint8_t)(value >> 8 * bytes);
    }
}

typedef struct stream_shape {
    uint32_t width, height, tile_width, tile_height, precision, components, layers, sub_sampling;
    unsigned levels, log2_block, log2_precinct, progression;
} stream_shape;

static inline void put_cod(memory_file *file, const stream_shape *s)
{
    put(file, 0xFF52, 2);
    put(file, 12 + s->levels + 1, 2);
    put(file, 1 << 24 | s->progression << 16 | s->layers, 4);
    put(file, 0, 1);
    put(file, s->levels, 1);
    put(file, (s->log2_block - 2) * 0x0101, 2);
    put(file, 0x0001, 2); /* style, 5/3 */
    for (unsigned r = 0; r <= s->levels; r++)
        put(file, s->log2_precinct * 0x11, 1);
}

static inline void put_tile_part(memory_file *file, uint32_t tile, uint32_t bytes)
{
    put(file, 0xFF90000A, 4);
    put(file, tile, 2);
    put(file, bytes, 4);
    put(file, 0x0001FF93, 4);
}

/* A codestream's main header. */
static inline memory_file make_header(const stream_shape *s)
{
    memory_file file = memory_of(NULL, 0);
    put(&file, 0xFF4FFF51, 4);
    put(&file, 38 + 3 * s->components, 2);
    put(&file, 0, 2);
    const uint32_t sizes[] = {s->width, s->height, 0, 0, s->tile_width, s->tile_height, 0, 0};
    for (int i = 0; i < 8; i++)
        put(&file, sizes[i], 4);
    put(&file, s->components, 2);
    for (uint32_t c = 0; c < s->components; c++)
        put(&file, (s->precision - 1) << 16 | (s->sub_sampling ? s->sub_sampling : 1) * 0x0101, 3);
    put_cod(&file, s);
    put(&file, 0xFF5C, 2);
    put(&file, 3 + 3 * s->levels + 1, 2);
    put(&file, 0x40, 1);
    for (unsigned b = 0; b <= 3 * s->levels; b++)
        put(&file, 8 << 3, 1);
    return file;
}

/* A codestream with one tile-part, empty except for `padding` bytes of packets. */
static inline memory_file make_stream(const stream_shape *s, unsigned padding)
{
    memory_file file = make_header(s);
    put_tile_part(&file, 0, 0);
    for (unsigned i = 0; i < padding; i++)
        put(&file, random_below(4) ? 0x80 : random_below(255), 1);
    return file;
}

/* POC (A.6.6) with `count` copies of one progression change of 7 bytes. */
static inline void put_changes(memory_file *file, uint32_t count, uint64_t change)
{
    put(file, 0xFF5F, 2);
    put(file, 2 + 7 * count, 2);
    for (uint32_t i = 0; i < count; i++)
        put(file, change, 7);
}

#endif
