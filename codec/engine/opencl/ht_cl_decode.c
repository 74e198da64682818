/* The host's side of decoding HT code-blocks on an OpenCL device: chooses the segments that go there, and lays out
 * memory. */
#include <string.h>

#include "base/integer.h"
#include "codec/blocks/ht/ht_block.h"
#include "codec/engine/opencl/ht_cl_coder.h"

extern const char l2k_cl_ht_decode[];

/* Of magnitudes in int16. */
enum { NARROW_BITS = 15 };

/* One piece goes up while the host gathers the next. */
enum { PIECE_BYTES = 1 << 20 };

static l2k_status prepare(l2k_ht_cl *c)
{
    l2k_ht_vlc tables[2];
    cl_program program;
    if (c->refine)
        return L2K_OK;
    l2k_ht_make_vlc(tables);
    L2K_TRY(l2k_ht_cl_make_table(c, &c->vlc, tables, sizeof tables));
    L2K_TRY(l2k_cl_program(c->context, c->device, l2k_cl_ht_decode, "", &program));
    if (!c->quads)
        L2K_TRY(l2k_cl_kernel(c->context, program, "ht_decode_quads", &c->quads));
    if (!c->samples)
        L2K_TRY(l2k_cl_kernel(c->context, program, "ht_decode_samples", &c->samples));
    return l2k_cl_kernel(c->context, program, "ht_decode_refine", &c->refine);
}

static void mark_damaged(const l2k_ht_cl *c)
{
    if (c->batch.damaged)
        atomic_store(c->batch.damaged, true);
}

/* ---- The list ------------------------------------------------------------------------------------------------ */

static l2k_status take_set(const l2k_ht_cl *c, const l2k_block_place *place, const l2k_ht_received_set *received,
                           l2k_ht_cl_decode_block *to)
{
    const l2k_component_coding *coding = place->band->component->coding;
    l2k_ht_set set;
    L2K_TRY(l2k_ht_take_set(c->context, place->band, place->block, received, &set));
    if (!set.cleanup)
        mark_damaged(c);
    to->length = set.cleanup_bytes;
    to->refinement_bytes = set.refinement_bytes;
    to->plane = (uint8_t)set.plane;
    to->planes = (uint8_t)set.planes;
    to->passes = (uint8_t)set.passes;
    to->scale = l2k_coding_wavelet(coding)->quantised;
    to->roi_shift = coding->roi_shift;
    to->causal = (coding->style & L2K_STYLE_VSC) != 0;
    if (to->view.type == L2K_COEFFICIENT_INT16 && to->plane + to->planes > NARROW_BITS)
        return l2k_fail(c->context, L2K_ERROR_ARGUMENT, "OpenCL: int16 coefficients of %d bits",
                        to->plane + to->planes);
    return L2K_OK;
}

/* Words of a stream of up to `bytes` bytes, and of filler. */
static uint32_t stream_words(uint32_t bytes)
{
    return bytes / 4 + 1 + L2K_HT_CL_FILLER;
}

/* Returns the words that the block takes. */
static uint64_t lay_out(l2k_ht_cl_decode_block *b, uint64_t at)
{
    const uint32_t quads = (b->view.width + 1u) / 2 * ((b->view.height + 1u) / 2);
    const uint64_t start = at;
    b->quads = (uint32_t)at;
    at += quads;
    b->magsgn = (uint32_t)at;
    at += stream_words(l2k_min_u32(b->length, l2k_ht_cl_most_bytes(&b->view, b->planes + 1u)));
    b->sigprop = (uint32_t)at;
    at += b->passes > 1 ? stream_words(l2k_min_u32(b->refinement_bytes, l2k_ht_cl_most_bytes(&b->view, 2))) : 0;
    b->magref = (uint32_t)at;
    at += b->passes > 2 ? stream_words(l2k_min_u32(b->refinement_bytes, l2k_ht_cl_most_bytes(&b->view, 1))) : 0;
    return at - start;
}

/* Adds up the bytes to gather and the words of scratch memory. */
static l2k_status list_blocks(l2k_ht_cl *c, uint64_t *bytes, uint64_t *words)
{
    const size_t count = c->batch.num_places;
    l2k_ht_cl_decode_block *to = (l2k_ht_cl_decode_block *)c->list.at;
    *bytes = 0;
    *words = count * (sizeof(l2k_ht_cl_head) / sizeof(uint32_t));
    c->any_refined = false;
    for (size_t i = 0; i < count; i++) {
        const l2k_block_place *place = &c->batch.places[i];
        const l2k_block *block = place->block;
        if (block->kind == L2K_BLOCK_MQ && block->received.first) /* without a packet, the kind is unknown */
            return l2k_fail(c->context, L2K_ERROR_UNSUPPORTED, "OpenCL: an MQ code-block among those of HT");
        const l2k_ht_received_set set = l2k_ht_find_set(&block->received);
        to[i] = (l2k_ht_cl_decode_block){0};
        L2K_TRY(l2k_ht_cl_list(c, i, &to[i].view));
        if (set.cleanup)
            L2K_TRY(take_set(c, place, &set, &to[i]));
        if (to[i].length == 0)
            continue;
        c->any_refined |= to[i].passes > 1 || to[i].roi_shift;
        to[i].bytes = (uint32_t)*bytes;
        to[i].refinement = to[i].bytes + to[i].length;
        *bytes += (uint64_t)to[i].length + to[i].refinement_bytes;
        *words += lay_out(&to[i], *words);
        if (*bytes > UINT32_MAX || *words > UINT32_MAX)
            return l2k_fail(c->context, L2K_ERROR_UNSUPPORTED, "OpenCL: too many code-blocks at once");
    }
    return L2K_OK;
}

