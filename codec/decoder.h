/* The decoder's inside: the opened file, the options, and what they make of it. */
#ifndef L2K_CODEC_DECODER_H
#define L2K_CODEC_DECODER_H

#include <stdatomic.h>

#include "base/pool.h"
#include "base/run.h"
#include "base/buffer.h"
#include "codec/codestream/codestream_read.h"
#include "codec/jp2/jp2.h"
#include "codec/workers.h"
#include "transform/choice.h"

/* Where a component of the output comes from: a component of the codestream, directly or through a palette column. */
typedef struct l2k_output {
    uint32_t source;
    bool through_palette;
    uint32_t column;
} l2k_output;

struct l2k_decoder {
    l2k_context context;
    l2k_choice choice;
    l2k_pool pool;
    l2k_run run;
    l2k_workers workers;
    int64_t options[L2K_DECODER_NUM_OPTIONS];
    bool has_region;
    l2k_rect region;
    bool is_open;
    uint64_t file_bytes;
    bool is_jp2;
    l2k_buffer file;
    l2k_jp2 jp2;
    l2k_codestream codestream;
    uint32_t num_outputs; /* as the file has them, with all components */
    l2k_output *outputs;
    l2k_component *components; /* num_outputs of them */
    l2k_component alone;       /* that of the option COMPONENT */
    l2k_component *shown;      /* by l2k_decoder_image last: one of these two */
    void *memory;              /* samples that l2k_decoder_decode_memory gave last */
    l2k_plane *memory_planes;
    uint32_t next_tile;                 /* behind those decoded last, 0 = none */
    atomic_int_least64_t spare_packets; /* decode_tile.c */
    /* Of the last decoding: whether it met the stream's early end; warnings given, which come once for all tiles; for
     * tests, how little a region takes. */
    atomic_bool incomplete, fewer_told, beyond_told;
    atomic_size_t packets_kept, blocks_decoded;
};

/* Whether a file has been opened, and what only it can tell of options; whether a tile has enough resolutions, decoding
 * checks. */
l2k_status l2k_decoder_check_options(const l2k_decoder *decoder);

/* Makes ready for a decoding under the options set so far. */
void l2k_decoder_start(l2k_decoder *decoder);

/* What follows on a decoding that came to `status`, and what the caller is told. */
l2k_status l2k_decoder_finish(l2k_decoder *decoder, l2k_status status);

/* Bytes that the opened file may take from the hook. */
uint64_t l2k_decoder_memory_limit(const l2k_decoder *decoder);

/* Gives back what is kept for the next image. */
void l2k_decoder_drop(l2k_decoder *decoder);

/* The component that alone is wanted, or UINT32_MAX for all. */
uint32_t l2k_decoder_only_component(const l2k_decoder *decoder);

/* The part of the reference grid to decode: region and image area. L2K_ERROR_ARGUMENT where it is empty. */
l2k_status l2k_decoder_area(const l2k_decoder *decoder, l2k_rect *area);

/* The samples of codestream component c that decoding gives, in the domain of the reduced component. */
l2k_rect l2k_decoder_component_area(const l2k_decoder *decoder, l2k_rect area, uint32_t c);

/* Works out outputs from component mapping and channel definitions; once, when a file is opened. */
l2k_status l2k_decoder_plan_outputs(l2k_decoder *decoder);

/* A palette may make many outputs of one component, or a component mapping: these too must stay within the limits. */
l2k_status l2k_decoder_check_outputs(l2k_decoder *decoder, const l2k_sample_limits *limits);

/* The output of a component alone, or output k. */
l2k_output l2k_decoder_output(const l2k_decoder *decoder, uint32_t k);
uint32_t l2k_decoder_num_outputs(const l2k_decoder *decoder);

/* Decodes all tiles that meet `area` into planes[c] for every codestream component c with planes[c].data not NULL. Each
 * plane's first sample is the first of l2k_decoder_component_area. */
l2k_status l2k_decode_tiles(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes);

#endif
