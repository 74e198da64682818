/* Inserts a marker segment into a bare codestream, to test what the decoder refuses:
 *
 *     make_stream IN OUT main|tile MARKER [PARAMETERS]     marker and parameters in hexadecimal
 *     make_stream IN OUT patch OFFSET BYTES                overwrites bytes
 *
 * "main" inserts it after SIZ, "tile" before the first SOD, whose tile-part grows accordingly. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 22, MOST_PARAMETERS = 4096 };

static uint8_t data[MOST + MOST_PARAMETERS];
static size_t size;

static int fail(const char *what)
{
    fprintf(stderr, "make_stream: %s\n", what);
    return 2;
}

static uint32_t get(size_t at, unsigned bytes)
{
    uint32_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | data[at++];
    return value;
}

static void put(size_t at, uint32_t value, unsigned bytes)
{
    while (bytes-- > 0)
        data[at++] = (uint8_t)(value >> 8 * bytes);
}

static size_t parse_hex(const char *text, uint8_t *bytes)
{
    size_t count = 0;
    unsigned value;
    for (; text[0] && text[1] && count < MOST_PARAMETERS && sscanf(text, "%2x", &value) == 1; text += 2)
        bytes[count++] = (uint8_t)value;
    return *text ? 0 : count;
}

/* The end of the marker segments of the main header, or of the first tile-part header. */
static size_t end_of_header(size_t at, uint32_t end_marker)
{
    while (at + 4 <= size && get(at, 2) != end_marker)
        at += 2 + get(at + 2, 2);
    return at + 2 <= size ? at : 0;
}

static int insert(int in_tile, uint32_t marker, const uint8_t *parameters, size_t count)
{
    size_t at = 4 + get(4, 2), grown = 4 + count;
    if (get(0, 4) != 0xFF4FFF51)
        return fail("the input does not start with SOC and SIZ");
    if (in_tile) {
        size_t sot = end_of_header(at, 0xFF90);
        at = sot ? end_of_header(sot + 12, 0xFF93) : 0;
        if (!at)
            return fail("no tile-part found");
        if (get(sot + 6, 4))
            put(sot + 6, get(sot + 6, 4) + (uint32_t)grown, 4);
    }
    memmove(data + at + grown, data + at, size - at);
    put(at, marker, 2);
    put(at + 2, (uint32_t)count + 2, 2);
    memcpy(data + at + 4, parameters, count);
    size += grown;
    return 0;
}

static int patch(unsigned long offset, const uint8_t *bytes, size_t count)
{
    if (count == 0 || offset + count > size)
        return fail("nothing to overwrite there");
    memcpy(data + offset, bytes, count);
    return 0;
}

static int change(int count, char **arguments)
{
    uint8_t bytes[MOST_PARAMETERS];
    size_t given = count > 5 ? parse_hex(arguments[5], bytes) : 0;
    if (strcmp(arguments[3], "patch") == 0)
        return patch(strtoul(arguments[4], NULL, 0), bytes, given);
    if (strcmp(arguments[3], "main") == 0 || strcmp(arguments[3], "tile") == 0)
        return insert(arguments[3][0] == 't', (uint32_t)strtoul(arguments[4], NULL, 16), bytes, given);
    return fail("main, tile or patch?");
}

int main(int count, char **arguments)
{
    if (count < 5)
        return fail("IN OUT main|tile|patch ...");
    FILE *in = fopen(arguments[1], "rb");
    if (!in)
        return fail("the input cannot be opened");
    size = fread(data, 1, MOST, in);
    fclose(in);
    int status = size > 8 ? change(count, arguments) : fail("the input is too short");
    if (status)
        return status;
    FILE *out = fopen(arguments[2], "wb");
    if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0)
        return fail("the output cannot be written");
    return 0;
}
