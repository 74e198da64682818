/* The host's side of encoding HT code-blocks on an OpenCL device: the list of blocks, and results. */
#include <string.h>

#include "codec/blocks/ht/ht_encode.h"
#include "codec/engine/opencl/ht_cl_coder.h"

extern const char l2k_cl_ht_encode[];

enum {
    COUNTERS = sizeof(l2k_ht_cl_encode_counters),
    CODED = sizeof(l2k_ht_cl_coded_block),
    SMALLEST_CHUNK = 1 << 20,
    ALIGNMENT = 64
};

static l2k_status prepare(l2k_ht_cl *c)
{
    l2k_ht_codes codes[2];
    l2k_ht_pairs pairs[2];
    cl_program program;
    if (c->encode)
        return L2K_OK;
    l2k_ht_make_codes(codes, pairs);
    L2K_TRY(l2k_ht_cl_make_table(c, &c->codes, codes, sizeof codes));
    L2K_TRY(l2k_ht_cl_make_table(c, &c->pairs, pairs, sizeof pairs));
    L2K_TRY(l2k_cl_program(c->context, c->device, l2k_cl_ht_encode, "", &program));
    return l2k_cl_kernel(c->context, program, "ht_encode", &c->encode);
}

/* ---- The list ------------------------------------------------------------------------------------------------ */

/* Also adds up the samples of all blocks. */
static l2k_status list_blocks(l2k_ht_cl *c, uint64_t *samples)
{
    l2k_ht_cl_encode_block *to = (l2k_ht_cl_encode_block *)c->list.at;
    const l2k_subband *band = NULL;
    float reciprocal = 0;
    c->wide = false;
    *samples = 0;
    for (size_t i = 0; i < c->batch.num_places; i++) {
        const l2k_block_place *place = &c->batch.places[i];
        L2K_TRY(l2k_ht_cl_list(c, i, &to[i].view));
        if (place->band != band) {
            band = place->band;
            reciprocal = to[i].view.type == L2K_COEFFICIENT_FLOAT32 ? 1 / l2k_band_step_size(band) : 0;
            if (c->batch.distortions || band->component->coding->ht_passes > 1)
                return l2k_fail(c->context, L2K_ERROR_UNSUPPORTED, "OpenCL: HT with distortions or refinement passes");
        }
        to[i].reciprocal = reciprocal;
        c->wide |= to[i].view.type != L2K_COEFFICIENT_INT16;
        *samples += (uint64_t)to[i].view.width * to[i].view.height;
    }
    return L2K_OK;
}

/* ---- The work ------------------------------------------------------------------------------------------------ */

static l2k_status launch(const l2k_ht_cl *c)
{
    const uint32_t capacity = (uint32_t)(c->code.bytes / 4 < UINT32_MAX ? c->code.bytes / 4 : UINT32_MAX);
    const uint32_t words = L2K_HT_CL_MAGSGN_WORDS(c->wide ? 32 : 16);
    const l2k_cl_argument more[] = {
        L2K_CL_ARGUMENT(c->codes.at), L2K_CL_ARGUMENT(c->pairs.at), L2K_CL_ARGUMENT(c->device_results.at),
        L2K_CL_ARGUMENT(c->code.at),  L2K_CL_ARGUMENT(capacity),    {words * sizeof(uint32_t), NULL},
        L2K_CL_ARGUMENT(words)};
    return l2k_ht_cl_launch(c, c->encode, L2K_HT_CL_ENCODE_ITEMS, more, sizeof more / sizeof *more);
}

/* With room for `code` bytes of code. */
static l2k_status enqueue(l2k_ht_cl *c, uint64_t code)
{
    const l2k_ht_cl_encode_counters start = {0, UINT32_MAX};
    const size_t results = COUNTERS + c->batch.num_places * CODED;
    L2K_TRY(l2k_cl_reserve(c->context, c->device, &c->code, (size_t)code));
    L2K_CL_TRY(c->context, EnqueueFillBuffer,
               (c->queue, c->device_results.at, &start, sizeof start, 0, sizeof start, 0, NULL, NULL));
    L2K_TRY(launch(c));
    L2K_CL_TRY(c->context, EnqueueReadBuffer,
               (c->queue, c->device_results.at, CL_FALSE, 0, results, c->results.at, 0, NULL, NULL));
    return L2K_OK;
}

