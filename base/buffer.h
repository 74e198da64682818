/* A growing byte buffer, and the big-endian integers of codestreams and boxes. A failed allocation is remembered and
 * turns every further call into a no-op, so writers need to check only once, at the end. */
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

/* Makes room for `bytes` more; false if that fails. */
bool l2k_buffer_grow(l2k_buffer *buffer, size_t bytes);

/* Makes room for exactly `bytes` more, so that the buffer can have the same memory again. */
bool l2k_buffer_reserve(l2k_buffer *buffer, size_t bytes);

void l2k_buffer_append(l2k_buffer *buffer, const void *data, size_t bytes);

/* Appends a big-endian integer of up to 8 bytes. */
void l2k_buffer_put(l2k_buffer *buffer, uint64_t value, unsigned bytes);

/* Overwrites `bytes` bytes at `offset`, which must be inside the buffer. */
void l2k_buffer_patch(l2k_buffer *buffer, size_t offset, uint64_t value, unsigned bytes);

/* L2K_OK; after a failed allocation reports L2K_ERROR_MEMORY. */
l2k_status l2k_buffer_status(const l2k_buffer *buffer);

static inline void l2k_buffer_put_byte(l2k_buffer *buffer, uint8_t byte)
{
    if (buffer->size < buffer->capacity || l2k_buffer_grow(buffer, 1))
        buffer->data[buffer->size++] = byte;
}

/* The end of the data. An empty buffer may have no memory, and adding even 0 to a null pointer is undefined in C. */
static inline const uint8_t *l2k_buffer_end(const l2k_buffer *buffer)
{
    return buffer->size ? buffer->data + buffer->size : buffer->data;
}

/* Reads a big-endian integer of 1 to 4 bytes. */
static inline uint32_t l2k_get_be(const uint8_t *data, unsigned bytes)
{
    uint32_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | *data++;
    return value;
}

#endif
