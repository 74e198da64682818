/* The public interface as a caller uses it: options, order of calls, hooks, limits, streams, damaged input. */
#include "api_support.h"

#include <math.h>

/* ---- Facts --------------------------------------------------------------------------------------------------- */

static void test_texts(void **unused)
{
    (void)unused;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", L2K_VERSION_MAJOR, L2K_VERSION_MINOR, L2K_VERSION_PATCH);
    assert_string_equal(l2k_version(), version);
    for (int i = L2K_OK; i <= L2K_INCOMPLETE; i++) {
        const char *text = l2k_strerror((l2k_status)i);
        assert_non_null(text);
        assert_true(text[0] && !strchr(text, '\n'));
        for (int k = L2K_OK; k < i; k++)
            assert_string_not_equal(text, l2k_strerror((l2k_status)k));
    }
    assert_non_null(l2k_strerror((l2k_status)9999));
}

static void test_component_size(void **unused)
{
    (void)unused;
    l2k_component component = {.dx = 3, .dy = 2, .precision = 8};
    l2k_image image = {.x0 = 4, .y0 = 5, .x1 = 10, .y1 = 6, .num_components = 1, .components = &component};
    uint32_t width, height;
    l2k_component_size(&image, 0, &width, &height);
    assert_int_equal(width, 2); /* 6, 9 */
    assert_int_equal(height, 0);
    image = (l2k_image){.x1 = UINT32_MAX, .y1 = UINT32_MAX, .num_components = 1, .components = &component};
    l2k_component_size(&image, 0, &width, &height);
    assert_int_equal(width, 0x55555555);
    assert_int_equal(height, 0x80000000);
}

/* ---- Options ------------------------------------------------------------------------------------------------- */

/* A refused call reports exactly one line and leaves the value unchanged, as the encode that follows shows. */
static void test_encoder_ranges(void **unused)
{
    (void)unused;
    static const struct {
        l2k_encoder_option option;
        int64_t least, most;
    } ranges[] = {{L2K_ENCODER_FORMAT, 0, 1},
                  {L2K_ENCODER_WAVELET, 0, L2K_WAVELET_W4},
                  {L2K_ENCODER_LEVELS, 0, 32},
                  {L2K_ENCODER_BLOCK_WIDTH, 4, 1024},
                  {L2K_ENCODER_BLOCK_HEIGHT, 4, 1024},
                  {L2K_ENCODER_PROGRESSION, 0, 4},
                  {L2K_ENCODER_STYLE, 0, 127},
                  {L2K_ENCODER_COMPONENT_TRANSFORM, 0, 1},
                  {L2K_ENCODER_SOP, 0, 1},
                  {L2K_ENCODER_EPH, 0, 1},
                  {L2K_ENCODER_PLT, 0, 1},
                  {L2K_ENCODER_TLM, 0, 1},
                  {L2K_ENCODER_TILE_PARTS, 0, 3},
                  {L2K_ENCODER_HT_PASSES, 1, 3},
                  {L2K_ENCODER_BACKEND, 0, 3},
                  {L2K_ENCODER_DEVICE, -1, 62},
                  {L2K_ENCODER_TILE_WIDTH, 0, UINT32_MAX},
                  {L2K_ENCODER_TILE_HEIGHT, 0, UINT32_MAX}};
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        unsigned errors = w.errors;
        assert_int_equal(l2k_encoder_set(encoder, ranges[i].option, ranges[i].least), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, ranges[i].option, ranges[i].most), L2K_OK);
        assert_int_equal(w.errors, errors);
        assert_int_equal(l2k_encoder_set(encoder, ranges[i].option, ranges[i].least - 1), L2K_ERROR_ARGUMENT);
        assert_int_equal(l2k_encoder_set(encoder, ranges[i].option, ranges[i].most + 1), L2K_ERROR_ARGUMENT);
        assert_int_equal(l2k_encoder_set(encoder, ranges[i].option, INT64_MIN), L2K_ERROR_ARGUMENT);
        assert_int_equal(w.errors, errors + 3);
    }
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_WIDTH, 48), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_NUM_OPTIONS, 0), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set(encoder, (l2k_encoder_option)-1, 0), L2K_ERROR_ARGUMENT);
    l2k_encoder_free(encoder);
    l2k_encoder_free(NULL);
    assert_false(w.bad_line);
    assert_int_equal(w.live, 0);
}

