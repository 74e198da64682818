/* Samples as whole bytes, as PGX and raw files store them: 1 byte up to 8 bits, 2 up to 16, otherwise 4, in two's
 * complement where signed. A sample therefore has the same size in the file and in memory. */
#ifndef L2K_PICTURES_WORDS_H
#define L2K_PICTURES_WORDS_H

#include <stddef.h>

#include "pictures/files/file.h"
#include "pictures/picture.h"

typedef struct cli_words {
    uint32_t precision;
    bool is_signed, big_endian;
} cli_words;

/* Converts the file's bytes into native samples in place. A sample that exceeds the precision is reported. */
bool cli_words_to_samples(const cli_words *words, void *data, size_t samples, const char *name);

/* The inverse, for `count` samples of a plane's row that begins at `row`; they are stored `stride` bytes apart. */
void cli_words_from_samples(const cli_words *words, const char *row, const l2k_plane *plane, uint32_t count,
                            uint8_t *to, size_t stride);

/* Writes the picture's rows of component c at `offset` and following. A failed write is left in output->error. */
bool cli_write_plane_rows(cli_output *output, uint64_t offset, const cli_picture *picture, uint32_t c,
                          const cli_words *words);

/* The same for all components, pixel by pixel; they have the same size and `words`. */
bool cli_write_pixel_rows(cli_output *output, const cli_picture *picture, const cli_words *words);

#endif
