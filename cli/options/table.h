/* One row per option of the command: what parses it, describes it in help and manual, and completes it in a shell. */
#ifndef L2K_CLI_OPTIONS_TABLE_H
#define L2K_CLI_OPTIONS_TABLE_H

#include "cli/options/options.h"

typedef struct cli_option cli_option;

typedef struct cli_name {
    const char *name;
    int64_t value;
} cli_name;

/* Stores the value `text`, NULL for an option without argument; false after a report. */
typedef bool cli_option_parser(const cli_option *row, const char *text, cli_options *options);

/* view and dump take pictures and JPEG 2000 files; some options are for one kind only. */
typedef enum cli_input_kind { CLI_ANY_INPUT, CLI_PICTURE_INPUT, CLI_CODED_INPUT } cli_input_kind;

struct cli_option {
    unsigned commands;    /* bits 1 << cli_command */
    unsigned video;       /* those that take this option for video as well */
    char letter;          /* 0 = long form only */
    const char *name;     /* without hyphens */
    const char *argument; /* as help shows it, in [=] if it may be left out; NULL = none */
    const char *help;     /* a phrase, for help and manual */
    const char *fallback; /* the default, for help and manual; NULL = not stated */
    const char *detail;   /* sentences for the manual only; NULL = none */
    cli_option_parser *parse;
    size_t target;         /* offset in cli_options of what `parse` fills, unless that is fixed */
    int64_t least, most;   /* range of a number; `most` is the value set by an option without argument */
    const cli_name *names; /* values with a name, for parser and completion; NULL = none */
    cli_input_kind input;  /* for view and dump */
};

extern const cli_name cli_progressions[];
extern const cli_name cli_backends[]; /* auto comes first */
extern const cli_option cli_option_table[];
extern const size_t cli_num_options;

static inline bool cli_option_is_for(const cli_option *row, cli_command command)
{
    return row->commands >> command & 1;
}

static inline cli_setting *cli_target_of(const cli_option *row, cli_options *options)
{
    return (cli_setting *)((char *)options + row->target);
}

static inline bool cli_set(cli_setting *setting, int64_t value)
{
    *setting = (cli_setting){value, true};
    return true;
}

/* Parsers of rows with a target (values.c). */
bool cli_take_flag(const cli_option *row, const char *text, cli_options *options);     /* bool: true */
bool cli_take_constant(const cli_option *row, const char *text, cli_options *options); /* cli_setting: row->most */
bool cli_take_number(const cli_option *row, const char *text, cli_options *options);   /* cli_setting: least .. most */
bool cli_take_name(const cli_option *row, const char *text, cli_options *options);     /* cli_setting: one of names */
bool cli_take_names(const cli_option *row, const char *text, cli_options *options); /* cli_setting: several, with | */

/* Parsers of single rows. */
cli_option_parser cli_take_layers, cli_take_tile, cli_take_pair, cli_take_precincts, cli_take_poc, cli_take_comment,
    cli_take_profile, cli_take_bytes, cli_take_raw, cli_take_raw_order, cli_take_kernel, cli_take_split, cli_take_step,
    cli_take_box, cli_take_uuid, cli_take_region, cli_take_band, cli_take_gain, cli_take_devices, cli_take_out_dir,
    cli_take_extension, cli_take_page, cli_take_fps, cli_take_precision;

/* ---- Texts to values (values.c); each fault is one line that names the option and its value ---- */

/* "lift2k: --option text: message"; returns false. */
bool cli_bad_value(const char *option, const char *text, const char *message);

/* The value of the name that the first `length` letters of `text` are, in either case; false where there is none. */
bool cli_find_name(const cli_name *names, const char *text, size_t length, int64_t *value);

/* One whole number from least to most. */
bool cli_parse_number(const char *option, const char *text, uint32_t least, uint32_t most, int64_t *value);

/* A number of at most 32 bits and the character after it; NULL if there is none, or for NULL. */
const char *cli_parse_field(const char *at, char end, uint32_t *value);

size_t cli_count_items(const char *text, char separator);

/* Exactly `count` whole numbers separated by commas. The message shows `form`, such as "W,H". */
bool cli_parse_numbers(const char *option, const char *text, const char *form, uint32_t *values, size_t count);

/* One finite number above 0. */
bool cli_parse_real(const char *option, const char *text, double *value);

/* Any number of finite numbers, not negative, separated by commas. Frees the old *values; the caller frees the new
 * ones, also after a fault. */
bool cli_parse_reals(const char *option, const char *text, double **values, size_t *count);

#endif