static void test_encoder_lists(void **unused)
{
    (void)unused;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    static const l2k_size bad_sizes[] = {{0, 1}, {1, 0}, {3, 4}, {65536, 4}, {4, 48}};
    l2k_size many[L2K_MAX_LEVELS + 2];
    for (size_t i = 0; i < sizeof bad_sizes / sizeof *bad_sizes; i++)
        assert_int_equal(l2k_encoder_set_precincts(encoder, &bad_sizes[i], 1), L2K_ERROR_ARGUMENT);
    for (size_t i = 0; i < L2K_MAX_LEVELS + 2; i++)
        many[i] = (l2k_size){32768, 1};
    assert_int_equal(l2k_encoder_set_precincts(encoder, many, L2K_MAX_LEVELS + 1), L2K_OK);
    assert_int_equal(l2k_encoder_set_precincts(encoder, many, L2K_MAX_LEVELS + 2), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_precincts(encoder, NULL, 0), L2K_OK);
    static const double bad_ratios[][2] = {{10, 10}, {10, 20}, {1, 5}, {0, 5}, {-1, 1}, {5, -1}};
    for (size_t i = 0; i < sizeof bad_ratios / sizeof *bad_ratios; i++)
        assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, bad_ratios[i], 2), L2K_ERROR_ARGUMENT);
    double odd[2] = {30, 30};
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_PSNR, odd, 2), L2K_ERROR_ARGUMENT);
    odd[1] = 0.0 / (odd[1] - 30); /* not a number */
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_PSNR, odd, 2), L2K_ERROR_ARGUMENT);
    odd[1] = 1e300;
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_PSNR, odd, 2), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_layers(encoder, (l2k_target)7, odd, 1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_PSNR, odd, 65536), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_PSNR, NULL, 0), L2K_OK);
    l2k_encoder_free(encoder);
    assert_false(w.bad_line);
    assert_int_equal(w.live, 0);
}

typedef void (*spoil)(l2k_encoder *encoder, picture *p);

static void spoil_block(l2k_encoder *e, picture *p)
{
    (void)p;
    l2k_encoder_set(e, L2K_ENCODER_BLOCK_WIDTH, 128);
}
static void spoil_tile_origin(l2k_encoder *e, picture *p)
{
    (void)p;
    l2k_encoder_set(e, L2K_ENCODER_TILE_X0, 1);
}
static void spoil_tile_size(l2k_encoder *e, picture *p)
{
    p->image.x0 = 9;
    l2k_encoder_set(e, L2K_ENCODER_TILE_WIDTH, 9);
}
static void spoil_area(l2k_encoder *e, picture *p)
{
    (void)e;
    p->image.x0 = p->image.x1;
}
static void spoil_sub_sampling(l2k_encoder *e, picture *p)
{
    (void)e;
    p->components[1].dx = 256;
}
static void spoil_zero_sub_sampling(l2k_encoder *e, picture *p)
{
    (void)e;
    p->components[1].dy = 0;
}
static void spoil_empty_component(l2k_encoder *e, picture *p)
{
    (void)e;
    p->image.x0 = 1;
    p->components[1].dx = 200;
}
static void spoil_precision(l2k_encoder *e, picture *p)
{
    (void)e;
    p->components[2].precision = 25;
}
static void spoil_no_precision(l2k_encoder *e, picture *p)
{
    (void)e;
    p->components[2].precision = 0;
}
static void spoil_precision_9_7(l2k_encoder *e, picture *p)
{
    l2k_encoder_set(e, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7);
    p->components[2].precision = 17;
}
static void spoil_type(l2k_encoder *e, picture *p)
{
    (void)e;
    p->planes[0].type = L2K_SAMPLE_S8; /* cannot hold 0 .. 255 */
}
static void spoil_unknown_type(l2k_encoder *e, picture *p)
{
    (void)e;
    p->planes[0].type = (l2k_sample_type)77;
}
static void spoil_count(l2k_encoder *e, picture *p)
{
    (void)e;
    p->image.num_components = 0;
}
static void spoil_large_count(l2k_encoder *e, picture *p)
{
    (void)e;
    p->image.num_components = L2K_MAX_COMPONENTS + 1;
}
static void spoil_channel(l2k_encoder *e, picture *p)
{
    (void)e;
    p->components[0].channel = (l2k_channel)9;
}

static void spoil_association(l2k_encoder *e, picture *p)
{
    (void)e;
    p->components[0].association = 65536;
}

/* Refused before it is read. */
static void spoil_profile(l2k_encoder *e, picture *p)
{
    (void)e;
    p->image.icc = (const uint8_t *)"";
    p->image.icc_bytes = UINT32_MAX;
}

