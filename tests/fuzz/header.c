/* Fuzz target: opening a file and querying its content with the default limits; nothing is decoded. A stream and memory
 * must give the same result. */
#include "fuzz.h"

typedef struct facts {
    l2k_status opened, shown;
    l2k_info info;
    l2k_image image;
    size_t boxes;
} facts;

/* The content is within the box: all of its bytes can be read. */
static void check_content(l2k_decoder *decoder, size_t index, const l2k_box *box)
{
    l2k_box_data data;
    static volatile uint8_t all;
    FUZZ_EXPECT(l2k_decoder_box_data(decoder, index, &data) == L2K_OK && data.bytes <= box->bytes - 8);
    for (size_t i = 0; i < data.bytes; i += 1 + data.bytes / 64)
        all ^= data.data[i];
    (void)all;
    if (data.bytes)
        all ^= data.data[data.bytes - 1];
}

static size_t count_boxes(l2k_decoder *decoder, size_t bytes)
{
    l2k_box box;
    size_t count = 0;
    for (; l2k_decoder_box(decoder, count, &box) == L2K_OK; count++) {
        FUZZ_EXPECT(box.offset <= bytes && box.bytes <= bytes - box.offset && strlen(box.type) == 4 && box.depth <= 16);
        check_content(decoder, count, &box);
    }
    return count;
}

static void check_image(const l2k_image *image)
{
    FUZZ_EXPECT(image->num_components > 0 && image->x0 < image->x1 && image->y0 < image->y1);
    for (uint32_t c = 0; c < image->num_components; c++)
        FUZZ_EXPECT(image->components[c].precision > 0 && image->components[c].precision < 32);
    FUZZ_EXPECT(!image->icc == !image->icc_bytes);
    volatile uint8_t sum = 0; /* the whole profile is readable */
    for (size_t i = 0; i < image->icc_bytes; i++)
        sum = (uint8_t)(sum + image->icc[i]);
}

/* A description is a text of the length that it says, and fits what the command provides for it. */
static void check_kernels(const l2k_decoder *decoder, uint32_t num_components)
{
    static char text[8192];
    size_t length;
    for (uint32_t c = 0; c < num_components && c < 8; c++) {
        FUZZ_EXPECT(l2k_decoder_kernel(decoder, c, text, sizeof text, &length) == L2K_OK);
        FUZZ_EXPECT(length < sizeof text && strlen(text) == length && (!length || text[length - 1] == '\n'));
    }
}

/* Opens either kind of input and queries everything. */
static facts ask(const uint8_t *data, size_t bytes, bool memory, const fuzz_bytes *tail)
{
    fuzz_watch w;
    l2k_hooks hooks = fuzz_hooks(&w, SIZE_MAX / 2);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    FUZZ_EXPECT(decoder);
    w.most = w.bytes + ((size_t)24 << 20) + (bytes << 16) + (memory ? 0 : 4 * bytes + 65536);
    fuzz_bytes options = *tail;
    (void)l2k_decoder_set(decoder, L2K_DECODER_STRICT, fuzz_byte(&options) & 1);
    fuzz_file file = {(uint8_t *)(uintptr_t)data, bytes, 0, 1 + fuzz_word(&options)};
    l2k_stream stream = fuzz_stream(&file);
    facts f = {0};
    f.opened = memory ? l2k_decoder_open_memory(decoder, data, bytes) : l2k_decoder_open(decoder, &stream);
    fuzz_reported(&w, f.opened);
    if (f.opened == L2K_OK) {
        f.boxes = count_boxes(decoder, bytes);
        FUZZ_EXPECT(l2k_decoder_info(decoder, &f.info) == L2K_OK);
        check_image(&f.info.image);
        check_kernels(decoder, f.info.image.num_components);
        (void)l2k_decoder_set(decoder, L2K_DECODER_REDUCE, fuzz_byte(&options) % (L2K_MAX_LEVELS + 1));
        f.shown = fuzz_reported(&w, l2k_decoder_image(decoder, &f.image));
        if (f.shown == L2K_OK)
            check_image(&f.image);
    }
    l2k_decoder_free(decoder);
    FUZZ_EXPECT(w.live == 0);
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_bytes tail = fuzz_cut_tail(data, &bytes);
    facts a = ask(data, bytes, true, &tail), b = ask(data, bytes, false, &tail);
    FUZZ_EXPECT(a.opened == b.opened && a.shown == b.shown && a.boxes == b.boxes);
    FUZZ_EXPECT(a.info.num_tile_parts == b.info.num_tile_parts && a.info.codestream_bytes == b.info.codestream_bytes);
    FUZZ_EXPECT(a.image.num_components == b.image.num_components && a.image.colour == b.image.colour);
    return 0;
}
