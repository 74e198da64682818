/* Metadata in the text chunks of PNG files (PNG 3rd edition, 11.3.3): XMP under its own keyword (XMP Specification Part
 * 3, 1.1.5), and the "raw profiles" of ImageMagick, ExifTool and others, which are Exif, XMP or IPTC in hexadecimal
 * digits. */
#include "pictures/formats/png_texts.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "pictures/user/text.h"

/* As cli_png_text.bytes. */
#define TOO_LONG (CLI_MOST_METADATA + 1)

/* A text, or a part of one. */
typedef struct piece {
    const uint8_t *at, *end;
} piece;

static size_t left(const piece *p)
{
    return (size_t)(p->end - p->at);
}

/* The bytes up to the next 0, which is passed over; NULL if there is none. */
static const char *take_string(piece *p)
{
    const uint8_t *start = p->at, *zero = memchr(p->at, 0, left(p));
    p->at = zero ? zero + 1 : p->end;
    return zero ? (const char *)start : NULL;
}

/* ---- Compressed texts ---------------------------------------------------------------------------------------- */

/* Makes *p the decompressed text, in text->memory; false if it is damaged or too long, as text->bytes tells. */
static bool decompress(piece *p, cli_png_text *text)
{
    uLongf bytes = 0;
    int status = Z_BUF_ERROR; /* there was too little room */
    for (size_t room = 1 << 15; status == Z_BUF_ERROR && room < 2 * CLI_PNG_MOST_TEXT; room *= 2) {
        uint8_t *more = realloc(text->memory, room);
        if (!more)
            return false;
        text->memory = more;
        bytes = (uLongf)room;
        status = uncompress(text->memory, &bytes, p->at, (uLong)left(p));
    }
    if (status == Z_BUF_ERROR || bytes > CLI_PNG_MOST_TEXT)
        text->bytes = TOO_LONG;
    *p = (piece){text->memory, text->memory + bytes};
    return status == Z_OK && bytes <= CLI_PNG_MOST_TEXT;
}

/* ---- Raw profiles -------------------------------------------------------------------------------------------- */

/* The next hexadecimal digit on this or the next lines; -1 if there is none. */
static int next_digit(piece *p)
{
    while (p->at < p->end && (*p->at == '\n' || *p->at == '\r' || *p->at == ' '))
        p->at++;
    return p->at < p->end ? cli_hexadecimal((char)*p->at++) : -1;
}

/* A line with a name and one with the number of bytes come first. */
static bool take_length(piece *p, size_t *bytes)
{
    const uint8_t *end = left(p) > 1 ? memchr(p->at + 1, '\n', left(p) - 1) : NULL;
    if (!end || *p->at != '\n')
        return false;
    for (p->at = end + 1; p->at < p->end && *p->at == ' ';)
        p->at++;
    for (*bytes = 0; p->at < p->end && *p->at >= '0' && *p->at <= '9' && *bytes < SIZE_MAX / 16; p->at++)
        *bytes = 10 * *bytes + (size_t)(*p->at - '0');
    return p->at < p->end && *p->at == '\n';
}

/* Decodes digits in text->memory or, if the text was not compressed, into new memory. */
static bool decode_digits(piece *p, size_t bytes, cli_png_text *text)
{
    if (!text->memory)
        text->memory = malloc(bytes ? bytes : 1);
    for (size_t i = 0; text->memory && i < bytes; i++) {
        const int high = next_digit(p), low = next_digit(p);
        if (high < 0 || low < 0)
            return false;
        text->memory[i] = (uint8_t)(high << 4 | low);
    }
    *p = (piece){text->memory, text->memory + bytes};
    return text->memory;
}

static void read_profile(piece *p, cli_png_text *text)
{
    static const char xap[] = "http://ns.adobe.com/xap/1.0/"; /* of XMP in a segment of JPEG */
    size_t bytes;
    if (!take_length(p, &bytes))
        return;
    if (bytes > CLI_MOST_METADATA)
        text->bytes = TOO_LONG;
    if (bytes > CLI_MOST_METADATA || left(p) / 2 < bytes || !decode_digits(p, bytes, text))
        return;
    if (left(p) >= sizeof xap && memcmp(p->at, xap, sizeof xap) == 0) {
        text->kind = L2K_CONTENT_XMP;
        p->at += sizeof xap;
    }
    if (text->kind != L2K_CONTENT_IPTC || cli_metadata_find_iptc(&p->at, &p->end) ||
        (left(p) && *p->at == 0x1C)) { /* IPTC without resources around it */
        text->data = p->at;
        text->bytes = left(p);
    }
}

/* ---- Chunks -------------------------------------------------------------------------------------------------- */

static bool kind_of_profile(const char *keyword, l2k_content *kind)
{
    static const struct {
        const char *keyword;
        l2k_content kind;
    } known[] = {{"Raw profile type exif", L2K_CONTENT_EXIF},
                 {"Raw profile type APP1", L2K_CONTENT_EXIF}, /* the segment of JPEG that has Exif or XMP */
                 {"Raw profile type xmp", L2K_CONTENT_XMP},
                 {"Raw profile type iptc", L2K_CONTENT_IPTC}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(keyword, known[i].keyword) == 0) {
            *kind = known[i].kind;
            return true;
        }
    return false;
}

/* iTXt: whether and how it is compressed, language and translated keyword come before the text. */
static bool read_international(piece *p, cli_png_text *text)
{
    text->kind = L2K_CONTENT_XMP;
    if (left(p) < 2)
        return true;
    const bool compressed = p->at[0] == 1;
    p->at += 2;
    if (!take_string(p) || !take_string(p) || (compressed && !decompress(p, text)))
        return true;
    text->data = p->at;
    text->bytes = left(p);
    return true;
}

bool cli_png_text_read(const char *type, const uint8_t *chunk, size_t bytes, cli_png_text *text)
{
    *text = (cli_png_text){0};
    if (bytes == 0) /* there may be no memory either */
        return false;
    piece p = {chunk, chunk + bytes};
    const char *keyword = take_string(&p);
    if (!keyword)
        return false;
    if (memcmp(type, "iTXt", 4) == 0)
        return strcmp(keyword, "XML:com.adobe.xmp") == 0 && read_international(&p, text);
    const bool compressed = memcmp(type, "zTXt", 4) == 0;
    if ((!compressed && memcmp(type, "tEXt", 4) != 0) || !kind_of_profile(keyword, &text->kind))
        return false;
    if (compressed && left(&p))
        p.at++; /* the method: there is only one */
    if (!compressed || decompress(&p, text))
        read_profile(&p, text);
    return true;
}
