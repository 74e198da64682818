/* Writes a VC-2 stream (SMPTE ST 2042-1, high-quality profile) of random pictures whose coefficients are those of
 * lift2k's kernels, and what a decoder of it must give. VC-2 filters rows before columns, so the transform is that of
 * the transposed picture, with HL and LH exchanged. Arguments: kernel, bits a sample, levels, width, height, number of
 * pictures, seed, the stream, the raw samples; or w4, for numbers as text. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lift2k/lift2k.h"

enum { PLANES = 3, LARGEST = 128, SCALER = 512 };

typedef struct vc2_kernel {
    const char *name;
    l2k_wavelet wavelet;
    unsigned index, shift; /* VC-2's number of the wavelet; extra bits at each level */
} vc2_kernel;

static const vc2_kernel kernels[] = {
    {"dd-9-7", L2K_WAVELET_DD_9_7, 0, 1},     {"dd-13-7", L2K_WAVELET_DD_13_7, 2, 1},
    {"haar", L2K_WAVELET_HAAR, 3, 0},         {"haar-shifted", L2K_WAVELET_HAAR, 4, 1},
    {"fidelity", L2K_WAVELET_FIDELITY, 5, 0}, {"daubechies-int", L2K_WAVELET_DAUBECHIES_INT, 6, 1}};

static void demand(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "vc2_stream: %s\n", what);
    exit(1);
}

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

/* ---- Bits ---------------------------------------------------------------------------------------------------- */

static uint8_t bytes[1 << 22];
static size_t num_bits;

static void put_bit(unsigned bit)
{
    demand(num_bits / 8 < sizeof bytes, "a stream that is too long");
    if (num_bits % 8 == 0)
        bytes[num_bits / 8] = 0;
    bytes[num_bits / 8] |= (uint8_t)(bit << (7 - num_bits % 8));
    num_bits++;
}

static void align(void)
{
    while (num_bits % 8)
        put_bit(0);
}

static void put_bytes(uint32_t value, unsigned count)
{
    for (unsigned i = 8 * count; i-- > 0;)
        put_bit(value >> i & 1);
}

/* Interleaved exp-Golomb (A.4.3 there). */
static void put_uint(uint32_t value)
{
    unsigned top = 31;
    value++;
    while (!(value >> top & 1))
        top--;
    while (top-- > 0) {
        put_bit(0);
        put_bit(value >> top & 1);
    }
    put_bit(1);
}

static void put_sint(int32_t value)
{
    put_uint((uint32_t)abs(value));
    if (value)
        put_bit(value < 0);
}

/* ---- Transform ----------------------------------------------------------------------------------------------- */

/* A plane transposed: `width` is the picture's height. */
typedef struct plane {
    int32_t at[LARGEST * LARGEST];
    uint32_t width, height;
} plane;

/* One level on the top left part of the plane, its subbands in place. */
static void run_level(const vc2_kernel *k, plane *p, unsigned level, l2k_direction direction)
{
    const uint32_t width = p->width >> (level - 1), height = p->height >> (level - 1);
    l2k_component component = {.dx = 1, .dy = 1, .precision = 24, .is_signed = true};
    const l2k_image tile = {.x1 = width, .y1 = height, .num_components = 1, .components = &component};
    const l2k_plane into = {p->at, (ptrdiff_t)(p->width * sizeof *p->at), sizeof *p->at, L2K_SAMPLE_S32};
    l2k_transform *t = l2k_transform_new(NULL);
    demand(t && l2k_transform_set(t, L2K_TRANSFORM_WAVELET, k->wavelet) == L2K_OK &&
               l2k_transform_set(t, L2K_TRANSFORM_LEVELS, 1) == L2K_OK &&
               l2k_transform_set(t, L2K_TRANSFORM_DIRECTION, direction) == L2K_OK &&
               l2k_transform_set(t, L2K_TRANSFORM_BACKEND, L2K_BACKEND_CPU) == L2K_OK &&
               l2k_transform_prepare(t, &tile) == L2K_OK,
           "no transform");
    const l2k_coefficients *view = l2k_transform_coefficients(t, 0);
    int32_t *coefficients = view->base;
    for (uint32_t y = 0; y < height && direction == L2K_INVERSE; y++)
        memcpy(coefficients + y * view->stride, p->at + y * p->width, width * sizeof *p->at);
    demand((direction == L2K_INVERSE ? l2k_transform_inverse : l2k_transform_forward)(t, &into) == L2K_OK, "no run");
    for (uint32_t y = 0; y < height && direction == L2K_FORWARD; y++)
        memcpy(p->at + y * p->width, coefficients + y * view->stride, width * sizeof *p->at);
    l2k_transform_free(t);
}

