/* cuda_windows FILE...: windows in the middle of a picture of 8 bits, decoded on the GPU into host memory, and into
 * device memory plane by plane and interleaved: milliseconds, and as a part of the whole picture's time. They begin at
 * odd columns and are an odd number of columns wide or an even one, as it comes. The best of several runs in turn, of
 * decoders that stay open. Files of both block coders are wanted: `lift2k encode` with and without --ht. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "transform/device.h"

enum { RUNS = 15, WARM = 3, WINDOWS = 8, MOST_COMPONENTS = 4 };

static const double sides[WINDOWS] = {1, 0.9999, 0.95, 0.9, 0.75, 0.5, 0.25, 0.1}; /* of the picture's */

static void require(l2k_status status)
{
    if (status != L2K_OK)
        exit(1);
}

static char *read_all(const char *name, size_t *bytes)
{
    FILE *file = fopen(name, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return perror(name), NULL;
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*bytes);
    if (data && fread(data, 1, *bytes, file) != *bytes) {
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

static l2k_decoder *open_one(const char *data, size_t bytes, l2k_memory memory)
{
    const l2k_hooks hooks = {.message = report_message};
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    if (!decoder)
        exit(1);
    require(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CUDA));
    require(l2k_decoder_set(decoder, L2K_DECODER_MEMORY, memory));
    require(l2k_decoder_open_memory(decoder, data, bytes));
    return decoder;
}

/* Where samples go. */
typedef struct target {
    const char *name;
    l2k_memory memory;
    bool interleaved;
} target;

static const target targets[] = {{"host", L2K_MEMORY_HOST, false},
                                 {"device", L2K_MEMORY_DEVICE, false},
                                 {"device, interleaved", L2K_MEMORY_DEVICE, true}};

static double time_window(l2k_decoder *decoder, const l2k_info *info, double side, bool interleaved, char *samples)
{
    const uint32_t num_components = info->image.num_components;
    const bool whole = side == 1;
    const uint32_t all_across = info->image.x1, all_down = info->image.y1;
    const uint32_t across = whole ? all_across : (uint32_t)(all_across * side) - 1;
    const uint32_t down = whole ? all_down : (uint32_t)(all_down * side) - 1;
    const uint32_t x = whole ? 0 : (all_across - across) / 2 | 1, y = (all_down - down) / 2;
    l2k_plane planes[MOST_COMPONENTS];
    for (uint32_t c = 0; c < num_components; c++)
        planes[c] = interleaved
                        ? (l2k_plane){samples + c, (ptrdiff_t)num_components * across, num_components, L2K_SAMPLE_U8}
                        : (l2k_plane){samples + (size_t)c * across * down, (ptrdiff_t)across, 1, L2K_SAMPLE_U8};
    require(l2k_decoder_set_region(decoder, x, y, x + across, y + down));
    const double from = now_ms();
    require(l2k_decoder_decode(decoder, planes));
    return now_ms() - from;
}

static void time_all(const char *name, const char *data, size_t bytes, const target *to)
{
    const l2k_context context = {.hooks = {.message = report_message}, .threads = 1};
    l2k_decoder *decoders[WINDOWS];
    l2k_device_memory device = {0};
    double best[WINDOWS];
    l2k_info info;
    for (int k = 0; k < WINDOWS; k++)
        decoders[k] = open_one(data, bytes, to->memory);
    require(l2k_decoder_info(decoders[0], &info));
    if (info.image.num_components > MOST_COMPONENTS)
        exit(1);
    const size_t room = (size_t)info.image.x1 * info.image.y1 * info.image.num_components;
    if (to->memory == L2K_MEMORY_DEVICE)
        require(l2k_device_reserve(&context, &device, room));
    char *samples = to->memory == L2K_MEMORY_DEVICE ? device.at : malloc(room);
    for (int run = 0; samples && run < RUNS; run++)
        for (int k = 0; k < WINDOWS; k++) {
            const double took = time_window(decoders[k], &info, sides[k], to->interleaved, samples);
            best[k] = run <= WARM || took < best[k] ? took : best[k];
        }
    for (int k = 0; samples && k < WINDOWS; k++) {
        printf("| %s | %s | %.4f | %.3f | %.3f |\n", name, to->name, sides[k], best[k], best[k] / best[0]);
        l2k_decoder_free(decoders[k]);
    }
    if (to->memory == L2K_MEMORY_DEVICE)
        l2k_device_release(&device);
    else
        free(samples);
}

int main(int count, char **names)
{
    printf("| file | memory | side | ms | of the whole |\n|---|---|---|---|---|\n");
    for (int i = 1; i < count; i++) {
        size_t bytes;
        char *data = read_all(names[i], &bytes);
        if (!data)
            return 1;
        for (size_t k = 0; k < sizeof targets / sizeof *targets; k++)
            time_all(names[i], data, bytes, &targets[k]);
        free(data);
    }
    return 0;
}
