/* Turns the options of a volume and a slice into a specification, with every check that needs more than one option. */
#include "dwt/wavelet.h"
#include "transform/volume/volume.h"

static l2k_wavelet z_wavelet_of(const l2k_volume *v)
{
    const int64_t own = v->options[L2K_VOLUME_Z_WAVELET];
    return (l2k_wavelet)(own >= 0 ? own : v->options[L2K_VOLUME_WAVELET]);
}

const l2k_wavelet_descriptor *l2k_volume_z_wavelet(const l2k_volume *v)
{
    if (v->spec.z_wavelet <= L2K_WAVELET_9_7)
        return l2k_wavelet_get(v->spec.z_wavelet);
    return v->options[L2K_VOLUME_Z_WAVELET] >= 0 ? &v->z_own : &v->own;
}

static l2k_status check_options(const l2k_volume *v)
{
    const int64_t *o = v->options;
    const l2k_wavelet_descriptor *wavelet = l2k_wavelet_get((l2k_wavelet)o[L2K_VOLUME_WAVELET]);
    const l2k_wavelet_descriptor *in_z = l2k_wavelet_get(z_wavelet_of(v));
    const bool isotropic = o[L2K_VOLUME_ORDER] == L2K_VOLUME_ISOTROPIC;
    if ((in_z->is_float && !wavelet->is_float) || (isotropic && in_z != wavelet))
        return l2k_fail(&v->context, L2K_ERROR_ARGUMENT, "the %s in Z does not go with the %s in slices%s", in_z->name,
                        wavelet->name, isotropic ? " in the isotropic order" : "");
    if (isotropic && o[L2K_VOLUME_Z_LEVELS] != o[L2K_VOLUME_LEVELS])
        return l2k_fail(&v->context, L2K_ERROR_ARGUMENT,
                        "the isotropic order has as many levels in Z as in slices, not %d and %d",
                        (int)o[L2K_VOLUME_Z_LEVELS], (int)o[L2K_VOLUME_LEVELS]);
    const int64_t type = o[L2K_VOLUME_COEFFICIENTS];
    if (type >= 0 && (type == L2K_COEFFICIENT_FLOAT32) != wavelet->is_float)
        return l2k_fail(&v->context, L2K_ERROR_ARGUMENT, "a volume has %s coefficients with the %s",
                        wavelet->is_float ? "float32" : "int16 or int32", wavelet->name);
    if (type == L2K_COEFFICIENT_INT16 && (l2k_wavelet_is_kernel(wavelet) || l2k_wavelet_is_kernel(in_z)))
        return l2k_fail(&v->context, L2K_ERROR_ARGUMENT, "a volume has int16 coefficients with the 5/3 alone");
    return L2K_OK;
}

/* The gain of a level of the 5/3: the greatest coefficient of its low-pass and high-pass, over the greatest sample.
 * From docs/numerics.md, which has the proof, rounded up. */
static double gain(unsigned level)
{
    static const double high[] = {1, 2, 2.5, 2.75, 2.805, 2.827, 2.848};
    return level < sizeof high / sizeof *high ? high[level] : 3;
}

/* Whether all values of a forward 5/3 are within int16: those of HHH at the deepest levels are the greatest. */
static l2k_status check_int16(const l2k_volume *v, const l2k_volume_spec *s)
{
    const l2k_plan_spec *plan = &s->tile.plan;
    if (plan->type != L2K_COEFFICIENT_INT16 || plan->direction == L2K_INVERSE)
        return L2K_OK;
    const double gains = gain(s->z_levels) * gain(s->levels) * gain(s->levels);
    for (uint32_t c = 0; c < plan->num_components; c++) {
        const bool rct = plan->component_transform && c < 3;
        const double most = (double)((uint64_t)1 << (plan->components[c].precision - !rct));
        const double bound = most * gains + 21.0 * (s->z_levels + s->levels);
        if (bound > INT16_MAX)
            return l2k_fail(&v->context, L2K_ERROR_ARGUMENT,
                            "component %u: coefficients up to %.0f are too large for int16", (unsigned)c, bound);
    }
    return L2K_OK;
}

/* Applies l2k_transform's rules to a slice, except the check for int16, which is for two directions. */
static l2k_status make_tile(const l2k_volume *v, const l2k_image *slice, l2k_volume_spec *s)
{
    const int64_t *o = v->options;
    l2k_transform transform = {.context = v->context, .own = v->own};
    transform.options[L2K_TRANSFORM_DIRECTION] = o[L2K_VOLUME_DIRECTION];
    transform.options[L2K_TRANSFORM_WAVELET] = o[L2K_VOLUME_WAVELET];
    transform.options[L2K_TRANSFORM_LEVELS] = o[L2K_VOLUME_LEVELS];
    transform.options[L2K_TRANSFORM_COMPONENT_TRANSFORM] = o[L2K_VOLUME_COMPONENT_TRANSFORM];
    transform.options[L2K_TRANSFORM_COEFFICIENTS] = L2K_COEFFICIENT_INT32;
    transform.options[L2K_TRANSFORM_LIMIT_SAMPLES] = o[L2K_VOLUME_LIMIT_SAMPLES];
    L2K_TRY(l2k_tile_spec_make(&transform, slice, &s->tile));
    for (uint32_t c = 0; c < s->tile.plan.num_components; c++)
        s->tile.components[c].own = NULL; /* pointed into `transform` */
    s->tile.plan.memory = o[L2K_VOLUME_MEMORY] == L2K_MEMORY_DEVICE ? L2K_PLAN_DEVICE : L2K_PLAN_HOST;
    const int64_t type = o[L2K_VOLUME_COEFFICIENTS];
    const bool floats = l2k_wavelet_get(s->wavelet)->is_float;
    s->tile.plan.type = type >= 0 ? (l2k_coefficient_type)type
                        : floats  ? L2K_COEFFICIENT_FLOAT32
                                  : L2K_COEFFICIENT_INT32;
    return L2K_OK;
}

l2k_status l2k_volume_spec_make(const l2k_volume *volume, const l2k_image *slice, uint32_t z0, uint32_t z1,
                                l2k_volume_spec *out)
{
    const int64_t *o = volume->options;
    L2K_TRY(check_options(volume));
    if (z0 >= z1)
        return l2k_fail(&volume->context, L2K_ERROR_ARGUMENT, "a volume without slices");
    l2k_volume_spec spec = {.wavelet = (l2k_wavelet)o[L2K_VOLUME_WAVELET],
                            .z_wavelet = z_wavelet_of(volume),
                            .levels = (unsigned)o[L2K_VOLUME_LEVELS],
                            .z_levels = (unsigned)o[L2K_VOLUME_Z_LEVELS],
                            .isotropic = o[L2K_VOLUME_ORDER] == L2K_VOLUME_ISOTROPIC,
                            .z0 = z0,
                            .z1 = z1};
    L2K_TRY(make_tile(volume, slice, &spec));
    l2k_status status = check_int16(volume, &spec);
    if (status != L2K_OK)
        l2k_tile_spec_release(&volume->context, &spec.tile);
    else
        *out = spec;
    return status;
}
