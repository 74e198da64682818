/* Translates opj_cparameters_t to options of lift2k's encoder. */

#include "compat/openjp2/encoder.h"

bool encode_set(const codec *c, l2k_encoder_option option, int64_t value)
{
    return l2k_encoder_set(c->e->lift, option, value) == L2K_OK;
}

/* ---- Layers -------------------------------------------------------------------------------------------------- */

/* Bits of the image as OpenJPEG counts them for a ratio: with the first component for all. */
static double opj_bits(const opj_image_t *image)
{
    const opj_image_comp_t *first = &image->comps[0];
    return (double)(image->x1 - image->x0) * (image->y1 - image->y0) * image->numcomps * first->prec /
           ((double)first->dx * first->dy);
}

static double lift_bits(const l2k_image *image)
{
    double bits = 0;
    for (uint32_t c = 0; c < image->num_components; c++) {
        uint32_t width, height;
        l2k_component_size(image, c, &width, &height);
        bits += (double)width * height * image->components[c].precision;
    }
    return bits;
}

/* The ratio of a layer within the limit of the codestream's size. */
static double limited(const codec *c, double rate)
{
    double most = c->e->parameters.max_cs_size > 0 ? opj_bits(c->e->image) / (8.0 * c->e->parameters.max_cs_size) : 0;
    return rate < most ? most : rate;
}

/* OpenJPEG takes layers in any order: those no finer than the one before are nearly empty, or empty after one that has
 * everything. lift2k requires each to be finer. */
static void make_finer(l2k_target kind, double *targets, int count)
{
    enum { LARGEST = 1000000000 };
    for (int i = 0; i < count; i++) {
        double before = i ? targets[i - 1] : 0;
        targets[i] = !(targets[i] > 0) ? 0 : targets[i] < LARGEST ? targets[i] : LARGEST;
        if (i && before == 0)
            targets[i] = 0;
        if (before == 0 || targets[i] == 0)
            continue;
        if (kind == L2K_TARGET_RATIO && targets[i] >= before)
            targets[i] = before * (1 - 1e-9);
        else if (kind == L2K_TARGET_PSNR && targets[i] <= before)
            targets[i] = before * (1 + 1e-9);
    }
}

static bool set_layers(codec *c)
{
    const opj_cparameters_t *p = &c->e->parameters;
    double targets[100] = {0}, scale = lift_bits(&c->e->shape) / opj_bits(c->e->image);
    const int count = p->tcp_numlayers > 0 ? p->tcp_numlayers : 1;
    const l2k_target kind = p->cp_fixed_quality ? L2K_TARGET_PSNR : L2K_TARGET_RATIO;
    for (int i = 0; i < count; i++) {
        const double rate = limited(c, p->tcp_numlayers > 0 ? (double)p->tcp_rates[i] : 0.0);
        targets[i] = kind == L2K_TARGET_PSNR ? (double)p->tcp_distoratio[i] : rate > 1 ? rate * scale : 0;
    }
    make_finer(kind, targets, count);
    return l2k_encoder_set_layers(c->e->lift, kind, targets, (size_t)count) == L2K_OK;
}

/* ---- Progression and tile-parts ------------------------------------------------------------------------------ */

static bool set_changes(codec *c)
{
    const opj_cparameters_t *p = &c->e->parameters;
    l2k_poc changes[32];
    uint32_t count = p->numpocs > 32 ? 32 : p->numpocs;
    for (uint32_t i = 0; i < count; i++) {
        const opj_poc_t *from = &p->POC[i];
        changes[i] = (l2k_poc){.tile = from->tile ? from->tile - 1 : L2K_ALL_TILES,
                               .progression = (l2k_progression)from->prg1,
                               .resolution_start = from->resno0,
                               .resolution_end = from->resno1 > 33 ? 33 : from->resno1,
                               .component_start = from->compno0,
                               .component_end = from->compno1 > 16384 ? 16384 : from->compno1,
                               .layer_end = from->layno1 > 65535 ? 65535 : from->layno1};
    }
    return !count || l2k_encoder_set_poc(c->e->lift, changes, count) == L2K_OK;
}

static bool set_tile_parts(codec *c)
{
    const opj_cparameters_t *p = &c->e->parameters;
    if (!p->tp_on)
        return true;
    const l2k_tile_parts division = p->tp_flag == 'R'   ? L2K_TILE_PARTS_RESOLUTION
                                    : p->tp_flag == 'L' ? L2K_TILE_PARTS_LAYER
                                    : p->tp_flag == 'C' ? L2K_TILE_PARTS_COMPONENT
                                                        : L2K_TILE_PARTS_ONE;
    if (division == L2K_TILE_PARTS_ONE)
        return event_fail(&c->handlers, "tile-parts by '%c' are not supported\n", p->tp_flag);
    return encode_set(c, L2K_ENCODER_TILE_PARTS, division);
}

