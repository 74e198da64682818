/* JPEG 2000 files opened with the library's decoder: mapped into memory if they are regular files, else read as a
 * stream. Other files are recognised by their first bytes. */
#define _DEFAULT_SOURCE /* madvise */
#include "cli/input/input.h"

#include <string.h>
#include <sys/mman.h>

#include "cli/run/progress.h"
#include "pictures/reader.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"

static ptrdiff_t on_read(void *user, void *buffer, size_t bytes)
{
    cli_input *input = user;
    size_t got = cli_input_read(input, buffer, bytes < PTRDIFF_MAX ? bytes : PTRDIFF_MAX);
    return got == 0 && input->error ? -1 : (ptrdiff_t)got;
}

static l2k_status open_input(cli_coded_file *file, cli_input *input)
{
    const l2k_stream stream = {.read = on_read, .user = input};
    const void *before = file->mapped;
    size_t before_bytes = file->mapped_bytes;
    l2k_status status;
    if (cli_input_map(input, &file->mapped, &file->mapped_bytes)) {
        status = l2k_decoder_open_memory(file->decoder, file->mapped, file->mapped_bytes);
    } else {
        file->mapped = NULL;
        status = l2k_decoder_open(file->decoder, &stream);
    }
    if (before) /* the decoder used it until now */
        munmap((void *)(uintptr_t)before, before_bytes);
    return status;
}

bool cli_coded_limit_memory(cli_coded_file *file, uint64_t taken)
{
    const uint64_t left = cli_memory_left(file->other_bytes + taken);
    return left == CLI_NO_LIMIT ||
           cli_messages_check(&file->messages, l2k_decoder_set(file->decoder, L2K_DECODER_LIMIT_MEMORY, (int64_t)left));
}

bool cli_coded_create(cli_coded_file *file, const char *name, bool quiet, bool strict)
{
    memset(file, 0, sizeof *file);
    cli_messages_init(&file->messages, name, quiet);
    l2k_hooks hooks = cli_messages_hooks(&file->messages);
    file->decoder = l2k_decoder_new(&hooks);
    if (!file->decoder)
        return cli_error(name, "out of memory");
    return l2k_decoder_set(file->decoder, L2K_DECODER_STRICT, strict) == L2K_OK;
}

bool cli_coded_next(cli_coded_file *file, cli_input *input)
{
    l2k_info info;
    const l2k_image *image = &info.image;
    cli_messages *messages = &file->messages;
    /* The number of components, and with it that of samples, is not known before the file is open. */
    const int64_t samples = cli_allowed.pixels != CLI_NO_LIMIT ? (int64_t)CLI_MAX_SAMPLES : 0;
    cli_messages_init(messages, input->name, messages->quiet);
    file->incomplete = file->in_strips = false;
    /* A region may be left from the previous file. */
    if (!cli_messages_check(messages, l2k_decoder_set_region(file->decoder, 0, 0, UINT32_MAX, UINT32_MAX)) ||
        !cli_messages_check(messages, l2k_decoder_set(file->decoder, L2K_DECODER_LIMIT_SAMPLES, samples)) ||
        !cli_coded_limit_memory(file, 0))
        return false;
    const l2k_status status = open_input(file, input);
    if (status != L2K_OK && input->error)
        return cli_input_ended(input); /* more precise than the library's error */
    return cli_messages_check(messages, status) &&
           cli_messages_check(messages, l2k_decoder_info(file->decoder, &info)) &&
           cli_pixels_allowed(image->x1 - image->x0, image->y1 - image->y0, messages->subject);
}

bool cli_coded_open(cli_coded_file *file, cli_input *input, bool quiet)
{
    const bool done = cli_coded_create(file, input->name, quiet, false) && cli_coded_next(file, input);
    if (!done)
        cli_coded_close(file);
    cli_input_close(input);
    return done;
}

static bool decode_rows(cli_coded_file *file, cli_picture *picture, cli_layout layout, uint32_t y0, uint32_t y1,
                        uint32_t reduce)
{
    const bool in_strips = file->in_strips;
    l2k_image strip;
    if (!in_strips && (!cli_messages_check(&file->messages, l2k_decoder_set_region(file->decoder, picture->image.x0, y0,
                                                                                   picture->image.x1, y1)) ||
                       !cli_messages_check(&file->messages, l2k_decoder_image(file->decoder, &strip))))
        return false;
    if (!cli_picture_window(picture, y0, y1, reduce, layout, file->messages.subject) ||
        (!in_strips && !cli_coded_limit_memory(file, cli_picture_bytes(picture))))
        return false;
    cli_interrupt_wait(true);
    const l2k_status status = in_strips ? l2k_decoder_get_rows(file->decoder, picture->planes)
                                        : l2k_decoder_decode(file->decoder, picture->planes);
    cli_interrupt_wait(false);
    if (cli_coded_is_done(file, status) && file->mapped) /* else its pages would count as memory of this process */
        madvise((void *)(uintptr_t)file->mapped, file->mapped_bytes, MADV_DONTNEED);
    return status == L2K_OK || status == L2K_INCOMPLETE;
}

