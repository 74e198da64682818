/* Turns options into the contents of SIZ, COD and QCD, with every check that needs more than one option. */
#include "codec/encode/encoder.h"

#include <string.h>

#include "base/integer.h"
#include "base/sample.h"
#include "quant/steps.h"

static l2k_status refuse_component(const l2k_context *context, uint32_t c, const char *what, uint32_t value)
{
    return l2k_fail(context, L2K_ERROR_ARGUMENT, "component %u: %s %u is not possible", c, what, value);
}

static l2k_status check_component(const l2k_context *context, const int64_t *o, const l2k_component *component,
                                  uint32_t c)
{
    const l2k_wavelet_descriptor *wavelet = l2k_wavelet_get((l2k_wavelet)o[L2K_ENCODER_WAVELET]);
    if (component->dx < 1 || component->dx > 255 || component->dy < 1 || component->dy > 255)
        return refuse_component(context, c, "a sub-sampling of",
                                component->dx < 1 || component->dx > 255 ? component->dx : component->dy);
    if (component->precision < 1 || component->precision > wavelet->most_bits)
        return l2k_fail(context, L2K_ERROR_ARGUMENT,
                        "component %u: a precision of %u is not possible: the %s takes 1 to %u bits", c,
                        component->precision, wavelet->name, wavelet->most_bits);
    if ((unsigned)component->channel > L2K_CHANNEL_UNSPECIFIED)
        return refuse_component(context, c, "a channel type of", component->channel);
    if (component->association > 65535)
        return refuse_component(context, c, "an association with", component->association);
    return L2K_OK;
}

l2k_status l2k_encode_check_planes(const l2k_encoding *e, l2k_rect area, const l2k_plane *planes)
{
    for (uint32_t c = 0; c < e->siz.num_components; c++) {
        const l2k_component *component = &e->siz.components[c];
        l2k_rect rect = l2k_component_rect(area, component->dx, component->dy);
        if (!planes[c].data && !l2k_rect_empty(rect))
            return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "plane %u is missing", c);
        if (!l2k_sample_type_holds(planes[c].type, component->precision, component->is_signed))
            return refuse_component(e->context, c, "its sample type cannot hold a precision of", component->precision);
    }
    return L2K_OK;
}

/* LBox has 32 bits, and the profile shares its superbox with other boxes. */
#define MAX_ICC_BYTES ((size_t)UINT32_MAX - (1u << 20))

/* *samples: of all components. */
static l2k_status check_image(const l2k_context *context, const int64_t *o, const l2k_image *image, uint64_t *samples)
{
    if (image->x0 >= image->x1 || image->y0 >= image->y1)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "an image without samples");
    if (!(image->density_x >= 0 && image->density_x <= 1e100 && image->density_y >= 0 && image->density_y <= 1e100))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "a density of %g x %g pixels per metre", image->density_x,
                        image->density_y);
    if (image->icc_bytes > MAX_ICC_BYTES)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "an ICC profile of %zu bytes, more than a box holds",
                        image->icc_bytes);
    L2K_TRY(l2k_jp2_check_boxes(context, image));
    if (image->num_components < 1 || image->num_components > L2K_MAX_COMPONENTS)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%u components, 1 to %u are possible", image->num_components,
                        L2K_MAX_COMPONENTS);
    if (!image->components)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "an image without components");
    for (uint32_t c = 0; c < image->num_components; c++) {
        uint32_t width, height;
        L2K_TRY(check_component(context, o, &image->components[c], c));
        l2k_component_size(image, c, &width, &height);
        if (width == 0 || height == 0)
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "component %u has no samples", c);
        uint64_t limit = (uint64_t)o[L2K_ENCODER_LIMIT_SAMPLES];
        if ((uint64_t)width * height > limit - *samples)
            return l2k_fail(context, L2K_ERROR_LIMIT, "an image of %u x %u x %u is more than the limit allows",
                            image->x1 - image->x0, image->y1 - image->y0, image->num_components);
        *samples += (uint64_t)width * height;
    }
    return L2K_OK;
}

