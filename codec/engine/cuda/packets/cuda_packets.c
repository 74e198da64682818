/* Packets on a CUDA device: lists, made once for a tile's shape; memory; and results. */
#include <string.h>

#include "base/integer.h"
#include "base/run.h"
#include "codec/engine/cuda/ht/ht_cuda_coding.h"
#include "codec/engine/cuda/packets/cuda_packet_maker.h"
#include "codec/engine/cuda/packets/cuda_rate.h"
#include "codec/packets/packet_order.h"
#include "codec/packets/rate.h"
#include "transform/cuda/cuda_device.h"

struct l2k_cuda_packet_maker {
    const l2k_context *owner, *context; /* the maker's; that of the coder at work */
    uint64_t same;                      /* of the batch that the lists are for; 0: no lists */
    l2k_cuda_memory device;             /* lists, then intermediate results */
    l2k_cuda_memory pinned;             /* of it: the lists while they go up, and results */
    l2k_cuda_memory out;                /* in pinned memory */
    l2k_cuda_packet_run run;
    size_t counters, sizes, end; /* where they are in pinned memory, and in device memory */
    size_t expected;             /* bytes copied before their number is known */
    uint32_t num_parts;
    l2k_cuda_rate rate;
    size_t at;                /* the headers' prefix of its list */
    l2k_cuda_coded estimated; /* HT code-blocks that are truncated */
};

/* ---- Lists --------------------------------------------------------------------------------------------------- */

/* Sums over the parts of a tile's packets. */
typedef struct part_sums {
    uint64_t parts, blocks, nodes, words, headers;
    uint64_t samples_bytes; /* of the samples, as their precision says */
} part_sums;

static uint64_t count_nodes(uint32_t across, uint32_t down)
{
    uint64_t nodes = (uint64_t)across * down;
    if (nodes == 0)
        return 0;
    while (across > 1 || down > 1) {
        across = (across + 1) / 2;
        down = (down + 1) / 2;
        nodes += (uint64_t)across * down;
    }
    return nodes;
}

/* The most codeword segments of a code-block. */
static unsigned most_segments(const l2k_subband *band)
{
    const unsigned style = band->component->coding->style, planes = band->max_planes + 1u;
    if (style & L2K_STYLE_HT)
        return 2;
    return style & L2K_STYLE_TERMALL ? 3 * planes : style & L2K_STYLE_BYPASS ? 2 * planes : 1;
}

/* The most bits of a part in a header: for a node 1 for inclusion and at most its zero bit-planes and a 1; for a block
 * its number of passes, Lblock's growth, and lengths below 2^20. */
static uint64_t most_bits(const l2k_subband *band, uint32_t across, uint32_t down)
{
    enum { PASSES_BITS = 16, LBLOCK_BITS = 20, LENGTH_BITS = 22 };
    const uint64_t blocks = (uint64_t)across * down;
    return count_nodes(across, down) * (band->max_planes + 3u) +
           blocks * (PASSES_BITS + LBLOCK_BITS + LENGTH_BITS * most_segments(band));
}

static l2k_cuda_packet_part describe_part(const l2k_subband *band, const l2k_precinct *precinct, double weight,
                                          const part_sums *sums)
{
    const l2k_component_coding *coding = band->component->coding;
    const bool some = l2k_precinct_blocks(precinct) > 0;
    return (l2k_cuda_packet_part){.first_block = (uint32_t)sums->blocks,
                                  .across = some ? precinct->grid.across : 0,
                                  .down = some ? precinct->grid.down : 0,
                                  .num_nodes = (uint32_t)count_nodes(precinct->grid.across, precinct->grid.down),
                                  .first_node = (uint32_t)sums->nodes,
                                  .max_planes = (uint8_t)l2k_min_u32(band->max_planes, UINT8_MAX),
                                  .level = (uint8_t)(l2k_coding_wavelet(coding)->reversible
                                                         ? L2K_REVERSIBLE
                                                         : l2k_band_level(coding->levels, band->resolution)),
                                  .is_ht = (coding->style & L2K_STYLE_HT) != 0,
                                  .has_segments = most_segments(band) > 1,
                                  .weight = weight};
}

