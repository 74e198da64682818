/* Profiles of digital cinema, of broadcast and of the interoperable master format (A.10 of ITU-T T.800, Tables A.10 and
 * A.45 on; SMPTE ST 2067-21): one call sets the options that they fix, and these are checked before an image is
 * encoded. */
#include "codec/encode/encoder.h"

#include <math.h>
#include <string.h>

#include "base/integer.h"

/* The requirements of a kind of profile. */
typedef struct profile {
    enum { CINEMA, BROADCAST, IMF } kind;
    uint32_t number; /* Rsiz; of broadcast and IMF without levels */
    const char *name;
    uint32_t width, height; /* most samples of component 0 */
    uint8_t least_levels, most_levels;
    bool reversible;
} profile;

static const profile profiles[] = {
    {CINEMA, L2K_PROFILE_CINEMA_2K, "cinema 2K", 2048, 1080, 0, 5, false},
    {CINEMA, L2K_PROFILE_CINEMA_4K, "cinema 4K", 4096, 2160, 1, 6, false},
    {BROADCAST, L2K_PROFILE_BROADCAST, "broadcast", UINT32_MAX, UINT32_MAX, 1, 5, false},
    {BROADCAST, L2K_PROFILE_BROADCAST_MULTI, "broadcast multi", UINT32_MAX, UINT32_MAX, 1, 5, false},
    {BROADCAST, L2K_PROFILE_BROADCAST_MULTI_R, "broadcast multi R", UINT32_MAX, UINT32_MAX, 1, 5, true},
    {IMF, L2K_PROFILE_IMF_2K, "IMF 2K", 2048, 1556, 1, 5, false},
    {IMF, L2K_PROFILE_IMF_4K, "IMF 4K", 4096, 3112, 1, 6, false},
    {IMF, L2K_PROFILE_IMF_8K, "IMF 8K", 8192, 6224, 1, 7, false},
    {IMF, L2K_PROFILE_IMF_2K_R, "IMF 2K R", 2048, 1556, 1, 5, true},
    {IMF, L2K_PROFILE_IMF_4K_R, "IMF 4K R", 4096, 3112, 1, 6, true},
    {IMF, L2K_PROFILE_IMF_8K_R, "IMF 8K R", 8192, 6224, 1, 7, true}};

/* NULL for other values of Rsiz. */
static const profile *find(uint32_t rsiz)
{
    const uint32_t number = rsiz < L2K_PROFILE_BROADCAST ? rsiz : rsiz & 0xFF00;
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (profiles[i].number == number)
            return &profiles[i];
    return NULL;
}

static l2k_status refuse(const l2k_context *context, const profile *p, const char *what)
{
    return l2k_fail(context, L2K_ERROR_ARGUMENT, "the profile %s needs %s", p->name, what);
}

/* `given`: whether the user set the option; otherwise its default breaks the profile. */
static l2k_status refuse_option(const l2k_context *context, const profile *p, const char *what, bool given,
                                const char *option)
{
    if (!given)
        return refuse(context, p, what);
    return l2k_fail(context, L2K_ERROR_ARGUMENT, "the profile %s needs %s, but the option %s says otherwise", p->name,
                    what, option);
}

/* The sub-level of IMF bounds the bits per second, and the main level bounds the sub-level. Broadcast has one level,
 * reversibly 6 or 7; 0 leaves it open. */
static l2k_status check_levels(const l2k_context *context, const profile *p, uint32_t rsiz)
{
    static const uint8_t most[] = {9, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const uint32_t main_level = rsiz & 15, sub_level = rsiz >> 4 & 15;
    if (p->kind == BROADCAST)
        return sub_level || main_level > (p->reversible ? 7 : 5) || (p->reversible && main_level && main_level < 6)
                   ? refuse(context, p, p->reversible ? "main level 6 or 7" : "a main level of at most 5")
                   : L2K_OK;
    if (main_level >= sizeof most)
        return refuse(context, p, "a main level of at most 11");
    if (sub_level > most[main_level])
        return l2k_fail(context, L2K_ERROR_ARGUMENT,
                        "the profile %s with main level %u needs a sub-level of at most %u", p->name, main_level,
                        most[main_level]);
    return L2K_OK;
}

/* Tiles of an R profile: the side, which bounds the levels. 0 for one tile, or any other division. */
static uint32_t tile_side(const profile *p, uint32_t width, uint32_t height)
{
    for (uint32_t side = 1024; p->reversible && p->kind != BROADCAST && side * 2 <= p->width; side *= 2)
        if (width == side && height == side)
            return side;
    return 0;
}

static unsigned most_levels(const profile *p, uint32_t side)
{
    return side ? l2k_log2(side) - 6 : p->most_levels;
}

/* ---- Setting ----------------------------------------------------------------------------------------------------- */

l2k_status l2k_profile_check(const l2k_context *context, uint32_t rsiz, double frames_per_second, bool *fixes)
{
    const profile *p = find(rsiz);
    *fixes = p;
    if (!(frames_per_second == 0 || (frames_per_second >= 0.01 && frames_per_second <= 1e4)))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%g frames per second, 0.01 to 10000 are possible",
                        frames_per_second);
    if (p && p->kind == CINEMA && frames_per_second != 0 && frames_per_second != 24 && frames_per_second != 48)
        return refuse(context, p, "24 or 48 frames per second");
    return p && p->kind != CINEMA ? check_levels(context, p, rsiz) : L2K_OK;
}

