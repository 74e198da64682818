/* A byte buffer that grows geometrically and remembers a failed allocation. */
#include "base/buffer.h"

#include <string.h>

#include "base/memory.h"

void l2k_buffer_release(l2k_buffer *buffer)
{
    l2k_release(buffer->context, buffer->data);
    *buffer = (l2k_buffer){.context = buffer->context};
}

/* Makes room for `bytes` more and, if that takes other memory, for `extra` ones. */
static bool make_room(l2k_buffer *buffer, size_t bytes, size_t extra)
{
    if (buffer->failed || bytes <= buffer->capacity - buffer->size)
        return !buffer->failed;
    const size_t capacity = buffer->size + bytes + extra;
    uint8_t *data =
        capacity > buffer->size ? l2k_enlarge(buffer->context, buffer->data, buffer->size, capacity, 1) : NULL;
    if (!data) {
        buffer->failed = true;
        return false;
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

bool l2k_buffer_reserve(l2k_buffer *buffer, size_t bytes)
{
    return make_room(buffer, bytes, 0);
}

bool l2k_buffer_grow(l2k_buffer *buffer, size_t bytes)
{
    return make_room(buffer, bytes, buffer->size / 2 + 4096);
}

void l2k_buffer_append(l2k_buffer *buffer, const void *data, size_t bytes)
{
    if (bytes == 0 || !l2k_buffer_grow(buffer, bytes))
        return;
    memcpy(buffer->data + buffer->size, data, bytes);
    buffer->size += bytes;
}

void l2k_buffer_put(l2k_buffer *buffer, uint64_t value, unsigned bytes)
{
    while (bytes-- > 0)
        l2k_buffer_put_byte(buffer, (uint8_t)(value >> 8 * bytes));
}

void l2k_buffer_patch(l2k_buffer *buffer, size_t offset, uint64_t value, unsigned bytes)
{
    if (buffer->failed)
        return;
    while (bytes-- > 0)
        buffer->data[offset++] = (uint8_t)(value >> 8 * bytes);
}

l2k_status l2k_buffer_status(const l2k_buffer *buffer)
{
    if (buffer->failed)
        return l2k_fail(buffer->context, L2K_ERROR_MEMORY, "out of memory for %zu bytes of output", buffer->size);
    return L2K_OK;
}
