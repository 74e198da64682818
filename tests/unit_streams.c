/* Codestreams that our encoder does not write: packed packet headers, tile-parts in all arrangements, SOP and EPH
 * against what COD says, progression changes, regions of interest. Each decodes to the picture that it was made from.
 * And what a region leaves alone. */
#define _DEFAULT_SOURCE /* mmap */
#include "stream_edit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "codec/decoder.h"

static l2k_encoder *new_encoder(uint32_t levels)
{
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_non_null(encoder);
    l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
    l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, levels);
    l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_WIDTH, 16);
    l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_HEIGHT, 16);
    l2k_encoder_set(encoder, L2K_ENCODER_SOP, 1);
    l2k_encoder_set(encoder, L2K_ENCODER_EPH, 1);
    return encoder;
}

static memory_file finish_encoder(l2k_encoder *encoder, const picture *p)
{
    memory_file file = memory_of(NULL, 0);
    assert_int_equal(run_encoder(encoder, p, &file), L2K_OK);
    l2k_encoder_free(encoder);
    return file;
}

static void expect(const picture *p, const memory_file *file, unsigned warnings)
{
    watch w;
    picture got;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_status status = decode_bytes(&hooks, file->data, file->size, &got);
    if (status != L2K_OK)
        print_message("%s\n", w.text);
    assert_int_equal(status, L2K_OK);
    assert_true(picture_equal(p, &got));
    assert_int_equal(w.warnings, warnings);
    assert_int_equal(w.live, 0);
    picture_free(&got);
}

typedef struct effort {
    size_t packets, blocks;
} effort;

static effort decode_region(const memory_file *file, const uint32_t *r, uint32_t reduce, picture *got)
{
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, reduce);
    assert_int_equal(l2k_decoder_set_region(decoder, r[0], r[1], r[2], r[3]), L2K_OK);
    assert_int_equal(run_decoder(decoder, file->data, file->size, got), L2K_OK);
    effort result = {decoder->packets_kept, decoder->blocks_decoded};
    l2k_decoder_free(decoder);
    return result;
}

static void set_layers(l2k_encoder *encoder, size_t count)
{
    static const double ratios[] = {20, 8, 4, 1};
    l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios + 4 - count, count);
}

/* ---- Packets and tile-parts ---------------------------------------------------------------------------------- */

static void test_arrangements(void **unused)
{
    (void)unused;
    static edit e;
    picture p;
    picture_make(&p, 70, 50, 3);
    l2k_encoder *encoder = new_encoder(2);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 40);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 30);
    set_layers(encoder, 2);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    for (unsigned i = 0; i < 3 * 64; i++) {
        edit_plan plan = {.packed = i % 3,
                          .segment_bytes = i / 3 & 1 ? 41 : 5000,
                          .sop = i / 3 & 2,
                          .eph = i / 3 & 4,
                          .packets_in_part = i / 3 & 8 ? 5 : 0,
                          .interleaved = i / 3 & 16,
                          .open_end = i / 3 & 32};
        memory_file changed = edit_write(&e, &plan);
        expect(&p, &changed, 0);
        free(changed.data);
    }
    free(file.data);
    picture_free(&p);
}

/* PPM must have a share for every tile-part, and goes with no PPT. */
static void test_packed_damage(void **unused)
{
    (void)unused;
    static const uint8_t ppt[] = {0xFF, 0x61, 0, 4, 0, 0x80}, ppm[] = {0xFF, 0x60, 0, 8, 0, 0, 0, 0, 1, 0};
    static edit e;
    picture p, got;
    picture_make(&p, 20, 20, 1);
    memory_file file = finish_encoder(new_encoder(1), &p);
    edit_open(&e, &file);
    edit_plan both = {.packed = PACKED_PPM, .segment_bytes = 5000, .part_extra = {ppt, sizeof ppt}};
    edit_plan twice = {.packed = PACKED_PPM, .segment_bytes = 5000, .main_extra = {ppm, sizeof ppm}};
    for (int i = 0; i < 2; i++) {
        memory_file changed = edit_write(&e, i ? &twice : &both);
        assert_int_equal(decode_bytes(NULL, changed.data, changed.size, &got), L2K_ERROR_CORRUPT);
        free(changed.data);
    }
    free(file.data);
    picture_free(&p);
}

/* ---- Progression changes (B.12.2) ---------------------------------------------------------------------------- */

enum { RESOLUTIONS = 4, COMPONENTS = 3, LAYERS = 4, MOST_CHANGES = 40 };

typedef struct change {
    uint32_t resolution[2], component[2], layers, order;
} change;

