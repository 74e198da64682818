/* Letters for the names of subbands, drawn for this purpose: 5 x 7 dots, a row a number, the leftmost dot its bit 4. */
#include <string.h>

#include "cli/coefficients/mosaic.h"

enum { GLYPH_WIDTH = 5, GLYPH_HEIGHT = 7, ADVANCE = 6, MARGIN = 2, MOST_SCALE = 2 };

enum { PAPER = 24, INK = 255 };

/* A band's side below which letters are drawn with single dots. */
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

static void draw_glyph(const cli_canvas *canvas, uint32_t x, uint32_t y, uint32_t scale, char letter)
{
    const char *found = strchr(letters, letter);
    for (uint32_t row = 0; found && row < GLYPH_HEIGHT; row++)
        for (uint32_t column = 0; column < GLYPH_WIDTH; column++)
            if (glyphs[found - letters][row] >> (GLYPH_WIDTH - 1 - column) & 1)
                cli_canvas_fill(canvas, (cli_box){x + column * scale, y + row * scale, scale, scale}, INK);
}

bool cli_canvas_label(const cli_canvas *canvas, cli_box box, const char *text)
{
    uint32_t scale = box.width >= LARGE_SIDE && box.height >= LARGE_SIDE ? MOST_SCALE : 1;
    uint32_t width = ((uint32_t)strlen(text) * ADVANCE - 1 + 2 * MARGIN) * scale;
    uint32_t height = (GLYPH_HEIGHT + 2 * MARGIN) * scale, inset = 1 + scale;
    if (width + inset > box.width || height + inset > box.height)
        return false;
    cli_canvas_fill(canvas, (cli_box){box.x + inset, box.y + inset, width, height}, PAPER);
    for (size_t i = 0; text[i]; i++)
        draw_glyph(canvas, box.x + inset + (MARGIN + (uint32_t)i * ADVANCE) * scale, box.y + inset + MARGIN * scale,
                   scale, text[i]);
    return true;
}
