/* Memory for the samples of a picture: all rows, or a window of them. */
#define _DEFAULT_SOURCE /* madvise */
#include "pictures/picture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pictures/user/limits.h"
#include "pictures/user/report.h"

uint32_t cli_sample_bytes(uint32_t precision)
{
    return precision <= 8 ? 1 : precision <= 16 ? 2 : 4;
}

l2k_sample_type cli_sample_type(uint32_t precision, bool is_signed)
{
    if (precision <= 8)
        return is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
    if (precision <= 16)
        return is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
    return L2K_SAMPLE_S32; /* also holds an unsigned 31-bit sample */
}

uint64_t cli_picture_bytes(const cli_picture *picture)
{
    uint64_t bytes = picture->held;
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        const l2k_component *component = &picture->components[c];
        bytes += (uint64_t)component->width * picture->rows[c].count * cli_sample_bytes(component->precision);
    }
    return bytes;
}

uint64_t cli_picture_strip_bytes(const cli_picture *picture, uint32_t rows)
{
    uint64_t bytes = picture->held + (rows < picture->image.y1 - picture->image.y0 ? picture->extra : 0);
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        const l2k_component *component = &picture->components[c];
        const uint64_t most = ((uint64_t)rows + component->dy - 1) / component->dy;
        bytes += component->width * most * cli_sample_bytes(component->precision);
    }
    return bytes;
}

bool cli_components_alike(const l2k_component *a, const l2k_component *b)
{
    return a->width == b->width && a->height == b->height && a->precision == b->precision &&
           a->is_signed == b->is_signed;
}

bool cli_pictures_alike(const l2k_image *a, const l2k_image *b)
{
    bool alike = a->num_components == b->num_components;
    for (uint32_t c = 0; alike && c < a->num_components; c++)
        alike = cli_components_alike(&a->components[c], &b->components[c]);
    return alike;
}

bool cli_picture_can_interleave(const cli_picture *picture)
{
    const l2k_component *first = picture->components;
    for (uint32_t c = 1; c < picture->image.num_components; c++) {
        const l2k_component *other = &picture->components[c];
        if (other->width != first->width || other->height != first->height || other->is_signed != first->is_signed ||
            cli_sample_bytes(other->precision) != cli_sample_bytes(first->precision))
            return false;
    }
    return true;
}

/* Asks for huge pages, which fault less often, if the block has whole ones. */
static void ask_for_huge_pages(char *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    enum { HUGE_PAGE = 1 << 21 };
    const size_t before = -(uintptr_t)block % HUGE_PAGE;
    if (bytes >= before + HUGE_PAGE)
        madvise(block + before, (bytes - before) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#else
    (void)block, (void)bytes;
#endif
}

/* Reuses the memory of earlier rows, if any. */
static void *take_buffer(cli_picture *picture, uint32_t c, size_t bytes)
{
    void *data = realloc(picture->buffers[c], bytes ? bytes : 1);
    if (data) {
        picture->buffers[c] = data;
        ask_for_huge_pages(data, bytes);
    }
    return data;
}

static bool allocate_planes(cli_picture *picture, cli_layout layout)
{
    const uint32_t count = picture->image.num_components;
    for (uint32_t c = 0; c < count; c++) {
        const l2k_component *k = &picture->components[c];
        const size_t sample = cli_sample_bytes(k->precision);
        const size_t pixel = layout == CLI_INTERLEAVED ? sample * count : sample, row = pixel * k->width;
        void *data = layout == CLI_INTERLEAVED && c ? (char *)picture->planes->data + c * sample
                                                    : take_buffer(picture, c, row * picture->rows[c].count);
        if (!data)
            return false;
        picture->planes[c] =
            (l2k_plane){data, (ptrdiff_t)row, (ptrdiff_t)pixel, cli_sample_type(k->precision, k->is_signed)};
    }
    return true;
}

static bool allocate(cli_picture *picture, cli_layout layout, const char *name)
{
    if (!cli_picture_allowed(picture, name) || !cli_memory_allowed(cli_picture_bytes(picture), name))
        return false;
    if (allocate_planes(picture, layout))
        return true;
    return cli_error(name, "out of memory: the samples take %llu bytes",
                     (unsigned long long)cli_picture_bytes(picture));
}

bool cli_picture_allocate(cli_picture *picture, cli_layout layout, const char *name)
{
    for (uint32_t c = 0; c < picture->image.num_components; c++)
        picture->rows[c] = (cli_rows){0, picture->components[c].height};
    return allocate(picture, layout, name);
}

uint32_t cli_grid_start(uint32_t x0, uint32_t dx, uint32_t reduce)
{
    uint64_t start = ((uint64_t)x0 + dx - 1) / dx;
    return (uint32_t)((start + ((uint64_t)1 << reduce) - 1) >> reduce);
}

bool cli_picture_window(cli_picture *picture, uint32_t y0, uint32_t y1, uint32_t reduce, cli_layout layout,
                        const char *name)
{
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        const uint32_t dy = picture->components[c].dy;
        const uint32_t first = cli_grid_start(y0, dy, reduce);
        picture->rows[c].first = first - cli_grid_start(picture->image.y0, dy, reduce);
        picture->rows[c].count = cli_grid_start(y1, dy, reduce) - first;
    }
    return allocate(picture, layout, name);
}

