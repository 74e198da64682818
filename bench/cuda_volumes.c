/* cuda_volumes [ROUNDS [WHAT]]: volumes on the GPU; WHAT: letters of device, pinned, frames, wide; without it, the
 * first three. Each table's works run in turn, and its figures are medians beside those of a named reference in the
 * same rounds.
 *
 * device, pinned: 512 slices of 512 x 512 samples of 16 bits by the 5/3, three levels each way (van der Laan, Jalba,
 * Roerdink, 2011, table VI), beside a copy of the same bytes on the device, or of both directions of the bus at once.
 * wide: the same with samples and coefficients of 32 bits, and by the 9/7, in device memory.
 *
 * frames: the stages of Franco, Bernabe, Fernandez, Ujaldon, 2010, table 4, 64 frames by one level of w4, beside the
 * paper's. Those on the device are seen where they happen: linked with --wrap, each call of a plan, which transforms
 * frames of a group along rows and columns in one sweep, lies between two events: those at the ends of a group, while a
 * prism goes across frames and along rows and columns of the others. The volume's other work waits for it, so that
 * stages follow one another here, where a volume has them side by side. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/bench.h"
#include "transform/device.h"

enum { MOST_ROUNDS = 100 };

static int rounds = 10;
static const char *what = "dpf";

static void fail(const char *why)
{
    printf("FAIL: %s\n", why);
    exit(1);
}

static void must(l2k_status status)
{
    if (status != L2K_OK)
        fail(l2k_strerror(status));
}

static void cuda(cudaError_t error)
{
    if (error != cudaSuccess)
        fail(cudaGetErrorString(error));
}

/* ---- Time ---------------------------------------------------------------------------------------------------- */

/* Something that is timed. */
typedef struct work {
    void (*run)(void *); /* enqueues, in the default stream or so that it has ended when it returns */
    void *user;
    float ms, host_ms; /* medians; host_ms: until `run` returns */
} work;

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float median(float *times)
{
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    return times[rounds / 2];
}

/* Milliseconds between two events. */
static float between(cudaEvent_t from, cudaEvent_t to)
{
    float ms;
    cuda(cudaEventSynchronize(to));
    cuda(cudaEventElapsedTime(&ms, from, to));
    return ms;
}

/* `count` works in turn, each on an idle device. */
static void measure(work *works, int count)
{
    enum { MOST = 8 };
    static float times[MOST][MOST_ROUNDS], host[MOST][MOST_ROUNDS];
    cudaEvent_t start, end;
    cuda(cudaEventCreate(&start));
    cuda(cudaEventCreate(&end));
    for (int i = 0; i < count; i++)
        works[i].run(works[i].user);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < count; i++) {
            cuda(cudaDeviceSynchronize());
            cuda(cudaEventRecord(start, NULL));
            const double begun = now_ms();
            works[i].run(works[i].user);
            host[i][round] = (float)(now_ms() - begun);
            cuda(cudaEventRecord(end, NULL));
            times[i][round] = between(start, end);
        }
    for (int i = 0; i < count; i++) {
        works[i].ms = median(times[i]);
        works[i].host_ms = median(host[i]);
    }
    cuda(cudaEventDestroy(start));
    cuda(cudaEventDestroy(end));
}

/* ---- Copies -------------------------------------------------------------------------------------------------- */

typedef struct copies {
    char *from, *to, *host_from, *host_to;
    size_t bytes;
    cudaStream_t streams[2];
} copies;

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

static copies make_copies(size_t bytes)
{
    copies c = {device(bytes), device(bytes), pinned(bytes), pinned(bytes), bytes, {NULL, NULL}};
    cuda(cudaStreamCreate(&c.streams[0]));
    cuda(cudaStreamCreate(&c.streams[1]));
    return c;
}

static void free_copies(const copies *c)
{
    cuda(cudaFree(c->from));
    cuda(cudaFree(c->to));
    cuda(cudaFreeHost(c->host_from));
    cuda(cudaFreeHost(c->host_to));
    cuda(cudaStreamDestroy(c->streams[0]));
    cuda(cudaStreamDestroy(c->streams[1]));
}

