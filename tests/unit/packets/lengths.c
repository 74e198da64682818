/* Lengths that headers state, as ways to jump: TLM, PLM, PLT and SOP, right ones and such as lie. Samples are the
 * picture's in any case. */
#include "window_support.h"

#include "codec/decode/decoder.h"
#include "stream_lengths.h"

typedef struct kind {
    bool tlm, plt, sop;
    uint32_t tile; /* side, 0: one tile */
    l2k_progression order;
} kind;

static memory_file make_file(picture *p, kind k)
{
    static const l2k_size sizes[] = {{64, 64}, {64, 64}, {32, 32}, {32, 32}};
    picture_make(p, SIDE, SIDE, 1);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        p->samples[0][i] = (int32_t)random_below(256);
    l2k_encoder *encoder = new_encoder(3);
    const int64_t settings[][2] = {{L2K_ENCODER_TLM, k.tlm},
                                   {L2K_ENCODER_PLT, k.plt},
                                   {L2K_ENCODER_SOP, k.sop},
                                   {L2K_ENCODER_TILE_WIDTH, k.tile},
                                   {L2K_ENCODER_TILE_HEIGHT, k.tile},
                                   {L2K_ENCODER_PROGRESSION, k.order},
                                   {L2K_ENCODER_TILE_PARTS, k.tile ? L2K_TILE_PARTS_RESOLUTION : L2K_TILE_PARTS_ONE}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        l2k_encoder_set(encoder, (l2k_encoder_option)settings[i][0], settings[i][1]);
    assert_int_equal(l2k_encoder_set_precincts(encoder, sizes, 4), L2K_OK);
    return finish_encoder(encoder, p);
}

static uint64_t calls_of(const l2k_decoder *decoder)
{
    uint64_t bytes, calls;
    l2k_decoder_read_count(decoder, &bytes, &calls);
    return calls;
}

/* ---- TLM ------------------------------------------------------------------------------------------------------ */

/* Opening a file with TLM takes a few calls, whatever the number of tiles; a window reads the headers of its own. */
static void test_tile_parts(void **unused)
{
    (void)unused;
    picture p;
    uint64_t calls[2], bytes[2];
    for (int tlm = 0; tlm < 2; tlm++) {
        memory_file file = make_file(&p, (kind){.tlm = tlm, .plt = true, .tile = 64});
        l2k_decoder *decoder = open_parts(&file, NULL);
        calls[tlm] = calls_of(decoder);
        expect_window(decoder, &p, (area){130, 200, 180, 250});
        l2k_decoder_read_count(decoder, &bytes[tlm], &(uint64_t){0});
        expect_window(decoder, &p, (area){0, 0, SIDE, SIDE});
        expect_window(decoder, &p, (area){300, 30, 420, 180});
        l2k_decoder_free(decoder);
        free(file.data);
        picture_free(&p);
    }
    assert_true(calls[0] > 60); /* 64 tiles with four tile-parts each */
    assert_true(calls[1] < 10);
    assert_true(bytes[1] * 2 < bytes[0]);
}

/* What an entry of TLM says: tile in a byte, length in four. */
enum { TLM_ENTRY = 5, TLM_HEAD = 6 };

static void swap_entries(uint8_t *a, uint8_t *b)
{
    uint8_t before[TLM_ENTRY];
    memcpy(before, a, TLM_ENTRY);
    memcpy(a, b, TLM_ENTRY);
    memcpy(b, before, TLM_ENTRY);
}

static void lie_about_parts(memory_file *file, int n)
{
    uint8_t *segment = file->data + find_segment(file, 2, 0xFF55), *entries = segment + TLM_HEAD;
    const size_t count = (l2k_get_be(segment + 2, 2) - 4) / TLM_ENTRY;
    switch (n) {
    case 0: /* one tile for another */
        entries[0] = 9;
        break;
    case 1: /* lengths of two exchanged, the sum right */
        swap_entries(entries + TLM_ENTRY, entries + 2 * TLM_ENTRY);
        break;
    case 2: /* a sum that leads elsewhere */
        entries[TLM_ENTRY - 1] ^= 4;
        break;
    case 3: /* beyond the file */
        entries[1] = 0xFF;
        break;
    case 4: /* a tile that does not exist */
        entries[0] = 200;
        break;
    case 5: /* all of another tile's */
        for (size_t i = 0; i < count; i++)
            entries[i * TLM_ENTRY] = (uint8_t)(entries[i * TLM_ENTRY] ^ 1);
        break;
    case 6: /* the last tile-part is another tile's, which has one more than its SOTs say */
        entries[(count - 1) * TLM_ENTRY] = 0;
        break;
    case 7: /* a length of no tile-part */
        memset(entries + 1, 0, 4);
        break;
    default: /* a style that does not exist */
        segment[5] = 0x70;
    }
}

static void test_lying_tile_parts(void **unused)
{
    (void)unused;
    for (int n = 0; n < 9; n++) {
        picture p;
        watch w;
        l2k_hooks hooks = watch_hooks(&w);
        memory_file file = make_file(&p, (kind){.tlm = true, .plt = n & 1, .tile = 128, .order = L2K_RLCP});
        lie_about_parts(&file, n);
        l2k_decoder *decoder = open_parts(&file, &hooks), *other = open_parts(&file, NULL);
        l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, 1 << 20);
        expect_window(decoder, &p, (area){300, 300, 400, 330});
        expect_window(decoder, &p, (area){10, 10, 50, 50});
        expect_window(decoder, &p, (area){140, 10, 180, 50});
        expect_window(decoder, &p, (area){0, 0, SIDE, SIDE});
        expect_window(decoder, &p, (area){200, 210, 260, 290});
        assert_true(w.notes > 0 && w.warnings == 0);
        expect_window(other, &p, (area){0, 0, SIDE, SIDE});
        l2k_decoder_free(decoder);
        l2k_decoder_free(other);
        assert_int_equal(w.live, 0);
        free(file.data);
        picture_free(&p);
    }
}

