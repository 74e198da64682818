/* Tests what only some TIFF files have: sub-sampled YCbCr, JPEG, pages, orientation, samples that are no integers.
 * Argument: the command. */
#define _XOPEN_SOURCE 700

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tiffio.h>
#include <unistd.h>

enum { WIDTH = 37, HEIGHT = 26, MOST = WIDTH * HEIGHT * 3 };

static const char *program;
static char said[4000]; /* the command's standard error */
static size_t failures;

static void check(bool good, const char *what)
{
    if (good)
        return;
    printf("FAIL %s\n", what);
    failures++;
}

static uint8_t random_byte(void)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (uint8_t)(state >> 24);
}

/* Returns the exit status, 255 where a signal ended it. */
static int command(const char *verb, const char *from, const char *to, const char *option, const char *value)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("log", "w", stderr))
            _exit(127);
        execl(program, program, verb, from, to, "-j1", option, value, (char *)NULL);
        _exit(127);
    }
    bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
    FILE *log = fopen("log", "r");
    said[log ? fread(said, 1, sizeof said - 1, log) : 0] = 0;
    if (log)
        fclose(log);
    return ended ? WEXITSTATUS(status) : 255;
}

static TIFF *create(const char *name, uint16_t photometric, uint16_t samples, uint16_t bits)
{
    TIFF *tiff = TIFFOpen(name, "w");
    if (!tiff)
        exit(1);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometric);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    return tiff;
}

static size_t read_bytes(const char *name, uint8_t *bytes, size_t room)
{
    FILE *file = fopen(name, "rb");
    size_t got = file ? fread(bytes, 1, room, file) : 0;
    if (file)
        fclose(file);
    return got;
}

/* ---- Sub-sampled YCbCr ---- */

/* Makes the units of a chunk whose first sample is x, y; the content beyond the picture is arbitrary. */
static size_t make_units(uint8_t *units, const uint8_t *planes[3], uint32_t h, uint32_t v, uint32_t x0, uint32_t y0,
                         uint32_t width, uint32_t height)
{
    uint8_t *to = units;
    const uint32_t across = (WIDTH + h - 1) / h, down = (HEIGHT + v - 1) / v;
    for (uint32_t y = y0; y < y0 + height; y += v)
        for (uint32_t x = x0; x < x0 + width; x += h) {
            for (uint32_t j = 0; j < v; j++)
                for (uint32_t i = 0; i < h; i++)
                    *to++ = x + i < WIDTH && y + j < HEIGHT ? planes[0][(y + j) * WIDTH + x + i] : 99;
            for (int c = 1; c < 3; c++)
                *to++ = x / h < across && y / v < down ? planes[c][y / v * across + x / h] : 99;
        }
    return (size_t)(to - units);
}

static void write_ycc(const char *name, const uint8_t *planes[3], uint32_t h, uint32_t v, bool tiled)
{
    static uint8_t units[1 << 14];
    TIFF *tiff = create(name, PHOTOMETRIC_YCBCR, 3, 8);
    uint32_t width = tiled ? 16 : (WIDTH + h - 1) / h * h, height = 16;
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, tiled ? COMPRESSION_NONE : COMPRESSION_LZW);
    TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, h, v);
    if (tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, width);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, height);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, height);
    }
    for (uint32_t y = 0; y < HEIGHT; y += height)
        for (uint32_t x = 0; x < WIDTH; x += width) {
            uint32_t rows = tiled || y + height <= HEIGHT ? height : (HEIGHT - y + v - 1) / v * v;
            tmsize_t bytes = (tmsize_t)make_units(units, planes, h, v, x, y, width, rows);
            if (tiled)
                TIFFWriteEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, 0), units, bytes);
            else
                TIFFWriteEncodedStrip(tiff, TIFFComputeStrip(tiff, y, 0), units, bytes);
        }
    TIFFClose(tiff);
}

