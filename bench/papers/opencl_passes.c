/* paper_opencl_passes: tables I and III of Kucis, Barina, Kula, Zemcik: 2-D Discrete Wavelet Transform Using GPU, on an
 * OpenCL device: passes of one level of the 9/7 along rows and along columns, each on its own, beside lift2k's level,
 * which does both, and a copy. Picoseconds a pixel.
 *
 *   paper_opencl_passes [--device N] [SIZE...]   tables for pictures of SIZE x SIZE, as Markdown
 *   paper_opencl_passes [--device N] --check     checks only, at small sizes
 *
 * Device 0 is OpenCL's first, a GPU if there is one. What is timed equals the CPU's result to the bit at that size; only
 * convolution, which adds up other products, may differ by 0.001, where samples are up to 256. Exits with 1 if something
 * is wrong, with 77 if there is no device. */
#define _POSIX_C_SOURCE 199309L
#include <math.h>

#include "bench/bench.h"
#include "dwt/lifting.h"
#include "transform/opencl/cl_runtime.h"

extern const char l2k_cl_opencl_passes[];

/* The paper has medians of ten. */
enum { REPEATS = 11, MOST_SETS = 64, MOST_SIZES = 8, MIN_SIZE = 16, MAX_SIZE = 16384, COLD_BYTES = 256 << 20 };

static const char *const direction_names[2] = {"forward", "inverse"};
static l2k_context context = {.hooks = {.message = report_message}, .threads = 1};
static l2k_cl_device *device;
static cl_command_queue queue;
static cl_mem cold[2]; /* what is copied between them is larger than any cache */
static bool any_wrong;

/* ---- Methods ---------------------------------------------------------------------------------------------------- */

enum { WITH_BARRIERS, WITHOUT_BARRIERS, CONVOLVED, TRANSPOSED, COPY, OWN };

/* A line of the tables: the work-group and the pairs a work-item, and what the paper has for 1 and 10 megapixels. */
static const struct method {
    const char *name;
    int kind, columns, lanes, items, pairs;
    const char *paper;
} methods[] = {
    {"rows: convolution, a pair a work-item (Galiano)", CONVOLVED, 0, 1, 256, 1, "87.1 | 81.9"},
    {"rows: lifting, barriers (van der Laan)", WITH_BARRIERS, 0, 1, 256, 1, "103.0 | 80.6"},
    {"rows: lifting, a pair a work-item (Blazewicz)", WITHOUT_BARRIERS, 0, 1, 256, 1, "95.4 | 89.3"},
    {"rows: lifting, four pairs a work-item (Blazewicz)", WITHOUT_BARRIERS, 0, 1, 64, 4, "56.0 | 56.7"},
    {"columns: window of 20 rows, barriers (van der Laan)", WITH_BARRIERS, 1, 32, 8, 1, "119.3 | 79.6"},
    {"columns: four pairs a work-item, transposed (Blazewicz)", TRANSPOSED, 0, 1, 64, 4, "167.0 | 186.5"},
    {"columns: window of 71 rows, four pairs a work-item (the paper's)", WITHOUT_BARRIERS, 1, 32, 8, 4, "69.6 | 63.5"},
    {"rows and columns: lift2k", OWN, 0, 0, 0, 0, " | "},
    {"copy", COPY, 0, 0, 0, 0, " | "}};
enum { METHODS = sizeof methods / sizeof *methods, COPIES = METHODS - 1 };

static cl_kernel kernels[METHODS][2], transpose;

static void require(l2k_status status)
{
    if (status != L2K_OK) /* reported by the message hook */
        exit(1);
}

static void require_cl(cl_int error, const char *call)
{
    require(l2k_cl_check(&context, error, call));
}

static float factor(int k, bool inverse)
{
    static const float steps[4] = {L2K_9_7_ALPHA, L2K_9_7_BETA, L2K_9_7_GAMMA, L2K_9_7_DELTA};
    return inverse ? -steps[3 - k] : steps[k];
}

