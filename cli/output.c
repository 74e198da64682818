/* O_TMPFILE and linkat give a file that has no name until it is complete, so that even a killed process leaves nothing
 * behind. Where the file system has no such files, a hidden name beside the target serves. */
#define _GNU_SOURCE
#include "cli/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/report.h"

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

static char *hidden_name(const char *target, unsigned attempt)
{
    char leaf[48];
    snprintf(leaf, sizeof leaf, ".lift2k-%ld-%u.tmp", (long)getpid(), attempt);
    return beside(target, leaf);
}

/* A file without a name in the target's folder, or -1. Naming it later goes through /proc. */
static int open_nameless(const char *target)
{
    int descriptor = -1;
#ifdef O_TMPFILE
    char *folder = beside(target, NULL);
    if (folder && access("/proc/self/fd", X_OK) == 0)
        descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(folder);
#else
    (void)target;
#endif
    return descriptor;
}

/* A hidden name is noted before there is such a file, so that no signal comes between. */
static void set_temporary(cli_output *output, char *name)
{
    if (output->temporary)
        cli_interrupt_forget(output->temporary);
    free(output->temporary);
    output->temporary = name;
    if (name)
        cli_interrupt_note(name);
}

static int open_hidden(cli_output *output)
{
    for (unsigned attempt = 0; attempt < MAX_NAME_TRIES; attempt++) {
        set_temporary(output, hidden_name(output->target, attempt));
        if (!output->temporary)
            return -1;
        int descriptor = open(output->temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
        if (descriptor >= 0)
            return descriptor;
        int cause = errno;
        set_temporary(output, NULL);
        errno = cause;
        if (cause != EEXIST)
            break;
    }
    return -1;
}

/* The caller knows whether the target exists and is a regular file; its permissions are kept then. */
static bool open_replacement(cli_output *output, const char *path, const struct stat *existing)
{
    /* A symbolic link stays; the file it points to is replaced. */
    output->target = existing ? realpath(path, NULL) : strdup(path);
    if (!output->target)
        return false;
    int descriptor = open_nameless(output->target);
    if (descriptor < 0)
        descriptor = open_hidden(output);
    if (descriptor < 0)
        return false;
    if (existing && fchmod(descriptor, existing->st_mode & 07777) != 0)
        errno = 0; /* a file system without permissions */
    output->stream = fdopen(descriptor, "w+b");
    if (!output->stream)
        close(descriptor);
    return output->stream != NULL;
}

bool cli_output_open(cli_output *output, const char *path)
{
    struct stat facts;
    bool opened = true;
    memset(output, 0, sizeof *output);
    output->name = path;
    if (strcmp(path, "-") == 0) {
        output->name = "standard output";
        output->stream = stdout;
    } else if (stat(path, &facts) != 0) {
        opened = open_replacement(output, path, NULL);
    } else if (S_ISREG(facts.st_mode)) {
        opened = access(path, W_OK) == 0 && open_replacement(output, path, &facts);
    } else {
        opened = (output->stream = fopen(path, "wb")) != NULL;
    }
    if (opened)
        return true;
    cli_error(path, "%s", strerror(errno));
    cli_output_discard(output);
    return false;
}

bool cli_output_write(cli_output *output, const void *data, size_t bytes)
{
    if (output->error)
        return false;
    if (fwrite(data, 1, bytes, output->stream) != bytes) {
        output->error = errno ? errno : EIO;
        return false;
    }
    output->bytes += bytes;
    return true;
}

bool cli_output_reopen(cli_output *output, cli_input *input)
{
    memset(input, 0, sizeof *input);
    input->name = output->name;
    errno = ESPIPE; /* of what is no file */
    int copy = !output->error && output->target && fflush(output->stream) == 0 ? dup(fileno(output->stream)) : -1;
    if (copy >= 0 && (input->stream = fdopen(copy, "rb")) != NULL && fseek(input->stream, 0, SEEK_SET) == 0) {
        input->head_filled = fread(input->head, 1, sizeof input->head, input->stream);
        return true;
    }
    cli_error(output->name, "what was written cannot be read again: %s", strerror(errno));
    if (input->stream)
        fclose(input->stream);
    else if (copy >= 0)
        close(copy);
    return false;
}

bool cli_output_fail(cli_output *output)
{
    cli_error(output->name, "%s", strerror(output->error ? output->error : EIO));
    cli_output_discard(output);
    return false;
}

/* Gives the nameless file the hidden name, from which rename can replace an existing target. */
static bool name_hidden(cli_output *output, const char *descriptor_path)
{
    for (unsigned attempt = 0; attempt < MAX_NAME_TRIES; attempt++) {
        set_temporary(output, hidden_name(output->target, attempt));
        if (!output->temporary)
            return false;
        if (linkat(AT_FDCWD, descriptor_path, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) == 0)
            return true;
        int cause = errno;
        set_temporary(output, NULL);
        errno = cause;
        if (cause != EEXIST)
            break;
    }
    return false;
}

static bool publish(cli_output *output)
{
    char descriptor_path[64];
    if (!output->temporary) {
        snprintf(descriptor_path, sizeof descriptor_path, "/proc/self/fd/%d", fileno(output->stream));
        if (linkat(AT_FDCWD, descriptor_path, AT_FDCWD, output->target, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST || !name_hidden(output, descriptor_path))
            return false;
    }
    if (rename(output->temporary, output->target) != 0)
        return false;
    set_temporary(output, NULL);
    return true;
}

/* Everything to the file, with the errors that some file systems only tell when a file is closed. */
static bool finish_writing(FILE *stream)
{
    if (fflush(stream) != 0)
        return false;
    int copy = dup(fileno(stream));
    return copy >= 0 && close(copy) == 0;
}

bool cli_output_commit(cli_output *output)
{
    if (!output->error && !finish_writing(output->stream))
        output->error = errno ? errno : EIO;
    if (!output->error && output->target && !publish(output))
        output->error = errno ? errno : EIO;
    if (output->error)
        return cli_output_fail(output);
    cli_output_discard(output);
    return true;
}

void cli_output_discard(cli_output *output)
{
    if (output->stream && output->stream != stdout)
        fclose(output->stream);
    if (output->temporary)
        unlink(output->temporary);
    set_temporary(output, NULL);
    free(output->target);
    output->stream = NULL;
    output->target = NULL;
}

bool cli_is_stream(const char *path)
{
    struct stat facts;
    if (strcmp(path, "-") == 0)
        return true;
    return !*cli_extension(path) && stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

const char *cli_extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot : "";
}

bool cli_same_text(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}
