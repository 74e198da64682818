/* l2k_decoder_coefficients: it returns the coefficients that the forward transform computed. */
#include "stream_support.h"

/* ---- Expected values ----------------------------------------------------------------------------------------- */

typedef struct expected {
    const picture *p;
    l2k_transform *transform; /* prepared for the tile, after a forward run */
    l2k_image tile;
    uint32_t reduce, calls, next_component;
    bool exact, transformed;
    size_t coefficients, open; /* seen; with unknown last bits */
} expected;

static l2k_image tile_of(const picture *p, uint32_t tile_width, uint32_t tile_height, uint32_t index)
{
    l2k_image tile = p->image;
    uint32_t across = tile_width ? (p->image.x1 + tile_width - 1) / tile_width : 1;
    if (!tile_width)
        return tile;
    /* The tile grid begins at 0, and tile 0 meets the image. */
    uint32_t first_x = p->image.x0 / tile_width, first_y = p->image.y0 / tile_height;
    across -= first_x;
    assert_int_equal(first_x, 0);
    assert_int_equal(first_y, 0);
    uint32_t x = index % across * tile_width, y = index / across * tile_height;
    tile.x0 = x > tile.x0 ? x : tile.x0;
    tile.y0 = y > tile.y0 ? y : tile.y0;
    tile.x1 = x + tile_width < tile.x1 ? x + tile_width : tile.x1;
    tile.y1 = y + tile_height < tile.y1 ? y + tile_height : tile.y1;
    return tile;
}

