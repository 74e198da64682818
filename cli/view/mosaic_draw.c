/* Draws a mosaic: values to gray, lines between bands, names and gains in a font of its own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/view/mosaic.h"
#include "pictures/user/report.h"

enum { BACKGROUND = 32, BAND_LINE = 255, TILE_LINE = 0 };

/* Smaller bands would be all lines. */
enum { LEAST_SIDE = 6 };

/* A part of the picture. */
typedef struct rectangle {
    uint32_t x, y, width, height;
} rectangle;

static uint8_t gray_of(float value)
{
    if (isnan(value))
        return BACKGROUND;
    float gray = floorf(255 * value + 0.5f);
    return gray <= 0 ? 0 : gray >= 255 ? 255 : (uint8_t)gray;
}

static uint8_t *pixel_of(const cli_picture *picture, uint32_t x, uint32_t y)
{
    const l2k_plane *plane = picture->planes;
    return (uint8_t *)plane->data + (ptrdiff_t)y * plane->row_stride + (ptrdiff_t)x * plane->sample_stride;
}

static void draw_row(const cli_mosaic *mosaic, const cli_mosaic_band *band, uint32_t row, const cli_picture *picture)
{
    float gain = mosaic->gains[band->level][band->orientation];
    float offset = band->orientation == L2K_LL ? mosaic->low_offset : 0.5f;
    uint8_t *to = pixel_of(picture, band->x, band->y + row);
    for (uint32_t c = 0; c < mosaic->channels; c++) {
        const float *from = mosaic->values + ((size_t)c * mosaic->height + band->y + row) * mosaic->width + band->x;
        for (uint32_t x = 0; x < band->width; x++)
            to[(size_t)x * mosaic->channels + c] = gray_of(offset + gain * from[x]);
    }
}

static rectangle box_of(const cli_mosaic_band *band)
{
    return (rectangle){band->x, band->y, band->width, band->height};
}

static void fill(const cli_picture *picture, rectangle box, uint8_t value)
{
    for (uint32_t y = box.y; y < box.y + box.height; y++)
        memset(pixel_of(picture, box.x, y), value, (size_t)box.width * picture->image.num_components);
}

/* Along the left and upper side: one colour between bands, another between tiles, no line at the picture's edge. */
static void draw_lines(const cli_mosaic_band *band, const cli_picture *picture)
{
    rectangle box = box_of(band);
    if (box.width < LEAST_SIDE || box.height < LEAST_SIDE)
        return;
    if (box.x > 0)
        fill(picture, (rectangle){box.x, box.y, 1, box.height}, band->first_column ? TILE_LINE : BAND_LINE);
    if (box.y > 0)
        fill(picture, (rectangle){box.x, box.y, box.width, 1}, band->first_row ? TILE_LINE : BAND_LINE);
}

/* ---- Letters ------------------------------------------------------------------------------------------------- */

/* A font of 5 x 7 dots, one number per row, whose bit 4 is the leftmost dot. */
enum { GLYPH_WIDTH = 5, GLYPH_HEIGHT = 7, ADVANCE = 6, MARGIN = 2, MOST_SCALE = 2 };

enum { PAPER = 24, INK = 255 };

/* Bands with shorter sides get letters of single pixels. */
enum { LARGE_SIDE = 240 };

static const char letters[] = "0123456789LHx.";

static const uint8_t glyphs[][GLYPH_HEIGHT] = {
    {14, 17, 19, 21, 25, 17, 14}, /* 0 */
    {4, 12, 4, 4, 4, 4, 14},      /* 1 */
    {14, 17, 1, 6, 8, 16, 31},    /* 2 */
    {30, 1, 1, 14, 1, 1, 30},     /* 3 */
    {2, 6, 10, 18, 31, 2, 2},     /* 4 */
    {31, 16, 30, 1, 1, 17, 14},   /* 5 */
    {6, 8, 16, 30, 17, 17, 14},   /* 6 */
    {31, 1, 2, 4, 8, 8, 8},       /* 7 */
    {14, 17, 17, 14, 17, 17, 14}, /* 8 */
    {14, 17, 17, 15, 1, 2, 12},   /* 9 */
    {16, 16, 16, 16, 16, 16, 31}, /* L */
    {17, 17, 17, 31, 17, 17, 17}, /* H */
    {0, 0, 17, 10, 4, 10, 17},    /* x */
    {0, 0, 0, 0, 0, 12, 12},      /* . */
};

