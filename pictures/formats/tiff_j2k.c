/* Strips and tiles of TIFF that are JPEG 2000 codestreams. libtiff's public interface registers a codec but not its
 * functions, so chunks pass it as they are. */
#ifdef L2K_WITH_TIFF

#include <stdio.h>
#include <stdlib.h>

#include "pictures/formats/tiff.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

bool cli_tiff_is_j2k(uint16_t compression)
{
    return compression == CLI_TIFF_J2K || compression == CLI_TIFF_APERIO || compression == CLI_TIFF_APERIO_YCC;
}

static void keep(void *user, l2k_severity severity, const char *text)
{
    cli_tiff_io *io = user;
    if (severity == L2K_SEVERITY_ERROR && !io->message[0])
        snprintf(io->message, sizeof io->message, "%s", text);
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* The codestream of a chunk; NULL with a complaint, or without one where memory runs out. */
static uint8_t *take_raw(cli_tiff_io *io, bool tiled, uint32_t index, tmsize_t *bytes)
{
    const uint64_t count = TIFFGetStrileByteCount(io->tiff, index);
    uint64_t size;
    if (!cli_input_size(io->input, &size) || !count || count > size || count > PTRDIFF_MAX) {
        keep(io, L2K_SEVERITY_ERROR, "a strip or tile is missing");
        return NULL;
    }
    *bytes = (tmsize_t)count;
    uint8_t *raw = malloc((size_t)count);
    if (raw && (tiled ? TIFFReadRawTile(io->tiff, index, raw, *bytes)
                      : TIFFReadRawStrip(io->tiff, index, raw, *bytes)) != *bytes) {
        free(raw);
        raw = NULL;
    }
    return raw;
}

/* Samples of one component into every `count`th place; those of a smaller one repeat. */
static void place_component(const cli_tiff_layout *layout, const l2k_image *image, const l2k_plane *planes, uint32_t c,
                            char *chunk)
{
    const l2k_component *first = image->components, *component = &image->components[c];
    const uint32_t size = layout->bits / 8, count = image->num_components;
    const uint32_t width = first->width < layout->chunk_width ? first->width : layout->chunk_width;
    const uint32_t height = first->height < layout->chunk_height ? first->height : layout->chunk_height;
    for (uint32_t y = 0; y < height; y++) {
        const uint64_t row = (uint64_t)y * component->height / first->height;
        const char *from = (const char *)planes[c].data + (ptrdiff_t)row * planes[c].row_stride;
        char *to = chunk + ((size_t)y * layout->chunk_width * count + c) * size;
        for (uint32_t x = 0; x < width; x++, to += (size_t)count * size) {
            const uint64_t column =
                component->width == first->width ? x : (uint64_t)x * component->width / first->width;
            cli_store_sample(to, cli_sample_type(layout->bits, false),
                             cli_load_sample(from + (ptrdiff_t)column * planes[c].sample_stride, planes[c].type));
        }
    }
}

/* A smaller image will do where the rest is outside the picture. */
static const char *misfit(const cli_tiff_layout *layout, const l2k_image *image, uint32_t width, uint32_t height)
{
    const l2k_component *all = image->components;
    if (image->num_components != (layout->separate ? 1 : layout->samples))
        return "a codestream has another number of components";
    for (uint32_t c = 0; c < image->num_components; c++)
        if (all[c].precision > layout->bits || !all[c].width || !all[c].height)
            return "a codestream has more bits than samples, or nothing of a component";
    return all[0].width < width || all[0].height < height ? "a codestream is smaller than its strip or tile" : NULL;
}

bool cli_tiff_decode(cli_tiff_io *io, const cli_tiff_layout *layout, uint32_t index, uint32_t width, uint32_t height,
                     uint8_t *chunk)
{
    const l2k_hooks hooks = {.message = keep, .user = io};
    l2k_decoder *decoder = io->decoder ? io->decoder : (io->decoder = l2k_decoder_new(&hooks));
    const l2k_plane *planes;
    const char *wrong = "a codestream cannot be read";
    l2k_image image;
    tmsize_t bytes;
    uint8_t *raw = decoder ? take_raw(io, layout->tiled, index, &bytes) : NULL;
    if (!raw)
        return false;
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    l2k_decoder_set(decoder, L2K_DECODER_STRICT, 1);
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES,
                    (int64_t)layout->chunk_width * layout->chunk_height * layout->samples);
    if (cli_memory_left(0) != CLI_NO_LIMIT)
        l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, (int64_t)cli_memory_left(0));
    if (l2k_decoder_decode_memory(decoder, raw, (size_t)bytes, &image, &planes) == L2K_OK &&
        !(wrong = misfit(layout, &image, width, height)))
        for (uint32_t c = 0; c < image.num_components; c++)
            place_component(layout, &image, planes, c, (char *)chunk);
    free(raw);
    if (wrong)
        keep(io, L2K_SEVERITY_ERROR, wrong);
    return !wrong;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* G.3, rounded, in place. */
