/* Refuses the formats whose libraries are not in this build. */
#include "pictures/reader.h"
#include "pictures/user/report.h"
#include "pictures/writer.h"

#define READER(format, text)                                                                                           \
    static bool refuse_to_read_##format(cli_reader *reader)                                                            \
    {                                                                                                                  \
        return cli_error(reader->name, "this build of lift2k has no " text);                                           \
    }                                                                                                                  \
    const cli_reader_kind cli_##format##_reader = {.open = refuse_to_read_##format}

#define WRITER(format, text)                                                                                           \
    static bool refuse_to_write_##format(cli_writer *writer)                                                           \
    {                                                                                                                  \
        return cli_error(writer->name, "this build of lift2k has no " text);                                           \
    }                                                                                                                  \
    const cli_writer_kind cli_##format##_writer = {.open = refuse_to_write_##format}

#ifndef L2K_WITH_PNG
READER(png, "libpng to read PNG");
WRITER(png, "libpng to write PNG; tif or pam may do");
#endif
#ifndef L2K_WITH_TIFF
READER(tiff, "libtiff to read TIFF");
WRITER(tiff, "libtiff to write TIFF; png or pam may do");
#endif
#ifndef L2K_WITH_JPEG
READER(jpeg, "libjpeg to read JPEG");
#endif
