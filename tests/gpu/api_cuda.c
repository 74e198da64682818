/* gpu_api: the public interface on a GPU. The transform on device memory, also captured in a graph, equals the CPU's; a
 * plan allocates the memory it announced; AUTO selects the GPU, or the CPU where the GPU's memory is too small.
 * Measures what is free of the device's memory, and fills it, so that nothing else may use the device meanwhile. Exits
 * with 77 without a GPU, unless L2K_REQUIRE_GPU=1. */
#include "api_support.h"

#include <cuda_runtime.h>

#include "base/sample.h"
#include "device.h"
#include "require.h"

#define CUDA(call) assert_string_equal(cudaGetErrorString(call), cudaGetErrorString(cudaSuccess))

enum { CASES = 300, LARGEST = 300 };

static cudaStream_t stream;

/* ---- The transform on device memory -------------------------------------------------------------------------- */

typedef struct shape {
    l2k_wavelet wavelet;
    unsigned levels, reduce;
    bool joined, in_graph;
    l2k_coefficient_type type;
    l2k_sample_type samples;
} shape;

/* Samples of one component, on the host and on the device, with a gap after each row. */
typedef struct both_planes {
    l2k_plane host, device;
    size_t bytes;
} both_planes;

static void store(uint8_t *at, l2k_sample_type type, int32_t value)
{
    float real = (float)value / 3.0f;
    memcpy(at, type == L2K_SAMPLE_F32 ? (const void *)&real : (const void *)&value, l2k_sample_bytes(type));
}

static both_planes make_planes(l2k_sample_type type, uint32_t width, uint32_t height)
{
    both_planes p;
    void *device;
    size_t size = l2k_sample_bytes(type), row = (width + random_below(4)) * size;
    p.bytes = row * height + size;
    uint8_t *host = malloc(p.bytes);
    assert_non_null(host);
    for (size_t i = 0; i < p.bytes; i += size)
        store(host + i, type, (int32_t)random_below(256));
    CUDA(cudaMalloc(&device, p.bytes));
    CUDA(cudaMemcpy(device, host, p.bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); /* the copy may return before all has arrived, and another stream does not wait */
    p.host = (l2k_plane){host, (ptrdiff_t)row, (ptrdiff_t)size, type};
    p.device = p.host;
    p.device.data = device;
    return p;
}

static void free_planes(both_planes *p)
{
    free(p->host.data);
    CUDA(cudaFree(p->device.data));
}

static l2k_transform *make(const l2k_hooks *hooks, const shape *s, l2k_direction direction, l2k_memory memory)
{
    l2k_transform *t = l2k_transform_new(hooks);
    assert_non_null(t);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_DIRECTION, direction), L2K_OK);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_WAVELET, s->wavelet), L2K_OK);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_LEVELS, s->levels), L2K_OK);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_REDUCE, direction == L2K_INVERSE ? s->reduce : 0), L2K_OK);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_COMPONENT_TRANSFORM, s->joined), L2K_OK);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_COEFFICIENTS, s->type), L2K_OK);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_MEMORY, memory), L2K_OK);
    if (memory == L2K_MEMORY_HOST)
        assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    return t;
}

static shape random_shape(l2k_image *tile, l2k_component *components)
{
    static const l2k_sample_type types[] = {L2K_SAMPLE_U8, L2K_SAMPLE_U16, L2K_SAMPLE_S16, L2K_SAMPLE_S32,
                                            L2K_SAMPLE_F32};
    shape s = {.wavelet = random_below(2) ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3, .levels = random_below(8)};
    uint32_t count = random_between(1, 4), x0 = random_below(200), y0 = random_below(200);
    s.joined = count >= 3 && random_below(2);
    s.reduce = random_below(2) ? random_below(s.levels + 1) : 0;
    s.in_graph = random_below(2);
    s.type = s.wavelet == L2K_WAVELET_9_7 ? (l2k_coefficient_type)random_between(s.levels > 5, 2)
                                          : (l2k_coefficient_type)random_below(2);
    s.samples = types[random_below(s.wavelet == L2K_WAVELET_9_7 && !s.joined ? 5 : 4)];
    *tile = (l2k_image){.x0 = x0,
                        .y0 = y0,
                        .x1 = x0 + random_between(1, LARGEST),
                        .y1 = y0 + random_between(1, LARGEST),
                        .num_components = count,
                        .components = components};
    for (uint32_t c = 0; c < count; c++)
        components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
    if (count == 4 || !s.joined)
        components[count - 1].dx = components[count - 1].dy = random_between(1, 2);
    return s;
}

