/* Windows of an opened file, one after the other: what is read of the file and decoded for each, PLT that is right or
 * lies, several decoders of one file, failures and damage. Samples are those of conformance/windows.c. */
#include "window_support.h"

/* Noise, so that all packets have bytes. */
static memory_file make_file(picture *p, bool plt, l2k_progression order, bool precincts)
{
    static const l2k_size sizes[] = {{128, 128}, {64, 64}, {64, 64}, {64, 64}};
    picture_make(p, SIDE, SIDE, 1);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        p->samples[0][i] = (int32_t)random_below(256);
    l2k_encoder *encoder = new_encoder(3);
    l2k_encoder_set(encoder, L2K_ENCODER_PLT, plt);
    l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, order);
    if (precincts)
        assert_int_equal(l2k_encoder_set_precincts(encoder, sizes, 4), L2K_OK);
    return finish_encoder(encoder, p);
}

/* ---- What is read and decoded --------------------------------------------------------------------------------- */

/* With PLT the first window reads its own packets alone, and of the file little more. */
static void test_bytes(void **unused)
{
    (void)unused;
    picture p;
    memory_file file = make_file(&p, true, L2K_RPCL, true);
    l2k_decoder *decoder = open_parts(&file, NULL);
    uint64_t bytes, calls, before;
    l2k_decoder_read_count(decoder, &before, &calls);
    assert_true(before < 2000 && calls < 10);
    expect_window(decoder, &p, (area){200, 200, 300, 300});
    l2k_decoder_read_count(decoder, &bytes, &calls);
    assert_true(counted.packets < 4 * 4 * 2);
    assert_true(bytes <= 2 * counted.kept_bytes && calls < 60 && bytes < file.size / 2);
    expect_window(decoder, &p, (area){200, 200, 300, 300}); /* once more */
    l2k_decoder_read_count(decoder, &before, &calls);
    assert_int_equal(before, bytes);
    expect_window(decoder, &p, (area){0, 0, SIDE, SIDE});
    l2k_decoder_read_count(decoder, &bytes, &calls);
    assert_true(bytes <= file.size);
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

/* Without PLT the first window reads headers on its way, later ones go to their packets. */
static void test_index(void **unused)
{
    (void)unused;
    for (int order = L2K_LRCP; order <= L2K_CPRL; order++) {
        picture p;
        memory_file file = make_file(&p, false, (l2k_progression)order, true);
        l2k_decoder *decoder = open_parts(&file, NULL), *other = new_decoder(NULL, 1);
        expect_window(decoder, &p, (area){430, 430, 500, 500});
        const size_t first = counted.packets;
        expect_window(decoder, &p, (area){10, 10, 20, 20});
        expect_window(decoder, &p, (area){400, 100, 420, 120});
        assert_true(counted.packets * 4 < first);
        assert_int_equal(l2k_decoder_open_again(other, decoder), L2K_OK);
        l2k_decoder_free(decoder);
        expect_window(other, &p, (area){100, 400, 120, 420});
        assert_true(counted.packets * 4 < first);
        l2k_decoder_free(other);
        free(file.data);
        picture_free(&p);
    }
}

/* A window that moves by a little decodes what is new; without precincts the packet headers are not read again. */
static void test_kept(void **unused)
{
    (void)unused;
    for (int precincts = 0; precincts < 2; precincts++) {
        picture p;
        memory_file file = make_file(&p, false, L2K_RPCL, precincts);
        l2k_decoder *decoder = new_decoder(NULL, 1);
        l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, 1 << 20);
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
        expect_window(decoder, &p, (area){100, 100, 300, 300});
        const size_t first = counted.blocks;
        expect_window(decoder, &p, (area){105, 103, 305, 303});
        assert_true(counted.blocks * 4 < first);
        assert_true(precincts || counted.packets == 0);
        expect_window(decoder, &p, (area){100, 100, 300, 300});
        assert_int_equal(counted.blocks, 0);
        l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, 10000); /* room for a few of them */
        expect_window(decoder, &p, (area){100, 100, 300, 300});
        assert_true(counted.blocks > first / 2 && counted.blocks <= first);
        l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, 0);
        expect_window(decoder, &p, (area){100, 100, 300, 300});
        assert_int_equal(counted.blocks, first);
        l2k_decoder_free(decoder);
        free(file.data);
        picture_free(&p);
    }
}

