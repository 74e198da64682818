/* Programs of a device: those of this process, and new ones. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "transform/opencl/cl_runtime.h"

typedef struct l2k_cl_program {
    struct l2k_cl_program *next;
    const char *source;
    cl_program program;
    char options[];
} program_entry;

static pthread_mutex_t building = PTHREAD_MUTEX_INITIALIZER;

enum { MOST_OPTIONS = 1024 };

/* ---- Building ------------------------------------------------------------------------------------------------ */

/* Reports the first line of the compiler's log that names an error. */
static l2k_status report_build(const l2k_context *context, const l2k_cl_device *device, cl_program program,
                               cl_int error)
{
    char log[4096] = "";
    if (error != CL_BUILD_PROGRAM_FAILURE ||
        l2k_cl.GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL) != CL_SUCCESS)
        return l2k_cl_check(context, error, "clBuildProgram");
    const char *at = strstr(log, "error");
    while (at && at > log && at[-1] != '\n')
        at--;
    at = at ? at : log;
    return l2k_fail(context, L2K_ERROR_BACKEND, "OpenCL: clBuildProgram: %.*s", (int)strcspn(at, "\r\n"), at);
}

static l2k_status build_program(const l2k_context *context, const l2k_cl_device *device, const char *source,
                                const char *options, cl_program *program)
{
    cl_int error;
    *program = l2k_cl.CreateProgramWithSource(device->context, 1, &source, NULL, &error);
    L2K_TRY(l2k_cl_check(context, error, "clCreateProgramWithSource"));
    error = l2k_cl.BuildProgram(*program, 1, &device->id, options, NULL, NULL);
    if (error == CL_SUCCESS)
        return L2K_OK;
    const l2k_status status = report_build(context, device, *program, error);
    l2k_cl.ReleaseProgram(*program);
    return status;
}

static l2k_status find_program(const l2k_context *context, l2k_cl_device *device, const char *source,
                               const char *options, cl_program *program)
{
    for (const program_entry *e = device->programs; e; e = e->next)
        if (e->source == source && strcmp(e->options, options) == 0) {
            *program = e->program;
            return L2K_OK;
        }
    /* Allocated before the program is made, so that nothing can fail afterwards. It is the process's. */
    const l2k_hooks no_hooks = {0};
    program_entry *entry = l2k_hook_allocate(&no_hooks, sizeof *entry + strlen(options) + 1);
    L2K_TRY(l2k_check_memory(context, entry, "an OpenCL program"));
    const l2k_status status = build_program(context, device, source, options, program);
    if (status != L2K_OK) {
        l2k_hook_release(&no_hooks, entry);
        return status;
    }
    *entry = (program_entry){device->programs, source, *program};
    strcpy(entry->options, options);
    device->programs = entry;
    return L2K_OK;
}

l2k_status l2k_cl_program(const l2k_context *context, l2k_cl_device *device, const char *source, const char *options,
                          cl_program *program)
{
    char all[MOST_OPTIONS];
    if (snprintf(all, sizeof all, "-cl-std=CL1.2 %s", options) >= MOST_OPTIONS)
        return l2k_fail(context, L2K_ERROR_BACKEND, "OpenCL: the options of a program are too long");
    pthread_mutex_lock(&building);
    const l2k_status status = find_program(context, device, source, all, program);
    pthread_mutex_unlock(&building);
    return status;
}

l2k_status l2k_cl_kernel(const l2k_context *context, cl_program program, const char *name, cl_kernel *kernel)
{
    cl_int error;
    *kernel = l2k_cl.CreateKernel(program, name, &error);
    return l2k_cl_check(context, error, "clCreateKernel");
}

l2k_status l2k_cl_set_arguments(const l2k_context *context, cl_kernel kernel, const l2k_cl_argument *arguments,
                                unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        L2K_CL_TRY(context, SetKernelArg, (kernel, i, arguments[i].bytes, arguments[i].value));
    return L2K_OK;
}
