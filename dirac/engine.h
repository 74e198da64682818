/* The processors that decode pictures: memory for samples, and the stages from coefficients to samples. */
#ifndef L2K_DIRAC_ENGINE_H
#define L2K_DIRAC_ENGINE_H

#include "dirac/motion/motion.h"
#include "dirac/transform.h"

enum { L2K_DIRAC_AHEAD = 8 };

typedef struct l2k_dirac_engine {
    const l2k_context *context;
    const struct l2k_dirac_engine_table *table;
    unsigned ahead;        /* frames that it may still work on while an earlier one is shown; at most L2K_DIRAC_AHEAD */
    uint64_t most_samples; /* of a frame */
    void *state;           /* the processor's own */
} l2k_dirac_engine;

/* Functions that are NULL have nothing to do.
 *
 * - open: fills in the rest of the structure. close follows it, also after an error.
 * - allocate, release: samples, in the processor's memory; of allocate NULL if there is none; release accepts NULL.
 * - residues: reads coefficients, the rest of `bits`, and makes of them samples of an intra picture, or residues. A damaged
 *   stream gives what it has.
 * - predict: makes samples of a predicted picture.
 * - conceal: replaces a picture by `from`, or by grey if that is NULL.
 * - input: hooks of memory for the stream's bytes; NULL: any.
 * - settle: waits until nothing is read any more of the stream's bytes, the coefficients and the motion of earlier pictures.
 * - mark: all work for a picture has been enqueued; returns a number for it.
 * - show: waits for work up to a number, and gives the samples there, `bytes` of them, to the caller: in the processor's
 *   memory or in the host's, where they stay until the next call.
 *
 * Errors: L2K_ERROR_MEMORY, L2K_ERROR_LIMIT and L2K_ERROR_BACKEND, which leave no picture; others stand for damage. */
typedef struct l2k_dirac_engine_table {
    l2k_status (*open)(l2k_dirac_engine *engine);
    void (*close)(l2k_dirac_engine *engine);
    void *(*allocate)(l2k_dirac_engine *engine, size_t bytes);
    void (*release)(l2k_dirac_engine *engine, void *samples);
    l2k_status (*residues)(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence, l2k_dirac_bits bits,
                           l2k_dirac_transform *transform, l2k_dirac_picture *picture,
                           l2k_dirac_residue residues[L2K_DIRAC_PLANES]);
    l2k_status (*predict)(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence, l2k_dirac_motion *motion,
                          l2k_dirac_picture *const references[2], const l2k_dirac_residue residues[L2K_DIRAC_PLANES],
                          l2k_dirac_picture *picture);
    l2k_status (*conceal)(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence, const l2k_dirac_picture *from,
                          l2k_dirac_picture *picture);
    const l2k_hooks *input;
    l2k_status (*settle)(l2k_dirac_engine *engine);
    l2k_status (*mark)(l2k_dirac_engine *engine, uint32_t *number);
    l2k_status (*show)(l2k_dirac_engine *engine, uint32_t number, l2k_memory memory, size_t bytes, void **samples);
} l2k_dirac_engine_table;

extern const l2k_dirac_engine_table l2k_dirac_cpu;
#ifdef L2K_WITH_CUDA
extern const l2k_dirac_engine_table l2k_dirac_cuda;
#endif

/* Whether a status leaves no picture. */
static inline bool l2k_dirac_is_fatal(l2k_status status)
{
    return status == L2K_ERROR_MEMORY || status == L2K_ERROR_LIMIT || status == L2K_ERROR_BACKEND;
}

#endif