static void copy_on_device(void *user)
{
    const copies *c = user;
    cuda(cudaMemcpyAsync(c->to, c->from, c->bytes, cudaMemcpyDeviceToDevice, NULL));
}

static void copy_up(void *user)
{
    const copies *c = user;
    cuda(cudaMemcpyAsync(c->from, c->host_from, c->bytes, cudaMemcpyHostToDevice, NULL));
}

static void copy_down(void *user)
{
    const copies *c = user;
    cuda(cudaMemcpyAsync(c->host_to, c->to, c->bytes, cudaMemcpyDeviceToHost, NULL));
}

static void copy_both(void *user)
{
    const copies *c = user;
    cuda(cudaMemcpyAsync(c->from, c->host_from, c->bytes, cudaMemcpyHostToDevice, c->streams[0]));
    cuda(cudaMemcpyAsync(c->host_to, c->to, c->bytes, cudaMemcpyDeviceToHost, c->streams[1]));
    cuda(cudaDeviceSynchronize());
}

/* ---- Volumes ------------------------------------------------------------------------------------------------- */

typedef struct scene {
    l2k_wavelet wavelet;
    l2k_direction direction;
    bool on_device;
    uint32_t side, slices;
    int levels, z_levels;
    l2k_volume_order order;
    l2k_coefficient_type type;
    unsigned precision;
    l2k_sample_type sample;
    char *samples; /* on the device, or pinned */
    l2k_volume *volume;
    char said[256]; /* its last message */
} scene;

static void keep_message(void *user, l2k_severity severity, const char *text)
{
    (void)severity;
    snprintf(((scene *)user)->said, sizeof((scene *)user)->said, "%s", text);
}

static l2k_status prepare(scene *s)
{
    const l2k_component component = {.dx = 1, .dy = 1, .precision = s->precision, .is_signed = true};
    const l2k_image image = {.x1 = s->side, .y1 = s->side, .num_components = 1, .components = &component};
    return l2k_volume_prepare(s->volume, &image, 0, s->slices);
}

/* Whether there is such a volume on a device: if not, s->said tells why. */
static bool make(scene *s)
{
    const l2k_hooks hooks = {.message = keep_message, .user = s};
    s->volume = l2k_volume_new(&hooks);
    must(l2k_volume_set(s->volume, L2K_VOLUME_WAVELET, s->wavelet));
    must(l2k_volume_set(s->volume, L2K_VOLUME_DIRECTION, s->direction));
    must(l2k_volume_set(s->volume, L2K_VOLUME_LEVELS, s->levels));
    must(l2k_volume_set(s->volume, L2K_VOLUME_Z_LEVELS, s->z_levels));
    must(l2k_volume_set(s->volume, L2K_VOLUME_ORDER, s->order));
    must(l2k_volume_set(s->volume, L2K_VOLUME_COEFFICIENTS, s->type));
    must(l2k_volume_set(s->volume, L2K_VOLUME_BACKEND, L2K_BACKEND_CUDA));
    must(l2k_volume_set(s->volume, L2K_VOLUME_MEMORY, s->on_device ? L2K_MEMORY_DEVICE : L2K_MEMORY_HOST));
    return prepare(s) == L2K_OK;
}

static size_t sample_bytes(const scene *s)
{
    return s->sample == L2K_SAMPLE_S16 ? 2 : 4;
}

static l2k_plane plane_of(const scene *s, uint32_t z)
{
    const size_t bytes = sample_bytes(s);
    return (l2k_plane){s->samples + z * bytes * s->side * s->side, (ptrdiff_t)(bytes * s->side), (ptrdiff_t)bytes,
                       s->sample};
}