/* The packet in the file, which is LRCP with one precinct for each resolution. */
static size_t place_in_file(const uint32_t at[3])
{
    return (at[0] * RESOLUTIONS + at[1]) * COMPONENTS + at[2];
}

/* The loops of one progression as B.12.1 has them; with one precinct, position is no loop. L, R, C are 0, 1, 2. */
static void run_change(const change *c, bool *done, size_t *sequence, size_t *count)
{
    static const uint8_t loops[5][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}, {2, 1, 0}};
    const uint32_t from[3] = {0, c->resolution[0], c->component[0]};
    const uint32_t to[3] = {c->layers, c->resolution[1], c->component[1]};
    const uint8_t *l = loops[c->order];
    uint32_t at[3];
    for (at[l[0]] = from[l[0]]; at[l[0]] < to[l[0]]; at[l[0]]++)
        for (at[l[1]] = from[l[1]]; at[l[1]] < to[l[1]]; at[l[1]]++)
            for (at[l[2]] = from[l[2]]; at[l[2]] < to[l[2]]; at[l[2]]++) {
                size_t place = place_in_file(at);
                if (!done[place])
                    sequence[(*count)++] = place;
                done[place] = true;
            }
}

static change random_change(bool everything)
{
    change c = {{0, RESOLUTIONS}, {0, COMPONENTS}, LAYERS, random_below(5)};
    if (everything)
        return c;
    c.resolution[0] = random_below(RESOLUTIONS);
    c.resolution[1] = c.resolution[0] + 1 + random_below(RESOLUTIONS - c.resolution[0]);
    c.component[0] = random_below(COMPONENTS);
    c.component[1] = c.component[0] + 1 + random_below(COMPONENTS - c.component[0]);
    c.layers = 1 + random_below(LAYERS);
    return c;
}

static memory_file poc_of(const change *changes, size_t count)
{
    memory_file out = memory_of(NULL, 0);
    edit_put(&out, 0xFF5F, 2);
    edit_put(&out, (uint32_t)(2 + 7 * count), 2);
    for (size_t i = 0; i < count; i++) {
        edit_put(&out, changes[i].resolution[0], 1);
        edit_put(&out, changes[i].component[0], 1);
        edit_put(&out, changes[i].layers, 2);
        edit_put(&out, changes[i].resolution[1], 1);
        edit_put(&out, changes[i].component[1], 1);
        edit_put(&out, changes[i].order, 1);
    }
    return out;
}

/* One POC in the main header or in the tile's, where it overrides a useless one in the main header. */
static void check_changes(const picture *p, const edit *original, bool in_tile)
{
    static edit e;
    change changes[MOST_CHANGES];
    bool done[RESOLUTIONS * COMPONENTS * LAYERS] = {false};
    size_t sequence[RESOLUTIONS * COMPONENTS * LAYERS], count = 0, n = random_below(6);
    for (size_t i = 0; i <= n; i++) {
        changes[i] = random_change(i == n);
        run_change(&changes[i], done, sequence, &count);
    }
    assert_int_equal(count, original->num_packets);
    e = *original;
    for (size_t i = 0; i < count; i++)
        e.packets[i] = original->packets[sequence[i]];
    memory_file poc = poc_of(changes, n + 1), other = poc_of(&(change){{0, 1}, {0, 1}, 1, 4}, 1);
    edit_plan plan = {.sop = true, .eph = true, .main_extra = {poc.data, poc.size}};
    if (in_tile) {
        plan.part_extra = plan.main_extra;
        plan.main_extra = (edit_bytes){other.data, other.size};
    }
    memory_file changed = edit_write(&e, &plan);
    expect(p, &changed, 0);
    free(changed.data);
    free(poc.data);
    free(other.data);
}

static void test_changes(void **unused)
{
    (void)unused;
    static edit e;
    picture p;
    picture_make(&p, 64, 48, COMPONENTS);
    l2k_encoder *encoder = new_encoder(RESOLUTIONS - 1);
    set_layers(encoder, LAYERS);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    for (unsigned i = 0; i < 200; i++)
        check_changes(&p, &e, i & 1);
    free(file.data);
    picture_free(&p);
}

