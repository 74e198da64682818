/* What the headers of a file promise the writer of another one: a bound on it, and the tile-parts, which TLM lists before
 * the first of them. */
#include "codec/decode/packets.h"
#include "codec/transcode/transcode.h"

/* An empty packet takes the reader no time, but the writer goes through its code-blocks. The first limit is for all tiles
 * together, the second adds to it for each byte; sane codestreams stay far below. */
#define FREE_VISITS ((uint64_t)1 << 27)
enum { VISITS_PER_BYTE = 1024, VISITS_OF_PACKET = 64 };

l2k_status l2k_transcode_charge(l2k_transcoding *t, const l2k_tile *tile, uint64_t bytes)
{
    const uint64_t blocks = l2k_tile_wanted_blocks(tile), most = FREE_VISITS + VISITS_PER_BYTE * bytes;
    uint64_t visits = UINT64_MAX, more;
    if (tile->num_precincts <= most && blocks <= most) /* in proportion to the file: no overflow */
        visits = (VISITS_OF_PACKET * tile->num_precincts + blocks) * tile->coding->num_layers;
    more = visits > VISITS_PER_BYTE * bytes ? visits - VISITS_PER_BYTE * bytes : 0;
    if (more > t->left)
        return l2k_fail(&t->encoder->context, L2K_ERROR_LIMIT,
                        "tile %u has far more packets and code-blocks than its bytes can fill", tile->index);
    t->left -= more;
    return L2K_OK;
}

/* The present tile. */
static l2k_status plan_parts(l2k_transcoding *t, uint32_t index, uint64_t bytes)
{
    const l2k_context *context = &t->encoder->context;
    const l2k_encoding *e = &t->encoder->encoding;
    l2k_tile tile;
    uint32_t parts;
    L2K_TRY(l2k_tile_create(context, &e->siz, e->present, index, FREE_VISITS + VISITS_PER_BYTE * bytes, &tile));
    l2k_status status = l2k_transcode_charge(t, &tile, bytes);
    if (status == L2K_OK)
        status = l2k_output_plan_parts_of(t->encoder, &tile, &parts);
    l2k_tile_release(context, &tile);
    return status;
}

/* A tile without bytes gets a tile-part all the same (transcode.c). */
static l2k_status plan_tile(l2k_transcoding *t, uint32_t index)
{
    l2k_tile_coding coding = {0};
    l2k_packed_headers packed = {0};
    bool changed;
    L2K_TRY(l2k_codestream_locate(&t->decoder->codestream, &index, 1, L2K_NO_SHARE, &changed));
    if (changed) /* TLM, which had listed the tile, was wrong */
        l2k_decoder_forget_windows(t->decoder);
    l2k_status status = l2k_codestream_tile_coding(t->input, index, &coding, &packed);
    const uint64_t bytes = l2k_tile_bytes(t->input, index) + packed.bytes.size;
    if (status == L2K_OK && bytes)
        status = l2k_transcode_take_coding(t, index, &coding);
    if (status == L2K_OK && bytes)
        status = plan_parts(t, index, bytes);
    else
        l2k_buffer_append(&t->encoder->output.parts, &(l2k_tile_part){index, 0}, sizeof(l2k_tile_part));
    l2k_transcode_release_coding(t);
    l2k_tile_coding_release(t->input->context, &coding);
    if (packed.bytes.context)
        l2k_buffer_release(&packed.bytes);
    return status;
}

/* The first division that makes as many tile-parts of tile 0 as the input has. */
static l2k_status find_parts(l2k_transcoding *t, l2k_encoding *e)
{
    l2k_buffer *parts = &t->encoder->output.parts;
    size_t wanted = 0;
    for (size_t i = t->input->first_part[0]; i != L2K_NO_PART; i = t->input->parts[i].next)
        wanted += sizeof(l2k_tile_part);
    e->tile_parts = (l2k_tile_parts)t->encoder->options[L2K_ENCODER_TILE_PARTS];
    if (l2k_transcode_given(t, L2K_ENCODER_TILE_PARTS) || wanted < 2 * sizeof(l2k_tile_part))
        return L2K_OK;
    for (int division = 0; division <= L2K_TILE_PARTS_COMPONENT && parts->size != wanted; division++) {
        e->tile_parts = (l2k_tile_parts)division;
        parts->size = 0;
        L2K_TRY(plan_tile(t, 0));
    }
    if (parts->size != wanted)
        e->tile_parts = L2K_TILE_PARTS_ONE;
    parts->size = 0;
    return L2K_OK;
}

l2k_status l2k_transcode_plan(l2k_transcoding *t)
{
    t->left = FREE_VISITS;
    L2K_TRY(find_parts(t, &t->encoder->encoding));
    for (uint32_t i = 0; t->encoder->encoding.tlm && i < t->input->num_tiles; i++)
        L2K_TRY(plan_tile(t, i));
    t->left = FREE_VISITS;
    return l2k_buffer_status(&t->encoder->output.parts);
}
