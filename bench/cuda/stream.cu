/* gpu_stream: a stream of 4K RGB images through host plans in rotation, from pinned memory to pinned memory, compared
 * with bulk copies of the same bytes in the same run.
 *
 * All four measurements of a row (copies up alone, down alone, both at once, and the transform) are driven by one loop:
 * each slot in turn is finished and begun again. The time per image is the time between two visits of a slot, divided
 * by the number of slots; the median over the images of a round, then over the rounds, which alternate between the
 * measurements. The floor is the slower of the two directions alone. Afterwards the result of the last image of every
 * slot is compared with the CPU plan's.
 */
#include "bench/cuda/timing.cuh"

#include <chrono>
#include <cstring>

extern "C" {
#include "base/context.h"
#include "transform/plan.h"
}

enum { WIDTH = 3840, HEIGHT = 2160, COMPONENTS = 3, LEVELS = 5, IMAGES = 60, ROUNDS = 5 };
static const size_t PIXEL_BYTES = (size_t)WIDTH * HEIGHT * COMPONENTS;

/* ---- Timing -------------------------------------------------------------------------------------------------- */

static double median(std::vector<double> values)
{
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

/* Milliseconds per image, with `slots` images in flight. */
template <class Begin, class Finish> static double ms_per_image(unsigned slots, Begin begin, Finish finish)
{
    std::vector<double> ends, times;
    for (unsigned i = 0; i < slots; i++)
        begin(i);
    for (unsigned i = 0; i < IMAGES + 3 * slots; i++) {
        finish(i % slots);
        std::chrono::duration<double, std::milli> now = std::chrono::steady_clock::now().time_since_epoch();
        ends.push_back(now.count());
        begin(i % slots);
    }
    for (unsigned i = 0; i < slots; i++)
        finish(i);
    for (size_t i = 3 * slots; i < ends.size(); i++) /* the first visits fill the pipeline */
        times.push_back((ends[i] - ends[i - slots]) / slots);
    return median(times);
}

/* Copies of fixed sizes between pinned and device memory, either of them 0 bytes. */
struct copies {
    struct slot {
        cudaStream_t up, down;
        char *host_up, *host_down, *device_up, *device_down;
    };
    std::vector<slot> slots;

    copies(unsigned count, size_t bytes_up, size_t bytes_down) : slots(count)
    {
        for (slot &s : slots) {
            CHECK(cudaStreamCreateWithFlags(&s.up, cudaStreamNonBlocking));
            CHECK(cudaStreamCreateWithFlags(&s.down, cudaStreamNonBlocking));
            CHECK(cudaMallocHost((void **)&s.host_up, bytes_up));
            CHECK(cudaMallocHost((void **)&s.host_down, bytes_down));
            CHECK(cudaMalloc((void **)&s.device_up, bytes_up));
            CHECK(cudaMalloc((void **)&s.device_down, bytes_down));
            memset(s.host_up, 1, bytes_up);
            CHECK(cudaMemset(s.device_down, 2, bytes_down));
        }
        CHECK(cudaDeviceSynchronize());
    }
    ~copies()
    {
        for (slot &s : slots) {
            CHECK(cudaStreamDestroy(s.up));
            CHECK(cudaStreamDestroy(s.down));
            CHECK(cudaFreeHost(s.host_up));
            CHECK(cudaFreeHost(s.host_down));
            CHECK(cudaFree(s.device_up));
            CHECK(cudaFree(s.device_down));
        }
    }
    double measure(size_t bytes_up, size_t bytes_down)
    {
        auto begin = [&](unsigned k) {
            slot &s = slots[k];
            if (bytes_up)
                CHECK(cudaMemcpyAsync(s.device_up, s.host_up, bytes_up, cudaMemcpyHostToDevice, s.up));
            if (bytes_down)
                CHECK(cudaMemcpyAsync(s.host_down, s.device_down, bytes_down, cudaMemcpyDeviceToHost, s.down));
        };
        auto finish = [&](unsigned k) {
            CHECK(cudaStreamSynchronize(slots[k].up));
            CHECK(cudaStreamSynchronize(slots[k].down));
        };
        return ms_per_image((unsigned)slots.size(), begin, finish);
    }
};

/* ---- Plans --------------------------------------------------------------------------------------------------- */

static l2k_plan *make_plan(const l2k_context *context, l2k_backend backend, l2k_direction direction,
                           l2k_wavelet wavelet)
{
    l2k_plan_component components[COMPONENTS];
    l2k_plan_spec spec;
    l2k_plan *plan;
    memset(components, 0, sizeof components);
    memset(&spec, 0, sizeof spec);
    for (l2k_plan_component &c : components) {
        c.rect = l2k_rect{0, 0, WIDTH, HEIGHT};
        c.levels = LEVELS;
        c.wavelet = wavelet;
        c.precision = 8;
        c.narrow_low = true;
        for (float &step : c.steps)
            step = 1 / 8.f;
    }
    spec.direction = direction;
    spec.type = L2K_COEFFICIENT_INT16;
    spec.component_transform = true;
    spec.num_components = COMPONENTS;
    spec.components = components;
    check(l2k_plan_create(context, backend, &spec, &plan) == L2K_OK, "making a plan");
    return plan;
}

static void place_planes(unsigned char *pixels, l2k_plane planes[COMPONENTS])
{
    for (int c = 0; c < COMPONENTS; c++)
        planes[c] = l2k_plane{pixels + c, WIDTH * COMPONENTS, COMPONENTS, L2K_SAMPLE_U8};
}

/* A gradient with noise that depends on the seed. */
static void draw(unsigned char *pixels, unsigned seed)
{
    uint32_t state = seed + 1;
    for (size_t i = 0; i < PIXEL_BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        pixels[i] =
            (unsigned char)((i / COMPONENTS % WIDTH / 16 + i / (WIDTH * COMPONENTS) / 32) % 192 + (state >> 26));
    }
}

static size_t view_bytes(const l2k_coefficients *view)
{
    return view->stride * view->height * l2k_coefficient_bytes(view->type);
}

/* An inverse 9/7 reads twice the quantiser index. */
static void copy_view(const l2k_coefficients *from, const l2k_coefficients *to, int factor)
{
    for (size_t i = 0; i < view_bytes(from) / sizeof(int16_t); i++)
        ((int16_t *)to->base)[i] = (int16_t)(((const int16_t *)from->base)[i] * factor);
}

static bool same_view(const l2k_coefficients *a, const l2k_coefficients *b)
{
    for (uint32_t y = 0; y < a->height; y++)
        if (memcmp((int16_t *)a->base + y * a->stride, (int16_t *)b->base + y * b->stride,
                   a->width * sizeof(int16_t)) != 0)
            return false;
    return true;
}

/* One image of the rotation. */
struct image {
    l2k_plan *plan;
    unsigned char *pixels; /* pinned */
    l2k_plane planes[COMPONENTS];
};

/* Images filled with pixels, or with the coefficients of those pixels. */
static std::vector<image> make_images(const l2k_context *context, unsigned count, l2k_direction direction,
                                      l2k_wavelet wavelet)
{
    std::vector<image> images(count);
    l2k_plan *forward = make_plan(context, L2K_BACKEND_CPU, L2K_FORWARD, wavelet);
    for (unsigned k = 0; k < count; k++) {
        image &m = images[k];
        m.plan = make_plan(context, L2K_BACKEND_CUDA, direction, wavelet);
        CHECK(cudaMallocHost((void **)&m.pixels, PIXEL_BYTES));
        place_planes(m.pixels, m.planes);
        draw(m.pixels, k);
        if (direction == L2K_FORWARD)
            continue;
        check(l2k_plan_run(forward, m.planes) == L2K_OK, "the CPU's forward transform");
        memset(m.pixels, 0, PIXEL_BYTES);
        for (uint32_t c = 0; c < COMPONENTS; c++)
            copy_view(l2k_plan_coefficients(forward, c), l2k_plan_coefficients(m.plan, c),
                      wavelet == L2K_WAVELET_9_7 ? 2 : 1);
    }
    l2k_plan_free(forward);
    return images;
}

static bool same_as_cpu(const image &m, l2k_plan *cpu, l2k_direction direction)
{
    if (direction == L2K_FORWARD) {
        check(l2k_plan_run(cpu, m.planes) == L2K_OK, "the CPU's forward transform");
        for (uint32_t c = 0; c < COMPONENTS; c++)
            if (!same_view(l2k_plan_coefficients(cpu, c), l2k_plan_coefficients(m.plan, c)))
                return false;
        return true;
    }
    std::vector<unsigned char> pixels(PIXEL_BYTES);
    l2k_plane planes[COMPONENTS];
    place_planes(pixels.data(), planes);
    for (uint32_t c = 0; c < COMPONENTS; c++)
        copy_view(l2k_plan_coefficients(m.plan, c), l2k_plan_coefficients(cpu, c), 1);
    check(l2k_plan_run(cpu, planes) == L2K_OK, "the CPU's inverse transform");
    return memcmp(pixels.data(), m.pixels, PIXEL_BYTES) == 0;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

static bool measure(const l2k_context *context, const char *name, l2k_direction direction, l2k_wavelet wavelet,
                    unsigned slots)
{
    std::vector<image> images = make_images(context, slots, direction, wavelet);
    size_t coefficients = 0;
    for (uint32_t c = 0; c < COMPONENTS; c++)
        coefficients += view_bytes(l2k_plan_coefficients(images[0].plan, c));
    size_t up = direction == L2K_FORWARD ? PIXEL_BYTES : coefficients, down = PIXEL_BYTES + coefficients - up;
    copies bulk(slots, up, down);
    auto begin = [&](unsigned k) { check(l2k_plan_begin(images[k].plan, images[k].planes) == L2K_OK, "begin"); };
    auto finish = [&](unsigned k) { check(l2k_plan_finish(images[k].plan) == L2K_OK, "finish"); };
    std::vector<double> times[4];
    for (int round = 0; round < ROUNDS; round++) {
        times[0].push_back(bulk.measure(up, 0));
        times[1].push_back(bulk.measure(0, down));
        times[2].push_back(bulk.measure(up, down));
        times[3].push_back(ms_per_image(slots, begin, finish));
    }
    double ms[4];
    for (int i = 0; i < 4; i++)
        ms[i] = median(times[i]);
    l2k_plan *cpu = make_plan(context, L2K_BACKEND_CPU, direction, wavelet);
    bool same = true;
    for (image &m : images) {
        same = same_as_cpu(m, cpu, direction) && same;
        l2k_plan_free(m.plan);
        CHECK(cudaFreeHost(m.pixels));
    }
    l2k_plan_free(cpu);
    double floor = std::max(ms[0], ms[1]);
    printf("| %s | %u | %.1f | %.1f | %.3f | %.3f | %.3f | %.3f | %.3f | %.2f | %s |\n", name, slots, up / 1e6,
           down / 1e6, ms[0], ms[1], ms[2], floor, ms[3], ms[3] / floor, same ? "yes" : "NO");
    fflush(stdout);
    return same;
}

int main(void)
{
    l2k_context context = {};
    bool same = true;
    context.hooks.message = report_message;
    context.threads = l2k_thread_count(0);
    print_device();
    printf("; %d x %d RGB, 8 bits, %d levels, int16 coefficients, pinned memory; milliseconds an image, median of %d "
           "images, then of %d rounds\n\n",
           (int)WIDTH, (int)HEIGHT, (int)LEVELS, (int)IMAGES, (int)ROUNDS);
    printf("| work | plans | MB up | MB down | up alone | down alone | both at once | floor | transform | x floor | as "
           "the CPU "
           "|\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (unsigned slots = 1; slots <= 4; slots++) {
        same = measure(&context, "RCT, 5/3, forward", L2K_FORWARD, L2K_WAVELET_5_3, slots) && same;
        same = measure(&context, "RCT, 5/3, inverse", L2K_INVERSE, L2K_WAVELET_5_3, slots) && same;
        same = measure(&context, "ICT, 9/7, forward", L2K_FORWARD, L2K_WAVELET_9_7, slots) && same;
        same = measure(&context, "ICT, 9/7, inverse", L2K_INVERSE, L2K_WAVELET_9_7, slots) && same;
    }
    return same ? 0 : 1;
}
