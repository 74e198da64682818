/* A tile in the decoder: its state, its stages, its end. */
#ifndef L2K_CODEC_DECODE_TILE_STATE_H
#define L2K_CODEC_DECODE_TILE_STATE_H

#include "codec/decode/decoder.h"
#include "codec/engine/engine.h"

/* A tile in the decoder, and all memory allocated for it. If the next image may have the same tile, data that only
 * depends on its shape is kept. */
typedef struct l2k_tile_state {
    l2k_tile_coding read;   /* from this image's headers */
    l2k_tile_coding coding; /* the same, as long as the tree stays */
    l2k_packed_headers packed;
    const uint8_t *bytes; /* holds all contributions, or NULL (l2k_tile_span) */
    size_t num_bytes;
    l2k_tile tile; /* its arena also holds the arrays of components */
    l2k_packet_order order;
    bool is_absent;    /* the stream has no data for this tile */
    bool is_blank;     /* no code-block has any bytes, and samples are wanted */
    bool joined_later; /* the component transform follows the plan, which needs equal numbers of levels for it */
    bool on_host;      /* planes are off the host, but samples come from there */
    bool is_begun;     /* the code-blocks are with their coder, or have been */
    bool is_kept;      /* an earlier image had this tile */
    bool is_whole;     /* all wanted packets are present */
    bool has_packets;  /* since an earlier window */
    uint64_t opened;   /* the file that they were read from */
    uint32_t layers;   /* d->layers of that time */
    l2k_block_place *places;
    size_t num_places;
    l2k_block_place *rest;            /* of those, if others were kept from an earlier window */
    const l2k_block_place *to_decode; /* either of the two */
    size_t num_to_decode;
    atomic_bool damaged;            /* what it found */
    l2k_plan_component *components; /* of the plan */
    l2k_plane *planes;              /* per component of the plan */
    void **joined;                  /* per component: its part before it is joined with others, if joined_later */
    l2k_engine_memory *uploads;     /* if on_host, per component: samples on their way to the caller's planes */
    l2k_plane *host_planes;         /* if on_host, per component: the wanted part of the tile */
    l2k_decoding host;              /* likewise: the decoding of this tile alone, into these */
} l2k_tile_state;

/* Units of progress of a tile, and the part of them for its code-blocks. */
enum { L2K_UNITS_TILE = 1 << 16, L2K_UNITS_TILE_BLOCKS = 3 << 14 };

/* ---- Headers and packets, stages, end (tile.c) ------------------------------------------------------------------- */

void l2k_decoder_release_tiles(l2k_decoder *decoder);

/* Ends a tile. Keeps the data that a following image with the same tile can use. */
void l2k_tile_state_leave(const l2k_decoding *d, l2k_tile_state *state);

/* Tiles requested in rising order, call by call, form one series, with one bound on what its headers may promise beyond
 * the bytes present. */
void l2k_start_series(l2k_decoder *decoder, const l2k_decoding *d);

/* Reads the headers and packets of a tile: state->coding, packed and tile. If the stream has no data for it, sets
 * state->is_absent alone. L2K_ERROR_TRUNCATED also if headers promise too much. */
l2k_status l2k_read_tile(const l2k_decoding *d, l2k_tile_state *state, uint32_t index, unsigned threads);

/* Memory that holds all bytes of a tile's packets and little else, if most of them are to be decoded; otherwise
 * NULL. */
const uint8_t *l2k_tile_span(const l2k_decoding *d, uint32_t tile, size_t *bytes);

/* The stages of a tile, for all kinds of decoding (decoder.c). l2k_decode_packets reads its packets. If there is
 * nothing to decode, it only sets state->is_absent or is_blank. If the engine had the slot's tile before, the bytes of
 * this one are sent to it meanwhile. */
l2k_status l2k_decode_packets(const l2k_decoding *d, l2k_tile_state *state, l2k_engine *engine, uint32_t index);

/* Decodes its code-blocks into the views of the slot's plan; if samples are wanted, also starts the inverse
 * transform. */
