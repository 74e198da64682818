/* A backend, as a plan sees it: a table of functions. Internal to transform/. */
#ifndef L2K_TRANSFORM_BACKEND_H
#define L2K_TRANSFORM_BACKEND_H

#include "transform/device.h"

/* - create: the views have their layout, unless it is the CPU; allocates all memory, sets base, on_device and, if
 *   necessary, stride of each view, plan->stream and plan->state. After an error free is called, so all memory must be
 *   reachable from the plan.
 * - free: waits for work under way, and releases the views' memory and the state, complete or not.
 * - begin: as in plan.h, in the plan's direction. After an error nothing may be under way.
 * - finish: waits for what begin started; `planes` are copies of begin's. NULL: begin did everything. */
typedef struct l2k_backend_functions {
    l2k_backend kind;
    const struct l2k_device_functions *device; /* NULL: it is the CPU */
    l2k_status (*create)(l2k_plan *plan);
    void (*free)(l2k_plan *plan);
    l2k_status (*begin)(l2k_plan *plan, const l2k_plane *planes);
    l2k_status (*finish)(l2k_plan *plan, const l2k_plane *planes);
    l2k_status (*run_on_device)(l2k_plan *plan, const l2k_plane *planes, void *stream); /* NULL: cannot */
    l2k_status (*follow)(l2k_plan *plan, void *stream);                                 /* NULL: has no streams */
} l2k_backend_functions;

struct l2k_plan {
    const l2k_context *context;
    const l2k_backend_functions *backend;
    l2k_plan_spec spec; /* spec.components is the plan's own copy */
    l2k_plan_component *components;
    l2k_wavelet_descriptor *wavelets; /* the components' own; NULL: none */
    l2k_coefficients *views;          /* one per component */
    l2k_plane *planes;                /* of the run under way, one per component, for finish */
    bool under_way;
    bool keeps_rows; /* there are several strips: a view may have only some rows of a subband at a time */
    void *idle;      /* l2k_plan_idle_memory; NULL: none */
    size_t idle_bytes;
    void *stream; /* in which begin works; NULL: none */
    void *state;  /* the backend's own */
};

extern const l2k_backend_functions l2k_backend_cpu;

/* The CPU backend's share of l2k_plan_host_bytes, and of l2k_plan_take_planes once plan->planes are those of the
 * strip. */
uint64_t l2k_cpu_bytes(const l2k_plan_spec *spec, unsigned threads);
void l2k_cpu_take_planes(l2k_plan *plan);

/* A device backend's functions besides plans; each as in transform/device.h, with l2k_device_ before its name.
 * cpu_reason: why only the CPU can fulfil the specification, or NULL. bytes: as l2k_plan_device_bytes. usable and
 * context: of an ordinal, or of any with -1. describe: as l2k_device of the public header, with a number below `count`,
 * the backend's own. */
typedef struct l2k_device_functions {
    const char *(*cpu_reason)(const l2k_context *context, const l2k_plan_spec *spec); /* NULL: has none */
    uint64_t (*bytes)(const l2k_plan_spec *spec);
    void *(*context)(int device); /* where callers create memory and streams; NULL: nothing special */
    bool (*usable)(int device, char *text, size_t bytes);
    bool (*has_gpu)(void); /* NULL: all devices are GPUs */
    uint32_t (*count)(void);
    bool (*describe)(uint32_t device, l2k_device_info *info);
} l2k_device_functions;

#define L2K_NO_BACKEND "this build has no %s backend"

/* NULL: AUTO, or the build has none. */
const l2k_backend_functions *l2k_backend_functions_of(l2k_backend backend);

/* As messages name it. */
const char *l2k_backend_name(l2k_backend backend);

/* A plan on that backend, without any choice. */
l2k_status l2k_plan_create_on(const l2k_context *context, const l2k_backend_functions *functions,
                              const l2k_plan_spec *spec, l2k_plan **plan);

#ifdef L2K_WITH_CUDA
extern const l2k_backend_functions l2k_backend_cuda;
#endif
#ifdef L2K_WITH_OPENCL
extern const l2k_backend_functions l2k_backend_opencl;
#endif

#endif
