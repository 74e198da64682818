/* Samples as whole bytes, the way PGX and raw files have them: 1 byte up to 8 bits, 2 up to 16, else 4, in two's
 * complement where signed. So a sample takes as many bytes in the file as in memory. */
#ifndef L2K_PICTURES_FORMATS_WORDS_H
#define L2K_PICTURES_FORMATS_WORDS_H

#include <stddef.h>

#include "lift2k/lift2k.h"

typedef struct cli_words {
    uint32_t precision;
    bool is_signed, big_endian;
} cli_words;

/* Turns the file's bytes into native samples in place. A sample that exceeds the precision is reported. */
bool cli_words_to_samples(const cli_words *words, void *data, size_t samples, const char *name);

/* The way back, for `count` samples of a plane's row that begins at `row`; each is stored `step` bytes behind the last.
 */
void cli_words_from_samples(const cli_words *words, const char *row, const l2k_plane *plane, uint32_t count,
                            uint8_t *to, size_t step);

#endif
