/* The transform of volumes on the CPU: coefficients and samples of a plain reference, memory, errors. */
#include "api_support.h"

#include <math.h>

#include "reference_volume.h"
#include "tiling/pixel/pixel.h"

enum { MOST = 3 };

/* A random volume, its options, and the reference's values of each component. */
typedef struct scene {
    l2k_image image;
    l2k_component components[MOST];
    uint32_t z0, z1;
    ref_volume values[MOST]; /* samples after level shift and component transform, or coefficients */
    int32_t *samples[MOST];
    l2k_sample_type type;
    bool joined;
    int64_t options[L2K_VOLUME_NUM_OPTIONS];
} scene;

static size_t scene_count(const scene *s, uint32_t c)
{
    const long *size = s->values[c].size;
    return (size_t)(size[0] * size[1] * size[2]);
}

/* NULL: a wavelet of Part 1. */
static const l2k_wavelet_descriptor *kernel_of(int64_t wavelet)
{
    static l2k_wavelet_descriptor kernels[L2K_WAVELET_W4 + 1];
    if (wavelet <= L2K_WAVELET_9_7)
        return NULL;
    l2k_wavelet_of_kernel(&l2k_wavelet_get((l2k_wavelet)wavelet)->kernel, &kernels[wavelet]);
    return &kernels[wavelet];
}

static void make_component(scene *s, uint32_t c)
{
    const l2k_component *k = &s->components[c];
    ref_volume *v = &s->values[c];
    uint32_t width, height;
    l2k_component_size(&s->image, c, &width, &height);
    v->origin[0] = (s->image.x0 + k->dx - 1) / k->dx;
    v->origin[1] = (s->image.y0 + k->dy - 1) / k->dy;
    v->origin[2] = s->z0;
    v->size[0] = width;
    v->size[1] = height;
    v->size[2] = s->z1 - s->z0;
    v->levels = (int)s->options[L2K_VOLUME_LEVELS];
    v->z_levels = (int)s->options[L2K_VOLUME_Z_LEVELS];
    v->isotropic = s->options[L2K_VOLUME_ORDER] == L2K_VOLUME_ISOTROPIC;
    const int64_t own = s->options[L2K_VOLUME_Z_WAVELET];
    v->kernel = kernel_of(s->options[L2K_VOLUME_WAVELET]);
    v->z_kernel = own == -1 ? v->kernel : kernel_of(own);
    v->real = !l2k_wavelet_reversible((l2k_wavelet)s->options[L2K_VOLUME_WAVELET]);
    v->z_real = own == -1 ? v->real : !l2k_wavelet_reversible((l2k_wavelet)own);
    v->values = calloc(scene_count(s, c) + 1, sizeof *v->values);
    s->samples[c] = calloc(scene_count(s, c) + 1, sizeof *s->samples[c]);
    assert_true(v->values && s->samples[c]);
}

/* In half of the cases one of Part 1. */
static int64_t random_wavelet(void)
{
    return random_below(2) ? random_below(2) : random_below(L2K_WAVELET_W4 + 1);
}

static void random_options(scene *s)
{
    int64_t *o = s->options;
    o[L2K_VOLUME_WAVELET] = random_wavelet();
    o[L2K_VOLUME_LEVELS] = random_below(5);
    o[L2K_VOLUME_Z_LEVELS] = random_below(7);
    o[L2K_VOLUME_ORDER] = random_below(3) == 0 ? L2K_VOLUME_ISOTROPIC : L2K_VOLUME_Z_FIRST;
    if (o[L2K_VOLUME_ORDER] == L2K_VOLUME_ISOTROPIC)
        o[L2K_VOLUME_LEVELS] = o[L2K_VOLUME_Z_LEVELS];
    o[L2K_VOLUME_Z_WAVELET] = -1;
    const int64_t z = random_wavelet();
    if (o[L2K_VOLUME_ORDER] == L2K_VOLUME_Z_FIRST && random_below(3) == 0 &&
        (l2k_wavelet_reversible((l2k_wavelet)z) || !l2k_wavelet_reversible((l2k_wavelet)o[L2K_VOLUME_WAVELET])))
        o[L2K_VOLUME_Z_WAVELET] = z;
    o[L2K_VOLUME_COEFFICIENTS] = -1;
    o[L2K_VOLUME_THREADS] = 1;
    o[L2K_VOLUME_LIMIT_SAMPLES] = (int64_t)1 << 36;
    o[L2K_VOLUME_CPU] = L2K_CPU_AUTO;
}

