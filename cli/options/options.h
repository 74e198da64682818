/* Command line arguments to numbers. Every fault is one line that names the option and the value. */
#ifndef L2K_CLI_OPTIONS_OPTIONS_H
#define L2K_CLI_OPTIONS_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A long option without a short one is told by a value above all characters. */
#define CLI_LONG_ONLY 256

/* getopt_long with its faults reported: the option's value, -1 at the end, '?' after a fault. `command` is the
 * subcommand's name; the arguments begin with it. */
int cli_next_option(int count, char **arguments, const char *letters, const struct option *options,
                    const char *command);

/* The long name of the option whose value is `value`, for messages. */
const char *cli_option_name(const struct option *options, int value);

/* "lift2k: --option text: message"; returns false. */
bool cli_bad_value(const char *option, const char *text, const char *message);

/* One whole number of least .. most. */
bool cli_parse_number(const char *option, const char *text, uint32_t least, uint32_t most, int64_t *value);

/* One whole number from 1 on, K, M or G behind it for 10^3, 10^6 or 10^9. */
bool cli_parse_size(const char *option, const char *text, uint64_t *value);

/* Exactly `count` whole numbers with commas between. `form` is what the message says is wanted, such as "W,H". */
bool cli_parse_numbers(const char *option, const char *text, const char *form, uint32_t *values, size_t count);

/* One finite number above 0. */
bool cli_parse_real(const char *option, const char *text, double *value);

/* Any number of numbers with commas between: finite, not negative. The caller frees *values, also the old ones. */
bool cli_parse_reals(const char *option, const char *text, double **values, size_t *count);

typedef struct cli_name {
    const char *name;
    int64_t value;
} cli_name;

/* One of the names, in any case; the table ends with a NULL name. */
bool cli_parse_name(const char *option, const char *text, const cli_name *names, int64_t *value);

/* Several names with commas between, values combined with |. */
bool cli_parse_names(const char *option, const char *text, const cli_name *names, int64_t *value);

/* The two file names after the options, or a report of what is missing or too much. */
bool cli_two_names(int count, char **arguments, const char *command, const char **input, const char **output);

extern const cli_name cli_backend_names[];

#endif
