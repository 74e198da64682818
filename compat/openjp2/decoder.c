/* opj_setup_decoder to opj_decode: header, area, resolution, components, samples of an image. */
#include "compat/openjp2/decoder.h"

#include <stdlib.h>
#include <string.h>

void OPJ_CALLCONV opj_set_default_decoder_parameters(opj_dparameters_t *parameters)
{
    if (!parameters)
        return;
    memset(parameters, 0, sizeof *parameters);
    parameters->decod_format = -1;
    parameters->cod_format = -1;
}

OPJ_BOOL OPJ_CALLCONV opj_setup_decoder(opj_codec_t *p_codec, opj_dparameters_t *parameters)
{
    codec *c = codec_decoding(p_codec, "opj_setup_decoder");
    if (!c || !parameters)
        return OPJ_FALSE;
    c->d.reduce = parameters->cp_reduce;
    c->d.layers = parameters->cp_layer;
    c->d.dumps = parameters->flags & OPJ_DPARAMETERS_DUMP_FLAG;
    c->d.ignore_channels = parameters->flags & OPJ_DPARAMETERS_IGNORE_PCLR_CMAP_CDEF_FLAG;
    return OPJ_TRUE;
}

OPJ_BOOL OPJ_CALLCONV opj_decoder_set_strict_mode(opj_codec_t *p_codec, OPJ_BOOL strict)
{
    codec *c = codec_decoding(p_codec, "opj_decoder_set_strict_mode");
    if (c)
        c->d.strict = strict != OPJ_FALSE;
    return c != NULL;
}

void decode_codec_clear(decode_codec *d)
{
    l2k_decoder_free(d->lift);
    stream_keep(&d->input, NULL);
    boxes_clear(&d->boxes);
    header_clear(&d->header);
    free(d->components);
    *d = (decode_codec){0};
}

/* ---- Header -------------------------------------------------------------------------------------------------- */

opj_image_t *decode_new_image(const codec *c, const uint32_t area[4])
{
    const main_header *h = &c->d.header;
    opj_image_t *image = opj_image_tile_create(h->info.nbcomps, h->components, OPJ_CLRSPC_UNSPECIFIED);
    if (image)
        decode_set_area(c, image, area);
    return image;
}

static bool check_reduce(const codec *c, uint32_t reduce)
{
    const opj_codestream_info_v2_t *info = &c->d.header.info;
    for (uint32_t i = 0; i < info->nbcomps; i++) {
        const uint32_t resolutions = info->m_default_tile_info.tccp_info[i].numresolutions;
        if (reduce >= resolutions)
            return event_fail(&c->handlers,
                              "Error decoding component %u.\nThe number of resolutions to remove (%u) is greater or "
                              "equal than the number of resolutions of this component (%u)\nModify the cp_reduce "
                              "parameter.\n",
                              i, reduce, resolutions);
    }
    return true;
}

static bool check_boxes(const codec *c)
{
    const jp2_boxes *b = &c->d.boxes;
    const uint32_t *area = c->d.header.area, width = area[2] - area[0], height = area[3] - area[1];
    if (c->format != OPJ_CODEC_JP2 || c->d.dumps || (b->width == width && b->height == height))
        return true;
    return event_fail(&c->handlers, "Error with SIZ marker: IHDR w(%u) h(%u) vs. SIZ w(%u) h(%u)\n", b->width,
                      b->height, width, height);
}

static bool read_headers(codec *c)
{
    decode_codec *d = &c->d;
    if (!stream_prepare(d->input))
        return event_fail(&c->handlers, "no memory for the stream\n");
    if (c->format == OPJ_CODEC_JP2 && !boxes_read(&d->boxes, d->input, &c->handlers))
        return false;
    return header_read(&d->header, d->input, d->boxes.codestream, &c->handlers) && check_boxes(c) &&
           check_reduce(c, d->reduce);
}

OPJ_BOOL OPJ_CALLCONV opj_read_header(opj_stream_t *p_stream, opj_codec_t *p_codec, opj_image_t **p_image)
{
    codec *c = codec_decoding(p_codec, "opj_read_header");
    if (!c || !p_stream || !p_image || !((stream *)p_stream)->input)
        return OPJ_FALSE;
    if (c->d.state != DECODE_NEW)
        return event_fail(&c->handlers, "the header has been read\n");
    *p_image = NULL;
    c->d.header_sizes = true;
    stream_keep(&c->d.input, (stream *)p_stream);
    if (!read_headers(c) || !(*p_image = decode_new_image(c, c->d.header.area))) {
        boxes_clear(&c->d.boxes);
        header_clear(&c->d.header);
        return OPJ_FALSE;
    }
    memcpy(c->d.area, c->d.header.area, sizeof c->d.area);
    c->d.state = DECODE_HEADER;
    return OPJ_TRUE;
}

/* ---- What is to be decoded ----------------------------------------------------------------------------------- */

OPJ_BOOL OPJ_CALLCONV opj_set_decoded_resolution_factor(opj_codec_t *p_codec, OPJ_UINT32 res_factor)
{
    codec *c = codec_decoding(p_codec, NULL);
    if (!c)
        return OPJ_FALSE;
    /* In OpenJPEG, a failed call also undoes earlier ones. */
    const bool good = c->d.state == DECODE_NEW || check_reduce(c, res_factor);
    c->d.reduce = good ? res_factor : 0;
    c->d.header_sizes = false;
    return good && c->d.state != DECODE_NEW;
}