/* Runs the transform on the stream, directly or through a graph. */
static void run_on_device(l2k_transform *t, l2k_direction direction, const l2k_plane *planes, bool in_graph)
{
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    if (in_graph)
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_int_equal(direction == L2K_FORWARD ? l2k_transform_forward_on_device(t, planes, stream)
                                              : l2k_transform_inverse_on_device(t, planes, stream),
                     L2K_OK);
    if (in_graph) {
        CUDA(cudaStreamEndCapture(stream, &graph));
        CUDA(cudaGraphInstantiateWithFlags(&instance, graph, 0));
        CUDA(cudaGraphLaunch(instance, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaGraphExecDestroy(instance));
        CUDA(cudaGraphDestroy(graph));
    }
    CUDA(cudaStreamSynchronize(stream));
}

static void copy_view(const l2k_coefficients *to, const l2k_coefficients *from)
{
    size_t size = l2k_coefficient_bytes(to->type);
    assert_int_equal(to->width, from->width);
    assert_int_equal(to->height, from->height);
    if (to->width && to->height)
        CUDA(cudaMemcpy2D(to->base, to->stride * size, from->base, from->stride * size, to->width * size, to->height,
                          cudaMemcpyDefault));
    CUDA(cudaDeviceSynchronize());
}

/* A view's coefficients without gaps, for the caller to free. */
static void *read_view(const l2k_coefficients *view)
{
    size_t size = l2k_coefficient_bytes(view->type);
    l2k_coefficients packed = {.type = view->type, .stride = view->width, .width = view->width, .height = view->height};
    packed.base = calloc((size_t)view->width * view->height + 1, size);
    assert_non_null(packed.base);
    copy_view(&packed, view);
    return packed.base;
}

static void compare_views(const l2k_transform *cpu, const l2k_transform *gpu, uint32_t components)
{
    for (uint32_t c = 0; c < components; c++) {
        const l2k_coefficients *a = l2k_transform_coefficients(cpu, c), *b = l2k_transform_coefficients(gpu, c);
        assert_true(b->on_device);
        assert_memory_equal(a->bands, b->bands, a->num_bands * sizeof a->bands[0]);
        void *from = read_view(a), *to = read_view(b);
        assert_memory_equal(from, to, (size_t)a->width * a->height * l2k_coefficient_bytes(a->type));
        free(from);
        free(to);
    }
}

static void both_forward(const shape *s, const l2k_image *tile, const l2k_hooks *hooks)
{
    both_planes planes[4];
    l2k_plane host[4], device[4];
    l2k_transform *cpu = make(hooks, s, L2K_FORWARD, L2K_MEMORY_HOST),
                  *gpu = make(hooks, s, L2K_FORWARD, L2K_MEMORY_DEVICE);
    for (uint32_t c = 0; c < tile->num_components; c++) {
        uint32_t width, height;
        l2k_component_size(tile, c, &width, &height);
        planes[c] = make_planes(s->samples, width, height);
        host[c] = planes[c].host;
        device[c] = planes[c].device;
    }
    assert_int_equal(l2k_transform_prepare(cpu, tile), L2K_OK);
    assert_int_equal(l2k_transform_prepare(gpu, tile), L2K_OK);
    assert_int_equal(l2k_transform_backend(gpu), L2K_BACKEND_CUDA);
    assert_int_equal(l2k_transform_forward(gpu, host), L2K_ERROR_STATE);
    assert_int_equal(l2k_transform_forward(cpu, host), L2K_OK);
    run_on_device(gpu, L2K_FORWARD, device, s->in_graph);
    compare_views(cpu, gpu, tile->num_components);
    for (uint32_t c = 0; c < tile->num_components; c++)
        free_planes(&planes[c]);
    l2k_transform_free(cpu);
    l2k_transform_free(gpu);
}

static void fill_view(const l2k_coefficients *view)
{
    for (size_t i = 0; i < view->stride * view->height; i++) {
        int32_t value = (int32_t)random_below(64) - 32;
        float real = (float)value / 3.0f;
        memcpy((uint8_t *)view->base + i * l2k_coefficient_bytes(view->type),
               view->type == L2K_COEFFICIENT_FLOAT32 ? (const void *)&real : (const void *)&value,
               l2k_coefficient_bytes(view->type));
    }
}

/* A region for both, in half of the cases; planes are as large as the view, which is not smaller. */
static void restrict_both(const l2k_image *tile, l2k_transform *cpu, l2k_transform *gpu)
{
    const uint32_t x0 = random_between(tile->x0, tile->x1 - 1), y0 = random_between(tile->y0, tile->y1 - 1);
    const uint32_t x1 = random_between(x0 + 1, tile->x1), y1 = random_between(y0 + 1, tile->y1);
    if (random_below(2))
        return;
    assert_int_equal(l2k_transform_set_region(cpu, x0, y0, x1, y1), L2K_OK);
    assert_int_equal(l2k_transform_set_region(gpu, x0, y0, x1, y1), L2K_OK);
}

static void both_inverse(const shape *s, const l2k_image *tile, const l2k_hooks *hooks)
{
    both_planes planes[4];
    l2k_plane host[4], device[4];
    l2k_transform *cpu = make(hooks, s, L2K_INVERSE, L2K_MEMORY_HOST),
                  *gpu = make(hooks, s, L2K_INVERSE, L2K_MEMORY_DEVICE);
    restrict_both(tile, cpu, gpu);
    assert_int_equal(l2k_transform_prepare(cpu, tile), L2K_OK);
    assert_int_equal(l2k_transform_prepare(gpu, tile), L2K_OK);
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_coefficients *view = l2k_transform_coefficients(cpu, c);
        fill_view(view);
        copy_view(l2k_transform_coefficients(gpu, c), view);
        planes[c] = make_planes(s->samples, view->width, view->height);
        host[c] = planes[c].host;
        device[c] = planes[c].device;
    }
    assert_int_equal(l2k_transform_inverse(cpu, host), L2K_OK);
    run_on_device(gpu, L2K_INVERSE, device, s->in_graph);
    for (uint32_t c = 0; c < tile->num_components; c++) { /* including the gaps, which must not change */
        uint8_t *got = malloc(planes[c].bytes);
        assert_non_null(got);
        CUDA(cudaMemcpy(got, planes[c].device.data, planes[c].bytes, cudaMemcpyDeviceToHost));
        assert_memory_equal(got, planes[c].host.data, planes[c].bytes);
        free(got);
        free_planes(&planes[c]);
    }
    l2k_transform_free(cpu);
    l2k_transform_free(gpu);
}