/* A file whose bytes come after the call that asked for them. */
typedef struct late_file {
    memory_file file;
    bool *is_there, *is_asked; /* of each byte */
} late_file;

static int read_late(void *user, uint64_t offset, void *buffer, size_t bytes)
{
    const late_file *late = user;
    bool all = true;
    for (size_t i = 0; i < bytes; i++) {
        late->is_asked[offset + i] = true;
        all = all && late->is_there[offset + i];
    }
    if (all)
        memcpy(buffer, late->file.data + offset, bytes);
    return !all;
}

/* Repeats opening or decoding until it succeeds; returns how often bytes were waited for. */
static unsigned rounds_of(l2k_decoder *decoder, late_file *late, const picture *got)
{
    const l2k_file file = {late->file.size, read_late, late};
    for (unsigned rounds = 0;; rounds++) {
        const l2k_status status =
            got ? l2k_decoder_decode(decoder, got->planes) : l2k_decoder_open_file(decoder, &file);
        if (status == L2K_OK)
            return rounds;
        assert_int_equal(status, L2K_ERROR_IO);
        memcpy(late->is_there, late->is_asked, late->file.size);
    }
}

/* Where bytes come later, a call asks for those of all tiles together, whatever the number of threads. */
static void test_rounds(void **unused)
{
    (void)unused;
    for (unsigned kind = 0; kind < 8; kind++) {
        const bool plt = kind & 1, is_reduced = kind & 2;
        picture p, expected, got;
        picture_make(&p, SIDE, SIDE, 1);
        l2k_encoder *encoder = new_encoder(3);
        l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, SIDE / 8);
        l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, SIDE / 8);
        l2k_encoder_set(encoder, L2K_ENCODER_TLM, 1);
        l2k_encoder_set(encoder, L2K_ENCODER_PLT, plt);
        late_file late = {finish_encoder(encoder, &p), NULL, NULL};
        late.is_there = calloc(late.file.size, sizeof(bool));
        late.is_asked = calloc(late.file.size, sizeof(bool));
        l2k_decoder *near = new_decoder(NULL, 1), *decoder = new_decoder(NULL, kind & 4 ? 3 : 1);
        assert_int_equal(l2k_decoder_open_memory(near, late.file.data, late.file.size), L2K_OK);
        assert_in_range(rounds_of(decoder, &late, NULL), 1, 3);
        for (int i = 0; i < 2; i++) {
            l2k_decoder *one = i ? decoder : near;
            l2k_decoder_set(one, L2K_DECODER_REDUCE, is_reduced ? 2 : 0);
            if (!is_reduced)
                l2k_decoder_set_region(one, SIDE / 3, SIDE / 3, SIDE - 9, SIDE - 5);
        }
        l2k_image image;
        assert_int_equal(l2k_decoder_image(near, &image), L2K_OK);
        picture_adopt(&expected, &image);
        picture_adopt(&got, &image);
        assert_int_equal(l2k_decoder_decode(near, expected.planes), L2K_OK);
        assert_in_range(rounds_of(decoder, &late, &got), 1, plt ? 3 : is_reduced ? 4 : 6);
        assert_true(picture_equal(&expected, &got));
        l2k_decoder_free(near);
        l2k_decoder_free(decoder);
        free(late.is_there);
        free(late.is_asked);
        free(late.file.data);
        picture_free(&p);
        picture_free(&expected);
        picture_free(&got);
    }
}

/* ---- PLT that lies -------------------------------------------------------------------------------------------- */

/* The content of PLT behind Zplt. */
static uint8_t *find_lengths(const memory_file *file, size_t *count)
{
    for (size_t at = 0; at + 5 < file->size; at++)
        if (file->data[at] == 0xFF && file->data[at + 1] == 0x58) {
            *count = (size_t)l2k_get_be(file->data + at + 2, 2) - 3;
            return file->data + at + 5;
        }
    fail();
    return NULL;
}

