/* The encoder's options crossed at random: one thread and four write the same bytes, whole, by rows of tiles and tile
 * by tile, and what is written decodes to the picture. Encoders are used again and again, also after failures.
 *
 * Usage: unit_crossed [rounds [seed]] */
#include <stdatomic.h>

#include "api_support.h"

enum { LAYERS = 2, MOST_CHANGES = 4, MODES = 3 };

/* What fails, if it is not negative: the allocation, or the call of the progress hook, after this many. */
typedef struct fault {
    atomic_int allocations, questions;
} fault;

static unsigned rounds = 60;

static void *allocate(void *user, size_t bytes)
{
    fault *f = user;
    return atomic_load(&f->allocations) >= 0 && atomic_fetch_sub(&f->allocations, 1) <= 0 ? NULL : malloc(bytes);
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

static bool progress(void *user, double done)
{
    fault *f = user;
    (void)done;
    return atomic_load(&f->questions) < 0 || atomic_fetch_sub(&f->questions, 1) > 0;
}

static void no_fault(fault *f)
{
    atomic_store(&f->allocations, -1);
    atomic_store(&f->questions, -1);
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

typedef struct options {
    encoder_setting settings[32];
    size_t count;
    l2k_poc changes[2 * MOST_CHANGES];
    size_t num_changes;
    unsigned num_layers;
    double targets[LAYERS];
    bool is_lossless, is_limited, is_ht;
} options;

static void add(options *o, l2k_encoder_option option, int64_t value)
{
    o->settings[o->count++] = (encoder_setting){option, value};
}

static l2k_poc random_change(uint32_t tile, const options *o, uint32_t components)
{
    l2k_poc c = {tile, (l2k_progression)random_below(5), random_below(4), 33, random_below(components + 300), 0, 1};
    c.component_start = random_below(2) ? c.component_start : random_below(components);
    c.component_end = c.component_start + 1 + random_below(400);
    c.layer_end = 1 + random_below(o->num_layers);
    return c;
}

/* Ranges overlap, and may lie beyond the image; the last one of each tile has all that is left. */
static void add_changes(options *o, uint32_t num_tiles, uint32_t components)
{
    const uint32_t tiles[2] = {random_below(num_tiles), L2K_ALL_TILES};
    for (unsigned t = random_below(2); t < 2; t++) {
        for (unsigned n = random_below(MOST_CHANGES); n > 0; n--)
            o->changes[o->num_changes++] = random_change(tiles[t], o, components);
        o->changes[o->num_changes++] =
            (l2k_poc){tiles[t], (l2k_progression)random_below(5), 0, 33, 0, 16384, o->num_layers};
    }
}

static options choose(const picture *p)
{
    options o = {.num_layers = 1, .is_ht = !random_below(5)};
    const uint32_t width = 24 + random_below(60), height = 24 + random_below(60);
    const uint32_t tiles = ((p->image.x1 + width - 1) / width) * ((p->image.y1 + height - 1) / height);
    const unsigned wavelet = random_below(3) ? L2K_WAVELET_5_3 : random_below(L2K_WAVELET_W4 + 1);
    o.is_limited = !o.is_ht && !random_below(4);
    o.is_lossless = !o.is_limited && wavelet != L2K_WAVELET_9_7 && wavelet != L2K_WAVELET_W4;
    if (!o.is_ht && random_below(2))
        o.num_layers = LAYERS;
    o.targets[0] = o.num_layers > 1 ? 8 : 1;
    o.targets[1] = 1;
    add(&o, L2K_ENCODER_FORMAT, random_below(2) ? L2K_FORMAT_JP2 : L2K_FORMAT_CODESTREAM);
    add(&o, L2K_ENCODER_WAVELET, wavelet);
    add(&o, L2K_ENCODER_LEVELS, random_below(4));
    add(&o, L2K_ENCODER_TILE_WIDTH, width);
    add(&o, L2K_ENCODER_TILE_HEIGHT, height);
    add(&o, L2K_ENCODER_BLOCK_WIDTH, 1 << (3 + random_below(3)));
    add(&o, L2K_ENCODER_BLOCK_HEIGHT, 1 << (3 + random_below(3)));
    add(&o, L2K_ENCODER_PROGRESSION, random_below(5));
    add(&o, L2K_ENCODER_TILE_PARTS, random_below(4));
    add(&o, L2K_ENCODER_PLT, random_below(2));
    add(&o, L2K_ENCODER_TLM, random_below(2));
    add(&o, L2K_ENCODER_SOP, random_below(2));
    add(&o, L2K_ENCODER_EPH, random_below(2));
    add(&o, L2K_ENCODER_STYLE, o.is_ht ? L2K_STYLE_HT : random_below(3) ? 0 : random_below(64));
    add(&o, L2K_ENCODER_GUARD_BITS, 1 + random_below(4));
    add(&o, L2K_ENCODER_ROI_COMPONENT, o.is_ht ? -1 : (int64_t)random_below(p->image.num_components + 1) - 1);
    add(&o, L2K_ENCODER_ROI_SHIFT, random_below(8));
    add(&o, L2K_ENCODER_COMPONENT_TRANSFORM, random_below(2));
    add(&o, L2K_ENCODER_MAX_BYTES, o.is_limited ? 3000 + random_below(6000) : 0);
    add(&o, L2K_ENCODER_COMPONENT_BYTES, o.is_limited && random_below(2) ? 2000 : 0);
    if (random_below(2))
        add_changes(&o, tiles, p->image.num_components);
    return o;
}

static void set(l2k_encoder *encoder, const options *o)
{
    for (size_t i = 0; i < o->count; i++)
        assert_int_equal(l2k_encoder_set(encoder, o->settings[i].option, o->settings[i].value), L2K_OK);
    assert_int_equal(l2k_encoder_set_poc(encoder, o->changes, o->num_changes), L2K_OK);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, o->targets, o->num_layers), L2K_OK);
}

