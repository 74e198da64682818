/* The command with coding replaced by copies (lift2k_copies): linked with --wrap for the library's calls, so that all
 * else is the command's own. Encoding copies the samples to the device and L2K_COPY_BYTES bytes of it back, which are
 * written; decoding copies the file there and samples back. Of each object all is on the device that the command says,
 * through pinned memory, as the library does it. For pictures of one tile in host memory, and files that are mapped. */
#include <cuda_runtime_api.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lift2k/lift2k.h"

enum { MOST_OBJECTS = 256 };

/* One of the command's encoders or decoders. */
typedef struct object {
    const void *key;
    int device;
    const void *file; /* to decode */
    size_t file_bytes;
    cudaStream_t stream;
    uint8_t *pinned[2], *on_device[2]; /* up, down */
    size_t bytes[2];
} object;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static object *objects[MOST_OBJECTS];

static object *object_of(const void *key)
{
    object *found = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_OBJECTS && !found; i++) {
        if (!objects[i]) {
            objects[i] = calloc(1, sizeof **objects);
            if (!objects[i])
                abort();
            objects[i]->key = key;
        }
        if (objects[i]->key == key)
            found = objects[i];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void check(int error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "lift2k_copies: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void reserve(object *o, int way, size_t bytes)
{
    if (bytes <= o->bytes[way])
        return;
    cudaFreeHost(o->pinned[way]);
    cudaFree(o->on_device[way]);
    check(cudaMallocHost((void **)&o->pinned[way], bytes), "pinned memory");
    check(cudaMalloc((void **)&o->on_device[way], bytes), "device memory");
    o->bytes[way] = bytes;
}

/* So many bytes up, and so many down to pinned[1]. */
static void copy(object *o, const void *from, size_t up, size_t down)
{
    check(cudaSetDevice(o->device), "the device");
    if (!o->stream)
        check(cudaStreamCreateWithFlags(&o->stream, cudaStreamNonBlocking), "a stream");
    reserve(o, 0, up);
    reserve(o, 1, down);
    memcpy(o->pinned[0], from, up);
    check(cudaMemcpyAsync(o->on_device[0], o->pinned[0], up, cudaMemcpyHostToDevice, o->stream), "copying up");
    check(cudaMemcpyAsync(o->pinned[1], o->on_device[1], down, cudaMemcpyDeviceToHost, o->stream), "copying down");
    check(cudaStreamSynchronize(o->stream), "copying");
}

/* Of interleaved samples. */
static size_t bytes_of(const l2k_image *image, const l2k_plane *planes)
{
    uint32_t width, height;
    l2k_component_size(image, 0, &width, &height);
    return (size_t)planes[0].row_stride * height;
}

l2k_status __real_l2k_encoder_set(l2k_encoder *encoder, l2k_encoder_option option, int64_t value);
l2k_status __wrap_l2k_encoder_set(l2k_encoder *encoder, l2k_encoder_option option, int64_t value);
l2k_status __wrap_l2k_encoder_set(l2k_encoder *encoder, l2k_encoder_option option, int64_t value)
{
    if (option == L2K_ENCODER_DEVICE && value >= 0)
        object_of(encoder)->device = (int)value;
    return __real_l2k_encoder_set(encoder, option, value);
}

l2k_status __wrap_l2k_encoder_encode(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                                     const l2k_stream *stream);
l2k_status __wrap_l2k_encoder_encode(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                                     const l2k_stream *stream)
{
    const char *bytes = getenv("L2K_COPY_BYTES");
    const size_t all = bytes_of(image, planes), coded = bytes ? (size_t)atoll(bytes) : all / 2;
    object *o = object_of(encoder);
    copy(o, planes[0].data, all, coded);
    return stream->write(stream->user, o->pinned[1], coded) == 0 ? L2K_OK : L2K_ERROR_IO;
}

l2k_status __real_l2k_decoder_set(l2k_decoder *decoder, l2k_decoder_option option, int64_t value);
l2k_status __wrap_l2k_decoder_set(l2k_decoder *decoder, l2k_decoder_option option, int64_t value);
l2k_status __wrap_l2k_decoder_set(l2k_decoder *decoder, l2k_decoder_option option, int64_t value)
{
    if (option == L2K_DECODER_DEVICE && value >= 0)
        object_of(decoder)->device = (int)value;
    return __real_l2k_decoder_set(decoder, option, value);
}

l2k_status __real_l2k_decoder_open_memory(l2k_decoder *decoder, const void *data, size_t bytes);
l2k_status __wrap_l2k_decoder_open_memory(l2k_decoder *decoder, const void *data, size_t bytes);
l2k_status __wrap_l2k_decoder_open_memory(l2k_decoder *decoder, const void *data, size_t bytes)
{
    object *o = object_of(decoder);
    o->file = data;
    o->file_bytes = bytes;
    return __real_l2k_decoder_open_memory(decoder, data, bytes);
}

l2k_status __wrap_l2k_decoder_decode(l2k_decoder *decoder, const l2k_plane *planes);
l2k_status __wrap_l2k_decoder_decode(l2k_decoder *decoder, const l2k_plane *planes)
{
    l2k_image image;
    object *o = object_of(decoder);
    const l2k_status status = l2k_decoder_image(decoder, &image);
    if (status != L2K_OK)
        return status;
    const size_t all = bytes_of(&image, planes);
    copy(o, o->file, o->file_bytes, all);
    memcpy(planes[0].data, o->pinned[1], all);
    return L2K_OK;
}