static l2k_status setup_grid(const int64_t *o, l2k_encoding *e)
{
    const l2k_image *image = e->image;
    l2k_tile_grid *g = &e->siz.grid;
    g->image = (l2k_rect){image->x0, image->y0, image->x1, image->y1};
    g->tile_x0 = (uint32_t)o[L2K_ENCODER_TILE_X0];
    g->tile_y0 = (uint32_t)o[L2K_ENCODER_TILE_Y0];
    if (g->tile_x0 > image->x0 || g->tile_y0 > image->y0)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "the tile origin %u,%u lies beyond the image origin %u,%u",
                        g->tile_x0, g->tile_y0, image->x0, image->y0);
    g->tile_width = o[L2K_ENCODER_TILE_WIDTH] ? (uint32_t)o[L2K_ENCODER_TILE_WIDTH] : image->x1 - g->tile_x0;
    g->tile_height = o[L2K_ENCODER_TILE_HEIGHT] ? (uint32_t)o[L2K_ENCODER_TILE_HEIGHT] : image->y1 - g->tile_y0;
    if ((uint64_t)g->tile_x0 + g->tile_width <= image->x0 || (uint64_t)g->tile_y0 + g->tile_height <= image->y0)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "tiles of %u x %u from %u,%u: the first lies outside the image",
                        g->tile_width, g->tile_height, g->tile_x0, g->tile_y0);
    uint64_t tiles = (uint64_t)l2k_tiles_across(g) * l2k_tiles_down(g);
    if (tiles > 65535)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "%llu tiles of %u x %u, at most 65535 are possible",
                        (unsigned long long)tiles, g->tile_width, g->tile_height);
    e->num_tiles = (uint32_t)tiles;
    return L2K_OK;
}

/* A missing size is half the one above it, `halvings` times, down to 2. Above the lowest resolution a precinct must
 * have a subband of at least one sample, so exponents start at 1; in the lowest one 1 may be given. */
static uint8_t precinct_exponent(uint32_t size, unsigned halvings, bool lowest)
{
    if (lowest && halvings == 0 && size == 1)
        return 0;
    return (uint8_t)l2k_log2(l2k_max_u32(halvings < 32 ? size >> halvings : 0, 2));
}

/* From the highest resolution down. */
void l2k_encode_set_precincts(const l2k_settings *s, l2k_component_coding *coding)
{
    coding->user_precincts = s->num_precincts > 0;
    memset(coding->log2_precinct_width, 15, sizeof coding->log2_precinct_width);
    memset(coding->log2_precinct_height, 15, sizeof coding->log2_precinct_height);
    for (unsigned i = 0; coding->user_precincts && i <= coding->levels; i++) {
        unsigned given = l2k_min_u32(i, (uint32_t)s->num_precincts - 1), r = coding->levels - i;
        l2k_size size = s->precincts[given];
        coding->log2_precinct_width[r] = precinct_exponent(size.width, i - given, r == 0);
        coding->log2_precinct_height[r] = precinct_exponent(size.height, i - given, r == 0);
    }
}

/* Magnitudes have 31 bits, quantiser indices 26 (quant/quantiser.h), and there are at most 7 guard bits. */
static l2k_status check_planes(const l2k_context *context, unsigned precision, const l2k_component_coding *coding)
{
    const unsigned most = coding->own->quantised ? 26 : 31;
    for (unsigned band = 0; band < coding->num_steps; band++)
        if (coding->guard_bits > 7 || l2k_magnitude_bits(coding->steps[band], coding->guard_bits) > most)
            return l2k_fail(context, L2K_ERROR_ARGUMENT,
                            "%u levels of the %s wavelet make numbers of %u bits too large for code-blocks",
                            coding->levels, coding->own->name, precision);
    return L2K_OK;
}

