/* Rate control (J.14): assigns coding passes to layers. */
#ifndef L2K_CODEC_PACKETS_RATE_H
#define L2K_CODEC_PACKETS_RATE_H

#include "codec/tile/tile.h"

/* The targets of the layers (l2k_encoder_set_layers). */
typedef struct l2k_layer_targets {
    l2k_target kind;
    const double *targets;
    size_t count; /* 0 = one layer with everything */
    /* The most bytes of the output, and of the packets of each component, whatever the targets; 0 = any. */
    uint64_t most_bytes, component_bytes;
    double error; /* left by all passes together, as in l2k_slope_list.distortion */
} l2k_layer_targets;

static inline bool l2k_targets_have_limits(const l2k_layer_targets *targets)
{
    return targets->most_bytes || targets->component_bytes;
}

/* Whether a target asks for everything that the block coder produced. */
static inline bool l2k_target_is_everything(l2k_target kind, double target)
{
    return kind == L2K_TARGET_RATIO ? !(target > 1) : !(target > 0);
}

/* Whether a layer holds, or may have to hold, less than everything, so that distortions are needed. */
bool l2k_layers_need_distortions(const l2k_layer_targets *targets);

/* Sets coded.layer_passes of every block of the tiles, which have the same layers, in memory of each tile's arena.
 * Ratios and PSNRs hold for these tiles together; `fixed_bytes`: bytes of their part of the output besides packets and,
 * with `plt`, the packets' lengths. Errors: L2K_ERROR_MEMORY, L2K_ERROR_CANCELLED. */
l2k_status l2k_layers_allocate(const l2k_context *context, l2k_tile *tiles, uint32_t num_tiles,
                               const l2k_layer_targets *targets, bool plt, size_t fixed_bytes);

/* goal: the bytes that a ratio allows for the output of the tiles. check: warns if the output needs more. */
uint64_t l2k_ratio_goal(const l2k_tile *tiles, uint32_t num_tiles, double ratio);
void l2k_ratio_check(const l2k_context *context, uint64_t used, uint64_t goal, double ratio);

/* The bytes, by component, that the packets of the tiles take with the allocated layers and, with `plt`, their
 * lengths. */
l2k_status l2k_layers_measure(const l2k_context *context, l2k_tile *tiles, uint32_t num_tiles, bool plt,
                              uint64_t *bytes);

#endif
