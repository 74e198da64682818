/* Writing the codestream's headers (Annex A). */
#ifndef L2K_CODEC_CODESTREAM_CODESTREAM_WRITE_H
#define L2K_CODEC_CODESTREAM_CODESTREAM_WRITE_H

#include "base/buffer.h"
#include "codec/tile/coding.h"

/* Writes SOC, SIZ, CAP if there are HT code-blocks, kernels and splits of Part 2, COD and QCD of the first component,
 * and COC and QCC for others that differ from it, COC also if levels split in one direction. Returns the offset of
 * Ccap15, 0 without CAP. */
size_t l2k_write_main_header(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *coding);

/* Writes QCD, and QCC for components that differ from the first one, with `more_guard_bits` added to the guard bits in
 * `coding`. */
void l2k_write_quantisation(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *coding,
                            unsigned more_guard_bits);

/* Write the progression order changes of `coding`, and return their number of bytes. */
void l2k_write_poc(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *coding);
size_t l2k_poc_bytes(const l2k_siz *siz, const l2k_tile_coding *coding);

/* Write RGN: the max-shift of a component; and those of all components, where they differ from `main` (NULL: from 0). */
void l2k_write_rgn(l2k_buffer *out, const l2k_siz *siz, uint32_t component, unsigned shift);
void l2k_write_regions(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *coding, const l2k_tile_coding *main);

/* Writes the marker segments in which a tile's coding differs from that of the main header. */
void l2k_write_tile_header(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *main,
                           const l2k_tile_coding *own);

/* Writes a COM marker segment with Latin-1 text. */
void l2k_write_comment(l2k_buffer *out, const char *text);

/* A tile-part's tile and length, for TLM and Psot. */
typedef struct l2k_tile_part {
    uint32_t tile;
    uint32_t bytes; /* from SOT to the end of its packets */
} l2k_tile_part;

/* Writes the TLM marker segments for all tile-parts; false if that takes more than 256. */
bool l2k_write_tlm(l2k_buffer *out, const l2k_tile_part *parts, size_t count, uint32_t num_tiles);

/* Writes the packet lengths of one tile-part as PLT marker segments; false if that takes more than 256. */
bool l2k_write_plt(l2k_buffer *out, const uint32_t *packet_bytes, size_t count);

/* Writes SOT with Psot 0; returns the offset of Psot. */
size_t l2k_write_sot(l2k_buffer *out, uint32_t tile, uint32_t part, uint32_t num_parts);

#endif
