/* A JPEG 2000 file opened with the library's decoder: mapped into memory if it is a regular file, else read as a
 * stream. */
#define _DEFAULT_SOURCE /* madvise */
#include "cli/input/coded_file.h"

#include <string.h>
#include <sys/mman.h>

#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"

static ptrdiff_t on_read(void *user, void *buffer, size_t bytes)
{
    cli_input *input = user;
    size_t got = cli_input_read(input, buffer, bytes < PTRDIFF_MAX ? bytes : PTRDIFF_MAX);
    return got == 0 && input->error ? -1 : (ptrdiff_t)got;
}

static void unmap(cli_coded_file *file)
{
    if (file->mapped)
        munmap((void *)(uintptr_t)file->mapped, file->mapped_bytes);
    file->mapped = NULL;
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

l2k_status cli_coded_limit_memory(cli_coded_file *file, uint64_t taken)
{
    const uint64_t left = cli_memory_left(file->other_bytes + taken);
    return left == CLI_NO_LIMIT ? L2K_OK : l2k_decoder_set(file->decoder, L2K_DECODER_LIMIT_MEMORY, (int64_t)left);
}

/* The number of components is unknown until the file is open; pixels_allowed checks later. */
static l2k_status limit_samples(cli_coded_file *file)
{
    bool given = cli_allowed.pixels != CLI_NO_LIMIT;
    return l2k_decoder_set(file->decoder, L2K_DECODER_LIMIT_SAMPLES, given ? (int64_t)CLI_MAX_SAMPLES : 0);
}

static bool pixels_allowed(cli_coded_file *file)
{
    l2k_info info;
    l2k_status status = l2k_decoder_info(file->decoder, &info);
    const l2k_image *image = &info.image;
    if (status != L2K_OK)
        return cli_messages_fail(&file->messages, status);
    return cli_pixels_allowed(image->x1 - image->x0, image->y1 - image->y0, file->messages.subject);
}

bool cli_coded_create(cli_coded_file *file, const char *name, bool quiet, bool strict)
{
    memset(file, 0, sizeof *file);
    cli_messages_init(&file->messages, name, quiet);
    l2k_hooks hooks = cli_messages_hooks(&file->messages);
    file->decoder = l2k_decoder_new(&hooks);
    if (!file->decoder)
        return cli_error(name, "out of memory");
    if (l2k_decoder_set(file->decoder, L2K_DECODER_STRICT, strict) == L2K_OK)
        return true;
    cli_coded_close(file);
    return false;
}

bool cli_coded_next(cli_coded_file *file, cli_input *input)
{
    cli_messages_init(&file->messages, input->name, file->messages.quiet);
    file->incomplete = file->in_strips = false;
    /* One may be left from the previous file. */
    l2k_status status = l2k_decoder_set_region(file->decoder, 0, 0, UINT32_MAX, UINT32_MAX);
    if (status == L2K_OK)
        status = cli_coded_limit_memory(file, 0);
    if (status == L2K_OK)
        status = limit_samples(file);
    if (status == L2K_OK)
        status = open_input(file, input);
    if (status == L2K_OK)
        return pixels_allowed(file);
    if (input->error)
        return cli_input_ended(input); /* more precise than the library's error */
    return cli_messages_fail(&file->messages, status);
}

bool cli_coded_open(cli_coded_file *file, cli_input *input, bool quiet)
{
    const bool created = cli_coded_create(file, input->name, quiet, false),
               done = created && cli_coded_next(file, input);
    if (created && !done)
        cli_coded_close(file);
    cli_input_close(input);
    return done;
}

static bool decode(cli_coded_file *file, const cli_picture *picture)
{
    l2k_status status = file->in_strips ? L2K_OK : cli_coded_limit_memory(file, cli_picture_bytes(picture));
    cli_interrupt_wait(true);
    if (status == L2K_OK)
        status = file->in_strips ? l2k_decoder_get_rows(file->decoder, picture->planes)
                                 : l2k_decoder_decode(file->decoder, picture->planes);
    cli_interrupt_wait(false);
    return cli_coded_is_done(file, status);
}

bool cli_coded_decode_rows(cli_coded_file *file, cli_picture *picture, cli_layout layout, uint32_t y0, uint32_t y1,
                           uint32_t reduce)
{
    l2k_image strip;
    l2k_status status = L2K_OK;
    if (!file->in_strips)
        status = l2k_decoder_set_region(file->decoder, picture->image.x0, y0, picture->image.x1, y1);
    if (!file->in_strips && status == L2K_OK)
        status = l2k_decoder_image(file->decoder, &strip);
    if (status != L2K_OK)
        return cli_messages_fail(&file->messages, status);
    if (!cli_picture_window(picture, y0, y1, reduce, layout, file->messages.subject) || !decode(file, picture))
        return false;
    if (file->mapped) /* else its pages would count as memory of this process */
        madvise((void *)(uintptr_t)file->mapped, file->mapped_bytes, MADV_DONTNEED);
    return true;
}

bool cli_coded_is_done(cli_coded_file *file, l2k_status status)
{
    file->incomplete = file->incomplete || status == L2K_INCOMPLETE;
    return status == L2K_OK || status == L2K_INCOMPLETE || cli_messages_fail(&file->messages, status);
}

void cli_coded_close(cli_coded_file *file)
{
    l2k_decoder_free(file->decoder);
    file->decoder = NULL;
    unmap(file);
}
