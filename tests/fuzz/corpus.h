/* The seed corpus: small files for each coding feature, generated when needed. */
#ifndef L2K_TESTS_FUZZ_CORPUS_H
#define L2K_TESTS_FUZZ_CORPUS_H

#include "jp2_build.h"
#include "stream_support.h"

/* Saves into the corpus of a kind: "codestreams", "parameters", "images", "videos" or "blocks". */
void corpus_save(const char *kind, const char *name, const void *data, size_t bytes);

/* Saves a JPEG 2000 file with a tail of options (fuzz.h), which differ from file to file, and frees it. */
void corpus_save_stream(const char *name, memory_file file);

/* The same with a tail that asks for windows of a file that is read in parts. */
void corpus_save_windows(const char *name, memory_file file);

void corpus_encoded(void);  /* files of our encoder */
void corpus_edited(void);   /* what it does not write: packed headers, progression changes, regions of interest */
void corpus_segments(void); /* marker segments, some invalid, and headers that announce too much */
void corpus_ht(void);       /* code-blocks of Part 15, in codestreams and alone */
void corpus_boxes(void);    /* JP2 */
void corpus_images(void);
void corpus_videos(void); /* VC-2, in builds with the encoder of it */

#endif
