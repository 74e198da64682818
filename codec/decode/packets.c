/* Reads the packets of one tile (Annex B) from its tile-parts. */
#include "codec/decode/packets.h"

#include <stdio.h>

static size_t next_part(const l2k_tile_reader *reader)
{
    const l2k_codestream *cs = reader->decoding->codestream;
    return reader->part == L2K_NO_PART ? cs->first_part[reader->index] : cs->parts[reader->part].next;
}

/* Moves on to the next tile-part that has packets. */
static bool advance_part(l2k_tile_reader *reader)
{
    for (size_t next; (next = next_part(reader)) != L2K_NO_PART;) {
        const l2k_tile_part_span *span = &reader->decoding->codestream->parts[next];
        reader->part = next;
        reader->input.data = span->packets;
        reader->input.end = span->end;
        if (span->packets != span->end)
            return true;
    }
    return false;
}

uint64_t l2k_tile_bytes(const l2k_codestream *cs, uint32_t tile)
{
    uint64_t bytes = 0;
    for (size_t i = cs->first_part[tile]; i != L2K_NO_PART; i = cs->parts[i].next)
        bytes += (uint64_t)(cs->parts[i].end - cs->parts[i].packets);
    return bytes;
}

static bool wanted(const l2k_tile_reader *reader, const l2k_packet_id *id)
{
    const l2k_resolution *resolution = &reader->tile->components[id->component].resolutions[id->resolution];
    return id->layer < reader->layers && l2k_precinct_is_wanted(resolution, id->precinct);
}

static const char fewer_packets[] = "has fewer packets than its header promises";

/* Reports faults of a tile's packets: damage, truncation, or packets that an encoder left out, which is common and does
 * not count as truncation if EOC follows. All complete packets are decoded; each kind of fault is warned of once for
 * all tiles. */
static l2k_status report(const l2k_decoding *d, uint32_t index, const l2k_packet_stop *stop)
{
    if (d->codestream->strict || (d->like_openjpeg && stop->error == L2K_ERROR_CORRUPT))
        return l2k_fail(d->context, stop->error, "tile %u %s%s", index, stop->what, stop->detail);
    bool complete = d->codestream->has_end && stop->what == fewer_packets;
    if (!atomic_exchange(complete ? &d->findings->warned_fewer : &d->findings->incomplete, true))
        l2k_warn(d->context, "tile %u %s%s", index, stop->what, stop->detail);
    return L2K_OK;
}

l2k_status l2k_missing_tile(const l2k_decoding *d, uint32_t index)
{
    return report(d, index, &(l2k_packet_stop){L2K_ERROR_TRUNCATED, fewer_packets, ""});
}

l2k_status l2k_report_damage(const l2k_decoding *d, l2k_tile_state *s)
{
    const l2k_packet_stop stop = {L2K_ERROR_CORRUPT, "has damaged code-blocks", ""};
    return atomic_load(&s->damaged) ? report(d, s->tile.index, &stop) : L2K_OK;
}

/* Packed headers tell whether a packet follows, otherwise the bytes. */
static bool has_packet(l2k_tile_reader *reader)
{
    bool more = reader->input.data != reader->input.end || advance_part(reader);
    return reader->input.packed ? reader->input.header != reader->input.header_end : more;
}

/* Visits that cost no bits: of code-blocks that are not included, and of packets of an earlier progression. Each tile
 * has a fixed number free and some more per byte, far more than a sane encoder needs. */
enum { FREE_LOOKS = 1 << 22, LOOKS_PER_BYTE = 64 };

static bool looks_too_often(const l2k_tile_reader *reader, uint64_t skipped)
{
    return reader->input.looks + skipped > FREE_LOOKS + LOOKS_PER_BYTE * reader->bytes;
}

/* The most bytes of a packet to read at once, as it will be needed; bodies of larger ones are read by code-block. */
enum { MOST_AT_ONCE = 1 << 16 };

/* If the file is read in parts: the bytes to read first of a packet of `length` bytes, 0 = unknown. EPH may follow
 * it. */
static uint64_t bytes_at_once(const l2k_tile_reader *reader, uint32_t length)
{
    enum { EPH_BYTES = 2 };
    const uint64_t known = length < MOST_AT_ONCE ? length + EPH_BYTES : MOST_AT_ONCE;
    return length == 0 || known < reader->header_bytes ? reader->header_bytes : known;
}

