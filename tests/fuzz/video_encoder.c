/* Fuzz target: the encoder of VC-2 over sequences, options and samples of the input, and back: lossless streams give the
 * samples again, others have the bytes asked for. The first HEAD bytes choose; the others are samples, repeated as
 * needed. */
#include "fuzz.h"

enum { HEAD = 48, PLANES = 3, FRAMES = 2, MOST_SAMPLES = 1 << 14 };

typedef struct trip {
    l2k_video_sequence sequence;
    int64_t picture_bytes;
    l2k_component components[PLANES];
    l2k_image image;
    fuzz_planes frames[FRAMES];
} trip;

/* ---- Choices --------------------------------------------------------------------------------------------------- */

/* Mostly what VC-2 has; all 0 are a small lossless stream. */
static void choose_sequence(fuzz_bytes *b, trip *t)
{
    l2k_video_sequence *s = &t->sequence;
    const uint32_t flags = fuzz_byte(b), more = fuzz_byte(b), odd = more & 1;
    s->profile = flags & 1 ? 0 : 3;
    s->depth[0] = s->depth[1] = 8 + fuzz_byte(b) % 9;
    s->width = odd ? 1 + fuzz_byte(b) : 2 + 2 * (fuzz_byte(b) % 64);
    s->height = odd ? 1 + fuzz_byte(b) : 4 + 4 * (fuzz_byte(b) % 16);
    s->chroma_x = flags >> 1 & 1, s->chroma_y = flags >> 2 & 1;
    s->fields = flags & 8, s->interlaced = flags & 16, s->top_field_first = flags & 32;
    if (flags & 64)
        s->depth[1] = 7 + fuzz_byte(b) % 11;
    if (flags & 128)
        s->profile = fuzz_byte(b) % 5;
    for (unsigned i = 0; i < 2 && more & 2; i++) {
        s->excursion[i] = (1u << s->depth[i]) - 1 - fuzz_byte(b);
        s->offset[i] = fuzz_word(b) << (fuzz_byte(b) & 15);
    }
    for (unsigned i = 0; i < 2 && more & 4; i++)
        s->rate[i] = fuzz_word(b) << (fuzz_byte(b) & 15), s->aspect[i] = fuzz_word(b);
    for (unsigned i = 0; i < 4 && more & 8; i++)
        s->clean[i] = fuzz_word(b);
    for (unsigned i = 0; i < 3 && more & 16; i++)
        s->colour[i] = fuzz_byte(b) % 10;
}

static void choose_options(fuzz_bytes *b, trip *t, l2k_video_encoder *encoder)
{
    const uint32_t kind = fuzz_byte(b), width = fuzz_byte(b), height = fuzz_byte(b);
    const uint32_t samples = t->sequence.width * t->sequence.height;
    t->picture_bytes = kind & 1 || t->sequence.profile == 0 ? samples * (1 + fuzz_byte(b)) / 64 + fuzz_byte(b) : 0;
    const int64_t values[L2K_VIDEO_ENCODER_NUM_OPTIONS] = {
        [L2K_VIDEO_ENCODER_PICTURE_BYTES] = t->picture_bytes,
        [L2K_VIDEO_ENCODER_WAVELET] = fuzz_byte(b) % 7,
        [L2K_VIDEO_ENCODER_LEVELS] = 1 + (fuzz_byte(b) + 2) % 4,
        [L2K_VIDEO_ENCODER_SLICE_WIDTH] = width ? width : 32,
        [L2K_VIDEO_ENCODER_SLICE_HEIGHT] = height ? height : 8,
        [L2K_VIDEO_ENCODER_CPU] = kind & 2 ? L2K_CPU_C : L2K_CPU_AUTO,
    };
    for (unsigned i = 0; i < L2K_VIDEO_ENCODER_NUM_OPTIONS; i++)
        FUZZ_EXPECT(l2k_video_encoder_set(encoder, (l2k_video_encoder_option)i, values[i]) == L2K_OK);
}

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

static bool make_frames(trip *t, const uint8_t *data, size_t bytes, bool largest)
{
    const l2k_video_sequence *s = &t->sequence;
    size_t at = 0;
    for (uint32_t c = 0; c < PLANES; c++) {
        const uint32_t x = c ? s->chroma_x : 0, y = c ? s->chroma_y : 0;
        t->components[c] = (l2k_component){.precision = s->depth[c > 0]};
        t->components[c].width = (s->width + x) >> x, t->components[c].height = (s->height + y) >> y;
    }
    t->image = (l2k_image){.num_components = PLANES, .components = t->components};
    for (unsigned f = 0; f < FRAMES; f++) {
        if (!fuzz_planes_make(&t->frames[f], &t->image, largest, MOST_SAMPLES))
            return false;
        for (uint32_t c = 0; c < PLANES; c++) {
            const l2k_component *k = &t->components[c];
            for (uint32_t i = 0; i < k->width * k->height; i++, at += 2) {
                const uint32_t sample = bytes ? data[at % bytes] << 8 | data[(at + 1) % bytes] : 0;
                fuzz_put_sample(&t->frames[f].planes[c], i % k->width, i / k->width,
                                sample & ((1u << k->precision) - 1));
            }
        }
    }
    return true;
}

