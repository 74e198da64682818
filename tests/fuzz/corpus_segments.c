/* Seed corpus: marker segments (Annex A), some invalid, and headers that announce more than the file contains. */
#include "corpus.h"

/* Inserts each segment into a stream of one component and one decomposition level. */
static void make_segments(void)
{
    const edit_bytes segments[] = {
        SEGMENT(0xFF, 0x5E, 0, 5, 0, 1, 0),                /* RGN of another style */
        SEGMENT(0xFF, 0x5E, 0, 5, 0, 0, 37),               /* RGN with the largest shift */
        SEGMENT(0xFF, 0x5F, 0, 9, 0, 0, 0, 1, 2, 1, 5),    /* POC with an invalid order */
        SEGMENT(0xFF, 0x5F, 0, 9, 2, 0, 0, 1, 2, 1, 0),    /* POC without packets */
        SEGMENT(0xFF, 0x60, 0, 8, 0, 0, 0, 0, 9, 0),       /* PPM, truncated */
        SEGMENT(0xFF, 0x61, 0, 3, 7, 0xFF, 0x61, 0, 3, 7), /* PPT twice */
        SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 1, 2, 2, 0x40, 1), /* COC of Part 15, without CAP */
        SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 1, 5, 4, 0, 1),    /* COC with code-blocks too large */
        SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 32, 2, 2, 0, 1),   /* COC with levels that have no quantiser step */
        SEGMENT(0xFF, 0x5D, 0, 4, 0, 3),                   /* QCC of an invalid style */
        SEGMENT(0xFF, 0x5D, 0, 7, 0, 0x40, 8, 8, 8),       /* QCC with too few quantiser steps */
        SEGMENT(0xFF, 0x50, 0, 8, 0, 2, 0, 0, 0, 0),       /* CAP */
        SEGMENT(0xFF, 0x79, 0, 19, 17, 2, 2, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0xFF,
                0xFF), /* ATK: a kernel without a reference */
        SEGMENT(0xFF, 0x79, 0, 19, 17, 0, 2, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0xFF, 0xFF), /* ATK: index 0 */
        SEGMENT(0xFF, 0x79, 0, 19, 17, 1, 2, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0xFF, 0xFF), /* ATK: index 1 */
        SEGMENT(0xFF, 0x79, 0, 19, 17, 2, 2, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0x79, 0, 19, 17, 2,
                2, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0xFF, 0xFF),                /* ATK: twice */
        SEGMENT(0xFF, 0x79, 0, 5, 17, 2, 0),                                       /* ATK: no steps */
        SEGMENT(0xFF, 0x79, 0, 10, 17, 2, 1, 0, 1, 0, 1, 0),                       /* ATK: no taps */
        SEGMENT(0xFF, 0x79, 0, 13, 17, 2, 1, 0, 1, 0, 1, 1, 0, 1, 0),              /* ATK: too long */
        SEGMENT(0xFF, 0x79, 0, 11, 17, 2, 1, 0, 1, 0, 1, 1, 0),                    /* ATK: too short */
        SEGMENT(0xFF, 0x79, 0, 2),                                                 /* ATK: empty */
        SEGMENT(0xFF, 0x79, 0, 14, 74, 2, 0, 0, 0, 0, 1, 1, 63, 0, 0, 0),          /* ATK: K 0 */
        SEGMENT(0xFF, 0x79, 0, 14, 74, 2, 0x7F, 0x80, 0, 0, 1, 1, 63, 0, 0, 0),    /* ATK: K infinite */
        SEGMENT(0xFF, 0x79, 0, 14, 74, 2, 0x7F, 0xC0, 0, 0, 1, 1, 63, 0, 0, 0),    /* ATK: K no number */
        SEGMENT(0xFF, 0x79, 0, 14, 74, 2, 63, 0x80, 0, 0, 1, 1, 0x7F, 0xC0, 0, 0), /* ATK: a tap that is no number */
        SEGMENT(0xFF, 0x79, 0, 12, 17, 2, 1, 32, 1, 0, 1, 1, 0, 1),                /* ATK: offset 32 */
        SEGMENT(0xFF, 0x79, 0, 12, 17, 2, 1, 0xE0, 1, 0, 1, 1, 0, 1),              /* ATK: offset -32 */
        SEGMENT(0xFF, 0x79, 0, 19, 17, 2, 2, 31, 1, 0, 1, 1, 0, 1, 31, 0, 0, 0, 1, 0xFF, 0xFF), /* ATK: support */
        SEGMENT(0xFF, 0x79, 0, 12, 17, 2, 1, 0, 16, 0, 1, 1, 0, 1),                             /* ATK: shift */
        SEGMENT(0xFF, 0x79, 0, 14, 90, 2, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0), /* ATK: reversible floats */
        SEGMENT(0xFF, 0x79, 0, 12, 21, 2, 1, 0, 1, 0, 1, 1, 0, 1),       /* ATK: type 5 */
        SEGMENT(0xFF, 0x79, 0, 12, 17, 2, 1, 0, 1, 0, 1, 33, 0, 1),      /* ATK: 33 taps */
        SEGMENT(0xFF, 0x79, 0, 12, 17, 2, 9, 0, 1, 0, 1, 1, 0, 1),       /* ATK: 9 steps */
        SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 1, 2, 2, 0, 2),                  /* COC with a kernel that is not there */
        SEGMENT(0xFF, 0x72, 0, 6, 0, 1, 1, 0x80),                        /* DFS: without a reference */
        SEGMENT(0xFF, 0x72, 0, 6, 0, 0, 1, 0x80),                        /* DFS: index 0 */
        SEGMENT(0xFF, 0x72, 0, 6, 0, 16, 1, 0x80),                       /* DFS: index 16 */
        SEGMENT(0xFF, 0x72, 0, 6, 0, 1, 1, 0x80, 0xFF, 0x72, 0, 6, 0, 1, 1, 0xC0), /* DFS: twice */
        SEGMENT(0xFF, 0x72, 0, 5, 0, 1, 0),                                        /* DFS: no levels */
        SEGMENT(0xFF, 0x72, 0, 6, 0, 1, 5, 0x55),                                  /* DFS: too short */
        SEGMENT(0xFF, 0x72, 0, 7, 0, 1, 4, 0x55, 0x55),                            /* DFS: too long */
        SEGMENT(0xFF, 0x72, 0, 6, 0, 1, 2, 0x40),                    /* DFS: a level that splits nothing */
        SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 0x81, 2, 2, 0, 1),           /* COC with a DFS that is not there */
        SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 0x80, 2, 2, 0, 1),           /* COC with DFS 0 */
        SEGMENT(0xFF, 0x52, 0, 12, 0, 0, 0, 1, 0, 0x81, 2, 2, 0, 1), /* COD with a DFS */
        SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 0x81, 2, 2, 0, 1, 0xFF, 0x72, 0, 6, 0, 1, 1, 0x80, 0xFF, 0x52, 0, 12, 0, 0, 0,
                1, 0, 2, 2, 2, 0, 1), /* fewer levels in DFS than in COD */
        SEGMENT(0xFF, 0x72, 0, 6, 0, 1, 1, 0x80, 0xFF, 0x53, 0, 9, 0, 0, 0x81, 2, 2, 0, 1),          /* DFS and COC */
        SEGMENT(0xFF, 0x72, 0, 6, 0, 1, 1, 0x80, 0xFF, 0x53, 0, 11, 0, 1, 0x81, 2, 2, 0, 1, 17, 16), /* precincts */
        SEGMENT(0xFF, 0x72, 0, 6, 0, 1, 1, 0x80, 0xFF, 0x53, 0, 9, 0, 0, 0x81, 2, 2, 0, 1, 0xFF, 0x5D, 0, 6, 0, 0x41,
                0x40, 0),                                         /* derived steps */
        SEGMENT(0xFF, 0x74, 0, 2),                                /* Part 2 */
        SEGMENT(0xFF, 0x66, 0, 4, 1, 2),                          /* unknown */
        SEGMENT(0xFF, 0x30),                                      /* without parameters */
        SEGMENT(0xFF, 0x63, 0, 6, 0, 1, 0, 1),                    /* CRG */
        SEGMENT(0xFF, 0x57, 0, 5, 0, 1, 7),                       /* PLM */
        SEGMENT(0xFF, 0x55, 0, 10, 0, 0x50, 0, 0, 0, 0, 0, 99),   /* TLM */
        SEGMENT(0xFF, 0x58, 0, 5, 0, 0x81, 7),                    /* PLT */
        SEGMENT(0xFF, 0x64, 0, 9, 0, 1, 'h', 'e', 'l', 'l', 'o'), /* COM, Latin */
        SEGMENT(0xFF, 0x64, 0, 6, 0, 0, 0xFF, 0x90),              /* COM, binary */
        SEGMENT(0xFF, 0x52, 0, 12, 7, 4, 0, 1, 0, 1, 2, 2, 0, 1), /* COD again */
        SEGMENT(0xFF, 0x52, 0, 12, 0, 0, 0, 0, 0, 1, 2, 2, 0, 1), /* COD without layers */
        SEGMENT(0xFF, 0x52, 0, 14, 1, 2, 0xFF, 0xFF, 1, 1, 2, 2, 0, 1, 0x11,
                0x21), /* COD with many layers, and precincts */
    };
    static edit e;
    picture p;
    picture_make(&p, 20, 20, 1);
    memory_file file = finish_encoder(new_encoder(1), &p);
    edit_open(&e, &file);
    for (size_t i = 0; i < sizeof segments / sizeof *segments; i++)
        for (int in_part = 0; in_part < 2; in_part++) {
            char name[64];
            edit_plan plan = {.eph = true};
            *(in_part ? &plan.part_extra : &plan.main_extra) = segments[i];
            snprintf(name, sizeof name, "segment-%02zu-%d", i, in_part);
            corpus_save_stream(name, edit_write(&e, &plan));
        }
    free(file.data);
    picture_free(&p);
}

