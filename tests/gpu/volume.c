/* gpu_volume [CASES [SEED [SIDE]]]: volumes on the CUDA backend compared with the CPU's: coefficients and samples must be
 * equal bit for bit, from and to host memory (pageable and pinned) and in device memory. Exits with 77 without a GPU,
 * unless L2K_REQUIRE_GPU=1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "require.h"
#include "lift2k/lift2k.h"

enum { MOST = 3, LEVELS = 8, SLICES = 256 };

typedef struct shape {
    l2k_image image;
    l2k_component components[MOST];
    uint32_t width[MOST], height[MOST], z0, z1;
    l2k_sample_type type;
    bool interleaved;
    int64_t options[L2K_VOLUME_NUM_OPTIONS];
} shape;

/* The coefficients of a volume: a slice of all components at (level, high, index), four bytes a value. */
typedef struct store {
    uint32_t *slices[LEVELS][2][SLICES];
} store;

typedef enum place { HOST, PINNED, DEVICE } place;

static uint64_t state = 1;

static uint32_t below(uint32_t bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 20) % bound);
}

static void must(l2k_status status, const char *what)
{
    if (status == L2K_OK)
        return;
    printf("FAIL: %s: %s\n", what, l2k_strerror(status));
    exit(1);
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    printf("lift2k: %s\n", text);
}

static size_t values_of(const shape *s)
{
    size_t sum = 0;
    for (uint32_t c = 0; c < s->image.num_components; c++)
        sum += (size_t)s->width[c] * s->height[c];
    return sum;
}

static size_t sample_bytes(const shape *s)
{
    return s->type <= L2K_SAMPLE_S8 ? 1 : s->type <= L2K_SAMPLE_S16 ? 2 : 4;
}

/* Of few bits, or sometimes wider than they need be. */
static l2k_sample_type random_type(const shape *s, uint32_t precision, bool is_signed)
{
    const int64_t z = s->options[L2K_VOLUME_Z_WAVELET];
    const bool floats = !l2k_wavelet_reversible((l2k_wavelet)(z >= 0 ? z : s->options[L2K_VOLUME_WAVELET]));
    if (below(3) == 0)
        return floats && !s->options[L2K_VOLUME_COMPONENT_TRANSFORM] ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32;
    if (precision <= 8 && below(2))
        return is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
    return is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
}

/* In half of the cases one of Part 1. */
static l2k_wavelet random_wavelet(void)
{
    return (l2k_wavelet)(below(2) ? below(2) : below(L2K_WAVELET_W4 + 1));
}

/* In all directions. */
static bool is_5_3(const shape *s)
{
    return s->options[L2K_VOLUME_WAVELET] == L2K_WAVELET_5_3 && s->options[L2K_VOLUME_Z_WAVELET] <= L2K_WAVELET_5_3;
}

/* As many levels in all directions, by one wavelet. */
static void make_isotropic(shape *s)
{
    s->options[L2K_VOLUME_ORDER] = L2K_VOLUME_ISOTROPIC;
    s->options[L2K_VOLUME_Z_LEVELS] = s->options[L2K_VOLUME_LEVELS];
    s->options[L2K_VOLUME_Z_WAVELET] = -1;
}

/* Rows of slices on the device are often aligned; some are about 512 columns wide. */
static void align_rows(shape *s)
{
    const uint32_t kind = below(4), columns = kind < 2 ? 16 : 8;
    if (below(12) == 0) {
        s->image.x0 = 0;
        s->image.x1 = 512 - 16 * below(6);
        s->image.y1 = s->image.y0 + 1 + below(50);
    }
    if (kind == 3)
        return;
    if (kind < 2)
        s->image.x0 &= ~(uint32_t)15;
    s->image.x1 += columns - 1 - (s->image.x1 - s->image.x0 + columns - 1) % columns;
}

