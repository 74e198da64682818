/* Pictures for the comparison of codecs on a CUDA device: several images of a shape, in device or host memory, with
 * the codestream of each and what that is decoded to. */
#ifndef L2K_BENCH_CUDA_SCENE_H
#define L2K_BENCH_CUDA_SCENE_H

#include "bench/bench.h"
#include "bench/cuda/codecs.h"
#include "bench/pnm.h"

typedef struct sample_image {
    void *samples, *decoded;
    uint8_t *bytes; /* NULL, or the codestream */
    size_t count;
} sample_image;

typedef struct scene {
    const char *name;
    shape shape;
    bool on_device; /* samples; otherwise in host memory */
    bool pageable;  /* what is in host memory; otherwise pinned */
    unsigned num_images;
    sample_image *images;
    uint8_t *original; /* the first image's samples on the host */
    uint8_t *scratch;
} scene;

/* Fills in the rest of a scene that has its name, shape, places and number of images. Each image is cut out of the
 * picture, which is repeated in all directions: all from its corner, or, if they are to differ, from places apart. */
void scene_make(scene *e, const pnm *p, bool differ);
void scene_free(scene *e);

void scene_keep_bytes(scene *e, unsigned image, const uint8_t *bytes, size_t count);
void scene_forget_bytes(scene *e);

/* Of what the first image is decoded to; infinite if nothing differs. */
double scene_psnr(const scene *e);

#endif
