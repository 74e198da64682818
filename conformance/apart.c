/* Runs work in a child process and returns its output through a pipe. */
#define _POSIX_C_SOURCE 200809L
#include "conformance/apart.h"

#include <sys/wait.h>
#include <unistd.h>

static bool write_all(int descriptor, const bytes *b)
{
    for (size_t done = 0; done < b->size;) {
        ssize_t n = write(descriptor, b->data + done, b->size - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static void read_all(int descriptor, bytes *b)
{
    uint8_t chunk[65536];
    for (ssize_t n; (n = read(descriptor, chunk, sizeof chunk)) > 0;)
        bytes_append(b, chunk, (size_t)n);
}

bool work_apart(bool (*work)(void *user, bytes *out), void *user, bytes *out)
{
    int ends[2], status = -1;
    *out = (bytes){0};
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        _exit(work(user, out) && write_all(ends[1], out) ? 0 : 1);
    close(ends[1]);
    if (child > 0)
        read_all(ends[0], out);
    close(ends[0]);
    if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
        return true;
    bytes_free(out);
    return false;
}