static uint32_t ceil_of(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static void run_forward(expected *e)
{
    l2k_plane planes[MOST_CHANNELS];
    for (uint32_t c = 0; c < e->p->image.num_components; c++) {
        const l2k_component *k = &e->p->components[c];
        uint32_t x = ceil_of(e->tile.x0, k->dx) - ceil_of(e->p->image.x0, k->dx);
        uint32_t y = ceil_of(e->tile.y0, k->dy) - ceil_of(e->p->image.y0, k->dy);
        planes[c] = e->p->planes[c];
        planes[c].data = e->p->samples[c] + (size_t)y * e->p->width[c] + x;
    }
    assert_int_equal(l2k_transform_prepare(e->transform, &e->tile), L2K_OK);
    assert_int_equal(l2k_transform_forward(e->transform, planes), L2K_OK);
}

/* The value that is returned for a coefficient with unknown last bits. */
static bool may_stand_for(int32_t value, int32_t whole)
{
    uint32_t magnitude = (uint32_t)abs(whole), got = (uint32_t)abs(value);
    if (value == whole || value == 0)
        return true;
    for (unsigned p = 1; p < 31 && magnitude >> p; p++)
        if (got == (magnitude >> p << p) + (1u << (p - 1)))
            return (value < 0) == (whole < 0);
    return false;
}

static void expect_band(expected *e, const l2k_tile_coefficients *k, const l2k_coefficients *whole, uint32_t b)
{
    const l2k_band_view *from = &whole->bands[b], *band = &k->view->bands[b];
    assert_memory_equal(band, from, sizeof *band);
    for (uint32_t y = 0; y < band->height; y++)
        for (uint32_t x = 0; x < band->width; x++) {
            int32_t want = ((int32_t *)whole->base)[(from->y + y) * whole->stride + from->x + x];
            int32_t got = ((int32_t *)k->view->base)[(band->y + y) * k->view->stride + band->x + x];
            assert_true(e->exact ? got == want : may_stand_for(got, want));
            e->coefficients++;
            e->open += got != want;
        }
}

static void expect_info(const expected *e, const l2k_tile_coefficients *k, uint32_t b)
{
    l2k_subband_info want;
    const l2k_subband_info *got = &k->bands[b];
    assert_int_equal(l2k_transform_subband(e->transform, k->component, b, &want), L2K_OK);
    assert_int_equal(got->resolution, want.resolution);
    assert_int_equal(got->orientation, want.orientation);
    assert_int_equal(got->level, want.level);
    assert_true(got->x0 == want.x0 && got->y0 == want.y0 && got->x1 == want.x1 && got->y1 == want.y1);
    assert_int_equal(got->step.exponent, want.step.exponent);
    assert_int_equal(got->step.mantissa, want.step.mantissa);
    assert_true(got->step_size == want.step_size);
    /* The encoder writes a third guard bit if RCT needs it. */
    assert_in_range(got->magnitude_bits, want.magnitude_bits, want.magnitude_bits + 1);
}

static l2k_status on_component(void *user, const l2k_tile_coefficients *k)
{
    expected *e = user;
    const l2k_coefficients *whole = l2k_transform_coefficients(e->transform, k->component);
    const l2k_component *size = &e->p->components[k->component];
    assert_in_range(k->component, e->next_component, e->p->image.num_components - 1);
    e->next_component = k->component + 1;
    e->calls++;
    assert_int_equal(k->view->type, L2K_COEFFICIENT_INT32);
    assert_false(k->view->on_device);
    assert_int_equal(k->component_transform, e->transformed && k->component < 3);
    assert_true(k->x0 == ceil_of(e->tile.x0, size->dx) && k->y0 == ceil_of(e->tile.y0, size->dy));
    assert_true(k->x1 == ceil_of(e->tile.x1, size->dx) && k->y1 == ceil_of(e->tile.y1, size->dy));
    assert_int_equal(k->view->num_bands, 3 * (k->levels - e->reduce) + 1);
    for (uint32_t b = 0; b < k->view->num_bands; b++) {
        expect_info(e, k, b);
        expect_band(e, k, whole, b);
    }
    return L2K_OK;
}

/* ---- Random pictures ----------------------------------------------------------------------------------------- */

typedef struct setting {
    uint32_t levels, tile_width, tile_height, wavelet;
    bool transformed;
} setting;

static void make_picture(picture *p, setting *s)
{
    uint32_t count = random_between(1, 4), x0 = random_below(40), y0 = random_below(40);
    picture_shape(p, x0 + random_between(1, 120), y0 + random_between(1, 120), count);
    p->image.x0 = x0;
    p->image.y0 = y0;
    uint32_t precision = random_between(1, s->wavelet == L2K_WAVELET_9_7 ? 16 : 24);
    for (uint32_t c = 0; c < count; c++) {
        p->components[c].precision = s->transformed ? precision : random_between(1, precision);
        p->components[c].is_signed = precision % 2;
        if (!s->transformed) {
            p->components[c].dx = x0 + 3 < p->image.x1 ? random_between(1, 2) : 1;
            p->components[c].dy = y0 + 3 < p->image.y1 ? random_between(1, 3) : 1;
        }
        picture_fill(p, c);
    }
    s->transformed = s->transformed && count >= 3;
}

static void make_setting(setting *s)
{
    *s = (setting){.levels = random_below(6),
                   .wavelet = random_below(2),
                   .transformed = random_below(2),
                   .tile_width = random_below(2) ? random_between(40, 90) : 0};
    s->tile_height = s->tile_width ? random_between(40, 90) : 0;
}

static memory_file encode(const picture *p, const setting *s, size_t layers)
{
    l2k_encoder *encoder = new_encoder(s->levels);
    l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, s->wavelet);
    l2k_encoder_set(encoder, L2K_ENCODER_COMPONENT_TRANSFORM, s->transformed);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, s->tile_width);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, s->tile_height);
    if (layers)
        set_layers(encoder, layers);
    return finish_encoder(encoder, p);
}

static void expected_make(expected *e, const picture *p, const setting *s)
{
    *e = (expected){.p = p, .exact = true, .transformed = s->transformed, .transform = l2k_transform_new(NULL)};
    l2k_transform_set(e->transform, L2K_TRANSFORM_WAVELET, s->wavelet);
    l2k_transform_set(e->transform, L2K_TRANSFORM_LEVELS, s->levels);
    l2k_transform_set(e->transform, L2K_TRANSFORM_COMPONENT_TRANSFORM, s->transformed);
}

static l2k_decoder *open_decoder(const memory_file *file, const l2k_hooks *hooks)
{
    l2k_decoder *decoder = l2k_decoder_new(hooks);
    assert_non_null(decoder);
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, random_between(1, 3));
    assert_int_equal(l2k_decoder_open_memory(decoder, file->data, file->size), L2K_OK);
    return decoder;
}

static void check_tiles(l2k_decoder *decoder, expected *e, const setting *s, uint32_t components)
{
    l2k_info info;
    assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
    for (uint32_t t = 0; t < info.tiles_across * info.tiles_down; t++) {
        e->tile = tile_of(e->p, s->tile_width, s->tile_height, t);
        e->calls = e->next_component = 0;
        run_forward(e);
        assert_int_equal(l2k_decoder_coefficients(decoder, t, on_component, e), L2K_OK);
        assert_int_equal(e->calls, components);
    }
}

