/* The decoder of Dirac and VC-2: what its files share. */
#ifndef L2K_DIRAC_DECODER_H
#define L2K_DIRAC_DECODER_H

#include "base/buffer.h"
#include "base/pool.h"
#include "dirac/motion/motion.h"
#include "dirac/transform.h"

/* Frames that wait for display, as deep as either standard reorders; pictures that can be referred to. */
enum { L2K_DIRAC_WAITING = 2, L2K_DIRAC_REFERENCES = 8 };

/* A frame with its picture, or with both fields. */
typedef struct l2k_dirac_frame {
    uint32_t number; /* of its first picture */
    l2k_dirac_picture pictures[2];
    unsigned decoded; /* bit for each of them */
    unsigned holders; /* the queue, the caller, a reference each */
    bool damaged;
    l2k_plane planes[L2K_DIRAC_PLANES];
    void *samples;
} l2k_dirac_frame;

struct l2k_video_decoder {
    l2k_context context;
    l2k_pool pool;
    int64_t options[L2K_VIDEO_NUM_OPTIONS];
    l2k_buffer input;
    size_t at; /* in the input: the next data unit */
    bool has_ended, in_step, draining, has_sequence;
    l2k_buffer header; /* the sequence header as it came, to tell a repetition from a new sequence */
    l2k_dirac_sequence sequence;
    l2k_dirac_transform transform;
    l2k_dirac_motion motion;
    bool needs_32[2]; /* predicted, intra pictures of this sequence had sums of more than 16 bits */
    l2k_dirac_frame *queue[L2K_DIRAC_WAITING + 1], *shown; /* waiting, by number; the one that the caller has */
    unsigned waiting, num_references;
    struct {
        l2k_dirac_frame *frame;
        l2k_dirac_picture *picture;
    } references[L2K_DIRAC_REFERENCES]; /* the oldest first */
    l2k_video_frame frame;
    l2k_component components[L2K_DIRAC_PLANES];
};

/* Decodes the picture that `bits` has behind the parse info. What is damaged is reported, and the frame marked; a status
 * other than L2K_OK is that of memory or a limit. */
l2k_status l2k_dirac_picture_decode(l2k_video_decoder *decoder, unsigned code, l2k_dirac_bits *bits);

void l2k_dirac_frame_release(const l2k_context *context, l2k_dirac_frame *frame);

void l2k_dirac_forget_references(l2k_video_decoder *decoder);

#endif