/* The changes of a tile in two tile-part headers, the second going on where the first ended. */
static void test_changes_in_parts(void **unused)
{
    (void)unused;
    static edit e;
    picture p;
    picture_make(&p, 40, 40, 1);
    memory_file file = finish_encoder(new_encoder(3), &p), out = memory_of(NULL, 0);
    memory_file poc[2] = {poc_of(&(change){{0, 2}, {0, 1}, 1, 0}, 1), poc_of(&(change){{2, 4}, {0, 1}, 1, 3}, 1)};
    edit_open(&e, &file);
    assert_int_equal(e.num_packets, 4);
    edit_append(&out, e.main);
    for (unsigned i = 0; i < 2; i++) {
        edit_part part = {.index = i, .first = 2 * i, .count = 2};
        memory_file bytes = memory_of(NULL, 0);
        edit_put_part(&e, &(edit_plan){.eph = true}, &part, false, &bytes);
        uint32_t size = (uint32_t)(bytes.size + poc[i].size);
        edit_append(&out, (edit_bytes){bytes.data, 6});
        edit_put(&out, size, 4);
        edit_append(&out, (edit_bytes){bytes.data + 10, 2});
        edit_append(&out, (edit_bytes){poc[i].data, poc[i].size});
        edit_append(&out, (edit_bytes){bytes.data + 12, bytes.size - 12});
        free(bytes.data);
    }
    edit_put(&out, 0xFFD9, 2);
    expect(&p, &out, 0);
    free(out.data);
    free(poc[0].data);
    free(poc[1].data);
    free(file.data);
    picture_free(&p);
}

/* ---- Regions of interest (Annex H) --------------------------------------------------------------------------- */

/* Exponents that are lower by the shift leave as many bit-planes as before; magnitudes below 2^shift are background and
 * stay what they are. */
static void test_region_shift(void **unused)
{
    (void)unused;
    enum { SHIFT = 6 };
    static const uint8_t wrong[] = {0xFF, 0x5E, 0, 5, 0, 0, 3}, right[] = {0xFF, 0x5E, 0, 5, 0, 0, SHIFT};
    static edit e;
    picture p;
    picture_make(&p, 50, 30, 1);
    for (uint32_t i = 0; i < 50 * 30; i++)
        p.samples[0][i] = 128 + p.samples[0][i] % 5; /* no coefficient reaches 2^6 */
    memory_file file = finish_encoder(new_encoder(2), &p);
    edit_open(&e, &file);
    for (size_t i = 0; i + 2 < e.main.size; i++)
        if (file.data[i] == 0xFF && file.data[i + 1] == 0x5C)
            for (size_t k = 0; k < 7; k++)
                file.data[i + 5 + k] = (uint8_t)(file.data[i + 5 + k] - (SHIFT << 3));
    edit_plan in_main = {.eph = true, .main_extra = {right, sizeof right}};
    edit_plan in_tile = {.eph = true, .main_extra = {wrong, sizeof wrong}, .part_extra = {right, sizeof right}};
    memory_file changed = edit_write(&e, &in_main);
    expect(&p, &changed, 0);
    free(changed.data);
    changed = edit_write(&e, &in_tile);
    expect(&p, &changed, 0);
    free(changed.data);
    free(file.data);
    picture_free(&p);
}

/* ---- A component transform over different numbers of levels (COC) -------------------------------------------- */

static memory_file encode_components_first(const picture *p, uint32_t levels, l2k_wavelet wavelet)
{
    l2k_encoder *encoder = new_encoder(levels);
    l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, L2K_CPRL);
    l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, wavelet);
    return finish_encoder(encoder, p);
}

/* COC and QCC for components 1 and 2, out of the QCD of a file of two levels. */
static memory_file other_levels(const edit *two, l2k_wavelet wavelet)
{
    memory_file out = memory_of(NULL, 0);
    const uint8_t *qcd = two->main.data + 2;
    while (!(qcd[0] == 0xFF && qcd[1] == 0x5C))
        qcd += 2 + edit_get(qcd + 2, 2);
    for (uint32_t c = 1; c < 3; c++) {
        edit_put(&out, 0xFF530009, 4);
        edit_put(&out, c << 8, 2);
        edit_put(&out, 0x02020200, 4); /* two levels, blocks of 16 x 16 */
        edit_put(&out, wavelet == L2K_WAVELET_5_3, 1);
        edit_put(&out, 0xFF5D, 2);
        edit_put(&out, edit_get(qcd + 2, 2) + 1, 2);
        edit_put(&out, c, 1);
        memory_write(&out, qcd + 4, edit_get(qcd + 2, 2) - 2);
    }
    return out;
}

