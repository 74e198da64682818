/* Rows of one component into a file, without conversion. */
#ifndef L2K_PICTURES_FORMATS_PLANE_ROWS_H
#define L2K_PICTURES_FORMATS_PLANE_ROWS_H

#include "pictures/files/file.h"
#include "pictures/picture.h"
#include "pictures/formats/words.h"

/* Writes what the picture has in memory of component c to `offset` and after. A failed write is left in
 * output->error. */
bool cli_write_plane_rows(cli_output *output, uint64_t offset, const cli_picture *picture, uint32_t c,
                          const cli_words *words);

/* The same of all components, pixel after pixel; they have the same size and `words`. */
bool cli_write_pixel_rows(cli_output *output, const cli_picture *picture, const cli_words *words);

#endif