static void fill(scene *s)
{
    for (uint32_t c = 0; c < s->image.num_components; c++) {
        const l2k_component *k = &s->components[c];
        const int32_t range = (int32_t)1 << k->precision, low = k->is_signed ? -range / 2 : 0;
        const bool extreme = random_below(4) == 0;
        for (size_t i = 0; i < scene_count(s, c); i++)
            s->samples[c][i] =
                extreme ? low + (random_below(2) ? range - 1 : 0) : low + (int32_t)random_below((uint32_t)range);
    }
}

static void scene_random(scene *s)
{
    memset(s, 0, sizeof *s);
    random_options(s);
    const uint32_t count = random_below(3) ? 1 : 3, most = random_below(4) ? 12 : 2;
    s->image = (l2k_image){.x0 = random_below(40), .y0 = random_below(40), .num_components = count};
    s->image.x1 = s->image.x0 + random_between(1, most);
    s->image.y1 = s->image.y0 + random_between(1, most);
    s->image.components = s->components;
    s->z0 = random_below(3) ? random_below(200) : 0;
    s->z1 = s->z0 + random_between(1, 70);
    s->joined = count == 3 && random_below(2);
    const bool is_signed = random_below(2);
    const uint32_t precision = random_between(8, 16);
    s->type = is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
    for (uint32_t c = 0; c < count; c++) {
        const uint32_t dx = s->joined ? 1 : random_between(1, 2);
        s->components[c] = (l2k_component){.dx = dx, .dy = 1, .precision = precision, .is_signed = is_signed};
    }
    s->options[L2K_VOLUME_COMPONENT_TRANSFORM] = s->joined;
    for (uint32_t c = 0; c < count; c++)
        make_component(s, c);
    fill(s);
}

static void scene_free(scene *s)
{
    for (uint32_t c = 0; c < MOST; c++) {
        free(s->values[c].values);
        free(s->samples[c]);
    }
}

/* ---- The reference ------------------------------------------------------------------------------------------- */

static void join(scene *s, size_t i)
{
    ref_sample *x[3] = {&s->values[0].values[i], &s->values[1].values[i], &s->values[2].values[i]};
    if (s->values[0].z_real)
        l2k_ict_forward(&x[0]->f, &x[1]->f, &x[2]->f);
    else
        l2k_rct_forward(&x[0]->i, &x[1]->i, &x[2]->i);
}

static void part(scene *s, size_t i)
{
    ref_sample *x[3] = {&s->values[0].values[i], &s->values[1].values[i], &s->values[2].values[i]};
    if (s->values[0].z_real)
        l2k_ict_inverse(&x[0]->f, &x[1]->f, &x[2]->f);
    else
        l2k_rct_inverse(&x[0]->i, &x[1]->i, &x[2]->i);
}

/* From samples to coefficients. */
static void reference_forward(scene *s)
{
    for (uint32_t c = 0; c < s->image.num_components; c++)
        for (size_t i = 0; i < scene_count(s, c); i++) {
            const l2k_component *k = &s->components[c];
            int32_t shifted = s->samples[c][i] - (k->is_signed ? 0 : 1 << (k->precision - 1));
            if (s->values[c].z_real)
                s->values[c].values[i].f = (float)shifted;
            else
                s->values[c].values[i].i = shifted;
        }
    for (size_t i = 0; s->joined && i < scene_count(s, 0); i++)
        join(s, i);
    for (uint32_t c = 0; c < s->image.num_components; c++)
        ref_forward(&s->values[c]);
}

/* And back. */
static void reference_inverse(scene *s)
{
    for (uint32_t c = 0; c < s->image.num_components; c++)
        ref_inverse(&s->values[c]);
    for (size_t i = 0; s->joined && i < scene_count(s, 0); i++)
        part(s, i);
    for (uint32_t c = 0; c < s->image.num_components; c++)
        for (size_t i = 0; i < scene_count(s, c); i++) {
            const l2k_component *k = &s->components[c];
            const ref_sample x = s->values[c].values[i];
            const int64_t half = (int64_t)1 << (k->precision - 1);
            int64_t value = s->values[c].z_real ? lrintf(x.f) : x.i;
            value = value < -half ? -half : value > half - 1 ? half - 1 : value;
            s->samples[c][i] = (int32_t)(value + (k->is_signed ? 0 : half));
        }
}

