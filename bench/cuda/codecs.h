/* A codec as the comparison of codecs on a CUDA device sees it: pixels in device or host memory to a codestream in host
 * memory, and back. */
#ifndef L2K_BENCH_CUDA_CODECS_H
#define L2K_BENCH_CUDA_CODECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Unsigned samples, rows without gaps. */
typedef struct shape {
    uint32_t width, height, components;
    unsigned precision, bytes; /* of a sample: 1 or 2 */
    bool interleaved;          /* otherwise a component after the other */
} shape;

static inline size_t shape_plane_bytes(const shape *s)
{
    return (size_t)s->width * s->height * s->bytes;
}

/* From a sample to the one beside it, and from component to component, in bytes. */
static inline size_t shape_sample_stride(const shape *s)
{
    return s->interleaved ? s->components * s->bytes : s->bytes;
}

static inline size_t shape_component_stride(const shape *s)
{
    return s->interleaved ? s->bytes : shape_plane_bytes(s);
}

static inline size_t shape_bytes(const shape *s)
{
    return shape_plane_bytes(s) * s->components;
}

/* What decides about the loss: nothing, the codec's own step, a PSNR in decibels, or the size of the samples over that
 * of the codestream. */
typedef enum quality { EVERYTHING, STEP, PSNR, RATIO } quality;

typedef struct coding {
    bool ht, irreversible;
    quality quality;
    double value; /* of the quality */
    unsigned block;
    unsigned flight;  /* images in flight, for codecs that take batches */
    unsigned threads; /* of each image, where the codec has any */
} coding;

/* One image after the other; workers run side by side on threads of their own. */
typedef struct worker worker;

/* Functions that give false have reported why. */
typedef struct codec {
    const char *name;
    const char *(*version)(void);
    worker *(*make)(const shape *s, const coding *k, bool on_device);
    void (*free)(worker *w);
    /* The bytes are valid until the worker encodes again. */
    bool (*encode)(worker *w, const void *samples, const uint8_t **bytes, size_t *count);
    bool (*decode)(worker *w, const uint8_t *bytes, size_t count, void *samples);
    /* NULL, or many images in one call. Codestreams that are made are not kept. */
    bool (*encode_batch)(worker *w, const void *const *samples, unsigned images);
    bool (*decode_batch)(worker *w, const void *const *bytes, const size_t *counts, void *const *samples,
                         unsigned images);
} codec;

extern const codec codec_lift2k, codec_lift2k_batch, codec_lift2k_opencl;
extern const codec codec_nvjpeg2k; /* only where the library was found */
extern const codec codec_copies;   /* no codec: samples up and `value` of the coding in bytes down, and back */

#endif