/* Lengths that are wrong, but have the right sum; that have another; PLT without an end. */
static void lie(uint8_t *lengths, size_t count, int kind)
{
    const size_t at = count / 2;
    switch (kind) {
    case 0: /* the last byte of a length one up, of the next one down */
        for (size_t i = 0, changed = 0; i < count || changed % 2; i++)
            if (!(lengths[i % count] & 0x80) && lengths[i % count] > 2 && lengths[i % count] < 0x7E)
                lengths[i % count] = (uint8_t)(lengths[i % count] + (changed++ % 2 ? -1 : 1));
        break;
    case 1:
        lengths[at] ^= 0x01;
        break;
    case 2:
        lengths[count - 1] |= 0x80;
        break;
    default:
        memset(lengths, 0, count);
    }
}

static void test_lies(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 8; kind++) { /* from 4 on with code-blocks kept */
        picture p;
        watch w;
        size_t count = 0;
        l2k_hooks hooks = watch_hooks(&w);
        memory_file file = make_file(&p, true, L2K_RPCL, true);
        uint8_t *lengths = find_lengths(&file, &count);
        lie(lengths, count, kind % 4);
        l2k_decoder *decoder = open_parts(&file, &hooks);
        l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, kind < 4 ? 0 : 1 << 20);
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t x = i < 2 ? 300 * i : random_below(400), y = i < 2 ? 250 * i : random_below(400);
            expect_window(decoder, &p, (area){x, y, x + 70, y + 80});
        }
        assert_int_equal(w.warnings, 0);
        l2k_decoder_free(decoder);
        assert_int_equal(w.live, 0);
        free(file.data);
        picture_free(&p);
    }
}

/* ---- Damage and failures -------------------------------------------------------------------------------------- */

/* The samples of a file in parts are those of the file in memory, whatever is in it. */
static void test_damage(void **unused)
{
    (void)unused;
    picture p;
    memory_file file = make_file(&p, true, L2K_PCRL, true);
    uint8_t *good = malloc(file.size);
    assert_non_null(good);
    memcpy(good, file.data, file.size);
    for (unsigned n = 0; n < 150; n++) {
        picture a, b;
        memcpy(file.data, good, file.size);
        for (unsigned i = random_below(4); i < 4; i++)
            file.data[random_below(random_below(2) ? 600 : file.size)] ^= (uint8_t)(1u << random_below(8));
        l2k_decoder *memory = new_decoder(NULL, 1), *parts = new_decoder(NULL, 1);
        const l2k_status opened = l2k_decoder_open_memory(memory, file.data, file.size);
        assert_int_equal(l2k_decoder_open_file(parts, &(l2k_file){file.size, read_part, &file}), opened);
        for (unsigned i = 0; i < 3 && opened == L2K_OK; i++) {
            l2k_info info;
            assert_int_equal(l2k_decoder_info(memory, &info), L2K_OK);
            if (info.image.x1 != SIDE || info.image.y1 != SIDE || info.image.x0 || info.image.y0 ||
                info.image.components->dx != 1 || info.image.components->dy != 1) /* a window may have no sample */
                break;
            const uint32_t x = random_below(SIDE - 50), y = random_below(SIDE - 50);
            const area window = {x, y, x + 1 + random_below(50), y + 1 + random_below(50)};
            const l2k_status status = decode_window(memory, window, &a);
            assert_int_equal(decode_window(parts, window, &b), status);
            if (status == L2K_OK || status == L2K_INCOMPLETE)
                assert_true(picture_equal(&a, &b));
            picture_free(&a);
            picture_free(&b);
        }
        l2k_decoder_free(memory);
        l2k_decoder_free(parts);
    }
    free(good);
    free(file.data);
    picture_free(&p);
}