static void shift_part(const vc2_kernel *k, plane *p, unsigned level, bool left)
{
    for (uint32_t y = 0; y < p->height >> (level - 1) && k->shift; y++)
        for (uint32_t x = 0; x < p->width >> (level - 1); x++) {
            int32_t *v = &p->at[y * p->width + x];
            *v = left ? *v * (1 << k->shift) : (*v + (1 << (k->shift - 1))) >> k->shift;
        }
}

static void forward(const vc2_kernel *k, plane *p, unsigned levels)
{
    for (unsigned level = 1; level <= levels; level++) {
        shift_part(k, p, level, true);
        run_level(k, p, level, L2K_FORWARD);
    }
}

static void inverse(const vc2_kernel *k, plane *p, unsigned levels)
{
    for (unsigned level = levels; level > 0; level--) {
        run_level(k, p, level, L2K_INVERSE);
        shift_part(k, p, level, false);
    }
}

/* ---- The stream ---------------------------------------------------------------------------------------------- */

static size_t previous; /* offset of the data unit before */

/* The parse info header (10.5.1); its next offset comes with the unit's end. */
static size_t start_unit(unsigned code)
{
    const size_t at = num_bits / 8;
    put_bytes(0x42424344, 4);
    put_bytes(code, 1);
    put_bytes(0, 4);
    put_bytes((uint32_t)(at - previous), 4);
    previous = at;
    return at;
}

static void end_unit(size_t at)
{
    align();
    const uint32_t length = (uint32_t)(num_bits / 8 - at);
    for (unsigned i = 0; i < 4; i++)
        bytes[at + 5 + i] = (uint8_t)(length >> (24 - 8 * i));
}

static void write_sequence_header(uint32_t width, uint32_t height, unsigned bits)
{
    const unsigned range = bits == 8 ? 1 : bits == 10 ? 3 : bits == 12 ? 4 : 0;
    const size_t unit = start_unit(0);
    put_uint(2); /* version 2.0, high-quality profile, no level; a custom format */
    put_uint(0);
    put_uint(3);
    put_uint(0);
    put_uint(0);
    put_bit(1);
    put_uint(width);
    put_uint(height);
    put_bit(1); /* 4:4:4 */
    put_uint(0);
    for (unsigned i = 0; i < 4; i++) /* scan, frame rate, pixel aspect ratio, clean area */
        put_bit(i == 3);
    put_uint(width);
    put_uint(height);
    put_uint(0);
    put_uint(0);
    put_bit(1); /* signal range */
    put_uint(range);
    for (unsigned i = 0; i < 2 && range == 0; i++) {
        put_uint((uint32_t)1 << (bits - 1));
        put_uint(((uint32_t)1 << bits) - 1);
    }
    put_bit(0); /* colour specification */
    put_uint(0);
    end_unit(unit);
}

/* A subband of a transposed plane, in the order of the picture. */
static void put_band(const plane *p, unsigned level, unsigned orientation)
{
    const uint32_t width = p->width >> level, height = p->height >> level;
    const uint32_t x0 = orientation & 2 ? width : 0, y0 = orientation & 1 ? height : 0;
    for (uint32_t x = 0; x < width; x++)
        for (uint32_t y = 0; y < height; y++)
            put_sint(p->at[(y0 + y) * p->width + x0 + x]);
}

/* One plane of the only slice: its length in units of SCALER bytes, and its coefficients from the lowest level on. */
static void put_plane(const plane *p, unsigned levels)
{
    const size_t length_at = num_bits / 8;
    put_bytes(0, 1);
    put_band(p, levels, 0);
    for (unsigned level = levels; level > 0; level--)
        for (unsigned orientation = 1; orientation < 4; orientation++)
            put_band(p, level, orientation);
    while (num_bits % 8 || (num_bits / 8 - length_at - 1) % SCALER)
        put_bit(1);
    const size_t units = (num_bits / 8 - length_at - 1) / SCALER;
    demand(units < 256, "a slice that is too long");
    bytes[length_at] = (uint8_t)units;
}

static void write_picture(const vc2_kernel *k, const plane *planes, unsigned levels, uint32_t number)
{
    const size_t unit = start_unit(0xE8);
    put_bytes(number, 4);
    put_uint(k->index);
    put_uint(levels);
    put_uint(1); /* slices across and down, prefix bytes, scaler, quantisation matrix */
    put_uint(1);
    put_uint(0);
    put_uint(SCALER);
    put_bit(1);
    for (unsigned i = 0; i <= 3 * levels; i++)
        put_uint(0);
    align();
    put_bytes(0, 1); /* quantiser index 0: values as they are */
    for (unsigned c = 0; c < PLANES; c++)
        put_plane(&planes[c], levels);
    end_unit(unit);
}

/* ---- Pictures ------------------------------------------------------------------------------------------------ */

