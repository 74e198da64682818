/* NVIDIA's nvJPEG2000 for the comparison of codecs. A worker is what its documentation has for a thread: handles,
 * states, a parsed stream, pinned memory and a CUDA stream of its own. Device memory comes from the stream's pool, which
 * keeps it, since reallocation would wait for the device. */
#include <cuda_runtime_api.h>
#include <nvjpeg2k.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cuda/codecs.h"

enum { MOST_COMPONENTS = 4, LEVELS = 5 };

struct worker {
    shape shape;
    coding coding;
    bool on_device;
    cudaStream_t stream;
    nvjpeg2kEncoder_t encoder;
    nvjpeg2kEncodeState_t encoding;
    nvjpeg2kEncodeParams_t parameters;
    nvjpeg2kHandle_t decoder;
    nvjpeg2kDecodeState_t decoding;
    nvjpeg2kDecodeParams_t output;
    nvjpeg2kStream_t parsed;
    uint8_t *staged; /* samples of the host, on the device */
    uint8_t *bytes;  /* pinned */
    size_t room;
};

static bool done(nvjpeg2kStatus_t status, const char *call)
{
    if (status != NVJPEG2K_STATUS_SUCCESS)
        fprintf(stderr, "nvJPEG2000: %s gives status %d\n", call, (int)status);
    return status == NVJPEG2K_STATUS_SUCCESS;
}

static bool cuda_done(cudaError_t error, const char *call)
{
    if (error != cudaSuccess)
        fprintf(stderr, "nvJPEG2000: %s: %s\n", call, cudaGetErrorString(error));
    return error == cudaSuccess;
}

#define DONE(call)      done(call, #call)
#define CUDA_DONE(call) cuda_done(call, #call)

static const char *version(void)
{
    static char text[32];
    int n[3] = {0};
    for (int i = 0; i < 3; i++)
        nvjpeg2kGetProperty((libraryPropertyType)i, &n[i]);
    snprintf(text, sizeof text, "%d.%d.%d", n[0], n[1], n[2]);
    return text;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

static int take_device(void *user, void **memory, size_t bytes, cudaStream_t stream)
{
    (void)user;
    return cudaMallocAsync(memory, bytes, stream);
}

static int give_back_device(void *user, void *memory, size_t bytes, cudaStream_t stream)
{
    (void)user, (void)bytes;
    return cudaFreeAsync(memory, stream);
}

static int take_pinned(void *user, void **memory, size_t bytes, cudaStream_t stream)
{
    (void)user, (void)stream;
    return cudaMallocHost(memory, bytes);
}

static int give_back_pinned(void *user, void *memory, size_t bytes, cudaStream_t stream)
{
    (void)user, (void)bytes, (void)stream;
    return cudaFreeHost(memory);
}

static void keep_pool(void)
{
    uint64_t all = UINT64_MAX;
    int device = 0;
    cudaMemPool_t pool;
    if (cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess)
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
}

/* ---- Workers ----------------------------------------------------------------------------------------------------- */

static bool set_coding(worker *w)
{
    const shape *s = &w->shape;
    const coding *k = &w->coding;
    nvjpeg2kImageComponentInfo_t components[MOST_COMPONENTS];
    for (uint32_t c = 0; c < s->components; c++)
        components[c] = (nvjpeg2kImageComponentInfo_t){s->width, s->height, (uint8_t)s->precision, 0};
    nvjpeg2kEncodeConfig_t config = {
        .stream_type = NVJPEG2K_STREAM_J2K,
        .color_space = s->components == 3 ? NVJPEG2K_COLORSPACE_SRGB : NVJPEG2K_COLORSPACE_GRAY,
        .rsiz = k->ht ? NVJPEG2K_RSIZ_HT : 0,
        .image_width = s->width,
        .image_height = s->height,
        .num_components = s->components,
        .image_comp_info = components,
        .prog_order = NVJPEG2K_LRCP,
        .num_layers = 1,
        .mct_mode = s->components == 3,
        .num_resolutions = LEVELS + 1,
        .code_block_w = k->block,
        .code_block_h = k->block,
        .encode_modes = k->ht ? NVJPEG2K_MODE_HT : 0,
        .irreversible = k->irreversible,
    };
    const nvjpeg2kQualityType_t type =
        k->quality == PSNR ? NVJPEG2K_QUALITY_TYPE_TARGET_PSNR : NVJPEG2K_QUALITY_TYPE_QUANTIZATION_STEP;
    const nvjpeg2kImageFormat_t format = s->interleaved ? NVJPEG2K_FORMAT_INTERLEAVED : NVJPEG2K_FORMAT_PLANAR;
    return DONE(nvjpeg2kEncodeParamsSetEncodeConfig(w->parameters, &config)) &&
           DONE(nvjpeg2kEncodeParamsSetInputFormat(w->parameters, format)) &&
           DONE(nvjpeg2kDecodeParamsSetOutputFormat(w->output, format)) &&
           (k->quality == EVERYTHING || DONE(nvjpeg2kEncodeParamsSpecifyQuality(w->parameters, type, k->value)));
}

static void free_worker(worker *w)
{
    if (w->parameters)
        nvjpeg2kEncodeParamsDestroy(w->parameters);
    if (w->encoding)
        nvjpeg2kEncodeStateDestroy(w->encoding);
    if (w->encoder)
        nvjpeg2kEncoderDestroy(w->encoder);
    if (w->output)
        nvjpeg2kDecodeParamsDestroy(w->output);
    if (w->parsed)
        nvjpeg2kStreamDestroy(w->parsed);
    if (w->decoding)
        nvjpeg2kDecodeStateDestroy(w->decoding);
    if (w->decoder)
        nvjpeg2kDestroy(w->decoder);
    if (w->stream)
        cudaStreamDestroy(w->stream);
    cudaFree(w->staged);
    cudaFreeHost(w->bytes);
    free(w);
}

static bool make_parts(worker *w)
{
    static nvjpeg2kDeviceAllocatorV2_t device = {take_device, give_back_device, NULL};
    static nvjpeg2kPinnedAllocatorV2_t pinned = {take_pinned, give_back_pinned, NULL};
    w->room = shape_bytes(&w->shape) + (1 << 16);
    keep_pool();
    return CUDA_DONE(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking)) &&
           CUDA_DONE(cudaMallocHost((void **)&w->bytes, w->room)) &&
           (w->on_device || CUDA_DONE(cudaMalloc((void **)&w->staged, shape_bytes(&w->shape)))) &&
           DONE(nvjpeg2kEncoderCreateSimple(&w->encoder)) &&
           DONE(nvjpeg2kEncodeStateCreate(w->encoder, &w->encoding)) &&
           DONE(nvjpeg2kEncodeParamsCreate(&w->parameters)) &&
           DONE(nvjpeg2kCreateV2(NVJPEG2K_BACKEND_DEFAULT, &device, &pinned, &w->decoder)) &&
           DONE(nvjpeg2kSetDeviceMemoryPadding(1 << 20, w->decoder)) &&
           DONE(nvjpeg2kSetPinnedMemoryPadding(1 << 20, w->decoder)) &&
           DONE(nvjpeg2kDecodeStateCreate(w->decoder, &w->decoding)) && DONE(nvjpeg2kDecodeParamsCreate(&w->output)) &&
           DONE(nvjpeg2kStreamCreate(&w->parsed)) && set_coding(w);
}

