/* The loader, the list of devices, and their contexts and memory. */
#include "transform/opencl/cl_runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

l2k_cl_functions l2k_cl;

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 32, PINNED_ALIGNMENT = 64 };

static l2k_cl_device devices[MOST_DEVICES];
static unsigned num_devices;
static const char *no_devices;
static pthread_once_t listed = PTHREAD_ONCE_INIT;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* ---- Errors -------------------------------------------------------------------------------------------------- */

static bool is_for_memory(cl_int error)
{
    return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
           error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
}

l2k_status l2k_cl_check(const l2k_context *context, cl_int error, const char *call)
{
    const l2k_status status = is_for_memory(error) ? L2K_ERROR_MEMORY : L2K_ERROR_BACKEND;
    if (error == CL_SUCCESS)
        return L2K_OK;
    return l2k_fail(context, status, "OpenCL: %s: error %d", call, (int)error);
}

/* ---- The list of devices ------------------------------------------------------------------------------------- */

static bool load(void)
{
    static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so",
                                        "/System/Library/Frameworks/OpenCL.framework/OpenCL"};
    void *library = NULL;
    for (unsigned i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        no_devices = "no OpenCL loader (libOpenCL.so.1) is installed";
        return false;
    }
    bool complete = true;
#define LOAD(name)                                                                                                     \
    {                                                                                                                  \
        void *function = dlsym(library, "cl" #name);                                                                   \
        memcpy(&l2k_cl.name, &function, sizeof function);                                                              \
        complete = complete && function;                                                                               \
    }
    L2K_CL_FUNCTIONS(LOAD)
#undef LOAD
    if (!complete)
        no_devices = "the OpenCL loader is older than OpenCL 1.2";
    return complete;
}

static void get_text(cl_device_id id, cl_device_info what, char *text, size_t bytes)
{
    char all[1024] = "";
    if (l2k_cl.GetDeviceInfo(id, what, sizeof all, all, NULL) != CL_SUCCESS)
        all[0] = 0;
    all[sizeof all - 1] = 0;
    snprintf(text, bytes, "%.*s", (int)bytes - 1, all + strspn(all, " "));
}

static uint64_t get_number(cl_device_id id, cl_device_info what)
{
    uint64_t value = 0;
    uint32_t small = 0;
    size_t bytes = 0;
    if (l2k_cl.GetDeviceInfo(id, what, sizeof value, &value, &bytes) != CL_SUCCESS)
        return 0;
    if (bytes == sizeof small) {
        memcpy(&small, &value, sizeof small);
        return small;
    }
    return value;
}

/* What the full profile guarantees, or this requires, covers the work-groups and local memory of all kernels. */
static const char *refuse(const l2k_cl_device *d)
{
    unsigned major = 0, minor = 0;
    char profile[32];
    get_text(d->id, CL_DEVICE_PROFILE, profile, sizeof profile);
    if (sscanf(d->version, "OpenCL %u.%u", &major, &minor) != 2 || 10 * major + minor < 12)
        return "it is older than OpenCL 1.2";
    if (!get_number(d->id, CL_DEVICE_AVAILABLE))
        return "it is not available";
    if (!get_number(d->id, CL_DEVICE_COMPILER_AVAILABLE))
        return "it has no compiler";
    if (!get_number(d->id, CL_DEVICE_ENDIAN_LITTLE))
        return "its byte order differs from the host's";
    if (strcmp(profile, "FULL_PROFILE") != 0 || get_number(d->id, CL_DEVICE_LOCAL_MEM_SIZE) < 32768)
        return "it has less than 32 KiB of local memory";
    if (get_number(d->id, CL_DEVICE_MAX_WORK_GROUP_SIZE) < 256)
        return "its work-groups hold fewer than 256 work-items";
    return "";
}

