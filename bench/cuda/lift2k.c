/* lift2k for the comparison of codecs: a worker is an encoder and a decoder that start no threads of their own, and a
 * CUDA stream. And the bus: copies of the same bytes. */
#define _POSIX_C_SOURCE 199309L
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/cuda/codecs.h"
#include "lift2k/lift2k.h"

enum { MOST_COMPONENTS = 4, MOST_BATCH = 256 };

struct worker {
    shape shape;
    cudaStream_t stream;
    l2k_encoder *encoder;
    l2k_decoder *decoder;
    l2k_component components[MOST_COMPONENTS];
    l2k_image image;
};

static void free_worker(worker *w)
{
    l2k_encoder_free(w->encoder);
    l2k_decoder_free(w->decoder);
    if (w->stream)
        cudaStreamDestroy(w->stream);
    free(w);
}

static bool set_quality(worker *w, const coding *k)
{
    if (k->quality == STEP)
        return l2k_encoder_set_step(w->encoder, k->value) == L2K_OK;
    const l2k_target kind = k->quality == PSNR ? L2K_TARGET_PSNR : L2K_TARGET_RATIO;
    return k->quality == EVERYTHING || l2k_encoder_set_layers(w->encoder, kind, &k->value, 1) == L2K_OK;
}

static bool set_options(worker *w, const coding *k, bool on_device, l2k_backend backend)
{
    const unsigned threads = k->flight ? k->flight : k->threads ? k->threads : 1;
    const struct {
        l2k_encoder_option option;
        int64_t value;
    } options[] = {{L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM},
                   {L2K_ENCODER_STYLE, k->ht ? L2K_STYLE_HT : 0},
                   {L2K_ENCODER_WAVELET, k->irreversible ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3},
                   {L2K_ENCODER_BLOCK_WIDTH, k->block},
                   {L2K_ENCODER_BLOCK_HEIGHT, k->block},
                   {L2K_ENCODER_BACKEND, backend},
                   {L2K_ENCODER_PLT, k->threads > 1},
                   {L2K_ENCODER_THREADS, threads}};
    bool right = true;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        right &= l2k_encoder_set(w->encoder, options[i].option, options[i].value) == L2K_OK;
    const l2k_memory memory = on_device ? L2K_MEMORY_DEVICE : L2K_MEMORY_HOST;
    right &= l2k_encoder_set(w->encoder, L2K_ENCODER_MEMORY, memory) == L2K_OK;
    right &= l2k_decoder_set(w->decoder, L2K_DECODER_MEMORY, memory) == L2K_OK;
    if (backend == L2K_BACKEND_CUDA) {
        l2k_encoder_set_stream(w->encoder, w->stream);
        l2k_decoder_set_stream(w->decoder, w->stream);
    }
    right &= l2k_encoder_set(w->encoder, L2K_ENCODER_IN_FLIGHT, k->flight) == L2K_OK;
    right &= l2k_decoder_set(w->decoder, L2K_DECODER_IN_FLIGHT, k->flight) == L2K_OK;
    return right && l2k_decoder_set(w->decoder, L2K_DECODER_BACKEND, backend) == L2K_OK &&
           l2k_decoder_set(w->decoder, L2K_DECODER_THREADS, threads) == L2K_OK && set_quality(w, k);
}

static worker *make_on(l2k_backend backend, const shape *s, const coding *k, bool on_device)
{
    static const l2k_hooks hooks = {.message = report_message};
    worker *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->shape = *s;
    w->encoder = l2k_encoder_new(&hooks);
    w->decoder = l2k_decoder_new(&hooks);
    w->image = (l2k_image){.x1 = s->width, .y1 = s->height, .num_components = s->components};
    w->image.components = w->components;
    w->image.colour = s->components == 3 ? L2K_COLOUR_SRGB : L2K_COLOUR_GRAY;
    for (uint32_t c = 0; c < s->components; c++)
        w->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = s->precision};
    if (w->encoder && w->decoder && cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking) == cudaSuccess &&
        set_options(w, k, on_device, backend))
        return w;
    free_worker(w);
    return NULL;
}

static worker *make_worker(const shape *s, const coding *k, bool on_device)
{
    return make_on(L2K_BACKEND_CUDA, s, k, on_device);
}

static worker *make_opencl_worker(const shape *s, const coding *k, bool on_device)
{
    return make_on(L2K_BACKEND_OPENCL, s, k, on_device);
}

