/* Slices of a volume on the CPU. Internal to transform/volume/cpu/. */
#ifndef L2K_TRANSFORM_VOLUME_CPU_CPU_SLICES_H
#define L2K_TRANSFORM_VOLUME_CPU_CPU_SLICES_H

#include "transform/volume/volume.h"

/* A slice of a stage to be filled; NULL, with a message, if memory runs out. l2k_slice_free takes it back. */
l2k_z_slice *l2k_slice_new(const l2k_volume *volume, l2k_volume_stage *stage);
void l2k_slice_free(l2k_volume_stage *stage, l2k_z_slice *slice);

/* Puts the wanted slice, filled. */
l2k_status l2k_slice_put(const l2k_volume *volume, l2k_volume_stage *stage, l2k_z_slice *slice);

/* Whether enough slices wait to be lifted, or the last ones. */
bool l2k_slices_are_ready(const l2k_volume_stage *stage);

/* The next finished slice, or NULL. Lifts if the stage is ready; with `at_once`, if any slice waits. */
l2k_z_slice *l2k_slice_get(const l2k_volume *volume, l2k_volume_stage *stage, bool at_once);

/* Move a slice's values from and to the caller's planes (level shift and component transform at the first stage). */
void l2k_slice_load(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_plane *planes,
                    const l2k_z_slice *slice);
void l2k_slice_store(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_plane *planes,
                     const l2k_z_slice *slice);

/* The two-dimensional levels of a slice, to and from the views of the stage's plan. */
l2k_status l2k_slice_analyse(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_z_slice *slice);
l2k_status l2k_slice_synthesise(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_z_slice *slice);

/* Subband LL of the plan's views, to and from the values of a slice of the next stage. */
void l2k_slice_take_low(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_z_slice *next);
void l2k_slice_give_low(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_z_slice *next);

/* The memory of all slices. */
void l2k_slices_release(const l2k_volume *volume, l2k_volume_stage *stage);

#endif