/* Contradictory options are reported before anything is written. */
static void test_encoder_contradictions(void **unused)
{
    (void)unused;
    static const spoil spoils[] = {spoil_block,
                                   spoil_tile_origin,
                                   spoil_tile_size,
                                   spoil_area,
                                   spoil_sub_sampling,
                                   spoil_zero_sub_sampling,
                                   spoil_empty_component,
                                   spoil_precision,
                                   spoil_no_precision,
                                   spoil_precision_9_7,
                                   spoil_type,
                                   spoil_unknown_type,
                                   spoil_count,
                                   spoil_large_count,
                                   spoil_channel,
                                   spoil_association,
                                   spoil_profile};
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
        picture p;
        watch w;
        l2k_hooks hooks = watch_hooks(&w);
        memory_file out = memory_of(NULL, 0);
        picture_make(&p, 20, 20, 3);
        l2k_encoder *encoder = l2k_encoder_new(&hooks);
        spoils[i](encoder, &p);
        assert_int_equal(run_encoder(encoder, &p, &out), L2K_ERROR_ARGUMENT);
        assert_int_equal(w.errors, 1);
        assert_int_equal(out.calls, 0);
        l2k_encoder_free(encoder);
        assert_false(w.bad_line);
        assert_int_equal(w.live, 0);
        picture_free(&p);
    }
}

static void test_encoder_nulls(void **unused)
{
    (void)unused;
    picture p;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    memory_file out = memory_of(NULL, 0);
    l2k_stream stream = stream_of(&out), deaf = {.read = memory_read, .user = &out};
    picture_make(&p, 4, 4, 1);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    assert_int_equal(l2k_encoder_encode(encoder, NULL, p.planes, &stream), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_encode(encoder, &p.image, NULL, &stream), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_encode(encoder, &p.image, p.planes, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_encode(encoder, &p.image, p.planes, &deaf), L2K_ERROR_ARGUMENT);
    assert_int_equal(w.errors, 4);
    l2k_encoder_free(encoder);
    picture_free(&p);
}

static void test_decoder_ranges(void **unused)
{
    (void)unused;
    static const struct {
        l2k_decoder_option option;
        int64_t least, most;
    } ranges[] = {{L2K_DECODER_REDUCE, 0, 32},
                  {L2K_DECODER_LAYERS, 0, 65535},
                  {L2K_DECODER_COMPONENT, -1, L2K_MAX_COMPONENTS - 1},
                  {L2K_DECODER_BACKEND, 0, 3}};
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        assert_int_equal(l2k_decoder_set(decoder, ranges[i].option, ranges[i].least), L2K_OK);
        assert_int_equal(l2k_decoder_set(decoder, ranges[i].option, ranges[i].most), L2K_OK);
        assert_int_equal(l2k_decoder_set(decoder, ranges[i].option, ranges[i].least - 1), L2K_ERROR_ARGUMENT);
        assert_int_equal(l2k_decoder_set(decoder, ranges[i].option, ranges[i].most + 1), L2K_ERROR_ARGUMENT);
    }
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_BYTES, -1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_set(decoder, (l2k_decoder_option)99, 0), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_set_region(decoder, 3, 0, 3, 9), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_set_region(decoder, 0, 9, 3, 8), L2K_ERROR_ARGUMENT);
    l2k_decoder_free(decoder);
    l2k_decoder_free(NULL);
    assert_false(w.bad_line);
    assert_int_equal(w.live, 0);
}

/* ---- Order of calls ------------------------------------------------------------------------------------------ */

static void check_closed(l2k_decoder *decoder)
{
    l2k_info info;
    l2k_image image;
    l2k_box box;
    l2k_plane plane = {0};
    assert_int_equal(l2k_decoder_info(decoder, &info), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_image(decoder, &image), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_box(decoder, 0, &box), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_decode(decoder, &plane), L2K_ERROR_STATE);
}

