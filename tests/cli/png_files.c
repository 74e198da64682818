/* Tests PNG files of every kind through the command and back: png_files LIFT2K. Samples, profile and density must
 * survive. */
#define _POSIX_C_SOURCE 200809L

#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROFILE_BYTES = 400, MOST_WIDTH = 40, MOST_ROW = MOST_WIDTH * 8, DENSITY = 2835 };

typedef struct base_kind {
    const char *name;
    int colour_type, depth;
    bool transparent; /* with tRNS */
} base_kind;

static const base_kind bases[] = {
    {"gray", PNG_COLOR_TYPE_GRAY, 1, false},
    {"gray", PNG_COLOR_TYPE_GRAY, 2, false},
    {"gray", PNG_COLOR_TYPE_GRAY, 4, false},
    {"gray", PNG_COLOR_TYPE_GRAY, 8, false},
    {"gray", PNG_COLOR_TYPE_GRAY, 16, false},
    {"gray+tRNS", PNG_COLOR_TYPE_GRAY, 1, true},
    {"gray+tRNS", PNG_COLOR_TYPE_GRAY, 2, true},
    {"gray+tRNS", PNG_COLOR_TYPE_GRAY, 4, true},
    {"gray+tRNS", PNG_COLOR_TYPE_GRAY, 8, true},
    {"gray+tRNS", PNG_COLOR_TYPE_GRAY, 16, true},
    {"gray+alpha", PNG_COLOR_TYPE_GRAY_ALPHA, 8, false},
    {"gray+alpha", PNG_COLOR_TYPE_GRAY_ALPHA, 16, false},
    {"RGB", PNG_COLOR_TYPE_RGB, 8, false},
    {"RGB", PNG_COLOR_TYPE_RGB, 16, false},
    {"RGB+tRNS", PNG_COLOR_TYPE_RGB, 8, true},
    {"RGB+tRNS", PNG_COLOR_TYPE_RGB, 16, true},
    {"RGBA", PNG_COLOR_TYPE_RGB_ALPHA, 8, false},
    {"RGBA", PNG_COLOR_TYPE_RGB_ALPHA, 16, false},
    {"palette", PNG_COLOR_TYPE_PALETTE, 1, false},
    {"palette", PNG_COLOR_TYPE_PALETTE, 2, false},
    {"palette", PNG_COLOR_TYPE_PALETTE, 4, false},
    {"palette", PNG_COLOR_TYPE_PALETTE, 8, false},
    {"palette+tRNS", PNG_COLOR_TYPE_PALETTE, 1, true},
    {"palette+tRNS", PNG_COLOR_TYPE_PALETTE, 2, true},
    {"palette+tRNS", PNG_COLOR_TYPE_PALETTE, 4, true},
    {"palette+tRNS", PNG_COLOR_TYPE_PALETTE, 8, true},
};

static const struct {
    uint32_t width, height;
} sizes[] = {{13, 7}, {1, 1}, {MOST_WIDTH, 33}};

typedef struct kind {
    const base_kind *base;
    uint32_t width, height;
    bool interlaced, tagged; /* tagged: with iCCP and pHYs */
} kind;

/* A decoded file with everything expanded. 16-bit samples remain in the order of the file. */
typedef struct picture {
    uint32_t width, height, channels, depth;
    size_t row_bytes;
    uint8_t *samples;
    uint8_t profile[PROFILE_BYTES];
    uint32_t profile_bytes, density_x, density_y;
    int density_unit;
    bool has_density;
} picture;

typedef struct paths {
    char folder[4000];
    char source[4096], coded[4096], decoded[4096];
} paths;

/* splitmix64, identical on all machines. */
static uint32_t random_byte(void)
{
    static uint64_t state = 1;
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ z >> 31) & 255);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static bool fail(const kind *k, const char *what)
{
    printf("FAIL %s %d bit, %ux%u%s%s: %s\n", k->base->name, k->base->depth, (unsigned)k->width, (unsigned)k->height,
           k->interlaced ? ", Adam7" : "", k->tagged ? ", iCCP and pHYs" : "", what);
    return false;
}

/* ---- Writing ---- */

/* What libpng accepts as a profile: a header and one tag whose data it does not inspect. The data is random, as a chunk
 * of less than 132 bytes after compression would be refused. */
static void make_profile(uint8_t profile[PROFILE_BYTES], bool gray)
{
    static const uint8_t illuminant[12] = {0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D};
    static const uint8_t tag[16] = {0, 0, 0, 1, 'c', 'p', 'r', 't', 0, 0, 0, 144, 0, 0, 1, 0};
    memset(profile, 0, PROFILE_BYTES);
    profile[2] = PROFILE_BYTES >> 8;
    profile[3] = PROFILE_BYTES & 255;
    profile[8] = 2;
    memcpy(profile + 12, gray ? "mntrGRAYXYZ " : "mntrRGB XYZ ", 12);
    memcpy(profile + 36, "acsp", 4);
    memcpy(profile + 68, illuminant, sizeof illuminant);
    memcpy(profile + 128, tag, sizeof tag);
    memcpy(profile + 144, "text", 4);
    for (size_t i = 152; i < PROFILE_BYTES; i++)
        profile[i] = (uint8_t)random_byte();
}

