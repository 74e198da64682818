/* l2k_volume, the transform of volumes of the public header: an object with options around stages. */
#include "transform/volume/volume.h"

#include "base/object.h"
#include "transform/device.h"

static const l2k_option_rule rules[] = {
    [L2K_VOLUME_DIRECTION] = {"direction", 0, L2K_INVERSE, L2K_FORWARD},
    [L2K_VOLUME_WAVELET] = {"wavelet", 0, L2K_WAVELET_W4, L2K_WAVELET_5_3},
    [L2K_VOLUME_LEVELS] = {"number of decomposition levels", 0, L2K_MAX_LEVELS, 5},
    [L2K_VOLUME_Z_WAVELET] = {"wavelet of Z", -1, L2K_WAVELET_W4, -1},
    [L2K_VOLUME_Z_LEVELS] = {"number of levels in Z", 0, L2K_MAX_LEVELS, 3},
    [L2K_VOLUME_ORDER] = {"order of levels", 0, L2K_VOLUME_ISOTROPIC, L2K_VOLUME_Z_FIRST},
    [L2K_VOLUME_COMPONENT_TRANSFORM] = {"component transform", 0, 1, 0},
    [L2K_VOLUME_COEFFICIENTS] = {"coefficient type", -1, L2K_COEFFICIENT_FLOAT32, -1},
    [L2K_VOLUME_MEMORY] = {"memory", 0, L2K_MEMORY_DEVICE, L2K_MEMORY_HOST},
    [L2K_VOLUME_BACKEND] = {"backend", 0, L2K_BACKEND_OPENCL, L2K_BACKEND_AUTO},
    [L2K_VOLUME_THREADS] = {"number of threads", 0, 1024, 0},
    [L2K_VOLUME_LIMIT_SAMPLES] = {"limit of samples", 0, INT64_MAX, (int64_t)1 << 36},
    [L2K_VOLUME_CPU] = {"instruction set", 0, L2K_CPU_SIMD128, L2K_CPU_AUTO},
    [L2K_VOLUME_DEVICE] = {"device", -1, L2K_MOST_DEVICES - 1, -1},
};

static const l2k_object_kind kind = {.bytes = sizeof(l2k_volume),
                                     .options = offsetof(l2k_volume, options),
                                     .rules = rules,
                                     .num_options = L2K_VOLUME_NUM_OPTIONS};

/* ---- Life, options, preparation ------------------------------------------------------------------------------ */

l2k_volume *l2k_volume_new(const l2k_hooks *hooks)
{
    return l2k_object_create(&kind, hooks);
}

/* Runs on the device for which the volume has been prepared. */
static void forget(l2k_volume *v)
{
    const int before = l2k_device_enter(&v->context);
    if (v->stages && v->functions->free)
        v->functions->free(v);
    l2k_stages_release(v);
    l2k_device_leave(before);
    l2k_tile_spec_release(&v->context, &v->spec.tile);
}

void l2k_volume_free(l2k_volume *volume)
{
    if (!volume)
        return;
    forget(volume);
    l2k_object_free(&kind, volume);
}

/* Kernels get a descriptor of their own, for norms and gains. */
l2k_status l2k_volume_set(l2k_volume *volume, l2k_volume_option option, int64_t value)
{
    int64_t number;
    volume->changed = true;
    L2K_TRY(l2k_object_set(&kind, volume, option, value));
    if ((option != L2K_VOLUME_WAVELET && option != L2K_VOLUME_Z_WAVELET) || value <= L2K_WAVELET_9_7)
        return L2K_OK;
    return l2k_wavelet_take_kernel(&volume->context, &l2k_wavelet_get((l2k_wavelet)value)->kernel,
                                   option == L2K_VOLUME_WAVELET ? &volume->own : &volume->z_own, &number);
}

void l2k_volume_set_stream(l2k_volume *volume, void *stream)
{
    volume->changed = volume->changed || stream != volume->stream;
    volume->stream = stream;
}

