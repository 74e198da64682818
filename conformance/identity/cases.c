/* The combinations of the identity test: systematic groups, random mixes, and what OpenJPEG cannot write. */
#include "conformance/identity/cases.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static identity_case *add(identity_list *list, uint32_t width, uint32_t height, uint32_t components, uint32_t precision,
                          bool irreversible)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 256;
        identity_case *larger = test_allocate(capacity, sizeof *larger);
        if (list->count)
            memcpy(larger, list->cases, list->count * sizeof *larger);
        free(list->cases);
        list->cases = larger;
        list->capacity = capacity;
    }
    identity_case *k = &list->cases[list->count++];
    *k = (identity_case){.s = {.width = width,
                               .height = height,
                               .num_components = components,
                               .precision = precision,
                               .seed = list->count}};
    k->o.irreversible = irreversible;
    k->o.narrow = list->count % 2;
    return k;
}

/* ---- Systematic groups, each for both wavelets --------------------------------------------------------------- */

/* Tiles larger than the image let OpenJPEG use all levels on the smallest ones. */
static void add_sizes(identity_list *list, bool irreversible)
{
    static const uint16_t sizes[][2] = {{1, 1},   {1, 2},   {2, 1},    {1, 5},     {7, 1},     {2, 2},    {3, 3},
                                        {1, 64},  {64, 1},  {1, 131},  {131, 1},   {5, 120},   {17, 33},  {33, 17},
                                        {63, 65}, {64, 64}, {100, 75}, {129, 127}, {225, 150}, {451, 300}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        identity_case *k = add(list, sizes[i][0], sizes[i][1], i % 3 == 2 ? 3 : 1, 8, irreversible);
        if (sizes[i][0] < 32 || sizes[i][1] < 32)
            k->o.tile = (l2k_size){256, 256};
    }
}

static void add_sample_formats(identity_list *list, bool irreversible)
{
    static const uint8_t precisions[] = {1, 4, 8, 10, 12, 16}, components[] = {1, 3, 4};
    for (size_t i = 0; i < COUNT(precisions); i++)
        for (size_t j = 0; j < COUNT(components); j++)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                identity_case *k = add(list, 93, 71, components[j], precisions[i], irreversible);
                k->s.is_signed = is_signed;
                k->o.no_mct = i == 0; /* see add_bilevel_colour */
                /* Noise of 1 bit exceeds the buffer that OpenJPEG provides. */
                k->s.content = i ? (content)((i + j) % CONTENT_KINDS) : CONTENT_NATURAL;
                k->h.container = i % 2 ? CONTAINER_RAWL : CONTAINER_RAW;
            }
}

static void add_contents(identity_list *list, bool irreversible)
{
    for (int kind = 0; kind < CONTENT_KINDS; kind++)
        for (int components = 1; components <= 4; components += 2)
            add(list, 130, 111, components == 1 ? 1 : 3, 8, irreversible)->s.content = (content)kind;
}

static void add_levels(identity_list *list, bool irreversible)
{
    for (uint32_t levels = 0; levels <= 8; levels++)
        add(list, 301, 270, 1, 8, irreversible)->o.resolutions = levels + 1;
}

static void add_styles(identity_list *list, bool irreversible)
{
    static const uint8_t styles[] = {1, 2, 4, 8, 16, 32, 63, 5, 9, 17, 20, 21, 36, 41, 48, 58, 46, 7};
    for (size_t i = 0; i < COUNT(styles); i++) {
        identity_case *k = add(list, 150, 97, 1, i % 2 ? 8 : 12, irreversible);
        k->o.style = styles[i];
        k->s.content = i % 4 == 3 ? CONTENT_NOISE : CONTENT_NATURAL;
    }
}

static void add_progressions(identity_list *list, bool irreversible)
{
    for (int order = 0; order < 5; order++)
        for (int parts = 0; parts < 4; parts++) {
            identity_case *k = add(list, 160, 140, 3, 8, irreversible);
            k->o.progression = (l2k_progression)order;
            k->o.tile_parts = (l2k_tile_parts)parts;
            if (order % 2)
                k->o.tile = (l2k_size){70, 90};
            k->o.resolutions = 4;
            k->o.num_precincts = parts ? 0 : 2; /* see opj_cannot_encode */
            k->o.precincts[0] = (l2k_size){64, 32};
            k->o.precincts[1] = (l2k_size){32, 64};
            k->o.sop = parts % 2;
            k->o.eph = parts > 1;
            k->o.plt = parts > 0;
            k->o.tlm = order > 1;
            for (int c = 1; c < 3 && parts == 3; c++)
                k->s.sampling[c] = (l2k_size){2, order % 2 ? 1 : 2};
        }
}