/* With the GPU insisted on: the same samples from the CPU and one note for all tiles, or an error without a GPU. */
static void check_backend(const memory_file *file, const picture *expected)
{
    picture got;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CUDA);
    bool usable = l2k_backend_usable(L2K_BACKEND_CUDA, NULL, 0);
    assert_int_equal(run_decoder(decoder, file->data, file->size, &got), usable ? L2K_OK : L2K_ERROR_BACKEND);
    assert_int_equal(w.errors, !usable);
    assert_int_equal(w.notes, usable);
    if (usable) {
        assert_true(picture_equal(expected, &got));
        picture_free(&got);
    }
    l2k_decoder_free(decoder);
}

/* Component 0 of a file with four levels, 1 and 2 of one with two. */
static void test_mixed_levels(void **unused)
{
    (void)unused;
    static edit four, two;
    static const uint32_t part[4] = {11, 7, 33, 29};
    for (int w = L2K_WAVELET_5_3; w <= L2K_WAVELET_9_7; w++) {
        picture p, got;
        picture_make(&p, 61, 47, 3);
        memory_file a = encode_components_first(&p, 4, w), b = encode_components_first(&p, 2, w);
        edit_open(&four, &a);
        edit_open(&two, &b);
        memory_file extra = other_levels(&two, w);
        memcpy(&four.packets[5], &two.packets[3], 6 * sizeof *two.packets);
        four.num_packets = four.parts[0].count = 5 + 6;
        edit_plan plan = {.eph = true, .main_extra = {extra.data, extra.size}};
        memory_file mixed = edit_write(&four, &plan);
        if (w == L2K_WAVELET_5_3)
            expect(&p, &mixed, 0);
        assert_int_equal(decode_bytes(NULL, mixed.data, mixed.size, &got), L2K_OK);
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t i = 0; i < 61 * 47; i++)
                assert_in_range(got.samples[c][i] - p.samples[c][i] + 4, 0, 8);
        check_backend(&mixed, &got);
        picture_free(&got);
        decode_region(&mixed, part, 0, &got);
        for (uint32_t y = 0; y < 22; y++)
            assert_in_range(got.samples[1][22 * y] - p.samples[1][61 * (y + 7) + 11] + 4, 0, 8);
        picture_free(&got);
        free(mixed.data);
        free(extra.data);
        free(a.data);
        free(b.data);
        picture_free(&p);
    }
}

/* ---- Extremes of the headers --------------------------------------------------------------------------------- */

enum { SSIZ = 42 }; /* offset of the first component's in SIZ */

/* A reversible file does not depend on the precision but for level shift and clamping, so it can be raised. */
static void test_precision(void **unused)
{
    (void)unused;
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        picture p, got;
        picture_shape(&p, 40, 30, 1);
        p.components[0].precision = 24;
        p.components[0].is_signed = is_signed;
        picture_fill(&p, 0);
        memory_file file = finish_encoder(new_encoder(2), &p);
        for (uint32_t precision = 25; precision <= 40; precision++) {
            int32_t raised = is_signed ? 0 : (int32_t)((1ull << (precision - 1)) - (1u << 23));
            file.data[SSIZ] = (uint8_t)((is_signed ? 0x80 : 0) | (precision - 1));
            l2k_status status = decode_bytes(NULL, file.data, file.size, &got);
            assert_int_equal(status, precision > 38   ? L2K_ERROR_CORRUPT
                                     : precision > 31 ? L2K_ERROR_UNSUPPORTED
                                                      : L2K_OK);
            for (uint32_t i = 0; status == L2K_OK && i < 40 * 30; i++)
                assert_int_equal(got.samples[0][i], p.samples[0][i] + raised);
            if (status == L2K_OK)
                picture_free(&got);
        }
        free(file.data);
        picture_free(&p);
    }
}

/* The lowest resolution may have precincts of one sample, others of two by two. */
static void test_least_precincts(void **unused)
{
    (void)unused;
    static const l2k_size least[] = {{2, 2}, {2, 2}, {1, 1}};
    for (int order = 0; order < 5; order++) {
        picture p;
        picture_make(&p, 23, 18, 2);
        p.components[1].dx = 3;
        free(p.samples[1]);
        picture_fill(&p, 1);
        l2k_encoder *encoder = new_encoder(2);
        l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, order);
        assert_int_equal(l2k_encoder_set_precincts(encoder, least, 3), L2K_OK);
        memory_file file = finish_encoder(encoder, &p);
        expect(&p, &file, 0);
        free(file.data);
        picture_free(&p);
    }
}

/* ---- What a region leaves alone ------------------------------------------------------------------------------ */

