/* Keeps the trees of the tiles from image to image, as long as images are cut and coded alike. Encoding by rows of
 * tiles keeps nothing, nor does truncation of HT code-blocks, which keeps the coefficients of all tiles. */
#include "codec/encode/keep.h"

#include <string.h>

#include "codec/encode/setup.h"

static bool same_siz(const l2k_siz *a, const l2k_siz *b)
{
    if (memcmp(&a->grid, &b->grid, sizeof a->grid) != 0 || a->num_components != b->num_components)
        return false;
    for (uint32_t c = 0; c < a->num_components; c++)
        if (a->components[c].dx != b->components[c].dx || a->components[c].dy != b->components[c].dy ||
            a->components[c].precision != b->components[c].precision)
            return false;
    return true;
}

static bool are_kept(const l2k_encoder *encoder, const l2k_encoding *encoding)
{
    const l2k_encoding *kept = &encoder->encoding;
    if (!encoder->tiles || !encoding->keeps_tiles || !same_siz(&kept->siz, &encoding->siz))
        return false;
    l2k_tile_coding coding = kept->coding;
    coding.components = encoder->as_set_up;
    return l2k_tile_coding_equals(&coding, &encoding->coding, kept->siz.num_components);
}

/* Kept trees point to the encoder's arrays of components, which get the contents of the new ones. */
static void take_encoding(l2k_encoder *encoder, l2k_encoding *encoding)
{
    const l2k_encoding kept = encoder->encoding;
    const uint32_t count = encoding->siz.num_components;
    memcpy(kept.siz.components, encoding->siz.components, count * sizeof *kept.siz.components);
    memcpy(kept.coding.components, encoding->coding.components, count * sizeof *kept.coding.components);
    encoder->encoding = *encoding;
    encoder->encoding.siz.components = kept.siz.components;
    encoder->encoding.coding.components = kept.coding.components;
    encoding->own_targets = kept.own_targets;
}

static l2k_status take_new_tiles(l2k_encoder *encoder, l2k_encoding *encoding, uint32_t num_tiles)
{
    const l2k_context *context = &encoder->context;
    const uint32_t count = encoding->siz.num_components;
    encoder->encoding = *encoding;
    *encoding = (l2k_encoding){.context = context};
    encoder->as_set_up = l2k_allocate(context, count, sizeof *encoder->as_set_up);
    L2K_TRY(l2k_check_memory(context, encoder->as_set_up, "%u components", count));
    memcpy(encoder->as_set_up, encoder->encoding.coding.components, count * sizeof *encoder->as_set_up);
    encoder->num_trees++;
    encoder->num_tiles = num_tiles;
    encoder->tiles = l2k_allocate_zeroed(context, num_tiles, sizeof *encoder->tiles);
    return l2k_check_memory(context, encoder->tiles, "%u tiles", num_tiles);
}

/* Resets the tiles except the shape of their trees; guard bits are those of the setup again. */
static l2k_status renew_tiles(l2k_encoder *encoder)
{
    for (uint32_t t = 0; t < encoder->num_tiles; t++) {
        if (!encoder->tiles[t].components)
            continue; /* not reached before an error */
        L2K_TRY(l2k_tile_restart(&encoder->context, UINT64_MAX, &encoder->tiles[t]));
        l2k_tile_take_steps(&encoder->tiles[t]);
    }
    return L2K_OK;
}

l2k_status l2k_encode_take_tiles(l2k_encoder *encoder, l2k_encoding *encoding, uint32_t num_tiles)
{
    if (are_kept(encoder, encoding)) {
        take_encoding(encoder, encoding);
        return renew_tiles(encoder);
    }
    l2k_encode_release_tiles(encoder);
    return take_new_tiles(encoder, encoding, num_tiles);
}

void l2k_encode_release_tile(const l2k_context *context, l2k_tile *tile)
{
    l2k_release(context, tile->places);
    tile->places = NULL;
    l2k_tile_release(context, tile);
}

void l2k_encode_release_tiles(l2k_encoder *encoder)
{
    const l2k_context *context = &encoder->context;
    for (uint32_t t = 0; encoder->tiles && t < encoder->num_tiles; t++)
        l2k_encode_release_tile(context, &encoder->tiles[t]);
    l2k_release(context, encoder->tiles);
    l2k_release(context, encoder->as_set_up);
    l2k_encoding_release(&encoder->encoding);
    encoder->tiles = NULL;
    encoder->as_set_up = NULL;
}