static void add_blocks(identity_list *list, bool irreversible)
{
    static const uint16_t blocks[][2] = {{4, 4},   {4, 1024}, {1024, 4}, {8, 512}, {32, 32},
                                         {16, 64}, {128, 32}, {64, 16},  {256, 16}};
    for (size_t i = 0; i < COUNT(blocks); i++)
        add(list, 140, 121, 1, 8, irreversible)->o.block = (l2k_size){blocks[i][0], blocks[i][1]};
}

static void add_precincts(identity_list *list, bool irreversible)
{
    static const uint16_t precincts[][2] = {{256, 256}, {128, 256}, {512, 64}, {64, 64}, {64, 128}, {2048, 2048}};
    for (size_t i = 0; i < COUNT(precincts); i++)
        for (unsigned count = 1; count <= 4; count += 2) {
            identity_case *k = add(list, 190, 161, 1, 8, irreversible);
            k->o.num_precincts = count;
            for (unsigned n = 0; n < count; n++)
                k->o.precincts[n] = (l2k_size){precincts[i][0] >> (n / 2), precincts[i][1] >> (n / 2)};
            k->o.block = (l2k_size){32, 32};
            k->o.progression = (l2k_progression)((i + count) % 5);
        }
}

static void add_flags(identity_list *list, bool irreversible)
{
    for (int flags = 1; flags < 16; flags++) {
        identity_case *k = add(list, 90, 85, 3, 8, irreversible);
        k->o.sop = flags & 1;
        k->o.eph = flags & 2;
        k->o.plt = flags & 4;
        k->o.tlm = flags & 8;
        k->o.no_mct = flags % 3 == 0;
        k->o.tile = flags % 2 ? (l2k_size){40, 50} : (l2k_size){0, 0};
        k->o.progression = (l2k_progression)(flags % 5);
    }
}

/* 4:2:0, 4:2:2, 4:4:0, 4:1:1 and an alpha at full size, with and without origins and tiles. */
static void add_sampling(identity_list *list, bool irreversible)
{
    static const uint8_t chroma[][2] = {{2, 2}, {2, 1}, {1, 2}, {4, 1}, {4, 2}};
    for (size_t i = 0; i < COUNT(chroma); i++)
        for (int variant = 0; variant < 3; variant++) {
            identity_case *k = add(list, 152, 104, variant == 2 ? 4 : 3, 8, irreversible);
            for (int c = 1; c < 3; c++)
                k->s.sampling[c] = (l2k_size){chroma[i][0], chroma[i][1]};
            k->o.progression = (l2k_progression)((i + (size_t)variant) % 5);
            if (variant == 0)
                continue;
            k->s.x0 = 13;
            k->s.y0 = 6;
            k->o.tile = (l2k_size){64, 64};
            k->o.resolutions = variant == 1 ? 6 : 4;
        }
}

static void add_common_sampling(identity_list *list, bool irreversible)
{
    for (uint32_t factor = 2; factor <= 4; factor++) {
        identity_case *k = add(list, 56 * factor + 1, 44 * factor + 1, factor == 3 ? 3 : 1, 8, irreversible);
        k->h.common = (l2k_size){factor, factor == 4 ? 1 : factor};
        k->h.container = factor == 2 ? CONTAINER_PGX : factor == 3 ? CONTAINER_PNM : CONTAINER_RAW;
        for (int c = 0; c < 3; c++)
            k->s.sampling[c] = k->h.common;
    }
}

static void add_origins(identity_list *list, bool irreversible)
{
    static const uint16_t places[][6] = {/* x0, y0, tile x0, y0, tile width, height */
                                         {1, 1, 0, 0, 0, 0},          {5, 3, 0, 0, 64, 64},  {5, 3, 5, 3, 64, 48},
                                         {17, 40, 3, 7, 33, 37},      {63, 1, 0, 0, 64, 32}, {200, 100, 0, 0, 0, 0},
                                         {200, 100, 150, 90, 64, 64}, {7, 9, 7, 9, 32, 32},  {31, 31, 0, 31, 47, 53},
                                         {2, 0, 1, 0, 90, 41}};
    for (size_t i = 0; i < COUNT(places); i++) {
        identity_case *k = add(list, 103 + (uint32_t)i, 88, i % 2 ? 3 : 1, 8, irreversible);
        k->s.x0 = places[i][0];
        k->s.y0 = places[i][1];
        k->o.tile_x0 = places[i][2];
        k->o.tile_y0 = places[i][3];
        k->o.tile = (l2k_size){places[i][4], places[i][5]};
        k->o.progression = (l2k_progression)(i % 5);
    }
}

