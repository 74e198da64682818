/* The picture file formats, and which of them can hold which picture. For reading see reader.h, for writing
 * writer.h. */
#ifndef L2K_PICTURES_FORMATS_H
#define L2K_PICTURES_FORMATS_H

#include "pictures/colour.h"
#include "pictures/files/file.h"

typedef enum cli_format {
    CLI_FORMAT_PNG,
    CLI_FORMAT_PBM,
    CLI_FORMAT_PGM,
    CLI_FORMAT_PPM,
    CLI_FORMAT_PNM, /* PGM or PPM */
    CLI_FORMAT_PAM,
    CLI_FORMAT_NETPBM, /* for streams: PGM, PPM or PAM */
    CLI_FORMAT_TIFF,
    CLI_FORMAT_PGX, /* this and the following formats hold planes without conversion */
    CLI_FORMAT_RAW,
    CLI_FORMAT_Y4M
} cli_format;

/* Chooses by extension, NETPBM for streams; an unknown extension is an error that lists the known ones. */
bool cli_format_of_name(const char *path, cli_format *format);

/* Can the format hold the view? Replaces PNM and NETPBM by one of PGM, PPM, PAM, and sets the view's depth and
 * count. */
bool cli_format_check(cli_format *format, cli_view *view, const char *name);

/* Writes one plane as a PGX file into an open output. The sample type may be wider than the precision requires. */
bool cli_pgx_write_plane(cli_output *output, const l2k_plane *plane, const l2k_component *component);

/* The number of consecutive files NAME_0.pgx, NAME_1.pgx, ... that exist. */
uint32_t cli_count_planes(const char *path);

#endif