static l2k_status fix_options(l2k_settings *s, const profile *p)
{
    static const char origin[] = "tiles from the origin on", blocks[] = "code-blocks of 32 x 32";
    const struct {
        l2k_encoder_option option;
        int64_t value;
        const char *what;
    } fixed[] = {{L2K_ENCODER_WAVELET, p->reversible ? L2K_WAVELET_5_3 : L2K_WAVELET_9_7,
                  p->reversible ? "the 5/3 wavelet" : "the 9/7 wavelet"},
                 {L2K_ENCODER_TILE_X0, 0, origin},
                 {L2K_ENCODER_TILE_Y0, 0, origin},
                 {L2K_ENCODER_BLOCK_WIDTH, 32, blocks},
                 {L2K_ENCODER_BLOCK_HEIGHT, 32, blocks},
                 {L2K_ENCODER_PROGRESSION, L2K_CPRL, "the progression order CPRL"},
                 {L2K_ENCODER_STYLE, s->options[L2K_ENCODER_STYLE] & L2K_STYLE_HT, "code-blocks without styles"},
                 {L2K_ENCODER_TLM, 1, "TLM marker segments"},
                 {L2K_ENCODER_TILE_PARTS, L2K_TILE_PARTS_COMPONENT, "tile-parts by component"},
                 {L2K_ENCODER_ROI_COMPONENT, -1, "no region of interest"}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        int64_t *value = &s->options[fixed[i].option];
        if (p->kind == BROADCAST && fixed[i].what == blocks)
            continue;
        if (!(s->encoder->given >> fixed[i].option & 1))
            *value = fixed[i].value;
        else if (*value != fixed[i].value)
            return refuse_option(&s->encoder->context, p, fixed[i].what, true, l2k_encoder_rules[fixed[i].option].name);
    }
    return p->reversible && s->encoder->base_step > 0
               ? refuse_option(&s->encoder->context, p, "the 5/3 wavelet, which has no steps", true, "base step")
               : L2K_OK;
}

/* From the highest resolution down; an only resolution counts as the lowest. */
static void fix_precincts(l2k_settings *s, unsigned levels)
{
    if (s->num_precincts)
        return;
    for (unsigned i = 0; i <= levels; i++)
        s->own_precincts[i] = i < levels ? (l2k_size){256, 256} : (l2k_size){128, 128};
    s->precincts = s->own_precincts;
    s->num_precincts = levels + 1;
}

/* 4K: all packets of 2K come first. */
static void fix_progressions(l2k_settings *s, const profile *p, unsigned levels)
{
    if (s->num_poc || p->number != L2K_PROFILE_CINEMA_4K)
        return;
    s->own_poc[0] = (l2k_poc){L2K_ALL_TILES, L2K_CPRL, 0, levels, 0, 3, 1};
    s->own_poc[1] = (l2k_poc){L2K_ALL_TILES, L2K_CPRL, levels, levels + 1, 0, 3, 1};
    s->poc = s->own_poc;
    s->num_poc = 2;
}

/* Lowers a limit; 0 = none. */
static void fix_limit(int64_t *limit, double bits, double rate)
{
    const int64_t own = (int64_t)(bits / 8 / rate);
    if (own && (!*limit || *limit > own))
        *limit = own;
}

/* Cinema: 250 Mbit/s, and 200 for a component; IMF: 200 Mbit/s at sub-level 1, twice as much at the next; broadcast: the
 * same from main level 3 on, none at 7. */
