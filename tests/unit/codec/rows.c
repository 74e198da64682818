/* An image encoded by rows of tiles: the same file as for the whole image, the differences without `rewrite`, and calls
 * out of order. */
#include "api_support.h"
#include "base/integer.h"

static l2k_stream rows_stream(memory_file *file, bool rewrites)
{
    l2k_stream stream = stream_of(file);
    stream.rewrite = rewrites ? memory_rewrite : NULL;
    return stream;
}

/* Copies of the area, so that sanitizers see reads past it. */
static l2k_status put(l2k_encoder *encoder, const picture *p)
{
    uint32_t x0, y0, x1, y1;
    l2k_plane planes[MOST_CHANNELS];
    void *copies[MOST_CHANNELS];
    assert_int_equal(l2k_encoder_next_tile(encoder, &x0, &y0, &x1, &y1), L2K_OK);
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        const uint32_t dx = p->components[c].dx, dy = p->components[c].dy;
        const uint32_t left = l2k_ceil_div(x0, dx) - l2k_ceil_div(p->image.x0, dx);
        const uint32_t top = l2k_ceil_div(y0, dy) - l2k_ceil_div(p->image.y0, dy);
        const size_t rows = l2k_ceil_div(y1, dy) - l2k_ceil_div(y0, dy),
                     columns = l2k_ceil_div(x1, dx) - l2k_ceil_div(x0, dx);
        planes[c] = p->planes[c];
        planes[c].row_stride = (ptrdiff_t)(columns * sizeof(int32_t));
        planes[c].data = copies[c] = malloc(rows * columns * sizeof(int32_t));
        assert_non_null(copies[c]);
        for (size_t y = 0; y < rows; y++)
            memcpy((int32_t *)copies[c] + y * columns, p->samples[c] + (top + y) * p->width[c] + left,
                   columns * sizeof(int32_t));
    }
    l2k_status status = l2k_encoder_put_rows(encoder, planes);
    for (uint32_t c = 0; c < p->image.num_components; c++)
        free(copies[c]);
    return status;
}

static l2k_status encode_by_rows(l2k_encoder *encoder, const picture *p, memory_file *out, bool rewrites)
{
    l2k_stream stream = rows_stream(out, rewrites);
    l2k_status status = l2k_encoder_begin(encoder, &p->image, &stream);
    while (status == L2K_OK) {
        uint32_t y0, y1;
        assert_int_equal(l2k_encoder_next_rows(encoder, &y0, &y1), L2K_OK);
        if (y0 == y1)
            return l2k_encoder_end(encoder);
        status = put(encoder, p);
    }
    return status;
}

/* Not at the origin, sub-sampled, with a size that tiles do not divide. */
static void make_odd_picture(picture *p)
{
    picture_shape(p, 0, 0, 4);
    p->image.x0 = 13;
    p->image.y0 = 27;
    p->image.x1 = 213;
    p->image.y1 = 190;
    p->components[3].dx = 3;
    p->components[3].dy = 2;
    p->components[3].precision = 11;
    for (uint32_t c = 0; c < 4; c++)
        picture_fill(p, c);
}

