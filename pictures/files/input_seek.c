/* Inputs with random access: copied from a pipe where necessary, sought in, or mapped. */
#define _POSIX_C_SOURCE 200809L
#include "pictures/files/file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pictures/user/report.h"

/* False with errno, or from->error. */
static bool copy_all(cli_input *from, uint64_t most, int to)
{
    uint8_t buffer[1 << 14];
    size_t got = 1;
    for (uint64_t left = most; got && left; left -= got) {
        got = cli_input_read(from, buffer, left < sizeof buffer ? (size_t)left : sizeof buffer);
        if (!cli_write_all(to, buffer, got))
            return false;
    }
    return !from->error && lseek(to, 0, SEEK_SET) == 0;
}

bool cli_input_make_seekable(cli_input *input, uint64_t most)
{
    uint64_t bytes;
    if (cli_input_size(input, &bytes))
        return true;
    FILE *file = tmpfile();
    const int copy = file ? dup(fileno(file)) : -1;
    const bool copied = copy >= 0 && copy_all(input, most, copy);
    if (!copied && !input->error)
        cli_error(input->name, "cannot copy the pipe to a temporary file: %s", strerror(errno));
    else if (!copied)
        cli_input_ended(input);
    if (file)
        fclose(file);
    if (copy >= 0 && !copied)
        close(copy);
    if (!copied)
        return false;
    cli_input_close(input);
    return cli_input_take(input, copy, input->name);
}

bool cli_input_seek(cli_input *input, uint64_t offset)
{
    input->used = input->filled = 0;
    return lseek(input->descriptor, (off_t)(input->base + offset), SEEK_SET) >= 0 ||
           cli_error(input->name, "%s", strerror(errno));
}

ptrdiff_t cli_input_read_at(const cli_input *input, void *buffer, size_t bytes, uint64_t offset)
{
    return pread(input->descriptor, buffer, bytes, (off_t)(input->base + offset));
}

/* Not at a multiple of a huge page: otherwise reading a header maps 2 MiB around it, and scanning the tile-parts counts
 * the whole file as this process's memory. Below there is room, as the system maps downwards; Linux wants to have some of
 * it left over. */
static void *map_apart(size_t bytes, int descriptor)
{
    const uintptr_t huge = (uintptr_t)2 << 20;
    char *mapped = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED || (uintptr_t)mapped % huge)
        return mapped;
    munmap(mapped, bytes);
    return mmap(mapped - huge - sysconf(_SC_PAGESIZE), bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
}

bool cli_input_map(const cli_input *input, const void **data, size_t *bytes)
{
    uint64_t size;
    if (input->descriptor == STDIN_FILENO || !cli_input_size(input, &size) || !size)
        return false;
    void *mapped = map_apart((size_t)size, input->descriptor);
    *data = mapped;
    *bytes = (size_t)size;
    return mapped != MAP_FAILED;
}
