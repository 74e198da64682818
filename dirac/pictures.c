/* Pictures: their headers (VC-2, 12.2; Dirac, 11.2), their way through the stages, and the buffer of references. */
#include <string.h>

#include "base/memory.h"
#include "dirac/decoder.h"

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

void l2k_dirac_frame_release(const l2k_context *context, l2k_dirac_frame *frame)
{
    if (!frame || --frame->holders > 0)
        return;
    for (unsigned i = 0; i < 2; i++)
        l2k_dirac_upsampled_release(context, frame->pictures[i].upsampled);
    l2k_release(context, frame->samples);
    l2k_release(context, frame);
}

static l2k_dirac_plane plane_of(const l2k_dirac_sequence *s, unsigned c, uint8_t *data, unsigned field)
{
    l2k_dirac_plane plane = {.stride = (ptrdiff_t)((s->width + 63) / 64 * 64)};
    l2k_dirac_size(s, c, &plane.width, &plane.height);
    if (s->fields && field == s->top_field_first) /* this one is the lower field */
        data += (size_t)plane.stride << s->wide;
    plane.data = data;
    plane.stride <<= s->fields;
    return plane;
}

static l2k_status make_frame(l2k_video_decoder *d, uint32_t number, l2k_dirac_frame **out)
{
    const l2k_dirac_sequence *s = &d->sequence;
    const size_t stride = (size_t)((s->width + 63) / 64 * 64) << s->wide;
    size_t rows = 0;
    l2k_dirac_frame *frame = l2k_allocate_zeroed(&d->context, 1, sizeof *frame);
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++)
        rows += l2k_ceil_shift(s->height, c ? s->chroma_y : 0);
    if (frame)
        frame->samples = l2k_allocate(&d->context, rows, stride);
    if (!frame || !frame->samples) {
        l2k_release(&d->context, frame);
        return l2k_check_memory(&d->context, false, "a frame");
    }
    uint8_t *data = frame->samples;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        for (unsigned i = 0; i < 2; i++)
            frame->pictures[i].planes[c] = plane_of(s, c, data, i);
        data += l2k_ceil_shift(s->height, c ? s->chroma_y : 0) * stride;
    }
    frame->number = number;
    *out = frame;
    return L2K_OK;
}

/* The frame of a picture: a waiting one, or a new one in its place among them. */
static l2k_status find_frame(l2k_video_decoder *d, uint32_t number, l2k_dirac_frame **out)
{
    unsigned at = d->waiting;
    while (at > 0 && (int32_t)(number - d->queue[at - 1]->number) < 0)
        at--;
    if (at > 0 && d->queue[at - 1]->number == number) {
        *out = d->queue[at - 1];
        return L2K_OK;
    }
    L2K_TRY(make_frame(d, number, out));
    memmove(&d->queue[at + 1], &d->queue[at], (d->waiting - at) * sizeof *d->queue);
    d->queue[at] = *out;
    d->waiting++;
    (*out)->holders = 1;
    return L2K_OK;
}

/* ---- References ------------------------------------------------------------------------------------------------ */

static void remove_reference(l2k_video_decoder *d, unsigned i)
{
    l2k_dirac_frame_release(&d->context, d->references[i].frame);
    d->num_references--;
    memmove(&d->references[i], &d->references[i + 1], (d->num_references - i) * sizeof *d->references);
}

static unsigned find_reference(const l2k_video_decoder *d, uint32_t number)
{
    unsigned i = 0;
    while (i < d->num_references && d->references[i].picture->number != number)
        i++;
    return i;
}

static void add_reference(l2k_video_decoder *d, l2k_dirac_frame *frame, l2k_dirac_picture *picture, uint32_t retired)
{
    if (find_reference(d, retired) < d->num_references)
        remove_reference(d, find_reference(d, retired));
    else if (d->num_references == L2K_DIRAC_REFERENCES)
        remove_reference(d, 0);
    d->references[d->num_references++] = (l2k_dirac_reference){frame, picture};
    frame->holders++;
}

void l2k_dirac_forget_references(l2k_video_decoder *d)
{
    while (d->num_references)
        remove_reference(d, 0);
    l2k_dirac_frame_release(&d->context, d->fragments.frame);
    d->fragments.frame = NULL;
}

/* ---- Stages ---------------------------------------------------------------------------------------------------- */