/* AUTO is the CPU, unless slices are in device memory. */
static l2k_status choose_backend(l2k_volume *v)
{
    const int64_t *o = v->options;
    const bool on_device = o[L2K_VOLUME_MEMORY] == L2K_MEMORY_DEVICE;
    v->functions = &l2k_volume_cpu;
    if (o[L2K_VOLUME_BACKEND] == L2K_BACKEND_OPENCL)
        return l2k_fail(&v->context, L2K_ERROR_BACKEND, "volumes are transformed by the CPU or CUDA, not by OpenCL");
    if (o[L2K_VOLUME_BACKEND] != L2K_BACKEND_CUDA && !on_device)
        return L2K_OK;
    if (o[L2K_VOLUME_BACKEND] == L2K_BACKEND_CPU)
        return l2k_fail(&v->context, L2K_ERROR_ARGUMENT, "the CPU does not work on device memory");
#ifdef L2K_WITH_CUDA
    v->functions = &l2k_volume_cuda;
    return L2K_OK;
#else
    return l2k_fail(&v->context, L2K_ERROR_BACKEND, "this build has no CUDA backend");
#endif
}

/* Whether the prepared stages suit a volume of that shape, under the same options. */
static bool is_same(const l2k_volume_spec *a, const l2k_volume_spec *b)
{
    bool same = a->z0 == b->z0 && a->z1 == b->z1 && a->tile.plan.num_components == b->tile.plan.num_components;
    for (uint32_t c = 0; same && c < a->tile.plan.num_components; c++) {
        const l2k_plan_component *x = &a->tile.components[c], *y = &b->tile.components[c];
        same = l2k_rect_equals(x->rect, y->rect) && x->precision == y->precision && x->is_signed == y->is_signed;
    }
    return same;
}

static l2k_status make(l2k_volume *v)
{
    L2K_TRY(choose_backend(v));
    L2K_TRY(l2k_stages_make(v));
    v->context.devices = l2k_object_devices(v->functions == &l2k_volume_cpu ? L2K_BACKEND_CPU : L2K_BACKEND_CUDA,
                                            v->options[L2K_VOLUME_DEVICE], 0);
    const int before = l2k_device_enter(&v->context);
    return l2k_device_left(before, v->functions->make(v));
}

/* Prepares again with the existing stages. */
static l2k_status make_again(l2k_volume *v)
{
    const int before = l2k_device_enter(&v->context);
    l2k_stages_rewind(v);
    return l2k_device_left(before, v->functions->rewind ? v->functions->rewind(v) : L2K_OK);
}

l2k_status l2k_volume_prepare(l2k_volume *volume, const l2k_image *slice, uint32_t z0, uint32_t z1)
{
    l2k_volume_spec spec = {.z0 = z0};
    volume->context.threads = l2k_thread_count((unsigned)volume->options[L2K_VOLUME_THREADS]);
    volume->context.cpu = (l2k_cpu)volume->options[L2K_VOLUME_CPU];
    volume->asked = false;
    volume->come = 0;
    l2k_status status = l2k_cpu_check(&volume->context);
    if (status == L2K_OK)
        status = l2k_volume_spec_make(volume, slice, z0, z1, &spec);
    if (status == L2K_OK && volume->stages && !volume->changed && is_same(&volume->spec, &spec)) {
        l2k_tile_spec_release(&volume->context, &spec.tile);
        return make_again(volume);
    }
    forget(volume);
    if (status != L2K_OK)
        return status;
    volume->spec = spec;
    status = make(volume);
    if (status != L2K_OK)
        forget(volume);
    volume->changed = false;
    return status;
}

uint32_t l2k_volume_depth(const l2k_volume *volume, uint32_t level, bool high)
{
    const l2k_volume_spec *s = &volume->spec;
    if (!volume->stages || level > s->z_levels || (level == 0 && high))
        return 0;
    return l2k_z_depth(s->z0, s->z1, level, high);
}