static l2k_status fetch_header(l2k_tile_reader *reader, uint32_t length)
{
    l2k_packet_input *input = &reader->input;
    const l2k_context *context = reader->decoding->context;
    if (!context->partial)
        return L2K_OK;
    const uint64_t bytes = bytes_at_once(reader, length);
    input->sure = bytes < (uint64_t)(input->end - input->data) ? input->data + bytes : NULL;
    return l2k_need(context, input->data, input->sure ? input->sure : input->end);
}

/* Reads the packet at the input. If no packet can follow it, *stop says why. `skipped`: packets that the order has
 * passed over so far. */
static l2k_status read_packet(l2k_tile_reader *reader, const l2k_packet_id *id, bool keep, uint64_t skipped,
                              l2k_packet_stop *stop)
{
    l2k_status status = l2k_packet_read(reader->decoding->context, reader->tile, id, keep, &reader->input);
    if (reader->input.beyond) {
        *stop = (l2k_packet_stop){L2K_ERROR_TRUNCATED, "", ""};
        return L2K_OK;
    }
    if (status == L2K_ERROR_TRUNCATED)
        *stop = (l2k_packet_stop){status, "ends in the middle of a packet", ""};
    else if (status == L2K_ERROR_CORRUPT)
        *stop = (l2k_packet_stop){status, "has a damaged packet header: ", reader->input.fault};
    else if (status == L2K_OK && looks_too_often(reader, skipped))
        *stop = (l2k_packet_stop){L2K_ERROR_CORRUPT, "has packets that visit too many code-blocks without data", ""};
    else
        return status;
    return L2K_OK;
}

/* ---- One after the other -------------------------------------------------------------------------------------- */

static bool has_all(const l2k_tile_reader *reader)
{
    return reader->wanted == reader->tile->num_precincts * reader->tile->coding->num_layers;
}

/* The packets end before the order does. OpenJPEG then reads empty ones, each of which needs its EPH. */
static void miss_packets(const l2k_tile_reader *reader, l2k_packet_stop *stop)
{
    if (reader->decoding->like_openjpeg && reader->tile->coding->eph)
        *stop = (l2k_packet_stop){L2K_ERROR_CORRUPT, "has no EPH marker where its header promises a packet", ""};
}

static void note_excess(l2k_tile_reader *reader, const l2k_packet_id *id)
{
    if (!reader->has_excess && reader->input.excess) {
        reader->excess = reader->number;
        reader->excess_layer = id->layer;
        reader->has_excess = true;
    }
    reader->number++;
}

/* Whether enough of the packet at the input has arrived. A header that turns out longer is read again. */
static bool has_arrived(l2k_tile_reader *reader)
{
    const l2k_codestream *cs = reader->decoding->codestream;
    l2k_packet_input *input = &reader->input;
    if (!input->arrives || input->body_is_due)
        return true;
    if (!has_packet(reader))
        return cs->has_end;
    const bool is_complete = cs->has_end || reader->part + 1 < cs->num_parts;
    input->sure = is_complete ? NULL : input->end;
    return is_complete || (uint64_t)(input->end - input->data) >= reader->header_bytes;
}

/* Reads packets in order, up to the last wanted one or, if an earlier window reached that, up to the end, and enters
 * them into the index, if any. */