static int write_some(void *user, const void *buffer, size_t bytes)
{
    fuzz_file *out = user;
    return out->size + bytes > out->chunk ? -1 : fuzz_write(out, buffer, bytes);
}

static l2k_status encode(fuzz_bytes *b, trip *t, const uint8_t *data, size_t bytes, fuzz_file *out)
{
    fuzz_watch w;
    const l2k_hooks hooks = fuzz_hooks(&w, (size_t)1 << 28);
    const l2k_stream stream = {.write = write_some, .user = out};
    l2k_video_encoder *encoder = l2k_video_encoder_new(&hooks);
    FUZZ_EXPECT(encoder);
    choose_sequence(b, t);
    choose_options(b, t, encoder);
    const uint32_t room = fuzz_word(b), largest = fuzz_byte(b);
    out->chunk = room ? room : SIZE_MAX;
    w.until_failure = fuzz_byte(b);
    l2k_status status = L2K_ERROR_LIMIT;
    if (make_frames(t, data, bytes, largest & 1)) {
        status = fuzz_reported(&w, l2k_video_encoder_begin(encoder, &t->sequence, &stream));
        for (unsigned f = 0; f < FRAMES && status == L2K_OK; f++) {
            const size_t before = out->size;
            status = fuzz_reported(&w, l2k_video_encoder_encode(encoder, t->frames[f].planes));
            if (status == L2K_OK && t->picture_bytes)
                FUZZ_EXPECT(out->size - before == (size_t)t->picture_bytes * (1 + t->sequence.fields));
        }
        if (status == L2K_OK)
            status = fuzz_reported(&w, l2k_video_encoder_end(encoder));
    }
    l2k_video_encoder_free(encoder);
    FUZZ_EXPECT(w.live == 0);
    return status;
}

/* ---- Back ------------------------------------------------------------------------------------------------------ */

static void check_frame(const trip *t, const l2k_video_frame *frame, unsigned f)
{
    FUZZ_EXPECT(frame && frame->number == f && frame->image.num_components == PLANES);
    FUZZ_EXPECT(frame->sequence.width == t->sequence.width && frame->sequence.height == t->sequence.height);
    FUZZ_EXPECT(frame->sequence.fields == t->sequence.fields && frame->sequence.interlaced == t->sequence.interlaced);
    for (uint32_t c = 0; c < PLANES; c++) {
        const l2k_component *k = &t->components[c], *found = &frame->image.components[c];
        FUZZ_EXPECT(found->width == k->width && found->height == k->height && found->precision == k->precision);
        for (uint32_t i = 0; !t->picture_bytes && i < k->width * k->height; i++)
            FUZZ_EXPECT(fuzz_get_sample(&frame->planes[c], i % k->width, i / k->width) ==
                        fuzz_get_sample(&t->frames[f].planes[c], i % k->width, i / k->width));
    }
}

static void decode(const trip *t, const fuzz_file *file)
{
    const l2k_video_frame *frame;
    l2k_video_decoder *decoder = l2k_video_decoder_new(NULL);
    FUZZ_EXPECT(decoder && l2k_video_decoder_push(decoder, file->data, file->size) == L2K_OK);
    FUZZ_EXPECT(l2k_video_decoder_push(decoder, NULL, 0) == L2K_OK);
    for (unsigned f = 0; f < FRAMES; f++) {
        FUZZ_EXPECT(l2k_video_decoder_pull(decoder, &frame) == L2K_OK);
        check_frame(t, frame, f);
    }
    FUZZ_EXPECT(l2k_video_decoder_pull(decoder, &frame) == L2K_OK && !frame);
    l2k_video_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const size_t head = bytes < HEAD ? bytes : HEAD;
    fuzz_bytes choices = {data, head, 0};
    fuzz_file file = {.chunk = SIZE_MAX};
    trip t = {.picture_bytes = 0};
    if (encode(&choices, &t, data + head, bytes - head, &file) == L2K_OK)
        decode(&t, &file);
    for (unsigned f = 0; f < FRAMES; f++)
        fuzz_planes_free(&t.frames[f]);
    free(file.data);
    return 0;
}
