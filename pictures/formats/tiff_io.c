/* libtiff's input, output and messages, on the command's own files. */
#ifdef L2K_WITH_TIFF

#include "pictures/formats/tiff.h"

#include <stdio.h>

#include "pictures/user/report.h"

/* The most that libtiff may allocate at once, for strip tables and raw strips: the file states all of these sizes. */
#define MOST_BYTES ((tmsize_t)1 << 30)

static void keep(cli_tiff_io *io, const char *format, va_list arguments)
{
    if (io && !io->message[0])
        vsnprintf(io->message, sizeof io->message, format, arguments);
}

/* libtiff 4.5 has handlers for each open file; older ones have one for all, which receives the file's handle. */
#if TIFFLIB_VERSION >= 20221213

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments)
{
    (void)tiff;
    (void)module;
    keep(user, format, arguments);
    return 1;
}

static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments)
{
    (void)tiff, (void)user, (void)module, (void)format, (void)arguments;
    return 1;
}

#else

static void on_error(thandle_t handle, const char *module, const char *format, va_list arguments)
{
    (void)module;
    keep((cli_tiff_io *)handle, format, arguments);
}

#endif

static tmsize_t on_read(thandle_t handle, void *buffer, tmsize_t bytes)
{
    cli_tiff_io *io = (cli_tiff_io *)handle;
    if (!io->input)
        return -1;
    ptrdiff_t got = cli_input_read_at(io->input, buffer, (size_t)bytes, io->at);
    io->ended = io->ended || (got >= 0 && got < bytes);
    io->at += got > 0 ? (uint64_t)got : 0;
    return got;
}

static tmsize_t on_write(thandle_t handle, void *buffer, tmsize_t bytes)
{
    cli_tiff_io *io = (cli_tiff_io *)handle;
    if (!io->output || !cli_output_write_at(io->output, io->at, buffer, (size_t)bytes))
        return -1;
    io->at += (uint64_t)bytes;
    return bytes;
}

static toff_t on_size(thandle_t handle)
{
    const cli_tiff_io *io = (const cli_tiff_io *)handle;
    uint64_t bytes;
    if (io->output)
        return io->output->bytes;
    return cli_input_size(io->input, &bytes) ? bytes : 0;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence)
{
    cli_tiff_io *io = (cli_tiff_io *)handle;
    const uint64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? io->at : on_size(handle);
    if (offset > INT64_MAX - (from < INT64_MAX ? from : INT64_MAX)) /* beyond any file's length */
        return (toff_t)-1;
    return io->at = from + offset;
}

static int on_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

TIFF *cli_tiff_open(cli_tiff_io *io, const char *name, const char *mode)
{
#if TIFFLIB_VERSION >= 20221213
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, MOST_BYTES);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, io);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, io);
    io->tiff = TIFFClientOpenExt(name, mode, io, on_read, on_write, on_seek, on_close, on_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
#else
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    TIFFSetErrorHandlerExt(on_error);
    io->tiff = TIFFClientOpen(name, mode, io, on_read, on_write, on_seek, on_close, on_size, NULL, NULL);
#endif
    return io->tiff;
}

void cli_tiff_close(cli_tiff_io *io)
{
    if (io->tiff)
        TIFFClose(io->tiff);
    io->tiff = NULL;
    l2k_decoder_free(io->decoder);
    l2k_encoder_free(io->encoder);
}

bool cli_tiff_fail(const cli_tiff_io *io, const char *name, const char *otherwise)
{
    if (io->ended)
        return cli_error(name, "the file is truncated");
    return cli_error(name, "TIFF: %s", io->message[0] ? io->message : otherwise);
}

#endif
