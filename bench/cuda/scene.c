/* Pictures for the comparison of codecs on a CUDA device. */
#define _POSIX_C_SOURCE 199309L
#include "bench/cuda/scene.h"

#include <cuda_runtime_api.h>

static void *take(const scene *e)
{
    void *memory = NULL;
    const size_t bytes = shape_bytes(&e->shape);
    if (!e->on_device && e->pageable)
        memory = malloc(bytes);
    else if ((e->on_device ? cudaMalloc(&memory, bytes) : cudaMallocHost(&memory, bytes)) != cudaSuccess)
        memory = NULL;
    check(memory != NULL, "memory");
    return memory;
}

static void give_back(const scene *e, void *memory)
{
    if (e->on_device)
        cudaFree(memory);
    else if (e->pageable)
        free(memory);
    else
        cudaFreeHost(memory);
}

/* The part of a picture that begins at (x, y). */
static void cut(const pnm *p, const shape *s, uint32_t x, uint32_t y, uint8_t *to)
{
    const size_t step = shape_sample_stride(s);
    for (uint32_t c = 0; c < s->components; c++)
        for (uint32_t row = 0; row < s->height; row++) {
            const size_t line = (size_t)((y + row) % p->height) * p->width;
            const uint8_t *from = p->samples + c * pnm_plane_bytes(p) + line * p->bytes;
            uint8_t *at = to + c * shape_component_stride(s) + (size_t)row * s->width * step;
            for (uint32_t i = 0, column = x % p->width; i < s->width; i++, at += step) {
                memcpy(at, from + (size_t)column * p->bytes, s->bytes);
                column = column + 1 < p->width ? column + 1 : 0;
            }
        }
}

void scene_make(scene *e, const pnm *p, bool differ)
{
    const size_t bytes = shape_bytes(&e->shape);
    e->images = calloc(e->num_images, sizeof *e->images);
    e->original = malloc(bytes);
    e->scratch = malloc(bytes);
    check(e->images && e->original && e->scratch, "memory");
    for (unsigned i = e->num_images; i-- > 0;) {
        const uint32_t step = differ ? i : 0;
        cut(p, &e->shape, step * 331 % p->width, step * 197 % p->height, e->original);
        e->images[i].samples = take(e);
        e->images[i].decoded = take(e);
        check(cudaMemcpy(e->images[i].samples, e->original, bytes, cudaMemcpyDefault) == cudaSuccess, "a copy");
    }
}

void scene_free(scene *e)
{
    scene_forget_bytes(e);
    for (unsigned i = 0; i < e->num_images; i++) {
        give_back(e, e->images[i].samples);
        give_back(e, e->images[i].decoded);
    }
    free(e->images);
    free(e->original);
    free(e->scratch);
}

void scene_keep_bytes(scene *e, unsigned image, const uint8_t *bytes, size_t count)
{
    sample_image *m = &e->images[image];
    m->count = count;
    if (e->pageable)
        m->bytes = malloc(count);
    else if (cudaMallocHost((void **)&m->bytes, count) != cudaSuccess)
        m->bytes = NULL;
    check(m->bytes != NULL, "memory");
    memcpy(m->bytes, bytes, count);
}

void scene_forget_bytes(scene *e)
{
    for (unsigned i = 0; i < e->num_images; i++) {
        if (e->pageable)
            free(e->images[i].bytes);
        else
            cudaFreeHost(e->images[i].bytes);
        e->images[i].bytes = NULL;
    }
}

double scene_psnr(const scene *e)
{
    const size_t bytes = shape_bytes(&e->shape);
    check(cudaMemcpy(e->scratch, e->images[0].decoded, bytes, cudaMemcpyDefault) == cudaSuccess, "a copy");
    return pnm_psnr(e->scratch, e->original, bytes / e->shape.bytes, e->shape.bytes, e->shape.precision);
}
