/* Output to pipes, sockets and devices: never blocks beyond the time limit. */
#define _POSIX_C_SOURCE 200809L
#include "pictures/files/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pictures/user/limits.h"

#define BUFFER_BYTES ((size_t)64 << 10)

struct cli_pipe {
    int descriptor;
    double deadline; /* in terms of cli_now; 0 = none */
    size_t used;
    uint8_t buffer[BUFFER_BYTES];
};

static bool fail(int error)
{
    errno = error;
    return false;
}

/* ---- Waiting ---- */

bool cli_wait_ready(int descriptor, short events, double deadline)
{
    struct pollfd poller = {.fd = descriptor, .events = events};
    for (;;) {
        double left = deadline > 0 ? deadline - cli_now() : 60;
        if (left <= 0) {
            errno = ETIME;
            return false;
        }
        int ready = poll(&poller, 1, left < 60 ? (int)(left * 1e3) + 1 : 60000);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

/* ---- Opening ---- */

static bool attach(cli_output *output)
{
    cli_pipe *made = malloc(sizeof *made);
    if (!made)
        return fail(ENOMEM);
    made->deadline = cli_deadline();
    made->used = 0;
    output->pipe = made;
    return true;
}

static bool is_fifo(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

/* Opening a pipe without a reader in non-blocking mode fails; it is retried until the time limit. */
static int open_within(const char *path, double deadline)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    for (;;) {
        int descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | (deadline > 0 ? O_NONBLOCK : 0));
        if (descriptor >= 0 || deadline <= 0 || errno != ENXIO)
            return descriptor;
        bool again = is_fifo(path), late = cli_now() >= deadline;
        errno = again ? ETIME : ENXIO;
        if (!again || late)
            return -1;
        nanosleep(&pause, NULL);
    }
}

bool cli_pipe_open(cli_output *output, const char *path)
{
    if (!attach(output))
        return false;
    int descriptor = output->pipe->descriptor = open_within(path, output->pipe->deadline);
    output->stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (descriptor >= 0 && !output->stream)
        close(descriptor);
    return output->stream != NULL;
}

bool cli_pipe_take(cli_output *output, FILE *stream)
{
    if (!attach(output))
        return false;
    output->stream = stream;
    output->pipe->descriptor = fileno(stream);
    return true;
}

/* ---- Writing ---- */

/* A ready pipe has room for PIPE_BUF bytes; writing more to a blocking one could block. */
static bool write_all(const cli_pipe *to, const uint8_t *data, size_t bytes)
{
    const size_t most = to->deadline > 0 ? PIPE_BUF : (size_t)1 << 30;
    bool wait = to->deadline > 0;
    while (bytes) {
        if (wait && !cli_wait_ready(to->descriptor, POLLOUT, to->deadline))
            return false;
        ssize_t put = write(to->descriptor, data, bytes < most ? bytes : most);
        if (put >= 0) {
            data += put;
            bytes -= (size_t)put;
        } else if (errno == EAGAIN) {
            wait = true;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

bool cli_pipe_flush(cli_output *output)
{
    cli_pipe *to = output->pipe;
    bool done = write_all(to, to->buffer, to->used);
    to->used = 0;
    return done;
}

bool cli_pipe_write(cli_output *output, const void *data, size_t bytes)
{
    cli_pipe *to = output->pipe;
    if (bytes > BUFFER_BYTES - to->used && !cli_pipe_flush(output))
        return false;
    if (bytes >= BUFFER_BYTES)
        return write_all(to, data, bytes);
    memcpy(to->buffer + to->used, data, bytes);
    to->used += bytes;
    return true;
}
