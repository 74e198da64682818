/* Pictures: their headers (VC-2, 12.2; Dirac, 11.2), their way through the stages, and the buffer of references. */
#include <string.h>

#include "base/memory.h"
#include "dirac/decoder.h"

/* ---- Frames and references ------------------------------------------------------------------------------------- */

void l2k_dirac_frame_release(const l2k_context *context, l2k_dirac_frame *frame)
{
    if (!frame || --frame->holders > 0)
        return;
    for (unsigned i = 0; i < 2 * L2K_DIRAC_PLANES; i++)
        l2k_release(context, frame->pictures[i % 2].planes[i / 2].half);
    l2k_release(context, frame->samples);
    l2k_release(context, frame);
}

/* Rows of any component take the same number of bytes. */
static l2k_status make_frame(l2k_video_decoder *d, uint32_t number, l2k_dirac_frame **out)
{
    enum { ROUND = 64 };
    const l2k_dirac_sequence *s = &d->sequence;
    const size_t stride = ((size_t)s->width / ROUND + 1) * ROUND;
    size_t row = 0, rows = s->height + 2 * (size_t)l2k_ceil_shift(s->height, s->chroma_y);
    l2k_dirac_frame *frame = *out = l2k_allocate_zeroed(&d->context, 1, sizeof *frame);
    uint8_t *samples = l2k_allocate(&d->context, rows, stride << s->wide);
    if (!frame || !samples) {
        l2k_release(&d->context, samples);
        l2k_release(&d->context, frame);
        return l2k_check_memory(&d->context, false, "a frame");
    }
    frame->samples = samples;
    frame->number = number;
    frame->holders = 1;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; row += l2k_ceil_shift(s->height, c ? s->chroma_y : 0), c++) {
        frame->planes[c] = (l2k_plane){samples + (row * stride << s->wide), (ptrdiff_t)(stride << s->wide),
                                       1 << s->wide, s->wide ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
        for (unsigned field = 0; field < 2; field++) { /* of which one is the lower */
            l2k_dirac_plane *plane = &frame->pictures[field].planes[c];
            const size_t first = row + (s->fields && field == s->top_field_first);
            l2k_dirac_size(s, c, &plane->width, &plane->height);
            plane->data = samples + (first * stride << s->wide);
            plane->stride = (ptrdiff_t)stride << s->fields;
        }
    }
    return L2K_OK;
}

/* The frame of a picture: a waiting one, or a new one in its place among them. */
static l2k_status find_frame(l2k_video_decoder *d, uint32_t number, l2k_dirac_frame **out)
{
    unsigned at = d->waiting;
    while (at > 0 && (int32_t)(number - d->queue[at - 1]->number) < 0)
        at--;
    *out = at > 0 ? d->queue[at - 1] : NULL;
    if (*out && (*out)->number == number)
        return L2K_OK;
    L2K_TRY(make_frame(d, number, out));
    memmove(&d->queue[at + 1], &d->queue[at], (d->waiting++ - at) * sizeof *d->queue);
    d->queue[at] = *out;
    return L2K_OK;
}

static unsigned find_reference(const l2k_video_decoder *d, uint32_t number)
{
    unsigned i = 0;
    while (i < d->num_references && d->references[i].picture->number != number)
        i++;
    return i;
}

/* Nothing where there is no such reference. */
static void remove_reference(l2k_video_decoder *d, unsigned i)
{
    if (i >= d->num_references)
        return;
    l2k_dirac_frame_release(&d->context, d->references[i].frame);
    memmove(&d->references[i], &d->references[i + 1], (--d->num_references - i) * sizeof *d->references);
}

void l2k_dirac_forget_references(l2k_video_decoder *d)
{
    while (d->num_references)
        remove_reference(d, 0);
}

/* The newest reference in place of a picture, or grey, or black above 8 bits. */
static void conceal(const l2k_video_decoder *d, l2k_dirac_picture *picture)
{
    const unsigned wide = d->sequence.wide;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const l2k_dirac_plane *to = &picture->planes[c];
        const l2k_dirac_plane *from = d->num_references ? &d->references[d->num_references - 1].picture->planes[c] : to;
        for (size_t y = 0; y < to->height; y++) {
            uint8_t *row = (uint8_t *)to->data + (y * (size_t)to->stride << wide);
            if (from == to)
                memset(row, wide ? 0 : 128, (size_t)to->width << wide);
            else
                memcpy(row, (uint8_t *)from->data + (y * (size_t)from->stride << wide), (size_t)to->width << wide);
        }
    }
}

