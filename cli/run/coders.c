/* Decides how many files to code at once, and whether opening the device pays, before any file is opened; assigns GPUs
 * to files. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/batch.h"
#include "pictures/files/file.h"
#include "pictures/user/limits.h"
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
        cli_note("no GPU can be used", "%s; the CPU does the work", text);
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

/* ---- How many at once -------------------------------------------------------------------------------------------- */

/* Bytes of the files that are coded at once on the CPU, which bound memory: [0] encode, pictures; [1] decode, JPEG 2000
 * files. */
static const uint64_t most_at_once[2] = {(uint64_t)256 << 20, (uint64_t)128 << 20};

/* Files at once with devices, if those on each have at most `bytes` in total: [0] encode, pictures; [1] decode, JPEG
 * 2000 files, with half as many processors. Each has pinned memory, which takes long to allocate; decoding takes the
 * device longer and writes more, so that more files at once keep both busy. Measured with one and two H200 and 32
 * processors, photographs of 3840 x 2160 as PPM in memory. */
#define MOST_ON_DEVICE ((unsigned)8)
static const struct {
    unsigned together; /* on several devices; decode: also on one */
    uint64_t bytes;
} most_on_devices[2] = {{12, (uint64_t)512 << 20}, {16, (uint64_t)256 << 20}};

/* One file is read or written while another is coded. */
enum { LEAST_CODERS = 2, MOST_CODERS = 64 };

/* On each of several devices, even with more bytes. */
enum { LEAST_ON_DEVICE = 4 };

/* The least bytes of all files with which `auto` may open the device: [0] encode, pictures; [1] decode, JPEG 2000
 * files. The library then decides about its use. Measured on an H100 with 16 processors, photographs of 3840 x 2160 as
 * PPM in memory: with the GPU a call takes 0.2 to 0.35 s more, and a file 4 ms less (HT), 16 and 30 ms less (MQ, encode
 * and decode). */
static const struct {
    uint64_t mq, ht;
} worth_opening[2] = {{(uint64_t)1 << 29, (uint64_t)1 << 31}, {(uint64_t)1 << 26, (uint64_t)1 << 29}};

/* As GPU_MIN_SAMPLES: the GPU wherever it is faster. */
enum { WHERE_FASTER = -2 };

typedef struct sizes {
    uint64_t largest, total; /* bytes */
    bool unknown;            /* some file is not a regular one */
} sizes;

static sizes look_at(const cli_tasks *tasks)
{
    sizes all = {0};
    for (size_t i = 0; i < tasks->count; i++) {
        struct stat facts = {0};
        if (stat(tasks->items[i].input, &facts) != 0 && tasks->options->out_dir)
            continue; /* it will fail */
        all.unknown |= !S_ISREG(facts.st_mode);
        const uint64_t bytes = (uint64_t)facts.st_size;
        all.largest = bytes > all.largest ? bytes : all.largest;
        all.total += bytes;
    }
    return all;
}

/* Processors that this process may use. */
static unsigned processors(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 1 ? (unsigned)online : 1;
}

static bool has_ht(const cli_tasks *tasks, const cli_options *options)
{
    const char *extension = cli_extension(tasks->items[0].input);
    return options->command == CLI_ENCODE ? options->ht
                                          : cli_same_text(extension, ".jph") || cli_same_text(extension, ".jhc");
}

/* `auto` becomes the CPU, or the GPU wherever it is faster, also if --devices names some. With unknown sizes, the
 * library measures as it goes. */
static void choose_backend(const cli_tasks *tasks, const cli_options *options, const sizes *all, cli_share *share)
{
    const bool decodes = options->command != CLI_ENCODE;
    const uint64_t least = has_ht(tasks, options) ? worth_opening[decodes].ht : worth_opening[decodes].mq;
    share->backend = options->backend;
    share->gpu_min_samples = options->gpu_min_samples;
    if (cli_setting_or(options->backend, L2K_BACKEND_AUTO) != L2K_BACKEND_AUTO || options->gpu_min_samples.given)
        return;
    if (share->devices.set || (!options->all_devices && !all->unknown && all->total >= least))
        share->gpu_min_samples = (cli_setting){WHERE_FASTER, true};
    else if (options->all_devices || !all->unknown)
        share->backend = (cli_setting){L2K_BACKEND_CPU, true};
}

