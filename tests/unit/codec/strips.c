/* Images in strips of a few rows on the CPU: bytes and samples as in a single one, and rows on demand as the whole
 * image. The first argument is the number of random cases. */
#include "api_support.h"
#include "base/integer.h"
#include "codec/decode/decoder.h"
#include "codec/encode/encoder.h"

static unsigned cases = 150;

static bool is_one_in(unsigned n)
{
    return random_below(n) == 0;
}

static void make_picture(picture *p)
{
    picture_shape(p, 0, 0, 1 + random_below(4));
    p->image.x0 = is_one_in(3) ? random_below(70) : 0;
    p->image.y0 = is_one_in(2) ? random_below(70) : 0;
    p->image.x1 = p->image.x0 + 1 + random_below(120);
    p->image.y1 = p->image.y0 + 1 + random_below(350);
    const bool alike = is_one_in(2);
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        l2k_component *k = &p->components[c];
        k->precision = 1 + random_below(16);
        k->is_signed = is_one_in(4);
        k->dx = alike || p->image.x0 ? 1 : 1 + random_below(3);
        k->dy = alike || p->image.y0 ? 1 : 1 + random_below(3);
        if (alike)
            *k = p->components[0];
        picture_fill(p, c);
    }
}

/* Settings of a case, the same for several encoders. */
typedef struct settings {
    int64_t values[L2K_ENCODER_NUM_OPTIONS];
    unsigned layers;
    bool precincts;
} settings;

static void set(settings *s, l2k_encoder_option option, int64_t value)
{
    s->values[option] = value;
}

static settings random_settings(void)
{
    static const l2k_wavelet wavelets[] = {L2K_WAVELET_5_3, L2K_WAVELET_5_3,  L2K_WAVELET_9_7,
                                           L2K_WAVELET_9_7, L2K_WAVELET_HAAR, L2K_WAVELET_DD_9_7};
    settings s = {.layers = is_one_in(3) ? 2 : 0, .precincts = is_one_in(3)};
    const bool ht = is_one_in(2);
    for (int i = 0; i < L2K_ENCODER_NUM_OPTIONS; i++)
        s.values[i] = INT64_MIN;
    set(&s, L2K_ENCODER_WAVELET, wavelets[random_below(6)]);
    set(&s, L2K_ENCODER_LEVELS, random_below(7));
    set(&s, L2K_ENCODER_BLOCK_WIDTH, 4 << random_below(4));
    set(&s, L2K_ENCODER_BLOCK_HEIGHT, 4 << random_below(4));
    set(&s, L2K_ENCODER_STYLE, ht ? L2K_STYLE_HT : 0);
    set(&s, L2K_ENCODER_COMPONENT_TRANSFORM, random_below(2));
    set(&s, L2K_ENCODER_PROGRESSION, random_below(5));
    set(&s, L2K_ENCODER_THREADS, 1 + random_below(3));
    set(&s, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU);
    if (is_one_in(4))
        set(&s, L2K_ENCODER_TILE_HEIGHT, 40 + random_below(100));
    if (is_one_in(4) && !ht)
        set(&s, L2K_ENCODER_ROI_SHIFT, random_below(5));
    set(&s, L2K_ENCODER_FORMAT, is_one_in(2) ? L2K_FORMAT_CODESTREAM : L2K_FORMAT_JP2);
    set(&s, L2K_ENCODER_PLT, is_one_in(5));
    set(&s, L2K_ENCODER_TLM, is_one_in(5));
    set(&s, L2K_ENCODER_SOP, is_one_in(5));
    set(&s, L2K_ENCODER_EPH, is_one_in(5));
    if (is_one_in(4))
        set(&s, L2K_ENCODER_TILE_PARTS, random_below(4));
    s.layers = ht ? 0 : s.layers;
    return s;
}

/* With coefficients beyond any precision in memory that has not been written. */
static void *allocate_filled(void *unused, size_t bytes)
{
    (void)unused;
    void *block = malloc(bytes);
    return block ? memset(block, 0x7F, bytes) : NULL;
}

