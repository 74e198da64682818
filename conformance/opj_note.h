/* From the tree that OpenJPEG builds to entries of the log. */
#ifndef CONFORMANCE_OPJ_NOTE_H
#define CONFORMANCE_OPJ_NOTE_H

#include "conformance/opj_inside.h"
#include "conformance/watch_log.h"

l2k_rect opj_note_rect(const opj_tile_component *c);

/* What is in the tile-component's memory now, which has that many resolutions. The values stay where they are. */
watch_plane opj_note_plane(const opj_tile_component *c, uint32_t resolutions, watch_kind kind);

/* All its code-blocks, as WATCH_CODED or WATCH_RECEIVED. */
void opj_note_blocks(bytes *log, const opj_tile_component *c, uint32_t resolutions, watch_kind kind);

#endif