/* Many slices with rows of whole accesses, in the orders and with the wavelets that the papers have. */
static void make_long(shape *s)
{
    s->options[L2K_VOLUME_WAVELET] = below(2) ? L2K_WAVELET_5_3 : L2K_WAVELET_W4;
    s->options[L2K_VOLUME_Z_WAVELET] = -1;
    s->options[L2K_VOLUME_ORDER] = L2K_VOLUME_Z_FIRST;
    s->options[L2K_VOLUME_LEVELS] = 1 + below(4);
    s->options[L2K_VOLUME_Z_LEVELS] = 1 + below(4);
    if (below(4) == 0)
        make_isotropic(s);
    s->options[L2K_VOLUME_COMPONENT_TRANSFORM] = 0;
    s->image.x0 &= ~(uint32_t)15;
    s->image.x1 = (s->image.x1 + 16) & ~(uint32_t)15;
    if (s->options[L2K_VOLUME_WAVELET] == L2K_WAVELET_W4) {
        s->image.y0 &= ~(uint32_t)1;
        s->image.y1 = (s->image.y1 + 2) & ~(uint32_t)1;
    }
    s->z1 = s->z0 + 30 + below(150);
}

static void random_shape(shape *s, uint32_t side)
{
    memset(s, 0, sizeof *s);
    const l2k_wavelet wavelet = random_wavelet(), z = random_wavelet();
    const bool real = !l2k_wavelet_reversible(wavelet), is_signed = below(2);
    const uint32_t count = below(3) ? 1 : 3, precision = below(3) ? 9 + below(8) : 8;
    s->options[L2K_VOLUME_WAVELET] = wavelet;
    s->options[L2K_VOLUME_Z_WAVELET] = below(3) == 0 && (real || l2k_wavelet_reversible(z)) ? (int)z : -1;
    s->options[L2K_VOLUME_LEVELS] = below(6);
    s->options[L2K_VOLUME_Z_LEVELS] = below(7);
    if (below(3) == 0)
        make_isotropic(s);
    s->options[L2K_VOLUME_COMPONENT_TRANSFORM] = count == 3 && below(2);
    s->options[L2K_VOLUME_THREADS] = 1;
    s->options[L2K_VOLUME_LIMIT_SAMPLES] = (int64_t)1 << 36;
    s->image = (l2k_image){.x0 = below(20), .y0 = below(20), .num_components = count, .components = s->components};
    s->image.x1 = s->image.x0 + 1 + below(below(8) ? side : 2);
    s->image.y1 = s->image.y0 + 1 + below(below(8) ? side : 2);
    s->z0 = below(100);
    s->z1 = s->z0 + 1 + below(below(3) ? 70 : SLICES); /* more than a group */
    align_rows(s);
    if (below(4) == 0)
        make_long(s);
    s->options[L2K_VOLUME_COEFFICIENTS] = is_5_3(s) && precision <= 10 && below(2) ? L2K_COEFFICIENT_INT16 : -1;
    s->type = random_type(s, precision, is_signed);
    s->interleaved = count == 3 && below(2);
    for (uint32_t c = 0; c < count; c++) {
        s->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = precision, .is_signed = is_signed};
        l2k_component_size(&s->image, c, &s->width[c], &s->height[c]);
    }
}

static void planes_of(const shape *s, char *data, l2k_plane planes[MOST])
{
    const size_t bytes = sample_bytes(s), step = s->interleaved ? s->image.num_components : 1;
    for (uint32_t c = 0; c < s->image.num_components; c++) {
        const size_t first = s->interleaved ? c : (size_t)c * s->width[0] * s->height[0];
        planes[c] = (l2k_plane){data + first * bytes, (ptrdiff_t)(s->width[c] * step * bytes),
                                (ptrdiff_t)(step * bytes), s->type};
    }
}

/* With host memory also a device that is not the current one, where there is one. */
static int64_t choose_device(place at)
{
    l2k_device_info info;
    if (at == DEVICE || below(2))
        return -1;
    return l2k_device(1, &info) && info.usable && info.backend == L2K_BACKEND_CUDA ? 1 : 0;
}

