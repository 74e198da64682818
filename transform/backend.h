/* What a backend is to a plan: a table of functions. Internal to transform/. */
#ifndef L2K_TRANSFORM_BACKEND_H
#define L2K_TRANSFORM_BACKEND_H

#include "transform/plan.h"

/* - create: the views are laid out already; takes all memory, sets base, on_device and, if it must, stride of each
 *   view, and plan->state. After an error free is called, so what was taken must be reachable from the plan.
 * - free: releases the views' memory and the state, whatever of them is there; waits for what is under way.
 * - begin: as in plan.h, in the plan's direction. After an error nothing may be under way.
 * - finish: waits for what begin started; `planes` are those of begin. NULL: begin did everything. */
typedef struct l2k_backend_functions {
    l2k_status (*create)(l2k_plan *plan);
    void (*free)(l2k_plan *plan);
    l2k_status (*begin)(l2k_plan *plan, const l2k_plane *planes);
    l2k_status (*finish)(l2k_plan *plan, const l2k_plane *planes);
    l2k_status (*run_on_device)(l2k_plan *plan, const l2k_plane *planes, void *stream); /* NULL: cannot */
} l2k_backend_functions;

struct l2k_plan {
    const l2k_context *context;
    const l2k_backend_functions *backend;
    l2k_plan_spec spec; /* spec.components is the plan's own copy */
    l2k_plan_component *components;
    l2k_coefficients *views; /* one per component */
    l2k_plane *planes;       /* of the run that is under way, one per component */
    bool under_way;
    void *state; /* the backend's */
};

extern const l2k_backend_functions l2k_backend_cpu;

/* The CPU backend's share of l2k_plan_host_bytes. */
uint64_t l2k_cpu_bytes(const l2k_plan_spec *spec, unsigned threads);

#ifdef L2K_WITH_CUDA
extern const l2k_backend_functions l2k_backend_cuda;

/* Whether a device can be used; names it, or says why not. */
bool l2k_cuda_usable(char *text, size_t bytes);
#endif

#endif
