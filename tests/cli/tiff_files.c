/* Tests TIFF files of every kind, made with libtiff, through the command and back: tiff_files LIFT2K. Samples, their
 * meaning, profile and resolution must survive; damaged files must give one line and no output. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tiffio.h>
#include <unistd.h>

enum { WIDTH = 45, HEIGHT = 37, TILE = 16, MOST_SAMPLES = 5, PROFILE_BYTES = 400, DPI = 300 };

typedef struct base_kind {
    const char *name;
    uint16_t photometric, samples, bits, extra_types[2];
    uint16_t extras;
    bool is_signed;
    bool wide_palette; /* entries need 16 bits */
} base_kind;

static const base_kind bases[] = {
    {.name = "gray", .photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .bits = 1},
    {.name = "gray", .photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .bits = 2},
    {.name = "gray", .photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .bits = 4},
    {.name = "gray", .photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .bits = 8},
    {.name = "gray", .photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .bits = 12},
    {.name = "gray", .photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .bits = 16},
    {.name = "signed gray", .photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .bits = 8, .is_signed = true},
    {.name = "signed gray", .photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .bits = 12, .is_signed = true},
    {.name = "signed gray", .photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .bits = 16, .is_signed = true},
    {.name = "white is 0", .photometric = PHOTOMETRIC_MINISWHITE, .samples = 1, .bits = 1},
    {.name = "white is 0", .photometric = PHOTOMETRIC_MINISWHITE, .samples = 1, .bits = 8},
    {.name = "white is 0", .photometric = PHOTOMETRIC_MINISWHITE, .samples = 1, .bits = 16},
    {.name = "gray + opacity",
     .photometric = PHOTOMETRIC_MINISBLACK,
     .samples = 2,
     .bits = 8,
     .extras = 1,
     .extra_types = {EXTRASAMPLE_UNASSALPHA}},
    {.name = "white is 0 + opacity",
     .photometric = PHOTOMETRIC_MINISWHITE,
     .samples = 2,
     .bits = 8,
     .extras = 1,
     .extra_types = {EXTRASAMPLE_UNASSALPHA}},
    {.name = "white is 0 + opacity",
     .photometric = PHOTOMETRIC_MINISWHITE,
     .samples = 2,
     .bits = 4,
     .extras = 1,
     .extra_types = {EXTRASAMPLE_UNASSALPHA}},
    {.name = "RGB", .photometric = PHOTOMETRIC_RGB, .samples = 3, .bits = 4},
    {.name = "RGB", .photometric = PHOTOMETRIC_RGB, .samples = 3, .bits = 8},
    {.name = "RGB", .photometric = PHOTOMETRIC_RGB, .samples = 3, .bits = 12},
    {.name = "RGB", .photometric = PHOTOMETRIC_RGB, .samples = 3, .bits = 16},
    {.name = "signed RGB", .photometric = PHOTOMETRIC_RGB, .samples = 3, .bits = 16, .is_signed = true},
    {.name = "RGB + opacity",
     .photometric = PHOTOMETRIC_RGB,
     .samples = 4,
     .bits = 8,
     .extras = 1,
     .extra_types = {EXTRASAMPLE_UNASSALPHA}},
    {.name = "RGB + premultiplied opacity",
     .photometric = PHOTOMETRIC_RGB,
     .samples = 4,
     .bits = 16,
     .extras = 1,
     .extra_types = {EXTRASAMPLE_ASSOCALPHA}},
    {.name = "RGB + unspecified + opacity",
     .photometric = PHOTOMETRIC_RGB,
     .samples = 5,
     .bits = 8,
     .extras = 2,
     .extra_types = {EXTRASAMPLE_UNSPECIFIED, EXTRASAMPLE_UNASSALPHA}},
    {.name = "RGB + opacity + another called opacity",
     .photometric = PHOTOMETRIC_RGB,
     .samples = 5,
     .bits = 8,
     .extras = 2,
     .extra_types = {EXTRASAMPLE_UNASSALPHA, EXTRASAMPLE_ASSOCALPHA}},
    {.name = "CMYK", .photometric = PHOTOMETRIC_SEPARATED, .samples = 4, .bits = 8},
    {.name = "CMYK + opacity",
     .photometric = PHOTOMETRIC_SEPARATED,
     .samples = 5,
     .bits = 16,
     .extras = 1,
     .extra_types = {EXTRASAMPLE_UNASSALPHA}},
    {.name = "palette", .photometric = PHOTOMETRIC_PALETTE, .samples = 1, .bits = 1},
    {.name = "palette", .photometric = PHOTOMETRIC_PALETTE, .samples = 1, .bits = 4},
    {.name = "palette", .photometric = PHOTOMETRIC_PALETTE, .samples = 1, .bits = 8},
    {.name = "palette of 16 bits", .photometric = PHOTOMETRIC_PALETTE, .samples = 1, .bits = 8, .wide_palette = true},
};

