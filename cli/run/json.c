/* Writes JSON (RFC 8259), or the same as text. */
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

static void put_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = cli_utf8_bytes(at);
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(file, "\\u%04x", *at);
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

/* ---- Text ---------------------------------------------------------------------------------------------------- */

/* What precedes a value. */
static void begin_words(cli_json *json, const char *key)
{
    if (json->depth == 1)
        snprintf(json->label, sizeof json->label, "%s", key);
    if (json->started)
        fputs(", ", json->file);
    else
        fprintf(json->file, "%-19s ", json->label);
    if (json->list[0])
        fprintf(json->file, "%s ", json->list);
    if (json->depth > 1 && *key)
        fprintf(json->file, "%s ", key);
    json->label[0] = json->list[0] = 0;
    json->started = true;
}

static void end_line(cli_json *json)
{
    if (json->started)
        fputc('\n', json->file);
    json->started = false;
}

static void put_words(const cli_json *json, const char *text)
{
    char line[4096];
    int length = snprintf(line, sizeof line, "%.*s", (int)sizeof line - 1, text);
    while (length > 0 && strchr(" \n", line[length - 1]))
        line[--length] = 0;
    for (char *at = line; *at; at++)
        *at = strchr("\n\r\t", *at) ? ' ' : *at;
    cli_make_printable(line);
    fputs(line, json->file);
}

static void open_words(cli_json *json, const char *key, char bracket)
{
    if (json->depth == 1)
        json->by_lines = bracket == '[';
    if (*key)
        snprintf(json->depth == 1 ? json->label : json->list, sizeof json->label, "%s", key);
    json->depth++;
}

static void close_words(cli_json *json)
{
    json->depth--;
    json->list[0] = 0;
    if (json->depth == 1 || (json->depth == 2 && json->by_lines))
        end_line(json);
}

/* ---- Both ---------------------------------------------------------------------------------------------------- */

/* The value that `at` describes; returns the last letter of the description. */
static const char *put_value(cli_json *json, const char *key, const char *at, va_list *values)
{
    const size_t length = strcspn(at, " ]}");
    const char *text = at[1] == 's' ? va_arg(*values, const char *) : NULL;
    const bool is_null = *at == 'n' || (at[1] == 's' && !text);
    FILE *file = json->file;
    if (json->text && (is_null || (text && !*text)))
        return at + length - 1;
    (json->text ? begin_words : begin_value)(json, key);
    if (is_null)
        fputs("null", file);
    else if (at[1] == 'u')
        fprintf(file, "%u", va_arg(*values, unsigned));
    else if (at[1] == 'j')
        fprintf(file, "%ju", va_arg(*values, uintmax_t));
    else if (at[1] == 'd')
        fputs(va_arg(*values, int) ? json->text ? "yes" : "true" : json->text ? "no" : "false", file);
    else if (at[1] == 'g')
        put_real(file, va_arg(*values, double));
    else if (json->text)
        put_words(json, text);
    else
        put_text(file, text);
    if (json->text && json->depth == 1)
        end_line(json);
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
            if (json->text)
                close_words(json);
            else
                close_bracket(json, *at);
        } else if (*at != '{' && *at != '[') {
            at = put_value(json, key, at, &values);
        } else if (json->text) {
            open_words(json, key, *at);
        } else {
            begin_value(json, key);
            fputc(*at, json->file);
            json->depth++;
            json->started = false;
        }
    }
    va_end(values);
}
