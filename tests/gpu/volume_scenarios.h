/* Volumes for tests in which each allocation and each call of a GPU fails in turn: forward and inverse on CUDA, in both
 * orders of levels, from and to host memory and in device memory. */
#ifndef L2K_TESTS_GPU_VOLUME_SCENARIOS_H
#define L2K_TESTS_GPU_VOLUME_SCENARIOS_H

#include "allocation_scenarios.h"
#include "device.h"

enum { VOLUME_SIDE = 24, VOLUME_SLICES = 21, VOLUME_LEVELS = 2, VOLUME_SAMPLES = VOLUME_SIDE * VOLUME_SIDE };

/* Samples, and where they are for the device; coefficients by level, low or high, and index. */
typedef struct volume_case {
    uint16_t samples[VOLUME_SLICES * VOLUME_SAMPLES];
    uint16_t *device;
    void *coefficients[VOLUME_LEVELS + 1][2][VOLUME_SLICES];
} volume_case;

static volume_case the_volume;

/* Before anything fails. */
static inline void volume_case_make(void)
{
    for (size_t i = 0; i < VOLUME_SLICES * VOLUME_SAMPLES; i++)
        the_volume.samples[i] = (uint16_t)(i * i % 1021);
    the_volume.device = gpu_take(sizeof the_volume.samples);
}

static inline void volume_case_free(void)
{
    gpu_give_back(the_volume.device);
}

static inline l2k_plane volume_plane(l2k_memory memory, uint16_t *host, uint32_t z)
{
    return (l2k_plane){memory == L2K_MEMORY_DEVICE ? the_volume.device + z * VOLUME_SAMPLES : host, VOLUME_SIDE * 2, 2,
                       L2K_SAMPLE_U16};
}

/* The memory of a slice of coefficients, to what is kept, or back. */
static inline void volume_keep(const l2k_volume_slice *slice, bool back)
{
    const l2k_coefficients *view = slice->views;
    const size_t bytes = view->stride * view->height * l2k_coefficient_bytes(view->type);
    void **kept = &the_volume.coefficients[slice->level][slice->high][slice->index];
    if (!back) {
        free(*kept);
        *kept = malloc(bytes);
    }
    assert_non_null(*kept);
    if (view->on_device)
        gpu_wait();
    if (back && view->on_device)
        gpu_copy_in(view->base, *kept, bytes);
    else if (view->on_device)
        gpu_copy_out(*kept, view->base, bytes);
    else
        memcpy(back ? view->base : *kept, back ? *kept : view->base, bytes);
}

static inline l2k_status volume_forward(l2k_volume *v, l2k_memory memory)
{
    if (memory == L2K_MEMORY_DEVICE)
        gpu_copy_in(the_volume.device, the_volume.samples, sizeof the_volume.samples);
    for (uint32_t z = 0; z < VOLUME_SLICES; z++) {
        const l2k_plane plane = volume_plane(memory, the_volume.samples + z * VOLUME_SAMPLES, z);
        l2k_volume_slice slice = {.views = NULL};
        l2k_status status = l2k_volume_put_slice(v, &plane);
        do {
            if (status == L2K_OK)
                status = l2k_volume_get_coefficients(v, &slice);
            if (status != L2K_OK)
                return status;
            if (slice.views)
                volume_keep(&slice, false);
        } while (slice.views);
    }
    return L2K_OK;
}

static inline l2k_status volume_inverse(l2k_volume *v, l2k_memory memory)
{
    static uint16_t found[VOLUME_SLICES * VOLUME_SAMPLES];
    for (uint32_t z = 0; z < VOLUME_SLICES;) {
        l2k_volume_slice slice;
        l2k_status status = l2k_volume_next_coefficients(v, &slice);
        if (status == L2K_OK && slice.views) {
            volume_keep(&slice, true);
            status = l2k_volume_put_coefficients(v);
        }
        for (bool got = true; status == L2K_OK && got && z < VOLUME_SLICES; z += got) {
            const l2k_plane plane = volume_plane(memory, found + z * VOLUME_SAMPLES, z);
            status = l2k_volume_get_slice(v, &plane, &got);
        }
        if (status != L2K_OK)
            return status;
    }
    if (memory == L2K_MEMORY_DEVICE) {
        gpu_wait();
        gpu_copy_out(found, the_volume.device, sizeof found);
    }
    assert_memory_equal(found, the_volume.samples, sizeof found);
    return L2K_OK;
}

