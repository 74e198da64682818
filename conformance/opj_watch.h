/* libopenjp2 watched from inside. The linker's --wrap puts functions of ours before those that OpenJPEG calls from one
 * of its files into another: the component transforms, the wavelet transforms and tier-1. Ours call the original and
 * write down what it was given and what it left, or do its work with coefficients brought along. */
#ifndef CONFORMANCE_OPJ_WATCH_H
#define CONFORMANCE_OPJ_WATCH_H

#include "conformance/opj.h"
#include "conformance/watch_log.h"

/* NULL where the structs in opj_inside.h are those of the library, else why they are not. */
const char *opj_watch_trouble(void);

/* Encodes; `raw` is for watch_read. The picture must be one that OpenJPEG can write. */
bool opj_watch_encode(const picture *p, const coding *o, bytes *stream, bytes *raw);

/* The same with coefficients in place of OpenJPEG's: it neither transforms components nor filters, but takes for each
 * tile-component what is in `planes`, of kind WATCH_ANALYSED. */
bool opj_watch_encode_from(const picture *p, const coding *o, const watch_plane *planes, size_t count, bytes *stream);

/* Decodes, and writes the picture down as well. */
bool opj_watch_decode(const bytes *stream, const decoding *d, bytes *raw);

#endif
