/* The encoder of VC-2: data units (clause 10) with intra pictures in slices. */
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/object.h"
#include "dirac/transform.h"

enum { PADDING = 0x30, LOW_DELAY = 0xc8, HIGH_QUALITY = 0xe8, MOST_UNITS = 255 };

struct l2k_video_encoder {
    l2k_context context;
    int64_t options[L2K_VIDEO_ENCODER_NUM_OPTIONS];
    bool has_begun;
    l2k_stream stream;
    l2k_dirac_sequence sequence;
    l2k_dirac_transform transform;
    l2k_dirac_writer unit;
    uint32_t number, previous; /* of the next picture; bytes of the unit before */
    uint64_t room;             /* of the slices, for l2k_dirac_slices_write */
};

static void start_unit(l2k_video_encoder *e, unsigned code)
{
    if (e->unit.out.failed)
        l2k_buffer_release(&e->unit.out);
    e->unit.out.size = 0;
    l2k_buffer_put(&e->unit.out, (uint64_t)0x42424344 << 8 | code, 5);
    l2k_buffer_put(&e->unit.out, e->previous, 8); /* behind the next offset, which the end of the unit tells */
}

static l2k_status end_unit(l2k_video_encoder *e, bool is_last)
{
    l2k_buffer *out = &e->unit.out;
    L2K_TRY(l2k_buffer_status(out));
    if (out->size > UINT32_MAX)
        return l2k_fail(&e->context, L2K_ERROR_LIMIT, "a picture of 4 GB");
    e->previous = (uint32_t)out->size;
    l2k_buffer_patch(out, 5, is_last ? 0 : out->size, 4);
    if (e->stream.write(e->stream.user, out->data, out->size) != 0)
        return l2k_fail(&e->context, L2K_ERROR_IO, "writing failed");
    return L2K_OK;
}

/* A picture up to its slices (12.2, 12.4). */
static void start_picture(l2k_video_encoder *e, uint32_t number)
{
    const l2k_dirac_transform *t = &e->transform;
    const uint32_t numbers[] = {t->wavelet,   t->levels,         t->slices[0],
                                t->slices[1], t->slice_bytes[0], t->slice_bytes[1]};
    start_unit(e, e->sequence.profile ? HIGH_QUALITY : LOW_DELAY);
    l2k_dirac_put_bits(&e->unit, number, 32);
    for (unsigned i = 0; i < 6; i++) {
        l2k_dirac_put_bits(&e->unit, 0, i == 2 && e->sequence.version >= 3 ? 2 : 0); /* not asymmetric */
        l2k_dirac_put_uint(&e->unit, numbers[i]);
    }
    l2k_dirac_put_bits(&e->unit, 0, 1); /* the default matrix */
    l2k_dirac_put_ones(&e->unit, 0);
}

/* Puts defaults in place of zeros; returns what VC-2 does not have, or NULL. */
static const char *complete(l2k_dirac_sequence *s)
{
    const uint32_t values[][2] = {{25, 1}, {1, 1}, {s->width, s->height}};
    uint32_t *const numbers[] = {s->rate, s->aspect, s->clean, s->clean + 2, s->offset, s->colour, s->colour + 1};
    for (unsigned i = 0; i < 7; i++) {
        if (i < 3 && !(numbers[i][0] && numbers[i][1]))
            memcpy(numbers[i], values[i], sizeof values[i]);
        if ((numbers[i][0] | numbers[i][1]) >> 27) /* decoders know no longer codes */
            return "number";
    }
    for (unsigned i = 0; i < 2; i++) {
        if (s->depth[i] < 8 || s->depth[i] > 16 || (s->excursion[i] && l2k_bit_length(s->excursion[i]) != s->depth[i]))
            return "depth";
        if (s->excursion[i] == 0)
            s->offset[i] = (16u << 3 * i) << (s->depth[i] - 8), s->excursion[i] = (219u + 5 * i) << (s->depth[i] - 8);
    }
    s->version = s->colour[0] > 3 || s->colour[1] > 3 || s->colour[2] > 3 ? 3 : 1 + (s->profile > 0);
    if (!s->width || !s->height || s->width > UINT16_MAX || s->height > UINT16_MAX || s->chroma_x > 1 ||
        s->chroma_y > s->chroma_x || s->width % (1u << s->chroma_x) || s->height % ((1u + s->fields) << s->chroma_y))
        return "size or sub-sampling";
    return s->profile == 0 || s->profile == 3 ? NULL : "profile";
}