/* How the samples are stored in the file. */
typedef struct storage {
    const char *name, *mode; /* of TIFFOpen */
    uint16_t compression, planar;
    bool tiled, tagged; /* tagged: with ICC profile and resolution */
    uint32_t rows_per_strip;
} storage;

static const storage storages[] = {
    {"one strip", "w", COMPRESSION_NONE, PLANARCONFIG_CONTIG, false, true, HEIGHT},
    {"big-endian strips", "wb", COMPRESSION_LZW, PLANARCONFIG_CONTIG, false, false, 5},
    {"planes", "w", COMPRESSION_PACKBITS, PLANARCONFIG_SEPARATE, false, false, 8},
    {"tiles", "w", COMPRESSION_NONE, PLANARCONFIG_CONTIG, true, false, 0},
    {"BigTIFF tiles in planes", "w8b", COMPRESSION_ADOBE_DEFLATE, PLANARCONFIG_SEPARATE, true, true, 0},
};

/* The samples expected back, and what the file says of them. */
typedef struct picture {
    uint32_t width, height;
    uint16_t samples, bits, photometric, extras, extra_types[4];
    bool is_signed;
    uint16_t values[HEIGHT][WIDTH][MOST_SAMPLES]; /* for signed samples, their bits */
    uint8_t profile[PROFILE_BYTES];
    uint32_t profile_bytes;
    float resolution;
    uint16_t unit;
} picture;

typedef struct paths {
    char folder[4000], source[4096], coded[4096], decoded[4096], log[4096];
} paths;

/* splitmix64, identical on all machines. */
static uint32_t random_bits(uint32_t bits)
{
    static uint64_t state = 1;
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ z >> 31) & ((1u << bits) - 1));
}

static bool fail(const base_kind *base, const storage *how, const char *what)
{
    printf("FAIL %s %u bit, %s: %s\n", base->name, base->bits, how->name, what);
    return false;
}

/* ---- Rows as bytes ---- */

static void put_bits(uint8_t *row, size_t index, uint32_t bits, uint32_t value)
{
    if (bits == 16) {
        ((uint16_t *)(void *)row)[index] = (uint16_t)value;
        return;
    }
    for (uint32_t i = 0; i < bits; i++) {
        size_t at = index * bits + i;
        uint8_t mask = (uint8_t)(0x80 >> at % 8);
        row[at / 8] = (uint8_t)(value >> (bits - 1 - i) & 1 ? row[at / 8] | mask : row[at / 8] & ~mask);
    }
}

static uint16_t get_bits(const uint8_t *row, size_t index, uint32_t bits)
{
    uint32_t value = 0;
    if (bits == 16)
        return ((const uint16_t *)(const void *)row)[index];
    for (size_t at = index * bits; at < (index + 1) * bits; at++)
        value = value << 1 | (row[at / 8] >> (7 - at % 8) & 1u);
    return (uint16_t)value;
}

/* ---- Writing ---- */

/* Writes the samples of the file, which differ from those that come back for a palette and where 0 is white. */
static void write_samples(TIFF *tiff, const base_kind *base, const storage *how,
                          uint16_t values[HEIGHT][WIDTH][MOST_SAMPLES])
{
    uint8_t chunk[TILE * TILE * MOST_SAMPLES * 2 + WIDTH * MOST_SAMPLES * 2];
    const bool separate = how->planar == PLANARCONFIG_SEPARATE && base->samples > 1;
    const uint32_t planes = separate ? base->samples : 1, in_row = separate ? 1 : base->samples;
    for (uint32_t plane = 0; plane < planes; plane++)
        for (uint32_t y0 = 0; y0 < HEIGHT; y0 += how->tiled ? TILE : 1)
            for (uint32_t x0 = 0; x0 < WIDTH; x0 += how->tiled ? TILE : WIDTH) {
                uint32_t width = how->tiled ? TILE : WIDTH, height = how->tiled ? TILE : 1;
                size_t row_bytes = (width * in_row * base->bits + 7) / 8;
                memset(chunk, 0, sizeof chunk);
                for (uint32_t y = y0; y < y0 + height && y < HEIGHT; y++)
                    for (uint32_t x = x0; x < x0 + width && x < WIDTH; x++)
                        for (uint32_t s = 0; s < in_row; s++)
                            put_bits(chunk + (y - y0) * row_bytes, (x - x0) * in_row + s, base->bits,
                                     values[y][x][separate ? plane : s]);
                if (how->tiled)
                    TIFFWriteTile(tiff, chunk, x0, y0, 0, (uint16_t)plane);
                else
                    TIFFWriteScanline(tiff, chunk, y0, (uint16_t)plane);
            }
}