static void release(void *unused, void *block)
{
    (void)unused;
    free(block);
}

static l2k_encoder *encoder_of(const settings *s, uint32_t strip_samples)
{
    static const double ratios[2] = {12, 2};
    static const l2k_size sizes[] = {{64, 32}, {32, 64}, {64, 64}};
    l2k_encoder *encoder = l2k_encoder_new(&(l2k_hooks){.allocate = allocate_filled, .release = release});
    assert_non_null(encoder);
    for (int i = 0; i < L2K_ENCODER_NUM_OPTIONS; i++)
        if (s->values[i] != INT64_MIN)
            assert_int_equal(l2k_encoder_set(encoder, (l2k_encoder_option)i, s->values[i]), L2K_OK);
    if (s->layers)
        assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios, s->layers), L2K_OK);
    if (s->precincts)
        assert_int_equal(l2k_encoder_set_precincts(encoder, sizes, 3), L2K_OK);
    encoder->context.strip_samples = strip_samples;
    return encoder;
}

static l2k_status encode(const settings *s, const picture *p, uint32_t strip_samples, memory_file *out)
{
    l2k_encoder *encoder = encoder_of(s, strip_samples);
    *out = memory_of(NULL, 0);
    const l2k_status status = run_encoder(encoder, p, out);
    l2k_encoder_free(encoder);
    return status;
}

/* From copies of the rows, so that sanitizers see reads past them. */
static l2k_status put(l2k_encoder *encoder, const picture *p, uint32_t y0, uint32_t y1)
{
    l2k_plane planes[MOST_CHANNELS];
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        const uint32_t dy = p->components[c].dy, first = l2k_ceil_div(p->image.y0, dy);
        const size_t row = p->width[c] * sizeof(int32_t), rows = l2k_ceil_div(y1, dy) - l2k_ceil_div(y0, dy);
        planes[c] = p->planes[c];
        planes[c].data = malloc(rows * row + 1);
        assert_non_null(planes[c].data);
        memcpy(planes[c].data, p->samples[c] + (size_t)(l2k_ceil_div(y0, dy) - first) * p->width[c], rows * row);
    }
    const l2k_status status = l2k_encoder_put_rows(encoder, planes);
    for (uint32_t c = 0; c < p->image.num_components; c++)
        free(planes[c].data);
    return status;
}

/* *early: whether packets may leave before the last rows. */
static l2k_status encode_rows(const settings *s, const picture *p, uint32_t strip_samples, memory_file *out,
                              unsigned *count, bool *early)
{
    l2k_encoder *encoder = encoder_of(s, strip_samples);
    *out = memory_of(NULL, 0);
    l2k_stream stream = stream_of(out);
    stream.rewrite = is_one_in(2) ? memory_rewrite : NULL;
    l2k_status status = l2k_encoder_begin(encoder, &p->image, &stream);
    *early = encoder->leaves_early;
    for (*count = 0; status == L2K_OK; ++*count) {
        uint32_t y0, y1;
        assert_int_equal(l2k_encoder_next_rows(encoder, &y0, &y1), L2K_OK);
        if (y0 == y1)
            break;
        status = put(encoder, p, y0, y1);
    }
    if (status == L2K_OK)
        status = l2k_encoder_end(encoder);
    l2k_encoder_free(encoder);
    return status;
}

/* The part of an image's planes that rows y0 .. y1 - 1 of the reference grid are. */
static void part_of(const l2k_image *image, const picture *p, uint32_t y0, uint32_t y1, unsigned reduce,
                    l2k_plane *planes)
{
    (void)y1;
    for (uint32_t c = 0; c < image->num_components; c++) {
        const uint32_t dy = image->components[c].dy, shift = reduce;
        const uint64_t unit = (uint64_t)dy << shift, first = (image->y0 + unit - 1) / unit,
                       row = (y0 + unit - 1) / unit;
        planes[c] = p->planes[c];
        planes[c].data = (char *)p->planes[c].data + (ptrdiff_t)(row - first) * p->planes[c].row_stride;
    }
}

