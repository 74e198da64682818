/* The HT block encoder of T.814, clause 7: the passes of a block, their lengths and distortions. */
#include "codec/blocks/ht/ht_encode.h"

#include <string.h>

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
    *code = (l2k_ht_code){
        .magnitude_bits = l2k_t1_magnitude_bits(encoder->context, block), .plane = cut.plane, .bytes = encoder->bytes};
    if (code->magnitude_bits > L2K_HT_MAX_BIT_PLANES)
        return l2k_fail(encoder->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
    if (code->magnitude_bits <= code->plane)
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
