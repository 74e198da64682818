/* Fuzz target: encoding and decoding. The first HEAD bytes choose picture and options; the others are samples, repeated
 * as needed. Reversible and complete coding must return the picture; other coding must keep its shape, and stay close
 * where nothing was left out. */
#include <math.h>

#include "fuzz.h"

enum { HEAD = 64, MOST_COMPONENTS = 5, MOST_SAMPLES = 1 << 14 };

typedef struct trip {
    l2k_image image;
    l2k_component components[MOST_COMPONENTS];
    fuzz_planes planes;
    uint8_t icc[40];
    bool by_rows, lossless, complete; /* 5/3 with everything; 9/7 with everything */
} trip;

/* ---- The picture --------------------------------------------------------------------------------------------- */

static void choose_component(fuzz_bytes *b, l2k_component *k, uint32_t c)
{
    uint32_t kind = fuzz_byte(b);
    k->precision = kind & 1 ? fuzz_between(b, 1, 26) : 8;
    k->dx = kind & 2 ? fuzz_between(b, 1, 5) : 1;
    k->dy = kind & 4 ? fuzz_between(b, 1, 5) : 1;
    k->is_signed = kind & 8;
    k->channel = kind & 16 ? (l2k_channel)(kind >> 5 & 3) : L2K_CHANNEL_COLOUR;
    k->association = kind & 128 ? 0 : c + 1;
}

static void choose_image(fuzz_bytes *b, trip *t)
{
    l2k_image *image = &t->image;
    uint32_t kind = fuzz_byte(b);
    image->num_components = fuzz_between(b, 1, MOST_COMPONENTS);
    image->components = t->components;
    image->x0 = kind & 1 ? fuzz_word(b) : 0;
    image->y0 = kind & 1 ? fuzz_word(b) : 0;
    image->x1 = image->x0 + 1 + (kind & 2 ? fuzz_word(b) % 2000 : fuzz_byte(b));
    image->y1 = image->y0 + 1 + (kind & 4 ? fuzz_word(b) % 2000 : fuzz_byte(b));
    image->colour = (l2k_colour)(fuzz_byte(b) % (L2K_COLOUR_CIELAB + 2));
    if (image->colour == L2K_COLOUR_ICC) {
        image->icc = t->icc;
        image->icc_bytes = sizeof t->icc;
    }
    if (kind & 8)
        image->density_x = image->density_y = fuzz_word(b) / 7.0;
    image->lab.range[0] = kind & 16 ? 100 : 0;
    uint32_t first = fuzz_byte(b);
    for (uint32_t c = 0; c < image->num_components; c++) {
        if (c == 0 || !(first & 1)) /* mostly alike, so that a component transform is possible */
            t->components[c] = t->components[0];
        t->components[c].association = c + 1;
        if (c == 0 || first & 1)
            choose_component(b, &t->components[c], c);
    }
    for (uint32_t c = 0; c < image->num_components; c++)
        l2k_component_size(image, c, &t->components[c].width, &t->components[c].height);
}

/* From the input, constant, a gradient, or only the two extremes. */
static int64_t choose_sample(uint32_t kind, uint32_t x, uint32_t y, uint64_t raw, int64_t range)
{
    switch (kind % 4) {
    case 0:
        return (int64_t)(raw % (uint64_t)range);
    case 1:
        return range / 2;
    case 2:
        return (int64_t)(x * 3 + y * 5 + raw % 4) % range;
    default:
        return raw & 1 ? range - 1 : 0;
    }
}

static void fill(const trip *t, const uint8_t *data, size_t bytes, uint32_t kind)
{
    size_t at = 0;
    for (uint32_t c = 0; c < t->image.num_components; c++) {
        const l2k_component *k = &t->components[c];
        int64_t range = (int64_t)1 << k->precision, low = k->is_signed ? -range / 2 : 0;
        for (uint32_t y = 0; y < k->height; y++)
            for (uint32_t x = 0; x < k->width; x++) {
                uint64_t raw = 0;
                for (uint32_t i = 0; bytes && i < (k->precision + 7) / 8; i++)
                    raw = raw << 8 | data[at++ % bytes];
                fuzz_put_sample(&t->planes.planes[c], x, y, low + choose_sample(kind, x, y, raw, range));
            }
    }
}

/* ---- Options ------------------------------------------------------------------------------------------------- */