static void make_planes(const shape *s, void *samples, l2k_plane planes[MOST_COMPONENTS])
{
    const ptrdiff_t step = (ptrdiff_t)shape_sample_stride(s);
    for (uint32_t c = 0; c < s->components; c++)
        planes[c] = (l2k_plane){(uint8_t *)samples + c * shape_component_stride(s), (ptrdiff_t)s->width * step, step,
                                s->bytes == 2 ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
}

static bool encode(worker *w, const void *samples, const uint8_t **bytes, size_t *count)
{
    l2k_plane planes[MOST_COMPONENTS];
    make_planes(&w->shape, (void *)(uintptr_t)samples, planes);
    return l2k_encoder_encode_memory(w->encoder, &w->image, planes, bytes, count) == L2K_OK;
}

static bool decode(worker *w, const uint8_t *bytes, size_t count, void *samples)
{
    l2k_plane planes[MOST_COMPONENTS];
    l2k_image image;
    make_planes(&w->shape, samples, planes);
    return l2k_decoder_open_memory(w->decoder, bytes, count) == L2K_OK &&
           l2k_decoder_image(w->decoder, &image) == L2K_OK && l2k_decoder_decode(w->decoder, planes) == L2K_OK;
}

const codec codec_lift2k = {"lift2k", l2k_version, make_worker, free_worker, encode, decode, NULL, NULL};
const codec codec_lift2k_opencl = {
    "lift2k, OpenCL", l2k_version, make_opencl_worker, free_worker, encode, decode, NULL, NULL};

/* ---- The batch calls ------------------------------------------------------------------------------------------- */

/* What comes is in host memory already. */
static int ignore_bytes(void *user, const void *data, size_t count)
{
    (void)user, (void)data, (void)count;
    return 0;
}

static bool encode_batch(worker *w, const void *const *samples, unsigned images)
{
    l2k_encode_item items[MOST_BATCH];
    l2k_plane planes[MOST_BATCH][MOST_COMPONENTS];
    const l2k_stream stream = {.write = ignore_bytes};
    for (unsigned i = 0; i < images; i++) {
        make_planes(&w->shape, (void *)(uintptr_t)samples[i], planes[i]);
        items[i] = (l2k_encode_item){&w->image, planes[i], &stream, L2K_OK};
    }
    return l2k_encoder_encode_batch(w->encoder, items, images) == L2K_OK;
}

static bool decode_batch(worker *w, const void *const *bytes, const size_t *counts, void *const *samples,
                         unsigned images)
{
    l2k_decode_item items[MOST_BATCH];
    l2k_plane planes[MOST_BATCH][MOST_COMPONENTS];
    for (unsigned i = 0; i < images; i++) {
        make_planes(&w->shape, samples[i], planes[i]);
        items[i] = (l2k_decode_item){bytes[i], counts[i], planes[i], L2K_OK};
    }
    return l2k_decoder_decode_batch(w->decoder, items, images) == L2K_OK;
}

const codec codec_lift2k_batch = {"lift2k, batch call", l2k_version, make_worker, free_worker, encode, decode,
                                  encode_batch,         decode_batch};

/* ---- Copies alone ---------------------------------------------------------------------------------------------- */

typedef struct copy_worker {
    size_t samples, count;
    void *device; /* room for both */
    void *host;   /* for codestreams */
    cudaStream_t stream;
} copy_worker;

static void free_copy_worker(worker *w)
{
    copy_worker *m = (copy_worker *)(void *)w;
    cudaFree(m->device);
    cudaFreeHost(m->host);
    if (m->stream)
        cudaStreamDestroy(m->stream);
    free(m);
}

static worker *make_copy_worker(const shape *s, const coding *k, bool on_device)
{
    copy_worker *m = calloc(1, sizeof *m);
    (void)on_device;
    if (!m)
        return NULL;
    m->samples = shape_bytes(s);
    m->count = (size_t)k->value;
    if (cudaMalloc(&m->device, m->samples + m->count) == cudaSuccess &&
        cudaMallocHost(&m->host, m->count) == cudaSuccess &&
        cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking) == cudaSuccess)
        return (worker *)(void *)m;
    free_copy_worker((worker *)(void *)m);
    return NULL;
}

static bool copy_both(copy_worker *m, const void *from, size_t up, void *to, size_t down)
{
    return cudaMemcpyAsync(m->device, from, up, cudaMemcpyHostToDevice, m->stream) == cudaSuccess &&
           cudaMemcpyAsync(to, m->device, down, cudaMemcpyDeviceToHost, m->stream) == cudaSuccess &&
           cudaStreamSynchronize(m->stream) == cudaSuccess;
}

static bool copy_as_encoder(worker *w, const void *samples, const uint8_t **bytes, size_t *count)
{
    copy_worker *m = (copy_worker *)(void *)w;
    *bytes = m->host;
    *count = m->count;
    return copy_both(m, samples, m->samples, m->host, m->count);
}

static bool copy_as_decoder(worker *w, const uint8_t *bytes, size_t count, void *samples)
{
    copy_worker *m = (copy_worker *)(void *)w;
    return copy_both(m, bytes, count < m->count ? count : m->count, samples, m->samples);
}

const codec codec_copies = {
    "copies alone", l2k_version, make_copy_worker, free_copy_worker, copy_as_encoder, copy_as_decoder, NULL, NULL};
