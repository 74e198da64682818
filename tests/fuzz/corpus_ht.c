/* Seed corpus: HT code-blocks (Part 15) with refinement, placeholder passes, several sets, and mixed with MQ blocks;
 * with lengths that lie; and in the form that blocks.c takes. */
#include "corpus.h"
#include "ht_sets.h"

enum { PLANES = 8 };

static void make_block(uint32_t width, uint32_t height, unsigned style)
{
    static ht_source high, low;
    static ht_coded first, last;
    char name[64];
    ht_fill(&low, width, height, PLANES);
    high = low;
    for (size_t i = 0; i < (size_t)width * height; i++)
        high.magnitude[i] >>= 1;
    ht_encode_cleanup(&high, &first);
    ht_encode_refinement(&high, &low, &first, style & L2K_STYLE_VSC);
    ht_encode_cleanup(&low, &last);
    const ht_part cleanup = {first.cleanup, first.cleanup_bytes, 1}, whole = {last.cleanup, last.cleanup_bytes, 4};
    const ht_part refinement = {first.refinement, first.refinement_bytes, 2};
    ht_stream s = {.width = width, .height = height, .planes = PLANES, .missing = PLANES - 2, .style = style};
    s.num_layers = 2;
    s.layers[0] = (ht_layer){{cleanup, refinement}, 2};
    s.layers[1] = (ht_layer){{{last.cleanup, last.cleanup_bytes, 1}}, 1};
    snprintf(name, sizeof name, "ht-sets-%ux%u-%u", width, height, style);
    corpus_save_stream(name, ht_write(&s));
    s.layers[0] = (ht_layer){{{NULL, 0, 2}}, 1};
    s.layers[1] = (ht_layer){{{whole.data, whole.size, 2}}, 1};
    snprintf(name, sizeof name, "ht-placeholders-%ux%u-%u", width, height, style);
    corpus_save_stream(name, ht_write(&s));
}

/* Declares the encoder's blocks as HT, or as either. */
static void make_declared(unsigned style)
{
    static const uint8_t cap[] = {0xFF, 0x50, 0, 8, 0, 2, 0, 0, 0xF8, 0x23};
    static edit e;
    char name[64];
    picture p;
    picture_make(&p, 40, 30, 1);
    memory_file file = finish_encoder(new_encoder(2), &p);
    edit_open(&e, &file);
    memory_file declared = edit_write(&e, &(edit_plan){.eph = true, .main_extra = {cap, sizeof cap}});
    uint8_t *cod = declared.data;
    while (!edit_at(cod, declared.data + declared.size, 0x52))
        cod++;
    cod[12] = (uint8_t)style;
    snprintf(name, sizeof name, "ht-declared-%u", style);
    corpus_save_stream(name, declared);
    free(file.data);
    picture_free(&p);
}

/* ---- Several sets, and what cannot be ------------------------------------------------------------------------ */

static void make_sets(unsigned number, unsigned style)
{
    static ht_sets b;
    char name[64];
    const uint32_t height = 1 + random_below(24), width = 1 + random_below(24);
    ht_sets_make(&b, width, height, style, false);
    snprintf(name, sizeof name, "ht-random-%u-%u", number, style);
    corpus_save_stream(name, ht_write(&b.stream));
    ht_sets_free(&b);
}

/* As many passes as are received at all, none with bytes, in one layer and in many. */
static void make_endless(void)
{
    ht_stream s = {.width = 9, .height = 9, .planes = PLANES, .missing = 0, .style = L2K_STYLE_HT, .num_layers = 1};
    s.layers[0] = (ht_layer){{{NULL, 0, 164}}, 1};
    corpus_save_stream("ht-endless", ht_write(&s));
    s.num_layers = HT_MOST_LAYERS;
    for (unsigned i = 0; i < s.num_layers; i++)
        s.layers[i] = (ht_layer){{{NULL, 0, 7}}, 1};
    s.style |= L2K_STYLE_HT_MIXED;
    corpus_save_stream("ht-endless-layers", ht_write(&s));
}

/* Lengths of MEL and VLC that are too small, too great, or all there is; segments that are cut. */
static void make_lies(void)
{
    static ht_source samples;
    static ht_coded code;
    static const uint16_t lengths[] = {0, 1, 2, 3, 4079, 4080, 4095};
    ht_stream s = {.width = 20, .height = 12, .planes = PLANES, .style = L2K_STYLE_HT, .num_layers = 1};
    char name[64];
    ht_fill(&samples, s.width, s.height, PLANES);
    ht_encode_cleanup(&samples, &code);
    s.missing = PLANES - 1;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint8_t *end = code.cleanup + code.cleanup_bytes;
        end[-1] = (uint8_t)(lengths[i] >> 4);
        end[-2] = (uint8_t)((end[-2] & 0xF0) | (lengths[i] & 15));
        s.layers[0] = (ht_layer){{{code.cleanup, code.cleanup_bytes, 1}}, 1};
        snprintf(name, sizeof name, "ht-suffix-%u", lengths[i]);
        corpus_save_stream(name, ht_write(&s));
        s.layers[0].parts[0].size = 2 + i;
        s.layers[0].parts[0].data = end - 2 - i;
        snprintf(name, sizeof name, "ht-short-%u", lengths[i]);
        corpus_save_stream(name, ht_write(&s));
    }
}

