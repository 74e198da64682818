/* cuda_volumes [ROUNDS [WHAT]]: volumes on the GPU; WHAT: letters of device, pinned, frames; without it, all of them.
 * From device to device, 512 slices of 512 x 512 samples of 16 bits by the 5/3, three levels each way (the case of van
 * der Laan, Jalba, Roerdink, table VI), as a multiple of a copy of the same bytes; from and to pinned memory, as a
 * multiple of what the bus needs for the larger direction alone; and the rows of Franco, Bernabe, Fernandez, Ujaldon,
 * table 4: 64 frames of 512, 1024 and 2048, one level, w4. Medians. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/bench.h"

enum { MOST_ROUNDS = 100 };

static int rounds = 10;
static const char *what = "dpf";
static float host_time; /* of the last measure: median of what the host took to enqueue */

static void must(l2k_status status)
{
    if (status == L2K_OK)
        return;
    printf("FAIL: %s\n", l2k_strerror(status));
    exit(1);
}

static void cuda(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    printf("FAIL: %s\n", cudaGetErrorString(error));
    exit(1);
}

/* ---- Time ---------------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Milliseconds of `run`, by events around it in the default stream, after which the device is idle. */
static float measure(void (*run)(void *), void *user)
{
    float times[MOST_ROUNDS], host[MOST_ROUNDS];
    cudaEvent_t start, end;
    cuda(cudaEventCreate(&start));
    cuda(cudaEventCreate(&end));
    run(user);
    for (int i = 0; i < rounds; i++) {
        cuda(cudaDeviceSynchronize());
        cuda(cudaEventRecord(start, NULL));
        const double begun = now_ms();
        run(user);
        host[i] = (float)(now_ms() - begun);
        cuda(cudaDeviceSynchronize());
        cuda(cudaEventRecord(end, NULL));
        cuda(cudaEventSynchronize(end));
        cuda(cudaEventElapsedTime(&times[i], start, end));
    }
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    qsort(host, (size_t)rounds, sizeof *host, ascending);
    host_time = host[rounds / 2];
    return times[rounds / 2];
}

/* ---- Copies -------------------------------------------------------------------------------------------------- */

typedef struct copies {
    char *from, *to, *host_from, *host_to;
    size_t up, down;
    cudaStream_t streams[2];
} copies;

static void copy_on_device(void *user)
{
    const copies *c = user;
    cuda(cudaMemcpyAsync(c->to, c->from, c->up, cudaMemcpyDeviceToDevice, NULL));
}

static void copy_up(void *user)
{
    const copies *c = user;
    cuda(cudaMemcpyAsync(c->from, c->host_from, c->up, cudaMemcpyHostToDevice, NULL));
}

static void copy_down(void *user)
{
    const copies *c = user;
    cuda(cudaMemcpyAsync(c->host_to, c->to, c->down, cudaMemcpyDeviceToHost, NULL));
}

static void copy_both(void *user)
{
    const copies *c = user;
    cuda(cudaMemcpyAsync(c->from, c->host_from, c->up, cudaMemcpyHostToDevice, c->streams[0]));
    cuda(cudaMemcpyAsync(c->host_to, c->to, c->down, cudaMemcpyDeviceToHost, c->streams[1]));
}

/* ---- Volumes ------------------------------------------------------------------------------------------------- */

typedef struct scene {
    l2k_wavelet wavelet;
    l2k_direction direction;
    bool on_device;
    uint32_t side, slices;
    int levels, z_levels;
    l2k_coefficient_type type;
    unsigned precision;
    l2k_sample_type sample;
    char *samples; /* on the device, or pinned */
    l2k_volume *volume;
} scene;

static void prepare(scene *s)
{
    const l2k_component component = {.dx = 1, .dy = 1, .precision = s->precision, .is_signed = true};
    const l2k_image image = {.x1 = s->side, .y1 = s->side, .num_components = 1, .components = &component};
    must(l2k_volume_prepare(s->volume, &image, 0, s->slices));
}

static void make(scene *s)
{
    const l2k_hooks hooks = {.message = report_message};
    s->volume = l2k_volume_new(&hooks);
    must(l2k_volume_set(s->volume, L2K_VOLUME_WAVELET, s->wavelet));
    must(l2k_volume_set(s->volume, L2K_VOLUME_DIRECTION, s->direction));
    must(l2k_volume_set(s->volume, L2K_VOLUME_LEVELS, s->levels));
    must(l2k_volume_set(s->volume, L2K_VOLUME_Z_LEVELS, s->z_levels));
    must(l2k_volume_set(s->volume, L2K_VOLUME_COEFFICIENTS, s->type));
    must(l2k_volume_set(s->volume, L2K_VOLUME_BACKEND, L2K_BACKEND_CUDA));
    must(l2k_volume_set(s->volume, L2K_VOLUME_MEMORY, s->on_device ? L2K_MEMORY_DEVICE : L2K_MEMORY_HOST));
}

static l2k_plane plane_of(const scene *s, uint32_t z)
{
    const size_t bytes = s->sample == L2K_SAMPLE_F32 ? 4 : 2;
    return (l2k_plane){s->samples + z * bytes * s->side * s->side, (ptrdiff_t)(bytes * s->side), (ptrdiff_t)bytes,
                       s->sample};
}

