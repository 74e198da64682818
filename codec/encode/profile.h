/* Profiles of digital cinema and IMF (A.10). */
#ifndef L2K_CODEC_ENCODE_PROFILE_H
#define L2K_CODEC_ENCODE_PROFILE_H

#include "codec/encode/setup.h"

/* What was set, completed by a profile. Not to be copied: it may point to its own members. */
typedef struct l2k_settings {
    const struct l2k_encoder *encoder;
    int64_t options[L2K_ENCODER_NUM_OPTIONS];
    const l2k_size *precincts;
    size_t num_precincts;
    const l2k_poc *poc;
    size_t num_poc;
    l2k_size own_precincts[L2K_MAX_LEVELS + 1]; /* of the profile, as own_poc */
    l2k_poc own_poc[2];
} l2k_settings;

/* Completes what the encoder has. The options are set even where something is against the profile. */
l2k_status l2k_profile_settle(const struct l2k_encoder *encoder, l2k_settings *settings);

/* Rsiz, and whether the options set up comply with it. */
l2k_status l2k_profile_setup(const l2k_settings *settings, l2k_encoding *encoding);

#endif