/* ---- Blocks alone -------------------------------------------------------------------------------------------- */

/* What blocks.c reads from the first bytes. */
typedef struct block_seed {
    uint8_t bytes[64 + 3 * HT_MOST_BYTES];
    size_t head, size;
} block_seed;

static void put_choice(block_seed *seed, unsigned value)
{
    assert_true(seed->head < 40);
    seed->bytes[seed->head++] = (uint8_t)value;
}

static void put_part(block_seed *seed, const ht_part *part)
{
    put_choice(seed, (unsigned)part->size >> 8);
    put_choice(seed, (unsigned)part->size & 255);
    if (part->size)
        memcpy(seed->bytes + seed->size, part->data, part->size);
    seed->size += part->size;
}

/* The set that counts in the end, behind placeholders; `planes` are too few where they are less than its own. */
static void save_block(const char *name, const ht_sets *b, unsigned planes)
{
    static block_seed seed;
    const ht_counting last = ht_sets_after(b, b->num_passes);
    const ht_stream alone = ht_sets_alone(b, last, true);
    const ht_layer *layer = &alone.layers[0];
    const unsigned before = last.set == 0 ? 0 : last.set % 2 ? 3 * last.set : 3 * last.set - 1;
    seed = (block_seed){.size = 40};
    put_choice(&seed, b->stream.style & L2K_STYLE_VSC ? 4 : 0);
    put_choice(&seed, 0);
    put_choice(&seed, b->stream.width - 1);
    put_choice(&seed, b->stream.height - 1);
    put_choice(&seed, 4); /* any number of planes */
    put_choice(&seed, planes - 1);
    put_choice(&seed, before);
    put_choice(&seed, layer->num_parts - 1 + (before > 0));
    if (before)
        put_part(&seed, &(ht_part){0});
    put_part(&seed, &layer->parts[0]);
    if (layer->num_parts > 1) {
        put_choice(&seed, layer->parts[1].passes == 1);
        put_part(&seed, &layer->parts[1]);
    }
    corpus_save("blocks", name, seed.bytes, seed.size);
}

static void make_blocks(void)
{
    static ht_sets b;
    char name[64];
    for (unsigned i = 0; i < 40; i++) {
        const uint32_t side = i % 8 ? 24 : 64, height = 1 + random_below(side), width = 1 + random_below(side);
        ht_sets_make(&b, width, height, L2K_STYLE_HT | (i % 4 ? 0 : L2K_STYLE_VSC), false);
        const unsigned planes = b.stream.planes - b.stream.missing;
        if (ht_sets_after(&b, b.num_passes).set <= 10) {
            snprintf(name, sizeof name, "ht-%02u", i);
            save_block(name, &b, planes);
            snprintf(name, sizeof name, "ht-%02u-deep", i);
            save_block(name, &b, (planes + 1) / 2);
        }
        ht_sets_free(&b);
    }
    for (unsigned i = 0; i < 20; i++) { /* MQ in any style, any bytes */
        static block_seed seed = {.size = 40 + 600};
        for (size_t k = 0; k < seed.size; k++)
            seed.bytes[k] = (uint8_t)random_u64();
        seed.bytes[0] = 3;
        snprintf(name, sizeof name, "mq-%02u", i);
        corpus_save("blocks", name, seed.bytes, seed.size);
    }
}

void corpus_ht(void)
{
    static const uint16_t shapes[][2] = {{8, 8}, {13, 7}, {1, 20}, {64, 5}, {40, 40}};
    ht_prepare();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned k = 0; k < 3; k++) {
            static const unsigned styles[] = {L2K_STYLE_HT, L2K_STYLE_HT | L2K_STYLE_VSC,
                                              L2K_STYLE_HT | L2K_STYLE_HT_MIXED};
            make_block(shapes[i][0], shapes[i][1], styles[k]);
            for (unsigned n = 0; n < 4; n++)
                make_sets(4 * (unsigned)i + n, styles[k]);
        }
    make_endless();
    make_lies();
    make_blocks();
    make_declared(L2K_STYLE_HT);
    make_declared(L2K_STYLE_HT | L2K_STYLE_HT_MIXED);
}