static void test_failures(void **unused)
{
    (void)unused;
    picture p, got;
    uint64_t bytes, calls;
    memory_file file = make_file(&p, false, L2K_RPCL, false);
    l2k_decoder *decoder = new_decoder(NULL, 1), *other = new_decoder(NULL, 1);
    assert_int_equal(l2k_decoder_open_file(decoder, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_open_file(decoder, &(l2k_file){10, NULL, NULL}), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_open_file(decoder, &(l2k_file){0, read_part, &file}), L2K_ERROR_TRUNCATED);
    assert_int_equal(l2k_decoder_open_again(other, decoder), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_open_again(other, NULL), L2K_ERROR_STATE);
    file.fail_at = 40;
    assert_int_equal(l2k_decoder_open_file(decoder, &(l2k_file){file.size, read_part, &file}), L2K_ERROR_IO);
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_BYTES, 10);
    assert_int_equal(l2k_decoder_open_file(decoder, &(l2k_file){file.size, read_part, &file}), L2K_ERROR_LIMIT);
    l2k_decoder_read_count(decoder, &bytes, &calls);
    assert_true(bytes == 0 && calls == 0);
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_BYTES, INT64_MAX);
    file.fail_at = SIZE_MAX;
    assert_int_equal(l2k_decoder_open_file(decoder, &(l2k_file){file.size, read_part, &file}), L2K_OK);
    for (size_t at = 500; at < file.size; at += file.size / 7) {
        file.fail_at = at;
        assert_int_equal(decode_window(decoder, (area){0, 0, SIDE, SIDE}, &got), L2K_ERROR_IO);
        picture_free(&got);
    }
    file.fail_at = SIZE_MAX;
    expect_window(decoder, &p, (area){0, 0, SIDE, SIDE});
    l2k_decoder_free(decoder);
    l2k_decoder_free(other);
    free(file.data);
    picture_free(&p);
}

/* PLT that cannot be read at first does not count as PLT that lies. */
static void test_plt_later(void **unused)
{
    (void)unused;
    static const l2k_size sizes[] = {{16, 16}, {16, 16}, {16, 16}, {16, 16}};
    picture p, got;
    size_t count = 0;
    picture_make(&p, SIDE, SIDE, 1);
    l2k_encoder *encoder = new_encoder(3);
    l2k_encoder_set(encoder, L2K_ENCODER_PLT, 1);
    assert_int_equal(l2k_encoder_set_precincts(encoder, sizes, 4), L2K_OK);
    memory_file file = finish_encoder(encoder, &p);
    const uint8_t *lengths = find_lengths(&file, &count);
    l2k_decoder *decoder = new_decoder(NULL, 1);
    l2k_decoder_set(decoder, L2K_DECODER_STRICT, 1);
    assert_int_equal(l2k_decoder_open_file(decoder, &(l2k_file){file.size, read_part, &file}), L2K_OK);
    file.fail_at = (size_t)(lengths - file.data) + count - 1;
    assert_int_equal(decode_window(decoder, (area){100, 100, 120, 120}, &got), L2K_ERROR_IO);
    picture_free(&got);
    file.fail_at = SIZE_MAX;
    expect_window(decoder, &p, (area){100, 100, 120, 120});
    expect_window(decoder, &p, (area){200, 200, 220, 220});
    expect_window(decoder, &p, (area){10, 10, 20, 20});
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

/* The main header's COD once more in the first tile-part header. Returns where it is. */
static uint8_t *repeat_cod(memory_file *file)
{
    size_t cod = 0, sot = 0;
    for (size_t at = 0; sot == 0; at++) {
        assert_true(at + 14 < file->size);
        if (file->data[at] == 0xFF && file->data[at + 1] == 0x52)
            cod = at;
        else if (cod && file->data[at] == 0xFF && file->data[at + 1] == 0x90)
            sot = at;
    }
    const size_t bytes = 2 + (size_t)l2k_get_be(file->data + cod + 2, 2), to = sot + 12;
    uint8_t *data = malloc(file->size + bytes);
    assert_non_null(data);
    memcpy(data, file->data, to);
    memcpy(data + to, data + cod, bytes);
    memcpy(data + to + bytes, file->data + to, file->size - to);
    const uint32_t psot = l2k_get_be(data + sot + 6, 4) + (uint32_t)bytes;
    for (unsigned i = 0; i < 4; i++)
        data[sot + 6 + i] = (uint8_t)(psot >> (24 - 8 * i));
    free(file->data);
    file->data = data;
    file->size += bytes;
    return data + to;
}

/* A file that is another one when it is read again gives other samples, or none, but does no harm. */
static void test_changed(void **unused)
{
    (void)unused;
    enum { LAYERS = 7, BLOCK = 10 }; /* in COD: the low byte of the number of layers, xcb */
    for (uint8_t change = 0; change < 3; change++) {
        picture p, got;
        memory_file file = make_file(&p, false, L2K_LRCP, !change);
        uint8_t *changed = repeat_cod(&file) + (change ? BLOCK : LAYERS);
        const area corner = change ? (area){0, 0, 40, 40} : (area){500, 500, SIDE, SIDE};
        l2k_decoder *decoder = new_decoder(NULL, 1), *other = new_decoder(NULL, 1);
        l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, 1 << 20);
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
        expect_window(decoder, &p, corner);
        *changed = change ? change : 3;
        assert_int_equal(l2k_decoder_open_again(other, decoder), L2K_OK);
        decode_window(decoder, change ? (area){0, 0, 5, 5} : corner, &got);
        picture_free(&got);
        decode_window(other, corner, &got);
        picture_free(&got);
        l2k_decoder_free(decoder);
        l2k_decoder_free(other);
        free(file.data);
        picture_free(&p);
    }
}

