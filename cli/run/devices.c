/* Assigns GPUs to files. */
#include "cli/run/batch.h"

#include <stdio.h>

#include "pictures/user/report.h"

static uint64_t bit_of(uint32_t device)
{
    return (uint64_t)1 << device;
}

/* ---- --devices --------------------------------------------------------------------------------------------------- */

static bool check_device(uint32_t device)
{
    char text[160];
    l2k_device_info info;
    if (!l2k_device(0, &info) && !l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text))
        return cli_error("--devices", "no GPU can be used: %s", text);
    if (!l2k_device(device, &info))
        return cli_error("--devices", "there is no device %u; lift2k info --devices lists them", device);
    return info.usable || cli_error("--devices", "device %u, %s: %s", device, info.name, info.reason);
}

/* CUDA's devices, or OpenCL's if the user names it: a GPU may be a device of both. */
static bool find_all(cli_devices *devices, const cli_options *options)
{
    char text[160];
    l2k_device_info info;
    const bool is_opencl = options->backend.value == L2K_BACKEND_OPENCL;
    const l2k_backend backend = is_opencl ? L2K_BACKEND_OPENCL : L2K_BACKEND_CUDA;
    for (uint32_t i = 0; i < CLI_MOST_DEVICES && l2k_device(i, &info); i++)
        devices->set |= info.usable && info.backend == backend ? bit_of(i) : 0;
    if (devices->set)
        return true;
    l2k_backend_usable(backend, text, sizeof text);
    if (is_opencl || options->backend.value == L2K_BACKEND_CUDA)
        return cli_error("--devices", "no GPU can be used: %s", text);
    if (!options->quiet)
        cli_note("lift2k: no GPU can be used: %s; the CPU does the work", text);
    return true;
}

bool cli_devices_find(cli_devices *devices, const cli_options *options)
{
    *devices = (cli_devices){.cpu_last = cli_setting_or(options->backend, L2K_BACKEND_AUTO) == L2K_BACKEND_AUTO};
    if ((options->all_devices || options->device_set) && options->backend.value == L2K_BACKEND_CPU &&
        options->backend.given)
        return cli_error("--devices", "--backend cpu uses none");
    if (options->all_devices)
        return find_all(devices, options);
    devices->set = options->device_set;
    for (uint32_t i = 0; i < CLI_MOST_DEVICES; i++)
        if ((devices->set & bit_of(i)) && !check_device(i))
            return false;
    return true;
}

/* ---- Coders ------------------------------------------------------------------------------------------------------ */

unsigned cli_devices_count(const cli_devices *devices)
{
    unsigned count = 0;
    for (uint64_t set = devices->set; set; set &= set - 1)
        count++;
    return count;
}

int cli_device_of_coder(const cli_devices *devices, unsigned coder)
{
    const uint64_t set = devices->set & ~atomic_load(&devices->failed);
    for (uint32_t device = 0; set; device = (device + 1) % CLI_MOST_DEVICES)
        if ((set & bit_of(device)) && coder-- == 0)
            return (int)device;
    return CLI_NO_DEVICE;
}

bool cli_device_failed(cli_devices *devices, cli_coder *coder)
{
    const cli_messages *messages = coder->failed;
    const int before = coder->device;
    char next[24] = "the CPU";
    if (before != CLI_NO_DEVICE)
        atomic_fetch_or(&devices->failed, bit_of((uint32_t)before));
    coder->device = cli_device_of_coder(devices, coder->number);
    if (before == CLI_NO_DEVICE || (coder->device == CLI_NO_DEVICE && !devices->cpu_last))
        return cli_error(messages->subject, "%s", messages->first_error);
    if (coder->device != CLI_NO_DEVICE)
        snprintf(next, sizeof next, "device %d", coder->device);
    if (!messages->quiet)
        cli_warning(messages->subject, "device %d: %s; %s takes the file", before, messages->first_error, next);
    return true;
}
