/* Takes files through a command, several at once. */
#ifndef L2K_CLI_RUN_BATCH_H
#define L2K_CLI_RUN_BATCH_H

#include <stdatomic.h>

#include "cli/options/options.h"
#include "cli/run/messages.h"
#include "cli/run/tasks.h"

/* ---- The GPUs of --devices: which coder works on which, and which takes the file of one that fails ---- */

/* No device: the current one, or the CPU. */
enum { CLI_NO_DEVICE = -1 };

typedef struct cli_devices {
    uint64_t set;                 /* bit n for device n; 0 without --devices */
    bool divided;                 /* each coder has one of them, else the only coder has all */
    bool cpu_last;                /* the CPU takes files after all of them have failed */
    atomic_uint_least64_t failed; /* of the set */
} cli_devices;

/* The first member of a command's own coder, which codes one file after another. */
typedef struct cli_coder {
    unsigned number;
    int device;                 /* of cli_devices, where they are divided */
    unsigned threads;           /* for the current file; 0 = all processors */
    const cli_messages *failed; /* set when the device fails a file */
} cli_coder;

/* The devices that the options name, or all usable ones. A named device that is unusable is a fault, as is `all`
 * without a device under --backend cuda or opencl; under `auto` the set is then empty, and a note says so. */
bool cli_devices_find(cli_devices *devices, const cli_options *options);

/* The device of coder number `coder`: one that has not failed, or CLI_NO_DEVICE. */
int cli_device_of_coder(const cli_devices *devices, unsigned coder);

/* Marks the coder's device as failed, and reports whether another device, or the CPU, takes its file. True with the new
 * coder->device if so. */
bool cli_device_failed(cli_devices *devices, cli_coder *coder);

/* ---- How many at once ---- */

/* How many files to code at once, and the resources of each. */
typedef struct cli_share {
    unsigned coders;
    unsigned threads; /* of all coders together */
    cli_setting backend, gpu_min_samples;
    cli_devices devices;
} cli_share;

/* Decided before any file is opened, by the options and the sizes of the files; share->devices have been found. */
void cli_share_work(const cli_tasks *tasks, const cli_options *options, cli_share *share);

/* A coder's values of the library's options BACKEND, DEVICE and DEVICES, and of cli_messages.failed. */
typedef struct cli_place {
    cli_setting backend, device, devices;
    const cli_messages **failed;
} cli_place;

cli_place cli_place_of(const cli_share *share, cli_coder *coder);

/* Set the options that are given. */
l2k_status cli_set_decoder(l2k_decoder *decoder, const cli_setting settings[L2K_DECODER_NUM_OPTIONS]);
l2k_status cli_set_encoder(l2k_encoder *encoder, const cli_setting settings[L2K_ENCODER_NUM_OPTIONS]);

/* The library's stages, and another one of the command. */
enum { CLI_STAGE_VERIFY = L2K_NUM_STAGES, CLI_NUM_STAGES };

/* What a file that is done, or all of them, came to. */
typedef struct cli_outcome {
    bool incomplete;
    uint64_t picture_bytes, coded_bytes; /* packed samples; JPEG 2000 files */
    double seconds[CLI_NUM_STAGES];      /* with the command's own reading and writing of picture files */
    double samples;                      /* coded */
} cli_outcome;

/* ---- The batch ---- */

typedef struct cli_batch {
    const cli_options *options;
    const char *verb;   /* for the progress bar: "encoding" */
    cli_share share;    /* its devices are found before */
    void *context;      /* of the command */
    size_t coder_bytes; /* of a command's coder; zeroed */
    size_t file_bytes;  /* of the state of a file, which begins with a cli_outcome; zeroed before each */

    /* Makes what a coder does not have yet; false after a report. */
    bool (*prepare)(const struct cli_batch *batch, cli_coder *coder);

    /* Reads, codes and writes a file; false after a report. All run on any thread, at the same time for different files
     * and coders. */
    bool (*code)(const struct cli_batch *batch, cli_coder *coder, const cli_task *task, void *file);

    /* Reports a file that is done: in the order of the files, by one thread at a time. */
    void (*report)(const struct cli_batch *batch, const cli_task *task, const void *file);

    /* Always called last. */
    void (*release)(void *file);
    void (*close)(cli_coder *coder);
} cli_batch;

/* Returns the exit status. A single file stays on this thread. */
int cli_batch_run(cli_batch *batch, const cli_tasks *tasks);

#endif