/* Lists the parts of a resolution in the order of l2k_tile_list_blocks; if `parts` is NULL, only counts. */
static void list_resolution(const l2k_tile *tile, const l2k_resolution *resolution, l2k_cuda_packet_part *parts,
                            part_sums *sums)
{
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        const l2k_subband *band = &resolution->bands[b];
        const double weight = l2k_distortion_weight(tile, band);
        for (uint32_t p = 0; p < resolution->num_precincts; p++) {
            const l2k_cuda_packet_part part = describe_part(band, &band->precincts[p], weight, sums);
            if (parts)
                parts[sums->parts] = part;
            sums->parts++;
            sums->blocks += (uint64_t)part.across * part.down;
            sums->nodes += count_nodes(part.across, part.down);
        }
    }
}

static void take_room(const l2k_resolution *resolution, uint32_t precinct, l2k_cuda_packet *packet, part_sums *sums)
{
    enum { MARKER_BYTES = 8 };
    uint64_t bits = 1;
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        const l2k_precinct *p = &resolution->bands[b].precincts[precinct];
        if (l2k_precinct_blocks(p))
            bits += most_bits(&resolution->bands[b], p->grid.across, p->grid.down);
    }
    packet->first_word = (uint32_t)sums->words;
    packet->num_words = (uint32_t)(bits / 32 + 3);
    packet->header = (uint32_t)sums->headers;
    sums->words += packet->num_words;
    sums->headers += (bits / 7 + 2 + MARKER_BYTES) / 4 + 1;
}

enum { RESOLUTIONS = L2K_MAX_LEVELS + 1 };

/* `first`, unless NULL, gets the number of the first part of each resolution, of RESOLUTIONS for each component. */
static void list_parts(const l2k_tile *tile, l2k_cuda_packet_part *parts, uint32_t *first, part_sums *sums)
{
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_tile_component *component = &tile->components[c];
        for (uint32_t r = 0; r < component->num_resolutions; r++) {
            if (first)
                first[c * RESOLUTIONS + r] = (uint32_t)sums->parts;
            list_resolution(tile, &component->resolutions[r], parts, sums);
        }
        const uint64_t area = l2k_rect_area(component->rect);
        sums->samples_bytes += area * component->precision / 8;
    }
}

typedef struct packet_most {
    uint64_t blocks, nodes;
} packet_most;

