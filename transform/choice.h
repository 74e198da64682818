/* What L2K_BACKEND_AUTO goes by: the GPU for tiles that are large enough, where there is one and its memory suffices.
 */
#ifndef L2K_TRANSFORM_CHOICE_H
#define L2K_TRANSFORM_CHOICE_H

#include <stdatomic.h>

#include "transform/plan.h"

/* Samples of a tile (all components together) from which on the GPU is worth the way over the bus. Measured with
 * bench/backends.c: from host memory the CPU's 16 threads were as fast at 3 x 1024 x 1024 samples and faster from there
 * on, up to 3 x 8192 x 8192, and opening the device costs another tenth of a second. So AUTO does not take the GPU by
 * itself; where few threads meet a fast device, set it by option. */
#define L2K_GPU_MIN_SAMPLES ((int64_t)1 << 62)

/* Belongs to an encoder, a decoder or a transform, whose context points to it; all threads of a run share it. */
typedef struct l2k_choice {
    int64_t gpu_min_samples;
    atomic_bool gpu_failed; /* in this run: what did not fit once is not tried again, and told once */
    atomic_bool cpu_told;   /* in this run: there was something that only the CPU can do */
} l2k_choice;

/* Whether plans may be kept for the next run: none is where it is because something failed, or could not be done, and
 * the next run should try and tell again. */
bool l2k_choice_is_settled(const l2k_choice *choice);

/* At the beginning of a run. */
void l2k_choice_start(l2k_choice *choice, int64_t gpu_min_samples);

/* Samples on the side of the pixels, all components together. */
uint64_t l2k_plan_samples(const l2k_plan_spec *spec);

/* Whether AUTO should try the GPU for so many samples; whether there is one is another question. NULL:
 * L2K_GPU_MIN_SAMPLES. */
bool l2k_choice_is_gpu(const l2k_choice *choice, uint64_t samples);

/* The GPU was tried and failed with `status`: remembers that in the context's choice, and says so the first time. */
void l2k_choice_fall_back(const l2k_context *context, l2k_status status);

/* Something cannot be done on the GPU, which would be taken otherwise: says so the first time. The GPU goes on with
 * what it can do. */
void l2k_choice_tell(const l2k_context *context, const char *reason);

#endif