static void test_device(void **unused)
{
    (void)unused;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    for (unsigned i = 0; i < CASES; i++) {
        l2k_component components[4];
        l2k_image tile;
        shape s = random_shape(&tile, components);
        both_forward(&s, &tile, &hooks);
        both_inverse(&s, &tile, &hooks);
    }
    assert_int_equal(w.errors, CASES); /* the runs on the wrong memory */
    assert_int_equal(w.live, 0);
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

enum { SIDE = 4096, SLACK = 32 << 20 };

/* At most 2.5 times samples and coefficients, and no more allocated than announced. */
static void check_memory(const shape *s, uint32_t count, l2k_direction direction, l2k_memory memory)
{
    l2k_component components[3] = {{.dx = 1, .dy = 1, .precision = 8}};
    components[1] = components[2] = components[0];
    l2k_image tile = {.x1 = SIDE, .y1 = SIDE, .num_components = count, .components = components};
    uint64_t bytes, samples = (uint64_t)SIDE * SIDE * count;
    l2k_transform *t = make(NULL, s, direction, memory);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_BACKEND, L2K_BACKEND_CUDA), L2K_OK);
    assert_int_equal(l2k_transform_device_bytes(t, &tile, &bytes), L2K_OK);
    uint64_t both = samples * (1 + l2k_coefficient_bytes(s->type));
    print_message("%u components, wavelet %d, coefficients %d, %s, %s: %.2f times samples and coefficients\n", count,
                  (int)s->wavelet, (int)s->type, direction == L2K_FORWARD ? "forward" : "inverse",
                  memory == L2K_MEMORY_HOST ? "host" : "device", (double)bytes / (double)both);
    assert_true(bytes <= both * 5 / 2);
    gpu_wait();
    size_t before = gpu_free_bytes();
    assert_int_equal(l2k_transform_prepare(t, &tile), L2K_OK);
    gpu_wait();
    size_t after = gpu_free_bytes();
    assert_true(before <= after + bytes + SLACK);
    l2k_transform_free(t);
}