static l2k_status list_packets(const l2k_context *context, const l2k_tile *tile, const uint32_t *first,
                               l2k_cuda_packet *packets, part_sums *sums, packet_most *most)
{
    l2k_packet_order order;
    l2k_packet_id id;
    L2K_TRY(l2k_packet_order_create(context, tile, &order));
    *most = (packet_most){0};
    for (uint32_t i = 0; l2k_packet_order_next(&order, &id); i++) {
        const l2k_resolution *resolution = &tile->components[id.component].resolutions[id.resolution];
        uint64_t blocks = 0, nodes = 0;
        packets[i] = (l2k_cuda_packet){.first_part = first[id.component * RESOLUTIONS + id.resolution] + id.precinct,
                                       .num_parts = resolution->num_bands,
                                       .distance = resolution->num_precincts};
        for (uint32_t b = 0; b < resolution->num_bands; b++) {
            const l2k_partition *grid = &resolution->bands[b].precincts[id.precinct].grid;
            blocks += (uint64_t)grid->across * grid->down;
            nodes += count_nodes(grid->across, grid->down);
        }
        most->blocks = blocks > most->blocks ? blocks : most->blocks;
        most->nodes = nodes > most->nodes ? nodes : most->nodes;
        take_room(resolution, id.precinct, &packets[i], sums);
    }
    const l2k_status status = order.status;
    l2k_packet_order_release(context, &order);
    return status;
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* Pinned memory for packets of `bytes` bytes, with headers around them. */
static l2k_status reserve_out(l2k_cuda_packet_maker *m, uint64_t bytes)
{
    return l2k_cuda_reserve(m->context, &m->out, (size_t)bytes + L2K_PACKETS_FRONT + L2K_PACKETS_BACK);
}

/* After the lists: counters and sizes, which come back, and parts that stay. */
static l2k_status lay_out(l2k_cuda_packet_maker *m, const part_sums *sums)
{
    l2k_cuda_packet_run *run = &m->run;
    size_t used = 0;
    l2k_cuda_take(&used, run->num_packets * sizeof *run->packets);
    const size_t parts = l2k_cuda_take(&used, (size_t)sums->parts * sizeof *run->parts);
    m->counters = l2k_cuda_take(&used, sizeof *run->counters);
    m->sizes = l2k_cuda_take(&used, run->num_packets * sizeof *run->sizes);
    m->end = used;
    const size_t starts = l2k_cuda_take(&used, run->num_packets * sizeof *run->starts);
    const size_t places = l2k_cuda_take(&used, (size_t)sums->blocks * sizeof *run->places);
    const size_t nodes = l2k_cuda_take(&used, (size_t)sums->nodes * sizeof *run->nodes);
    const size_t words = l2k_cuda_take(&used, (size_t)sums->words * sizeof *run->words);
    const size_t headers = l2k_cuda_take(&used, (size_t)sums->headers * sizeof *run->headers);
    L2K_TRY(l2k_cuda_reserve(m->context, &m->device, used));
    uint8_t *at = m->device.at;
    run->packets = (const l2k_cuda_packet *)at;
    run->parts = (const l2k_cuda_packet_part *)(at + parts);
    run->counters = (l2k_cuda_packet_counters *)(at + m->counters);
    run->sizes = (l2k_cuda_packet_size *)(at + m->sizes);
    run->starts = (uint32_t *)(at + starts);
    run->places = (l2k_cuda_packet_place *)(at + places);
    run->nodes = (l2k_cuda_packet_node *)(at + nodes);
    run->words = (uint32_t *)(at + words);
    run->headers = (uint32_t *)(at + headers);
    return L2K_OK;
}

/* Few images take more bytes than their samples; these get more room on demand, since pinning memory takes long. */
static uint64_t usual_bytes(const part_sums *sums)
{
    return sums->samples_bytes + 4 * sums->headers + ((uint64_t)1 << 16);
}

/* Makes the lists in pinned memory and sends them up. `possible` becomes false if a count exceeds its limit. */
static l2k_status make_lists(l2k_cuda_packet_maker *m, const l2k_tile *tile, void *stream, bool *possible)
{
    part_sums sums = {0};
    packet_most most;
    const size_t packets = l2k_cuda_aligned((size_t)tile->num_precincts * sizeof(l2k_cuda_packet));
    list_parts(tile, NULL, NULL, &sums);
    *possible = tile->num_precincts && tile->num_precincts < UINT32_MAX / 64 && sums.parts < UINT32_MAX / 64 &&
                sums.nodes < UINT32_MAX / 64;
    if (!*possible)
        return L2K_OK;
    m->run.num_packets = (uint32_t)tile->num_precincts;
    m->run.num_blocks = (uint32_t)sums.blocks;
    m->num_parts = (uint32_t)sums.parts;
    const size_t parts = l2k_cuda_aligned((size_t)sums.parts * sizeof(l2k_cuda_packet_part));
    const size_t back = l2k_cuda_aligned(sizeof(l2k_cuda_packet_counters)) +
                        2 * l2k_cuda_aligned((size_t)tile->num_precincts * sizeof(l2k_cuda_packet_size));
    L2K_TRY(l2k_cuda_reserve(m->context, &m->pinned, packets + parts + back));
    uint32_t *first = l2k_allocate(m->context, (size_t)tile->num_components * RESOLUTIONS, sizeof *first);
    L2K_TRY(l2k_check_memory(m->context, first, "a list of packets"));
    sums = (part_sums){0};
    list_parts(tile, (l2k_cuda_packet_part *)(m->pinned.at + packets), first, &sums);
    l2k_status status = list_packets(m->context, tile, first, (l2k_cuda_packet *)m->pinned.at, &sums, &most);
    l2k_release(m->context, first);
    L2K_TRY(status);
    *possible = sums.words < UINT32_MAX / 8 && sums.headers < UINT32_MAX / 8 && most.nodes < L2K_NO_BLOCK;
    if (!*possible)
        return L2K_OK;
    m->run.many_blocks = most.blocks > 128;
    m->run.shared_nodes = most.nodes <= L2K_SHARED_NODES;
    L2K_TRY(lay_out(m, &sums));
    L2K_TRY(reserve_out(m, usual_bytes(&sums)));
    return l2k_cuda_upload(m->context, stream, m->device.at, m->pinned.at, packets + parts);
}

/* Keeps existing lists. */
static l2k_status prepare(l2k_cuda_packet_maker *m, const l2k_tile *tile, const l2k_cuda_batch *batch, bool *possible)
{
    *possible = true;
    if (batch->same && batch->same == m->same)
        return L2K_OK;
    m->same = 0;
    m->expected = 0;
    L2K_TRY(make_lists(m, tile, batch->stream, possible));
    if (*possible)
        m->same = batch->same;
    return L2K_OK;
}

/* ---- At work ------------------------------------------------------------------------------------------------- */

static l2k_status check_launch(const l2k_cuda_packet_maker *m, int error)
{
    return l2k_cuda_check(m->context, error, "launching the packets");
}

static l2k_status enqueue_headers(const l2k_cuda_packet_maker *m, void *stream)
{
    L2K_TRY(l2k_cuda_clear(m->context, stream, m->device.at + m->counters, sizeof(l2k_cuda_packet_counters)));
    return check_launch(m, l2k_cuda_launch_headers(&m->run, stream));
}

static l2k_status enqueue_counters(const l2k_cuda_packet_maker *m, void *stream, bool lengths)
{
    const size_t back = lengths ? m->end - m->counters : sizeof(l2k_cuda_packet_counters);
    return l2k_cuda_download(m->context, stream, m->pinned.at + m->counters, m->device.at + m->counters, back);
}

/* Makes packets behind the coder in the stream. Counters come down, sizes with them if wanted, and the probable number
 * of bytes. */
static l2k_status enqueue(const l2k_cuda_packet_maker *m, void *stream, bool lengths)
{
    L2K_TRY(enqueue_headers(m, stream));
    L2K_TRY(check_launch(m, l2k_cuda_launch_gather(&m->run, stream)));
    L2K_TRY(enqueue_counters(m, stream, lengths));
    if (m->expected == 0)
        return L2K_OK;
    return l2k_cuda_download(m->context, stream, m->out.at + L2K_PACKETS_FRONT, m->run.bytes, m->expected);
}

static l2k_cuda_packet_counters counters_of(const l2k_cuda_packet_maker *m)
{
    l2k_cuda_packet_counters counters;
    memcpy(&counters, m->pinned.at + m->counters, sizeof counters);
    return counters;
}

/* Strong colours need another guard bit (docs/numerics.md), which changes only headers. */
static l2k_status add_guard_bit(l2k_cuda_packet_maker *m, void *stream, bool lengths)
{
    m->run.more_guard_bits = 1;
    L2K_TRY(enqueue(m, stream, lengths));
    return l2k_cuda_wait(m->context, stream);
}

/* Fetches the bytes that have not come down yet, and grows memory for them. */
static l2k_status fetch_rest(l2k_cuda_packet_maker *m, uint64_t bytes, void *stream)
{
    const size_t room = m->out.bytes - L2K_PACKETS_FRONT - L2K_PACKETS_BACK;
    if (bytes > room) {
        m->expected = 0;
        L2K_TRY(reserve_out(m, bytes + bytes / 4));
    }
    if (bytes > m->expected) {
        L2K_TRY(l2k_cuda_download(m->context, stream, m->out.at + L2K_PACKETS_FRONT + m->expected,
                                  m->run.bytes + m->expected, (size_t)bytes - m->expected));
        L2K_TRY(l2k_cuda_wait(m->context, stream));
    }
    return L2K_OK;
}

/* Another image of this size may take a little more. */
static void expect(l2k_cuda_packet_maker *m, uint64_t bytes)
{
    const uint64_t more = bytes + bytes / 64, room = m->out.bytes - L2K_PACKETS_FRONT - L2K_PACKETS_BACK;
    const uint64_t least = m->run.capacity < room ? m->run.capacity : room;
    m->expected = (size_t)(more < least ? more : least);
}

static l2k_status refuse_sample(const l2k_cuda_packet_maker *m, const l2k_block_batch *batch, uint32_t block)
{
    return l2k_fail(m->context, L2K_ERROR_ARGUMENT, "a sample of component %u lies outside its precision",
                    batch->places[block].band->component->index);
}

/* The lengths overwrite the sizes. */
static void make_lengths(const l2k_cuda_packet_maker *m, l2k_made_packets *made)
{
    const l2k_cuda_packet_size *sizes = (const l2k_cuda_packet_size *)(m->pinned.at + m->sizes);
    uint32_t *lengths = (uint32_t *)(m->pinned.at + m->end);
    for (uint32_t i = 0; i < m->run.num_packets; i++)
        lengths[i] = sizes[i].header + sizes[i].body;
    made->lengths = lengths;
}

/* Makes the counted packets in host memory. */
static l2k_status deliver(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from, bool excess,
                          l2k_made_packets *made)
{
    const l2k_cuda_packet_counters counters = counters_of(m);
    L2K_TRY(fetch_rest(m, counters.bytes, from->more->stream));
    from->tile->missing_guard_bits = excess;
    from->tile->magnitude_bound = (uint8_t)l2k_max_u32(from->tile->magnitude_bound, counters.bound);
    *made = (l2k_made_packets){
        .bytes = m->out.at + L2K_PACKETS_FRONT, .count = (size_t)counters.bytes, .num_packets = m->run.num_packets};
    if (from->lengths)
        make_lengths(m, made);
    return L2K_OK;
}

/* Whether the counted packets have room. */
static bool has_room(const l2k_cuda_packet_maker *m)
{
    const l2k_cuda_packet_counters counters = counters_of(m);
    return !counters.no_room && counters.bytes <= m->run.capacity;
}

/* Completes the first attempt by its counters: all packets in host memory. */
static l2k_status complete(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from, l2k_made_packets *made)
{
    const l2k_cuda_packet_counters counters = counters_of(m);
    if (counters.failed)
        return refuse_sample(m, from->batch, UINT32_MAX - counters.failed);
    if (counters.excess)
        L2K_TRY(add_guard_bit(m, from->more->stream, from->lengths));
    if (!has_room(m))
        return L2K_OK;
    L2K_TRY(deliver(m, from, counters.excess != 0, made));
    expect(m, counters_of(m).bytes);
    return L2K_OK;
}

/* ---- A ratio ------------------------------------------------------------------------------------------------- */

/* The bytes of the packets' lengths in PLT (A.7.3). */
static uint64_t bytes_of_lengths(const l2k_cuda_packet_maker *m)
{
    const l2k_cuda_packet_size *sizes = (const l2k_cuda_packet_size *)(m->pinned.at + m->sizes);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < m->run.num_packets; i++)
        for (uint32_t rest = sizes[i].header + sizes[i].body; rest; rest >>= 7)
            bytes++;
    return bytes;
}