bool cli_coded_is_done(cli_coded_file *file, l2k_status status)
{
    file->incomplete = file->incomplete || status == L2K_INCOMPLETE;
    return status == L2K_INCOMPLETE || cli_messages_check(&file->messages, status);
}

void cli_coded_close(cli_coded_file *file)
{
    l2k_decoder_free(file->decoder);
    file->decoder = NULL;
    if (file->mapped)
        munmap((void *)(uintptr_t)file->mapped, file->mapped_bytes);
    file->mapped = NULL;
}

/* ---- Strips ------------------------------------------------------------------------------------------------------
 *
 * Cuts are at the end of a row of tiles, on a row that sub-sampled components allow; or where a decoder that works in
 * strips has them. */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* An output row of a sub-sampled component is made of the sample row above it. Both are in the same strip if all cuts
 * are multiples of all YRsiz, after reduction. No picture has such a row beyond 32 bits. */
static uint64_t find_unit(const cli_picture *picture, uint32_t reduce)
{
    const uint64_t most = (uint64_t)UINT32_MAX >> reduce;
    uint64_t unit = 1;
    for (uint32_t c = 0; c < picture->image.num_components && unit <= most; c++)
        unit = unit / common_divisor(unit, picture->components[c].dy) * picture->components[c].dy;
    return unit <= most ? unit << reduce : (uint64_t)1 << 32;
}

/* A decoder may cut where it likes if there is one tile, and all cuts keep to the unit: its strips end at multiples of
 * the largest YRsiz. */
static bool suit_decoder(const cli_strips *strips, const l2k_info *info)
{
    uint64_t most = 1;
    for (uint32_t c = 0; c < strips->picture->image.num_components; c++)
        most = strips->picture->components[c].dy > most ? strips->picture->components[c].dy : most;
    return info->tiles_across * info->tiles_down == 1 && strips->unit == most << strips->reduce &&
           (most == 1 || strips->y0 == 0);
}

bool cli_strips_begin(cli_strips *strips, cli_coded_file *file, cli_picture *picture, const l2k_info *info,
                      uint32_t reduce, uint64_t least_samples, bool low)
{
    enum { ROWS_OF_STRIP = 256 };
    const uint32_t y0 = picture->image.y0, rows = picture->image.y1 - y0;
    const uint64_t samples = cli_picture_samples(picture);
    *strips = (cli_strips){
        .file = file,
        .picture = picture,
        .reduce = reduce,
        .tile_y0 = info->tile_y0,
        .tile_height = info->tile_height,
        .unit = find_unit(picture, reduce),
        .least = samples <= least_samples ? rows : (uint32_t)((double)least_samples / (double)samples * rows),
        .y0 = y0,
        .y1 = y0};
    if (!low || !suit_decoder(strips, info))
        return true;
    if (!cli_coded_limit_memory(file, cli_picture_strip_bytes(picture, ROWS_OF_STRIP)))
        return false;
    cli_interrupt_wait(true);
    const l2k_status status = l2k_decoder_begin(file->decoder);
    cli_interrupt_wait(false);
    file->in_strips = status == L2K_OK;
    return cli_messages_check(&file->messages, status);
}

bool cli_strips_end(const cli_strips *strips)
{
    cli_coded_file *file = strips->file;
    const bool in_strips = file->in_strips;
    file->in_strips = false;
    return !in_strips || cli_coded_is_done(file, l2k_decoder_end(file->decoder));
}

/* The earliest end of the strip: output rows above the first sample row of a component repeat that row, so the first
 * strip must contain it. */
static uint64_t least_end(const cli_strips *strips)
{
    uint64_t least = strips->y0;
    for (uint32_t c = 0; c < strips->picture->image.num_components; c++) {
        const uint32_t dy = strips->picture->components[c].dy;
        const uint64_t first = (uint64_t)cli_grid_start(strips->y0, dy, strips->reduce) * dy << strips->reduce;
        least = first > least ? first : least;
    }
    return least + 1;
}

