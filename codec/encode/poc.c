/* Progression order changes of an image (POC, A.6.6, B.12.3): their checks, and the coding parameters of tiles that
 * have changes of their own. */
#include "codec/encode/encoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/integer.h"

/* The entries that fit in one marker segment, in the wide form. */
enum { MOST_ENTRIES = (65535 - 2) / 9 };

static l2k_status check_entry(const l2k_context *context, const l2k_poc *poc, size_t i)
{
    const l2k_poc *entry = &poc[i];
    const char *what = NULL;
    if ((unsigned)entry->progression > L2K_CPRL)
        what = "there is no such progression order";
    else if (entry->resolution_start >= entry->resolution_end || entry->resolution_end > L2K_MAX_LEVELS + 1)
        what = "resolutions must be a range that ends at 33 or before";
    else if (entry->component_start >= entry->component_end || entry->component_end > L2K_MAX_COMPONENTS)
        what = "components must be a range that ends at 16384 or before";
    else if (entry->layer_end < 1 || entry->layer_end > 65535)
        what = "layers must end from 1 to 65535";
    return what ? l2k_fail(context, L2K_ERROR_ARGUMENT, "progression order change %zu: %s", i, what) : L2K_OK;
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
        const l2k_poc *change = &coding->changes[i];
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

/* Takes a run of entries for one tile, or for all. */
static l2k_status take_run(l2k_encoding *e, uint32_t tile, l2k_poc *changes, size_t count)
{
    l2k_tile_coding coding = e->coding;
    if (tile != L2K_ALL_TILES && tile >= e->num_tiles)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "progression order changes of tile %u, but there are %u tiles",
                        tile, e->num_tiles);
    coding.changes = changes;
    coding.num_changes = count;
    l2k_clip_changes(&coding, e->siz.num_components);
    L2K_TRY(check_complete(e, &coding));
    if (tile == L2K_ALL_TILES)
        e->coding = coding;
    else
        e->own_codings[e->num_own_codings++] = (l2k_own_coding){tile, coding};
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
    memcpy(e->changes, s->poc, count * sizeof *e->changes);
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start + 1; end < count && s->poc[end].tile == s->poc[start].tile; end++)
            continue;
        L2K_TRY(take_run(e, s->poc[start].tile, &e->changes[start], end - start));
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
