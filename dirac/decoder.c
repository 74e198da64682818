/* The public decoder of Dirac and VC-2: data units (VC-2, clause 10) from pushed bytes, frames in display order. */
#include "dirac/decoder.h"

#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/scalar.h"

enum { PARSE_INFO = 13, SEQUENCE_HEADER = 0x00, END_OF_SEQUENCE = 0x10, PICTURE = 0x08 };

static const l2k_option_rule rules[] = {
    [L2K_VIDEO_LIMIT_SAMPLES] = {"limit of samples", 0, INT64_MAX, (int64_t)1 << 27},
    [L2K_VIDEO_LIMIT_MEMORY] = {"limit of memory", 0, INT64_MAX, (int64_t)1 << 62},
    [L2K_VIDEO_CPU] = {"instruction set", 0, L2K_CPU_SIMD128, L2K_CPU_AUTO},
};

static const l2k_object_kind object_kind = {.bytes = sizeof(l2k_video_decoder),
                                            .pool = offsetof(l2k_video_decoder, pool),
                                            .options = offsetof(l2k_video_decoder, options),
                                            .rules = rules,
                                            .num_options = L2K_VIDEO_NUM_OPTIONS};

l2k_video_decoder *l2k_video_decoder_new(const l2k_hooks *hooks)
{
    l2k_video_decoder *d = l2k_object_create(&object_kind, hooks);
    if (!d)
        return NULL;
    d->input.context = d->header.context = &d->context;
    d->motion = l2k_dirac_motion_new(&d->context);
    l2k_dirac_transform_start(&d->transform);
    if (d->motion)
        return d;
    l2k_object_free(&object_kind, d);
    return NULL;
}

void l2k_video_decoder_free(l2k_video_decoder *d)
{
    if (!d)
        return;
    l2k_dirac_forget_references(d);
    for (unsigned i = 0; i < d->waiting; i++)
        l2k_dirac_frame_release(&d->context, d->queue[i]);
    l2k_dirac_frame_release(&d->context, d->shown);
    l2k_dirac_motion_free(&d->context, d->motion);
    l2k_dirac_transform_end(&d->context, &d->transform);
    l2k_buffer_release(&d->input);
    l2k_buffer_release(&d->header);
    l2k_object_free(&object_kind, d);
}

l2k_status l2k_video_decoder_set(l2k_video_decoder *d, l2k_video_option option, int64_t value)
{
    L2K_TRY(l2k_object_set(&object_kind, d, option, value));
    d->context.cpu = (l2k_cpu)d->options[L2K_VIDEO_CPU];
    return l2k_cpu_check(&d->context);
}

l2k_status l2k_video_decoder_push(l2k_video_decoder *d, const uint8_t *data, size_t bytes)
{
    if (d->has_ended)
        return l2k_fail(&d->context, L2K_ERROR_STATE, "the stream has ended");
    d->has_ended = bytes == 0;
    if (d->at) {
        memmove(d->input.data, d->input.data + d->at, d->input.size - d->at);
        d->input.size -= d->at;
        d->searched -= d->at;
        d->at = 0;
    }
    l2k_buffer_append(&d->input, data, bytes);
    return l2k_buffer_status(&d->input);
}

/* ---- Data units ------------------------------------------------------------------------------------------------ */

/* Moves `searched` to the next parse info, or to where it may begin in bytes to come. */
static bool find_parse_info(l2k_video_decoder *d)
{
    for (; d->searched + 4 <= d->input.size; d->searched++)
        if (memcmp(d->input.data + d->searched, "BBCD", 4) == 0)
            return true;
    return false;
}

/* The next data unit: its bytes from the parse info on; 0: not yet there, or the stream has ended. */
static size_t next_unit(l2k_video_decoder *d)
{
    d->searched = d->searched < d->at ? d->at : d->searched;
    if (d->input.size - d->at < PARSE_INFO || memcmp(d->input.data + d->at, "BBCD", 4) != 0) {
        const bool found = find_parse_info(d);
        if (d->searched > d->at && d->in_step)
            l2k_warn(&d->context, "bytes between data units are skipped");
        d->in_step = d->searched == d->at && d->in_step;
        d->at = d->searched;
        if (!found || d->input.size - d->at < PARSE_INFO)
            return 0;
    }
    const size_t left = d->input.size - d->at;
    const uint32_t bytes = l2k_get_be(d->input.data + d->at + 5, 4);
    d->in_step = d->seen_units = true;
    if (bytes >= PARSE_INFO)
        return bytes <= left ? bytes : d->has_ended ? left : 0;
    if (d->input.data[d->at + 4] == END_OF_SEQUENCE)
        return PARSE_INFO;
    d->searched = d->searched < d->at + PARSE_INFO ? d->at + PARSE_INFO : d->searched;
    if (find_parse_info(d)) /* a unit without a length ends at the next one */
        return d->searched - d->at;
    return d->has_ended ? left : 0;
}

