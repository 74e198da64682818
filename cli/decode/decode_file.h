/* A file on its way through `lift2k decode`. */
#ifndef L2K_CLI_DECODE_DECODE_FILE_H
#define L2K_CLI_DECODE_DECODE_FILE_H

#include "cli/decode/decode_options.h"
#include "cli/decode/rgb8.h"
#include "cli/decode/source.h"
#include "cli/decode/strips.h"
#include "cli/run/timings.h"
#include "pictures/writer.h"

/* What a file keeps from step to step. */
typedef struct cli_decode_file {
    cli_input input;
    cli_picture picture;
    cli_rgb8 conversion;        /* --rgb8 */
    const cli_picture *written; /* `picture`, or what --rgb8 makes of it */
    cli_view view;              /* of `written`, unless planes are wanted */
    cli_format format;
    cli_strips strips; /* the one that was decoded last */
    cli_writer writer;
    bool has_writer, incomplete;
    uint64_t coded_bytes;
    double writing; /* seconds */
    cli_timings timings;
} cli_decode_file;

/* Of a picture whose shape is known, everything that can be refused is refused here, before samples are decoded. */
bool cli_decode_prepare(cli_decode_file *file, const cli_decode_options *options, const cli_task *task);

/* Row of tiles by row of tiles, so that no more of the picture is in memory. All but the last are written, too; that
 * one is left to the next step, which runs beside the decoding of another file. */
bool cli_decode_strips(cli_decode_file *file, cli_source *source, const cli_decode_options *options,
                       const l2k_info *info, const cli_task *task);

/* Writes the strip that was decoded last. */
bool cli_decode_write(cli_decode_file *file, const cli_decode_options *options, const cli_task *task);

#endif
