/* The encoder of VC-2 by its interface, against the decoder: lossless and exact sizes in all parameters, states and errors.
 * Other decoders are asked by tests/cli/dirac.sh. */
#include "support.h"

#include <math.h>

#include "lift2k/lift2k.h"

enum { PARSE_INFO = 13, MOST_SAMPLES = 1 << 16, FRAMES = 2 };

typedef struct settings {
    l2k_video_sequence sequence;
    int64_t options[L2K_VIDEO_ENCODER_NUM_OPTIONS];
    bool wide; /* samples of 16 bits in memory */
} settings;

typedef struct bytes {
    uint8_t *data;
    size_t count, room; /* room: what can be written before an error */
} bytes;

static int take(void *user, const void *buffer, size_t count)
{
    bytes *b = user;
    if (b->count + count > b->room)
        return -1;
    memcpy(b->data + b->count, buffer, count);
    b->count += count;
    return 0;
}

static const int64_t defaults[L2K_VIDEO_ENCODER_NUM_OPTIONS] = {0, 0, 3, 32, 8, L2K_CPU_AUTO};

static uint32_t side(const settings *s, unsigned plane, bool vertical)
{
    const unsigned shift = plane == 0 ? 0 : vertical ? s->sequence.chroma_y : s->sequence.chroma_x;
    return ((vertical ? s->sequence.height : s->sequence.width) + shift) >> shift;
}

/* Of a frame: waves with noise, or, from 3 on, the extremes in changing patterns. */
static uint16_t sample_of(const settings *s, unsigned frame, unsigned plane, uint32_t x, uint32_t y, unsigned kind)
{
    const uint32_t most = (1u << s->sequence.depth[plane > 0]) - 1;
    if (kind >= 3)
        return (uint16_t)((x / (kind - 2) ^ y) & 1 || random_below(50) == 0 ? most : 0);
    const double wave = 0.5 + 0.3 * sin(x * 0.06 + frame + plane) + 0.15 * cos(y * 0.11);
    return (uint16_t)(wave * most + kind * 0.01 * random_below(most));
}

/* Encodes frames and returns the decoder's error, squared and on average; the stream is in `out`. Each picture with its
 * padding must have the bytes asked for. */