static void choose_layers(fuzz_bytes *b, l2k_encoder *encoder, trip *t)
{
    double targets[4];
    uint32_t kind = fuzz_byte(b), count = kind & 3;
    if (!(kind & 4))
        return;
    for (uint32_t i = 0; i < count; i++)
        targets[i] = kind & 8 ? 20 + fuzz_byte(b) % 60 : 1 + fuzz_byte(b) / (double)(1 + 3 * i);
    bool all = count == 0 || kind & 16;
    if (count && all)
        targets[count - 1] = kind & 8 ? 0 : 1;
    t->lossless = t->lossless && all;
    t->complete = t->complete && all;
    (void)l2k_encoder_set_layers(encoder, kind & 8 ? L2K_TARGET_PSNR : L2K_TARGET_RATIO, targets, count);
}

static void choose_precincts(fuzz_bytes *b, l2k_encoder *encoder)
{
    l2k_size sizes[4];
    uint32_t count = fuzz_byte(b) % 8;
    for (uint32_t i = 0; i < count && i < 4; i++) {
        uint32_t log2 = fuzz_byte(b);
        sizes[i] = (l2k_size){1u << (log2 & 15), 1u << (log2 >> 4)};
    }
    if (count <= 4)
        (void)l2k_encoder_set_precincts(encoder, sizes, count);
}

/* HT code-blocks, whose refinement passes do not reach every sample, and a base step. */
static void choose_ht(fuzz_bytes *b, l2k_encoder *encoder, trip *t)
{
    const uint32_t kind = fuzz_byte(b), passes = 1 + (kind >> 1) % 3;
    if (kind & 1) {
        const bool causal = kind & 8 && passes > 1;
        (void)l2k_encoder_set(encoder, L2K_ENCODER_STYLE, L2K_STYLE_HT | (causal ? L2K_STYLE_VSC : 0));
        (void)l2k_encoder_set(encoder, L2K_ENCODER_HT_PASSES, passes);
        t->lossless = t->lossless && passes == 1;
        t->complete = t->complete && passes == 1;
    }
    if (kind & 16) {
        (void)l2k_encoder_set_step(encoder, ldexp(1 + fuzz_byte(b) / 256.0, -1 - (int)(fuzz_byte(b) % 23)));
        t->complete = false;
    }
    if (kind & 32)
        (void)l2k_encoder_set(encoder, L2K_ENCODER_CPU, fuzz_between(b, L2K_CPU_AUTO, L2K_CPU_NEON));
}