/* A code-block's weight in l2k_poll. */
enum { WEIGHT_OF_BLOCK = 8 };

/* In units of 4 bytes: a bin's sum has 32 bits for bytes. */
enum { MOST_CODE = 1 << 30 };

typedef struct measured_packets {
    l2k_cuda_packet_maker *maker;
    bool lengths;
} measured_packets;

static l2k_status measure_prefix(void *opaque, size_t prefix, uint64_t *bytes)
{
    const measured_packets *packets = opaque;
    l2k_cuda_packet_maker *m = packets->maker;
    void *stream = m->rate.stream;
    L2K_TRY(l2k_poll(m->context, (uint64_t)WEIGHT_OF_BLOCK * m->run.num_blocks));
    L2K_TRY(l2k_cuda_rate_cut(&m->rate, prefix));
    L2K_TRY(enqueue_headers(m, stream));
    L2K_TRY(enqueue_counters(m, stream, packets->lengths));
    L2K_TRY(l2k_cuda_wait(m->context, stream));
    m->at = prefix;
    m->rate.gave_up = counters_of(m).no_room != 0;
    if (m->rate.gave_up)
        return L2K_ERROR_UNSUPPORTED;
    *bytes = counters_of(m).bytes + (packets->lengths ? bytes_of_lengths(m) : 0);
    return L2K_OK;
}

