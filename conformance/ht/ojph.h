/* OpenJPH's programs ojph_compress and ojph_expand, run on files, and what they can do. */
#ifndef CONFORMANCE_HT_OJPH_H
#define CONFORMANCE_HT_OJPH_H

#include "conformance/opj/opj.h"

typedef struct ojph_programs {
    char compress[512], expand[512];
    unsigned version; /* 100 for each major one, and the minor one: 9, 31 */
} ojph_programs;

/* Those in a folder, or for NULL those found through PATH. False where they are missing or do not work. `scratch`: a
 * folder for files. */
bool ojph_find(const char *folder, const char *scratch, ojph_programs *programs);

/* Why ojph_expand cannot decode a file of this picture, or give its samples; or NULL. */
const char *ojph_cannot_expand(const ojph_programs *programs, const picture *p, const coding *o, const bytes *file);

/* Why ojph_compress cannot encode this, or NULL. */
const char *ojph_cannot_compress(const ojph_programs *programs, const picture *p, const coding *o);

/* Files are named `stem` + extension, and removed. The decoded samples have the shape of `like`; NULL on failure. */
picture *ojph_expand(const ojph_programs *programs, const bytes *file, const picture *like, const char *stem);

/* out->size is 0 on failure. */
void ojph_compress(const ojph_programs *programs, const picture *p, const coding *o, const char *stem, bytes *out);

#endif
