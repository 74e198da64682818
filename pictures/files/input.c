/* Input from files and pipes: buffered reading. */
#define _POSIX_C_SOURCE 200809L
#include "pictures/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pictures/user/report.h"

#define BUFFER_BYTES ((size_t)64 << 10)

/* A large file may be opened only for a region of it. */
#define AHEAD_BYTES ((off_t)64 << 20)

/* One read, of at least a byte unless it fails or the file ends. The descriptor may have been inherited in non-blocking
 * mode. */
static size_t read_some(cli_input *input, void *to, size_t bytes)
{
    const size_t most = (size_t)1 << 30; /* of Windows */
    while (!input->error) {
        const ssize_t got = read(input->descriptor, to, bytes < most ? bytes : most);
        if (got >= 0)
            return (size_t)got;
        if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = input->descriptor, .events = POLLIN}, 1, -1);
        else if (errno != EINTR)
            input->error = errno;
    }
    return 0;
}

static bool refill(cli_input *input)
{
    input->used = 0;
    input->filled = read_some(input, input->buffer, BUFFER_BYTES);
    return input->filled > 0;
}

bool cli_input_take(cli_input *input, int descriptor, const char *name)
{
    const off_t begins = lseek(descriptor, 0, SEEK_CUR);
    size_t got = 1;
    *input = (cli_input){.descriptor = descriptor,
                         .name = name,
                         .buffer = malloc(BUFFER_BYTES),
                         .base = begins > 0 ? (uint64_t)begins : 0};
    for (; input->buffer && input->filled < CLI_HEAD_BYTES && got; input->filled += got)
        got = read_some(input, input->buffer + input->filled, BUFFER_BYTES - input->filled);
    if (input->filled && !input->error)
        return true;
    cli_error(name, "%s",
              !input->buffer ? "out of memory"
              : input->error ? strerror(input->error)
                             : "the file is empty");
    cli_input_close(input);
    return false;
}

bool cli_input_open(cli_input *input, const char *path)
{
    struct stat facts;
    memset(input, 0, sizeof *input);
    input->descriptor = -1;
    if (strcmp(path, "-") == 0)
        return cli_input_take(input, STDIN_FILENO, "standard input");
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return cli_error(path, "%s", strerror(errno));
    /* open accepts a directory; only the first read would fail. */
    if (fstat(descriptor, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        close(descriptor);
        return cli_error(path, "%s", strerror(EISDIR));
    }
    return cli_input_take(input, descriptor, path);
}

void cli_input_close(cli_input *input)
{
    if (input->descriptor > STDIN_FILENO)
        close(input->descriptor);
    input->descriptor = -1;
    free(input->buffer);
    input->buffer = NULL;
}

void cli_input_ahead(const cli_input *input)
{
#ifdef POSIX_FADV_WILLNEED
    posix_fadvise(input->descriptor, 0, AHEAD_BYTES, POSIX_FADV_WILLNEED);
#else
    (void)input;
#endif
}

size_t cli_input_read(cli_input *input, void *buffer, size_t bytes)
{
    uint8_t *to = buffer;
    size_t done = 0, got = 1;
    while (done < bytes && got) {
        if (input->used == input->filled && bytes - done >= BUFFER_BYTES) {
            got = read_some(input, to + done, bytes - done);
        } else if (input->used < input->filled || refill(input)) {
            const size_t held = input->filled - input->used;
            got = held < bytes - done ? held : bytes - done;
            memcpy(to + done, input->buffer + input->used, got);
            input->used += got;
        } else {
            got = 0;
        }
        done += got;
    }
    return done;
}

int cli_input_byte(cli_input *input)
{
    return input->used < input->filled || refill(input) ? input->buffer[input->used++] : EOF;
}

bool cli_input_exact(cli_input *input, void *buffer, size_t bytes)
{
    return cli_input_read(input, buffer, bytes) == bytes || cli_input_ended(input);
}

uint8_t *cli_input_all(cli_input *input, size_t most, size_t *bytes)
{
    uint8_t *data = NULL, *more;
    size_t room = 1 << 16;
    *bytes = 0;
    do {
        more = realloc(data, room *= 2);
        data = more ? more : data;
        *bytes += more ? cli_input_read(input, data + *bytes, room - 1 - *bytes) : 0;
    } while (more && *bytes == room - 1 && *bytes <= most);
    if (more && !input->error) {
        data[*bytes] = 0;
        return data;
    }
    free(data);
    if (more)
        cli_input_ended(input);
    else
        cli_error(input->name, "out of memory");
    return NULL;
}

bool cli_input_ended(const cli_input *input)
{
    return cli_error(input->name, "%s", input->error ? strerror(input->error) : "the file is truncated");
}

bool cli_input_size(const cli_input *input, uint64_t *bytes)
{
    struct stat facts;
    if (fstat(input->descriptor, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size < 0)
        return false;
    *bytes = (uint64_t)facts.st_size > input->base ? (uint64_t)facts.st_size - input->base : 0;
    return true;
}

bool cli_input_holds(const cli_input *input, uint64_t bytes)
{
    uint64_t size;
    return !cli_input_size(input, &size) || size >= bytes || cli_error(input->name, "the file is truncated");
}