/* A corner of a large tile takes the packets and code-blocks around it alone: all others may be anything. */
static void test_region_effort(void **unused)
{
    (void)unused;
    static edit e;
    static const uint32_t corner[4] = {0, 0, 20, 20}, all[4] = {0, 0, 512, 512};
    picture p, part, again;
    picture_make(&p, 512, 512, 1);
    l2k_encoder *encoder = new_encoder(3);
    const l2k_size precincts[] = {{64, 64}, {64, 64}, {32, 32}, {32, 32}};
    assert_int_equal(l2k_encoder_set_precincts(encoder, precincts, 4), L2K_OK);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    effort whole = decode_region(&file, all, 0, &part);
    assert_true(picture_equal(&p, &part));
    picture_free(&part);
    assert_int_equal(whole.packets, 64 + 16 + 16 + 4);
    effort few = decode_region(&file, corner, 0, &part);
    for (uint32_t y = 0; y < 20; y++)
        assert_memory_equal(part.samples[0] + 20 * y, p.samples[0] + 512 * y, 20 * sizeof(int32_t));
    assert_int_equal(few.packets, 4); /* one precinct of each resolution */
    assert_true(few.blocks <= 3 * 4 * 4 && few.blocks * 20 < whole.blocks);
    /* In the file the packets stand resolution by resolution: 4, 16, 16, 64. The first of each is the corner's. */
    for (size_t i = 0; i < e.num_packets; i++)
        if (i != 0 && i != 4 && i != 20 && i != 36)
            memset((uint8_t *)(uintptr_t)e.packets[i].body.data, 0x55, e.packets[i].body.size);
    effort same = decode_region(&file, corner, 0, &again);
    assert_true(picture_equal(&part, &again));
    assert_int_equal(same.blocks, few.blocks);
    picture_free(&again);
    picture_free(&part);
    effort reduced = decode_region(&file, all, 2, &part);
    assert_int_equal(reduced.packets, 4 + 16);
    picture_free(&part);
    free(file.data);
    picture_free(&p);
}

/* The bytes of a region's tile and the headers are all that is read: whatever lies between cannot be. */
static void test_region_reading(void **unused)
{
    (void)unused;
    static const uint32_t corner[4] = {0, 0, 100, 100};
    picture p, got;
    picture_make(&p, 1024, 256, 1);
    for (uint32_t i = 0; i < 1024 * 256; i++)
        p.samples[0][i] = (int32_t)random_below(256);
    l2k_encoder *encoder = new_encoder(2);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 256);
    memory_file file = finish_encoder(encoder, &p);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), closed = 0;
    uint8_t *mapped = mmap(NULL, file.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(mapped != MAP_FAILED);
    memcpy(mapped, file.data, file.size);
    size_t at = 0;
    while (!(mapped[at] == 0xFF && mapped[at + 1] == 0x90))
        at++;
    for (size_t bytes; mapped[at + 1] == 0x90; at += bytes) {
        bytes = edit_get(mapped + at + 6, 4);
        /* Pages that have nothing of SOT to SOD, nor of the next tile-part. */
        size_t first = (at + 14 + page - 1) / page * page, last = (at + bytes) / page * page;
        if (edit_get(mapped + at + 4, 2) > 0 && last > first) {
            assert_int_equal(mprotect(mapped + first, last - first, PROT_NONE), 0);
            closed += last - first;
        }
    }
    assert_true(closed > file.size / 2);
    l2k_image image;
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    assert_int_equal(l2k_decoder_open_memory(decoder, NULL, 1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_open_memory(decoder, mapped, file.size), L2K_OK);
    assert_int_equal(l2k_decoder_set_region(decoder, corner[0], corner[1], corner[2], corner[3]), L2K_OK);
    assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
    picture_adopt(&got, &image);
    assert_int_equal(l2k_decoder_decode(decoder, got.planes), L2K_OK);
    for (uint32_t y = 0; y < 100; y++)
        assert_memory_equal(got.samples[0] + 100 * y, p.samples[0] + 1024 * y, 100 * sizeof(int32_t));
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_BYTES, 10);
    assert_int_equal(l2k_decoder_open_memory(decoder, mapped, file.size), L2K_ERROR_LIMIT);
    l2k_decoder_free(decoder);
    munmap(mapped, file.size);
    picture_free(&got);
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrangements),  cmocka_unit_test(test_packed_damage),
        cmocka_unit_test(test_changes),       cmocka_unit_test(test_changes_in_parts),
        cmocka_unit_test(test_precision),     cmocka_unit_test(test_least_precincts),
        cmocka_unit_test(test_mixed_levels),  cmocka_unit_test(test_region_shift),
        cmocka_unit_test(test_region_effort), cmocka_unit_test(test_region_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