static worker *make_worker(const shape *s, const coding *k, bool on_device)
{
    worker *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->shape = *s;
    w->coding = *k;
    w->on_device = on_device;
    if (make_parts(w))
        return w;
    free_worker(w);
    return NULL;
}

/* ---- Work ------------------------------------------------------------------------------------------------------ */

typedef struct view {
    void *planes[MOST_COMPONENTS];
    size_t pitches[MOST_COMPONENTS];
    nvjpeg2kImage_t image;
} view;

static void make_view(view *v, const shape *s, void *samples)
{
    for (uint32_t c = 0; c < s->components; c++) {
        v->planes[c] = (uint8_t *)samples + c * shape_component_stride(s);
        v->pitches[c] = s->width * shape_sample_stride(s);
    }
    v->image =
        (nvjpeg2kImage_t){v->planes, v->pitches, s->bytes == 2 ? NVJPEG2K_UINT16 : NVJPEG2K_UINT8, s->components};
}

static bool encode(worker *w, const void *samples, const uint8_t **bytes, size_t *count)
{
    void *from = (void *)(uintptr_t)samples;
    view v;
    if (!w->on_device) {
        if (!CUDA_DONE(cudaMemcpyAsync(w->staged, samples, shape_bytes(&w->shape), cudaMemcpyHostToDevice, w->stream)))
            return false;
        from = w->staged;
    }
    make_view(&v, &w->shape, from);
    if (!DONE(nvjpeg2kEncode(w->encoder, w->encoding, w->parameters, &v.image, w->stream)) ||
        !DONE(nvjpeg2kEncodeRetrieveBitstream(w->encoder, w->encoding, NULL, count, w->stream)) || *count > w->room ||
        !DONE(nvjpeg2kEncodeRetrieveBitstream(w->encoder, w->encoding, w->bytes, count, w->stream)))
        return false;
    *bytes = w->bytes;
    return CUDA_DONE(cudaStreamSynchronize(w->stream));
}

static bool decode(worker *w, const uint8_t *bytes, size_t count, void *samples)
{
    view v;
    make_view(&v, &w->shape, w->on_device ? samples : w->staged);
    if (!DONE(nvjpeg2kStreamParse(w->decoder, bytes, count, 0, 0, w->parsed)) ||
        !DONE(nvjpeg2kDecodeImage(w->decoder, w->decoding, w->parsed, w->output, &v.image, w->stream)))
        return false;
    if (!w->on_device &&
        !CUDA_DONE(cudaMemcpyAsync(samples, w->staged, shape_bytes(&w->shape), cudaMemcpyDeviceToHost, w->stream)))
        return false;
    return CUDA_DONE(cudaStreamSynchronize(w->stream));
}

const codec codec_nvjpeg2k = {"nvJPEG2000", version, make_worker, free_worker, encode, decode, NULL, NULL};