/* Makes headers for the prefix that the ratio allows. `done` is false if only the host can find it, or does so sooner:
 * a short list is measured some twelve times, and each time costs a wait. */
static l2k_status fit_ratio(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from, bool *done)
{
    measured_packets packets = {m, from->lengths};
    const l2k_prefix_measure measure = {measure_prefix, &packets};
    const uint64_t goal = l2k_ratio_goal(from->tile, 1, from->ratio), used = from->fixed_bytes;
    l2k_fitted_prefix fitted = {0};
    L2K_TRY(l2k_cuda_rate_list(&m->rate));
    if (m->rate.list.count <= L2K_FEW_SEGMENTS)
        return L2K_OK;
    L2K_TRY(l2k_fit_prefix(&m->rate.list, &measure, goal > used ? goal - used : 0, 0, &fitted));
    if (fitted.leaves_room)
        return L2K_OK;
    if (m->at != fitted.prefix)
        L2K_TRY(measure_prefix(&packets, fitted.prefix, &fitted.bytes));
    *done = has_room(m);
    if (*done)
        l2k_ratio_check(m->context, used + fitted.bytes, goal, from->ratio);
    return L2K_OK;
}

static l2k_status bring_blocks(const l2k_cuda_packet_source *from)
{
    L2K_TRY(l2k_cuda_coder_bring(from->coder, from->batch));
    *from->blocks_are_here = true;
    return L2K_OK;
}