/* One direction. After an error the same volume is prepared again, which may fail as well, and then works. */
static inline l2k_status volume_run(l2k_volume *v, l2k_memory memory, l2k_direction direction)
{
    const l2k_component component = {.dx = 1, .dy = 1, .precision = 10};
    const l2k_image image = {.x1 = VOLUME_SIDE, .y1 = VOLUME_SIDE, .num_components = 1, .components = &component};
    l2k_status first = L2K_OK;
    for (int turn = 0; turn < 2; turn++) {
        l2k_status status = l2k_volume_set(v, L2K_VOLUME_DIRECTION, direction);
        if (status == L2K_OK)
            status = l2k_volume_prepare(v, &image, 0, VOLUME_SLICES);
        if (status == L2K_OK)
            status = direction == L2K_FORWARD ? volume_forward(v, memory) : volume_inverse(v, memory);
        if (turn == 0)
            first = status;
        if (status != L2K_ERROR_MEMORY)
            return turn == 0 ? status : first;
    }
    return first;
}

static inline l2k_status volume_there_and_back(const l2k_hooks *hooks, l2k_volume_order order, l2k_memory memory)
{
    const int64_t settings[][2] = {{L2K_VOLUME_BACKEND, L2K_BACKEND_CUDA},
                                   {L2K_VOLUME_MEMORY, memory},
                                   {L2K_VOLUME_ORDER, order},
                                   {L2K_VOLUME_LEVELS, VOLUME_LEVELS},
                                   {L2K_VOLUME_Z_LEVELS, VOLUME_LEVELS}};
    l2k_volume *v = l2k_volume_new(hooks);
    l2k_status status = v ? L2K_OK : L2K_ERROR_MEMORY;
    for (size_t i = 0; status == L2K_OK && i < sizeof settings / sizeof *settings; i++)
        status = l2k_volume_set(v, (l2k_volume_option)settings[i][0], settings[i][1]);
    if (status == L2K_OK)
        status = volume_run(v, memory, L2K_FORWARD);
    if (status == L2K_OK)
        status = volume_run(v, memory, L2K_INVERSE);
    l2k_volume_free(v);
    for (int i = 0; i < (VOLUME_LEVELS + 1) * 2 * VOLUME_SLICES; i++) {
        void **kept = &the_volume.coefficients[0][0][0] + i;
        free(*kept);
        *kept = NULL;
    }
    return status;
}

#define VOLUME_SCENARIO(name, order, memory)                                                                           \
    static l2k_status name(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)                      \
    {                                                                                                                  \
        (void)files;                                                                                                   \
        (void)out;                                                                                                     \
        return volume_there_and_back(hooks, order, memory);                                                            \
    }

VOLUME_SCENARIO(volume_z_first_host, L2K_VOLUME_Z_FIRST, L2K_MEMORY_HOST)
VOLUME_SCENARIO(volume_z_first_device, L2K_VOLUME_Z_FIRST, L2K_MEMORY_DEVICE)
VOLUME_SCENARIO(volume_isotropic_host, L2K_VOLUME_ISOTROPIC, L2K_MEMORY_HOST)
VOLUME_SCENARIO(volume_isotropic_device, L2K_VOLUME_ISOTROPIC, L2K_MEMORY_DEVICE)

static const scenario volume_scenarios[] = {{"volume", volume_z_first_host, true},
                                            {"volume, device memory", volume_z_first_device, true},
                                            {"volume, isotropic", volume_isotropic_host, true},
                                            {"volume, isotropic, device memory", volume_isotropic_device, true}};

enum { NUM_VOLUME_SCENARIOS = sizeof volume_scenarios / sizeof *volume_scenarios };

#endif
