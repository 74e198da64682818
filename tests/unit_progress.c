/* The progress hook is asked often, however little of a picture there is to show for the work. The clock of this
 * program goes a second further each time it is looked at, so that every question of the library comes through to the
 * hook: they are counted against the work. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "stream_headers.h"

#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static time_t seconds;
    (void)clock;
    *time = (struct timespec){.tv_sec = ++seconds};
    return 0;
}

typedef struct counter {
    watch w; /* first, for its hooks */
    unsigned calls, stop_at;
} counter;

static bool count_call(void *user, double done)
{
    counter *c = user;
    (void)done;
    return ++c->calls != c->stop_at;
}

static l2k_hooks counting_hooks(counter *c)
{
    *c = (counter){0};
    l2k_hooks hooks = watch_hooks(&c->w);
    hooks.progress = count_call;
    hooks.user = c;
    return hooks;
}

/* ---- Questions of whole calls -------------------------------------------------------------------------------- */

typedef struct questions {
    unsigned opening, decoding;
} questions;

static questions ask_decoder(const memory_file *file, int component, const uint32_t *region)
{
    counter c;
    questions q;
    l2k_image image;
    static l2k_plane planes[MOST_CHANNELS];
    l2k_hooks hooks = counting_hooks(&c);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, component);
    if (region)
        assert_int_equal(l2k_decoder_set_region(decoder, region[0], region[1], region[2], region[3]), L2K_OK);
    assert_int_equal(l2k_decoder_open_memory(decoder, file->data, file->size), L2K_OK);
    q.opening = c.calls;
    assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
    for (uint32_t k = 0; k < image.num_components; k++) {
        const ptrdiff_t row = (ptrdiff_t)image.components[k].width;
        planes[k] = (l2k_plane){malloc((size_t)row * image.components[k].height), row, 1, L2K_SAMPLE_U8};
        assert_non_null(planes[k].data);
    }
    l2k_status status = l2k_decoder_decode(decoder, planes);
    assert_true(status == L2K_OK || status == L2K_INCOMPLETE);
    q.decoding = c.calls - q.opening;
    for (uint32_t k = 0; k < image.num_components; k++)
        free(planes[k].data);
    l2k_decoder_free(decoder);
    return q;
}

/* Tiles of one precinct in one resolution. */
static stream_shape shape_of(uint32_t width, uint32_t height, uint32_t tile_width)
{
    return (stream_shape){.width = width,
                          .height = height,
                          .tile_width = tile_width,
                          .tile_height = height,
                          .precision = 8,
                          .components = 1,
                          .layers = 1,
                          .log2_block = 2,
                          .log2_precinct = 15};
}

/* The last of many progression changes select nothing: nothing is between one packet and the end. */
static void test_changes(void **unused)
{
    (void)unused;
    enum { SIDE = 256, CHANGES = 150 };
    unsigned decoding[2];
    for (unsigned many = 0; many < 2; many++) {
        const unsigned changes = many ? CHANGES : 1;
        stream_shape shape = shape_of(SIDE, SIDE, SIDE);
        shape.log2_precinct = 0;
        memory_file file = make_header(&shape);
        put(&file, 0xFF5F, 2);
        put(&file, 2 + 7 * changes, 2);
        for (unsigned i = 0; i < changes; i++)
            put(&file, 0x00000001210100, 7);
        put_tile_part(&file, 0, 0);
        for (unsigned i = 0; i < SIDE * SIDE; i++)
            put(&file, 0, 1);
        decoding[many] = ask_decoder(&file, 0, NULL).decoding;
        free(file.data);
    }
    assert_in_range(decoding[1] - decoding[0], (CHANGES - 1) * (SIDE * SIDE >> 14), 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