static l2k_status complete_ratio(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from, l2k_made_packets *made)
{
    const l2k_cuda_rate_sums *sums = l2k_cuda_rate_sums_of(&m->rate);
    const bool excess = sums->excess != 0;
    bool done = false;
    if (sums->failed)
        return refuse_sample(m, from->batch, UINT32_MAX - sums->failed);
    if (m->run.coded.capacity >= MOST_CODE)
        return bring_blocks(from);
    m->run.more_guard_bits = excess;
    m->run.coded.blocks = m->rate.run.cut;
    const l2k_status status = fit_ratio(m, from, &done);
    if (status != L2K_OK && !m->rate.gave_up)
        return status;
    if (status != L2K_OK || !done)
        return bring_blocks(from);
    m->expected = 0;
    L2K_TRY(check_launch(m, l2k_cuda_launch_gather(&m->run, m->rate.stream)));
    return deliver(m, from, excess, made);
}

/* ---- All of it ----------------------------------------------------------------------------------------------- */

static void start_run(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from)
{
    l2k_cuda_coder_coded(from->coder, &m->run.coded);
    m->run.bytes = from->coefficients;
    m->run.capacity = from->coefficient_bytes;
    m->run.more_guard_bits = 0;
    m->run.sop = from->tile->coding->sop;
    m->run.eph = from->tile->coding->eph;
    if (m->expected > m->run.capacity)
        m->expected = 0;
}