/* ---- The library --------------------------------------------------------------------------------------------- */

static l2k_volume *make_volume(const scene *s, const l2k_hooks *hooks, l2k_direction direction)
{
    l2k_volume *volume = l2k_volume_new(hooks);
    assert_non_null(volume);
    for (int i = 0; i < L2K_VOLUME_NUM_OPTIONS; i++)
        assert_int_equal(l2k_volume_set(volume, (l2k_volume_option)i, s->options[i]), L2K_OK);
    assert_int_equal(l2k_volume_set(volume, L2K_VOLUME_DIRECTION, direction), L2K_OK);
    return volume;
}

/* Planes of 16 bits for slice z: rows of a slice in `memory`, which is of `room` samples per component. */
static void planes_of(const scene *s, uint16_t *memory, size_t room, l2k_plane planes[MOST])
{
    for (uint32_t c = 0; c < s->image.num_components; c++)
        planes[c] = (l2k_plane){memory + c * room, (ptrdiff_t)s->values[c].size[0] * 2, 2, s->type};
}

static size_t slice_room(const scene *s)
{
    return (size_t)(s->image.x1 - s->image.x0) * (s->image.y1 - s->image.y0);
}

static size_t slice_size(const scene *s, uint32_t c)
{
    return (size_t)(s->values[c].size[0] * s->values[c].size[1]);
}

static void check_place(const l2k_volume *volume, const scene *s, const l2k_volume_slice *slice, uint8_t *seen)
{
    const uint32_t depth = l2k_volume_depth(volume, slice->level, slice->high);
    assert_in_range(slice->level, s->options[L2K_VOLUME_Z_LEVELS] > 0, s->options[L2K_VOLUME_Z_LEVELS]);
    assert_in_range(slice->index, 0, depth - 1);
    uint8_t *at = &seen[(slice->level * 2 + slice->high) * 128 + slice->index];
    assert_int_equal(*at, 0);
    *at = 1;
}

/* Compares a slice of coefficients with the reference's, or, with `fill`, stores those. */
static void visit(const scene *s, const l2k_volume_slice *slice, bool fill_in)
{
    for (uint32_t c = 0; c < s->image.num_components; c++) {
        const ref_volume *v = &s->values[c];
        const l2k_coefficients *view = &slice->views[c];
        const long lows = slice->high ? ref_low_size(v, 2, (int)slice->level) : 0;
        for (uint32_t band = 0; band < view->num_bands; band++)
            for (uint32_t y = 0; y < view->bands[band].height; y++)
                for (uint32_t x = 0; x < view->bands[band].width; x++) {
                    const size_t row = view->bands[band].y + y, column = view->bands[band].x + x;
                    const ref_sample *want = ref_at(v, (long)column, (long)row, lows + slice->index);
                    char *at = (char *)view->base + (row * view->stride + column) * l2k_coefficient_bytes(view->type);
                    if (view->type == L2K_COEFFICIENT_INT16 && fill_in)
                        *(int16_t *)(void *)at = (int16_t)want->i;
                    else if (view->type == L2K_COEFFICIENT_INT16)
                        assert_int_equal(*(int16_t *)(void *)at, want->i);
                    else if (fill_in)
                        memcpy(at, want, sizeof *want);
                    else
                        assert_memory_equal(at, want, sizeof *want);
                }
    }
}

static unsigned get_all(l2k_volume *volume, const scene *s, uint8_t *seen)
{
    l2k_volume_slice slice;
    unsigned count = 0;
    for (;; count++) {
        assert_int_equal(l2k_volume_get_coefficients(volume, &slice), L2K_OK);
        if (!slice.views)
            return count;
        check_place(volume, s, &slice, seen);
        visit(s, &slice, false);
    }
}

static unsigned expected_slices(const l2k_volume *volume, const scene *s)
{
    const unsigned levels = (unsigned)s->options[L2K_VOLUME_Z_LEVELS];
    unsigned count = l2k_volume_depth(volume, levels, false);
    for (unsigned level = 1; level <= levels; level++) {
        count += l2k_volume_depth(volume, level, true);
        if (s->values[0].isotropic && level < levels)
            count += l2k_volume_depth(volume, level, false);
    }
    return count;
}

