/* The run-time layer of OpenCL: programs from sources and from this process, and each call that fails. */
#include "tests/gpu/require.h"
#include "transform/opencl/cl_runtime.h"

static const char source[] = "kernel void fill(global int *to, int first)\n"
                             "{\n"
                             "    to[get_global_id(0)] = first + STEP * (int)get_global_id(0);\n"
                             "}\n";
static const char broken[] = "kernel void fill(global int *to)\n{\n    to[0] = nothing;\n}\n";

static char last_message[256];
static unsigned messages, failed;

static void take_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    messages++;
    snprintf(last_message, sizeof last_message, "%s", text);
}

static const l2k_context context = {.hooks = {.message = take_message}, .threads = 1};

static void expect(bool holds, const char *what)
{
    if (!holds)
        printf("FAILED: %s (last message: %s)\n", what, last_message);
    failed += !holds;
}

/* ---- A kernel's run ------------------------------------------------------------------------------------------ */

enum { COUNT = 64 };

static l2k_status enqueue(l2k_cl_device *device, cl_kernel kernel, cl_mem buffer, cl_command_queue queue, int32_t *out)
{
    const size_t count = COUNT;
    const int32_t first = 5;
    L2K_TRY(l2k_cl_set_arguments(&context, kernel, (l2k_cl_argument[]){L2K_CL_ARGUMENT(buffer), L2K_CL_ARGUMENT(first)},
                                 2));
    L2K_CL_TRY(&context, EnqueueNDRangeKernel, (queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL));
    (void)device;
    L2K_CL_TRY(&context, EnqueueReadBuffer, (queue, buffer, CL_TRUE, 0, COUNT * 4, out, 0, NULL, NULL));
    L2K_CL_TRY(&context, Finish, (queue));
    return L2K_OK;
}

static l2k_status run(const char *options, int32_t *out)
{
    l2k_cl_device *device;
    cl_program program;
    cl_kernel kernel = NULL;
    cl_command_queue queue = NULL;
    l2k_device_memory memory = {0};
    L2K_TRY(l2k_cl_open(&context, &device));
    l2k_status status = l2k_cl_program(&context, device, source, options, &program);
    if (status == L2K_OK)
        status = l2k_cl_kernel(&context, program, "fill", &kernel);
    if (status == L2K_OK)
        status = l2k_cl_queue(&context, device, false, &queue);
    if (status == L2K_OK)
        status = l2k_cl_reserve(&context, device, &memory, COUNT * 4);
    if (status == L2K_OK)
        status = enqueue(device, kernel, memory.at, queue, out);
    l2k_cl_release(&memory);
    if (kernel)
        l2k_cl.ReleaseKernel(kernel);
    if (queue)
        l2k_cl.ReleaseCommandQueue(queue);
    return status;
}

static bool runs(const char *options, int32_t step)
{
    int32_t out[COUNT];
    bool same = run(options, out) == L2K_OK;
    for (int32_t i = 0; i < COUNT && same; i++)
        same = out[i] == 5 + step * i;
    return same;
}

/* ---- Programs ------------------------------------------------------------------------------------------------ */

static unsigned built;
static l2k_cl_functions real;

static cl_int CL_API_CALL count_builds(cl_program program, cl_uint devices, const cl_device_id *ids,
                                       const char *options, void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    built++;
    return real.BuildProgram(program, devices, ids, options, notify, user);
}

static void test_programs(void)
{
    expect(runs("-DSTEP=3", 3) && built == 1, "a program is built");
    expect(runs("-DSTEP=3", 3) && built == 1, "and kept");
    expect(runs("-DSTEP=4", 4) && built == 2, "another one with other options");
    expect(runs("-DSTEP=3", 3) && built == 2, "both are kept");
}

/* ---- Failures ------------------------------------------------------------------------------------------------ */

static void test_build_error(void)
{
    l2k_cl_device *device;
    cl_program program;
    messages = 0;
    expect(l2k_cl_open(&context, &device) == L2K_OK, "opening");
    expect(l2k_cl_program(&context, device, broken, "", &program) == L2K_ERROR_BACKEND && messages == 1 &&
               strstr(last_message, "OpenCL: clBuildProgram: ") && !strchr(last_message, '\n'),
           "a source that does not compile");
    const l2k_context beyond = {.hooks = context.hooks, .threads = 1, .devices = (uint64_t)1 << 61};
    messages = 0;
    expect(l2k_cl_open(&beyond, &device) == L2K_ERROR_BACKEND && messages == 1, "a device that does not exist");
}

static void test_errors(void)
{
    expect(l2k_cl_check(&context, CL_MEM_OBJECT_ALLOCATION_FAILURE, "clCreateBuffer") == L2K_ERROR_MEMORY &&
               strcmp(last_message, "OpenCL: clCreateBuffer: error -4") == 0,
           "memory is told apart");
    expect(l2k_cl_check(&context, CL_INVALID_KERNEL, "clFinish") == L2K_ERROR_BACKEND &&
               strcmp(last_message, "OpenCL: clFinish: error -48") == 0,
           "others are the backend's");
    l2k_cl_device *device;
    cl_mem buffer;
    expect(l2k_cl_open(&context, &device) == L2K_OK &&
               l2k_cl_buffer(&context, device, CL_MEM_READ_WRITE, (size_t)1 << 60, &buffer) == L2K_ERROR_MEMORY,
           "more memory than there is");
}

int main(void)
{
    const int ending = gpu_missing();
    if (ending)
        return ending;
    real = l2k_cl;
    l2k_cl.BuildProgram = count_builds;
    test_programs();
    test_build_error();
    test_errors();
    printf("%u failed\n", failed);
    return failed != 0;
}