/* ---- Stages ---------------------------------------------------------------------------------------------------- */

static bool is_fatal(l2k_status status)
{
    return status == L2K_ERROR_MEMORY || status == L2K_ERROR_LIMIT;
}

/* Coefficients, and from them samples of an intra picture, or residues. A damaged stream gives what it has. */
static l2k_status read_residues(l2k_video_decoder *d, l2k_dirac_bits bits, l2k_dirac_picture *picture,
                                l2k_dirac_residue residues[L2K_DIRAC_PLANES])
{
    l2k_dirac_transform *t = &d->transform;
    const l2k_status status = l2k_dirac_coefficients(&d->context, &bits, t);
    for (unsigned c = 0; c < L2K_DIRAC_PLANES && !is_fatal(status); c++)
        l2k_dirac_inverse(&d->context, t, &d->sequence, c, t->intra ? &picture->planes[c] : NULL, &residues[c]);
    return status;
}

/* Behind the picture header. Clears *concealed once the picture is whole, though perhaps damaged. */
static l2k_status decode_stages(l2k_video_decoder *d, unsigned num_references, l2k_dirac_picture *const references[2],
                                l2k_dirac_bits *bits, l2k_dirac_picture *picture, bool *concealed)
{
    l2k_dirac_transform *t = &d->transform;
    l2k_dirac_residue residues[L2K_DIRAC_PLANES] = {{0}};
    l2k_status status = L2K_OK;
    t->intra = num_references == 0;
    l2k_dirac_align(bits);
    if (num_references)
        L2K_TRY(l2k_dirac_motion_read(&d->context, &d->motion, &d->sequence, num_references,
                                      t->syntax == L2K_DIRAC_ARITHMETIC, bits));
    l2k_dirac_align(bits);
    if (t->intra || !l2k_dirac_flag(bits)) {
        L2K_TRY(l2k_dirac_transform_read(&d->context, &d->sequence, bits, t));
        t->wide = d->needs_32[t->intra] || (!t->intra && d->sequence.wide);
        status = read_residues(d, *bits, picture, residues);
        if (!is_fatal(status) && !t->wide && t->over >> 16) { /* once more */
            t->wide = d->needs_32[t->intra] = true;
            status = read_residues(d, *bits, picture, residues);
        }
    }
    for (unsigned c = 0; c < L2K_DIRAC_PLANES && num_references && !is_fatal(status); c++)
        L2K_TRY(l2k_dirac_motion_apply(&d->context, &d->motion, &d->sequence, c, references, &residues[c], picture));
    *concealed = is_fatal(status);
    return status;
}

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
    const bool is_reference = (code & 0x0c) == 0x0c;
    l2k_dirac_picture *references[2] = {NULL, NULL};
    l2k_dirac_frame *frame;
    bool found = num_references < 3, concealed = true;
    d->transform.syntax = syntax_of(code);
    L2K_TRY(find_frame(d, number & ~fields, &frame));
    l2k_dirac_picture *picture = &frame->pictures[fields ? number & 1 : 0];
    picture->number = number;
    for (unsigned i = 0; i < num_references && i < 2; i++) {
        const unsigned at = find_reference(d, number + (uint32_t)l2k_dirac_sint(bits));
        found = found && at < d->num_references;
        references[i] = found ? d->references[at].picture : NULL;
    }
    const uint32_t retired = is_reference ? number + (uint32_t)l2k_dirac_sint(bits) : number;
    const l2k_status status =
        is_reference && d->transform.syntax >= L2K_DIRAC_LOW_DELAY && d->sequence.version >= 3
            ? l2k_fail(&d->context, L2K_ERROR_UNSUPPORTED, "picture %u is in fragments", number)
        : found ? decode_stages(d, num_references, references, bits, picture, &concealed)
                : l2k_fail(&d->context, L2K_ERROR_CORRUPT, "picture %u refers to one that is not there", number);
    if (concealed)
        conceal(d, picture);
    frame->decoded |= 1u << (picture - frame->pictures);
    frame->damaged = frame->damaged || status != L2K_OK;
    if (is_reference) {
        remove_reference(d, find_reference(d, retired));
        remove_reference(d, d->num_references == L2K_DIRAC_REFERENCES ? 0 : d->num_references);
        d->references[d->num_references].frame = frame;
        d->references[d->num_references++].picture = picture;
        frame->holders++;
    }
    return is_fatal(status) ? status : L2K_OK;
}