static l2k_status read_packets(l2k_tile_reader *reader, l2k_packet_order *order, l2k_packet_index *index,
                               l2k_packet_stop *stop)
{
    const l2k_decoding *d = reader->decoding;
    const bool to_end = has_all(reader) || (index && index->was_read);
    while (!stop->error && (to_end || reader->left > 0) &&
           (reader->awaits || l2k_packet_order_next(order, &reader->next))) {
        const l2k_packet_id id = reader->next;
        const bool keep = wanted(reader, &id);
        reader->awaits = !has_arrived(reader);
        if (reader->awaits)
            return L2K_OK;
        if (!has_packet(reader)) {
            *stop = (l2k_packet_stop){L2K_ERROR_TRUNCATED, fewer_packets, ""};
            miss_packets(reader, stop);
            break;
        }
        if (index)
            index->offsets[l2k_packet_index_place(index, reader->tile, &id)] =
                (uint64_t)(reader->input.data - d->codestream->data);
        L2K_TRY(fetch_header(reader, 0));
        L2K_TRY(read_packet(reader, &id, keep, order->skipped, stop));
        reader->awaits = reader->input.body_is_due;
        if (reader->awaits)
            return L2K_OK;
        note_excess(reader, &id);
        reader->left -= keep;
    }
    if (stop->error == L2K_ERROR_TRUNCATED && l2k_packet_order_next(order, &reader->next))
        miss_packets(reader, stop);
    L2K_TRY(order->status);
    if (index && !reader->input.beyond) {
        index->was_read = true;
        index->is_whole = to_end || stop->error;
        index->stop = *stop;
    }
    bool more = reader->input.data != reader->input.end || next_part(reader) != L2K_NO_PART;
    if (!to_end || !more || stop->error)
        return L2K_OK;
    if (reader->has_excess && reader->excess_layer > 0 && !d->like_openjpeg)
        *stop = (l2k_packet_stop){L2K_ERROR_CORRUPT, "has bytes beyond its last packet", ""};
    else if (!atomic_exchange(&d->findings->warned_beyond, true))
        l2k_warn(d->context, "tile %u has bytes beyond its last packet", reader->index);
    return L2K_OK;
}

/* ---- By the index ---------------------------------------------------------------------------------------------- */

/* Goes through the wanted precincts, resolution by resolution. */
typedef struct precinct_iterator {
    uint32_t component, resolution;
    uint64_t at;
} precinct_iterator;

static bool next_precinct(const l2k_tile *tile, precinct_iterator *iterator, l2k_packet_id *id)
{
    for (; iterator->component < tile->num_components; iterator->component++, iterator->resolution = 0)
        for (; iterator->resolution < tile->components[iterator->component].num_resolutions;
             iterator->resolution++, iterator->at = 0) {
            const l2k_resolution *r = &tile->components[iterator->component].resolutions[iterator->resolution];
            const uint32_t width = l2k_rect_width(r->wanted);
            if (iterator->at == l2k_rect_area(r->wanted))
                continue;
            const uint32_t x = r->wanted.x0 + (uint32_t)(iterator->at % width),
                           y = r->wanted.y0 + (uint32_t)(iterator->at / width);
            *id = (l2k_packet_id){.component = iterator->component,
                                  .resolution = iterator->resolution,
                                  .precinct = y * r->precincts.across + x};
            iterator->at++;
            return true;
        }
    return false;
}

/* Whether the index knows each wanted packet, or knows that it is absent. */
static bool has_wanted(const l2k_tile_reader *reader, const l2k_packet_index *index)
{
    precinct_iterator iterator = {0};
    l2k_packet_id id;
    while (!index->is_whole && next_precinct(reader->tile, &iterator, &id)) {
        id.layer = reader->layers - 1;
        if (index->offsets[l2k_packet_index_place(index, reader->tile, &id)] == L2K_NO_PACKET)
            return false;
    }
    return true;
}

/* If the file is read in parts: reads the first bytes of all wanted packets. */
static l2k_status prefetch(const l2k_tile_reader *reader, const l2k_packet_index *index)
{
    const l2k_decoding *d = reader->decoding;
    l2k_need_list list = {.context = d->context};
    precinct_iterator iterator = {0};
    l2k_packet_id id;
    while (d->context->partial && next_precinct(reader->tile, &iterator, &id))
        for (id.layer = 0; id.layer < reader->layers; id.layer++) {
            const size_t place = l2k_packet_index_place(index, reader->tile, &id);
            if (index->lengths && index->offsets[place] != L2K_NO_PACKET)
                l2k_need_add(&list, d->codestream->data + index->offsets[place],
                             bytes_at_once(reader, index->lengths[place]));
        }
    return l2k_need_listed(&list);
}

static bool seek(l2k_tile_reader *reader, uint64_t offset)
{
    const l2k_codestream *cs = reader->decoding->codestream;
    const uint8_t *at = cs->data + offset;
    for (size_t i = cs->first_part[reader->index]; i != L2K_NO_PART; i = cs->parts[i].next)
        if (at >= cs->parts[i].packets && at < cs->parts[i].end) {
            reader->input.data = at;
            reader->input.end = cs->parts[i].end;
            return true;
        }
    return false;
}

