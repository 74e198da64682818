/* plan_windows: how long the inverse transform of a window of an RGB tile takes beside its whole tile: on the CPU with
 * one thread, and on the GPU with planes in host memory and in device memory. Milliseconds, the best of several runs in
 * turn; "made" includes making the plan. Also builds without CUDA:
 *
 *     cc -O2 -std=c11 -I. -Iinclude -o plan_windows bench/plan_windows.c build/liblift2k.a -fopenmp -lm -lpthread
 *
 * plan_windows [SIDE [gpu]]: of the tile, 4096; gpu: not on the CPU. And on the GPU, with coefficients in host memory,
 * the whole tile where only some code-blocks hold anything. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "transform/device.h"
#include "transform/plan.h"

enum { REPEATS = 9 };

static void require(l2k_status status)
{
    if (status != L2K_OK)
        exit(1);
}

/* Where a transform runs. */
typedef struct way {
    const char *name;
    l2k_backend backend;
    bool on_device;
    bool keeps_coefficients;
} way;

typedef struct timing {
    double run, made;
} timing;

static void set_components(l2k_plan_component components[3], l2k_wavelet wavelet, uint32_t side)
{
    memset(components, 0, 3 * sizeof *components);
    for (int c = 0; c < 3; c++) {
        components[c].rect = (l2k_rect){0, 0, side, side};
        components[c].levels = 5;
        components[c].wavelet = wavelet;
        components[c].precision = 8;
        for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
            components[c].steps[b] = 0.5f;
    }
}

static l2k_plan *make_plan(const l2k_context *context, const way *w, l2k_plan_component components[3], l2k_rect window)
{
    for (int c = 0; c < 3; c++)
        components[c].window = window;
    const l2k_plan_spec spec = {.direction = L2K_INVERSE,
                                .type = L2K_COEFFICIENT_INT16,
                                .component_transform = true,
                                .num_components = 3,
                                .components = components,
                                .on_device = w->on_device,
                                .keeps_coefficients = w->keeps_coefficients};
    l2k_plan *plan;
    require(l2k_plan_create(context, w->backend, &spec, &plan));
    for (uint32_t c = 0; c < 3; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(plan, c);
        if (!view->on_device) /* a device's are 0 */
            memset(view->base, 0, view->stride * view->height * l2k_coefficient_bytes(view->type));
    }
    return plan;
}

static void measure(const l2k_context *context, const way *w, l2k_plan_component components[3], l2k_rect window,
                    uint8_t *samples, timing *best)
{
    const size_t row = window.x1 ? window.x1 - window.x0 : components[0].rect.x1;
    l2k_plane planes[3];
    for (int c = 0; c < 3; c++)
        planes[c] = (l2k_plane){samples + c, (ptrdiff_t)(3 * row), 3, L2K_SAMPLE_U8};
    double from = now_ms();
    l2k_plan *plan = make_plan(context, w, components, window);
    require(l2k_plan_inverse(plan, planes));
    double first = now_ms();
    require(l2k_plan_inverse(plan, planes));
    double second = now_ms();
    l2k_plan_free(plan);
    best->run = second - first < best->run ? second - first : best->run;
    best->made = first - from < best->made ? first - from : best->made;
}

static void measure_way(const l2k_context *context, const way *w, l2k_wavelet wavelet, uint32_t side)
{
    const uint32_t most = side - 2;
    const uint32_t sizes[] = {64, 256, 512, 1024, side / 2, side * 3 / 4, side * 9 / 10, most};
    const size_t count = sizeof sizes / sizeof *sizes, bytes = (size_t)3 * side * side;
    l2k_device_memory memory = {0};
    l2k_plan_component components[3];
    timing whole = {1e30, 1e30}, part[sizeof sizes / sizeof *sizes];
    set_components(components, wavelet, side);
    uint8_t *samples = w->on_device ? NULL : malloc(bytes);
    if (w->on_device)
        require(l2k_device_reserve(context, &memory, bytes));
    if (!samples && !memory.at)
        exit(1);
    for (size_t i = 0; i < count; i++)
        part[i] = whole;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        uint8_t *at = samples ? samples : memory.at;
        measure(context, w, components, (l2k_rect){0}, at, &whole);
        for (size_t i = 0; i < count; i++) {
            const uint32_t n = sizes[i], x = (side - n) / 2 | 1, y = (side - n) / 2; /* odd: not aligned */
            measure(context, w, components, (l2k_rect){x, y, x + n, y + n}, at, &part[i]);
        }
    }
    printf("| %s, %s | whole | %.3f | 1 | %.3f | 1 |\n", w->name, wavelet == L2K_WAVELET_5_3 ? "5/3" : "9/7", whole.run,
           whole.made);
    for (size_t i = 0; i < count; i++)
        printf("| | %u | %.3f | %.3f | %.3f | %.3f |\n", sizes[i], part[i].run, part[i].run / whole.run, part[i].made,
               part[i].made / whole.made);
    fflush(stdout);
    free(samples);
    if (memory.at)
        l2k_device_release(&memory);
}