static void describe(l2k_cl_device *d, cl_platform_id platform, cl_device_id id, bool is_gpu)
{
    const cl_device_fp_config floats = CL_FP_DENORM | CL_FP_FMA | CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
    *d = (l2k_cl_device){.platform = platform, .id = id, .is_gpu = is_gpu};
    get_text(id, CL_DEVICE_NAME, d->info.name, sizeof d->info.name);
    get_text(id, CL_DEVICE_VENDOR, d->info.vendor, sizeof d->info.vendor);
    get_text(id, CL_DRIVER_VERSION, d->info.driver, sizeof d->info.driver);
    get_text(id, CL_DEVICE_VERSION, d->version, sizeof d->version);
    d->info.memory_bytes = get_number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    d->info.processors = (uint32_t)get_number(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    d->alignment = (uint32_t)get_number(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    d->lifts_floats = (get_number(id, CL_DEVICE_SINGLE_FP_CONFIG) & floats) == floats;
    snprintf(d->info.reason, sizeof d->info.reason, "%s", refuse(d));
    d->info.usable = !d->info.reason[0];
}

static void list_platform(cl_platform_id platform, bool gpus)
{
    cl_device_id ids[MOST_DEVICES];
    cl_uint count = 0;
    if (l2k_cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST_DEVICES, ids, &count) != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < count && i < MOST_DEVICES && num_devices < MOST_DEVICES; i++) {
        const bool is_gpu = get_number(ids[i], CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU;
        if (is_gpu == gpus)
            describe(&devices[num_devices++], platform, ids[i], is_gpu);
    }
}

static void list(void)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint count = 0;
    if (!load())
        return;
    if (l2k_cl.GetPlatformIDs(MOST_PLATFORMS, platforms, &count) != CL_SUCCESS)
        count = 0;
    for (int other = 0; other < 2; other++)
        for (cl_uint i = 0; i < count && i < MOST_PLATFORMS; i++)
            list_platform(platforms[i], !other);
    no_devices = "no OpenCL driver is installed, or it has no device";
}

unsigned l2k_cl_count(const char **reason)
{
    pthread_once(&listed, list);
    if (reason && num_devices == 0)
        *reason = no_devices;
    return num_devices;
}

l2k_cl_device *l2k_cl_device_at(unsigned number)
{
    return &devices[number];
}

/* ---- Contexts and queues ------------------------------------------------------------------------------------- */

/* The first usable device, a GPU if possible. */
static unsigned first_usable(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (devices[i].info.usable)
            return i;
    return 0;
}

l2k_cl_device *l2k_cl_find(int ordinal, char *text, size_t bytes)
{
    const char *reason;
    const unsigned count = l2k_cl_count(&reason);
    if (count == 0) {
        if (ordinal < 0)
            snprintf(text, bytes, "%s", reason);
        else
            snprintf(text, bytes, "there is no device %d: %s", ordinal, reason);
        return NULL;
    }
    const int64_t base = ordinal < 0 ? 0 : l2k_device_base(L2K_BACKEND_OPENCL);
    const int64_t number = ordinal < 0 ? first_usable(count) : ordinal - base;
    if (number < 0 || number >= count) {
        snprintf(text, bytes, number < 0 ? "device %d is not an OpenCL device" : "there is no device %d", ordinal);
        return NULL;
    }
    l2k_cl_device *d = &devices[number];
    if (d->info.usable)
        snprintf(text, bytes, "%s, %s, driver %s, %llu MiB", d->info.name, d->info.vendor, d->info.driver,
                 (unsigned long long)(d->info.memory_bytes >> 20));
    else
        snprintf(text, bytes, "%s: %s", d->info.name, d->info.reason);
    return d->info.usable ? d : NULL;
}

l2k_status l2k_cl_open(const l2k_context *context, l2k_cl_device **device)
{
    char text[256];
    cl_int error = CL_SUCCESS;
    l2k_cl_device *d = l2k_cl_find(l2k_device_of_share(context, 0), text, sizeof text);
    if (!d)
        return l2k_fail(context, L2K_ERROR_BACKEND, "OpenCL: no usable device: %s", text);
    pthread_mutex_lock(&opening);
    if (!d->context) {
        const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)d->platform, 0};
        d->context = l2k_cl.CreateContext(properties, 1, &d->id, NULL, NULL, &error);
    }
    pthread_mutex_unlock(&opening);
    *device = d;
    return l2k_cl_check(context, error, "clCreateContext");
}

l2k_status l2k_cl_queue(const l2k_context *context, const l2k_cl_device *device, bool profiles, cl_command_queue *queue)
{
    cl_int error;
    *queue = l2k_cl.CreateCommandQueue(device->context, device->id, profiles ? CL_QUEUE_PROFILING_ENABLE : 0, &error);
    return l2k_cl_check(context, error, "clCreateCommandQueue");
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

l2k_status l2k_cl_buffer(const l2k_context *context, const l2k_cl_device *device, cl_mem_flags flags, size_t bytes,
                         cl_mem *buffer)
{
    cl_int error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    *buffer = NULL;
    if (bytes <= device->info.memory_bytes) /* some drivers promise more, and fail later */
        *buffer = l2k_cl.CreateBuffer(device->context, flags, bytes ? bytes : 1, NULL, &error);
    return l2k_cl_check(context, error, "clCreateBuffer");
}

l2k_status l2k_cl_reserve(const l2k_context *context, const l2k_cl_device *device, l2k_device_memory *memory,
                          size_t bytes)
{
    cl_mem buffer;
    if (memory->at && bytes <= memory->bytes)
        return L2K_OK;
    l2k_cl_release(memory);
    L2K_TRY(l2k_cl_buffer(context, device, CL_MEM_READ_WRITE, bytes, &buffer));
    *memory = (l2k_device_memory){buffer, bytes};
    return L2K_OK;
}

void l2k_cl_release(l2k_device_memory *memory)
{
    if (memory->at)
        l2k_cl.ReleaseMemObject(memory->at);
    *memory = (l2k_device_memory){0};
}

void l2k_cl_unpin(cl_command_queue queue, l2k_cl_pinned *memory)
{
    if (memory->mapped)
        l2k_cl.EnqueueUnmapMemObject(queue, memory->buffer, memory->mapped, 0, NULL, NULL);
    if (memory->buffer)
        l2k_cl.ReleaseMemObject(memory->buffer);
    *memory = (l2k_cl_pinned){0};
}

l2k_status l2k_cl_pin(const l2k_context *context, const l2k_cl_device *device, cl_command_queue queue,
                      l2k_cl_pinned *memory, size_t bytes)
{
    const size_t all = bytes + PINNED_ALIGNMENT;
    cl_int error;
    if (memory->at && bytes <= memory->bytes)
        return L2K_OK;
    l2k_cl_unpin(queue, memory);
    L2K_TRY(l2k_cl_buffer(context, device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, all, &memory->buffer));
    memory->mapped = l2k_cl.EnqueueMapBuffer(queue, memory->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, all, 0,
                                             NULL, NULL, &error);
    L2K_TRY(l2k_cl_check(context, error, "clEnqueueMapBuffer"));
    memory->at = (uint8_t *)memory->mapped + -(uintptr_t)memory->mapped % PINNED_ALIGNMENT;
    memory->bytes = bytes;
    return L2K_OK;
}
