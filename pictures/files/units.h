/* Numbers as people read them: with a unit, and no more digits than they look at. */
#ifndef L2K_PICTURES_FILES_UNITS_H
#define L2K_PICTURES_FILES_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Room for what the functions below write. */
#define CLI_UNITS_ROOM 32u

/* "999 bytes", "35.97 kB", "1.234 GB": steps of 1000. Returns `text`. */
const char *cli_bytes_text(uint64_t bytes, char text[CLI_UNITS_ROOM]);

/* "512 samples", "35.97 Msamples" for the unit "samples". Returns `text`. */
const char *cli_count_text(double count, const char *unit, char text[CLI_UNITS_ROOM]);

/* "0.034 s", "12.3 s", "3 min 04 s", "2 h 07 min". Returns `text`. */
const char *cli_seconds_text(double seconds, char text[CLI_UNITS_ROOM]);

/* Seconds of a clock that only goes forward. */
double cli_now(void);

#endif
