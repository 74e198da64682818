/* Converts texts of the command line to numbers. Each fault is one line that names the option and its value. */
#ifndef L2K_CLI_OPTIONS_VALUES_H
#define L2K_CLI_OPTIONS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "lift2k: --option text: message"; returns false. */
bool cli_bad_value(const char *option, const char *text, const char *message);

/* One whole number from least to most. */
bool cli_parse_number(const char *option, const char *text, uint32_t least, uint32_t most, int64_t *value);

/* One whole number from 1 up, which may end in K, M or G for 10^3, 10^6 or 10^9. */
bool cli_parse_size(const char *option, const char *text, uint64_t *value);

/* Exactly `count` whole numbers separated by commas. The message shows `form`, such as "W,H". */
bool cli_parse_numbers(const char *option, const char *text, const char *form, uint32_t *values, size_t count);

/* One finite number above 0. */
bool cli_parse_real(const char *option, const char *text, double *value);

/* Any number of finite numbers, not negative, separated by commas. Frees the old *values; the caller frees the new
 * ones, also after a fault. */
bool cli_parse_reals(const char *option, const char *text, double **values, size_t *count);

typedef struct cli_name {
    const char *name;
    int64_t value;
} cli_name;

/* One of the names, in either case; the table ends with a NULL name. */
bool cli_parse_name(const char *option, const char *text, const cli_name *names, int64_t *value);

/* Several names separated by commas, their values combined with |. */
bool cli_parse_names(const char *option, const char *text, const cli_name *names, int64_t *value);

#endif
