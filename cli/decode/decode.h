/* A file on its way through `lift2k decode`. */
#ifndef L2K_CLI_DECODE_DECODE_H
#define L2K_CLI_DECODE_DECODE_H

#include "cli/decode/rgb8.h"
#include "cli/input/coded_file.h"
#include "cli/input/strips.h"
#include "cli/options/options.h"
#include "cli/run/batch.h"
#include "pictures/writer.h"

/* Shared by all files. */
typedef struct cli_decode_job {
    const cli_options *options;
    cli_format format; /* of all outputs */
    cli_write_options write;
} cli_decode_job;

typedef struct cli_decode_file {
    cli_outcome outcome;
    cli_input input;
    cli_picture picture;
    cli_rgb8 conversion;        /* --rgb8 */
    const cli_picture *written; /* `picture`, or what --rgb8 makes of it */
    cli_view view;              /* of `written`, unless planes are written */
    cli_format format;
    cli_strips strips; /* the one at work */
    cli_writer writer;
    bool has_writer;
    double writing; /* seconds */
} cli_decode_file;

/* Opens the writer of a picture whose shape is known. All refusals happen here, before samples are decoded. */
bool cli_decode_prepare(cli_decode_file *file, const cli_decode_job *job, const cli_task *task);

/* Decodes and writes strips of rows of tiles one by one. */
bool cli_decode_strips(cli_decode_file *file, cli_coded_file *coded, const cli_decode_job *job, const l2k_info *info,
                       const cli_task *task);

#endif