/* ---- Ways to encode ---------------------------------------------------------------------------------------------- */

static l2k_status put_area(l2k_encoder *encoder, const picture *p)
{
    uint32_t x0, y0, x1, y1;
    l2k_plane planes[MOST_CHANNELS];
    assert_int_equal(l2k_encoder_next_tile(encoder, &x0, &y0, &x1, &y1), L2K_OK);
    if (y0 == y1)
        return l2k_encoder_end(encoder);
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        planes[c] = p->planes[c];
        planes[c].data = p->samples[c] + (size_t)y0 * p->width[c] + x0;
    }
    return l2k_encoder_put_rows(encoder, planes);
}

/* Mode 0: whole, 1: by rows, 2: tile by tile. */
static l2k_status encode(l2k_encoder *encoder, const picture *p, unsigned mode, memory_file *out)
{
    l2k_stream stream = stream_of(out);
    stream.rewrite = memory_rewrite;
    if (l2k_encoder_set(encoder, L2K_ENCODER_BY_TILE, mode == 2) != L2K_OK)
        return L2K_ERROR_STATE;
    if (mode == 0)
        return l2k_encoder_encode(encoder, &p->image, p->planes, &stream);
    l2k_status status = l2k_encoder_begin(encoder, &p->image, &stream);
    uint32_t y0 = 0, y1 = 1;
    while (status == L2K_OK && y0 < y1) {
        assert_int_equal(l2k_encoder_next_rows(encoder, &y0, &y1), L2K_OK);
        status = put_area(encoder, p);
    }
    return status;
}

static void fail_somewhere(l2k_encoder *encoder, fault *f, const picture *p, unsigned mode)
{
    memory_file out = memory_of(NULL, 0);
    switch (random_below(3)) {
    case 0:
        atomic_store(&f->allocations, (int)random_below(300));
        break;
    case 1:
        atomic_store(&f->questions, (int)random_below(20));
        break;
    default:
        out.fail_at = random_below(4000);
    }
    encode(encoder, p, mode, &out);
    no_fault(f);
    free(out.data);
}

static void check_decodes(const memory_file *file, const picture *p, bool is_lossless)
{
    picture got;
    assert_int_equal(decode_bytes(NULL, file->data, file->size, &got), L2K_OK);
    assert_true(!is_lossless || picture_equal(p, &got));
    picture_free(&got);
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

/* Every second picture is one of extremes, which ask for guard bits. */
static void make_picture(picture *p)
{
    picture_make(p, 40 + random_below(160), 40 + random_below(160), 1 + random_below(MOST_CHANNELS));
    for (uint32_t c = 0; random_below(2) && c < p->image.num_components; c++)
        for (size_t i = 0; i < (size_t)p->width[c] * p->height[c]; i++)
            p->samples[c][i] = random_below(2) ? 255 : 0;
}

static void check_round(l2k_encoder *encoders[2], fault *f)
{
    picture p;
    make_picture(&p);
    const options o = choose(&p);
    for (unsigned mode = 0; mode < (o.is_limited ? 1u : (unsigned)MODES); mode++) {
        memory_file files[2];
        l2k_status status[2];
        for (unsigned i = 0; i < 2; i++) {
            files[i] = memory_of(NULL, 0);
            set(encoders[i], &o);
            if (!random_below(3))
                fail_somewhere(encoders[i], f, &p, mode);
            status[i] = encode(encoders[i], &p, mode, &files[i]);
        }
        assert_int_equal(status[0], status[1]);
        if (status[0] == L2K_OK) {
            assert_int_equal(files[0].size, files[1].size);
            assert_memory_equal(files[0].data, files[1].data, files[0].size);
            check_decodes(&files[0], &p, o.is_lossless);
        } else {
            assert_int_equal(status[0], L2K_ERROR_ARGUMENT);
        }
        free(files[0].data);
        free(files[1].data);
    }
    picture_free(&p);
}

static void test_rounds(void **unused)
{
    (void)unused;
    fault f;
    no_fault(&f);
    const l2k_hooks hooks = {.allocate = allocate, .release = release, .progress = progress, .user = &f};
    l2k_encoder *encoders[2] = {l2k_encoder_new(&hooks), l2k_encoder_new(&hooks)};
    assert_int_equal(l2k_encoder_set(encoders[0], L2K_ENCODER_THREADS, 1), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoders[1], L2K_ENCODER_THREADS, 4), L2K_OK);
    for (unsigned i = 0; i < rounds; i++)
        check_round(encoders, &f);
    l2k_encoder_free(encoders[0]);
    l2k_encoder_free(encoders[1]);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = (unsigned)strtoul(argv[1], NULL, 0);
    for (unsigned long skip = argc > 2 ? strtoul(argv[2], NULL, 0) : 0; skip > 0; skip--)
        random_below(2);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