/* ---- Precision ----------------------------------------------------------------------------------------------- */

/* 0 stays 0 for signed samples. */
static int64_t scale_sample(int64_t value, uint32_t from, uint32_t to, bool is_signed)
{
    if (to <= from)
        return value >> (from - to);
    return is_signed ? value * ((int64_t)1 << (to - from))
                     : value * (((int64_t)1 << to) - 1) / (((int64_t)1 << from) - 1);
}

static bool convert_rows(const l2k_plane *from, uint32_t from_bits, const l2k_plane *to, const l2k_component *component,
                         uint32_t rows, bool keeps, const char *name)
{
    const int64_t range = (int64_t)1 << component->precision, least = component->is_signed ? -range / 2 : 0;
    for (uint32_t y = 0; y < rows; y++) {
        const char *in = (const char *)from->data + (ptrdiff_t)y * from->row_stride;
        char *out = (char *)to->data + (ptrdiff_t)y * to->row_stride;
        for (uint32_t x = 0; x < component->width; x++, in += from->sample_stride, out += to->sample_stride) {
            int64_t value = cli_load_sample(in, from->type);
            if (!keeps)
                value = scale_sample(value, from_bits, component->precision, component->is_signed);
            if (value < least || value >= least + range)
                return cli_error(name, "a sample of %lld does not fit %u bits", (long long)value, component->precision);
            cli_store_sample(out, to->type, value);
        }
    }
    return true;
}

bool cli_picture_rescale(cli_picture *picture, cli_layout layout, uint32_t precision, bool keeps, const char *name)
{
    const uint32_t count = picture->image.num_components;
    cli_picture from = {0};
    if (!cli_picture_adopt(&from, &picture->image, name))
        return false;
    memcpy(from.planes, picture->planes, count * sizeof *from.planes);
    memcpy(from.buffers, picture->buffers, count * sizeof *from.buffers);
    memset(picture->buffers, 0, count * sizeof *from.buffers);
    const uint64_t held = picture->held;
    picture->held = cli_picture_bytes(picture);
    for (uint32_t c = 0; c < count; c++)
        picture->components[c].precision = precision;
    bool done = allocate(picture, layout, name);
    for (uint32_t c = 0; done && c < count; c++)
        done = convert_rows(&from.planes[c], from.components[c].precision, &picture->planes[c], &picture->components[c],
                            picture->rows[c].count, keeps, name);
    picture->held = held;
    cli_picture_free(&from);
    return done;
}
