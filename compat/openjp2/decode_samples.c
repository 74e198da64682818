/* Decodes an area of the reference grid with lift2k into the samples of an opj_image_t. */
#include <stdlib.h>
#include <string.h>

#include "compat/openjp2/decoder.h"

/* ---- Sizes --------------------------------------------------------------------------------------------------- */

static uint32_t ceil_divide(uint32_t value, uint32_t by)
{
    return (uint32_t)(((uint64_t)value + by - 1) / by);
}

static uint32_t reduced(uint32_t value, uint32_t reduce)
{
    return reduce > 31 ? value > 0 : (uint32_t)(((uint64_t)value + ((uint64_t)1 << reduce) - 1) >> reduce);
}

bool decode_set_sizes(const codec *c, opj_image_t *image)
{
    for (uint32_t i = 0; i < image->numcomps; i++) {
        opj_image_comp_t *to = &image->comps[i];
        if (!to->dx || !to->dy)
            return event_fail(&c->handlers, "component %u has sub-sampling 0\n", i);
        to->factor = c->d.reduce;
        to->x0 = ceil_divide(image->x0, to->dx);
        to->y0 = ceil_divide(image->y0, to->dy);
        uint32_t x1 = ceil_divide(image->x1, to->dx), y1 = ceil_divide(image->y1, to->dy), factor = to->factor;
        bool whole = c->d.header_sizes;
        to->w = whole ? reduced(x1 - to->x0, factor) : reduced(x1, factor) - reduced(to->x0, factor);
        to->h = whole ? reduced(y1 - to->y0, factor) : reduced(y1, factor) - reduced(to->y0, factor);
    }
    return true;
}

/* ---- The codestream ------------------------------------------------------------------------------------------ */

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
}

static l2k_status open_with(codec *c, l2k_decoder *lift)
{
    const stream *s = c->d.input;
    uint64_t start = c->d.header.start, bytes = s->bytes - start;
    if (s->held)
        return l2k_decoder_open_memory(lift, s->held + start, (size_t)bytes);
    return l2k_decoder_open_file(lift, &(l2k_file){.bytes = bytes, .read_at = read_codestream, .user = c});
}

/* Whether the stream ends before the codestream does, EOC included. A strict decoder of lift2k tells that from damage.
 */
static bool ends_early(codec *c)
{
    l2k_decoder *judge = l2k_decoder_new(NULL);
    l2k_status status = L2K_ERROR_MEMORY;
    if (judge && l2k_decoder_set(judge, L2K_DECODER_STRICT, 1) == L2K_OK &&
        l2k_decoder_set(judge, L2K_DECODER_LIMIT_SAMPLES, INT64_MAX) == L2K_OK)
        status = open_with(c, judge);
    l2k_decoder_free(judge);
    return status == L2K_ERROR_TRUNCATED;
}

/* A strict decoder of OpenJPEG wants EOC, unless the length of the last tile-part is unknown. Mostly EOC is at the end
 * of the stream, where it is found without a search. */
static bool has_end(codec *c)
{
    uint8_t last[2] = {0};
    stream *s = c->d.input;
    header_part part = {.end = c->d.header.end};
    if (s->bytes >= 2 && stream_read_at(s, s->bytes - 2, last, 2) && last[0] == 0xff && last[1] == 0xd9)
        return true;
    while (header_part_at(s, part.end, &part))
        if (part.open)
            return true;
    return (stream_read_at(s, part.end, last, 2) && last[0] == 0xff) || event_fail(&c->handlers, "Stream too short\n");
}

