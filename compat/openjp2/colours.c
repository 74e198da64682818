/* Applies a JP2 file's meaning of components to a decoded image: colour space, palette and component mapping (I.5.3.4,
 * I.5.3.5), channel definitions (I.5.3.6). */
#include <stdlib.h>
#include <string.h>

#include "compat/openjp2/boxes.h"

/* ---- Checks -------------------------------------------------------------------------------------------------- */

static bool check_definitions(const jp2_boxes *b, uint32_t channels, const events *handlers)
{
    for (uint32_t i = 0; i < b->num_definitions; i++) {
        const jp2_definition *d = &b->definitions[i];
        if (d->channel >= channels)
            return event_fail(handlers, "cdef: there is no channel %u of %u\n", d->channel, channels);
        if (d->association != 65535 && d->association > channels)
            return event_fail(handlers, "cdef: there is no colour %u of %u channels\n", d->association, channels);
    }
    for (uint32_t c = 0; b->num_definitions && c < channels; c++) {
        uint32_t i = 0;
        while (i < b->num_definitions && b->definitions[i].channel != c)
            i++;
        if (i == b->num_definitions)
            return event_fail(handlers, "Incomplete channel definitions.\n");
    }
    return true;
}

static bool check_mapping(const jp2_boxes *b, uint32_t i, uint32_t num_components, const events *handlers)
{
    const jp2_mapping *m = &b->mapping[i];
    if (m->component >= num_components)
        return event_fail(handlers, "cmap: there is no component %u of %u\n", m->component, num_components);
    if (m->type > 1)
        return event_fail(handlers, "cmap: entry %u has mapping type %u\n", i, m->type);
    if (m->column >= b->columns)
        return event_fail(handlers, "cmap: there is no palette column %u of %u\n", m->column, b->columns);
    if (m->type == 0 && m->column)
        return event_fail(handlers, "cmap: entry %u is direct but names column %u\n", i, m->column);
    return m->type == 0 || m->column == i || event_fail(handlers, "cmap: entry %u names column %u\n", i, m->column);
}

/* A known encoder maps all columns of one component to the first one. */
static void correct_mapping(const jp2_boxes *b, uint32_t num_components, const events *handlers)
{
    bool wrong = num_components == 1 && b->columns > 1;
    for (uint32_t i = 0; wrong && i < b->columns; i++)
        wrong = b->mapping[i].component == 0 && b->mapping[i].column == 0;
    if (!wrong)
        return;
    event_send(handlers, EVENT_WARNING, "Component mapping seems wrong. Trying to correct.\n");
    for (uint32_t i = 0; i < b->columns; i++) {
        b->mapping[i].type = 1;
        b->mapping[i].column = (uint8_t)i;
    }
}

/* Whether OpenJPEG's decoder accepts the file's palette and channel definitions. */
static bool check_boxes(const jp2_boxes *b, uint32_t num_components, const events *handlers)
{
    bool mapped = b->palette && b->mapping;
    if (!check_definitions(b, mapped ? b->columns : num_components, handlers))
        return false;
    if (!mapped)
        return true;
    correct_mapping(b, num_components, handlers);
    bool good = true;
    for (uint32_t i = 0; i < b->columns; i++)
        good = check_mapping(b, i, num_components, handlers) && good;
    return good;
}

/* ---- Application --------------------------------------------------------------------------------------------- */

const struct boxes_space boxes_spaces[] = {{16, OPJ_CLRSPC_SRGB}, {17, OPJ_CLRSPC_GRAY}, {18, OPJ_CLRSPC_SYCC},
                                           {24, OPJ_CLRSPC_EYCC}, {12, OPJ_CLRSPC_CMYK}, {0, OPJ_CLRSPC_UNKNOWN}};

/* Moves the ICC profile to the image. */
static void set_colours(jp2_boxes *b, opj_image_t *image)
{
    const struct boxes_space *found = boxes_spaces;
    while (found->number && found->number != b->enumerated)
        found++;
    image->color_space = found->space;
    if (b->profile) {
        free(image->icc_profile_buf);
        image->icc_profile_buf = b->profile;
        image->icc_profile_len = b->profile_bytes;
        b->profile = NULL;
        b->profile_bytes = 0;
    }
}