static double round_trip(const settings *s, unsigned kind, bytes *out)
{
    static uint16_t samples[FRAMES][3 * MOST_SAMPLES];
    l2k_video_encoder *encoder = l2k_video_encoder_new(NULL);
    l2k_video_decoder *decoder = l2k_video_decoder_new(NULL);
    const l2k_stream stream = {.write = take, .user = out};
    const l2k_video_frame *frame;
    double error = 0, count = 0;
    for (unsigned i = 0; i < L2K_VIDEO_ENCODER_NUM_OPTIONS; i++)
        assert_int_equal(l2k_video_encoder_set(encoder, (l2k_video_encoder_option)i, s->options[i]), L2K_OK);
    out->count = 0;
    assert_int_equal(l2k_video_encoder_begin(encoder, &s->sequence, &stream), L2K_OK);
    for (unsigned f = 0; f < FRAMES; f++) {
        l2k_plane planes[3];
        size_t at = 0;
        for (unsigned c = 0; c < 3; c++) {
            const uint32_t width = side(s, c, false), height = side(s, c, true);
            uint16_t *plane = samples[f] + at;
            uint8_t *narrow = (uint8_t *)plane; /* in every second byte */
            for (uint32_t i = 0; i < width * height; i++, at++) {
                plane[i] = sample_of(s, f, c, i % width, i / width, kind);
                if (!s->wide)
                    narrow[2 * i] = (uint8_t)plane[i];
            }
            planes[c] = (l2k_plane){plane, 2 * (ptrdiff_t)width, 2, s->wide ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
        }
        const size_t before = out->count;
        assert_int_equal(l2k_video_encoder_encode(encoder, planes), L2K_OK);
        if (s->options[L2K_VIDEO_ENCODER_PICTURE_BYTES])
            assert_int_equal(out->count - before,
                             s->options[L2K_VIDEO_ENCODER_PICTURE_BYTES] * (1 + s->sequence.fields));
    }
    assert_int_equal(l2k_video_encoder_end(encoder), L2K_OK);
    assert_int_equal(l2k_video_decoder_push(decoder, out->data, out->count), L2K_OK);
    assert_int_equal(l2k_video_decoder_push(decoder, NULL, 0), L2K_OK);
    for (unsigned f = 0; f < FRAMES; f++) {
        size_t at = 0;
        assert_int_equal(l2k_video_decoder_pull(decoder, &frame), L2K_OK);
        assert_non_null(frame);
        assert_int_equal(frame->number, f);
        for (unsigned c = 0; c < 3; c++) {
            const l2k_plane *p = &frame->planes[c];
            const uint32_t width = side(s, c, false), height = side(s, c, true);
            assert_int_equal(frame->image.components[c].width, width);
            assert_int_equal(frame->image.components[c].height, height);
            for (uint32_t i = 0; i < width * height; i++, at++) {
                const uint8_t *from = (const uint8_t *)p->data + (ptrdiff_t)(i / width) * p->row_stride +
                                      (ptrdiff_t)(i % width) * p->sample_stride;
                const double d = (p->type == L2K_SAMPLE_U16 ? *(const uint16_t *)(const void *)from : *from) -
                                 (double)samples[f][at];
                error += d * d, count++;
            }
        }
    }
    assert_int_equal(l2k_video_decoder_pull(decoder, &frame), L2K_OK);
    assert_null(frame);
    l2k_video_encoder_free(encoder);
    l2k_video_decoder_free(decoder);
    return error / count;
}

static bytes new_bytes(void)
{
    bytes b = {malloc(8 << 20), 0, 8 << 20};
    assert_non_null(b.data);
    return b;
}

static settings random_settings(unsigned profile, unsigned i)
{
    static const uint32_t depths[] = {8, 10, 12, 16, 9};
    settings s = {.sequence.profile = profile};
    memcpy(s.options, defaults, sizeof defaults);
    s.sequence.chroma_x = i % 3 > 0, s.sequence.chroma_y = i % 3 == 2;
    s.sequence.fields = s.sequence.interlaced = random_below(3) == 0, s.sequence.top_field_first = random_below(2);
    s.sequence.width = random_between(1, 100), s.sequence.height = random_between(1, 30) * 4;
    s.sequence.width *= 1 + s.sequence.chroma_x;
    if (!s.sequence.fields)
        s.sequence.height -= random_below(4) << s.sequence.chroma_y & 3;
    for (unsigned c = 0; c < 2; c++)
        s.sequence.depth[c] = depths[random_below(5)];
    s.wide = s.sequence.depth[0] > 8 || s.sequence.depth[1] > 8 || i % 2;
    s.options[L2K_VIDEO_ENCODER_WAVELET] = i % 7;
    s.options[L2K_VIDEO_ENCODER_LEVELS] = random_between(1, 4);
    s.options[L2K_VIDEO_ENCODER_SLICE_WIDTH] = random_between(1, 70);
    s.options[L2K_VIDEO_ENCODER_SLICE_HEIGHT] = random_between(1, 40);
    s.options[L2K_VIDEO_ENCODER_CPU] = i % 5 ? L2K_CPU_AUTO : L2K_CPU_C;
    return s;
}

static void test_lossless(void **unused)
{
    (void)unused;
    bytes out = new_bytes();
    for (unsigned i = 0; i < 210; i++) {
        const settings s = random_settings(3, i);
        assert_true(round_trip(&s, i / 21 % 5, &out) == 0);
    }
    free(out.data);
}

/* Any number of bytes that is enough is the number of bytes, whatever the pictures are. */
static void test_sizes(void **unused)
{
    (void)unused;
    bytes out = new_bytes();
    for (unsigned i = 0; i < 210; i++) {
        settings s = random_settings(i % 2 * 3, i);
        const uint32_t slices = (s.sequence.width / (uint32_t)s.options[L2K_VIDEO_ENCODER_SLICE_WIDTH] + 17) *
                                (s.sequence.height / (uint32_t)s.options[L2K_VIDEO_ENCODER_SLICE_HEIGHT] + 17);
        s.options[L2K_VIDEO_ENCODER_PICTURE_BYTES] = random_between(50 + 5 * slices, 20000 + 10 * slices);
        round_trip(&s, i / 21 % 5, &out);
    }
    free(out.data);
}

static void test_quality(void **unused)
{
    (void)unused;
    bytes out = new_bytes();
    for (unsigned i = 0; i < 28; i++) {
        settings s = {.sequence = {.profile = i % 2 * 3, .width = 176, .height = 144, .chroma_x = 1}, .wide = true};
        memcpy(s.options, defaults, sizeof defaults);
        s.sequence.depth[0] = s.sequence.depth[1] = i < 14 ? 8 : 10;
        s.options[L2K_VIDEO_ENCODER_WAVELET] = i / 2 % 7;
        double errors[3];
        for (unsigned k = 0; k < 3; k++) {
            s.options[L2K_VIDEO_ENCODER_PICTURE_BYTES] = 4000 << k;
            errors[k] = round_trip(&s, 1, &out);
        }
        const double most = (1 << s.sequence.depth[0]) - 1;
        assert_true(errors[0] > errors[1] && errors[1] > errors[2]);
        assert_true(10 * log10(most * most / errors[0]) > 33);
        assert_true(10 * log10(most * most / errors[2]) > 41);
    }
    free(out.data);
}

/* From parse info to parse info by the next offsets, and back by the previous ones. */
static void test_units(void **unused)
{
    (void)unused;
    bytes out = new_bytes();
    for (unsigned size = 0; size <= 2000; size += 2000) {
        settings s = {.sequence = {.profile = 3, .width = 64, .height = 32, .depth = {8, 8}, .fields = true}};
        memcpy(s.options, defaults, sizeof defaults);
        s.options[L2K_VIDEO_ENCODER_PICTURE_BYTES] = size;
        round_trip(&s, 1, &out);
        static const uint8_t codes[2][10] = {{0x00, 0xe8, 0xe8, 0xe8, 0xe8, 0x10},
                                             {0x00, 0xe8, 0x30, 0xe8, 0x30, 0xe8, 0x30, 0xe8, 0x30, 0x10}};
        uint32_t previous = 0;
        size_t at = 0;
        for (unsigned n = 0; at < out.count; n++) {
            const uint8_t *p = out.data + at;
            assert_true(out.count - at >= PARSE_INFO && memcmp(p, "BBCD", 4) == 0);
            assert_int_equal(p[4], codes[size > 0][n]);
            assert_int_equal((uint32_t)p[9] << 24 | p[10] << 16 | p[11] << 8 | p[12], previous);
            previous = (uint32_t)p[5] << 24 | p[6] << 16 | p[7] << 8 | p[8];
            assert_true((previous == 0) == (p[4] == 0x10));
            at += previous ? previous : PARSE_INFO;
        }
        assert_int_equal(at, out.count);
    }
    free(out.data);
}

/* The header holds what the caller says. */
static void test_sequence(void **unused)
{
    (void)unused;
    const l2k_video_sequence given[] = {{.profile = 3, .width = 5, .height = 3, .depth = {8, 8}},
                                        {.width = 64,
                                         .height = 64,
                                         .depth = {10, 10},
                                         .chroma_x = 1,
                                         .rate = {30000, 1001},
                                         .aspect = {12, 11},
                                         .colour = {3, 3, 3},
                                         .top_field_first = true,
                                         .interlaced = true},
                                        {.profile = 3,
                                         .width = 64,
                                         .height = 64,
                                         .depth = {12, 9},
                                         .rate = {60, 1},
                                         .colour = {4, 4, 5},
                                         .offset = {0, 256},
                                         .excursion = {4095, 511},
                                         .clean = {60, 50, 2, 3},
                                         .fields = true}};
    bytes out = new_bytes();
    for (unsigned i = 0; i < 3; i++) {
        settings s = {.sequence = given[i], .wide = true};
        memcpy(s.options, defaults, sizeof defaults);
        s.options[L2K_VIDEO_ENCODER_PICTURE_BYTES] = 5000;
        round_trip(&s, 0, &out);
        const l2k_video_sequence *g = &given[i];
        l2k_video_decoder *decoder = l2k_video_decoder_new(NULL);
        const l2k_video_frame *frame;
        assert_int_equal(l2k_video_decoder_push(decoder, out.data, out.count), L2K_OK);
        assert_int_equal(l2k_video_decoder_push(decoder, NULL, 0), L2K_OK);
        assert_int_equal(l2k_video_decoder_pull(decoder, &frame), L2K_OK);
        const l2k_video_sequence *f = &frame->sequence;
        assert_int_equal(f->version, i == 2 ? 3 : i == 1 ? 1 : 2);
        assert_int_equal(f->profile, g->profile);
        assert_int_equal(f->level, 0);
        assert_memory_equal(f->colour, g->colour, sizeof f->colour);
        assert_memory_equal(f->depth, g->depth, sizeof f->depth);
        assert_true(f->interlaced == g->interlaced && f->top_field_first == g->top_field_first);
        assert_true(f->fields == g->fields && f->chroma_x == g->chroma_x && f->chroma_y == g->chroma_y);
        const uint32_t rate[2] = {25, 1}, aspect[2] = {1, 1}, clean[4] = {g->width, g->height};
        assert_memory_equal(f->rate, g->rate[0] ? g->rate : rate, sizeof rate);
        assert_memory_equal(f->aspect, g->aspect[0] ? g->aspect : aspect, sizeof aspect);
        assert_memory_equal(f->clean, g->clean[0] ? g->clean : clean, sizeof clean);
        assert_int_equal(f->offset[1], i == 0 ? 128 : i == 1 ? 512 : 256);
        assert_int_equal(f->excursion[0], i == 0 ? 219 : i == 1 ? 876 : 4095);
        l2k_video_decoder_free(decoder);
    }
    free(out.data);
}

static void test_errors(void **unused)
{
    (void)unused;
    const l2k_video_sequence good = {.profile = 3, .width = 40, .height = 24, .depth = {8, 8}};
    static uint8_t samples[40 * 24];
    const l2k_plane plane = {samples, 40, 1, L2K_SAMPLE_U8}, wrong = {samples, 40, 1, L2K_SAMPLE_S8};
    bytes out = new_bytes();
    const l2k_stream stream = {.write = take, .user = &out};
    l2k_video_encoder *e = l2k_video_encoder_new(NULL);
    l2k_video_encoder_free(NULL);
    assert_int_equal(l2k_video_encoder_set(e, L2K_VIDEO_ENCODER_NUM_OPTIONS, 0), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_video_encoder_set(e, L2K_VIDEO_ENCODER_LEVELS, 5), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_video_encoder_set(e, L2K_VIDEO_ENCODER_WAVELET, 7), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_video_encoder_set(e, L2K_VIDEO_ENCODER_PICTURE_BYTES, 1 << 27), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_video_encoder_encode(e, &plane), L2K_ERROR_STATE);
    assert_int_equal(l2k_video_encoder_end(e), L2K_ERROR_STATE);

    l2k_video_sequence bad[18];
    for (unsigned i = 0; i < 18; i++)
        bad[i] = good;
    bad[0].width = 0, bad[1].height = 65536, bad[2].depth[1] = 17, bad[3].depth[0] = 7, bad[4].profile = 1;
    bad[5].chroma_x = 2, bad[6].chroma_y = 1, bad[7].fields = true, bad[7].height = 23, bad[8].excursion[0] = 256;
    bad[9].rate[0] = UINT32_MAX, bad[9].rate[1] = 1, bad[10].clean[3] = 1u << 27, bad[11].colour[1] = UINT32_MAX;
    bad[12].offset[0] = UINT32_MAX, bad[13].profile = 0, bad[14].aspect[0] = 1, bad[14].aspect[1] = 1u << 31;
    bad[15].excursion[1] = 127, bad[16].chroma_x = 1, bad[16].width = 39, bad[17] = bad[16], bad[17].width = 40;
    bad[17].chroma_y = 1, bad[17].height = 23;
    for (unsigned i = 0; i < 18; i++)
        assert_int_equal(l2k_video_encoder_begin(e, &bad[i], &stream), L2K_ERROR_ARGUMENT);
    assert_int_equal(out.count, 0);
    assert_int_equal(l2k_video_encoder_set(e, L2K_VIDEO_ENCODER_PICTURE_BYTES, 60), L2K_OK);
    assert_int_equal(l2k_video_encoder_begin(e, &good, &stream), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_video_encoder_set(e, L2K_VIDEO_ENCODER_PICTURE_BYTES, 700), L2K_OK);
    assert_int_equal(l2k_video_encoder_begin(e, &good, &stream), L2K_OK);
    assert_int_equal(l2k_video_encoder_begin(e, &good, &stream), L2K_ERROR_STATE);
    assert_int_equal(l2k_video_encoder_set(e, L2K_VIDEO_ENCODER_LEVELS, 2), L2K_ERROR_STATE);
    assert_int_equal(l2k_video_encoder_encode(e, (const l2k_plane[3]){plane, plane, wrong}), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_video_encoder_encode(e, (const l2k_plane[3]){plane, plane, plane}), L2K_OK);
    out.room = out.count + 100;
    assert_int_equal(l2k_video_encoder_encode(e, (const l2k_plane[3]){plane, plane, plane}), L2K_ERROR_IO);
    assert_int_equal(l2k_video_encoder_end(e), L2K_OK);
    out.room = out.count + 5;
    assert_int_equal(l2k_video_encoder_begin(e, &good, &stream), L2K_ERROR_IO);
    assert_int_equal(l2k_video_encoder_end(e), L2K_ERROR_STATE);
    l2k_video_encoder_free(e);
    free(out.data);
}

/* Each failure to get memory is one of a call, and leaves an encoder that can be freed. */
static void *failing_allocate(void *user, size_t count)
{
    return --*(long *)user == 0 ? NULL : malloc(count);
}

static void failing_release(void *user, void *block)
{
    (void)user;
    free(block);
}

static void test_memory(void **unused)
{
    (void)unused;
    const l2k_video_sequence sequence = {.profile = 3, .width = 400, .height = 240, .depth = {8, 8}};
    static uint8_t samples[400 * 240];
    for (unsigned i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)random_u64();
    const l2k_plane plane = {samples, 400, 1, L2K_SAMPLE_U8};
    bytes out = new_bytes();
    const l2k_stream stream = {.write = take, .user = &out};
    unsigned failed = 0;
    for (long n = 1;; n++) {
        long left = n;
        const l2k_hooks hooks = {.allocate = failing_allocate, .release = failing_release, .user = &left};
        l2k_video_encoder *e = l2k_video_encoder_new(&hooks);
        l2k_status status = e ? l2k_video_encoder_begin(e, &sequence, &stream) : L2K_ERROR_MEMORY;
        if (status == L2K_OK)
            status = l2k_video_encoder_encode(e, (const l2k_plane[3]){plane, plane, plane});
        l2k_video_encoder_free(e);
        out.count = 0;
        if (status == L2K_OK)
            break;
        assert_int_equal(status, L2K_ERROR_MEMORY);
        failed++;
    }
    assert_true(failed > 4);
    free(out.data);
}

typedef struct failing_stream {
    unsigned left;   /* writes until one fails; then all are well */
    uint32_t number; /* of the last picture */
} failing_stream;

static int fail_once(void *user, const void *data, size_t count)
{
    failing_stream *s = user;
    const uint8_t *unit = data;
    if (unit[4] & 8 && count > 16)
        s->number = (uint32_t)unit[15] << 8 | unit[16];
    return s->left-- == 0 ? -1 : 0;
}

/* A field that was not written leaves the others in their frames. */
static void test_lost_field(void **unused)
{
    (void)unused;
    const l2k_video_sequence sequence = {.profile = 3, .width = 64, .height = 64, .depth = {8, 8}, .fields = true};
    static uint8_t samples[64 * 64];
    const l2k_plane plane = {samples, 64, 1, L2K_SAMPLE_U8}, planes[3] = {plane, plane, plane};
    for (unsigned left = 1; left < 3; left++) {
        failing_stream user = {.left = left};
        const l2k_stream stream = {.write = fail_once, .user = &user};
        l2k_video_encoder *e = l2k_video_encoder_new(NULL);
        assert_int_equal(l2k_video_encoder_begin(e, &sequence, &stream), L2K_OK);
        assert_int_equal(l2k_video_encoder_encode(e, planes), L2K_ERROR_IO);
        assert_int_equal(l2k_video_encoder_encode(e, planes), L2K_OK);
        assert_int_equal(user.number, 3);
        assert_int_equal(l2k_video_encoder_end(e), L2K_OK);
        l2k_video_encoder_free(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lossless), cmocka_unit_test(test_sizes),
                                       cmocka_unit_test(test_quality),  cmocka_unit_test(test_units),
                                       cmocka_unit_test(test_sequence), cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_memory),   cmocka_unit_test(test_lost_field)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