/* ---- Both directions ----------------------------------------------------------------------------------------- */

static l2k_status check_prepared(const l2k_volume *v, l2k_direction direction)
{
    if (!v->stages)
        return l2k_fail(&v->context, L2K_ERROR_STATE, "the volume has not been prepared");
    if (v->spec.tile.plan.direction != direction)
        return l2k_fail(&v->context, L2K_ERROR_STATE, "the volume has been prepared for the other direction");
    return L2K_OK;
}

static l2k_status check_planes(const l2k_volume *v, const l2k_plane *planes)
{
    const l2k_tile_spec *tile = &v->spec.tile;
    const bool floats = l2k_wavelet_get(v->spec.z_wavelet)->is_float;
    if (!planes)
        return l2k_fail(&v->context, L2K_ERROR_ARGUMENT, "no planes");
    for (uint32_t c = 0; c < tile->plan.num_components; c++) {
        const bool joined = tile->plan.component_transform && c < 3;
        if ((unsigned)planes[c].type > L2K_SAMPLE_F32 || (planes[c].type == L2K_SAMPLE_F32 && (joined || !floats)))
            return l2k_fail(&v->context, L2K_ERROR_ARGUMENT,
                            "component %u: its transform does not take samples of this type", (unsigned)c);
        const l2k_rect rect = tile->components[c].rect;
        L2K_TRY(l2k_plane_check(&v->context, &planes[c], &tile->components[c], !l2k_rect_empty(rect), c));
    }
    return L2K_OK;
}

/* ---- Forward ------------------------------------------------------------------------------------------------- */

l2k_status l2k_volume_put_slice(l2k_volume *volume, const l2k_plane *planes)
{
    L2K_TRY(check_prepared(volume, L2K_FORWARD));
    L2K_TRY(check_planes(volume, planes));
    if (volume->functions->is_full(volume))
        return l2k_fail(&volume->context, L2K_ERROR_STATE, "slices of coefficients wait to be got");
    if (volume->come == volume->spec.z1 - volume->spec.z0)
        return l2k_fail(&volume->context, L2K_ERROR_STATE, "all slices of the volume have been put");
    const int before = l2k_device_enter(&volume->context);
    const l2k_status status = volume->functions->put(volume, planes);
    volume->come += status == L2K_OK;
    l2k_device_leave(before);
    return status;
}

l2k_status l2k_volume_get_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    *slice = (l2k_volume_slice){.views = NULL};
    L2K_TRY(check_prepared(volume, L2K_FORWARD));
    const int before = l2k_device_enter(&volume->context);
    return l2k_device_left(before, volume->functions->get_coefficients(volume, slice));
}

/* ---- Inverse ------------------------------------------------------------------------------------------------- */

l2k_status l2k_volume_next_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    *slice = (l2k_volume_slice){.views = NULL};
    L2K_TRY(check_prepared(volume, L2K_INVERSE));
    const int before = l2k_device_enter(&volume->context);
    const l2k_status status = volume->functions->next_coefficients(volume, slice);
    l2k_device_leave(before);
    volume->asked = status == L2K_OK && slice->views;
    return status;
}

l2k_status l2k_volume_put_coefficients(l2k_volume *volume)
{
    L2K_TRY(check_prepared(volume, L2K_INVERSE));
    if (!volume->asked)
        return l2k_fail(&volume->context, L2K_ERROR_STATE, "no coefficients are wanted, or they were not asked for");
    volume->asked = false;
    const int before = l2k_device_enter(&volume->context);
    return l2k_device_left(before, volume->functions->put_coefficients(volume));
}

l2k_status l2k_volume_get_slice(l2k_volume *volume, const l2k_plane *planes, bool *got)
{
    *got = false;
    L2K_TRY(check_prepared(volume, L2K_INVERSE));
    L2K_TRY(check_planes(volume, planes));
    const int before = l2k_device_enter(&volume->context);
    return l2k_device_left(before, volume->functions->get_slice(volume, planes, got));
}