static void fix_limits(l2k_settings *s, const profile *p)
{
    const unsigned main_level = s->encoder->fixed_by & 15, of_main = main_level < 3 ? main_level > 0 : main_level - 2;
    const unsigned sub_level = p->kind != BROADCAST ? s->encoder->fixed_by >> 4 & 15 : main_level < 7 ? of_main : 0;
    const double given = s->encoder->frames_per_second, rate = given > 0 ? given : 24;
    const double imf = sub_level && given > 0 ? ldexp(200e6, (int)sub_level - 1) : 0;
    fix_limit(&s->options[L2K_ENCODER_MAX_BYTES], p->kind == CINEMA ? 250e6 : imf, rate);
    fix_limit(&s->options[L2K_ENCODER_COMPONENT_BYTES], p->kind == CINEMA ? 200e6 : 0, rate);
}

/* Kernels exclude every given Rsiz, and HT numbers of profiles that are not Part 1's. */
static l2k_status check_part(const l2k_settings *s)
{
    const int64_t *o = s->options;
    const profile *p = find((uint32_t)o[L2K_ENCODER_PROFILE]);
    const bool is_beyond = o[L2K_ENCODER_STYLE] & L2K_STYLE_HT && o[L2K_ENCODER_PROFILE] >= 4095;
    const char *what = is_beyond                                  ? "HT code-blocks"
                       : o[L2K_ENCODER_WAVELET] > L2K_WAVELET_9_7 ? "kernels other than Part 1's"
                       : !l2k_splits_all(s->encoder->unsplit)     ? "levels that do not split both ways"
                                                                  : NULL;
    if (!o[L2K_ENCODER_PROFILE] || !what)
        return L2K_OK;
    return l2k_fail(&s->encoder->context, L2K_ERROR_ARGUMENT, "%s cannot have the profile %s", what,
                    p ? p->name : "of that number");
}

l2k_status l2k_profile_settle(const l2k_encoder *encoder, l2k_settings *s)
{
    int64_t *o = s->options;
    const profile *p = encoder->fixed_by ? find(encoder->fixed_by) : NULL;
    s->encoder = encoder;
    memcpy(o, encoder->options, sizeof s->options);
    s->precincts = encoder->precincts;
    s->num_precincts = encoder->num_precincts;
    s->poc = encoder->poc;
    s->num_poc = encoder->num_poc;
    L2K_TRY(check_part(s));
    if (!p)
        return L2K_OK;
    L2K_TRY(fix_options(s, p));
    const uint32_t side = tile_side(p, (uint32_t)o[L2K_ENCODER_TILE_WIDTH], (uint32_t)o[L2K_ENCODER_TILE_HEIGHT]);
    if (!(encoder->given >> L2K_ENCODER_LEVELS & 1))
        o[L2K_ENCODER_LEVELS] =
            l2k_max_u32(p->least_levels, l2k_min_u32((uint32_t)o[L2K_ENCODER_LEVELS], most_levels(p, side)));
    fix_precincts(s, (unsigned)o[L2K_ENCODER_LEVELS]);
    fix_progressions(s, p, (unsigned)o[L2K_ENCODER_LEVELS]);
    fix_limits(s, p);
    return L2K_OK;
}

/* ---- Checking ---------------------------------------------------------------------------------------------------- */

static l2k_status check_components(const l2k_encoding *e, const profile *p)
{
    const l2k_component *components = e->siz.components;
    const uint32_t count = e->siz.num_components;
    const unsigned most_bits = p->kind == BROADCAST ? 12 : 16;
    if (p->kind == CINEMA ? count != 3 : count > 3u + (p->kind == BROADCAST))
        return refuse(e->context, p,
                      p->kind == CINEMA      ? "three components"
                      : p->kind == BROADCAST ? "at most four components"
                                             : "at most three components");
    for (uint32_t c = 0; c < count; c++) {
        const l2k_component *k = &components[c];
        if (k->is_signed || (p->kind == CINEMA ? k->precision != 12 : k->precision < 8 || k->precision > most_bits))
            return refuse(e->context, p,
                          p->kind == CINEMA      ? "unsigned samples of 12 bits"
                          : p->kind == BROADCAST ? "unsigned samples of 8 to 12 bits"
                                                 : "unsigned samples of 8 to 16 bits");
        const bool is_chroma = c == 1 || c == 2;
        if (p->kind != CINEMA && (k->dy != 1 || k->dx > 1u + is_chroma || k->dx != components[is_chroma].dx))
            return refuse(e->context, p, "components without sub-sampling, or the second and third of half the width");
    }
    return L2K_OK;
}

