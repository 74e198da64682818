/* The CPU as a processor of pictures. Its work is done when a function returns. */
#include "dirac/engine.h"

#include <string.h>

#include "base/memory.h"

static void *cpu_allocate(l2k_dirac_engine *engine, size_t bytes)
{
    return l2k_allocate(engine->context, bytes, 1);
}

static void cpu_release(l2k_dirac_engine *engine, void *samples)
{
    l2k_release(engine->context, samples);
}

/* Coefficients of 16 bits suffice for almost all streams; else all is done once more with 32, and from then on. */
static l2k_status cpu_residues(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence, l2k_dirac_bits bits,
                               l2k_dirac_transform *t, l2k_dirac_picture *picture,
                               l2k_dirac_residue residues[L2K_DIRAC_PLANES])
{
    t->wide = t->needs_32[t->intra] || (!t->intra && sequence->wide);
    for (;;) {
        l2k_dirac_bits from = bits;
        const l2k_status status = l2k_dirac_coefficients(engine->context, &from, t);
        for (unsigned c = 0; c < L2K_DIRAC_PLANES && !l2k_dirac_is_fatal(status); c++)
            l2k_dirac_inverse(engine->context, t, sequence, c, t->intra ? &picture->planes[c] : NULL, &residues[c]);
        if (l2k_dirac_is_fatal(status) || t->wide || !(t->over >> 16))
            return status;
        t->wide = t->needs_32[t->intra] = true;
    }
}

static l2k_status cpu_predict(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence, l2k_dirac_motion *motion,
                              l2k_dirac_picture *const references[2],
                              const l2k_dirac_residue residues[L2K_DIRAC_PLANES], l2k_dirac_picture *picture)
{
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++)
        L2K_TRY(l2k_dirac_motion_apply(engine->context, motion, sequence, c, references, &residues[c], picture));
    return L2K_OK;
}

static l2k_status cpu_conceal(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence,
                              const l2k_dirac_picture *from, l2k_dirac_picture *picture)
{
    const unsigned wide = sequence->wide;
    (void)engine;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const l2k_dirac_plane *to = &picture->planes[c];
        const uint16_t grey = (uint16_t)(1u << (l2k_dirac_depth(sequence, c) - 1));
        for (size_t y = 0; y < to->height; y++) {
            uint8_t *row = (uint8_t *)to->data + (y * (size_t)to->stride << wide);
            if (from)
                memcpy(row, (uint8_t *)from->planes[c].data + (y * (size_t)from->planes[c].stride << wide),
                       (size_t)to->width << wide);
            else if (!wide)
                memset(row, grey, to->width);
            else
                for (size_t x = 0; x < to->width; x++)
                    ((uint16_t *)(void *)row)[x] = grey;
        }
    }
    return L2K_OK;
}

const l2k_dirac_engine_table l2k_dirac_cpu = {.allocate = cpu_allocate,
                                              .release = cpu_release,
                                              .residues = cpu_residues,
                                              .predict = cpu_predict,
                                              .conceal = cpu_conceal};