static void test_decoder_states(void **unused)
{
    (void)unused;
    picture p, got;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    picture_make(&p, 33, 21, 3);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 2);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    check_closed(decoder);
    assert_int_equal(w.errors, 4);
    assert_int_equal(l2k_decoder_open(decoder, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1), L2K_OK);
    for (int round = 0; round < 3;
         round++) { /* opening again is allowed, even after a failed opening, which closes the file */
        assert_int_equal(run_decoder(decoder, file.data, file.size, &got), L2K_OK);
        assert_true(picture_equal(&p, &got));
        assert_int_equal(l2k_decoder_decode(decoder, got.planes), L2K_OK); /* and so is decoding again */
        assert_true(picture_equal(&p, &got));
        picture_free(&got);
        assert_int_equal(run_decoder(decoder, "nonsense", 8, &got), L2K_ERROR_FORMAT);
        check_closed(decoder);
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
        assert_int_equal(round % 2 ? l2k_decoder_open(decoder, NULL) : l2k_decoder_open_memory(decoder, NULL, 9),
                         L2K_ERROR_ARGUMENT);
        check_closed(decoder);
    }
    l2k_decoder_free(decoder);
    assert_int_equal(w.live, 0);
    free(file.data);
    picture_free(&p);
}

static void test_info(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 33, 21, 3);
    memory_file file = encode_with(&p, L2K_ENCODER_TILE_WIDTH, 16), in = memory_of(file.data, file.size);
    l2k_stream stream = stream_of(&in);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_info info;
    l2k_box box;
    assert_int_equal(l2k_decoder_open(decoder, &stream), L2K_OK);
    assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
    assert_int_equal(info.format, L2K_FORMAT_JP2);
    assert_int_equal(info.image.x1, 33);
    assert_int_equal(info.image.num_components, 3);
    assert_int_equal(info.image.components[2].height, 21);
    assert_int_equal(info.image.colour, L2K_COLOUR_SRGB);
    assert_int_equal(info.tiles_across, 3);
    assert_int_equal(info.tiles_down, 1);
    assert_int_equal(info.num_tile_parts, 3);
    assert_int_equal(info.levels, 5);
    assert_int_equal(info.block_width, 64);
    assert_int_equal(info.guard_bits, 2);
    assert_int_equal(info.num_layers, 1);
    assert_true(info.component_transform && info.default_precincts && !info.sop && !info.eph);
    uint64_t end = 0;
    bool found = false;
    for (size_t i = 0; l2k_decoder_box(decoder, i, &box) == L2K_OK; i++) {
        if (box.depth == 0) {
            assert_int_equal(box.offset, end);
            end = box.offset + box.bytes;
        }
        found |= strcmp(box.type, "jp2c") == 0 && box.bytes == info.codestream_bytes + 8;
    }
    assert_true(found);
    assert_int_equal(end, file.size);
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

static void check_component(const l2k_image *image, uint32_t c, uint32_t width, uint32_t height)
{
    assert_int_equal(image->components[c].width, width);
    assert_int_equal(image->components[c].height, height);
    assert_int_equal(image->components[c].dx, 1);
    assert_int_equal(image->components[c].precision, 8);
    assert_int_equal(image->components[c].channel, L2K_CHANNEL_COLOUR);
}

/* l2k_decoder_image and l2k_decoder_info do not invalidate each other's results. */
static void test_image_and_info(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 33, 21, 3);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 2);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_image image;
    l2k_info info;
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
    for (int64_t only = -1; only < 3; only++) {
        assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, only), L2K_OK);
        assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 1), L2K_OK);
        assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
        assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
        assert_int_equal(image.num_components, only < 0 ? 3 : 1);
        for (uint32_t c = 0; c < image.num_components; c++)
            check_component(&image, c, 17, 11);
        for (uint32_t c = 0; c < 3; c++) {
            check_component(&info.image, c, 33, 21);
            assert_int_equal(info.image.components[c].association, c + 1);
        }
    }
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

/* By default, three colours of one kind, or what says that it is RGB. */
static void test_component_transform(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t components;
        l2k_colour colour;
        l2k_channel last;
        int64_t option; /* -1: not set */
        bool joined, srgb;
    } cases[] = {{3, L2K_COLOUR_UNKNOWN, L2K_CHANNEL_COLOUR, -1, true, true},
                 {4, L2K_COLOUR_UNKNOWN, L2K_CHANNEL_OPACITY, -1, true, true},
                 {4, L2K_COLOUR_UNKNOWN, L2K_CHANNEL_COLOUR, -1, false, false},
                 {5, L2K_COLOUR_UNKNOWN, L2K_CHANNEL_COLOUR, -1, false, false},
                 {5, L2K_COLOUR_SRGB, L2K_CHANNEL_COLOUR, -1, true, true},
                 {5, L2K_COLOUR_UNKNOWN, L2K_CHANNEL_COLOUR, 1, true, false},
                 {5, L2K_COLOUR_SRGB, L2K_CHANNEL_COLOUR, 0, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture p;
        memory_file file = memory_of(NULL, 0);
        picture_make(&p, 20, 10, cases[i].components);
        p.image.colour = cases[i].colour;
        for (uint32_t c = 0; c < cases[i].components; c++)
            p.components[c].channel = c < 3 ? L2K_CHANNEL_COLOUR : cases[i].last;
        l2k_encoder *encoder = l2k_encoder_new(NULL);
        if (cases[i].option >= 0)
            l2k_encoder_set(encoder, L2K_ENCODER_COMPONENT_TRANSFORM, cases[i].option);
        assert_int_equal(run_encoder(encoder, &p, &file), L2K_OK);
        l2k_decoder *decoder = l2k_decoder_new(NULL);
        l2k_info info;
        l2k_image image;
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
        assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
        assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
        assert_int_equal(info.component_transform, cases[i].joined);
        assert_int_equal(image.colour, cases[i].srgb ? L2K_COLOUR_SRGB : L2K_COLOUR_GRAY);
        l2k_decoder_free(decoder);
        l2k_encoder_free(encoder);
        free(file.data);
        picture_free(&p);
    }
}

