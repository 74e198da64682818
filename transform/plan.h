/* The transform stage behind one seam (rule 2 and 3 of docs/architecture.md): a plan is made for the shape of a tile,
 * takes all memory, and then turns planes into coefficients, or coefficients into planes, on one backend. */
#ifndef L2K_TRANSFORM_PLAN_H
#define L2K_TRANSFORM_PLAN_H

#include "base/context.h"
#include "tiling/geometry.h"

typedef struct l2k_plan_component {
    l2k_rect rect;    /* the tile-component in its own domain; the parity of x0, y0 at each level matters */
    unsigned levels;  /* NL, 0 to 32 */
    unsigned discard; /* inverse only: resolutions left out, 0 to levels; planes then have the reduced size */
    l2k_wavelet wavelet;
    unsigned precision; /* 1 to 31 */
    bool is_signed;
    bool narrow_low;               /* inverse 5/3 only: l2k_low_fits_int16 holds; false is always right */
    float steps[L2K_MAX_SUBBANDS]; /* 9/7 only: quantiser step per subband (E-3), in units of samples, of 12 significant
                                      bits */
} l2k_plan_component;

/* Whether every LL of an inverse 5/3 stays within int16 where the magnitudes of subband b are below 2^bits[b]: one
 * level takes LL, HL, LH and HH to at most LL + 3/2 (HL + LH) + 9/4 HH, and roundings. LL that leaves no trace in
 * memory, that of the last level, does not count. A backend that knows it may keep LL in 16 bits. */
bool l2k_low_fits_int16(unsigned levels, unsigned discard, const uint8_t bits[L2K_MAX_SUBBANDS]);

typedef struct l2k_plan_spec {
    l2k_direction direction;
    l2k_coefficient_type type;
    bool component_transform; /* RCT or ICT on components 0 to 2, which then share rect, levels and wavelet */
    uint32_t num_components;
    const l2k_plan_component *components; /* copied */
    unsigned
        levels_at_once; /* CUDA: levels in a launch: 1, 2, or 3 for as many as there are; 0 = by size, as is fastest */
    const char
        *cpu_reason; /* not NULL: only the CPU can do this, and why; a note says so where the GPU would be taken */
    bool on_device;  /* CUDA only: planes and coefficients stay in device memory, for l2k_plan_run_on_device */
} l2k_plan_spec;

typedef struct l2k_plan l2k_plan;

/* Takes all memory for `spec` on a backend, for use with up to context->threads threads; `context` must outlive the
 * plan. L2K_BACKEND_AUTO is the GPU or the CPU, as transform/choice.h has it. Errors: L2K_ERROR_MEMORY,
 * L2K_ERROR_BACKEND, and L2K_ERROR_ARGUMENT for a component transform over components that differ in shape. A plan for
 * one thread starts no parallel region, so many of them may run side by side inside one. */
l2k_status l2k_plan_create(const l2k_context *context, l2k_backend backend, const l2k_plan_spec *spec, l2k_plan **plan);

/* Waits for what is under way. */
void l2k_plan_free(l2k_plan *plan);

/* True where the plan can run `spec` as it is: same sizes, same parities, same numbers, wherever on the grid. */
bool l2k_plan_fits(const l2k_plan *plan, const l2k_plan_spec *spec);

/* The view of component c, valid as long as the plan. Forward plans fill it, inverse plans read it and leave it as it
 * is. base is aligned to 64 bytes and the stride a multiple of 32; what lies right of the width is never read. 16-bit
 * views keep the low 16 bits of a coefficient: it is the caller who knows the range. */
const l2k_coefficients *l2k_plan_coefficients(const l2k_plan *plan, uint32_t c);

/* Runs the plan on the caller's planes: forward fills the coefficient views, inverse the planes. planes[c] points at
 * the top left sample of the tile-component (inverse: of the resolution that is left of it). Nothing allocates.
 *
 * begin starts the work and may return before it is done; finish waits for it. Between the two, planes and views belong
 * to the plan: nobody else may write them, nor read what is being made. So two or three plans in rotation keep the bus
 * busy in both directions and the device as well: each plan moves its data on a stream and in memory of its own. The
 * CPU backend works in begin already.
 *
 * On CUDA, samples cross the bus through pinned memory of the plan, which is taken with the plan whether or not it will
 * be needed, so that a run cannot fail for want of it. Planes that are pinned themselves and laid out as they cross the
 * bus are moved to or from the device directly: one plane, or the three of a component transform interleaved, samples
 * of the smallest type that holds the precision (signed where any of the three is), rows in ascending order.
 *
 * After a failed run (any error but L2K_ERROR_STATE) nothing is under way and the plan can be begun again. What an
 * inverse has then done to the planes is unspecified where they are pinned; other planes it only touches once all
 * samples have arrived.
 *
 * L2K_ERROR_STATE: begin of a plan that is under way or was made on_device, finish of one that is not under way.
 * L2K_ERROR_ARGUMENT: float samples where the transform has none, or on the host for CUDA. L2K_ERROR_BACKEND: the
 * device failed. */
l2k_status l2k_plan_begin(l2k_plan *plan, const l2k_plane *planes);
l2k_status l2k_plan_finish(l2k_plan *plan);

/* Begin and finish. L2K_ERROR_STATE where the plan was made for the other direction. */
l2k_status l2k_plan_forward(l2k_plan *plan, const l2k_plane *planes);
l2k_status l2k_plan_inverse(l2k_plan *plan, const l2k_plane *planes);

/* Whether begin returns before the work is done, so that a second plan is worth its memory. AUTO: whether that may be
 * so for a plan of up to `samples` samples, all components together. */
bool l2k_backend_overlaps(const l2k_context *context, l2k_backend backend, uint64_t samples);

/* For plans made on_device: enqueues the transform of the plan's direction on a stream (a cudaStream_t) and returns at
 * once; planes[c].data are device pointers. Coefficients are in the view once the stream has come that far. */
l2k_status l2k_plan_run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream);

/* Memory that a CPU plan for `spec` takes through the allocation hook, in bytes, with so many threads: all that it ever
 * holds, with alignment and what a pool rounds up. Without a pool the hook is asked for a ninth less, or for little
 * blocks some 256 bytes each. */
uint64_t l2k_plan_host_bytes(const l2k_plan_spec *spec, unsigned threads);

/* Device memory that a CUDA plan for `spec` takes, in bytes: one block. At most 2.5 times the bytes of samples and
 * coefficients together, for sides of 64 and more. Host plans take as much pinned memory, less the LL samples. */
uint64_t l2k_plan_device_bytes(const l2k_plan_spec *spec);

#endif
