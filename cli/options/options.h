/* The command line, parsed. One structure serves all subcommands; each reads the members that its options fill. */
#ifndef L2K_CLI_OPTIONS_OPTIONS_H
#define L2K_CLI_OPTIONS_OPTIONS_H

#include "lift2k/lift2k.h"
#include "pictures/reader.h"
#include "pictures/writer.h"

/* Ordinals of devices are below this. */
#define CLI_MOST_DEVICES 63u

typedef enum cli_command {
    CLI_ENCODE,
    CLI_DECODE,
    CLI_INFO,
    CLI_COMPARE,
    CLI_VIEW,
    CLI_DUMP,
    CLI_TRANSCODE,
    CLI_NUM_COMMANDS
} cli_command;

extern const char *const cli_command_names[CLI_NUM_COMMANDS];

bool cli_find_command(const char *word, cli_command *command);

/* Suggests a similar command. */
void cli_report_unknown_command(const char *word);

/* The value of an option for which the library or the subcommand has a default. */
typedef struct cli_setting {
    int64_t value;
    bool given;
} cli_setting;

/* --xmp, --exif, --xml, --gml or --uuid: a file whose content becomes a box. */
typedef struct cli_box_option {
    l2k_content content;
    bool gml; /* an XML document in associations */
    uint8_t uuid[16];
    const char *name, *path; /* of the option, of the file */
} cli_box_option;

/* --vc2: bits; below this one that of a wavelet, by VC-2's number. */
enum { CLI_VC2_LOW_DELAY = 1 << 7 };

typedef enum cli_dump_format { CLI_DUMP_PGX, CLI_DUMP_RAW } cli_dump_format;

typedef struct cli_options {
    cli_command command;
    char **names; /* arguments that are not options */
    int num_names;

    /* All or most subcommands. The limits go to cli_allowed. */
    bool help, quiet, timings;
    cli_setting max_pixels, max_memory;
    cli_setting progress; /* shown if not 0; by default on a terminal */
    cli_setting threads, backend, cpu, gpu_min_samples, in_flight;
    uint64_t device_set; /* of --devices: bit n for device n */
    bool all_devices;
    const char *out_dir, *extension; /* NULL if not given */
    bool recursive, skip_existing;

    /* How a picture is encoded: encode, and view and dump of a picture. */
    cli_setting encoder[L2K_ENCODER_NUM_OPTIONS]; /* indexed by l2k_encoder_option */
    cli_setting origin[2];
    l2k_size precincts[L2K_MAX_LEVELS + 1];
    size_t num_precincts;
    l2k_target target; /* of --rate or --psnr */
    double *layer_targets;
    size_t num_layer_targets;
    double base_step; /* 0 = the library's */
    l2k_poc *poc;
    size_t num_poc;
    const char *comment;   /* NULL = the library's */
    cli_setting profile;   /* Rsiz */
    cli_setting precision; /* of the coded samples */
    bool keeps_values;     /* --precision BITS,keep */
    cli_setting page;      /* of a TIFF or Y4M file, from 1 on; 0: all */
    double frames_per_second;
    char *kernel;       /* the text of --kernel FILE; NULL: none, or a name */
    bool has_kernel;    /* --kernel, of either kind */
    const char *splits; /* --split; NULL: none */
    cli_raw raw;
    bool has_raw, by_rows, verify, ht;
    cli_box_option *boxes;
    size_t num_boxes;
    bool palette;
    bool no_metadata; /* also decode */

    /* The part of a JPEG 2000 file to decode: decode, view and dump. */
    cli_setting reduce, layers, component, tile_index;
    uint32_t region[4]; /* X0, Y0, X1, Y1 */
    bool has_region, strict, rgb8;

    /* How decode writes it. */
    cli_write_options write;
    cli_setting compression, png_level;

    bool devices, json; /* info */

    /* view */
    bool rgb, labels, no_borders, has_band;
    l2k_orientation orientation; /* of --band, like the next */
    uint32_t band_level;
    cli_setting level;
    double gain; /* 0 = chosen for each subband */

    cli_setting vc2, slice[2];

    cli_setting dump_format; /* cli_dump_format */

    /* The last option given that is for pictures only, for JPEG 2000 files only, or not for video; NULL for none. */
    const char *picture_option, *coded_option, *still_option;
} cli_options;

/* Parses the arguments; arguments[0] is the subcommand's name. False after a fault, which has been reported with the
 * option and its value. Call cli_options_free in either case. */
bool cli_options_parse(cli_options *options, cli_command command, int count, char **arguments);
void cli_options_free(cli_options *options);

/* The two file names, or a report. */
bool cli_two_names(const cli_options *options, const char **first, const char **second);

static inline int64_t cli_setting_or(cli_setting setting, int64_t fallback)
{
    return setting.given ? setting.value : fallback;
}

#endif
