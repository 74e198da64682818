/* How L2K_BACKEND_AUTO chooses: the GPU for large enough tiles, if one with enough memory exists. */
#ifndef L2K_TRANSFORM_CHOICE_H
#define L2K_TRANSFORM_CHOICE_H

#include <stdatomic.h>

#include "transform/plan.h"

/* Numbers of samples of a tile, all components together, from which on the GPU is faster than the CPU. */

/* The transform alone, on an H200 on 2026-11-23: from host memory, 16 CPU threads were as fast at 3 x 1024 x 1024
 * samples and faster above, up to 3 x 8192 x 8192, and opening the device costs another tenth of a second. So AUTO does
 * not use the GPU unless the option lowers this number, which pays with few threads and a fast device. */
#define L2K_GPU_MIN_SAMPLES ((int64_t)1 << 62)

/* Whole images, host memory to host memory. bench/batches.c on an H100 with 16 processors, 2026-11-22, RGB of 8 bits,
 * lossless, milliseconds an image on the CPU and on the GPU, one at a time; then in batches, eight in flight on the
 * GPU:
 *
 *     HT encode   128 x 128   0.17   0.12   0.017   0.021
 *                 256 x 256   0.34   0.14   0.041   0.033
 *     HT decode   256 x 256   0.32   0.22   0.049   0.054
 *                 512 x 512   0.62   0.31   0.188   0.072
 *     MQ encode   512 x 512    2.3    2.6    1.7    0.84
 *               1024 x 1024    6.9    3.4    6.6    0.70
 *     MQ decode   512 x 512    4.1    4.9    2.6    3.4
 *               1024 x 1024   11.7    5.9    9.9    2.2
 */
#define L2K_GPU_MIN_ENCODE_MQ ((int64_t)1 << 21)
#define L2K_GPU_MIN_ENCODE_HT ((int64_t)1 << 17)
#define L2K_GPU_MIN_DECODE_MQ ((int64_t)1 << 21)
#define L2K_GPU_MIN_DECODE_HT ((int64_t)1 << 19)

/* OpenCL, bench/opencl/picture.c on the H100 (bench/results/opencl.md): HT encodes as soon as CUDA does and decodes from
 * between 1.8 and 6.2 million samples on. MQ leaves code-blocks to the CPU, which dominate: never. */
#define L2K_OPENCL_MIN_DECODE_HT ((int64_t)1 << 21)

/* The number of samples at which the GPU's gain equals the time to open the device: 0.13 to 0.2 s, over 0.25 to 0.5 ns
 * a sample for HT. An object first codes this many on the CPU, unless one image or batch has them; so a wrong choice
 * never costs more than it could have gained, whether another image follows or not. */
#define L2K_GPU_OPENING_MQ ((uint64_t)1 << 26)
#define L2K_GPU_OPENING_HT ((uint64_t)1 << 29)

/* Belongs to an encoder, a decoder or a transform, whose context points to it; all threads of a run share it. */
typedef struct l2k_choice {
    int64_t gpu_min_samples, opencl_min_samples; /* from which on CUDA, OpenCL is tried */
    uint64_t seen;                               /* samples of all images so far */
    atomic_bool gpu_failed;                      /* in this run, which is noted once and not tried again */
    atomic_bool cpu_noted;                       /* in this run: a note has said that only the CPU can do something */
} l2k_choice;

/* Whether plans may be kept for the next run. They may not after a failure on the GPU, or work that the GPU cannot do:
 * the next run tries again, and notes it again. */
bool l2k_choice_is_settled(const l2k_choice *choice);

/* Whether the GPU has failed in this run. */
bool l2k_choice_has_failed(const l2k_choice *choice);

/* Adds the record of a part of the run. */
void l2k_choice_join(l2k_choice *choice, const l2k_choice *part);

/* Call at the beginning of a run, or of a part of it with a record of its own. */
void l2k_choice_start(l2k_choice *choice, int64_t gpu_min_samples);
void l2k_choice_start_part(l2k_choice *part, const l2k_choice *choice);

/* The same for an image, a part of it, or a batch of that number of samples. `option`: the least samples, or one of the
 * next two. */
void l2k_choice_start_image(l2k_choice *choice, int64_t option, bool decodes, bool ht, uint64_t samples);

/* The measured numbers, once the object's images are worth opening the device; or at once. */
enum { L2K_GPU_WHERE_WORTH = -1, L2K_GPU_WHERE_FASTER = -2 };

/* The measured least samples. */
int64_t l2k_gpu_min_samples(bool decodes, bool ht);

/* The number of pixel samples of all components together. */
uint64_t l2k_plan_samples(const l2k_plan_spec *spec);

/* Whether AUTO should try a GPU for that many samples, if there is one. NULL: as with L2K_GPU_MIN_SAMPLES. */
bool l2k_choice_is_gpu(const l2k_choice *choice, uint64_t samples);

/* The backend that takes `samples` samples, all components together: AUTO becomes a device's if one is worth it, else
 * the CPU's. */
l2k_backend l2k_backend_for(const l2k_context *context, l2k_backend backend, uint64_t samples);

/* Whether begin returns before the work is done, so that a second plan is worth its memory. AUTO: whether this is
 * possible for a plan of up to `samples` samples, all components together. */
bool l2k_backend_overlaps(const l2k_context *context, l2k_backend backend, uint64_t samples);

/* Records in the context's choice that the GPU was tried and failed with `status`; a note says so the first time. */
void l2k_choice_fall_back(const l2k_context *context, l2k_status status);

/* Notes, the first time, that work which would go to the GPU needs the CPU. The GPU remains in use for everything
 * else. */
void l2k_choice_note_cpu(const l2k_context *context, const char *reason);

#endif
