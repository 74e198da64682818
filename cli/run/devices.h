/* The GPUs of --devices: which coder works on which, and which takes the file of one that fails. */
#ifndef L2K_CLI_RUN_DEVICES_H
#define L2K_CLI_RUN_DEVICES_H

#include <stdatomic.h>

#include "cli/options/options.h"
#include "cli/run/messages.h"

/* No device: the current one, or the CPU. */
enum { CLI_NO_DEVICE = -1 };

typedef struct cli_devices {
    uint64_t set;                 /* bit n for device n; 0 without --devices */
    bool divided;                 /* each coder has one of them, else the only coder has all */
    bool cpu_last;                /* the CPU takes files after all of them have failed */
    atomic_uint_least64_t failed; /* of the set */
} cli_devices;

/* The devices that the options name, or all usable ones. A named device that is unusable is a fault, as is `all`
 * without a device under --backend cuda or opencl; under `auto` the set is then empty, and a note says so. */
bool cli_devices_find(cli_devices *devices, const cli_options *options);

unsigned cli_devices_count(const cli_devices *devices);

/* The device of coder number `coder`: one that has not failed, or CLI_NO_DEVICE. */
int cli_device_of_coder(const cli_devices *devices, unsigned coder);

/* Marks *device as failed, and reports whether another device, or the CPU, takes its file. True with the new *device if
 * so. */
bool cli_device_failed(cli_devices *devices, unsigned coder, int *device, const cli_messages *messages);

#endif
