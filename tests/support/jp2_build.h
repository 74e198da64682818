/* Builds JP2 files box by box. */
#ifndef L2K_TESTS_SUPPORT_JP2_BUILD_H
#define L2K_TESTS_SUPPORT_JP2_BUILD_H

#include "api_support.h"

typedef struct file_builder {
    uint8_t data[1 << 18];
    size_t size;
} file_builder;

static inline void put(file_builder *f, uint64_t value, unsigned bytes)
{
    while (bytes-- > 0)
        f->data[f->size++] = (uint8_t)(value >> 8 * bytes);
}

static inline void put_bytes(file_builder *f, const void *data, size_t bytes)
{
    assert_true(f->size + bytes <= sizeof f->data);
    memcpy(f->data + f->size, data, bytes);
    f->size += bytes;
}

static inline size_t begin(file_builder *f, const char *type)
{
    put(f, 0, 4);
    put_bytes(f, type, 4);
    return f->size - 8;
}

static inline void end(file_builder *f, size_t start)
{
    size_t size = f->size, bytes = size - start;
    f->size = start;
    put(f, bytes, 4);
    f->size = size;
}

static inline void put_signature(file_builder *f)
{
    f->size = 0;
    put_bytes(f,
              "\0\0\0\x0CjP  \r\n\x87\n\0\0\0\x14"
              "ftypjp2 \0\0\0\0jp2 ",
              32);
}

static inline void put_image_header(file_builder *f, const picture *p, unsigned depth, unsigned unknown)
{
    size_t box = begin(f, "ihdr");
    put(f, p->image.y1 - p->image.y0, 4);
    put(f, p->image.x1 - p->image.x0, 4);
    put(f, p->image.num_components, 2);
    put(f, depth, 1);
    put(f, 7, 1);
    put(f, unknown, 1);
    put(f, 0, 1);
    end(f, box);
}

static inline void put_colour(file_builder *f, unsigned enumerated)
{
    size_t box = begin(f, "colr");
    put(f, 1, 1);
    put(f, 0, 2);
    put(f, enumerated, 4);
    end(f, box);
}

static inline void put_codestream(file_builder *f, const picture *p)
{
    memory_file code = encode_with(p, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    size_t box = begin(f, "jp2c");
    put_bytes(f, code.data, code.size);
    end(f, box);
    free(code.data);
}

static inline l2k_status decode_built(const file_builder *f, picture *got)
{
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_status status = decode_bytes(&hooks, f->data, f->size, got);
    assert_int_equal(w.live, 0);
    assert_false(w.bad_line);
    assert_int_equal(w.errors, status != L2K_OK);
    return status;
}

#endif
