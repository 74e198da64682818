/* Fuzz target: our readers of picture files: PNM, PAM, PGX, Y4M, TIFF (over libtiff), JPEG (over libjpeg), and
 * samples without a header. The
 * input is a file and a tail of options. PNG is left to libpng. */
#include "fuzz.h"
#include "command.h"

#include "pictures/formats.h"
#include "pictures/reader.h"
#include "pictures/user/report.h"

enum { MOST_SAMPLES = 1 << 20 };

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* Every sample in memory is within its component's range. */
static void check_samples(const cli_picture *p)
{
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        const l2k_component *k = &p->components[c];
        FUZZ_EXPECT(k->precision >= 1 && k->precision <= 32 && k->width > 0 && k->height > 0);
        int64_t range = (int64_t)1 << k->precision, low = k->is_signed ? -range / 2 : 0;
        for (uint32_t y = 0; y < p->rows[c].count; y++)
            for (uint32_t x = 0; x < k->width; x++) {
                int64_t v = fuzz_get_sample(&p->planes[c], x, y);
                FUZZ_EXPECT(v >= low && v < low + range);
            }
    }
}

static uint64_t row_samples(const cli_picture *p)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < p->image.num_components; c++)
        samples += p->components[c].width;
    return samples;
}

static bool read_rows(cli_reader *reader, uint32_t step)
{
    const l2k_image *image = &reader->picture.image;
    uint64_t most = MOST_SAMPLES;
    if (!fuzz_check_report(cli_picture_place(&reader->picture, 0, 0, reader->name)))
        return false;
    for (uint64_t y = image->y0; y < image->y1; y += step) {
        uint64_t next = y + step < image->y1 ? y + step : image->y1,
                 samples = row_samples(&reader->picture) * (next - y);
        if (samples > most)
            return false; /* enough */
        most -= samples;
        if (!fuzz_check_report(cli_reader_rows(reader, (uint32_t)y, (uint32_t)next)))
            return false;
        check_samples(&reader->picture);
    }
    return true;
}

static bool read_all(cli_reader *reader)
{
    if (!fuzz_check_report(cli_picture_allowed(&reader->picture, reader->name)) ||
        cli_picture_samples(&reader->picture) > MOST_SAMPLES)
        return false;
    if (!fuzz_check_report(cli_reader_all(reader)))
        return false;
    check_samples(&reader->picture);
    return true;
}

/* Chooses a description in place of a header. */
static void choose_raw(fuzz_bytes *tail, cli_raw *raw)
{
    raw->width = 1 + fuzz_byte(tail);
    raw->height = 1 + fuzz_byte(tail);
    raw->count = 1 + fuzz_byte(tail) % 5;
    raw->precision = 1 + fuzz_byte(tail) % 31;
    uint32_t kind = fuzz_byte(tail);
    raw->is_signed = kind & 1;
    raw->big_endian = kind & 2;
    raw->interleaved = kind & 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_bytes tail = fuzz_cut_tail(data, &bytes);
    cli_reader reader;
    cli_raw raw;
    uint32_t kind = fuzz_byte(&tail), step = 1 + fuzz_byte(&tail);
    const cli_read_options options = {.raw = kind & 1 ? &raw : NULL, .quiet = true};
    choose_raw(&tail, &raw);
    fuzz_errors = 0;
    const char *name = fuzz_put_file(data, bytes);
    if (!fuzz_check_report(cli_reader_open(&reader, name, &options)))
        return 0;
    if (kind & 2 ? read_rows(&reader, step) : read_all(&reader))
        FUZZ_EXPECT(cli_reader_at_end(&reader));
    cli_reader_close(&reader);
    return 0;
}