static void make_plane(plane *p, unsigned bits)
{
    const int32_t half = 1 << (bits - 1);
    const uint32_t kind = below(3);
    for (uint32_t i = 0; i < p->width * p->height; i++) {
        const int32_t slope = (int32_t)((i % p->width * 5 + i / p->width * 3) << (bits - 8)) % (2 * half);
        const int32_t noise = (int32_t)below((uint32_t)(2 * half));
        p->at[i] = kind == 0 ? noise - half : kind == 1 ? slope - half : (noise & 1 ? half - 1 : -half);
    }
}

/* A decoder's inverse of coefficients that no picture has is compared, too. */
static void disturb(plane *p)
{
    for (uint32_t i = 0; i < p->width * p->height; i++)
        p->at[i] += (int32_t)below(7) - 3;
}

static void write_samples(const plane *p, unsigned bits, FILE *out)
{
    const int32_t half = 1 << (bits - 1);
    for (uint32_t x = 0; x < p->width; x++)
        for (uint32_t y = 0; y < p->height; y++) {
            int32_t v = p->at[y * p->width + x] + half;
            v = v < 0 ? 0 : v > 2 * half - 1 ? 2 * half - 1 : v;
            fputc(v & 255, out);
            if (bits > 8)
                fputc(v >> 8, out);
        }
}

/* A line of samples, its low and its high coefficients by w4, each in a line of text. */
static void print_w4(void)
{
    enum { LENGTH = 400 };
    static float samples[LENGTH];
    l2k_component component = {.dx = 1, .dy = 1, .precision = 16, .is_signed = true};
    const l2k_image tile = {.x1 = LENGTH, .y1 = 1, .num_components = 1, .components = &component};
    const l2k_plane into = {samples, sizeof samples, sizeof *samples, L2K_SAMPLE_F32};
    l2k_transform *t = l2k_transform_new(NULL);
    for (int i = 0; i < LENGTH; i++)
        samples[i] = (float)below(1 << 20) / (1 << 20);
    demand(t && l2k_transform_set(t, L2K_TRANSFORM_WAVELET, L2K_WAVELET_W4) == L2K_OK &&
               l2k_transform_set(t, L2K_TRANSFORM_LEVELS, 1) == L2K_OK &&
               l2k_transform_set(t, L2K_TRANSFORM_COEFFICIENTS, L2K_COEFFICIENT_FLOAT32) == L2K_OK &&
               l2k_transform_set(t, L2K_TRANSFORM_BACKEND, L2K_BACKEND_CPU) == L2K_OK &&
               l2k_transform_prepare(t, &tile) == L2K_OK && l2k_transform_forward(t, &into) == L2K_OK,
           "no transform");
    const float *coefficients = l2k_transform_coefficients(t, 0)->base;
    for (int i = 0; i < 2 * LENGTH; i++)
        printf("%.9g%c", (double)(i < LENGTH ? samples[i] : coefficients[i - LENGTH]),
               i == LENGTH - 1 || i == LENGTH * 3 / 2 - 1 || i == 2 * LENGTH - 1 ? '\n' : ' ');
    l2k_transform_free(t);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "w4") == 0) {
        print_w4();
        return 0;
    }
    static plane planes[PLANES];
    const vc2_kernel *k = kernels;
    demand(argc == 10, "KERNEL BITS LEVELS WIDTH HEIGHT COUNT SEED STREAM RAW");
    while (k < kernels + sizeof kernels / sizeof *kernels && strcmp(k->name, argv[1]) != 0)
        k++;
    demand(k < kernels + sizeof kernels / sizeof *kernels, "an unknown kernel");
    const unsigned bits = (unsigned)atoi(argv[2]), levels = (unsigned)atoi(argv[3]), count = (unsigned)atoi(argv[6]);
    const uint32_t width = (uint32_t)atoi(argv[4]), height = (uint32_t)atoi(argv[5]);
    demand(bits >= 8 && bits <= 16 && width <= LARGEST && height <= LARGEST && !((width | height) % (1u << levels)),
           "an impossible picture");
    state = (uint64_t)atoi(argv[7]);
    FILE *raw = fopen(argv[9], "wb"), *stream = fopen(argv[8], "wb");
    demand(raw && stream, "a file that cannot be written");
    write_sequence_header(width, height, bits);
    for (unsigned number = 0; number < count; number++) {
        for (unsigned c = 0; c < PLANES; c++) {
            planes[c].width = height;
            planes[c].height = width;
            make_plane(&planes[c], bits);
            forward(k, &planes[c], levels);
            if (number & 1)
                disturb(&planes[c]);
        }
        write_picture(k, planes, levels, number);
        for (unsigned c = 0; c < PLANES; c++) {
            inverse(k, &planes[c], levels);
            write_samples(&planes[c], bits, raw);
        }
    }
    start_unit(0x10); /* the end */
    demand(fwrite(bytes, 1, num_bits / 8, stream) == num_bits / 8 && fclose(stream) == 0 && fclose(raw) == 0,
           "a file that cannot be written");
    return 0;
}
