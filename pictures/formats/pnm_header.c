/* The headers of PNM and PAM files, and the ASCII numbers of P1 to P3. */
#include "pictures/formats/pnm.h"

#include <string.h>

#include "pictures/user/report.h"
#include "pictures/user/text.h"

#define MAX_LINE 256u

/* The most comments and space before one number, or lines of a PAM header: without it a file of nothing else would be
 * read to its end in search of a size. */
#define MAX_FILLING ((size_t)1 << 20)
#define TOO_MUCH    (EOF - 1)

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
bool cli_pnm_number(cli_input *input, uint32_t *value)
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

bool cli_pnm_bit(cli_input *input, uint32_t *value)
{
    int c = skip_space(input);
    if (c != '0' && c != '1')
        return bad_header(input, c);
    *value = (uint32_t)(c - '0');
    return true;
}

static bool read_classic(cli_input *input, cli_pnm_header *header, char kind)
{
    header->ascii = kind <= '3';
    header->bitmap = kind == '1' || kind == '4';
    header->packed = kind == '4';
    header->depth = kind == '3' || kind == '6' ? 3 : 1;
    header->maxval = 1;
    header->colour = header->depth == 3 ? L2K_COLOUR_SRGB : L2K_COLOUR_GRAY;
    return cli_pnm_number(input, &header->width) && cli_pnm_number(input, &header->height) &&
           (header->bitmap || cli_pnm_number(input, &header->maxval));
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

/* Types that are not listed, or that do not match the depth, leave the components without a meaning. */
static void apply_tuple_type(cli_pnm_header *header, char *type)
{
    static const struct {
        const char *name;
        uint32_t depth;
        l2k_colour colour;
        bool opacity;
    } types[] = {{"BLACKANDWHITE", 1, L2K_COLOUR_GRAY, false}, {"BLACKANDWHITE_ALPHA", 2, L2K_COLOUR_GRAY, true},
                 {"GRAYSCALE", 1, L2K_COLOUR_GRAY, false},     {"GRAYSCALE_ALPHA", 2, L2K_COLOUR_GRAY, true},
                 {"RGB", 3, L2K_COLOUR_SRGB, false},           {"RGB_ALPHA", 4, L2K_COLOUR_SRGB, true},
                 {"CMYK", 4, L2K_COLOUR_CMYK, false},          {"CMYK_ALPHA", 5, L2K_COLOUR_CMYK, true}};
    size_t length = strlen(type);
    while (length && is_space((unsigned char)type[length - 1]))
        type[--length] = 0;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(type, types[i].name) == 0 && header->depth == types[i].depth) {
            header->colour = types[i].colour;
            header->opacity = types[i].opacity;
        }
    }
}

static bool read_pam(cli_input *input, cli_pnm_header *header)
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

bool cli_pnm_read_header(cli_input *input, cli_pnm_header *header)
{
    char magic[2];
    memset(header, 0, sizeof *header);
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
