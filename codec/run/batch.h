/* Several images in flight: each worker has an encoder or decoder of its own, and so its own plans, block coders and
 * streams of a device. The first worker is the caller's thread; each other worker has a thread of its own. Workers and
 * their coders stay from batch to batch. The result does not depend on their number. */
#ifndef L2K_CODEC_RUN_BATCH_H
#define L2K_CODEC_RUN_BATCH_H

#include <pthread.h>

#include "base/run.h"

enum { L2K_MOST_BATCH_WORKERS = 64 };

/* The coders of a batch, encoders or decoders. */
typedef struct l2k_batch_kind {
    void *(*create)(const l2k_hooks *hooks);
    void (*free)(void *coder);
    /* Gives a coder the options of `owner`, the object that has the workers, but with `threads`, `in_flight` workers in
     * place of the owner's option, and `device`. */
    l2k_status (*settle)(void *coder, const void *owner, unsigned threads, unsigned in_flight, int device);
    /* Codes items[number] and stores its result there. */
    void (*code)(void *coder, void *items, size_t number);
    /* Whether the coder's device failed when it coded items[number], and whether the item has failed with it. */
    bool (*lost_device)(const void *coder, const void *items, size_t number, bool *failed);
    void (*timings)(const void *coder, double seconds[L2K_NUM_STAGES]);
} l2k_batch_kind;

typedef struct l2k_batch_worker {
    struct l2k_batch_workers *workers;
    void *coder;
    unsigned number;
    bool has_thread;
    pthread_t thread;
    bool wanted; /* a batch waits for its thread; guarded by the lock */
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
    const l2k_context *context; /* of the owner */
    const l2k_batch_kind *kind;
    l2k_batch_worker *list[L2K_MOST_BATCH_WORKERS]; /* the first num_workers exist */
    unsigned num_workers;
    bool has_lock;
    pthread_mutex_t lock;
    pthread_cond_t begins, ended;
    bool closing;       /* guarded by the lock, like at_work */
    unsigned at_work;   /* number of worker threads at work */
    l2k_context asking; /* the owner's context without its messages; with the device of a batch on a device */
    /* During a batch: */
    void *items;
    size_t count;
    const void *owner;
    atomic_uint_least64_t failed; /* devices of the batch that any worker knows to have failed */
    unsigned active;              /* number of workers in the batch */
    atomic_size_t next;
} l2k_batch_workers;

/* What the number of workers depends on. */
typedef struct l2k_batch_shape {
    size_t count;
    uint64_t samples; /* of the largest image */
    unsigned threads; /* for all workers together */
    unsigned wanted;  /* workers that the caller wants, 0 = as many as help */
    bool on_device;   /* a device may take part */
} l2k_batch_shape;

/* Codes all items and waits for them. context->run belongs to the batch: it holds the progress callback and collects
 * progress and times. Items not yet begun when the hook asks to stop are left as they are. L2K_ERROR_MEMORY if not even
 * one worker can be made. */
l2k_status l2k_batch_workers_run(l2k_batch_workers *workers, const l2k_batch_kind *kind, const void *owner,
                                 const l2k_context *context, const l2k_batch_shape *shape, void *items);

void l2k_batch_workers_release(l2k_batch_workers *workers);

/* The units of progress of a batch of `count` images. */
uint64_t l2k_batch_units(size_t count);

#endif
