/* Compiled programs on disk, in $XDG_CACHE_HOME/lift2k or ~/.cache/lift2k. Nothing here fails: without a cache, the
 * driver compiles again. */
#ifndef L2K_TRANSFORM_OPENCL_CL_CACHE_H
#define L2K_TRANSFORM_OPENCL_CL_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* A 128-bit hash of all that a compiled program depends on; zero-initialise, then add text by text. */
typedef struct l2k_cl_key {
    uint64_t words[2];
} l2k_cl_key;

void l2k_cl_key_add(l2k_cl_key *key, const char *text);

/* Memory that belongs to the process, not to an object. */
void *l2k_cl_take(size_t bytes);
void l2k_cl_give_back(void *block);

/* The data stored under that key, for l2k_cl_give_back; NULL if missing or damaged. */
void *l2k_cl_cache_read(const l2k_cl_key *key, size_t *bytes);

/* Replaces a file as a whole: another process sees the old one or the new one. */
void l2k_cl_cache_write(const l2k_cl_key *key, const void *data, size_t bytes);

#endif
