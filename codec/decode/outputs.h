/* The caller's output: palette and channel order applied. */
#ifndef L2K_CODEC_DECODE_OUTPUTS_H
#define L2K_CODEC_DECODE_OUTPUTS_H

#include "codec/decode/decoder.h"

/* The only component wanted, or UINT32_MAX for all. */
uint32_t l2k_decoder_only_component(const l2k_decoder *decoder);

/* The part of the reference grid to decode: the intersection of region and image area. L2K_ERROR_ARGUMENT if it is
 * empty. */
l2k_status l2k_decoder_area(const l2k_decoder *decoder, l2k_rect *area);

/* The area of codestream component c that decoding yields, in the domain of the reduced component. */
l2k_rect l2k_decoder_component_area(const l2k_decoder *decoder, l2k_rect area, uint32_t c);

/* Derives the outputs from component mapping and channel definitions. Called once, when a file is opened. */
l2k_status l2k_decoder_plan_outputs(l2k_decoder *decoder);

/* Shape and precision of an output of that area; its channel stays. */
void l2k_decoder_describe_output(const l2k_decoder *decoder, l2k_rect area, l2k_output_source output,
                                 l2k_component *component);

/* Checks outputs against the limits, as a palette or component mapping may make many of one component. */
l2k_status l2k_decoder_check_outputs(l2k_decoder *decoder, const l2k_sample_limits *limits);

/* The source of output k or, if one component alone is wanted, of that component. */
l2k_output_source l2k_decoder_output(const l2k_decoder *decoder, uint32_t k);
uint32_t l2k_decoder_num_outputs(const l2k_decoder *decoder);

/* The destinations of the codestream's components: for each, the plane of its only output if that takes it unchanged,
 * else memory of its own. */
typedef struct l2k_sources {
    l2k_plane *planes;
    bool *owned;
} l2k_sources;

/* Call l2k_sources_release also after an error. */
l2k_status l2k_sources_prepare(const l2k_decoder *decoder, l2k_rect area, const l2k_plane *outputs,
                               l2k_sources *sources);
void l2k_sources_release(const l2k_decoder *decoder, l2k_sources *sources);

/* Fills the outputs that were not decoded in place, through the palette if there is one. */
l2k_status l2k_sources_deliver(const l2k_decoder *decoder, l2k_rect area, const l2k_sources *sources,
                               const l2k_plane *outputs);

/* Allocates decoder->memory_planes for l2k_decoder_decode_memory. */
l2k_status l2k_decoder_take_planes(l2k_decoder *decoder, const l2k_image *image);

#endif