l2k_status l2k_decode_blocks(const l2k_decoding *d, l2k_tile_state *state, l2k_engine *engine, l2k_engine_slot *slot);

/* ---- Where packets are, kept from window to window (index.c) ----------------------------------------------------- */

/* Sets the packet order to the first packet. */
l2k_status l2k_start_packets(const l2k_decoding *d, l2k_tile_state *state);

/* The index of a tile whose packets have `bytes` bytes, if only part of the tile is wanted; a new index gets the packet
 * lengths that headers state. NULL if the tile has none. */
l2k_status l2k_find_index(const l2k_decoding *d, l2k_tile_state *state, uint64_t bytes, l2k_packet_index **index);

/* Fills an empty index from stated lengths, or from SOP, if these locate all packets: it is then whole. */
l2k_status l2k_enter_lengths(const l2k_decoding *d, l2k_tile_state *state, l2k_packet_index *index);

/* Called if stated packet lengths prove wrong: makes a note and has the packets read one after the other. An error if
 * the file is read strictly. */
l2k_status l2k_distrust_index(const l2k_decoding *d, l2k_tile_state *state, l2k_packet_index *index);

/* ---- The part that a window of the picture needs (window.c) ------------------------------------------------------ */

/* The wanted area of component c, in the domain of the resolution that is decoded. */
l2k_rect l2k_window_output(const l2k_decoding *d, uint32_t c);

/* Enters the window into a plan's component. */
void l2k_window_enter(const l2k_decoding *d, uint32_t c, l2k_plan_component *component);

/* Enters the needed part of each resolution and subband into the tree. If the wanted precincts have changed, the tree
 * needs memory for the new ones. */
typedef enum l2k_window_change {
    L2K_WINDOW_SAME = 0,
    L2K_WINDOW_OTHER_BLOCKS,
    L2K_WINDOW_OTHER_PRECINCTS
} l2k_window_change;
l2k_window_change l2k_window_set(const l2k_decoding *d, l2k_tile *tile);

/* The number of wanted precincts. */
uint64_t l2k_window_precincts(const l2k_tile *tile);

/* ---- The code-blocks to decode, and the plan for them (blocks.c) ------------------------------------------------- */

/* Lists the code-blocks that the decoding needs. */
l2k_status l2k_list_blocks(const l2k_decoding *d, l2k_tile_state *state);

/* Makes the slot's plan and views for the listed blocks. */
l2k_status l2k_prepare_blocks(const l2k_decoding *d, l2k_tile_state *state, l2k_engine *engine, l2k_engine_slot *slot);

/* The engine's view of the tile and of the code-blocks to decode. */
l2k_decode_request l2k_decode_request_of(const l2k_decoding *d, l2k_tile_state *state);

/* Chooses the blocks to decode. Blocks kept from an earlier window are not decoded; their coefficients are copied into
 * the views. */
l2k_status l2k_fetch_blocks(const l2k_decoding *d, l2k_tile_state *state);

/* Reads the bytes of the chosen blocks, if the file is read in parts. */
l2k_status l2k_need_blocks(const l2k_decoding *d, const l2k_tile_state *state);

/* ---- How samples get to the planes of the output (samples.c) ----------------------------------------------------- */

/* Chooses where the inverse transform puts the samples of each wanted component: in the output itself, unless they are
 * joined with others first or go off the host. */
l2k_status l2k_place_planes(const l2k_decoding *d, l2k_tile_state *state);

/* Copies samples to the output that are not there yet. Off the host, works in the caller's stream, as the next two
 * functions do. */
l2k_status l2k_collect_planes(const l2k_decoding *d, l2k_tile_state *state);

/* Fills a tile that has no coefficients: it is uniform, in the middle of the range (G.1.2), and needs no transform. */
l2k_status l2k_fill_tile(const l2k_decoding *d, uint32_t tile);

/* Blackens tiles that the stream lacks altogether, as OpenJPEG does. If there are such tiles, all samples are cleared
 * beforehand: tile by tile, 65535 of them with 16384 components each would take minutes. */
l2k_status l2k_blacken(const l2k_decoding *d);

#endif
