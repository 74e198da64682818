/* volumes: the levels of the third direction on the CPU, alone, as a multiple of the time of memcpy of the same slices
 * with the same threads; and a whole volume, put and got slice by slice. Also builds without CUDA:
 *
 *     cc -O2 -std=c11 -I. -Iinclude -fopenmp -o volumes bench/volumes.c build/liblift2k.a -lm -lpthread
 *     volumes [THREADS [SIDE [SLICES]]]
 *
 * Slices are copied into the volume and lifted there, in turn with copies alone; the levels take the difference of the
 * two, each the best of several rounds: others may be at work on the machine. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "transform/volume/volume.h"

enum { ROUNDS = 15, COPIES = 8 };

static double best(const double *times)
{
    double least = times[0];
    for (int i = 1; i < ROUNDS; i++)
        least = times[i] < least ? times[i] : least;
    return least;
}

static void must(l2k_status status)
{
    if (status == L2K_OK)
        return;
    fprintf(stderr, "volumes: %s\n", l2k_strerror(status));
    exit(1);
}

static l2k_volume *prepare(l2k_wavelet wavelet, l2k_direction direction, unsigned z_levels, int threads, uint32_t side,
                           uint32_t slices)
{
    l2k_component component = {.dx = 1, .dy = 1, .precision = 8};
    l2k_image image = {.x1 = side, .y1 = side, .num_components = 1, .components = &component};
    l2k_volume *volume = l2k_volume_new(NULL);
    must(l2k_volume_set(volume, L2K_VOLUME_DIRECTION, direction));
    must(l2k_volume_set(volume, L2K_VOLUME_WAVELET, wavelet));
    must(l2k_volume_set(volume, L2K_VOLUME_Z_LEVELS, z_levels));
    must(l2k_volume_set(volume, L2K_VOLUME_THREADS, threads));
    must(l2k_volume_prepare(volume, &image, 0, slices));
    return volume;
}

static void copy(uint32_t *to, const uint32_t *from, size_t samples, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int part = 0; part < threads; part++) {
        const size_t first = samples * (size_t)part / (size_t)threads,
                     end = samples * ((size_t)part + 1) / (size_t)threads;
        memcpy(to + first, from + first, (end - first) * sizeof *to);
    }
}

/* Fresh slices, copied from eight places; with `lifts`, they go through the levels of Z and out again. */
static double sweep(l2k_volume *volume, const uint32_t *fresh, uint32_t slices, int threads, bool lifts)
{
    l2k_volume_stage *stage = volume->stages;
    const double start = now();
    l2k_stages_rewind(volume);
    for (uint32_t z = 0; z < slices; z++) {
        l2k_z_slice *slice = l2k_stage_new_slice(volume, stage);
        copy(slice->values, fresh + z % COPIES * stage->samples, stage->samples, threads);
        if (lifts)
            must(l2k_stage_put(volume, stage, slice));
        else
            l2k_z_append(&stage->free, slice); /* the one that has not been written for longest comes next */
        for (slice = lifts ? l2k_stage_get(volume, stage, false) : NULL; slice;
             slice = l2k_stage_get(volume, stage, false))
            l2k_stage_free(stage, slice);
    }
    return now() - start;
}

static uint32_t *make_fresh(l2k_wavelet wavelet, size_t samples)
{
    uint32_t *fresh = malloc(COPIES * samples * sizeof *fresh);
    for (size_t i = 0; fresh && i < COPIES * samples; i++) {
        const int32_t value = (int32_t)(i * 2654435761u >> 24) - 128;
        const float real = (float)value;
        memcpy(&fresh[i], wavelet == L2K_WAVELET_9_7 ? (const void *)&real : (const void *)&value, sizeof value);
    }
    return fresh;
}

static void measure_levels(l2k_wavelet wavelet, unsigned levels, int threads, uint32_t side, uint32_t slices,
                           const uint32_t *fresh)
{
    l2k_volume *volumes[2];
    double times[3][ROUNDS];
    for (int d = 0; d < 2; d++) {
        volumes[d] = prepare(wavelet, (l2k_direction)d, levels, threads, side, slices);
        sweep(volumes[d], fresh, slices, threads, true);
    }
    for (int i = 0; i < ROUNDS; i++) {
        times[0][i] = sweep(volumes[0], fresh, slices, threads, true);
        times[1][i] = sweep(volumes[0], fresh, slices, threads, false);
        times[2][i] = sweep(volumes[1], fresh, slices, threads, true);
    }
    const double copies = best(times[1]);
    printf("| %s | %u | %.2f | %.2f | %.1f |\n", wavelet ? "9/7" : "5/3", levels, copies / (best(times[0]) - copies),
           copies / (best(times[2]) - copies), 4e-9 * (double)side * side * slices / copies);
    l2k_volume_free(volumes[0]);
    l2k_volume_free(volumes[1]);
}

static void measure_sweeps(int threads, uint32_t side, uint32_t slices)
{
    printf("Z alone, %u slices of %u x %u in 32 bits, %d threads: speed over memcpy's\n\n", slices, side, side,
           threads);
    printf("| wavelet | Z levels | forward | inverse | memcpy GB/s |\n|---|---|---|---|---|\n");
    for (int wavelet = 0; wavelet < 2; wavelet++) {
        uint32_t *fresh = make_fresh((l2k_wavelet)wavelet, (size_t)side * side);
        for (unsigned levels = 1; fresh && levels <= 6; levels++)
            measure_levels((l2k_wavelet)wavelet, levels, threads, side, slices, fresh);
        free(fresh);
    }
}

static double whole(l2k_volume *volume, const l2k_plane *plane, uint32_t slices)
{
    const double start = now();
    for (uint32_t z = 0; z < slices; z++) {
        l2k_volume_slice slice;
        must(l2k_volume_put_slice(volume, plane));
        do
            must(l2k_volume_get_coefficients(volume, &slice));
        while (slice.views);
    }
    return now() - start;
}

static void measure_whole(int threads, uint32_t side, uint32_t slices)
{
    uint8_t *samples = malloc((size_t)side * side);
    if (!samples)
        return;
    for (size_t i = 0; i < (size_t)side * side; i++)
        samples[i] = (uint8_t)(i * i >> 7);
    const l2k_plane plane = {samples, side, 1, L2K_SAMPLE_U8};
    printf("\nWhole volume, 8 bits, five levels a slice: milliseconds a slice\n\n| wavelet | Z levels | forward "
           "|\n|---|---|---|\n");
    for (int wavelet = 0; wavelet < 2; wavelet++)
        for (unsigned levels = 0; levels <= 4; levels += 2) {
            l2k_volume *volume = prepare((l2k_wavelet)wavelet, L2K_FORWARD, levels, threads, side, slices);
            printf("| %s | %u | %.2f |\n", wavelet ? "9/7" : "5/3", levels,
                   1e3 * whole(volume, &plane, slices) / slices);
            l2k_volume_free(volume);
        }
    free(samples);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 2;
    const uint32_t side = argc > 2 ? (uint32_t)atoi(argv[2]) : 1024, slices = argc > 3 ? (uint32_t)atoi(argv[3]) : 64;
    measure_sweeps(threads, side, slices);
    measure_whole(threads, side, slices);
    return 0;
}
