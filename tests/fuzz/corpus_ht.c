/* Seed corpus: HT code-blocks (Part 15) with refinement, placeholder passes, several sets, and mixed with MQ blocks. */
#include "corpus.h"
#include "ht_encode.h"
#include "ht_stream.h"

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

void corpus_ht(void)
{
    static const uint16_t shapes[][2] = {{8, 8}, {13, 7}, {1, 20}, {64, 5}, {40, 40}};
    ht_prepare();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned k = 0; k < 3; k++) {
            static const unsigned styles[] = {L2K_STYLE_HT, L2K_STYLE_HT | L2K_STYLE_VSC,
                                              L2K_STYLE_HT | L2K_STYLE_HT_MIXED};
            make_block(shapes[i][0], shapes[i][1], styles[k]);
        }
    make_declared(L2K_STYLE_HT);
    make_declared(L2K_STYLE_HT | L2K_STYLE_HT_MIXED);
}
