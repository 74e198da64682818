/* gpu_errors: how much memory a CUDA plan allocates, and what happens if that fails or the device is lost: the program
 * survives, every failure has a status and a message, and host output is complete or unchanged. Fills the device's
 * memory, so that nothing else may use it meanwhile. Exits with 77 without a GPU, unless L2K_REQUIRE_GPU=1. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/sample.h"
#include "device.h"
#include "require.h"
#include "transform/layout.h"
#include "transform/device.h"

static unsigned failures;
static char message[256]; /* the last error */

static void keep_message(void *user, l2k_severity severity, const char *text)
{
    (void)user, (void)severity;
    snprintf(message, sizeof message, "%s", text);
}

static const l2k_context context = {.hooks = {.message = keep_message}, .threads = 1};

static void expect(bool condition, const char *what)
{
    if (condition)
        return;
    failures++;
    fprintf(stderr, "FAILED: %s (last message: %s)\n", what, message);
}

/* Expects the status, and a message that mentions CUDA. */
static void expect_failure(l2k_status status, l2k_status expected, const char *what)
{
    expect(status == expected && strstr(message, "CUDA"), what);
    message[0] = 0;
}

typedef struct shape {
    l2k_plan_component components[4];
    l2k_plan_spec spec;
} shape;

static void make_shape(shape *s, l2k_direction direction, l2k_wavelet wavelet, uint32_t width, uint32_t height,
                       uint32_t count)
{
    memset(s, 0, sizeof *s);
    for (uint32_t c = 0; c < count; c++) {
        s->components[c] = (l2k_plan_component){
            .rect = {0, 0, width, height}, .levels = 5, .wavelet = wavelet, .precision = 8, .narrow_low = true};
        for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
            s->components[c].steps[b] = 0.125f;
    }
    s->spec = (l2k_plan_spec){.direction = direction,
                              .type = L2K_COEFFICIENT_INT16,
                              .component_transform = count >= 3,
                              .num_components = count,
                              .components = s->components};
}

/* ---- Device memory ------------------------------------------------------------------------------------------- */

/* Bytes of samples and coefficients without padding. */
static uint64_t payload(const l2k_plan_spec *spec)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < spec->num_components; c++) {
        l2k_rect r =
            l2k_resolution_rect(spec->components[c].rect, l2k_discarded(spec->direction, &spec->components[c]));
        uint64_t sample = spec->components[c].precision <= 8 ? 1 : spec->components[c].precision <= 16 ? 2 : 4;
        bytes += (uint64_t)l2k_rect_width(r) * l2k_rect_height(r) * (sample + l2k_coefficient_bytes(spec->type));
    }
    return bytes;
}

static void check_factor(const shape *s, double *worst)
{
    double factor = (double)l2k_plan_device_bytes(&s->spec) / (double)payload(&s->spec);
    if (factor > 2.5)
        fprintf(stderr, "%u x %u, %u components, wavelet %d, precision %u: %.2f times the payload\n",
                l2k_rect_width(s->components[0].rect), l2k_rect_height(s->components[0].rect), s->spec.num_components,
                (int)s->components[0].wavelet, s->components[0].precision, factor);
    *worst = factor > *worst ? factor : *worst;
}

/* Needs no GPU: the size announced before anything is allocated. */
static void test_factor(void)
{
    static const uint32_t sides[][2] = {{64, 64},     {65, 65},     {100, 75},    {128, 128},   {255, 257},
                                        {512, 512},   {513, 64},    {64, 1000},   {1024, 1024}, {1920, 1080},
                                        {3840, 2160}, {4001, 3001}, {8192, 8192}, {20000, 64}};
    static const unsigned precisions[] = {8, 12, 16};
    double worst = 0;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (unsigned n = 0; n < 2 * 2 * 4 * 3 * 2; n++) {
            shape s;
            make_shape(&s, n & 1 ? L2K_INVERSE : L2K_FORWARD, n & 2 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3, sides[i][0],
                       sides[i][1], 1 + n / 4 % 4);
            for (uint32_t c = 0; c < s.spec.num_components; c++) {
                s.components[c].precision = precisions[n / 16 % 3];
                s.components[c].narrow_low = n & 4;
            }
            s.spec.memory = n / 48 ? L2K_PLAN_DEVICE : L2K_PLAN_HOST;
            if (s.components[0].precision > 8)
                s.spec.type = L2K_COEFFICIENT_INT32;
            check_factor(&s, &worst);
        }
    expect(worst > 1 && worst <= 2.5, "a plan takes at most 2.5 times the bytes of samples and coefficients");
    printf("device memory: at most %.2f times samples and coefficients\n", worst);
}

/* Kernels are loaded at their first launch and stay loaded. */
static void load_kernels(const shape *s)
{
    l2k_plan *plan;
    expect(l2k_plan_create(&context, L2K_BACKEND_CUDA, &s->spec, &plan) == L2K_OK, "a first plan");
    l2k_plan_free(plan);
}

