/* Parses numbers, lists and names more strictly than the C library does; and the rows whose value is one of these. */
#include "cli/options/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pictures/user/report.h"
#include "pictures/user/text.h"

bool cli_bad_value(const char *option, const char *text, const char *message)
{
    char subject[512];
    snprintf(subject, sizeof subject, "--%s %s", option, text);
    return cli_error(subject, "%s", message);
}

bool cli_parse_number(const char *option, const char *text, uint32_t least, uint32_t most, int64_t *value)
{
    uint64_t number = 0;
    char message[80];
    const char *end = cli_digits(text, UINT32_MAX, &number);
    if (end && !*end && number >= least && number <= most) {
        *value = (int64_t)number;
        return true;
    }
    snprintf(message, sizeof message, "not a whole number from %u to %u", least, most);
    return cli_bad_value(option, text, message);
}

const char *cli_parse_field(const char *at, char end, uint32_t *value)
{
    uint64_t number = 0;
    at = at ? cli_digits(at, UINT32_MAX, &number) : NULL;
    *value = (uint32_t)number;
    return at && *at == end ? at + 1 : NULL;
}

bool cli_parse_numbers(const char *option, const char *text, const char *form, uint32_t *values, size_t count)
{
    char message[80];
    const char *at = text;
    for (size_t i = 0; i < count; i++)
        at = cli_parse_field(at, i + 1 < count ? ',' : 0, &values[i]);
    if (at)
        return true;
    snprintf(message, sizeof message, "not of the form %s with whole numbers below 2^32", form);
    return cli_bad_value(option, text, message);
}

size_t cli_count_items(const char *text, char separator)
{
    size_t count = 1;
    for (; *text; text++)
        count += *text == separator;
    return count;
}

/* strtod also accepts signs, spaces, hexadecimal, "inf" and "nan"; this takes digits, point and exponent only. */
static const char *parse_real(const char *at, double *value)
{
    char *end;
    if (!strchr("0123456789.", *at) || !*at || (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')))
        return NULL;
    errno = 0;
    *value = strtod(at, &end);
    return end != at && errno == 0 && isfinite(*value) ? end : NULL;
}

bool cli_parse_real(const char *option, const char *text, double *value)
{
    double parsed;
    const char *end = parse_real(text, &parsed);
    if (!end || *end || parsed <= 0)
        return cli_bad_value(option, text, "not a number above 0");
    *value = parsed;
    return true;
}

bool cli_parse_reals(const char *option, const char *text, double **values, size_t *count)
{
    size_t items = cli_count_items(text, ',');
    const char *at = text;
    free(*values);
    *count = 0;
    *values = calloc(items, sizeof **values);
    if (!*values)
        return cli_bad_value(option, text, "out of memory");
    for (size_t i = 0; i < items; i++) {
        at = parse_real(at, &(*values)[i]);
        if (!at || *at != (i + 1 < items ? ',' : 0))
            return cli_bad_value(option, text, "not a list of numbers from 0 up, separated by commas");
        at++;
    }
    *count = items;
    return true;
}

/* ---- Rows with a target -------------------------------------------------------------------------------------- */

bool cli_take_flag(const cli_option *row, const char *text, cli_options *options)
{
    (void)text;
    return *(bool *)((char *)options + row->target) = true;
}

bool cli_take_constant(const cli_option *row, const char *text, cli_options *options)
{
    (void)text;
    return cli_set(cli_target_of(row, options), row->most);
}

bool cli_take_number(const cli_option *row, const char *text, cli_options *options)
{
    int64_t value = 0;
    return cli_parse_number(row->name, text ? text : row->fallback, (uint32_t)row->least, (uint32_t)row->most,
                            &value) &&
           cli_set(cli_target_of(row, options), value);
}

/* From 1 up, perhaps with K, M or G behind it for 10^3, 10^6 or 10^9. */
bool cli_take_bytes(const cli_option *row, const char *text, cli_options *options)
{
    static const char suffixes[] = "KMG";
    const uint64_t most = 1000000000000000;
    uint64_t number = 0;
    const char *end = cli_digits(text, most, &number), *suffix = NULL;
    if (end && *end && (suffix = strchr(suffixes, *end >= 'a' ? *end - 'a' + 'A' : *end)) != NULL)
        end++;
    if (!end || *end || !number || (suffix && number > most / 1000000000))
        return cli_bad_value(row->name, text,
                             "not a whole number from 1 to 10^15, or one up to 10^6 followed by K, M or G");
    for (ptrdiff_t i = suffix ? suffix - suffixes + 1 : 0; i > 0; i--)
        number *= 1000;
    return cli_set(cli_target_of(row, options), (int64_t)number);
}

bool cli_find_name(const cli_name *names, const char *text, size_t length, int64_t *value)
{
    while (names->name && (strncasecmp(names->name, text, length) != 0 || names->name[length]))
        names++;
    *value = names->value;
    return names->name;
}

/* "not one of none, deflate, lzw", after `what`. */
static bool report_name(const cli_option *row, const char *text, const char *what)
{
    char message[260];
    size_t used = (size_t)snprintf(message, sizeof message, "%snot one of ", what);
    for (const cli_name *name = row->names; name->name && used < sizeof message; name++)
        used +=
            (size_t)snprintf(message + used, sizeof message - used, "%s%s", name == row->names ? "" : ", ", name->name);
    return cli_bad_value(row->name, text, message);
}

bool cli_take_names(const cli_option *row, const char *text, cli_options *options)
{
    char what[60];
    int64_t value = 0, one;
    for (const char *at = text, *end; at; at = *end ? end + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        end = at + length;
        if (!cli_find_name(row->names, at, length, &one)) {
            snprintf(what, sizeof what, "'%.*s' is ", length < 39 ? (int)length : 39, at);
            return report_name(row, text, what);
        }
        value |= one;
    }
    return cli_set(cli_target_of(row, options), value);
}

bool cli_take_name(const cli_option *row, const char *text, cli_options *options)
{
    int64_t value;
    return cli_find_name(row->names, text, strlen(text), &value) ? cli_set(cli_target_of(row, options), value)
                                                                 : report_name(row, text, "");
}
