/* Numbers and file names as text for people. */
#include "pictures/user/text.h"

#include <stdio.h>
#include <string.h>

const char *cli_bytes_text(uint64_t bytes, char text[CLI_UNITS_ROOM])
{
    return cli_count_text((double)bytes, bytes >= 1000 ? "B" : bytes == 1 ? "byte" : "bytes", text);
}

/* From 1000 on, four digits and a prefix. */
const char *cli_count_text(double count, const char *unit, char text[CLI_UNITS_ROOM])
{
    static const char prefixes[] = "kMGTPE";
    size_t prefix = 0;
    if (count < 1000) {
        snprintf(text, CLI_UNITS_ROOM, "%.0f %s", count, unit);
        return text;
    }
    for (; count >= 999.95 && prefixes[prefix]; prefix++)
        count /= 1000;
    snprintf(text, CLI_UNITS_ROOM, "%.*f %c%s",
             count < 9.9995   ? 3
             : count < 99.995 ? 2
                              : 1,
             count, prefixes[prefix - 1], unit);
    return text;
}

const char *cli_seconds_text(double seconds, char text[CLI_UNITS_ROOM])
{
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (seconds < 99.95)
        snprintf(text, CLI_UNITS_ROOM, "%.*f s", seconds < 9.9995 ? 3 : 1, seconds);
    else if (whole < 3600)
        snprintf(text, CLI_UNITS_ROOM, "%lu min %02lu s", whole / 60, whole % 60);
    else
        snprintf(text, CLI_UNITS_ROOM, "%lu h %02lu min", whole / 3600, whole / 60 % 60);
    return text;
}

const char *cli_digits(const char *at, uint64_t most, uint64_t *value)
{
    *value = 0;
    if (*at < '0' || *at > '9')
        return NULL;
    for (; *at >= '0' && *at <= '9'; at++) {
        *value = *value * 10 + (uint64_t)(*at - '0');
        if (*value > most)
            return NULL;
    }
    return at;
}

int cli_hexadecimal(char digit)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = digit ? strchr(digits, digit) : NULL;
    return at ? (int)((at - digits) % 16) : -1;
}

size_t cli_utf8_bytes(const unsigned char *at)
{
    size_t length = at[0] < 0x80                     ? 1
                    : at[0] >= 0xc2 && at[0] <= 0xdf ? 2
                    : at[0] >= 0xe0 && at[0] <= 0xef ? 3
                    : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                     : 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
        (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

bool cli_utf8_is_c1(const unsigned char *at)
{
    return at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f;
}

/* One '?' replaces a control character or a byte that is no UTF-8: 8-bit terminals interpret some of these as
 * commands. */
void cli_make_printable(char *text)
{
    unsigned char *to = (unsigned char *)text;
    for (const unsigned char *at = to; *at;) {
        size_t length = cli_utf8_bytes(at);
        bool printable = length && *at >= 0x20 && *at != 0x7f && !cli_utf8_is_c1(at);
        for (size_t i = 0; printable && i < length; i++)
            *to++ = at[i];
        if (!printable)
            *to++ = '?';
        at += length ? length : 1;
    }
    *to = 0;
}