static void add_containers(identity_list *list, bool irreversible)
{
    static const uint8_t components[] = {1, 3, 4};
    for (size_t i = 0; i < COUNT(components); i++)
        for (uint32_t precision = 8; precision <= 16; precision += 8)
            add(list, 67, 54, components[i], precision, irreversible)->h.container = CONTAINER_PNM;
    /* Unsigned PGX only: opj_compress takes the precision from the greatest sample. */
    for (uint32_t precision = 8; precision <= 16; precision += 4)
        add(list, 67, 54, 1, precision, irreversible)->h.container = CONTAINER_PGX;
}

/* Progressions of which no two have a packet in common: OpenJPEG 2.5.0 writes those twice that have. Of several tiles
 * the first alone gets them. */
static void add_changes(identity_list *list, bool irreversible)
{
    static const l2k_poc sets[][CODING_MAX_CHANGES] = {
        {{0, L2K_CPRL, 0, 4, 0, 3, 1}, {0, L2K_LRCP, 4, 6, 0, 3, 1}},
        {{0, L2K_RPCL, 0, 6, 0, 1, 1}, {0, L2K_PCRL, 0, 6, 1, 3, 1}},
        {{0, L2K_RLCP, 0, 2, 0, 1, 1}, {0, L2K_CPRL, 0, 2, 1, 3, 1}, {0, L2K_PCRL, 2, 6, 0, 3, 1}},
        {{0, L2K_LRCP, 3, 6, 0, 3, 1},
         {0, L2K_RPCL, 1, 3, 0, 3, 1},
         {0, L2K_CPRL, 0, 1, 0, 2, 1},
         {0, L2K_LRCP, 0, 1, 2, 3, 1}}};
    for (size_t i = 0; i < COUNT(sets); i++)
        for (int variant = 0; variant < 4; variant++) {
            identity_case *k = add(list, 210, 170, 3, 8, irreversible);
            while (k->o.num_changes < CODING_MAX_CHANGES && sets[i][k->o.num_changes].layer_end)
                k->o.num_changes++;
            memcpy(k->o.changes, sets[i], sizeof sets[i]);
            k->o.tile = variant % 2 ? (l2k_size){110, 90} : (l2k_size){0, 0};
            k->o.block = (l2k_size){32, 32};
            k->o.num_precincts = variant > 1 ? 2 : 0;
            k->o.precincts[0] = k->o.precincts[1] = (l2k_size){64, 64};
            k->o.sop = variant == 1;
            k->o.tlm = variant == 2;
            k->o.plt = variant == 3;
        }
}

static void add_regions(identity_list *list, bool irreversible)
{
    static const uint8_t shifts[] = {1, 7, 12, 25, 37};
    for (size_t i = 0; i < COUNT(shifts); i++) {
        identity_case *k = add(list, 90, 77, i % 2 ? 1 : 3, 8, irreversible);
        k->o.roi_shift = shifts[i];
        k->o.roi_component = i % 2 ? 0 : (unsigned)i % 3;
    }
}

/* One guard bit is too few for some pictures, and OpenJPEG then writes a file that decodes to something else. */
static void add_guard_bits(identity_list *list, bool irreversible)
{
    for (unsigned bits = 1; bits < 8; bits++)
        add(list, 93, 71, bits % 2 ? 3 : 1, 8, irreversible)->o.guard_bits = bits;
}

/* Pictures that are too small for the limits of bytes, which both codecs reach otherwise. Not tiles of 2048, which
 * OpenJPEG 2.5.0 takes for an offence. */