static void draw_glyph(const cli_picture *picture, uint32_t x, uint32_t y, uint32_t scale, char letter)
{
    const char *found = strchr(letters, letter);
    for (uint32_t row = 0; found && row < GLYPH_HEIGHT; row++)
        for (uint32_t column = 0; column < GLYPH_WIDTH; column++)
            if (glyphs[found - letters][row] >> (GLYPH_WIDTH - 1 - column) & 1)
                fill(picture, (rectangle){x + column * scale, y + row * scale, scale, scale}, INK);
}

/* Writes L, H, digits, x and points on a dark ground into the top left corner; false if the box is too small. */
static bool put_label(const cli_picture *picture, rectangle box, const char *text)
{
    uint32_t scale = box.width >= LARGE_SIDE && box.height >= LARGE_SIDE ? MOST_SCALE : 1;
    uint32_t width = ((uint32_t)strlen(text) * ADVANCE - 1 + 2 * MARGIN) * scale;
    uint32_t height = (GLYPH_HEIGHT + 2 * MARGIN) * scale, inset = 1 + scale;
    if (width + inset > box.width || height + inset > box.height)
        return false;
    fill(picture, (rectangle){box.x + inset, box.y + inset, width, height}, PAPER);
    for (size_t i = 0; text[i]; i++)
        draw_glyph(picture, box.x + inset + (MARGIN + (uint32_t)i * ADVANCE) * scale, box.y + inset + MARGIN * scale,
                   scale, text[i]);
    return true;
}

/* ---- The picture --------------------------------------------------------------------------------------------- */

/* Name and gain, or only the name if there is no room for both. */
static void draw_label(const cli_mosaic *mosaic, const cli_mosaic_band *band, const cli_picture *picture)
{
    char text[16];
    float gain = mosaic->gains[band->level][band->orientation];
    int length = snprintf(text, sizeof text, "%s%u", cli_orientation_names[band->orientation], band->level);
    if (band->orientation != L2K_LL || gain != 1)
        snprintf(text + length, sizeof text - (size_t)length, gain < 9.95f ? " x%.1f" : " x%.0f", gain);
    if (put_label(picture, box_of(band), text))
        return;
    text[length] = 0;
    put_label(picture, box_of(band), text);
}

/* Lines and names are drawn over all bands. */
bool cli_mosaic_draw(const cli_mosaic *mosaic, const cli_options *options, cli_picture *picture)
{
    if (!cli_picture_create(picture, mosaic->channels, mosaic->name))
        return false;
    cli_picture_uniform(picture, mosaic->width, mosaic->height, 8, false);
    picture->image.colour = mosaic->channels == 1 ? L2K_COLOUR_GRAY : L2K_COLOUR_SRGB;
    if (!cli_picture_place(picture, 0, 0, mosaic->name) ||
        !cli_picture_allocate(picture, CLI_INTERLEAVED, mosaic->name))
        return false;
    fill(picture, (rectangle){0, 0, mosaic->width, mosaic->height}, BACKGROUND);
    for (size_t i = 0; i < mosaic->num_bands; i++)
        for (uint32_t y = 0; y < mosaic->bands[i].height; y++)
            draw_row(mosaic, &mosaic->bands[i], y, picture);
    for (size_t i = 0; !options->no_borders && i < mosaic->num_bands; i++)
        draw_lines(&mosaic->bands[i], picture);
    for (size_t i = 0; options->labels && i < mosaic->num_bands; i++)
        draw_label(mosaic, &mosaic->bands[i], picture);
    return true;
}