static l2k_volume *make(const shape *s, l2k_direction direction, l2k_backend backend, place at)
{
    const l2k_hooks hooks = {.message = print_message};
    l2k_volume *volume = l2k_volume_new(&hooks);
    for (int i = 0; i < L2K_VOLUME_NUM_OPTIONS; i++)
        must(l2k_volume_set(volume, (l2k_volume_option)i, s->options[i]), "an option");
    must(l2k_volume_set(volume, L2K_VOLUME_DIRECTION, direction), "the direction");
    must(l2k_volume_set(volume, L2K_VOLUME_BACKEND, backend), "the backend");
    must(l2k_volume_set(volume, L2K_VOLUME_MEMORY, at == DEVICE ? L2K_MEMORY_DEVICE : L2K_MEMORY_HOST), "the memory");
    must(l2k_volume_set(volume, L2K_VOLUME_DEVICE, choose_device(at)), "the device");
    must(l2k_volume_prepare(volume, &s->image, s->z0, s->z1), "preparing");
    return volume;
}

/* Rows of the subbands between a view and memory, four bytes a value. */
static void move_bands(const l2k_coefficients *view, char *base, uint32_t *values, bool back)
{
    const size_t bytes = l2k_coefficient_bytes(view->type);
    for (uint32_t band = 0; band < view->num_bands; band++) {
        const l2k_band_view *b = &view->bands[band];
        for (uint32_t y = 0; y < b->height; y++)
            for (uint32_t x = 0; x < b->width; x++) {
                char *at = base + ((b->y + y) * view->stride + b->x + x) * bytes;
                uint32_t *value = values + (size_t)(b->y + y) * view->width + b->x + x;
                if (back)
                    memcpy(at, value, bytes);
                else
                    *value = 0, memcpy(value, at, bytes);
            }
    }
}

/* A slice of coefficients between views and memory. What belongs to no subband becomes garbage on the way back, and
 * stays as it is otherwise. */
static void move(const shape *s, const l2k_volume_slice *slice, uint32_t *values, bool back)
{
    for (uint32_t c = 0; c < s->image.num_components; values += (size_t)s->width[c] * s->height[c], c++) {
        const l2k_coefficients *view = &slice->views[c];
        const size_t all = view->stride * view->height * l2k_coefficient_bytes(view->type);
        char *base = view->on_device ? malloc(all + 1) : view->base;
        if (view->on_device && !back) {
            gpu_wait();
            gpu_copy_out(base, view->base, all);
        }
        if (back)
            memset(base, 0x55, all);
        move_bands(view, base, values, back);
        if (view->on_device && back) {
            gpu_wait();
            gpu_copy_in(view->base, base, all);
        }
        if (view->on_device)
            free(base);
    }
}

static void release_at(place at, void *memory)
{
    if (at == HOST)
        free(memory);
    else if (at == PINNED)
        gpu_give_back_pinned(memory);
    else
        gpu_give_back(memory);
}

/* Pinned planes may be in use until this many more slices have been put or got. */
enum { IN_USE = 4 };

/* Memory for planes: on the device of all slices, pinned of as few as can be. */
static char *take_at(place at, size_t bytes, uint32_t slices)
{
    return at == HOST     ? malloc(bytes + 1)
           : at == PINNED ? gpu_take_pinned((IN_USE + 1) * bytes + 2)
                          : gpu_take(slices * bytes + 1);
}

/* Of slice z. Samples on the device are read until coefficients come. */
static char *memory_of(place at, char *memory, size_t bytes, uint32_t z)
{
    return at == HOST ? memory : at == PINNED ? memory + z % (IN_USE + 1) * bytes : memory + z * bytes;
}

/* Overwrites slices on the device that are the caller's again. */
static void spoil(char *memory, size_t bytes, uint32_t *spoilt, uint32_t end)
{
    char *const garbage = malloc(bytes + 1);
    memset(garbage, 0x55, bytes);
    gpu_wait();
    for (; *spoilt < end; ++*spoilt)
        gpu_copy_in(memory + *spoilt * bytes, garbage, bytes);
    free(garbage);
}

