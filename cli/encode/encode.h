/* The parts of `lift2k encode`. */
#ifndef L2K_CLI_ENCODE_ENCODE_H
#define L2K_CLI_ENCODE_ENCODE_H

#include "cli/compare/difference.h"
#include "cli/input/input.h"
#include "cli/options/options.h"
#include "cli/run/batch.h"
#include "pictures/reader.h"

/* ---- Settings (encode_settings.c) ---- */

/* Checks combinations of options and the output's name, so that a fault names the option. The library checks what
 * depends on the picture. `format` is that of all outputs. */
bool cli_encode_check(const cli_options *options, const cli_tasks *tasks, l2k_format *format);

/* The format of an output by its extension; standard output gets boxes. */
bool cli_encode_format(const char *output, bool ht, l2k_format *format);

/* The stream to an output. */
l2k_stream cli_encode_stream(cli_output *output);

/* Sets all options of an encoder. `messages` are its own, and get the coder's `failed`. */
bool cli_encode_configure(l2k_encoder *encoder, cli_messages *messages, const cli_batch *batch, cli_coder *coder,
                          l2k_format format);

/* True if no sample may change: 5/3, and everything in the last layer. */
bool cli_encode_is_lossless(const cli_options *options);

/* ---- --verify (verify.c) ---- */

/* The part of a progress bar that comes before verifying. */
#define CLI_VERIFY_FROM 0.5

/* Creates the decoder that checks one file after another, if it does not exist yet, and sets its options. */
bool cli_verify_prepare(cli_coded_file *check, const cli_batch *batch, cli_coder *coder);

/* Decodes `output`, which is written but not committed, and compares it with `original`: all of it in memory, or,
 * `by_rows`, rewound and read strip by strip. Fails where samples differ that should not. `differences` are those of
 * the components, which the caller frees in any case. */
bool cli_verify(cli_coded_file *check, cli_output *output, cli_reader *original, bool by_rows,
                const cli_options *options, cli_difference **differences);

/* Tells the user what was found. */
void cli_verify_report(const char *name, const cli_picture *picture, const cli_difference *differences,
                       const cli_options *options);

/* ---- Metadata boxes (boxes.c) ---- */

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
