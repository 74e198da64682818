/* Every OpenCL call of a plan fails in turn: one line, the right status, nothing left over, and the plan can be run
 * again; with backend auto the CPU does the work. Then the public transform on memory objects of the caller. */
#include <stdatomic.h>

#include "tests/gpu/require.h"
#include "transform/opencl/cl_runtime.h"
#include "transform/choice.h"

/* ---- Calls that fail ----------------------------------------------------------------------------------------- */

static l2k_cl_functions real;
static int calls_left; /* until one fails; negative: none does */
static cl_int failure;
static int objects; /* that are to be released */
static size_t buffer_bytes;

static bool fails(void)
{
    return calls_left >= 0 && calls_left-- == 0;
}

#define CALL(name, parameters, arguments)                                                                              \
    static cl_int CL_API_CALL fake_##name parameters                                                                   \
    {                                                                                                                  \
        return fails() ? failure : real.name arguments;                                                                \
    }
#define MAKE(type, name, parameters, arguments)                                                                        \
    static type CL_API_CALL fake_##name parameters                                                                     \
    {                                                                                                                  \
        *error = failure;                                                                                              \
        type made = fails() ? NULL : real.name arguments;                                                              \
        objects += made != NULL;                                                                                       \
        return made;                                                                                                   \
    }
#define RELEASE(name, type)                                                                                            \
    static cl_int CL_API_CALL fake_##name(type object)                                                                 \
    {                                                                                                                  \
        objects--;                                                                                                     \
        return real.name(object);                                                                                      \
    }

#define WAITS  cl_uint count, const cl_event *events, cl_event *event
#define WAITED count, events, event

MAKE(cl_command_queue, CreateCommandQueue, (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *error),
     (c, d, p, error))
MAKE(cl_mem, CreateSubBuffer, (cl_mem m, cl_mem_flags f, cl_buffer_create_type t, const void *i, cl_int *error),
     (m, f, t, i, error))
MAKE(cl_kernel, CreateKernel, (cl_program p, const char *n, cl_int *error), (p, n, error))
RELEASE(ReleaseCommandQueue, cl_command_queue)
RELEASE(ReleaseMemObject, cl_mem)
RELEASE(ReleaseKernel, cl_kernel)
CALL(SetKernelArg, (cl_kernel k, cl_uint i, size_t n, const void *v), (k, i, n, v))
CALL(EnqueueReadBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, void *p, WAITS),
     (q, m, b, o, n, p, WAITED))
CALL(EnqueueWriteBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, const void *p, WAITS),
     (q, m, b, o, n, p, WAITED))
CALL(EnqueueFillBuffer, (cl_command_queue q, cl_mem m, const void *p, size_t s, size_t o, size_t n, WAITS),
     (q, m, p, s, o, n, WAITED))
CALL(EnqueueNDRangeKernel,
     (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, WAITS),
     (q, k, d, o, g, l, WAITED))
CALL(EnqueueBarrierWithWaitList, (cl_command_queue q, WAITS), (q, WAITED))
CALL(Flush, (cl_command_queue q), (q))

static cl_mem CL_API_CALL fake_CreateBuffer(cl_context c, cl_mem_flags f, size_t n, void *p, cl_int *error)
{
    *error = failure;
    cl_mem made = fails() ? NULL : real.CreateBuffer(c, f, n, p, error);
    objects += made != NULL;
    buffer_bytes += made && !(f & CL_MEM_ALLOC_HOST_PTR) ? n : 0;
    return made;
}

static void *CL_API_CALL fake_EnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o,
                                               size_t n, WAITS, cl_int *error)
{
    *error = failure;
    return fails() ? NULL : real.EnqueueMapBuffer(q, m, b, f, o, n, WAITED, error);
}

/* Waits in any case, as a device does that has failed. */
static cl_int CL_API_CALL fake_Finish(cl_command_queue q)
{
    const cl_int error = real.Finish(q);
    return fails() ? failure : error;
}

