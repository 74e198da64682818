/* The files of a dump. They get their names once all are complete, so that a failure or a signal until then leaves the
 * folder unchanged. */
#define _POSIX_C_SOURCE 200809L /* mkdir, strdup */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/dump/dump.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/report.h"

struct cli_dump_file {
    cli_dump_file *before;
    cli_output output;
    char *path; /* owned */
};

bool cli_dump_make_folder(cli_dump *dump)
{
    struct stat facts;
    dump->description_path = cli_join(dump->folder, CLI_DUMP_DESCRIPTION);
    if (!dump->description_path)
        return cli_error(dump->folder, "out of memory");
    if (stat(dump->description_path, &facts) == 0)
        return cli_error(dump->description_path,
                         "the folder has subbands already; remove them, or name another folder");
    cli_interrupt_hold(true);
    dump->folder_made = mkdir(dump->folder, 0777) == 0;
    const int cause = dump->folder_made ? 0 : errno;
    if (dump->folder_made) /* an existing one must not be removed */
        dump->folder_note = cli_interrupt_register(dump->folder);
    cli_interrupt_hold(false);
    if (cause && cause != EEXIST)
        return cli_error(dump->folder, "%s", strerror(cause));
    if (stat(dump->folder, &facts) == 0 && !S_ISDIR(facts.st_mode))
        return cli_error(dump->folder, "%s; a folder is needed for the subbands' files", strerror(ENOTDIR));
    return true;
}

cli_output *cli_dump_open_file(cli_dump *dump, const char *name)
{
    cli_dump_file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = cli_join(dump->folder, name))) {
        cli_error(name, "out of memory");
        free(file);
        return NULL;
    }
    file->before = dump->files;
    dump->files = file;
    return cli_output_open(&file->output, file->path) ? &file->output : NULL;
}

/* A pipe is closed now, since its reader waits for the end. */
bool cli_dump_end_file(cli_output *output)
{
    if (!cli_output_can_seek(output))
        return cli_output_commit(output);
    return cli_output_rest(output) || cli_output_fail(output);
}

/* The description comes last, so that it is always true. */
static bool publish(cli_dump *dump)
{
    for (cli_dump_file *at = dump->files; at; at = at->before)
        if (cli_output_can_seek(&at->output) && !cli_output_commit(&at->output))
            return false;
    return cli_output_commit(&dump->description);
}

static void release(cli_dump *dump, bool keep)
{
    for (cli_dump_file *at = dump->files, *before; at; at = before) {
        before = at->before;
        cli_output_discard(&at->output);
        free(at->path);
        free(at);
    }
    dump->files = NULL;
    cli_output_discard(&dump->description);
    free(dump->description_path);
    if (dump->folder_made && !keep)
        rmdir(dump->folder); /* fails unless it is empty */
    cli_interrupt_forget(dump->folder_note);
}

bool cli_dump_end(cli_dump *dump, bool done)
{
    cli_interrupt_hold(true);
    done = done && publish(dump);
    release(dump, done);
    cli_interrupt_hold(false);
    return done;
}
