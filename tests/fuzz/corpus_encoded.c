/* Seed corpus: files of our encoder, for each option and for combinations. */
#include "corpus.h"

static l2k_encoder *quiet_encoder(void)
{
    l2k_encoder *e = l2k_encoder_new(NULL);
    assert_non_null(e);
    l2k_encoder_set(e, L2K_ENCODER_THREADS, 1);
    l2k_encoder_set(e, L2K_ENCODER_LEVELS, 2);
    l2k_encoder_set(e, L2K_ENCODER_BLOCK_WIDTH, 16);
    l2k_encoder_set(e, L2K_ENCODER_BLOCK_HEIGHT, 8);
    return e;
}

static void save_encoded(const char *name, l2k_encoder *e, picture *p)
{
    memory_file out = memory_of(NULL, 0);
    assert_int_equal(run_encoder(e, p, &out), L2K_OK);
    l2k_encoder_free(e);
    picture_free(p);
    corpus_save_stream(name, out);
}

/* Many options at once, some of which the encoder may refuse. */
static void make_mixed(unsigned n)
{
    static const double ratios[] = {8, 2, 1};
    static const l2k_size precincts[] = {{16, 16}, {8, 8}};
    char name[64];
    picture p;
    picture_shape(&p, 15 + 7 * (n % 5), 11 + 9 * (n % 4), 1 + n % 4);
    for (uint32_t c = 0; c < p.image.num_components; c++) {
        p.components[c].precision = n % 7 == 3 ? 12 : n % 7 == 5 ? 3 : 8;
        p.components[c].is_signed = n % 11 == 4;
        p.components[c].dx = c > 0 && n % 6 == 5 ? 2 : 1;
        p.components[c].channel = c == 3 ? L2K_CHANNEL_OPACITY : L2K_CHANNEL_COLOUR;
        if (c == 3)
            p.components[c].association = 0;
        picture_fill(&p, c);
    }
    const int64_t settings[][2] = {
        {L2K_ENCODER_FORMAT, n % 2},
        {L2K_ENCODER_WAVELET, n / 2 % 2},
        {L2K_ENCODER_LEVELS, n % 4},
        {L2K_ENCODER_TILE_WIDTH, n % 3 ? 0 : 20},
        {L2K_ENCODER_STYLE, n * 7 % 64},
        {L2K_ENCODER_BLOCK_WIDTH, n % 5 ? 16 : 4},
        {L2K_ENCODER_PROGRESSION, n % 5},
        {L2K_ENCODER_SOP, n / 3 % 2},
        {L2K_ENCODER_EPH, n / 4 % 2},
        {L2K_ENCODER_PLT, n / 5 % 2},
        {L2K_ENCODER_TLM, n / 6 % 2},
        {L2K_ENCODER_TILE_PARTS, n % 4},
        {L2K_ENCODER_COMPONENT_TRANSFORM, n % 13 > 0},
    };
    l2k_encoder *e = quiet_encoder();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        l2k_encoder_set(e, (l2k_encoder_option)settings[i][0], settings[i][1]);
    if (n % 3 == 1)
        l2k_encoder_set_precincts(e, precincts, 2);
    if (n % 4 == 2)
        l2k_encoder_set_layers(e, L2K_TARGET_RATIO, ratios, 3);
    memory_file out = memory_of(NULL, 0);
    l2k_status status = run_encoder(e, &p, &out);
    l2k_encoder_free(e);
    picture_free(&p);
    snprintf(name, sizeof name, "mixed-%02u", n);
    if (status == L2K_OK)
        corpus_save_stream(name, out);
}

