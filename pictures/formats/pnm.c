/* PNM and PAM: reads P1 to P7, writes P4 to P7. */
#include "pictures/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/user/report.h"
#include "pictures/user/text.h"
#include "pictures/writer.h"

/* ---- Headers, and the ASCII numbers of P1 to P3 -------------------------------------------------------------- */

#define MAX_LINE 256u

/* The most comments and space before one number, or lines of a PAM header: without it a file of nothing else would be
 * read to its end in search of a size. */
#define MAX_FILLING ((size_t)1 << 20)
#define TOO_MUCH    (EOF - 1)

typedef struct pnm_header {
    uint32_t width, height, depth, maxval; /* checked: at least 1, depth at most 16384, maxval at most 65535 */
    bool ascii;                            /* P1, P2, P3 */
    bool bitmap;                           /* P1, P4: 1 is black */
    bool packed;                           /* P4 */
    bool opacity;                          /* the last component is opacity */
    l2k_colour colour;
} pnm_header;

static bool is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool bad_header(const cli_input *input, int c)
{
    if (c == TOO_MUCH)
        return cli_error(input->name, "more than 1 MiB of comments and space before a number");
    return c == EOF ? cli_input_ended(input) : cli_error(input->name, "bad PNM header or sample");
}

/* The next byte, EOF, or TOO_MUCH when none is `left`. */
static int next_of(cli_input *input, size_t *left)
{
    if (!*left)
        return TOO_MUCH;
    --*left;
    return cli_input_byte(input);
}

/* Returns the line end that closes a comment, or else what next_of returned. */
static int skip_line(cli_input *input, size_t *left)
{
    int c;
    do
        c = next_of(input, left);
    while (c != '\n' && c >= 0);
    return c;
}

/* The first character that is neither space nor part of a comment. */
static int skip_space(cli_input *input)
{
    size_t left = MAX_FILLING;
    int c = next_of(input, &left);
    while (is_space(c) || c == '#')
        c = c == '#' ? skip_line(input, &left) : next_of(input, &left);
    return c;
}

/* A decimal number and the one character that ends it; the raster of P4 to P6 begins right after that one. */
static bool read_number(cli_input *input, uint32_t *value)
{
    size_t left = MAX_FILLING;
    uint64_t number = 0;
    int c = skip_space(input);
    if (c < '0' || c > '9')
        return bad_header(input, c);
    for (; c >= '0' && c <= '9'; c = cli_input_byte(input)) {
        number = number * 10 + (uint64_t)(c - '0');
        if (number > UINT32_MAX)
            return cli_error(input->name, "a number in the file exceeds 2^32 - 1");
    }
    *value = (uint32_t)number;
    if (c == '#') /* a comment that directly follows the number ends with the line */
        c = skip_line(input, &left);
    return c == EOF || is_space(c) || bad_header(input, c);
}

static bool read_bit(cli_input *input, uint32_t *value)
{
    int c = skip_space(input);
    if (c != '0' && c != '1')
        return bad_header(input, c);
    *value = (uint32_t)(c - '0');
    return true;
}

static bool read_classic(cli_input *input, pnm_header *header, char kind)
{
    header->ascii = kind <= '3';
    header->bitmap = kind == '1' || kind == '4';
    header->packed = kind == '4';
    header->depth = kind == '3' || kind == '6' ? 3 : 1;
    header->maxval = 1;
    header->colour = header->depth == 3 ? L2K_COLOUR_SRGB : L2K_COLOUR_GRAY;
    return read_number(input, &header->width) && read_number(input, &header->height) &&
           (header->bitmap || read_number(input, &header->maxval));
}

/* Reads one line without its end. A line longer than MAX_LINE is an error, except a comment, which comes back empty. */
static bool read_line(cli_input *input, char *line, size_t *left)
{
    size_t length = 0;
    bool comment = false;
    int c = next_of(input, left);
    for (; c != '\n' && c >= 0; c = next_of(input, left)) {
        comment = comment || (length == 0 && c == '#');
        if (comment || c == '\r')
            continue;
        if (length == MAX_LINE - 1)
            return cli_error(input->name, "a line of the PAM header is too long");
        line[length++] = (char)c;
    }
    line[length] = 0;
    if (c == TOO_MUCH)
        return cli_error(input->name, "the PAM header does not end within 1 MiB");
    return c != EOF || cli_input_ended(input);
}

