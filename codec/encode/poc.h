/* Progression order changes (A.6.6). */
#ifndef L2K_CODEC_ENCODE_POC_H
#define L2K_CODEC_ENCODE_POC_H

#include "codec/encode/encoding.h"

/* Checks entries one by one and copies them in the order of tiles. */
l2k_status l2k_poc_copy(const l2k_context *context, const l2k_poc *poc, size_t count, l2k_poc **copy);

/* Divides the changes of the settings among `encoding`.coding and own_codings, whose other members must be set. */
l2k_status l2k_poc_setup(const l2k_settings *settings, l2k_encoding *encoding);

void l2k_poc_release(l2k_encoding *encoding);

/* The coding parameters of a tile with progression order changes of its own, else NULL; and the parameters of any
 * tile. */
const l2k_tile_coding *l2k_poc_of_tile(const l2k_encoding *encoding, uint32_t tile);
const l2k_tile_coding *l2k_coding_of_tile(const l2k_encoding *encoding, uint32_t tile);

#endif
