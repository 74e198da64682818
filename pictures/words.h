/* Samples as whole bytes, as PGX and raw files store them: 1 byte up to 8 bits, 2 up to 16, otherwise 4, in two's
 * complement where signed. A sample therefore has the same size in the file and in memory. */
#ifndef L2K_PICTURES_WORDS_H
#define L2K_PICTURES_WORDS_H

#include <stddef.h>

#include "pictures/files/file.h"
#include "pictures/reader.h"
#include "pictures/writer.h"

typedef struct cli_words {
    uint32_t precision;
    bool is_signed, big_endian;
} cli_words;

/* Reads native samples. One that exceeds the precision is reported, like other failures of these functions. */
bool cli_words_read(const cli_words *words, cli_input *input, void *data, size_t samples);

/* Writes rows of a plane, of `samples` each, at `offset` and following. */
bool cli_words_write(const cli_words *words, cli_output *output, uint64_t offset, const l2k_plane *plane,
                     size_t samples, uint32_t rows);

/* For readers and writers of files in which one plane follows the other, the first at `start`: a pipe is copied up to
 * `most` bytes if rows of one are not adjacent to those of the next, unless all are read. */
bool cli_read_planes(cli_reader *reader, const cli_words *words, uint64_t start, uint64_t most);
bool cli_write_planes(cli_writer *writer);

#endif