static void test_memory(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 16; i++) {
        shape s = {.wavelet = i & 1 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3, .levels = 5};
        uint32_t count = i & 2 ? 3 : 1;
        s.joined = count == 3;
        s.type = i & 4 ? L2K_COEFFICIENT_INT32 : L2K_COEFFICIENT_INT16;
        check_memory(&s, count, i & 8 ? L2K_INVERSE : L2K_FORWARD, L2K_MEMORY_HOST);
        check_memory(&s, count, i & 8 ? L2K_INVERSE : L2K_FORWARD, L2K_MEMORY_DEVICE);
    }
}

/* ---- AUTO ---------------------------------------------------------------------------------------------------- */

typedef struct counts {
    unsigned of[3];
} counts;

static void count_message(void *user, l2k_severity severity, const char *text)
{
    counts *c = user;
    c->of[severity]++;
    print_message("    %s\n", text);
}

/* Encodes in tiles of a given width, 0 = one tile, with the GPU allowed for any size. */
static l2k_status encode_on(l2k_backend backend, const picture *p, uint32_t tile_width, counts *c, memory_file *file)
{
    l2k_hooks hooks = {.message = count_message, .user = c};
    *file = memory_of(NULL, 0);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    assert_non_null(encoder);
    l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, backend);
    l2k_encoder_set(encoder, L2K_ENCODER_GPU_MIN_SAMPLES, 0);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, tile_width);
    l2k_status status = run_encoder(encoder, p, file);
    l2k_encoder_free(encoder);
    return status;
}

static void check_decoder(l2k_backend backend, const picture *p, const memory_file *file, unsigned notes)
{
    counts c = {{0}};
    picture got;
    l2k_decoder *decoder = l2k_decoder_new(&(l2k_hooks){.message = count_message, .user = &c});
    assert_non_null(decoder);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, backend);
    l2k_decoder_set(decoder, L2K_DECODER_GPU_MIN_SAMPLES, 0);
    assert_int_equal(run_decoder(decoder, file->data, file->size, &got), L2K_OK);
    assert_int_equal(c.of[L2K_SEVERITY_NOTE], notes);
    assert_true(picture_equal(p, &got));
    l2k_decoder_free(decoder);
    picture_free(&got);
}