static l2k_status decode_rows(l2k_decoder *decoder, unsigned reduce, picture *p, unsigned *count)
{
    l2k_image image;
    L2K_TRY(l2k_decoder_image(decoder, &image));
    picture_adopt(p, &image);
    l2k_status status = l2k_decoder_begin(decoder);
    for (*count = 0; status == L2K_OK; ++*count) {
        l2k_plane planes[MOST_CHANNELS];
        uint32_t y0, y1;
        assert_int_equal(l2k_decoder_next_rows(decoder, &y0, &y1), L2K_OK);
        if (y0 == y1)
            return l2k_decoder_end(decoder);
        part_of(&p->image, p, y0, y1, reduce, planes);
        status = l2k_decoder_get_rows(decoder, planes);
    }
    return status;
}

static l2k_status decode_whole(l2k_decoder *decoder, picture *p)
{
    l2k_image image;
    L2K_TRY(l2k_decoder_image(decoder, &image));
    picture_adopt(p, &image);
    return l2k_decoder_decode(decoder, p->planes);
}

static void set_region(l2k_decoder *decoder, const l2k_image *image, uint32_t seed)
{
    if (seed % 3 != 1)
        return;
    const uint32_t y0 = image->y0 + (image->y1 - image->y0) / 4, x0 = image->x0 + (image->x1 - image->x0) / 3;
    assert_int_equal(l2k_decoder_set_region(decoder, x0, y0, image->x1, y0 + (image->y1 - y0 + 1) / 2 + 1), L2K_OK);
}

static l2k_decoder *decoder_for(const l2k_image *image, uint32_t strip_samples, uint32_t seed)
{
    l2k_decoder *decoder = new_decoder(NULL, 1 + seed % 3);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, seed % 4 == 1);
    l2k_decoder_set(decoder, L2K_DECODER_LAYERS, seed % 5 == 1);
    if (seed % 7 == 1)
        l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, seed % image->num_components);
    decoder->context.strip_samples = strip_samples;
    return decoder;
}

static l2k_decoder *open(const memory_file *file, const l2k_image *image, uint32_t strip_samples, uint32_t seed)
{
    l2k_decoder *decoder = decoder_for(image, strip_samples, seed);
    assert_int_equal(l2k_decoder_open_memory(decoder, file->data, file->size), L2K_OK);
    set_region(decoder, image, seed);
    return decoder;
}

/* Takes the rows that have arrived; false at the end of the image, or after an error. */
static bool take_rows(l2k_decoder *decoder, unsigned reduce, picture *p, unsigned *count, l2k_status *status)
{
    uint32_t y0, y1;
    while (*status == L2K_OK && l2k_decoder_next_rows(decoder, &y0, &y1) == L2K_OK && y0 < y1) {
        l2k_plane planes[MOST_CHANNELS];
        part_of(&p->image, p, y0, y1, reduce, planes);
        *status = l2k_decoder_get_rows(decoder, planes);
        ++*count;
    }
    if (*status == L2K_OK && y1 < p->image.y1)
        return true;
    if (*status == L2K_OK)
        *status = l2k_decoder_end(decoder);
    return false;
}

/* From pieces of the file of random lengths, once as they arrive. *early: strips that came before the file's last
 * byte. */
