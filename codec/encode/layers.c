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
 * been written before, so tile-part headers state the bits. Returns the bits that these add. */
unsigned l2k_encode_add_guard_bits(l2k_encoder *encoder, bool whole)
{
    const unsigned needed = l2k_encode_missing_guard_bits(encoder);
    l2k_encoding *e = &encoder->encoding;
    for (uint32_t t = 0; needed && t < encoder->num_tiles; t++)
        l2k_tile_add_guard_bits(&encoder->tiles[t], needed);
    for (uint32_t c = 0; whole && c < e->siz.num_components; c++)
        e->coding.components[c].guard_bits += (uint8_t)needed;
    return whole ? 0 : needed;
}

void l2k_encode_state_magnitudes(l2k_encoder *encoder, unsigned more_guard_bits)
{
    l2k_encoding *e = &encoder->encoding;
    uint16_t *ht = &e->coding.capabilities.ht;
    for (uint32_t t = 0; t < encoder->num_tiles; t++)
        e->magnitude_bound = (uint8_t)l2k_max_u32(e->magnitude_bound, encoder->tiles[t].magnitude_bound);
    *ht = (uint16_t)((*ht & ~L2K_HT_MAGNITUDE_BITS) | l2k_magnitude_code(e->magnitude_bound));
    if (more_guard_bits || e->tile_steps)
        *ht |= L2K_HT_HETEROGENEOUS;
}

l2k_status l2k_encode_layers(l2k_encoder *encoder, l2k_allocation *allocation)
{
    const l2k_encoding *e = &encoder->encoding;
    const bool whole = !encoder->stream || encoder->in_strips;
    size_t *fixed_bytes = &allocation->fixed_bytes;
    allocation->more_guard_bits = l2k_encode_add_guard_bits(encoder, whole);
    if (encoder->output.packets.bytes || encoder->output.by_tile)
        return L2K_OK; /* everything is in the layers */
    double start = l2k_stage_start(e->context);
    L2K_TRY(l2k_output_fixed_bytes(e, encoder->tiles, encoder->num_tiles, whole, &encoder->output, fixed_bytes));
    L2K_TRY(l2k_layers_allocate(e->context, encoder->tiles, encoder->num_tiles, &e->targets, e->plt, *fixed_bytes));
    l2k_stage_end(e->context, L2K_STAGE_RATE, start);
    return L2K_OK;
}