OPJ_BOOL OPJ_CALLCONV opj_set_decoded_components(opj_codec_t *p_codec, OPJ_UINT32 numcomps,
                                                 const OPJ_UINT32 *comps_indices, OPJ_BOOL apply_color_transforms)
{
    codec *c = codec_decoding(p_codec, "opj_set_decoded_components");
    if (!c)
        return OPJ_FALSE;
    if (apply_color_transforms)
        return event_fail(&c->handlers, "apply_color_transforms = OPJ_TRUE is not supported.\n");
    if (c->d.state == DECODE_NEW)
        return event_fail(&c->handlers, "the header must be read before components are chosen\n");
    OPJ_UINT32 *chosen = calloc(numcomps ? numcomps : 1, sizeof *chosen);
    uint8_t *seen = calloc(c->d.header.info.nbcomps, 1);
    bool good = chosen && seen;
    for (OPJ_UINT32 i = 0; good && i < numcomps; i++) {
        chosen[i] = comps_indices[i];
        if (chosen[i] >= c->d.header.info.nbcomps || seen[chosen[i]]++)
            good = event_fail(&c->handlers, "Invalid component index: %u\n", chosen[i]);
    }
    free(seen);
    if (good) {
        free(c->d.components);
        c->d.components = numcomps ? chosen : NULL;
        c->d.num_selected = numcomps;
    }
    if (!good || !numcomps)
        free(chosen);
    return good;
}

/* One side of the area: beyond the image on its own side it is moved there with a warning, on the other an error. */
static bool clip_side(const codec *c, int side, OPJ_INT32 value, uint32_t *to)
{
    static const char text[] = "%s position of the decoded area (%d) is outside the image area\n";
    static const char *const sides[] = {"Left", "Up", "Right", "Bottom"};
    const uint32_t low = c->d.header.area[side % 2], high = c->d.header.area[2 + side % 2];
    const bool is_end = side >= 2;
    if (is_end ? value <= 0 || (uint32_t)value < low : value < 0 || (uint32_t)value > high)
        return event_fail(&c->handlers, text, sides[side], value);
    *to = (uint32_t)value < low ? low : (uint32_t)value > high ? high : (uint32_t)value;
    if (*to != (uint32_t)value)
        event_send(&c->handlers, EVENT_WARNING, text, sides[side], value);
    return true;
}

/* An area refused for its shape stays, as in OpenJPEG, which then refuses to decode. */
static bool check_area(const codec *c)
{
    return (c->d.area[0] <= c->d.area[2] && c->d.area[1] <= c->d.area[3]) ||
           event_fail(&c->handlers, "the decoded area is empty\n");
}

OPJ_BOOL OPJ_CALLCONV opj_set_decode_area(opj_codec_t *p_codec, opj_image_t *p_image, OPJ_INT32 p_start_x,
                                          OPJ_INT32 p_start_y, OPJ_INT32 p_end_x, OPJ_INT32 p_end_y)
{
    codec *c = codec_decoding(p_codec, NULL);
    if (!c || !p_image)
        return OPJ_FALSE;
    if (c->d.state == DECODE_NEW)
        return event_fail(&c->handlers,
                          "Need to decode the main header before begin to decode the remaining codestream\n");
    const OPJ_INT32 given[] = {p_start_x, p_start_y, p_end_x, p_end_y};
    uint32_t area[4];
    memcpy(area, c->d.header.area, sizeof area);
    if (!p_start_x && !p_start_y && !p_end_x && !p_end_y)
        event_send(&c->handlers, EVENT_INFO, "No decoded area parameters, set the decoded area to the whole image\n");
    else
        for (int i = 0; i < 4; i++)
            if (!clip_side(c, i, given[i], &area[i]))
                return OPJ_FALSE;
    memcpy(c->d.area, area, sizeof area);
    if (!check_area(c))
        return OPJ_FALSE;
    c->d.next_tile = 0;
    c->d.header_sizes = false;
    if (!decode_set_area(c, p_image, area))
        return OPJ_FALSE;
    event_send(&c->handlers, EVENT_INFO, "Setting decoding area to %u,%u,%u,%u\n", area[0], area[1], area[2], area[3]);
    return OPJ_TRUE;
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

bool decode_area(codec *c, opj_image_t *image, const uint32_t area[4], bool with_boxes)
{
    if (!decode_set_area(c, image, area) || !decode_samples(c, image))
        return false;
    return c->format != OPJ_CODEC_JP2 || !with_boxes || c->d.components ||
           boxes_apply(&c->d.boxes, image, &c->handlers);
}

OPJ_BOOL OPJ_CALLCONV opj_decode(opj_codec_t *p_codec, opj_stream_t *p_stream, opj_image_t *p_image)
{
    codec *c = codec_decoding(p_codec, NULL);
    if (!c || !p_stream || !p_image || c->d.state == DECODE_NEW)
        return OPJ_FALSE;
    if (p_image->numcomps < c->d.header.info.nbcomps)
        return event_fail(&c->handlers, "the image has fewer components than the codestream\n");
    return check_area(c) && decode_area(c, p_image, c->d.area, !c->d.ignore_channels);
}

OPJ_BOOL OPJ_CALLCONV opj_end_decompress(opj_codec_t *p_codec, opj_stream_t *p_stream)
{
    return codec_decoding(p_codec, NULL) && p_stream;
}
