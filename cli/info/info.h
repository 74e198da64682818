/* Names that both forms of `lift2k info` use, and the JSON form. */
#ifndef L2K_CLI_INFO_INFO_H
#define L2K_CLI_INFO_INFO_H

#include "lift2k/lift2k.h"

#define CLI_NUM_STYLES 8u

/* The longest description of a kernel: 8 steps of 32 taps of up to 17 characters. */
#define CLI_KERNEL_BYTES 8192

/* "JP2", "JPH" (a codestream of Part 15 in JP2's boxes), "JPX" (by its brand), or NULL for a bare codestream. */
const char *cli_boxes_name(const l2k_info *info, l2k_decoder *decoder);

/* CLI_STYLE: a bit of l2k_info.style by its number; the others: the library's values. */
typedef enum cli_named { CLI_COLOUR, CLI_CHANNEL, CLI_PROGRESSION, CLI_HT_BLOCKS, CLI_STYLE } cli_named;

/* "unknown" for values without a name. */
const char *cli_name_of(cli_named what, unsigned value);

const char *cli_component_transform_name(const l2k_info *info);

/* "XMP", "Exif", "IPTC", "GeoJP2", "XML", "label", or NULL for other boxes. */
const char *cli_content_name(l2k_content content);

/* The ID of a UUID box in its usual form; false for other boxes. */
#define CLI_UUID_ROOM 40u
bool cli_box_uuid(const l2k_box_data *data, char text[CLI_UUID_ROOM]);

/* Pixels per metre of a resolution box; false for other boxes. */
bool cli_box_density(const l2k_box_data *data, double *x, double *y);

/* XMP, XML and labels as text, to be freed; NULL for other boxes. */
char *cli_box_text(const l2k_box_data *data);

/* One JSON object on standard output. */
void cli_info_json(const char *name, const l2k_info *info, l2k_decoder *decoder);
void cli_devices_json(void);

#endif