/* What the longest header and the parse info of padding leave for the slices, and how it is divided. */
static l2k_status find_room(l2k_video_encoder *e)
{
    l2k_dirac_transform *t = &e->transform;
    const bool low_delay = e->sequence.profile == 0;
    const uint64_t bytes = (uint64_t)e->options[L2K_VIDEO_ENCODER_PICTURE_BYTES];
    const uint64_t slices = (uint64_t)t->slices[0] * t->slices[1];
    if (slices > UINT32_MAX / 4)
        return l2k_fail(&e->context, L2K_ERROR_LIMIT, "%llu slices", (unsigned long long)slices);
    t->slice_bytes[0] = low_delay ? (uint32_t)bytes : 0, t->slice_bytes[1] = (uint32_t)(low_delay ? slices : bytes + 1);
    start_picture(e, 0);
    L2K_TRY(l2k_buffer_status(&e->unit.out));
    const uint64_t taken = e->unit.out.size + L2K_DIRAC_PARSE_INFO + (low_delay ? 0 : 4 * slices);
    e->room = bytes > taken ? bytes - taken : 0;
    if (e->room < slices && (bytes || low_delay))
        return l2k_fail(&e->context, L2K_ERROR_ARGUMENT, "%llu bytes are too few for the slices of a picture",
                        (unsigned long long)bytes);
    t->slice_bytes[0] = low_delay ? (uint32_t)e->room : 0;
    t->slice_bytes[1] = (uint32_t)(low_delay ? slices : e->room / (MOST_UNITS * slices) + 1);
    e->room /= low_delay ? 1 : t->slice_bytes[1];
    return L2K_OK;
}

l2k_status l2k_video_encoder_begin(l2k_video_encoder *e, const l2k_video_sequence *sequence, const l2k_stream *stream)
{
    l2k_dirac_transform *t = &e->transform;
    if (e->has_begun)
        return l2k_fail(&e->context, L2K_ERROR_STATE, "a stream has begun");
    e->sequence = *sequence, e->stream = *stream;
    e->number = e->previous = 0;
    const char *wrong = complete(&e->sequence);
    if (wrong)
        return l2k_fail(&e->context, L2K_ERROR_ARGUMENT, "VC-2 has no such %s", wrong);
    t->syntax = e->sequence.profile ? L2K_DIRAC_HIGH_QUALITY : L2K_DIRAC_LOW_DELAY;
    t->wavelet = (uint32_t)e->options[L2K_VIDEO_ENCODER_WAVELET];
    t->levels = (uint32_t)e->options[L2K_VIDEO_ENCODER_LEVELS];
    t->wide = true;
    l2k_dirac_transform_place(&e->sequence, t);
    t->slices[0] = l2k_ceil_div(t->components[0].width, (uint32_t)e->options[L2K_VIDEO_ENCODER_SLICE_WIDTH]);
    t->slices[1] = l2k_ceil_div(t->components[0].height, (uint32_t)e->options[L2K_VIDEO_ENCODER_SLICE_HEIGHT]);
    L2K_TRY(find_room(e));
    L2K_TRY(l2k_dirac_coefficients(&e->context, NULL, t));
    start_unit(e, L2K_DIRAC_SEQUENCE_HEADER);
    l2k_dirac_sequence_write(&e->unit, &e->sequence);
    const l2k_status status = end_unit(e, false);
    e->has_begun = status == L2K_OK;
    return status;
}

