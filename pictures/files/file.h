/* Input from a named file or standard input, output that appears under its name only when it is complete. */
#ifndef L2K_PICTURES_FILES_FILE_H
#define L2K_PICTURES_FILES_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The buffer starts with at least this many bytes, unless the file is shorter, so that the content of a pipe
 * identifies its format. */
#define CLI_HEAD_BYTES 16u

typedef struct cli_input {
    int descriptor;
    const char *name; /* for messages */
    uint8_t *buffer;  /* before the first read: the file's first bytes */
    size_t filled, used;
    uint64_t base; /* where in a regular file the input begins: standard input may have been read before */
    int error;     /* errno of the first failed read, 0 */
} cli_input;

/* `path` may be "-". A directory or an empty file is an error. */
bool cli_input_open(cli_input *input, const char *path);

/* The same for an open descriptor, whose ownership passes to the input. `name` is not copied. */
bool cli_input_take(cli_input *input, int descriptor, const char *name);
void cli_input_close(cli_input *input);

/* Asks the system to read the file, or much of it, ahead. */
void cli_input_ahead(const cli_input *input);

/* Returns the number of bytes stored: fewer than requested at the end or after a failure (input->error
 * distinguishes them). */
size_t cli_input_read(cli_input *input, void *buffer, size_t bytes);

/* The next byte, or EOF. */
int cli_input_byte(cli_input *input);

/* Reads exactly `bytes` bytes or reports the reason. */
bool cli_input_exact(cli_input *input, void *buffer, size_t bytes);

/* All that follows, to be freed, with a 0 behind it; or, if there are more than `most` bytes, as many and more. NULL
 * after a report. */
uint8_t *cli_input_all(cli_input *input, size_t most, size_t *bytes);

/* The length of a regular file, from where the input begins; false for anything else. */
bool cli_input_size(const cli_input *input, uint64_t *bytes);

/* Copies a pipe, up to `most` bytes of it, to a file without a name, so that the next two functions can be used. Their
 * offsets count from where the input begins; cli_input_read_at returns what pread does. */
bool cli_input_make_seekable(cli_input *input, uint64_t most);
bool cli_input_seek(cli_input *input, uint64_t offset);
ptrdiff_t cli_input_read_at(const cli_input *input, void *buffer, size_t bytes, uint64_t offset);

/* Maps a whole regular file: only the pages that are accessed are read. False for anything else, without a report. */
bool cli_input_map(const cli_input *input, const void **data, size_t *bytes);

/* Reports a failed read with its cause, and the end of the file as a truncated file. Returns false. */
bool cli_input_ended(const cli_input *input);

/* Reports a regular file that is shorter than `bytes` as truncated. Sizes from a header are checked this way before
 * memory is allocated for them; the length of a pipe is not known in advance. */
bool cli_input_holds(const cli_input *input, uint64_t bytes);

typedef struct cli_output {
    int descriptor;
    uint8_t *buffer; /* owned; NULL: the file is closed */
    size_t used;
    FILE *stream;     /* of cli_output_stream, or NULL */
    const char *name; /* for messages */
    char *target;     /* the path that the finished file receives; NULL when writing directly to it */
    char *temporary;  /* the path until then */
    void *registered; /* the temporary name, with interrupt.h */
    int error;        /* errno of the first failed write, 0 */
    uint64_t bytes;   /* length of the file so far */
    uint64_t at;      /* position; differs from `bytes` only after cli_output_write_at */
} cli_output;

/* `path` may be "-". Devices and pipes are written directly; a regular file is replaced by cli_output_commit. */
bool cli_output_open(cli_output *output, const char *path);

/* Is `path`, or will it be, a file that can seek, neither device nor pipe? */
bool cli_becomes_file(const char *path);

/* Silent, so that it can serve as a callback: the error is kept, and cli_output_commit or cli_output_fail reports
 * it. */
bool cli_output_write(cli_output *output, const void *data, size_t bytes);

/* The same at an offset, which may be beyond the bytes written so far. Only for an output that cli_output_can_seek. */
bool cli_output_write_at(cli_output *output, uint64_t offset, const void *data, size_t bytes);
bool cli_output_can_seek(const cli_output *output);

/* A stream for text that is all of the output, open as long as that is. NULL after a failure, which is kept. */
FILE *cli_output_stream(cli_output *output);

/* Opens the bytes written so far for reading; only for a file that is to be committed. Reports errors. */
bool cli_output_reopen(cli_output *output, cli_input *input);

/* Reports and clears output->error, and discards the output. Returns false. */
bool cli_output_fail(cli_output *output);

/* For many simultaneous outputs: writes everything out and closes the file until it is written again, or until the
 * commit, which then only gives it its name. An output that is no regular file stays open. Silent, like writing. */
bool cli_output_rest(cli_output *output);

/* Gives the finished file its name. Reports errors; the output is closed in either case. */
bool cli_output_commit(cli_output *output);

/* Closes the output and removes every trace of it. Harmless after a commit or a failed open. */
void cli_output_discard(cli_output *output);

/* Writes everything to a descriptor, which may have been inherited in non-blocking mode. False with errno. */
bool cli_write_all(int descriptor, const void *data, size_t bytes);

/* Is it "-", or a device or pipe without an extension, so that the name does not determine the format? */
bool cli_is_stream(const char *path);

/* Paths are split at "/": turns Windows' other separator into it. Required for each path of the user that is split. */
void cli_take_separators(char *path);

/* "NAME_number.ext" for "NAME.ext", with the digits of the largest number below `count`. The caller frees it. NULL when
 * out of memory. */
char *cli_numbered_name(const char *path, uint32_t number, uint32_t count);

/* "FOLDER/NAME", to be freed by the caller. NULL with errno. */
char *cli_join(const char *folder, const char *name);

/* The extension of the last path component with its dot, or "". */
const char *cli_extension(const char *path);
bool cli_same_text(const char *a, const char *b); /* ignores the case of ASCII letters */

#endif
