/* Decoding tile by tile: opj_get_decoded_tile, opj_read_tile_header, opj_decode_tile_data. */
#include <stdlib.h>
#include <string.h>

#include "compat/openjp2/decoder.h"

OPJ_BOOL OPJ_CALLCONV opj_get_decoded_tile(opj_codec_t *p_codec, opj_stream_t *p_stream, opj_image_t *p_image,
                                           OPJ_UINT32 tile_index)
{
    codec *c = codec_decoding(p_codec, NULL);
    if (!c || !p_stream || !p_image || c->d.state == DECODE_NEW)
        return OPJ_FALSE;
    const main_header *h = &c->d.header;
    uint32_t area[4], tiles = h->info.tw * h->info.th;
    if (p_image->numcomps < h->info.nbcomps)
        return event_fail(&c->handlers, "Image has less components than codestream.\n");
    if (tile_index >= tiles)
        return event_fail(&c->handlers, "Tile index provided by the user is incorrect %u (max = %u) \n", tile_index,
                          tiles - 1);
    header_tile(h, tile_index, area);
    c->d.header_sizes = false;
    /* OpenJPEG 2.5.0 applies boxes whatever OPJ_DPARAMETERS_IGNORE_PCLR_CMAP_CDEF_FLAG says. */
    return decode_area(c, p_image, area, true);
}

static bool areas_meet(const uint32_t a[4], const uint32_t b[4])
{
    return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

/* ---- Samples packed component by component ------------------------------------------------------------------- */

static uint32_t sample_bytes(uint32_t precision)
{
    return precision <= 8 ? 1 : precision <= 16 ? 2 : 4;
}

/* An image for a tile, without samples. */
static opj_image_t *tile_image(codec *c, uint32_t tile)
{
    uint32_t area[4];
    header_tile(&c->d.header, tile, area);
    c->d.header_sizes = false;
    return decode_new_image(c, area);
}

static uint64_t component_bytes(const opj_image_comp_t *component)
{
    return (uint64_t)component->w * component->h * sample_bytes(component->prec);
}

static uint64_t packed_bytes(const codec *c, const opj_image_t *image)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < image->numcomps; i++)
        if (decode_is_selected(&c->d, i))
            bytes += component_bytes(&image->comps[i]);
    return bytes;
}

l2k_plane packed_plane(const opj_image_comp_t *component, OPJ_BYTE *data, uint32_t width)
{
    static const l2k_sample_type types[][2] = {{L2K_SAMPLE_U8, L2K_SAMPLE_S8}, {L2K_SAMPLE_U16, L2K_SAMPLE_S16}};
    const uint32_t bytes = sample_bytes(component->prec);
    return (l2k_plane){.data = data,
                       .row_stride = (ptrdiff_t)width * bytes,
                       .sample_stride = bytes,
                       .type = bytes == 4 ? L2K_SAMPLE_S32 : types[bytes - 1][component->sgnd != 0]};
}

/* Components of 1 byte a sample may precede others at odd places: planes get memory of their own, copied afterwards. */
static bool decode_packed(codec *c, const opj_image_t *image, OPJ_BYTE *data, uint64_t bytes)
{
    enum { ALIGNMENT = 4 };
    l2k_plane *planes = calloc(image->numcomps, sizeof *planes);
    OPJ_BYTE *apart = malloc((size_t)bytes + ALIGNMENT * (size_t)image->numcomps), *to = apart;
    for (uint32_t i = 0; planes && apart && i < image->numcomps; i++) {
        const opj_image_comp_t *from = &image->comps[i];
        if (!decode_is_selected(&c->d, i))
            continue;
        planes[i] = packed_plane(from, to, from->w);
        to += (component_bytes(from) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    const bool good = planes && apart && decode_planes(c, image, planes);
    for (uint32_t i = 0; good && i < image->numcomps; i++) {
        if (!decode_is_selected(&c->d, i))
            continue;
        memcpy(data, planes[i].data, component_bytes(&image->comps[i]));
        data += component_bytes(&image->comps[i]);
    }
    free(apart);
    free(planes);
    return good;
}

OPJ_BOOL OPJ_CALLCONV opj_read_tile_header(opj_codec_t *p_codec, opj_stream_t *p_stream, OPJ_UINT32 *p_tile_index,
                                           OPJ_UINT32 *p_data_size, OPJ_INT32 *p_tile_x0, OPJ_INT32 *p_tile_y0,
                                           OPJ_INT32 *p_tile_x1, OPJ_INT32 *p_tile_y1, OPJ_UINT32 *p_nb_comps,
                                           OPJ_BOOL *p_should_go_on)
{
    codec *c = codec_decoding(p_codec, NULL);
    if (!c || !p_stream || !p_tile_index || !p_data_size || c->d.state == DECODE_NEW)
        return OPJ_FALSE;
    const main_header *h = &c->d.header;
    uint32_t area[4] = {0}, tiles = h->info.tw * h->info.th, tile = c->d.next_tile;
    while (tile < tiles && (header_tile(h, tile, area), !areas_meet(area, c->d.area)))
        tile++;
    c->d.next_tile = tile + 1;
    *p_should_go_on = tile < tiles;
    if (tile >= tiles)
        return OPJ_TRUE;
    opj_image_t *image = tile_image(c, tile);
    uint64_t bytes = image ? packed_bytes(c, image) : UINT64_MAX;
    opj_image_destroy(image);
    if (bytes > UINT32_MAX)
        return event_fail(&c->handlers, "a tile of more than 4 GiB\n");
    *p_tile_index = tile;
    *p_data_size = (OPJ_UINT32)bytes;
    *p_tile_x0 = (OPJ_INT32)area[0];
    *p_tile_y0 = (OPJ_INT32)area[1];
    *p_tile_x1 = (OPJ_INT32)area[2];
    *p_tile_y1 = (OPJ_INT32)area[3];
    *p_nb_comps = h->info.nbcomps;
    return OPJ_TRUE;
}

OPJ_BOOL OPJ_CALLCONV opj_decode_tile_data(opj_codec_t *p_codec, OPJ_UINT32 p_tile_index, OPJ_BYTE *p_data,
                                           OPJ_UINT32 p_data_size, opj_stream_t *p_stream)
{
    codec *c = codec_decoding(p_codec, NULL);
    if (!c || !p_stream || c->d.state == DECODE_NEW || p_tile_index + 1 != c->d.next_tile)
        return OPJ_FALSE;
    opj_image_t *image = tile_image(c, p_tile_index);
    const uint64_t bytes = image ? packed_bytes(c, image) : UINT64_MAX;
    bool good = bytes <= p_data_size && (!bytes || (p_data && decode_packed(c, image, p_data, bytes)));
    opj_image_destroy(image);
    return good;
}