/* Compares with the CPU. `notes`: how many messages of severity NOTE the encoder reports, and the decoder. */
static void check_codec(const picture *p, uint32_t tile_width, l2k_backend backend, l2k_status expected, unsigned notes)
{
    counts c = {{0}};
    memory_file plain, file;
    assert_int_equal(encode_on(L2K_BACKEND_CPU, p, tile_width, &c, &plain), L2K_OK);
    assert_int_equal(encode_on(backend, p, tile_width, &c, &file), expected);
    assert_int_equal(c.of[L2K_SEVERITY_NOTE], notes);
    assert_int_equal(c.of[L2K_SEVERITY_ERROR] > 0, expected != L2K_OK);
    if (expected == L2K_OK) {
        assert_int_equal(file.size, plain.size);
        assert_memory_equal(file.data, plain.data, plain.size);
        check_decoder(backend, p, &file, notes);
    }
    free(file.data);
    free(plain.data);
}

static l2k_backend backend_of_auto(const picture *p, unsigned notes)
{
    counts c = {{0}};
    l2k_hooks hooks = {.message = count_message, .user = &c};
    l2k_transform *t = l2k_transform_new(&hooks);
    l2k_transform_set(t, L2K_TRANSFORM_GPU_MIN_SAMPLES, 0);
    assert_int_equal(l2k_transform_prepare(t, &p->image), L2K_OK);
    l2k_backend backend = l2k_transform_backend(t);
    assert_int_equal(c.of[L2K_SEVERITY_NOTE], notes);
    assert_int_equal(c.of[L2K_SEVERITY_ERROR], 0);
    l2k_transform_free(t);
    return backend;
}

/* Device memory for a tile of the picture's height. */
static size_t bytes_of_tile(const picture *p, uint32_t width)
{
    uint64_t bytes;
    l2k_image tile = p->image;
    tile.x1 = tile.x0 + width;
    l2k_transform *t = l2k_transform_new(NULL);
    l2k_transform_set(t, L2K_TRANSFORM_COMPONENT_TRANSFORM, 1);
    l2k_transform_set(t, L2K_TRANSFORM_COEFFICIENTS, L2K_COEFFICIENT_INT16);
    assert_int_equal(l2k_transform_device_bytes(t, &tile, &bytes), L2K_OK);
    l2k_transform_free(t);
    return bytes;
}

/* Too large for small remainders of memory. */
static void test_auto(void **unused)
{
    (void)unused;
    enum { TILE = 1450 };
    picture p;
    picture_make(&p, 2 * TILE, 1900, 3);
    assert_int_equal(backend_of_auto(&p, 0), L2K_BACKEND_CUDA);
    check_codec(&p, 0, L2K_BACKEND_AUTO, L2K_OK, 0);
    check_codec(&p, TILE, L2K_BACKEND_AUTO, L2K_OK, 0);
    gpu_ballast *ballast = gpu_fill(0);
    assert_int_equal(backend_of_auto(&p, 1), L2K_BACKEND_CPU);
    check_codec(&p, 0, L2K_BACKEND_AUTO, L2K_OK, 1);
    check_codec(&p, TILE, L2K_BACKEND_AUTO, L2K_OK, 1);
    check_codec(&p, 0, L2K_BACKEND_CUDA, L2K_ERROR_MEMORY, 0);
    gpu_empty(ballast);
    ballast = gpu_fill(bytes_of_tile(&p, TILE) * 3 /
                       2); /* enough for the first of two concurrent tiles, but not for the second */
    check_codec(&p, TILE, L2K_BACKEND_AUTO, L2K_OK, 1);
    gpu_empty(ballast);
    assert_int_equal(backend_of_auto(&p, 0), L2K_BACKEND_CUDA);
    check_codec(&p, 0, L2K_BACKEND_CUDA, L2K_OK, 0);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_device), cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_auto)};
    int missing = gpu_missing();
    if (missing)
        return missing;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
