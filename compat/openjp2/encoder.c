/* opj_setup_encoder to opj_end_compress, and opj_write_tile. opj_encode codes and writes the whole image;
 * opj_write_tile a tile. */
#include "compat/openjp2/encoder.h"

#include <stdlib.h>
#include <string.h>

/* ---- Parameters ---------------------------------------------------------------------------------------------- */

void OPJ_CALLCONV opj_set_default_encoder_parameters(opj_cparameters_t *parameters)
{
    if (!parameters)
        return;
    memset(parameters, 0, sizeof *parameters);
    parameters->cp_rsiz = OPJ_STD_RSIZ;
    parameters->numresolution = 6;
    parameters->cblockw_init = 64;
    parameters->cblockh_init = 64;
    parameters->prog_order = OPJ_LRCP;
    parameters->roi_compno = -1;
    parameters->subsampling_dx = 1;
    parameters->subsampling_dy = 1;
    parameters->decod_format = -1;
    parameters->cod_format = -1;
}

static bool block_side(int side)
{
    return side >= 4 && side <= 1024 && (side & (side - 1)) == 0;
}

static bool check_parameters(const codec *c, const opj_cparameters_t *p, const opj_image_t *image)
{
    const events *to = &c->handlers;
    if (p->numresolution <= 0 || p->numresolution > OPJ_J2K_MAXRLVLS)
        return event_fail(to, "Invalid number of resolutions : %d not in range [1,%d]\n", p->numresolution,
                          OPJ_J2K_MAXRLVLS);
    if (!block_side(p->cblockw_init) || !block_side(p->cblockh_init) || p->cblockw_init * p->cblockh_init > 4096)
        return event_fail(to, "Invalid code-block size %d x %d\n", p->cblockw_init, p->cblockh_init);
    if (p->tcp_numlayers < 0 || p->tcp_numlayers > 100)
        return event_fail(to, "%d layers, more than 100\n", p->tcp_numlayers);
    if (p->tile_size_on && (p->cp_tdx <= 0 || p->cp_tdy <= 0))
        return event_fail(to, "Invalid tile size %d x %d\n", p->cp_tdx, p->cp_tdy);
    if (p->tile_size_on && ((uint32_t)p->cp_tx0 >= image->x1 || (uint32_t)p->cp_ty0 >= image->y1))
        return event_fail(to, "The tiles begin at %d, %d, beyond the image\n", p->cp_tx0, p->cp_ty0);
    if (p->cp_fixed_alloc)
        return event_fail(to, "fixed allocation of layers (cp_fixed_alloc) is not supported\n");
    if (p->mct_data || p->tcp_mct == 2)
        return event_fail(to, "component matrices (opj_set_MCT) are not supported\n");
    if (p->tcp_mct > 2)
        return event_fail(to, "Invalid component transform %d\n", p->tcp_mct);
    return true;
}

OPJ_BOOL OPJ_CALLCONV opj_setup_encoder(opj_codec_t *p_codec, opj_cparameters_t *parameters, opj_image_t *image)
{
    codec *c = codec_encoding(p_codec);
    if (!c || !parameters || !image || !check_parameters(c, parameters, image))
        return OPJ_FALSE;
    encode_codec_free(c->e);
    c->e = calloc(1, sizeof *c->e);
    if (!c->e)
        return event_fail(&c->handlers, "out of memory\n");
    c->e->parameters = *parameters;
    encode_settle_profile(c, &c->e->parameters);
    if (parameters->cp_comment && !(c->e->comment = strdup(parameters->cp_comment)))
        return event_fail(&c->handlers, "out of memory\n");
    return OPJ_TRUE;
}

static bool yes_or_no(const codec *c, const char *option, const char *value, bool *to)
{
    *to = strcmp(value, "YES") == 0;
    return *to || strcmp(value, "NO") == 0 || event_fail(&c->handlers, "Invalid value for option: %s.\n", option);
}

