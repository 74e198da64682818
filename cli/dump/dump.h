/* The parts of `lift2k dump`. */
#ifndef L2K_CLI_DUMP_DUMP_H
#define L2K_CLI_DUMP_DUMP_H

#include "cli/coefficients/coefficients.h"
#include "cli/run/json.h"
#include "pictures/words.h"

#define CLI_DUMP_DESCRIPTION "subbands.json"

enum { CLI_DUMP_NAME = 64 };

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

/* Creates the folder if it does not exist; one with a description of that name is refused. Sets description_path. Like
 * the functions below, false after a report. */
bool cli_dump_make_folder(cli_dump *dump, const char *description);

/* Opens a file in it; NULL after a report. The file belongs to the dump. After writing it, call cli_dump_end_file,
 * which closes an existing pipe or device. */
cli_output *cli_dump_open_file(cli_dump *dump, const char *name);
bool cli_dump_end_file(cli_output *output);

/* The values of a subband, of 32 bits each, and how they are written without a header. */
static inline l2k_plane cli_dump_plane(const l2k_coefficients *view, uint32_t band)
{
    const size_t first = (size_t)view->bands[band].y * view->stride + view->bands[band].x;
    return (l2k_plane){(int32_t *)view->base + first, (ptrdiff_t)(view->stride * 4), 4, L2K_SAMPLE_S32};
}

static const cli_words cli_dump_words = {.precision = 32, .is_signed = true};

/* If `done`, gives all files and the description their names; else removes them and the folder. Returns whether the
 * dump exists. */
bool cli_dump_end(cli_dump *dump, bool done);

/* A description's array of components. */
void cli_dump_put_components(cli_json *json, const l2k_component *components, uint32_t count);

#endif
