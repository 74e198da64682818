/* Transcoding: a codestream written again without the transform. Its coefficients stay what they are; code-blocks are
 * copied, or coded again by the other coder. */
#ifndef L2K_CODEC_TRANSCODE_TRANSCODE_H
#define L2K_CODEC_TRANSCODE_TRANSCODE_H

#include "codec/decode/tile_state.h"
#include "codec/encode/encoder.h"

typedef struct l2k_transcoding {
    l2k_encoder *encoder; /* encoder->encoding describes the output */
    l2k_decoder *decoder;
    const l2k_codestream *input;
    l2k_settings settings;      /* of the encoder */
    l2k_image image;            /* for the boxes of a codestream that had none */
    l2k_tile_coding own;        /* of the present tile; */
    l2k_tile_coding shown;      /* the same with the order that is given, for encoder->encoding.present */
    l2k_block_coder *coders[2]; /* of code-blocks that are coded again: decoding, encoding */
    uint64_t left;              /* visits that headers may still promise beyond the bytes present (plan.c) */
} l2k_transcoding;

static inline bool l2k_transcode_given(const l2k_transcoding *t, l2k_encoder_option option)
{
    return t->encoder->given >> option & 1;
}

/* ---- What changes: coding.c ------------------------------------------------------------------------------------ */

/* Whether the code-blocks of a component of the input are coded again. */
bool l2k_transcode_recodes(const l2k_transcoding *t, const l2k_component_coding *coding);

/* Makes the parameters of the output from those of the input's main header and the options. */
l2k_status l2k_transcode_setup(l2k_transcoding *t);

/* Makes t->own from the coding of a tile of the input. Release also after an error. */
l2k_status l2k_transcode_take_coding(l2k_transcoding *t, uint32_t tile, const l2k_tile_coding *from);
void l2k_transcode_release_coding(l2k_transcoding *t);

/* ---- What headers promise: plan.c ------------------------------------------------------------------------------ */

/* Finds the division into tile-parts, unless it is given, and lists those of all tiles for TLM. */
l2k_status l2k_transcode_plan(l2k_transcoding *t);

/* L2K_ERROR_LIMIT if a tile's headers promise far more packets and code-blocks than its bytes can fill. */
l2k_status l2k_transcode_charge(l2k_transcoding *t, const l2k_tile *tile, uint64_t bytes);

/* ---- Boxes: boxes.c -------------------------------------------------------------------------------------------- */

/* Makes the boxes before the codestream, with the head of its box, from those of the input. */
l2k_status l2k_transcode_boxes(l2k_transcoding *t);

/* ---- Code-blocks: blocks.c ------------------------------------------------------------------------------------- */

/* Whether code-blocks of a tile of the input are coded again. */
bool l2k_transcode_recodes_any(const l2k_transcoding *t, const l2k_tile *tile);

/* Gives the code-blocks of the output's tile the code of those of the input's, and notes damage in s->damaged. */
l2k_status l2k_transcode_blocks(l2k_transcoding *t, l2k_tile_state *s, l2k_tile *tile);

/* The layer of a contribution in an output that may have fewer. */
static inline uint32_t l2k_transcode_layer(const l2k_contribution *c, uint32_t num_layers)
{
    return c->layer < num_layers ? c->layer : num_layers - 1;
}

/* ---- From one coder to the other: recode.c ---------------------------------------------------------------------- */

/* Codes all blocks of components that are coded again. Both tiles' places are in the same order. */
l2k_status l2k_transcode_recode(l2k_transcoding *t, l2k_tile_state *s, const l2k_tile *tile);

/* Gives a coded MQ block, for each layer, the passes that show what is known of its samples after that layer. */
l2k_status l2k_transcode_divide(const l2k_transcoding *t, const l2k_block_place *from, l2k_tile *tile, l2k_block *to);

#endif
