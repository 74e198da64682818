/* Orders the pixel work on a row (Annex G): forward, level shift (G.1) and then the component transform (G.2, G.3);
 * inverse, the reverse. */
#include "tiling/pixel/pixel_rows.h"

/* Rows are processed in pieces that stay in the first-level cache between the loops. */
#define PIECE ((size_t)1024)

/* 0 or 1 if the three components alternate in memory as u8 or u16, else -1. */
static int interleaved_kind(const l2k_pixel_row pixels[3])
{
    l2k_sample_type type = pixels[0].type;
    size_t size = type == L2K_SAMPLE_U8 ? 1 : 2;
    if ((type != L2K_SAMPLE_U8 && type != L2K_SAMPLE_U16) || (uintptr_t)pixels[0].data % size != 0)
        return -1;
    for (size_t c = 0; c < 3; c++)
        if (pixels[c].type != type || pixels[c].stride != (ptrdiff_t)(3 * size) ||
            (char *)pixels[c].data != (char *)pixels[0].data + c * size)
            return -1;
    return type == L2K_SAMPLE_U16;
}

static l2k_pixel_row piece_of(const l2k_pixel_row *pixels, size_t first)
{
    l2k_pixel_row piece = *pixels;
    piece.data = (char *)piece.data + (ptrdiff_t)first * piece.stride;
    return piece;
}

static void *piece_of_row(void *row, size_t first)
{
    return (uint32_t *)row + first;
}

void l2k_pixels_load(const l2k_pixel_rows *kernels, bool is_float, unsigned components, const l2k_pixel_row *pixels,
                     size_t n, void *const *rows)
{
    if (components == 1) {
        kernels->load[is_float][pixels->type](pixels, n, rows[0]);
        return;
    }
    for (size_t first = 0; first < n; first += PIECE) {
        size_t count = n - first < PIECE ? n - first : PIECE;
        void *piece[3];
        for (int c = 0; c < 3; c++) {
            l2k_pixel_row from = piece_of(&pixels[c], first);
            piece[c] = piece_of_row(rows[c], first);
            kernels->load[is_float][from.type](&from, count, piece[c]);
        }
        kernels->forward[is_float](count, piece[0], piece[1], piece[2]);
    }
}

void l2k_pixels_store(const l2k_pixel_rows *kernels, bool is_float, unsigned components, const l2k_pixel_row *pixels,
                      size_t n, void *const *rows)
{
    if (components == 1) {
        kernels->store[is_float][pixels->type](pixels, n, rows[0]);
        return;
    }
    int interleaved = interleaved_kind(pixels);
    if (interleaved >= 0) {
        kernels->store_interleaved[is_float][interleaved](pixels[0].data, pixels, n, rows[0], rows[1], rows[2]);
        return;
    }
    for (size_t first = 0; first < n; first += PIECE) {
        size_t count = n - first < PIECE ? n - first : PIECE;
        void *piece[3];
        for (int c = 0; c < 3; c++)
            piece[c] = piece_of_row(rows[c], first);
        kernels->inverse[is_float](count, piece[0], piece[1], piece[2]);
        for (int c = 0; c < 3; c++) {
            l2k_pixel_row to = piece_of(&pixels[c], first);
            kernels->store[is_float][to.type](&to, count, piece[c]);
        }
    }
}

void l2k_pixels_convert(const l2k_pixel_rows *kernels, const l2k_pixel_row *from, const l2k_pixel_row *to, size_t n)
{
    int32_t values[PIECE];
    for (size_t first = 0; first < n; first += PIECE) {
        const size_t count = n - first < PIECE ? n - first : PIECE;
        const l2k_pixel_row in = piece_of(from, first), out = piece_of(to, first);
        kernels->load[false][in.type](&in, count, values);
        kernels->store[false][out.type](&out, count, values);
    }
}
