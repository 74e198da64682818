/* To be preloaded: simulates faults of file systems and disks, and badly timed signals. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* L2K_TEST_FLIP: a disk that flips a bit in every large block. */
ssize_t write(int descriptor, const void *data, size_t bytes)
{
    ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    char *copy = getenv("L2K_TEST_FLIP") && bytes >= 256 ? malloc(bytes) : NULL;
    if (!copy)
        return real(descriptor, data, bytes);
    memcpy(copy, data, bytes);
    copy[bytes / 2] ^= 1;
    ssize_t written = real(descriptor, copy, bytes);
    free(copy);
    return written;
}

/* L2K_TEST_RENAME: part of the names that renaming cannot give to files, as if there were folders of these names. */
int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    const char *part = getenv("L2K_TEST_RENAME");
    if (part && strstr(to, part)) {
        errno = EISDIR;
        return -1;
    }
    return real(from, to);
}
