/* The metadata boxes of an encoded file. */
#ifndef L2K_CLI_ENCODE_BOXES_H
#define L2K_CLI_ENCODE_BOXES_H

#include "cli/options/options.h"
#include "pictures/picture.h"

/* The files of --xmp, --exif, --xml, --gml and --uuid, added to all pictures. */
typedef struct cli_boxes {
    l2k_box_data *boxes; /* owned, with their data except labels */
    size_t count;
} cli_boxes;

/* Reads them; false after a report. Unload in either case. */
bool cli_boxes_load(cli_boxes *given, const cli_options *options);
void cli_boxes_unload(cli_boxes *given);

/* Makes picture->image.boxes: with `carry`, the picture's own metadata of kinds that are not given, then the given
 * ones. *list is their memory, which may be from an earlier call and which the caller frees. False after a report. */
bool cli_boxes_attach(const cli_boxes *given, bool carry, cli_picture *picture, l2k_box_data **list);

#endif
