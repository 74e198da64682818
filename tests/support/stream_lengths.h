/* Codestreams whose lengths of packets stand in the main header (PLM), made of those that have PLT. */
#ifndef L2K_TESTS_SUPPORT_STREAM_LENGTHS_H
#define L2K_TESTS_SUPPORT_STREAM_LENGTHS_H

#include "stream_edit.h"

/* The next marker segment of a header. */
static inline size_t next_segment(const memory_file *file, size_t at)
{
    return at + 2 + l2k_get_be(file->data + at + 2, 2);
}

static inline size_t find_segment(const memory_file *file, size_t at, uint32_t marker)
{
    while (l2k_get_be(file->data + at, 2) != marker)
        at = next_segment(file, at);
    return at;
}

/* The first SOT. */
static inline size_t find_sot(const memory_file *file)
{
    return find_segment(file, 2, 0xFF90);
}

/* Each tile-part has one PLT at the beginning of its header, of at most 255 bytes of lengths, and there is no TLM. The
 * PLM segments have `shares` tile-parts each. */
static inline void move_lengths(memory_file *file, unsigned shares)
{
    const size_t first = find_sot(file);
    memory_file main = memory_of(NULL, 0), rest = memory_of(NULL, 0), segment = memory_of(NULL, 0);
    uint32_t index = 0, count = 0;
    memory_write(&main, file->data, first);
    size_t at = first, start, bytes, plt;
    for (; l2k_get_be(file->data + at, 2) == 0xFF90; at += bytes) {
        bytes = l2k_get_be(file->data + at + 6, 4);
        plt = at + 12;
        assert_int_equal(l2k_get_be(file->data + plt, 2), 0xFF58);
        const uint32_t skip = 2 + l2k_get_be(file->data + plt + 2, 2);
        assert_true(skip - 5 < 256);
        edit_put(&segment, skip - 5, 1);
        memory_write(&segment, file->data + plt + 5, skip - 5);
        start = rest.size;
        memory_write(&rest, file->data + at, 12);
        memory_write(&rest, file->data + plt + skip, bytes - 12 - skip);
        for (unsigned i = 0; i < 4; i++)
            rest.data[start + 6 + i] = (uint8_t)((bytes - skip) >> (24 - 8 * i));
        const bool last = l2k_get_be(file->data + at + bytes, 2) != 0xFF90;
        if (++count < shares && !last)
            continue;
        edit_put(&main, 0xFF57, 2);
        edit_put(&main, (uint32_t)segment.size + 3, 2);
        edit_put(&main, index++, 1);
        memory_write(&main, segment.data, segment.size);
        segment.size = count = 0;
    }
    memory_write(&rest, file->data + at, file->size - at);
    memory_write(&main, rest.data, rest.size);
    free(rest.data);
    free(segment.data);
    free(file->data);
    *file = main;
}

#endif