/* The whole tile from coefficients in host memory, of which some code-blocks, taken at random, hold something: a part
 * of all of them, or no word said about it. */
static void measure_held(const l2k_context *context, l2k_wavelet wavelet, uint32_t side)
{
    enum { BLOCK = 64, SHARES = 8 };
    static const double shares[SHARES] = {1, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1};
    const size_t bytes = (size_t)3 * side * side;
    l2k_plan_component components[3];
    set_components(components, wavelet, side);
    uint8_t *samples = malloc(bytes);
    l2k_plane planes[3];
    for (int c = 0; samples && c < 3; c++)
        planes[c] = (l2k_plane){samples + c, (ptrdiff_t)(3 * side), 3, L2K_SAMPLE_U8};
    const way host = {"", L2K_BACKEND_CUDA, false, false};
    l2k_plan *plan = make_plan(context, &host, components, (l2k_rect){0});
    double best[SHARES];
    uint64_t sent[SHARES];
    for (int run = 0; samples && run <= REPEATS; run++)
        for (int k = 0; k < SHARES; k++) {
            uint32_t state = 1;
            if (shares[k] < 1)
                l2k_plan_hold_nothing(plan);
            for (uint32_t c = 0; c < 3 && shares[k] < 1; c++)
                for (uint32_t y = 0; y + BLOCK <= side; y += BLOCK)
                    for (uint32_t x = 0; x + BLOCK <= side; x += BLOCK) {
                        state = state * 1664525 + 1013904223;
                        if (state >> 8 < shares[k] * (1 << 24))
                            l2k_plan_hold(plan, c, &(l2k_band_view){.x = x, .y = y, .width = BLOCK, .height = BLOCK});
                    }
            const double from = now_ms();
            require(l2k_plan_inverse(plan, planes));
            const double took = now_ms() - from;
            best[k] = run <= 1 || took < best[k] ? took : best[k];
            sent[k] = l2k_plan_sent_bytes(plan);
        }
    for (int k = 0; samples && k < SHARES; k++)
        printf("| %s | %.1f | %.2f | %.3f | %.3f |\n", wavelet == L2K_WAVELET_5_3 ? "5/3" : "9/7", shares[k],
               (double)sent[k] / (double)sent[0], best[k], best[k] / best[0]);
    l2k_plan_free(plan);
    free(samples);
}

int main(int argc, char **argv)
{
    const l2k_context context = {.hooks = {.message = report_message}, .threads = 1};
    const uint32_t side = argc > 1 ? (uint32_t)atoi(argv[1]) : 4096;
    const way ways[] = {{"GPU, device memory", L2K_BACKEND_CUDA, true, false},
                        {"GPU, host memory", L2K_BACKEND_CUDA, false, true},
                        {"CPU, one thread", L2K_BACKEND_CPU, false, false}};
    const bool has_gpu = l2k_backend_usable(L2K_BACKEND_CUDA, NULL, 0), no_cpu = argc > 2 && !strcmp(argv[2], "gpu");
    printf("%u x %u RGB\n\n| | window | run | | made and run | |\n|---|---|---|---|---|---|\n", side, side);
    for (size_t i = has_gpu ? 0 : 2; i < sizeof ways / sizeof *ways - no_cpu; i++)
        for (int wavelet = 0; wavelet < 2; wavelet++)
            measure_way(&context, &ways[i], (l2k_wavelet)wavelet, side);
    if (has_gpu)
        printf("\n| whole, coefficients from the host | code-blocks held | bytes up | ms | of all "
               "|\n|---|---|---|---|---|\n");
    for (int wavelet = 0; has_gpu && wavelet < 2; wavelet++)
        measure_held(&context, (l2k_wavelet)wavelet, side);
    return 0;
}
