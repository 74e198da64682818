/* The parts of `lift2k dump`. */
#ifndef L2K_CLI_COEFFICIENTS_DUMP_PARTS_H
#define L2K_CLI_COEFFICIENTS_DUMP_PARTS_H

#include "cli/coefficients/coefficients.h"
#include "cli/info/json.h"
#include "pictures/files/file.h"

#define CLI_DUMP_DESCRIPTION "subbands.json"

enum { CLI_DUMP_NAME = 64, CLI_DUMP_PATH = 4096 };

typedef enum cli_dump_format { CLI_DUMP_PGX = 0, CLI_DUMP_RAW } cli_dump_format;

typedef struct cli_dump_file cli_dump_file;

typedef struct cli_dump {
    cli_coefficients source;
    const char *folder;
    bool folder_made;
    void *folder_note; /* for signals, where it was made */
    cli_dump_file *files;
    cli_dump_format format;
    cli_output description;
    char description_path[CLI_DUMP_PATH];
    cli_json json;
    uint64_t num_files;
} cli_dump;

/* `name` in the folder. */
bool cli_dump_path(const cli_dump *dump, const char *name, char *path, size_t room);

/* The folder, if it is not there. Like what follows, false after a report. */
bool cli_dump_make_folder(cli_dump *dump);

/* Opens the file of a name in it, or reports why not and gives NULL. The file is the dump's, and is written before
 * cli_dump_end_file; a pipe or device that somebody has put there is closed then. */
cli_output *cli_dump_open_file(cli_dump *dump, const char *name);
bool cli_dump_end_file(cli_output *output);

/* Where `done`, gives all files and the description their names; else nothing is left of them, nor of the folder, and
 * an earlier dump is as it was. Where a name cannot be given after others were, which were tried when their files were
 * opened, an earlier dump is left without its description. Returns whether the dump is there. */
bool cli_dump_end(cli_dump *dump, bool done);

/* Signed bits of a subband's coefficients in PGX. */
uint32_t cli_dump_bits(const l2k_tile_coefficients *k, uint32_t band);

bool cli_dump_write_band(const cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, cli_output *output);

/* The description grows while subbands are written. */
bool cli_dump_begin_description(cli_dump *dump);
void cli_dump_describe_band(cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, const char *name);
bool cli_dump_end_description(cli_dump *dump);

#endif