static void check_random(void)
{
    setting s;
    picture p;
    expected e;
    make_setting(&s);
    make_picture(&p, &s);
    memory_file file = encode(&p, &s, 0);
    l2k_decoder *decoder = open_decoder(&file, NULL);
    expected_make(&e, &p, &s);
    check_tiles(decoder, &e, &s, p.image.num_components);
    e.reduce = random_below(s.levels + 1u);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, e.reduce);
    assert_int_equal(l2k_decoder_set_region(decoder, p.image.x0, p.image.y0, p.image.x0 + 1, p.image.y0 + 1), L2K_OK);
    check_tiles(decoder, &e, &s, p.image.num_components);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, random_below(p.image.num_components));
    check_tiles(decoder, &e, &s, 1);
    l2k_decoder_free(decoder);
    l2k_transform_free(e.transform);
    picture_free(&p);
    free(file.data);
}

static void test_random(void **unused)
{
    (void)unused;
    random_state = 77;
    for (int i = 0; i < 300; i++)
        check_random();
}

/* ---- Unknown bits -------------------------------------------------------------------------------------------- */

static void check_layers(l2k_wavelet wavelet)
{
    setting s = {.levels = 3, .wavelet = wavelet, .transformed = true};
    picture p;
    expected e;
    picture_make(&p, 200, 150, 3);
    memory_file file = encode(&p, &s, 3);
    l2k_decoder *decoder = open_decoder(&file, NULL);
    expected_make(&e, &p, &s);
    check_tiles(decoder, &e, &s, 3);
    assert_int_equal(e.open, 0);
    assert_int_equal(e.coefficients, 200 * 150 * 3);
    e.exact = false;
    size_t open = SIZE_MAX;
    for (int layers = 1; layers < 3; layers++) {
        l2k_decoder_set(decoder, L2K_DECODER_LAYERS, layers);
        e.open = 0;
        check_tiles(decoder, &e, &s, 3);
        assert_true(e.open > 0 && e.open < open);
        open = e.open;
    }
    l2k_decoder_free(decoder);
    l2k_transform_free(e.transform);
    picture_free(&p);
    free(file.data);
}

static void test_layers(void **unused)
{
    (void)unused;
    check_layers(L2K_WAVELET_5_3);
    check_layers(L2K_WAVELET_9_7);
}

/* ---- Errors -------------------------------------------------------------------------------------------------- */

static l2k_status refuse(void *user, const l2k_tile_coefficients *k)
{
    (void)k;
    ++*(unsigned *)user;
    return L2K_ERROR_IO;
}

static l2k_status count(void *user, const l2k_tile_coefficients *k)
{
    (void)k;
    ++*(unsigned *)user;
    return L2K_OK;
}

static void test_errors(void **unused)
{
    (void)unused;
    watch w;
    picture p;
    setting s = {.levels = 2, .tile_width = 32, .tile_height = 32};
    l2k_hooks hooks = watch_hooks(&w);
    unsigned calls = 0;
    picture_make(&p, 50, 40, 3);
    memory_file file = encode(&p, &s, 0);
    l2k_decoder *decoder = new_decoder(&hooks, 1);
    assert_int_equal(l2k_decoder_coefficients(decoder, 0, count, &calls), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
    assert_int_equal(l2k_decoder_coefficients(decoder, 4, count, &calls), L2K_ERROR_ARGUMENT);
    assert_string_equal(w.text, "tile 4 of only 4");
    assert_int_equal(l2k_decoder_coefficients(decoder, 0, NULL, NULL), L2K_ERROR_ARGUMENT);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, 3);
    assert_int_equal(l2k_decoder_coefficients(decoder, 0, count, &calls), L2K_ERROR_ARGUMENT);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, -1);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 3);
    assert_int_equal(l2k_decoder_coefficients(decoder, 0, count, &calls), L2K_ERROR_ARGUMENT);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 0);
    assert_int_equal(calls, 0);
    assert_int_equal(w.errors, 5);
    assert_int_equal(l2k_decoder_coefficients(decoder, 3, refuse, &calls), L2K_ERROR_IO);
    assert_int_equal(calls, 1);
    assert_int_equal(l2k_decoder_coefficients(decoder, 3, count, &calls), L2K_OK);
    assert_int_equal(calls, 4);
    assert_false(w.bad_line);
    l2k_decoder_free(decoder);
    assert_int_equal(w.live, 0);
    picture_free(&p);
    free(file.data);
}

