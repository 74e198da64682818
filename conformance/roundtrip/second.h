/* A second decoder, independent of both: FFmpeg's own, from libavcodec. */
#ifndef CONFORMANCE_ROUNDTRIP_SECOND_H
#define CONFORMANCE_ROUNDTRIP_SECOND_H

#include "conformance/opj/opj.h"

/* False in a build without libavcodec. */
bool second_available(void);

/* Decodes a codestream to samples with the components of `like`; NULL where the decoder refuses it, with its reason. */
picture *second_decode(const bytes *file, const picture *like, char *reason, size_t room);

/* The limit of FFmpeg 5.1's decoder that explains a refusal with this reason, or NULL where none is known. */
const char *second_limit(const char *reason, const picture *p, const coding *o);

/* What it decodes incorrectly, or NULL. */
const char *second_disorder(const picture *p, const coding *o);

#endif