/* While tile-parts are looked for one by one, reading may fail. */
static void test_failing_search(void **unused)
{
    (void)unused;
    picture p, got;
    memory_file file = make_file(&p, (kind){.tlm = true, .tile = 128});
    lie_about_parts(&file, 5);
    l2k_decoder *decoder = open_parts(&file, NULL);
    for (size_t at = find_sot(&file) + 20; at < file.size; at += file.size / 9) {
        file.fail_at = at;
        assert_int_equal(decode_window(decoder, (area){400, 400, 450, 450}, &got), L2K_ERROR_IO);
        picture_free(&got);
    }
    file.fail_at = SIZE_MAX;
    expect_window(decoder, &p, (area){400, 400, 450, 450});
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

/* The headers of a tile that TLM names cannot be read: what is known of the others stays. */
static void test_failing_headers(void **unused)
{
    (void)unused;
    picture p, got;
    memory_file file = make_file(&p, (kind){.tlm = true, .plt = true, .tile = 128});
    l2k_decoder *decoder = open_parts(&file, NULL);
    expect_window(decoder, &p, (area){0, 0, 50, 50});
    const uint64_t opened = decoder->opened;
    file.fail_at = find_sot(&file);
    assert_int_equal(decode_window(decoder, (area){400, 400, 450, 450}, &got), L2K_ERROR_IO);
    picture_free(&got);
    assert_true(decoder->opened == opened && decoder->codestream.is_listed);
    file.fail_at = SIZE_MAX;
    expect_window(decoder, &p, (area){400, 400, 450, 450});
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

/* Read strictly, a file has to be as TLM's absence would have it: all headers are looked at. */
static void test_strict(void **unused)
{
    (void)unused;
    picture p;
    memory_file file = make_file(&p, (kind){.tlm = true, .tile = 64});
    l2k_decoder *decoder = new_decoder(NULL, 1);
    l2k_decoder_set(decoder, L2K_DECODER_STRICT, 1);
    assert_int_equal(l2k_decoder_open_file(decoder, &(l2k_file){file.size, read_part, &file}), L2K_OK);
    assert_true(calls_of(decoder) > 60);
    expect_window(decoder, &p, (area){10, 200, 180, 250});
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

/* ---- PLM, SOP ------------------------------------------------------------------------------------------------- */

/* The first window goes to its own packets, as with PLT. */
static void expect_jumps(memory_file *file, const picture *p, bool in_parts)
{
    l2k_decoder *decoder = new_decoder(NULL, 1);
    assert_int_equal(in_parts ? l2k_decoder_open_file(decoder, &(l2k_file){file->size, read_part, file})
                              : l2k_decoder_open_memory(decoder, file->data, file->size),
                     L2K_OK);
    expect_window(decoder, p, (area){480, 490, 500, 510});
    assert_true(counted.packets > 0 && counted.packets <= 4 * 4 * 4);
    expect_window(decoder, p, (area){0, 0, SIDE, SIDE});
    l2k_decoder_free(decoder);
}

static void test_main_header(void **unused)
{
    (void)unused;
    for (unsigned shares = 1; shares < 40; shares *= 3) {
        picture p;
        memory_file file = make_file(&p, (kind){.plt = true, .tile = 256, .order = L2K_RPCL});
        move_lengths(&file, shares);
        expect_jumps(&file, &p, true);
        expect_jumps(&file, &p, false);
        free(file.data);
        picture_free(&p);
    }
}

static void test_markers(void **unused)
{
    (void)unused;
    for (int order = L2K_LRCP; order <= L2K_CPRL; order++) {
        picture p;
        memory_file file = make_file(&p, (kind){.sop = true, .order = (l2k_progression)order});
        expect_jumps(&file, &p, false);
        free(file.data);
        picture_free(&p);
    }
}

/* PLM that lists fewer packets, too many, other lengths; two of one index, shares that end outside. */
static void lie_about_packets(memory_file *file, int n)
{
    const size_t at = find_segment(file, 2, 0xFF57);
    uint8_t *share = file->data + at + 5;
    const unsigned bytes = share[0];
    switch (n) {
    case 0:
        share[bytes] ^= 1;
        break;
    case 1:
        share[bytes] |= 0x80;
        break;
    case 2:
        share[0]++;
        break;
    case 3:
        share[0] = 255;
        break;
    case 4: /* the index of the next one */
        file->data[at + 4] = 1;
        break;
    default:
        memset(share + 1, 0, bytes);
    }
}

static void expect_windows(memory_file *file, const picture *p, unsigned least_notes)
{
    for (int in_parts = 0; in_parts < 2; in_parts++) {
        watch w;
        l2k_hooks hooks = watch_hooks(&w);
        l2k_decoder *decoder = new_decoder(&hooks, 1);
        assert_int_equal(in_parts ? l2k_decoder_open_file(decoder, &(l2k_file){file->size, read_part, file})
                                  : l2k_decoder_open_memory(decoder, file->data, file->size),
                         L2K_OK);
        l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, 1 << 20);
        for (unsigned i = 0; i < 8; i++) {
            const uint32_t x = i ? random_below(400) : 430, y = i ? random_below(400) : 20;
            expect_window(decoder, p, (area){x, y, x + 70, y + 80});
        }
        assert_true(w.warnings == 0 && w.notes >= least_notes);
        l2k_decoder_free(decoder);
        assert_int_equal(w.live, 0);
    }
}

static void test_lying_main_header(void **unused)
{
    (void)unused;
    for (int n = 0; n < 6; n++) {
        picture p;
        memory_file file = make_file(&p, (kind){.plt = true, .tile = 256, .order = L2K_RPCL, .sop = n & 1});
        move_lengths(&file, 1);
        lie_about_packets(&file, n);
        expect_windows(&file, &p, 0);
        free(file.data);
        picture_free(&p);
    }
}

/* SOP with wrong numbers, and one that is missing where the others are. */
static void test_lying_markers(void **unused)
{
    (void)unused;
    for (int n = 0; n < 2; n++) {
        picture p;
        memory_file file = make_file(&p, (kind){.sop = true, .order = L2K_PCRL});
        size_t found = 0;
        for (size_t at = 0; at + 6 < file.size; at++)
            if (file.data[at] == 0xFF && file.data[at + 1] == 0x91 && ++found % 7 == 3)
                file.data[at + 5] ^= 1;
        assert_true(found > 50);
        expect_windows(&file, &p, 0);
        free(file.data);
        picture_free(&p);
    }
}

/* ---- Lengths that look right ----------------------------------------------------------------------------------- */

/* All lengths but the first are those of the packet before: each one begins and ends with another packet of the file.
 */
static void test_shifted(void **unused)
{
    (void)unused;
    picture p;
    memory_file file = make_file(&p, (kind){.plt = true, .sop = true, .order = L2K_RPCL});
    uint8_t *plt = file.data + find_segment(&file, find_sot(&file) + 12, 0xFF58);
    uint8_t *at = plt + 5, *end = plt + 2 + l2k_get_be(plt + 2, 2), *last = end - 1, *first = at;
    while (last > at && last[-1] & 0x80)
        last--;
    while (*first & 0x80)
        first++;
    first++;
    /* The first two become one, so that all others move up, and the last one is cut in two. */
    uint32_t lengths[2] = {0}, bytes = 0;
    uint8_t *from = at;
    for (int i = 0; i < 2; i++) {
        do
            lengths[i] = lengths[i] << 7 | (*from & 0x7F);
        while (*from++ & 0x80);
    }
    for (const uint8_t *k = last; k < end; k++)
        bytes = bytes << 7 | (*k & 0x7F);
    const uint32_t sum = lengths[0] + lengths[1];
    const size_t one = sum < 128 ? 1 : sum < 16384 ? 2 : 3, free_bytes = (size_t)(from - at) - one;
    assert_true(free_bytes >= 1 && free_bytes <= 3 && bytes > 1);
    for (size_t i = 0; i < one; i++)
        at[i] = (uint8_t)((sum >> 7 * (one - 1 - i) & 0x7F) | (i + 1 < one ? 0x80 : 0));
    memmove(at + one, from, (size_t)(last - from));
    uint8_t *to = at + one + (last - from);
    for (size_t i = free_bytes; i-- > 0;) /* a part of a byte, in as many as there is room for */
        *to++ = i ? 0x80 : 1;
    bytes--;
    for (size_t i = (size_t)(end - to); i-- > 0;)
        *to++ = (uint8_t)((bytes >> 7 * i & 0x7F) | (i ? 0x80 : 0));
    expect_windows(&file, &p, 1);
    free(file.data);
    picture_free(&p);
}

/* ---- Packets on several threads ---------------------------------------------------------------------------------- */

/* From the first SOT on, PLT included: one bit, three, or the end. */
static void damage(memory_file *file, size_t sot, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        file->data[sot + random_below(n < 4 ? 100 : (uint32_t)(file->size - sot))] ^= (uint8_t)(1u << random_below(8));
    if (n % 4 == 3)
        file->size -= random_below((uint32_t)(file->size - sot));
}

static bool has_picture(l2k_status status)
{
    return status == L2K_OK || status == L2K_INCOMPLETE;
}

static void expect_as_one_thread(const memory_file *file)
{
    picture got[2];
    watch w[2];
    l2k_status status[2];
    for (unsigned i = 0; i < 2; i++) {
        l2k_hooks hooks = watch_hooks(&w[i]);
        l2k_decoder *decoder = new_decoder(&hooks, i ? 4 : 1);
        status[i] = run_decoder(decoder, file->data, file->size, &got[i]);
        if (has_picture(status[i])) /* the next one takes over its tree */
            picture_free(&got[i]);
        status[i] = run_decoder(decoder, file->data, file->size, &got[i]);
        l2k_decoder_free(decoder);
        assert_int_equal(w[i].live, 0);
    }
    assert_int_equal(status[0], status[1]);
    assert_string_equal(w[0].text, w[1].text);
    assert_true(w[0].errors == w[1].errors && w[0].warnings == w[1].warnings && w[0].notes == w[1].notes);
    if (!has_picture(status[0]))
        return;
    assert_true(picture_equal(&got[0], &got[1]));
    picture_free(&got[0]);
    picture_free(&got[1]);
}

/* Several threads read packets whose lengths PLT states, and tell and give what one thread does. */
static void test_packets_at_once(void **unused)
{
    (void)unused;
    enum { SMALL = 192, TIMES = 12 };
    for (unsigned n = 0; n < 4 * TIMES; n++) {
        picture p;
        const encoder_setting settings[] = {{L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM},
                                            {L2K_ENCODER_BLOCK_WIDTH, 8},
                                            {L2K_ENCODER_BLOCK_HEIGHT, 8},
                                            {L2K_ENCODER_PROGRESSION, n % 5},
                                            {L2K_ENCODER_STYLE, n & 1 ? L2K_STYLE_HT : 0},
                                            {L2K_ENCODER_PLT, 1}};
        picture_make(&p, SMALL, SMALL, 3);
        memory_file file = encode_with_all(&p, settings, sizeof settings / sizeof *settings);
        damage(&file, find_sot(&file), n / 4);
        expect_as_one_thread(&file);
        free(file.data);
        picture_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tile_parts),      cmocka_unit_test(test_lying_tile_parts),
        cmocka_unit_test(test_failing_search),  cmocka_unit_test(test_failing_headers),
        cmocka_unit_test(test_strict),          cmocka_unit_test(test_main_header),
        cmocka_unit_test(test_markers),         cmocka_unit_test(test_lying_main_header),
        cmocka_unit_test(test_lying_markers),   cmocka_unit_test(test_shifted),
        cmocka_unit_test(test_packets_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