/* A cut is the end of a row of tiles, or the last multiple of the unit above it. It is computed instead of searched
 * for: a file can have 2^32 rows between two multiples of its unit, and tiles of one row. */
bool cli_strips_next(cli_strips *strips, double from)
{
    const l2k_image *image = &strips->picture->image;
    const uint64_t end = image->y1, y0 = strips->y1;
    const double each = (1 - from) / (double)(image->y1 - image->y0);
    if (strips->file->in_strips) {
        if (l2k_decoder_next_rows(strips->file->decoder, &strips->y0, &strips->y1) != L2K_OK ||
            strips->y0 >= strips->y1)
            return false;
    } else if (y0 < end) {
        strips->y0 = strips->y1;
        const uint64_t multiple = (least_end(strips) + strips->unit - 1) / strips->unit * strips->unit;
        const uint64_t worth = (y0 + strips->least - strips->tile_y0) / strips->tile_height + 1;
        const uint64_t needed = (multiple - strips->tile_y0 + strips->tile_height - 1) / strips->tile_height;
        uint64_t cut = strips->tile_y0 + (worth > needed ? worth : needed) * strips->tile_height;
        cut -= cut % strips->unit;
        strips->y1 = (uint32_t)(cut < end ? cut : end);
    } else {
        return false;
    }
    cli_progress_span(from + each * (double)(strips->y0 - image->y0), from + each * (double)(strips->y1 - image->y0));
    return true;
}

bool cli_strips_decode(cli_strips *strips, cli_layout layout)
{
    return decode_rows(strips->file, strips->picture, layout, strips->y0, strips->y1, strips->reduce);
}

/* ---- Any format -------------------------------------------------------------------------------------------------- */

/* SOC (A.4.1), or the signature box of a JP2 file (I.5.1); the library checks the rest. */
static bool is_jpeg2000(const cli_input *input)
{
    static const uint8_t codestream[2] = {0xff, 0x4f}, signature[8] = {0, 0, 0, 12, 'j', 'P', ' ', ' '};
    return (input->filled >= sizeof codestream && memcmp(input->buffer, codestream, sizeof codestream) == 0) ||
           (input->filled >= sizeof signature && memcmp(input->buffer, signature, sizeof signature) == 0);
}

bool cli_any_file_open(cli_any_file *file, const char *path, bool quiet)
{
    const cli_read_options how = {.quiet = quiet};
    cli_input input;
    cli_reader reader;
    bool done;
    memset(file, 0, sizeof *file);
    file->name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (cli_is_plane_set(path)) {
        done = cli_reader_open(&reader, path, &how);
    } else {
        if (!cli_input_open(&input, path))
            return false;
        file->is_jpeg2000 = is_jpeg2000(&input);
        if (file->is_jpeg2000)
            return cli_coded_open(&file->coded, &input, quiet);
        if (!cli_reader_knows(&input)) {
            cli_input_close(&input);
            return cli_error(file->name, "neither JPEG 2000 nor a PNG, JPEG, TIFF, PNM, PAM, PGX or Y4M file");
        }
        done = cli_reader_open_input(&reader, &input, &how);
    }
    done = done && cli_reader_all(&reader);
    file->picture = reader.picture;
    file->picture.held = file->picture.extra = 0; /* of the reader */
    memset(&reader.picture, 0, sizeof reader.picture);
    cli_reader_close(&reader);
    return done;
}

void cli_any_file_close(cli_any_file *file)
{
    cli_coded_close(&file->coded);
    cli_picture_free(&file->picture);
}

static bool decode_whole(cli_coded_file *coded, cli_picture *picture)
{
    l2k_image image;
    if (!cli_messages_check(&coded->messages, l2k_decoder_image(coded->decoder, &image)) ||
        !cli_picture_adopt(picture, &image, coded->messages.subject))
        return false;
    picture->image.icc = NULL; /* belongs to the decoder */
    picture->image.icc_bytes = 0;
    if (!decode_rows(coded, picture, CLI_PLANAR, image.y0, image.y1, 0))
        return false;
    return coded->incomplete ? cli_error(coded->messages.subject, "the file ends before its picture does") : true;
}

/* Quiet: warnings about a file that can be decoded do not matter here. */
bool cli_any_picture_read(cli_picture *picture, const char *path)
{
    cli_any_file file;
    bool done = cli_any_file_open(&file, path, true);
    if (done && file.is_jpeg2000)
        done = decode_whole(&file.coded, &file.picture);
    *picture = file.picture;
    memset(&file.picture, 0, sizeof file.picture);
    cli_any_file_close(&file);
    return done;
}