/* Returns the value of "KEY value" with any space between; NULL where the line has another key. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0 || !is_space((unsigned char)line[length]))
        return NULL;
    for (line += length; is_space((unsigned char)*line); line++)
        continue;
    return line;
}

static bool parse_value(const cli_input *input, const char *text, uint32_t *value)
{
    uint64_t number;
    const char *at = cli_digits(text, UINT32_MAX, &number);
    while (at && is_space((unsigned char)*at))
        at++;
    *value = (uint32_t)number;
    return (at && !*at) || cli_error(input->name, "bad number '%s' in the PAM header", text);
}

static const struct tuple_type {
    const char *name;
    uint32_t depth;
    l2k_colour colour;
    bool opacity;
} tuple_types[] = {{"GRAYSCALE", 1, L2K_COLOUR_GRAY, false},     {"GRAYSCALE_ALPHA", 2, L2K_COLOUR_GRAY, true},
                   {"RGB", 3, L2K_COLOUR_SRGB, false},           {"RGB_ALPHA", 4, L2K_COLOUR_SRGB, true},
                   {"CMYK", 4, L2K_COLOUR_CMYK, false},          {"CMYK_ALPHA", 5, L2K_COLOUR_CMYK, true},
                   {"BLACKANDWHITE", 1, L2K_COLOUR_GRAY, false}, {"BLACKANDWHITE_ALPHA", 2, L2K_COLOUR_GRAY, true}};

enum { NUM_TUPLE_TYPES = sizeof tuple_types / sizeof *tuple_types };

/* Types that are not listed, or that do not match the depth, leave the components without a meaning. */
static void apply_tuple_type(pnm_header *header, char *type)
{
    size_t length = strlen(type);
    while (length && is_space((unsigned char)type[length - 1]))
        type[--length] = 0;
    for (const struct tuple_type *t = tuple_types; t < tuple_types + NUM_TUPLE_TYPES; t++)
        if (strcmp(type, t->name) == 0 && header->depth == t->depth) {
            header->colour = t->colour;
            header->opacity = t->opacity;
        }
}

static bool read_pam(cli_input *input, pnm_header *header)
{
    const char *const keys[] = {"WIDTH", "HEIGHT", "DEPTH", "MAXVAL"};
    uint32_t *const values[] = {&header->width, &header->height, &header->depth, &header->maxval};
    char line[MAX_LINE], type[MAX_LINE] = "";
    size_t left = MAX_FILLING;
    while (true) {
        const char *value;
        if (!read_line(input, line, &left))
            return false;
        if (strncmp(line, "ENDHDR", 6) == 0)
            break;
        for (int i = 0; i < 4; i++)
            if ((value = value_of(line, keys[i])) && !parse_value(input, value, values[i]))
                return false;
        if ((value = value_of(line, "TUPLTYPE")))
            memmove(type, value, strlen(value) + 1);
    }
    apply_tuple_type(header, type);
    return true;
}

/* Up to the first byte of the raster. */
static bool read_header(cli_input *input, pnm_header *header)
{
    char magic[2];
    if (!cli_input_exact(input, magic, 2))
        return false;
    if (!(magic[1] == '7' ? read_pam(input, header) : read_classic(input, header, magic[1])))
        return false;
    if (!header->width || !header->height || !header->depth || !header->maxval)
        return cli_error(input->name, "in the header a size or the maximum is missing or 0");
    if (header->maxval > 65535)
        return cli_error(input->name, "a maximum of %u; at most 65535 is possible", header->maxval);
    if (header->depth > L2K_MAX_COMPONENTS)
        return cli_error(input->name, "%u components; at most %u are possible", header->depth, L2K_MAX_COMPONENTS);
    return true;
}

/* ---- Reading ---- */

/* ASCII samples. In P1 digits need no space between them, and 1 is black. */
static bool read_ascii(cli_input *input, const pnm_header *header, const l2k_plane *plane, size_t samples)
{
    for (size_t i = 0; i < samples; i++) {
        uint32_t value;
        if (!(header->bitmap ? read_bit(input, &value) : read_number(input, &value)))
            return false;
        if (value > header->maxval)
            return cli_error(input->name, "a sample of %u exceeds the maximum of %u", value, header->maxval);
        cli_store_sample((char *)plane->data + i * (header->maxval > 255 ? 2 : 1), plane->type,
                         header->bitmap ? 1 - value : value);
    }
    return true;
}

/* P4: eight pixels a byte, rows padded to bytes, 1 is black. */
static bool read_packed(cli_input *input, const pnm_header *header, const l2k_plane *plane, uint32_t rows)
{
    size_t packed_bytes = ((size_t)header->width + 7) / 8;
    uint8_t *packed = malloc(packed_bytes);
    bool done = packed || cli_error(input->name, "out of memory");
    for (uint32_t y = 0; done && y < rows; y++) {
        uint8_t *row = (uint8_t *)plane->data + (ptrdiff_t)y * plane->row_stride;
        done = cli_input_exact(input, packed, packed_bytes);
        for (uint32_t x = 0; done && x < header->width; x++)
            row[x] = !(packed[x / 8] >> (7 - x % 8) & 1);
    }
    free(packed);
    return done;
}