/* Components 1 and 2 are chroma, if the picture is not RGB as it is. */
static l2k_status set_viewing(const l2k_encoder *encoder, const l2k_encoding *e, uint32_t c, l2k_viewing *viewing)
{
    const l2k_component *component = &e->siz.components[c];
    const bool is_sampled = component->dx * component->dy > 1;
    const bool is_chroma = (c == 1 || c == 2) && e->siz.num_components >= 3 &&
                           (e->coding.component_transform || is_sampled || e->image->colour == L2K_COLOUR_SYCC ||
                            e->image->colour == L2K_COLOUR_ESYCC);
    if (is_sampled && (!is_chroma || component->dx != 2 || component->dy > 2))
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT,
                        "visual weights are for components of 4:4:4, 4:2:2 or 4:2:0; component %u has every %u x %u "
                        "samples",
                        c, component->dx, component->dy);
    *viewing = (l2k_viewing){.role = is_chroma ? c : L2K_LUMA,
                             .halved_across = component->dx == 2,
                             .halved_down = component->dy == 2,
                             .distance = (uint32_t)encoder->options[L2K_ENCODER_VISUAL]};
    return L2K_OK;
}

/* Steps of a base step or a quality factor. */
static l2k_status set_given_steps(const l2k_encoder *encoder, const l2k_encoding *e, uint32_t c)
{
    const l2k_context *context = &encoder->context;
    l2k_component_coding *coding = &e->coding.components[c];
    const unsigned quality = (unsigned)encoder->options[L2K_ENCODER_QUALITY];
    const bool by_quality = quality;
    l2k_quality_of of = {quality, e->siz.components[c].precision, {0}};
    if (by_quality || encoder->options[L2K_ENCODER_VISUAL])
        L2K_TRY(set_viewing(encoder, e, c, &of.viewing));
    coding->viewing = of.viewing;
    if (!by_quality && encoder->base_step == 0)
        return L2K_OK;
    if (by_quality && encoder->base_step > 0)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "both a base step and a quality factor");
    if (!l2k_coding_wavelet(coding)->quantised)
        return l2k_fail(context, L2K_ERROR_ARGUMENT,
                        "the %s wavelet has no quantiser steps: a base step or quality factor needs the 9/7",
                        l2k_coding_wavelet(coding)->name);
    if (!of.viewing.distance)
        of.viewing.distance = L2K_QUALITY_DISTANCE;
    l2k_coding_steps(coding, (float)encoder->base_step, of, coding->steps);
    for (unsigned band = 0; band < coding->num_steps; band++)
        if (coding->steps[band].exponent > L2K_MOST_EXPONENT)
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "%s of %g gives too small steps for %u decomposition levels",
                            by_quality ? "a quality factor" : "a base step",
                            by_quality ? (double)quality : encoder->base_step, coding->levels);
    return L2K_OK;
}

static l2k_status setup_steps(const l2k_encoder *encoder, const l2k_encoding *e, uint32_t c)
{
    const l2k_context *context = &encoder->context;
    const unsigned precision = e->siz.components[c].precision;
    l2k_component_coding *coding = &e->coding.components[c];
    const l2k_wavelet_descriptor *wavelet = l2k_coding_wavelet(coding);
    coding->quantisation = wavelet->quantised ? L2K_QUANT_EXPOUNDED : L2K_QUANT_NONE;
    const unsigned bits = (unsigned)encoder->options[L2K_ENCODER_GUARD_BITS];
    const unsigned across = l2k_count_across(coding->unsplit, coding->levels);
    const unsigned down = l2k_count_down(coding->unsplit, coding->levels);
    const unsigned needed = l2k_guard_bits_of(wavelet, l2k_max_u32(across, down)); /* some kernels need more than
                                                                                      usual */
    coding->guard_bits = (uint8_t)(needed > L2K_GUARD_BITS ? l2k_max_u32(needed, bits) : bits);
    coding->num_steps = (uint8_t)l2k_coding_bands(coding);
    l2k_coding_steps(coding, 0, (l2k_quality_of){.precision = precision}, coding->steps);
    if (coding->own)
        L2K_TRY(check_planes(context, precision, coding));
    return set_given_steps(encoder, e, c);
}

