/* Every row function of every instruction set compared with the one in plain C, byte for byte: all short lengths and
 * some long ones, unaligned rows, extreme values, and guard bytes on both sides of what it may write. With --time it
 * measures each function instead, in nanoseconds per 1000 samples. */
#define _POSIX_C_SOURCE 199309L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "dwt/kernel_rows.h"
#include "quant/quantiser_rows.h"
#include "tiling/pixel/pixel_rows.h"

static uint32_t state = 9;

static uint32_t random_u32(void)
{
    state = state * 1664525u + 1013904223u;
    return state ^ state >> 15;
}

/* ---- Memory: buffers between guard bytes --------------------------------------------------------------------- */

enum { SHORT = 70, LONGEST = 4099, BUFFERS = 6, GUARD = 64, MOST_BYTES_A_SAMPLE = 17 };

/* The memory of a call: rows of n samples, `offset` bytes past a multiple of 64, a guard on either side of each. */
typedef struct workspace {
    uint8_t *memory;
    size_t spacing; /* from one buffer to the next */
    size_t offset;
} workspace;

static _Alignas(64) uint8_t of_c[BUFFERS * (LONGEST * MOST_BYTES_A_SAMPLE + 4 * GUARD)], of_set[sizeof of_c];

static workspace workspace_of(uint8_t *memory, size_t n, size_t offset)
{
    size_t spacing = (2 * GUARD + offset + n * MOST_BYTES_A_SAMPLE + GUARD - 1) / GUARD * GUARD;
    return (workspace){memory, spacing, offset};
}

static void *at(const workspace *w, unsigned number)
{
    return w->memory + number * w->spacing + GUARD + w->offset;
}

static uint32_t random_int(void)
{
    static const uint32_t extremes[] = {0x80000000u, 0x7fffffffu, 0, 1, 0xffffffffu, 0x40000000u};
    return random_u32() % 4 ? random_u32() >> random_u32() % 32 : extremes[random_u32() % 6];
}

static float random_float(void)
{
    static const float extremes[] = {INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, FLT_MIN, -0.0f, 2147483648.0f, NAN};
    if (random_u32() % 8 == 0)
        return extremes[random_u32() % 8];
    return (float)(int32_t)random_u32() / (float)(1u << random_u32() % 31);
}

/* Random everywhere, so the guards are the random bytes around a row. */
static void fill(bool is_float, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t word = random_int();
        float real = random_float();
        memcpy(&of_c[i], is_float ? (void *)&real : (void *)&word, 4);
    }
    memcpy(of_set, of_c, bytes);
}

/* NaNs may differ in sign and payload, which depend on the operands' order. */
static bool equal_words(const uint8_t *a, const uint8_t *b, bool is_float)
{
    float x, y;
    memcpy(&x, a, 4);
    memcpy(&y, b, 4);
    return memcmp(a, b, 4) == 0 || (is_float && isnan(x) && isnan(y));
}

/* ---- The functions, as calls of one form --------------------------------------------------------------------- */

/* One function on rows of n samples. `variant` is the further parameter that a function has: a parity, a distance of
 * samples. */
typedef struct kernel {
    char name[48];
    void (*call)(const struct kernel *kernel, l2k_cpu cpu, const workspace *w, size_t n, unsigned variant);
    bool is_float;     /* the type in the buffers */
    bool writes_float; /* a NaN may differ */
    unsigned variants;
    int a, b, c; /* specific to the call */
} kernel;

static void call_lifting(const kernel *k, l2k_cpu cpu, const workspace *w, size_t n, unsigned variant)
{
    const l2k_wavelet_rows *rows = l2k_wavelet_rows_get(cpu, (l2k_wavelet)k->a);
    const l2k_kernel *wavelet = &l2k_wavelet_get((l2k_wavelet)k->a)->kernel;
    void *all[BUFFERS];
    for (unsigned i = 0; i < BUFFERS; i++)
        all[i] = at(w, i);
    if (k->c == wavelet->num_steps)
        rows->all[k->b](all, n);
    else /* both neighbours may be the same row */
        rows->step(&wavelet->steps[k->c], k->b, all[0], (const void *[]){all[1], all[1 + variant]}, n);
}

static void call_scale(const kernel *k, l2k_cpu cpu, const workspace *w, size_t n, unsigned variant)
{
    (void)k, (void)variant;
    l2k_kernel_rows_get(cpu)->scale(at(w, 0), n, 1.2301741f);
}

