#define _DEFAULT_SOURCE /* madvise */
#include "cli/decode/source.h"
#include "cli/run/messages.h"

#include <string.h>
#include <sys/mman.h>

#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"

static ptrdiff_t on_read(void *user, void *buffer, size_t bytes)
{
    cli_input *input = user;
    size_t got = cli_input_read(input, buffer, bytes < PTRDIFF_MAX ? bytes : PTRDIFF_MAX);
    return got == 0 && cli_input_failed(input) ? -1 : (ptrdiff_t)got;
}

static void unmap(cli_source *source)
{
    if (source->mapped)
        munmap((void *)(uintptr_t)source->mapped, source->mapped_bytes);
    source->mapped = NULL;
}

static l2k_status open_input(cli_source *source, cli_input *input)
{
    const l2k_stream stream = {.read = on_read, .user = input};
    const void *before = source->mapped;
    size_t before_bytes = source->mapped_bytes;
    l2k_status status;
    if (cli_input_map(input, &source->mapped, &source->mapped_bytes)) {
        status = l2k_decoder_open_memory(source->decoder, source->mapped, source->mapped_bytes);
    } else {
        source->mapped = NULL;
        status = l2k_decoder_open(source->decoder, &stream);
    }
    if (before) /* until now the decoder's */
        munmap((void *)(uintptr_t)before, before_bytes);
    return status;
}

l2k_status cli_source_limit_memory(cli_source *source, uint64_t taken)
{
    const uint64_t left = cli_memory_left(source->beside + taken);
    return left == CLI_NO_LIMIT ? L2K_OK : l2k_decoder_set(source->decoder, L2K_DECODER_LIMIT_MEMORY, (int64_t)left);
}

/* Before a file is opened nobody knows how many components have these pixels; pixels_allowed looks again. */
static l2k_status limit_samples(cli_source *source)
{
    bool given = cli_allowed.pixels != CLI_NO_LIMIT;
    return l2k_decoder_set(source->decoder, L2K_DECODER_LIMIT_SAMPLES, given ? (int64_t)CLI_MAX_SAMPLES : 0);
}

static bool pixels_allowed(const cli_source *source)
{
    l2k_info info;
    l2k_status status = l2k_decoder_info(source->decoder, &info);
    const l2k_image *image = &info.image;
    if (status != L2K_OK)
        return cli_messages_fail(&source->messages, status);
    return cli_pixels_allowed(image->x1 - image->x0, image->y1 - image->y0, source->messages.subject);
}

bool cli_source_create(cli_source *source, const char *name, bool quiet, bool strict)
{
    memset(source, 0, sizeof *source);
    cli_messages_init(&source->messages, name, quiet);
    l2k_hooks hooks = cli_messages_hooks(&source->messages);
    source->decoder = l2k_decoder_new(&hooks);
    if (!source->decoder)
        return cli_error(name, "out of memory");
    if (l2k_decoder_set(source->decoder, L2K_DECODER_STRICT, strict) == L2K_OK)
        return true;
    cli_source_close(source);
    return false;
}

bool cli_source_next(cli_source *source, cli_input *input)
{
    cli_messages_init(&source->messages, input->name, source->messages.quiet);
    source->incomplete = false;
    /* Of the file before, one may be left. */
    l2k_status status = l2k_decoder_set_region(source->decoder, 0, 0, UINT32_MAX, UINT32_MAX);
    if (status == L2K_OK)
        status = cli_source_limit_memory(source, 0);
    if (status == L2K_OK)
        status = limit_samples(source);
    if (status == L2K_OK)
        status = open_input(source, input);
    if (status == L2K_OK)
        return pixels_allowed(source);
    if (cli_input_failed(input))
        return cli_input_ended(input); /* which knows better than the library why reading failed */
    return cli_messages_fail(&source->messages, status);
}

bool cli_source_read(cli_source *source, cli_input *input, bool quiet, bool strict)
{
    if (!cli_source_create(source, input->name, quiet, strict))
        return false;
    if (cli_source_next(source, input))
        return true;
    cli_source_close(source);
    return false;
}

bool cli_source_open(cli_source *source, const char *path, bool quiet, bool strict)
{
    cli_input input;
    if (!cli_input_open(&input, path))
        return false;
    bool done = cli_source_read(source, &input, quiet, strict);
    cli_input_close(&input);
    return done;
}

static bool decode(cli_source *source, const cli_picture *picture)
{
    l2k_status status = cli_source_limit_memory(source, cli_picture_bytes(picture));
    cli_interrupt_wait(true);
    if (status == L2K_OK)
        status = l2k_decoder_decode(source->decoder, picture->planes);
    cli_interrupt_wait(false);
    source->incomplete = source->incomplete || status == L2K_INCOMPLETE;
    return status == L2K_OK || status == L2K_INCOMPLETE || cli_messages_fail(&source->messages, status);
}

bool cli_source_decode(cli_source *source, cli_picture *picture, cli_layout layout)
{
    return cli_picture_allocate(picture, layout, source->messages.subject) && decode(source, picture);
}

bool cli_source_decode_rows(cli_source *source, cli_picture *picture, cli_layout layout, uint32_t y0, uint32_t y1,
                            uint32_t reduce)
{
    l2k_image strip;
    l2k_status status = l2k_decoder_set_region(source->decoder, picture->image.x0, y0, picture->image.x1, y1);
    if (status == L2K_OK)
        status = l2k_decoder_image(source->decoder, &strip);
    if (status != L2K_OK)
        return cli_messages_fail(&source->messages, status);
    if (!cli_picture_window(picture, y0, y1, reduce, layout, source->messages.subject) || !decode(source, picture))
        return false;
    if (source->mapped) /* pages of the file, which would count as this process's */
        madvise((void *)(uintptr_t)source->mapped, source->mapped_bytes, MADV_DONTNEED);
    return true;
}

void cli_source_close(cli_source *source)
{
    l2k_decoder_free(source->decoder);
    source->decoder = NULL;
    unmap(source);
}
