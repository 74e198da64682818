/* The C part of the Python package: DLPack's tensor (https://dmlc.github.io/dlpack/latest/c_api.html). native.py
 * includes it in the extension module. */
#include "lift2k/lift2k.h"

/* DLTensor, whose device and type are written out. Strides are in elements, or NULL for packed rows. */
typedef struct l2k_py_tensor {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} l2k_py_tensor;
