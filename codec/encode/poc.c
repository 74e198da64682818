/* Progression order changes of an image (POC, A.6.6, B.12.3): their checks, and the coding parameters of tiles that
 * have changes of their own. */
#include "codec/encode/encoder.h"

#include <stdlib.h>

#include "base/integer.h"

/* The entries that fit in one marker segment, in the wide form. */
enum { MOST_ENTRIES = (65535 - 2) / 9 };

static l2k_status refuse(const l2k_context *context, size_t entry, const char *what)
{
    return l2k_fail(context, L2K_ERROR_ARGUMENT, "progression order change %zu: %s", entry, what);
}

static l2k_status check_entry(const l2k_context *context, const l2k_poc *poc, size_t i)
{
    const l2k_poc *entry = &poc[i];
    if ((unsigned)entry->progression > L2K_CPRL)
        return refuse(context, i, "there is no such progression order");
    if (entry->resolution_start >= entry->resolution_end || entry->resolution_end > L2K_MAX_LEVELS + 1)
        return refuse(context, i, "resolutions must be a range that ends at 33 or before");
    if (entry->component_start >= entry->component_end || entry->component_end > L2K_MAX_COMPONENTS)
        return refuse(context, i, "components must be a range that ends at 16384 or before");
    if (entry->layer_end < 1 || entry->layer_end > 65535)
        return refuse(context, i, "layers must end from 1 to 65535");
    return L2K_OK;
}

/* Inserts an entry behind all those of its tile and of tiles before it. */
static void insert_entry(l2k_poc *poc, size_t count, l2k_poc entry)
{
    for (; count > 0 && poc[count - 1].tile > entry.tile; count--)
        poc[count] = poc[count - 1];
    poc[count] = entry;
}

l2k_status l2k_poc_copy(const l2k_context *context, const l2k_poc *poc, size_t count, l2k_poc **copy)
{
    *copy = NULL;
    if (count > MOST_ENTRIES)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%zu progression order changes, at most %u are possible", count,
                        (unsigned)MOST_ENTRIES);
    for (size_t i = 0; i < count; i++)
        L2K_TRY(check_entry(context, poc, i));
    if (!count)
        return L2K_OK;
    *copy = l2k_allocate(context, count, sizeof **copy);
    L2K_TRY(l2k_check_memory(context, *copy, "%zu progression order changes", count));
    for (size_t i = 0; i < count; i++)
        insert_entry(*copy, i, poc[i]);
    return L2K_OK;
}

/* ---- Those of an image ----------------------------------------------------------------------------------------- */

/* Layers of a resolution of a component that the changes reach. */
static uint32_t layers_of(const l2k_tile_coding *coding, uint32_t component, uint32_t resolution)
{
    uint32_t layers = 0;
    for (size_t i = 0; i < coding->num_changes; i++) {
        const l2k_progression_change *change = &coding->changes[i];
        if (component >= change->component_start && component < change->component_end &&
            resolution >= change->resolution_start && resolution < change->resolution_end)
            layers = l2k_max_u32(layers, change->layer_end);
    }
    return layers;
}

/* Every packet is in one of the progressions: an encoder may not leave any out. */
static l2k_status check_complete(const l2k_encoding *e, const l2k_tile_coding *coding)
{
    for (uint32_t c = 0; c < e->siz.num_components; c++)
        for (uint32_t r = 0; r <= coding->components[c].levels; r++) {
            const uint32_t layers = layers_of(coding, c, r);
            if (layers < coding->num_layers)
                return l2k_fail(e->context, L2K_ERROR_ARGUMENT,
                                "progression order changes leave out layer %u of resolution %u of component %u", layers,
                                r, c);
        }
    return L2K_OK;
}

/* Clips ends to the image: CEpoc of one byte codes 256 as 0, which some decoders take for no component. */
static void take_change(const l2k_encoding *e, const l2k_poc *entry, l2k_progression_change *change)
{
    *change = (l2k_progression_change){.progression = (uint8_t)entry->progression,
                                       .resolution_start = (uint8_t)entry->resolution_start,
                                       .resolution_end = (uint8_t)entry->resolution_end,
                                       .component_start = entry->component_start,
                                       .component_end = l2k_min_u32(entry->component_end, e->siz.num_components),
                                       .layer_end = l2k_min_u32(entry->layer_end, e->coding.num_layers)};
}

/* Takes the entries that have any of the image's components; a component index of one byte would misname those of
 * others. */
static size_t take_changes(const l2k_encoding *e, const l2k_poc *poc, size_t count, l2k_progression_change *changes)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++)
        if (poc[i].component_start < e->siz.num_components)
            take_change(e, &poc[i], &changes[taken++]);
    return taken;
}

/* Takes a run of entries for one tile, or for all. */
static l2k_status take_run(l2k_encoding *e, uint32_t tile, l2k_progression_change *changes, size_t count)
{
    l2k_tile_coding coding = e->coding;
    coding.changes = changes;
    coding.num_changes = count;
    if (tile != L2K_ALL_TILES && tile >= e->num_tiles)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "progression order changes of tile %u, but there are %u tiles",
                        tile, e->num_tiles);
    L2K_TRY(check_complete(e, &coding));
    if (tile == L2K_ALL_TILES) {
        e->coding.changes = changes;
        e->coding.num_changes = count;
    } else {
        e->own_codings[e->num_own_codings++] = (l2k_own_coding){tile, coding};
    }
    return L2K_OK;
}

l2k_status l2k_poc_setup(const l2k_settings *s, l2k_encoding *e)
{
    const size_t count = s->num_poc;
    if (!count)
        return L2K_OK;
    e->changes = l2k_allocate(e->context, count, sizeof *e->changes);
    e->own_codings = l2k_allocate(e->context, count, sizeof *e->own_codings);
    L2K_TRY(l2k_check_memory(e->context, e->changes && e->own_codings, "%zu progression order changes", count));
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start + 1; end < count && s->poc[end].tile == s->poc[start].tile; end++)
            continue;
        const size_t taken = take_changes(e, &s->poc[start], end - start, &e->changes[start]);
        L2K_TRY(take_run(e, s->poc[start].tile, &e->changes[start], taken));
    }
    return L2K_OK;
}

void l2k_poc_release(l2k_encoding *e)
{
    l2k_release(e->context, e->changes);
    l2k_release(e->context, e->own_codings);
    e->changes = NULL;
    e->own_codings = NULL;
    e->num_own_codings = 0;
    e->coding.changes = NULL;
    e->coding.num_changes = 0;
}

static int compare_own(const void *key, const void *own)
{
    const uint32_t tile = *(const uint32_t *)key, other = ((const l2k_own_coding *)own)->tile;
    return tile < other ? -1 : tile > other;
}

const l2k_tile_coding *l2k_poc_of_tile(const l2k_encoding *e, uint32_t tile)
{
    const l2k_own_coding *own =
        e->num_own_codings ? bsearch(&tile, e->own_codings, e->num_own_codings, sizeof *e->own_codings, compare_own)
                           : NULL;
    return own ? &own->coding : NULL;
}

const l2k_tile_coding *l2k_coding_of_tile(const l2k_encoding *e, uint32_t tile)
{
    if (e->present)
        return e->present;
    const l2k_tile_coding *own = l2k_poc_of_tile(e, tile);
    return own ? own : &e->coding;
}