static void run_forward(l2k_volume *volume, const scene *s)
{
    const size_t room = slice_room(s);
    uint16_t *memory = calloc(room * MOST, sizeof *memory);
    uint8_t seen[2 * 8 * 128] = {0};
    l2k_plane planes[MOST];
    unsigned got = 0;
    assert_int_equal(l2k_volume_prepare(volume, &s->image, s->z0, s->z1), L2K_OK);
    planes_of(s, memory, room, planes);
    for (uint32_t z = 0; z < s->z1 - s->z0; z++) {
        for (uint32_t c = 0; c < s->image.num_components; c++)
            for (size_t i = 0; i < slice_size(s, c); i++)
                memory[c * room + i] = (uint16_t)s->samples[c][z * slice_size(s, c) + i];
        assert_int_equal(l2k_volume_put_slice(volume, planes), L2K_OK);
        memset(memory, 0x5A, room * MOST * sizeof *memory);
        got += get_all(volume, s, seen);
    }
    assert_int_equal(got, expected_slices(volume, s));
    assert_int_equal(l2k_volume_put_slice(volume, planes), L2K_ERROR_STATE);
    free(memory);
}

/* `room` samples of each component of slice z are to be those of the scene. */
static void compare_samples(const scene *s, const uint16_t *memory, size_t room, uint32_t z)
{
    for (uint32_t c = 0; c < s->image.num_components; c++)
        for (size_t i = 0; i < slice_size(s, c); i++) {
            const int32_t want = s->samples[c][z * slice_size(s, c) + i];
            assert_int_equal(s->type == L2K_SAMPLE_S16 ? (int16_t)memory[c * room + i] : memory[c * room + i], want);
        }
}

static void run_inverse(l2k_volume *volume, const scene *s)
{
    const size_t room = slice_room(s);
    uint16_t *memory = calloc(room * MOST, sizeof *memory);
    uint8_t seen[2 * 8 * 128] = {0};
    l2k_plane planes[MOST];
    unsigned put = 0;
    uint32_t z = 0;
    assert_int_equal(l2k_volume_prepare(volume, &s->image, s->z0, s->z1), L2K_OK);
    planes_of(s, memory, room, planes);
    for (;;) {
        l2k_volume_slice slice;
        bool got = true;
        assert_int_equal(l2k_volume_next_coefficients(volume, &slice), L2K_OK);
        if (slice.views) {
            check_place(volume, s, &slice, seen);
            visit(s, &slice, true);
            assert_int_equal(l2k_volume_put_coefficients(volume), L2K_OK);
            put++;
        }
        for (const uint32_t before = z; got; z += got) {
            assert_int_equal(l2k_volume_get_slice(volume, planes, &got), L2K_OK);
            if (got)
                compare_samples(s, memory, room, z);
            else
                assert_true(slice.views || z > before || z == s->z1 - s->z0);
        }
        if (!slice.views && z == s->z1 - s->z0)
            break;
    }
    assert_int_equal(put, expected_slices(volume, s));
    free(memory);
}

/* Coefficients that no forward transform makes, as after a quantiser. */
static void disturb(scene *s)
{
    for (uint32_t c = 0; c < s->image.num_components; c++)
        for (size_t i = 0; i < scene_count(s, c); i++) {
            ref_sample *x = &s->values[c].values[i];
            if (s->values[c].real)
                x->f *= 0.9f;
            else
                x->i += (int32_t)random_below(17) - 8;
        }
}

/* The reference's samples, and its coefficients still. */
static void undo(scene *s)
{
    ref_sample *coefficients[MOST];
    for (uint32_t c = 0; c < s->image.num_components; c++) {
        coefficients[c] = malloc((scene_count(s, c) + 1) * sizeof(ref_sample));
        assert_non_null(coefficients[c]);
        memcpy(coefficients[c], s->values[c].values, scene_count(s, c) * sizeof(ref_sample));
    }
    reference_inverse(s);
    for (uint32_t c = 0; c < s->image.num_components; c++) {
        free(s->values[c].values);
        s->values[c].values = coefficients[c];
    }
}

static bool samples_equal(const scene *s, const scene *t)
{
    bool equal = true;
    for (uint32_t c = 0; c < s->image.num_components; c++)
        equal = equal && memcmp(s->samples[c], t->samples[c], scene_count(s, c) * sizeof(int32_t)) == 0;
    return equal;
}