/* Layers of truncated HT code-blocks end between their passes. */
static bool refines(const l2k_settings *s)
{
    const l2k_encoder *encoder = s->encoder;
    const size_t count = encoder->num_targets;
    return s->options[L2K_ENCODER_STYLE] & L2K_STYLE_HT && !(encoder->given >> L2K_ENCODER_HT_PASSES & 1) &&
           count > 1 && !l2k_target_is_everything(encoder->target_kind, encoder->targets[count - 1]);
}

static l2k_status setup_component(const l2k_settings *s, const l2k_encoding *e, uint32_t c)
{
    l2k_component_coding *coding = &e->coding.components[c];
    const l2k_encoder *encoder = s->encoder;
    const int64_t *o = s->options;
    coding->levels = (uint8_t)o[L2K_ENCODER_LEVELS];
    coding->unsplit = encoder->unsplit;
    coding->split_style = !l2k_splits_all(coding->unsplit);
    coding->log2_block_width = (uint8_t)l2k_log2((uint32_t)o[L2K_ENCODER_BLOCK_WIDTH]);
    coding->log2_block_height = (uint8_t)l2k_log2((uint32_t)o[L2K_ENCODER_BLOCK_HEIGHT]);
    coding->style = (uint8_t)o[L2K_ENCODER_STYLE];
    coding->ht_passes = refines(s) ? 3 : (uint8_t)o[L2K_ENCODER_HT_PASSES];
    coding->wavelet = (uint8_t)o[L2K_ENCODER_WAVELET];
    coding->own = coding->wavelet > L2K_WAVELET_9_7 ? &encoder->own : NULL;
    coding->kernel = l2k_coding_wavelet(coding)->code;
    l2k_encode_set_precincts(s, coding);
    return setup_steps(encoder, e, c);
}

/* The styles of an HT code-block (8.2 of T.814 and Table A.19): vertically causal contexts are those of the SigProp
 * pass. */
static l2k_status check_style(const l2k_context *context, const int64_t *o)
{
    const int64_t style = o[L2K_ENCODER_STYLE], passes = o[L2K_ENCODER_HT_PASSES];
    if (!(style & L2K_STYLE_HT) && passes > 1)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%lld HT coding passes, but no HT code-blocks", (long long)passes);
    if (style & L2K_STYLE_HT && style & ~(L2K_STYLE_HT | L2K_STYLE_VSC))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "HT code-blocks have no other style than vsc");
    if (style & L2K_STYLE_HT && style & L2K_STYLE_VSC && passes < 2)
        return l2k_fail(context, L2K_ERROR_ARGUMENT,
                        "style vsc is for the SigProp pass, but HT code-blocks have only "
                        "the cleanup pass");
    return L2K_OK;
}

/* HT code-blocks are coded as the last layer has them, with all passes; the others share these. */
static l2k_status setup_ht_targets(const l2k_settings *s, l2k_encoding *e)
{
    const l2k_encoder *encoder = s->encoder;
    const int64_t *o = s->options;
    const size_t count = encoder->num_targets;
    if (!(o[L2K_ENCODER_STYLE] & L2K_STYLE_HT))
        return L2K_OK;
    e->own_targets = l2k_allocate(e->context, count + 1, sizeof *e->own_targets);
    L2K_TRY(l2k_check_memory(e->context, e->own_targets, "%zu layers", count));
    e->truncation = e->targets;
    e->truncation.count = count > 0;
    e->truncation.targets = e->own_targets + count;
    if (count) {
        memcpy(e->own_targets, encoder->targets, count * sizeof *e->own_targets);
        e->own_targets[count] = e->own_targets[count - 1];
        e->own_targets[count - 1] = 0;
    }
    e->targets = (l2k_layer_targets){e->targets.kind, e->own_targets, count, 0, 0, 0};
    e->finds_steps = l2k_encoding_truncates(e) && encoder->base_step == 0 && !o[L2K_ENCODER_QUALITY] &&
                     l2k_wavelet_get((l2k_wavelet)o[L2K_ENCODER_WAVELET])->quantised;
    return L2K_OK;
}

