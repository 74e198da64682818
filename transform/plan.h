/* The transform stage as one interface (rules 2 and 3 of docs/architecture.md): a plan is made for the shape of a tile,
 * allocates all memory, and then turns planes into coefficients, or coefficients into planes, on one backend. */
#ifndef L2K_TRANSFORM_PLAN_H
#define L2K_TRANSFORM_PLAN_H

#include "base/context.h"
#include "dwt/wavelet.h"
#include "tiling/geometry.h"

typedef struct l2k_plan_component {
    l2k_rect rect;   /* the tile-component in its own domain; the parity of x0, y0 at each level matters */
    unsigned levels; /* NL, 0 to 32 */
    l2k_unsplit
        unsplit; /* directions in which levels do not split; the same for components that are transformed together */
    unsigned discard; /* inverse only: resolutions left out, 0 to levels; planes then have the reduced size */
    /* Inverse only: the samples wanted, inside the tile-component at its reduced size, in the domain of that; {0}: all
     * of them. Views then hold the coefficients that these need (transform/window.h), and planes[c] points at the
     * window's first sample. A window without area is possible. */
    l2k_rect window;
    /* With a window or by rows: views hold whole cells of 2^width x 2^height coefficients, anchored at 0 of the domain
     * of each subband, so that a block coder which fills or reads them cuts no code-block. 0 to 31. */
    uint8_t cell_log2_width, cell_log2_height;
    uint8_t row_cells[L2K_MAX_LEVELS + 1]; /* by rows: lower cells of each resolution, likewise; 0: cell_log2_height */
    uint8_t dy; /* by rows: vertical distance of samples on the reference grid (YRsiz), 0: 1 */
    l2k_wavelet wavelet;
    const l2k_wavelet_descriptor *own; /* NULL for Part 1's wavelets; the plan has a copy */
    unsigned precision;                /* 1 to 31 */
    bool is_signed;
    bool narrow_low;               /* inverse, reversible: l2k_low_fits_int16 holds; false is always correct */
    float steps[L2K_MAX_SUBBANDS]; /* if quantised: step per subband (E-3), in units of samples, of 12 significant
                                      bits */
} l2k_plan_component;

/* A cpu_reason. */
#define L2K_SPLIT_REASON "levels that split in one direction only are transformed on the CPU"

/* Why a wavelet is transformed on the CPU only, as in cpu_reason; NULL: any backend does it. */
static inline const char *l2k_wavelet_reason(l2k_wavelet wavelet, bool component_transform)
{
    if (wavelet >= L2K_WAVELET_REVERSIBLE_KERNEL)
        return "kernels without a name are transformed on the CPU";
    return wavelet > L2K_WAVELET_9_7 && component_transform
               ? "kernels with a component transform are transformed on the CPU"
               : NULL;
}

static inline const l2k_wavelet_descriptor *l2k_plan_wavelet(const l2k_plan_component *component)
{
    return component->own ? component->own : l2k_wavelet_get(component->wavelet);
}

/* Whether every LL of an inverse, reversible transform fits int16 if the magnitudes of subband b are below 2^bits[b].
 * One level of the 5/3 takes LL, HL, LH and HH to at most LL + 3/2 (HL + LH) + 9/4 HH, and rounding; one of a kernel as
 * far as its steps can, whose sums must fit 32 bits. The LL of the last level, which is never stored, does not count. A
 * backend may then keep LL in 16 bits. */
bool l2k_low_fits_int16(const l2k_plan_component *component, const uint8_t bits[L2K_MAX_SUBBANDS]);

/* Where planes and coefficients are. */
typedef enum l2k_plan_memory {
    L2K_PLAN_HOST,
    L2K_PLAN_COEFFICIENTS_STAY, /* planes on the host, coefficients where the backend computes */
    L2K_PLAN_DEVICE,            /* both in device memory (transform/device.h); not on the CPU */
    /* Likewise; begin interleaves the three planes of a forward component transform first if they are not, which is
     * faster than loading them as they are, and takes memory. */
    L2K_PLAN_DEVICE_PACKED
} l2k_plan_memory;

/* Of a strip: few enough for its coefficients to stay in the cache; and for some threads. */
#define L2K_STRIP_SAMPLES ((uint32_t)1 << 22)

static inline uint32_t l2k_strip_samples(unsigned threads)
{
    const unsigned pairs = threads < 4 ? 1 : threads / 2;
    return pairs < UINT32_MAX / L2K_STRIP_SAMPLES ? pairs * L2K_STRIP_SAMPLES : UINT32_MAX;
}

typedef struct l2k_plan_spec {
    l2k_direction direction;
    l2k_coefficient_type type;
    bool truncates; /* forward, CPU only: floats are quantised by l2k_index, not as OpenJPEG does it (quant/quantiser.h)
                     */
    bool component_transform; /* RCT or ICT on components 0 to 2, which then share rect, levels and wavelet */
    uint32_t num_components;
    const l2k_plan_component *components; /* copied */
    /* Not NULL: why only the CPU can do this; noted if the GPU would be used. */
    const char *cpu_reason;
    l2k_plan_memory memory;
    bool by_rows;           /* if the plan is on the CPU, it runs in strips of its caller's: see l2k_plan_next_strip */
    uint32_t strip_samples; /* then: strips of about as many samples, 0: L2K_STRIP_SAMPLES */
} l2k_plan_spec;

typedef struct l2k_plan l2k_plan;