static uint32_t channels_of(int colour_type)
{
    if (colour_type == PNG_COLOR_TYPE_PALETTE)
        return 1;
    return (colour_type & PNG_COLOR_MASK_COLOR ? 3 : 1) + (colour_type & PNG_COLOR_MASK_ALPHA ? 1 : 0);
}

static size_t pixel_bytes(const base_kind *base)
{
    return channels_of(base->colour_type) * (base->depth == 16 ? 2u : 1u);
}

/* Random samples, a byte each below 8 bits. The first pixel will be the transparent one: the last is its copy, and the
 * one before that differs only in the lowest bit. */
static void make_samples(uint8_t *samples, const kind *k)
{
    size_t pixel = pixel_bytes(k->base), bytes = pixel * k->width * k->height;
    uint32_t mask = k->base->depth < 8 ? (1u << k->base->depth) - 1 : 255;
    for (size_t i = 0; i < bytes; i++)
        samples[i] = (uint8_t)(random_byte() & mask);
    if (bytes < 4 * pixel)
        return;
    memcpy(samples + bytes - pixel, samples, pixel);
    memcpy(samples + bytes - 2 * pixel, samples, pixel);
    samples[bytes - pixel - 1] ^= 1;
}

static void set_palette(png_structp png, png_infop info, const base_kind *base)
{
    png_color colours[256];
    png_byte opacity[256];
    int count = 1 << base->depth;
    for (int i = 0; i < count; i++) {
        colours[i].red = (png_byte)random_byte();
        colours[i].green = (png_byte)random_byte();
        colours[i].blue = (png_byte)random_byte();
        opacity[i] = (png_byte)random_byte();
    }
    png_set_PLTE(png, info, colours, count);
    if (base->transparent) /* the rest of the palette is opaque */
        png_set_tRNS(png, info, opacity, (count + 1) / 2, NULL);
}

static uint16_t sample_at(const uint8_t *samples, const base_kind *base, size_t index)
{
    if (base->depth == 16)
        return (uint16_t)(samples[2 * index] << 8 | samples[2 * index + 1]);
    return samples[index];
}

static void set_key(png_structp png, png_infop info, const base_kind *base, const uint8_t *samples)
{
    png_color_16 key = {0};
    key.gray = key.red = sample_at(samples, base, 0);
    if (base->colour_type == PNG_COLOR_TYPE_RGB) {
        key.green = sample_at(samples, base, 1);
        key.blue = sample_at(samples, base, 2);
    }
    png_set_tRNS(png, info, NULL, 0, &key);
}

/* Interlaced files have different horizontal and vertical densities, so that swapping them is noticed. */
static void set_tags(png_structp png, png_infop info, const kind *k)
{
    uint8_t profile[PROFILE_BYTES];
    make_profile(profile, !(k->base->colour_type & PNG_COLOR_MASK_COLOR));
    png_set_iCCP(png, info, "test", PNG_COMPRESSION_TYPE_BASE, profile, PROFILE_BYTES);
    png_set_pHYs(png, info, DENSITY, k->interlaced ? 2 * DENSITY : DENSITY, PNG_RESOLUTION_METER);
}

static void write_rows(png_structp png, const kind *k, const uint8_t *samples)
{
    size_t row_bytes = pixel_bytes(k->base) * k->width;
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < k->height; y++)
            png_write_row(png, samples + y * row_bytes);
    png_write_end(png, NULL);
}

static bool write_with(png_structp png, png_infop info, FILE *file, const kind *k, const uint8_t *samples)
{
    const base_kind *base = k->base;
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_init_io(png, file);
    png_set_IHDR(png, info, k->width, k->height, base->depth, base->colour_type,
                 k->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (base->colour_type == PNG_COLOR_TYPE_PALETTE)
        set_palette(png, info, base);
    else if (base->transparent)
        set_key(png, info, base, samples);
    if (k->tagged)
        set_tags(png, info, k);
    png_write_info(png, info);
    png_set_packing(png);
    write_rows(png, k, samples);
    return true;
}

static bool write_png(const char *path, const kind *k)
{
    uint8_t *samples = calloc(k->height, MOST_ROW);
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool done = samples && file && info;
    if (done) {
        make_samples(samples, k);
        done = write_with(png, info, file, k, samples);
    }
    png_destroy_write_struct(&png, &info);
    if (file && fclose(file))
        done = false;
    free(samples);
    return done;
}

/* ---- Reading ---- */

static void read_tags(png_structp png, png_infop info, picture *p)
{
    png_charp name;
    png_bytep profile;
    int method;
    if (png_get_iCCP(png, info, &name, &method, &profile, &p->profile_bytes))
        memcpy(p->profile, profile, p->profile_bytes < PROFILE_BYTES ? p->profile_bytes : PROFILE_BYTES);
    p->has_density = png_get_pHYs(png, info, &p->density_x, &p->density_y, &p->density_unit) != 0;
}

static void read_rows(png_structp png, picture *p, int passes)
{
    p->samples = calloc(p->height, p->row_bytes);
    if (!p->samples)
        png_error(png, "out of memory");
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < p->height; y++)
            png_read_row(png, p->samples + y * p->row_bytes, NULL);
    png_read_end(png, NULL);
}