/* A component whose samples are all a region of interest (A.6.3, H.1): its bit-planes are the same, but count as higher
 * ones by the shift, so that only RGN shows it. */
static l2k_status setup_region(const int64_t *o, l2k_encoding *e)
{
    const int64_t component = o[L2K_ENCODER_ROI_COMPONENT];
    if (component < 0 || o[L2K_ENCODER_ROI_SHIFT] == 0)
        return L2K_OK;
    if (component >= e->siz.num_components)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "component %lld is to be of interest, but there are %u",
                        (long long)component, e->siz.num_components);
    if (o[L2K_ENCODER_STYLE] & L2K_STYLE_HT)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "HT code-blocks are written without regions of interest");
    e->roi_component = (uint32_t)component;
    e->roi_shift = (uint8_t)o[L2K_ENCODER_ROI_SHIFT];
    return L2K_OK;
}

/* Rsiz and CAP. In Rsiz of Part 2 (T.801, Table A.2) readers disagree on which of two bits stands for whole-sample
 * symmetric kernels, so both are set; one of these is that of levels that split in one direction. */
static void setup_capabilities(const l2k_encoder *encoder, const int64_t *o, l2k_encoding *e)
{
    if (o[L2K_ENCODER_STYLE] & L2K_STYLE_HT) {
        e->siz.profile = L2K_RSIZ_CAP;
        e->coding.capabilities.parts = L2K_PART_15;
        if (!l2k_wavelet_get((l2k_wavelet)o[L2K_ENCODER_WAVELET])->reversible)
            e->coding.capabilities.ht = L2K_HT_IRREVERSIBLE;
    }
    if (!l2k_splits_all(encoder->unsplit))
        e->siz.profile |= L2K_RSIZ_PART_2 | L2K_RSIZ_SPLITS;
    if (encoder->options[L2K_ENCODER_WAVELET] > L2K_WAVELET_9_7)
        e->siz.profile |=
            L2K_RSIZ_PART_2 | (l2k_kernel_is_symmetric(&encoder->own.kernel) ? L2K_RSIZ_SYMMETRIC : L2K_RSIZ_ARBITRARY);
}

static l2k_status setup_coding(const l2k_settings *s, l2k_encoding *e)
{
    const l2k_encoder *encoder = s->encoder;
    const int64_t *o = s->options;
    if (o[L2K_ENCODER_BLOCK_WIDTH] * o[L2K_ENCODER_BLOCK_HEIGHT] > 4096)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "code-blocks of %lld x %lld have more than 4096 samples",
                        (long long)o[L2K_ENCODER_BLOCK_WIDTH], (long long)o[L2K_ENCODER_BLOCK_HEIGHT]);
    L2K_TRY(check_style(e->context, o));
    if (encoder->num_splits > o[L2K_ENCODER_LEVELS])
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "directions of %u levels, but %u decomposition levels",
                        encoder->num_splits, (unsigned)o[L2K_ENCODER_LEVELS]);
    L2K_TRY(setup_ht_targets(s, e));
    setup_capabilities(encoder, o, e);
    /* Block coders off the host have the wavelets of Part 1, which split both ways, and add at most one guard bit. */
    e->blocks_follow = o[L2K_ENCODER_WAVELET] <= L2K_WAVELET_9_7 && l2k_splits_all(encoder->unsplit) &&
                       o[L2K_ENCODER_GUARD_BITS] >= L2K_GUARD_BITS;
    e->coding.sop = o[L2K_ENCODER_SOP];
    e->coding.eph = o[L2K_ENCODER_EPH];
    e->coding.levels = (uint8_t)o[L2K_ENCODER_LEVELS];
    e->coding.splits.levels[1] = l2k_splits_all(encoder->unsplit) ? 0 : e->coding.levels;
    e->coding.splits.of[1] = encoder->unsplit;
    e->coding.progression = (uint8_t)o[L2K_ENCODER_PROGRESSION];
    e->coding.num_layers = encoder->num_targets ? (uint32_t)encoder->num_targets : 1;
    const bool asked = encoder->given >> L2K_ENCODER_COMPONENT_TRANSFORM & 1;
    e->coding.component_transform =
        o[L2K_ENCODER_COMPONENT_TRANSFORM] && (asked ? l2k_image_is_alike(e->image) : l2k_image_is_rgb(e->image));
    if (asked && o[L2K_ENCODER_COMPONENT_TRANSFORM] && !e->coding.component_transform)
        l2k_note(e->context, "no component transform: it needs three components of one size and precision");
    for (uint32_t c = 0; c < e->siz.num_components; c++)
        L2K_TRY(setup_component(s, e, c));
    L2K_TRY(setup_region(o, e));
    L2K_TRY(l2k_profile_setup(s, e));
    return l2k_poc_setup(s, e);
}