/* What the options do: reduction, region, one component, layers. */
static void test_decoder_options(void **unused)
{
    (void)unused;
    picture p, got;
    picture_make(&p, 50, 40, 3);
    memory_file file = encode_with(&p, L2K_ENCODER_COMPONENT_TRANSFORM, 0);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, 1);
    assert_int_equal(run_decoder(decoder, file.data, file.size, &got), L2K_OK);
    assert_int_equal(got.image.num_components, 1);
    assert_true(component_equal(&p, 1, &got, 0));
    picture_free(&got);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, 3);
    assert_int_equal(run_decoder(decoder, file.data, file.size, &got), L2K_ERROR_ARGUMENT);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, -1);
    assert_int_equal(l2k_decoder_set_region(decoder, 7, 11, 30, 1000), L2K_OK);
    assert_int_equal(run_decoder(decoder, file.data, file.size, &got), L2K_OK);
    assert_int_equal(got.width[2], 23);
    assert_int_equal(got.height[2], 29);
    for (uint32_t y = 0; y < 29; y++)
        assert_memory_equal(&got.samples[2][y * 23], &p.samples[2][(y + 11) * 50 + 7], 23 * sizeof(int32_t));
    picture_free(&got);
    assert_int_equal(l2k_decoder_set_region(decoder, 50, 40, 60, 60), L2K_OK);
    assert_int_equal(run_decoder(decoder, file.data, file.size, &got), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_set_region(decoder, 0, 0, UINT32_MAX, UINT32_MAX), L2K_OK);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 2);
    assert_int_equal(run_decoder(decoder, file.data, file.size, &got), L2K_OK);
    assert_int_equal(got.width[0], 13);
    assert_int_equal(got.height[0], 10);
    picture_free(&got);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 6);
    assert_int_equal(run_decoder(decoder, file.data, file.size, &got), L2K_ERROR_ARGUMENT);
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

/* ---- Targets ------------------------------------------------------------------------------------------------- */

static double psnr(const picture *a, const picture *b)
{
    double sum = 0;
    size_t count = (size_t)a->width[0] * a->height[0];
    for (size_t i = 0; i < count; i++)
        sum += pow(a->samples[0][i] - b->samples[0][i], 2);
    return 10 * log10(255.0 * 255.0 * (double)count / sum);
}

static void check_target(l2k_wavelet wavelet, l2k_target kind, double target)
{
    picture p, got;
    memory_file out = memory_of(NULL, 0);
    picture_make(&p, 200, 160, 1);
    for (uint32_t i = 0; i < 200 * 160; i++) { /* edges, slopes and grain */
        uint32_t x = i % 200, y = i / 200;
        p.samples[0][i] = (int32_t)((x * y / 200 + (x / 40 + y / 32) % 2 * 70 + random_below(20)) % 256);
    }
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, wavelet);
    assert_int_equal(l2k_encoder_set_layers(encoder, kind, &target, 1), L2K_OK);
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
    l2k_encoder_free(encoder);
    assert_int_equal(decode_bytes(NULL, out.data, out.size, &got), L2K_OK);
    double bytes = 200.0 * 160 / target, quality = psnr(&p, &got);
    if (kind == L2K_TARGET_RATIO)
        assert_true(out.size <= bytes && out.size >= 0.95 * bytes);
    else if (fabs(quality - target) > 1)
        fail_msg("wavelet %d: %g dB instead of %g dB", wavelet, quality, target);
    picture_free(&got);
    picture_free(&p);
    free(out.data);
}