static l2k_status start_sequence(l2k_video_decoder *d, const uint8_t *data, size_t bytes)
{
    l2k_dirac_bits bits = l2k_dirac_bits_of(data, bytes);
    l2k_dirac_sequence *s = &d->sequence;
    d->has_sequence = d->needs_32[0] = d->needs_32[1] = false;
    L2K_TRY(l2k_dirac_sequence_read(&d->context, &bits, s));
    const uint64_t chroma = (uint64_t)l2k_ceil_shift(s->width, s->chroma_x) * l2k_ceil_shift(s->height, s->chroma_y);
    const uint64_t samples = (uint64_t)s->width * s->height + 2 * chroma;
    if (s->width > INT32_MAX || s->height > INT32_MAX || samples > (uint64_t)d->options[L2K_VIDEO_LIMIT_SAMPLES])
        return l2k_fail(&d->context, L2K_ERROR_LIMIT, "frames of %u x %u exceed the limit of samples", s->width,
                        s->height);
    d->header.size = 0;
    l2k_buffer_append(&d->header, data, bytes);
    d->has_sequence = true;
    return l2k_buffer_status(&d->header);
}

/* The unit is done with, unless frames of the sequence before it have to be shown first. */
static l2k_status decode_unit(l2k_video_decoder *d, size_t bytes)
{
    const uint8_t *unit = d->input.data + d->at, *data = unit + PARSE_INFO;
    const size_t size = bytes - PARSE_INFO;
    const unsigned code = unit[4];
    const bool repeats = d->has_sequence && size == d->header.size && memcmp(data, d->header.data, size) == 0;
    if (code == END_OF_SEQUENCE || (code == SEQUENCE_HEADER && !repeats)) {
        d->draining = d->waiting > 0;
        if (d->draining)
            return L2K_OK;
        l2k_dirac_forget_references(d);
        d->has_sequence = false;
    }
    d->at += bytes;
    if (code == SEQUENCE_HEADER && !repeats)
        return start_sequence(d, data, size);
    if (!(code & PICTURE) || !d->has_sequence)
        return L2K_OK;
    l2k_dirac_bits bits = l2k_dirac_bits_of(data, size);
    return l2k_dirac_picture_decode(d, code, &bits);
}

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

static l2k_status show(l2k_video_decoder *d, const l2k_video_frame **out)
{
    const l2k_dirac_sequence *s = &d->sequence;
    l2k_dirac_frame *frame = d->queue[0];
    memmove(d->queue, d->queue + 1, --d->waiting * sizeof *d->queue);
    d->shown = frame;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const unsigned x = c ? s->chroma_x : 0, y = c ? s->chroma_y : 0;
        const ptrdiff_t bytes = 1 << s->wide, stride = (frame->pictures[0].planes[c].stride >> s->fields) * bytes;
        uint8_t *data = frame->pictures[s->fields && s->top_field_first ? 0 : s->fields].planes[c].data;
        d->components[c] = (l2k_component){.dx = 1u << x,
                                           .dy = 1u << y,
                                           .precision = l2k_dirac_depth(s, c),
                                           .width = l2k_ceil_shift(s->width, x),
                                           .height = l2k_ceil_shift(s->height, y)};
        d->planes[c] = (l2k_plane){data, stride, bytes, s->wide ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
    }
    d->frame = (l2k_video_frame){.image = {.x1 = s->width, .y1 = s->height, .num_components = L2K_DIRAC_PLANES},
                                 .planes = d->planes,
                                 .number = frame->number,
                                 .version = s->major_version,
                                 .profile = s->profile,
                                 .level = s->level,
                                 .interlaced = s->interlaced,
                                 .top_field_first = s->top_field_first,
                                 .coded_as_fields = s->fields};
    d->frame.image.components = d->components;
    d->frame.image.colour = s->colour[1] == 3 ? L2K_COLOUR_SRGB : L2K_COLOUR_SYCC;
    memcpy(d->frame.rate, s->rate, sizeof s->rate);
    memcpy(d->frame.aspect, s->aspect, sizeof s->aspect);
    memcpy(d->frame.clean, s->clean, sizeof s->clean);
    memcpy(d->frame.offset, s->offset, sizeof s->offset);
    memcpy(d->frame.excursion, s->excursion, sizeof s->excursion);
    memcpy(d->frame.colour, s->colour, sizeof s->colour);
    *out = &d->frame;
    return frame->damaged || frame->decoded != (s->fields ? 3 : 1) ? L2K_INCOMPLETE : L2K_OK;
}

l2k_status l2k_video_decoder_pull(l2k_video_decoder *d, const l2k_video_frame **frame)
{
    *frame = NULL;
    l2k_dirac_frame_release(&d->context, d->shown);
    d->shown = NULL;
    l2k_pool_start_call(&d->pool, &d->context.hooks, (uint64_t)d->options[L2K_VIDEO_LIMIT_MEMORY]);
    while (d->waiting <= (d->draining ? 0 : L2K_DIRAC_WAITING)) {
        const size_t bytes = next_unit(d);
        d->draining = false;
        if (bytes)
            L2K_TRY(decode_unit(d, bytes));
        else if (d->has_ended && d->waiting)
            d->draining = true;
        else if (d->has_ended && !d->seen_units)
            return l2k_fail(&d->context, L2K_ERROR_FORMAT, "no data unit of Dirac or VC-2");
        else
            return L2K_OK;
    }
    return show(d, frame);
}
