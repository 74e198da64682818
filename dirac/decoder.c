/* The public decoder of Dirac and VC-2: data units (VC-2, clause 10) from pushed bytes, frames in display order. */
#include "dirac/decoder.h"

#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/object.h"

enum { PARSE_INFO = 13, SEQUENCE_HEADER = 0x00, END_OF_SEQUENCE = 0x10, PICTURE = 0x08 };

static const l2k_option_rule rules[] = {
    [L2K_VIDEO_LIMIT_SAMPLES] = {"limit of samples", 0, INT64_MAX, (int64_t)1 << 27},
    [L2K_VIDEO_LIMIT_MEMORY] = {"limit of memory", 0, INT64_MAX, (int64_t)1 << 62},
    [L2K_VIDEO_CPU] = {"instruction set", 0, L2K_CPU_SIMD128, L2K_CPU_AUTO}};

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
    l2k_dirac_transform_start(&d->transform);
    return d;
}

void l2k_video_decoder_free(l2k_video_decoder *d)
{
    if (!d)
        return;
    l2k_dirac_forget_references(d);
    while (d->waiting)
        l2k_dirac_frame_release(&d->context, d->queue[--d->waiting]);
    l2k_dirac_frame_release(&d->context, d->shown);
    void *const blocks[] = {d->motion.blocks, d->motion.space, d->transform.data, d->transform.scratch};
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++)
        l2k_release(&d->context, blocks[i]);
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
    if (d->at)
        memmove(d->input.data, d->input.data + d->at, d->input.size -= d->at);
    d->at = 0;
    l2k_buffer_append(&d->input, data, bytes);
    return l2k_buffer_status(&d->input);
}

/* ---- Data units ------------------------------------------------------------------------------------------------ */

/* The next parse info from `at` on, or where it may begin in bytes to come. */
static size_t find_parse_info(const l2k_video_decoder *d, size_t at)
{
    while (at + 4 <= d->input.size && memcmp(d->input.data + at, "BBCD", 4) != 0)
        at++;
    return at;
}

/* The next data unit: its bytes from the parse info on. 0: not yet there, or the stream has ended. */
static size_t next_unit(l2k_video_decoder *d)
{
    const size_t found = find_parse_info(d, d->at);
    if (found > d->at && d->in_step)
        l2k_warn(&d->context, "bytes between data units are skipped");
    d->in_step = found == d->at && d->in_step;
    d->at = found;
    const size_t left = d->input.size - d->at;
    if (left < PARSE_INFO)
        return 0;
    d->in_step = true;
    size_t bytes = l2k_get_be(d->input.data + d->at + 5, 4);
    if (d->input.data[d->at + 4] == END_OF_SEQUENCE)
        bytes = PARSE_INFO;
    else if (bytes < PARSE_INFO && find_parse_info(d, d->at + PARSE_INFO) + 4 <= d->input.size)
        bytes = find_parse_info(d, d->at + PARSE_INFO) - d->at; /* a unit without a length ends at the next one */
    else if (bytes < PARSE_INFO)
        bytes = SIZE_MAX;
    return bytes <= left ? bytes : d->has_ended ? left : 0;
}

static l2k_status start_sequence(l2k_video_decoder *d, const uint8_t *data, size_t bytes)
{
    l2k_dirac_bits bits = l2k_dirac_bits_of(data, bytes);
    const l2k_dirac_sequence *s = &d->sequence;
    d->needs_32[0] = d->needs_32[1] = false;
    L2K_TRY(l2k_dirac_sequence_read(&d->context, &bits, &d->sequence));
    const uint64_t chroma = (uint64_t)l2k_ceil_shift(s->width, s->chroma_x) * l2k_ceil_shift(s->height, s->chroma_y);
    if (s->width > UINT16_MAX || s->height > UINT16_MAX ||
        (uint64_t)s->width * s->height + 2 * chroma > (uint64_t)d->options[L2K_VIDEO_LIMIT_SAMPLES])
        return l2k_fail(&d->context, L2K_ERROR_LIMIT, "frames of %u x %u exceed the limit of samples", s->width,
                        s->height);
    d->header.size = 0;
    l2k_buffer_append(&d->header, data, bytes);
    d->has_sequence = true;
    return l2k_buffer_status(&d->header);
}

/* Before a new sequence, or the end of one, its frames have to be shown: the unit then waits. */
static l2k_status decode_unit(l2k_video_decoder *d, size_t bytes)
{
    const uint8_t *unit = d->input.data + d->at, *data = unit + PARSE_INFO;
    const size_t size = bytes - PARSE_INFO;
    const bool is_header = unit[4] == SEQUENCE_HEADER;
    if (is_header && d->has_sequence && size == d->header.size && memcmp(data, d->header.data, size) == 0) {
        d->at += bytes;
        return L2K_OK;
    }
    if (is_header || unit[4] == END_OF_SEQUENCE) {
        d->draining = d->waiting > 0;
        if (d->draining)
            return L2K_OK;
        l2k_dirac_forget_references(d);
        d->has_sequence = false;
    }
    d->at += bytes;
    l2k_dirac_bits bits = l2k_dirac_bits_of(data, size);
    return is_header                              ? start_sequence(d, data, size)
           : unit[4] & PICTURE && d->has_sequence ? l2k_dirac_picture_decode(d, unit[4], &bits)
                                                  : L2K_OK;
}

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

static l2k_status show(l2k_video_decoder *d, const l2k_video_frame **out)
{
    const l2k_dirac_sequence *s = &d->sequence;
    const l2k_dirac_frame *frame = d->shown = d->queue[0];
    memmove(d->queue, d->queue + 1, --d->waiting * sizeof *d->queue);
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const unsigned x = c ? s->chroma_x : 0, y = c ? s->chroma_y : 0;
        d->components[c] = (l2k_component){.dx = 1u << x,
                                           .dy = 1u << y,
                                           .precision = l2k_dirac_depth(s, c),
                                           .width = l2k_ceil_shift(s->width, x),
                                           .height = l2k_ceil_shift(s->height, y)};
    }
    d->frame = (l2k_video_frame){.planes = frame->planes, .number = frame->number >> s->fields, .sequence = *s};
    d->frame.image = (l2k_image){.x1 = s->width, .y1 = s->height, .num_components = L2K_DIRAC_PLANES};
    d->frame.image.components = d->components;
    d->frame.image.colour = s->colour[1] == 3 ? L2K_COLOUR_SRGB : L2K_COLOUR_SYCC;
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
        d->draining = !bytes && d->has_ended && d->waiting;
        if (bytes)
            L2K_TRY(decode_unit(d, bytes));
        else if (!d->draining)
            return d->has_ended && !d->frame.planes
                       ? l2k_fail(&d->context, L2K_ERROR_FORMAT, "no frame of Dirac or VC-2")
                       : L2K_OK;
    }
    return show(d, frame);
}
