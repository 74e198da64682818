/* Rsiz: profiles of cinema and IMF fix options and bytes; OpenJPEG writes Rsiz 0 for an image that violates one. */
#include "compat/openjp2/encoder.h"

/* Translates the fields that openjpeg.h calls deprecated to the present ones. */
static void replace_deprecated(const codec *c, opj_cparameters_t *p)
{
    bool fast = p->cp_cinema == OPJ_CINEMA2K_48;
    if (!p->cp_cinema && !p->cp_rsiz)
        return;
    event_send(&c->handlers, EVENT_WARNING,
               "Deprecated fields cp_cinema or cp_rsiz are used\nPlease consider using only the rsiz field\n");
    if (p->cp_cinema == OPJ_OFF) {
        p->rsiz = (OPJ_UINT16)p->cp_rsiz;
        return;
    }
    p->rsiz = p->cp_cinema == OPJ_CINEMA4K_24 ? OPJ_PROFILE_CINEMA_4K : OPJ_PROFILE_CINEMA_2K;
    p->max_cs_size = fast ? OPJ_CINEMA_48_CS : OPJ_CINEMA_24_CS;
    p->max_comp_size = fast ? OPJ_CINEMA_48_COMP : OPJ_CINEMA_24_COMP;
}

void encode_settle_profile(const codec *c, opj_cparameters_t *p)
{
    replace_deprecated(c, p);
    bool known = p->rsiz <= OPJ_PROFILE_CINEMA_4K || OPJ_IS_IMF(p->rsiz);
    if (!known)
        event_send(&c->handlers, EVENT_WARNING, "the profile of rsiz %u is not supported, and set to none\n", p->rsiz);
    if (!known)
        p->rsiz = OPJ_PROFILE_NONE;
    if (!OPJ_IS_CINEMA(p->rsiz) || p->tcp_numlayers <= 1)
        return;
    event_send(&c->handlers, EVENT_WARNING, "a cinema profile has one quality layer, not %d\n", p->tcp_numlayers);
    p->tcp_rates[0] = p->tcp_rates[p->tcp_numlayers - 1];
    p->tcp_distoratio[0] = p->tcp_distoratio[p->tcp_numlayers - 1];
    p->tcp_numlayers = 1;
}

/* OpenJPEG lets an IMF profile change parameters at their defaults. */
bool encode_profile_fixes(const opj_cparameters_t *p)
{
    const bool defaults = p->cblockw_init == 64 && p->cblockh_init == 64 && p->prog_order == OPJ_LRCP && p->csty == 0;
    return OPJ_IS_CINEMA(p->rsiz) || (OPJ_IS_IMF(p->rsiz) && defaults);
}

/* Decomposition levels that a cinema profile makes of the number of resolutions. */
static uint32_t cinema_levels(const opj_cparameters_t *p)
{
    const int least = p->rsiz == OPJ_PROFILE_CINEMA_4K, levels = p->numresolution - 1;
    return (uint32_t)(levels < least ? least : levels > 5 + least ? 5 + least : levels);
}

/* Levels and tiles, which a profile leaves to the parameters: cinema has one tile, IMF's levels stay unless they are
 * the default. */
static bool set_geometry(const codec *c)
{
    enum { DEFAULT_RESOLUTIONS = 6 };
    const opj_cparameters_t *p = &c->e->parameters;
    if (OPJ_IS_CINEMA(p->rsiz))
        return encode_set(c, L2K_ENCODER_LEVELS, cinema_levels(p));
    return (p->numresolution == DEFAULT_RESOLUTIONS || encode_set(c, L2K_ENCODER_LEVELS, p->numresolution - 1)) &&
           (!p->tile_size_on ||
            (encode_set(c, L2K_ENCODER_TILE_WIDTH, p->cp_tdx) && encode_set(c, L2K_ENCODER_TILE_HEIGHT, p->cp_tdy)));
}

/* Cinema 4K has progression order changes in the main header; if the image violates the profile, OpenJPEG takes them
 * for those of a tile, in its header. */
static bool move_changes(const codec *c)
{
    const opj_cparameters_t *p = &c->e->parameters;
    const uint32_t levels = cinema_levels(p);
    const l2k_poc changes[] = {{0, L2K_CPRL, 0, levels, 0, 3, 1}, {0, L2K_CPRL, levels, levels + 1, 0, 3, 1}};
    return p->rsiz != OPJ_PROFILE_CINEMA_4K || l2k_encoder_set_poc(c->e->lift, changes, 2) == L2K_OK;
}

bool encode_set_profile(codec *c)
{
    const opj_cparameters_t *p = &c->e->parameters;
    l2k_encoder *lift = c->e->lift;
    double frames = p->max_cs_size == OPJ_CINEMA_48_CS ? 48 : 24;
    const bool all = encode_profile_fixes(p);
    if (all && !set_geometry(c))
        return false;
    if (p->max_comp_size > 0 && !encode_set(c, L2K_ENCODER_COMPONENT_BYTES, p->max_comp_size))
        return false;
    l2k_status set = all ? l2k_encoder_set_profile(lift, p->rsiz, OPJ_IS_CINEMA(p->rsiz) ? frames : 0)
                         : l2k_encoder_set(lift, L2K_ENCODER_PROFILE, p->rsiz);
    if (set == L2K_OK && l2k_encoder_check(lift, &c->e->shape) == L2K_OK)
        return true;
    event_send(&c->handlers, EVENT_WARNING, "the image or a parameter violates the profile, which is set to none\n");
    return encode_set(c, L2K_ENCODER_PROFILE, OPJ_PROFILE_NONE) && move_changes(c);
}
