/* Fuzz target: the public transform on the CPU: forward and inverse over shapes, options and samples of the input, then
 * the inverse of coefficients that no picture has. The first HEAD bytes choose; the others are samples and
 * coefficients, repeated as needed. */
#include <math.h>

#include "fuzz.h"

enum { HEAD = 40, MOST_COMPONENTS = 4, MOST_SAMPLES = 1 << 16 };

typedef struct stage {
    l2k_image tile;
    l2k_component components[MOST_COMPONENTS];
    l2k_wavelet wavelet;
    l2k_coefficient_type type;
    uint32_t levels;
    bool joined, own_steps, float_planes;
    l2k_image region; /* of inverse transforms, if its x1 is not 0 */
} stage;

/* ---- Shapes -------------------------------------------------------------------------------------------------- */

static void choose_tile(fuzz_bytes *b, stage *s)
{
    l2k_image *tile = &s->tile;
    uint32_t kind = fuzz_byte(b);
    tile->num_components = fuzz_between(b, 1, MOST_COMPONENTS);
    tile->components = s->components;
    tile->x0 = kind & 1 ? fuzz_word(b) << (fuzz_byte(b) & 15) : 0;
    tile->y0 = kind & 1 ? fuzz_word(b) << (fuzz_byte(b) & 15) : 0;
    tile->x1 = tile->x0 + 1 + (kind & 2 ? fuzz_word(b) : fuzz_byte(b));
    tile->y1 = tile->y0 + 1 + (kind & 4 ? fuzz_word(b) : fuzz_byte(b));
    for (uint32_t c = 0; c < tile->num_components; c++) {
        l2k_component *k = &s->components[c];
        if (c == 0 || kind & 8)
            *k = (l2k_component){.dx = kind & 16 ? fuzz_between(b, 1, 7) : 1,
                                 .dy = kind & 16 ? fuzz_between(b, 1, 7) : 1,
                                 .precision = kind & 32 ? fuzz_between(b, 1, 24) : 8,
                                 .is_signed = kind & 64};
        else
            *k = s->components[0];
        l2k_component_size(tile, c, &k->width, &k->height);
    }
}

static void choose_stage(fuzz_bytes *b, stage *s)
{
    uint32_t kind = fuzz_byte(b);
    s->wavelet = kind & 1 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
    s->type = kind & 2 ? L2K_COEFFICIENT_INT16 : kind & 4 ? L2K_COEFFICIENT_FLOAT32 : L2K_COEFFICIENT_INT32;
    s->joined = kind & 8;
    s->own_steps = (kind & 0x30) == 0x30;
    s->float_planes = (kind & 0xC0) == 0xC0 && s->wavelet == L2K_WAVELET_9_7;
    s->levels = fuzz_between(b, 0, L2K_MAX_LEVELS);
}

static void set_steps(fuzz_bytes *b, const stage *s, l2k_transform *t)
{
    l2k_step steps[L2K_MAX_SUBBANDS];
    uint32_t first = fuzz_byte(b), mantissa = fuzz_word(b) & 2047;
    for (uint32_t i = 0; i < 3 * s->levels + 1; i++)
        steps[i] = (l2k_step){(uint8_t)((first + i) & 31), (uint16_t)mantissa};
    (void)l2k_transform_set_steps(t, first & 64 ? 0 : L2K_ALL_COMPONENTS, steps, 3 * s->levels + 1);
}

/* A part of the tile, often a small one far from the origin, or beyond it. */
static void choose_region(fuzz_bytes *b, stage *s)
{
    const l2k_image *tile = &s->tile;
    l2k_image *r = &s->region;
    r->x0 = tile->x0 + fuzz_word(b) % (tile->x1 - tile->x0);
    r->y0 = tile->y0 + fuzz_word(b) % (tile->y1 - tile->y0);
    r->x1 = r->x0 + 1 + fuzz_byte(b);
    r->y1 = r->y0 + 1 + fuzz_word(b);
}

