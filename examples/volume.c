/* volume [OUT.raw]: 40 slices of tomography, 12-bit signed samples, through the transform in three directions and back,
 * one slice at a time. Counts the coefficients that are zero with and without levels across the slices. Writes the
 * samples, if a file is named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lift2k/lift2k.h>

enum { SIDE = 128, SLICES = 40 };

static int16_t samples[SLICES][SIDE * SIDE], restored[SIDE * SIDE];

/* Coefficients that a reader of subbands would store: all slices of all subbands of Z, by level. */
typedef struct slice_of_coefficients {
    int32_t values[SIDE * SIDE];
} slice_of_coefficients;

static slice_of_coefficients *stored[8][2];

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    fprintf(stderr, "volume: %s\n", text);
}

static void check(l2k_status status)
{
    if (status != L2K_OK)
        exit(1);
}

/* A ball of water with a bone in it, in air; some noise. */
static void make_slice(int z)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int dx = x - SIDE / 2, dy = y - SIDE / 2, dz = 2 * (z - SLICES / 2), r = dx * dx + dy * dy + dz * dz;
            int bone = (dx - 20) * (dx - 20) + dy * dy < 80;
            samples[z][y * SIDE + x] = (int16_t)((r >= 3000 ? -1000
                                                  : bone    ? 1200
                                                            : r / 100) +
                                                 (x * 7919 ^ y * 104729 ^ z * 1299709) % 4);
        }
}

static l2k_volume *prepare(l2k_direction direction, int z_levels)
{
    l2k_hooks hooks;
    l2k_component component;
    l2k_image slice;
    memset(&hooks, 0, sizeof hooks);
    memset(&component, 0, sizeof component);
    memset(&slice, 0, sizeof slice);
    hooks.message = print_message;
    component.dx = component.dy = 1;
    component.precision = 12;
    component.is_signed = true;
    slice.x1 = slice.y1 = SIDE;
    slice.num_components = 1;
    slice.components = &component;
    l2k_volume *volume = l2k_volume_new(&hooks);
    if (!volume)
        exit(1);
    check(l2k_volume_set(volume, L2K_VOLUME_DIRECTION, direction));
    check(l2k_volume_set(volume, L2K_VOLUME_Z_LEVELS, z_levels));
    check(l2k_volume_prepare(volume, &slice, 0, SLICES));
    return volume;
}

/* Moves the rows of a slice of coefficients to the store or from it; returns how many values are 0. */
static long move(const l2k_volume_slice *slice, int back)
{
    int32_t *values = stored[slice->level][slice->high][slice->index].values;
    const l2k_coefficients *view = &slice->views[0];
    long zeros = 0;
    for (uint32_t y = 0; y < view->height; y++) {
        int32_t *row = (int32_t *)view->base + y * view->stride;
        memcpy(back ? row : values + y * SIDE, back ? values + y * SIDE : row, SIDE * sizeof *row);
        for (uint32_t x = 0; x < SIDE; x++)
            zeros += row[x] == 0;
    }
    return zeros;
}

/* Transforms all slices forward; returns the share of zeros. */
static double analyse(l2k_volume *volume)
{
    long zeros = 0;
    for (int z = 0; z < SLICES; z++) {
        l2k_volume_slice slice;
        l2k_plane plane = {samples[z], SIDE * 2, 2, L2K_SAMPLE_S16};
        check(l2k_volume_put_slice(volume, &plane));
        for (check(l2k_volume_get_coefficients(volume, &slice)); slice.views;
             check(l2k_volume_get_coefficients(volume, &slice)))
            zeros += move(&slice, 0);
    }
    return (double)zeros / ((double)SLICES * SIDE * SIDE);
}

/* And back: the number of slices that equal the originals. */
static int synthesise(l2k_volume *volume)
{
    int z = 0, same = 0;
    l2k_plane plane = {restored, SIDE * 2, 2, L2K_SAMPLE_S16};
    while (z < SLICES) {
        l2k_volume_slice slice;
        bool got = true;
        check(l2k_volume_next_coefficients(volume, &slice));
        if (slice.views) {
            move(&slice, 1);
            check(l2k_volume_put_coefficients(volume));
        }
        while (got) {
            check(l2k_volume_get_slice(volume, &plane, &got));
            if (got)
                same += memcmp(restored, samples[z++], sizeof restored) == 0;
        }
    }
    return same;
}

static int write_samples(const char *name)
{
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(samples, sizeof samples, 1, file) != 1 || fclose(file) != 0) {
        perror(name);
        return 1;
    }
    return 0;
}

int main(int count, char **arguments)
{
    l2k_volume *alone = prepare(L2K_FORWARD, 0), *forward = prepare(L2K_FORWARD, 3), *inverse = prepare(L2K_INVERSE, 3);
    for (int z = 0; z < SLICES; z++)
        make_slice(z);
    for (int level = 0; level < 8; level++)
        for (int high = 0; high < 2; high++) {
            stored[level][high] = (slice_of_coefficients *)malloc(SLICES * sizeof(slice_of_coefficients));
            if (!stored[level][high])
                return 1;
        }
    printf("zeros: %.1f %% of the coefficients of single slices, ", 100 * analyse(alone));
    printf("%.1f %% with three levels across them\n", 100 * analyse(forward));
    printf("slices restored: %d of %d\n", synthesise(inverse), SLICES);
    l2k_volume_free(alone);
    l2k_volume_free(forward);
    l2k_volume_free(inverse);
    for (int level = 0; level < 8; level++)
        for (int high = 0; high < 2; high++)
            free(stored[level][high]);
    return count > 1 ? write_samples(arguments[1]) : 0;
}