/* Two bytes a sample, high byte first, are converted to native order in place. */
static bool read_binary(cli_input *input, const pnm_header *header, const l2k_plane *plane, size_t samples)
{
    const bool wide = header->maxval > 255;
    const uint8_t *bytes = plane->data;
    uint16_t *words = plane->data;
    if (!cli_input_exact(input, plane->data, wide ? 2 * samples : samples))
        return false;
    for (size_t i = 0; header->maxval != 255 && i < samples; i++) {
        const uint32_t value = wide ? (uint32_t)bytes[2 * i] << 8 | bytes[2 * i + 1] : bytes[i];
        if (value > header->maxval)
            return cli_error(input->name, "a sample of %u exceeds the maximum of %u", value, header->maxval);
        if (wide)
            words[i] = (uint16_t)value;
    }
    return true;
}

/* The fewest bytes that the raster can occupy: 2 characters for an ASCII sample, 1 in P1. */
static uint64_t least_bytes(const pnm_header *header, uint64_t samples)
{
    if (header->packed)
        return samples / 8;
    if (header->ascii)
        return header->bitmap ? samples : 2 * samples - 1;
    return header->maxval > 255 ? 2 * samples : samples;
}

static bool open_reader(cli_reader *reader)
{
    cli_input *input = &reader->input;
    cli_picture *picture = &reader->picture;
    pnm_header *header = reader->state;
    uint32_t bits = 1;
    reader->layout = CLI_INTERLEAVED;
    if (!read_header(input, header) || !cli_picture_create(picture, header->depth, reader->name))
        return false;
    while (header->maxval >> bits)
        bits++;
    cli_picture_uniform(picture, header->width, header->height, bits, header->opacity);
    picture->image.colour = header->colour;
    return cli_picture_allowed(picture, reader->name) &&
           cli_input_holds(input, least_bytes(header, cli_picture_samples(picture)));
}

static bool read_raster(cli_reader *reader)
{
    cli_input *input = &reader->input;
    const pnm_header *header = reader->state;
    const l2k_plane *plane = reader->picture.planes;
    const uint32_t rows = reader->picture.rows->count;
    const size_t samples = (size_t)header->width * rows * header->depth;
    if (header->ascii)
        return read_ascii(input, header, plane, samples);
    return header->packed ? read_packed(input, header, plane, rows) : read_binary(input, header, plane, samples);
}

const cli_reader_kind cli_pnm_reader = {open_reader, read_raster, NULL, sizeof(pnm_header)};

/* ---- Writing ---- */

/* The line of a PAM header, or "". */
static const char *tuple_line(const cli_view *view, char line[MAX_LINE])
{
    *line = 0;
    for (const struct tuple_type *t = tuple_types; t < tuple_types + NUM_TUPLE_TYPES && !*line; t++)
        if (view->num_channels == t->depth && view->num_channels - view->colours == t->opacity &&
            (t->colour != L2K_COLOUR_CMYK || view->image->colour == L2K_COLOUR_CMYK))
            snprintf(line, MAX_LINE, "TUPLTYPE %s\n", t->name);
    return line;
}

static bool open_writer(cli_writer *writer)
{
    char header[2 * MAX_LINE], line[MAX_LINE];
    const cli_view *view = writer->view;
    const uint32_t maxval = ((uint32_t)1 << view->depth) - 1, width = view->width, height = view->height;
    int length;
    if (writer->format == CLI_FORMAT_PAM)
        length = snprintf(header, sizeof header, "P7\nWIDTH %u\nHEIGHT %u\nDEPTH %u\nMAXVAL %u\n%sENDHDR\n", width,
                          height, view->count, maxval, tuple_line(view, line));
    else if (writer->format == CLI_FORMAT_PBM)
        length = snprintf(header, sizeof header, "P4\n%u %u\n", width, height);
    else
        length = snprintf(header, sizeof header, "P%c\n%u %u\n%u\n", writer->format == CLI_FORMAT_PGM ? '5' : '6',
                          width, height, maxval);
    return cli_output_write(&writer->output, header, (size_t)length);
}

/* Packs eight pixels into a byte, in place; in PBM, 1 is black. */
static size_t pack_bits(uint8_t *row, uint32_t width)
{
    size_t bytes = 0;
    for (uint32_t x = 0; x < width; x += 8) {
        uint32_t packed = 0;
        for (uint32_t bit = 0; bit < 8 && x + bit < width; bit++)
            packed |= (uint32_t)!row[x + bit] << (7 - bit);
        row[bytes++] = (uint8_t)packed;
    }
    return bytes;
}

static bool write_row(cli_writer *writer, uint8_t *row)
{
    const bool packs = writer->format == CLI_FORMAT_PBM;
    return cli_output_write(&writer->output, row,
                            packs ? pack_bits(row, writer->view->width) : cli_view_row_bytes(writer->view));
}

const cli_writer_kind cli_pnm_writer = {.open = open_writer, .write_row = write_row};
