/* opj_get_cstr_info and opj_get_cstr_index: the main header's content, and the positions of its marker segments and of
 * the tile-parts. */
#include <stdlib.h>
#include <string.h>

#include "compat/openjp2/codec.h"

/* ---- Coding parameters --------------------------------------------------------------------------------------- */

opj_codestream_info_v2_t *OPJ_CALLCONV opj_get_cstr_info(opj_codec_t *p_codec)
{
    const codec *c = codec_decoding(p_codec, NULL);
    if (!c || !c->d.header.components)
        return NULL;
    const opj_codestream_info_v2_t *from = &c->d.header.info;
    const size_t bytes = from->nbcomps * sizeof *from->m_default_tile_info.tccp_info;
    opj_codestream_info_v2_t *info = malloc(sizeof *info);
    opj_tccp_info_t *styles = malloc(bytes);
    if (!info || !styles) {
        free(info);
        free(styles);
        return NULL;
    }
    *info = *from;
    info->m_default_tile_info.tccp_info = memcpy(styles, from->m_default_tile_info.tccp_info, bytes);
    return info;
}

void OPJ_CALLCONV opj_destroy_cstr_info(opj_codestream_info_v2_t **cstr_info)
{
    if (!cstr_info || !*cstr_info)
        return;
    free((*cstr_info)->m_default_tile_info.tccp_info);
    free(*cstr_info);
    *cstr_info = NULL;
}

/* ---- Positions ----------------------------------------------------------------------------------------------- */

/* Adds the complete tile-parts. */
static void add_tile_parts(const codec *c, opj_codestream_index_t *index)
{
    header_part part;
    for (uint64_t at = c->d.header.end; header_part_at(c->d.input, at, &part); at = part.end) {
        opj_tile_index_t *tile = part.tile < index->nb_of_tiles ? &index->tile_index[part.tile] : NULL;
        opj_tp_index_t *larger = tile ? realloc(tile->tp_index, (tile->nb_tps + 1) * sizeof *larger) : NULL;
        if (!larger)
            break;
        tile->tp_index = larger;
        tile->current_tpsno = tile->nb_tps;
        larger[tile->nb_tps++] =
            (opj_tp_index_t){(OPJ_OFF_T)part.start, (OPJ_OFF_T)part.header_end, (OPJ_OFF_T)part.end};
        tile->current_nb_tps = tile->nb_tps;
    }
}

opj_codestream_index_t *OPJ_CALLCONV opj_get_cstr_index(opj_codec_t *p_codec)
{
    const codec *c = codec_decoding(p_codec, NULL);
    if (!c || !c->d.header.components)
        return NULL;
    const main_header *h = &c->d.header;
    opj_codestream_index_t *index = calloc(1, sizeof *index);
    if (!index)
        return NULL;
    index->main_head_start = (OPJ_OFF_T)h->start;
    index->main_head_end = (OPJ_OFF_T)h->end;
    index->codestream_size = c->d.input->bytes - h->start;
    index->marknum = index->maxmarknum = (OPJ_UINT32)h->num_markers;
    index->marker = calloc(h->num_markers, sizeof *index->marker);
    index->nb_of_tiles = h->info.tw * h->info.th;
    index->tile_index = calloc(index->nb_of_tiles, sizeof *index->tile_index);
    if (!index->marker || !index->tile_index) {
        opj_destroy_cstr_index(&index);
        return NULL;
    }
    memcpy(index->marker, h->markers, h->num_markers * sizeof *h->markers);
    for (uint32_t t = 0; t < index->nb_of_tiles; t++)
        index->tile_index[t].tileno = t;
    if (c->d.state == DECODE_DONE)
        add_tile_parts(c, index);
    return index;
}

void OPJ_CALLCONV opj_destroy_cstr_index(opj_codestream_index_t **p_cstr_index)
{
    if (!p_cstr_index || !*p_cstr_index)
        return;
    opj_codestream_index_t *index = *p_cstr_index;
    for (uint32_t t = 0; index->tile_index && t < index->nb_of_tiles; t++)
        free(index->tile_index[t].tp_index);
    free(index->tile_index);
    free(index->marker);
    free(index);
    *p_cstr_index = NULL;
}
