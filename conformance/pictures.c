/* Synthetic pictures, pictures from files, random shapes, and measures of difference. */
#include "conformance/pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/process.h"

uint64_t rng_next(rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t rng_below(rng *r, uint32_t bound)
{
    return (uint32_t)((rng_next(r) >> 32) * bound >> 32);
}

uint32_t rng_between(rng *r, uint32_t low, uint32_t high)
{
    return low + rng_below(r, high - low + 1);
}

void *test_allocate(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (!block) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return block;
}

picture *picture_empty(const l2k_image *image)
{
    picture *p = test_allocate(1, sizeof *p);
    if (image->num_components > PICTURE_MAX_COMPONENTS) {
        fprintf(stderr, "a picture of %u components is more than the tests use\n", image->num_components);
        exit(1);
    }
    p->image = *image;
    for (uint32_t c = 0; c < image->num_components; c++) {
        p->components[c] = image->components[c];
        p->samples[c] = test_allocate((size_t)p->components[c].width * p->components[c].height, sizeof(int32_t));
    }
    p->image.components = p->components;
    return p;
}

void picture_free(picture *p)
{
    for (uint32_t c = 0; p && c < p->image.num_components; c++)
        free(p->samples[c]);
    free(p);
}

/* ---- Contents, as values from 0 to 1 ------------------------------------------------------------------------- */

static double hash_noise(uint64_t seed, uint32_t x, uint32_t y)
{
    rng r = {seed ^ ((uint64_t)x << 32 | y) * 0x9e3779b97f4a7c15u};
    return (double)(rng_next(&r) >> 40) / (1 << 24);
}

/* Noise on a grid of `pitch` samples, interpolated: energy at one scale. */
static double value_noise(uint64_t seed, double x, double y, double pitch)
{
    double gx = x / pitch, gy = y / pitch, fx = gx - floor(gx), fy = gy - floor(gy);
    uint32_t ix = (uint32_t)gx, iy = (uint32_t)gy;
    double top = hash_noise(seed, ix, iy) * (1 - fx) + hash_noise(seed, ix + 1, iy) * fx;
    double bottom = hash_noise(seed, ix, iy + 1) * (1 - fx) + hash_noise(seed, ix + 1, iy + 1) * fx;
    return top * (1 - fy) + bottom * fy;
}

/* Amplitudes fall with frequency as in photographs; discs and a hatched quarter add edges and texture. */
static double natural_value(const shape *s, uint32_t c, uint32_t x, uint32_t y)
{
    double v = 0.1 + 0.2 * x / (s->width + 1.0) + 0.1 * y / (s->height + 1.0);
    double amplitude = 0.35;
    for (double pitch = 96; pitch >= 2; pitch /= 2, amplitude *= 0.55)
        v += amplitude * (0.8 * value_noise(s->seed, x, y, pitch) + 0.2 * value_noise(s->seed + 1 + c, x, y, pitch));
    for (int i = 0; i < 4; i++) {
        double cx = hash_noise(s->seed, 900 + i, 1) * s->width, cy = hash_noise(s->seed, 900 + i, 2) * s->height;
        double radius = (0.05 + 0.2 * hash_noise(s->seed, 900 + i, 3)) * (s->width + s->height) / 2;
        if ((x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius)
            v += (i & 1 ? -0.2 : 0.2) * (1 + 0.3 * c) / 1.3;
    }
    if (x > s->width / 2 && y > s->height / 2)
        v += 0.05 * sin(x * 0.9 + y * 0.35) + 0.03 * sin(x * 0.2 - y * 1.7);
    return 0.1 + 0.7 * v + 0.03 * hash_noise(s->seed + 77, x, y + 4096 * c);
}

static double content_value(const shape *s, uint32_t c, uint32_t x, uint32_t y)
{
    switch (s->content) {
    case CONTENT_NOISE:
        return hash_noise(s->seed + c, x, y);
    case CONTENT_FLAT:
        return hash_noise(s->seed, c, 0);
    case CONTENT_EXTREMES:
        return (x ^ y) & 1 ? 1 : 0;
    default:
        return natural_value(s, c, x, y);
    }
}

static void fill_component(picture *p, const shape *s, uint32_t c)
{
    const l2k_component *k = &p->components[c];
    double levels = ldexp(1, (int)k->precision);
    int32_t lowest = k->is_signed ? -(int32_t)(1u << (k->precision - 1)) : 0;
    for (uint32_t y = 0; y < k->height; y++)
        for (uint32_t x = 0; x < k->width; x++) {
            double v = floor(content_value(s, c, x * k->dx, y * k->dy) * levels);
            v = v < 0 ? 0 : v > levels - 1 ? levels - 1 : v;
            p->samples[c][(size_t)y * k->width + x] = lowest + (int32_t)v;
        }
}

picture *picture_make(const shape *s)
{
    l2k_component components[PICTURE_MAX_COMPONENTS] = {0};
    l2k_image image = {.x0 = s->x0,
                       .y0 = s->y0,
                       .x1 = s->x0 + s->width,
                       .y1 = s->y0 + s->height,
                       .num_components = s->num_components,
                       .components = components};
    for (uint32_t c = 0; c < s->num_components; c++) {
        components[c].dx = s->sampling[c].width ? s->sampling[c].width : 1;
        components[c].dy = s->sampling[c].height ? s->sampling[c].height : 1;
        components[c].precision = s->mixed ? 1 + (s->precision - 1 + 5 * c) % s->precision : s->precision;
        components[c].is_signed = s->is_signed != (s->mixed && c % 2);
        l2k_component_size(&image, c, &components[c].width, &components[c].height);
    }
    picture *p = picture_empty(&image);
    for (uint32_t c = 0; c < s->num_components; c++)
        fill_component(p, s, c);
    return p;
}

/* ---- Random shapes ------------------------------------------------------------------------------------------- */

static bool has_empty_component(const shape *s)
{
    for (uint32_t c = 0; c < s->num_components; c++) {
        uint32_t dx = s->sampling[c].width, dy = s->sampling[c].height;
        if ((s->x0 + s->width + dx - 1) / dx == (s->x0 + dx - 1) / dx ||
            (s->y0 + s->height + dy - 1) / dy == (s->y0 + dy - 1) / dy)
            return true;
    }
    return false;
}

/* Small sides and common precisions are more frequent, as the special cases are there. */
shape random_shape(rng *r, uint32_t side, uint32_t max_components, uint32_t max_precision)
{
    static const uint8_t sampling[6][2] = {{1, 1}, {2, 2}, {2, 1}, {1, 2}, {3, 1}, {4, 2}};
    shape s = {.seed = rng_next(r)};
    s.width = rng_between(r, 1, rng_below(r, 4) ? side : 9);
    s.height = rng_between(r, 1, rng_below(r, 4) ? side : 9);
    if (rng_below(r, 2)) {
        s.x0 = rng_below(r, rng_below(r, 2) ? 8 : 200);
        s.y0 = rng_below(r, rng_below(r, 2) ? 8 : 200);
    }
    s.num_components = rng_between(r, 1, max_components);
    s.precision = rng_below(r, 2) && max_precision > 8 ? 8 : rng_between(r, 1, max_precision);
    s.is_signed = rng_below(r, 4) == 0;
    s.content = rng_below(r, 2) ? CONTENT_NATURAL : (content)rng_below(r, CONTENT_KINDS);
    bool subsampled = rng_below(r, 3) == 0;
    for (uint32_t c = 0; c < s.num_components; c++) {
        unsigned pick = subsampled ? rng_below(r, 6) : 0;
        s.sampling[c] = (l2k_size){sampling[pick][0], sampling[pick][1]};
    }
    if (has_empty_component(&s))
        for (uint32_t c = 0; c < s.num_components; c++)
            s.sampling[c] = (l2k_size){1, 1};
    return s;
}

/* ---- Measures ------------------------------------------------------------------------------------------------ */

double picture_raw_bytes(const picture *p)
{
    double bits = 0;
    for (uint32_t c = 0; c < p->image.num_components; c++)
        bits += (double)p->components[c].width * p->components[c].height * p->components[c].precision;
    return bits / 8;
}

static bool same_shape(const picture *left, const picture *right)
{
    if (left->image.num_components != right->image.num_components)
        return false;
    for (uint32_t c = 0; c < left->image.num_components; c++) {
        const l2k_component *a = &left->components[c], *b = &right->components[c];
        if (a->width != b->width || a->height != b->height || a->precision != b->precision ||
            a->is_signed != b->is_signed || a->dx != b->dx || a->dy != b->dy)
            return false;
    }
    return true;
}

difference picture_compare(const picture *left, const picture *right)
{
    difference worst = {0};
    if (!same_shape(left, right)) {
        worst.peak = -1;
        return worst;
    }
    for (uint32_t c = 0; c < left->image.num_components; c++) {
        uint32_t width = left->components[c].width;
        size_t count = (size_t)width * left->components[c].height;
        for (size_t i = 0; i < count; i++) {
            int64_t d = llabs((long long)left->samples[c][i] - right->samples[c][i]);
            if (d > worst.peak)
                worst = (difference){
                    d, c, (uint32_t)(i % width), (uint32_t)(i / width), left->samples[c][i], right->samples[c][i]};
        }
    }
    return worst;
}

void difference_print(const difference *d)
{
    if (d->peak < 0)
        printf("  the pictures differ in components, size, precision or sub-sampling\n");
    else
        printf("  greatest difference %lld: component %u, sample %u,%u: %d against %d\n", (long long)d->peak,
               d->component, d->x, d->y, d->left, d->right);
}

double picture_psnr(const picture *left, const picture *right)
{
    double sum = 0, count = 0, peak = ldexp(1, (int)left->components[0].precision) - 1;
    if (!same_shape(left, right))
        return -1;
    for (uint32_t c = 0; c < left->image.num_components; c++) {
        size_t samples = (size_t)left->components[c].width * left->components[c].height;
        for (size_t i = 0; i < samples; i++) {
            double d = (double)left->samples[c][i] - right->samples[c][i];
            sum += d * d;
        }
        count += (double)samples;
    }
    return sum > 0 ? 10 * log10(peak * peak * count / sum) : 999;
}

/* ---- PNM ----------------------------------------------------------------------------------------------------- */

static uint32_t pnm_number(FILE *f)
{
    int ch = fgetc(f);
    while (ch == ' ' || ch == '\n' || ch == '\t' || ch == '\r' || ch == '#') {
        while (ch == '#' && ch != EOF && (ch = fgetc(f)) != '\n' && ch != EOF)
            ch = '#';
        ch = fgetc(f);
    }
    uint32_t value = 0;
    for (; ch >= '0' && ch <= '9'; ch = fgetc(f))
        value = value * 10 + (uint32_t)(ch - '0');
    return value;
}

static void pnm_samples(FILE *f, picture *p, bool wide)
{
    size_t count = (size_t)p->components[0].width * p->components[0].height;
    for (size_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < p->image.num_components; c++) {
            int value = fgetc(f);
            p->samples[c][i] = wide ? value << 8 | fgetc(f) : value;
        }
}

picture *picture_read_pnm(const char *path)
{
    FILE *f = fopen(path, "rb");
    picture *p = NULL;
    int kind = f && fgetc(f) == 'P' ? fgetc(f) : 0;
    if (kind == '5' || kind == '6') {
        shape s = {.num_components = kind == '5' ? 1 : 3, .content = CONTENT_FLAT};
        s.width = pnm_number(f);
        s.height = pnm_number(f);
        uint32_t maximum = pnm_number(f);
        while (s.precision < 16 && maximum >> s.precision)
            s.precision++;
        if (s.width && s.height && s.precision) {
            p = picture_make(&s);
            pnm_samples(f, p, maximum > 255);
        }
    }
    if (f)
        fclose(f);
    return p;
}

/* ---- Files --------------------------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *end)
{
    size_t a = strlen(name), b = strlen(end);
    return a >= b && strcmp(name + a - b, end) == 0;
}

bool is_picture_name(const char *name)
{
    return ends_in(name, ".png") || ends_in(name, ".pgm") || ends_in(name, ".ppm");
}

static picture *read_png(const char *path)
{
    char *command = getenv("L2K_COMMAND"), scratch[256], name[512], coded[512], converted[512];
    scratch_make(scratch, sizeof scratch);
    snprintf(name, sizeof name, "%s", path);
    snprintf(coded, sizeof coded, "%s/picture.j2k", scratch);
    snprintf(converted, sizeof converted, "%s/picture.pnm", scratch);
    if (!command || !*command)
        command = "lift2k";
    char *encode[] = {command, "encode", name, coded, "--quiet", NULL};
    char *decode[] = {command, "decode", coded, converted, "--quiet", NULL};
    picture *p = run_program(encode, NULL) && run_program(decode, NULL) ? picture_read_pnm(converted) : NULL;
    scratch_remove(scratch);
    return p;
}

picture *picture_read(const char *path)
{
    return ends_in(path, ".png") ? read_png(path) : picture_read_pnm(path);
}
