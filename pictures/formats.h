/* The image file formats, and which of them can hold what. Reading is in reader.h, writing in writer.h. */
#ifndef L2K_PICTURES_FORMATS_H
#define L2K_PICTURES_FORMATS_H

#include "pictures/colour.h"
#include "pictures/files/file.h"
#include "pictures/picture.h"

typedef enum cli_format {
    CLI_FORMAT_PNG,
    CLI_FORMAT_PBM,
    CLI_FORMAT_PGM,
    CLI_FORMAT_PPM,
    CLI_FORMAT_PNM, /* PGM or PPM */
    CLI_FORMAT_PAM,
    CLI_FORMAT_NETPBM, /* a stream: PGM, PPM or PAM */
    CLI_FORMAT_TIFF,
    CLI_FORMAT_PGX, /* from here on planes without any conversion */
    CLI_FORMAT_RAW
} cli_format;

/* By extension, NETPBM for streams; an unknown extension is an error that lists the known. */
bool cli_format_of_name(const char *path, cli_format *format);

/* Can the format hold the view? Settles PNM and NETPBM for one of PGM, PPM, PAM, and the view's depth and count. */
bool cli_format_check(cli_format *format, cli_view *view, const char *name);

/* One plane as a PGX file into an output that is open. Its sample type may be wider than the precision asks for. */
bool cli_pgx_write_plane(cli_output *output, const l2k_plane *plane, const l2k_component *component);

/* "NAME_number.ext" for "NAME.ext"; the caller frees it. NULL when out of memory. */
char *cli_pgx_plane_name(const char *path, uint32_t number);

/* How many of NAME_0.pgx, NAME_1.pgx, ... there are. */
uint32_t cli_count_planes(const char *path);

#endif