/* The encoder estimates the squared error from its coefficients; the decoded samples must have that error. */
static void test_targets(void **unused)
{
    (void)unused;
    for (int wavelet = 0; wavelet < 2; wavelet++) {
        check_target((l2k_wavelet)wavelet, L2K_TARGET_RATIO, 5);
        check_target((l2k_wavelet)wavelet, L2K_TARGET_RATIO, 25);
        check_target((l2k_wavelet)wavelet, L2K_TARGET_PSNR, 30);
        check_target((l2k_wavelet)wavelet, L2K_TARGET_PSNR, 36);
    }
}

/* ---- Limits -------------------------------------------------------------------------------------------------- */

static void test_limits(void **unused)
{
    (void)unused;
    picture p, got;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    memory_file out = memory_of(NULL, 0);
    picture_make(&p, 10, 10, 3);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_SAMPLES, 299);
    size_t before = w.allocations;
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_ERROR_LIMIT);
    assert_int_equal(w.allocations, before);
    l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_SAMPLES, 300);
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
    l2k_encoder_free(encoder);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, 299);
    assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_ERROR_LIMIT);
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, 300);
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_BYTES, (int64_t)out.size - 1);
    assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_ERROR_LIMIT);
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_BYTES, (int64_t)out.size);
    assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_OK);
    assert_true(picture_equal(&p, &got));
    picture_free(&got);
    l2k_decoder_free(decoder);
    assert_int_equal(w.live, 0);
    free(out.data);
    picture_free(&p);
}

/* The memory limit is that set for the image being encoded, not that of the image before. */
static void test_limit_lifted(void **unused)
{
    (void)unused;
    picture p;
    const double everything = 0;
    memory_file out = memory_of(NULL, 0);
    picture_make(&p, 10, 10, 1);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, 100);
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_ERROR_LIMIT);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, &everything, 1), L2K_ERROR_LIMIT);
    l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, (int64_t)1 << 40);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, &everything, 1), L2K_OK);
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
    l2k_encoder_free(encoder);
    free(out.data);
    picture_free(&p);
}

/* Headers that claim 2^32 x 2^32 samples must not cost memory before they are refused. */
static void test_huge_header(void **unused)
{
    (void)unused;
    picture p, got;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    picture_make(&p, 10, 10, 1);
    memory_file file = encode_with(&p, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    memset(file.data + 8, 0xFF, 8);  /* Xsiz, Ysiz */
    memset(file.data + 24, 0xFF, 8); /* XTsiz, YTsiz */
    assert_int_equal(decode_bytes(&hooks, file.data, file.size, &got), L2K_ERROR_LIMIT);
    assert_int_equal(w.errors, 1);
    assert_int_equal(w.live, 0);
    free(file.data);
    picture_free(&p);
}

/* ---- Streams ------------------------------------------------------------------------------------------------- */

static void test_streams(void **unused)
{
    (void)unused;
    picture p, got;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    picture_make(&p, 40, 30, 3);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 3);
    for (size_t fail = 0; fail < file.size; fail += 1 + file.size / 37) {
        l2k_decoder *decoder = l2k_decoder_new(&hooks);
        memory_file in = {file.data, file.size, 0, 1 + fail / 3, fail, 0};
        l2k_stream stream = stream_of(&in);
        assert_int_equal(l2k_decoder_open(decoder, &stream), L2K_ERROR_IO);
        l2k_decoder_free(decoder);
        l2k_encoder *encoder = l2k_encoder_new(&hooks);
        l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
        memory_file out = memory_of(NULL, 0);
        out.fail_at = fail;
        assert_int_equal(run_encoder(encoder, &p, &out), L2K_ERROR_IO);
        free(out.data);
        l2k_encoder_free(encoder);
    }
    for (size_t chunk = 1; chunk < 100; chunk += 13) { /* a short read is not the end */
        l2k_decoder *decoder = l2k_decoder_new(&hooks);
        memory_file in = {file.data, file.size, 0, chunk, SIZE_MAX, 0};
        l2k_stream stream = stream_of(&in);
        l2k_image image;
        assert_int_equal(l2k_decoder_open(decoder, &stream), L2K_OK);
        assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
        picture_adopt(&got, &image);
        assert_int_equal(l2k_decoder_decode(decoder, got.planes), L2K_OK);
        assert_true(picture_equal(&p, &got));
        picture_free(&got);
        l2k_decoder_free(decoder);
    }
    assert_false(w.bad_line);
    assert_int_equal(w.live, 0);
    free(file.data);
    picture_free(&p);
}

