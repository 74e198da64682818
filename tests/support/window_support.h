/* Windows of files in memory that are read in parts, and what they cost in packets and code-blocks. Programs that
 * include it are linked with --wrap for the two calls that are counted. */
#ifndef L2K_TESTS_SUPPORT_WINDOW_SUPPORT_H
#define L2K_TESTS_SUPPORT_WINDOW_SUPPORT_H

#include "stream_support.h"

#include "codec/blocks/mq/t1.h"
#include "codec/packets/packet.h"

/* The library's internal calls, counted (the linker's --wrap). */
typedef struct effort {
    size_t packets, blocks; /* packets read, code-blocks decoded */
    uint64_t kept_bytes;    /* of packets whose code-blocks are kept */
} effort;

static effort counted __attribute__((unused));

l2k_status __real_l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                                  l2k_packet_input *input);
l2k_status __wrap_l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                                  l2k_packet_input *input);
l2k_status __wrap_l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                                  l2k_packet_input *input)
{
    const uint8_t *start = input->data;
    __atomic_fetch_add(&counted.packets, 1, __ATOMIC_RELAXED); /* several threads may read packets */
    l2k_status status = __real_l2k_packet_read(context, tile, id, keep, input);
    __atomic_fetch_add(&counted.kept_bytes, keep ? (uint64_t)(input->data - start) : 0, __ATOMIC_RELAXED);
    return status;
}

void __real_l2k_t1_decode(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const l2k_t1_segment *segments,
                          size_t num_segments);
void __wrap_l2k_t1_decode(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const l2k_t1_segment *segments,
                          size_t num_segments);
void __wrap_l2k_t1_decode(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const l2k_t1_segment *segments,
                          size_t num_segments)
{
    __atomic_fetch_add(&counted.blocks, 1, __ATOMIC_RELAXED);
    __real_l2k_t1_decode(t1, block, num_planes, segments, num_segments);
}

/* ---- Files and windows ---------------------------------------------------------------------------------------- */

enum { SIDE = 512 };

typedef struct area {
    uint32_t x0, y0, x1, y1;
} area;

static inline int read_part(void *user, uint64_t offset, void *buffer, size_t bytes)
{
    const memory_file *file = user;
    assert_true(offset <= file->size && bytes <= file->size - offset);
    if (offset + bytes > file->fail_at)
        return -1;
    memcpy(buffer, file->data + offset, bytes);
    return 0;
}

static inline l2k_decoder *open_parts(memory_file *file, const l2k_hooks *hooks)
{
    l2k_decoder *decoder = new_decoder(hooks, 1);
    assert_int_equal(l2k_decoder_open_file(decoder, &(l2k_file){file->size, read_part, file}), L2K_OK);
    return decoder;
}

static inline l2k_status decode_window(l2k_decoder *decoder, area a, picture *got)
{
    l2k_image image;
    counted = (effort){0};
    assert_int_equal(l2k_decoder_set_region(decoder, a.x0, a.y0, a.x1, a.y1), L2K_OK);
    assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
    picture_adopt(got, &image);
    return l2k_decoder_decode(decoder, got->planes);
}

static inline void expect_window(l2k_decoder *decoder, const picture *p, area a)
{
    picture got;
    assert_int_equal(decode_window(decoder, a, &got), L2K_OK);
    for (uint32_t y = a.y0; y < a.y1; y++)
        assert_memory_equal(got.samples[0] + (size_t)(y - a.y0) * (a.x1 - a.x0),
                            p->samples[0] + (size_t)y * SIDE + a.x0, (a.x1 - a.x0) * sizeof(int32_t));
    picture_free(&got);
}

#endif