static void to_ycc(uint8_t *pixels, size_t count, uint32_t bits)
{
    const l2k_sample_type type = cli_sample_type(bits, false);
    const int32_t half = 1 << (bits - 1), most = 2 * half - 1, size = (int32_t)bits / 8;
    for (char *at = (char *)pixels; count; count--, at += 3 * size) {
        const double r = cli_load_sample(at, type), g = cli_load_sample(at + size, type),
                     b = cli_load_sample(at + 2 * size, type), y = 0.299 * r + 0.587 * g + 0.114 * b;
        const double chroma[2] = {(b - y) / 1.772 + half + 0.5, (r - y) / 1.402 + half + 0.5};
        cli_store_sample(at, type, (int64_t)(y + 0.5));
        for (int k = 0; k < 2; k++)
            cli_store_sample(at + (k + 1) * size, type, chroma[k] < most ? (int64_t)chroma[k] : most);
    }
}

/* Lossless, with the 5/3 and MQ code-blocks, which every reader of these tiles has. */
static bool put_tile(cli_tiff_io *io, const cli_view *view, uint8_t *samples, size_t row_bytes, uint32_t index)
{
    const uint32_t size = cli_sample_bytes(view->depth), count = view->count;
    const uint8_t *bytes;
    size_t length;
    l2k_component components[4];
    l2k_plane planes[4];
    for (uint32_t c = 0; c < count; c++) {
        components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = view->depth, .is_signed = view->is_signed};
        planes[c] = (l2k_plane){samples + (size_t)c * size, (ptrdiff_t)row_bytes, (ptrdiff_t)(count * size),
                                cli_sample_type(view->depth, view->is_signed)};
    }
    const l2k_image image = {
        .x1 = CLI_TIFF_TILE, .y1 = CLI_TIFF_TILE, .num_components = count, .components = components};
    return l2k_encoder_encode_memory(io->encoder, &image, planes, &bytes, &length) == L2K_OK &&
           TIFFWriteRawTile(io->tiff, index, (void *)(uintptr_t)bytes, (tmsize_t)length) == (tmsize_t)length;
}

bool cli_tiff_encode(cli_tiff_io *io, const cli_view *view, uint16_t compression, uint8_t *rows, uint32_t first)
{
    const l2k_hooks hooks = {.message = keep, .user = io};
    const uint32_t across = (view->width + CLI_TIFF_TILE - 1) / CLI_TIFF_TILE;
    const size_t pixel = (size_t)view->count * cli_sample_bytes(view->depth), row = across * CLI_TIFF_TILE * pixel;
    if (!io->encoder && !(io->encoder = l2k_encoder_new(&hooks)))
        return false;
    l2k_encoder_set(io->encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    l2k_encoder_set(io->encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU);
    l2k_encoder_set(io->encoder, L2K_ENCODER_COMPONENT_TRANSFORM,
                    view->count >= 3 && compression != CLI_TIFF_APERIO_YCC);
    if (compression == CLI_TIFF_APERIO_YCC)
        to_ycc(rows, (size_t)across * CLI_TIFF_TILE * CLI_TIFF_TILE, view->depth);
    for (uint32_t x = 0; x < across; x++)
        if (!put_tile(io, view, rows + x * CLI_TIFF_TILE * pixel, row, first / CLI_TIFF_TILE * across + x))
            return false;
    return true;
}

#endif
