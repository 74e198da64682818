/* What decoding a region does not read or decode: packets, code-blocks, bytes of the file. */
#define _DEFAULT_SOURCE /* mmap */
#include "stream_support.h"

#include <sys/mman.h>
#include <unistd.h>

#include "codec/blocks/mq/t1.h"
#include "codec/packets/packet.h"

/* The library's internal calls, counted (the linker's --wrap). */
typedef struct effort {
    size_t packets, blocks; /* packets that are kept, code-blocks that are decoded */
    size_t bands;           /* subbands whose place was computed */
} effort;

static effort counted;

l2k_status __real_l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                                  l2k_packet_input *source);
l2k_status __wrap_l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                                  l2k_packet_input *source);
l2k_status __wrap_l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                                  l2k_packet_input *source)
{
    counted.packets += keep;
    return __real_l2k_packet_read(context, tile, id, keep, source);
}

void __real_l2k_t1_decode(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const l2k_t1_segment *segments,
                          size_t num_segments);
void __wrap_l2k_t1_decode(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const l2k_t1_segment *segments,
                          size_t num_segments);
void __wrap_l2k_t1_decode(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const l2k_t1_segment *segments,
                          size_t num_segments)
{
    counted.blocks++;
    __real_l2k_t1_decode(t1, block, num_planes, segments, num_segments);
}

l2k_rect __real_l2k_unsplit_subband(l2k_rect tile_component, l2k_unsplit unsplit, unsigned level, unsigned orientation);
l2k_rect __wrap_l2k_unsplit_subband(l2k_rect tile_component, l2k_unsplit unsplit, unsigned level, unsigned orientation);
l2k_rect __wrap_l2k_unsplit_subband(l2k_rect tile_component, l2k_unsplit unsplit, unsigned level, unsigned orientation)
{
    counted.bands++;
    return __real_l2k_unsplit_subband(tile_component, unsplit, level, orientation);
}

static effort count_region(const memory_file *file, const uint32_t *r, uint32_t reduce, picture *got)
{
    counted = (effort){0};
    decode_region(file, r, reduce, got);
    return counted;
}

/* Small tiles of many levels consist of subbands: their places are computed once for the tile and once for its plan. */
static void test_places_of_bands(void **unused)
{
    (void)unused;
    picture p, got;
    picture_make(&p, 9, 7, 1);
    l2k_encoder *encoder = new_encoder(32);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 1);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 1);
    memory_file file = finish_encoder(encoder, &p);
    const size_t bands = 3 * 32 + 1, tiles = 9 * 7;
    const effort all = count_region(&file, (const uint32_t[4]){0, 0, 9, 7}, 0, &got);
    assert_true(picture_equal(&p, &got));
    assert_in_range(all.bands, tiles * bands, (2 * tiles + 3) * bands); /* three for the limit of memory */
    picture_free(&got);
    free(file.data);
    picture_free(&p);
}

/* Decoding a corner of a large tile uses only the packets and code-blocks around it: all others may hold anything. */
static void test_region_effort(void **unused)
{
    (void)unused;
    static edit e;
    static const uint32_t corner[4] = {0, 0, 20, 20}, all[4] = {0, 0, 512, 512};
    picture p, part, again;
    picture_make(&p, 512, 512, 1);
    l2k_encoder *encoder = new_encoder(3);
    const l2k_size precincts[] = {{64, 64}, {64, 64}, {32, 32}, {32, 32}};
    assert_int_equal(l2k_encoder_set_precincts(encoder, precincts, 4), L2K_OK);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    effort whole = count_region(&file, all, 0, &part);
    assert_true(picture_equal(&p, &part));
    picture_free(&part);
    assert_int_equal(whole.packets, 64 + 16 + 16 + 4);
    effort few = count_region(&file, corner, 0, &part);
    for (uint32_t y = 0; y < 20; y++)
        assert_memory_equal(part.samples[0] + 20 * y, p.samples[0] + 512 * y, 20 * sizeof(int32_t));
    assert_int_equal(few.packets, 4); /* one precinct of each resolution */
    assert_true(few.blocks <= 3 * 4 * 4 && few.blocks * 20 < whole.blocks);
    /* The packets are in the file by resolution: 4, 16, 16, 64. The first of each is the corner's. */
    for (size_t i = 0; i < e.num_packets; i++)
        if (i != 0 && i != 4 && i != 20 && i != 36)
            memset((uint8_t *)(uintptr_t)e.packets[i].body.data, 0x55, e.packets[i].body.size);
    effort same = count_region(&file, corner, 0, &again);
    assert_true(picture_equal(&part, &again));
    assert_int_equal(same.blocks, few.blocks);
    picture_free(&again);
    picture_free(&part);
    effort reduced = count_region(&file, all, 2, &part);
    assert_int_equal(reduced.packets, 4 + 16);
    picture_free(&part);
    free(file.data);
    picture_free(&p);
}

