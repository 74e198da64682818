/* Programs of a device: those of this process, those on disk, and new ones. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "transform/opencl/cl_runtime.h"

typedef struct l2k_cl_program {
    struct l2k_cl_program *next;
    const char *source;
    char *options;
    cl_program program;
} program_entry;

static pthread_mutex_t building = PTHREAD_MUTEX_INITIALIZER;

enum { MOST_OPTIONS = 1024 };

/* ---- On disk ------------------------------------------------------------------------------------------------- */

static l2k_cl_key key_of(const l2k_cl_device *device, const char *source, const char *options)
{
    char platform[256] = "";
    l2k_cl_key key = {{0}};
    l2k_cl.GetPlatformInfo(device->platform, CL_PLATFORM_VERSION, sizeof platform - 1, platform, NULL);
    const char *const texts[] = {
        platform, device->info.name, device->info.vendor, device->info.driver, device->version, options, source};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        l2k_cl_key_add(&key, texts[i]);
    return key;
}

/* NULL if the cache lacks it, or the driver refuses it. */
static cl_program load_program(const l2k_cl_device *device, const l2k_cl_key *key, const char *options)
{
    size_t bytes;
    unsigned char *binary = l2k_cl_cache_read(key, &bytes);
    cl_int error, accepted;
    if (!binary)
        return NULL;
    const unsigned char *const binaries = binary;
    cl_program program =
        l2k_cl.CreateProgramWithBinary(device->context, 1, &device->id, &bytes, (void *)&binaries, &accepted, &error);
    l2k_cl_give_back(binary);
    if (!program || error != CL_SUCCESS || accepted != CL_SUCCESS)
        error = CL_INVALID_BINARY;
    else
        error = l2k_cl.BuildProgram(program, 1, &device->id, options, NULL, NULL);
    if (error == CL_SUCCESS)
        return program;
    if (program)
        l2k_cl.ReleaseProgram(program);
    return NULL;
}

static void store_program(cl_program program, const l2k_cl_key *key)
{
    size_t bytes = 0;
    if (l2k_cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS || bytes == 0)
        return;
    unsigned char *binary = l2k_cl_take(bytes);
    if (binary && l2k_cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        l2k_cl_cache_write(key, binary, bytes);
    l2k_cl_give_back(binary);
}

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

static l2k_status make_program(const l2k_context *context, const l2k_cl_device *device, const char *source,
                               const char *options, cl_program *program)
{
    const l2k_cl_key key = key_of(device, source, options);
    *program = load_program(device, &key, options);
    if (*program)
        return L2K_OK;
    L2K_TRY(build_program(context, device, source, options, program));
    store_program(*program, &key);
    return L2K_OK;
}

/* Allocated before the program is made, so that nothing can fail afterwards. */
static program_entry *make_entry(const char *source, const char *options)
{
    program_entry *entry = l2k_cl_take(sizeof *entry);
    char *copy = l2k_cl_take(strlen(options) + 1);
    if (!entry || !copy) {
        l2k_cl_give_back(entry);
        l2k_cl_give_back(copy);
        return NULL;
    }
    *entry = (program_entry){NULL, source, strcpy(copy, options), NULL};
    return entry;
}

static l2k_status find_program(const l2k_context *context, l2k_cl_device *device, const char *source,
                               const char *options, cl_program *program)
{
    for (const program_entry *e = device->programs; e; e = e->next)
        if (e->source == source && strcmp(e->options, options) == 0) {
            *program = e->program;
            return L2K_OK;
        }
    program_entry *entry = make_entry(source, options);
    L2K_TRY(l2k_check_memory(context, entry, "an OpenCL program"));
    const l2k_status status = make_program(context, device, source, options, program);
    if (status != L2K_OK) {
        l2k_cl_give_back(entry->options);
        l2k_cl_give_back(entry);
        return status;
    }
    entry->program = *program;
    entry->next = device->programs;
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