static bool read_with(png_structp png, png_infop info, FILE *file, picture *p)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_init_io(png, file);
    png_read_info(png, info);
    read_tags(png, info, p);
    png_set_expand(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    p->width = png_get_image_width(png, info);
    p->height = png_get_image_height(png, info);
    p->channels = png_get_channels(png, info);
    p->depth = png_get_bit_depth(png, info);
    p->row_bytes = png_get_rowbytes(png, info);
    read_rows(png, p, passes);
    return true;
}

static bool read_png(const char *path, picture *p)
{
    FILE *file = fopen(path, "rb");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool done = file && info && read_with(png, info, file, p);
    png_destroy_read_struct(&png, &info, NULL);
    if (file)
        fclose(file);
    return done;
}

/* ---- Comparing ---- */

static bool same_density(const picture *a, const picture *b)
{
    if (a->has_density != b->has_density)
        return false;
    return !a->has_density ||
           (a->density_x == b->density_x && a->density_y == b->density_y && a->density_unit == b->density_unit);
}

static bool compare(const kind *k, const picture *a, const picture *b)
{
    if (k->tagged != a->has_density || a->profile_bytes != (k->tagged ? PROFILE_BYTES : 0u))
        return fail(k, "libpng did not keep the profile or the density of the source");
    if (a->width != b->width || a->height != b->height)
        return fail(k, "the size differs");
    if (a->channels != b->channels)
        return fail(k, "the number of channels differs");
    if (a->depth != b->depth || a->row_bytes != b->row_bytes)
        return fail(k, "the depth differs");
    bool same = true;
    if (memcmp(a->samples, b->samples, a->height * a->row_bytes))
        same = fail(k, "samples differ");
    if (a->profile_bytes != b->profile_bytes || memcmp(a->profile, b->profile, PROFILE_BYTES))
        same = fail(k, "the ICC profile differs");
    if (!same_density(a, b))
        same = fail(k, "the density differs");
    return same;
}

/* ---- The command ---- */

static bool command(const char *program, const char *verb, const char *from, const char *to, const char *option)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, verb, from, to, "--quiet", option, (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void remove_files(const paths *at)
{
    remove(at->source);
    remove(at->coded);
    remove(at->decoded);
}

/* `option` of encode, or NULL. */
static bool round_trip(const char *program, const paths *at, const kind *k, const char *option)
{
    picture source = {0}, decoded = {0};
    bool good;
    if (!write_png(at->source, k) || !read_png(at->source, &source))
        good = fail(k, "libpng cannot make the source");
    else if (!command(program, "encode", at->source, at->coded, option))
        good = fail(k, "encode failed");
    else if (!command(program, "decode", at->coded, at->decoded, NULL))
        good = fail(k, "decode failed");
    else if (!read_png(at->decoded, &decoded))
        good = fail(k, "libpng cannot read the result");
    else
        good = compare(k, &source, &decoded);
    free(source.samples);
    free(decoded.samples);
    remove_files(at);
    return good;
}

static bool make_paths(paths *at)
{
    const char *parent = getenv("TMPDIR");
    int length = snprintf(at->folder, sizeof at->folder, "%s/png_files.XXXXXX", parent && *parent ? parent : ".");
    if (length < 0 || (size_t)length >= sizeof at->folder || !mkdtemp(at->folder))
        return false;
    snprintf(at->source, sizeof at->source, "%s/x.png", at->folder);
    snprintf(at->coded, sizeof at->coded, "%s/x.jp2", at->folder);
    snprintf(at->decoded, sizeof at->decoded, "%s/y.png", at->folder);
    return true;
}

/* Every base kind in every size, sequential and interlaced, with and without tags. */
static kind kind_of(size_t index)
{
    size_t size = index / 4 % (sizeof sizes / sizeof *sizes);
    kind k = {bases + index / 4 / (sizeof sizes / sizeof *sizes), sizes[size].width, sizes[size].height,
              (index & 1) != 0, (index & 2) != 0};
    return k;
}

int main(int argc, char **argv)
{
    paths at;
    size_t kinds = 4 * (sizeof sizes / sizeof *sizes) * (sizeof bases / sizeof *bases), failures = 0;
    if (argc != 2 || !make_paths(&at)) {
        fprintf(stderr, argc != 2 ? "usage: png_files LIFT2K\n" : "png_files: no temporary directory\n");
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (size_t i = 0; i < kinds; i++) {
        kind k = kind_of(i);
        failures += !round_trip(argv[1], &at, &k, NULL);
        if (k.base->colour_type == PNG_COLOR_TYPE_PALETTE)
            failures += !round_trip(argv[1], &at, &k, "--palette");
    }
    rmdir(at.folder);
    printf("%zu kinds of PNG file, %zu failed\n", kinds, failures);
    return failures != 0;
}