static l2k_encoder *tiled_encoder(l2k_format format, int variant)
{
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_non_null(encoder);
    const int64_t settings[][2] = {{L2K_ENCODER_TILE_WIDTH, 50},
                                   {L2K_ENCODER_TILE_HEIGHT, 37},
                                   {L2K_ENCODER_TILE_X0, 5},
                                   {L2K_ENCODER_TILE_Y0, 3},
                                   {L2K_ENCODER_LEVELS, 3},
                                   {L2K_ENCODER_FORMAT, format},
                                   {L2K_ENCODER_TLM, variant > 0},
                                   {L2K_ENCODER_PLT, variant > 1},
                                   {L2K_ENCODER_TILE_PARTS, variant > 2 ? L2K_TILE_PARTS_RESOLUTION : 0},
                                   {L2K_ENCODER_PROGRESSION, variant > 2 ? L2K_RPCL : L2K_LRCP}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_int_equal(l2k_encoder_set(encoder, (l2k_encoder_option)settings[i][0], settings[i][1]), L2K_OK);
    return encoder;
}

static void test_same_file(void **unused)
{
    (void)unused;
    picture p;
    make_odd_picture(&p);
    for (int variant = 0; variant < 4; variant++)
        for (int format = L2K_FORMAT_JP2; format <= L2K_FORMAT_CODESTREAM; format++) {
            memory_file whole = memory_of(NULL, 0), rows = memory_of(NULL, 0);
            l2k_encoder *encoder = tiled_encoder((l2k_format)format, variant);
            assert_int_equal(run_encoder(encoder, &p, &whole), L2K_OK);
            assert_int_equal(encode_by_rows(encoder, &p, &rows, true), L2K_OK);
            assert_same_file(&rows, &whole);
            l2k_encoder_free(encoder);
            free(whole.data);
            free(rows.data);
        }
    picture_free(&p);
}

/* Tile by tile, also with progression order changes of single tiles, and lengths listed. */
static void test_by_tile(void **unused)
{
    (void)unused;
    picture p;
    make_odd_picture(&p);
    const l2k_poc changes[2] = {{7, L2K_CPRL, 0, 2, 0, 4, 1}, {7, L2K_RLCP, 2, 4, 0, 4, 1}};
    for (int variant = 0; variant < 4; variant++) {
        memory_file whole = memory_of(NULL, 0), tiles = memory_of(NULL, 0), rows = memory_of(NULL, 0);
        l2k_encoder *encoder = tiled_encoder(L2K_FORMAT_JP2, variant);
        assert_int_equal(l2k_encoder_set_poc(encoder, changes, variant % 2 ? 2 : 0), L2K_OK);
        assert_int_equal(run_encoder(encoder, &p, &whole), L2K_OK);
        assert_int_equal(encode_by_rows(encoder, &p, &rows, true), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_BY_TILE, 1), L2K_OK);
        assert_int_equal(encode_by_rows(encoder, &p, &tiles, true), L2K_OK);
        assert_same_file(&tiles, &whole);
        assert_same_file(&rows, &whole);
        l2k_encoder_free(encoder);
        free(whole.data);
        free(rows.data);
        free(tiles.data);
    }
    picture_free(&p);
}

/* Then LBox is 0, and TLM is impossible. */
static void test_without_rewrite(void **unused)
{
    (void)unused;
    picture p, got;
    memory_file rows = memory_of(NULL, 0), none = memory_of(NULL, 0);
    make_odd_picture(&p);
    l2k_encoder *encoder = tiled_encoder(L2K_FORMAT_JP2, 0);
    assert_int_equal(encode_by_rows(encoder, &p, &rows, false), L2K_OK);
    assert_int_equal(decode_bytes(NULL, rows.data, rows.size, &got), L2K_OK);
    assert_true(picture_equal(&p, &got));
    picture_free(&got);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TLM, 1), L2K_OK);
    assert_int_equal(encode_by_rows(encoder, &p, &none, false), L2K_ERROR_ARGUMENT);
    assert_int_equal(none.size, 0);
    l2k_encoder_free(encoder);
    free(rows.data);
    picture_free(&p);
}

/* The target applies to each row of tiles: it takes no more than its share, and nearly all of it. */
static void test_targets(void **unused)
{
    (void)unused;
    picture p, got;
    const double ratio = 6;
    memory_file rows = memory_of(NULL, 0);
    picture_make(&p, 256, 256, 3);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 128), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 64), L2K_OK);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, &ratio, 1), L2K_OK);
    assert_int_equal(encode_by_rows(encoder, &p, &rows, true), L2K_OK);
    assert_in_range(rows.size, 3 * 256 * 256 / 6 * 9 / 10, 3 * 256 * 256 / 6);
    assert_int_equal(decode_bytes(NULL, rows.data, rows.size, &got), L2K_OK);
    picture_free(&got);
    l2k_encoder_free(encoder);
    free(rows.data);
    picture_free(&p);
}

