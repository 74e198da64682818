/* The caller's streams: functions with a position, or files. */
#ifndef COMPAT_OPENJP2_STREAMS_H
#define COMPAT_OPENJP2_STREAMS_H

#include <openjpeg.h>
#include <stdbool.h>

typedef struct stream {
    bool input;
    unsigned uses; /* by the program, until it destroys the stream, and by codecs */
    opj_stream_read_fn read;
    opj_stream_write_fn write;
    opj_stream_seek_fn seek;
    void *user;
    opj_stream_free_user_data_fn free_user;
    uint64_t length; /* as the caller says; 0: unknown */
    uint64_t at;     /* the caller's position */
    bool prepared;
    uint8_t *held; /* all of an input that is short or cannot be positioned, or NULL */
    uint64_t bytes;
} stream;

/* Prepares an input for stream_read_at: afterwards `bytes` is its length. Short ones, and those without a seek function
 * or a known length, are read to their end. False when out of memory. */
bool stream_prepare(stream *s);

/* Replaces the stream that a codec uses by `s`, or NULL. A stream that the program has destroyed is freed once no codec
 * uses it; the caller's functions are not called after its destruction. */
void stream_keep(stream **place, stream *s);

/* Reads `count` bytes at `offset`; false if some are missing. */
bool stream_read_at(stream *s, uint64_t offset, void *buffer, size_t count);

/* Writes at the present position; replaces what was written at `offset` before and returns to that position. */
bool stream_write(stream *s, const void *data, size_t count);
bool stream_rewrite(stream *s, uint64_t offset, const void *data, size_t count);

/* The content of a box or marker segment, and how far its fields, of up to four bytes, have been read. */
typedef struct fields {
    const uint8_t *data;
    size_t bytes, at;
    bool overrun;
} fields;

/* The next field; 0, and overrun, if incomplete. */
uint32_t fields_take(fields *g, size_t count);

#endif