static l2k_status decode_pushed(const memory_file *file, const l2k_image *image, uint32_t strip_samples, uint32_t seed,
                                picture *p, unsigned *early)
{
    l2k_decoder *decoder = decoder_for(image, strip_samples, seed);
    const size_t most = is_one_in(2) ? 100 : 3000;
    size_t at = 0;
    l2k_status status = L2K_INCOMPLETE;
    bool begun = false, goes_on = true;
    unsigned count = *early = 0;
    for (bool ended = false; !ended && goes_on;) {
        size_t bytes = 1 + random_below((uint32_t)most);
        bytes = bytes < file->size - at ? bytes : file->size - at;
        ended = bytes == 0;
        *early = count;
        void *piece = malloc(bytes + 1); /* which the library copies */
        memcpy(piece, file->data + at, bytes);
        status = l2k_decoder_push(decoder, piece, bytes);
        free(piece);
        at += bytes;
        if (status == L2K_OK && !begun) {
            l2k_image shown;
            set_region(decoder, image, seed);
            status = l2k_decoder_image(decoder, &shown);
            if (status == L2K_OK)
                picture_adopt(p, &shown);
            if (status == L2K_OK)
                status = l2k_decoder_begin(decoder);
            begun = true;
        }
        if (begun)
            goes_on = take_rows(decoder, seed % 4 == 1, p, &count, &status);
        else
            goes_on = status == L2K_INCOMPLETE;
    }
    l2k_decoder_free(decoder);
    return status;
}

static void assert_same_samples(const memory_file *a, const memory_file *b)
{
    const memory_file *files[2] = {a, b};
    picture got[2] = {0};
    for (int i = 0; i < 2; i++) {
        l2k_decoder *decoder = new_decoder(NULL, 1);
        assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_STRICT, 1), L2K_OK);
        assert_int_equal(l2k_decoder_open_memory(decoder, files[i]->data, files[i]->size), L2K_OK);
        assert_int_equal(decode_whole(decoder, &got[i]), L2K_OK);
        l2k_decoder_free(decoder);
    }
    assert_true(picture_equal(&got[0], &got[1]));
    picture_free(&got[0]);
    picture_free(&got[1]);
}

static void test_strips(void **unused)
{
    (void)unused;
    unsigned most_strips[2] = {0}, early_files = 0, early_rows = 0;
    for (unsigned n = 0; n < cases; n++) {
        picture p, got[4] = {0};
        memory_file whole, strips;
        unsigned count = 0;
        make_picture(&p);
        const settings s = random_settings();
        const l2k_status status = encode(&s, &p, UINT32_MAX, &whole);
        assert_int_equal(encode(&s, &p, 1 + random_below(30000), &strips), status);
        if (s.values[L2K_ENCODER_TILE_HEIGHT] == INT64_MIN) {
            memory_file rows;
            bool early;
            assert_int_equal(encode_rows(&s, &p, 1 + random_below(3000), &rows, &count, &early), status);
            if (status == L2K_OK && !early)
                assert_same_file(&rows, &whole);
            if (status == L2K_OK && early)
                assert_same_samples(&rows, &whole);
            early_files += early;
            most_strips[0] = count > most_strips[0] ? count : most_strips[0];
            free(rows.data);
        }
        if (status == L2K_OK) {
            assert_same_file(&strips, &whole);
            if (is_one_in(10) && whole.size > 2000) /* behind the headers */
                whole.size -= random_below(whole.size / 3 + 1);
            const uint32_t seed = random_below(4 * 5 * 7 * 3);
            l2k_decoder *decoders[2] = {open(&whole, &p.image, UINT32_MAX, seed),
                                        open(&whole, &p.image, 1 + random_below(30000), seed)};
            const l2k_status decoded = decode_whole(decoders[0], &got[0]);
            assert_int_equal(decode_whole(decoders[1], &got[1]), decoded);
            assert_int_equal(decode_rows(decoders[1], seed % 4 == 1, &got[2], &count), decoded);
            unsigned early;
            assert_int_equal(decode_pushed(&whole, &p.image, 1 + random_below(30000), seed, &got[3], &early), decoded);
            early_rows += early > 0;
            for (int i = 1; i < 4 && (decoded == L2K_OK || decoded == L2K_INCOMPLETE); i++)
                assert_true(picture_equal(&got[0], &got[i]));
            for (int i = 0; i < 4; i++)
                picture_free(&got[i]);
            l2k_decoder_free(decoders[0]);
            l2k_decoder_free(decoders[1]);
        }
        most_strips[1] = count > most_strips[1] ? count : most_strips[1];
        free(whole.data);
        free(strips.data);
        picture_free(&p);
    }
    assert_in_range(most_strips[0], 8, 1000);
    assert_in_range(most_strips[1], 8, 1000);
    assert_in_range(early_files, cases / 50, cases / 3);
    assert_in_range(early_rows, cases / 20, cases);
}

