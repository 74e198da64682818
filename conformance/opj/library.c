/* Encoding and decoding in memory with libopenjp2. */
#include <openjpeg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/process.h"
#include "conformance/opj/opj.h"

/* ---- Streams in memory ----------------------------------------------------------------------------------------- */

typedef struct memory_file {
    bytes *b;
    size_t at;
} memory_file;

static OPJ_SIZE_T memory_read(void *buffer, OPJ_SIZE_T size, void *user)
{
    memory_file *f = user;
    size_t left = f->b->size - f->at, n = size < left ? size : left;
    if (n == 0)
        return (OPJ_SIZE_T)-1;
    memcpy(buffer, f->b->data + f->at, n);
    f->at += n;
    return n;
}

/* The encoder seeks back to fill in TLM. */
static OPJ_SIZE_T memory_write(void *buffer, OPJ_SIZE_T size, void *user)
{
    memory_file *f = user;
    size_t inside = f->b->size - f->at < size ? f->b->size - f->at : size;
    if (inside)
        memcpy(f->b->data + f->at, buffer, inside);
    bytes_append(f->b, (uint8_t *)buffer + inside, size - inside);
    f->at += size;
    return size;
}

static OPJ_BOOL memory_seek(OPJ_OFF_T position, void *user)
{
    memory_file *f = user;
    if (position < 0 || (uint64_t)position > f->b->size)
        return OPJ_FALSE;
    f->at = (size_t)position;
    return OPJ_TRUE;
}

static OPJ_OFF_T memory_skip(OPJ_OFF_T distance, void *user)
{
    memory_file *f = user;
    return memory_seek((OPJ_OFF_T)f->at + distance, user) ? distance : -1;
}

static opj_stream_t *open_stream(memory_file *f, bool reading)
{
    opj_stream_t *stream = opj_stream_create(1 << 16, reading);
    opj_stream_set_user_data(stream, f, NULL);
    opj_stream_set_user_data_length(stream, reading ? f->b->size : 0);
    opj_stream_set_read_function(stream, memory_read);
    opj_stream_set_write_function(stream, memory_write);
    opj_stream_set_seek_function(stream, memory_seek);
    opj_stream_set_skip_function(stream, memory_skip);
    return stream;
}

/* ---- Encoding -------------------------------------------------------------------------------------------------- */

/* OpenJPEG takes ceil((x1 - x0) / dx) as the row length of a component, which may be one more than its width: rows have
 * that length for several tiles, and the width for one. */
static opj_image_t *make_image(const picture *p, bool tiled)
{
    const l2k_image *m = &p->image;
    opj_image_cmptparm_t parameters[PICTURE_MAX_COMPONENTS] = {0};
    for (uint32_t c = 0; c < m->num_components; c++) {
        const l2k_component *k = &p->components[c];
        parameters[c].dx = k->dx;
        parameters[c].dy = k->dy;
        parameters[c].w = (m->x1 - m->x0 + k->dx - 1) / k->dx;
        parameters[c].h = (m->y1 - m->y0 + k->dy - 1) / k->dy;
        parameters[c].x0 = m->x0;
        parameters[c].y0 = m->y0;
        parameters[c].prec = k->precision;
        parameters[c].sgnd = k->is_signed;
    }
    opj_image_t *image = opj_image_create(m->num_components, parameters, OPJ_CLRSPC_UNSPECIFIED);
    image->x0 = m->x0;
    image->y0 = m->y0;
    image->x1 = m->x1;
    image->y1 = m->y1;
    for (uint32_t c = 0; c < m->num_components; c++) {
        uint32_t width = p->components[c].width, stride = tiled ? parameters[c].w : width;
        for (uint32_t y = 0; y < p->components[c].height; y++)
            memcpy(image->comps[c].data + (size_t)y * stride, p->samples[c] + (size_t)y * width,
                   width * sizeof(int32_t));
    }
    return image;
}

static void set_layers(opj_cparameters_t *q, const coding *o)
{
    bool quality = o->target_kind == L2K_TARGET_PSNR && o->num_targets;
    q->cp_disto_alloc = !quality;
    q->cp_fixed_quality = quality;
    q->tcp_numlayers = o->num_targets ? (int)o->num_targets : 1;
    for (unsigned i = 0; i < o->num_targets; i++) {
        q->tcp_rates[i] = quality ? 0 : (float)o->targets[i];
        q->tcp_distoratio[i] = quality ? (float)o->targets[i] : 0;
    }
}

static opj_cparameters_t make_parameters(const picture *p, const coding *o, const opj_extras *x)
{
    opj_cparameters_t q;
    opj_set_default_encoder_parameters(&q);
    q.irreversible = o->irreversible;
    q.numresolution = (int)coding_levels(o) + 1;
    q.cblockw_init = o->block.width ? (int)o->block.width : 64;
    q.cblockh_init = o->block.height ? (int)o->block.height : 64;
    q.prog_order = (OPJ_PROG_ORDER)o->progression;
    q.mode = (int)o->style;
    q.csty = (o->num_precincts ? 1 : 0) | (o->sop ? 2 : 0) | (o->eph ? 4 : 0);
    q.res_spec = (int)o->num_precincts;
    for (unsigned i = 0; i < o->num_precincts; i++) {
        q.prcw_init[i] = (int)o->precincts[i].width;
        q.prch_init[i] = (int)o->precincts[i].height;
    }
    q.tile_size_on = o->tile.width > 0;
    q.cp_tdx = (int)o->tile.width;
    q.cp_tdy = (int)o->tile.height;
    q.cp_tx0 = (int)o->tile_x0;
    q.cp_ty0 = (int)o->tile_y0;
    q.image_offset_x0 = (int)p->image.x0;
    q.image_offset_y0 = (int)p->image.y0;
    q.tp_on = o->tile_parts != L2K_TILE_PARTS_ONE;
    q.tp_flag = "-RLC"[o->tile_parts];
    q.tcp_mct = p->image.num_components >= 3 && !o->no_mct;
    q.roi_compno = x && x->roi_shift ? 0 : -1;
    q.roi_shift = x ? x->roi_shift : 0;
    set_layers(&q, o);
    return q;
}

