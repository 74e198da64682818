/* Tile-parts out of order give the same picture; duplicate or missing ones are errors. The largest number of
 * components. */
#include "api_support.h"

#include <math.h>

#include "base/memory.h"
#include "codec/codestream/codestream_read.h"

enum { PARTS = 4, MOST_COMPONENTS = 16384 };

static uint32_t get_be(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* A codestream of one tile with a tile-part per resolution; starts[i] is the offset of part i, starts[PARTS] of EOC. */
static memory_file make_parts(picture *p, size_t starts[PARTS + 1])
{
    memory_file file = memory_of(NULL, 0);
    picture_make(p, 60, 50, 3);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, PARTS - 1);
    l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_PARTS, L2K_TILE_PARTS_RESOLUTION);
    assert_int_equal(run_encoder(encoder, p, &file), L2K_OK);
    l2k_encoder_free(encoder);
    size_t at = 0;
    while (file.data[at] != 0xFF || file.data[at + 1] != 0x90)
        at++;
    for (int i = 0; i < PARTS; i++) {
        starts[i] = at;
        at += get_be(file.data + at + 6);
    }
    starts[PARTS] = at;
    assert_int_equal(at + 2, file.size);
    return file;
}

/* Decodes the file with the tile-parts in the given order. */
static l2k_status decode_in_order(const picture *p, const memory_file *file, const size_t starts[PARTS + 1],
                                  const int *order, int count)
{
    memory_file changed = memory_of(NULL, 0);
    picture got;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    memory_write(&changed, file->data, starts[0]);
    for (int i = 0; i < count; i++)
        memory_write(&changed, file->data + starts[order[i]], starts[order[i] + 1] - starts[order[i]]);
    memory_write(&changed, file->data + starts[PARTS], 2);
    l2k_status status = decode_bytes(&hooks, changed.data, changed.size, &got);
    if (status == L2K_OK) {
        assert_true(picture_equal(p, &got));
        picture_free(&got);
    } else {
        assert_int_equal(w.errors, 1);
    }
    free(changed.data);
    return status;
}

static void test_order(void **unused)
{
    (void)unused;
    size_t starts[PARTS + 1];
    picture p;
    memory_file file = make_parts(&p, starts);
    assert_int_equal(decode_in_order(&p, &file, starts, (int[]){0, 1, 2, 3}, 4), L2K_OK);
    assert_int_equal(decode_in_order(&p, &file, starts, (int[]){0, 2, 1, 3}, 4), L2K_OK);
    assert_int_equal(decode_in_order(&p, &file, starts, (int[]){0, 1, 1, 2, 3}, 5), L2K_ERROR_CORRUPT);
    assert_int_equal(decode_in_order(&p, &file, starts, (int[]){0, 1, 3}, 3), L2K_ERROR_CORRUPT);
    assert_int_equal(decode_in_order(&p, &file, starts, (int[]){1, 2, 3}, 3), L2K_ERROR_CORRUPT);
    free(file.data);
    picture_free(&p);
}

/* ---- Any tile-parts in any order ----------------------------------------------------------------------------- */

enum { MOST_SPANS = 40, MOST_TILES = 4 };

/* The expected error, found by going through the tile-parts from the last; empty if there is none. */
static void judge(const l2k_codestream *cs, char text[100])
{
    static bool seen[MOST_TILES][256];
    memset(seen, 0, sizeof seen);
    text[0] = 0;
    for (size_t i = cs->num_parts; i-- > 0 && !text[0];) {
        const l2k_tile_part_span *span = &cs->parts[i];
        if (seen[span->tile][span->part])
            snprintf(text, 100, "SOT: tile %u has two tile-parts %u", (unsigned)span->tile, (unsigned)span->part);
        seen[span->tile][span->part] = true;
    }
    for (uint32_t t = 0; t < cs->num_tiles && !text[0]; t++)
        for (unsigned part = 0, due = 0; part < 256 && !text[0]; part++)
            if (seen[t][part] && part != due++)
                snprintf(text, 100, "SOT: tile-part %u of tile %u where tile-part %u is due", part, (unsigned)t,
                         due - 1);
}

static void check_lists(const l2k_codestream *cs)
{
    size_t listed = 0;
    for (uint32_t t = 0; t < cs->num_tiles; t++) {
        uint32_t due = 0;
        for (size_t i = cs->first_part[t]; i != L2K_NO_PART; i = cs->parts[i].next, listed++)
            assert_true(cs->parts[i].tile == t && cs->parts[i].part == due++);
    }
    assert_int_equal(listed, cs->num_parts);
}

