/* The HT block encoder of T.814, clause 7: the passes of a block, their lengths and distortions. */
#include "codec/blocks/ht/ht_encode.h"

#include <math.h>
#include <string.h>

#include "base/integer.h"

/* Bounds of quads that fit sixteen bits (ht_encode_rows.c). */
enum { NARROW_BITS = 15 };

void l2k_ht_encoder_prepare(const l2k_context *context, l2k_ht_encoder *encoder)
{
    encoder->context = context;
    encoder->next = (l2k_t1_block){0};
    encoder->rows = l2k_ht_encode_rows_get(context->cpu);
    memset(encoder->zeros, 0, sizeof encoder->zeros);
    l2k_ht_make_codes(encoder->codes, encoder->pairs);
}

/* Refinement passes without bytes do not count (B.3 of T.814) and are left out. */
static void code_passes(l2k_ht_encoder *encoder, const l2k_t1_block *block, l2k_ht_cut cut, l2k_ht_code *code)
{
    uint32_t refinement[2] = {0, 0};
    const bool wide = code->magnitude_bits > NARROW_BITS + code->plane;
    const uint32_t cleanup = encoder->rows->cleanup(encoder, block, code->plane, wide);
    if (cut.passes > 1)
        l2k_ht_encode_refinement(encoder, block, cut, encoder->bytes + cleanup, refinement);
    code->num_passes = refinement[0] + refinement[1] ? cut.passes : 1;
    code->passes[0] = (l2k_pass){.bytes = cleanup, .terminated = true};
    code->passes[1] = (l2k_pass){.bytes = cleanup + refinement[0], .terminated = code->num_passes == 2};
    code->passes[2] = (l2k_pass){.bytes = cleanup + refinement[0] + refinement[1], .terminated = true};
}

l2k_status l2k_ht_encode(l2k_ht_encoder *encoder, const l2k_t1_block *block, l2k_ht_cut cut, bool want_distortion,
                         l2k_ht_code *code)
{
    const uint32_t all = encoder->rows->scan[block->type](block);
    *code = (l2k_ht_code){.magnitude_bits = all ? l2k_log2(all) + 1 : 0, .plane = cut.plane, .bytes = encoder->bytes};
    if (code->magnitude_bits > L2K_HT_MAX_BIT_PLANES)
        return l2k_fail(encoder->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
    if (all >> code->plane == 0)
        return L2K_OK;
    code_passes(encoder, block, cut, code);
    if (want_distortion) {
        double gains[3];
        l2k_ht_measure_gains(encoder, block, cut, gains);
        for (unsigned i = 0; i < 3; i++)
            code->passes[i].distortion = gains[i];
    }
    return L2K_OK;
}

/* ---- Estimates ----------------------------------------------------------------------------------------------- */

/* The sums of a bit-plane, scaled to the whole block, which has a significant sample. */
typedef struct plane_counts {
    double samples, quads, bits;
} plane_counts;

static plane_counts counts_at(const l2k_ht_counted *b, unsigned plane)
{
    const l2k_ht_counts *c = b->counts;
    return (plane_counts){fmax(b->scale * c->samples[plane], 1), fmax(b->scale * c->quads[plane], 1),
                          fmax(b->scale * c->bits[plane], 1)};
}

/* The squared error of a magnitude that is known from `plane` up, and the mean square of one whose highest bit that
 * is, evenly distributed. */
static double mean_error(const l2k_ht_counted *b, unsigned plane)
{
    return b->reversible ? (plane ? (ldexp(1, 2 * (int)plane) + 2) / 12 : 0) : ldexp(1, 2 * (int)plane) / 12;
}

static double mean_square(const l2k_ht_counted *b, unsigned plane)
{
    const double low = ldexp(1, (int)plane);
    return b->reversible ? low * low * 7 / 3 - low * 1.5 + 1.0 / 6 : low * low * 2.25;
}

/* MagSgn takes the bits counted; VLC and MEL are fitted to photographs, and so are SigProp's visits and finds. */
static double cleanup_bits(const l2k_ht_counted *b, plane_counts c)
{
    return c.bits + 6.9 * c.quads - 0.5 * c.samples + 1.43 * c.quads * (b->quads - c.quads) / b->quads + 74;
}

static double sigprop_bits(const l2k_ht_counted *b, plane_counts c)
{
    return 1.55 * (4 * c.quads - c.samples) + 5 * c.quads * (b->quads - c.quads) / b->quads + 8;
}

static double samples_found(const l2k_ht_counted *b, plane_counts c, plane_counts below)
{
    const double share = c.quads / b->quads;
    return (below.samples - c.samples) * fmin(1, share * (2.6 - 1.7 * share));
}

static void estimate_refinement(const l2k_ht_counted *b, unsigned plane, plane_counts c, uint32_t bytes[3],
                                double gains[3])
{
    const double found = samples_found(b, c, counts_at(b, plane - 1)), error = mean_error(b, plane - 1);
    const double sigprop = b->passes > 1 ? 1 : 0, magref = b->passes > 2 ? 1 : 0;
    bytes[1] = bytes[0] + (uint32_t)(sigprop * sigprop_bits(b, c) / 8);
    bytes[2] = bytes[1] + (uint32_t)(magref * c.samples / 8);
    gains[1] = gains[0] + sigprop * found * (mean_square(b, plane - 1) - error);
    gains[2] = gains[1] + magref * c.samples * (mean_error(b, plane) - error);
}

void l2k_ht_estimate(const l2k_ht_counted *b, uint32_t *bytes, double *gains)
{
    const unsigned count = l2k_ht_num_points(b->magnitude_bits);
    double square = 0, above = 0;
    for (unsigned i = 0; i < count; i += 3) {
        const unsigned plane = b->magnitude_bits - 1 - i / 3;
        const plane_counts c = counts_at(b, plane);
        square += (c.samples - above) * mean_square(b, plane);
        above = c.samples;
        bytes[i] = (uint32_t)(cleanup_bits(b, c) / 8);
        gains[i] = square - c.samples * mean_error(b, plane);
        if (plane)
            estimate_refinement(b, plane, c, bytes + i, gains + i);
    }
    for (unsigned i = count; i-- > 1;) /* a point that takes more bytes than a later one is of no use */
        bytes[i - 1] = l2k_min_u32(bytes[i - 1], bytes[i]);
}