/* Puts the slices before `end` and gets what coefficients there are. `out` NULL: these are dropped. */
static void analyse(const shape *s, l2k_volume *volume, place at, char *memory, const char *samples, uint32_t end,
                    store *out)
{
    uint32_t spoilt = 0;
    const size_t bytes = values_of(s) * sample_bytes(s);
    l2k_plane planes[MOST];
    for (uint32_t z = 0; z < end; z++) {
        char *put = memory_of(at, memory, bytes, z);
        l2k_volume_slice slice;
        planes_of(s, put, planes);
        if (at == DEVICE) {
            gpu_wait();
            gpu_copy_in(put, samples + z * bytes, bytes);
        } else {
            memcpy(put, samples + z * bytes, bytes);
        }
        must(l2k_volume_put_slice(volume, planes), "putting a slice");
        if (at == HOST)
            memset(put, 0x55, bytes);
        for (;;) {
            must(l2k_volume_get_coefficients(volume, &slice), "getting coefficients");
            if (!slice.views)
                break;
            if (at == DEVICE)
                spoil(memory, bytes, &spoilt, z + 1);
            if (!out)
                continue;
            uint32_t **kept = &out->slices[slice.level][slice.high][slice.index];
            *kept = calloc(values_of(s) + 1, 4);
            move(s, &slice, *kept, false);
        }
    }
}

/* The number of slices after which a volume is given up and begun again; 0 in most cases. */
static uint32_t slices_in_vain(const shape *s)
{
    return below(4) ? 0 : below(s->z1 - s->z0);
}

static void forward(const shape *s, l2k_backend backend, place at, const char *samples, store *out)
{
    const uint32_t depth = s->z1 - s->z0, in_vain = slices_in_vain(s);
    const size_t bytes = values_of(s) * sample_bytes(s);
    l2k_volume *volume = make(s, L2K_FORWARD, backend, at);
    char *memory = take_at(at, bytes, depth);
    analyse(s, volume, at, memory, samples, in_vain, NULL);
    if (in_vain)
        must(l2k_volume_prepare(volume, &s->image, s->z0, s->z1), "preparing again");
    analyse(s, volume, at, memory, samples, depth, out);
    release_at(at, memory);
    l2k_volume_free(volume);
}

/* Until `end` slices have been got, after each slice of coefficients or when no more of these are wanted. Slices on the
 * device are there when no more are to be got. */
static void synthesise(const shape *s, l2k_volume *volume, place at, char *memory, const store *from, char *samples,
                       uint32_t end)
{
    const size_t bytes = values_of(s) * sample_bytes(s);
    l2k_plane planes[MOST];
    const uint32_t depth = s->z1 - s->z0;
    const bool late = below(2);
    uint32_t z = 0, copied = 0, kept = 0;
    while (z < end) {
        l2k_volume_slice slice;
        bool got = true;
        must(l2k_volume_next_coefficients(volume, &slice), "asking for coefficients");
        if (slice.views) {
            move(s, &slice, from->slices[slice.level][slice.high][slice.index], true);
            must(l2k_volume_put_coefficients(volume), "putting coefficients");
            if (late)
                continue;
        }
        while (got && z < end) {
            char *to = memory_of(at, memory, bytes, z);
            planes_of(s, to, planes);
            must(l2k_volume_get_slice(volume, planes, &got), "getting a slice");
            if (got && at == HOST)
                memcpy(samples + z * bytes, to, bytes);
            z += got;
            for (; at == PINNED && got && kept < z && (z == depth || kept + IN_USE < z); kept++)
                memcpy(samples + kept * bytes, memory_of(at, memory, bytes, kept), bytes);
        }
        if (at == DEVICE && (!got || z == depth)) {
            gpu_wait();
            gpu_copy_out(samples + copied * bytes, memory + copied * bytes, (z - copied) * bytes);
        }
        copied = z;
    }
}

static void inverse(const shape *s, l2k_backend backend, place at, const store *from, char *samples)
{
    const uint32_t depth = s->z1 - s->z0, in_vain = slices_in_vain(s);
    const size_t bytes = values_of(s) * sample_bytes(s);
    l2k_volume *volume = make(s, L2K_INVERSE, backend, at);
    char *memory = take_at(at, bytes, depth);
    synthesise(s, volume, at, memory, from, samples, in_vain);
    if (in_vain)
        must(l2k_volume_prepare(volume, &s->image, s->z0, s->z1), "preparing again");
    memset(samples, 0x33, bytes * depth);
    synthesise(s, volume, at, memory, from, samples, depth);
    release_at(at, memory);
    l2k_volume_free(volume);
}

static void each(store *a, void (*visit)(uint32_t **a, uint32_t **b, void *user), store *b, void *user)
{
    for (int level = 0; level < LEVELS; level++)
        for (int high = 0; high < 2; high++)
            for (int i = 0; i < SLICES; i++)
                visit(&a->slices[level][high][i], b ? &b->slices[level][high][i] : NULL, user);
}