static void wrap_calls(void)
{
    real = l2k_cl;
#define WRAP(name) l2k_cl.name = fake_##name;
    WRAP(CreateCommandQueue)
    WRAP(CreateBuffer)
    WRAP(CreateSubBuffer)
    WRAP(CreateKernel)
    WRAP(ReleaseCommandQueue)
    WRAP(ReleaseMemObject)
    WRAP(ReleaseKernel)
    WRAP(SetKernelArg)
    WRAP(EnqueueReadBuffer)
    WRAP(EnqueueWriteBuffer)
    WRAP(EnqueueFillBuffer)
    WRAP(EnqueueMapBuffer)
    WRAP(EnqueueNDRangeKernel)
    WRAP(EnqueueBarrierWithWaitList)
    WRAP(Flush)
    WRAP(Finish)
}

/* ---- What is expected ---------------------------------------------------------------------------------------- */

static unsigned errors, notes, failed;
static char last_message[256];
static atomic_int blocks;

static void *allocate(void *user, size_t bytes)
{
    (void)user;
    void *block = malloc(bytes);
    blocks += block != NULL;
    return block;
}

static void release(void *user, void *block)
{
    (void)user;
    blocks -= block != NULL;
    free(block);
}

static void take_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    errors += severity == L2K_SEVERITY_ERROR;
    notes += severity == L2K_SEVERITY_NOTE;
    snprintf(last_message, sizeof last_message, "%s", text);
}

static const l2k_hooks hooks = {.allocate = allocate, .release = release, .message = take_message};

static void expect(bool holds, const char *what)
{
    if (!holds)
        printf("FAILED: %s (last message: %s)\n", what, last_message);
    failed += !holds;
}

/* ---- Plans --------------------------------------------------------------------------------------------------- */

enum { WIDTH = 61, HEIGHT = 47, COMPONENTS = 3 };

typedef struct scenario {
    const char *name;
    l2k_direction direction;
    l2k_wavelet wavelet;
    l2k_sample_type type;
    bool keeps, joined;
} scenario;

static const scenario scenarios[] = {
    {"forward, rows as they are", L2K_FORWARD, L2K_WAVELET_5_3, L2K_SAMPLE_U8, false, true},
    {"forward, packed", L2K_FORWARD, L2K_WAVELET_9_7, L2K_SAMPLE_S32, false, false},
    {"forward, coefficients stay", L2K_FORWARD, L2K_WAVELET_9_7, L2K_SAMPLE_U8, true, true},
    {"inverse, rows as they are", L2K_INVERSE, L2K_WAVELET_9_7, L2K_SAMPLE_U8, false, false},
    {"inverse, packed", L2K_INVERSE, L2K_WAVELET_5_3, L2K_SAMPLE_S32, false, true},
};

typedef struct pixels {
    uint8_t bytes[COMPONENTS][HEIGHT][4 * (WIDTH + 3)];
    l2k_plane planes[COMPONENTS];
} pixels;

static void fill(pixels *p, l2k_sample_type type)
{
    const size_t size = type == L2K_SAMPLE_S32 ? 4 : 1;
    memset(p->bytes, 0, sizeof p->bytes);
    for (unsigned c = 0; c < COMPONENTS; c++) {
        for (unsigned y = 0; y < HEIGHT; y++)
            for (unsigned x = 0; x < WIDTH; x++)
                p->bytes[c][y][x * size] = (uint8_t)(x * 7 + y * 13 + c * 50);
        p->planes[c] = (l2k_plane){p->bytes[c], sizeof p->bytes[c][0], (ptrdiff_t)size, type};
    }
}

static l2k_plan_component components[COMPONENTS];