/* Device memory is allocated in pages of 2 MiB, and a plan's graph may need some as well. */
static void test_stated_bytes(void)
{
    enum { PAGE = 2 << 20 };
    static const uint32_t sides[][2] = {{3840, 2160}, {4096, 4096}, {1000, 7000}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (unsigned n = 0; n < 8; n++) {
            shape s;
            l2k_plan *plan;
            make_shape(&s, n & 1 ? L2K_INVERSE : L2K_FORWARD, n & 2 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3, sides[i][0],
                       sides[i][1], 3);
            s.spec.memory = n & 4 ? L2K_PLAN_DEVICE : L2K_PLAN_HOST;
            load_kernels(&s);
            size_t before = gpu_free_bytes(), stated = l2k_plan_device_bytes(&s.spec);
            expect(l2k_plan_create(&context, L2K_BACKEND_CUDA, &s.spec, &plan) == L2K_OK, "making a plan");
            size_t taken = before - gpu_free_bytes();
            l2k_plan_free(plan);
            if (taken > stated + 2 * PAGE || taken + PAGE < stated)
                fprintf(stderr, "%zu bytes were stated, %zu are gone\n", stated, taken);
            expect(taken <= stated + 2 * PAGE && taken + PAGE >= stated, "a plan takes what was stated");
            expect(gpu_free_bytes() == before, "a freed plan gives everything back");
        }
}

/* ---- Failures ------------------------------------------------------------------------------------------------ */

static void test_out_of_memory(void)
{
    shape s, huge;
    l2k_plan *plan;
    make_shape(&s, L2K_FORWARD, L2K_WAVELET_5_3, 8192, 8192, 3);
    make_shape(&huge, L2K_FORWARD, L2K_WAVELET_5_3, 1u << 20, 1u << 20, 3);
    size_t before = gpu_free_bytes();
    expect_failure(l2k_plan_create(&context, L2K_BACKEND_CUDA, &huge.spec, &plan), L2K_ERROR_MEMORY,
                   "a plan larger than any device");
    expect(!plan && gpu_free_bytes() == before, "a plan larger than any device leaves nothing");
    gpu_ballast *ballast = gpu_fill(0);
    size_t filled = gpu_free_bytes();
    expect_failure(l2k_plan_create(&context, L2K_BACKEND_CUDA, &s.spec, &plan), L2K_ERROR_MEMORY,
                   "a plan on a device that is full");
    expect(!plan && gpu_free_bytes() == filled, "a plan on a device that is full leaves nothing");
    gpu_empty(ballast);
    /* The driver may keep some memory of a device that was full. */
    expect(gpu_free_bytes() + ((size_t)64 << 20) >= before, "the test's own memory comes back");
    expect(l2k_plan_create(&context, L2K_BACKEND_CUDA, &s.spec, &plan) == L2K_OK, "a plan once there is memory again");
    l2k_plan_free(plan);
}

enum { SIDE = 300 };

/* In a separate process, which loses the device. */
static int lose_device(void)
{
    shape s;
    l2k_plan *forward, *inverse, *late;
    static uint8_t pixels[SIDE * SIDE], before[SIDE * SIDE];
    l2k_plane plane = {pixels, SIDE, 1, L2K_SAMPLE_U8};
    make_shape(&s, L2K_FORWARD, L2K_WAVELET_5_3, SIDE, SIDE, 1);
    expect(l2k_plan_create(&context, L2K_BACKEND_CUDA, &s.spec, &forward) == L2K_OK, "a forward plan");
    s.spec.direction = L2K_INVERSE;
    expect(l2k_plan_create(&context, L2K_BACKEND_CUDA, &s.spec, &inverse) == L2K_OK, "an inverse plan");
    if (failures)
        return 1;
    const l2k_coefficients *view = l2k_plan_coefficients(inverse, 0);
    memset(view->base, 0, view->stride * view->height * sizeof(int16_t));
    expect(l2k_plan_run(forward, &plane) == L2K_OK && l2k_plan_run(inverse, &plane) == L2K_OK, "a healthy device");
    memset(pixels, 0xA5, sizeof pixels);
    memcpy(before, pixels, sizeof before);
    expect(l2k_plan_begin(forward, &plane) == L2K_OK, "begin on a healthy device");
    expect(gpu_break(), "a kernel that traps breaks the device");
    expect_failure(l2k_plan_finish(forward), L2K_ERROR_BACKEND, "finish after the device was lost");
    expect_failure(l2k_plan_run(forward, &plane), L2K_ERROR_BACKEND, "forward on a lost device");
    expect_failure(l2k_plan_run(inverse, &plane), L2K_ERROR_BACKEND, "inverse on a lost device");
    expect(memcmp(pixels, before, sizeof before) == 0, "a failed inverse leaves the planes as they were");
    expect_failure(l2k_plan_create(&context, L2K_BACKEND_CUDA, &s.spec, &late), L2K_ERROR_BACKEND,
                   "a new plan on a lost device");
    l2k_plan_free(forward);
    l2k_plan_free(inverse);
    return failures != 0;
}

/* A machine without a device, or with a driver too old for the library. */
static int miss_device(void)
{
    shape s;
    l2k_plan *plan;
    char text[200] = "";
    make_shape(&s, L2K_FORWARD, L2K_WAVELET_5_3, SIDE, SIDE, 1);
    expect_failure(l2k_plan_create(&context, L2K_BACKEND_CUDA, &s.spec, &plan), L2K_ERROR_BACKEND,
                   "a plan without a device");
    expect(!plan && !l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text) && text[0], "no backend without a device");
    return failures != 0;
}

/* Runs this program with one argument, in a process that has not used CUDA. */
static void run_apart(const char *program, const char *what)
{
    fflush(NULL);
    pid_t child = fork();
    int status = 1;
    if (child == 0) {
        if (strcmp(what, "miss-device") == 0)
            setenv("CUDA_VISIBLE_DEVICES", "", 1);
        execl(program, program, what, (char *)NULL);
        _exit(126);
    }
    expect(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, what);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return strcmp(argv[1], "lose-device") == 0 ? lose_device() : miss_device();
    test_factor();
    run_apart(argv[0], "miss-device");
    if (failures)
        return 1;
    int ending = gpu_missing();
    if (ending)
        return ending;
    test_stated_bytes();
    test_out_of_memory();
    run_apart(argv[0], "lose-device");
    printf("%u failures\n", failures);
    return failures != 0;
}