static void test_order_of_calls(void **unused)
{
    (void)unused;
    picture p;
    uint32_t y0, y1;
    memory_file rows = memory_of(NULL, 0);
    l2k_stream stream = rows_stream(&rows, true);
    picture_make(&p, 40, 40, 1);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 20), L2K_OK);
    assert_int_equal(l2k_encoder_next_rows(encoder, &y0, &y1), L2K_ERROR_STATE);
    assert_int_equal(l2k_encoder_put_rows(encoder, p.planes), L2K_ERROR_STATE);
    assert_int_equal(l2k_encoder_end(encoder), L2K_ERROR_STATE);
    assert_int_equal(l2k_encoder_begin(encoder, NULL, &stream), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_begin(encoder, &p.image, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_begin(encoder, &p.image, &stream), L2K_OK);
    assert_int_equal(l2k_encoder_put_rows(encoder, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TLM, 1), L2K_ERROR_STATE);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, NULL, 0), L2K_ERROR_STATE);
    assert_int_equal(l2k_encoder_set_precincts(encoder, NULL, 0), L2K_ERROR_STATE);
    assert_int_equal(put(encoder, &p), L2K_OK);
    assert_int_equal(l2k_encoder_next_rows(encoder, &y0, &y1), L2K_OK);
    assert_true(y0 == 20 && y1 == 40);
    assert_int_equal(l2k_encoder_end(encoder), L2K_ERROR_STATE); /* rows are missing, which ends the image */
    assert_int_equal(l2k_encoder_end(encoder), L2K_ERROR_STATE);
    assert_int_equal(encode_by_rows(encoder, &p, &rows, true), L2K_OK);
    assert_int_equal(l2k_encoder_begin(encoder, &p.image, &stream), L2K_OK);
    assert_int_equal(put(encoder, &p), L2K_OK);
    assert_int_equal(put(encoder, &p), L2K_OK);
    assert_int_equal(l2k_encoder_put_rows(encoder, p.planes), L2K_ERROR_STATE);
    l2k_encoder_free(encoder); /* in the middle of an image */
    free(rows.data);
    picture_free(&p);
}

/* Tiles of one row and one column: component 1 has samples, and so planes, only in every other row of tiles. */
static void test_absent_rows(void **unused)
{
    (void)unused;
    enum { SIDE = 4 };
    picture p;
    memory_file whole = memory_of(NULL, 0), rows = memory_of(NULL, 0);
    l2k_stream stream = rows_stream(&rows, true);
    picture_make(&p, SIDE, SIDE, 2);
    p.components[1].dy = 2;
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 1), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 1), L2K_OK);
    assert_int_equal(run_encoder(encoder, &p, &whole), L2K_OK);
    assert_int_equal(l2k_encoder_begin(encoder, &p.image, &stream), L2K_OK);
    for (uint32_t y = 0; y < SIDE; y++) {
        l2k_plane planes[2] = {p.planes[0], p.planes[1]};
        planes[0].data = (char *)planes[0].data + y * planes[0].row_stride;
        planes[1].data = y % 2 ? NULL : (char *)planes[1].data + y / 2 * planes[1].row_stride;
        assert_int_equal(l2k_encoder_put_rows(encoder, planes), L2K_OK);
    }
    assert_int_equal(l2k_encoder_end(encoder), L2K_OK);
    assert_same_file(&rows, &whole);
    l2k_encoder_free(encoder);
    free(whole.data);
    free(rows.data);
    picture_free(&p);
}

static void test_failing_stream(void **unused)
{
    (void)unused;
    picture p;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    picture_make(&p, 64, 64, 1);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 16), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1), L2K_OK);
    for (size_t at = 0; at < 600; at += 50) {
        memory_file rows = memory_of(NULL, 0);
        rows.fail_at = at;
        assert_int_equal(encode_by_rows(encoder, &p, &rows, true), L2K_ERROR_IO);
        assert_int_equal(w.live, 1); /* the encoder itself */
        free(rows.data);
    }
    l2k_encoder_free(encoder);
    assert_int_equal(w.live, 0);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_file),       cmocka_unit_test(test_by_tile),
        cmocka_unit_test(test_without_rewrite), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_order_of_calls),  cmocka_unit_test(test_absent_rows),
        cmocka_unit_test(test_failing_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
