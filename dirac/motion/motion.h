/* Motion-compensated prediction (Dirac 2.2.3, picture prediction): its parameters and block data, and the prediction
 * by overlapped blocks from up-sampled references. */
#ifndef L2K_DIRAC_MOTION_MOTION_H
#define L2K_DIRAC_MOTION_MOTION_H

#include "dirac/bits.h"
#include "dirac/picture.h"

/* The motion of a picture, and working space that is kept from picture to picture. NULL if memory runs out. */
typedef struct l2k_dirac_motion l2k_dirac_motion;
l2k_dirac_motion *l2k_dirac_motion_new(const l2k_context *context);
void l2k_dirac_motion_free(const l2k_context *context, l2k_dirac_motion *motion);

/* Reads picture_prediction(), which begins at a byte and ends before another, for 1 or 2 references. `arithmetic`:
 * block data are coded so, not in plain bits. */
l2k_status l2k_dirac_motion_read(const l2k_context *context, l2k_dirac_motion *motion,
                                 const l2k_dirac_sequence *sequence, unsigned references, bool arithmetic,
                                 l2k_dirac_bits *bits);

/* Writes a plane of the picture: the prediction plus the residue, clamped to the range of samples. */
l2k_status l2k_dirac_motion_apply(const l2k_context *context, l2k_dirac_motion *motion,
                                  const l2k_dirac_sequence *sequence, unsigned plane,
                                  l2k_dirac_picture *const references[2], const l2k_dirac_residue *residue,
                                  l2k_dirac_picture *picture);

/* Takes back what pictures get when they are first referred to; accepts NULL. */
void l2k_dirac_upsampled_release(const l2k_context *context, struct l2k_dirac_upsampled *upsampled);

#endif