/* The code hardly ever takes more than two bytes a sample. */
l2k_status l2k_ht_cl_begin_encoding(l2k_ht_cl *c)
{
    const size_t count = c->batch.num_places, list = count * sizeof(l2k_ht_cl_encode_block);
    uint64_t samples;
    L2K_TRY(prepare(c));
    L2K_TRY(l2k_cl_pin(c->context, c->device, c->queue, &c->list, list));
    L2K_TRY(l2k_cl_pin(c->context, c->device, c->queue, &c->results, COUNTERS + count * CODED));
    L2K_TRY(list_blocks(c, &samples));
    L2K_TRY(l2k_cl_reserve(c->context, c->device, &c->device_list, list));
    L2K_TRY(l2k_cl_reserve(c->context, c->device, &c->device_results, COUNTERS + count * CODED));
    L2K_TRY(l2k_ht_cl_upload(c, &c->device_list, 0, c->list.at, list));
    return enqueue(c, 2 * samples + 64 * count);
}

/* ---- Results ------------------------------------------------------------------------------------------------- */

/* `bytes` bytes; chunks double. */
static l2k_status reserve_pinned(const l2k_ht_cl *c, l2k_cl_chunks *k, size_t bytes, uint8_t **at)
{
    size_t all = SMALLEST_CHUNK;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    while (k->chunk < L2K_CL_CHUNKS && k->used && k->chunks[k->chunk].bytes - k->used < bytes) {
        k->chunk++;
        k->used = 0;
    }
    if (k->chunk == L2K_CL_CHUNKS)
        return l2k_fail(c->context, L2K_ERROR_MEMORY, "out of memory for coded blocks");
    for (unsigned i = 0; i < k->chunk; i++)
        all += k->chunks[i].bytes;
    l2k_cl_pinned *chunk = &k->chunks[k->chunk];
    if (chunk->bytes < bytes)
        L2K_TRY(l2k_cl_pin(c->context, c->device, c->queue, chunk, bytes + bytes / 4 > all ? bytes + bytes / 4 : all));
    *at = chunk->at + k->used;
    k->used += bytes;
    return L2K_OK;
}

static l2k_status fetch_code(l2k_ht_cl *c, uint32_t units)
{
    const l2k_ht_cl_coded_block *coded = (l2k_ht_cl_coded_block *)(c->results.at + COUNTERS);
    const size_t bytes = (size_t)units * 4;
    uint8_t *kept = NULL;
    L2K_TRY(reserve_pinned(c, &c->kept, bytes, &kept));
    if (bytes)
        L2K_CL_TRY(c->context, EnqueueReadBuffer, (c->queue, c->code.at, CL_FALSE, 0, bytes, kept, 0, NULL, NULL));
    L2K_CL_TRY(c->context, Flush, (c->queue));
    for (size_t i = 0; i < c->batch.num_places; i++) {
        l2k_block *block = c->batch.places[i].block;
        block->num_planes = block->num_passes = coded[i].bytes > 0;
        block->coded.magnitude_bits = (uint8_t)coded[i].magnitude_bits;
        block->coded.bytes = kept + (size_t)coded[i].at * 4;
        block->coded.pass_bytes = NULL;
        block->coded.num_bytes = coded[i].bytes;
    }
    L2K_CL_TRY(c->context, Finish, (c->queue));
    return L2K_OK;
}

/* Codes again with more room if the code had too little. */
l2k_status l2k_ht_cl_finish_encoding(l2k_ht_cl *c)
{
    l2k_ht_cl_encode_counters counters;
    for (;;) {
        L2K_CL_TRY(c->context, Finish, (c->queue));
        memcpy(&counters, c->results.at, sizeof counters);
        if (counters.failed != UINT32_MAX)
            return l2k_fail(c->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
        if (counters.code <= c->code.bytes / 4)
            return fetch_code(c, counters.code);
        L2K_TRY(enqueue(c, (uint64_t)counters.code * 4));
    }
}