/* What is kept never takes the memory that a tile needs. */
static void test_kept_limit(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, SIDE, SIDE, 1);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        p.samples[0][i] = (int32_t)random_below(256);
    l2k_encoder *encoder = new_encoder(3);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 64);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 64);
    memory_file file = finish_encoder(encoder, &p);
    for (int64_t limit = 400000; limit < 2000000; limit += 100000) {
        l2k_decoder *decoder = new_decoder(NULL, 1);
        l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, limit);
        l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, INT64_MAX);
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
        for (uint32_t x = 0; x < 3; x++)
            expect_window(decoder, &p, (area){x, 0, SIDE, SIDE});
        l2k_decoder_free(decoder);
    }
    free(file.data);
    picture_free(&p);
}

/* Under any limit under which a window can be decoded, indices of packets do not take what its tiles need. */
static void test_index_limit(void **unused)
{
    (void)unused;
    picture p;
    unsigned done = 0;
    memory_file file = make_file(&p, true, L2K_RPCL, true);
    for (int64_t limit = 20000; limit < 700000; limit += 10000) {
        l2k_status status[2];
        l2k_decoder *decoder = new_decoder(NULL, 1);
        l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, limit);
        if (l2k_decoder_open_file(decoder, &(l2k_file){file.size, read_part, &file}) == L2K_OK)
            for (int i = 0; i < 2; i++) {
                picture got;
                status[i] = decode_window(decoder, (area){200, 200, 280, 270}, &got);
                picture_free(&got);
                assert_true(status[i] == L2K_OK || (status[i] == L2K_ERROR_LIMIT && !done));
                done += status[i] == L2K_OK;
            }
        l2k_decoder_free(decoder);
    }
    assert_true(done > 50);
    free(file.data);
    picture_free(&p);
}

/* Without precincts all code-blocks of a resolution are in the same packet, and those that a window does not need take
 * some bytes each. Blocks of 4 x 4 make many of them. */
static void test_many_blocks(void **unused)
{
    (void)unused;
    enum { WIDTH = 2048, HEIGHT = 1100, WINDOW = 64 };
    picture p, got;
    picture_make(&p, WIDTH, HEIGHT, 1);
    l2k_encoder *encoder = new_encoder(2);
    l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_WIDTH, 4);
    l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_HEIGHT, 4);
    memory_file file = finish_encoder(encoder, &p);
    for (int cache = 0; cache < 2; cache++) {
        meter m;
        const l2k_hooks hooks = metered_hooks(&m);
        l2k_decoder *decoder = new_decoder(&hooks, 1);
        l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, cache ? 1 << 20 : 0);
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t x0 = 900 + 40 * i + i % 2, y0 = 500 * (i % 3);
            assert_int_equal(decode_window(decoder, (area){x0, y0, x0 + WINDOW, y0 + WINDOW}, &got), L2K_OK);
            for (uint32_t y = 0; y < WINDOW; y++)
                assert_memory_equal(got.samples[0] + (size_t)y * WINDOW, p.samples[0] + (size_t)(y0 + y) * WIDTH + x0,
                                    WINDOW * sizeof(int32_t));
            picture_free(&got);
        }
        print_message("%zu bytes for %d code-blocks\n", m.peak, WIDTH * HEIGHT / 16);
        assert_true(m.peak < (size_t)WIDTH * HEIGHT / 16 * 16 + ((size_t)2 << 20));
        l2k_decoder_free(decoder);
    }
    free(file.data);
    picture_free(&p);
}

/* ---- Memory of many packets ------------------------------------------------------------------------------------ */

enum { MANY_SIDE = 1024 };