static float scaling(int i, bool inverse)
{
    return inverse ? i & 1 ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW
           : i & 1 ? L2K_9_7_FORWARD_HIGH
                   : L2K_9_7_FORWARD_LOW;
}

/* What an impulse `distance` samples from position `at` contributes there. */
static double response(int at, int distance, bool inverse)
{
    double v[32] = {0};
    v[at + distance] = inverse ? scaling(at + distance, true) : 1;
    for (int k = 0; k < 4; k++)
        for (int i = 1 + ((k + inverse) & 1); i < 31; i += 2)
            v[i] += factor(k, inverse) * (v[i - 1] + v[i + 1]);
    return inverse ? v[at] : v[at] * scaling(at, false);
}

static void make_kernel(const struct method *m, bool inverse, cl_kernel *made)
{
    char options[512];
    int length =
        snprintf(options, sizeof options, "-DCOLUMNS=%d -DINVERSE=%d -DLANES=%d -DITEMS=%d -DPAIRS=%d -DCONVOLVED=%d",
                 m->columns, inverse, m->lanes, m->items, m->pairs, m->kind == CONVOLVED);
    for (int i = 0; i < 9; i++) /* the wide filter is that of the samples which the last step changes */
        length += snprintf(options + length, sizeof options - (size_t)length, " -D%s_%d=%af", i < 5 ? "WIDE" : "NARROW",
                           i % 5, (float)response(16 + (inverse == (i < 5)), i % 5, inverse));
    cl_program program;
    require(l2k_cl_program(&context, device, l2k_cl_opencl_passes, options, &program));
    require(l2k_cl_kernel(&context, program, m->kind == WITH_BARRIERS ? "with_barriers" : "without_barriers", made));
    if (!transpose)
        require(l2k_cl_kernel(&context, program, "transpose", &transpose));
}

/* ---- Pictures --------------------------------------------------------------------------------------------------- */

/* Sets of buffers to rotate over, so that no run finds its samples in a cache. Behind the last: a set between passes. */
typedef struct scene {
    int n;
    unsigned sets;
    float *input, *expected, *seen; /* n x n; the input is that of either direction */
    cl_mem in[MOST_SETS + 1], out[MOST_SETS + 1];
    l2k_plan *own[MOST_SETS]; /* of the direction under way */
} scene;

static size_t values_of(int n)
{
    return (size_t)n * (size_t)n;
}

static void make_scene(scene *s, int n)
{
    const size_t bytes = sizeof(float) * values_of(n), sets = 2 + COLD_BYTES / (2 * bytes);
    uint32_t random = 1;
    *s = (scene){.n = n, .sets = sets < MOST_SETS ? (unsigned)sets : MOST_SETS};
    s->input = malloc(bytes);
    s->expected = malloc(bytes);
    s->seen = malloc(bytes);
    check(s->input && s->expected && s->seen, "allocating a picture");
    for (size_t i = 0; i < values_of(n); i++)
        s->input[i] = (float)((random = random * 1664525u + 1013904223u) >> 8) / 32768.0f - 256.0f;
    for (unsigned i = 0; i <= s->sets; i++) {
        require(l2k_cl_buffer(&context, device, CL_MEM_READ_WRITE, bytes, &s->in[i]));
        require(l2k_cl_buffer(&context, device, CL_MEM_READ_WRITE, bytes, &s->out[i]));
        require_cl(l2k_cl.EnqueueWriteBuffer(queue, s->in[i], CL_TRUE, 0, bytes, s->input, 0, NULL, NULL), "a write");
    }
}

static void free_scene(scene *s)
{
    for (unsigned i = 0; i <= s->sets; i++) {
        l2k_cl.ReleaseMemObject(s->in[i]);
        l2k_cl.ReleaseMemObject(s->out[i]);
    }
    free(s->input);
    free(s->expected);
    free(s->seen);
}

/* ---- lift2k's level --------------------------------------------------------------------------------------------- */