/* All tiles of a stream that ends within the last but one. */
static void test_early_end(void **unused)
{
    (void)unused;
    picture p;
    setting s = {.levels = 2, .tile_width = 64, .tile_height = 64};
    unsigned calls = 0;
    picture_make(&p, 128, 128, 1);
    memory_file file = encode(&p, &s, 0);
    file.size = file.size * 5 / 8;
    l2k_decoder *decoder = open_decoder(&file, NULL);
    assert_int_equal(l2k_decoder_coefficients(decoder, 0, count, &calls), L2K_OK);
    assert_int_equal(l2k_decoder_coefficients(decoder, 1, count, &calls), L2K_OK);
    assert_int_equal(l2k_decoder_coefficients(decoder, 2, count, &calls), L2K_INCOMPLETE);
    assert_int_equal(calls, 3);
    assert_int_equal(l2k_decoder_coefficients(decoder, 3, count, &calls), L2K_INCOMPLETE);
    assert_int_equal(calls, 3);
    l2k_decoder_free(decoder);
    picture_free(&p);
    free(file.data);
}

static bool unless_stopped(void *user, double done)
{
    (void)done;
    return !*(const bool *)user;
}

static void test_cancelling(void **unused)
{
    (void)unused;
    picture p;
    setting s = {.levels = 2};
    unsigned calls = 0;
    picture_make(&p, 300, 200, 1);
    memory_file file = encode(&p, &s, 0);
    bool stopped = false;
    l2k_decoder *decoder = open_decoder(&file, &(l2k_hooks){.progress = unless_stopped, .user = &stopped});
    stopped = true;
    assert_int_equal(l2k_decoder_coefficients(decoder, 0, count, &calls), L2K_ERROR_CANCELLED);
    assert_int_equal(calls, 0);
    l2k_decoder_free(decoder);
    picture_free(&p);
    free(file.data);
}

/* Further tiles of the same shape take no more memory than the first, and decoding works afterwards as before. */
static void test_reuse(void **unused)
{
    (void)unused;
    watch w;
    picture p, got;
    setting s = {.levels = 3, .tile_width = 64, .tile_height = 64, .wavelet = L2K_WAVELET_9_7};
    l2k_hooks hooks = watch_hooks(&w);
    unsigned calls = 0;
    picture_make(&p, 256, 64, 1);
    memory_file file = encode(&p, &s, 0);
    l2k_decoder *decoder = new_decoder(&hooks, 1);
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
    assert_int_equal(l2k_decoder_coefficients(decoder, 0, count, &calls), L2K_OK);
    size_t before = w.allocations;
    for (uint32_t tile = 0; tile < 4; tile++)
        assert_int_equal(l2k_decoder_coefficients(decoder, tile, count, &calls), L2K_OK);
    assert_in_range(w.allocations, before, before + 4); /* the packets of the tiles differ in number and size */
    picture direct;
    assert_int_equal(decode_bytes(NULL, file.data, file.size, &direct), L2K_OK);
    assert_int_equal(run_decoder(decoder, file.data, file.size, &got), L2K_OK);
    assert_true(picture_equal(&direct, &got));
    l2k_decoder_free(decoder);
    assert_int_equal(w.live, 0);
    picture_free(&direct);
    picture_free(&got);
    picture_free(&p);
    free(file.data);
}

/* Each allocation in turn fails: that is reported, and nothing leaks. */
static void test_memory(void **unused)
{
    (void)unused;
    watch w;
    picture p;
    setting s = {.levels = 2, .wavelet = L2K_WAVELET_9_7};
    picture_make(&p, 40, 30, 2);
    memory_file file = encode(&p, &s, 0);
    l2k_status status = L2K_ERROR_MEMORY;
    for (size_t fail_at = 0; status != L2K_OK; fail_at++) {
        l2k_hooks hooks = watch_hooks(&w);
        unsigned calls = 0;
        l2k_decoder *decoder = new_decoder(&hooks, 1);
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
        w.fail_at = w.allocations + fail_at;
        status = l2k_decoder_coefficients(decoder, 0, count, &calls);
        assert_true(status == L2K_OK ? calls == 2 : status == L2K_ERROR_MEMORY && w.errors > 0);
        l2k_decoder_free(decoder);
        assert_int_equal(w.live, 0);
        assert_true(fail_at < 1000);
    }
    picture_free(&p);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),     cmocka_unit_test(test_layers),
                                       cmocka_unit_test(test_errors),     cmocka_unit_test(test_early_end),
                                       cmocka_unit_test(test_cancelling), cmocka_unit_test(test_reuse),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
