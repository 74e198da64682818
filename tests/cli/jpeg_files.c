/* JPEG files of every kind, made and decoded with libjpeg: the command reads the same samples, carries metadata on, and
 * refuses damage. Argument: the command. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 83, HEIGHT = 61 };

static const char *program;
static unsigned failures;

static void check(bool good, const char *what, const char *name)
{
    if (!good)
        printf("FAILED: %s: %s\n", name, what);
    failures += !good;
}

/* Whether the shell says 0; what the command says is in the file "log". */
static bool runs(const char *format, const char *name)
{
    char words[300], line[400];
    snprintf(words, sizeof words, format, name, name);
    snprintf(line, sizeof line, "'%s' %s >log 2>&1", program, words);
    return system(line) == 0;
}

static bool logged(const char *text)
{
    char found[4000] = "";
    FILE *log = fopen("log", "r");
    if (log) {
        found[fread(found, 1, sizeof found - 1, log)] = 0;
        fclose(log);
    }
    return strstr(found, text) != NULL;
}

typedef struct kind {
    const char *name, *tuple;
    J_COLOR_SPACE colours, coded;
    int components, quality, sampling;
    bool progressive, arithmetic, metadata, adobe;
} kind;

static void put_metadata(j_compress_ptr jpeg)
{
    static const uint8_t exif[] = "Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0", profile[200] = {0};
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'/>";
    static const uint8_t iptc[] = "Photoshop 3.0\0"
                                  "8BIM\x04\x01\0\0\0\0\0\1\7\0"
                                  "8BIM\x04\x04\3abc\0\0\0\5\x1c\2\5\0\0";
    jpeg_write_marker(jpeg, JPEG_APP0 + 1, exif, sizeof exif - 1);
    jpeg_write_marker(jpeg, JPEG_APP0 + 1, (const JOCTET *)xmp, sizeof xmp - 1);
    jpeg_write_marker(jpeg, JPEG_APP0 + 13, iptc, sizeof iptc - 1);
    jpeg_write_icc_profile(jpeg, profile, sizeof profile);
}

static void make(const kind *k, const char *name)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    uint8_t row[4 * WIDTH], *rows = row;
    FILE *file = fopen(name, "wb");
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = k->components;
    jpeg.in_color_space = k->colours;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, k->coded);
    jpeg_set_quality(&jpeg, k->quality, TRUE);
    jpeg.comp_info[0].h_samp_factor = k->sampling;
    jpeg.comp_info[0].v_samp_factor = k->sampling;
    jpeg.arith_code = k->arithmetic;
    jpeg.write_Adobe_marker = k->adobe;
    jpeg.density_unit = 1;
    jpeg.X_density = jpeg.Y_density = 300;
    if (k->progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    if (k->metadata)
        put_metadata(&jpeg);
    for (unsigned y = 0; y < HEIGHT; y++) {
        for (unsigned i = 0; i < WIDTH * (unsigned)k->components; i++)
            row[i] = (uint8_t)(i * 2 + y * 3 + (i * i + y * 7919) % 30);
        jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(file);
}

/* The samples as a PAM file; CMYK of Adobe's programs is the other way round. */
static void decode(const kind *k, const char *name, const char *to)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    uint8_t row[4 * WIDTH], *rows = row;
    FILE *file = fopen(name, "rb"), *out = fopen(to, "wb");
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = k->colours;
    jpeg_start_decompress(&jpeg);
    fprintf(out, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL 255\nTUPLTYPE %s\nENDHDR\n", WIDTH, HEIGHT, k->components,
            k->tuple);
    while (jpeg.output_scanline < jpeg.output_height) {
        jpeg_read_scanlines(&jpeg, &rows, 1);
        for (int i = 0; k->components == 4 && k->adobe && i < 4 * WIDTH; i++)
            row[i] = (uint8_t)~row[i];
        fwrite(row, 1, (size_t)(WIDTH * k->components), out);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    fclose(file);
    fclose(out);
}

static void test_kind(const kind *k)
{
    char name[60];
    snprintf(name, sizeof name, "%s.jpg", k->name);
    make(k, name);
    decode(k, name, "wanted.pam");
    check(runs("encode %s coded.jp2 --quiet --verify", name), "encoded", name);
    check(runs("compare wanted.pam coded.jp2 --quiet", name), "the samples", name);
    check(runs("encode %s tiled.jp2 -t 32,16 --quiet", name), "encoded by rows", name);
    check(runs("compare wanted.pam tiled.jp2 --quiet", name), "the samples by rows", name);
    check(runs("info coded.jp2", name) && logged("x 11811, y 11811") == (k->coded == JCS_YCbCr || k->components == 1),
          "the density, where there is a JFIF marker", name);
    check(!k->metadata || (logged("XMP") && logged("Exif") && logged("IPTC") && logged("ICC")), "metadata", name);
}

static void cut(const char *from, const char *to, long bytes)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    for (int c; bytes-- > 0 && (c = getc(in)) != EOF;)
        putc(c, out);
    fclose(in);
    fclose(out);
}

static void test_damage(void)
{
    cut("rgb.jpg", "cut.jpg", 2000);
    check(!runs("encode %s none.jp2", "cut.jpg") && logged("the file is truncated"), "refused", "cut.jpg");
    cut("rgb.jpg", "head.jpg", 30);
    check(!runs("encode %s none.jp2", "head.jpg") && logged("truncated"), "refused", "head.jpg");
    /* 60000 x 60000: its bytes cannot be in the file. */
    cut("gray.jpg", "large.jpg", 1 << 20);
    FILE *file = fopen("large.jpg", "r+b");
    int before = 0;
    for (int c; (c = getc(file)) != EOF && !(before == 0xFF && c == 0xC0); before = c)
        continue;
    fseek(file, 3, SEEK_CUR);
    fwrite("\xea\x60\xea\x60", 1, 4, file);
    fclose(file);
    check(!runs("encode %s none.jp2", "large.jpg") && logged("truncated"), "refused", "large.jpg");
    check(!runs("encode %s none.jp2 --max-memory 100K", "progressive.jpg") && logged("--max-memory"), "memory",
          "progressive.jpg");
}

int main(int count, char **words)
{
    static const kind kinds[] = {
        {"gray", "GRAYSCALE", JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 90, 1, false, false, true, false},
        {"rgb", "RGB", JCS_RGB, JCS_YCbCr, 3, 80, 2, false, false, true, false},
        {"full", "RGB", JCS_RGB, JCS_YCbCr, 3, 95, 1, false, false, false, false},
        {"coded-rgb", "RGB", JCS_RGB, JCS_RGB, 3, 80, 1, false, false, false, true},
        {"progressive", "RGB", JCS_RGB, JCS_YCbCr, 3, 80, 2, true, false, true, false},
        {"arithmetic", "RGB", JCS_RGB, JCS_YCbCr, 3, 80, 2, false, true, false, false},
        {"cmyk", "CMYK", JCS_CMYK, JCS_CMYK, 4, 80, 1, false, false, false, false},
        {"adobe", "CMYK", JCS_CMYK, JCS_YCCK, 4, 80, 1, false, false, true, true},
    };
    if (count != 2)
        return 2;
    program = words[1];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        test_kind(&kinds[i]);
    test_damage();
    printf("%u failures\n", failures);
    return failures > 0;
}
