/* The samples of an opj_image_t: sizes, memory, and selection of components. */
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

bool decode_set_area(const codec *c, opj_image_t *image, const uint32_t area[4])
{
    image->x0 = area[0];
    image->y0 = area[1];
    image->x1 = area[2];
    image->y1 = area[3];
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

/* ---- Samples ------------------------------------------------------------------------------------------------- */

l2k_plane samples_plane(const opj_image_comp_t *component, uint64_t width)
{
    return (l2k_plane){.data = component->data,
                       .row_stride = (ptrdiff_t)(width * sizeof *component->data),
                       .sample_stride = sizeof *component->data,
                       .type = L2K_SAMPLE_S32};
}

bool decode_is_selected(const decode_codec *d, uint32_t component)
{
    for (uint32_t i = 0; i < d->num_selected; i++)
        if (d->components[i] == component)
            return true;
    return !d->components;
}

static bool set_plane(const codec *c, opj_image_comp_t *to, uint32_t resolutions, l2k_plane *plane)
{
    const size_t count = (size_t)to->w * to->h;
    opj_image_data_free(to->data);
    to->data = opj_image_data_alloc((count ? count : 1) * sizeof *to->data);
    if (!to->data)
        return event_fail(&c->handlers, "no memory for %u x %u samples\n", to->w, to->h);
    if (c->d.header_sizes && c->d.reduce)
        memset(to->data, 0, count * sizeof *to->data);
    to->resno_decoded = resolutions - 1 - c->d.reduce;
    *plane = samples_plane(to, to->w);
    return true;
}

/* As OpenJPEG does, leaves only the selected components, in the order of selection. */
static bool keep_selected(const codec *c, opj_image_t *image)
{
    const decode_codec *d = &c->d;
    if (!d->components)
        return true;
    opj_image_comp_t *kept = calloc(d->num_selected, sizeof *kept);
    if (!kept)
        return event_fail(&c->handlers, "out of memory\n");
    for (uint32_t i = 0; i < d->num_selected; i++) {
        kept[i] = image->comps[d->components[i]];
        image->comps[d->components[i]].data = NULL;
    }
    for (uint32_t i = 0; i < image->numcomps; i++)
        opj_image_data_free(image->comps[i].data);
    free(image->comps);
    image->comps = kept;
    image->numcomps = d->num_selected;
    return true;
}

bool decode_samples(codec *c, opj_image_t *image)
{
    uint32_t count = c->d.header.info.nbcomps;
    l2k_plane *planes = calloc(image->numcomps, sizeof *planes);
    bool good = planes && count <= image->numcomps;
    for (uint32_t i = 0; good && i < count; i++)
        if (decode_is_selected(&c->d, i))
            good = set_plane(c, &image->comps[i], c->d.header.info.m_default_tile_info.tccp_info[i].numresolutions,
                             &planes[i]);
    good = good && decode_planes(c, image, planes) && keep_selected(c, image);
    free(planes);
    for (uint32_t i = 0; !good && i < image->numcomps; i++) {
        opj_image_data_free(image->comps[i].data);
        image->comps[i].data = NULL;
    }
    return good;
}
