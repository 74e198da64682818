/* O_TMPFILE and linkat give a file that has no name until it is complete, so that even a killed process leaves nothing
 * behind. Where the file system has no such files, a hidden name beside the target serves, as it does for a file that
 * rests between writes (cli_output_rest): kill -9 leaves those. */
#define _GNU_SOURCE
#include "pictures/files/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pictures/user/interrupt.h"

#define MAX_NAME_TRIES 100u

/* "<folder of the target>/<leaf>", or the folder alone where leaf is NULL. */
static char *beside(const char *target, const char *leaf)
{
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash - target) + 1 : 0;
    size_t room = (size_t)folder + 64;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%.*s%s", folder, target, leaf ? leaf : folder ? "" : ".");
    return path;
}

/* Another one at every call: planes of one picture have many at a time. */
static char *hidden_name(const char *target)
{
    static atomic_uint number;
    char leaf[48];
    snprintf(leaf, sizeof leaf, ".lift2k-%ld-%u.tmp", (long)getpid(), atomic_fetch_add(&number, 1));
    return beside(target, leaf);
}

/* A file without a name in the target's folder, or -1. Naming it later goes through /proc. */
static int open_nameless(const char *target, mode_t mode)
{
    int descriptor = -1;
#ifdef O_TMPFILE
    char *folder = beside(target, NULL);
    if (folder && access("/proc/self/fd", X_OK) == 0)
        descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    free(folder);
#else
    (void)target;
    (void)mode;
#endif
    return descriptor;
}

/* Takes over the name, which is noted before there is such a file, so that no signal comes between. */
static void set_temporary(cli_output *output, char *name)
{
    if (output->temporary)
        cli_interrupt_forget(output->note);
    free(output->temporary);
    output->temporary = name;
    output->note = name ? cli_interrupt_note(name) : NULL;
}

/* Tries hidden names until `make`, which gives -1 with errno, has made a file of one. */
static int make_hidden(cli_output *output, int (*make)(const char *name, const void *how), const void *how)
{
    for (unsigned attempt = 0; attempt < MAX_NAME_TRIES; attempt++) {
        set_temporary(output, hidden_name(output->target));
        if (!output->temporary)
            return -1;
        int made = make(output->temporary, how), cause = errno;
        if (made >= 0)
            return made;
        set_temporary(output, NULL);
        errno = cause;
        if (cause != EEXIST)
            break;
    }
    return -1;
}

static int create(const char *name, const void *how)
{
    return open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, *(const mode_t *)how);
}

int cli_temporary_open(cli_output *output, mode_t mode)
{
    int descriptor = open_nameless(output->target, mode);
    return descriptor >= 0 ? descriptor : make_hidden(output, create, &mode);
}

static int link_from(const char *name, const void *how)
{
    return linkat(AT_FDCWD, how, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

bool cli_temporary_name(cli_output *output, int descriptor)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return output->temporary || make_hidden(output, link_from, path) >= 0;
}

/* From a hidden name, rename can replace an existing target. */
bool cli_temporary_publish(cli_output *output)
{
    char path[64];
    if (!output->temporary) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(output->stream));
        if (link_from(output->target, path) == 0)
            return true;
        if (errno != EEXIST || !cli_temporary_name(output, fileno(output->stream)))
            return false;
    }
    if (rename(output->temporary, output->target) != 0)
        return false;
    set_temporary(output, NULL);
    return true;
}

/* The name is made sure of by an empty file, which rename replaces. */
bool cli_temporary_aside(cli_output *output)
{
    int made = make_hidden(output, create, &(mode_t){0600});
    if (made < 0)
        return false;
    close(made);
    if (rename(output->target, output->temporary) == 0)
        return true;
    int cause = errno;
    cli_temporary_remove(output);
    errno = cause;
    return false;
}

void cli_temporary_remove(cli_output *output)
{
    if (output->temporary)
        unlink(output->temporary);
    set_temporary(output, NULL);
}
