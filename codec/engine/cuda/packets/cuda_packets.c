/* Packets on a CUDA device: lists, made once for a tile's shape; memory; and results. */
#include "base/integer.h"
#include "base/run.h"
#include "codec/engine/cuda/ht/ht_cuda_coding.h"
#include "codec/engine/cuda/packets/cuda_packet_maker.h"
#include "codec/packets/packet_order.h"
#include "codec/packets/rate.h"
#include "transform/cuda/cuda_device.h"

/* ---- Lists --------------------------------------------------------------------------------------------------- */

/* Sums over the parts of a tile's packets, and the most of a packet. */
typedef struct part_sums {
    uint64_t parts, blocks, nodes, words, headers;
    uint64_t samples_bytes; /* of the samples, as their precision says */
    uint64_t most_blocks, most_nodes;
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

/* Lists the parts of a resolution in the order of l2k_tile_list_blocks. */
static void list_resolution(const l2k_tile *tile, const l2k_resolution *resolution, l2k_cuda_packet_part *parts,
                            part_sums *sums)
{
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        const l2k_subband *band = &resolution->bands[b];
        const l2k_component_coding *coding = band->component->coding;
        const double weight = l2k_distortion_weight(tile, band);
        for (uint32_t p = 0; p < resolution->num_precincts; p++) {
            const l2k_partition *grid = &band->precincts[p].grid;
            const bool some = l2k_precinct_blocks(&band->precincts[p]) > 0;
            const uint32_t across = some ? grid->across : 0, down = some ? grid->down : 0;
            const uint64_t nodes = count_nodes(across, down);
            parts[sums->parts++] =
                (l2k_cuda_packet_part){.first_block = (uint32_t)sums->blocks,
                                       .across = across,
                                       .down = down,
                                       .num_nodes = (uint32_t)nodes,
                                       .first_node = (uint32_t)sums->nodes,
                                       .max_planes = (uint8_t)l2k_min_u32(band->max_planes, UINT8_MAX),
                                       .level = (uint8_t)(l2k_coding_wavelet(coding)->reversible
                                                              ? L2K_REVERSIBLE
                                                              : l2k_band_level(coding->levels, band->resolution)),
                                       .is_ht = (coding->style & L2K_STYLE_HT) != 0,
                                       .has_segments = most_segments(band) > 1,
                                       .weight = weight};
            sums->blocks += (uint64_t)across * down;
            sums->nodes += nodes;
        }
    }
}

enum { RESOLUTIONS = L2K_MAX_LEVELS + 1, MARKER_BYTES = 8 };

static void list_parts(const l2k_cuda_packet_maker *m, part_sums *sums)
{
    const l2k_tile *tile = m->request->tile;
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_tile_component *component = &tile->components[c];
        for (uint32_t r = 0; r < component->num_resolutions; r++) {
            m->first_parts[c * RESOLUTIONS + r] = (uint32_t)sums->parts;
            list_resolution(tile, &component->resolutions[r], m->lists.parts, sums);
        }
        sums->samples_bytes += l2k_rect_area(component->rect) * component->precision / 8;
    }
}

