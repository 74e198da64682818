#include "pictures/formats.h"

#include "pictures/files/file.h"
#include "pictures/files/report.h"

bool cli_format_of_name(const char *path, cli_format *format)
{
    static const struct {
        const char *extension;
        cli_format format;
    } known[] = {{".png", CLI_FORMAT_PNG}, {".pbm", CLI_FORMAT_PBM},  {".pgm", CLI_FORMAT_PGM},
                 {".ppm", CLI_FORMAT_PPM}, {".pnm", CLI_FORMAT_PNM},  {".pam", CLI_FORMAT_PAM},
                 {".pgx", CLI_FORMAT_PGX}, {".tif", CLI_FORMAT_TIFF}, {".tiff", CLI_FORMAT_TIFF},
                 {".raw", CLI_FORMAT_RAW}};
    *format = CLI_FORMAT_NETPBM;
    if (cli_is_stream(path))
        return true;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (cli_same_text(cli_extension(path), known[i].extension)) {
            *format = known[i].format;
            return true;
        }
    }
    return cli_error(path, "unknown output format; known are .png .tif .tiff .pbm .pgm .ppm .pnm .pam .pgx .raw");
}
