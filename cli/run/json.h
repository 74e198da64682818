/* Writes JSON (RFC 8259), member by member, indented. */
#ifndef L2K_CLI_RUN_JSON_H
#define L2K_CLI_RUN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pictures/user/report.h"

/* To be zeroed first, except the file. */
typedef struct cli_json {
    FILE *file;
    int depth;
    bool started; /* the innermost object or array has a member */
} cli_json;

/* Writes what `format` lists: "{ image { width %u } style [ %s" opens an object, writes a member that is one, and
 * begins a list. Keys are plain ASCII. Values:
 *
 *     %u %ju    numbers, unsigned and uintmax_t
 *     %d        false for 0, else true
 *     %g        a double; null for infinity and NaN, which JSON does not have
 *     null
 *     %s        UTF-8; null for NULL. Invalid bytes, which file names may contain, become U+FFFD. */
void cli_json_put(cli_json *json, const char *format, ...) CLI_PRINTF(2, 3);

/* Latin-1: every byte is a character. */
void cli_json_latin1(cli_json *json, const char *key, const char *text, size_t bytes);

#endif
