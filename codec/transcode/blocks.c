/* The code-blocks of a transcoded tile. Where coder and styles stay, their bytes are copied, with the passes of each
 * layer and the ends of codeword segments. Others are coded again (recode.c). */
#include "codec/transcode/transcode.h"

#include <stdlib.h>
#include <string.h>

#include "base/integer.h"

/* ---- Pairs ------------------------------------------------------------------------------------------------------ */

enum { KEYS = 5 };

static void list_keys(const l2k_block_place *place, uint32_t keys[KEYS])
{
    keys[0] = place->band->component->index;
    keys[1] = place->band->resolution;
    keys[2] = place->band->orientation;
    keys[3] = place->block->rect.y0;
    keys[4] = place->block->rect.x0;
}

static int compare_places(const void *one, const void *other)
{
    uint32_t a[KEYS], b[KEYS], i = 0;
    list_keys(one, a);
    list_keys(other, b);
    while (i + 1 < KEYS && a[i] == b[i])
        i++;
    return a[i] < b[i] ? -1 : a[i] > b[i];
}

/* Brings the code-blocks of both tiles into the same order, which other precincts change. */
static l2k_status pair_blocks(const l2k_transcoding *t, l2k_tile_state *s, l2k_tile *tile)
{
    bool alike = s->num_places == tile->num_places;
    if (t->encoder->num_precincts && alike) {
        qsort(s->places, s->num_places, sizeof *s->places, compare_places);
        qsort(tile->places, tile->num_places, sizeof *tile->places, compare_places);
    }
    for (size_t i = 0; alike && i < s->num_places; i++)
        alike = l2k_rect_equals(s->places[i].block->rect, tile->places[i].block->rect);
    if (!alike)
        return l2k_fail(&t->encoder->context, L2K_ERROR_ARGUMENT,
                        "these precincts cut code-blocks of tile %u otherwise", tile->index);
    return L2K_OK;
}

/* ---- Copies ----------------------------------------------------------------------------------------------------- */

/* A packet header counts no more passes (Table B.4). */
enum { MOST_PASSES_OF_PACKET = 164 };

/* Passes beyond the last bit-plane, which some encoders send, are copied as well. */
static void copy_passes(const l2k_received_block *from, uint32_t num_layers, l2k_coded_block *to, uint8_t *bytes)
{
    unsigned passes = 0;
    uint32_t end = 0;
    for (const l2k_contribution *c = from->first; c; c = c->next) {
        memset(to->pass_bytes + passes, 0, c->passes * sizeof *to->pass_bytes);
        memcpy(bytes + end, c->data, c->bytes);
        passes += c->passes;
        end += c->bytes;
        to->pass_bytes[passes - 1] = end | (!c->next || c->next->starts_segment ? L2K_PASS_TERMINATED : 0);
        memset(to->layer_passes + l2k_transcode_layer(c, num_layers), (int)passes,
               num_layers - l2k_transcode_layer(c, num_layers));
    }
}

static l2k_status copy_block(const l2k_transcoding *t, const l2k_block *from, l2k_tile *tile, l2k_block *to)
{
    const l2k_context *context = &t->encoder->context;
    const l2k_received_block *received = &from->received;
    const l2k_contribution *first = received->first;
    const uint32_t num_layers = tile->coding->num_layers;
    unsigned passes = 0;
    for (const l2k_contribution *c = first; c; c = c->next)
        passes += c->passes;
    if (!passes)
        return L2K_OK;
    if (received->bytes > UINT32_MAX >> 1 || (passes > MOST_PASSES_OF_PACKET && num_layers == 1))
        return l2k_fail(context, L2K_ERROR_CORRUPT, "a code-block of %llu bytes in %u passes",
                        (unsigned long long)received->bytes, passes);
    to->num_planes = from->num_planes;
    to->num_passes = (uint8_t)passes;
    to->coded = (l2k_coded_block){.bytes = first->data, .num_bytes = first->bytes};
    if (!first->next && (first->layer == 0 || num_layers == 1))
        return L2K_OK;
    uint8_t *bytes = l2k_arena_take(context, &tile->contributions, (size_t)received->bytes + 1);
    to->coded.pass_bytes = l2k_arena_take(context, &tile->contributions, passes * sizeof *to->coded.pass_bytes);
    to->coded.layer_passes = l2k_arena_take(context, &tile->contributions, num_layers);
    L2K_TRY(l2k_check_memory(context, bytes && to->coded.pass_bytes && to->coded.layer_passes, "coded blocks"));
    to->coded.bytes = bytes;
    memset(to->coded.layer_passes, 0, num_layers);
    copy_passes(received, num_layers, &to->coded, bytes);
    return L2K_OK;
}

/* ---- All of them ------------------------------------------------------------------------------------------------ */

bool l2k_transcode_recodes_any(const l2k_transcoding *t, const l2k_tile *tile)
{
    bool some = false;
    for (uint32_t c = 0; c < tile->num_components; c++)
        some = some || l2k_transcode_recodes(t, tile->components[c].coding);
    return some;
}

l2k_status l2k_transcode_blocks(l2k_transcoding *t, l2k_tile_state *s, l2k_tile *tile)
{
    L2K_TRY(pair_blocks(t, s, tile));
    atomic_store(&s->damaged, false);
    if (l2k_transcode_recodes_any(t, &s->tile))
        L2K_TRY(l2k_transcode_recode(t, s, tile));
    for (size_t i = 0; i < tile->num_places; i++) {
        const l2k_block_place *from = &s->places[i], *to = &tile->places[i];
        if (!l2k_transcode_recodes(t, from->band->component->coding)) {
            L2K_TRY(copy_block(t, from->block, tile, to->block));
            continue;
        }
        L2K_TRY(l2k_encode_check_block(&t->encoder->context, tile, to, true));
        L2K_TRY(l2k_transcode_divide(t, from, tile, to->block));
    }
    return L2K_OK;
}
