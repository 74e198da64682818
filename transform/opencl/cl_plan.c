/* The OpenCL backend of the transform. */
#include "transform/backend.h"
#include "transform/opencl/cl_runtime.h"

#include <stdio.h>

/* ---- Devices ------------------------------------------------------------------------------------------------- */

static bool usable(int device, char *text, size_t bytes)
{
    return l2k_cl_find(device, text, bytes);
}

static bool has_gpu(void)
{
    const l2k_cl_device *d = l2k_cl_find(-1, NULL, 0);
    return d && d->is_gpu;
}

static uint32_t count(void)
{
    return l2k_cl_count(NULL);
}

static bool describe(uint32_t device, l2k_device_info *info)
{
    const l2k_cl_device *d = l2k_cl_device_at(device);
    *info = (l2k_device_info){.memory_bytes = d->memory_bytes, .processors = d->units, .usable = !d->reason[0]};
    snprintf(info->name, sizeof info->name, "%s", d->name);
    snprintf(info->vendor, sizeof info->vendor, "%s", d->vendor);
    snprintf(info->driver, sizeof info->driver, "%s", d->driver);
    snprintf(info->reason, sizeof info->reason, "%s", d->reason);
    return true;
}

static const l2k_device_functions devices = {
    .usable = usable, .has_gpu = has_gpu, .count = count, .describe = describe};

/* ---- The table ----------------------------------------------------------------------------------------------- */

static l2k_status create(l2k_plan *plan)
{
    l2k_cl_device *device;
    L2K_TRY(l2k_cl_open(plan->context, &device));
    return l2k_fail(plan->context, L2K_ERROR_BACKEND, "OpenCL: no transform yet");
}

static void destroy(l2k_plan *plan)
{
    (void)plan;
}

const l2k_backend_functions l2k_backend_opencl = {
    .kind = L2K_BACKEND_OPENCL, .device = &devices, .create = create, .free = destroy};
