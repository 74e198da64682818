/* Temporary files. O_TMPFILE and linkat give a file that has no name until it is complete, so that even a killed
 * process leaves nothing. On file systems without O_TMPFILE, and for a file that is closed between writes
 * (cli_output_rest), a hidden name in the target's folder serves: kill -9 leaves those. */
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

/* "<folder of the target>/<leaf>", or only the folder where leaf is NULL. */
static char *path_in_folder(const char *target, const char *leaf)
{
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash - target) + 1 : 0;
    size_t room = (size_t)folder + 64;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%.*s%s", folder, target, leaf ? leaf : folder ? "" : ".");
    return path;
}

/* A different name on every call: the planes of one picture need many. */
static char *hidden_name(const char *target)
{
    static atomic_uint number;
    char leaf[48];
    snprintf(leaf, sizeof leaf, ".lift2k-%ld-%u.tmp", (long)getpid(), atomic_fetch_add(&number, 1));
    return path_in_folder(target, leaf);
}

/* Opens a file without a name in the target's folder; -1 on failure. Naming it later goes through /proc. */
static int open_nameless(const char *target, mode_t mode)
{
    int descriptor = -1;
#ifdef O_TMPFILE
    char *folder = path_in_folder(target, NULL);
    if (folder && access("/proc/self/fd", X_OK) == 0)
        descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    free(folder);
#else
    (void)target;
    (void)mode;
#endif
    return descriptor;
}

/* Takes ownership of the name, which is registered before the file exists, so that no signal can come between. */
static void set_temporary(cli_output *output, char *name)
{
    if (output->temporary)
        cli_interrupt_forget(output->registered);
    free(output->temporary);
    output->temporary = name;
    output->registered = name ? cli_interrupt_register(name) : NULL;
}

/* Tries hidden names until `make`, which returns -1 with errno on failure, has created a file. */
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

/* Only rename, from a hidden name, can replace an existing target. */
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

void cli_temporary_remove(cli_output *output)
{
    if (output->temporary)
        unlink(output->temporary);
    set_temporary(output, NULL);
}