/* Tiles of equal shape have strips that depend on their position on the reference grid. */
static void test_positions(void **unused)
{
    (void)unused;
    settings s = random_settings();
    for (int i = 0; i < L2K_ENCODER_NUM_OPTIONS; i++)
        s.values[i] = INT64_MIN;
    set(&s, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7);
    set(&s, L2K_ENCODER_BLOCK_WIDTH, 16);
    set(&s, L2K_ENCODER_BLOCK_HEIGHT, 16);
    s.layers = 0;
    s.precincts = false;
    set(&s, L2K_ENCODER_THREADS, 1);
    for (uint32_t height = 43; height < 60; height++) {
        picture p;
        memory_file files[2];
        picture_shape(&p, 99, 264, 1);
        p.image.y0 = 42;
        p.components[0].precision = 15; /* coefficients of 32 bits */
        picture_fill(&p, 0);
        set(&s, L2K_ENCODER_TILE_HEIGHT, height);
        assert_int_equal(encode(&s, &p, UINT32_MAX, &files[0]), L2K_OK);
        assert_int_equal(encode(&s, &p, 1, &files[1]), L2K_OK);
        assert_same_file(&files[1], &files[0]);
        free(files[0].data);
        free(files[1].data);
        picture_free(&p);
    }
}

/* Packets leave as rows come, and rows as packets come: the height of a precinct and the reach of the filters behind. */
static void test_live(void **unused)
{
    (void)unused;
    enum { ROWS = 1500, MOST_BEHIND = 128 + 124 + 128 + 128 };
    static const l2k_size sizes[] = {{128, 128}, {64, 64}, {32, 32}, {16, 16}, {8, 8}, {4, 4}};
    picture p, got;
    memory_file file = memory_of(NULL, 0);
    const l2k_stream stream = stream_of(&file);
    picture_make(&p, 100, ROWS, 3);
    picture_make(&got, 100, ROWS, 3);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    l2k_decoder *decoder = new_decoder(NULL, 2);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, L2K_STYLE_HT), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, L2K_PCRL), L2K_OK);
    assert_int_equal(l2k_encoder_set_precincts(encoder, sizes, 6), L2K_OK);
    assert_int_equal(l2k_encoder_begin(encoder, &p.image, &stream), L2K_OK);
    size_t pushed = 0;
    uint32_t y0 = 0, y1 = 0, most_behind = 0, done = 0;
    unsigned count = 0;
    bool begun = false, goes_on = true;
    for (bool ended = false; !ended;) {
        assert_int_equal(l2k_encoder_next_rows(encoder, &y0, &y1), L2K_OK);
        ended = y0 == y1;
        assert_int_equal(ended ? l2k_encoder_end(encoder) : put(encoder, &p, y0, y1), L2K_OK);
        l2k_status status = L2K_OK;
        if (file.size > pushed)
            status = l2k_decoder_push(decoder, file.data + pushed, file.size - pushed);
        pushed = file.size;
        if (ended)
            status = l2k_decoder_push(decoder, NULL, 0);
        if (pushed > 0 && !begun) {
            assert_int_equal(status, L2K_OK);
            assert_int_equal(l2k_decoder_begin(decoder), L2K_OK);
            begun = true;
        }
        goes_on = goes_on && (!begun || take_rows(decoder, 0, &got, &count, &status));
        if (begun && goes_on)
            assert_int_equal(l2k_decoder_next_rows(decoder, &done, &y0), L2K_OK);
        most_behind = goes_on && y1 - done > most_behind ? y1 - done : most_behind;
    }
    assert_false(goes_on);
    assert_true(picture_equal(&p, &got));
    assert_in_range(most_behind, 128, MOST_BEHIND);
    assert_in_range(count, 8, 12);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    picture_free(&p);
    picture_free(&got);
    free(file.data);
}