static void check_inverse(scene *s, const l2k_hooks *hooks, bool disturbed)
{
    scene before = *s;
    for (uint32_t c = 0; c < s->image.num_components; c++)
        s->samples[c] = calloc(scene_count(s, c) + 1, sizeof(int32_t));
    if (disturbed)
        disturb(s);
    undo(s);
    if (!disturbed && !s->values[0].real)
        assert_true(samples_equal(s, &before));
    for (uint32_t c = 0; c < s->image.num_components; c++)
        free(before.samples[c]);
    l2k_volume *volume = make_volume(s, hooks, L2K_INVERSE);
    run_inverse(volume, s);
    run_inverse(volume, s);
    l2k_volume_free(volume);
}

/* ---- Tests --------------------------------------------------------------------------------------------------- */

static void test_equals_reference(void **unused)
{
    (void)unused;
    for (int i = 0; i < 250; i++) {
        scene s;
        watch w;
        l2k_hooks hooks = watch_hooks(&w);
        scene_random(&s);
        reference_forward(&s);
        l2k_volume *volume = make_volume(&s, &hooks, L2K_FORWARD);
        run_forward(volume, &s);
        run_forward(volume, &s);
        l2k_volume_free(volume);
        check_inverse(&s, &hooks, i % 2);
        scene_free(&s);
        assert_int_equal(w.live, 0);
        assert_int_equal(w.warnings + w.notes, 0);
    }
}

/* Where int16 is refused, the bound is not far away; where it is accepted, nothing is cut, however extreme the samples.
 */
static void test_int16(void **unused)
{
    (void)unused;
    unsigned accepted = 0;
    for (int i = 0; i < 300; i++) {
        scene s = {.z0 = 0};
        watch w;
        l2k_hooks hooks = watch_hooks(&w);
        do {
            scene_free(&s);
            scene_random(&s);
        } while (s.options[L2K_VOLUME_WAVELET] != L2K_WAVELET_5_3 || s.options[L2K_VOLUME_Z_WAVELET] > 0);
        s.options[L2K_VOLUME_COEFFICIENTS] = L2K_COEFFICIENT_INT16;
        l2k_volume *volume = make_volume(&s, &hooks, L2K_FORWARD);
        l2k_status status = l2k_volume_prepare(volume, &s.image, s.z0, s.z1);
        if (s.components[0].precision <= 10)
            assert_int_equal(status, L2K_OK);
        if (s.components[0].precision == 16)
            assert_int_equal(status, L2K_ERROR_ARGUMENT);
        if (status == L2K_OK) {
            reference_forward(&s);
            run_forward(volume, &s);
            check_inverse(&s, &hooks, false);
            accepted++;
        }
        l2k_volume_free(volume);
        scene_free(&s);
        memset(&s, 0, sizeof s);
        assert_int_equal(w.live, 0);
    }
    assert_in_range(accepted, 50, 250);
}

/* Slices of one sample are a line, as in the second direction of l2k_transform. */
static void test_line(void **unused)
{
    (void)unused;
    for (uint32_t n = 1; n <= 70; n++)
        for (int real = 0; real < 2; real++) {
            const unsigned levels = random_below(7);
            const uint32_t z0 = random_below(65);
            l2k_component component = {.dx = 1, .dy = 1, .precision = 12};
            l2k_image point = {.x1 = 1, .y1 = 1, .num_components = 1, .components = &component}, line = point;
            uint16_t samples[70];
            for (uint32_t i = 0; i < n; i++)
                samples[i] = (uint16_t)random_below(4096);
            line.y0 = z0;
            line.y1 = z0 + n;
            l2k_transform *t = l2k_transform_new(NULL);
            l2k_volume *v = l2k_volume_new(NULL);
            l2k_transform_set(t, L2K_TRANSFORM_WAVELET, real);
            l2k_transform_set(t, L2K_TRANSFORM_LEVELS, levels);
            l2k_transform_set(t, L2K_TRANSFORM_COEFFICIENTS, real ? L2K_COEFFICIENT_FLOAT32 : L2K_COEFFICIENT_INT32);
            l2k_volume_set(v, L2K_VOLUME_WAVELET, real);
            l2k_volume_set(v, L2K_VOLUME_Z_LEVELS, levels);
            assert_int_equal(l2k_transform_prepare(t, &line), L2K_OK);
            assert_int_equal(l2k_volume_prepare(v, &point, z0, z0 + n), L2K_OK);
            l2k_plane plane = {samples, 2, 2, L2K_SAMPLE_U16};
            assert_int_equal(l2k_transform_forward(t, &plane), L2K_OK);
            const l2k_coefficients *view = l2k_transform_coefficients(t, 0);
            for (uint32_t i = 0; i < n; i++, plane.data = (uint16_t *)plane.data + 1) {
                l2k_volume_slice slice;
                assert_int_equal(l2k_volume_put_slice(v, &plane), L2K_OK);
                for (;;) {
                    assert_int_equal(l2k_volume_get_coefficients(v, &slice), L2K_OK);
                    if (!slice.views)
                        break;
                    const uint32_t lows = slice.high ? l2k_volume_depth(v, slice.level, false) : 0;
                    assert_memory_equal((uint32_t *)view->base + (lows + slice.index) * view->stride,
                                        slice.views[0].base, 4);
                }
            }
            l2k_transform_free(t);
            l2k_volume_free(v);
        }
}