/* Only what a reader inspects: length, colour space and signature. */
static void make_profile(picture *p)
{
    for (size_t i = 0; i < PROFILE_BYTES; i++)
        p->profile[i] = (uint8_t)random_bits(8);
    memcpy(p->profile, "\0\0\1\220", 4);
    memcpy(p->profile + 12, "mntr", 4);
    memcpy(p->profile + 16,
           p->photometric == PHOTOMETRIC_SEPARATED    ? "CMYK"
           : p->photometric == PHOTOMETRIC_MINISBLACK ? "GRAY"
                                                      : "RGB ",
           4);
    memcpy(p->profile + 36, "acsp", 4);
    p->profile_bytes = PROFILE_BYTES;
}

static void set_palette(TIFF *tiff, const base_kind *base, uint16_t maps[3][256])
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 1 << base->bits; i++)
            maps[k][i] = (uint16_t)(base->wide_palette ? random_bits(16) : 257 * random_bits(8));
    TIFFSetField(tiff, TIFFTAG_COLORMAP, maps[0], maps[1], maps[2]);
}

static void set_tags(TIFF *tiff, const base_kind *base, const storage *how)
{
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, base->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, base->samples);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, base->is_signed ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, base->photometric);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, how->planar);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, how->compression);
    if (base->extras)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, base->extras, base->extra_types);
    if (how->tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, TILE);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, TILE);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, how->rows_per_strip);
    }
}

/* The first is opacity (I.5.3.6), and comes back after the other. */
static bool two_opacities(const base_kind *base)
{
    return base->extras == 2 && base->extra_types[0] != EXTRASAMPLE_UNSPECIFIED;
}

/* What the decoded file must be. */
static void expect(picture *p, const base_kind *base)
{
    const bool palette = base->photometric == PHOTOMETRIC_PALETTE;
    memset(p, 0, sizeof *p);
    p->width = WIDTH;
    p->height = HEIGHT;
    p->samples = palette ? 3 : base->samples;
    p->bits = palette ? base->wide_palette ? 16 : 8 : base->bits;
    p->photometric = palette                                       ? PHOTOMETRIC_RGB
                     : base->photometric == PHOTOMETRIC_MINISWHITE ? PHOTOMETRIC_MINISBLACK
                                                                   : base->photometric;
    p->extras = base->extras;
    memcpy(p->extra_types, base->extra_types, sizeof base->extra_types);
    if (two_opacities(base)) {
        p->extra_types[0] = EXTRASAMPLE_UNSPECIFIED;
        p->extra_types[1] = base->extra_types[0];
    }
    p->is_signed = base->is_signed;
}

static bool write_tiff(const char *path, const base_kind *base, const storage *how, picture *p)
{
    static uint16_t values[HEIGHT][WIDTH][MOST_SAMPLES];
    uint16_t maps[3][256];
    TIFF *tiff = TIFFOpen(path, how->mode);
    if (!tiff)
        return false;
    expect(p, base);
    set_tags(tiff, base, how);
    if (base->photometric == PHOTOMETRIC_PALETTE)
        set_palette(tiff, base, maps);
    if (how->tagged) {
        make_profile(p);
        TIFFSetField(tiff, TIFFTAG_ICCPROFILE, p->profile_bytes, p->profile);
        TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, p->unit = RESUNIT_INCH);
        TIFFSetField(tiff, TIFFTAG_XRESOLUTION, p->resolution = DPI);
        TIFFSetField(tiff, TIFFTAG_YRESOLUTION, p->resolution);
    }
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++)
            for (uint32_t s = 0; s < p->samples; s++) {
                uint16_t v = s < base->samples ? (uint16_t)random_bits(base->bits) : 0;
                values[y][x][s] = v;
                if (base->photometric == PHOTOMETRIC_PALETTE)
                    v = maps[s][values[y][x][0]] >> (base->wide_palette ? 0 : 8);
                else if (base->photometric == PHOTOMETRIC_MINISWHITE && s == 0)
                    v = (uint16_t)((1u << base->bits) - 1 - v);
                p->values[y][x][two_opacities(base) && s > 2 ? 7 - s : s] = v;
            }
    write_samples(tiff, base, how, values);
    TIFFClose(tiff);
    return true;
}

