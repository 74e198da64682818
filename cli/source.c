#include "cli/source.h"

#include <string.h>
#include <sys/mman.h>

static ptrdiff_t on_read(void *user, void *buffer, size_t bytes)
{
    cli_input *input = user;
    if (bytes > PTRDIFF_MAX)
        bytes = PTRDIFF_MAX;
    size_t got = cli_input_read(input, buffer, bytes);
    return got == 0 && cli_input_failed(input) ? -1 : (ptrdiff_t)got;
}

static l2k_status open_input(cli_source *source, cli_input *input)
{
    const l2k_stream stream = {.read = on_read, .user = input};
    if (cli_input_map(input, &source->mapped, &source->mapped_bytes))
        return l2k_decoder_open_memory(source->decoder, source->mapped, source->mapped_bytes);
    source->mapped = NULL;
    return l2k_decoder_open(source->decoder, &stream);
}

bool cli_source_read(cli_source *source, cli_input *input, bool quiet, bool strict)
{
    memset(source, 0, sizeof *source);
    cli_messages_init(&source->messages, input->name, quiet);
    l2k_hooks hooks = cli_messages_hooks(&source->messages);
    source->decoder = l2k_decoder_new(&hooks);
    l2k_status status =
        source->decoder ? l2k_decoder_set(source->decoder, L2K_DECODER_STRICT, strict) : L2K_ERROR_MEMORY;
    if (status == L2K_OK)
        status = open_input(source, input);
    if (status != L2K_OK) {
        if (cli_input_failed(input))
            cli_input_ended(input); /* errno knows better than the library why reading failed */
        else
            cli_messages_fail(&source->messages, status);
        cli_source_close(source);
    }
    return status == L2K_OK;
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

bool cli_source_decode(cli_source *source, cli_picture *picture, cli_layout layout)
{
    if (!cli_picture_allocate(picture, layout, source->messages.subject))
        return false;
    l2k_status status = l2k_decoder_decode(source->decoder, picture->planes);
    source->incomplete = status == L2K_INCOMPLETE;
    return status == L2K_OK || source->incomplete || cli_messages_fail(&source->messages, status);
}

void cli_source_close(cli_source *source)
{
    l2k_decoder_free(source->decoder);
    source->decoder = NULL;
    if (source->mapped)
        munmap((void *)(uintptr_t)source->mapped, source->mapped_bytes);
    source->mapped = NULL;
}