static void large_scene(scene *s, uint32_t depth)
{
    memset(s, 0, sizeof *s);
    random_options(s);
    s->options[L2K_VOLUME_WAVELET] = L2K_WAVELET_9_7;
    s->options[L2K_VOLUME_Z_WAVELET] = -1;
    s->options[L2K_VOLUME_LEVELS] = s->options[L2K_VOLUME_Z_LEVELS] = 2;
    s->image = (l2k_image){.x1 = 300, .y1 = 301, .num_components = 1, .components = s->components};
    s->components[0] = (l2k_component){.dx = 1, .dy = 1, .precision = 10};
    s->z1 = depth;
    s->type = L2K_SAMPLE_U16;
    make_component(s, 0);
    fill(s);
}

/* With slices that several threads share, and every instruction set. */
static void test_threads_and_sets(void **unused)
{
    (void)unused;
    for (int cpu = L2K_CPU_AUTO; cpu <= L2K_CPU_SIMD128; cpu++) {
        scene s;
        large_scene(&s, 4);
        s.options[L2K_VOLUME_THREADS] = 3;
        s.options[L2K_VOLUME_CPU] = cpu;
        l2k_volume *volume = make_volume(&s, NULL, L2K_FORWARD);
        if (l2k_volume_prepare(volume, &s.image, s.z0, s.z1) == L2K_OK) {
            reference_forward(&s);
            run_forward(volume, &s);
            check_inverse(&s, NULL, false);
        }
        l2k_volume_free(volume);
        scene_free(&s);
    }
}

/* Only shapes are put: the memory, as the hooks see it. */
static size_t peak_of(uint32_t depth, unsigned z_levels)
{
    meter m;
    l2k_hooks hooks = metered_hooks(&m);
    l2k_component component = {.dx = 1, .dy = 1, .precision = 8};
    l2k_image image = {.x1 = 32, .y1 = 32, .num_components = 1, .components = &component};
    uint8_t samples[32 * 32] = {0};
    l2k_plane plane = {samples, 32, 1, L2K_SAMPLE_U8};
    l2k_volume *volume = l2k_volume_new(&hooks);
    l2k_volume_set(volume, L2K_VOLUME_WAVELET, L2K_WAVELET_9_7);
    l2k_volume_set(volume, L2K_VOLUME_Z_LEVELS, z_levels);
    assert_int_equal(l2k_volume_prepare(volume, &image, 0, depth), L2K_OK);
    for (uint32_t z = 0; z < depth; z++) {
        l2k_volume_slice slice = {.views = NULL};
        assert_int_equal(l2k_volume_put_slice(volume, &plane), L2K_OK);
        do
            assert_int_equal(l2k_volume_get_coefficients(volume, &slice), L2K_OK);
        while (slice.views);
    }
    l2k_volume_free(volume);
    assert_int_equal(m.bytes, 0);
    return m.peak;
}

static void test_memory(void **unused)
{
    (void)unused;
    for (unsigned levels = 0; levels <= 6; levels++) {
        const size_t some = peak_of(1000, levels), many = peak_of(5000, levels);
        assert_int_equal(some, many);
        assert_in_range(many, 1, (8 + 11 * (levels + 1)) * (32 * 32 * 4 + 4096 + 1024) + 700000);
    }
}

