/* Fuzz target: the decoder with all its options. The input is a file and a tail of options: how it is opened, then two
 * rounds of decoding on the same decoder, each with its own options. */
#include "fuzz.h"

/* Small enough for a quick run, large enough for several tiles and code-blocks. */
enum { MOST_SAMPLES = 1 << 18 };

static size_t default_memory(size_t bytes)
{
    return ((size_t)24 << 20) + (bytes << 16);
}

/* Options of one round: 8 bytes. An impossible option is a harmless error. */
static void set_round(l2k_decoder *decoder, const l2k_image *coded, fuzz_bytes *tail, bool *largest)
{
    uint32_t reduce = fuzz_byte(tail), layers = fuzz_byte(tail), component = fuzz_byte(tail), kind = fuzz_byte(tail);
    uint32_t width = coded->x1 - coded->x0, height = coded->y1 - coded->y0;
    (void)l2k_decoder_set(decoder, L2K_DECODER_REDUCE, reduce % 40);
    (void)l2k_decoder_set(decoder, L2K_DECODER_LAYERS, layers);
    (void)l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, (int64_t)component - 1);
    *largest = kind & 1;
    uint64_t x = fuzz_byte(tail), y = fuzz_byte(tail), across = fuzz_byte(tail), down = fuzz_byte(tail);
    if (kind & 2) { /* in 256ths of the image */
        uint64_t x0 = coded->x0 + width * x / 256, y0 = coded->y0 + height * y / 256;
        (void)l2k_decoder_set_region(decoder, (uint32_t)x0, (uint32_t)y0, (uint32_t)(x0 + 1 + width * across / 256),
                                     (uint32_t)(y0 + 1 + height * down / 256));
    } else if (kind & 4) { /* in samples */
        (void)l2k_decoder_set_region(decoder, (uint32_t)x, (uint32_t)y, (uint32_t)(x + across), (uint32_t)(y + down));
    }
}

static void decode_round(l2k_decoder *decoder, fuzz_watch *w, fuzz_bytes *tail)
{
    bool largest = false;
    l2k_info info;
    l2k_image image;
    fuzz_planes planes;
    if (fuzz_reported(w, l2k_decoder_info(decoder, &info)) != L2K_OK) {
        FUZZ_EXPECT(w->failed);
        return;
    }
    set_round(decoder, &info.image, tail, &largest);
    w->errors = 0;
    if (fuzz_reported(w, l2k_decoder_image(decoder, &image)) != L2K_OK)
        return;
    if (fuzz_planes_make(&planes, &image, largest, MOST_SAMPLES)) {
        l2k_status status = fuzz_reported(w, l2k_decoder_decode(decoder, planes.planes));
        if (status == L2K_OK || status == L2K_INCOMPLETE)
            fuzz_check_samples(&planes);
    }
    fuzz_planes_free(&planes);
}

/* Options for opening: 8 bytes. `most` is the memory that the decoder may then use. */
static void set_opening(l2k_decoder *decoder, size_t bytes, uint32_t kind, fuzz_bytes *tail, size_t *most)
{
    uint32_t memory = fuzz_byte(tail), samples = fuzz_byte(tail), read = fuzz_word(tail);
    (void)l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    (void)l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    (void)l2k_decoder_set(decoder, L2K_DECODER_STRICT, kind & 1);
    (void)l2k_decoder_set(decoder, L2K_DECODER_TIMINGS, kind >> 1 & 1);
    (void)l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, kind & 64 ? 1 << 14 : 0);
    (void)l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, samples ? samples * 64 : MOST_SAMPLES);
    *most = default_memory(bytes);
    if (memory) {
        *most = (size_t)memory << 11;
        (void)l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, (int64_t)*most);
    }
    if (read)
        (void)l2k_decoder_set(decoder, L2K_DECODER_LIMIT_BYTES, read);
}

static int read_part(void *user, uint64_t offset, void *buffer, size_t bytes)
{
    const fuzz_file *file = user;
    FUZZ_EXPECT(offset <= file->size && bytes <= file->size - offset);
    memcpy(buffer, file->data + offset, bytes);
    return 0;
}

static l2k_status open_decoder(l2k_decoder *decoder, fuzz_file *file, bool memory, bool parts)
{
    l2k_stream stream = fuzz_stream(file);
    if (parts)
        return l2k_decoder_open_file(decoder, &(l2k_file){file->size, read_part, file});
    if (memory)
        return l2k_decoder_open_memory(decoder, file->data, file->size);
    file->at = 0;
    return l2k_decoder_open(decoder, &stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_bytes tail = fuzz_cut_tail(data, &bytes);
    fuzz_file file = {(uint8_t *)(uintptr_t)data, bytes, 0, SIZE_MAX};
    fuzz_watch w;
    size_t most;
    l2k_hooks hooks = fuzz_hooks(&w, SIZE_MAX / 2);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    FUZZ_EXPECT(decoder);
    const size_t itself = w.bytes;
    uint32_t kind = fuzz_byte(&tail), chunk = fuzz_byte(&tail);
    set_opening(decoder, bytes, kind, &tail, &most);
    file.chunk = chunk ? chunk : SIZE_MAX;
    /* The limit excludes the decoder object and the copy of a stream: room for a read and at least 4 KiB. */
    w.most = itself + most + (kind & 4 ? 4 * bytes + 65536 + 4096 : 0);
    w.until_failure = fuzz_word(&tail);
    tail.at = 8;
    w.errors = 0;
    const bool anew = kind & 8, second = kind & 16;
    for (int round = 0; round <= (anew || second); round++) {
        if ((round == 0 || anew) && fuzz_reported(&w, open_decoder(decoder, &file, !(kind & 4), kind & 32)) != L2K_OK)
            break;
        decode_round(decoder, &w, &tail);
    }
    l2k_decoder_free(decoder);
    FUZZ_EXPECT(w.live == 0);
    return 0;
}