static l2k_transform *prepare(const l2k_hooks *hooks, fuzz_watch *w, const stage *s, l2k_direction direction,
                              l2k_coefficient_type type, uint32_t reduce, fuzz_bytes steps)
{
    l2k_transform *t = l2k_transform_new(hooks);
    FUZZ_EXPECT(t);
    const int64_t settings[][2] = {{L2K_TRANSFORM_DIRECTION, direction},
                                   {L2K_TRANSFORM_WAVELET, s->wavelet},
                                   {L2K_TRANSFORM_LEVELS, s->levels},
                                   {L2K_TRANSFORM_REDUCE, reduce},
                                   {L2K_TRANSFORM_COMPONENT_TRANSFORM, s->joined},
                                   {L2K_TRANSFORM_COEFFICIENTS, type},
                                   {L2K_TRANSFORM_BACKEND, L2K_BACKEND_CPU},
                                   {L2K_TRANSFORM_THREADS, 1},
                                   {L2K_TRANSFORM_LIMIT_SAMPLES, MOST_SAMPLES}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        FUZZ_EXPECT(l2k_transform_set(t, (l2k_transform_option)settings[i][0], settings[i][1]) == L2K_OK);
    if (s->own_steps)
        set_steps(&steps, s, t);
    if (direction == L2K_INVERSE && s->region.x1)
        (void)l2k_transform_set_region(t, s->region.x0, s->region.y0, s->region.x1, s->region.y1);
    w->errors = 0;
    if (fuzz_reported(w, l2k_transform_prepare(t, &s->tile)) == L2K_OK)
        return t;
    l2k_transform_free(t);
    return NULL;
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* Planes for the tile, with padding right of each row; float32 samples occupy the bytes of int32 ones. */
static void make_planes(const stage *s, uint32_t reduce, fuzz_planes *planes)
{
    l2k_component reduced[MOST_COMPONENTS];
    l2k_image image = s->tile;
    image.components = reduced;
    for (uint32_t c = 0; c < image.num_components; c++) {
        uint64_t scale = (uint64_t)1 << reduce, dx = s->components[c].dx, dy = s->components[c].dy;
        reduced[c] = s->components[c];
        uint64_t x0 = (image.x0 + dx - 1) / dx, x1 = (image.x1 + dx - 1) / dx;
        uint64_t y0 = (image.y0 + dy - 1) / dy, y1 = (image.y1 + dy - 1) / dy;
        reduced[c].width = (uint32_t)((x1 + scale - 1) / scale - (x0 + scale - 1) / scale);
        reduced[c].height = (uint32_t)((y1 + scale - 1) / scale - (y0 + scale - 1) / scale);
    }
    FUZZ_EXPECT(fuzz_planes_make(planes, &image, s->float_planes, MOST_SAMPLES));
    for (uint32_t c = 0; s->float_planes && c < image.num_components; c++)
        planes->planes[c].type = L2K_SAMPLE_F32;
}

static double get(const l2k_plane *p, uint32_t x, uint32_t y)
{
    float value;
    if (p->type != L2K_SAMPLE_F32)
        return (double)fuzz_get_sample(p, x, y);
    memcpy(&value, (const uint8_t *)p->data + (ptrdiff_t)y * p->row_stride + (ptrdiff_t)x * p->sample_stride, 4);
    return value;
}

static void fill(const stage *s, const fuzz_planes *planes, const uint8_t *data, size_t bytes)
{
    size_t at = 0;
    for (uint32_t c = 0; c < planes->count; c++) {
        const l2k_component *k = &s->components[c];
        int64_t range = (int64_t)1 << k->precision, low = k->is_signed ? -range / 2 : 0;
        for (uint32_t y = 0; y < k->height; y++)
            for (uint32_t x = 0; x < k->width; x++) {
                int64_t raw = 0;
                for (int i = 0; bytes && i < 3; i++)
                    raw = raw << 8 | data[at++ % bytes];
                raw = low + raw % range;
                float value = (float)raw;
                int32_t bits;
                memcpy(&bits, &value, sizeof bits);
                fuzz_put_sample(&planes->planes[c], x, y, s->float_planes ? bits : raw);
            }
    }
}

/* ---- Forward and inverse ---- */

static void copy_coefficient(const l2k_coefficients *from, const l2k_coefficients *to, size_t x, size_t y,
                             bool reversible)
{
    if (from->type == L2K_COEFFICIENT_FLOAT32) {
        ((float *)to->base)[y * to->stride + x] = ((const float *)from->base)[y * from->stride + x];
        return;
    }
    int64_t v = from->type == L2K_COEFFICIENT_INT16 ? ((const int16_t *)from->base)[y * from->stride + x]
                                                    : ((const int32_t *)from->base)[y * from->stride + x];
    if (!reversible)
        v = v == 0 ? 0 : v > 0 ? 2 * v + 1 : 2 * v - 1;
    ((int32_t *)to->base)[y * to->stride + x] = (int32_t)v;
}

static void copy_coefficients(const stage *s, const l2k_transform *from, const l2k_transform *to)
{
    for (uint32_t c = 0; c < s->tile.num_components; c++) {
        const l2k_coefficients *a = l2k_transform_coefficients(from, c), *b = l2k_transform_coefficients(to, c);
        FUZZ_EXPECT(a && b && a->width == b->width && a->height == b->height && a->num_bands == b->num_bands);
        for (size_t y = 0; y < a->height; y++)
            for (size_t x = 0; x < a->width; x++)
                copy_coefficient(a, b, x, y, s->wavelet == L2K_WAVELET_5_3);
    }
}

/* The 5/3 is exact; the 9/7 loses half a quantiser step in each subband, and less than a sample's last bit without
 * quantisation. */
static void check_back(const stage *s, const fuzz_planes *a, const fuzz_planes *b)
{
    for (uint32_t c = 0; c < a->count; c++) {
        const l2k_component *k = &a->components[c];
        double sum = 0;
        for (uint32_t y = 0; y < k->height; y++)
            for (uint32_t x = 0; x < k->width; x++) {
                double d = get(&a->planes[c], x, y) - get(&b->planes[c], x, y);
                FUZZ_EXPECT(s->wavelet != L2K_WAVELET_5_3 || d == 0);
                sum += d * d;
            }
        double mean = sum / ((double)k->width * k->height + 1);
        FUZZ_EXPECT(mean < (s->type == L2K_COEFFICIENT_FLOAT32 ? 1 : 16) ||
                    (s->own_steps && s->type != L2K_COEFFICIENT_FLOAT32));
    }
}

static void there_and_back(const stage *s, const l2k_hooks *hooks, fuzz_watch *w, fuzz_bytes steps, const uint8_t *data,
                           size_t bytes)
{
    fuzz_planes planes, again;
    l2k_coefficient_type type = s->type == L2K_COEFFICIENT_INT16 ? L2K_COEFFICIENT_INT32 : s->type;
    l2k_transform *forward = prepare(hooks, w, s, L2K_FORWARD, s->type, 0, steps);
    if (!forward)
        return;
    l2k_transform *inverse = prepare(hooks, w, s, L2K_INVERSE, type, 0, steps);
    FUZZ_EXPECT(inverse);
    make_planes(s, 0, &planes);
    make_planes(s, 0, &again);
    fill(s, &planes, data, bytes);
    l2k_status status = fuzz_reported(w, l2k_transform_forward(forward, planes.planes));
    if (status == L2K_OK) {
        copy_coefficients(s, forward, inverse);
        FUZZ_EXPECT(fuzz_reported(w, l2k_transform_inverse(inverse, again.planes)) == L2K_OK);
        check_back(s, &planes, &again);
    }
    fuzz_planes_free(&planes);
    fuzz_planes_free(&again);
    l2k_transform_free(forward);
    l2k_transform_free(inverse);
}

/* ---- Coefficients that no picture has ------------------------------------------------------------------------ */

static void fill_coefficients(const l2k_coefficients *view, const uint8_t *data, size_t bytes, size_t *at)
{
    size_t row = view->width * l2k_coefficient_bytes(view->type);
    for (size_t y = 0; y < view->height; y++)
        for (size_t i = 0; i < row; i++)
            ((uint8_t *)view->base)[y * view->stride * l2k_coefficient_bytes(view->type) + i] =
                bytes ? data[(*at)++ % bytes] : 0;
}

static void back_only(const stage *s, const l2k_hooks *hooks, fuzz_watch *w, fuzz_bytes steps, uint32_t reduce,
                      const uint8_t *data, size_t bytes)
{
    fuzz_planes planes;
    size_t at = 0;
    l2k_transform *inverse = prepare(hooks, w, s, L2K_INVERSE, s->type, reduce, steps);
    if (!inverse)
        return;
    for (uint32_t c = 0; c < s->tile.num_components; c++)
        fill_coefficients(l2k_transform_coefficients(inverse, c), data, bytes, &at);
    make_planes(s, reduce, &planes);
    l2k_status status = fuzz_reported(w, l2k_transform_inverse(inverse, planes.planes));
    if (status == L2K_OK && !s->float_planes && !s->region.x1)
        fuzz_check_samples(&planes);
    fuzz_planes_free(&planes);
    l2k_transform_free(inverse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    size_t head = bytes < HEAD ? bytes : HEAD;
    fuzz_bytes choices = {data, head, 0};
    fuzz_watch w;
    l2k_hooks hooks = fuzz_hooks(&w, (size_t)1 << 28);
    stage s = {.levels = 0};
    choose_tile(&choices, &s);
    choose_stage(&choices, &s);
    uint32_t reduce = fuzz_byte(&choices) % (L2K_MAX_LEVELS + 1);
    there_and_back(&s, &hooks, &w, choices, data + head, bytes - head);
    back_only(&s, &hooks, &w, choices, reduce, data + head, bytes - head);
    fuzz_bytes more = {data, head, head / 2};
    choose_region(&more, &s);
    back_only(&s, &hooks, &w, choices, reduce, data + head, bytes - head);
    FUZZ_EXPECT(w.live == 0);
    return 0;
}
