/* Directories of TIFF files, found and copied (TIFF 6.0, section 2; BigTIFF). */
#include "pictures/formats/ifd.h"

#include <stdlib.h>
#include <string.h>

#include "pictures/picture.h"

enum { MOST_ENTRIES = 4096, MOST_DEPTH = 3, SHORT = 3 };

/* ---- Numbers ------------------------------------------------------------------------------------------------- */

static uint64_t get(const uint8_t *at, unsigned bytes, bool big_endian)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * (big_endian ? bytes - 1 - i : i);
    return value;
}

static void set(uint8_t *at, uint64_t value, unsigned bytes, bool big_endian)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * (big_endian ? bytes - 1 - i : i));
}

/* Bytes of an offset or a count, of the number of entries, and of an entry. */
static unsigned wide(bool big)
{
    return big ? 8 : 4;
}

static unsigned count_bytes(bool big)
{
    return big ? 8 : 2;
}

static unsigned entry_bytes(bool big)
{
    return 4 + 2 * wide(big);
}

/* Bytes of a value of a type, and of what is swapped as one; 0 for unknown types. */
static unsigned type_bytes(uint16_t type, unsigned *unit)
{
    static const uint8_t bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    const unsigned found = type < sizeof bytes ? bytes[type] : 0;
    *unit = type == 5 || type == 10 ? 4 : found; /* rationals are two numbers */
    return found;
}

