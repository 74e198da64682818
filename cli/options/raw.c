#include "cli/options/raw.h"

#include <string.h>

#include "cli/options/options.h"

#define MOST_BITS 24u /* of the encoder */

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

/* False where a word is none of the four. */
static bool parse_words(const char *text, bool *big_endian, bool *interleaved)
{
    while (true) {
        const size_t length = strcspn(text, ",");
        if (is_word(text, length, "be") || is_word(text, length, "le"))
            *big_endian = *text == 'b';
        else if (is_word(text, length, "planar") || is_word(text, length, "interleaved"))
            *interleaved = *text == 'i';
        else
            return false;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

bool cli_raw_parse_order(const char *option, const char *text, bool *big_endian, bool *interleaved)
{
    return parse_words(text, big_endian, interleaved) ||
           cli_bad_value(option, text, "not a list of be or le, planar or interleaved");
}

/* A number of at most 32 bits and the comma behind it; NULL where there is none. */
static const char *parse_number(const char *at, uint32_t *value)
{
    uint64_t number = 0;
    if (!at || *at < '0' || *at > '9')
        return NULL;
    for (; *at >= '0' && *at <= '9' && number <= UINT32_MAX; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    *value = (uint32_t)number;
    return number <= UINT32_MAX && *at == ',' ? at + 1 : NULL;
}

bool cli_raw_parse(const char *option, const char *text, cli_raw *raw)
{
    const char *at = text;
    memset(raw, 0, sizeof *raw);
    at = parse_number(at, &raw->width);
    at = parse_number(at, &raw->height);
    at = parse_number(at, &raw->count);
    at = parse_number(at, &raw->precision);
    if (!at || (*at != 'u' && *at != 's') || (at[1] && at[1] != ',') ||
        (at[1] && !parse_words(at + 2, &raw->big_endian, &raw->interleaved)))
        return cli_bad_value(option, text, "not of the form W,H,C,BITS,u|s[,be|le][,planar|interleaved]");
    raw->is_signed = *at == 's';
    if (!raw->width || !raw->height || !raw->count || raw->count > L2K_MAX_COMPONENTS)
        return cli_bad_value(option, text, "a picture must be at least 1,1 and have 1 to 16384 components");
    if (!raw->precision || raw->precision > MOST_BITS)
        return cli_bad_value(option, text, "samples can have 1 to 24 bits");
    return true;
}
