/* A growing byte buffer. A failed allocation is remembered and makes every further call do nothing, so that writers
 * need to look only once, at the end. */
#ifndef L2K_BASE_BUFFER_H
#define L2K_BASE_BUFFER_H

#include "base/context.h"

typedef struct l2k_buffer {
    const l2k_context *context;
    uint8_t *data;
    size_t size, capacity;
    bool failed;
} l2k_buffer;

void l2k_buffer_release(l2k_buffer *buffer);

/* Room for `bytes` more; false where that fails. */
bool l2k_buffer_grow(l2k_buffer *buffer, size_t bytes);

void l2k_buffer_append(l2k_buffer *buffer, const void *data, size_t bytes);

/* Big-endian integers of 1, 2, 4 or 8 bytes. */
void l2k_buffer_put(l2k_buffer *buffer, uint64_t value, unsigned bytes);

/* Overwrites `bytes` bytes at `offset`, which must have been written before. */
void l2k_buffer_patch(l2k_buffer *buffer, size_t offset, uint64_t value, unsigned bytes);

/* L2K_OK, or the report of a failed allocation. */
l2k_status l2k_buffer_status(const l2k_buffer *buffer);

static inline void l2k_buffer_put_byte(l2k_buffer *buffer, uint8_t byte)
{
    if (buffer->size < buffer->capacity || l2k_buffer_grow(buffer, 1))
        buffer->data[buffer->size++] = byte;
}

/* Behind the last byte. An empty buffer may have no memory, and C adds nothing to a null pointer, not even 0. */
static inline const uint8_t *l2k_buffer_end(const l2k_buffer *buffer)
{
    return buffer->size ? buffer->data + buffer->size : buffer->data;
}

#endif
