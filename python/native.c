/* The C part of the Python package: memory that grows while an image is encoded, without the interpreter's lock, and
 * DLPack's tensor (https://dmlc.github.io/dlpack/latest/c_api.html). native.py includes it in the extension module. */
#include <stdlib.h>
#include <string.h>

#include "lift2k/lift2k.h"

typedef struct l2k_py_memory {
    uint8_t *data;
    size_t bytes, room;
} l2k_py_memory;

/* DLTensor, whose device and type are written out. Strides are in elements, or NULL for packed rows. */
typedef struct l2k_py_tensor {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} l2k_py_tensor;

/* A stream's `write`: called by the library's threads. */
static int l2k_py_append(void *user, const void *buffer, size_t bytes)
{
    l2k_py_memory *memory = user;
    if (bytes > memory->room - memory->bytes) {
        size_t room = memory->bytes + bytes + memory->room / 2;
        uint8_t *data = room >= bytes ? realloc(memory->data, room) : NULL;
        if (!data)
            return -1;
        memory->data = data;
        memory->room = room;
    }
    memcpy(memory->data + memory->bytes, buffer, bytes);
    memory->bytes += bytes;
    return 0;
}

static void l2k_py_release(l2k_py_memory *memory)
{
    free(memory->data);
    memset(memory, 0, sizeof *memory);
}