static bool is_fatal(l2k_status status)
{
    return status == L2K_ERROR_MEMORY || status == L2K_ERROR_LIMIT;
}

/* The newest reference in place of a picture, or grey. */
static void conceal(const l2k_video_decoder *d, l2k_dirac_picture *picture)
{
    const l2k_dirac_picture *from = d->num_references ? d->references[d->num_references - 1].picture : NULL;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const l2k_dirac_plane *to = &picture->planes[c];
        const uint16_t grey = (uint16_t)(1u << (l2k_dirac_depth(&d->sequence, c) - 1));
        const unsigned wide = d->sequence.wide;
        for (uint32_t y = 0; y < to->height; y++) {
            uint8_t *row = (uint8_t *)to->data + ((size_t)(y * to->stride) << wide);
            if (from)
                memcpy(row, (uint8_t *)from->planes[c].data + ((size_t)(y * from->planes[c].stride) << wide),
                       (size_t)to->width << wide);
            else if (!wide)
                memset(row, grey, to->width);
            for (uint32_t x = 0; x < to->width && wide && !from; x++)
                ((uint16_t *)row)[x] = grey;
        }
    }
}

/* All coefficients, and from them samples of a picture without references, or residues. */
static l2k_status read_residue(l2k_video_decoder *d, l2k_dirac_bits *bits, l2k_dirac_picture *picture,
                               l2k_dirac_residue residues[L2K_DIRAC_PLANES])
{
    l2k_dirac_transform *t = &d->transform;
    L2K_TRY(l2k_dirac_transform_clear(&d->context, t));
    const l2k_status status = t->syntax < L2K_DIRAC_LOW_DELAY
                                  ? l2k_dirac_core_read(&d->context, bits, t)
                                  : l2k_dirac_slices_read(&d->context, bits, t, 0, t->slices[0] * t->slices[1]);
    if (t->intra && t->syntax != L2K_DIRAC_HIGH_QUALITY)
        l2k_dirac_predict_dc(t);
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++)
        l2k_dirac_inverse(&d->context, t, c, l2k_dirac_depth(&d->sequence, c), d->sequence.wide,
                          t->intra ? &picture->planes[c] : NULL, &residues[c]);
    return status;
}

/* Behind the picture header. The picture is whole, though perhaps damaged, unless *concealed. */
static l2k_status decode_stages(l2k_video_decoder *d, unsigned num_references, l2k_dirac_picture *const references[2],
                                l2k_dirac_bits *bits, l2k_dirac_picture *picture, bool *concealed)
{
    l2k_dirac_transform *t = &d->transform;
    l2k_dirac_residue residues[L2K_DIRAC_PLANES] = {{0}};
    l2k_status status = L2K_OK;
    *concealed = true;
    if (num_references) {
        l2k_dirac_align(bits);
        L2K_TRY(l2k_dirac_motion_read(&d->context, d->motion, &d->sequence, num_references,
                                      t->syntax == L2K_DIRAC_ARITHMETIC, bits));
    }
    t->intra = num_references == 0;
    l2k_dirac_align(bits);
    if (t->intra || !l2k_dirac_flag(bits)) {
        L2K_TRY(l2k_dirac_transform_read(&d->context, &d->sequence, bits, t));
        l2k_dirac_align(bits);
        const l2k_dirac_bits start = *bits;
        t->wide = d->needs_32[t->intra] || (!t->intra && d->sequence.wide);
        status = read_residue(d, bits, picture, residues);
        if (!t->wide && t->over >> 16) { /* 16 bits do not suffice: once more */
            *bits = start;
            t->wide = d->needs_32[t->intra] = true;
            status = read_residue(d, bits, picture, residues);
        }
        if (is_fatal(status))
            return status;
    }
    for (unsigned c = 0; c < L2K_DIRAC_PLANES && num_references; c++)
        L2K_TRY(l2k_dirac_motion_apply(&d->context, d->motion, &d->sequence, c, references, &residues[c], picture));
    *concealed = false;
    return status;
}

/* ---- Fragments (VC-2, clause 14) ------------------------------------------------------------------------------- */

