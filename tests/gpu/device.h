/* Device and pinned memory for tests in C. If the device fails, the program ends with a message, except as stated below.
 * Programs are compiled for CUDA, or, with L2K_TEST_OPENCL, for OpenCL, where memory objects are in place of addresses. */
#ifndef L2K_TESTS_GPU_DEVICE_H
#define L2K_TESTS_GPU_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *gpu_take(size_t bytes);
void gpu_give_back(void *device);
void *gpu_take_pinned(size_t bytes);
void gpu_give_back_pinned(void *pinned);

void gpu_copy_in(void *device, const void *host, size_t bytes);
void gpu_copy_out(void *host, const void *device, size_t bytes);

/* Device memory from a place on, as backends take it; until the whole is given back. */
void *gpu_part(void *device, size_t at, size_t bytes);

/* A stream of its own, as cudaStream_t or cl_command_queue; and a copy between two places on the device that begins a while later. */
void *gpu_new_stream(void);
void gpu_free_stream(void *stream);
void gpu_copy_later(void *to, const void *from, size_t bytes, void *stream);

/* Waits for all work of the device. */
void gpu_wait(void);

/* GPU_PLANES: encoders and decoders take planes in its memory. */
#ifdef L2K_TEST_OPENCL
#define GPU_BACKEND L2K_BACKEND_OPENCL
#define GPU_REQUIRE "L2K_REQUIRE_OPENCL"
#define GPU_PLANES  false
#else
#define GPU_BACKEND L2K_BACKEND_CUDA
#define GPU_REQUIRE "L2K_REQUIRE_GPU"
#define GPU_PLANES  true

size_t gpu_free_bytes(void);

/* Takes device memory until little more than `leave` bytes are free; the result goes to gpu_empty. */
typedef struct gpu_ballast gpu_ballast;
gpu_ballast *gpu_fill(size_t leave);
void gpu_empty(gpu_ballast *ballast);

/* A kernel that traps: from now on every CUDA call of this process fails. True if it does. */
bool gpu_break(void);
#endif

#ifdef __cplusplus
}
#endif

#endif