OPJ_BOOL OPJ_CALLCONV opj_encoder_set_extra_options(opj_codec_t *p_codec, const char *const *p_options)
{
    codec *c = codec_encoding(p_codec);
    if (!c)
        return OPJ_FALSE;
    for (; p_options && *p_options; p_options++) {
        bool good = true;
        if (strncmp(*p_options, "PLT=", 4) == 0) {
            good = yes_or_no(c, *p_options, *p_options + 4, &c->plt);
        } else if (strncmp(*p_options, "TLM=", 4) == 0) {
            good = yes_or_no(c, *p_options, *p_options + 4, &c->tlm);
        } else if (strncmp(*p_options, "GUARD_BITS=", 11) == 0) {
            int bits = atoi(*p_options + 11);
            good = (bits >= 1 && bits <= 7) || event_fail(&c->handlers, "Invalid value for option: %s.\n", *p_options);
            if (c->e && good) /* before opj_setup_encoder they have no effect */
                c->e->guard_bits = bits;
        } else {
            good = event_fail(&c->handlers, "Invalid option: %s.\n", *p_options);
        }
        if (!good)
            return OPJ_FALSE;
    }
    return OPJ_TRUE;
}

OPJ_BOOL OPJ_CALLCONV opj_set_MCT(opj_cparameters_t *parameters, OPJ_FLOAT32 *pEncodingMatrix, OPJ_INT32 *p_dc_shift,
                                  OPJ_UINT32 pNbComp)
{
    (void)parameters;
    (void)pEncodingMatrix;
    (void)p_dc_shift;
    (void)pNbComp;
    return OPJ_FALSE;
}

/* ---- The image ----------------------------------------------------------------------------------------------- */

void encode_codec_free(encode_codec *e)
{
    if (!e)
        return;
    l2k_encoder_free(e->lift);
    stream_keep(&e->output, NULL);
    opj_image_destroy(e->image);
    free(e->components);
    free(e->comment);
    free(e);
}

/* Takes the samples from the caller's image, as OpenJPEG does. */
static bool take_image(codec *c, opj_image_t *from)
{
    encode_codec *e = c->e;
    opj_image_destroy(e->image);
    free(e->components);
    opj_image_t *image = e->image = calloc(1, sizeof *image);
    e->components = calloc(from->numcomps, sizeof *e->components);
    if (!image || !e->components)
        return event_fail(&c->handlers, "out of memory\n");
    *image = *from;
    image->icc_profile_len = from->icc_profile_buf ? from->icc_profile_len : 0;
    image->icc_profile_buf = image->icc_profile_len ? malloc(image->icc_profile_len) : NULL;
    image->comps = calloc(from->numcomps, sizeof *image->comps);
    if (!image->comps || (image->icc_profile_len && !image->icc_profile_buf))
        return event_fail(&c->handlers, "out of memory\n");
    if (image->icc_profile_len)
        memcpy(image->icc_profile_buf, from->icc_profile_buf, image->icc_profile_len);
    for (uint32_t i = 0; i < from->numcomps; i++) {
        opj_image_comp_t *to = &image->comps[i];
        *to = from->comps[i];
        from->comps[i].data = NULL;
        if (!to->dx || !to->dy)
            return event_fail(&c->handlers, "component %u has sub-sampling 0\n", i);
        e->components[i] =
            (l2k_component){.dx = to->dx, .dy = to->dy, .precision = to->prec, .is_signed = to->sgnd != 0};
    }
    e->shape = (l2k_image){.x0 = from->x0,
                           .y0 = from->y0,
                           .x1 = from->x1,
                           .y1 = from->y1,
                           .num_components = from->numcomps,
                           .components = e->components};
    return true;
}

/* OpenJPEG requires tiles of at least a sample in the lowest resolution. */
static bool check_levels(const codec *c)
{
    const opj_cparameters_t *p = &c->e->parameters;
    const opj_image_t *image = c->e->image;
    uint64_t width = p->tile_size_on ? (uint64_t)p->cp_tdx : image->x1 - (uint32_t)p->cp_tx0;
    uint64_t height = p->tile_size_on ? (uint64_t)p->cp_tdy : image->y1 - (uint32_t)p->cp_ty0;
    uint64_t least = (uint64_t)1 << (p->numresolution - 1);
    return (width >= least && height >= least) ||
           event_fail(&c->handlers, "Number of resolutions is too high in comparison to the size of tiles\n");
}

/* Without an encoder, opj_encode and opj_write_tile refuse. */
static void stop_encoder(encode_codec *e)
{
    l2k_encoder_free(e->lift);
    e->lift = NULL;
    e->next_tile = 0;
    e->begun = false;
    e->encoded = false;
}

