/* Writes JSON (RFC 8259). */
#include "cli/run/json.h"
#include "pictures/user/text.h"

#include <math.h>

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
    if (key)
        fprintf(json->file, "\"%s\": ", key);
    json->started = true;
}

void cli_json_open(cli_json *json, const char *key, char bracket)
{
    begin_value(json, key);
    fputc(bracket, json->file);
    json->depth++;
    json->started = false;
}

void cli_json_close(cli_json *json, char bracket)
{
    json->depth--;
    if (json->started)
        begin_line(json);
    fputc(bracket, json->file);
    json->started = true;
    if (json->depth == 0)
        fputc('\n', json->file);
}

void cli_json_number(cli_json *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    fprintf(json->file, "%llu", (unsigned long long)value);
}

void cli_json_bool(cli_json *json, const char *key, bool value)
{
    begin_value(json, key);
    fputs(value ? "true" : "false", json->file);
}

void cli_json_real(cli_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        cli_json_text(json, key, NULL);
        return;
    }
    begin_value(json, key);
    fprintf(json->file, "%.9g", value);
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

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    begin_value(json, key);
    if (!text) {
        fputs("null", json->file);
        return;
    }
    fputc('"', json->file);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = cli_utf8_bytes(at);
        if (*at < 0x80)
            put_ascii(json->file, *at);
        else if (cli_utf8_is_c1(at))
            fprintf(json->file, "\\u%04x", at[1]);
        else if (length)
            fwrite(at, 1, length, json->file);
        else
            fputs("\\ufffd", json->file);
        at += length ? length : 1;
    }
    fputc('"', json->file);
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