l2k_status l2k_encode_setup(const l2k_encoder *encoder, const l2k_image *image, l2k_encoding *e)
{
    const l2k_context *context = &encoder->context;
    l2k_settings settings;
    const l2k_status settled = l2k_profile_settle(encoder, &settings);
    const int64_t *o = settings.options;
    uint32_t count = image->num_components;
    *e = (l2k_encoding){.context = context,
                        .image = image,
                        .targets = {encoder->target_kind, encoder->targets, encoder->num_targets,
                                    (uint64_t)o[L2K_ENCODER_MAX_BYTES], (uint64_t)o[L2K_ENCODER_COMPONENT_BYTES], 0},
                        .format = (l2k_format)o[L2K_ENCODER_FORMAT],
                        .tile_parts = (l2k_tile_parts)o[L2K_ENCODER_TILE_PARTS],
                        .plt = o[L2K_ENCODER_PLT],
                        .tlm = o[L2K_ENCODER_TLM],
                        .off_host = o[L2K_ENCODER_MEMORY] != L2K_MEMORY_HOST,
                        .planes_stream = encoder->planes_stream,
                        .palette = &encoder->palette,
                        .comment = encoder->comment ? encoder->comment : "Created by lift2k"};
    L2K_TRY(settled);
    L2K_TRY(l2k_object_check_memory(context, o[L2K_ENCODER_MEMORY]));
    l2k_backend backend = (l2k_backend)o[L2K_ENCODER_BACKEND];
    if (e->off_host)
        L2K_TRY(l2k_engine_of_planes(context, &backend));
    L2K_TRY(check_image(context, o, image, &e->samples));
    if (e->palette->num_entries &&
        (e->format != L2K_FORMAT_JP2 || image->num_components != 1 || image->components[0].is_signed))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "a palette is for one unsigned component, in a JP2 file");
    L2K_TRY(setup_grid(o, e));
    e->siz.num_components = count;
    e->siz.components = l2k_allocate(context, count, sizeof *e->siz.components);
    e->coding.components = l2k_allocate_zeroed(context, count, sizeof *e->coding.components);
    L2K_TRY(l2k_check_memory(context, e->siz.components && e->coding.components, "%u components", count));
    memcpy(e->siz.components, image->components, count * sizeof *e->siz.components);
    L2K_TRY(setup_coding(&settings, e));
    if (e->format == L2K_FORMAT_JP2 && l2k_jp2_jpx_feature(image, e->siz.profile))
        l2k_warn(context, "JP2 does not have these colours: the brand of the file is JPX (ISO/IEC 15444-2)");
    return L2K_OK;
}

void l2k_encoding_release(l2k_encoding *e)
{
    l2k_release(e->context, e->siz.components);
    l2k_release(e->context, e->own_targets);
    if (e->segments.context) {
        l2k_buffer_release(&e->segments);
        l2k_buffer_release(&e->boxes);
    }
    l2k_poc_release(e);
    l2k_tile_coding_release(e->context, &e->coding);
    e->own_targets = NULL;
    e->siz.components = NULL;
}

l2k_status l2k_encoder_check(const l2k_encoder *encoder, const l2k_image *image)
{
    l2k_encoding e;
    if (!image)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "no image");
    const l2k_status status = l2k_encode_setup(encoder, image, &e);
    l2k_encoding_release(&e);
    return status;
}
