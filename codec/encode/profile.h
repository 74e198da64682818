/* Profiles of digital cinema and IMF (A.10). */
#ifndef L2K_CODEC_ENCODE_PROFILE_H
#define L2K_CODEC_ENCODE_PROFILE_H

#include "codec/encode/encoding.h"

/* Whether Rsiz and the frame rate (0: not given) are possible together; *fixes: Rsiz is a profile that fixes options.
 * L2K_ERROR_ARGUMENT. */
l2k_status l2k_profile_check(const l2k_context *context, uint32_t rsiz, double frames_per_second, bool *fixes);

/* Completes the encoder's settings. Sets the options even if others violate the profile. */
l2k_status l2k_profile_settle(const struct l2k_encoder *encoder, l2k_settings *settings);

/* Sets Rsiz and checks that the options comply with it. */
l2k_status l2k_profile_setup(const l2k_settings *settings, l2k_encoding *encoding);

#endif
