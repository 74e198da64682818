/* Profiles of digital cinema and IMF (A.10). */
#ifndef L2K_CODEC_ENCODE_PROFILE_H
#define L2K_CODEC_ENCODE_PROFILE_H

#include "codec/encode/setup.h"

/* Rsiz, and whether what has been set up is what it says. */
l2k_status l2k_profile_setup(const struct l2k_encoder *encoder, l2k_encoding *encoding);

#endif