static bool write_image(opj_codec_t *codec, opj_image_t *image, const coding *o, const opj_extras *x, bytes *out)
{
    memory_file file = {out, 0};
    char guard[32];
    snprintf(guard, sizeof guard, "GUARD_BITS=%u", x && x->guard_bits ? x->guard_bits : 2);
    const char *const options[] = {o->plt ? "PLT=YES" : "PLT=NO", o->tlm ? "TLM=YES" : "TLM=NO", guard, NULL};
    opj_stream_t *stream = open_stream(&file, false);
    bool good = opj_encoder_set_extra_options(codec, options) && opj_start_compress(codec, image, stream) &&
                opj_encode(codec, stream) && opj_end_compress(codec, stream);
    opj_stream_destroy(stream);
    return good;
}

bool opj_library_encode_here(const picture *p, const coding *o, const opj_extras *x, bytes *out)
{
    opj_cparameters_t q = make_parameters(p, o, x);
    opj_codec_t *codec = opj_create_compress(OPJ_CODEC_J2K);
    opj_image_t *image = make_image(p, coding_tiles(o, &p->image) > 1);
    *out = (bytes){0};
    bool good = opj_setup_encoder(codec, &q, image) && write_image(codec, image, o, x, out);
    opj_image_destroy(image);
    opj_destroy_codec(codec);
    return good;
}

typedef struct encoding {
    const picture *p;
    const coding *o;
    const opj_extras *x;
} encoding;

static bool encode(void *user, bytes *out)
{
    const encoding *e = user;
    return opj_library_encode_here(e->p, e->o, e->x, out);
}

/* With some small tiles OpenJPEG's encoder overruns its buffers, or stops in an assert. */
bool opj_library_encode(const picture *p, const coding *o, const opj_extras *x, bytes *out)
{
    return work_apart(encode, &(encoding){p, o, x}, out);
}

/* ---- Decoding -------------------------------------------------------------------------------------------------- */

static picture *take_image(const opj_image_t *image)
{
    l2k_component components[PICTURE_MAX_COMPONENTS] = {0};
    l2k_image m = {.x0 = image->x0,
                   .y0 = image->y0,
                   .x1 = image->x1,
                   .y1 = image->y1,
                   .num_components = image->numcomps,
                   .components = components};
    if (image->numcomps > PICTURE_MAX_COMPONENTS)
        return NULL;
    for (uint32_t c = 0; c < image->numcomps; c++) {
        const opj_image_comp_t *k = &image->comps[c];
        components[c] = (l2k_component){
            .dx = k->dx, .dy = k->dy, .precision = k->prec, .is_signed = k->sgnd, .width = k->w, .height = k->h};
        if (!k->data)
            return NULL;
    }
    picture *p = picture_empty(&m);
    for (uint32_t c = 0; c < image->numcomps; c++)
        memcpy(p->samples[c], image->comps[c].data, (size_t)components[c].width * components[c].height * 4);
    return p;
}

static bool read_image(opj_codec_t *codec, opj_stream_t *stream, const decoding *d, opj_image_t **image)
{
    if (!opj_read_header(stream, codec, image))
        return false;
    if (d->one_component && !opj_set_decoded_components(codec, 1, &d->component, OPJ_FALSE))
        return false;
    /* Zeros stand for the whole image. Without this call the sizes of a reduced image ignore the image origin. */
    if (!d->no_area && !opj_set_decode_area(codec, *image, (int)d->x0, (int)d->y0, (int)d->x1, (int)d->y1))
        return false;
    return opj_decode(codec, stream, *image) && opj_end_decompress(codec, stream);
}

picture *opj_library_decode(const bytes *b, const decoding *d)
{
    static const decoding everything;
    bytes view = *b;
    memory_file file = {&view, 0};
    opj_dparameters_t q;
    opj_image_t *image = NULL;
    d = d ? d : &everything;
    opj_set_default_decoder_parameters(&q);
    q.cp_reduce = d->reduce;
    q.cp_layer = d->layers;
    opj_stream_t *stream = open_stream(&file, true);
    bool jp2 = b->size > 12 && memcmp(b->data + 4, "jP  ", 4) == 0;
    opj_codec_t *codec = opj_create_decompress(jp2 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
    picture *p = NULL;
    if (opj_setup_decoder(codec, &q) && read_image(codec, stream, d, &image))
        p = take_image(image);
    opj_image_destroy(image);
    opj_destroy_codec(codec);
    opj_stream_destroy(stream);
    return p;
}
