/* opj_dump_codec: image, coding parameters and positions as text. */
#include "compat/openjp2/codec.h"

static void dump_image(const main_header *h, FILE *out)
{
    fprintf(out, "Image info {\n\t x0=%u, y0=%u\n\t x1=%u, y1=%u\n\t numcomps=%u\n", h->area[0], h->area[1], h->area[2],
            h->area[3], h->info.nbcomps);
    for (uint32_t c = 0; c < h->info.nbcomps; c++) {
        const opj_image_cmptparm_t *from = &h->components[c];
        fprintf(out, "\t\t component %u {\n\t\t dx=%u, dy=%u\n\t\t prec=%u\n\t\t sgnd=%u\n\t}\n", c, from->dx, from->dy,
                from->prec, from->sgnd);
    }
    fprintf(out, "}\n");
}

static void dump_pairs(const char *name, const OPJ_UINT32 *first, const OPJ_UINT32 *second, uint32_t count, FILE *out)
{
    fprintf(out, "\t\t\t %s=", name);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "(%u,%u) ", first[i], second[i]);
    fprintf(out, "\n");
}

static void dump_component(uint32_t c, const opj_tccp_info_t *style, FILE *out)
{
    uint32_t bands = style->qntsty == 1 ? 1 : 3 * style->numresolutions - 2;
    fprintf(out, "\t\t comp %u {\n\t\t\t csty=%#x\n\t\t\t numresolutions=%u\n", c, style->csty, style->numresolutions);
    fprintf(out, "\t\t\t cblkw=2^%u\n\t\t\t cblkh=2^%u\n\t\t\t cblksty=%#x\n\t\t\t qmfbid=%u\n", style->cblkw,
            style->cblkh, style->cblksty, style->qmfbid);
    dump_pairs("preccintsize (w,h)", style->prcw, style->prch, style->numresolutions, out);
    fprintf(out, "\t\t\t qntsty=%u\n\t\t\t numgbits=%u\n", style->qntsty, style->numgbits);
    dump_pairs("stepsizes (m,e)", style->stepsizes_mant, style->stepsizes_expn, bands, out);
    fprintf(out, "\t\t\t roishift=%d\n\t\t }\n", style->roishift);
}

static void dump_parameters(const opj_codestream_info_v2_t *info, FILE *out)
{
    const opj_tile_info_v2_t *tile = &info->m_default_tile_info;
    fprintf(out, "Codestream info from main header: {\n\t tx0=%u, ty0=%u\n\t tdx=%u, tdy=%u\n\t tw=%u, th=%u\n",
            info->tx0, info->ty0, info->tdx, info->tdy, info->tw, info->th);
    fprintf(out, "\t default tile {\n\t\t csty=%#x\n\t\t prg=%#x\n\t\t numlayers=%u\n\t\t mct=%x\n", tile->csty,
            (unsigned)tile->prg, tile->numlayers, tile->mct);
    for (uint32_t c = 0; c < info->nbcomps; c++)
        dump_component(c, &tile->tccp_info[c], out);
    fprintf(out, "\t }\n}\n");
}

static void dump_positions(const main_header *h, FILE *out)
{
    fprintf(out,
            "Codestream index from main header: {\n\t Main header start position=%llu\n"
            "\t Main header end position=%llu\n\t Marker list: {\n",
            (unsigned long long)h->start, (unsigned long long)h->end);
    for (uint32_t i = 0; i < h->num_markers; i++)
        fprintf(out, "\t\t type=%#x, pos=%llu, len=%u\n", h->markers[i].type, (unsigned long long)h->markers[i].pos,
                (unsigned)h->markers[i].len);
    fprintf(out, "\t }\n}\n");
}

void OPJ_CALLCONV opj_dump_codec(opj_codec_t *p_codec, OPJ_INT32 info_flag, FILE *output_stream)
{
    const codec *c = codec_decoding(p_codec, NULL);
    if (!c || !output_stream || !c->d.header.components)
        return;
    if (info_flag & OPJ_IMG_INFO)
        dump_image(&c->d.header, output_stream);
    if (info_flag & OPJ_J2K_MH_INFO)
        dump_parameters(&c->d.header.info, output_stream);
    if (info_flag & OPJ_J2K_MH_IND)
        dump_positions(&c->d.header, output_stream);
}
