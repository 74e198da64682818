/* Input from a named file or standard input, output that appears under its name only when it is complete. */
#ifndef L2K_PICTURES_FILES_FILE_H
#define L2K_PICTURES_FILES_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* So many bytes are there from the start, unless the file is shorter, to tell the format of a pipe by its content. */
#define CLI_HEAD_BYTES 16u

typedef struct cli_input {
    int descriptor;
    const char *name; /* for messages */
    uint8_t *buffer;  /* until something is read: the file's first bytes */
    size_t filled, used;
    uint64_t base;   /* where in a regular file it begins: standard input may be one that was read from before */
    int error;       /* errno of the first failed read, 0 */
    double deadline; /* of --timeout, by cli_now; 0 = none */
} cli_input;

/* `path` may be "-". A directory or an empty file is an error here. What may keep one waiting, a pipe or a terminal,
 * has the time of --timeout from here on. */
bool cli_input_open(cli_input *input, const char *path);

/* The same for an open descriptor, which is taken over. `name` is not copied. */
bool cli_input_take(cli_input *input, int descriptor, const char *name);
void cli_input_close(cli_input *input);

/* Bounds the time that is spent reading from now on, unless it is bounded already; or until that starts it anew, no
 * longer. */
void cli_input_time_starts(cli_input *input);
void cli_input_time_stops(cli_input *input);

/* Asks the system to have the file, or much of it, in memory soon. */
void cli_input_ahead(const cli_input *input);

/* How many bytes were stored; fewer than asked for at the end or after a failure, which time that is up is, too
 * (cli_input_failed tells which). */
size_t cli_input_read(cli_input *input, void *buffer, size_t bytes);
bool cli_input_failed(const cli_input *input);

/* The next byte, or EOF. */
int cli_input_byte(cli_input *input);

/* Reads exactly `bytes` bytes or reports why not. */
bool cli_input_exact(cli_input *input, void *buffer, size_t bytes);

/* How long a regular file is, from where the input begins; false for anything else. */
bool cli_input_size(const cli_input *input, uint64_t *bytes);

/* What comes from a pipe, at most `most` bytes of it, is copied to a file without a name first, so that the next two
 * can be used. Both count from where the input begins; cli_input_read_at gives what pread does, or fails with ETIME. */
bool cli_input_make_seekable(cli_input *input, uint64_t most);
bool cli_input_seek(cli_input *input, uint64_t offset);
ptrdiff_t cli_input_read_at(const cli_input *input, void *buffer, size_t bytes, uint64_t offset);

/* All of a regular file, mapped: only what is looked at is read. False for anything else, without a report. */
bool cli_input_map(const cli_input *input, const void **data, size_t *bytes);

/* Reports a failed read by its cause and the end of the file as a truncated file. Returns false. */
bool cli_input_ended(const cli_input *input);

/* Reports a regular file that is shorter than `bytes` as truncated. What a header promises is so checked before memory
 * is taken for it; the length of a pipe is not known in advance. */
bool cli_input_holds(const cli_input *input, uint64_t bytes);

typedef struct cli_pipe cli_pipe;

typedef struct cli_output {
    FILE *stream;
    cli_pipe *pipe;   /* what writes in place of the stream, where there is no regular file (pipe.h); else NULL */
    const char *name; /* for messages */
    char *target;     /* the path that the finished file takes; NULL when writing straight to it */
    char *temporary;  /* the path written to until then; NULL for a file without a name */
    void *note;       /* of it, for signals (interrupt.h) */
    int error;        /* errno of the first failed write, 0 */
    uint64_t bytes;   /* length of the file so far */
    uint64_t at;      /* where the stream is; differs from `bytes` only after cli_output_write_at */
} cli_output;

/* `path` may be "-". Devices and pipes are written directly, within the time of --timeout; a regular file is replaced
 * by cli_output_commit. */
bool cli_output_open(cli_output *output, const char *path);

/* Is, or will `path` be, a file that can be gone back in, neither device nor pipe? */
bool cli_becomes_file(const char *path);

/* Silent, so that it can serve as a callback: the error is kept and cli_output_commit or _fail reports it. */
bool cli_output_write(cli_output *output, const void *data, size_t bytes);

/* The same at an offset, which may lie beyond what was written so far. Only for an output that cli_output_can_seek. */
bool cli_output_write_at(cli_output *output, uint64_t offset, const void *data, size_t bytes);
bool cli_output_can_seek(const cli_output *output);
/* What was written so far, for reading; only where it is a file that is to be committed. Reports errors. */
bool cli_output_reopen(cli_output *output, cli_input *input);

/* Reports output->error and discards. Returns false. */
bool cli_output_fail(cli_output *output);

/* Files of which many are open at a time: everything is written out, and the file is closed until cli_output_resume, or
 * until it is committed, which is then no more than giving it its name. An output that is no file stays open. Silent,
 * like writing. */
bool cli_output_rest(cli_output *output);
bool cli_output_resume(cli_output *output);

/* Puts the finished file in its place. Reports errors; the output is closed in either case. */
bool cli_output_commit(cli_output *output);

/* Closes the output and leaves no trace of it. Harmless after a commit or a failed open. */
void cli_output_discard(cli_output *output);

/* Is it "-", or a device or pipe whose name has no extension, so that the format cannot come from the name? */
bool cli_is_stream(const char *path);

/* Where the symbolic links beginning at `path` end, whether there is something or not: `path` itself where it is no
 * link. To be freed. NULL with errno. */
char *cli_link_end(const char *path);

/* The extension of the last path component with its dot, or "". */
const char *cli_extension(const char *path);
bool cli_same_text(const char *a, const char *b); /* ASCII letters compare without case */

#endif