static void release(uint32_t **a, uint32_t **b, void *user)
{
    (void)b;
    (void)user;
    free(*a);
    *a = NULL;
}

typedef struct comparison {
    size_t bytes;
    bool same;
} comparison;

static void compare(uint32_t **a, uint32_t **b, void *user)
{
    comparison *c = user;
    c->same = c->same && !*a == !*b && (!*a || memcmp(*a, *b, c->bytes) == 0);
}

static void describe(const shape *s, const char *what, place at)
{
    static const char *const places[] = {"host", "pinned", "device"};
    printf(
        "DIFFERENT: %s, %s memory: %u x %u at %u,%u, slices %u to %u, %u components of %u bits%s%s, wavelet %d, z %d, "
        "levels %d, z levels %d%s, joined %d, type %d\n",
        what, places[at], s->image.x1 - s->image.x0, s->image.y1 - s->image.y0, s->image.x0, s->image.y0, s->z0, s->z1,
        s->image.num_components, s->components[0].precision, s->components[0].is_signed ? " signed" : "",
        s->interleaved ? " interleaved" : "", (int)s->options[L2K_VOLUME_WAVELET],
        (int)s->options[L2K_VOLUME_Z_WAVELET], (int)s->options[L2K_VOLUME_LEVELS], (int)s->options[L2K_VOLUME_Z_LEVELS],
        s->options[L2K_VOLUME_ORDER] == L2K_VOLUME_ISOTROPIC ? " isotropic" : "",
        (int)s->options[L2K_VOLUME_COMPONENT_TRANSFORM], (int)s->options[L2K_VOLUME_COEFFICIENTS]);
}

static unsigned test_shape(const shape *s)
{
    static store kept, found;
    const size_t bytes = values_of(s) * sample_bytes(s), depth = s->z1 - s->z0;
    const uint32_t range = (uint32_t)1 << s->components[0].precision, low = s->components[0].is_signed ? range / 2 : 0;
    char *samples = malloc(bytes * depth + 1), *expected = malloc(bytes * depth + 1), *back = malloc(bytes * depth + 1);
    unsigned failures = 0;
    for (size_t i = 0; i < bytes * depth / sample_bytes(s); i++) {
        const int32_t value = (int32_t)below(range) - (int32_t)low;
        const float real = (float)value / 3;
        memcpy(samples + i * sample_bytes(s), s->type == L2K_SAMPLE_F32 ? (const void *)&real : &value,
               sample_bytes(s));
    }
    forward(s, L2K_BACKEND_CPU, HOST, samples, &kept);
    inverse(s, L2K_BACKEND_CPU, HOST, &kept, expected);
    for (int at = HOST; at <= DEVICE; at++) {
        comparison c = {values_of(s) * 4, true};
        forward(s, L2K_BACKEND_CUDA, (place)at, samples, &found);
        each(&kept, compare, &found, &c);
        each(&found, release, NULL, NULL);
        if (!c.same)
            describe(s, "forward", (place)at);
        inverse(s, L2K_BACKEND_CUDA, (place)at, &kept, back);
        const bool same = memcmp(back, expected, bytes * depth) == 0;
        if (!same)
            describe(s, "inverse", (place)at);
        failures += !c.same + !same;
    }
    each(&kept, release, NULL, NULL);
    free(samples);
    free(expected);
    free(back);
    return failures;
}

int main(int argc, char **argv)
{
    const int missing = gpu_missing();
    if (missing)
        return missing;
    const long cases = argc > 1 ? atol(argv[1]) : 60;
    setvbuf(stdout, NULL, _IOLBF, 0);
    const uint32_t side = argc > 3 ? (uint32_t)atol(argv[3]) : 70;
    unsigned failures = 0;
    state = argc > 2 ? (uint64_t)atoll(argv[2]) * 2 + 1 : 88172645463325252u;
    for (long i = 0; i < cases; i++) {
        shape s;
        random_shape(&s, side);
        failures += test_shape(&s);
    }
    printf("%ld volumes, %u differences\n", cases, failures);
    return failures != 0;
}
