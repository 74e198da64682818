/* The contents of a file's boxes, for `lift2k info`. */
#include "cli/info/info.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/user/text.h"

/* More of a document is not shown. */
#define MOST_TEXT ((size_t)1 << 20)

const char *cli_content_name(l2k_content content)
{
    static const char *const names[] = {NULL, "XMP", "Exif", "IPTC", "GeoJP2", NULL, "XML", "label"};
    return (unsigned)content < sizeof names / sizeof *names ? names[content] : NULL;
}

bool cli_box_uuid(const l2k_box_data *data, char text[CLI_UUID_ROOM])
{
    char *at = text;
    if (strcmp(data->type, "uuid") != 0 || data->content == L2K_CONTENT_OTHER)
        return false;
    for (int i = 0; i < 16; i++)
        at += snprintf(at, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", data->uuid[i]);
    return true;
}

char *cli_box_text(const l2k_box_data *data)
{
    const bool is_text =
        data->content == L2K_CONTENT_XMP || data->content == L2K_CONTENT_XML || data->content == L2K_CONTENT_LABEL;
    const size_t bytes = data->bytes < MOST_TEXT ? data->bytes : MOST_TEXT;
    char *text = is_text ? malloc(bytes + 1) : NULL;
    if (!text)
        return NULL;
    if (bytes)
        memcpy(text, data->data, bytes);
    text[bytes] = 0;
    return text;
}

static uint32_t number(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

/* A fraction times a power of ten, vertical first (I.5.3.7). */
bool cli_box_density(const l2k_box_data *data, double *x, double *y)
{
    const uint8_t *at = data->data;
    if ((strcmp(data->type, "resc") != 0 && strcmp(data->type, "resd") != 0) || data->bytes != 10)
        return false;
    const double below_y = number(at + 2), below_x = number(at + 6);
    if (below_x == 0 || below_y == 0)
        return false;
    *y = number(at) / below_y * pow(10, (int8_t)at[8]);
    *x = number(at + 4) / below_x * pow(10, (int8_t)at[9]);
    return true;
}

/* The beginning of a document, on one line. */
static void print_beginning(const l2k_box_data *data)
{
    enum { SHOWN = 48 };
    char *text = cli_box_text(data);
    if (!text)
        return;
    const size_t length = strlen(text);
    text[length < SHOWN ? length : SHOWN] = 0;
    for (char *at = text; *at; at++)
        *at = *at == '\n' || *at == '\r' || *at == '\t' ? ' ' : *at;
    cli_make_printable(text);
    printf(" \"%s\"%s", text, length < SHOWN ? "" : "...");
    free(text);
}

void cli_print_content(const l2k_box_data *data)
{
    char uuid[CLI_UUID_ROOM];
    const char *name = cli_content_name(data->content);
    double x, y;
    if (cli_box_density(data, &x, &y))
        printf(": %.6g x %.6g pixels per metre", x, y);
    else if (name)
        printf(": %s", name);
    else if (cli_box_uuid(data, uuid))
        printf(": %s", uuid);
    if (data->content == L2K_CONTENT_XML || data->content == L2K_CONTENT_LABEL)
        print_beginning(data);
}
