/* Rate control (J.14) for the tiles that are coded together, and the header fields that depend on their code-blocks:
 * guard bits, and the bound on HT magnitudes. */
#include "codec/encode/encoder.h"

#include "base/integer.h"

unsigned l2k_encode_magnitude_bound(const l2k_component_coding *coding, unsigned resolution, unsigned bits)
{
    if (!l2k_coding_wavelet(coding)->reversible)
        bits = bits + 1 - l2k_min_u32(bits, l2k_band_level(coding->levels, resolution));
    return bits;
}

unsigned l2k_encode_missing_guard_bits(const l2k_encoder *encoder)
{
    unsigned most = 0;
    for (uint32_t t = 0; t < encoder->num_tiles; t++)
        most = l2k_max_u32(most, encoder->tiles[t].missing_guard_bits);
    return most;
}

/* Adds guard bits only if a tile needs them, so that all other files match OpenJPEG's. By rows, the main header has
 * been written before, so tile-part headers state the bits. */
void l2k_encode_add_guard_bits(l2k_encoder *encoder)
{
    const bool whole = l2k_encode_is_whole(encoder);
    const unsigned needed = l2k_encode_missing_guard_bits(encoder);
    l2k_encoding *e = &encoder->encoding;
    for (uint32_t t = 0; needed && t < encoder->num_tiles; t++)
        l2k_tile_add_guard_bits(&encoder->tiles[t], needed);
    for (uint32_t c = 0; whole && c < e->siz.num_components; c++)
        e->coding.components[c].guard_bits += (uint8_t)needed;
    e->more_guard_bits = whole ? 0 : needed;
}

void l2k_encode_state_magnitudes(l2k_encoder *encoder)
{
    l2k_encoding *e = &encoder->encoding;
    uint16_t *ht = &e->coding.capabilities.ht;
    for (uint32_t t = 0; t < encoder->num_tiles; t++)
        e->magnitude_bound = (uint8_t)l2k_max_u32(e->magnitude_bound, encoder->tiles[t].magnitude_bound);
    *ht = (uint16_t)((*ht & ~L2K_HT_MAGNITUDE_BITS) | l2k_magnitude_code(e->magnitude_bound));
    if (e->more_guard_bits || e->tile_steps)
        *ht |= L2K_HT_HETEROGENEOUS;
}

l2k_status l2k_encode_layers(l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    l2k_encode_add_guard_bits(encoder);
    if (encoder->output.packets.bytes || encoder->output.by_tile)
        return L2K_OK; /* everything is in the layers */
    double start = l2k_stage_start(e->context);
    L2K_TRY(l2k_output_find_fixed_bytes(encoder));
    L2K_TRY(l2k_layers_allocate(e->context, encoder->tiles, encoder->num_tiles, &e->targets, e->plt,
                                encoder->output.fixed_bytes));
    l2k_stage_end(e->context, L2K_STAGE_RATE, start);
    return L2K_OK;
}
