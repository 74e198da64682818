/* Writes JSON (RFC 8259). */
#include "cli/run/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "pictures/user/text.h"

static void begin_line(const cli_json *json)
{
    fprintf(json->file, "\n%*s", 2 * json->depth, "");
}

static void begin_value(cli_json *json, const char *key)
{
    if (json->started)
        fputc(',', json->file);
    if (json->depth)
        begin_line(json);
    if (*key)
        fprintf(json->file, "\"%s\": ", key);
    json->started = true;
}

static void open_bracket(cli_json *json, char bracket)
{
    fputc(bracket, json->file);
    json->depth++;
    json->started = false;
}

static void close_bracket(cli_json *json, char bracket)
{
    json->depth--;
    if (json->started)
        begin_line(json);
    fputc(bracket, json->file);
    json->started = true;
    if (json->depth == 0)
        fputc('\n', json->file);
}

static void put_ascii(FILE *file, unsigned char character)
{
    if (character == '"' || character == '\\')
        fprintf(file, "\\%c", character);
    else if (character < 0x20 || character == 0x7f)
        fprintf(file, "\\u%04x", character);
    else
        fputc(character, file);
}

static void put_text(FILE *file, const char *text)
{
    if (!text) {
        fputs("null", file);
        return;
    }
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = cli_utf8_bytes(at);
        if (*at < 0x80)
            put_ascii(file, *at);
        else if (cli_utf8_is_c1(at))
            fprintf(file, "\\u%04x", at[1]);
        else if (length)
            fwrite(at, 1, length, file);
        else
            fputs("\\ufffd", file);
        at += length ? length : 1;
    }
    fputc('"', file);
}

static void put_real(FILE *file, double value)
{
    if (isfinite(value))
        fprintf(file, "%.9g", value);
    else
        fputs("null", file);
}

/* The value that `at` describes; returns the last letter of the description. */
static const char *put_value(FILE *file, const char *at, va_list *values)
{
    const size_t length = strcspn(at, " ]}");
    if (*at == 'n')
        fputs("null", file);
    else if (at[1] == 'u')
        fprintf(file, "%u", va_arg(*values, unsigned));
    else if (at[1] == 'j')
        fprintf(file, "%ju", va_arg(*values, uintmax_t));
    else if (at[1] == 'd')
        fputs(va_arg(*values, int) ? "true" : "false", file);
    else if (at[1] == 'g')
        put_real(file, va_arg(*values, double));
    else
        put_text(file, va_arg(*values, const char *));
    return at + length - 1;
}

void cli_json_put(cli_json *json, const char *format, ...)
{
    char key[40];
    va_list values;
    va_start(values, format);
    for (const char *at = format; *(at += strspn(at, " ")); at++) {
        const size_t length = strcspn(at, " {[]}%");
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        at += length + strspn(at + length, " ");
        if (*at == ']' || *at == '}') {
            close_bracket(json, *at);
            continue;
        }
        begin_value(json, key);
        if (*at == '{' || *at == '[')
            open_bracket(json, *at);
        else
            at = put_value(json->file, at, &values);
    }
    va_end(values);
}

void cli_json_latin1(cli_json *json, const char *key, const char *text, size_t bytes)
{
    begin_value(json, key);
    fputc('"', json->file);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char character = (unsigned char)text[i];
        if (character < 0x80)
            put_ascii(json->file, character);
        else
            fprintf(json->file, "\\u%04x", character);
    }
    fputc('"', json->file);
}