/* One level of the 9/7 of n x n floats; the coefficients' view belongs to the plan. */
static l2k_plan *make_plan(l2k_backend backend, int n, bool inverse)
{
    const l2k_plan_component component = {.rect = {0, 0, (uint32_t)n, (uint32_t)n},
                                          .levels = 1,
                                          .wavelet = L2K_WAVELET_9_7,
                                          .precision = 9,
                                          .is_signed = true}; /* no level shift */
    const l2k_plan_spec spec = {.direction = inverse ? L2K_INVERSE : L2K_FORWARD,
                                .type = L2K_COEFFICIENT_FLOAT32,
                                .num_components = 1,
                                .components = &component,
                                .memory = backend != L2K_BACKEND_CPU ? L2K_PLAN_DEVICE : L2K_PLAN_HOST};
    l2k_plan *plan;
    require(l2k_plan_create(&context, backend, &spec, &plan));
    return plan;
}

static l2k_plane plane_of(void *samples, int n)
{
    return (l2k_plane){samples, (ptrdiff_t)sizeof(float) * n, sizeof(float), L2K_SAMPLE_F32};
}

static void transform_on_cpu(const scene *s, bool inverse)
{
    const size_t n = (size_t)s->n;
    l2k_plan *plan = make_plan(L2K_BACKEND_CPU, s->n, inverse);
    const l2k_coefficients *view = l2k_plan_coefficients(plan, 0);
    const l2k_plane plane = plane_of(inverse ? s->expected : s->input, s->n);
    float *base = view->base;
    for (size_t y = 0; y < n && inverse; y++)
        memcpy(base + y * view->stride, s->input + y * n, n * sizeof *base);
    require(l2k_plan_run(plan, &plane));
    for (size_t y = 0; y < n && !inverse; y++)
        memcpy(s->expected + y * n, base + y * view->stride, n * sizeof *base);
    l2k_plan_free(plan);
}

/* A plan for each set, so that coefficients are no more in a cache than samples. */
static void make_own(scene *s, bool inverse)
{
    const size_t origin[3] = {0}, row = (size_t)s->n * sizeof(float), region[3] = {row, (size_t)s->n, 1};
    for (unsigned i = 0; i < s->sets; i++) {
        s->own[i] = make_plan(L2K_BACKEND_OPENCL, s->n, inverse);
        const l2k_coefficients *view = l2k_plan_coefficients(s->own[i], 0);
        if (inverse)
            require_cl(l2k_cl.EnqueueWriteBufferRect(queue, view->base, CL_TRUE, origin, origin, region,
                                                     view->stride * sizeof(float), 0, row, 0, s->input, 0, NULL, NULL),
                       "a write");
    }
}

static void free_own(scene *s)
{
    for (unsigned i = 0; i < s->sets; i++)
        l2k_plan_free(s->own[i]);
}

/* ---- Runs ------------------------------------------------------------------------------------------------------- */

static void copy(cl_mem from, cl_mem to, size_t bytes, cl_event *event)
{
    require_cl(l2k_cl.EnqueueCopyBuffer(queue, from, to, 0, 0, bytes, 0, NULL, event), "a copy");
}

static void launch(cl_kernel kernel, cl_mem in, cl_mem out, int n, const size_t local[2], int down)
{
    const l2k_cl_argument arguments[] = {L2K_CL_ARGUMENT(in), L2K_CL_ARGUMENT(out), L2K_CL_ARGUMENT(n)};
    const size_t across = ((size_t)n + local[0] - 1) / local[0],
                 global[2] = {across * local[0], (size_t)down * local[1]};
    require(l2k_cl_set_arguments(&context, kernel, arguments, 3));
    require_cl(l2k_cl.EnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "a launch");
}