/* ---- Reading ---- */

static bool read_tiff(const char *path, picture *p)
{
    uint8_t row[WIDTH * MOST_SAMPLES * 2];
    uint16_t *types = NULL, format = SAMPLEFORMAT_UINT;
    void *profile = NULL;
    TIFF *tiff = TIFFOpen(path, "r");
    memset(p, 0, sizeof *p);
    if (!tiff)
        return false;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &p->width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &p->height);
    TIFFGetField(tiff, TIFFTAG_BITSPERSAMPLE, &p->bits);
    TIFFGetField(tiff, TIFFTAG_SAMPLESPERPIXEL, &p->samples);
    TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &p->photometric);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
    p->is_signed = format == SAMPLEFORMAT_INT;
    if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &p->extras, &types))
        memcpy(p->extra_types, types, (p->extras < 4 ? p->extras : 4u) * sizeof *types);
    if (TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &p->profile_bytes, &profile))
        memcpy(p->profile, profile, p->profile_bytes < PROFILE_BYTES ? p->profile_bytes : PROFILE_BYTES);
    if (TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &p->resolution))
        TIFFGetField(tiff, TIFFTAG_RESOLUTIONUNIT, &p->unit);
    bool fits = p->width == WIDTH && p->height == HEIGHT && p->samples <= MOST_SAMPLES &&
                TIFFScanlineSize(tiff) <= (tmsize_t)sizeof row;
    for (uint32_t y = 0; fits && y < HEIGHT; y++) {
        fits = TIFFReadScanline(tiff, row, y, 0) == 1;
        for (uint32_t i = 0; i < WIDTH * (uint32_t)p->samples; i++)
            p->values[y][i / p->samples][i % p->samples] = get_bits(row, i, p->bits);
    }
    TIFFClose(tiff);
    return fits;
}

static bool compare(const base_kind *base, const storage *how, const picture *a, const picture *b)
{
    if (a->samples != b->samples || a->bits != b->bits || a->is_signed != b->is_signed)
        return fail(base, how, "number, depth or sign of samples differ");
    if (a->photometric != b->photometric)
        return fail(base, how, "the photometric interpretation differs");
    if (a->extras != b->extras || memcmp(a->extra_types, b->extra_types, sizeof a->extra_types))
        return fail(base, how, "the extra samples differ");
    if (memcmp(a->values, b->values, sizeof a->values))
        return fail(base, how, "samples differ");
    if (a->profile_bytes != b->profile_bytes || memcmp(a->profile, b->profile, PROFILE_BYTES))
        return fail(base, how, "the ICC profile differs");
    if (a->resolution != b->resolution || a->unit != b->unit)
        return fail(base, how, "the resolution differs");
    return true;
}

/* ---- The command ---- */

/* Returns the exit status, 255 where a signal ended it; messages go to the log. */
static int command(const paths *at, const char *program, const char *verb, const char *from, const char *to,
                   const char *option, const char *value)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (!freopen(at->log, "w", stderr))
            _exit(127);
        execl(program, program, verb, from, to, "--quiet", "-j1", option, value, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 255;
    return WEXITSTATUS(status);
}

static bool same_files(const char *a, const char *b)
{
    FILE *files[2] = {fopen(a, "rb"), fopen(b, "rb")};
    int c = 0, d = 0;
    while (files[0] && files[1] && c == d && c != EOF) {
        c = getc(files[0]);
        d = getc(files[1]);
    }
    bool same = files[0] && files[1] && c == d;
    for (int i = 0; i < 2; i++)
        if (files[i])
            fclose(files[i]);
    return same;
}

/* Tests the whole picture, and rows of tiles that cut the file's strips and tiles: lossless, and into the same
 * codestream as from the whole picture, which a layer target makes the command read. */
static bool round_trip(const char *program, const paths *at, const base_kind *base, const storage *how)
{
    static picture source, decoded;
    char other[4100];
    snprintf(other, sizeof other, "%s2", at->coded);
    strcpy(strrchr(other, '/'), "/y.jp2");
    if (!write_tiff(at->source, base, how, &source))
        return fail(base, how, "libtiff cannot make the source");
    if (command(at, program, "encode", at->source, at->coded, NULL, NULL) ||
        command(at, program, "decode", at->coded, at->decoded, NULL, NULL))
        return fail(base, how, "the command failed");
    bool good = read_tiff(at->decoded, &decoded) ? compare(base, how, &source, &decoded)
                                                 : fail(base, how, "libtiff cannot read the result");
    if (command(at, program, "encode", at->source, at->coded, "-t", "23,11") ||
        command(at, program, "encode", at->source, other, "-t23,11", "-r1"))
        good = fail(base, how, "the command failed with tiles");
    else if (!same_files(at->coded, other))
        good = fail(base, how, "by rows and at once differ");
    else if (command(at, program, "decode", at->coded, at->decoded, "--tiff-compression", "lzw") ||
             !read_tiff(at->decoded, &decoded) || !compare(base, how, &source, &decoded))
        good = fail(base, how, "tiled");
    remove(other);
    return good;
}