static l2k_status read_precinct(l2k_tile_reader *reader, const l2k_packet_index *index, l2k_packet_id id,
                                bool *is_right, l2k_packet_stop *stop)
{
    l2k_packet_stop own = {0};
    for (id.layer = 0; id.layer < reader->layers && *is_right && !own.error; id.layer++) {
        const size_t place = l2k_packet_index_place(index, reader->tile, &id);
        if (index->offsets[place] == L2K_NO_PACKET || !seek(reader, index->offsets[place])) {
            own = index->stop;
            break;
        }
        const uint32_t length = index->lengths ? index->lengths[place] : 0;
        const uint8_t *start = reader->input.data;
        L2K_TRY(fetch_header(reader, length));
        *is_right = l2k_packet_index_agrees(index, place, start, reader->input.end);
        if (*is_right)
            L2K_TRY(read_packet(reader, &id, true, 0, &own));
        if (*is_right && index->lengths && !reader->input.beyond)
            *is_right = !own.error && reader->input.data == start + length;
    }
    if (own.error)
        *stop = own;
    return L2K_OK;
}

/* *is_right: false if lengths turn out to be wrong. */
static l2k_status read_indexed(l2k_tile_reader *reader, const l2k_packet_index *index, bool *is_right,
                               l2k_packet_stop *stop)
{
    precinct_iterator iterator = {0};
    l2k_packet_id id;
    *is_right = true;
    while (*is_right && !reader->input.beyond && next_precinct(reader->tile, &iterator, &id))
        L2K_TRY(read_precinct(reader, index, id, is_right, stop));
    return L2K_OK;
}

/* ---- On several threads ---------------------------------------------------------------------------------------- */

/* The least number of code-blocks for a thread, whose start takes microseconds. More threads than MOST_THREADS wait for
 * each other more than they help: the precincts of the highest resolution have most of the work. */
enum { BLOCKS_OF_THREAD = 512, MOST_THREADS = 4 };

/* What the threads have in common. */
typedef struct sharing {
    const l2k_tile_reader *reader;
    const l2k_packet_index *index;
    pthread_mutex_t lock;
    atomic_bool failed;
    atomic_uint_least64_t looks;
} sharing;

/* Reads a precinct's packets; false if anything is irregular. */
static bool read_regular(sharing *shared, l2k_packet_id id, l2k_pending_list *pending)
{
    l2k_tile_reader reader = *shared->reader;
    l2k_packet_stop stop = {0};
    bool is_right = true;
    reader.input = (l2k_packet_input){.lock = &shared->lock, .pending = pending};
    const l2k_status status = read_precinct(&reader, shared->index, id, &is_right, &stop);
    reader.input.looks += atomic_fetch_add(&shared->looks, reader.input.looks);
    return status == L2K_OK && is_right && !stop.error && !reader.input.excess && !looks_too_often(&reader, 0);
}

static bool share_out(sharing *shared, unsigned threads)
{
    const l2k_context *context = shared->reader->decoding->context;
    const size_t count = (size_t)l2k_window_precincts(shared->reader->tile);
    l2k_packet_id *precincts = l2k_allocate(context, count, sizeof *precincts);
    precinct_iterator iterator = {0};
    (void)threads; /* without OpenMP */
    if (!precincts)
        return false;
    for (size_t i = count; i-- > 0;) /* the large ones first */
        next_precinct(shared->reader->tile, &iterator, &precincts[i]);
    pthread_mutex_init(&shared->lock, NULL);
#pragma omp parallel num_threads(threads)
    {
        l2k_pending_list pending = {0};
#pragma omp for schedule(dynamic) nowait
        for (size_t i = 0; i < count; i++)
            if (!atomic_load(&shared->failed) && !read_regular(shared, precincts[i], &pending))
                atomic_store(&shared->failed, true);
        l2k_release(context, pending.at);
    }
    pthread_mutex_destroy(&shared->lock);
    l2k_release(context, precincts);
    return !atomic_load(&shared->failed);
}

static unsigned threads_for(const l2k_tile *tile, unsigned threads)
{
    const uint64_t most = threads > 1 ? l2k_tile_wanted_blocks(tile) / BLOCKS_OF_THREAD : 0;
    return l2k_min_u32(threads, most < MOST_THREADS ? (uint32_t)most : MOST_THREADS);
}

