#define _POSIX_C_SOURCE 200809L /* fileno */
#include "cli/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cli/report.h"

static bool open_named(cli_input *input, const char *path)
{
    struct stat facts;
    input->stream = fopen(path, "rb");
    if (!input->stream)
        return cli_error(path, "%s", strerror(errno));
    /* fopen accepts a directory for reading; only the first read would fail. */
    if (fstat(fileno(input->stream), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        cli_input_close(input);
        return cli_error(path, "%s", strerror(EISDIR));
    }
    return true;
}

bool cli_input_open(cli_input *input, const char *path)
{
    memset(input, 0, sizeof *input);
    if (strcmp(path, "-") == 0) {
        input->stream = stdin;
        input->name = "standard input";
    } else {
        input->name = path;
        if (!open_named(input, path))
            return false;
    }
    input->head_filled = fread(input->head, 1, sizeof input->head, input->stream);
    if (input->head_filled)
        return true;
    if (ferror(input->stream))
        cli_error(input->name, "%s", strerror(errno));
    else
        cli_error(input->name, "the file is empty");
    cli_input_close(input);
    return false;
}

void cli_input_close(cli_input *input)
{
    if (input->stream && input->stream != stdin)
        fclose(input->stream);
    input->stream = NULL;
}

void cli_input_ahead(const cli_input *input)
{
#ifdef POSIX_FADV_WILLNEED
    posix_fadvise(fileno(input->stream), 0, 0, POSIX_FADV_WILLNEED);
#else
    (void)input;
#endif
}

size_t cli_input_read(cli_input *input, void *buffer, size_t bytes)
{
    uint8_t *to = buffer;
    size_t held = input->head_filled - input->head_used;
    if (held > bytes)
        held = bytes;
    memcpy(to, input->head + input->head_used, held);
    input->head_used += held;
    return held == bytes ? held : held + fread(to + held, 1, bytes - held, input->stream);
}

bool cli_input_failed(const cli_input *input)
{
    return ferror(input->stream) != 0;
}

int cli_input_byte(cli_input *input)
{
    if (input->head_used < input->head_filled)
        return input->head[input->head_used++];
    return getc(input->stream);
}

bool cli_input_exact(cli_input *input, void *buffer, size_t bytes)
{
    return cli_input_read(input, buffer, bytes) == bytes || cli_input_ended(input);
}

bool cli_input_ended(const cli_input *input)
{
    if (cli_input_failed(input))
        return cli_error(input->name, "%s", strerror(errno ? errno : EIO));
    return cli_error(input->name, "the file is truncated");
}

bool cli_input_holds(const cli_input *input, uint64_t bytes)
{
    struct stat facts;
    if (fstat(fileno(input->stream), &facts) != 0 || !S_ISREG(facts.st_mode))
        return true;
    return facts.st_size >= 0 && (uint64_t)facts.st_size >= bytes ? true
                                                                  : cli_error(input->name, "the file is truncated");
}

bool cli_input_map(const cli_input *input, const void **data, size_t *bytes)
{
    struct stat facts;
    int descriptor = fileno(input->stream);
    if (input->stream == stdin || fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size <= 0)
        return false;
    void *mapped = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    *data = mapped;
    *bytes = (size_t)facts.st_size;
    return mapped != MAP_FAILED;
}