static uint64_t within(uint64_t least, uint64_t n, uint64_t most)
{
    return n < least ? least : n > most ? most : n;
}

static unsigned coders_on_device(const sizes *all, bool decodes, unsigned devices, unsigned threads)
{
    const uint64_t room = most_on_devices[decodes].bytes / (all->largest ? all->largest : 1);
    const unsigned together = most_on_devices[decodes].together;
    uint64_t each = decodes ? within(MOST_ON_DEVICE, threads / 2, together) : MOST_ON_DEVICE;
    if (devices > 1)
        each = within(LEAST_ON_DEVICE, together / devices, MOST_ON_DEVICE);
    return (unsigned)within(1, room, each);
}

static unsigned choose_coders(const cli_options *options, const sizes *all, const cli_share *share)
{
    const unsigned threads = share->threads;
    const bool decodes = options->command != CLI_ENCODE;
    if (options->in_flight.given)
        return (unsigned)options->in_flight.value;
    if (options->by_rows || cli_allowed.memory != CLI_NO_LIMIT)
        return 1;
    if (all->unknown)
        return LEAST_CODERS;
    const unsigned devices = (unsigned)__builtin_popcountll(share->devices.set);
    const unsigned each = coders_on_device(all, decodes, devices ? devices : 1, threads);
    if (devices)
        return devices * each;
    const int64_t backend = cli_setting_or(share->backend, L2K_BACKEND_AUTO);
    if (backend != L2K_BACKEND_CPU &&
        l2k_backend_usable(backend == L2K_BACKEND_OPENCL ? L2K_BACKEND_OPENCL : L2K_BACKEND_CUDA, NULL, 0))
        return each;
    const unsigned at_once = (unsigned)within(LEAST_CODERS, most_at_once[decodes] / (all->largest + 1), threads);
    const unsigned threads_each = (threads + at_once - 1) / at_once;
    return (threads + threads_each - 1) / threads_each;
}

void cli_share_work(const cli_tasks *tasks, const cli_options *options, cli_share *share)
{
    const sizes all = look_at(tasks);
    const int64_t asked = cli_setting_or(options->threads, 0);
    const size_t most = tasks->together ? 1 : tasks->count < MOST_CODERS ? tasks->count : MOST_CODERS;
    share->threads = asked ? (unsigned)asked : processors();
    choose_backend(tasks, options, &all, share);
    share->coders = most > 1 ? (unsigned)within(1, choose_coders(options, &all, share), most) : 1;
    share->devices.divided = share->coders > 1 && share->devices.set;
}

/* If files are divided, the command must notice a failed device, so that another takes the file: `auto` would silently
 * go to the CPU. */
cli_place cli_place_of(const cli_share *share, cli_coder *coder)
{
    const int device = coder->device;
    const cli_devices *devices = &share->devices;
    cli_place place = {.backend = share->backend};
    l2k_device_info info;
    if (!devices->divided) {
        place.devices = (cli_setting){(int64_t)devices->set, devices->set != 0};
        return place;
    }
    place.device = (cli_setting){device, true};
    place.failed = &coder->failed;
    const bool faster = share->gpu_min_samples.value == WHERE_FASTER;
    if (device == CLI_NO_DEVICE && (faster || devices->cpu_last))
        place.backend = (cli_setting){L2K_BACKEND_CPU, true};
    else if (faster && l2k_device((uint32_t)device, &info))
        place.backend = (cli_setting){info.backend, true};
    return place;
}

l2k_status cli_set_decoder(l2k_decoder *decoder, const cli_setting settings[L2K_DECODER_NUM_OPTIONS])
{
    l2k_status status = L2K_OK;
    for (int i = 0; status == L2K_OK && i < L2K_DECODER_NUM_OPTIONS; i++)
        if (settings[i].given)
            status = l2k_decoder_set(decoder, (l2k_decoder_option)i, settings[i].value);
    return status;
}

l2k_status cli_set_encoder(l2k_encoder *encoder, const cli_setting settings[L2K_ENCODER_NUM_OPTIONS])
{
    l2k_status status = L2K_OK;
    for (int i = 0; status == L2K_OK && i < L2K_ENCODER_NUM_OPTIONS; i++)
        if (settings[i].given)
            status = l2k_encoder_set(encoder, (l2k_encoder_option)i, settings[i].value);
    return status;
}
