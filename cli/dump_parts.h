/* The parts of `lift2k dump`. */
#ifndef L2K_CLI_DUMP_PARTS_H
#define L2K_CLI_DUMP_PARTS_H

#include "cli/coefficients.h"
#include "cli/json.h"
#include "pictures/file.h"

#define CLI_DUMP_DESCRIPTION "subbands.json"

enum { CLI_DUMP_NAME = 64, CLI_DUMP_PATH = 4096 };

typedef enum cli_dump_format { CLI_DUMP_PGX = 0, CLI_DUMP_RAW } cli_dump_format;

typedef struct cli_dump_made cli_dump_made;

typedef struct cli_dump {
    cli_coefficients source;
    const char *folder;
    cli_dump_made *made; /* the folder, where it was not there before, and files */
    cli_dump_format format;
    cli_output description;
    char description_path[CLI_DUMP_PATH];
    cli_json json;
    uint64_t num_files;
} cli_dump;

/* `name` in the folder. */
bool cli_dump_path(const cli_dump *dump, const char *name, char *path, size_t room);

/* Signed bits of a subband's coefficients in PGX. */
uint32_t cli_dump_bits(const l2k_tile_coefficients *k, uint32_t band);

bool cli_dump_write_band(const cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, const char *path);

/* A file that is complete, or the folder: to be removed by a signal, and by the next one unless `keep`. */
bool cli_dump_remember(cli_dump *dump, const char *path);
void cli_dump_release(cli_dump *dump, bool keep);

/* The description grows while subbands are written, and appears when all are there. */
bool cli_dump_begin_description(cli_dump *dump);
void cli_dump_describe_band(cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, const char *name);

/* Puts it in its place where `done`; else nothing is left of it. */
bool cli_dump_end_description(cli_dump *dump, bool done);

#endif
