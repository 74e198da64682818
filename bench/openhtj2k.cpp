/* OpenHTJ2K, whose rows go to the picture as they come. */
#include "bench/openjph.h"

#include <algorithm>
#include <cstdio>
#include <exception>

#include <decoder.hpp>

template <typename sample> static void store(const openjph_picture *p, uint32_t y, int32_t *const *rows)
{
    const int32_t most = (1 << p->precision) - 1;
    for (uint32_t c = 0; c < p->components; c++) {
        sample *to = static_cast<sample *>(p->samples) + (static_cast<size_t>(c) * p->height + y) * p->width;
        for (uint32_t x = 0; x < p->width; x++)
            to[x] = static_cast<sample>(std::clamp(rows[c][x], 0, most));
    }
}

bool openhtj2k_decode(const uint8_t *bytes, size_t count, const openjph_picture *p)
{
    try {
        std::vector<uint32_t> width, height;
        std::vector<uint8_t> depth;
        std::vector<bool> is_signed;
        open_htj2k::openhtj2k_decoder decoder(bytes, count, 0, 1);
        decoder.parse();
        decoder.invoke_line_based_stream(
            [p](uint32_t y, int32_t *const *rows, uint16_t) {
                p->precision > 8 ? store<uint16_t>(p, y, rows) : store<uint8_t>(p, y, rows);
            },
            width, height, depth, is_signed);
    } catch (const std::exception &failure) {
        fprintf(stderr, "OpenHTJ2K: %s\n", failure.what());
        return false;
    }
    return true;
}
