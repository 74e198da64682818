/* Lanes of a codec at work, side by side, and how long they take. */
#ifndef L2K_BENCH_CUDA_LANES_H
#define L2K_BENCH_CUDA_LANES_H

#include "bench/cuda/scene.h"

enum { MOST_LANES = 64 };

/* Lanes of one coding, each with a share of the scene's images. */
typedef struct lanes {
    const codec *codec;
    scene *scene;
    unsigned count;
    lane *members[MOST_LANES];
} lanes;

/* False, with a message, if the codec cannot do it. */
bool lanes_make(lanes *a, const codec *c, scene *e, const coding *k, unsigned count);
void lanes_free(lanes *a);

/* Milliseconds an image, over `images` images of the scene: the median of three measurements of at least so many
 * seconds; negative if something failed. With one lane that takes batches, they go to it in one call, otherwise a
 * thread a lane. */
double lanes_measure(lanes *a, unsigned count, unsigned images, bool decodes, double seconds);

#endif