static void add_profiles(identity_list *list)
{
    static const struct {
        uint32_t profile;
        uint16_t width, height, frames, side;
        uint8_t resolutions;
    } profiles[] = {{L2K_PROFILE_CINEMA_2K, 300, 211, 24, 0, 6},
                    {L2K_PROFILE_CINEMA_2K, 257, 130, 48, 0, 4},
                    {L2K_PROFILE_CINEMA_4K, 301, 280, 24, 0, 6},
                    {L2K_PROFILE_CINEMA_4K, 2100, 40, 24, 0, 3},
                    {L2K_PROFILE_IMF_2K, 300, 211, 24, 0, 6},
                    {L2K_PROFILE_IMF_2K | 0x15, 131, 211, 25, 0, 5},
                    {L2K_PROFILE_IMF_4K, 2100, 40, 24, 0, 6},
                    {L2K_PROFILE_IMF_8K, 300, 200, 60, 0, 6},
                    {L2K_PROFILE_IMF_2K_R, 300, 211, 24, 0, 6},
                    {L2K_PROFILE_IMF_2K_R, 1100, 40, 24, 1024, 5},
                    {L2K_PROFILE_IMF_4K_R | 0x47, 2100, 40, 24, 1024, 5},
                    {L2K_PROFILE_IMF_8K_R | 6, 200, 200, 30, 0, 6}};
    for (size_t i = 0; i < COUNT(profiles); i++) {
        identity_case *k = add(list, profiles[i].width, profiles[i].height, 3, 12, false);
        k->h.container = CONTAINER_PNM;
        k->o.profile = profiles[i].profile;
        k->o.frames = profiles[i].frames;
        k->o.resolutions = profiles[i].resolutions;
        k->o.tile = (l2k_size){profiles[i].side, profiles[i].side};
    }
}

/* ---- Random mixes -------------------------------------------------------------------------------------------- */

/* opj_compress reads w * h / (dx * dy) samples of a raw component, so sizes must divide; and it places a commonly
 * sub-sampled image correctly only where the origin is a multiple of the sub-sampling. */
static void random_sampling(rng *r, identity_case *k)
{
    static const uint8_t chroma[][2] = {{2, 2}, {2, 1}, {1, 2}, {4, 1}, {4, 2}};
    unsigned pick = rng_below(r, 12);
    if (pick < COUNT(chroma) && k->s.num_components > 1) {
        k->s.width = (k->s.width + 3) & ~3u;
        k->s.height = (k->s.height + 3) & ~3u;
        for (uint32_t c = 1; c < k->s.num_components; c++)
            if (rng_below(r, 4))
                k->s.sampling[c] = (l2k_size){chroma[pick][0], chroma[pick][1]};
    } else if (pick == 11) {
        k->h.common = (l2k_size){rng_between(r, 1, 3), rng_between(r, 1, 3)};
        k->s.width = (k->s.width - 1) * k->h.common.width + 1;
        k->s.height = (k->s.height - 1) * k->h.common.height + 1;
        k->s.x0 -= k->s.x0 % k->h.common.width;
        k->s.y0 -= k->s.y0 % k->h.common.height;
        for (uint32_t c = 0; c < k->s.num_components; c++)
            k->s.sampling[c] = k->h.common;
    }
}

/* opj_compress rejects a raw format as invalid unless w & h & components & bits is 0 (bitwise where a logical "and" is
 * meant). One or a few more rows avoid that. */
static void please_raw_reader(identity_case *k)
{
    uint32_t factor_x = k->h.common.width ? k->h.common.width : 1,
             factor_y = k->h.common.height ? k->h.common.height : 1;
    if (k->h.container == CONTAINER_PNM || k->h.container == CONTAINER_PGX)
        return;
    for (;;) {
        uint32_t common = ((k->s.width - 1) / factor_x + 1) & ((k->s.height - 1) / factor_y + 1) & k->s.num_components &
                          k->s.precision;
        if (!common)
            return;
        k->s.height += (common & (0 - common)) * factor_y;
    }
}

/* Adjusts a case until OpenJPEG can write it: fewer levels, then no tile-parts, then the 5/3. */
static void settle(identity_case *k)
{
    please_raw_reader(k);
    picture *p = picture_make(&k->s);
    while (coding_levels(&k->o) && opj_cannot_encode(p, &k->o))
        k->o.resolutions = coding_levels(&k->o);
    if (opj_cannot_encode(p, &k->o))
        k->o.tile_parts = L2K_TILE_PARTS_ONE;
    if (opj_cannot_encode(p, &k->o))
        k->o.irreversible = false;
    picture_free(p);
}

static void add_random(rng *r, identity_list *list)
{
    identity_case *k = add(list, 1, 1, 1, 8, rng_below(r, 2));
    bool irreversible = k->o.irreversible;
    k->s = random_shape(r, 180, 4, 16);
    memset(k->s.sampling, 0, sizeof k->s.sampling);
    random_sampling(r, k);
    k->h.container = rng_below(r, 2) ? CONTAINER_RAW : CONTAINER_RAWL;
    picture *p = picture_make(&k->s);
    k->o = random_coding(r, p, 6);
    k->o.irreversible = irreversible;
    /* At the lowest resolution levels OpenJPEG's precinct sizes reach 1, which only resolution level 0 may have. */
    while (k->o.num_precincts && k->o.resolutions > k->o.num_precincts + 3)
        k->o.resolutions--;
    if (rng_below(r, 3) == 0 && !k->o.tile.width)
        k->o.tile = (l2k_size){k->s.x0 + 256, k->s.y0 + 256};
    picture_free(p);
}

