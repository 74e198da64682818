/* Writes JSON (RFC 8259), member by member, indented; or the same for people: a line for each member of the object, and
 * for each object in a list. */
#ifndef L2K_CLI_RUN_JSON_H
#define L2K_CLI_RUN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pictures/user/report.h"

/* To be zeroed first, except the file and the form. */
typedef struct cli_json {
    FILE *file;
    bool text; /* for people */
    int depth;
    bool started;             /* the innermost object or array has a member; as text: the line */
    bool by_lines;            /* text: the member is a list of objects */
    char label[40], list[40]; /* text: names of a member and of what is in it, not printed yet */
} cli_json;

/* Writes what `format` lists: "{ image { width %u } style [ %s" opens an object, writes a member that is one, and
 * begins a list. Keys are plain ASCII. Values:
 *
 *     %u %ju    numbers, unsigned and uintmax_t
 *     %d        false for 0, else true
 *     %g        a double; null for infinity and NaN, which JSON does not have
 *     null
 *     %s        UTF-8; null for NULL. Invalid bytes, which file names may contain, become U+FFFD.
 *
 * As text, null and "" are left out. */
void cli_json_put(cli_json *json, const char *format, ...) CLI_PRINTF(2, 3);

#endif