/* A run begins with what a volume of the same shape as the last one takes, not with what the first one did. */
static void forward(void *user)
{
    scene *s = user;
    must(prepare(s));
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
    must(prepare(s));
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

static void run_scene(void *user)
{
    scene *s = user;
    (s->direction == L2K_FORWARD ? forward : inverse)(s);
    if (!s->on_device)
        cuda(cudaDeviceSynchronize());
}

/* The same volume forward and inverse, from device or pinned memory. */
static void make_both(scene both[2], scene s, const copies *c, bool on_device)
{
    s.on_device = on_device;
    s.samples = on_device ? c->from : c->host_from;
    for (int d = 0; d < 2; d++) {
        both[d] = s;
        both[d].direction = (l2k_direction)d;
    }
}

/* ---- The cube ------------------------------------------------------------------------------------------------ */

static void print_cube_row(const char *name, const scene *s, const work *w, float reference)
{
    const char *direction = s->direction == L2K_FORWARD ? "forward" : "inverse";
    if (w)
        printf("| %s, %s | %.3f | %.2f | %.3f |\n", name, direction, w->ms, w->ms / reference, w->host_ms);
    else
        printf("| %s, %s | no: %s | | |\n", name, direction, s->said);
}

static void measure_cube(uint32_t side)
{
    enum { KINDS = 3 };
    static const char *const names[KINDS] = {"device, Z first", "device, isotropic", "pinned, Z first"};
    copies c = make_copies((size_t)side * side * side * 2);
    scene s = {.wavelet = L2K_WAVELET_5_3,
               .side = side,
               .slices = side,
               .levels = 3,
               .z_levels = 3,
               .type = L2K_COEFFICIENT_INT16,
               .precision = 11,
               .sample = L2K_SAMPLE_S16};
    scene scenes[KINDS][2];
    work works[2 + 2 * KINDS] = {{.run = copy_on_device, .user = &c}, {.run = copy_both, .user = &c}},
                       *of[KINDS][2] = {{NULL}};
    int count = 2;
    for (int kind = 0; kind < KINDS; kind++) {
        s.order = kind == 1 ? L2K_VOLUME_ISOTROPIC : L2K_VOLUME_Z_FIRST;
        make_both(scenes[kind], s, &c, kind < 2);
        for (int d = 0; d < 2 && strchr(what, kind < 2 ? 'd' : 'p'); d++)
            if (make(&scenes[kind][d])) {
                of[kind][d] = &works[count];
                works[count++] = (work){.run = run_scene, .user = &scenes[kind][d]};
            } else if (kind != 1) {
                fail(scenes[kind][d].said);
            }
    }
    measure(works, count);
    printf("%u^3 int16, 5/3, 3 levels each way: a copy takes %.3f ms, both directions of the bus %.2f ms\n\n", side,
           works[0].ms, works[1].ms);
    printf("| | ms | x copy or bus | host ms |\n|---|---|---|---|\n");
    for (int kind = 0; kind < KINDS; kind++)
        for (int d = 0; d < 2 && scenes[kind][d].volume; d++) {
            print_cube_row(names[kind], &scenes[kind][d], of[kind][d], works[kind == 2].ms);
            l2k_volume_free(scenes[kind][d].volume);
        }
    printf("\nVan der Laan, Jalba, Roerdink, GeForce 8800 GTX: 179.3 ms forward, 173.7 ms inverse.\n\n");
    free_copies(&c);
}

static void measure_wide(uint32_t side)
{
    enum { KINDS = 2 };
    static const char *const names[KINDS] = {"5/3, int32", "9/7, float32"};
    copies c = make_copies((size_t)side * side * side * 4);
    scene scenes[KINDS][2];
    work works[1 + 2 * KINDS] = {{.run = copy_on_device, .user = &c}};
    for (int kind = 0; kind < KINDS; kind++) {
        const scene s = {.wavelet = kind ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3,
                         .side = side,
                         .slices = side,
                         .levels = 3,
                         .z_levels = 3,
                         .type = kind ? L2K_COEFFICIENT_FLOAT32 : L2K_COEFFICIENT_INT32,
                         .precision = 16,
                         .sample = kind ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32};
        make_both(scenes[kind], s, &c, true);
        for (int d = 0; d < 2; d++) {
            if (!make(&scenes[kind][d]))
                fail(scenes[kind][d].said);
            works[1 + 2 * kind + d] = (work){.run = run_scene, .user = &scenes[kind][d]};
        }
    }
    measure(works, 1 + 2 * KINDS);
    printf("%u^3 of four bytes, 3 levels each way, in device memory: a copy takes %.3f ms\n\n", side, works[0].ms);
    printf("| | ms | x copy | host ms |\n|---|---|---|---|\n");
    for (int i = 0; i < 2 * KINDS; i++) {
        scene *s = &scenes[i / 2][i % 2];
        print_cube_row(names[i / 2], s, &works[1 + i], works[0].ms);
        l2k_volume_free(s->volume);
    }
    printf("\n");
    free_copies(&c);
}

/* ---- Frames -------------------------------------------------------------------------------------------------- */

/* Runs of plans in the volume that is looked at. */
enum { MOST_SWEEPS = 64 };
static struct {
    bool on;
    int count;
    cudaEvent_t from[MOST_SWEEPS], to[MOST_SWEEPS];
} sweeps;

l2k_status __real_l2k_plan_run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream);
l2k_status __wrap_l2k_plan_run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream);