static l2k_plan_spec make_spec(const scenario *s)
{
    for (unsigned c = 0; c < COMPONENTS; c++) {
        components[c] =
            (l2k_plan_component){.rect = {0, 0, WIDTH, HEIGHT}, .levels = 3, .wavelet = s->wavelet, .precision = 8};
        for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
            components[c].steps[b] = 0.5f;
    }
    return (l2k_plan_spec){.direction = s->direction,
                           .type = L2K_COEFFICIENT_INT32,
                           .component_transform = s->joined,
                           .num_components = COMPONENTS,
                           .components = components,
                           .memory = s->keeps ? L2K_PLAN_COEFFICIENTS_STAY : L2K_PLAN_HOST};
}

/* Coefficients for the inverse, the same on every backend. */
static void give_coefficients(l2k_plan *plan)
{
    for (uint32_t c = 0; c < COMPONENTS; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(plan, c);
        for (size_t i = 0; i < view->stride * view->height; i++)
            ((int32_t *)view->base)[i] = (int32_t)(i * 31 % 101) - 50;
    }
}

static l2k_status run(const scenario *s, l2k_plan *plan, pixels *p)
{
    fill(p, s->type);
    if (s->direction == L2K_INVERSE)
        give_coefficients(plan);
    return l2k_plan_run(plan, p->planes);
}

static uint32_t sum_of(const scenario *s, const l2k_plan *plan, const pixels *p)
{
    uint32_t sum = 0;
    for (uint32_t c = 0; c < COMPONENTS && s->direction == L2K_FORWARD && !s->keeps; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(plan, c);
        for (uint32_t y = 0; y < view->height; y++)
            for (uint32_t x = 0; x < view->width; x++)
                sum = sum * 31 + ((const uint32_t *)view->base)[y * view->stride + x];
    }
    for (size_t i = 0; i < sizeof p->bytes && s->direction == L2K_INVERSE; i++)
        sum = sum * 31 + ((const uint8_t *)p->bytes)[i];
    return sum;
}

static uint32_t sum_on_cpu(const l2k_context *context, const scenario *s)
{
    static pixels p;
    const l2k_plan_spec spec = make_spec(s);
    l2k_plan *plan;
    if (l2k_plan_create(context, L2K_BACKEND_CPU, &spec, &plan) != L2K_OK || run(s, plan, &p) != L2K_OK)
        exit(1);
    const uint32_t sum = sum_of(s, plan, &p);
    l2k_plan_free(plan);
    return sum;
}

/* Whether a call failed: false once there is none with that number. */
static bool fail_call(const l2k_context *context, const scenario *s, int number, uint32_t expected)
{
    static pixels p;
    const l2k_plan_spec spec = make_spec(s);
    const l2k_status wanted = failure == CL_MEM_OBJECT_ALLOCATION_FAILURE ? L2K_ERROR_MEMORY : L2K_ERROR_BACKEND;
    l2k_plan *plan = NULL;
    errors = 0;
    calls_left = number;
    l2k_status status = l2k_plan_create(context, L2K_BACKEND_OPENCL, &spec, &plan);
    if (status == L2K_OK)
        status = run(s, plan, &p);
    const bool was_reached = calls_left < 0;
    calls_left = -1;
    if (!was_reached) {
        expect(status == L2K_OK && sum_of(s, plan, &p) == expected, s->name);
    } else if (status != L2K_OK || errors) {
        expect(status == wanted && errors == 1 && strncmp(last_message, "OpenCL: cl", 10) == 0, s->name);
        if (plan)
            expect(run(s, plan, &p) == L2K_OK && sum_of(s, plan, &p) == expected, "a run after one that failed");
    } else {
        expect(false, "a call that failed unseen");
    }
    l2k_plan_free(plan);
    expect(objects == 0 && blocks == 0, "something was not released");
    return was_reached;
}

static void test_failures(const l2k_context *context)
{
    static const cl_int kinds[] = {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_INVALID_OPERATION};
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
            const uint32_t expected = sum_on_cpu(context, &scenarios[i]);
            int number = 0;
            failure = kinds[k];
            while (fail_call(context, &scenarios[i], number, expected))
                number++;
            printf("%s: %d calls failed in turn\n", scenarios[i].name, number);
        }
}