/* Tile-parts of all tiles in random order, sometimes with one renumbered. */
static void random_spans(l2k_codestream *cs)
{
    cs->num_parts = 0;
    for (uint32_t t = 0; t < cs->num_tiles; t++)
        for (uint32_t part = random_below(MOST_SPANS / MOST_TILES); part-- > 0;)
            cs->parts[cs->num_parts++] = (l2k_tile_part_span){.tile = t, .part = part};
    for (size_t i = cs->num_parts; i > 1; i--) {
        size_t j = random_below(i);
        l2k_tile_part_span span = cs->parts[i - 1];
        cs->parts[i - 1] = cs->parts[j];
        cs->parts[j] = span;
    }
    for (unsigned changes = random_below(3); changes > 0 && cs->num_parts > 0; changes--)
        cs->parts[random_below(cs->num_parts)].part = random_below(4) ? random_below(10) : 255;
}

static void test_lists(void **unused)
{
    (void)unused;
    static l2k_tile_part_span parts[MOST_SPANS];
    unsigned good = 0, twice = 0, missing = 0;
    for (int round = 0; round < 3000; round++) {
        watch w;
        char text[100];
        const l2k_context context = {.hooks = watch_hooks(&w), .threads = 1};
        l2k_codestream cs = {.context = &context, .parts = parts, .num_tiles = random_between(1, MOST_TILES)};
        random_spans(&cs);
        judge(&cs, text);
        assert_int_equal(l2k_tile_parts_link(&cs), text[0] ? L2K_ERROR_CORRUPT : L2K_OK);
        assert_string_equal(w.text, text);
        if (!text[0])
            check_lists(&cs);
        good += !text[0];
        twice += strstr(text, "two") != NULL;
        missing += strstr(text, "due") != NULL;
        l2k_release(&context, cs.first_part);
    }
    assert_true(good > 500 && twice > 500 && missing > 500);
}

/* 16384 components of 3 x 2 samples, sub-sampling and precision in turn. */
static void test_most_components(void **unused)
{
    (void)unused;
    static l2k_component components[MOST_COMPONENTS];
    static l2k_plane planes[MOST_COMPONENTS];
    static uint16_t samples[MOST_COMPONENTS][6], back[MOST_COMPONENTS][6];
    memory_file file = memory_of(NULL, 0);
    for (uint32_t c = 0; c < MOST_COMPONENTS; c++) {
        components[c] = (l2k_component){.dx = 1 + c % 3, .dy = 1 + c % 2, .precision = 1 + c % 16};
        planes[c] = (l2k_plane){samples[c], 6, 2, L2K_SAMPLE_U16};
        for (int i = 0; i < 6; i++)
            samples[c][i] = (uint16_t)(random_u64() & ((1u << components[c].precision) - 1));
    }
    l2k_image image = {.x1 = 3, .y1 = 2, .num_components = MOST_COMPONENTS, .components = components};
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    l2k_stream out = stream_of(&file);
    assert_int_equal(l2k_encoder_encode(encoder, &image, planes, &out), L2K_OK);
    l2k_encoder_free(encoder);

    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_stream in = stream_of(&file);
    for (uint32_t c = 0; c < MOST_COMPONENTS; c++)
        planes[c].data = back[c];
    assert_int_equal(l2k_decoder_open(decoder, &in), L2K_OK);
    assert_int_equal(l2k_decoder_decode(decoder, planes), L2K_OK);
    for (uint32_t c = 0; c < MOST_COMPONENTS; c++) {
        uint32_t width, height;
        l2k_component_size(&image, c, &width, &height);
        for (uint32_t y = 0; y < height; y++)
            assert_memory_equal(back[c] + 3 * y, samples[c] + 3 * y, 2 * width);
    }
    l2k_decoder_free(decoder);
    free(file.data);
}

/* Channels in l2k_info, and a density that no box can represent. */
static void test_channels_and_density(void **unused)
{
    (void)unused;
    picture p;
    l2k_info info;
    memory_file file = memory_of(NULL, 0);
    picture_make(&p, 8, 8, 4);
    p.components[3].channel = L2K_CHANNEL_OPACITY;
    p.components[3].association = 0;
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(run_encoder(encoder, &p, &file), L2K_OK);
    p.image.density_x = p.image.density_y = HUGE_VAL;
    memory_file none = memory_of(NULL, 0);
    assert_int_equal(run_encoder(encoder, &p, &none), L2K_ERROR_ARGUMENT);
    l2k_encoder_free(encoder);

    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_stream in = stream_of(&file);
    assert_int_equal(l2k_decoder_open(decoder, &in), L2K_OK);
    assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
    assert_int_equal(info.image.components[2].channel, L2K_CHANNEL_COLOUR);
    assert_int_equal(info.image.components[2].association, 3);
    assert_int_equal(info.image.components[3].channel, L2K_CHANNEL_OPACITY);
    assert_int_equal(info.image.components[3].association, 0);
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_most_components),
                                       cmocka_unit_test(test_channels_and_density)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
