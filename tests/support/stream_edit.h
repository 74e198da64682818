/* Takes codestreams apart and reassembles them differently, to test features that the encoder does not use. The
 * original must have been written with SOP and EPH, which separate packets and their headers and occur nowhere else. */
#ifndef L2K_TESTS_SUPPORT_STREAM_EDIT_H
#define L2K_TESTS_SUPPORT_STREAM_EDIT_H

#include "api_support.h"
#include "base/buffer.h"

enum { MOST_EDIT_PARTS = 64, MOST_EDIT_PACKETS = 4096 };

typedef struct edit_bytes {
    const uint8_t *data;
    size_t size;
} edit_bytes;

/* An edit_bytes with these bytes. */
#define SEGMENT(...)                                                                                                   \
    {                                                                                                                  \
        (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[])                                                        \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

typedef struct edit_packet {
    edit_bytes header, body; /* without SOP and EPH */
} edit_packet;

typedef struct edit_part {
    uint32_t tile, index;
    size_t first, count; /* packets */
} edit_part;

typedef struct edit {
    edit_bytes main; /* from SOC to the first SOT */
    edit_part parts[MOST_EDIT_PARTS];
    size_t num_parts;
    edit_packet packets[MOST_EDIT_PACKETS];
    size_t num_packets;
} edit;

static inline bool edit_at(const uint8_t *at, const uint8_t *end, unsigned code)
{
    return end - at >= 2 && at[0] == 0xFF && at[1] == code;
}

static inline void edit_take_packets(edit *e, edit_part *part, const uint8_t *at, const uint8_t *end)
{
    part->first = e->num_packets;
    while (at < end) {
        assert_true(edit_at(at, end, 0x91));
        edit_packet *p = &e->packets[e->num_packets++];
        assert_true(e->num_packets < MOST_EDIT_PACKETS);
        p->header.data = at += 6;
        while (!edit_at(at, end, 0x92))
            at++;
        p->header.size = (size_t)(at - p->header.data);
        p->body.data = at += 2;
        while (at < end && !edit_at(at, end, 0x91))
            at++;
        p->body.size = (size_t)(at - p->body.data);
    }
    part->count = e->num_packets - part->first;
}

static inline void edit_take_part(edit *e, const uint8_t *sot)
{
    edit_part *part = &e->parts[e->num_parts++];
    assert_true(e->num_parts < MOST_EDIT_PARTS);
    *part = (edit_part){.tile = l2k_get_be(sot + 4, 2), .index = sot[10]};
    const uint8_t *at = sot + 12, *end = sot + l2k_get_be(sot + 6, 4);
    while (!edit_at(at, end, 0x93))
        at += 2 + l2k_get_be(at + 2, 2);
    edit_take_packets(e, part, at + 2, end);
}

static inline void edit_open(edit *e, const memory_file *file)
{
    const uint8_t *at = file->data + 2;
    memset(e, 0, sizeof *e);
    while (!(at[0] == 0xFF && at[1] == 0x90))
        at += 2 + l2k_get_be(at + 2, 2);
    e->main = (edit_bytes){file->data, (size_t)(at - file->data)};
    for (; at[1] == 0x90; at += l2k_get_be(at + 6, 4))
        edit_take_part(e, at);
    assert_int_equal(at[1], 0xD9);
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

static inline void edit_put(memory_file *out, uint32_t value, unsigned bytes)
{
    while (bytes-- > 0)
        memory_write(out, &(uint8_t){(uint8_t)(value >> 8 * bytes)}, 1);
}

static inline void edit_append(memory_file *out, edit_bytes b)
{
    if (b.size)
        memory_write(out, b.data, b.size);
}

/* How a stream is assembled. TNsot is always 0. */
typedef struct edit_plan {
    enum { PACKED_NOT, PACKED_PPM, PACKED_PPT } packed;
    size_t segment_bytes; /* most packed header bytes in a marker segment */
    bool sop, eph;
    size_t packets_in_part; /* packets per tile-part; 0 = unchanged */
    bool interleaved;       /* tile-parts of different tiles alternate; else tile after tile, the last tile first */
    bool open_end;          /* Psot 0 in the last tile-part */
    edit_bytes main_extra, part_extra; /* marker segments for the main header and each tile's first header */
} edit_plan;

static inline void edit_put_header(memory_file *out, const edit_plan *plan, const edit_packet *p)
{
    edit_append(out, p->header);
    if (plan->eph)
        edit_put(out, 0xFF92, 2);
}

/* Packed headers split into segments with falling indices, which the standard allows. */
static inline void edit_put_segments(memory_file *out, const edit_plan *plan, const memory_file *headers)
{
    uint32_t marker = plan->packed == PACKED_PPM ? 0xFF60 : 0xFF61;
    size_t most = plan->segment_bytes, count = (headers->size + most - 1) / most;
    assert_true(count <= 256);
    for (size_t i = count; i-- > 0;) {
        size_t bytes = headers->size - i * most < most ? headers->size - i * most : most;
        edit_put(out, marker, 2);
        edit_put(out, (uint32_t)bytes + 3, 2);
        edit_put(out, (uint32_t)i, 1);
        memory_write(out, headers->data + i * most, bytes);
    }
}

/* The tile-parts of the result, in codestream order. */
static inline size_t edit_arrange(const edit *e, const edit_plan *plan, edit_part *parts)
{
    edit_part cut[MOST_EDIT_PARTS];
    size_t count = 0, placed = 0;
    for (size_t i = 0; i < e->num_parts; i++) {
        edit_part rest = e->parts[i];
        do {
            edit_part *part = &cut[count++];
            assert_true(count < MOST_EDIT_PARTS);
            *part = rest;
            if (plan->packets_in_part && part->count > plan->packets_in_part)
                part->count = plan->packets_in_part;
            rest.first += part->count;
            rest.count -= part->count;
            rest.index++;
        } while (rest.count);
    }
    for (uint32_t round = 0; placed < count; round++)
        for (size_t i = 0; i < count; i++) {
            uint32_t turn = plan->interleaved ? cut[i].index : e->parts[e->num_parts - 1].tile - cut[i].tile;
            if (turn == round)
                parts[placed++] = cut[i];
        }
    return count;
}

static inline void edit_collect(const edit *e, const edit_plan *plan, const edit_part *part, memory_file *headers)
{
    for (size_t i = 0; i < part->count; i++)
        edit_put_header(headers, plan, &e->packets[part->first + i]);
}

static inline void edit_put_ppm(const edit *e, const edit_plan *plan, const edit_part *parts, size_t count,
                                memory_file *out)
{
    memory_file all = memory_of(NULL, 0);
    for (size_t i = 0; i < count; i++) {
        memory_file headers = memory_of(NULL, 0);
        edit_collect(e, plan, &parts[i], &headers);
        edit_put(&all, (uint32_t)headers.size, 4);
        edit_append(&all, (edit_bytes){headers.data, headers.size});
        free(headers.data);
    }
    edit_put_segments(out, plan, &all);
    free(all.data);
}

static inline void edit_put_part(const edit *e, const edit_plan *plan, const edit_part *part, bool last,
                                 memory_file *out)
{
    size_t start = out->size;
    edit_put(out, 0xFF90000A, 4);
    edit_put(out, part->tile, 2);
    edit_put(out, 0, 4);
    edit_put(out, part->index, 1);
    edit_put(out, 0, 1);
    if (part->index == 0)
        edit_append(out, plan->part_extra);
    if (plan->packed == PACKED_PPT) {
        memory_file headers = memory_of(NULL, 0);
        edit_collect(e, plan, part, &headers);
        edit_put_segments(out, plan, &headers);
        free(headers.data);
    }
    edit_put(out, 0xFF93, 2);
    for (size_t i = 0; i < part->count; i++) {
        const edit_packet *p = &e->packets[part->first + i];
        if (plan->sop)
            edit_put(out, 0xFF910004, 4), edit_put(out, (uint32_t)i, 2);
        if (!plan->packed)
            edit_put_header(out, plan, p);
        edit_append(out, p->body);
    }
    size_t bytes = last && plan->open_end ? 0 : out->size - start;
    for (unsigned i = 0; i < 4; i++)
        out->data[start + 6 + i] = (uint8_t)(bytes >> (24 - 8 * i));
}

static inline memory_file edit_write(const edit *e, const edit_plan *plan)
{
    edit_part parts[MOST_EDIT_PARTS];
    memory_file out = memory_of(NULL, 0);
    size_t count = edit_arrange(e, plan, parts);
    edit_append(&out, e->main);
    edit_append(&out, plan->main_extra);
    if (plan->packed == PACKED_PPM)
        edit_put_ppm(e, plan, parts, count, &out);
    for (size_t i = 0; i < count; i++)
        edit_put_part(e, plan, &parts[i], i + 1 == count, &out);
    edit_put(&out, 0xFFD9, 2);
    return out;
}

#endif
