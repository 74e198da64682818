/* opencl_picture PPM [OPENCL_DEVICE]: what a picture of 3840 x 2160 takes to encode and decode, lossless HT, on OpenCL and,
 * where there is one, on CUDA: milliseconds of a call, the median of some, from and into host memory; and of OpenCL's
 * kernels by the device's clock. The picture is made of mirrored copies of the PPM. */
#define _POSIX_C_SOURCE 199309L
#include "bench/bench.h"
#include "transform/opencl/cl_runtime.h"

enum { WIDTH = 3840, HEIGHT = 2160, CALLS = 30, MOST_KERNELS = 64, MOST_EVENTS = 4096 };

static l2k_cl_functions real;
static cl_event events[MOST_EVENTS];
static cl_kernel launched[MOST_EVENTS], kernels[MOST_KERNELS];
static char names[MOST_KERNELS][64]; /* of the kernels */
static unsigned num_events, num_kernels;

static cl_kernel CL_API_CALL make_kernel(cl_program program, const char *name, cl_int *error)
{
    const cl_kernel kernel = real.CreateKernel(program, name, error);
    check(num_kernels < MOST_KERNELS, "noting a kernel");
    kernels[num_kernels] = kernel;
    snprintf(names[num_kernels++], sizeof names[0], "%s", name);
    return kernel;
}

static cl_command_queue CL_API_CALL make_queue(cl_context context, cl_device_id device,
                                               cl_command_queue_properties properties, cl_int *error)
{
    return real.CreateCommandQueue(context, device, properties | CL_QUEUE_PROFILING_ENABLE, error);
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                 const size_t *all, const size_t *items, cl_uint waits, const cl_event *waited,
                                 cl_event *event)
{
    if (event || num_events == MOST_EVENTS)
        return real.EnqueueNDRangeKernel(queue, kernel, dimensions, offset, all, items, waits, waited, event);
    launched[num_events] = kernel;
    return real.EnqueueNDRangeKernel(queue, kernel, dimensions, offset, all, items, waits, waited,
                                     &events[num_events++]);
}

/* The first of its name. */
static unsigned number_of(cl_kernel kernel)
{
    unsigned i = num_kernels - 1, first = 0;
    while (i > 0 && kernels[i] != kernel)
        i--;
    while (strcmp(names[first], names[i]) != 0)
        first++;
    return first;
}

static void print_kernels(unsigned calls)
{
    double sums[MOST_KERNELS] = {0};
    unsigned counts[MOST_KERNELS] = {0};
    for (unsigned i = 0; i < num_events; i++) {
        cl_ulong start = 0, end = 0;
        const unsigned k = number_of(launched[i]);
        real.GetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
        real.GetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        sums[k] += 1e-3 * (double)(end - start);
        counts[k]++;
        real.ReleaseEvent(events[i]);
    }
    for (unsigned k = 0; k < num_kernels; k++)
        if (counts[k])
            printf("  %s: %.1f us a picture in %.1f launches\n", names[k], sums[k] / calls, (double)counts[k] / calls);
    num_events = 0;
}

/* Of three bytes a pixel. */
static uint8_t *read_picture(const char *name)
{
    int width, height;
    FILE *file = fopen(name, "rb");
    check(file && fscanf(file, "P6 %d %d 255", &width, &height) == 2 && fgetc(file) != EOF, "reading the PPM");
    uint8_t *from = malloc((size_t)width * (size_t)height * 3), *to = malloc((size_t)WIDTH * HEIGHT * 3);
    check(from && to && fread(from, 3, (size_t)width * (size_t)height, file) > 0, "reading the PPM");
    fclose(file);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int u = x / width % 2 ? width - 1 - x % width : x % width;
            const int v = y / height % 2 ? height - 1 - y % height : y % height;
            memcpy(to + 3 * ((size_t)y * WIDTH + (size_t)x), from + 3 * ((size_t)v * (size_t)width + (size_t)u), 3);
        }
    free(from);
    return to;
}

static void measure(l2k_backend backend, int device, uint8_t *samples)
{
    const l2k_hooks hooks = {.message = report_message};
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    const l2k_component component = {.width = WIDTH, .height = HEIGHT, .precision = 8, .dx = 1, .dy = 1};
    const l2k_component components[3] = {component, component, component};
    l2k_image image = {.x1 = WIDTH, .y1 = HEIGHT, .num_components = 3};
    uint8_t *decoded = malloc((size_t)WIDTH * HEIGHT * 3);
    double encoding[CALLS], decoding[CALLS];
    l2k_plane planes[3], targets[3];
    const uint8_t *data = NULL;
    size_t bytes = 0;
    check(encoder && decoder && decoded, "memory");
    image.components = components;
    image.colour = L2K_COLOUR_SRGB;
    for (unsigned c = 0; c < 3; c++) {
        planes[c] = (l2k_plane){samples + c, 3 * WIDTH, 3, L2K_SAMPLE_U8};
        targets[c] = (l2k_plane){decoded + c, 3 * WIDTH, 3, L2K_SAMPLE_U8};
    }
    check(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, L2K_STYLE_HT) == L2K_OK &&
              l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, backend) == L2K_OK &&
              l2k_decoder_set(decoder, L2K_DECODER_BACKEND, backend) == L2K_OK,
          "setting options");
    if (device >= 0)
        check(l2k_encoder_set(encoder, L2K_ENCODER_DEVICE, device) == L2K_OK &&
                  l2k_decoder_set(decoder, L2K_DECODER_DEVICE, device) == L2K_OK,
              "choosing the device");
    for (int i = -3; i < CALLS; i++) {
        const double from = now_ms();
        check(l2k_encoder_encode_memory(encoder, &image, planes, &data, &bytes) == L2K_OK, "encoding");
        encoding[i < 0 ? 0 : i] = now_ms() - from;
    }
    printf("%s: %zu bytes\nencode %.2f ms\n", backend == L2K_BACKEND_CUDA ? "CUDA" : "OpenCL", bytes,
           median(encoding, CALLS));
    print_kernels(CALLS + 3);
    for (int i = -3; i < CALLS; i++) {
        const double from = now_ms();
        check(l2k_decoder_open_memory(decoder, data, bytes) == L2K_OK && l2k_decoder_decode(decoder, targets) == L2K_OK,
              "decoding");
        decoding[i < 0 ? 0 : i] = now_ms() - from;
    }
    printf("decode %.2f ms\n", median(decoding, CALLS));
    print_kernels(CALLS + 3);
    check(memcmp(samples, decoded, (size_t)WIDTH * HEIGHT * 3) == 0, "decoding what was encoded");
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    free(decoded);
}

int main(int count, char **arguments)
{
    char text[200];
    check(count > 1, "usage: opencl_picture PPM [OPENCL_DEVICE]:");
    uint8_t *samples = read_picture(arguments[1]);
    if (l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text))
        measure(L2K_BACKEND_CUDA, -1, samples);
    check(l2k_backend_usable(L2K_BACKEND_OPENCL, text, sizeof text), "finding an OpenCL device");
    real = l2k_cl;
    l2k_cl.CreateCommandQueue = make_queue;
    l2k_cl.CreateKernel = make_kernel;
    l2k_cl.EnqueueNDRangeKernel = launch;
    measure(L2K_BACKEND_OPENCL, count > 2 ? atoi(arguments[2]) : -1, samples);
    free(samples);
    return 0;
}
