/* Seed corpus: codestreams that our encoder does not write, edited from those that it does. */
#include "corpus.h"

#include "stream_lengths.h"

/* ---- Packets and tile-parts ---------------------------------------------------------------------------------- */

static void make_arrangements(void)
{
    static edit e;
    picture p;
    picture_make(&p, 40, 30, 3);
    l2k_encoder *encoder = new_encoder(1);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 25);
    set_layers(encoder, 2);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    for (unsigned i = 0; i < 24; i++) {
        char name[64];
        edit_plan plan = {.packed = i % 3,
                          .segment_bytes = i & 1 ? 41 : 5000,
                          .sop = i & 2,
                          .eph = i & 4,
                          .packets_in_part = i & 8 ? 5 : 0,
                          .interleaved = i & 16,
                          .open_end = i % 5 == 1};
        snprintf(name, sizeof name, "packets-%02u", i);
        corpus_save_stream(name, edit_write(&e, &plan));
    }
    e.parts[0].count--; /* a missing packet */
    corpus_save_stream("packets-missing", edit_write(&e, &(edit_plan){.eph = true}));
    free(file.data);
    picture_free(&p);
}

/* ---- Packet lengths ------------------------------------------------------------------------------------------- */

/* PLT that is right, and that lies. */
static void make_lengths(void)
{
    static const l2k_size precincts[] = {{32, 32}, {16, 16}};
    for (unsigned i = 0; i < 36; i++) {
        char name[64];
        picture p;
        picture_make(&p, 100, 90, 1 + i % 3);
        l2k_encoder *encoder = new_encoder(2);
        l2k_encoder_set(encoder, L2K_ENCODER_PLT, 1);
        l2k_encoder_set(encoder, L2K_ENCODER_TLM, 1);
        l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, i % 5);
        if (i % 4)
            l2k_encoder_set_precincts(encoder, precincts, 2);
        set_layers(encoder, 1 + i % 2);
        memory_file file = finish_encoder(encoder, &p);
        for (size_t at = 0; i >= 12 && at + 20 < file.size; at++)
            if (file.data[at] == 0xFF && (file.data[at + 1] == 0x58 || (i >= 24 && file.data[at + 1] == 0x55)))
                file.data[at + 5 + i % 14] ^= (uint8_t)(1u << i % 8);
        snprintf(name, sizeof name, "lengths-%02u", i);
        corpus_save_stream(name, file);
        picture_free(&p);
    }
}

/* Tile-part lengths of several tiles, and PLM, right or with bits changed, for files that are read in parts. */
static void make_part_lengths(void)
{
    for (unsigned i = 0; i < 32; i++) {
        char name[64];
        picture p;
        picture_make(&p, 100, 90, 1);
        l2k_encoder *encoder = new_encoder(2);
        l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 40);
        l2k_encoder_set(encoder, L2K_ENCODER_TLM, i % 2 == 0);
        l2k_encoder_set(encoder, L2K_ENCODER_PLT, 1);
        l2k_encoder_set(encoder, L2K_ENCODER_SOP, i / 2 % 2);
        l2k_encoder_set(encoder, L2K_ENCODER_TILE_PARTS, i / 4 % 2 ? L2K_TILE_PARTS_RESOLUTION : L2K_TILE_PARTS_ONE);
        memory_file file = finish_encoder(encoder, &p);
        if (i % 2)
            move_lengths(&file, 1 + i / 8);
        if (i >= 8)
            file.data[find_segment(&file, 2, i % 2 ? 0xFF57 : 0xFF55) + 4 + i % 13] ^= (uint8_t)(1u << i % 8);
        snprintf(name, sizeof name, "part-lengths-%02u", i);
        corpus_save_windows(name, file);
        picture_free(&p);
    }
}

/* ---- Progression changes ------------------------------------------------------------------------------------- */

static void make_changes(void)
{
    static const uint8_t two[] = {0xFF, 0x5F, 0, 16, 0, 0, 0, 1, 2, 1, 0, 1, 0, 0, 2, 3, 3, 4};
    static const uint8_t five[] = {0xFF, 0x5F, 0, 37, 0, 0, 0, 1, 1, 3, 0, 0, 0, 0, 2, 2, 2, 1, 1, 1,
                                   0,    2,    3, 3,  2, 0, 0, 0, 2, 3, 3, 3, 0, 0, 0, 2, 3, 0, 4};
    const edit_bytes pocs[] = {{two, sizeof two}, {five, sizeof five}};
    static edit e;
    picture p;
    picture_make(&p, 30, 20, 3);
    l2k_encoder *encoder = new_encoder(2);
    set_layers(encoder, 2);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    for (int i = 0; i < 4; i++) {
        char name[64];
        edit_plan plan = {.sop = true, .eph = true};
        *(i & 2 ? &plan.part_extra : &plan.main_extra) = pocs[i & 1];
        snprintf(name, sizeof name, "changes-%d", i);
        corpus_save_stream(name, edit_write(&e, &plan));
    }
    free(file.data);
    picture_free(&p);
}