void identity_cases(identity_list *list)
{
    rng r = {20000};
    for (int irreversible = 0; irreversible < 2; irreversible++) {
        add_sizes(list, irreversible);
        add_sample_formats(list, irreversible);
        add_contents(list, irreversible);
        add_levels(list, irreversible);
        add_styles(list, irreversible);
        add_progressions(list, irreversible);
        add_blocks(list, irreversible);
        add_precincts(list, irreversible);
        add_flags(list, irreversible);
        add_sampling(list, irreversible);
        add_common_sampling(list, irreversible);
        add_origins(list, irreversible);
        add_containers(list, irreversible);
        add_changes(list, irreversible);
        add_regions(list, irreversible);
        add_guard_bits(list, irreversible);
    }
    add_profiles(list);
    for (int i = 0; i < 250; i++)
        add_random(&r, list);
    for (size_t i = 0; i < list->count; i++)
        settle(&list->cases[i]);
}

/* ---- What OpenJPEG cannot write ------------------------------------------------------------------------------ */

static void add_deep(identity_list *list)
{
    static const uint8_t sizes[][2] = {{1, 1}, {1, 17}, {19, 1}, {17, 33}, {3, 200}, {40, 40}};
    static const uint8_t levels[] = {5, 8, 16, 32};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t j = 0; j < COUNT(levels); j++) {
            identity_case *k = add(list, sizes[i][0], sizes[i][1], i % 2 ? 3 : 1, 8, false);
            k->o.resolutions = levels[j] + 1u;
            k->s.x0 = (uint32_t)j;
            k->s.y0 = (uint32_t)(i + j);
        }
}

static void add_odd_sampling(identity_list *list)
{
    for (uint32_t i = 0; i < 16; i++) {
        identity_case *k = add(list, 33 + 2 * i, 17 + 4 * i, 3 + i % 2, 8, false);
        k->s.x0 = i;
        k->s.y0 = i / 2;
        k->s.sampling[1] = k->s.sampling[2] = (l2k_size){2 + i / 8, 1 + i % 3};
        k->o.progression = (l2k_progression)(i % 5);
        k->o.resolutions = 3 + i % 3;
        if (i % 2)
            k->o.tile = (l2k_size){i + 23, i + 21};
        picture *p = picture_make(&k->s);
        if (has_empty_tile_component(p, &k->o, 0)) /* libopenjp2 cannot decode that */
            k->o.tile = (l2k_size){0, 0};
        picture_free(p);
    }
}

/* Tile-parts with precincts, which OpenJPEG divides differently or incorrectly. */
static void add_divided_precincts(identity_list *list)
{
    for (int order = 0; order < 5; order++)
        for (int parts = 1; parts < 4; parts++) {
            identity_case *k = add(list, 160, 141, 3, 8, false);
            k->o.progression = (l2k_progression)order;
            k->o.tile_parts = (l2k_tile_parts)parts;
            k->o.num_precincts = 1;
            k->o.precincts[0] = (l2k_size){64, 32};
            k->o.tile = order % 2 ? (l2k_size){70, 90} : (l2k_size){0, 0};
            k->o.plt = k->o.tlm = true;
        }
}

/* The component transform and the wavelet can need more bit-planes for 1-bit samples than two guard bits provide;
 * OpenJPEG then writes a file that decodes to something else. */
static void add_bilevel_colour(identity_list *list)
{
    for (int kind = 0; kind < CONTENT_KINDS; kind++)
        for (uint32_t precision = 1; precision <= 2; precision++)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                identity_case *k = add(list, 93, 71, 3 + precision % 2, precision, false);
                k->s.content = (content)kind;
                k->s.is_signed = is_signed;
            }
}

/* Samples of more than 16 bits. */
static void add_high_precisions(identity_list *list)
{
    for (uint32_t precision = 17; precision <= 24; precision++) {
        identity_case *k = add(list, 61, 47, precision % 2 ? 1 : 3, precision, false);
        k->s.is_signed = precision % 3 == 0;
        k->s.content = precision % 2 ? CONTENT_NOISE : CONTENT_NATURAL;
        k->o.resolutions = 4;
    }
}

void foreign_cases(identity_list *list)
{
    add_deep(list);
    add_odd_sampling(list);
    add_divided_precincts(list);
    add_bilevel_colour(list);
    add_high_precisions(list);
}
