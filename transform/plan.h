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
    float steps[L2K_MAX_SUBBANDS]; /* 9/7 only: quantiser step per subband (E-3), in units of samples */
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
    bool on_device; /* CUDA only: planes and coefficients stay in device memory, for l2k_plan_run_on_device */
} l2k_plan_spec;

typedef struct l2k_plan l2k_plan;

/* Takes all memory for `spec` on a backend, for use with up to context->threads threads; `context` must outlive the
 * plan. L2K_BACKEND_AUTO is the GPU or the CPU, as transform/choice.h has it. Errors: L2K_ERROR_MEMORY,
 * L2K_ERROR_BACKEND, and L2K_ERROR_ARGUMENT for a component transform over components that differ in shape. A plan for
 * one thread starts no parallel region, so many of them may run side by side inside one. */
l2k_status l2k_plan_create(const l2k_context *context, l2k_backend backend, const l2k_plan_spec *spec, l2k_plan **plan);
void l2k_plan_free(l2k_plan *plan);

/* True where the plan can run `spec` as it is: same sizes, same parities, same numbers, wherever on the grid. */
bool l2k_plan_fits(const l2k_plan *plan, const l2k_plan_spec *spec);

/* The view of component c, valid as long as the plan. Forward plans fill it, inverse plans read it and leave it as it
 * is. base is aligned to 64 bytes and the stride a multiple of 32; what lies right of the width is never read. 16-bit
 * views keep the low 16 bits of a coefficient: it is the caller who knows the range. */
const l2k_coefficients *l2k_plan_coefficients(const l2k_plan *plan, uint32_t c);

/* planes[c] points at the top left sample of the tile-component (inverse: of the resolution that is left of it).
 * Neither allocates. L2K_ERROR_STATE where the plan was made for the other direction. */
l2k_status l2k_plan_forward(l2k_plan *plan, const l2k_plane *planes);
l2k_status l2k_plan_inverse(l2k_plan *plan, const l2k_plane *planes);

/* For plans made on_device: enqueues the transform of the plan's direction on a stream (a cudaStream_t) and returns at
 * once; planes[c].data are device pointers. Coefficients are in the view once the stream has come that far. */
l2k_status l2k_plan_run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream);

/* Device memory that a CUDA plan for `spec` takes, in bytes. */
uint64_t l2k_plan_device_bytes(const l2k_plan_spec *spec);

#endif