static bool points_to_directory(uint16_t tag)
{
    return tag == CLI_TAG_EXIF || tag == CLI_TAG_GPS || tag == CLI_TAG_INTEROPERABILITY;
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

ptrdiff_t cli_ifd_read_blob(const void *user, void *buffer, size_t bytes, uint64_t offset)
{
    const cli_blob *blob = user;
    if (offset >= blob->bytes)
        return 0;
    const size_t left = blob->bytes - (size_t)offset;
    bytes = bytes < left ? bytes : left;
    memcpy(buffer, blob->data + offset, bytes);
    return (ptrdiff_t)bytes;
}

static bool fetch(const cli_ifd_source *source, void *buffer, size_t bytes, uint64_t offset)
{
    return offset <= INT64_MAX - bytes && source->read(source->user, buffer, bytes, offset) == (ptrdiff_t)bytes;
}

bool cli_ifd_open(cli_ifd_source *source)
{
    uint8_t head[16];
    if (!fetch(source, head, 8, 0) || head[0] != head[1] || (head[0] != 'I' && head[0] != 'M'))
        return false;
    source->big_endian = head[0] == 'M';
    const uint64_t version = get(head + 2, 2, source->big_endian);
    source->big = version == 43;
    if ((version != 42 && version != 43) || (source->big && !fetch(source, head + 8, 8, 8)))
        return false;
    source->first = get(source->big ? head + 8 : head + 4, wide(source->big), source->big_endian);
    return true;
}

/* The entries of a directory in the file's form, to be freed; NULL if they cannot be read. */
static uint8_t *load_entries(const cli_ifd_source *source, uint64_t ifd, size_t *count)
{
    uint8_t head[8], *entries;
    const unsigned skip = count_bytes(source->big);
    if (!fetch(source, head, skip, ifd))
        return NULL;
    const uint64_t found = get(head, skip, source->big_endian);
    if (found == 0 || found > MOST_ENTRIES)
        return NULL;
    *count = (size_t)found;
    entries = malloc(*count * entry_bytes(source->big));
    if (entries && fetch(source, entries, *count * entry_bytes(source->big), ifd + skip))
        return entries;
    free(entries);
    return NULL;
}

/* `at`: the entry's place in the file. False for unknown types and sizes beyond any file. */
static bool parse_entry(const cli_ifd_source *source, const uint8_t *bytes, uint64_t at, cli_ifd_entry *entry)
{
    const unsigned width = wide(source->big);
    unsigned unit;
    *entry = (cli_ifd_entry){.tag = (uint16_t)get(bytes, 2, source->big_endian),
                             .type = (uint16_t)get(bytes + 2, 2, source->big_endian),
                             .count = get(bytes + 4, width, source->big_endian)};
    const unsigned size = type_bytes(entry->type, &unit);
    if (!size || !entry->count || entry->count > INT64_MAX / 8)
        return false;
    entry->bytes = entry->count * size;
    entry->at = entry->bytes <= width ? at + 4 + width : get(bytes + 4 + width, width, source->big_endian);
    return true;
}

static bool entry_of(const cli_ifd_source *source, uint64_t ifd, const uint8_t *entries, size_t i, cli_ifd_entry *entry)
{
    const size_t offset = i * entry_bytes(source->big);
    return parse_entry(source, entries + offset, ifd + count_bytes(source->big) + offset, entry);
}

bool cli_ifd_find(const cli_ifd_source *source, uint64_t ifd, uint16_t tag, cli_ifd_entry *entry)
{
    size_t count;
    bool found = false;
    uint8_t *entries = load_entries(source, ifd, &count);
    for (size_t i = 0; entries && !found && i < count; i++)
        found = entry_of(source, ifd, entries, i, entry) && entry->tag == tag;
    free(entries);
    return found;
}

static void swap_units(uint8_t *value, size_t bytes, unsigned unit)
{
    for (size_t at = 0; at + unit <= bytes; at += unit)
        for (unsigned i = 0; i < unit / 2; i++) {
            const uint8_t byte = value[at + i];
            value[at + i] = value[at + unit - 1 - i];
            value[at + unit - 1 - i] = byte;
        }
}

uint8_t *cli_ifd_load(const cli_ifd_source *source, const cli_ifd_entry *entry, size_t most, bool big_endian)
{
    const size_t bytes = (size_t)entry->bytes;
    unsigned unit;
    uint8_t *value = entry->bytes <= most ? malloc(bytes + 1) : NULL;
    if (!value)
        return NULL;
    if (!fetch(source, value, bytes, entry->at)) {
        free(value);
        return NULL;
    }
    type_bytes(entry->type, &unit);
    if (source->big_endian != big_endian)
        swap_units(value, bytes, unit);
    value[bytes] = 0;
    return value;
}

uint64_t cli_ifd_number(const cli_ifd_source *source, const cli_ifd_entry *entry)
{
    uint8_t value[8];
    unsigned unit;
    const unsigned size = type_bytes(entry->type, &unit);
    const bool is_integer = entry->type == 3 || entry->type == 4 || entry->type == 13 || entry->type >= 16;
    return is_integer && fetch(source, value, size, entry->at) ? get(value, size, source->big_endian) : 0;
}

/* ---- Copying ------------------------------------------------------------------------------------------------- */

bool cli_ifd_append(cli_ifd_sink *sink, const void *data, size_t bytes)
{
    if (bytes > CLI_MOST_METADATA || sink->bytes + bytes > CLI_MOST_METADATA)
        return false;
    if (sink->bytes + bytes > sink->capacity) {
        const size_t capacity = 2 * (sink->bytes + bytes) + 256;
        uint8_t *enlarged = realloc(sink->data, capacity);
        if (!enlarged)
            return false;
        sink->data = enlarged;
        sink->capacity = capacity;
    }
    if (data)
        memcpy(sink->data + sink->bytes, data, bytes);
    else
        memset(sink->data + sink->bytes, 0, bytes);
    sink->bytes += bytes;
    return true;
}

/* Values and directories begin at even offsets. */
static bool align(cli_ifd_sink *sink)
{
    return (sink->base + sink->bytes) % 2 == 0 || cli_ifd_append(sink, NULL, 1);
}

/* Puts a value into its entry, which is at `field` of the sink, or behind the directory. That of an added tag is in
 * entry->at, without bytes in the source. */
static bool copy_value(const cli_ifd_source *source, const cli_ifd_entry *entry, cli_ifd_sink *sink, size_t field)
{
    unsigned unit;
    type_bytes(entry->type, &unit);
    if (!entry->bytes) {
        set(sink->data + field, entry->at, unit, sink->big_endian);
        return true;
    }
    uint8_t *value = cli_ifd_load(source, entry, CLI_MOST_METADATA, sink->big_endian);
    bool done = value != NULL;
    if (done && entry->bytes <= wide(sink->big)) {
        memcpy(sink->data + field, value, (size_t)entry->bytes);
    } else if (done && (done = align(sink))) {
        set(sink->data + field, sink->base + sink->bytes, wide(sink->big), sink->big_endian);
        done = cli_ifd_append(sink, value, (size_t)entry->bytes);
    }
    free(value);
    return done;
}

static bool copy_entry(const cli_ifd_source *source, const cli_ifd_entry *entry, cli_ifd_sink *sink, size_t at)
{
    const unsigned width = wide(sink->big);
    const bool directory = points_to_directory(entry->tag);
    set(sink->data + at, entry->tag, 2, sink->big_endian);
    set(sink->data + at + 2, !directory ? entry->type : sink->big ? 16u : 4u, 2, sink->big_endian);
    set(sink->data + at + 4, directory ? 1 : entry->count, width, sink->big_endian);
    if (!directory)
        return copy_value(source, entry, sink, at + 4 + width);
    uint64_t place;
    const bool done =
        sink->depth++ < MOST_DEPTH && cli_ifd_copy(source, cli_ifd_number(source, entry), NULL, NULL, sink, &place);
    sink->depth--;
    if (done)
        set(sink->data + at + 4 + width, place, width, sink->big_endian);
    return done;
}

static bool is_listed(uint16_t tag, const uint16_t *only)
{
    for (; only && *only; only++)
        if (*only == tag)
            return true;
    return !only;
}

/* `more`, and of the entries those that are wanted; tags must ascend (section 2), so that none comes twice. Types from
 * 14 on are BigTIFF's. NULL when out of memory; to be freed. */
static cli_ifd_entry *choose(const cli_ifd_source *source, uint64_t ifd, const uint8_t *entries, size_t *count,
                             const uint16_t *only, const cli_ifd_tag *more)
{
    size_t n = 0;
    int last = -1;
    cli_ifd_entry entry, *chosen = entries ? malloc((*count + CLI_MOST_TAGS) * sizeof *chosen) : NULL;
    for (; chosen && more && more->tag; more++)
        chosen[n++] = (cli_ifd_entry){.tag = more->tag, .type = SHORT, .count = 1, .at = more->value};
    for (size_t i = 0; chosen && i < *count; i++) {
        if (!entry_of(source, ifd, entries, i, &entry) || entry.tag <= last || !is_listed(entry.tag, only) ||
            (entry.type > 13 && !points_to_directory(entry.tag)))
            continue;
        last = entry.tag;
        chosen[n++] = entry;
    }
    *count = n;
    return chosen;
}

/* The number of entries, the entries, and no next directory. */
bool cli_ifd_copy(const cli_ifd_source *source, uint64_t ifd, const uint16_t *only, const cli_ifd_tag *more,
                  cli_ifd_sink *sink, uint64_t *place)
{
    const unsigned head = count_bytes(sink->big), each = entry_bytes(sink->big);
    size_t count;
    uint8_t *entries = load_entries(source, ifd, &count);
    cli_ifd_entry *chosen = choose(source, ifd, entries, &count, only, more);
    bool done = chosen && align(sink);
    const size_t start = sink->bytes;
    *place = sink->base + start;
    done = done && cli_ifd_append(sink, NULL, head + count * each + wide(sink->big));
    if (done)
        set(sink->data + start, count, head, sink->big_endian);
    for (size_t i = 0; done && i < count; i++)
        done = copy_entry(source, &chosen[i], sink, start + head + i * each);
    free(chosen);
    free(entries);
    return done;
}