/* Allocates all memory for `spec` on a backend, for up to context->threads threads and with the row kernels of
 * context->cpu; `context` must outlive the plan. L2K_BACKEND_AUTO is a device or the CPU (transform/choice.c). Errors:
 * L2K_ERROR_MEMORY; L2K_ERROR_BACKEND, also for an instruction set that is not usable; L2K_ERROR_ARGUMENT for a
 * component transform of components that differ in shape, a window outside its tile-component or forward. If a device
 * fails for planes in its memory, AUTO fails without a message except the note. A plan for one thread starts no
 * parallel region, and several of them can run side by side inside one. */
l2k_status l2k_plan_create(const l2k_context *context, l2k_backend backend, const l2k_plan_spec *spec, l2k_plan **plan);

/* The backend of the plan. */
l2k_backend l2k_plan_backend(const l2k_plan *plan);

/* Waits for work under way. NULL is allowed. */
void l2k_plan_free(l2k_plan *plan);

/* Whether the plan can run `spec`, which may differ in its position on the grid, with the same parities. A window may
 * move, too, if the parts passed on and held keep their sizes, parities and offsets. */
bool l2k_plan_fits(const l2k_plan *plan, const l2k_plan_spec *spec);

/* The view of component c, valid as long as the plan. Forward plans fill it; inverse plans read it without changing it,
 * unless it stays where they compute: samples on their way to planes may overwrite it. base is aligned to 64 bytes and
 * the stride is a multiple of 32; nothing beyond the width is ever read. 16-bit views keep the low 16 bits of a
 * coefficient: the caller must ensure that the range suffices. */
const l2k_coefficients *l2k_plan_coefficients(const l2k_plan *plan, uint32_t c);

/* Runs the plan on the caller's planes: forward fills the coefficient views, inverse the planes. planes[c] points at
 * the top left sample of the tile-component (inverse: of its highest resolution that is kept, or of the window).
 * Nothing allocates.
 *
 * begin starts the work and may return before it is done; finish waits for it. Between the two, planes and views belong
 * to the plan: no other code may write them, or read the results. Two or three plans in rotation keep the bus busy in
 * both directions, and the device too, since each plan has a stream and memory of its own. The CPU backend does all of
 * the work in begin, and polls for cancelling there (base/run.h).
 *
 * On CUDA, samples cross the bus through pinned memory of the plan, which is allocated with the plan even if no run
 * needs it, so that a run cannot fail for lack of it. Planes that are themselves pinned and have the layout that
 * crosses the bus are copied to or from the device directly: one plane, or the three of a component transform,
 * interleaved or each with its samples side by side, of the smallest type that holds the precision (signed if any of
 * the three is), rows in ascending order.
 *
 * After a failed run (any error but L2K_ERROR_STATE) nothing is under way and the plan can be begun again. An inverse
 * on CUDA may then have changed planes that are pinned; others are written only once all samples have arrived.
 *
 * L2K_ERROR_STATE: begin of a plan that is under way, finish of one that is not. L2K_ERROR_ARGUMENT: float samples
 * where the transform has none, or on the host for CUDA. L2K_ERROR_BACKEND: the device failed. L2K_ERROR_CANCELLED: the
 * progress hook asked to stop. */
l2k_status l2k_plan_begin(l2k_plan *plan, const l2k_plane *planes);
l2k_status l2k_plan_finish(l2k_plan *plan);

/* Begin and finish. */
l2k_status l2k_plan_run(l2k_plan *plan, const l2k_plane *planes);

/* A plan on the CPU by rows (transform/cpu/): begin only notes the planes, or NULL, and the caller goes through strips of
 * the tile. Each takes all levels some rows further, and views hold only some rows of each subband. Calls in order:
 * begin; as long as l2k_plan_next_strip returns true, l2k_plan_run_strip; finish, also after an error. Between them the
 * caller encodes the code-blocks that a strip has completed, after it, or decodes those that it reads, before it. */
bool l2k_plan_is_by_rows(const l2k_plan *plan);
bool l2k_plan_next_strip(l2k_plan *plan);
l2k_status l2k_plan_run_strip(l2k_plan *plan);

/* Before a strip of a plan that has begun without planes: those of the strip, which have the rows between its end and
 * that of the strip before, forward as input, inverse as output. The end is a row of the reference grid at the
 * resolution of the output; UINT64_MAX: all rows. Errors as for begin. */
l2k_status l2k_plan_take_planes(l2k_plan *plan, const l2k_plane *planes);
uint64_t l2k_plan_strip_end(const l2k_plan *plan);

/* Rows y0 .. y1 - 1 of a subband's domain; none if y1 <= y0. */
typedef struct l2k_plan_rows {
    uint32_t y0, y1;
} l2k_plan_rows;

/* The rows of subband `band` that the present strip completes or reads, in whole cells: over all strips, each row once.
 * y0 is 0 at the first ones, and y1 UINT32_MAX at the last. */
l2k_plan_rows l2k_plan_cells(const l2k_plan *plan, uint32_t c, unsigned band);

/* The first row of each subband, in its domain, that the view of component c has in the present strip. NULL: all views
 * have all rows, and there is a single strip. */
const uint32_t *l2k_plan_first_rows(const l2k_plan *plan, uint32_t c);

/* Memory that a CPU plan for `spec` with that many threads takes through the allocation hook, in bytes, including
 * alignment and a pool's rounding. Exact with a pool; without one the hook is asked for up to a ninth less. */
uint64_t l2k_plan_host_bytes(const l2k_plan_spec *spec, unsigned threads);

#endif
