/* Marker codes (Table A.2), and marker segments in the file (A.1). */
#ifndef L2K_CODEC_CODESTREAM_MARKERS_H
#define L2K_CODEC_CODESTREAM_MARKERS_H

#include "base/context.h"

enum {
    L2K_SOC = 0xFF4F,
    L2K_CAP = 0xFF50,
    L2K_SIZ = 0xFF51,
    L2K_COD = 0xFF52,
    L2K_COC = 0xFF53,
    L2K_TLM = 0xFF55,
    L2K_PRF = 0xFF56,
    L2K_PLM = 0xFF57,
    L2K_PLT = 0xFF58,
    L2K_CPF = 0xFF59,
    L2K_QCD = 0xFF5C,
    L2K_QCC = 0xFF5D,
    L2K_RGN = 0xFF5E,
    L2K_POC = 0xFF5F,
    L2K_PPM = 0xFF60,
    L2K_PPT = 0xFF61,
    L2K_CRG = 0xFF63,
    L2K_COM = 0xFF64,
    L2K_DFS = 0xFF72,
    L2K_ATK = 0xFF79,
    L2K_SOT = 0xFF90,
    L2K_SOD = 0xFF93,
    L2K_EOC = 0xFFD9
};

/* Bits of ATK's Satk above the index (T.801, A.3): the type of coefficients; only one half of whole-sample symmetric
 * taps is present; reversible; the first step of the reconstruction changes odd samples; lines are mirrored. */
enum {
    L2K_ATK_TYPE_SHIFT = 8,
    L2K_ATK_SYMMETRIC = 1 << 11,
    L2K_ATK_REVERSIBLE = 1 << 12,
    L2K_ATK_ODD_FIRST = 1 << 13,
    L2K_ATK_MIRRORS = 1 << 14
};
enum {
    L2K_ATK_INTEGER_8,
    L2K_ATK_INTEGER_16,
    L2K_ATK_FLOAT_32,
    L2K_ATK_FLOAT_64,
    L2K_ATK_FLOAT_128,
    L2K_ATK_NUM_TYPES
};

/* The number of decomposition levels in COC with this bit is the index of a DFS instead (T.801, A.3); and Ddfs, two
 * bits a level from the highest resolution on. */
#define L2K_COC_DFS 0x80
enum { L2K_DDFS_NONE, L2K_DDFS_BOTH, L2K_DDFS_ACROSS, L2K_DDFS_DOWN };

/* A marker and its parameters, if it has any (without the length). */
typedef struct l2k_segment {
    uint32_t marker;
    const uint8_t *data, *end;
} l2k_segment;

static inline size_t l2k_segment_length(const l2k_segment *segment)
{
    return (size_t)(segment->end - segment->data);
}

/* The bytes of a component index: one for up to 256 components, two above (A.6.2). */
static inline unsigned l2k_component_index_bytes(uint32_t num_components)
{
    return num_components < 257 ? 1 : 2;
}

/* A name such as "COD", or "an unknown marker" for a code without a name here; static. */
const char *l2k_marker_name(uint32_t marker);

/* Reads the marker segment at *at and advances *at past it. */
l2k_status l2k_segment_next(const l2k_context *context, const uint8_t **at, const uint8_t *end, l2k_segment *segment);

#endif
