/* What encoder, decoder and transform have in common: creation and release, and options by number and value. */
#ifndef L2K_BASE_OBJECT_H
#define L2K_BASE_OBJECT_H

#include "base/context.h"

/* The values that an option accepts; one table per kind of object. */
typedef struct l2k_option_rule {
    const char *name;
    int64_t least, most, initial;
} l2k_option_rule;

/* A kind of object: a structure whose first member is its l2k_context. The offsets locate the options and the members
 * that the context points to; 0 if the object has none. */
typedef struct l2k_object_kind {
    size_t bytes;
    size_t choice;  /* l2k_choice */
    size_t pool;    /* l2k_pool */
    size_t run;     /* l2k_run */
    size_t options; /* int64_t[num_options] */
    const l2k_option_rule *rules;
    size_t num_options;
} l2k_object_kind;

/* A zeroed object with its context, an empty pool and the initial options; NULL if memory runs out. `hooks` may be
 * NULL. */
void *l2k_object_create(const l2k_object_kind *kind, const l2k_hooks *hooks);

/* Ends the pool, all of whose blocks must be back, and releases the object. */
void l2k_object_free(const l2k_object_kind *kind, void *object);

/* The set of devices that the options DEVICE, BACKEND and DEVICES select: empty for the CPU alone. */
static inline uint64_t l2k_object_devices(int64_t backend, int64_t device, int64_t devices)
{
    if (backend == L2K_BACKEND_CPU)
        return 0;
    return devices ? (uint64_t)devices : device < 0 ? 0 : (uint64_t)1 << device;
}

/* If the option MEMORY says that planes are in device memory, they are on one device: with several, reports
 * L2K_ERROR_ARGUMENT. */
l2k_status l2k_object_check_memory(const l2k_context *context, int64_t memory);

/* Sets an option; reports L2K_ERROR_ARGUMENT if it does not exist or the value is outside its range. */
l2k_status l2k_object_set(const l2k_object_kind *kind, void *object, unsigned option, int64_t value);

#endif
