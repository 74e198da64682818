/* Writes JSON (RFC 8259), member by member, indented. */
#ifndef L2K_CLI_RUN_JSON_H
#define L2K_CLI_RUN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* To be zeroed first, except the file. The order of calls is not checked. */
typedef struct cli_json {
    FILE *file;
    int depth;
    bool started; /* the innermost object or array has a member */
} cli_json;

/* `key` is NULL in arrays and at the top; keys are plain ASCII. `bracket` is '{' or '[', and '}' or ']'. */
void cli_json_open(cli_json *json, const char *key, char bracket);
void cli_json_close(cli_json *json, char bracket);

void cli_json_number(cli_json *json, const char *key, uint64_t value);
void cli_json_bool(cli_json *json, const char *key, bool value);

/* null for infinity and NaN, which JSON does not have. */
void cli_json_real(cli_json *json, const char *key, double value);

/* UTF-8, or NULL for null. Invalid bytes, which file names may contain, become U+FFFD. */
void cli_json_text(cli_json *json, const char *key, const char *text);

/* Latin-1: every byte is a character. */
void cli_json_latin1(cli_json *json, const char *key, const char *text, size_t bytes);

#endif