static void call_split(const kernel *k, l2k_cpu cpu, const workspace *w, size_t n, unsigned variant)
{
    const l2k_kernel_lifting l = l2k_kernel_lifting_of(cpu, l2k_wavelet_get((l2k_wavelet)k->a), 8, 1);
    const float scale = k->a == L2K_WAVELET_9_7 && variant >> 1 ? 1.2301741f : 1.0f;
    if (k->b)
        l2k_kernel_synthesise(&l, at(w, 0), at(w, 1), n, variant & 1, scale, at(w, 2));
    else
        l2k_kernel_analyse(&l, at(w, 0), n, variant & 1, scale, at(w, 1), at(w, 2));
}

static void call_quantiser(const kernel *k, l2k_cpu cpu, const workspace *w, size_t n, unsigned variant)
{
    static const float steps[] = {1.0f, 0.0078125f, 3.3f};
    const l2k_quantiser_rows *rows = l2k_quantiser_rows_get(cpu);
    const size_t odd = k->c == L2K_COEFFICIENT_INT16 && variant == 1 ? sizeof(int16_t) : 0;
    if (k->a)
        rows->load[k->b][k->c]((uint8_t *)at(w, 0) + odd, n, steps[variant], at(w, 1));
    else
        rows->store[k->b][k->c](at(w, 0), n, steps[variant], (uint8_t *)at(w, 1) + odd);
}

static void call_index(const kernel *k, l2k_cpu cpu, const workspace *w, size_t n, unsigned variant)
{
    static const float factors[] = {1.0f, 0.0078125f, 1e9f};
    const l2k_quantiser_rows *rows = l2k_quantiser_rows_get(cpu);
    rows->truncate[k->a](at(w, 0), n, factors[variant], at(w, 1));
}

static l2k_pixel_row pixels_at(void *data, l2k_sample_type type, unsigned variant)
{
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4};
    static const int distances[] = {1, 2, 3, 4};
    const unsigned precision = (unsigned)bytes[type] * 8 - (bytes[type] == 4), odd = variant >= 4;
    return (l2k_pixel_row){(uint8_t *)data + odd, (ptrdiff_t)bytes[type] * distances[variant % 4] + odd, type,
                           l2k_level_shift_make(precision, type == L2K_SAMPLE_S8 || type == L2K_SAMPLE_S16)};
}

static void call_pixels(const kernel *k, l2k_cpu cpu, const workspace *w, size_t n, unsigned variant)
{
    const l2k_pixel_rows *rows = l2k_pixel_rows_get(cpu);
    const l2k_pixel_row pixels = pixels_at(at(w, 0), (l2k_sample_type)k->c, variant);
    if (k->a)
        rows->store[k->b][k->c](&pixels, n, at(w, 1));
    else
        rows->load[k->b][k->c](&pixels, n, at(w, 1));
}

static void call_interleaved(const kernel *k, l2k_cpu cpu, const workspace *w, size_t n, unsigned variant)
{
    const l2k_pixel_rows *rows = l2k_pixel_rows_get(cpu);
    const l2k_sample_type type = k->c ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8;
    l2k_pixel_row pixels[3];
    (void)variant;
    for (size_t i = 0; i < 3; i++)
        pixels[i] = pixels_at((uint8_t *)at(w, 0) + i * ((size_t)k->c + 1), type, 2);
    rows->store_interleaved[k->b][k->c](at(w, 0), pixels, n, at(w, 1), at(w, 2), at(w, 3));
}

static void call_transform(const kernel *k, l2k_cpu cpu, const workspace *w, size_t n, unsigned variant)
{
    const l2k_pixel_rows *rows = l2k_pixel_rows_get(cpu);
    (void)variant;
    (k->a ? rows->inverse : rows->forward)[k->b](n, at(w, 0), at(w, 1), at(w, 2));
}

/* ---- All functions ------------------------------------------------------------------------------------------- */

enum { MOST_KERNELS = 100 };
static kernel kernels[MOST_KERNELS];
static unsigned num_kernels;

static const char *const ways[2] = {"forward", "inverse"}, *const values[2] = {"int32", "float"};
static const char *const samples[6] = {"u8", "s8", "u16", "s16", "s32", "f32"}, *const types[3] = {"int16", "int32",
                                                                                                   "float32"};

