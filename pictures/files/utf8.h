/* UTF-8 in what others wrote: file names, comments. */
#ifndef L2K_PICTURES_FILES_UTF8_H
#define L2K_PICTURES_FILES_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed character at `at` (Unicode, table 3-7), 0 where there is none. The text ends with a 0. */
size_t cli_utf8_bytes(const unsigned char *at);

/* Is it one of the control characters U+0080 to U+009F, which some terminals obey? */
bool cli_utf8_is_c1(const unsigned char *at);

#endif