static ptrdiff_t endless_read(void *user, void *buffer, size_t bytes)
{
    *(size_t *)user += bytes;
    memset(buffer, 0, bytes);
    return (ptrdiff_t)bytes;
}

/* An endless stream that is no picture is not read to its end; missing planes are reported. */
static void test_endless_and_missing(void **unused)
{
    (void)unused;
    picture p;
    size_t taken = 0;
    l2k_stream stream = {.read = endless_read, .user = &taken};
    l2k_plane missing = {NULL, 40, 4, L2K_SAMPLE_S32};
    memory_file out = memory_of(NULL, 0);
    picture_make(&p, 10, 10, 1);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    assert_int_equal(l2k_decoder_open(decoder, &stream), L2K_ERROR_FORMAT);
    assert_in_range(taken, 1, 1 << 20);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 1);
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
    assert_int_equal(l2k_decoder_decode(decoder, &missing), L2K_ERROR_ARGUMENT);
    l2k_decoder_free(decoder);
    p.planes[0].data = NULL;
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_ERROR_ARGUMENT);
    l2k_encoder_free(encoder);
    free(file.data);
    picture_free(&p);
}

/* ---- Allocation ---------------------------------------------------------------------------------------------- */

/* Each hook is optional. */
static void test_partial_hooks(void **unused)
{
    (void)unused;
    picture p, got;
    watch w;
    l2k_hooks hooks = watch_hooks(&w), none = {0}, message = {.message = watch_message, .user = &w};
    picture_make(&p, 9, 9, 1);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 1);
    assert_int_equal(decode_bytes(&none, file.data, file.size, &got), L2K_OK);
    picture_free(&got);
    assert_int_equal(decode_bytes(&none, file.data, 40, &got), L2K_ERROR_TRUNCATED);
    assert_int_equal(decode_bytes(&message, file.data, 40, &got), L2K_ERROR_TRUNCATED);
    assert_int_equal(w.errors, 1);
    hooks.message = NULL;
    assert_int_equal(decode_bytes(&hooks, file.data, 40, &got), L2K_ERROR_TRUNCATED);
    assert_int_equal(w.live, 0);
    free(file.data);
    picture_free(&p);
}

/* ---- Damage -------------------------------------------------------------------------------------------------- */

/* Files small enough to be truncated and changed at every byte, but with every kind of content. */
static memory_file damaged_subject(picture *p, unsigned kind)
{
    memory_file out = memory_of(NULL, 0);
    picture_make(p, 21, 17, kind == 2 ? 1 : 3);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
    l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, 2);
    l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, kind == 1 ? L2K_FORMAT_CODESTREAM : L2K_FORMAT_JP2);
    if (kind == 1) {
        l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 16);
        l2k_encoder_set(encoder, L2K_ENCODER_SOP, 1);
        l2k_encoder_set(encoder, L2K_ENCODER_EPH, 1);
        l2k_encoder_set(encoder, L2K_ENCODER_PLT, 1);
        l2k_encoder_set(encoder, L2K_ENCODER_TLM, 1);
        l2k_encoder_set(encoder, L2K_ENCODER_TILE_PARTS, L2K_TILE_PARTS_RESOLUTION);
        l2k_encoder_set(encoder, L2K_ENCODER_STYLE, 63);
    }
    assert_int_equal(run_encoder(encoder, p, &out), L2K_OK);
    l2k_encoder_free(encoder);
    return out;
}

/* Decodes the first `bytes` bytes; returns whether that gave a picture. */
static bool check_truncation(const picture *p, const memory_file *file, size_t bytes, bool strict)
{
    picture got;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    uint8_t *copy = malloc(bytes + 1); /* of the exact size, so that sanitizers see reads past its end */
    assert_non_null(copy);
    memcpy(copy, file->data, bytes);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_STRICT, strict), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1), L2K_OK);
    l2k_status status = run_decoder(decoder, copy, bytes, &got);
    bool whole = bytes == file->size, shown = status == L2K_OK || status == L2K_INCOMPLETE;
    if (status == L2K_OK) {
        assert_true(whole || (!strict && bytes + 2 >= file->size)); /* EOC may be missing, with a warning */
        assert_true(picture_equal(p, &got));
    } else if (status == L2K_INCOMPLETE) {
        assert_true(!strict && !whole);
    } else {
        assert_true(status == L2K_ERROR_TRUNCATED || (status == L2K_ERROR_FORMAT && bytes < 12));
    }
    assert_int_equal(w.errors, !shown);
    if (shown) {
        assert_int_equal(w.warnings > 0, !whole);
        picture_free(&got);
    }
    l2k_decoder_free(decoder);
    assert_int_equal(w.live, 0);
    assert_false(w.bad_line);
    free(copy);
    return shown;
}