/* A channel of the palette: a column looked up, or a component unchanged. */
static bool make_channel(const jp2_boxes *b, uint32_t i, const opj_image_t *image, opj_image_comp_t *channel)
{
    const jp2_mapping *m = &b->mapping[i];
    *channel = image->comps[m->component];
    size_t samples = (size_t)channel->w * channel->h;
    const OPJ_INT32 *from = channel->data, last = (OPJ_INT32)b->entries - 1;
    OPJ_INT32 *to = channel->data = opj_image_data_alloc(samples * sizeof *from);
    if (!to)
        return samples == 0;
    if (m->type == 0)
        return memcpy(to, from, samples * sizeof *from);
    channel->prec = (b->column_depth[i] & 0x7fu) + 1;
    channel->sgnd = b->column_depth[i] >> 7;
    for (size_t k = 0; k < samples; k++) {
        const OPJ_INT32 entry = from[k] < 0 ? 0 : from[k] > last ? last : from[k];
        to[k] = (OPJ_INT32)b->palette[(size_t)entry * b->columns + m->column];
    }
    return true;
}

static bool apply_palette(const jp2_boxes *b, opj_image_t *image, const events *handlers)
{
    for (uint32_t i = 0; i < b->columns; i++)
        if (!image->comps[b->mapping[i].component].data)
            return event_fail(handlers, "component %u, which the palette is for, has no samples\n",
                              b->mapping[i].component);
    opj_image_comp_t *channels = calloc(b->columns, sizeof *channels);
    bool good = channels;
    for (uint32_t i = 0; good && i < b->columns; i++)
        good = make_channel(b, i, image, &channels[i]);
    if (!good) {
        for (uint32_t i = 0; channels && i < b->columns; i++)
            opj_image_data_free(channels[i].data);
        free(channels);
        return event_fail(handlers, "Memory allocation failure in the palette\n");
    }
    for (OPJ_UINT32 c = 0; c < image->numcomps; c++)
        opj_image_data_free(image->comps[c].data);
    free(image->comps);
    image->comps = channels;
    image->numcomps = b->columns;
    return true;
}

/* Exchanges two components, and their later definitions, from `at` to `end`. */
static void exchange(opj_image_t *image, uint16_t one, uint16_t other, jp2_definition *at, const jp2_definition *end)
{
    opj_image_comp_t kept = image->comps[one];
    image->comps[one] = image->comps[other];
    image->comps[other] = kept;
    for (; at < end; at++)
        at->channel = at->channel == one ? other : at->channel == other ? one : at->channel;
}

static void apply_definitions(jp2_definition *at, const jp2_definition *end, opj_image_t *image)
{
    for (; at < end; at++) {
        const jp2_definition d = *at;
        if (d.channel >= image->numcomps)
            continue;
        const uint16_t place = (uint16_t)(d.association - 1);
        const bool is_colour = d.association != 0 && d.association != 65535;
        if (is_colour && place >= image->numcomps)
            continue;
        if (is_colour && place != d.channel && d.type == 0)
            exchange(image, d.channel, place, at + 1, end);
        image->comps[d.channel].alpha = d.type;
    }
}

bool boxes_apply(jp2_boxes *b, opj_image_t *image, const events *handlers)
{
    if (!check_boxes(b, image->numcomps, handlers))
        return false;
    set_colours(b, image);
    if (b->palette && b->mapping && !apply_palette(b, image, handlers))
        return false;
    if (!b->num_definitions)
        return true;
    /* The file's definitions are for the next tile, too. */
    const size_t bytes = b->num_definitions * sizeof *b->definitions;
    jp2_definition *definitions = malloc(bytes);
    if (!definitions)
        return event_fail(handlers, "out of memory\n");
    memcpy(definitions, b->definitions, bytes);
    apply_definitions(definitions, definitions + b->num_definitions, image);
    free(definitions);
    return true;
}
