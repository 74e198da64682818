/* Takes files through three stages: read, code, write. */
#ifndef L2K_CLI_RUN_PIPELINE_H
#define L2K_CLI_RUN_PIPELINE_H

#include <stdatomic.h>

#include "cli/options/options.h"
#include "cli/run/messages.h"
#include "cli/run/tasks.h"

typedef struct cli_stages {
    size_t state_bytes; /* of a file's state, kept from stage to stage; zeroed before the first */

    /* Each returns false after a report, and the later stages of the file are then skipped. They may run on any thread,
     * at the same time for different files, but `code` with one value of `coder` for one file after another. */
    bool (*read)(void *state, const cli_task *task, void *context);
    bool (*code)(void *state, const cli_task *task, void *context, unsigned coder);
    bool (*write)(void *state, const cli_task *task, void *context);

    /* Always called last. */
    void (*release)(void *state, void *context);
} cli_stages;

/* Called for each file in order, whichever finished first, and by one thread at a time. `state` is the last stage's, or
 * NULL if memory ran out. */
typedef void cli_file_done(void *context, const cli_task *task, const void *state, bool done);

/* A single file stays on this thread. Of many, `coders` are coded at once, each by the thread that reads and writes it;
 * a single coder codes all on this thread, in their order, while other threads read and write. */
void cli_pipeline_run(const cli_tasks *tasks, const cli_stages *stages, cli_file_done *count, void *context,
                      unsigned coders);

/* ---- The GPUs of --devices: which coder works on which, and which takes the file of one that fails (devices.c) ---- */

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

/* ---- How many at once (coders.c) ---- */

enum { CLI_MOST_CODERS = 64 };

/* How many files to code at once, and the resources of each. */
typedef struct cli_share {
    unsigned coders;
    cli_setting threads, backend, gpu_min_samples;
    cli_devices devices;
} cli_share;

/* Decided before any file is opened, by the options and the sizes of the files; share->devices have been found. */
void cli_share_work(const cli_tasks *tasks, const cli_options *options, cli_share *share);

/* A coder's values of the library's options BACKEND, DEVICE and DEVICES. */
typedef struct cli_place {
    cli_setting backend, device, devices;
} cli_place;

cli_place cli_place_of(const cli_share *share, int device);

#endif
