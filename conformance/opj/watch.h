/* libopenjp2 watched from inside. The linker's --wrap replaces functions that OpenJPEG calls between its files: the
 * component transforms, the wavelet transforms and tier-1. Ours call the original and record its input and output, or
 * substitute given coefficients for its work. */
#ifndef CONFORMANCE_OPJ_WATCH_H
#define CONFORMANCE_OPJ_WATCH_H

#include "conformance/opj/opj.h"
#include "conformance/opj/watch_log.h"

/* NULL where the structs in inside.h match the library, otherwise the reason why not. */
const char *opj_watch_trouble(void);

/* Encodes; `raw` is for watch_read. The picture must be one that OpenJPEG can write. */
bool opj_watch_encode(const picture *p, const coding *o, bytes *stream, bytes *raw);

/* The same with given coefficients: OpenJPEG transforms neither components nor filters, but takes each tile-component
 * from `planes`, of kind WATCH_ANALYSED. */
bool opj_watch_encode_from(const picture *p, const coding *o, const watch_plane *planes, size_t count, bytes *stream);

/* Decodes, and records the picture as well. */
bool opj_watch_decode(const bytes *stream, const decoding *d, bytes *raw);

#endif