static void add(kernel k)
{
    if (num_kernels == MOST_KERNELS)
        abort();
    kernels[num_kernels++] = k;
}

static void list_wavelets(void)
{
    for (int wavelet = 0; wavelet < 2; wavelet++)
        for (int inverse = 0; inverse < 2; inverse++) {
            const l2k_wavelet_descriptor *d = l2k_wavelet_get((l2k_wavelet)wavelet);
            kernel k = {"", call_split, d->is_float, d->is_float, 4, wavelet, inverse, 0};
            snprintf(k.name, sizeof k.name, "%s %s, row", d->name, ways[inverse]);
            add(k);
            k.call = call_lifting;
            for (k.c = 0; k.c <= d->kernel.num_steps; k.c++) {
                const bool is_step = k.c < d->kernel.num_steps;
                k.variants = is_step ? 2 : 1;
                snprintf(k.name, sizeof k.name, "%s %s, %s %d", d->name, ways[inverse], is_step ? "step" : "all steps",
                         is_step ? k.c : 0);
                add(k);
            }
        }
}

static void list_scaling(void)
{
    add((kernel){"scaling", call_scale, true, true, 1, L2K_WAVELET_9_7, 0, 0});
}

static void list_quantisers(void)
{
    for (int load = 0; load < 2; load++)
        for (int is_float = 0; is_float < 2; is_float++)
            for (int type = 0; type < 2 + is_float; type++) {
                /* the samples read are in the buffers */
                kernel k = {"", call_quantiser, is_float && !load, is_float && load, 3, load, is_float, type};
                snprintf(k.name, sizeof k.name, "%s %s as %s", load ? "load" : "store", values[is_float], types[type]);
                add(k);
            }
}

static void list_index(void)
{
    add((kernel){"truncate float32 as int16", call_index, true, false, 3, L2K_COEFFICIENT_INT16, false, 0});
    add((kernel){"truncate float32 as int32", call_index, true, false, 3, L2K_COEFFICIENT_INT32, false, 0});
}

static void list_pixels(void)
{
    for (int store = 0; store < 2; store++)
        for (int is_float = 0; is_float < 2; is_float++) {
            for (int type = 0; type < 5 + is_float; type++) {
                kernel k = {"", call_pixels, is_float && store, is_float && !store, 8, store, is_float, type};
                snprintf(k.name, sizeof k.name, "%s %s, %s", store ? "store" : "load", samples[type], values[is_float]);
                add(k);
            }
            for (int wide = 0; store && wide < 2; wide++) {
                kernel k = {"", call_interleaved, is_float, false, 1, store, is_float, wide};
                snprintf(k.name, sizeof k.name, "store 3 x %s, %s", samples[2 * wide], values[is_float]);
                add(k);
            }
            kernel k = {"", call_transform, is_float, is_float, 1, store, is_float, 0};
            snprintf(k.name, sizeof k.name, "%s %s", is_float ? "ICT" : "RCT", ways[store]);
            add(k);
        }
}

/* ---- Comparing ----------------------------------------------------------------------------------------------- */

static void compare(const kernel *k, l2k_cpu cpu, size_t n, size_t offset, unsigned variant)
{
    const workspace c = workspace_of(of_c, n, offset), set = workspace_of(of_set, n, offset);
    const size_t bytes = BUFFERS * c.spacing;
    fill(k->is_float, bytes);
    k->call(k, L2K_CPU_C, &c, n, variant);
    k->call(k, cpu, &set, n, variant);
    if (memcmp(of_c, of_set, bytes) == 0)
        return;
    for (size_t i = 0; i < bytes; i += 4)
        if (!equal_words(of_c + i, of_set + i, k->writes_float))
            fail_msg("%s, %s, %zu samples, offset %zu, variant %u: buffer %zu differs from C at byte %td", k->name,
                     l2k_cpu_name(cpu), n, offset, variant, i / c.spacing,
                     (ptrdiff_t)(i % c.spacing) - (ptrdiff_t)(GUARD + offset));
}

static void compare_lengths(const kernel *k, l2k_cpu cpu)
{
    static const size_t long_ones[] = {127, 128, 129, 1000, 1023, LONGEST};
    for (unsigned variant = 0; variant < k->variants; variant++) {
        for (size_t n = 1; n <= SHORT; n++)
            compare(k, cpu, n, random_u32() % 16 * 4, variant);
        for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++)
            compare(k, cpu, long_ones[i], i * 4, variant);
    }
}

