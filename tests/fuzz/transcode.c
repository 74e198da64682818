/* Fuzz target: l2k_encoder_transcode. The input is a file and a tail of options. Where it succeeds, the result has the
 * coefficients of the file. */
#include "fuzz.h"

enum { MOST_SAMPLES = 1 << 17, MOST_TILES = 6 };

typedef struct digest {
    uint64_t hash, at;
} digest;

/* FNV-1a, of coefficients that are not 0 and their places: a tile without packets gives none. */
static l2k_status take(void *user, const l2k_tile_coefficients *c)
{
    digest *d = user;
    const l2k_coefficients *view = c->view;
    for (uint32_t b = 0; b < view->num_bands; b++)
        for (uint32_t y = 0; y < view->bands[b].height; y++)
            for (uint32_t x = 0; x < view->bands[b].width; x++, d->at++) {
                const int32_t *row = (const int32_t *)view->base + (view->bands[b].y + y) * view->stride;
                const int32_t value = row[view->bands[b].x + x];
                d->hash = value ? (d->hash ^ (uint32_t)value ^ d->at << 32) * 0x100000001b3u : d->hash;
            }
    return L2K_OK;
}

static uint64_t coefficients(l2k_decoder *decoder, uint32_t tile, bool *done)
{
    digest d = {0xcbf29ce484222325u, 0};
    const l2k_status status = l2k_decoder_coefficients(decoder, tile, take, &d);
    *done = status == L2K_OK || status == L2K_INCOMPLETE;
    return d.hash;
}

static void compare(l2k_decoder *decoder, fuzz_watch *w, const fuzz_file *out)
{
    l2k_info info;
    bool before, after;
    l2k_decoder *check = l2k_decoder_new(NULL);
    (void)l2k_decoder_set(check, L2K_DECODER_THREADS, 1);
    FUZZ_EXPECT(l2k_decoder_open_memory(check, out->data, out->size) == L2K_OK);
    FUZZ_EXPECT(l2k_decoder_info(decoder, &info) == L2K_OK);
    for (uint32_t tile = 0; tile < MOST_TILES && tile < info.tiles_across * info.tiles_down; tile++) {
        const uint64_t was = coefficients(decoder, tile, &before), is = coefficients(check, tile, &after);
        FUZZ_EXPECT(!before || (after && was == is));
    }
    l2k_decoder_free(check);
    w->errors = 0;
}

static void set_encoder(l2k_encoder *encoder, fuzz_bytes *tail)
{
    static const l2k_encoder_option flags[] = {L2K_ENCODER_SOP, L2K_ENCODER_EPH, L2K_ENCODER_PLT, L2K_ENCODER_TLM};
    const uint32_t kind = fuzz_byte(tail), order = fuzz_byte(tail), given = fuzz_byte(tail), style = fuzz_byte(tail);
    (void)l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
    if (kind & 1)
        (void)l2k_encoder_set(encoder, L2K_ENCODER_STYLE, kind & 2 ? L2K_STYLE_HT : style % L2K_STYLE_HT);
    if (kind & 4)
        (void)l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, order % 5);
    if (kind & 8)
        (void)l2k_encoder_set(encoder, L2K_ENCODER_TILE_PARTS, order / 5 % 4);
    if (kind & 16)
        (void)l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, order & 1);
    if (kind & 32)
        (void)l2k_encoder_set_precincts(encoder, &(l2k_size){1u << style % 12, 1u << order % 12}, 1);
    for (unsigned i = 0; i < 4; i++)
        if (given >> i & 1)
            (void)l2k_encoder_set(encoder, flags[i], given >> (4 + i) & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_bytes tail = fuzz_cut_tail(data, &bytes);
    fuzz_watch w;
    fuzz_file out = {0};
    l2k_hooks hooks = fuzz_hooks(&w, SIZE_MAX / 2);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    FUZZ_EXPECT(decoder && encoder);
    w.most = w.bytes + 2 * (((size_t)24 << 20) + (bytes << 16)); /* the decoder's limit, for each */
    tail.at = 8; /* the rest of the tail means the same as in decode.c */
    (void)l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    (void)l2k_decoder_set(decoder, L2K_DECODER_LIMIT_TILES, 4096); /* more take seconds under sanitizers */
    (void)l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, MOST_SAMPLES);
    (void)l2k_decoder_set(decoder, L2K_DECODER_REDUCE, fuzz_byte(&tail) % (L2K_MAX_LEVELS + 1));
    (void)l2k_decoder_set(decoder, L2K_DECODER_LAYERS, fuzz_byte(&tail));
    set_encoder(encoder, &tail);
    l2k_stream stream = fuzz_stream(&out);
    if (fuzz_byte(&tail) & 1)
        stream.rewrite = NULL;
    w.until_failure = fuzz_word(&tail);
    l2k_status status = fuzz_reported(&w, l2k_decoder_open_memory(decoder, data, bytes));
    if (status == L2K_OK) {
        status = fuzz_reported(&w, l2k_encoder_transcode(encoder, decoder, &stream));
        w.until_failure = 0;
        if (status == L2K_OK || status == L2K_INCOMPLETE)
            compare(decoder, &w, &out);
    }
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    free(out.data);
    FUZZ_EXPECT(w.live == 0);
    return 0;
}
