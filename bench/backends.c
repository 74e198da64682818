/* backends: how long the forward transform of one RGB tile in host memory takes on the CPU and on the GPU, by size, to
 * find from where on `auto` should take the GPU. Milliseconds, best of several runs; "once" includes making the plan.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/context.h"
#include "base/memory.h"
#include "transform/plan.h"

enum { REPEATS = 7 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    fprintf(stderr, "lift2k: %s\n", text);
}

/* Best time of a run, and of making a plan, running and freeing it. */
static void measure(const l2k_context *context, l2k_backend backend, const l2k_plan_spec *spec, const l2k_plane *planes,
                    double *run, double *once)
{
    *run = *once = 1e30;
    for (int i = 0; i < REPEATS; i++) {
        l2k_plan *plan;
        double from = now_ms();
        if (l2k_plan_create(context, backend, spec, &plan) != L2K_OK)
            exit(1);
        if (l2k_plan_forward(plan, planes) != L2K_OK)
            exit(1);
        double first = now_ms();
        if (l2k_plan_forward(plan, planes) != L2K_OK)
            exit(1);
        double second = now_ms();
        l2k_plan_free(plan);
        double freed = now_ms() - second;
        *run = second - first < *run ? second - first : *run;
        *once = first - from + freed < *once ? first - from + freed : *once;
    }
}

static void measure_size(const l2k_context *context, uint32_t n)
{
    uint8_t *pixels = malloc((size_t)3 * n * n);
    l2k_plan_component components[3];
    l2k_plane planes[3];
    double run[2], once[2];
    if (!pixels)
        exit(1);
    for (size_t i = 0; i < (size_t)3 * n * n; i++)
        pixels[i] = (uint8_t)(i * 2654435761u >> 13);
    memset(components, 0, sizeof components);
    for (int c = 0; c < 3; c++) {
        components[c].rect = (l2k_rect){0, 0, n, n};
        components[c].levels = 5;
        components[c].precision = 8;
        planes[c] = (l2k_plane){pixels + c, (ptrdiff_t)n * 3, 3, L2K_SAMPLE_U8};
    }
    l2k_plan_spec spec = {.direction = L2K_FORWARD,
                          .type = L2K_COEFFICIENT_INT16,
                          .component_transform = true,
                          .num_components = 3,
                          .components = components};
    measure(context, L2K_BACKEND_CPU, &spec, planes, &run[0], &once[0]);
    measure(context, L2K_BACKEND_CUDA, &spec, planes, &run[1], &once[1]);
    printf("| %u | %.2f | %.2f | %.2f | %.2f |\n", n, run[0], run[1], once[0], once[1]);
    fflush(stdout);
    free(pixels);
}

int main(void)
{
    l2k_context context = {.hooks = {.message = print_message}, .threads = l2k_thread_count(0)};
    char text[160];
    double from = now_ms();
    if (!l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text)) {
        printf("SKIPPED: no GPU can be used: %s\n", text);
        return 77;
    }
    printf("%s; %u threads; first look at the device %.0f ms\n\n", text, context.threads, now_ms() - from);
    printf("| n x n RGB, RCT + 5/3 | CPU | GPU | CPU once | GPU once |\n|---|---|---|---|---|\n");
    for (uint32_t n = 256; n <= 8192; n *= 2)
        measure_size(&context, n);
    return 0;
}