/* ---- Damage ---- */

static bool log_is_one_line(const paths *at)
{
    char line[2100], more[8];
    FILE *log = fopen(at->log, "r");
    bool one = log && fgets(line, sizeof line, log) && strncmp(line, "lift2k: ", 8) == 0 && !fgets(more, 8, log);
    if (log)
        fclose(log);
    return one;
}

static bool write_bytes(const char *path, const uint8_t *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    bool done = file && fwrite(bytes, 1, count, file) == count;
    return file && fclose(file) == 0 && done;
}

static bool attempt(const char *program, const paths *at, const base_kind *base, const storage *how, bool may_work)
{
    remove(at->coded);
    int status = command(at, program, "encode", at->source, at->coded, NULL, NULL);
    bool there = remove(at->coded) == 0;
    if (status == 0 && may_work)
        return true;
    if (status != 1)
        return fail(base, how, status ? "a damaged file: not exit status 1" : "a truncated file passed");
    if (there)
        return fail(base, how, "a damaged file left an output");
    return log_is_one_line(at) || fail(base, how, "a damaged file: not one line");
}

static bool damage(const char *program, const paths *at, const base_kind *base, const storage *how)
{
    static picture source;
    static uint8_t bytes[1 << 16];
    if (!write_tiff(at->source, base, how, &source))
        return fail(base, how, "libtiff cannot make the source");
    FILE *file = fopen(at->source, "rb");
    size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    bool good = count > 0;
    if (file)
        fclose(file);
    for (size_t i = 1; good && i <= 24; i++)
        good = write_bytes(at->source, bytes, count * i / 25) && attempt(program, at, base, how, false);
    for (int i = 0; good && i < 24; i++) {
        static uint8_t damaged[sizeof bytes];
        memcpy(damaged, bytes, count);
        for (int k = 0; k < 4; k++) /* headers and tags are at the ends of these small files */
            damaged[i & 1 ? random_bits(16) % count : count - 1 - random_bits(8) % count] = (uint8_t)random_bits(8);
        good = write_bytes(at->source, damaged, count) && attempt(program, at, base, how, true);
    }
    return good;
}

static bool make_paths(paths *at)
{
    const char *parent = getenv("TMPDIR");
    int length = snprintf(at->folder, sizeof at->folder, "%s/tiff_files.XXXXXX", parent && *parent ? parent : ".");
    if (length < 0 || (size_t)length >= sizeof at->folder || !mkdtemp(at->folder))
        return false;
    snprintf(at->source, sizeof at->source, "%s/x.tif", at->folder);
    snprintf(at->coded, sizeof at->coded, "%s/x.jp2", at->folder);
    snprintf(at->decoded, sizeof at->decoded, "%s/y.tif", at->folder);
    snprintf(at->log, sizeof at->log, "%s/log", at->folder);
    return true;
}

int main(int argc, char **argv)
{
    paths at;
    const size_t num_bases = sizeof bases / sizeof *bases, num_storages = sizeof storages / sizeof *storages;
    size_t failures = 0;
    if (argc != 2 || !make_paths(&at)) {
        fprintf(stderr, argc != 2 ? "usage: tiff_files LIFT2K\n" : "tiff_files: no temporary directory\n");
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    TIFFSetWarningHandler(NULL);
    for (size_t i = 0; i < num_bases * num_storages; i++)
        failures += !round_trip(argv[1], &at, &bases[i / num_storages], &storages[i % num_storages]);
    for (size_t i = 0; i < num_storages; i++) {
        failures += !damage(argv[1], &at, &bases[16], &storages[i]);
        failures += !damage(argv[1], &at, &bases[num_bases - 2], &storages[i]);
    }
    remove(at.source);
    remove(at.coded);
    remove(at.decoded);
    remove(at.log);
    rmdir(at.folder);
    printf("%zu kinds of TIFF file, %zu failed\n", num_bases * num_storages, failures);
    return failures != 0;
}