/* The components must remain unchanged, by rows as well. */
static void try_ycc(uint32_t h, uint32_t v, bool tiled)
{
    static uint8_t samples[MOST], decoded[MOST + 1];
    const size_t chroma = (size_t)((WIDTH + h - 1) / h) * ((HEIGHT + v - 1) / v), luma = WIDTH * HEIGHT;
    const uint8_t *planes[3] = {samples, samples + luma, samples + luma + chroma};
    char what[80];
    for (size_t i = 0; i < luma + 2 * chroma; i++)
        samples[i] = random_byte();
    write_ycc("x.tif", planes, h, v, tiled);
    for (int by_rows = 0; by_rows < 2; by_rows++) {
        snprintf(what, sizeof what, "YCbCr %u x %u%s%s", (unsigned)h, (unsigned)v, tiled ? ", tiles" : "",
                 by_rows ? ", by rows" : "");
        check(command("encode", "x.tif", "x.jp2", by_rows ? "-t" : NULL, "16,7") == 0 &&
                  command("decode", "x.jp2", "x.raw", NULL, NULL) == 0,
              what);
        check(read_bytes("x.raw", decoded, sizeof decoded) == luma + 2 * chroma, what);
        check(memcmp(decoded, samples, luma + 2 * chroma) == 0, what);
    }
}

/* ---- JPEG ---- */

/* libtiff's own conversion to RGB is expected. */
static void try_jpeg(void)
{
    static uint8_t row[WIDTH * 3], wanted[MOST], decoded[MOST + 1];
    if (!TIFFIsCODECConfigured(COMPRESSION_JPEG))
        return;
    for (int pass = 0; pass < 2; pass++) {
        TIFF *tiff = pass ? TIFFOpen("x.tif", "r") : create("x.tif", PHOTOMETRIC_YCBCR, 3, 8);
        if (!pass) {
            TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_JPEG);
            TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 16);
        }
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        for (uint32_t y = 0; y < HEIGHT; y++) {
            for (uint32_t i = 0; !pass && i < sizeof row; i++)
                row[i] = (uint8_t)(i * 2 + y * 3);
            if (pass)
                TIFFReadScanline(tiff, wanted + y * sizeof row, y, 0);
            else
                TIFFWriteScanline(tiff, row, y, 0);
        }
        TIFFClose(tiff);
    }
    check(command("encode", "x.tif", "x.jp2", "-t", "16,7") == 0, "JPEG");
    check(command("decode", "x.jp2", "x.raw", "--raw", "interleaved") == 0, "JPEG");
    check(read_bytes("x.raw", decoded, sizeof decoded) == MOST && !memcmp(decoded, wanted, MOST), "JPEG: samples");
}

/* ---- Warnings and errors ---- */

static void write_gray(TIFF *tiff)
{
    static const uint8_t row[WIDTH * 8];
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, HEIGHT);
    for (uint32_t y = 0; y < HEIGHT; y++)
        TIFFWriteScanline(tiff, (void *)(uintptr_t)row, y, 0);
}

static void refused(const char *wanted)
{
    remove("x.jp2");
    check(command("encode", "x.tif", "x.jp2", NULL, NULL) == 1, wanted);
    check(strncmp(said, "lift2k: x.tif: ", 15) == 0 && strstr(said, wanted), wanted);
    check(strchr(said, '\n') == said + strlen(said) - 1, "one line");
    check(access("x.jp2", F_OK) != 0, "no output");
}

static void try_refusals(void)
{
    static const struct {
        uint16_t photometric, samples, bits, format;
        const char *wanted;
    } cases[] = {{PHOTOMETRIC_MINISBLACK, 1, 32, SAMPLEFORMAT_IEEEFP, "32-bit floating-point"},
                 {PHOTOMETRIC_MINISBLACK, 1, 32, SAMPLEFORMAT_UINT, "precision of 32"},
                 {PHOTOMETRIC_MINISBLACK, 1, 64, SAMPLEFORMAT_UINT, "64 bits"},
                 {PHOTOMETRIC_MINISBLACK, 1, 64, SAMPLEFORMAT_COMPLEXIEEEFP, "complex"},
                 {PHOTOMETRIC_CIELAB, 3, 8, SAMPLEFORMAT_UINT, "CIELab"},
                 {PHOTOMETRIC_CFA, 1, 8, SAMPLEFORMAT_UINT, "colour filter"},
                 {PHOTOMETRIC_SEPARATED, 1, 8, SAMPLEFORMAT_UINT, "number of inks is 0"},
                 {PHOTOMETRIC_RGB, 2, 8, SAMPLEFORMAT_UINT, "2 samples per pixel"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TIFF *tiff = create("x.tif", cases[i].photometric, cases[i].samples, cases[i].bits);
        TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, cases[i].format);
        if (cases[i].photometric == PHOTOMETRIC_SEPARATED)
            TIFFSetField(tiff, TIFFTAG_NUMBEROFINKS, 0);
        write_gray(tiff);
        TIFFClose(tiff);
        refused(cases[i].wanted);
    }
}