static void enqueue(const scene *s, int method, bool inverse, unsigned set)
{
    const struct method *m = &methods[method];
    const size_t local[2] = {(size_t)m->lanes, (size_t)m->items}, square[2] = {32, 8};
    const cl_mem in = s->in[set], out = s->out[set], *between = (cl_mem[]){s->in[s->sets], s->out[s->sets]};
    const l2k_plane plane = plane_of(inverse ? out : in, s->n);
    if (m->kind == COPY) {
        copy(in, out, sizeof(float) * values_of(s->n), NULL);
    } else if (m->kind == OWN) {
        require(l2k_plan_run_on_device(s->own[set], &plane, queue));
    } else if (m->kind == TRANSPOSED) {
        launch(transpose, in, between[0], s->n, square, (s->n + 31) / 32);
        launch(kernels[method][inverse], between[0], between[1], s->n, local, 1);
        launch(transpose, between[1], out, s->n, square, (s->n + 31) / 32);
    } else {
        launch(kernels[method][inverse], in, out, s->n, local, 1);
    }
}

/* Every lifting step on the whole picture, along its rows or its columns. */
static void lift(float *v, int n, bool columns, bool inverse)
{
    for (int k = inverse ? -1 : 0; k < (inverse ? 4 : 5); k++) /* the scaling is step 4, or -1 */
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const int i = columns ? y : x, step = columns ? n : 1;
                float *at = v + (size_t)y * (size_t)n + x;
                if (k < 0 || k > 3)
                    *at *= scaling(i, inverse);
                else if ((i ^ k ^ inverse) & 1)
                    *at = l2k_9_7_lift(*at, at[i > 0 ? -step : step], at[i + 1 < n ? step : -step], factor(k, inverse));
            }
}

/* Whether a method makes what it should. */
static bool is_right(const scene *s, int method, bool inverse)
{
    const struct method *m = &methods[method];
    const size_t n = (size_t)s->n, row = n * sizeof(float), origin[3] = {0}, region[3] = {row, n, 1};
    const l2k_coefficients *view =
        m->kind == OWN && !inverse ? l2k_plan_coefficients(s->own[0], 0) : NULL; /* else the output is a plane */
    const cl_mem out = view ? view->base : s->out[0];
    const cl_uint poison = 0x7FC0DEAD;
    size_t wrong = 0;
    memcpy(s->expected, s->input, n * row);
    if (m->kind == OWN)
        transform_on_cpu(s, inverse);
    else if (m->kind != COPY)
        lift(s->expected, s->n, m->columns || m->kind == TRANSPOSED, inverse);
    require_cl(l2k_cl.EnqueueFillBuffer(queue, out, &poison, sizeof poison, 0, n * (view ? view->stride * 4 : row), 0,
                                        NULL, NULL),
               "a fill");
    enqueue(s, method, inverse, 0);
    require_cl(l2k_cl.EnqueueReadBufferRect(queue, out, CL_TRUE, origin, origin, region, view ? view->stride * 4 : row,
                                            0, row, 0, s->seen, 0, NULL, NULL),
               "a read");
    for (size_t i = 0; i < n * n; i++)
        wrong += m->kind == CONVOLVED ? !(fabsf(s->seen[i] - s->expected[i]) < 1e-3f)
                                      : memcmp(&s->seen[i], &s->expected[i], sizeof(float)) != 0;
    if (wrong)
        fprintf(stderr, "%s, %s, %d: WRONG: %zu of %zu values\n", m->name, direction_names[inverse], s->n, wrong,
                n * n);
    any_wrong |= wrong > 0;
    return !wrong;
}

static double end_of(cl_event event)
{
    cl_ulong time;
    require_cl(l2k_cl.GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL), "a time");
    l2k_cl.ReleaseEvent(event);
    return (double)time;
}

/* Picoseconds a pixel; less than 0 if the method is wrong. A repeat is a run on every set, one behind the other, between
 * a copy that keeps the device busy until all are enqueued and one of four bytes. */
static double time_method(const scene *s, int method, bool inverse)
{
    double times[REPEATS];
    if (!is_right(s, method, inverse))
        return -1;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        cl_event before, behind;
        copy(cold[0], cold[1], COLD_BYTES, &before);
        require_cl(l2k_cl.Flush(queue), "a flush");
        for (unsigned i = 0; i < s->sets; i++)
            enqueue(s, method, inverse, i);
        copy(cold[0], cold[1], 4, &behind);
        require_cl(l2k_cl.Finish(queue), "a run");
        times[repeat] = (end_of(behind) - end_of(before)) * 1e3 / (double)(s->sets * values_of(s->n));
    }
    return median(times, REPEATS);
}