/* ---- AUTO ---------------------------------------------------------------------------------------------------- */

static void test_auto(const l2k_context *context)
{
    const scenario *s = &scenarios[0];
    static pixels p;
    const l2k_plan_spec spec = make_spec(s);
    const uint32_t expected = sum_on_cpu(context, s);
    l2k_choice choice;
    l2k_context automatic = *context;
    l2k_plan *plan;
    automatic.choice = &choice;
    automatic.devices = (uint64_t)1 << l2k_device_base(L2K_BACKEND_OPENCL);
    for (int number = -1; number < 8; number++) {
        l2k_choice_start(&choice, 0);
        errors = notes = 0;
        calls_left = number;
        failure = CL_OUT_OF_RESOURCES;
        const l2k_status status = l2k_plan_create(&automatic, L2K_BACKEND_AUTO, &spec, &plan);
        calls_left = -1;
        expect(status == L2K_OK && errors == 0 && notes == (number >= 0), "AUTO goes on with the CPU, and says so");
        expect(l2k_plan_backend(plan) == (number < 0 ? L2K_BACKEND_OPENCL : L2K_BACKEND_CPU), "the backend of AUTO");
        expect(run(s, plan, &p) == L2K_OK && sum_of(s, plan, &p) == expected, "the result of AUTO");
        l2k_plan_free(plan);
    }
    l2k_choice_start(&choice, 0);
    automatic.devices = 0;
    expect(l2k_plan_create(&automatic, L2K_BACKEND_AUTO, &spec, &plan) == L2K_OK, "AUTO without a named device");
    expect(l2k_plan_backend(plan) != L2K_BACKEND_OPENCL || l2k_cl_device_at(0)->is_gpu, "AUTO takes no CPU by itself");
    l2k_plan_free(plan);
    expect(objects == 0 && blocks == 0, "something of AUTO was not released");
}

/* ---- The public transform ------------------------------------------------------------------------------------ */

enum { SIDE = 64 };

static l2k_transform *prepare(l2k_backend backend, l2k_memory memory, l2k_wavelet wavelet, const l2k_image *tile,
                              l2k_status expected)
{
    l2k_transform *t = l2k_transform_new(&hooks);
    if (!t)
        exit(1);
    expect(l2k_transform_set(t, L2K_TRANSFORM_BACKEND, backend) == L2K_OK &&
               l2k_transform_set(t, L2K_TRANSFORM_MEMORY, memory) == L2K_OK &&
               l2k_transform_set(t, L2K_TRANSFORM_WAVELET, wavelet) == L2K_OK &&
               l2k_transform_set(t, L2K_TRANSFORM_COMPONENT_TRANSFORM, 1) == L2K_OK,
           "options of a transform");
    uint64_t bytes;
    expect(backend == L2K_BACKEND_CPU || l2k_transform_device_bytes(t, tile, &bytes) == L2K_OK, "the device's bytes");
    buffer_bytes = 0;
    errors = 0;
    expect(l2k_transform_prepare(t, tile) == expected, "preparing");
    expect(l2k_transform_backend(t) != L2K_BACKEND_OPENCL || (buffer_bytes <= bytes && bytes <= 2 * buffer_bytes),
           "the memory that was announced");
    return t;
}

static bool same_coefficients(const l2k_transform *cpu, const l2k_transform *t, cl_command_queue queue)
{
    bool same = true;
    for (uint32_t c = 0; c < COMPONENTS; c++) {
        const l2k_coefficients *a = l2k_transform_coefficients(cpu, c), *b = l2k_transform_coefficients(t, c);
        const size_t bytes = b->stride * b->height * 4;
        int32_t *copy = malloc(bytes);
        same = same && copy && b->on_device &&
               real.EnqueueReadBuffer(queue, b->base, CL_TRUE, 0, bytes, copy, 0, NULL, NULL) == CL_SUCCESS;
        for (uint32_t y = 0; same && y < SIDE; y++)
            same = memcmp(copy + y * b->stride, (int32_t *)a->base + y * a->stride, SIDE * 4) == 0;
        free(copy);
    }
    return same;
}

