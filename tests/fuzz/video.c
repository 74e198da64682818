/* Fuzz target: the decoder of Dirac and VC-2. The input is a stream and a tail of options: in which portions it is
 * pushed, limits, and which allocation fails. Every frame is pulled, and its samples are read; they are the same whatever
 * was in the memory before. */
#include "fuzz.h"

/* Room for the streams of tests/data/dirac. */
enum { MOST_SAMPLES = 1 << 20, MOST_MEMORY = 64 << 20, PARSE_INFO = 13 };

static uint8_t fill;

static void *filled_allocate(void *user, size_t bytes)
{
    void *block = fuzz_allocate(user, bytes);
    return block ? memset(block, fill, bytes) : NULL;
}

/* Adds the samples to a hash. */
static void check_frame(const l2k_video_frame *frame, int64_t most_samples, uint64_t *hash)
{
    const l2k_video_sequence *s = &frame->sequence;
    const l2k_image *image = &frame->image;
    uint64_t samples = 0;
    FUZZ_EXPECT(image->num_components == 3 && image->x1 == s->width && image->y1 == s->height);
    for (uint32_t c = 0; c < image->num_components; c++) {
        const l2k_component *k = &image->components[c];
        const uint32_t x = c ? s->chroma_x : 0, y = c ? s->chroma_y : 0;
        FUZZ_EXPECT(k->width == (s->width + x) >> x && k->height == (s->height + y) >> y);
        FUZZ_EXPECT(k->precision == s->depth[c > 0] && k->precision <= (s->wide ? 16 : 8));
        FUZZ_EXPECT(frame->planes[c].type == (s->wide ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8));
        samples += (uint64_t)k->width * k->height;
        for (uint32_t i = 0; samples <= (uint64_t)most_samples && i < k->width * k->height; i++)
            *hash = (*hash ^ (uint64_t)fuzz_get_sample(&frame->planes[c], i % k->width, i / k->width)) * 0x100000001b3;
    }
    FUZZ_EXPECT(samples <= (uint64_t)most_samples);
    fuzz_check_samples(
        &(fuzz_planes){3, (l2k_plane *)(uintptr_t)frame->planes, (l2k_component *)(uintptr_t)image->components});
}

typedef struct run {
    l2k_video_decoder *decoder;
    fuzz_watch watch;
    int64_t most_samples;
    size_t errors_left;
    uint64_t hash;
} run;

/* All frames that can be decoded so far. An error costs a data unit, so that there is an end to them. */
static void pull_all(run *r)
{
    const l2k_video_frame *frame;
    for (;;) {
        r->watch.errors = 0;
        const l2k_status status = l2k_video_decoder_pull(r->decoder, &frame);
        FUZZ_EXPECT(frame ? status == L2K_OK || status == L2K_INCOMPLETE : status != L2K_INCOMPLETE);
        r->hash = r->hash * 31 + (uint64_t)status;
        if (frame) {
            check_frame(frame, r->most_samples, &r->hash);
            continue;
        }
        FUZZ_EXPECT(status == L2K_OK || r->watch.errors > 0);
        if (status == L2K_OK || status == L2K_ERROR_FORMAT)
            return;
        FUZZ_EXPECT(r->errors_left-- > 0);
    }
}

static void decode(run *r, const uint8_t *data, size_t bytes, size_t portion)
{
    r->errors_left = bytes / PARSE_INFO + 2;
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < portion ? bytes - at : portion;
        r->watch.errors = 0;
        if (l2k_video_decoder_push(r->decoder, data + at, n) != L2K_OK)
            FUZZ_EXPECT(r->watch.errors > 0);
        pull_all(r);
    }
    (void)l2k_video_decoder_push(r->decoder, NULL, 0);
    pull_all(r);
    FUZZ_EXPECT(l2k_video_decoder_push(r->decoder, data, bytes) == L2K_ERROR_STATE);
}

/* Returns a hash of all frames. */
static uint64_t decode_with(fuzz_bytes tail, const uint8_t *data, size_t bytes)
{
    const uint32_t kind = fuzz_byte(&tail), portion = fuzz_byte(&tail), samples = fuzz_byte(&tail);
    const uint32_t memory = fuzz_word(&tail);
    const int64_t most_memory = memory ? (int64_t)memory << 8 : MOST_MEMORY;
    run r = {.most_samples = samples ? (int64_t)samples << 10 : MOST_SAMPLES};
    l2k_hooks hooks = fuzz_hooks(&r.watch, SIZE_MAX / 2);
    hooks.allocate = filled_allocate;
    r.decoder = l2k_video_decoder_new(&hooks);
    FUZZ_EXPECT(r.decoder);
    r.watch.most = r.watch.bytes + (size_t)most_memory;
    FUZZ_EXPECT(l2k_video_decoder_set(r.decoder, L2K_VIDEO_LIMIT_SAMPLES, r.most_samples) == L2K_OK);
    FUZZ_EXPECT(l2k_video_decoder_set(r.decoder, L2K_VIDEO_LIMIT_MEMORY, most_memory) == L2K_OK);
    FUZZ_EXPECT(l2k_video_decoder_set(r.decoder, L2K_VIDEO_CPU, kind & 1 ? L2K_CPU_C : L2K_CPU_AUTO) == L2K_OK);
    r.watch.until_failure = fuzz_word(&tail);
    decode(&r, data, bytes, portion ? portion * (size_t)portion : bytes);
    l2k_video_decoder_free(r.decoder);
    FUZZ_EXPECT(r.watch.live == 0);
    return r.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const fuzz_bytes tail = fuzz_cut_tail(data, &bytes);
    fill = 0;
    const uint64_t hash = decode_with(tail, data, bytes);
    fill = 0xA5;
    FUZZ_EXPECT(decode_with(tail, data, bytes) == hash);
    return 0;
}