/* ---- Bytes --------------------------------------------------------------------------------------------------- */

static l2k_status upload_bytes(l2k_ht_cl *c, size_t bytes)
{
    const l2k_ht_cl_decode_block *blocks = (const l2k_ht_cl_decode_block *)c->list.at;
    uint8_t *to = c->gathered.at;
    size_t at = 0, sent = 0;
    for (size_t i = 0; i < c->batch.num_places; i++) {
        if (blocks[i].length == 0)
            continue;
        const l2k_ht_received_set set = l2k_ht_find_set(&c->batch.places[i].block->received);
        memcpy(to + at, set.cleanup->data, blocks[i].length);
        if (blocks[i].refinement_bytes)
            l2k_ht_copy_refinement(&set, to + at + blocks[i].length);
        at += (size_t)blocks[i].length + blocks[i].refinement_bytes;
        if (at - sent >= PIECE_BYTES) {
            L2K_TRY(l2k_ht_cl_upload(c, &c->bytes, sent, to + sent, at - sent));
            L2K_CL_TRY(c->context, Flush, (c->queue));
            sent = at;
        }
    }
    return l2k_ht_cl_upload(c, &c->bytes, sent, to + sent, bytes - sent);
}

/* ---- The work ------------------------------------------------------------------------------------------------ */

static l2k_status launch_quads(const l2k_ht_cl *c)
{
    const uint32_t count = (uint32_t)c->batch.num_places;
    const size_t items = 2 * L2K_HT_CL_GROUP_BLOCKS;
    const size_t all = (count + L2K_HT_CL_GROUP_BLOCKS - 1) / L2K_HT_CL_GROUP_BLOCKS * items;
    const l2k_cl_argument arguments[] = {L2K_CL_ARGUMENT(c->device_list.at), L2K_CL_ARGUMENT(count),
                                         L2K_CL_ARGUMENT(c->bytes.at), L2K_CL_ARGUMENT(c->scratch.at),
                                         L2K_CL_ARGUMENT(c->vlc.at)};
    L2K_TRY(l2k_cl_set_arguments(c->context, c->quads, arguments, sizeof arguments / sizeof *arguments));
    L2K_CL_TRY(c->context, EnqueueNDRangeKernel, (c->queue, c->quads, 1, NULL, &all, &items, 0, NULL, NULL));
    return L2K_OK;
}

static l2k_status launch(const l2k_ht_cl *c)
{
    const l2k_cl_argument more[] = {L2K_CL_ARGUMENT(c->scratch.at), L2K_CL_ARGUMENT(c->device_results.at)};
    L2K_TRY(launch_quads(c));
    L2K_TRY(l2k_ht_cl_launch(c, c->samples, L2K_HT_CL_SAMPLE_ITEMS, more, 2));
    return c->any_refined ? l2k_ht_cl_launch(c, c->refine, L2K_HT_CL_SAMPLE_ITEMS, more, 1) : L2K_OK;
}

l2k_status l2k_ht_cl_begin_decoding(l2k_ht_cl *c)
{
    const size_t list = c->batch.num_places * sizeof(l2k_ht_cl_decode_block);
    const uint32_t undamaged = 0;
    uint64_t bytes, words;
    L2K_TRY(prepare(c));
    L2K_TRY(l2k_cl_pin(c->context, c->device, c->queue, &c->list, list));
    L2K_TRY(l2k_cl_pin(c->context, c->device, c->queue, &c->results, sizeof undamaged));
    L2K_TRY(list_blocks(c, &bytes, &words));
    L2K_TRY(l2k_cl_pin(c->context, c->device, c->queue, &c->gathered, (size_t)(bytes + bytes / 4)));
    L2K_TRY(l2k_cl_reserve(c->context, c->device, &c->device_list, list));
    L2K_TRY(l2k_cl_reserve(c->context, c->device, &c->device_results, sizeof undamaged));
    L2K_TRY(l2k_cl_reserve(c->context, c->device, &c->bytes, c->gathered.bytes));
    L2K_TRY(l2k_cl_reserve(c->context, c->device, &c->scratch, (size_t)words * sizeof(uint32_t)));
    L2K_TRY(l2k_ht_cl_upload(c, &c->device_list, 0, c->list.at, list));
    L2K_TRY(upload_bytes(c, (size_t)bytes));
    L2K_CL_TRY(c->context, EnqueueFillBuffer,
               (c->queue, c->device_results.at, &undamaged, sizeof undamaged, 0, sizeof undamaged, 0, NULL, NULL));
    L2K_TRY(launch(c));
    L2K_CL_TRY(c->context, EnqueueReadBuffer,
               (c->queue, c->device_results.at, CL_FALSE, 0, sizeof undamaged, c->results.at, 0, NULL, &c->done));
    return L2K_OK;
}

l2k_status l2k_ht_cl_finish_decoding(l2k_ht_cl *c)
{
    uint32_t damaged;
    L2K_CL_TRY(c->context, WaitForEvents, (1, &c->done));
    memcpy(&damaged, c->results.at, sizeof damaged);
    if (damaged)
        mark_damaged(c);
    return L2K_OK;
}
