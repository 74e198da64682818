/* Workers of a codec, side by side, and how long they take. */
#ifndef L2K_BENCH_CUDA_WORKERS_H
#define L2K_BENCH_CUDA_WORKERS_H

#include "bench/cuda/scene.h"

enum { MOST_WORKERS = 64 };

/* Workers of one coding, each with a share of the scene's images. */
typedef struct workers {
    const codec *codec;
    scene *scene;
    unsigned count;
    worker *members[MOST_WORKERS];
} workers;

/* False, with a message, if the codec cannot do it. */
bool workers_make(workers *a, const codec *c, scene *e, const coding *k, unsigned count);
void workers_free(workers *a);

/* Milliseconds an image, over `images` images of the scene: the median of three measurements of at least so many
 * seconds; negative if something failed. With one worker that takes batches, they go to it in one call, otherwise a
 * thread a worker. */
double workers_measure(workers *a, unsigned count, unsigned images, bool decodes, double seconds);

#endif