/* Only the codestream goes to lift2k: boxes are applied by this room, as strictly as OpenJPEG does. */
static bool open_codestream(codec *c)
{
    decode_codec *d = &c->d;
    if (!d->lift) {
        l2k_hooks hooks = codec_hooks(c);
        d->lift = l2k_decoder_new(&hooks);
    }
    if (!d->lift)
        return event_fail(&c->handlers, "out of memory\n");
    set_options(c);
    if (d->opened)
        return true;
    d->opened = open_with(c, d->lift) == L2K_OK && (!d->strict || has_end(c));
    return d->opened;
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

static bool new_samples(const codec *c, opj_image_comp_t *component)
{
    size_t count = (size_t)component->w * component->h;
    opj_image_data_free(component->data);
    component->data = opj_image_data_alloc((count ? count : 1) * sizeof *component->data);
    return component->data || event_fail(&c->handlers, "no memory for %u x %u samples\n", component->w, component->h);
}

static l2k_plane plane_of(const opj_image_comp_t *component)
{
    return (l2k_plane){.data = component->data,
                       .row_stride = (ptrdiff_t)component->w * (ptrdiff_t)sizeof *component->data,
                       .sample_stride = sizeof *component->data,
                       .type = L2K_SAMPLE_S32};
}

/* `count` components from the first one on, which lift2k gives for the present options. */
static bool run(codec *c, opj_image_t *image, uint32_t first, uint32_t count)
{
    l2k_image found;
    if (l2k_decoder_image(c->d.lift, &found) != L2K_OK)
        return false;
    if (found.num_components != count || first + count > image->numcomps)
        return event_fail(&c->handlers, "%u components in place of %u\n", found.num_components, count);
    l2k_plane *planes = calloc(count, sizeof *planes);
    bool good = planes;
    for (uint32_t i = 0; good && i < count; i++) {
        opj_image_comp_t *to = &image->comps[first + i];
        uint32_t width = found.components[i].width, height = found.components[i].height;
        good = to->w >= width && to->h >= height && new_samples(c, to);
        if (good && (to->w > width || to->h > height))
            memset(to->data, 0, (size_t)to->w * to->h * sizeof *to->data);
        if (good)
            planes[i] = plane_of(to);
        to->resno_decoded = c->d.header.components[first + i].style.numresolutions - 1 - c->d.reduce;
    }
    l2k_status status = good ? l2k_decoder_decode(c->d.lift, planes) : L2K_ERROR_MEMORY;
    free(planes);
    /* Without strictness OpenJPEG decodes what there is of a file that ends early, but refuses other damage. */
    return status == L2K_OK || (status == L2K_INCOMPLETE && !c->d.strict && ends_early(c));
}

static bool run_selected(codec *c, opj_image_t *image)
{
    const decode_codec *d = &c->d;
    l2k_decoder_set(d->lift, L2K_DECODER_COMPONENT, -1);
    if (!d->components)
        return run(c, image, 0, d->header.num_components);
    for (uint32_t i = 0; i < d->num_selected; i++) {
        l2k_decoder_set(d->lift, L2K_DECODER_COMPONENT, d->components[i]);
        if (!run(c, image, d->components[i], 1))
            return false;
    }
    return true;
}

/* As OpenJPEG does, leaves only the components that were selected, in their order. */
static void keep_selected(const decode_codec *d, opj_image_t *image)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; d->components && i < image->numcomps; i++)
        if (image->comps[i].data)
            image->comps[kept++] = image->comps[i];
    for (uint32_t i = kept; d->components && i < image->numcomps; i++)
        image->comps[i].data = NULL;
    if (d->components)
        image->numcomps = kept;
}

bool decode_samples(codec *c, opj_image_t *image)
{
    bool good = open_codestream(c) &&
                l2k_decoder_set_region(c->d.lift, image->x0, image->y0, image->x1, image->y1) == L2K_OK &&
                run_selected(c, image);
    if (!good) {
        for (uint32_t i = 0; i < image->numcomps; i++) {
            opj_image_data_free(image->comps[i].data);
            image->comps[i].data = NULL;
        }
        return event_fail(&c->handlers, "Failed to decode the codestream in the %s file\n",
                          c->format == OPJ_CODEC_JP2 ? "JP2" : "J2K");
    }
    keep_selected(&c->d, image);
    c->d.state = DECODE_DONE;
    return true;
}
