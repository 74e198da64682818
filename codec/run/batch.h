/* Several images in flight: each worker has an encoder or decoder of its own, and so its own plans, block coders and
 * streams of a device. The first worker is the caller's thread; each other worker has a thread of its own for the batch.
 * Coders stay from batch to batch. The result does not depend on the number of workers. */
#ifndef L2K_CODEC_RUN_BATCH_H
#define L2K_CODEC_RUN_BATCH_H

#include <pthread.h>

#include "base/run.h"

enum { L2K_MOST_BATCH_WORKERS = 64 };

/* The coders of a batch, encoders or decoders, which begin with their l2k_context, and its items. */
typedef struct l2k_batch_kind {
    bool decodes;
    size_t item_bytes, status; /* of an item, and the offset of its l2k_status */
    size_t options;            /* offset of a coder's options, num_options of them; and the numbers of some */
    unsigned num_options, threads, in_flight, device, devices, backend, memory, min_samples, timings;
    void *(*create)(const l2k_hooks *hooks);
    void (*free)(void *coder);
    /* Gives a coder the settings, besides options, of `owner`, the object that has the workers. */
    l2k_status (*settle)(void *coder, const void *owner);
    /* Codes an item. */
    l2k_status (*code)(void *coder, const void *item);
    /* The samples of an item, 0 if they are unknown; *ht: whether it has HT code-blocks. */
    uint64_t (*samples)(const void *owner, const void *item, bool *ht);
} l2k_batch_kind;

typedef struct l2k_batch_worker {
    struct l2k_batch_workers *workers;
    void *coder;
    unsigned number;
    bool has_thread;
    pthread_t thread;
    bool silent; /* its messages are not passed on */
    unsigned threads;
    int device;
    atomic_bool has_error; /* with several devices: the current image has caused an error; the first error is kept */
    char error[256];
    unsigned idle;  /* consecutive batches that did not need it */
    size_t item;    /* number of the current item */
    uint64_t units; /* units of progress of the item that are done */
} l2k_batch_worker;

/* Zero-initialise before the first batch. */
typedef struct l2k_batch_workers {
    l2k_context *context; /* of the owner, which begins with it */
    const l2k_batch_kind *kind;
    l2k_batch_worker *list; /* L2K_MOST_BATCH_WORKERS of them; NULL before the first batch */
    l2k_context asking;     /* the owner's context without its messages; with the device of a batch on a device */
    /* During a batch: */
    char *items;
    size_t count;
    atomic_uint_least64_t failed; /* devices of the batch that any worker knows to have failed */
    unsigned active;              /* number of workers in the batch */
    atomic_uint at_work;
    atomic_size_t next;
} l2k_batch_workers;

/* Codes all items, stores the status of each, and waits for them. The run of the owner's context belongs to the batch:
 * it holds the progress callback and collects progress and times. Items not yet begun when the hook asks to stop are
 * L2K_ERROR_CANCELLED. Returns the first failure in the list, else whether any image is incomplete; L2K_ERROR_MEMORY if
 * not even one worker can be made. */
l2k_status l2k_batch_run(l2k_batch_workers *workers, const l2k_batch_kind *kind, void *owner, void *items,
                         size_t count);

void l2k_batch_workers_release(l2k_batch_workers *workers);

#endif