/* Packets of a batch that the coder has begun. */
static l2k_status make_behind_coder(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from,
                                    l2k_made_packets *made)
{
    l2k_block_coder *coder = from->coder;
    start_run(m, from);
    const l2k_status enqueued = from->ratio ? l2k_cuda_rate_start(m->context, &m->rate, m->run.parts, m->num_parts,
                                                                  m->run.num_blocks, &m->run.coded, from->more->stream)
                                            : enqueue(m, from->more->stream, from->lengths);
    const l2k_status finished = coder->table->finish(coder);
    l2k_cuda_coder_coded(coder, &m->run.coded);
    L2K_TRY(enqueued);
    L2K_TRY(finished);
    if (!m->run.coded.complete)
        return L2K_OK;
    return from->ratio ? complete_ratio(m, from, made) : complete(m, from, made);
}

l2k_status l2k_cuda_make_packets(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from, l2k_made_packets *made)
{
    l2k_block_coder *coder = from->coder;
    const l2k_block_batch *batch = from->batch;
    bool possible = batch->num_places > 0 && (!from->ratio || l2k_cuda_coder_can_bring(coder));
    *made = (l2k_made_packets){0};
    *from->blocks_are_here = false;
    m->context = coder->context;
    if (possible)
        L2K_TRY(prepare(m, from->tile, from->more, &possible));
    if (!possible)
        return L2K_OK;
    double start = l2k_stage_start(m->context);
    L2K_TRY(coder->table->begin_encode(coder, batch));
    if (l2k_is_timed(m->context)) /* so that each stage has its own time; `finish` sees an error again */
        l2k_cuda_settle(from->more->stream);
    l2k_stage_end(m->context, L2K_STAGE_TIER1, start);
    start = l2k_stage_start(m->context);
    const l2k_status status = make_behind_coder(m, from, made);
    l2k_stage_end(m->context, from->ratio ? L2K_STAGE_RATE : L2K_STAGE_TIER2, start);
    return status;
}

/* ---- Truncated HT code-blocks -------------------------------------------------------------------------------- */

/* Sends up the parts with the tile's present steps, and begins a batch of the coder. */
static l2k_status begin_batch(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from)
{
    bool possible = from->batch->num_places > 0;
    part_sums sums = {0};
    m->context = from->coder->context;
    if (possible)
        L2K_TRY(prepare(m, from->tile, from->more, &possible));
    if (!possible)
        return L2K_ERROR_UNSUPPORTED;
    const size_t at = l2k_cuda_aligned(m->run.num_packets * sizeof *m->run.packets);
    list_parts(from->tile, (l2k_cuda_packet_part *)(m->pinned.at + at), NULL, &sums);
    L2K_TRY(l2k_cuda_upload(m->context, from->more->stream, m->device.at + at, m->pinned.at + at,
                            m->num_parts * sizeof *m->run.parts));
    return from->coder->table->begin_encode(from->coder, from->batch);
}

static l2k_status end_batch(const l2k_cuda_packet_source *from, l2k_status enqueued)
{
    const l2k_status finished = from->coder->table->finish(from->coder);
    return enqueued == L2K_OK ? finished : enqueued;
}

