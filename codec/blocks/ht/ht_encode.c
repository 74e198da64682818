/* The HT cleanup pass (7.3 of T.814) as an encoder makes it: row by row of 2 x 2 quads, in sweeps over the row that
 * measure the samples, look up the codes, and write them. */
#include "codec/blocks/ht/ht_encode.h"

#include <string.h>

#include "base/integer.h"
#include "codec/blocks/ht/ht_writers.h"

typedef struct cleanup_encoder {
    l2k_ht_encoder *memory;
    const l2k_t1_block *block;
    unsigned plane;
    uint32_t num_quads; /* in a row */
    l2k_ht_forward_writer magsgn;
    l2k_ht_backward_writer vlc;
    l2k_ht_mel_writer mel;
} cleanup_encoder;

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* The magnitude in units of the cleanup pass's bit-plane, and the sign; 0 outside the block. */
static uint32_t sample_in_plane(const cleanup_encoder *e, uint32_t x, uint32_t y, bool *negative)
{
    const int32_t v = x < e->block->width && y < e->block->height ? l2k_ht_sample_at(e->block, x, y) : 0;
    *negative = v < 0;
    return l2k_ht_magnitude(v) >> e->plane;
}

/* All magnitudes together. */
static uint32_t all_magnitudes(const l2k_t1_block *block)
{
    uint32_t all = 0;
    for (uint32_t y = 0; y < block->height; y++)
        for (uint32_t x = 0; x < block->width; x++)
            all |= l2k_ht_magnitude(l2k_ht_sample_at(block, x, y));
    return all;
}

/* Of 2 mu - 1; 0 for 0. */
static unsigned exponent_of(uint32_t magnitude)
{
    return magnitude > 1 ? l2k_log2(magnitude - 1) + 2 : magnitude;
}

/* ---- A row of quads ------------------------------------------------------------------------------------------ */

/* The row that is not `now` is the one above. Index i is that of a quad in the arrays. Samples of a quad are numbered
 * by columns: 0 and 1 on the left, 2 and 3 on the right. */
static void measure_quad(cleanup_encoder *e, unsigned now, uint32_t i, uint32_t x, uint32_t y)
{
    l2k_ht_quads *quads = &e->memory->quads;
    unsigned exponents[4], most = 0, rho = 0, reaching = 0;
    for (unsigned k = 0; k < 4; k++) {
        bool negative;
        const uint32_t magnitude = sample_in_plane(e, x + k / 2, y + k % 2, &negative);
        quads->value[k][i] = magnitude ? 2 * (magnitude - 1) + negative : 0;
        exponents[k] = exponent_of(magnitude);
        most = l2k_max_u32(most, exponents[k]);
        rho |= (unsigned)(magnitude > 0) << k;
    }
    for (unsigned k = 0; k < 4; k++)
        reaching |= (unsigned)(exponents[k] == most) << k;
    quads->rho[now][i] = rho;
    quads->left[now][i] = exponents[1];
    quads->right[now][i] = exponents[3];
    quads->bound[i] = most;
    quads->index[i] = reaching;
}

/* The least bound (7.3.7): from the four exponents above, if the quad has more than one significant sample. */
static unsigned least_bound(const l2k_ht_quads *quads, unsigned above, unsigned rho, uint32_t i)
{
    if (!(rho & (rho - 1)))
        return 1;
    unsigned most = l2k_max_u32(l2k_max_u32(quads->right[above][i - 1], quads->left[above][i]),
                                l2k_max_u32(quads->right[above][i], quads->left[above][i + 1]));
    return most > 2 ? most - 1 : 1;
}

/* 7.3.5 */
static unsigned context_in_first_row(unsigned left)
{
    return left >> 1 | (left & 1);
}

static unsigned context_below(const uint32_t *above, unsigned left)
{
    unsigned north_west = (above[-1] >> 3 | above[0] >> 1) & 1, north_east = (above[0] >> 3 | above[1] >> 1) & 1;
    return north_west | ((left >> 2 | left >> 3) & 1) << 1 | north_east << 2;
}

