/* Tests lift2k decode --rgb8: pictures of one colour in every colour space, through the command. Argument: the
 * command. */
#include "api_support.h"

#include <unistd.h>

#ifdef L2K_WITH_LCMS2
#include <lcms2.h>
#endif

enum { SIDE = 6 };

static const char *command;
static char folder[64], jp2[96], ppm[96];

/* A picture of one colour; 4:2:0 where `sub_sampled`. */
static void make_picture(picture *p, l2k_colour colour, uint32_t count, uint32_t precision, const int32_t *samples,
                         bool sub_sampled)
{
    picture_shape(p, SIDE, SIDE, count);
    p->image.colour = colour;
    for (uint32_t c = 0; c < count; c++) {
        p->components[c].precision = precision;
        if (sub_sampled && c > 0)
            p->components[c].dx = p->components[c].dy = 2;
        picture_fill(p, c);
        for (uint32_t i = 0; i < p->width[c] * p->height[c]; i++)
            p->samples[c][i] = samples[c];
    }
}

static void write_jp2(const picture *p)
{
    memory_file file = memory_of(NULL, 0);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(run_encoder(encoder, p, &file), L2K_OK);
    l2k_encoder_free(encoder);
    FILE *out = fopen(jp2, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file.data, 1, file.size, out), file.size);
    assert_int_equal(fclose(out), 0);
    free(file.data);
}

/* Returns the exit status, and the first pixel of a PPM that must have the right size and one colour. */
static int decode(uint8_t rgb[3])
{
    char line[400];
    uint8_t pixels[SIDE * SIDE][3];
    unlink(ppm);
    snprintf(line, sizeof line, "'%s' decode %s %s --rgb8 --quiet 2>%s/log", command, jp2, ppm, folder);
    int status = system(line);
    FILE *in = fopen(ppm, "rb");
    if (!in)
        return status ? status : -1;
    assert_int_equal(fscanf(in, "P6 6 6 255%c", line), 1);
    assert_int_equal(fread(pixels, 1, sizeof pixels, in), sizeof pixels);
    fclose(in);
    for (size_t i = 1; i < SIDE * SIDE; i++)
        assert_memory_equal(pixels[i], pixels[0], 3);
    memcpy(rgb, pixels[0], 3);
    return status;
}

static void expect(const picture *p, const char *what, const int wanted[3], int tolerance)
{
    uint8_t rgb[3];
    write_jp2(p);
    assert_int_equal(decode(rgb), 0);
    for (int i = 0; i < 3; i++)
        if (abs(rgb[i] - wanted[i]) > tolerance)
            fail_msg("%s: %u %u %u instead of %d %d %d", what, rgb[0], rgb[1], rgb[2], wanted[0], wanted[1], wanted[2]);
}

#define DEFAULT                                                                                                        \
    {                                                                                                                  \
        {0, 0, 0}, {0, 0, 0}, 0                                                                                        \
    }

/* The CIELab values of the sRGB primaries under D50 and D65, as found in the literature. */
static const struct {
    const char *name;
    l2k_colour colour;
    uint32_t count, precision;
    int32_t samples[4];
    bool sub_sampled;
    l2k_lab lab;
    int rgb[3], tolerance;
} cases[] = {
    {"sRGB", L2K_COLOUR_SRGB, 3, 8, {1, 128, 254}, false, DEFAULT, {1, 128, 254}, 0},
    {"sRGB 5 bits", L2K_COLOUR_SRGB, 3, 5, {0, 16, 31}, false, DEFAULT, {0, 132, 255}, 0},
    {"sRGB 12 bits", L2K_COLOUR_SRGB, 3, 12, {0, 2055, 4095}, false, DEFAULT, {0, 128, 255}, 0},
    {"sRGB 20 bits", L2K_COLOUR_SRGB, 3, 20, {0, 526343, 1048575}, false, DEFAULT, {0, 128, 255}, 0},
    {"gray", L2K_COLOUR_GRAY, 1, 8, {77}, false, DEFAULT, {77, 77, 77}, 0},
    {"gray 1 bit", L2K_COLOUR_GRAY, 1, 1, {1}, false, DEFAULT, {255, 255, 255}, 0},
    {"sYCC", L2K_COLOUR_SYCC, 3, 8, {100, 150, 80}, false, DEFAULT, {33, 127, 139}, 0},
    {"sYCC neutral", L2K_COLOUR_SYCC, 3, 8, {77, 128, 128}, false, DEFAULT, {77, 77, 77}, 0},
    {"sYCC 4:2:0", L2K_COLOUR_SYCC, 3, 8, {100, 150, 80}, true, DEFAULT, {33, 127, 139}, 0},
    {"sYCC 10 bits", L2K_COLOUR_SYCC, 3, 10, {401, 600, 320}, false, DEFAULT, {33, 127, 139}, 1},
    {"e-sYCC", L2K_COLOUR_ESYCC, 3, 8, {100, 150, 80}, false, DEFAULT, {33, 127, 139}, 0},
    {"e-sYCC beyond sRGB", L2K_COLOUR_ESYCC, 3, 8, {200, 128, 255}, false, DEFAULT, {255, 109, 200}, 0},
    {"CMYK", L2K_COLOUR_CMYK, 4, 8, {0, 51, 255, 51}, false, DEFAULT, {204, 163, 0}, 0},
#ifdef L2K_WITH_LCMS2
    {"CIELab white", L2K_COLOUR_CIELAB, 3, 16, {65535, 32768, 24576}, false, DEFAULT, {255, 255, 255}, 1},
    {"CIELab red", L2K_COLOUR_CIELAB, 3, 16, {35580, 63921, 47476}, false, DEFAULT, {255, 0, 0}, 1},
    {"CIELab green", L2K_COLOUR_CIELAB, 3, 16, {57552, 2202, 51115}, false, DEFAULT, {0, 255, 0}, 1},
    {"CIELab blue, D65, own ranges",
     L2K_COLOUR_CIELAB,
     3,
     16,
     {21166, 53040, 5156},
     false,
     {{100, 256, 256}, {0, 32768, 32768}, 0x00443635},
     {0, 0, 255},
     2},
#endif
};

