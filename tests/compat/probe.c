/* Shows what a libopenjp2 says about a file, through every part of the decoder's interface: image before and after
 * decoding, areas, tiles one by one, components, reductions, positions of tile-parts. Its output with lift2k's library
 * must be that with OpenJPEG's, which the dynamic linker chooses.
 *
 * Usage: probe FILE */
#include <inttypes.h>
#include <openjpeg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct session {
    opj_codec_t *codec;
    opj_stream_t *stream;
    opj_image_t *image;
    FILE *file;
    unsigned events[3];
    bool alone; /* only the functions that read and skip */
} session;

/* ---- A stream of functions ----------------------------------------------------------------------------------- */

static OPJ_SIZE_T read_some(void *buffer, OPJ_SIZE_T bytes, void *file)
{
    size_t got = fread(buffer, 1, bytes, file);
    return got ? got : (OPJ_SIZE_T)-1;
}

static OPJ_OFF_T skip_some(OPJ_OFF_T bytes, void *file)
{
    return fseek(file, bytes, SEEK_CUR) ? -1 : bytes;
}

static OPJ_BOOL seek_to(OPJ_OFF_T offset, void *file)
{
    return fseek(file, offset, SEEK_SET) == 0;
}

static void on_error(const char *text, void *user)
{
    (void)text;
    ((session *)user)->events[0]++;
}

static void open_stream(session *s, const char *name)
{
    s->file = fopen(name, "rb");
    if (!s->file)
        exit(2);
    fseek(s->file, 0, SEEK_END);
    s->stream = opj_stream_default_create(OPJ_TRUE);
    opj_stream_set_user_data(s->stream, s->file, NULL);
    opj_stream_set_user_data_length(s->stream, (OPJ_UINT64)ftell(s->file));
    rewind(s->file);
    opj_stream_set_read_function(s->stream, read_some);
    opj_stream_set_skip_function(s->stream, skip_some);
    if (!s->alone)
        opj_stream_set_seek_function(s->stream, seek_to);
}

/* ---- What is shown ------------------------------------------------------------------------------------------- */

static uint64_t digest(const void *data, size_t bytes)
{
    uint64_t value = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++)
        value = (value ^ ((const uint8_t *)data)[i]) * 1099511628211u;
    return value;
}

static void show(const char *what, const opj_image_t *image)
{
    printf("%s: %u %u %u %u, %u components, colour %d, profile %u %d\n", what, image->x0, image->y0, image->x1,
           image->y1, image->numcomps, image->color_space, image->icc_profile_len, image->icc_profile_buf != NULL);
    for (OPJ_UINT32 c = 0; c < image->numcomps; c++) {
        const opj_image_comp_t *p = &image->comps[c];
        printf("  %u: %u %u at %u %u, %u x %u, %u bits, sign %u, factor %u, alpha %u", c, p->dx, p->dy, p->x0, p->y0,
               p->w, p->h, p->prec, p->sgnd, p->factor, p->alpha);
        if (p->data)
            printf(", resolution %u, samples %016" PRIx64, p->resno_decoded,
                   digest(p->data, sizeof *p->data * p->w * p->h));
        printf("\n");
    }
}

/* OpenJPEG has an index after decoding only. */
static void show_index(session *s)
{
    opj_codestream_index_t *index = opj_get_cstr_index(s->codec);
    if (!index)
        return;
    printf("header %" PRId64 " to %" PRId64 ", %u tiles\n", index->main_head_start, index->main_head_end,
           index->nb_of_tiles);
    for (OPJ_UINT32 i = 0; i < index->marknum; i++)
        printf("  marker %x at %" PRId64 ", %d bytes\n", index->marker[i].type, index->marker[i].pos,
               index->marker[i].len);
    opj_destroy_cstr_index(&index);
}

static void show_info(session *s)
{
    opj_codestream_info_v2_t *info = opj_get_cstr_info(s->codec);
    const opj_tile_info_v2_t *tile = &info->m_default_tile_info;
    printf("tiles %u %u, %u x %u, %u x %u, %u components\n", info->tx0, info->ty0, info->tdx, info->tdy, info->tw,
           info->th, info->nbcomps);
    printf("  style %u, order %d, %u layers, transform %u\n", tile->csty, tile->prg, tile->numlayers, tile->mct);
    for (OPJ_UINT32 c = 0; c < info->nbcomps; c++) {
        const opj_tccp_info_t *p = &tile->tccp_info[c];
        printf("  %u: %u, %u resolutions, %u %u, %u, %u, %u, %u, %d\n", p->compno, p->csty, p->numresolutions, p->cblkw,
               p->cblkh, p->cblksty, p->qmfbid, p->qntsty, p->numgbits, p->roishift);
    }
    opj_destroy_cstr_info(&info);
}