static l2k_status check_grid(const l2k_encoding *e, const profile *p)
{
    const l2k_tile_grid *grid = &e->siz.grid;
    uint32_t width, height;
    l2k_component_size(e->image, 0, &width, &height);
    if (width > p->width || height > p->height)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "the profile %s needs at most %u x %u samples", p->name,
                        p->width, p->height);
    if (p->kind != CINEMA && (grid->image.x0 || grid->image.y0 || grid->tile_x0 || grid->tile_y0))
        return refuse(e->context, p, "an image at the origin");
    if (p->number != L2K_PROFILE_BROADCAST && p->kind == BROADCAST)
        return e->num_tiles == 1 || e->num_tiles == 4 ? L2K_OK : refuse(e->context, p, "one or four tiles");
    if (e->num_tiles > 1 && !tile_side(p, grid->tile_width, grid->tile_height))
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "the profile %s needs %s, not tiles of %u x %u", p->name,
                        p->reversible ? "one tile, or tiles of a side of 1024, 2048 or 4096 within its size"
                                      : "one tile",
                        grid->tile_width, grid->tile_height);
    return L2K_OK;
}

static bool has_precincts(const l2k_component_coding *coding)
{
    for (unsigned r = 0; r <= coding->levels; r++)
        if (coding->log2_precinct_width[r] != (r ? 8 : 7) || coding->log2_precinct_height[r] != (r ? 8 : 7))
            return false;
    return true;
}

static bool has_progression(const l2k_settings *s, const l2k_tile_coding *coding, const profile *p)
{
    const l2k_poc *poc = s->poc;
    const unsigned levels = coding->components[0].levels;
    if (p->number != L2K_PROFILE_CINEMA_4K)
        return coding->progression == L2K_CPRL && !s->num_poc;
    return s->num_poc == 2 && poc[0].tile == L2K_ALL_TILES && poc[1].tile == L2K_ALL_TILES &&
           poc[0].progression == L2K_CPRL && poc[0].resolution_end == levels && poc[0].component_end >= 3 &&
           poc[1].progression == L2K_CPRL && poc[1].resolution_start == levels;
}

static l2k_status check_coding(const l2k_settings *s, const l2k_encoding *e, const profile *p)
{
    const l2k_component_coding *coding = &e->coding.components[0];
    const uint32_t side = e->num_tiles > 1 ? tile_side(p, e->siz.grid.tile_width, e->siz.grid.tile_height) : 0;
    const unsigned most = most_levels(p, side);
    if (coding->wavelet != (p->reversible ? L2K_WAVELET_5_3 : L2K_WAVELET_9_7))
        return refuse(e->context, p, p->reversible ? "the 5/3 wavelet" : "the 9/7 wavelet");
    if (coding->levels < p->least_levels || coding->levels > most)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "the profile %s needs %u to %u decomposition levels, not %u",
                        p->name, p->least_levels, most, coding->levels);
    const unsigned most_side = p->kind == BROADCAST ? 7 : 5;
    if (coding->log2_block_width < 5 || coding->log2_block_width > most_side || coding->log2_block_height < 5 ||
        coding->log2_block_height > most_side)
        return refuse(e->context, p,
                      p->kind == BROADCAST ? "code-blocks of sides of 32, 64 or 128" : "code-blocks of 32 x 32");
    if (!has_precincts(coding))
        return refuse_option(e->context, p, "precincts of 256 x 256, in the lowest resolution 128 x 128",
                             s->encoder->num_precincts > 0, "precincts");
    if (coding->style & ~L2K_STYLE_HT || e->roi_shift)
        return refuse(e->context, p, "code-blocks without styles and regions of interest");
    if (e->coding.num_layers != 1)
        return refuse_option(e->context, p, "one layer", true, "layers");
    if (!has_progression(s, &e->coding, p))
        return refuse_option(e->context, p,
                             p->number == L2K_PROFILE_CINEMA_4K
                                 ? "CPRL for all resolutions but the highest, and then for that"
                                 : "the progression order CPRL",
                             s->encoder->num_poc > 0, "progression order changes");
    return L2K_OK;
}

l2k_status l2k_profile_setup(const l2k_settings *s, l2k_encoding *e)
{
    const uint32_t rsiz = (uint32_t)s->options[L2K_ENCODER_PROFILE];
    const profile *p = find(rsiz);
    if (e->coding.capabilities.parts && rsiz) /* of Part 15: Rsiz has no number, and CPF that of its counterpart */
        e->coding.capabilities.corresponding_profile = rsiz + 1;
    else
        e->siz.profile |= rsiz;
    if (!p)
        return L2K_OK;
    if (p->kind != CINEMA)
        L2K_TRY(check_levels(e->context, p, rsiz));
    L2K_TRY(check_components(e, p));
    L2K_TRY(check_grid(e, p));
    return check_coding(s, e, p);
}