static void test_colours(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture p;
        make_picture(&p, cases[i].colour, cases[i].count, cases[i].precision, cases[i].samples, cases[i].sub_sampled);
        p.image.lab = cases[i].lab;
        expect(&p, cases[i].name, cases[i].rgb, cases[i].tolerance);
        picture_free(&p);
    }
}

/* Channel definitions may put opacity before the colours: the colours are shown. */
static void test_opacity_first(void **unused)
{
    (void)unused;
    picture p;
    make_picture(&p, L2K_COLOUR_SRGB, 4, 8, (int32_t[]){9, 10, 20, 30}, false);
    p.components[0].channel = L2K_CHANNEL_OPACITY;
    p.components[0].association = 0;
    expect(&p, "opacity first", (int[]){10, 20, 30}, 0);
    picture_free(&p);
}

#ifdef L2K_WITH_LCMS2

/* sRGB with its red and green primaries exchanged. */
static size_t swapped_profile(uint8_t *bytes, size_t room)
{
    const cmsCIExyY white = {0.3127, 0.3290, 1};
    const cmsCIExyYTRIPLE primaries = {{0.30, 0.60, 1}, {0.64, 0.33, 1}, {0.15, 0.06, 1}};
    cmsFloat64Number parameters[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *curve = cmsBuildParametricToneCurve(NULL, 4, parameters);
    cmsHPROFILE profile = cmsCreateRGBProfile(&white, &primaries, (cmsToneCurve *[]){curve, curve, curve});
    cmsUInt32Number size = (cmsUInt32Number)room;
    assert_true(cmsSaveProfileToMem(profile, bytes, &size));
    cmsCloseProfile(profile);
    cmsFreeToneCurve(curve);
    return size;
}

static void test_profile(void **unused)
{
    (void)unused;
    static uint8_t profile[1 << 16];
    for (uint32_t precision = 8; precision <= 16; precision += 4) {
        picture p;
        int32_t most = (1 << precision) - 1;
        make_picture(&p, L2K_COLOUR_ICC, 3, precision, (int32_t[]){most, 0, most / 3}, false);
        p.image.icc = profile;
        p.image.icc_bytes = swapped_profile(profile, sizeof profile);
        expect(&p, "ICC profile", (int[]){0, 255, 85}, 2);
        picture_free(&p);
    }
}

/* A profile that is invalid, or has fewer colours than the picture: the colours are shown without it. */
static void test_useless_profile(void **unused)
{
    (void)unused;
    static const uint8_t profile[128] = {1, 2, 3};
    picture p;
    make_picture(&p, L2K_COLOUR_ICC, 3, 8, (int32_t[]){1, 2, 3}, false);
    p.image.icc = profile;
    p.image.icc_bytes = sizeof profile;
    expect(&p, "useless profile", (int[]){1, 2, 3}, 0);
    picture_free(&p);
}

#else

/* Refused, naming what is missing, and nothing is written. */
static void test_profile(void **unused)
{
    (void)unused;
    static const uint8_t profile[128] = {1};
    char line[300], text[300] = "";
    uint8_t rgb[3];
    picture p;
    make_picture(&p, L2K_COLOUR_ICC, 3, 8, (int32_t[]){1, 2, 3}, false);
    p.image.icc = profile;
    p.image.icc_bytes = sizeof profile;
    write_jp2(&p);
    assert_int_not_equal(decode(rgb), 0);
    assert_int_not_equal(access(ppm, F_OK), 0);
    snprintf(line, sizeof line, "%s/log", folder);
    FILE *log = fopen(line, "r");
    assert_non_null(log);
    assert_non_null(fgets(text, sizeof text, log));
    assert_non_null(strstr(text, "no Little CMS"));
    fclose(log);
    picture_free(&p);
}

#endif

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_opacity_first),
        cmocka_unit_test(test_profile),
#ifdef L2K_WITH_LCMS2
        cmocka_unit_test(test_useless_profile),
#endif
    };
    if (count != 2)
        return 2;
    command = arguments[1];
    strcpy(folder, "/tmp/lift2k-rgb8-XXXXXX");
    if (!mkdtemp(folder))
        return 2;
    snprintf(jp2, sizeof jp2, "%s/x.jp2", folder);
    snprintf(ppm, sizeof ppm, "%s/x.ppm", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char line[200];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line) == 0 ? failed : 2;
}