/* What depends on other quads: bound, residual and index. */
static void relate_quad(l2k_ht_quads *quads, bool first_row, unsigned now, uint32_t i)
{
    const unsigned rho = quads->rho[now][i], left = quads->rho[now][i - 1];
    const unsigned least = least_bound(quads, !now, rho, i), bound = l2k_max_u32(quads->bound[i], least);
    const unsigned context = first_row ? context_in_first_row(left) : context_below(&quads->rho[!now][i], left);
    quads->bound[i] = bound;
    quads->residual[i] = bound - least;
    quads->index[i] = context << 8 | rho << 4 | (bound > least ? quads->index[i] : 0);
}

static void measure_row(cleanup_encoder *e, uint32_t y)
{
    l2k_ht_quads *quads = &e->memory->quads;
    const uint16_t *codes = e->memory->codes[y > 0];
    const unsigned now = y >> 1 & 1;
    for (uint32_t i = 0; i < e->num_quads; i++)
        measure_quad(e, now, L2K_HT_MARGIN + i, 2 * i, y);
    for (uint32_t i = 0; i < e->num_quads; i++) {
        relate_quad(quads, y == 0, now, L2K_HT_MARGIN + i);
        quads->entry[L2K_HT_MARGIN + i] = codes[quads->index[L2K_HT_MARGIN + i]];
    }
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

static void put_samples(cleanup_encoder *e, uint32_t i)
{
    const l2k_ht_quads *quads = &e->memory->quads;
    const unsigned rho = quads->index[i] >> 4 & 15, known = l2k_ht_code_e_k(quads->entry[i]);
    for (unsigned k = 0; k < 4; k++)
        if (rho >> k & 1) {
            const unsigned bits = quads->bound[i] - (known >> k & 1);
            l2k_ht_forward_put(&e->magsgn, quads->value[k][i] & (((uint64_t)1 << bits) - 1), bits);
        }
}

static void put_code(cleanup_encoder *e, uint32_t i)
{
    const unsigned index = e->memory->quads.index[i], entry = e->memory->quads.entry[i];
    if (index < 256)
        l2k_ht_mel_put(&e->mel, index >> 4);
    l2k_ht_backward_put(&e->vlc, l2k_ht_codeword(entry), l2k_ht_code_length(entry));
}

/* An odd last quad is paired with one of zeros. */
static void put_row(cleanup_encoder *e, bool first_row)
{
    const uint32_t *residuals = e->memory->quads.residual, end = L2K_HT_MARGIN + e->num_quads;
    for (uint32_t i = L2K_HT_MARGIN; i < end; i += 2) {
        const unsigned u = residuals[i], v = i + 1 < end ? residuals[i + 1] : 0;
        put_code(e, i);
        put_samples(e, i);
        if (i + 1 < end) {
            put_code(e, i + 1);
            put_samples(e, i + 1);
        }
        if (first_row && u && v)
            l2k_ht_mel_put(&e->mel, u > 2 && v > 2);
        const uint32_t pair = e->memory->pairs[!first_row][v][u];
        l2k_ht_backward_put(&e->vlc, pair >> 5, pair & 31);
    }
}

/* ---- The pass ------------------------------------------------------------------------------------------------ */

/* The last byte and the low half of the one before it are the length field (7.1.1); stuffing takes both as ones. */
static void start(cleanup_encoder *e)
{
    l2k_ht_encoder *memory = e->memory;
    uint8_t *end = memory->vlc + sizeof memory->vlc;
    e->magsgn = (l2k_ht_forward_writer){.next = memory->bytes};
    e->mel = (l2k_ht_mel_writer){.next = memory->mel, .room = 8};
    e->vlc = (l2k_ht_backward_writer){.first = end - 1, .bits = 15, .count = 4, .after_large = true};
}

/* The last bytes of MEL and VLC become one where their bits agree, unless that would be 0xFF, after which MEL would be
 * stuffed, or VLC is nothing but its length field. */
static void end_mel_and_vlc(cleanup_encoder *e)
{
    if (e->mel.run)
        l2k_ht_mel_bit_put(&e->mel, 1);
    const unsigned mel = e->mel.byte, vlc = (unsigned)e->vlc.bits, both = mel | vlc;
    const unsigned mel_mask = 0xFFu << e->mel.room & 0xFF, vlc_mask = (1u << e->vlc.count) - 1;
    if ((mel_mask | vlc_mask) == 0)
        return;
    const bool agree = !((both ^ mel) & mel_mask) && !((both ^ vlc) & vlc_mask);
    const bool has_vlc = e->vlc.first < e->memory->vlc + sizeof e->memory->vlc - 1;
    if (agree && both != 0xFF && has_vlc) {
        *e->mel.next++ = (uint8_t)both;
        return;
    }
    *e->mel.next++ = (uint8_t)mel;
    *--e->vlc.first = (uint8_t)vlc;
}

/* MagSgn, MEL and VLC in a row, with the length of the last two. */
static uint32_t join(cleanup_encoder *e)
{
    l2k_ht_encoder *memory = e->memory;
    uint8_t *at = e->magsgn.next;
    const size_t mel = (size_t)(e->mel.next - memory->mel);
    const size_t vlc = (size_t)(memory->vlc + sizeof memory->vlc - e->vlc.first), length = mel + vlc;
    memcpy(at, memory->mel, mel);
    memcpy(at + mel, e->vlc.first, vlc);
    at += length;
    at[-1] = (uint8_t)(length >> 4);
    at[-2] = (uint8_t)((at[-2] & 0xF0) | (length & 15));
    return (uint32_t)(at - memory->bytes);
}

static uint32_t encode_cleanup(l2k_ht_encoder *memory, const l2k_t1_block *block, unsigned plane)
{
    cleanup_encoder e = {.memory = memory, .block = block, .plane = plane, .num_quads = (block->width + 1) / 2};
    memset(&memory->quads, 0, sizeof memory->quads);
    start(&e);
    for (uint32_t y = 0; y < block->height; y += 2) {
        measure_row(&e, y);
        put_row(&e, y == 0);
    }
    l2k_ht_forward_flush(&e.magsgn);
    end_mel_and_vlc(&e);
    return join(&e);
}

/* ---- Blocks -------------------------------------------------------------------------------------------------- */

void l2k_ht_encoder_prepare(l2k_ht_encoder *encoder)
{
    l2k_ht_make_codes(encoder->codes, encoder->pairs);
}

/* A refinement segment without bytes is left out. */
static void code_passes(l2k_ht_encoder *encoder, const l2k_t1_block *block, unsigned passes, l2k_ht_code *code)
{
    uint32_t refinement[2] = {0, 0};
    const uint32_t cleanup = encode_cleanup(encoder, block, code->plane);
    if (passes > 1)
        l2k_ht_encode_refinement(encoder, block, passes, encoder->bytes + cleanup, refinement);
    code->num_passes = refinement[0] + refinement[1] ? passes : 1;
    code->passes[0] = (l2k_pass){.bytes = cleanup, .terminated = true};
    code->passes[1] = (l2k_pass){.bytes = cleanup + refinement[0], .terminated = code->num_passes == 2};
    code->passes[2] = (l2k_pass){.bytes = cleanup + refinement[0] + refinement[1], .terminated = true};
}

l2k_status l2k_ht_encode(l2k_ht_encoder *encoder, const l2k_t1_block *block, unsigned passes, bool want_distortion,
                         l2k_ht_code *code)
{
    const uint32_t all = all_magnitudes(block);
    *code = (l2k_ht_code){
        .magnitude_bits = all ? l2k_log2(all) + 1 : 0, .plane = passes > 1 ? 1 : 0, .bytes = encoder->bytes};
    if (code->magnitude_bits > L2K_HT_MAX_BIT_PLANES)
        return l2k_fail(encoder->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
    if (all >> code->plane == 0)
        return L2K_OK;
    code_passes(encoder, block, passes, code);
    if (want_distortion) {
        double gains[3];
        l2k_ht_measure_gains(encoder, block, code->plane, gains);
        for (unsigned i = 0; i < 3; i++)
            code->passes[i].distortion = gains[i];
    }
    return L2K_OK;
}
