/* NVIDIA's nvJPEG2000 for the comparison of codecs. A lane is what its documentation has for a thread: handles, states,
 * a parsed stream, pinned memory and a CUDA stream of its own. Device memory comes from the stream's pool, which keeps
 * it, since reallocation would wait for the device. */
#include <cuda_runtime_api.h>
#include <nvjpeg2k.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cuda/codecs.h"

enum { MOST_COMPONENTS = 4, LEVELS = 5 };

struct lane {
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

/* ---- Lanes ----------------------------------------------------------------------------------------------------- */

static bool set_coding(lane *l)
{
    const shape *s = &l->shape;
    const coding *k = &l->coding;
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
    return DONE(nvjpeg2kEncodeParamsSetEncodeConfig(l->parameters, &config)) &&
           DONE(nvjpeg2kEncodeParamsSetInputFormat(l->parameters, format)) &&
           DONE(nvjpeg2kDecodeParamsSetOutputFormat(l->output, format)) &&
           (k->quality == EVERYTHING || DONE(nvjpeg2kEncodeParamsSpecifyQuality(l->parameters, type, k->value)));
}

static void free_lane(lane *l)
{
    if (l->parameters)
        nvjpeg2kEncodeParamsDestroy(l->parameters);
    if (l->encoding)
        nvjpeg2kEncodeStateDestroy(l->encoding);
    if (l->encoder)
        nvjpeg2kEncoderDestroy(l->encoder);
    if (l->output)
        nvjpeg2kDecodeParamsDestroy(l->output);
    if (l->parsed)
        nvjpeg2kStreamDestroy(l->parsed);
    if (l->decoding)
        nvjpeg2kDecodeStateDestroy(l->decoding);
    if (l->decoder)
        nvjpeg2kDestroy(l->decoder);
    if (l->stream)
        cudaStreamDestroy(l->stream);
    cudaFree(l->staged);
    cudaFreeHost(l->bytes);
    free(l);
}

static bool make_parts(lane *l)
{
    static nvjpeg2kDeviceAllocatorV2_t device = {take_device, give_back_device, NULL};
    static nvjpeg2kPinnedAllocatorV2_t pinned = {take_pinned, give_back_pinned, NULL};
    l->room = shape_bytes(&l->shape) + (1 << 16);
    keep_pool();
    return CUDA_DONE(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking)) &&
           CUDA_DONE(cudaMallocHost((void **)&l->bytes, l->room)) &&
           (l->on_device || CUDA_DONE(cudaMalloc((void **)&l->staged, shape_bytes(&l->shape)))) &&
           DONE(nvjpeg2kEncoderCreateSimple(&l->encoder)) &&
           DONE(nvjpeg2kEncodeStateCreate(l->encoder, &l->encoding)) &&
           DONE(nvjpeg2kEncodeParamsCreate(&l->parameters)) &&
           DONE(nvjpeg2kCreateV2(NVJPEG2K_BACKEND_DEFAULT, &device, &pinned, &l->decoder)) &&
           DONE(nvjpeg2kSetDeviceMemoryPadding(1 << 20, l->decoder)) &&
           DONE(nvjpeg2kSetPinnedMemoryPadding(1 << 20, l->decoder)) &&
           DONE(nvjpeg2kDecodeStateCreate(l->decoder, &l->decoding)) && DONE(nvjpeg2kDecodeParamsCreate(&l->output)) &&
           DONE(nvjpeg2kStreamCreate(&l->parsed)) && set_coding(l);
}

static lane *make_lane(const shape *s, const coding *k, bool on_device)
{
    lane *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->shape = *s;
    l->coding = *k;
    l->on_device = on_device;
    if (make_parts(l))
        return l;
    free_lane(l);
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

static bool encode(lane *l, const void *samples, const uint8_t **bytes, size_t *count)
{
    void *from = (void *)(uintptr_t)samples;
    view v;
    if (!l->on_device) {
        if (!CUDA_DONE(cudaMemcpyAsync(l->staged, samples, shape_bytes(&l->shape), cudaMemcpyHostToDevice, l->stream)))
            return false;
        from = l->staged;
    }
    make_view(&v, &l->shape, from);
    if (!DONE(nvjpeg2kEncode(l->encoder, l->encoding, l->parameters, &v.image, l->stream)) ||
        !DONE(nvjpeg2kEncodeRetrieveBitstream(l->encoder, l->encoding, NULL, count, l->stream)) || *count > l->room ||
        !DONE(nvjpeg2kEncodeRetrieveBitstream(l->encoder, l->encoding, l->bytes, count, l->stream)))
        return false;
    *bytes = l->bytes;
    return CUDA_DONE(cudaStreamSynchronize(l->stream));
}

static bool decode(lane *l, const uint8_t *bytes, size_t count, void *samples)
{
    view v;
    make_view(&v, &l->shape, l->on_device ? samples : l->staged);
    if (!DONE(nvjpeg2kStreamParse(l->decoder, bytes, count, 0, 0, l->parsed)) ||
        !DONE(nvjpeg2kDecodeImage(l->decoder, l->decoding, l->parsed, l->output, &v.image, l->stream)))
        return false;
    if (!l->on_device &&
        !CUDA_DONE(cudaMemcpyAsync(samples, l->staged, shape_bytes(&l->shape), cudaMemcpyDeviceToHost, l->stream)))
        return false;
    return CUDA_DONE(cudaStreamSynchronize(l->stream));
}

const codec codec_nvjpeg2k = {"nvJPEG2000", version, make_lane, free_lane, encode, decode, NULL, NULL};