/* The most memory that the first window of a freshly opened file takes. */
static size_t measure_window(const picture *p, int kind, const l2k_size sizes[4])
{
    enum { FROM = 700, WINDOW = 64 };
    meter m;
    picture got;
    const l2k_hooks hooks = metered_hooks(&m);
    l2k_encoder *encoder = new_encoder(3);
    l2k_encoder_set(encoder, L2K_ENCODER_PLT, kind != 2);
    l2k_encoder_set(encoder, L2K_ENCODER_SOP, kind == 1);
    l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, kind == 0 ? L2K_PCRL : L2K_RPCL);
    assert_int_equal(l2k_encoder_set_precincts(encoder, sizes, 4), L2K_OK);
    memory_file file = finish_encoder(encoder, p);
    l2k_decoder *decoder = new_decoder(&hooks, 1);
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
    assert_int_equal(decode_window(decoder, (area){FROM, FROM, FROM + WINDOW, FROM + WINDOW}, &got), L2K_OK);
    for (uint32_t y = 0; y < WINDOW; y++)
        assert_memory_equal(got.samples[0] + (size_t)y * WINDOW, p->samples[0] + (size_t)(FROM + y) * MANY_SIDE + FROM,
                            WINDOW * sizeof(int32_t));
    picture_free(&got);
    l2k_decoder_free(decoder);
    free(file.data);
    return m.peak;
}

/* Small precincts make many packets. All that is known of one takes at most 40 bytes while their index is made: of
 * lengths, of those and the numbers of SOP, or as packets are read one after the other. */
static void test_many_packets(void **unused)
{
    (void)unused;
    static const l2k_size few[] = {{256, 256}, {256, 256}, {256, 256}, {256, 256}},
                          many[] = {{8, 8}, {8, 8}, {8, 8}, {8, 8}};
    const size_t packets = 21760; /* of 8 x 8 in the picture and its three halves */
    picture p;
    picture_make(&p, MANY_SIDE, MANY_SIDE, 1);
    for (int kind = 0; kind < 3; kind++) {
        const size_t without = measure_window(&p, kind, few), with = measure_window(&p, kind, many);
        print_message("%zu bytes, %zu with %zu packets\n", without, with, packets);
        assert_true(with < without + 40 * packets + ((size_t)128 << 10));
    }
    picture_free(&p);
}

/* ---- Components with code-blocks of their own ------------------------------------------------------------------ */

/* A gray picture: the packets of the second and third component are empty after the RCT, so that any size of
 * code-blocks is right for these. */
static memory_file make_gray(picture *p)
{
    static const uint8_t larger_blocks[] = {0xFF, 0x53, 0, 9, 1, 0, 3, 4, 3, 0, 1}; /* COC of component 1: 64 x 32 */
    picture_make(p, SIDE, SIDE, 3);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        p->samples[0][i] = p->samples[1][i] = p->samples[2][i] = (int32_t)random_below(256);
    memory_file file = finish_encoder(new_encoder(3), p);
    size_t at = 2;
    while (file.data[at + 1] != 0x90) /* SOT */
        at += 2 + (size_t)(file.data[at + 2] << 8 | file.data[at + 3]);
    file.data = realloc(file.data, file.size + sizeof larger_blocks);
    assert_non_null(file.data);
    memmove(file.data + at + sizeof larger_blocks, file.data + at, file.size - at);
    memcpy(file.data + at, larger_blocks, sizeof larger_blocks);
    file.size += sizeof larger_blocks;
    return file;
}

static void test_block_sizes(void **unused)
{
    (void)unused;
    picture p;
    memory_file file = make_gray(&p);
    l2k_decoder *decoder = open_parts(&file, NULL);
    expect_window(decoder, &p, (area){0, 0, SIDE, SIDE});
    expect_window(decoder, &p, (area){33, 41, 97, 90});
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),       cmocka_unit_test(test_index),        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_lies),        cmocka_unit_test(test_damage),       cmocka_unit_test(test_failures),
        cmocka_unit_test(test_rounds),      cmocka_unit_test(test_plt_later),    cmocka_unit_test(test_changed),
        cmocka_unit_test(test_kept_limit),  cmocka_unit_test(test_block_sizes),  cmocka_unit_test(test_index_limit),
        cmocka_unit_test(test_many_blocks), cmocka_unit_test(test_many_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