l2k_status l2k_cuda_packets_estimate(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from, uint64_t *planes,
                                     l2k_slope_list **list)
{
    l2k_ht_cuda_encoding *blocks = l2k_cuda_coder_truncation(from->coder);
    L2K_TRY(begin_batch(m, from));
    l2k_status status = l2k_ht_cuda_estimate(blocks, planes != NULL, &m->estimated);
    if (status == L2K_OK && list)
        status = l2k_cuda_rate_start(m->context, &m->rate, m->run.parts, m->num_parts, m->run.num_blocks, &m->estimated,
                                     from->more->stream);
    L2K_TRY(end_batch(from, status));
    for (unsigned i = 0; i < L2K_PLANE_SUMS && planes; i++)
        planes[i] += l2k_ht_cuda_plane_sums(blocks)[i];
    if (!list)
        return L2K_OK;
    const l2k_cuda_rate_sums *sums = l2k_cuda_rate_sums_of(&m->rate);
    if (sums->excess || sums->failed)
        return L2K_ERROR_UNSUPPORTED;
    L2K_TRY(l2k_cuda_rate_list(&m->rate));
    *list = &m->rate.list;
    return m->rate.list.count > L2K_FEW_SEGMENTS ? L2K_OK : L2K_ERROR_UNSUPPORTED;
}

l2k_status l2k_cuda_packets_sample(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from,
                                   l2k_block_sample *sample)
{
    l2k_ht_cuda_encoding *blocks = l2k_cuda_coder_truncation(from->coder);
    L2K_TRY(begin_batch(m, from));
    L2K_TRY(end_batch(from, l2k_ht_cuda_sample(blocks, &m->estimated, m->rate.run.cut)));
    const uint64_t *sums = l2k_ht_cuda_plane_sums(blocks);
    *sample = (l2k_block_sample){sums[0], sums[1], l2k_ht_cuda_coded_bytes(blocks)};
    return L2K_OK;
}

static l2k_status enqueue_cut(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from, size_t prefix)
{
    L2K_TRY(l2k_cuda_rate_cut(&m->rate, prefix));
    L2K_TRY(l2k_ht_cuda_cut(l2k_cuda_coder_truncation(from->coder), m->rate.run.cut));
    start_run(m, from);
    L2K_TRY(enqueue_headers(m, from->more->stream));
    return enqueue_counters(m, from->more->stream, from->lengths);
}

l2k_status l2k_cuda_packets_cut(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from, size_t prefix,
                                uint64_t *bytes)
{
    L2K_TRY(l2k_poll(m->context, (uint64_t)WEIGHT_OF_BLOCK * m->run.num_blocks));
    L2K_TRY(begin_batch(m, from));
    L2K_TRY(end_batch(from, enqueue_cut(m, from, prefix)));
    const l2k_cuda_packet_counters counters = counters_of(m);
    *bytes = counters.bytes + (from->lengths ? bytes_of_lengths(m) : 0);
    return counters.failed || counters.excess || !has_room(m) ? L2K_ERROR_UNSUPPORTED : L2K_OK;
}

l2k_status l2k_cuda_packets_deliver(l2k_cuda_packet_maker *m, const l2k_cuda_packet_source *from,
                                    l2k_made_packets *made)
{
    m->expected = 0;
    L2K_TRY(check_launch(m, l2k_cuda_launch_gather(&m->run, from->more->stream)));
    return deliver(m, from, false, made);
}

/* ---- Life ---------------------------------------------------------------------------------------------------- */

l2k_status l2k_cuda_packet_maker_create(const l2k_context *context, l2k_cuda_packet_maker **maker)
{
    l2k_cuda_packet_maker *m = *maker = l2k_allocate_zeroed(context, 1, sizeof *m);
    L2K_TRY(l2k_check_memory(context, m, "packets on a device"));
    m->owner = m->context = context;
    m->pinned.pinned = m->out.pinned = true;
    l2k_cuda_rate_create(context, &m->rate);
    return L2K_OK;
}

void l2k_cuda_packet_maker_free(l2k_cuda_packet_maker *m)
{
    if (!m)
        return;
    l2k_cuda_release(&m->device);
    l2k_cuda_release(&m->pinned);
    l2k_cuda_release(&m->out);
    l2k_cuda_rate_free(&m->rate);
    l2k_release(m->owner, m);
}