/* A later tile-part whose header changes the progression: too late for packets that have been read. */
static void test_change_of_progression(void **unused)
{
    (void)unused;
    static const uint8_t poc[] = {0xFF, 0x5F, 0, 9, 0, 0, 0, 1, 33, 255, 2};
    picture p;
    picture_make(&p, 64, 64, 1);
    const encoder_setting chosen[] = {{L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM},
                                      {L2K_ENCODER_PROGRESSION, L2K_RLCP},
                                      {L2K_ENCODER_TILE_PARTS, L2K_TILE_PARTS_RESOLUTION}};
    memory_file file = encode_with_all(&p, chosen, 3);
    size_t at = 0;
    for (unsigned parts = 0; parts < 2; at++)
        parts += file.data[at] == 0xFF && file.data[at + 1] == 0x90;
    at += 11; /* behind the second SOT */
    file.data = realloc(file.data, file.size + sizeof poc);
    memmove(file.data + at + sizeof poc, file.data + at, file.size - at);
    memcpy(file.data + at, poc, sizeof poc);
    file.data[at - 3] = (uint8_t)(file.data[at - 3] + sizeof poc); /* Psot */
    assert_true(file.data[at - 3] >= sizeof poc);
    l2k_decoder *decoder = new_decoder(NULL, 1);
    l2k_status status = L2K_INCOMPLETE;
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    for (size_t pushed = 0; status == L2K_INCOMPLETE && pushed < at; pushed++)
        status = l2k_decoder_push(decoder, file.data + pushed, 1);
    assert_int_equal(status, L2K_OK);
    assert_int_equal(l2k_decoder_begin(decoder), L2K_OK);
    for (size_t pushed = decoder->file.size; status == L2K_OK && pushed < file.size + sizeof poc; pushed++)
        status = l2k_decoder_push(decoder, file.data + pushed, 1);
    assert_int_equal(status, L2K_ERROR_UNSUPPORTED);
    assert_int_equal(l2k_decoder_end(decoder), L2K_ERROR_STATE);
    l2k_decoder_free(decoder);
    picture_free(&p);
    free(file.data);
}

/* A change of devices ends the image, too. */
static void test_order_of_calls(void **unused)
{
    (void)unused;
    picture p, got;
    uint32_t y0, y1;
    picture_make(&p, 30, 20, 1);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 2);
    l2k_decoder *decoder = new_decoder(NULL, 1);
    assert_int_equal(l2k_decoder_begin(decoder), L2K_ERROR_STATE); /* nothing is open */
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
    picture_make(&got, 30, 20, 1);
    assert_int_equal(l2k_decoder_next_rows(decoder, &y0, &y1), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_get_rows(decoder, got.planes), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_end(decoder), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_begin(decoder), L2K_OK);
    assert_int_equal(l2k_decoder_get_rows(decoder, got.planes), L2K_OK);
    assert_true(picture_equal(&p, &got));
    assert_int_equal(l2k_decoder_get_rows(decoder, got.planes), L2K_ERROR_STATE); /* and the image has ended */
    assert_int_equal(l2k_decoder_end(decoder), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_begin(decoder), L2K_OK);
    assert_int_equal(l2k_decoder_decode(decoder, got.planes), L2K_OK);
    assert_int_equal(l2k_decoder_end(decoder), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_AUTO), L2K_OK);
    assert_int_equal(l2k_decoder_begin(decoder), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_DEVICE, 0), L2K_OK);
    assert_int_equal(l2k_decoder_end(decoder), L2K_ERROR_STATE);
    l2k_decoder_free(decoder);
    picture_free(&p);
    picture_free(&got);
    free(file.data);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cases = (unsigned)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strips), cmocka_unit_test(test_positions),
                                       cmocka_unit_test(test_live), cmocka_unit_test(test_change_of_progression),
                                       cmocka_unit_test(test_order_of_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