/* As OpenJPEG does, rounds down to a power of two. */
static uint32_t precinct_side(int side)
{
    uint32_t power = 1;
    while (power < 32768 && side / 2 >= (int)power)
        power *= 2;
    return power;
}

/* Missing sizes are halves of the last one; sizes that OpenJPEG halves below 1 become 2. Only the lowest resolution may
 * have precincts of 1; elsewhere OpenJPEG writes files that it cannot read. */
static uint32_t precinct_at(const int *sides, int given, int i, bool lowest)
{
    const int side = i < given ? sides[i] : i - given + 1 < 31 ? sides[given - 1] >> (i - given + 1) : 0;
    return side < 1 || (side == 1 && !lowest) ? 2 : precinct_side(side);
}

static bool set_precincts(codec *c)
{
    const opj_cparameters_t *p = &c->e->parameters;
    l2k_size sizes[OPJ_J2K_MAXRLVLS];
    int count = p->csty & 1 ? p->res_spec : 0, all = count > 0 ? p->numresolution : 0;
    if (count < 0 || count > OPJ_J2K_MAXRLVLS)
        return event_fail(&c->handlers, "%d precinct sizes\n", count);
    for (int i = 0; i < all; i++)
        sizes[i] = (l2k_size){precinct_at(p->prcw_init, count, i, i + 1 == all),
                              precinct_at(p->prch_init, count, i, i + 1 == all)};
    return l2k_encoder_set_precincts(c->e->lift, sizes, (size_t)all) == L2K_OK;
}

/* ---- All ----------------------------------------------------------------------------------------------------- */

static bool set_tiles(codec *c)
{
    const opj_cparameters_t *p = &c->e->parameters;
    return encode_set(c, L2K_ENCODER_TILE_X0, p->cp_tx0) && encode_set(c, L2K_ENCODER_TILE_Y0, p->cp_ty0) &&
           (!p->tile_size_on ||
            (encode_set(c, L2K_ENCODER_TILE_WIDTH, p->cp_tdx) && encode_set(c, L2K_ENCODER_TILE_HEIGHT, p->cp_tdy)));
}

static bool set_component_transform(codec *c)
{
    const opj_image_t *image = c->e->image;
    bool wanted = c->e->parameters.tcp_mct == 1 && image->numcomps >= 3;
    for (uint32_t i = 1; wanted && i < 3; i++)
        if (image->comps[i].dx != image->comps[0].dx || image->comps[i].dy != image->comps[0].dy) {
            event_send(&c->handlers, EVENT_WARNING,
                       "Cannot perform MCT on components with different sizes. Disabling MCT.\n");
            wanted = false;
        }
    return encode_set(c, L2K_ENCODER_COMPONENT_TRANSFORM, wanted);
}

static bool set_region(codec *c)
{
    const opj_cparameters_t *p = &c->e->parameters;
    if (p->roi_compno < 0 || p->roi_compno >= (int)c->e->image->numcomps)
        return true;
    return encode_set(c, L2K_ENCODER_ROI_COMPONENT, p->roi_compno) &&
           encode_set(c, L2K_ENCODER_ROI_SHIFT, p->roi_shift);
}

/* Options that a profile may fix in spite of the parameters. */
static bool set_coding(codec *c)
{
    const opj_cparameters_t *p = &c->e->parameters;
    return encode_set(c, L2K_ENCODER_WAVELET, p->irreversible ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3) &&
           encode_set(c, L2K_ENCODER_LEVELS, p->numresolution - 1) &&
           encode_set(c, L2K_ENCODER_BLOCK_WIDTH, p->cblockw_init) &&
           encode_set(c, L2K_ENCODER_BLOCK_HEIGHT, p->cblockh_init) &&
           encode_set(c, L2K_ENCODER_PROGRESSION, p->prog_order) && encode_set(c, L2K_ENCODER_STYLE, p->mode) &&
           encode_set(c, L2K_ENCODER_TLM, c->tlm) && set_tiles(c) && set_precincts(c) && set_tile_parts(c) &&
           set_changes(c) && set_region(c);
}

bool encode_set_options(codec *c)
{
    encode_codec *e = c->e;
    const opj_cparameters_t *p = &e->parameters;
    return encode_set(c, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM) &&
           encode_set(c, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU) && encode_set(c, L2K_ENCODER_THREADS, c->threads) &&
           encode_set(c, L2K_ENCODER_LIMIT_SAMPLES, INT64_MAX) && encode_set(c, L2K_ENCODER_SOP, (p->csty & 2) != 0) &&
           encode_set(c, L2K_ENCODER_EPH, (p->csty & 4) != 0) && encode_set(c, L2K_ENCODER_PLT, c->plt) &&
           encode_set(c, L2K_ENCODER_GUARD_BITS, e->guard_bits ? e->guard_bits : 2) &&
           l2k_encoder_set_comment(e->lift, e->comment) == L2K_OK && set_component_transform(c) && set_layers(c) &&
           (encode_profile_fixes(p) || set_coding(c)) && (!p->rsiz || encode_set_profile(c));
}
