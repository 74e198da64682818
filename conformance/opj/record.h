/* Entries of the log from the tree that OpenJPEG builds. */
#ifndef CONFORMANCE_OPJ_RECORD_H
#define CONFORMANCE_OPJ_RECORD_H

#include "conformance/opj/inside.h"
#include "conformance/opj/watch_log.h"

l2k_rect opj_record_rect(const opj_tile_component *c);

/* The present content of a tile-component's memory, with the given number of resolution levels. The values are not
 * copied. */
watch_plane opj_record_plane(const opj_tile_component *c, uint32_t resolutions, watch_kind kind);

/* All of its code-blocks, as WATCH_CODED or WATCH_RECEIVED. */
void opj_record_blocks(bytes *log, const opj_tile_component *c, uint32_t resolutions, watch_kind kind);

#endif