/* ---- Headers alone ------------------------------------------------------------------------------------------- */

typedef struct stream_shape {
    const char *name;
    uint32_t width, height, tile, components, layers;
    uint8_t levels, log2_block, precinct, order;
} stream_shape;

/* A main header and one tile-part of `padding` bytes. */
static void make_header(const stream_shape *s)
{
    memory_file f = memory_of(NULL, 0);
    edit_put(&f, 0xFF4FFF51, 4);
    edit_put(&f, 38 + 3 * s->components, 2);
    edit_put(&f, 0, 2);
    const uint32_t sizes[] = {s->width, s->height, 0, 0, s->tile, s->tile, 0, 0};
    for (int i = 0; i < 8; i++)
        edit_put(&f, sizes[i], 4);
    edit_put(&f, s->components, 2);
    for (uint32_t c = 0; c < s->components && c < 20000; c++)
        edit_put(&f, 0x070101, 3);
    edit_put(&f, 0xFF520000 + 13u + s->levels, 4);
    edit_put(&f, 1, 1);
    edit_put(&f, s->order, 1);
    edit_put(&f, s->layers, 2);
    edit_put(&f, 0, 1);
    edit_put(&f, s->levels, 1);
    edit_put(&f, s->log2_block, 1);
    edit_put(&f, s->log2_block, 1);
    edit_put(&f, 1, 2);
    for (unsigned r = 0; r <= s->levels; r++)
        edit_put(&f, s->precinct, 1);
    edit_put(&f, 0xFF5C0000 + 4u + 3u * s->levels, 4);
    edit_put(&f, 0x40, 1);
    for (unsigned b = 0; b <= 3u * s->levels; b++)
        edit_put(&f, 0x48, 1);
    edit_put(&f, 0xFF90000A, 4);
    edit_put(&f, 0, 2);
    edit_put(&f, 0, 4);
    edit_put(&f, 0x0001FF93, 4);
    for (int i = 0; i < 40; i++)
        edit_put(&f, i & 1 ? 0 : 0x80, 1);
    edit_put(&f, 0xFFD9, 2);
    corpus_save_stream(s->name, f);
}