static void try_warnings(void)
{
    TIFF *tiff = create("x.tif", PHOTOMETRIC_MINISBLACK, 1, 8);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_BOTLEFT);
    write_gray(tiff);
    TIFFWriteDirectory(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    write_gray(tiff);
    TIFFClose(tiff);
    check(command("encode", "x.tif", "x.jp2", NULL, NULL) == 0, "two pages");
    check(strstr(said, "more than one page") != NULL, "two pages: a warning");
    check(strstr(said, "orientation tag, 4, is ignored") != NULL, "orientation: a warning");
    check(command("encode", "x.tif", "x.jp2", "--quiet", NULL) == 0 && !said[0], "--quiet: no warning");
}

/* Of a page, an overview, a mask and a page, which differ in width, two are pages. */
static void try_overviews(void)
{
    static const uint32_t kinds[] = {0, FILETYPE_REDUCEDIMAGE, FILETYPE_MASK, 0};
    TIFF *tiff = create("x.tif", PHOTOMETRIC_MINISBLACK, 1, 8);
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t row[WIDTH] = {0};
        TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kinds[i]);
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH - i);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        TIFFWriteScanline(tiff, row, 0, 0);
        TIFFWriteDirectory(tiff);
        if (i == 2)
            TIFFFlush(tiff);
    }
    TIFFClose(tiff);
    check(command("encode", "x.tif", "x.jp2", NULL, NULL) == 0 && strstr(said, "more than one page"), "the first page");
    check(command("encode", "x.tif", "x.jp2", "--page", "1") == 0 && strstr(said, "37x1x1") && !strstr(said, "warning"),
          "page 1");
    check(command("encode", "x.tif", "x.jp2", "--page", "2") == 0 && strstr(said, "34x1x1"), "page 2");
    check(command("encode", "x.tif", "y.jp2", "--page", "3") == 1 && strstr(said, "there is no page 3"), "page 3");
    check(command("encode", "x.tif", "page.jp2", "--page", "all") == 0, "all pages");
    uint8_t alone[2000], second[2000];
    const size_t bytes = read_bytes("x.jp2", alone, sizeof alone);
    check(bytes == read_bytes("page_2.jp2", second, sizeof second) && memcmp(alone, second, bytes) == 0 &&
              access("page_1.jp2", F_OK) == 0 && access("page_3.jp2", F_OK) != 0,
          "all pages: two files");
}

/* Writes `count` black tiles, or one that is cut off. */
static void write_tiles(uint32_t width, uint32_t height, uint32_t tile_width, uint32_t tile_height, uint32_t count)
{
    TIFF *tiff = create("x.tif", PHOTOMETRIC_MINISBLACK, 1, 8);
    uint8_t *samples = calloc(count ? tile_width : 1, tile_height);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, tile_width);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, tile_height);
    for (uint32_t i = 0; i < count; i++)
        TIFFWriteEncodedTile(tiff, i, samples, (tmsize_t)tile_width * tile_height);
    if (!count)
        TIFFWriteRawTile(tiff, 0, samples, 1);
    TIFFClose(tiff);
    free(samples);
}

/* A size impossible for the file's strips, tiles too large for any memory, and tiles almost entirely outside the
 * picture: the first 2^26 samples of them are allowed. */