/* Only the headers and the bytes of the region's tile are read: the pages between them cannot be. */
static void test_region_reading(void **unused)
{
    (void)unused;
    static const uint32_t corner[4] = {0, 0, 100, 100};
    picture p, got;
    picture_make(&p, 1024, 256, 1);
    for (uint32_t i = 0; i < 1024 * 256; i++)
        p.samples[0][i] = (int32_t)random_below(256);
    l2k_encoder *encoder = new_encoder(2);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 256);
    memory_file file = finish_encoder(encoder, &p);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), closed = 0;
    uint8_t *mapped = mmap(NULL, file.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(mapped != MAP_FAILED);
    memcpy(mapped, file.data, file.size);
    size_t at = 0;
    while (!(mapped[at] == 0xFF && mapped[at + 1] == 0x90))
        at++;
    for (size_t bytes; mapped[at + 1] == 0x90; at += bytes) {
        bytes = l2k_get_be(mapped + at + 6, 4);
        /* Pages without any byte of SOT to SOD or of the next tile-part. */
        size_t first = (at + 14 + page - 1) / page * page, last = (at + bytes) / page * page;
        if (l2k_get_be(mapped + at + 4, 2) > 0 && last > first) {
            assert_int_equal(mprotect(mapped + first, last - first, PROT_NONE), 0);
            closed += last - first;
        }
    }
    assert_true(closed > file.size / 2);
    l2k_image image;
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    assert_int_equal(l2k_decoder_open_memory(decoder, NULL, 1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_open_memory(decoder, mapped, file.size), L2K_OK);
    assert_int_equal(l2k_decoder_set_region(decoder, corner[0], corner[1], corner[2], corner[3]), L2K_OK);
    assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
    picture_adopt(&got, &image);
    assert_int_equal(l2k_decoder_decode(decoder, got.planes), L2K_OK);
    for (uint32_t y = 0; y < 100; y++)
        assert_memory_equal(got.samples[0] + 100 * y, p.samples[0] + 1024 * y, 100 * sizeof(int32_t));
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_BYTES, 10);
    assert_int_equal(l2k_decoder_open_memory(decoder, mapped, file.size), L2K_ERROR_LIMIT);
    l2k_decoder_free(decoder);
    munmap(mapped, file.size);
    picture_free(&got);
    free(file.data);
    picture_free(&p);
}

/* Regions that cut tiles, and blank tiles, in planes with gaps between samples: nothing is written into the gaps. */
static void check_spread(const memory_file *file, const uint32_t *r)
{
    enum { STRIDE = 3, OTHER = 0xA5 };
    picture want;
    decode_region(file, r, 0, &want);
    const size_t count = (size_t)want.width[0] * want.height[0];
    uint8_t *bytes = malloc(count * STRIDE);
    assert_non_null(bytes);
    memset(bytes, OTHER, count * STRIDE);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    assert_int_equal(l2k_decoder_open_memory(decoder, file->data, file->size), L2K_OK);
    assert_int_equal(l2k_decoder_set_region(decoder, r[0], r[1], r[2], r[3]), L2K_OK);
    l2k_plane plane = {bytes, (ptrdiff_t)want.width[0] * STRIDE, STRIDE, L2K_SAMPLE_U8};
    assert_int_equal(l2k_decoder_decode(decoder, &plane), L2K_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(bytes[STRIDE * i], want.samples[0][i]);
        assert_true(bytes[STRIDE * i + 1] == OTHER && bytes[STRIDE * i + 2] == OTHER);
    }
    l2k_decoder_free(decoder);
    free(bytes);
    picture_free(&want);
}

static void test_spread(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 90, 70, 1);
    for (uint32_t y = 0; y < 40; y++)
        for (uint32_t x = 0; x < 50; x++)
            p.samples[0][y * 90 + x] = 128;
    l2k_encoder *encoder = new_encoder(2);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 32);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 32);
    memory_file file = finish_encoder(encoder, &p);
    check_spread(&file, (const uint32_t[4]){0, 0, 90, 70});
    check_spread(&file, (const uint32_t[4]){5, 3, 77, 61});
    check_spread(&file, (const uint32_t[4]){1, 1, 31, 31});
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_region_effort), cmocka_unit_test(test_region_reading),
                                       cmocka_unit_test(test_places_of_bands), cmocka_unit_test(test_spread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