static l2k_status encode_picture(l2k_video_encoder *e, uint32_t number, const l2k_plane *planes, bool lower)
{
    l2k_dirac_transform *t = &e->transform;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        l2k_plane plane = planes[c];
        plane.data = (uint8_t *)plane.data + (lower ? plane.row_stride : 0);
        plane.row_stride *= 1 + e->sequence.fields;
        l2k_dirac_forward(&e->context, t, &e->sequence, c, &plane);
    }
    if (!e->room)
        t->slice_bytes[1] = (uint32_t)(l2k_dirac_slices_write(t, 0, NULL) / MOST_UNITS + 1);
    start_picture(e, number);
    l2k_dirac_slices_write(t, e->room, &e->unit);
    const l2k_status status = end_unit(e, false);
    if (!e->room || status != L2K_OK)
        return status;
    start_unit(e, PADDING);
    l2k_dirac_put_ones(&e->unit, (size_t)e->options[L2K_VIDEO_ENCODER_PICTURE_BYTES] - e->previous);
    return end_unit(e, false);
}

l2k_status l2k_video_encoder_encode(l2k_video_encoder *e, const l2k_plane *planes)
{
    const l2k_dirac_sequence *s = &e->sequence;
    if (!e->has_begun)
        return l2k_fail(&e->context, L2K_ERROR_STATE, "no stream has begun");
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++)
        if (planes[c].type != L2K_SAMPLE_U8 && planes[c].type != L2K_SAMPLE_U16)
            return l2k_fail(&e->context, L2K_ERROR_ARGUMENT, "samples of video are unsigned, of 8 or 16 bits");
    const uint32_t first = e->number;
    e->number += 1u + s->fields;
    for (unsigned field = 0; field <= s->fields; field++)
        L2K_TRY(encode_picture(e, first + field, planes, s->fields && field == s->top_field_first));
    return L2K_OK;
}

l2k_status l2k_video_encoder_end(l2k_video_encoder *e)
{
    if (!e->has_begun)
        return l2k_fail(&e->context, L2K_ERROR_STATE, "no stream has begun");
    e->has_begun = false;
    start_unit(e, L2K_DIRAC_END_OF_SEQUENCE);
    return end_unit(e, true);
}

static const l2k_option_rule rules[] = {
    [L2K_VIDEO_ENCODER_PICTURE_BYTES] = {"bytes of a picture", 0, (1 << 27) - 1, 0},
    [L2K_VIDEO_ENCODER_WAVELET] = {"wavelet", 0, 6, 0},
    [L2K_VIDEO_ENCODER_LEVELS] = {"levels", 1, 4, 3},
    [L2K_VIDEO_ENCODER_SLICE_WIDTH] = {"slice width", 1, UINT16_MAX, 32},
    [L2K_VIDEO_ENCODER_SLICE_HEIGHT] = {"slice height", 1, UINT16_MAX, 8},
    [L2K_VIDEO_ENCODER_CPU] = {"instruction set", 0, L2K_CPU_SIMD128, L2K_CPU_AUTO}};

static const l2k_object_kind object_kind = {.bytes = sizeof(l2k_video_encoder),
                                            .options = offsetof(l2k_video_encoder, options),
                                            .rules = rules,
                                            .num_options = L2K_VIDEO_ENCODER_NUM_OPTIONS};

l2k_video_encoder *l2k_video_encoder_new(const l2k_hooks *hooks)
{
    l2k_video_encoder *e = l2k_object_create(&object_kind, hooks);
    if (!e)
        return NULL;
    e->unit.out.context = &e->context;
    l2k_dirac_transform_start(&e->transform);
    return e;
}

void l2k_video_encoder_free(l2k_video_encoder *e)
{
    if (!e)
        return;
    l2k_release(&e->context, e->transform.data);
    l2k_release(&e->context, e->transform.scratch);
    l2k_buffer_release(&e->unit.out);
    l2k_object_free(&object_kind, e);
}

l2k_status l2k_video_encoder_set(l2k_video_encoder *e, l2k_video_encoder_option option, int64_t value)
{
    if (e->has_begun)
        return l2k_fail(&e->context, L2K_ERROR_STATE, "a stream has begun");
    L2K_TRY(l2k_object_set(&object_kind, e, option, value));
    e->context.cpu = (l2k_cpu)e->options[L2K_VIDEO_ENCODER_CPU];
    return l2k_cpu_check(&e->context);
}