/* Preparing is not part of a run: rewinds are. */
static void forward(void *user)
{
    scene *s = user;
    prepare(s);
    for (uint32_t z = 0; z < s->slices; z++) {
        l2k_volume_slice slice;
        const l2k_plane plane = plane_of(s, z);
        must(l2k_volume_put_slice(s->volume, &plane));
        do
            must(l2k_volume_get_coefficients(s->volume, &slice));
        while (slice.views);
    }
}

static void inverse(void *user)
{
    scene *s = user;
    prepare(s);
    for (uint32_t z = 0; z < s->slices;) {
        l2k_volume_slice slice;
        bool got = true;
        must(l2k_volume_next_coefficients(s->volume, &slice));
        if (slice.views)
            must(l2k_volume_put_coefficients(s->volume));
        while (got && z < s->slices) {
            const l2k_plane plane = plane_of(s, z);
            must(l2k_volume_get_slice(s->volume, &plane, &got));
            z += got;
        }
    }
}

static float time_of(scene s)
{
    make(&s);
    const float time = measure(s.direction == L2K_FORWARD ? forward : inverse, &s);
    l2k_volume_free(s.volume);
    return time;
}

static void *pinned(size_t bytes)
{
    void *memory;
    cuda(cudaMallocHost(&memory, bytes));
    memset(memory, 0, bytes);
    return memory;
}

static void *device(size_t bytes)
{
    void *memory;
    cuda(cudaMalloc(&memory, bytes));
    cuda(cudaMemset(memory, 0, bytes));
    return memory;
}

static void measure_cube(uint32_t side)
{
    const size_t bytes = (size_t)side * side * side * 2;
    copies c = {.from = device(bytes),
                .to = device(bytes),
                .host_from = pinned(bytes),
                .host_to = pinned(bytes),
                .up = bytes,
                .down = bytes};
    cuda(cudaStreamCreate(&c.streams[0]));
    cuda(cudaStreamCreate(&c.streams[1]));
    scene s = {.wavelet = L2K_WAVELET_5_3,
               .side = side,
               .slices = side,
               .levels = 3,
               .z_levels = 3,
               .type = L2K_COEFFICIENT_INT16,
               .precision = 11,
               .sample = L2K_SAMPLE_S16};
    const float copy = measure(copy_on_device, &c), bus = measure(copy_both, &c);
    printf("%u^3 int16, 5/3, 3 levels each way: a copy takes %.3f ms, both directions of the bus %.2f ms\n\n", side,
           copy, bus);
    printf("| | ms | x copy or bus | host ms |\n|---|---|---|---|\n");
    for (int place = 0; place < 2; place++)
        for (int direction = 0; direction < 2 && strchr(what, "dp"[place]); direction++) {
            s.on_device = place == 0;
            s.samples = place == 0 ? c.from : c.host_from;
            s.direction = (l2k_direction)direction;
            const float time = time_of(s);
            printf("| %s, %s | %.3f | %.2f | %.3f |\n", place == 0 ? "device" : "pinned",
                   direction ? "inverse" : "forward", time, time / (place == 0 ? copy : bus), host_time);
        }
    cuda(cudaFree(c.from));
    cuda(cudaFree(c.to));
    cuda(cudaFreeHost(c.host_from));
    cuda(cudaFreeHost(c.host_to));
    printf("\n");
}

/* Stages of 64 frames: those on the device are differences of whole runs with and without their levels. */
static void measure_frames(uint32_t side)
{
    const size_t bytes = (size_t)side * side * 64 * 4;
    copies c = {.from = device(bytes),
                .to = device(bytes),
                .host_from = pinned(bytes),
                .host_to = pinned(bytes),
                .up = bytes,
                .down = bytes};
    scene s = {.wavelet = L2K_WAVELET_W4,
               .on_device = true,
               .side = side,
               .slices = 64,
               .type = L2K_COEFFICIENT_FLOAT32,
               .precision = 8,
               .sample = L2K_SAMPLE_F32,
               .samples = c.from};
    const float up = measure(copy_up, &c), down = measure(copy_down, &c), copy = measure(copy_on_device, &c);
    const float none = time_of(s);
    s.z_levels = 1;
    const float frames = time_of(s);
    s.levels = 1;
    const float all = time_of(s);
    s.on_device = false;
    s.samples = c.host_from;
    const float whole = time_of(s);
    printf("| %u x %u | %.2f | %.3f | %.3f | %.2f | %.3f (%.2f) | %.2f |\n", side, side, up, frames - none,
           all - frames, down, all, all / copy, whole);
    cuda(cudaFree(c.from));
    cuda(cudaFree(c.to));
    cuda(cudaFreeHost(c.host_from));
    cuda(cudaFreeHost(c.host_to));
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    what = argc > 2 ? argv[2] : what;
    if (strchr(what, 'd') || strchr(what, 'p'))
        measure_cube(512);
    if (!strchr(what, 'f'))
        return 0;
    printf("64 frames of float32, w4, one level, ms; rows and columns are one launch\n\n"
           "| frame | up | frames | rows and columns | down | on the device (x copy) | all, overlapped "
           "|\n|---|---|---|---|---|---|---|\n");
    for (uint32_t side = 512; side <= 2048; side *= 2)
        measure_frames(side);
    return 0;
}