OPJ_BOOL OPJ_CALLCONV opj_start_compress(opj_codec_t *p_codec, opj_image_t *p_image, opj_stream_t *p_stream)
{
    codec *c = codec_encoding(p_codec);
    if (!c || !c->e || !p_image || !p_stream || ((stream *)p_stream)->input)
        return OPJ_FALSE;
    encode_codec *e = c->e;
    stop_encoder(e);
    stream_keep(&e->output, (stream *)p_stream);
    if (!p_image->numcomps || p_image->numcomps > 16384 || p_image->x1 <= p_image->x0 || p_image->y1 <= p_image->y0)
        return event_fail(&c->handlers, "the image is empty or has more than 16384 components\n");
    if (c->format == OPJ_CODEC_JP2 && !e->output->seek)
        return event_fail(&c->handlers, "a JP2 file needs a stream with a seek function\n");
    if (!take_image(c, p_image) || !check_levels(c))
        return OPJ_FALSE;
    l2k_hooks hooks = codec_hooks(c);
    e->lift = l2k_encoder_new(&hooks);
    if (!e->lift)
        return event_fail(&c->handlers, "out of memory\n");
    if (!encode_set_options(c))
        stop_encoder(e);
    return e->lift != NULL;
}

/* ---- Output -------------------------------------------------------------------------------------------------- */

static int write_codestream(void *user, const void *buffer, size_t bytes)
{
    const codec *c = user;
    return stream_write(c->e->output, buffer, bytes) ? 0 : -1;
}

static int rewrite_codestream(void *user, uint64_t offset, const void *buffer, size_t bytes)
{
    const codec *c = user;
    return stream_rewrite(c->e->output, c->e->codestream + offset, buffer, bytes) ? 0 : -1;
}

static bool write_head(codec *c)
{
    if (c->format == OPJ_CODEC_JP2 && !encode_write_boxes(c))
        return event_fail(&c->handlers, "Error on writing stream!\n");
    c->e->codestream = c->e->output->at;
    return true;
}

/* ---- The whole image ----------------------------------------------------------------------------------------- */

/* Ignores a component's `w`, which opj_compress sets to the image's for sub-sampled components, too: with one tile,
 * rows are as long as the component's width, else as that of the image's area divided by dx, which is one more at some
 * odd origins. OpenJPEG then reads beyond a component of its true size. */
static bool fill_planes(const codec *c, l2k_plane *planes)
{
    const opj_image_t *image = c->e->image;
    const opj_cparameters_t *p = &c->e->parameters;
    const bool one_tile = !p->tile_size_on || ((int64_t)p->cp_tx0 + p->cp_tdx >= (int64_t)image->x1 &&
                                               (int64_t)p->cp_ty0 + p->cp_tdy >= (int64_t)image->y1);
    for (uint32_t i = 0; i < image->numcomps; i++) {
        uint32_t width, height;
        const opj_image_comp_t *from = &image->comps[i];
        l2k_component_size(&c->e->shape, i, &width, &height);
        uint64_t stride = one_tile ? width : ((uint64_t)image->x1 - image->x0 + from->dx - 1) / from->dx;
        if (from->data && from->w == width && from->h == height)
            stride = width;
        if (!from->data || (width && height && (height - 1) * stride + width > (uint64_t)from->w * from->h))
            return event_fail(&c->handlers, "component %u is %u x %u, not %u x %u, or has no samples\n", i, from->w,
                              from->h, width, height);
        planes[i] = samples_plane(from, stride);
    }
    return true;
}

OPJ_BOOL OPJ_CALLCONV opj_encode(opj_codec_t *p_codec, opj_stream_t *p_stream)
{
    codec *c = codec_encoding(p_codec);
    if (!c || !c->e || !c->e->lift || !p_stream)
        return OPJ_FALSE;
    l2k_plane *planes = calloc(c->e->image->numcomps, sizeof *planes);
    const uint8_t *bytes;
    size_t count;
    bool good = planes && fill_planes(c, planes) &&
                l2k_encoder_encode_memory(c->e->lift, &c->e->shape, planes, &bytes, &count) == L2K_OK && write_head(c);
    if (good && !stream_write(c->e->output, bytes, count))
        good = event_fail(&c->handlers, "Error on writing stream!\n");
    free(planes);
    c->e->encoded |= good;
    return good;
}

