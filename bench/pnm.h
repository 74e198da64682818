/* Binary PGM and PPM files for benchmarks. */
#ifndef L2K_BENCH_PNM_H
#define L2K_BENCH_PNM_H

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pnm {
    uint32_t width, height, components;
    unsigned precision, bytes; /* of a sample: 1 or 2 */
    uint8_t *samples;          /* a component after the other, in native order; the caller frees them */
} pnm;

static inline size_t pnm_plane_bytes(const pnm *p)
{
    return (size_t)p->width * p->height * p->bytes;
}

/* One row of a file to the planes, `across` times side by side. */
static inline void pnm_spread(const pnm *p, const uint8_t *row, uint32_t y, uint32_t across)
{
    const size_t pixels = p->width / across;
    for (uint32_t c = 0; c < p->components; c++) {
        uint8_t *to = p->samples + c * pnm_plane_bytes(p) + (size_t)y * p->width * p->bytes;
        for (size_t x = 0; x < pixels; x++) {
            const uint8_t *from = row + (x * p->components + c) * p->bytes;
            const uint16_t value = (uint16_t)(p->bytes == 2 ? from[0] << 8 | from[1] : from[0]);
            if (p->bytes == 2)
                memcpy(to + 2 * x, &value, 2);
            else
                to[x] = (uint8_t)value;
        }
        for (uint32_t i = 1; i < across; i++)
            memcpy(to + i * pixels * p->bytes, to, pixels * p->bytes);
    }
}

/* The next number of a header, behind comments; 0 where there is none. */
static inline unsigned pnm_number(FILE *file)
{
    unsigned value = 0;
    int c;
    while (isspace(c = fgetc(file)) || c == '#')
        if (c == '#')
            (void)!fscanf(file, "%*[^\n]");
    ungetc(c, file);
    return fscanf(file, "%u", &value) == 1 ? value : 0;
}

/* `across` x `down` copies of the picture in a file. Reports what fails and ends the program. */
static inline pnm pnm_read(const char *path, uint32_t across, uint32_t down)
{
    pnm p = {0};
    char kind;
    unsigned most;
    FILE *file = fopen(path, "rb");
    if (!file || fscanf(file, "P%c", &kind) != 1 || (kind != '5' && kind != '6') || !(p.width = pnm_number(file)) ||
        !(p.height = pnm_number(file)) || !(most = pnm_number(file)) || p.width > 65535 || p.height > 65535 ||
        most > 65535 || fgetc(file) == EOF) {
        fprintf(stderr, "%s: no binary PGM or PPM file\n", path);
        exit(1);
    }
    const uint32_t rows = p.height;
    p.components = kind == '6' ? 3 : 1;
    p.bytes = most > 255 ? 2 : 1;
    while (most >> p.precision)
        p.precision++;
    const size_t row_bytes = (size_t)p.width * p.components * p.bytes;
    p.width *= across;
    p.height *= down;
    p.samples = (uint8_t *)malloc(pnm_plane_bytes(&p) * p.components);
    uint8_t *row = (uint8_t *)malloc(row_bytes);
    if (!p.samples || !row)
        exit(1);
    for (uint32_t y = 0; y < rows; y++) {
        if (fread(row, 1, row_bytes, file) != row_bytes) {
            fprintf(stderr, "%s: too short\n", path);
            exit(1);
        }
        for (uint32_t i = 0; i < down; i++)
            pnm_spread(&p, row, i * rows + y, across);
    }
    free(row);
    fclose(file);
    return p;
}

/* Of `count` samples beside the right ones, in dB; infinite where none differs. */
static inline double pnm_psnr(const void *samples, const void *right, size_t count, unsigned bytes, unsigned precision)
{
    const double peak = (double)((1u << precision) - 1);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double d = bytes == 2 ? (double)((const uint16_t *)samples)[i] - ((const uint16_t *)right)[i]
                                    : (double)((const uint8_t *)samples)[i] - ((const uint8_t *)right)[i];
        sum += d * d;
    }
    return sum > 0 ? 10 * log10(peak * peak * (double)count / sum) : (double)INFINITY;
}

#endif
