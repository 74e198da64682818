/* Waiting for pipes, sockets and devices no longer than the time limit. */
#define _POSIX_C_SOURCE 200809L
#include "pictures/files/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pictures/user/limits.h"

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

static bool is_fifo(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

/* Opening a pipe without a reader in non-blocking mode fails; it is retried until the time limit. */
int cli_open_within(const char *path, double deadline)
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

/* A ready pipe has room for PIPE_BUF bytes; writing more to a blocking one could block. */
bool cli_write_all(int descriptor, const void *data, size_t bytes, double deadline)
{
    const size_t most = deadline > 0 ? PIPE_BUF : (size_t)1 << 30;
    const char *from = data;
    bool wait = deadline > 0;
    while (bytes) {
        if (wait && !cli_wait_ready(descriptor, POLLOUT, deadline))
            return false;
        ssize_t put = write(descriptor, from, bytes < most ? bytes : most);
        if (put >= 0) {
            from += put;
            bytes -= (size_t)put;
        } else if (errno == EAGAIN) {
            wait = true;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}