static void choose_options(fuzz_bytes *b, l2k_encoder *encoder, trip *t)
{
    uint32_t flags = fuzz_byte(b), more = fuzz_byte(b), block = fuzz_byte(b), tile = fuzz_byte(b);
    t->lossless = !(flags & 2);
    t->complete = true;
    t->by_rows = more & 1;
    const int64_t settings[][2] = {
        {L2K_ENCODER_THREADS, 1},
        {L2K_ENCODER_BACKEND, L2K_BACKEND_CPU},
        {L2K_ENCODER_LIMIT_SAMPLES, MOST_SAMPLES},
        {L2K_ENCODER_FORMAT, flags & 1},
        {L2K_ENCODER_WAVELET, flags >> 1 & 1},
        {L2K_ENCODER_COMPONENT_TRANSFORM, !(flags & 4)},
        {L2K_ENCODER_SOP, flags >> 3 & 1},
        {L2K_ENCODER_EPH, flags >> 4 & 1},
        {L2K_ENCODER_PLT, flags >> 5 & 1},
        {L2K_ENCODER_TLM, flags >> 6 & 1},
        {L2K_ENCODER_TIMINGS, flags >> 7},
        {L2K_ENCODER_LEVELS, fuzz_byte(b) % 34},
        {L2K_ENCODER_BLOCK_WIDTH, block ? 4 << (block & 7) : 64},
        {L2K_ENCODER_BLOCK_HEIGHT, block ? 4 << (block >> 4 & 7) : 64},
        {L2K_ENCODER_PROGRESSION, fuzz_byte(b) % 5},
        {L2K_ENCODER_STYLE, fuzz_byte(b) & 63},
        {L2K_ENCODER_TILE_PARTS, more >> 1 & 3},
        {L2K_ENCODER_TILE_WIDTH, tile & 1 ? 1 + fuzz_byte(b) : 0},
        {L2K_ENCODER_TILE_HEIGHT, tile & 2 ? 1 + fuzz_byte(b) : 0},
        {L2K_ENCODER_TILE_X0, tile & 4 ? t->image.x0 - fuzz_byte(b) % (t->image.x0 + 1) : 0},
        {L2K_ENCODER_TILE_Y0, tile & 8 ? t->image.y0 - fuzz_byte(b) % (t->image.y0 + 1) : 0},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        (void)l2k_encoder_set(encoder, (l2k_encoder_option)settings[i][0], settings[i][1]);
    choose_precincts(b, encoder);
    choose_layers(b, encoder, t);
    choose_ht(b, encoder, t);
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

static uint32_t ceil_div(uint64_t a, uint32_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

/* Encodes the rows between y0 and y1 of the reference grid from a copy, so that the sanitizer sees accesses beyond
 * them. */
static l2k_status put_rows(l2k_encoder *encoder, const trip *t, uint32_t y0, uint32_t y1)
{
    l2k_plane planes[MOST_COMPONENTS];
    for (uint32_t c = 0; c < t->image.num_components; c++) {
        const l2k_plane *from = &t->planes.planes[c];
        uint32_t dy = t->components[c].dy, first = ceil_div(y0, dy) - ceil_div(t->image.y0, dy);
        size_t bytes = (ceil_div(y1, dy) - ceil_div(y0, dy)) * (size_t)from->row_stride;
        planes[c] = *from;
        planes[c].data = malloc(bytes);
        if (!planes[c].data && bytes)
            abort();
        if (bytes)
            memcpy(planes[c].data, (uint8_t *)from->data + first * (size_t)from->row_stride, bytes);
    }
    l2k_status status = l2k_encoder_put_rows(encoder, planes);
    for (uint32_t c = 0; c < t->image.num_components; c++)
        free(planes[c].data);
    return status;
}

static l2k_status encode_rows(l2k_encoder *encoder, const trip *t, const l2k_stream *stream)
{
    uint32_t y0, y1;
    l2k_status status = l2k_encoder_begin(encoder, &t->image, stream);
    while (status == L2K_OK) {
        status = l2k_encoder_next_rows(encoder, &y0, &y1);
        FUZZ_EXPECT(status == L2K_OK && y0 <= y1 && y1 <= t->image.y1);
        if (y0 == y1)
            return l2k_encoder_end(encoder);
        status = put_rows(encoder, t, y0, y1);
    }
    return status;
}

static l2k_status encode(fuzz_bytes *b, trip *t, const uint8_t *samples, size_t bytes, fuzz_file *out)
{
    fuzz_watch w;
    l2k_hooks hooks = fuzz_hooks(&w, (size_t)1 << 31);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_stream stream = fuzz_stream(out);
    l2k_status status = L2K_ERROR_LIMIT;
    FUZZ_EXPECT(encoder);
    choose_options(b, encoder, t);
    w.errors = 0;
    bool largest = fuzz_byte(b) & 1;
    if (fuzz_planes_make(&t->planes, &t->image, largest, 2 * MOST_SAMPLES)) {
        fill(t, samples, bytes, fuzz_byte(b));
        if (t->by_rows)
            status = encode_rows(encoder, t, &stream);
        else
            status = l2k_encoder_encode(encoder, &t->image, t->planes.planes, &stream);
        fuzz_reported(&w, status);
        FUZZ_EXPECT(status == L2K_OK || t->by_rows || out->size == 0);
    }
    l2k_encoder_free(encoder);
    FUZZ_EXPECT(w.live == 0);
    return status;
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

/* The loss of the 9/7 with nothing left out: half a quantiser step in each subband. */
static void check_near(const trip *t, const fuzz_planes *got, uint32_t c)
{
    const l2k_component *k = &t->components[c];
    double sum = 0;
    for (uint32_t y = 0; y < k->height; y++)
        for (uint32_t x = 0; x < k->width; x++) {
            double d = (double)(fuzz_get_sample(&t->planes.planes[c], x, y) - fuzz_get_sample(&got->planes[c], x, y));
            sum += d * d;
        }
    FUZZ_EXPECT(sqrt(sum / ((double)k->width * k->height)) < 4);
}

static void check_equal(const trip *t, const fuzz_planes *got, uint32_t c)
{
    const l2k_component *k = &t->components[c];
    for (uint32_t y = 0; y < k->height; y++)
        for (uint32_t x = 0; x < k->width; x++)
            FUZZ_EXPECT(fuzz_get_sample(&t->planes.planes[c], x, y) == fuzz_get_sample(&got->planes[c], x, y));
}

/* Otherwise channels may be returned in another order. */
static bool in_order(const trip *t)
{
    for (uint32_t c = 0; c < t->image.num_components; c++)
        if (t->components[c].channel != L2K_CHANNEL_COLOUR || t->components[c].association != c + 1)
            return false;
    return true;
}

static void check_whole(const trip *t, const l2k_image *image, const fuzz_planes *got)
{
    FUZZ_EXPECT(image->num_components == t->image.num_components);
    FUZZ_EXPECT(image->x0 == t->image.x0 && image->y0 == t->image.y0 && image->x1 == t->image.x1 &&
                image->y1 == t->image.y1);
    for (uint32_t c = 0; in_order(t) && c < image->num_components; c++) {
        const l2k_component *a = &t->components[c], *b = &image->components[c];
        FUZZ_EXPECT(a->width == b->width && a->height == b->height && a->precision == b->precision &&
                    a->is_signed == b->is_signed);
        if (t->lossless)
            check_equal(t, got, c);
        else if (t->complete)
            check_near(t, got, c);
    }
}

/* A region decoded separately must equal that part of the whole. */
static void check_part(l2k_decoder *decoder, fuzz_bytes *b, const l2k_image *whole, const fuzz_planes *all)
{
    l2k_image image;
    fuzz_planes part;
    uint32_t width = whole->x1 - whole->x0, height = whole->y1 - whole->y0;
    uint32_t x0 = whole->x0 + fuzz_word(b) % width, y0 = whole->y0 + fuzz_word(b) % height;
    FUZZ_EXPECT(l2k_decoder_set_region(decoder, x0, y0, x0 + 1 + fuzz_byte(b), y0 + 1 + fuzz_byte(b)) == L2K_OK);
    if (l2k_decoder_image(decoder, &image) != L2K_OK || !fuzz_planes_make(&part, &image, false, MOST_SAMPLES))
        return;
    FUZZ_EXPECT(l2k_decoder_decode(decoder, part.planes) == L2K_OK);
    for (uint32_t c = 0; c < image.num_components; c++) {
        const l2k_component *k = &image.components[c];
        uint32_t dx = ceil_div(x0, k->dx) - ceil_div(whole->x0, k->dx);
        uint32_t dy = ceil_div(y0, k->dy) - ceil_div(whole->y0, k->dy);
        for (uint32_t y = 0; y < k->height; y++)
            for (uint32_t x = 0; x < k->width; x++)
                FUZZ_EXPECT(fuzz_get_sample(&part.planes[c], x, y) == fuzz_get_sample(&all->planes[c], dx + x, dy + y));
    }
    fuzz_planes_free(&part);
}

static void decode(fuzz_bytes *b, const trip *t, const fuzz_file *file)
{
    fuzz_watch w;
    l2k_image image;
    fuzz_planes got;
    l2k_hooks hooks = fuzz_hooks(&w, (size_t)1 << 31);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    FUZZ_EXPECT(decoder);
    (void)l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    (void)l2k_decoder_set(decoder, L2K_DECODER_STRICT, 1);
    (void)l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, (int64_t)1 << 31);
    (void)l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, MOST_SAMPLES);
    FUZZ_EXPECT(l2k_decoder_open_memory(decoder, file->data, file->size) == L2K_OK);
    FUZZ_EXPECT(l2k_decoder_image(decoder, &image) == L2K_OK);
    FUZZ_EXPECT(fuzz_planes_make(&got, &image, fuzz_byte(b) & 1, MOST_SAMPLES));
    FUZZ_EXPECT(fuzz_reported(&w, l2k_decoder_decode(decoder, got.planes)) == L2K_OK);
    check_whole(t, &image, &got);
    check_part(decoder, b, &image, &got);
    fuzz_planes_free(&got);
    l2k_decoder_free(decoder);
    FUZZ_EXPECT(w.live == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    size_t head = bytes < HEAD ? bytes : HEAD;
    fuzz_bytes choices = {data, head, 0};
    fuzz_file file = {.chunk = SIZE_MAX};
    trip t = {.by_rows = false};
    choose_image(&choices, &t);
    if (encode(&choices, &t, data + head, bytes - head, &file) == L2K_OK)
        decode(&choices, &t, &file);
    fuzz_planes_free(&t.planes);
    free(file.data);
    return 0;
}
