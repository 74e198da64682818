/* PGX: a text line "PG ML|LM [+|-]precision width height", then one component's samples, 1, 2 or 4 bytes each. */
#include "cli/formats.h"

#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

#define MAX_HEADER    128u
#define MAX_PRECISION 31u

typedef struct pgx_header {
    bool little_endian;
    bool is_signed;
    uint32_t precision, width, height;
} pgx_header;

static bool read_line(cli_input *input, char *line)
{
    for (size_t length = 0; length < MAX_HEADER; length++) {
        int c = cli_input_byte(input);
        if (c == EOF)
            return cli_input_ended(input);
        line[length] = c == '\n' ? 0 : (char)c;
        if (c == '\n')
            return true;
    }
    return cli_error(input->name, "bad PGX header");
}

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

/* NULL where there is no number or it exceeds 32 bits. */
static const char *parse_number(const char *at, uint32_t *value)
{
    uint64_t number = 0;
    if (!at || *at < '0' || *at > '9')
        return NULL;
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
        if (number > UINT32_MAX)
            return NULL;
    }
    *value = (uint32_t)number;
    return skip_space(at);
}

static bool parse_header(const char *line, pgx_header *header)
{
    const char *at = skip_space(line + 2); /* after "PG" */
    if (strncmp(at, "ML", 2) != 0 && strncmp(at, "LM", 2) != 0)
        return false;
    header->little_endian = *at == 'L';
    at = skip_space(at + 2);
    header->is_signed = *at == '-';
    if (*at == '-' || *at == '+')
        at = skip_space(at + 1);
    at = parse_number(at, &header->precision);
    at = parse_number(at, &header->width);
    at = parse_number(at, &header->height);
    return at && !*at;
}

static uint32_t assemble(const uint8_t *bytes, uint32_t count, bool little_endian)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value = value << 8 | bytes[little_endian ? count - 1 - i : i];
    return value;
}

/* The two's complement value of the lowest 8 * count bits. */
static int64_t extend(uint32_t value, uint32_t count)
{
    int64_t range = (int64_t)1 << (8 * count);
    return (int64_t)value >= range / 2 ? (int64_t)value - range : (int64_t)value;
}

static void store(void *data, size_t index, l2k_sample_type type, int64_t value)
{
    if (type == L2K_SAMPLE_U8 || type == L2K_SAMPLE_S8)
        ((uint8_t *)data)[index] = (uint8_t)value;
    else if (type == L2K_SAMPLE_S32)
        ((int32_t *)data)[index] = (int32_t)value;
    else
        ((uint16_t *)data)[index] = (uint16_t)value;
}

/* Turns the bytes of the file into native samples in place: a file sample takes as many bytes as one in memory. */
static bool convert(const cli_input *input, const pgx_header *header, const l2k_plane *plane, size_t samples)
{
    const uint32_t count = cli_sample_bytes(header->precision);
    const int64_t range = (int64_t)1 << header->precision;
    const int64_t least = header->is_signed ? -range / 2 : 0, most = least + range - 1;
    const uint8_t *bytes = plane->data;
    for (size_t i = 0; i < samples; i++) {
        uint32_t raw = assemble(bytes + i * count, count, header->little_endian);
        int64_t value = header->is_signed ? extend(raw, count) : (int64_t)raw;
        if (value < least || value > most)
            return cli_error(input->name, "a sample of %lld does not fit %u bits", (long long)value, header->precision);
        store(plane->data, i, plane->type, value);
    }
    return true;
}

bool cli_pgx_read(cli_input *input, cli_picture *picture)
{
    char line[MAX_HEADER];
    pgx_header header;
    if (!read_line(input, line))
        return false;
    if (strncmp(line, "PG", 2) != 0 || !parse_header(line, &header))
        return cli_error(input->name, "bad PGX header");
    if (!header.precision || header.precision > MAX_PRECISION || !header.width || !header.height)
        return cli_error(input->name, "PGX: %u x %u with %u bits is not supported", header.width, header.height,
                         header.precision);
    if (!cli_picture_create(picture, 1, input->name))
        return false;
    cli_picture_uniform(picture, header.width, header.height, header.precision, false);
    picture->components->is_signed = header.is_signed;
    uint64_t samples;
    if (!cli_picture_count(picture, &samples, input->name))
        return false;
    const size_t bytes = (size_t)samples * cli_sample_bytes(header.precision);
    if (!cli_input_holds(input, bytes) || !cli_picture_allocate(picture, CLI_PLANAR, input->name))
        return false;
    return cli_input_exact(input, picture->planes->data, bytes) &&
           convert(input, &header, picture->planes, (size_t)samples);
}
