/* Fuzz target: coefficients of a codestream (l2k_decoder_coefficients). The input is a file and a tail of options. */
#include "fuzz.h"

enum { MOST_SAMPLES = 1 << 18, MOST_TILES = 6 };

typedef struct taker {
    l2k_status answer; /* what the sink returns for component `stop` */
    uint32_t tile, stop, next;
    uint64_t sum;
} taker;

/* Reads every coefficient; each must be inside the view. */
static void read_band(taker *t, const l2k_coefficients *view, const l2k_subband_info *info, const l2k_band_view *band)
{
    FUZZ_EXPECT((uint64_t)band->x + band->width <= view->width && (uint64_t)band->y + band->height <= view->height);
    FUZZ_EXPECT(info->x1 - info->x0 == band->width && info->y1 - info->y0 == band->height);
    for (uint32_t y = 0; y < band->height; y++)
        for (uint32_t x = 0; x < band->width; x++)
            t->sum += (uint64_t)((const int32_t *)view->base)[(band->y + y) * view->stride + band->x + x];
}

static l2k_status take(void *user, const l2k_tile_coefficients *c)
{
    taker *t = user;
    const l2k_coefficients *view = c->view;
    FUZZ_EXPECT(c->tile == t->tile && c->component >= t->next);
    FUZZ_EXPECT(view->type == L2K_COEFFICIENT_INT32 && !view->on_device);
    FUZZ_EXPECT(view->num_bands <= 3 * c->levels + 1 && view->num_bands % 3 == 1 && view->stride >= view->width);
    for (uint32_t b = 0; b < view->num_bands; b++)
        read_band(t, view, &c->bands[b], &view->bands[b]);
    t->next = c->component + 1;
    return c->component >= t->stop ? t->answer : L2K_OK;
}

static void ask(l2k_decoder *decoder, fuzz_watch *w, fuzz_bytes *tail)
{
    l2k_info info;
    FUZZ_EXPECT(fuzz_reported(w, l2k_decoder_info(decoder, &info)) == L2K_OK);
    uint32_t tiles = info.tiles_across * info.tiles_down, first = fuzz_byte(tail), kind = fuzz_byte(tail);
    taker t = {.answer = kind & 1 ? L2K_ERROR_IO : L2K_OK, .stop = kind >> 4};
    for (uint32_t i = 0; i < MOST_TILES && i <= tiles; i++) { /* one more than exist, where there are few */
        t.tile = first + i;
        t.next = 0;
        l2k_status status = l2k_decoder_coefficients(decoder, t.tile, take, &t);
        FUZZ_EXPECT(t.tile < tiles || status == L2K_ERROR_ARGUMENT);
        bool own = status == L2K_ERROR_IO && t.answer == L2K_ERROR_IO; /* the sink's own, not reported by the library */
        if (!own)
            fuzz_reported(w, status);
        w->errors = 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_bytes tail = fuzz_cut_tail(data, &bytes);
    fuzz_watch w;
    l2k_hooks hooks = fuzz_hooks(&w, SIZE_MAX / 2);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    FUZZ_EXPECT(decoder);
    w.most = w.bytes + ((size_t)24 << 20) + (bytes << 16);
    tail.at = 8; /* the rest of the tail means the same as in decode.c */
    (void)l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    (void)l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, MOST_SAMPLES);
    (void)l2k_decoder_set(decoder, L2K_DECODER_REDUCE, fuzz_byte(&tail) % (L2K_MAX_LEVELS + 1));
    (void)l2k_decoder_set(decoder, L2K_DECODER_LAYERS, fuzz_byte(&tail));
    (void)l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, (int64_t)fuzz_byte(&tail) - 1);
    if (fuzz_reported(&w, l2k_decoder_open_memory(decoder, data, bytes)) == L2K_OK)
        ask(decoder, &w, &tail);
    l2k_decoder_free(decoder);
    FUZZ_EXPECT(w.live == 0);
    return 0;
}