/* ---- Sessions ------------------------------------------------------------------------------------------------ */

static bool start(session *s, const char *name, unsigned reduce, unsigned layers, unsigned flags)
{
    size_t length = strlen(name);
    bool boxes = length > 4 && (strcmp(name + length - 4, ".jp2") == 0 || strcmp(name + length - 4, ".jph") == 0);
    opj_dparameters_t parameters;
    open_stream(s, name);
    s->codec = opj_create_decompress(boxes ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
    opj_set_error_handler(s->codec, on_error, s);
    opj_set_default_decoder_parameters(&parameters);
    parameters.cp_reduce = reduce;
    parameters.cp_layer = layers;
    parameters.flags |= flags;
    bool good = opj_setup_decoder(s->codec, &parameters) && opj_read_header(s->stream, s->codec, &s->image);
    if (!good)
        printf("refused\n");
    return good;
}

static void stop(session *s, const char *what, bool good)
{
    if (good && s->image)
        show(what, s->image);
    else
        printf("%s: failed, errors %d\n", what, s->events[0] > 0);
    opj_stream_destroy(s->stream);
    opj_destroy_codec(s->codec);
    opj_image_destroy(s->image);
    fclose(s->file);
}

static void whole(const char *name, unsigned reduce, unsigned layers, unsigned flags, bool alone)
{
    session s = {.alone = alone};
    char what[64];
    snprintf(what, sizeof what, "reduced %u, layers %u, flags %u, alone %d", reduce, layers, flags, alone);
    bool good = start(&s, name, reduce, layers, flags);
    if (good && !reduce && !layers && !flags) {
        show("header", s.image);
        show_info(&s);
    }
    good = good && opj_decode(s.codec, s.stream, s.image) && opj_end_decompress(s.codec, s.stream);
    if (good)
        show_index(&s);
    stop(&s, what, good);
}

static void later_reduction(const char *name)
{
    session s = {0};
    bool good = start(&s, name, 0, 0, 0) && opj_set_decoded_resolution_factor(s.codec, 1) &&
                opj_decode(s.codec, s.stream, s.image);
    stop(&s, "reduced later", good);
}

static void area(const char *name, unsigned reduce)
{
    session s = {0};
    bool good = start(&s, name, reduce, 0, 0);
    if (good) {
        unsigned w = s.image->x1 - s.image->x0, h = s.image->y1 - s.image->y0;
        OPJ_INT32 x = (OPJ_INT32)(s.image->x0 + w / 3), y = (OPJ_INT32)(s.image->y0 + h / 4);
        good = opj_set_decode_area(s.codec, s.image, x, y, x + (OPJ_INT32)(w / 2), y + (OPJ_INT32)(h / 2)) &&
               opj_decode(s.codec, s.stream, s.image);
    }
    stop(&s, reduce ? "area, reduced" : "area", good);
}

static void outside(const char *name, OPJ_INT32 x0, OPJ_INT32 y0, OPJ_INT32 x1, OPJ_INT32 y1)
{
    session s = {0};
    bool good = start(&s, name, 0, 0, 0);
    good = good && opj_set_decode_area(s.codec, s.image, x0, y0, x1, y1);
    stop(&s, "odd area", good);
}

/* After a call that is refused, what an earlier one has set. */
static void refused_settings(const char *name)
{
    session s = {0};
    bool good = start(&s, name, 0, 0, 0);
    if (good) {
        printf("reductions: %d ", opj_set_decoded_resolution_factor(s.codec, 1));
        printf("%d\n", opj_set_decoded_resolution_factor(s.codec, 90));
    }
    good = good && opj_decode(s.codec, s.stream, s.image);
    for (OPJ_UINT32 c = 0; good && c < s.image->numcomps;
         c++) /* OpenJPEG leaves them the lowest resolution's samples */
        memset(s.image->comps[c].data, 0, sizeof(OPJ_INT32) * s.image->comps[c].w * s.image->comps[c].h),
            s.image->comps[c].resno_decoded = 0;
    stop(&s, "a reduction refused", good);
    for (int beyond = 0; beyond < 2; beyond++) {
        s = (session){0};
        good = start(&s, name, 0, 0, 0);
        if (good) {
            const OPJ_INT32 x = (OPJ_INT32)s.image->x0, y = (OPJ_INT32)s.image->y0, at = beyond ? 100000 : 20;
            printf("areas: %d ", opj_set_decode_area(s.codec, s.image, x, y, x + 30, y + 30));
            printf("%d\n", opj_set_decode_area(s.codec, s.image, x + at, y + at, x + 10, y + 10));
        }
        stop(&s, "an area refused", good && opj_decode(s.codec, s.stream, s.image));
    }
}

static void one_component(const char *name)
{
    session s = {0};
    bool good = start(&s, name, 0, 0, 0);
    OPJ_UINT32 last = good ? s.image->numcomps - 1 : 0;
    good = good && opj_set_decoded_components(s.codec, 1, &last, OPJ_FALSE) && opj_decode(s.codec, s.stream, s.image);
    stop(&s, "last component", good);
}

/* Selected components come in the order in which they are selected, also where all were decoded before. */
static void reversed_components(const char *name, bool all_before)
{
    session s = {0};
    bool good = start(&s, name, 0, 0, OPJ_DPARAMETERS_IGNORE_PCLR_CMAP_CDEF_FLAG);
    OPJ_UINT32 count = good ? s.image->numcomps : 0, order[2] = {count - 1, 0};
    good = good && (!all_before || opj_decode(s.codec, s.stream, s.image)) &&
           opj_set_decoded_components(s.codec, count > 1 ? 2 : 1, order, OPJ_FALSE) &&
           opj_decode(s.codec, s.stream, s.image);
    stop(&s, all_before ? "reversed after all" : "reversed", good);
}

/* A second header is refused, and leaves the image alone; what is known outlives the stream. */
static void odd_order(const char *name)
{
    session s = {0};
    opj_codec_t *fresh = opj_create_decompress(OPJ_CODEC_J2K);
    printf("reduced before the header: %d\n", opj_set_decoded_resolution_factor(fresh, 1));
    opj_destroy_codec(fresh);
    bool good = start(&s, name, 0, 0, 0) && opj_decode(s.codec, s.stream, s.image);
    opj_image_t *before = s.image;
    printf("a second header: %d\n", opj_read_header(s.stream, s.codec, &s.image));
    printf("the same image: %d\n", s.image == before);
    opj_stream_destroy(s.stream);
    s.stream = NULL;
    if (good)
        show_index(&s);
    stop(&s, "odd order", good);
}

static void tiles(const char *name, unsigned reduce)
{
    session s = {0};
    bool good = start(&s, name, reduce, 0, OPJ_DPARAMETERS_IGNORE_PCLR_CMAP_CDEF_FLAG);
    opj_codestream_info_v2_t *info = good ? opj_get_cstr_info(s.codec) : NULL;
    OPJ_UINT32 count = info ? info->tw * info->th : 0;
    for (OPJ_UINT32 t = 0; good && t < count && t < 12; t++) {
        good = opj_get_decoded_tile(s.codec, s.stream, s.image, count - 1 - t);
        if (good)
            show("tile", s.image);
    }
    opj_destroy_cstr_info(&info);
    stop(&s, "tiles", good);
}

static void tile_data(const char *name, unsigned reduce)
{
    session s = {0};
    bool good = start(&s, name, reduce, 0, 0);
    while (good) {
        OPJ_UINT32 tile, bytes, components;
        OPJ_INT32 x0, y0, x1, y1;
        OPJ_BOOL more;
        good = opj_read_tile_header(s.codec, s.stream, &tile, &bytes, &x0, &y0, &x1, &y1, &components, &more);
        if (!good || !more)
            break;
        OPJ_BYTE *data = malloc(bytes + 1);
        good = data && opj_decode_tile_data(s.codec, tile, data, bytes, s.stream);
        if (good)
            printf("tile %u: %u bytes, %d %d %d %d, %u components, %016" PRIx64 "\n", tile, bytes, x0, y0, x1, y1,
                   components, digest(data, bytes));
        free(data);
    }
    stop(&s, "tile data", good);
}

int main(int count, char **words)
{
    if (count != 2)
        return 2;
    const char *name = words[1];
    whole(name, 0, 0, 0, false);
    whole(name, 0, 0, 0, true);
    whole(name, 1, 0, 0, false);
    whole(name, 0, 1, 0, false);
    whole(name, 0, 0, OPJ_DPARAMETERS_IGNORE_PCLR_CMAP_CDEF_FLAG, false);
    later_reduction(name);
    area(name, 0);
    area(name, 1);
    outside(name, -5, 0, 10, 10);
    outside(name, 0, 0, 0x7fffffff, 0x7fffffff);
    outside(name, 5, 5, 4, 4);
    outside(name, 0, 0, 0, 0);
    one_component(name);
    reversed_components(name, false);
    reversed_components(name, true);
    odd_order(name);
    tiles(name, 0);
    tiles(name, 1);
    tile_data(name, 0);
    tile_data(name, 4);
    refused_settings(name);
    return 0;
}
