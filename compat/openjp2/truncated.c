/* Whether OpenJPEG decodes a stream that ends early, which follows from its order of reading. Unless strict, it accepts
 * a cut in a tile's last tile-part, and an end between two tiles, but not within a header. */
#include <stdlib.h>

#include "compat/openjp2/decoder.h"

typedef struct tile_scan {
    codec *c;
    uint8_t *counts;  /* tile-parts of each tile, 0: not known */
    uint32_t missing; /* tiles that are not complete yet */
    bool has_data;    /* of a tile that is wanted */
    bool between;     /* the last tile-part was the last one of its tile */
    bool is_done;     /* no other tile is wanted */
} tile_scan;

typedef enum step_result { GOES_ON = 0, ENDS, FAILS } step_result;

static bool is_wanted(const codec *c, uint32_t tile)
{
    uint32_t t[4];
    header_tile(&c->d.header, tile, t);
    return c->d.only_tile ? tile + 1 == c->d.only_tile : header_areas_meet(t, c->d.area);
}

/* The marker that should be SOT. */
static step_result at_marker(tile_scan *w, uint64_t at)
{
    const int32_t marker = header_number_at(w->c->d.input, at);
    if (marker < 0)
        return w->between && !w->c->d.strict ? ENDS : FAILS;
    if (marker == EOC || at + 2 == w->c->d.input->bytes)
        return ENDS;
    return marker != SOT ? FAILS : w->is_done ? ENDS : GOES_ON;
}

/* After the first complete tile, OpenJPEG scans the tile-parts behind it, up to another one of that tile, and requires
 * complete SOT marker segments. */
static bool can_look_ahead(stream *s, const header_part *part)
{
    enum { SOT_BYTES = 12, LEAST_BYTES = 14 };
    uint8_t bytes[SOT_BYTES];
    uint64_t at = part->end, length = LEAST_BYTES;
    while (s->seek && length >= LEAST_BYTES && at <= s->bytes && s->bytes - at >= 2) {
        size_t there = s->bytes - at < SOT_BYTES ? 2 : SOT_BYTES;
        fields g = {.data = bytes, .bytes = there};
        if (!stream_read_at(s, at, bytes, there) || fields_take(&g, 2) != SOT)
            break;
        if (fields_take(&g, 2) != 10 || g.overrun)
            return false;
        if (fields_take(&g, 2) == part->tile)
            break;
        length = fields_take(&g, 4);
        at += length;
    }
    return true;
}

static step_result at_part(tile_scan *w, const header_part *part)
{
    bool cut = part->end > w->c->d.input->bytes;
    uint32_t t = part->tile;
    w->between = false;
    if (part->count)
        w->counts[t] = (uint8_t)part->count;
    w->has_data = w->has_data || is_wanted(w->c, t);
    if (!is_wanted(w->c, t) || w->counts[t] != part->number + 1)
        return cut ? FAILS : GOES_ON;
    if (!w->c->d.looked_ahead && !can_look_ahead(w->c->d.input, part))
        return FAILS;
    w->c->d.looked_ahead = w->between = true;
    w->is_done = --w->missing == 0 || w->c->d.only_tile;
    return !cut ? GOES_ON : w->c->d.strict ? FAILS : ENDS;
}

/* An incomplete header. Behind a marker code OpenJPEG finds the end of the stream, and decodes what it has; unless it
 * is the tile's only header. */
static step_result in_header(const tile_scan *w, const header_part *part)
{
    return part->ends_at_marker && w->has_data && (part->number > 0 || part->count != 1) ? ENDS : FAILS;
}

static bool scan_tiles(tile_scan *w, uint32_t tiles)
{
    header_part part = {.end = w->c->d.header.end};
    step_result result = GOES_ON;
    while (result == GOES_ON && (result = at_marker(w, part.end)) == GOES_ON) {
        const bool whole = header_part_at(w->c->d.input, part.end, &part);
        if (part.tile >= tiles)
            result = FAILS;
        else
            result = whole ? at_part(w, &part) : in_header(w, &part);
        if (part.open)
            part.end -= part.end - part.header_end < 2 ? 0 : 2; /* assumes EOC */
    }
    return result == ENDS && w->has_data;
}

bool decodes_truncated(codec *c)
{
    uint32_t tiles = c->d.header.info.tw * c->d.header.info.th;
    tile_scan w = {.c = c, .counts = calloc(tiles, sizeof *w.counts), .missing = tiles};
    bool good = w.counts && scan_tiles(&w, tiles);
    free(w.counts);
    return good || event_fail(&c->handlers, "Stream too short\n");
}