static void make_headers(void)
{
    static const stream_shape shapes[] = {
        {"header-plain", 64, 64, 64, 1, 1, 1, 2, 0xFF, 0},
        {"header-large", 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 1, 1, 5, 4, 0xFF, 0},
        {"header-tiles", 65536, 65536, 1, 1, 1, 1, 2, 0xFF, 0},
        {"header-many-tiles", 255, 257, 1, 1, 1, 0, 2, 0xFF, 1},
        {"header-layers", 300, 300, 300, 1, 65535, 5, 4, 0x88, 0},
        {"header-precincts", 512, 512, 512, 1, 1, 1, 0, 0x11, 2},
        {"header-blocks", 512, 512, 512, 1, 3, 3, 0, 0xFF, 3},
        {"header-levels", 200, 200, 200, 1, 2, 32, 2, 0xFF, 4},
        {"header-components", 1, 1, 1, 4000, 1, 0, 2, 0xFF, 4},
        {"header-most-components", 1, 1, 1, 16384, 1, 0, 2, 0xFF, 4},
        {"header-too-many-components", 1, 1, 1, 16385, 1, 0, 2, 0xFF, 4},
        {"header-no-components", 1, 1, 1, 0, 1, 0, 2, 0xFF, 4},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        make_header(&shapes[i]);
}

/* Streams truncated at every kind of place. */
static void make_cuts(void)
{
    picture p;
    picture_make(&p, 16, 12, 1);
    memory_file whole = finish_encoder(new_encoder(1), &p);
    for (size_t i = 1; i < 12; i++) {
        char name[64];
        memory_file part = memory_of(NULL, 0);
        memory_write(&part, whole.data, whole.size * i / 12);
        snprintf(name, sizeof name, "cut-%02zu", i);
        corpus_save_stream(name, part);
    }
    free(whole.data);
    picture_free(&p);
}

/* Fields of SOT and SIZ with impossible values: offset from the marker, value. */
static void make_fields(void)
{
    static const struct {
        uint8_t marker, at, value;
    } fields[] = {{0x90, 3, 11}, {0x90, 5, 1},  {0x90, 9, 13},   {0x90, 10, 1},   {0x90, 11, 9},   {0x90, 6, 1},
                  {0x90, 9, 0},  {0x51, 7, 0},  {0x51, 15, 255}, {0x51, 23, 0},   {0x51, 31, 255}, {0x51, 40, 0},
                  {0x51, 41, 0}, {0x51, 37, 2}, {0x51, 1, 0x52}, {0x5C, 1, 0x64}, {0x52, 1, 0x64}, {0x93, 1, 0x64}};
    picture p;
    picture_make(&p, 8, 8, 1);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char name[64];
        size_t at = 0;
        memory_file file = finish_encoder(new_encoder(1), &p);
        while (!edit_at(file.data + at, file.data + file.size, fields[i].marker))
            at++;
        file.data[at + fields[i].at] = fields[i].value;
        snprintf(name, sizeof name, "field-%02zu", i);
        corpus_save_stream(name, file);
    }
    picture_free(&p);
}

void corpus_segments(void)
{
    make_segments();
    make_headers();
    make_cuts();
    make_fields();
}