/* ---- Coding that differs between components ------------------------------------------------------------------ */

static void make_components(void)
{
    static const uint8_t coc[] = {0xFF, 0x53, 0, 9, 1, 0, 1, 1, 2, 0x3F, 1},
                         qcc[] = {0xFF, 0x5D, 0, 6, 2, 0x40, 0x50, 0x58};
    static const uint8_t rgn[] = {0xFF, 0x5E, 0, 5, 0, 0, 5},
                         coc_precincts[] = {0xFF, 0x53, 0, 12, 0, 1, 2, 2, 2, 0, 1, 0x33, 0x22, 0x43};
    const edit_bytes segments[] = {
        {coc, sizeof coc}, {qcc, sizeof qcc}, {rgn, sizeof rgn}, {coc_precincts, sizeof coc_precincts}};
    static edit e;
    picture p;
    picture_make(&p, 27, 22, 3);
    l2k_encoder *encoder = new_encoder(2);
    l2k_encoder_set(encoder, L2K_ENCODER_COMPONENT_TRANSFORM, 0);
    l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, L2K_CPRL);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    for (int i = 0; i < 8; i++) {
        char name[64];
        edit_plan plan = {.sop = true, .eph = true};
        *(i & 4 ? &plan.part_extra : &plan.main_extra) = segments[i & 3];
        snprintf(name, sizeof name, "components-%d", i);
        corpus_save_stream(name, edit_write(&e, &plan));
    }
    free(file.data);
    picture_free(&p);
}

/* One quantiser step for all subbands (derived), with guard bits of both kinds, and both styles in one file. */
static void make_derived(void)
{
    static const uint8_t derived[] = {0xFF, 0x5C, 0, 5, 0x41, 0x48, 0x03},
                         many[] = {0xFF, 0x5C, 0, 5, 0xE1, 0xF8, 0x00};
    static edit e;
    picture p;
    picture_make(&p, 27, 22, 1);
    l2k_encoder *encoder = new_encoder(2);
    l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    corpus_save_stream("derived", edit_write(&e, &(edit_plan){.eph = true, .main_extra = {derived, sizeof derived}}));
    corpus_save_stream("derived-tile",
                       edit_write(&e, &(edit_plan){.eph = true, .part_extra = {derived, sizeof derived}}));
    corpus_save_stream("derived-guard", edit_write(&e, &(edit_plan){.eph = true, .main_extra = {many, sizeof many}}));
    free(file.data);
    picture_free(&p);
}

/* A region of interest with the exponents lowered by its shift. */
static void make_region_shift(void)
{
    static const uint8_t rgn[] = {0xFF, 0x5E, 0, 5, 0, 0, 6};
    static edit e;
    picture p;
    picture_make(&p, 25, 20, 1);
    for (uint32_t i = 0; i < 25 * 20; i++)
        p.samples[0][i] = 128 + p.samples[0][i] % 5;
    memory_file file = finish_encoder(new_encoder(2), &p);
    edit_open(&e, &file);
    for (size_t i = 0; i + 12 < e.main.size; i++)
        if (file.data[i] == 0xFF && file.data[i + 1] == 0x5C)
            for (size_t k = 0; k < 7; k++)
                file.data[i + 5 + k] = (uint8_t)(file.data[i + 5 + k] - (6 << 3));
    corpus_save_stream("region-shift", edit_write(&e, &(edit_plan){.eph = true, .main_extra = {rgn, sizeof rgn}}));
    free(file.data);
    picture_free(&p);
}

/* The smallest possible precincts. */
static void make_least_precincts(void)
{
    static const l2k_size least[] = {{2, 2}, {2, 2}, {1, 1}};
    for (int order = L2K_LRCP; order <= L2K_CPRL; order++) {
        char name[64];
        picture p;
        picture_make(&p, 11, 9, 1);
        l2k_encoder *encoder = new_encoder(2);
        l2k_encoder_set(encoder, L2K_ENCODER_SOP, 0);
        l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, order);
        assert_int_equal(l2k_encoder_set_precincts(encoder, least, 3), L2K_OK);
        snprintf(name, sizeof name, "precincts-%d", order);
        corpus_save_stream(name, finish_encoder(encoder, &p));
        picture_free(&p);
    }
}

/* A precision beyond the encoder's range: reversible files do not depend on it. */
static void make_deep(void)
{
    for (unsigned precision = 25; precision <= 40; precision += 5) {
        char name[64];
        picture p;
        picture_make(&p, 9, 9, 1);
        memory_file file = finish_encoder(new_encoder(1), &p);
        file.data[42] = (uint8_t)(precision - 1 + (precision & 1 ? 0x80 : 0));
        snprintf(name, sizeof name, "deep-%u", precision);
        corpus_save_stream(name, file);
        picture_free(&p);
    }
}

void corpus_edited(void)
{
    make_arrangements();
    make_lengths();
    make_part_lengths();
    make_changes();
    make_components();
    make_derived();
    make_region_shift();
    make_least_precincts();
    make_deep();
}