l2k_status __wrap_l2k_plan_run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream)
{
    const int i = sweeps.count;
    if (!sweeps.on)
        return __real_l2k_plan_run_on_device(plan, planes, stream);
    if (i == MOST_SWEEPS)
        fail("too many groups of frames");
    if (!sweeps.from[i]) {
        cuda(cudaEventCreate(&sweeps.from[i]));
        cuda(cudaEventCreate(&sweeps.to[i]));
    }
    cuda(cudaEventRecord(sweeps.from[i], NULL)); /* the default stream is the volume's */
    cuda(cudaStreamWaitEvent(stream, sweeps.from[i], 0));
    const l2k_status status = __real_l2k_plan_run_on_device(plan, planes, stream);
    cuda(cudaEventRecord(sweeps.to[i], stream));
    cuda(cudaStreamWaitEvent(NULL, sweeps.to[i], 0));
    sweeps.count++;
    return status;
}

/* Milliseconds of a volume within frames and across them, medians. Copies before each run keep the device busy until
 * the host has enqueued it, so that it is not what the device waits for. */
static void measure_stages(scene *s, const work *run, copies *c, const work *copy, float *within, float *across)
{
    static float within_of[MOST_ROUNDS], across_of[MOST_ROUNDS];
    const int ahead = 2 + (int)(2 * run->host_ms / copy->ms);
    cudaEvent_t start, end;
    cuda(cudaEventCreate(&start));
    cuda(cudaEventCreate(&end));
    for (int round = 0; round < rounds; round++) {
        cuda(cudaDeviceSynchronize());
        for (int i = 0; i < ahead; i++)
            copy_on_device(c);
        sweeps.on = true;
        sweeps.count = 0;
        cuda(cudaEventRecord(start, NULL));
        run_scene(s);
        cuda(cudaEventRecord(end, NULL));
        sweeps.on = false;
        const float all = between(start, end);
        within_of[round] = 0;
        for (int i = 0; i < sweeps.count; i++)
            within_of[round] += between(sweeps.from[i], sweeps.to[i]);
        across_of[round] = all - within_of[round];
    }
    *within = median(within_of);
    *across = median(across_of);
    cuda(cudaEventDestroy(start));
    cuda(cudaEventDestroy(end));
}

enum { FRAME_SIZES = 3 };
enum stage { UP, ACROSS, WITHIN, DOWN, ON_DEVICE, ALL, BACK_ACROSS, BACK_WITHIN, BACK_ON_DEVICE, BACK_ALL, STAGES };