static void make_style(uint32_t style, l2k_wavelet wavelet)
{
    char name[64];
    picture p;
    picture_make(&p, 33, 29, 1);
    l2k_encoder *e = quiet_encoder();
    l2k_encoder_set(e, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    l2k_encoder_set(e, L2K_ENCODER_STYLE, style);
    l2k_encoder_set(e, L2K_ENCODER_WAVELET, wavelet);
    snprintf(name, sizeof name, "style-%02x-%d", (unsigned)style, wavelet);
    save_encoded(name, e, &p);
}

/* A kernel of ATK, with taps on one side. */
static void make_kernel(const char *name, const char *text)
{
    picture p;
    picture_make(&p, 33, 29, 3);
    l2k_encoder *e = quiet_encoder();
    l2k_encoder_set(e, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    l2k_encoder_set_kernel(e, text);
    save_encoded(name, e, &p);
}

/* Levels that split in one direction. */
static void make_splits(const char *name, const char *letters, int64_t style)
{
    picture p;
    picture_make(&p, 33, 29, 3);
    l2k_encoder *e = quiet_encoder();
    l2k_encoder_set(e, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    l2k_encoder_set(e, L2K_ENCODER_STYLE, style);
    l2k_encoder_set(e, L2K_ENCODER_LEVELS, (int64_t)strlen(letters));
    l2k_encoder_set_splits(e, letters);
    save_encoded(name, e, &p);
}

static void make_progression(l2k_progression order, uint32_t layers)
{
    static const l2k_size precincts[] = {{16, 16}, {8, 8}, {4, 8}};
    char name[64];
    picture p;
    picture_shape(&p, 37, 31, 2);
    p.image.x0 = 5;
    p.image.y0 = 3;
    p.components[1].dx = 2;
    p.components[1].dy = 3;
    picture_fill(&p, 0);
    picture_fill(&p, 1);
    l2k_encoder *e = quiet_encoder();
    l2k_encoder_set(e, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    l2k_encoder_set(e, L2K_ENCODER_PROGRESSION, order);
    l2k_encoder_set_precincts(e, precincts, 3);
    set_layers(e, layers);
    snprintf(name, sizeof name, "progression-%d-%u", order, (unsigned)layers);
    save_encoded(name, e, &p);
}

static void make_precision(uint32_t precision, bool is_signed, l2k_wavelet wavelet)
{
    char name[64];
    picture p;
    picture_shape(&p, 19, 13, 1);
    p.components[0].precision = precision;
    p.components[0].is_signed = is_signed;
    picture_fill(&p, 0);
    l2k_encoder *e = quiet_encoder();
    l2k_encoder_set(e, L2K_ENCODER_WAVELET, wavelet);
    snprintf(name, sizeof name, "precision-%u-%d-%d", (unsigned)precision, is_signed, wavelet);
    save_encoded(name, e, &p);
}

static void make_colour(l2k_colour colour)
{
    static const uint8_t icc[60] = {0, 0, 0, 60, 'l', 'c', 'm', 's', 4};
    char name[64];
    picture p;
    uint32_t count = colour == L2K_COLOUR_GRAY ? 1 : colour == L2K_COLOUR_CMYK ? 4 : 3;
    picture_make(&p, 12, 9, count);
    p.image.colour = colour;
    p.image.density_x = p.image.density_y = 2835;
    p.image.icc = colour == L2K_COLOUR_ICC ? icc : NULL;
    p.image.icc_bytes = colour == L2K_COLOUR_ICC ? sizeof icc : 0;
    if (colour == L2K_COLOUR_CIELAB)
        p.image.lab = (l2k_lab){{100, 170, 200}, {0, 128, 96}, 0x00443530};
    snprintf(name, sizeof name, "colour-%d", colour);
    save_encoded(name, quiet_encoder(), &p);
}

/* Tiles away from the origin, one of them of a single sample. */
static void make_tiles(l2k_tile_parts parts, l2k_progression order)
{
    char name[64];
    picture p;
    picture_shape(&p, 0, 0, 3);
    p.image.x0 = 13;
    p.image.y0 = 11;
    p.image.x1 = 49;
    p.image.y1 = 42;
    for (uint32_t c = 0; c < 3; c++)
        picture_fill(&p, c);
    l2k_encoder *e = quiet_encoder();
    const int64_t settings[][2] = {{L2K_ENCODER_TILE_WIDTH, 17},
                                   {L2K_ENCODER_TILE_HEIGHT, 16},
                                   {L2K_ENCODER_TILE_X0, 14 - 17 + 9},
                                   {L2K_ENCODER_TILE_Y0, 10},
                                   {L2K_ENCODER_TLM, 1},
                                   {L2K_ENCODER_PLT, 1},
                                   {L2K_ENCODER_TILE_PARTS, parts},
                                   {L2K_ENCODER_PROGRESSION, order}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        l2k_encoder_set(e, (l2k_encoder_option)settings[i][0], settings[i][1]);
    snprintf(name, sizeof name, "tiles-%d-%d", parts, order);
    save_encoded(name, e, &p);
}

/* All samples in the middle of the range: packets without code-blocks. */
static void make_blank(l2k_wavelet wavelet)
{
    picture p;
    picture_make(&p, 64, 64, 1);
    for (uint32_t i = 0; i < 64 * 64; i++)
        p.samples[0][i] = 128;
    l2k_encoder *e = quiet_encoder();
    l2k_encoder_set(e, L2K_ENCODER_WAVELET, wavelet);
    save_encoded(wavelet ? "blank-9-7" : "blank-5-3", e, &p);
}

static void make_shape(uint32_t width, uint32_t height, uint32_t levels, uint32_t block_width)
{
    char name[64];
    picture p;
    picture_make(&p, width, height, 1);
    l2k_encoder *e = quiet_encoder();
    l2k_encoder_set(e, L2K_ENCODER_LEVELS, levels);
    l2k_encoder_set(e, L2K_ENCODER_BLOCK_WIDTH, block_width);
    l2k_encoder_set(e, L2K_ENCODER_BLOCK_HEIGHT, 4);
    snprintf(name, sizeof name, "shape-%ux%u", (unsigned)width, (unsigned)height);
    save_encoded(name, e, &p);
}

void corpus_encoded(void)
{
    for (unsigned n = 0; n < 40; n++)
        make_mixed(n);
    for (uint32_t bit = 0; bit < 6; bit++)
        for (int w = L2K_WAVELET_5_3; w <= L2K_WAVELET_9_7; w++)
            make_style(1u << bit, (l2k_wavelet)w);
    make_style(0, L2K_WAVELET_5_3);
    make_style(63, L2K_WAVELET_5_3);
    make_style(L2K_STYLE_BYPASS | L2K_STYLE_TERMALL, L2K_WAVELET_9_7);
    for (int w = L2K_WAVELET_HAAR; w <= L2K_WAVELET_W4; w++)
        make_style(0, (l2k_wavelet)w);
    make_kernel("kernel-reversible",
                "reversible\nborder mirror\nhigh 0 round 8 shift 4 : -9 2 -1\nlow -2 round 1 shift 2 : 1 1\n");
    make_splits("splits-mq", "bhvhb", 0);
    make_splits("splits-ht", "vhh", L2K_STYLE_HT);
    make_kernel("kernel-float", "irreversible 1.25\nborder clamp\nlow -1 : -0.5 -0.25\nhigh 0 : 0.125 0.5 -0.1\n");
    for (int order = L2K_LRCP; order <= L2K_CPRL; order++)
        for (uint32_t layers = 1; layers < 4; layers += 2)
            make_progression((l2k_progression)order, layers);
    for (int colour = L2K_COLOUR_UNKNOWN; colour <= L2K_COLOUR_CIELAB; colour++)
        make_colour((l2k_colour)colour);
    static const uint32_t precisions[] = {1, 2, 7, 16, 24};
    for (int i = 0; i < 5; i++) {
        make_precision(precisions[i], i & 1, L2K_WAVELET_5_3);
        make_precision(precisions[i] < 16 ? precisions[i] : 16, !(i & 1), L2K_WAVELET_9_7);
    }
    for (int parts = L2K_TILE_PARTS_ONE; parts <= L2K_TILE_PARTS_COMPONENT; parts++)
        make_tiles((l2k_tile_parts)parts, parts == L2K_TILE_PARTS_COMPONENT ? L2K_CPRL
                                          : parts == L2K_TILE_PARTS_LAYER   ? L2K_LRCP
                                                                            : L2K_RPCL);
    l2k_encoder *counterpart = quiet_encoder();
    picture gray;
    l2k_encoder_set(counterpart, L2K_ENCODER_STYLE, L2K_STYLE_HT);
    l2k_encoder_set(counterpart, L2K_ENCODER_PROFILE, 1); /* CPF */
    picture_make(&gray, 20, 12, 1);
    save_encoded("counterpart", counterpart, &gray);
    make_blank(L2K_WAVELET_5_3);
    make_blank(L2K_WAVELET_9_7);
    make_shape(1, 1, 0, 4);
    make_shape(1, 1, 32, 4);
    make_shape(300, 1, 5, 1024);
    make_shape(1, 300, 5, 4);
}
