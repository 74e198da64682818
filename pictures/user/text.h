/* Text for people: numbers with units and few digits, and the characters of foreign text that can be printed. */
#ifndef L2K_PICTURES_USER_TEXT_H
#define L2K_PICTURES_USER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for the text of the next three functions. */
#define CLI_UNITS_ROOM 32u

/* "999 bytes", "35.97 kB", "1.234 GB": powers of 1000. Returns `text`. */
const char *cli_bytes_text(uint64_t bytes, char text[CLI_UNITS_ROOM]);

/* "512 samples", "35.97 Msamples" for the unit "samples". Returns `text`. */
const char *cli_count_text(double count, const char *unit, char text[CLI_UNITS_ROOM]);

/* "0.034 s", "12.3 s", "3 min 04 s", "2 h 07 min". Returns `text`. */
const char *cli_seconds_text(double seconds, char text[CLI_UNITS_ROOM]);

/* Digits only: no sign, no space, no other base, unlike strtoull. Returns their end, or NULL without any, or if the
 * number exceeds `most`. */
const char *cli_digits(const char *at, uint64_t most, uint64_t *value);

/* The value of a hexadecimal digit, -1 of another character. */
int cli_hexadecimal(char digit);

/* The number of bytes of the well-formed UTF-8 character at `at` (Unicode, table 3-7), 0 where there is none. The text
 * ends with a 0. */
size_t cli_utf8_bytes(const unsigned char *at);

/* Is it one of the control characters U+0080 to U+009F, which some terminals interpret? */
bool cli_utf8_is_c1(const unsigned char *at);

/* File names may contain any byte. A control character would break the line or move the cursor, so each becomes '?', as
 * does each byte that is no UTF-8; the text does not grow. */
void cli_make_printable(char *text);

#endif