static bool may_state_lengths(const l2k_codestream *cs, uint32_t tile)
{
    bool may = true;
    for (size_t i = cs->first_part[tile]; may && i != L2K_NO_PART; i = cs->parts[i].next)
        may = cs->parts[i].lengths || l2k_part_has_segments(&cs->parts[i]);
    return may;
}

/* Precincts do not depend on each other, so they can be read at once where PLT or PLM tell their places. Anything
 * irregular is left, without a message, to reading in order. */
static l2k_status read_at_once(const l2k_tile_reader *reader, l2k_tile_state *s, unsigned threads, bool *is_read)
{
    l2k_context quiet = *reader->decoding->context;
    l2k_decoding own = *reader->decoding;
    l2k_tile_reader common = *reader;
    *is_read = false;
    threads = threads_for(&s->tile, threads);
    if (threads < 2 || quiet.partial || own.like_openjpeg || reader->input.packed || s->coding.sop ||
        !may_state_lengths(own.codestream, reader->index))
        return L2K_OK;
    L2K_TRY(l2k_start_packets(&own, s)); /* makes the order, which keeps its context */
    quiet.hooks.message = NULL;
    own.context = &quiet;
    common.decoding = &own;
    l2k_packet_index *index = l2k_packet_index_create(&quiet, &s->tile, reader->bytes);
    sharing shared = {.reader = &common, .index = index};
    if (index && l2k_enter_lengths(&own, s, index) == L2K_OK && index->is_whole)
        *is_read = share_out(&shared, threads);
    l2k_packet_index_free(&quiet, index);
    return *is_read ? L2K_OK : l2k_tile_restart(&quiet, UINT64_MAX, &s->tile);
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

static l2k_status start_packets(const l2k_decoding *d, l2k_tile_state *s, l2k_tile_reader *reader)
{
    reader->number = 0;
    reader->has_excess = reader->input.excess = false;
    reader->part = L2K_NO_PART;
    reader->left = reader->wanted;
    reader->awaits = reader->input.body_is_due = false;
    reader->input.data = reader->input.end = d->codestream->end; /* empty, but a valid address */
    return l2k_start_packets(d, s);
}

/* Reads by the index if it has all wanted packets and is right, else in order. */
static l2k_status read_wanted(const l2k_decoding *d, l2k_tile_state *s, l2k_tile_reader *reader,
                              l2k_packet_index *index, l2k_packet_stop *stop)
{
    bool is_right;
    reader->input.beyond = false;
    if (index && has_wanted(reader, index)) {
        L2K_TRY(prefetch(reader, index));
        L2K_TRY(read_indexed(reader, index, &is_right, stop));
        if (is_right)
            return L2K_OK;
        L2K_TRY(l2k_distrust_index(d, s, index));
        *stop = (l2k_packet_stop){0};
    }
    L2K_TRY(start_packets(d, s, reader));
    return read_packets(reader, &s->order, index, stop);
}

enum { FIRST_BYTES = 256, GROWTH = 8 };

/* If a header was longer than expected, reads all packets again from `input` on; bytes of the file that were read stay
 * in memory. */
static l2k_status read_longer(const l2k_decoding *d, l2k_tile_state *s, l2k_tile_reader *reader,
                              l2k_packet_index *index, const l2k_packet_input *input, l2k_packet_stop *stop)
{
    while (reader->input.beyond) {
        reader->header_bytes *= GROWTH;
        reader->input = *input;
        *stop = (l2k_packet_stop){0};
        L2K_TRY(l2k_tile_restart(d->context, UINT64_MAX, &s->tile));
        L2K_TRY(read_wanted(d, s, reader, index, stop));
    }
    return L2K_OK;
}

static l2k_status read_with_headers(const l2k_decoding *d, l2k_tile_state *s, l2k_tile_reader *reader,
                                    l2k_packet_index *index, l2k_packet_stop *stop)
{
    const l2k_packet_input input = reader->input;
    reader->header_bytes = FIRST_BYTES;
    L2K_TRY(read_wanted(d, s, reader, index, stop));
    return read_longer(d, s, reader, index, &input, stop);
}

/* Some encoders send more coding passes than bit-planes, and are right otherwise. But if packets do not end with their
 * bytes either, lengths are wrong: an encoder that restarts Lblock with each layer (B.10.7.1 keeps it) is wrong from
 * that layer's first length on. So the layers before it are read again, alone. */
static l2k_status keep_layers_before(const l2k_decoding *d, l2k_tile_state *s, l2k_tile_reader *reader)
{
    l2k_packet_stop stop = {0};
    reader->layers = reader->excess_layer;
    reader->wanted = l2k_window_precincts(&s->tile) * reader->layers;
    L2K_TRY(l2k_tile_restart(d->context, UINT64_MAX, &s->tile));
    return read_with_headers(d, s, reader, NULL, &stop);
}

static l2k_tile_reader reader_of(const l2k_decoding *d, l2k_tile_state *s)
{
    const uint32_t all = s->coding.num_layers;
    l2k_tile_reader reader = {.decoding = d, .tile = &s->tile, .index = s->tile.index};
    reader.layers = d->layers ? l2k_min_u32(d->layers, all) : all;
    reader.wanted = l2k_window_precincts(&s->tile) * reader.layers;
    reader.input.like_openjpeg = d->like_openjpeg;
    return reader;
}

l2k_status l2k_read_packets(const l2k_decoding *d, l2k_tile_state *s, unsigned threads)
{
    const l2k_buffer *packed = &s->packed.bytes;
    l2k_packet_stop stop = {0};
    l2k_packet_index *index = NULL;
    l2k_tile_reader reader = reader_of(d, s);
    reader.bytes = l2k_tile_bytes(d->codestream, s->tile.index) + packed->size;
    if (s->packed.used) {
        reader.input.packed = true;
        reader.input.header = packed->data;
        reader.input.header_end = l2k_buffer_end(packed);
    }
    const bool by_part = d->context->partial && !s->bytes; /* the tile's bytes have not been read together */
    if (!reader.input.packed && (!has_all(&reader) || by_part))
        L2K_TRY(l2k_find_index(d, s, reader.bytes, &index));
    else
        L2K_TRY(read_at_once(&reader, s, threads, &s->is_whole));
    if (s->is_whole)
        return L2K_OK;
    const l2k_packet_input start = reader.input;
    char text[128];
    L2K_TRY(read_with_headers(d, s, &reader, index, &stop));
    s->is_whole = !stop.error;
    if (stop.error && reader.has_excess && reader.excess_layer > 0 && !d->like_openjpeg) {
        snprintf(text, sizeof text, "packet %llu of layer %u on: more coding passes than bit-planes allow",
                 (unsigned long long)reader.excess, reader.excess_layer);
        stop = (l2k_packet_stop){L2K_ERROR_CORRUPT, "has damaged packet headers from ", text};
        reader.input = start;
        if (index) /* its packets are not where it says */
            l2k_packet_index_empty(d->context, index);
        L2K_TRY(keep_layers_before(d, s, &reader));
    }
    return stop.error ? report(d, s->tile.index, &stop) : L2K_OK;
}

/* ---- A codestream that is still arriving ------------------------------------------------------------------------ */

/* The bytes may have moved, and more have arrived. */
static void place_input(l2k_tile_reader *reader)
{
    const l2k_codestream *cs = reader->decoding->codestream;
    if (reader->part == L2K_NO_PART) {
        reader->input.data = reader->input.end = cs->end;
        return;
    }
    reader->input.data = cs->data + reader->offset;
    reader->input.end = cs->parts[reader->part].end;
}

l2k_status l2k_read_arrived_packets(const l2k_decoding *d, l2k_tile_state *s, bool ended, l2k_tile_reader *reader,
                                    bool *restarted, bool *done)
{
    l2k_packet_stop stop = {0};
    if (!reader->tile) {
        *reader = reader_of(d, s);
        reader->header_bytes = FIRST_BYTES;
        L2K_TRY(start_packets(d, s, reader));
    }
    place_input(reader);
    reader->input.arrives = !ended;
    reader->input.sure = NULL;
    reader->bytes = l2k_tile_bytes(d->codestream, s->tile.index);
    const l2k_packet_input input = reader->input;
    L2K_TRY(read_packets(reader, &s->order, NULL, &stop));
    *restarted = reader->input.beyond;
    L2K_TRY(read_longer(d, s, reader, NULL, &input, &stop));
    reader->offset = (uint64_t)(reader->input.data - d->codestream->data);
    *done = !reader->awaits;
    s->is_whole = *done && !stop.error;
    return stop.error ? report(d, s->tile.index, &stop) : L2K_OK;
}
