/* How --raw describes samples without a header. */
#ifndef L2K_CLI_OPTIONS_RAW_H
#define L2K_CLI_OPTIONS_RAW_H

#include "pictures/reader.h"

/* "W,H,C,BITS,u|s" and any of ",be" or ",le", ",planar" or ",interleaved"; little-endian and planar where not told. */
bool cli_raw_parse(const char *option, const char *text, cli_raw *raw);

/* The words of the second part alone. */
bool cli_raw_parse_order(const char *option, const char *text, bool *big_endian, bool *interleaved);

#endif