static void test_sets(void **unused)
{
    static const l2k_cpu sets[] = {L2K_CPU_AVX2, L2K_CPU_AVX512, L2K_CPU_NEON, L2K_CPU_SIMD128};
    (void)unused;
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        if (!l2k_cpu_usable(sets[s])) {
            print_message("%s: not available on this machine or in this build\n", l2k_cpu_name(sets[s]));
            continue;
        }
        for (unsigned i = 0; i < num_kernels; i++)
            compare_lengths(&kernels[i], sets[s]);
        print_message("%s: %u functions\n", l2k_cpu_name(sets[s]), num_kernels);
    }
}

/* C itself: of the rows, only [0, n) may change. */
static void test_guards(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < num_kernels; i++)
        for (size_t n = 1; n <= SHORT; n++) {
            const kernel *k = &kernels[i];
            const workspace c = workspace_of(of_c, n, 4);
            fill(k->is_float, BUFFERS * c.spacing);
            k->call(k, L2K_CPU_C, &c, n, 0);
            for (unsigned b = 0; b < BUFFERS; b++) {
                const size_t first = (size_t)((uint8_t *)at(&c, b) - of_c), last = first + 4 * n * (b ? 1 : 3);
                assert_memory_equal(of_c + b * c.spacing, of_set + b * c.spacing, first - b * c.spacing);
                assert_memory_equal(of_c + last, of_set + last, (b + 1) * c.spacing - last);
            }
        }
}

/* ---- Choosing ------------------------------------------------------------------------------------------------ */

static void test_choice(void **unused)
{
    (void)unused;
    assert_true(l2k_cpu_usable(L2K_CPU_AUTO) && l2k_cpu_usable(L2K_CPU_C));
    assert_false(l2k_cpu_usable((l2k_cpu)99));
    assert_true(l2k_cpu_best() != L2K_CPU_AUTO && l2k_cpu_usable(l2k_cpu_best()));
    assert_int_equal(l2k_cpu_resolve(L2K_CPU_AUTO), l2k_cpu_best());
    for (int cpu = L2K_CPU_C; cpu <= L2K_CPU_SIMD128; cpu++) {
        l2k_context context = {.cpu = (l2k_cpu)cpu};
        const bool usable = l2k_cpu_usable(context.cpu);
        assert_int_equal(l2k_cpu_resolve(context.cpu), usable ? context.cpu : l2k_cpu_best());
        assert_int_equal(l2k_cpu_check(&context), usable ? L2K_OK : L2K_ERROR_BACKEND);
    }
    assert_false(l2k_cpu_usable(L2K_CPU_AVX2) && l2k_cpu_usable(L2K_CPU_NEON)); /* no machine has both */
}

/* ---- Timing -------------------------------------------------------------------------------------------------- */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Nanoseconds per 1000 samples, the best of several rounds. */
static double measure(const kernel *k, l2k_cpu cpu)
{
    enum { N = 2048, CALLS = 50, ROUNDS = 30 };
    const workspace w = workspace_of(of_c, N, 0);
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        fill(k->is_float, BUFFERS * w.spacing);
        double start = now_ns();
        for (int i = 0; i < CALLS; i++)
            k->call(k, cpu, &w, N, 0);
        best = fmin(best, now_ns() - start);
    }
    return best / CALLS / N * 1000;
}

static int print_times(void)
{
    printf("| ns per 1000 samples |");
    for (int cpu = L2K_CPU_C; cpu <= L2K_CPU_SIMD128; cpu++)
        if (l2k_cpu_usable((l2k_cpu)cpu))
            printf(" %s |", l2k_cpu_name((l2k_cpu)cpu));
    printf("\n");
    for (unsigned i = 0; i < num_kernels; i++) {
        printf("| %s |", kernels[i].name);
        for (int cpu = L2K_CPU_C; cpu <= L2K_CPU_SIMD128; cpu++)
            if (l2k_cpu_usable((l2k_cpu)cpu))
                printf(" %.0f |", measure(&kernels[i], (l2k_cpu)cpu));
        printf("\n");
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_guards),
        cmocka_unit_test(test_choice),
    };
    list_wavelets();
    list_scaling();
    list_quantisers();
    list_index();
    list_pixels();
    if (argc > 1 && strcmp(argv[1], "--time") == 0)
        return print_times();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
