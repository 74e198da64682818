/* Decodes the codestream of an open file into planes. */

#include "compat/openjp2/decoder.h"

/* ---- Opening ------------------------------------------------------------------------------------------------- */

static int read_codestream(void *user, uint64_t offset, void *buffer, size_t bytes)
{
    const codec *c = user;
    return stream_read_at(c->d.input, c->d.header.start + offset, buffer, bytes) ? 0 : -1;
}

static void set_options(codec *c)
{
    l2k_decoder *lift = c->d.lift;
    l2k_decoder_set(lift, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    l2k_decoder_set(lift, L2K_DECODER_LIMIT_SAMPLES, INT64_MAX);
    l2k_decoder_set(lift, L2K_DECODER_LIMIT_MEMORY, INT64_MAX);
    l2k_decoder_set(lift, L2K_DECODER_THREADS, c->threads);
    l2k_decoder_set(lift, L2K_DECODER_REDUCE, c->d.reduce);
    l2k_decoder_set(lift, L2K_DECODER_LAYERS, c->d.layers);
    l2k_decoder_set(lift, L2K_DECODER_LIKE_OPENJPEG, 1);
}

/* Only the codestream goes to lift2k: this room applies boxes, as strictly as OpenJPEG does. */
static bool open_codestream(codec *c)
{
    decode_codec *d = &c->d;
    const stream *s = d->input;
    const uint64_t start = d->header.start, bytes = s->bytes - start;
    const l2k_file file = {.bytes = bytes, .read_at = read_codestream, .user = c};
    if (!d->lift) {
        l2k_hooks hooks = codec_hooks(c);
        d->lift = l2k_decoder_new(&hooks);
    }
    if (!d->lift)
        return event_fail(&c->handlers, "out of memory\n");
    set_options(c);
    if (!d->opened)
        d->opened = (s->held ? l2k_decoder_open_memory(d->lift, s->held + start, (size_t)bytes)
                             : l2k_decoder_open_file(d->lift, &file)) == L2K_OK;
    return d->opened;
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

/* Decodes a component, or all of them: -1. */
static bool run(codec *c, const opj_image_t *image, const l2k_plane *planes, int64_t component)
{
    const uint32_t first = component < 0 ? 0 : (uint32_t)component,
                   count = component < 0 ? c->d.header.info.nbcomps : 1;
    l2k_image found;
    l2k_decoder_set(c->d.lift, L2K_DECODER_COMPONENT, component);
    if (l2k_decoder_image(c->d.lift, &found) != L2K_OK)
        return false;
    bool good = found.num_components == count && first + count <= image->numcomps;
    for (uint32_t i = 0; good && i < count; i++)
        good = image->comps[first + i].w >= found.components[i].width &&
               image->comps[first + i].h >= found.components[i].height;
    if (!good)
        return event_fail(&c->handlers, "the image is not as the codestream says\n");
    l2k_status status = l2k_decoder_decode(c->d.lift, planes + first);
    return status == L2K_OK || (status == L2K_INCOMPLETE && !c->d.strict);
}

static bool run_selected(codec *c, const opj_image_t *image, const l2k_plane *planes)
{
    const decode_codec *d = &c->d;
    bool good = d->components || run(c, image, planes, -1);
    for (uint32_t i = 0; good && i < d->num_selected; i++)
        good = run(c, image, planes, d->components[i]);
    return good;
}

bool decode_planes(codec *c, const opj_image_t *image, const l2k_plane *planes)
{
    if (!open_codestream(c) ||
        l2k_decoder_set_region(c->d.lift, image->x0, image->y0, image->x1, image->y1) != L2K_OK ||
        !run_selected(c, image, planes))
        return event_fail(&c->handlers, "Failed to decode the codestream in the %s file\n",
                          c->format == OPJ_CODEC_JP2 ? "JP2" : "J2K");
    c->d.state = DECODE_DONE;
    return true;
}
