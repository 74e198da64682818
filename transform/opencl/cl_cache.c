/* Files of the program cache: a header with length and checksum, then the driver's binary. */
#define _POSIX_C_SOURCE 200809L
#include "transform/opencl/cl_runtime.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

typedef struct header {
    char magic[8];
    uint64_t bytes, sum;
} header;

static const char MAGIC[8] = "l2k-cl1";

enum { MOST_PATH = 1024, MOST_BYTES = 1 << 28 };

/* ---- Memory of the process ------------------------------------------------------------------------------------- */

static const l2k_hooks no_hooks;

void *l2k_cl_take(size_t bytes)
{
    return l2k_hook_allocate(&no_hooks, bytes);
}

void l2k_cl_give_back(void *block)
{
    l2k_hook_release(&no_hooks, block);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t add_bytes(uint64_t sum, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ at[i]) * 0x100000001B3u;
    return sum;
}

void l2k_cl_key_add(l2k_cl_key *key, const char *text)
{
    const size_t bytes = strlen(text) + 1; /* with the 0, which divides texts */
    key->words[0] = add_bytes(key->words[0] ^ 0xCBF29CE484222325u, text, bytes);
    key->words[1] = add_bytes(key->words[1] + 0x9E3779B97F4A7C15u, text, bytes);
}

/* The path of a key's file, whose folder this creates if possible. */
static bool find_path(const l2k_cl_key *key, char path[MOST_PATH])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = 0;
    if (cache && cache[0] == '/')
        length = snprintf(path, MOST_PATH, "%s", cache);
    else if (home && home[0] == '/')
        length = snprintf(path, MOST_PATH, "%s/.cache", home);
    if (length <= 0 || length > MOST_PATH - 64)
        return false;
    mkdir(path, 0700);
    length += snprintf(path + length, MOST_PATH - (size_t)length, "/lift2k");
    mkdir(path, 0700);
    snprintf(path + length, MOST_PATH - (size_t)length, "/%016llx%016llx.cl", (unsigned long long)key->words[0],
             (unsigned long long)key->words[1]);
    return true;
}

/* Whether all bytes were read or written. */
static bool read_all(int file, void *data, size_t bytes)
{
    ptrdiff_t got = 1;
    for (size_t done = 0; done < bytes && got > 0; done += (size_t)got) {
        got = read(file, (char *)data + done, bytes - done);
        if (got <= 0)
            return false;
    }
    return true;
}

static bool write_all(int file, const void *data, size_t bytes)
{
    ptrdiff_t put;
    for (size_t done = 0; done < bytes; done += (size_t)put) {
        put = write(file, (const char *)data + done, bytes - done);
        if (put <= 0)
            return false;
    }
    return true;
}

static void *read_body(int file, size_t *bytes)
{
    header h;
    if (!read_all(file, &h, sizeof h) || memcmp(h.magic, MAGIC, sizeof h.magic) != 0 || h.bytes == 0 ||
        h.bytes > MOST_BYTES)
        return NULL;
    void *data = l2k_cl_take((size_t)h.bytes);
    if (data && read_all(file, data, (size_t)h.bytes) && add_bytes(0, data, (size_t)h.bytes) == h.sum) {
        *bytes = (size_t)h.bytes;
        return data;
    }
    l2k_cl_give_back(data);
    return NULL;
}

void *l2k_cl_cache_read(const l2k_cl_key *key, size_t *bytes)
{
    char path[MOST_PATH];
    const int file = find_path(key, path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return NULL;
    void *data = read_body(file, bytes);
    close(file);
    return data;
}

void l2k_cl_cache_write(const l2k_cl_key *key, const void *data, size_t bytes)
{
    char path[MOST_PATH], temporary[MOST_PATH + 8];
    header h = {.bytes = bytes, .sum = add_bytes(0, data, bytes)};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    if (!find_path(key, path))
        return;
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    const int file = mkstemp(temporary);
    if (file < 0)
        return;
    bool complete = write_all(file, &h, sizeof h) && write_all(file, data, bytes);
    complete = close(file) == 0 && complete;
    if (!complete || rename(temporary, path) != 0)
        unlink(temporary);
}