static void test_allocations_fail(void **unused)
{
    (void)unused;
    for (size_t fail_at = 1;; fail_at++) {
        scene s;
        watch w;
        l2k_hooks hooks = watch_hooks(&w);
        l2k_volume_slice slice;
        l2k_status status;
        scene_random(&s);
        l2k_volume *volume = make_volume(&s, &hooks, L2K_FORWARD);
        w.fail_at = fail_at;
        const size_t room = slice_room(&s);
        uint16_t *memory = calloc(room * MOST, sizeof *memory);
        l2k_plane planes[MOST];
        planes_of(&s, memory, room, planes);
        status = l2k_volume_prepare(volume, &s.image, s.z0, s.z1);
        for (uint32_t z = s.z0; z < s.z1 && status == L2K_OK; z++) {
            status = l2k_volume_put_slice(volume, planes);
            do
                status = status == L2K_OK ? l2k_volume_get_coefficients(volume, &slice) : status;
            while (status == L2K_OK && slice.views);
        }
        l2k_volume_free(volume);
        free(memory);
        scene_free(&s);
        assert_int_equal(w.live, 0);
        if (fail_at > 400)
            break;
        assert_true(status == L2K_OK || (status == L2K_ERROR_MEMORY && w.errors == 1));
    }
}

static void expect_refused(const int64_t settings[][2], size_t count, l2k_image image, uint32_t z1, l2k_status expected)
{
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_volume *volume = l2k_volume_new(&hooks);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(l2k_volume_set(volume, (l2k_volume_option)settings[i][0], settings[i][1]), L2K_OK);
    assert_int_equal(l2k_volume_prepare(volume, &image, 0, z1), expected);
    assert_int_equal(w.errors, expected != L2K_OK);
    l2k_volume_free(volume);
    assert_int_equal(w.live, 0);
}

#define REFUSED(image, z1, expected, ...)                                                                              \
    expect_refused((const int64_t[][2]){__VA_ARGS__}, sizeof((const int64_t[][2]){__VA_ARGS__}) / sizeof(int64_t[2]),  \
                   image, z1, expected)

static void test_refused(void **unused)
{
    (void)unused;
    l2k_component component = {.dx = 1, .dy = 1, .precision = 8}, deep = {.dx = 1, .dy = 1, .precision = 17};
    l2k_image image = {.x1 = 9, .y1 = 9, .num_components = 1, .components = &component}, empty = image, precise = image;
    empty.x1 = 0;
    precise.components = &deep;
    REFUSED(image, 5, L2K_OK, {L2K_VOLUME_LEVELS, 2});
    REFUSED(image, 0, L2K_ERROR_ARGUMENT, {L2K_VOLUME_LEVELS, 2});
    REFUSED(empty, 5, L2K_ERROR_ARGUMENT, {L2K_VOLUME_LEVELS, 2});
    REFUSED(precise, 5, L2K_ERROR_ARGUMENT, {L2K_VOLUME_WAVELET, L2K_WAVELET_9_7});
    REFUSED(image, 5, L2K_OK, {L2K_VOLUME_DEVICE, 62}); /* the CPU has none */
    REFUSED(image, 5, L2K_ERROR_BACKEND, {L2K_VOLUME_BACKEND, L2K_BACKEND_CUDA}, {L2K_VOLUME_DEVICE, 62});
    REFUSED(image, 5, L2K_ERROR_LIMIT, {L2K_VOLUME_LIMIT_SAMPLES, 80});
    REFUSED(image, 5, L2K_ERROR_ARGUMENT, {L2K_VOLUME_COMPONENT_TRANSFORM, 1});
    REFUSED(image, 5, L2K_ERROR_ARGUMENT, {L2K_VOLUME_Z_WAVELET, L2K_WAVELET_9_7});
    REFUSED(image, 5, L2K_OK, {L2K_VOLUME_Z_WAVELET, L2K_WAVELET_5_3}, {L2K_VOLUME_WAVELET, L2K_WAVELET_9_7});
    REFUSED(image, 5, L2K_ERROR_ARGUMENT, {L2K_VOLUME_Z_WAVELET, L2K_WAVELET_5_3},
            {L2K_VOLUME_WAVELET, L2K_WAVELET_9_7}, {L2K_VOLUME_ORDER, L2K_VOLUME_ISOTROPIC}, {L2K_VOLUME_LEVELS, 3});
    REFUSED(image, 5, L2K_ERROR_ARGUMENT, {L2K_VOLUME_ORDER, L2K_VOLUME_ISOTROPIC}, {L2K_VOLUME_LEVELS, 2});
    REFUSED(image, 5, L2K_ERROR_ARGUMENT, {L2K_VOLUME_COEFFICIENTS, L2K_COEFFICIENT_FLOAT32});
    REFUSED(image, 5, L2K_ERROR_ARGUMENT, {L2K_VOLUME_COEFFICIENTS, L2K_COEFFICIENT_INT32},
            {L2K_VOLUME_WAVELET, L2K_WAVELET_9_7});
    REFUSED(image, 5, L2K_OK, {L2K_VOLUME_Z_WAVELET, L2K_WAVELET_HAAR}, {L2K_VOLUME_WAVELET, L2K_WAVELET_W4});
    REFUSED(image, 5, L2K_ERROR_ARGUMENT, {L2K_VOLUME_Z_WAVELET, L2K_WAVELET_W4});
    REFUSED(image, 5, L2K_ERROR_ARGUMENT, {L2K_VOLUME_COEFFICIENTS, L2K_COEFFICIENT_INT16},
            {L2K_VOLUME_Z_WAVELET, L2K_WAVELET_HAAR});
    l2k_volume *volume = l2k_volume_new(NULL);
    assert_int_equal(l2k_volume_set(volume, L2K_VOLUME_WAVELET, L2K_WAVELET_REVERSIBLE_KERNEL), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_volume_set(volume, L2K_VOLUME_NUM_OPTIONS, 0), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_volume_set(volume, L2K_VOLUME_Z_LEVELS, 33), L2K_ERROR_ARGUMENT);
    l2k_volume_free(volume);
    l2k_volume_free(NULL);
}

