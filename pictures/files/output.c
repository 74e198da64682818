/* Output to files that appear under their names only when complete, or directly to pipes and devices. */
#define _DEFAULT_SOURCE /* realpath, fchown */
#include "pictures/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pictures/user/interrupt.h"
#include "pictures/user/report.h"

enum { BUFFER_BYTES = 64 << 10 };

/* ---- Files that are not complete ------------------------------------------------------------------------------- */

/* They have a hidden name in the target's folder, which only kill -9 and the like leave there. */

#define MAX_NAME_TRIES 100u

/* A different name on every call: the planes of one picture need many. */
static char *hidden_name(const char *target)
{
    static atomic_uint number;
    const char *slash = strrchr(target, '/');
    const int folder = slash ? (int)(slash - target) + 1 : 0;
    const size_t room = (size_t)folder + 48;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%.*s.lift2k-%ld-%u.tmp", folder, target, (long)getpid(), atomic_fetch_add(&number, 1));
    return path;
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

/* Opens one for output->target with the permissions `mode` less the umask; others can open it from the start. Returns
 * the descriptor, or -1 with errno. */
static int open_temporary(cli_output *output, mode_t mode)
{
    for (unsigned attempt = 0; attempt < MAX_NAME_TRIES; attempt++) {
        set_temporary(output, hidden_name(output->target));
        if (!output->temporary)
            return -1;
        const int made = open(output->temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode), cause = errno;
        if (made >= 0)
            return made;
        set_temporary(output, NULL);
        errno = cause;
        if (cause != EEXIST)
            break;
    }
    return -1;
}

/* ---- Outputs --------------------------------------------------------------------------------------------------- */

/* Keeps owner, group and permissions of the replaced file, except set-user-ID and similar bits, which were given to
 * other content. Only some users may change the owner. Where the group cannot be kept, no user gains access: neither
 * another group nor members of the old one, who then count as others. The restricted mode is set before the group
 * changes, in case a later call fails. */
static void keep_access(int descriptor, const struct stat *existing)
{
    const mode_t mode = existing->st_mode & 0777, common = mode >> 3 & mode & 07;
    const bool kept = fchmod(descriptor, (mode & 0700) | common << 3 | common) == 0 &&
                      (fchown(descriptor, existing->st_uid, existing->st_gid) == 0 ||
                       fchown(descriptor, (uid_t)-1, existing->st_gid) == 0) &&
                      fchmod(descriptor, mode) == 0;
    if (!kept)
        errno = 0; /* also on file systems without permissions */
}

/* Takes over a descriptor. False with errno; after a failed open as well. */
static bool attach(cli_output *output, int descriptor)
{
    output->descriptor = descriptor;
    output->buffer = descriptor < 0 ? NULL : malloc(BUFFER_BYTES);
    if (descriptor > STDOUT_FILENO && !output->buffer)
        close(descriptor);
    return output->buffer != NULL;
}

static bool detach(cli_output *output)
{
    const bool closes = output->buffer && output->descriptor != STDOUT_FILENO;
    free(output->buffer);
    output->buffer = NULL;
    output->used = 0;
    return !closes || close(output->descriptor) == 0;
}

/* `existing` describes the target if it exists and is a regular file; its access rights are kept. */
static bool open_replacement(cli_output *output, const char *path, const struct stat *existing)
{
    /* A symbolic link remains where the file it points to is replaced. */
    output->target = existing ? realpath(path, NULL) : strdup(path);
    if (!output->target)
        return false;
    int descriptor = open_temporary(output, existing ? 0600 : 0666);
    if (descriptor >= 0 && existing)
        keep_access(descriptor, existing);
    return attach(output, descriptor);
}

bool cli_output_open(cli_output *output, const char *path)
{
    struct stat facts;
    bool opened = true;
    memset(output, 0, sizeof *output);
    output->name = path;
    if (strcmp(path, "-") == 0) {
        output->name = "standard output";
        if (isatty(STDOUT_FILENO))
            return cli_error(output->name, "is a terminal; name a file, or use a pipe");
        opened = attach(output, STDOUT_FILENO);
    } else if (stat(path, &facts) != 0) {
        opened = open_replacement(output, path, NULL);
    } else if (S_ISREG(facts.st_mode)) {
        opened = access(path, W_OK) == 0 && open_replacement(output, path, &facts);
    } else {
        opened = attach(output, open(path, O_WRONLY | O_TRUNC | O_CLOEXEC));
    }
    if (opened)
        return true;
    cli_error(output->name, "%s", strerror(errno));
    cli_output_discard(output);
    return false;
}

bool cli_output_can_seek(const cli_output *output)
{
    return output->target != NULL;
}

/* The following functions return false with errno. */

bool cli_write_all(int descriptor, const void *data, size_t bytes)
{
    const size_t most = (size_t)1 << 30; /* of Windows */
    const char *from = data;
    while (bytes) {
        const ssize_t put = write(descriptor, from, bytes < most ? bytes : most);
        if (put >= 0) {
            from += put;
            bytes -= (size_t)put;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = descriptor, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool flush(cli_output *output)
{
    const size_t bytes = output->used;
    output->used = 0;
    return cli_write_all(output->descriptor, output->buffer, bytes);
}

static bool move_to(cli_output *output, uint64_t offset)
{
    return flush(output) && lseek(output->descriptor, (off_t)offset, SEEK_SET) >= 0;
}

static bool put_at(cli_output *output, uint64_t offset, const void *data, size_t bytes)
{
    if (!output->buffer && /* after cli_output_rest */
        !(attach(output, open(output->temporary, O_RDWR | O_CLOEXEC)) && move_to(output, output->at)))
        return false;
    if ((offset != output->at && !move_to(output, offset)) || (bytes > BUFFER_BYTES - output->used && !flush(output)))
        return false;
    if (bytes >= BUFFER_BYTES)
        return cli_write_all(output->descriptor, data, bytes);
    memcpy(output->buffer + output->used, data, bytes);
    output->used += bytes;
    return true;
}

bool cli_output_write_at(cli_output *output, uint64_t offset, const void *data, size_t bytes)
{
    if (output->error || (!output->buffer && !output->temporary))
        return false;
    if (!put_at(output, offset, data, bytes)) {
        output->error = errno ? errno : EIO;
        return false;
    }
    output->at = offset + bytes;
    output->bytes = output->at > output->bytes ? output->at : output->bytes;
    return true;
}

bool cli_output_write(cli_output *output, const void *data, size_t bytes)
{
    return cli_output_write_at(output, output->bytes, data, bytes);
}

FILE *cli_output_stream(cli_output *output)
{
    const int copy = dup(output->descriptor);
    output->stream = copy < 0 ? NULL : fdopen(copy, "wb");
    if (!output->stream && copy >= 0)
        close(copy);
    if (!output->stream)
        output->error = errno;
    return output->stream;
}

bool cli_output_reopen(cli_output *output, cli_input *input)
{
    errno = ESPIPE; /* for outputs that are no file */
    int copy = !output->error && output->target && flush(output) ? dup(output->descriptor) : -1;
    if (copy >= 0 && lseek(copy, 0, SEEK_SET) == 0)
        return cli_input_take(input, copy, output->name);
    cli_error(output->name, "the output cannot be read again: %s", strerror(errno));
    if (copy >= 0)
        close(copy);
    return false;
}

bool cli_output_fail(cli_output *output)
{
    cli_error(output->name, "%s", strerror(output->error ? output->error : EIO));
    output->error = 0;
    cli_output_discard(output);
    return false;
}

/* Writes everything out, and obtains the errors that some file systems only report on close. */
static bool finish_writing(cli_output *output)
{
    if (!flush(output) || (output->stream && fflush(output->stream) != 0))
        return false;
    int copy = dup(output->descriptor);
    return copy >= 0 && close(copy) == 0;
}

bool cli_output_rest(cli_output *output)
{
    errno = 0;
    if (!output->error && output->target && output->buffer && !(finish_writing(output) && detach(output)))
        output->error = errno ? errno : EIO;
    return !output->error;
}

bool cli_output_commit(cli_output *output)
{
    if (!output->error && ((output->buffer && !finish_writing(output)) ||
                           (output->target && rename(output->temporary, output->target) != 0)))
        output->error = errno ? errno : EIO;
    if (output->error)
        return cli_output_fail(output);
    set_temporary(output, NULL);
    cli_output_discard(output);
    return true;
}

void cli_output_discard(cli_output *output)
{
    if (output->stream)
        fclose(output->stream);
    output->stream = NULL;
    detach(output);
    if (output->temporary)
        unlink(output->temporary);
    set_temporary(output, NULL);
    free(output->target);
    output->target = NULL;
}
