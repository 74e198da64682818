/* The image file formats: readers, chosen by content, and writers, chosen by the name of the output. */
#ifndef L2K_CLI_FORMATS_H
#define L2K_CLI_FORMATS_H

#include "cli/colour.h"
#include "cli/file.h"
#include "cli/picture.h"

/* Each fills in a picture that the caller frees, also after an error. */
bool cli_png_read(cli_input *input, cli_picture *picture);
bool cli_pnm_read(cli_input *input, cli_picture *picture);
bool cli_pgx_read(cli_input *input, cli_picture *picture);

/* The one of these for what the input begins with, or NULL. */
typedef bool cli_picture_reader(cli_input *input, cli_picture *picture);
cli_picture_reader *cli_reader_by_content(const cli_input *input);

/* Reads `path`, "-", or the numbered planes NAME_0.pgx, NAME_1.pgx, ... where NAME.pgx itself does not exist. */
bool cli_picture_read(cli_picture *picture, const char *path);

/* The same with another reader for what is one file, such as one that knows more formats. */
bool cli_picture_read_with(cli_picture *picture, const char *path, cli_picture_reader *reader);

typedef enum cli_format {
    CLI_FORMAT_PNG,
    CLI_FORMAT_PBM,
    CLI_FORMAT_PGM,
    CLI_FORMAT_PPM,
    CLI_FORMAT_PNM, /* PGM or PPM */
    CLI_FORMAT_PAM,
    CLI_FORMAT_NETPBM, /* a stream: PGM, PPM or PAM */
    CLI_FORMAT_PGX
} cli_format;

/* By extension, NETPBM for streams; an unknown extension is an error that lists the known. */
bool cli_format_of_name(const char *path, cli_format *format);

/* Can the format hold the view? Settles PNM and NETPBM for one of PGM, PPM, PAM, and the view's depth and count. */
bool cli_format_check(cli_format *format, cli_view *view, const char *name);

bool cli_png_write(cli_output *output, const cli_view *view, bool quiet);
bool cli_pnm_write(cli_output *output, const cli_view *view, cli_format format);

/* Raw planes into NAME_0.pgx, NAME_1.pgx, ... for `path` NAME.pgx. */
bool cli_pgx_write(const char *path, const cli_picture *picture);

/* One plane into one file. Its sample type may be wider than the precision asks for. */
bool cli_pgx_write_plane(const char *name, const l2k_plane *plane, const l2k_component *component);

/* "NAME_number.ext" for "NAME.ext"; the caller frees it. NULL when out of memory. */
char *cli_pgx_plane_name(const char *path, uint32_t number);

#endif