static const struct {
    const char *name, *paper[FRAME_SIZES];
} stages[STAGES] = {
    [UP] = {"1. up *", {"21.57", "83.42", "332.17"}},
    [ACROSS] = {"2. across frames, most of them along rows and columns, too", {"4.03", "14.26", "55.79"}},
    [WITHIN] = {"3, 4. the others along rows and columns, in one sweep", {"5.04 + 5.19", "18.02 + 17.33", "68.54 + 65.94"}},
    [DOWN] = {"5. down *", {"21.82", "83.63", "320.67"}},
    [ON_DEVICE] = {"2 to 4, in device memory", {"14.61", "49.59", "190.27"}},
    [ALL] = {"1 to 5, which overlap *", {"57.65", "216.66", "843.11"}},
    [BACK_ACROSS] = {"inverse: across frames, most along rows and columns, too", {"", "", ""}},
    [BACK_WITHIN] = {"inverse: the others along rows and columns", {"", "", ""}},
    [BACK_ON_DEVICE] = {"inverse, in device memory", {"", "", ""}},
    [BACK_ALL] = {"inverse, from and to pinned memory *", {"", "", ""}},
};

static bool crosses_bus(int stage)
{
    return stage == UP || stage == DOWN || stage == ALL || stage == BACK_ALL;
}

/* A stage's milliseconds, and those of its reference. */
typedef struct figure {
    float ms, reference;
} figure;

static void measure_frames(uint32_t side, figure figures[STAGES])
{
    copies c = make_copies((size_t)side * side * 64 * 4);
    const scene s = {.wavelet = L2K_WAVELET_W4,
                     .side = side,
                     .slices = 64,
                     .levels = 1,
                     .z_levels = 1,
                     .type = L2K_COEFFICIENT_FLOAT32,
                     .precision = 8,
                     .sample = L2K_SAMPLE_F32};
    scene on_device[2], in_host[2];
    make_both(on_device, s, &c, true);
    make_both(in_host, s, &c, false);
    work works[] = {
        {.run = copy_on_device, .user = &c},
        {.run = copy_both, .user = &c},
        {.run = copy_up, .user = &c},
        {.run = copy_down, .user = &c},
        {.run = run_scene, .user = &on_device[0]},
        {.run = run_scene, .user = &on_device[1]},
        {.run = run_scene, .user = &in_host[0]},
        {.run = run_scene, .user = &in_host[1]},
    };
    for (int d = 0; d < 2; d++)
        if (!make(&on_device[d]) || !make(&in_host[d]))
            fail(on_device[d].said[0] ? on_device[d].said : in_host[d].said);
    measure(works, 8);
    figures[UP].ms = works[2].ms;
    figures[DOWN].ms = works[3].ms;
    for (int d = 0; d < 2; d++) {
        figures[d ? BACK_ON_DEVICE : ON_DEVICE].ms = works[4 + d].ms;
        figures[d ? BACK_ALL : ALL].ms = works[6 + d].ms;
        measure_stages(&on_device[d], &works[4 + d], &c, &works[0], &figures[d ? BACK_WITHIN : WITHIN].ms,
                       &figures[d ? BACK_ACROSS : ACROSS].ms);
        l2k_volume_free(on_device[d].volume);
        l2k_volume_free(in_host[d].volume);
    }
    for (int i = 0; i < STAGES; i++)
        figures[i].reference = works[crosses_bus(i)].ms;
    free_copies(&c);
}

static void print_frames(void)
{
    figure figures[FRAME_SIZES][STAGES];
    for (int i = 0; i < FRAME_SIZES; i++)
        measure_frames(512u << i, figures[i]);
    printf(
        "64 frames of float32, w4, one level: ms (times a copy on the device; *: times both directions of the bus at "
        "once), and what Franco et al. had on a Tesla C870\n\n| stage |");
    for (int i = 0; i < FRAME_SIZES; i++)
        printf(" %u x %u | paper |", 512u << i, 512u << i);
    printf("\n|---|---|---|---|---|---|---|\n");
    for (int stage = 0; stage < STAGES; stage++) {
        printf("| %s |", stages[stage].name);
        for (int i = 0; i < FRAME_SIZES; i++) {
            const figure *f = &figures[i][stage];
            printf(" %.3f (%.2f) | %s |", f->ms, f->ms / f->reference, stages[stage].paper[i]);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    what = argc > 2 ? argv[2] : what;
    if (strchr(what, 'd') || strchr(what, 'p'))
        measure_cube(512);
    if (strchr(what, 'w'))
        measure_wide(512);
    if (strchr(what, 'f'))
        print_frames();
    return 0;
}
