#define _DEFAULT_SOURCE /* fileno, MAP_ANONYMOUS */
#include "pictures/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pictures/report.h"

/* Of a large file perhaps only a region is wanted. */
#define AHEAD_BYTES ((off_t)64 << 20)

static bool open_named(cli_input *input, const char *path)
{
    struct stat facts;
    input->stream = fopen(path, "rb");
    if (!input->stream)
        return cli_error(path, "%s", strerror(errno));
    /* fopen accepts a directory for reading; only the first read would fail. */
    if (fstat(fileno(input->stream), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        cli_input_close(input);
        return cli_error(path, "%s", strerror(EISDIR));
    }
    return true;
}

bool cli_input_open(cli_input *input, const char *path)
{
    memset(input, 0, sizeof *input);
    if (strcmp(path, "-") == 0) {
        input->stream = stdin;
        input->name = "standard input";
    } else {
        input->name = path;
        if (!open_named(input, path))
            return false;
    }
    input->head_filled = fread(input->head, 1, sizeof input->head, input->stream);
    if (input->head_filled)
        return true;
    if (ferror(input->stream))
        cli_error(input->name, "%s", strerror(errno));
    else
        cli_error(input->name, "the file is empty");
    cli_input_close(input);
    return false;
}

void cli_input_close(cli_input *input)
{
    if (input->stream && input->stream != stdin)
        fclose(input->stream);
    input->stream = NULL;
}

void cli_input_ahead(const cli_input *input)
{
#ifdef POSIX_FADV_WILLNEED
    posix_fadvise(fileno(input->stream), 0, AHEAD_BYTES, POSIX_FADV_WILLNEED);
#else
    (void)input;
#endif
}

size_t cli_input_read(cli_input *input, void *buffer, size_t bytes)
{
    uint8_t *to = buffer;
    size_t held = input->head_filled - input->head_used;
    if (held > bytes)
        held = bytes;
    memcpy(to, input->head + input->head_used, held);
    input->head_used += held;
    return held == bytes ? held : held + fread(to + held, 1, bytes - held, input->stream);
}

bool cli_input_failed(const cli_input *input)
{
    return ferror(input->stream) != 0;
}

int cli_input_byte(cli_input *input)
{
    if (input->head_used < input->head_filled)
        return input->head[input->head_used++];
    return getc(input->stream);
}

bool cli_input_exact(cli_input *input, void *buffer, size_t bytes)
{
    return cli_input_read(input, buffer, bytes) == bytes || cli_input_ended(input);
}

bool cli_input_ended(const cli_input *input)
{
    if (cli_input_failed(input))
        return cli_error(input->name, "%s", strerror(errno ? errno : EIO));
    return cli_error(input->name, "the file is truncated");
}

bool cli_input_size(const cli_input *input, uint64_t *bytes)
{
    struct stat facts;
    if (fstat(fileno(input->stream), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size < 0)
        return false;
    *bytes = (uint64_t)facts.st_size;
    return true;
}

bool cli_input_holds(const cli_input *input, uint64_t bytes)
{
    uint64_t size;
    return !cli_input_size(input, &size) || size >= bytes || cli_error(input->name, "the file is truncated");
}

/* What is left of `from`, behind the bytes that are held back. */
static bool copy_rest(cli_input *from, FILE *to)
{
    uint8_t buffer[1 << 14];
    size_t got;
    while ((got = cli_input_read(from, buffer, sizeof buffer)) > 0)
        if (fwrite(buffer, 1, got, to) != got)
            return cli_error(from->name, "the copy of a pipe cannot be kept: %s", strerror(errno));
    return !cli_input_failed(from) || cli_input_ended(from);
}

bool cli_input_make_seekable(cli_input *input)
{
    uint64_t bytes;
    if (cli_input_size(input, &bytes))
        return true;
    FILE *copy = tmpfile();
    if (!copy)
        return cli_error(input->name, "the copy of a pipe cannot be kept: %s", strerror(errno));
    if (!copy_rest(input, copy) || fflush(copy) != 0) {
        fclose(copy);
        return false;
    }
    cli_input_close(input);
    input->stream = copy;
    return true;
}

bool cli_input_seek(cli_input *input, uint64_t offset)
{
    input->head_used = input->head_filled;
    return fseeko(input->stream, (off_t)offset, SEEK_SET) == 0 || cli_error(input->name, "%s", strerror(errno));
}

/* Where neither address nor file offset is a multiple of a huge page. Otherwise a glance at a header maps 2 MiB around
 * it, and a walk along the tile-parts has all of the file count as this process's memory. */
static void *map_apart(size_t bytes, int descriptor)
{
    const size_t huge = (size_t)2 << 20, page = (size_t)sysconf(_SC_PAGESIZE), room = bytes + 2 * huge + page;
    char *reserved = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (reserved == MAP_FAILED)
        return MAP_FAILED;
    char *at = reserved + (huge - (uintptr_t)reserved % huge) + page;
    void *mapped = mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0);
    if (mapped == MAP_FAILED) {
        munmap(reserved, room);
        return MAP_FAILED;
    }
    const size_t used = (bytes + page - 1) / page * page;
    munmap(reserved, (size_t)(at - reserved));
    munmap(at + used, room - used - (size_t)(at - reserved));
    return mapped;
}

bool cli_input_map(const cli_input *input, const void **data, size_t *bytes)
{
    uint64_t size;
    if (input->stream == stdin || !cli_input_size(input, &size) || !size)
        return false;
    void *mapped = map_apart((size_t)size, fileno(input->stream));
    *data = mapped;
    *bytes = (size_t)size;
    return mapped != MAP_FAILED;
}
