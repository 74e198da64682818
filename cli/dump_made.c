/* What a dump has made so far: where it fails, or a signal ends it, nothing of that stays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dump_parts.h"
#include "pictures/interrupt.h"
#include "pictures/report.h"

struct cli_dump_made {
    cli_dump_made *before;
    void *note;
    char path[];
};

bool cli_dump_remember(cli_dump *dump, const char *path)
{
    cli_dump_made *made = malloc(sizeof *made + strlen(path) + 1);
    if (!made) {
        remove(path);
        return cli_error(path, "out of memory");
    }
    memcpy(made->path, path, strlen(path) + 1);
    made->note = cli_interrupt_note(path);
    made->before = dump->made;
    dump->made = made;
    return true;
}

/* From the last to the first, which is the folder. */
void cli_dump_release(cli_dump *dump, bool keep)
{
    for (cli_dump_made *at = dump->made, *before; at; at = before) {
        before = at->before;
        if (!keep)
            remove(at->path); /* a folder goes if nobody else has put something into it */
        cli_interrupt_forget(at->note);
        free(at);
    }
    dump->made = NULL;
}
