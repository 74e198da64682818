/* make_tiff WIDTH HEIGHT OUT.tif: writes a synthetic 8-bit RGB picture of any size in little memory: shades, edges and
 * noise, so that it codes about like a photograph. Striped and uncompressed, BigTIFF where necessary. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tiffio.h>

/* A parabola in place of a sine: from 0 to 255 and back within `period`. */
static uint32_t wave(uint32_t at, uint32_t period)
{
    uint32_t phase = at % period * 512 / period;
    return phase < 256 ? phase : 511 - phase;
}

static void make_row(uint8_t *row, uint32_t width, uint32_t y)
{
    uint32_t noise = y * 2654435761u + 1;
    for (uint32_t x = 0; x < width; x++, row += 3) {
        noise = noise * 1664525u + 1013904223u;
        uint32_t shade = wave(x + y / 3, 4099) + wave(y + x / 5, 2503), edge = (x / 97 + y / 61) % 5 ? 0 : 40;
        uint32_t grain = noise >> 28;
        row[0] = (uint8_t)(shade * 5 / 12 + grain);
        row[1] = (uint8_t)(shade / 3 + edge + grain);
        row[2] = (uint8_t)(wave(x + y, 1801) / 2 + edge + (noise >> 27 & 15));
    }
}

int main(int count, char **arguments)
{
    uint32_t width = count == 4 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 0;
    uint32_t height = count == 4 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 0;
    if (!width || !height) {
        fprintf(stderr, "usage: make_tiff WIDTH HEIGHT OUT.tif\n");
        return 2;
    }
    TIFF *tiff = TIFFOpen(arguments[3], (uint64_t)width * height * 3 > 4000000000u ? "w8" : "w");
    uint8_t *row = malloc((size_t)width * 3);
    if (!tiff || !row)
        return 1;
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 16);
    for (uint32_t y = 0; y < height; y++) {
        make_row(row, width, y);
        if (TIFFWriteScanline(tiff, row, y, 0) != 1)
            return 1;
    }
    TIFFClose(tiff);
    free(row);
    return 0;
}