/* Interleaved pixels in a memory object, on a queue of the caller. */
static void test_public(void)
{
    static uint8_t samples[SIDE][SIDE][COMPONENTS];
    const l2k_component component = {.dx = 1, .dy = 1, .precision = 8};
    const l2k_component parts[COMPONENTS] = {component, component, component};
    const l2k_image tile = {.x1 = SIDE, .y1 = SIDE, .num_components = COMPONENTS, .components = parts};
    cl_context context = l2k_opencl_context(-1);
    l2k_plane planes[COMPONENTS], host[COMPONENTS];
    cl_int error;
    expect(context && !l2k_opencl_context(62), "contexts");
    cl_command_queue queue = real.CreateCommandQueue(context, l2k_cl_find(-1, NULL, 0)->id, 0, &error);
    for (size_t i = 0; i < sizeof samples; i++)
        ((uint8_t *)samples)[i] = (uint8_t)(i * i % 251);
    cl_mem memory =
        real.CreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof samples, samples, &error);
    for (uint32_t c = 0; c < COMPONENTS; c++) {
        planes[c] = (l2k_plane){memory, sizeof samples[0], COMPONENTS, L2K_SAMPLE_U8};
        host[c] = planes[c];
        host[c].data = &samples[0][0][c];
    }
    for (l2k_wavelet wavelet = L2K_WAVELET_5_3; wavelet <= L2K_WAVELET_9_7; wavelet++) {
        l2k_transform *cpu = prepare(L2K_BACKEND_CPU, L2K_MEMORY_HOST, wavelet, &tile, L2K_OK);
        l2k_transform *t = prepare(L2K_BACKEND_OPENCL, L2K_MEMORY_DEVICE, wavelet, &tile, L2K_OK);
        expect(l2k_transform_backend(t) == L2K_BACKEND_OPENCL, "the backend");
        expect(l2k_transform_forward(cpu, host) == L2K_OK, "forward on the CPU");
        expect(l2k_transform_forward_on_device(t, planes, queue) == L2K_OK, "forward on the device");
        expect(same_coefficients(cpu, t, queue), "the coefficients");
        planes[1].row_stride = -planes[1].row_stride;
        expect(l2k_transform_forward_on_device(t, planes, queue) == L2K_ERROR_ARGUMENT, "a negative stride");
        planes[1].row_stride = -planes[1].row_stride;
        l2k_transform_free(t);
        l2k_transform_free(cpu);
    }
    l2k_transform_free(prepare(L2K_BACKEND_OPENCL, L2K_MEMORY_DEVICE, L2K_WAVELET_HAAR, &tile, L2K_ERROR_BACKEND));
    expect(errors == 1 && strncmp(last_message, "OpenCL: ", 8) == 0, "what the device has no kernels for");
    l2k_transform *t = prepare(L2K_BACKEND_OPENCL, L2K_MEMORY_HOST, L2K_WAVELET_HAAR, &tile, L2K_OK);
    expect(l2k_transform_backend(t) == L2K_BACKEND_CPU, "is done on the CPU");
    l2k_transform_free(t);
    real.ReleaseMemObject(memory);
    real.ReleaseCommandQueue(queue);
    expect(objects == 0 && blocks == 0, "something of a transform was not released");
}

int main(void)
{
    const l2k_context context = {.hooks = hooks, .threads = 1};
    const int ending = gpu_missing();
    if (ending)
        return ending;
    calls_left = -1;
    wrap_calls();
    test_failures(&context);
    test_auto(&context);
    test_public();
    printf("%u failed\n", failed);
    return failed != 0;
}
