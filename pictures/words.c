/* Reads and writes samples as the bytes of PGX, Y4M and raw files. */
#include "pictures/words.h"

#include <stdlib.h>
#include <string.h>

#include "pictures/user/report.h"

static uint32_t assemble(const uint8_t *bytes, uint32_t count, bool big_endian)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value = value << 8 | bytes[big_endian ? i : count - 1 - i];
    return value;
}

bool cli_words_read(const cli_words *words, cli_input *input, void *data, size_t samples)
{
    const uint32_t count = cli_sample_bytes(words->precision);
    const int64_t range = (int64_t)1 << words->precision;
    const int64_t least = words->is_signed ? -range / 2 : 0, most = least + range - 1;
    const uint32_t sign = words->is_signed ? (uint32_t)1 << (8 * count - 1) : 0; /* in two's complement */
    const l2k_sample_type type = cli_sample_type(words->precision, words->is_signed);
    char *at = data;
    if (!cli_input_exact(input, data, samples * count))
        return false;
    for (size_t i = 0; words->precision != 8 && i < samples; i++, at += count) { /* 8 bits need no conversion */
        uint32_t raw = assemble((const uint8_t *)at, count, words->big_endian);
        int64_t value = (int64_t)(raw ^ sign) - sign;
        if (value < least || value > most)
            return cli_error(input->name, "a sample of %lld does not fit %u bits", (long long)value, words->precision);
        cli_store_sample(at, type, value);
    }
    return true;
}

static void convert_row(const cli_words *words, const l2k_plane *plane, uint32_t y, size_t count, uint8_t *to)
{
    const uint32_t bytes = cli_sample_bytes(words->precision);
    const char *at = (const char *)plane->data + (ptrdiff_t)y * plane->row_stride;
    const bool same_order = bytes == 1 || words->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    if (same_order && plane->sample_stride == (ptrdiff_t)bytes) {
        memcpy(to, at, count * bytes);
        return;
    }
    for (size_t i = 0; i < count; i++, at += plane->sample_stride) {
        uint32_t value = (uint32_t)cli_load_sample(at, plane->type);
        for (uint32_t b = 0; b < bytes; b++)
            *to++ = (uint8_t)(value >> (8 * (words->big_endian ? bytes - 1 - b : b)));
    }
}

bool cli_words_write(const cli_words *words, cli_output *output, uint64_t offset, const l2k_plane *plane,
                     size_t samples, uint32_t rows)
{
    const uint32_t sample = cli_sample_bytes(words->precision);
    const size_t bytes = samples * sample;
    uint8_t *row = malloc(bytes ? bytes : 1);
    bool done = row || cli_error(output->name, "out of memory");
    for (uint32_t y = 0; done && y < rows; y++, offset += bytes) {
        convert_row(words, plane, y, samples, row);
        done = cli_output_write_at(output, offset, row, bytes) || cli_output_fail(output);
    }
    free(row);
    return done;
}
