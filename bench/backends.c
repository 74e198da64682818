/* backends: how long the forward transform of one RGB tile in host memory takes, by size: on the CPU with each
 * instruction set, and on the GPU, to find the size from which `auto` should take the GPU. Milliseconds, best of
 * several runs; "once" includes making the plan. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "bench/bench.h"
#include "transform/plan.h"

enum { REPEATS = 7 };

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

/* A column of the table. */
typedef struct way {
    char name[16];
    l2k_backend backend;
    l2k_cpu cpu;
} way;

static void measure_size(l2k_context *context, const way *ways, size_t count, uint32_t n)
{
    uint8_t *pixels = malloc((size_t)3 * n * n);
    l2k_plan_component components[3];
    l2k_plane planes[3];
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
    printf("| %u |", n);
    for (size_t i = 0; i < count; i++) {
        double run, once;
        context->cpu = ways[i].cpu;
        measure(context, ways[i].backend, &spec, planes, &run, &once);
        printf(" %.2f | %.2f |", run, once);
    }
    printf("\n");
    fflush(stdout);
    free(pixels);
}

int main(int argc, char **argv)
{
    l2k_context context = {.hooks = {.message = report_message}, .threads = l2k_thread_count(0)};
    way ways[8];
    size_t count = 0;
    char text[160];
    if (argc > 1)
        context.threads = l2k_thread_count((unsigned)atoi(argv[1]));
    for (int cpu = L2K_CPU_C; cpu <= L2K_CPU_NEON; cpu++)
        if (l2k_cpu_usable((l2k_cpu)cpu)) {
            ways[count] = (way){.backend = L2K_BACKEND_CPU, .cpu = (l2k_cpu)cpu};
            snprintf(ways[count++].name, sizeof ways->name, "%s", l2k_cpu_name((l2k_cpu)cpu));
        }
    double from = now_ms();
    if (l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text)) {
        printf("%s; opening the device %.0f ms; ", text, now_ms() - from);
        ways[count++] = (way){"GPU", L2K_BACKEND_CUDA, L2K_CPU_AUTO};
    } else {
        printf("no GPU: %s; ", text);
    }
    printf("%u threads\n\n| n x n RGB, RCT + 5/3 |", context.threads);
    for (size_t i = 0; i < count; i++)
        printf(" %s | once |", ways[i].name);
    printf("\n|---|");
    for (size_t i = 0; i < count; i++)
        printf("---|---|");
    printf("\n");
    for (uint32_t n = 256; n <= 8192; n *= 2)
        measure_size(&context, ways, count, n);
    return 0;
}