static l2k_status decode_fragment(l2k_video_decoder *d, l2k_dirac_bits *bits, l2k_dirac_frame *frame,
                                  l2k_dirac_picture *picture)
{
    l2k_dirac_transform *t = &d->transform;
    l2k_dirac_read(bits, 16); /* bytes of data */
    const uint32_t count = l2k_dirac_read(bits, 16);
    t->intra = t->wide = true;
    if (count == 0) {
        l2k_dirac_frame_release(&d->context, d->fragments.frame);
        d->fragments.frame = NULL;
        conceal(d, picture);
        L2K_TRY(l2k_dirac_transform_read(&d->context, &d->sequence, bits, t));
        L2K_TRY(l2k_dirac_transform_clear(&d->context, t));
        d->fragments.frame = frame, d->fragments.picture = picture, d->fragments.slices = 0;
        frame->holders++;
        return L2K_OK;
    }
    const uint32_t x = l2k_dirac_read(bits, 16), y = l2k_dirac_read(bits, 16);
    if (d->fragments.frame != frame || d->fragments.picture != picture)
        return l2k_fail(&d->context, L2K_ERROR_CORRUPT, "a fragment of another picture");
    if (d->fragments.slices != (uint64_t)y * t->slices[0] + x ||
        count > t->slices[0] * t->slices[1] - d->fragments.slices)
        return l2k_fail(&d->context, L2K_ERROR_CORRUPT, "a fragment of %u slices at %u, %u, where %u are there", count,
                        x, y, d->fragments.slices);
    const l2k_status status = l2k_dirac_slices_read(&d->context, bits, t, d->fragments.slices, count);
    d->fragments.slices += count;
    if (d->fragments.slices < t->slices[0] * t->slices[1])
        return status;
    if (t->syntax != L2K_DIRAC_HIGH_QUALITY)
        l2k_dirac_predict_dc(t);
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++)
        l2k_dirac_inverse(&d->context, t, c, l2k_dirac_depth(&d->sequence, c), d->sequence.wide, &picture->planes[c],
                          NULL);
    l2k_dirac_frame_release(&d->context, d->fragments.frame);
    d->fragments.frame = NULL;
    return status;
}

/* ---- Pictures -------------------------------------------------------------------------------------------------- */

static l2k_dirac_syntax syntax_of(unsigned code)
{
    if ((code & 0x88) == 0x88)
        return code & 0x20 ? L2K_DIRAC_HIGH_QUALITY : L2K_DIRAC_LOW_DELAY;
    return code & 0x40 ? L2K_DIRAC_PLAIN : L2K_DIRAC_ARITHMETIC;
}

l2k_status l2k_dirac_picture_decode(l2k_video_decoder *d, unsigned code, l2k_dirac_bits *bits)
{
    const unsigned fields = d->sequence.fields, num_references = code & 3;
    const uint32_t number = l2k_dirac_read(bits, 32);
    l2k_dirac_picture *references[2] = {NULL, NULL};
    l2k_dirac_frame *frame = NULL;
    d->transform.syntax = syntax_of(code);
    const bool slices = d->transform.syntax >= L2K_DIRAC_LOW_DELAY, is_last = (code & 0x0c) == 0x0c;
    const bool is_fragment = slices && is_last && d->sequence.major_version >= 3;
    L2K_TRY(find_frame(d, number >> fields, &frame));
    l2k_dirac_picture *picture = &frame->pictures[fields ? number & 1 : 0];
    bool has_references = num_references < 3, concealed = false;
    uint32_t retired = number;
    for (unsigned i = 0; i < num_references && i < 2; i++) {
        const unsigned at = find_reference(d, number + (uint32_t)l2k_dirac_sint(bits));
        has_references = has_references && at < d->num_references;
        references[i] = has_references ? d->references[at].picture : NULL;
    }
    if (is_last && !is_fragment)
        retired += (uint32_t)l2k_dirac_sint(bits);
    l2k_status status = L2K_OK;
    picture->number = number;
    if (!has_references) {
        status = l2k_fail(&d->context, L2K_ERROR_CORRUPT, "picture %u refers to one that is not there", number);
        concealed = true;
    } else if (is_fragment) {
        status = decode_fragment(d, bits, frame, picture);
    } else {
        status = decode_stages(d, num_references, references, bits, picture, &concealed);
    }
    if (concealed)
        conceal(d, picture);
    frame->decoded |= 1u << (picture - frame->pictures);
    frame->damaged = frame->damaged || status != L2K_OK;
    if (is_last && !is_fragment)
        add_reference(d, frame, picture, retired);
    return is_fatal(status) ? status : L2K_OK;
}