/* Calls out of order. */
static void test_states(void **unused)
{
    (void)unused;
    l2k_component component = {.dx = 1, .dy = 1, .precision = 8};
    l2k_image image = {.x1 = 4, .y1 = 4, .num_components = 1, .components = &component};
    uint8_t samples[16] = {0};
    float floats[16] = {0};
    l2k_plane plane = {samples, 4, 1, L2K_SAMPLE_U8}, none = {NULL, 4, 1, L2K_SAMPLE_U8};
    l2k_plane real = {floats, 16, 4, L2K_SAMPLE_F32}, narrow = {samples, 4, 1, L2K_SAMPLE_S8};
    l2k_volume_slice slice;
    bool got;
    l2k_volume *volume = l2k_volume_new(NULL);
    assert_int_equal(l2k_volume_put_slice(volume, &plane), L2K_ERROR_STATE);
    assert_int_equal(l2k_volume_get_coefficients(volume, &slice), L2K_ERROR_STATE);
    assert_int_equal(l2k_volume_depth(volume, 0, false), 0);
    assert_int_equal(l2k_volume_prepare(volume, &image, 0, 2), L2K_OK);
    assert_int_equal(l2k_volume_next_coefficients(volume, &slice), L2K_ERROR_STATE);
    assert_int_equal(l2k_volume_get_slice(volume, &plane, &got), L2K_ERROR_STATE);
    assert_int_equal(l2k_volume_put_slice(volume, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_volume_put_slice(volume, &none), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_volume_put_slice(volume, &real), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_volume_put_slice(volume, &narrow), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_volume_put_slice(volume, &plane), L2K_OK);
    assert_int_equal(l2k_volume_get_coefficients(volume, &slice), L2K_OK);
    assert_null(slice.views);
    assert_int_equal(l2k_volume_put_slice(volume, &plane), L2K_OK);
    assert_int_equal(l2k_volume_put_slice(volume, &plane), L2K_ERROR_STATE);
    assert_int_equal(l2k_volume_get_coefficients(volume, &slice), L2K_OK);
    assert_non_null(slice.views);
    assert_int_equal(l2k_volume_set(volume, L2K_VOLUME_DIRECTION, L2K_INVERSE), L2K_OK);
    assert_int_equal(l2k_volume_prepare(volume, &image, 0, 2), L2K_OK);
    assert_int_equal(l2k_volume_put_coefficients(volume), L2K_ERROR_STATE);
    assert_int_equal(l2k_volume_next_coefficients(volume, &slice), L2K_OK);
    assert_non_null(slice.views);
    assert_int_equal(l2k_volume_get_slice(volume, &plane, &got), L2K_OK);
    assert_false(got);
    assert_int_equal(l2k_volume_put_coefficients(volume), L2K_OK);
    assert_int_equal(l2k_volume_put_coefficients(volume), L2K_ERROR_STATE);
    l2k_volume_free(volume);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_reference), cmocka_unit_test(test_int16),  cmocka_unit_test(test_line),
        cmocka_unit_test(test_threads_and_sets), cmocka_unit_test(test_memory), cmocka_unit_test(test_allocations_fail),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
