/* The state that every object of the library carries, and the functions that report errors. */
#ifndef L2K_BASE_CONTEXT_H
#define L2K_BASE_CONTEXT_H

#include "lift2k/lift2k.h"

/* Ordinals of CUDA devices are below this. */
#define L2K_MOST_DEVICES 63

typedef struct l2k_context {
    l2k_hooks hooks;
    unsigned threads;            /* at least 1 */
    uint32_t strip_samples;      /* of a strip of rows on the CPU (transform/plan.h); 0: chosen by the engine */
    unsigned in_flight;          /* images, of several objects, that a device works on at the same time; 0 is 1 */
    uint64_t devices;            /* CUDA devices that work is divided among, bit n for ordinal n; 0: the current one */
    l2k_cpu cpu;                 /* instruction set of the row functions (base/cpu.h) */
    struct l2k_choice *choice;   /* how AUTO chooses a backend (transform/choice.h); NULL: the default */
    struct l2k_pool *pool;       /* source of memory (base/pool.h); NULL: the hooks */
    struct l2k_partial *partial; /* the opened file, if parts of it are read on demand (base/partial.h) */
    struct l2k_run *run;         /* the call under way (base/run.h); NULL: cannot be cancelled */
} l2k_context;

#define L2K_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))

/* Sends one formatted line to the message hook as an error and returns `status`, so that callers can write `return
 * l2k_fail(...)`. Lines are cut at 255 characters. If the pool has refused memory because of its limit,
 * L2K_ERROR_MEMORY becomes L2K_ERROR_LIMIT, with a message of its own. */
l2k_status l2k_fail(const l2k_context *context, l2k_status status, const char *format, ...) L2K_PRINTF(3, 4);

/* L2K_OK if memory has been obtained; otherwise reports L2K_ERROR_MEMORY: "out of memory for", and for what. */
l2k_status l2k_check_memory(const l2k_context *context, bool obtained, const char *what, ...) L2K_PRINTF(3, 4);

/* Sends a warning; or a note: nothing is wrong, but the user may want to know. */
#define l2k_warn(context, ...) l2k_send(context, L2K_SEVERITY_WARNING, __VA_ARGS__)
#define l2k_note(context, ...) l2k_send(context, L2K_SEVERITY_NOTE, __VA_ARGS__)
void l2k_send(const l2k_context *context, l2k_severity severity, const char *format, ...) L2K_PRINTF(3, 4);

/* The number of devices that work is divided among, at least 1; and the device of share `number`, assigned in turn, or
 * -1 if the context names none. */
unsigned l2k_device_count(const l2k_context *context);
int l2k_device_of_share(const l2k_context *context, unsigned number);

/* Resolves a thread option: 0 = all processors. At least 1, and 1 in a build without OpenMP. */
unsigned l2k_thread_count(unsigned requested);

/* The number of the calling thread within the innermost parallel region, 0 .. threads - 1. */
unsigned l2k_thread_index(void);

/* Returns from the enclosing function on any status but L2K_OK. */
#define L2K_TRY(expression)                                                                                            \
    do {                                                                                                               \
        l2k_status try_status_ = (expression);                                                                         \
        if (try_status_ != L2K_OK)                                                                                     \
            return try_status_;                                                                                        \
    } while (0)

#endif
