#include "cli/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void begin_line(const cli_json *json)
{
    printf("\n%*s", 2 * json->depth, "");
}

static void begin_value(cli_json *json, const char *key)
{
    if (json->started)
        putchar(',');
    if (json->depth)
        begin_line(json);
    if (key)
        printf("\"%s\": ", key);
    json->started = true;
}

void cli_json_open(cli_json *json, const char *key, char bracket)
{
    begin_value(json, key);
    putchar(bracket);
    json->depth++;
    json->started = false;
}

void cli_json_close(cli_json *json, char bracket)
{
    json->depth--;
    if (json->started)
        begin_line(json);
    putchar(bracket);
    json->started = true;
    if (json->depth == 0)
        putchar('\n');
}

void cli_json_number(cli_json *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    printf("%llu", (unsigned long long)value);
}

void cli_json_bool(cli_json *json, const char *key, bool value)
{
    begin_value(json, key);
    fputs(value ? "true" : "false", stdout);
}

void cli_json_null(cli_json *json, const char *key)
{
    begin_value(json, key);
    fputs("null", stdout);
}

void cli_json_real(cli_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        cli_json_null(json, key);
        return;
    }
    begin_value(json, key);
    printf("%.9g", value);
}

static void put_ascii(unsigned char character)
{
    if (character == '"' || character == '\\')
        printf("\\%c", character);
    else if (character < 0x20 || character == 0x7f)
        printf("\\u%04x", character);
    else
        putchar(character);
}

/* Bytes of the well-formed UTF-8 sequence at `at` (Unicode, table 3-7), 0 where there is none. */
static size_t sequence(const unsigned char *at)
{
    size_t length = at[0] >= 0xc2 && at[0] <= 0xdf   ? 2
                    : at[0] >= 0xe0 && at[0] <= 0xef ? 3
                    : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                     : 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
        (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    begin_value(json, key);
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = *at < 0x80 ? 1 : sequence(at);
        if (*at < 0x80)
            put_ascii(*at);
        else if (length)
            fwrite(at, 1, length, stdout);
        else
            fputs("\\ufffd", stdout);
        at += length ? length : 1;
    }
    putchar('"');
}

void cli_json_latin1(cli_json *json, const char *key, const char *text, size_t bytes)
{
    begin_value(json, key);
    putchar('"');
    for (size_t i = 0; i < bytes; i++) {
        unsigned char character = (unsigned char)text[i];
        if (character < 0x80)
            put_ascii(character);
        else
            printf("\\u%04x", character);
    }
    putchar('"');
}
