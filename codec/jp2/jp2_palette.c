/* Parses the palette and component mapping boxes (I.5.3.4, I.5.3.5), and repairs common faults in them. */
#include "codec/jp2/jp2_boxes.h"

#include "base/integer.h"
#include "base/memory.h"

enum { MOST_BITS = 31 };

static unsigned value_bytes(const l2k_palette *p, uint32_t column)
{
    return (p->precision[column] + 7u) / 8;
}

/* NE, NPC and the Bi; *s advances to the values. */
static l2k_status read_columns(const l2k_jp2 *jp2, l2k_box_bytes *s, l2k_palette *p)
{
    size_t row_bytes = 0;
    if (l2k_box_length(*s) < 3)
        return l2k_jp2_wrong(jp2, "pclr", "too short");
    p->num_entries = l2k_get_be(s->data, 2);
    p->num_columns = s->data[2];
    if (p->num_entries == 0 || p->num_entries > L2K_MOST_ENTRIES || p->num_columns == 0)
        return l2k_jp2_wrong(jp2, "pclr", "an impossible size");
    s->data += 3;
    if (l2k_box_length(*s) < p->num_columns)
        return l2k_jp2_wrong(jp2, "pclr", "too short");
    for (uint32_t i = 0; i < p->num_columns; i++, s->data++) {
        p->precision[i] = (uint8_t)((*s->data & 0x7F) + 1);
        p->is_signed[i] = *s->data >> 7;
        if (p->precision[i] > MOST_BITS)
            return l2k_fail(jp2->context, L2K_ERROR_UNSUPPORTED, "box 'pclr': %u bits", p->precision[i]);
        row_bytes += value_bytes(p, i);
    }
    if (l2k_box_length(*s) < row_bytes * p->num_entries)
        return l2k_jp2_wrong(jp2, "pclr", "too short");
    return L2K_OK;
}

/* The padding above a signed value may repeat its sign or be zero. */
static int32_t get_value(const l2k_palette *p, uint32_t column, const uint8_t *at)
{
    uint32_t value = l2k_get_be(at, value_bytes(p, column)), sign = (uint32_t)1 << (p->precision[column] - 1);
    if (p->is_signed[column])
        value = ((value & (2 * sign - 1)) ^ sign) - sign;
    return (int32_t)value;
}

static void read_values(l2k_palette *p, const uint8_t *at)
{
    for (uint32_t e = 0; e < p->num_entries; e++)
        for (uint32_t i = 0; i < p->num_columns; i++) {
            p->values[e * p->num_columns + i] = get_value(p, i, at);
            at += value_bytes(p, i);
        }
}

/* The bits that the unsigned values of a column take. */
static unsigned bits_taken(const l2k_palette *p, uint32_t column)
{
    uint32_t all = 0;
    for (uint32_t e = 0; e < p->num_entries; e++)
        all |= (uint32_t)p->values[e * p->num_columns + column];
    return all ? l2k_log2(all) + 1 : 0;
}

/* Values are padded with zeros to whole bytes. If the padding is not zero, the column really has more bits than it
 * declares. */
static l2k_status widen_columns(l2k_jp2 *jp2)
{
    l2k_palette *p = &jp2->palette;
    bool warned = false;
    for (uint32_t i = 0; i < p->num_columns; i++) {
        unsigned bits = p->is_signed[i] ? 0 : bits_taken(p, i);
        if (bits <= p->precision[i])
            continue;
        if (bits > MOST_BITS)
            return l2k_jp2_wrong(jp2, "pclr", "values of 32 bits in a column of fewer");
        if (!warned)
            L2K_TRY(l2k_jp2_tolerate(jp2, "pclr", "values have more bits than declared"));
        warned = true;
        p->precision[i] = (uint8_t)bits;
    }
    return L2K_OK;
}

l2k_status l2k_jp2_read_palette(l2k_jp2 *jp2, l2k_box_bytes s)
{
    l2k_palette p = {0}; /* moved to jp2 only when complete */
    if (jp2->palette.values)
        return l2k_jp2_wrong(jp2, "pclr", "a second one");
    L2K_TRY(read_columns(jp2, &s, &p));
    p.values = l2k_allocate(jp2->context, (size_t)p.num_entries * p.num_columns, sizeof *p.values);
    L2K_TRY(l2k_jp2_check_memory(jp2, p.values));
    read_values(&p, s.data);
    jp2->palette = p;
    return widen_columns(jp2);
}

l2k_status l2k_jp2_read_channel_map(l2k_jp2 *jp2, l2k_box_bytes s)
{
    if (jp2->channels)
        return l2k_jp2_wrong(jp2, "cmap", "a second one");
    if (l2k_box_length(s) == 0 || l2k_box_length(s) % 4)
        return l2k_jp2_wrong(jp2, "cmap", "an impossible length");
    const size_t count = l2k_box_length(s) / 4;
    jp2->channels = l2k_allocate(jp2->context, count, sizeof *jp2->channels);
    L2K_TRY(l2k_jp2_check_memory(jp2, jp2->channels));
    jp2->num_channels = count;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *d = s.data + 4 * i;
        if (d[2] > 1)
            return l2k_jp2_wrong(jp2, "cmap", "an impossible mapping type");
        jp2->channels[i] = (l2k_channel_map){(uint16_t)l2k_get_be(d, 2), d[2] == 1, d[3]};
    }
    return L2K_OK;
}

/* ---- Repairs ------------------------------------------------------------------------------------------------- */

/* Whether the mapping shows palette indices as a colour next to some of the palette's columns: as many channels as
 * columns, but not all through the palette. */
static bool mixes_indices(const l2k_jp2 *jp2)
{
    size_t mapped = 0;
    for (size_t i = 0; i < jp2->num_channels; i++) {
        const l2k_channel_map *map = &jp2->channels[i];
        if (map->component > 0 || (map->through_palette && map->column >= jp2->palette.num_columns))
            return false;
        mapped += map->through_palette;
    }
    return jp2->num_channels == jp2->palette.num_columns && mapped > 0 && mapped < jp2->num_channels;
}

l2k_status l2k_jp2_settle_palette(l2k_jp2 *jp2, uint32_t num_components)
{
    l2k_palette *p = &jp2->palette;
    if (p->values && !jp2->channels) {
        L2K_TRY(l2k_jp2_tolerate(jp2, "pclr", "ignored, since there is no box 'cmap'"));
        l2k_release(jp2->context, p->values);
        *p = (l2k_palette){0};
    } else if (p->values && num_components == 1 && mixes_indices(jp2)) {
        L2K_TRY(l2k_jp2_tolerate(jp2, "cmap",
                                 "palette indices mapped to a colour; all columns of the palette are used instead"));
        for (size_t i = 0; i < jp2->num_channels; i++)
            jp2->channels[i] = (l2k_channel_map){0, true, (uint8_t)i};
    }
    return L2K_OK;
}