static void test_truncation(void **unused)
{
    (void)unused;
    for (unsigned kind = 0; kind < 3; kind++) {
        picture p;
        memory_file file = damaged_subject(&p, kind);
        size_t pictures = 0, strict = 0;
        for (size_t bytes = 0; bytes <= file.size; bytes++) {
            pictures += check_truncation(&p, &file, bytes, false);
            strict += check_truncation(&p, &file, bytes, true);
        }
        assert_int_equal(strict, 1);
        assert_true(pictures > file.size / 4); /* before that, these small files have only headers */
        free(file.data);
        picture_free(&p);
    }
}

/* Every byte changed in a few ways: any status will do, but each failure has one message, and nothing leaks or crashes.
 */
static void test_mutations(void **unused)
{
    (void)unused;
    for (unsigned kind = 0; kind < 3; kind++) {
        picture p;
        memory_file file = damaged_subject(&p, kind);
        for (size_t at = 0; at < file.size; at++)
            for (unsigned way = 0; way < 4; way++) {
                picture got;
                watch w;
                l2k_hooks hooks = watch_hooks(&w);
                uint8_t keep = file.data[at];
                const uint8_t values[4] = {(uint8_t)(keep ^ 1u << random_below(8)), (uint8_t)(keep + 1), 0xFF,
                                           (uint8_t)random_u64()};
                file.data[at] = values[way];
                l2k_decoder *decoder = new_decoder(&hooks, 1);
                l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, 1 << 20);
                memory_file in = memory_of(file.data, file.size);
                l2k_stream stream = stream_of(&in);
                l2k_image image;
                l2k_status status = l2k_decoder_open(decoder, &stream);
                if (status == L2K_OK)
                    status = l2k_decoder_image(decoder, &image);
                if (status == L2K_OK && image.num_components <= MOST_CHANNELS) {
                    picture_adopt(&got, &image);
                    status = l2k_decoder_decode(decoder, got.planes);
                    picture_free(&got);
                }
                l2k_decoder_free(decoder);
                assert_true(status != L2K_ERROR_STATE && status != L2K_ERROR_IO && status != L2K_ERROR_MEMORY);
                assert_true(w.errors == (status != L2K_OK && status != L2K_INCOMPLETE));
                assert_false(w.bad_line);
                assert_int_equal(w.live, 0);
                file.data[at] = keep;
            }
        free(file.data);
        picture_free(&p);
    }
}

/* ---- The same for any number of threads ---------------------------------------------------------------------- */

static void test_threads(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 300, 200, 3);
    for (int tiles = 0; tiles < 2; tiles++) {
        memory_file first = memory_of(NULL, 0);
        for (int threads = 1; threads <= 4; threads++) {
            memory_file out = memory_of(NULL, 0);
            picture got;
            static const double ratios[2] = {10, 3};
            l2k_encoder *encoder = l2k_encoder_new(NULL);
            l2k_encoder_set(encoder, L2K_ENCODER_THREADS, threads);
            l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7);
            l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, tiles ? 64 : 0);
            assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios, 2), L2K_OK);
            assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
            l2k_encoder_free(encoder);
            l2k_decoder *decoder = new_decoder(NULL, threads);
            assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_OK);
            picture_free(&got);
            l2k_decoder_free(decoder);
            if (threads == 1) {
                first = out;
                continue;
            }
            assert_int_equal(out.size, first.size);
            assert_memory_equal(out.data, first.data, out.size);
            free(out.data);
        }
        free(first.data);
    }
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_component_size),
        cmocka_unit_test(test_encoder_ranges),
        cmocka_unit_test(test_encoder_lists),
        cmocka_unit_test(test_encoder_contradictions),
        cmocka_unit_test(test_encoder_nulls),
        cmocka_unit_test(test_decoder_ranges),
        cmocka_unit_test(test_decoder_states),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_image_and_info),
        cmocka_unit_test(test_component_transform),
        cmocka_unit_test(test_decoder_options),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limit_lifted),
        cmocka_unit_test(test_huge_header),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_endless_and_missing),
        cmocka_unit_test(test_partial_hooks),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
