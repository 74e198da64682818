/* Files of the program cache: a header with length and checksum, then what the driver gave. */
#define _POSIX_C_SOURCE 200809L
#include "transform/opencl/cl_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct header {
    char magic[8];
    uint64_t bytes, sum;
} header;

static const char MAGIC[8] = "l2k-cl1";

enum { MOST_PATH = 1024, MOST_BYTES = 1 << 28 };

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

/* The path of a key's file, whose folder exists then if it can be made. */
static int find_path(const l2k_cl_key *key, char path[MOST_PATH])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = 0;
    if (cache && cache[0] == '/')
        length = snprintf(path, MOST_PATH, "%s", cache);
    else if (home && home[0] == '/')
        length = snprintf(path, MOST_PATH, "%s/.cache", home);
    if (length <= 0 || length > MOST_PATH - 64)
        return 0;
    mkdir(path, 0700);
    length += snprintf(path + length, MOST_PATH - (size_t)length, "/lift2k");
    mkdir(path, 0700);
    snprintf(path + length, MOST_PATH - (size_t)length, "/%016llx%016llx.cl", (unsigned long long)key->words[0],
             (unsigned long long)key->words[1]);
    return 1;
}

static void *read_body(FILE *file, size_t *bytes)
{
    header h;
    if (fread(&h, sizeof h, 1, file) != 1 || memcmp(h.magic, MAGIC, sizeof h.magic) != 0 || h.bytes == 0 ||
        h.bytes > MOST_BYTES)
        return NULL;
    void *data = malloc((size_t)h.bytes);
    if (data && fread(data, 1, (size_t)h.bytes, file) == h.bytes && add_bytes(0, data, (size_t)h.bytes) == h.sum) {
        *bytes = (size_t)h.bytes;
        return data;
    }
    free(data);
    return NULL;
}

void *l2k_cl_cache_read(const l2k_cl_key *key, size_t *bytes)
{
    char path[MOST_PATH];
    FILE *file = find_path(key, path) ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    void *data = read_body(file, bytes);
    fclose(file);
    return data;
}

void l2k_cl_cache_write(const l2k_cl_key *key, const void *data, size_t bytes)
{
    char path[MOST_PATH], temporary[MOST_PATH];
    header h = {.bytes = bytes, .sum = add_bytes(0, data, bytes)};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    if (!find_path(key, path))
        return;
    snprintf(temporary, sizeof temporary, "%.*s.XXXXXX", MOST_PATH - 8, path);
    const int descriptor = mkstemp(temporary);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!file) {
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    int complete = fwrite(&h, sizeof h, 1, file) == 1 && fwrite(data, 1, bytes, file) == bytes;
    complete = fclose(file) == 0 && complete;
    if (!complete || rename(temporary, path) != 0)
        unlink(temporary);
}