static l2k_status list_packets(const l2k_cuda_packet_maker *m, part_sums *sums)
{
    const l2k_context *context = m->coder->context;
    const l2k_tile *tile = m->request->tile;
    l2k_packet_order order;
    l2k_packet_id id;
    L2K_TRY(l2k_packet_order_create(context, tile, &order));
    for (uint32_t i = 0; l2k_packet_order_next(&order, &id); i++) {
        const l2k_resolution *resolution = &tile->components[id.component].resolutions[id.resolution];
        uint64_t blocks = 0, nodes = 0, bits = 1;
        for (uint32_t b = 0; b < resolution->num_bands; b++) {
            const l2k_partition *grid = &resolution->bands[b].precincts[id.precinct].grid;
            blocks += (uint64_t)grid->across * grid->down;
            nodes += count_nodes(grid->across, grid->down);
            bits += most_bits(&resolution->bands[b], grid->across, grid->down);
        }
        m->lists.packets[i] =
            (l2k_cuda_packet){.first_part = m->first_parts[id.component * RESOLUTIONS + id.resolution] + id.precinct,
                              .num_parts = resolution->num_bands,
                              .distance = resolution->num_precincts,
                              .first_word = (uint32_t)sums->words,
                              .num_words = (uint32_t)(bits / 32 + 3),
                              .header = (uint32_t)sums->headers};
        sums->words += bits / 32 + 3;
        sums->headers += (bits / 7 + 2 + MARKER_BYTES) / 4 + 1;
        sums->most_blocks = blocks > sums->most_blocks ? blocks : sums->most_blocks;
        sums->most_nodes = nodes > sums->most_nodes ? nodes : sums->most_nodes;
    }
    const l2k_status status = order.status;
    l2k_packet_order_release(context, &order);
    return status;
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* Pinned memory for packets of `bytes` bytes, with headers around them. */
static l2k_status reserve_out(l2k_cuda_packet_maker *m, uint64_t bytes)
{
    return l2k_cuda_pin(m->coder->context, &m->out, (size_t)bytes + L2K_PACKETS_FRONT + L2K_PACKETS_BACK);
}

/* What pinned and device memory begin with: the lists, then what comes back, and on the host lengths of packets in place
 * of their starts. Returns its bytes. */
static size_t place_lists(const l2k_cuda_memory *memory, uint64_t count, l2k_cuda_packet_run *run)
{
    size_t used = 0;
    run->packets = l2k_cuda_part(memory, &used, count * sizeof *run->packets);
    run->parts = l2k_cuda_part(memory, &used, L2K_MOST_PARTS * count * sizeof *run->parts);
    run->counters = l2k_cuda_part(memory, &used, sizeof *run->counters);
    run->sizes = l2k_cuda_part(memory, &used, count * sizeof *run->sizes);
    run->starts = l2k_cuda_part(memory, &used, count * sizeof *run->starts);
    return used;
}

static size_t place_all(const l2k_cuda_memory *memory, const part_sums *sums, l2k_cuda_packet_run *run)
{
    size_t used = place_lists(memory, run->num_packets, run);
    run->places = l2k_cuda_part(memory, &used, (size_t)sums->blocks * sizeof *run->places);
    run->nodes = l2k_cuda_part(memory, &used, (size_t)sums->nodes * sizeof *run->nodes);
    run->words = l2k_cuda_part(memory, &used, (size_t)sums->words * sizeof *run->words);
    run->headers = l2k_cuda_part(memory, &used, (size_t)sums->headers * sizeof *run->headers);
    return used;
}

/* Few images take more bytes than their samples; these get more room on demand, since pinning memory takes long. */
static uint64_t usual_bytes(const part_sums *sums)
{
    return sums->samples_bytes + 4 * sums->headers + ((uint64_t)1 << 16);
}

/* Makes the lists in pinned memory and sends them up, unless they are there. L2K_ERROR_UNSUPPORTED, without a message, if
 * a count exceeds its limit. */
static l2k_status prepare(l2k_cuda_packet_maker *m)
{
    const l2k_context *context = m->coder->context;
    const l2k_tile *tile = m->request->tile;
    const uint64_t count = tile->num_precincts;
    part_sums sums = {0};
    if (m->more.same && m->more.same == m->same)
        return L2K_OK;
    m->same = 0;
    m->expected = 0;
    if (count == 0 || count > UINT32_MAX / 256)
        return L2K_ERROR_UNSUPPORTED;
    const size_t lists = place_lists(&m->pinned, count, &m->lists);
    L2K_TRY(
        l2k_cuda_pin(context, &m->pinned, lists + (size_t)tile->num_components * RESOLUTIONS * sizeof *m->first_parts));
    place_lists(&m->pinned, count, &m->lists);
    m->first_parts = (uint32_t *)(m->pinned.at + lists);
    list_parts(m, &sums);
    L2K_TRY(list_packets(m, &sums));
    if (sums.nodes > UINT32_MAX / 64 || sums.words > UINT32_MAX / 8 || sums.headers > UINT32_MAX / 8 ||
        sums.most_nodes >= L2K_NO_BLOCK)
        return L2K_ERROR_UNSUPPORTED;
    m->num_parts = (uint32_t)sums.parts;
    m->run.num_packets = (uint32_t)count;
    m->run.num_blocks = (uint32_t)sums.blocks;
    m->run.many_blocks = sums.most_blocks > 128;
    m->run.shared_nodes = sums.most_nodes <= L2K_SHARED_NODES;
    L2K_TRY(l2k_cuda_reserve(context, &m->device, place_all(&m->device, &sums, &m->run)));
    place_all(&m->device, &sums, &m->run);
    L2K_TRY(reserve_out(m, usual_bytes(&sums)));
    L2K_TRY(l2k_cuda_upload(context, m->more.stream, m->run.packets, m->lists.packets,
                            l2k_cuda_span(m->lists.packets, m->lists.parts + sums.parts)));
    m->same = m->more.same;
    return L2K_OK;
}

/* ---- At work ------------------------------------------------------------------------------------------------- */

static l2k_status check_launch(const l2k_cuda_packet_maker *m, int error)
{
    return l2k_cuda_check(m->coder->context, error, "launching the packets");
}

static l2k_status gather(const l2k_cuda_packet_maker *m)
{
    return check_launch(m, l2k_cuda_launch_gather(&m->run, m->more.stream));
}

/* Makes headers, and with `all` packets, behind the coder in the stream. Counters come down, sizes with them if lengths
 * are wanted, and of packets the probable number of bytes. */
static l2k_status enqueue(const l2k_cuda_packet_maker *m, bool all)
{
    const l2k_context *context = m->coder->context;
    const size_t sizes = l2k_cuda_span(m->run.counters, m->run.sizes + m->run.num_packets);
    L2K_TRY(l2k_cuda_clear(context, m->more.stream, m->run.counters, sizeof *m->run.counters));
    L2K_TRY(check_launch(m, l2k_cuda_launch_headers(&m->run, m->more.stream)));
    if (all)
        L2K_TRY(gather(m));
    L2K_TRY(l2k_cuda_download(context, m->more.stream, m->lists.counters, m->run.counters,
                              m->request->lengths ? sizes : sizeof *m->run.counters));
    if (!all || m->expected == 0)
        return L2K_OK;
    return l2k_cuda_download(context, m->more.stream, m->out.at + L2K_PACKETS_FRONT, m->run.bytes, m->expected);
}

/* Fetches the bytes that have not come down yet, and grows memory for them. */
static l2k_status fetch_rest(l2k_cuda_packet_maker *m, uint64_t bytes)
{
    const l2k_context *context = m->coder->context;
    if (bytes > m->out.bytes - L2K_PACKETS_FRONT - L2K_PACKETS_BACK) {
        m->expected = 0;
        L2K_TRY(reserve_out(m, bytes + bytes / 4));
    }
    if (bytes <= m->expected)
        return L2K_OK;
    L2K_TRY(l2k_cuda_download(context, m->more.stream, m->out.at + L2K_PACKETS_FRONT + m->expected,
                              m->run.bytes + m->expected, (size_t)bytes - m->expected));
    return l2k_cuda_wait(context, m->more.stream);
}

/* Another image of this size may take a little more. */
static void expect(l2k_cuda_packet_maker *m, uint64_t bytes)
{
    const uint64_t more = bytes + bytes / 64, room = m->out.bytes - L2K_PACKETS_FRONT - L2K_PACKETS_BACK;
    const uint64_t least = m->run.capacity < room ? m->run.capacity : room;
    m->expected = (size_t)(more < least ? more : least);
}

static l2k_status refuse_sample(const l2k_cuda_packet_maker *m, uint32_t failed)
{
    return l2k_fail(m->coder->context, L2K_ERROR_ARGUMENT, "a sample of component %u lies outside its precision",
                    m->batch.places[UINT32_MAX - failed].band->component->index);
}

static uint32_t length_of(const l2k_cuda_packet_maker *m, uint32_t packet)
{
    return m->lists.sizes[packet].header + m->lists.sizes[packet].body;
}

/* Makes the counted packets in host memory. */
static l2k_status deliver(l2k_cuda_packet_maker *m, bool excess, l2k_made_packets *made)
{
    const l2k_cuda_packet_counters *counters = m->lists.counters;
    l2k_tile *tile = m->request->tile;
    L2K_TRY(fetch_rest(m, counters->bytes));
    tile->missing_guard_bits = excess;
    tile->magnitude_bound = (uint8_t)l2k_max_u32(tile->magnitude_bound, counters->bound);
    *made = (l2k_made_packets){
        .bytes = m->out.at + L2K_PACKETS_FRONT, .count = (size_t)counters->bytes, .num_packets = m->run.num_packets};
    if (!m->request->lengths)
        return L2K_OK;
    for (uint32_t i = 0; i < m->run.num_packets; i++)
        m->lists.starts[i] = length_of(m, i);
    made->lengths = m->lists.starts;
    return L2K_OK;
}

/* Whether the counted packets have room. */
static bool has_room(const l2k_cuda_packet_maker *m)
{
    return !m->lists.counters->no_room && m->lists.counters->bytes <= m->run.capacity;
}

/* Completes the first attempt by its counters: all packets in host memory. Strong colours need another guard bit
 * (docs/numerics.md), which changes only headers. */
static l2k_status complete(l2k_cuda_packet_maker *m, l2k_made_packets *made)
{
    const bool excess = m->lists.counters->excess != 0;
    if (m->lists.counters->failed)
        return refuse_sample(m, m->lists.counters->failed);
    if (excess) {
        m->run.more_guard_bits = 1;
        L2K_TRY(enqueue(m, true));
        L2K_TRY(l2k_cuda_wait(m->coder->context, m->more.stream));
    }
    if (!has_room(m))
        return L2K_OK;
    L2K_TRY(deliver(m, excess, made));
    expect(m, m->lists.counters->bytes);
    return L2K_OK;
}

/* ---- A ratio ------------------------------------------------------------------------------------------------- */

/* The bytes of the counted packets, and of their lengths in PLT (A.7.3). */
static uint64_t count_bytes(const l2k_cuda_packet_maker *m)
{
    uint64_t bytes = m->lists.counters->bytes;
    for (uint32_t i = 0; m->request->lengths && i < m->run.num_packets; i++)
        for (uint32_t rest = length_of(m, i); rest; rest >>= 7)
            bytes++;
    return bytes;
}

/* A code-block's weight in l2k_poll. */
enum { WEIGHT_OF_BLOCK = 8 };

/* In units of 4 bytes: a bin's sum has 32 bits for bytes. */
enum { MOST_CODE = 1 << 30 };

static l2k_status measure_prefix(void *maker, size_t prefix, uint64_t *bytes)
{
    l2k_cuda_packet_maker *m = maker;
    L2K_TRY(l2k_poll(m->coder->context, (uint64_t)WEIGHT_OF_BLOCK * m->run.num_blocks));
    L2K_TRY(l2k_cuda_rate_cut(&m->rate, prefix));
    L2K_TRY(enqueue(m, false));
    L2K_TRY(l2k_cuda_wait(m->coder->context, m->more.stream));
    m->at = prefix;
    *bytes = count_bytes(m);
    return m->lists.counters->no_room ? L2K_ERROR_UNSUPPORTED : L2K_OK;
}

/* Makes headers for the prefix that the ratio allows. L2K_ERROR_UNSUPPORTED if only the host can find it, or does so
 * sooner: a short list is measured some twelve times, and each time costs a wait. */
static l2k_status fit_ratio(l2k_cuda_packet_maker *m)
{
    const l2k_prefix_measure measure = {measure_prefix, m};
    const uint64_t goal = l2k_ratio_goal(m->request->tile, 1, m->request->ratio), used = m->request->fixed_bytes;
    l2k_fitted_prefix fitted = {0};
    L2K_TRY(l2k_cuda_rate_list(&m->rate));
    if (m->rate.list.count <= L2K_FEW_SEGMENTS)
        return L2K_ERROR_UNSUPPORTED;
    L2K_TRY(l2k_fit_prefix(&m->rate.list, &measure, goal > used ? goal - used : 0, 0, &fitted));
    if (fitted.leaves_room)
        return L2K_ERROR_UNSUPPORTED;
    if (m->at != fitted.prefix)
        L2K_TRY(measure_prefix(m, fitted.prefix, &fitted.bytes));
    if (!has_room(m))
        return L2K_ERROR_UNSUPPORTED;
    l2k_ratio_check(m->coder->context, used + fitted.bytes, goal, m->request->ratio);
    return L2K_OK;
}

static l2k_status complete_ratio(l2k_cuda_packet_maker *m, l2k_made_packets *made)
{
    const l2k_cuda_rate_sums *sums = m->rate.sums;
    const bool excess = sums->excess != 0;
    if (sums->failed)
        return refuse_sample(m, sums->failed);
    m->run.more_guard_bits = excess;
    m->run.coded.blocks = m->rate.run.cut;
    const l2k_status status = m->run.coded.capacity < MOST_CODE ? fit_ratio(m) : L2K_ERROR_UNSUPPORTED;
    m->blocks_are_here = status == L2K_ERROR_UNSUPPORTED;
    if (m->blocks_are_here)
        return l2k_cuda_coder_bring(m->coder, &m->batch);
    L2K_TRY(status);
    m->expected = 0;
    L2K_TRY(gather(m));
    return deliver(m, excess, made);
}

/* ---- All of it ----------------------------------------------------------------------------------------------- */

static void start_run(l2k_cuda_packet_maker *m)
{
    const l2k_tile_coding *coding = m->request->tile->coding;
    l2k_cuda_coder_coded(m->coder, &m->run.coded);
    m->run.bytes = m->coefficients;
    m->run.capacity = m->coefficient_bytes;
    m->run.more_guard_bits = 0;
    m->run.sop = coding->sop;
    m->run.eph = coding->eph;
    if (m->expected > m->run.capacity)
        m->expected = 0;
}

static l2k_status start_rate(l2k_cuda_packet_maker *m, const l2k_cuda_coded *coded)
{
    return l2k_cuda_rate_start(m->coder->context, &m->rate, m->run.parts, m->num_parts, m->run.num_blocks, coded,
                               m->more.stream);
}

/* Packets of a batch that the coder has begun. */
static l2k_status make_behind_coder(l2k_cuda_packet_maker *m, l2k_made_packets *made)
{
    start_run(m);
    const l2k_status enqueued = m->request->ratio ? start_rate(m, &m->run.coded) : enqueue(m, true);
    const l2k_status finished = m->coder->table->finish(m->coder);
    l2k_cuda_coder_coded(m->coder, &m->run.coded);
    L2K_TRY(enqueued);
    L2K_TRY(finished);
    if (!m->run.coded.complete)
        return L2K_OK;
    return m->request->ratio ? complete_ratio(m, made) : complete(m, made);
}

l2k_status l2k_cuda_make_packets(l2k_cuda_packet_maker *m, l2k_made_packets *made)
{
    const l2k_context *context = m->coder->context;
    *made = (l2k_made_packets){0};
    if (m->batch.num_places == 0 || (m->request->ratio && m->coder->table != &l2k_mq_on_cuda))
        return L2K_OK;
    l2k_status status = prepare(m);
    if (status != L2K_OK)
        return status == L2K_ERROR_UNSUPPORTED ? L2K_OK : status;
    double start = l2k_stage_start(context);
    L2K_TRY(m->coder->table->begin_encode(m->coder, &m->batch));
    if (l2k_is_timed(context)) /* so that each stage has its own time; `finish` sees an error again */
        l2k_cuda_settle(m->more.stream);
    l2k_stage_end(context, L2K_STAGE_TIER1, start);
    start = l2k_stage_start(context);
    status = make_behind_coder(m, made);
    l2k_stage_end(context, m->request->ratio ? L2K_STAGE_RATE : L2K_STAGE_TIER2, start);
    return status;
}

/* ---- Truncated HT code-blocks -------------------------------------------------------------------------------- */

/* Sends up the parts with the tile's present steps, and begins a batch of the coder. */
static l2k_status begin_batch(l2k_cuda_packet_maker *m)
{
    part_sums sums = {0};
    if (m->batch.num_places == 0)
        return L2K_ERROR_UNSUPPORTED;
    L2K_TRY(prepare(m));
    list_parts(m, &sums);
    L2K_TRY(l2k_cuda_upload(m->coder->context, m->more.stream, m->run.parts, m->lists.parts,
                            m->num_parts * sizeof *m->run.parts));
    return m->coder->table->begin_encode(m->coder, &m->batch);
}

static l2k_status end_batch(const l2k_cuda_packet_maker *m, l2k_status enqueued)
{
    const l2k_status finished = m->coder->table->finish(m->coder);
    return enqueued == L2K_OK ? finished : enqueued;
}

l2k_status l2k_cuda_packets_estimate(l2k_cuda_packet_maker *m, uint64_t *planes, l2k_slope_list **list)
{
    l2k_ht_cuda *blocks = l2k_cuda_coder_truncation(m->coder);
    L2K_TRY(begin_batch(m));
    l2k_status status = l2k_ht_cuda_estimate(blocks, planes != NULL);
    if (status == L2K_OK && list)
        status = start_rate(m, &blocks->estimated);
    L2K_TRY(end_batch(m, status));
    for (unsigned i = 0; i < L2K_PLANE_SUMS && planes; i++)
        planes[i] += blocks->host.counters->planes[i];
    if (!list)
        return L2K_OK;
    if (m->rate.sums->excess || m->rate.sums->failed)
        return L2K_ERROR_UNSUPPORTED;
    L2K_TRY(l2k_cuda_rate_list(&m->rate));
    *list = &m->rate.list;
    return m->rate.list.count > L2K_FEW_SEGMENTS ? L2K_OK : L2K_ERROR_UNSUPPORTED;
}

l2k_status l2k_cuda_packets_sample(l2k_cuda_packet_maker *m, l2k_block_sample *sample)
{
    l2k_ht_cuda *blocks = l2k_cuda_coder_truncation(m->coder);
    L2K_TRY(begin_batch(m));
    L2K_TRY(end_batch(m, l2k_ht_cuda_sample(blocks, m->rate.run.cut)));
    const uint64_t *sums = blocks->host.counters->planes;
    *sample = (l2k_block_sample){.all = sums[0], .estimated = sums[1]};
    for (uint32_t i = 0; i < m->run.num_blocks; i++)
        sample->coded += blocks->host.coded[i].bytes;
    return L2K_OK;
}

static l2k_status enqueue_cut(l2k_cuda_packet_maker *m, size_t prefix)
{
    L2K_TRY(l2k_cuda_rate_cut(&m->rate, prefix));
    L2K_TRY(l2k_ht_cuda_cut(l2k_cuda_coder_truncation(m->coder), m->rate.run.cut));
    start_run(m);
    return enqueue(m, false);
}

l2k_status l2k_cuda_packets_cut(l2k_cuda_packet_maker *m, size_t prefix, uint64_t *bytes)
{
    L2K_TRY(l2k_poll(m->coder->context, (uint64_t)WEIGHT_OF_BLOCK * m->run.num_blocks));
    L2K_TRY(begin_batch(m));
    L2K_TRY(end_batch(m, enqueue_cut(m, prefix)));
    const l2k_cuda_packet_counters *counters = m->lists.counters;
    *bytes = count_bytes(m);
    return counters->failed || counters->excess || !has_room(m) ? L2K_ERROR_UNSUPPORTED : L2K_OK;
}

l2k_status l2k_cuda_packets_deliver(l2k_cuda_packet_maker *m, l2k_made_packets *made)
{
    m->expected = 0;
    L2K_TRY(gather(m));
    return deliver(m, false, made);
}

void l2k_cuda_packet_maker_release(l2k_cuda_packet_maker *m)
{
    l2k_block_coder_free(m->coder);
    l2k_cuda_release(&m->device);
    l2k_cuda_release(&m->pinned);
    l2k_cuda_release(&m->out);
    l2k_cuda_rate_release(&m->rate);
}
