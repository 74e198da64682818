/* cuda_graph: a sequence of frames through the forward transform of a GPU. Two slots alternate, each with a transform,
 * a stream and a graph: while the frame of one is transformed, that of the other is copied. Coefficients stay at the
 * same address on the device, where a block coder finds them; here LL is read back and compared with the CPU's.
 *
 * Exits with 77 if no GPU can be used (with 1 if L2K_REQUIRE_GPU=1 is in the environment). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>
#include <lift2k/lift2k.h>

enum { WIDTH = 1920, HEIGHT = 1080, LEVELS = 5, SLOTS = 2, FRAMES = 7, MOST_LL = WIDTH * HEIGHT / 256 };

static void check_cuda(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "cuda_graph: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void check(l2k_status status)
{
    if (status != L2K_OK)
        exit(1); /* print_text has printed the reason */
}

static void print_text(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    fprintf(stderr, "cuda_graph: %s\n", text);
}

static l2k_transform *make_transform(l2k_memory memory)
{
    static const l2k_component component = {.dx = 1, .dy = 1, .precision = 8};
    static const l2k_image tile = {.x1 = WIDTH, .y1 = HEIGHT, .num_components = 1, .components = &component};
    l2k_transform *transform = l2k_transform_new(&(l2k_hooks){.message = print_text});
    if (!transform)
        exit(1);
    check(l2k_transform_set(transform, L2K_TRANSFORM_LEVELS, LEVELS));
    check(l2k_transform_set(transform, L2K_TRANSFORM_COEFFICIENTS, L2K_COEFFICIENT_INT16));
    check(l2k_transform_set(transform, L2K_TRANSFORM_MEMORY, memory));
    check(l2k_transform_set(transform, L2K_TRANSFORM_BACKEND,
                            memory == L2K_MEMORY_DEVICE ? L2K_BACKEND_CUDA : L2K_BACKEND_CPU));
    check(l2k_transform_prepare(transform, &tile));
    return transform;
}

typedef struct slot {
    l2k_transform *transform;
    cudaStream_t stream;
    cudaGraphExec_t graph;
    uint8_t *device, *pinned; /* a frame */
    int16_t *ll;              /* pinned, read back from the device */
} slot;

/* A run only launches kernels, so it can be recorded once and replayed for each frame. */
static void record(slot *s)
{
    cudaGraph_t graph;
    l2k_plane plane = {s->device, WIDTH, 1, L2K_SAMPLE_U8};
    check_cuda(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeGlobal), "recording");
    check(l2k_transform_forward_on_device(s->transform, &plane, s->stream));
    check_cuda(cudaStreamEndCapture(s->stream, &graph), "recording");
    check_cuda(cudaGraphInstantiateWithFlags(&s->graph, graph, 0), "making a graph");
    check_cuda(cudaGraphDestroy(graph), "making a graph");
}

static void open_slot(slot *s)
{
    s->transform = make_transform(L2K_MEMORY_DEVICE);
    check_cuda(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "making a stream");
    check_cuda(cudaMalloc((void **)&s->device, WIDTH * HEIGHT), "allocating");
    check_cuda(cudaMallocHost((void **)&s->pinned, WIDTH * HEIGHT), "allocating");
    check_cuda(cudaMallocHost((void **)&s->ll, MOST_LL * sizeof *s->ll), "allocating");
    record(s);
}

/* Everything is enqueued on the stream; nothing waits. */
static void begin_frame(slot *s)
{
    const l2k_coefficients *view = l2k_transform_coefficients(s->transform, 0);
    const l2k_band_view *ll = &view->bands[0];
    check_cuda(cudaMemcpyAsync(s->device, s->pinned, WIDTH * HEIGHT, cudaMemcpyHostToDevice, s->stream), "upload");
    check_cuda(cudaGraphLaunch(s->graph, s->stream), "launch");
    /* A block coder's kernels would be launched here, on view->base. */
    check_cuda(cudaMemcpy2DAsync(s->ll, ll->width * sizeof *s->ll, view->base, view->stride * sizeof *s->ll,
                                 ll->width * sizeof *s->ll, ll->height, cudaMemcpyDeviceToHost, s->stream),
               "download");
}

static bool end_frame(slot *s, l2k_transform *cpu)
{
    bool same = true;
    l2k_plane plane = {s->pinned, WIDTH, 1, L2K_SAMPLE_U8};
    check_cuda(cudaStreamSynchronize(s->stream), "transforming");
    check(l2k_transform_forward(cpu, &plane));
    const l2k_coefficients *view = l2k_transform_coefficients(cpu, 0);
    for (uint32_t y = 0; y < view->bands[0].height; y++)
        same = same && memcmp(s->ll + y * view->bands[0].width, (const int16_t *)view->base + y * view->stride,
                              view->bands[0].width * sizeof *s->ll) == 0;
    return same;
}

static void close_slot(slot *s)
{
    check_cuda(cudaGraphExecDestroy(s->graph), "freeing");
    l2k_transform_free(s->transform);
    check_cuda(cudaFree(s->device), "freeing");
    check_cuda(cudaFreeHost(s->pinned), "freeing");
    check_cuda(cudaFreeHost(s->ll), "freeing");
    check_cuda(cudaStreamDestroy(s->stream), "freeing");
}

int main(void)
{
    char text[256];
    slot slots[SLOTS];
    int identical = 0;
    if (!l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text)) {
        const char *required = getenv("L2K_REQUIRE_GPU");
        printf("no GPU can be used: %s\n", text);
        return required && strcmp(required, "1") == 0 ? 1 : 77;
    }
    l2k_transform *cpu = make_transform(L2K_MEMORY_HOST);
    for (int i = 0; i < SLOTS; i++)
        open_slot(&slots[i]);
    for (int frame = 0; frame < FRAMES + SLOTS; frame++) {
        slot *s = &slots[frame % SLOTS];
        if (frame >= SLOTS)
            identical += end_frame(s, cpu);
        for (int i = 0; frame < FRAMES && i < WIDTH * HEIGHT; i++)
            s->pinned[i] = (uint8_t)(i % WIDTH * frame / 8 + i / WIDTH);
        if (frame < FRAMES)
            begin_frame(s);
    }
    for (int i = 0; i < SLOTS; i++)
        close_slot(&slots[i]);
    l2k_transform_free(cpu);
    printf("%s\n%d frames, %d identical to the CPU's\n", text, FRAMES, identical);
    return identical == FRAMES ? 0 : 1;
}