/* Times, or where `times` is NULL checks, all methods in both directions. */
static void measure(int n, double (*times)[2][MOST_SIZES], int size)
{
    scene s;
    make_scene(&s, n);
    for (int m = 0; m < METHODS; m++)
        for (int inverse = 0; inverse < 2; inverse++) {
            if (methods[m].kind == OWN)
                make_own(&s, inverse);
            if (times)
                times[m][inverse][size] = time_method(&s, m, inverse);
            else
                is_right(&s, m, inverse);
            if (methods[m].kind == OWN)
                free_own(&s);
        }
    free_scene(&s);
}

static void print_table(double (*times)[2][MOST_SIZES], const int *sizes, int count, bool inverse)
{
    printf("\n| pass of the 9/7, %s |", direction_names[inverse]);
    for (int i = 0; i < count; i++)
        printf(" %d |", sizes[i]);
    printf(" paper, 1 megapixel | 10 megapixels |\n|---|---|---|");
    for (int i = 0; i < count; i++)
        printf("---|");
    for (int m = 0; m < METHODS; m++) {
        printf("\n| %s |", methods[m].name);
        for (int i = 0; i < count; i++)
            if (times[m][inverse][i] < 0)
                printf(" WRONG |");
            else
                printf(" %.2f (%.2f) |", times[m][inverse][i], times[m][inverse][i] / times[COPIES][inverse][i]);
        printf(" %s |", inverse ? " | " : methods[m].paper);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    int sizes[MOST_SIZES] = {512, 1024, 2048, 3168, 4096, 8192}, count = 0;
    static double times[METHODS][2][MOST_SIZES];
    unsigned number = 0;
    bool checks = false, understood = true;
    const char *reason;
    for (int i = 1; i < argc; i++) {
        const int n = atoi(argv[i]);
        if (strcmp(argv[i], "--check") == 0)
            checks = true;
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            number = (unsigned)atoi(argv[++i]);
        else if (n >= MIN_SIZE && n <= MAX_SIZE && count < MOST_SIZES)
            sizes[count++] = n;
        else
            understood = false;
    }
    if (!understood) {
        fprintf(stderr, "usage: paper_opencl_passes [--device N] [--check | SIZE...], up to %d sizes from %d to %d\n",
                MOST_SIZES, MIN_SIZE, MAX_SIZE);
        return 2;
    }
    if (l2k_cl_count(&reason) == 0) {
        printf("SKIPPED: %s\n", reason);
        return 77;
    }
    check(number < l2k_cl_count(NULL), "finding that device");
    context.devices = (uint64_t)1 << (l2k_device_base(L2K_BACKEND_OPENCL) + number);
    require(l2k_cl_open(&context, &device));
    require(l2k_cl_queue(&context, device, true, &queue));
    for (int m = 0; m < METHODS; m++)
        for (int d = 0; d < 2 && methods[m].lanes; d++)
            make_kernel(&methods[m], d, &kernels[m][d]);
    if (checks) {
        static const int odd[] = {16, 67, 600, 1057}; /* more than one of everything, of either parity */
        for (int i = 0; i < 4; i++)
            measure(odd[i], NULL, 0);
        printf("%s\n", any_wrong ? "some kernels are WRONG" : "all kernels equal the CPU");
        return any_wrong;
    }
    for (int i = 0; i < 2; i++)
        require(l2k_cl_buffer(&context, device, CL_MEM_READ_WRITE, COLD_BYTES, &cold[i]));
    count = count ? count : 6;
    for (int i = 0; i < count; i++)
        measure(sizes[i], times, i);
    printf("%s, %s, driver %s; median of %d; picoseconds a pixel (times a copy)\n", device->info.name, device->version,
           device->info.driver, REPEATS);
    for (int inverse = 0; inverse < 2; inverse++)
        print_table(times, sizes, count, inverse);
    return any_wrong;
}