/* ---- Tile by tile -------------------------------------------------------------------------------------------- */

static bool begin_tiles(codec *c)
{
    encode_codec *e = c->e;
    if (!write_head(c))
        return false;
    e->to = (l2k_stream){.write = write_codestream, .rewrite = e->output->seek ? rewrite_codestream : NULL, .user = c};
    e->begun = l2k_encoder_set(e->lift, L2K_ENCODER_BY_TILE, 1) == L2K_OK &&
               l2k_encoder_begin(e->lift, &e->shape, &e->to) == L2K_OK;
    return e->begun;
}

/* The planes of the next tile, whose components follow one another in `data`; returns their total size. */
static uint64_t tile_planes(const codec *c, OPJ_BYTE *data, l2k_plane *planes)
{
    const encode_codec *e = c->e;
    l2k_image tile = e->shape;
    uint64_t bytes = 0;
    if (l2k_encoder_next_tile(e->lift, &tile.x0, &tile.y0, &tile.x1, &tile.y1) != L2K_OK)
        return UINT64_MAX;
    for (uint32_t i = 0; i < tile.num_components; i++) {
        uint32_t width, height;
        l2k_component_size(&tile, i, &width, &height);
        planes[i] = packed_plane(&e->image->comps[i], data + bytes, width);
        bytes += (uint64_t)height * (uint64_t)planes[i].row_stride;
    }
    return bytes;
}

static bool put_tile(codec *c, OPJ_BYTE *data, uint64_t bytes, l2k_plane *planes)
{
    enum { ALIGNMENT = 4 };
    uint32_t count = c->e->image->numcomps;
    if (tile_planes(c, data, planes) != bytes)
        return event_fail(&c->handlers, "Size mismatch between tile data and sent data.\n");
    /* Samples of 2 or 4 bytes may start anywhere in the caller's data; lift2k requires alignment. */
    OPJ_BYTE *copy = malloc((size_t)bytes + ALIGNMENT * (size_t)count), *to = copy;
    for (uint32_t i = 0; copy && i < count; i++) {
        const OPJ_BYTE *from = planes[i].data, *end = i + 1 < count ? planes[i + 1].data : data + bytes;
        planes[i].data = memcpy(to, from, (size_t)(end - from));
        to += (end - from + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    const bool good = copy && l2k_encoder_put_rows(c->e->lift, planes) == L2K_OK;
    free(copy);
    return good;
}

OPJ_BOOL OPJ_CALLCONV opj_write_tile(opj_codec_t *p_codec, OPJ_UINT32 p_tile_index, OPJ_BYTE *p_data,
                                     OPJ_UINT32 p_data_size, opj_stream_t *p_stream)
{
    codec *c = codec_encoding(p_codec);
    if (!c || !c->e || !c->e->lift || !p_data || !p_stream)
        return OPJ_FALSE;
    if (p_tile_index != c->e->next_tile)
        return event_fail(&c->handlers, "The given tile index does not match.\n");
    if (!c->e->begun && !begin_tiles(c))
        return OPJ_FALSE;
    l2k_plane *planes = calloc(c->e->image->numcomps, sizeof *planes);
    bool good = planes && put_tile(c, p_data, p_data_size, planes);
    free(planes);
    c->e->next_tile++;
    c->e->encoded |= good;
    return good || event_fail(&c->handlers, "Error while opj_j2k_write_tile with tile index = %u\n", p_tile_index);
}

OPJ_BOOL OPJ_CALLCONV opj_end_compress(opj_codec_t *p_codec, opj_stream_t *p_stream)
{
    codec *c = codec_encoding(p_codec);
    if (!c || !c->e || !c->e->lift || !p_stream)
        return OPJ_FALSE;
    if (!c->e->encoded) /* OpenJPEG ends an empty file here */
        return event_fail(&c->handlers, "Nothing has been encoded.\n");
    if (c->e->begun && l2k_encoder_end(c->e->lift) != L2K_OK)
        return OPJ_FALSE;
    c->e->begun = false;
    return c->format != OPJ_CODEC_JP2 || encode_finish_boxes(c) ||
           event_fail(&c->handlers, "Problem with seek function\n");
}
