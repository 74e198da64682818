/* The parts of `lift2k dump`. */
#ifndef L2K_CLI_DUMP_DUMP_H
#define L2K_CLI_DUMP_DUMP_H

#include "cli/coefficients/coefficients.h"
#include "cli/run/json.h"

#define CLI_DUMP_DESCRIPTION "subbands.json"

typedef struct cli_dump_file cli_dump_file;

typedef struct cli_dump {
    cli_coefficients input;
    const char *folder;
    bool folder_made;
    void *folder_note; /* for signals, if it was made */
    cli_dump_file *files;
    cli_dump_format format;
    cli_output description;
    char *description_path; /* owned */
    cli_json json;
    uint64_t num_files;
} cli_dump;

/* Creates the folder if it does not exist; one with a description is refused. Sets description_path. Like the functions
 * below, false after a report. */
bool cli_dump_make_folder(cli_dump *dump);

/* Opens a file in it; NULL after a report. The file belongs to the dump. After writing it, call cli_dump_end_file,
 * which closes an existing pipe or device. */
cli_output *cli_dump_open_file(cli_dump *dump, const char *name);
bool cli_dump_end_file(cli_output *output);

/* If `done`, gives all files and the description their names; else removes them and the folder. Returns whether the
 * dump exists. */
bool cli_dump_end(cli_dump *dump, bool done);

#endif