static void try_sizes(void)
{
    TIFF *tiff = create("x.tif", PHOTOMETRIC_MINISBLACK, 1, 8);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 400000000);
    write_gray(tiff);
    TIFFClose(tiff);
    refused("truncated");
    write_tiles(WIDTH, HEIGHT, 1 << 16, 1 << 16, 0);
    refused("2^30 is the most");
    write_tiles(1, 32, 1 << 22, 16, 0);
    refused("tiles of 4194304 x 16 are too large for 1 x 32 samples");
    write_tiles(1, 32, 1 << 21, 16, 2);
    check(command("encode", "x.tif", "x.jp2", NULL, NULL) == 0, "tiles of 2^26 samples");
}

/* ---- Rows that are decompressed together ---- */

/* 64 x 4096 samples of each colour, in planes of one strip or in tiles. */
static void write_tall(uint32_t tile_height)
{
    static uint8_t samples[64 * 1024 * 3];
    TIFF *tiff = create("x.tif", PHOTOMETRIC_RGB, 3, 8);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 64);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 4096);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
    if (tile_height) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 64);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, tile_height);
    } else {
        TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_SEPARATE);
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 4096);
    }
    for (uint32_t i = 0; tile_height && i < 4096 / tile_height; i++)
        TIFFWriteEncodedTile(tiff, i, samples, (tmsize_t)(64 * tile_height * 3));
    for (uint32_t y = 0; !tile_height && y < 3 * 4096; y++)
        TIFFWriteScanline(tiff, samples, y % 4096, (uint16_t)(y / 4096));
    TIFFClose(tiff);
}

/* A memory limit shows that the picture is read by rows, but not where each row would be decompressed too many
 * times. */
static void try_together(void)
{
    static const char little[] = "--max-memory=780K", all[] = "the samples take 786",
                      and_tile[] = "the samples take 983";
    write_tall(1024);
    check(command("encode", "x.tif", "x.jp2", "-t64,64", little) == 0, "tiles 16 times as high: by rows");
    check(command("encode", "x.tif", "x.jp2", "-t64,63", little) == 1 && strstr(said, and_tile),
          "higher tiles: at once");
    write_tall(0);
    check(command("encode", "x.tif", "x.jp2", "-t64,256", little) == 0, "strips 16 times as high: by rows");
    check(command("encode", "x.tif", "x.jp2", "-t64,255", little) == 1 && strstr(said, all), "higher strips: at once");
}

/* A tile and the samples made from it count together, for whole pictures and by rows. */
static void try_memory(void)
{
    write_tall(1024); /* 196.6 kB a tile, 786.4 kB of samples */
    check(command("encode", "x.tif", "x.jp2", "-t64,4096", "--max-memory=980K") == 1 &&
              strstr(said, "the samples take 983.0 kB"),
          "memory of a tile, at once");
    check(command("encode", "x.tif", "x.jp2", "-t64,3072", "--max-memory=780K") == 1 &&
              strstr(said, "the samples take 786.4 kB"),
          "memory of a tile, by rows");
}

static void remove_files(void)
{
    static const char *const names[] = {"x.tif", "x.jp2", "x.raw", "log"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(names[i]);
}

int main(int argc, char **argv)
{
    const char *parent = getenv("TMPDIR");
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/tiff_special.XXXXXX", parent && *parent ? parent : "/tmp");
    if (argc != 2 || !(program = realpath(argv[1], NULL)) || !mkdtemp(folder) || chdir(folder) != 0) {
        fprintf(stderr, argc != 2 ? "usage: tiff_special LIFT2K\n" : "tiff_special: no temporary directory\n");
        return 1;
    }
    TIFFSetWarningHandler(NULL);
    for (uint32_t h = 1; h <= 4; h *= 2)
        for (uint32_t v = 1; v <= 4; v *= 2) {
            try_ycc(h, v, false);
            try_ycc(h, v, true);
        }
    try_jpeg();
    try_refusals();
    try_warnings();
    try_overviews();
    try_sizes();
    try_together();
    try_memory();
    remove_files();
    if (chdir("/") == 0)
        rmdir(folder);
    printf("%zu failed\n", failures);
    return failures != 0;
}
