/* opj_stream_...: streams made of the caller's functions, and of files. They need no buffer, since lift2k reads and
 * writes large pieces. */
#include "compat/openjp2/streams.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT_INPUT = 1 << 20 };

static const OPJ_SIZE_T no_bytes = (OPJ_SIZE_T)-1;

/* ---- Objects ------------------------------------------------------------------------------------------------- */

opj_stream_t *OPJ_CALLCONV opj_stream_create(OPJ_SIZE_T p_buffer_size, OPJ_BOOL p_is_input)
{
    stream *s = calloc(1, sizeof *s);
    (void)p_buffer_size;
    if (s) {
        s->input = p_is_input != OPJ_FALSE;
        s->uses = 1;
    }
    return (opj_stream_t *)s;
}

opj_stream_t *OPJ_CALLCONV opj_stream_default_create(OPJ_BOOL p_is_input)
{
    return opj_stream_create(OPJ_J2K_STREAM_CHUNK_SIZE, p_is_input);
}

void OPJ_CALLCONV opj_stream_destroy(opj_stream_t *p_stream)
{
    stream *s = (stream *)p_stream;
    if (!s)
        return;
    if (s->free_user)
        s->free_user(s->user);
    s->read = NULL;
    s->write = NULL;
    s->seek = NULL;
    stream_keep(&s, NULL);
}

void stream_keep(stream **place, stream *s)
{
    stream *former = *place;
    if (s)
        s->uses++;
    *place = s;
    if (!former || --former->uses)
        return;
    free(former->held);
    free(former);
}

void OPJ_CALLCONV opj_stream_set_read_function(opj_stream_t *p_stream, opj_stream_read_fn p_function)
{
    stream *s = (stream *)p_stream;
    if (s && s->input)
        s->read = p_function;
}

void OPJ_CALLCONV opj_stream_set_write_function(opj_stream_t *p_stream, opj_stream_write_fn p_function)
{
    stream *s = (stream *)p_stream;
    if (s && !s->input)
        s->write = p_function;
}

void OPJ_CALLCONV opj_stream_set_skip_function(opj_stream_t *p_stream, opj_stream_skip_fn p_function)
{
    (void)p_stream, (void)p_function; /* inputs are read at positions, outputs whole */
}

void OPJ_CALLCONV opj_stream_set_seek_function(opj_stream_t *p_stream, opj_stream_seek_fn p_function)
{
    if (p_stream)
        ((stream *)p_stream)->seek = p_function;
}

void OPJ_CALLCONV opj_stream_set_user_data(opj_stream_t *p_stream, void *p_data,
                                           opj_stream_free_user_data_fn p_function)
{
    stream *s = (stream *)p_stream;
    if (!s)
        return;
    s->user = p_data;
    s->free_user = p_function;
}

void OPJ_CALLCONV opj_stream_set_user_data_length(opj_stream_t *p_stream, OPJ_UINT64 data_length)
{
    if (p_stream)
        ((stream *)p_stream)->length = data_length;
}

/* ---- Files --------------------------------------------------------------------------------------------------- */

static OPJ_SIZE_T file_read(void *buffer, OPJ_SIZE_T count, void *file)
{
    size_t got = fread(buffer, 1, count, file);
    return got ? got : no_bytes;
}

static OPJ_SIZE_T file_write(void *buffer, OPJ_SIZE_T count, void *file)
{
    return fwrite(buffer, 1, count, file);
}

static OPJ_BOOL file_seek(OPJ_OFF_T offset, void *file)
{
    return fseeko(file, offset, SEEK_SET) ? OPJ_FALSE : OPJ_TRUE;
}

static void file_close(void *file)
{
    fclose(file);
}

opj_stream_t *OPJ_CALLCONV opj_stream_create_file_stream(const char *fname, OPJ_SIZE_T p_buffer_size,
                                                         OPJ_BOOL p_is_read_stream)
{
    FILE *file = fname ? fopen(fname, p_is_read_stream ? "rb" : "wb") : NULL;
    opj_stream_t *made = file ? opj_stream_create(p_buffer_size, p_is_read_stream) : NULL;
    if (!made) {
        if (file)
            fclose(file);
        return NULL;
    }
    stream *s = (stream *)made;
    opj_stream_set_user_data(made, file, file_close);
    s->read = file_read;
    s->write = file_write;
    s->seek = file_seek;
    if (p_is_read_stream && fseeko(file, 0, SEEK_END) == 0) {
        off_t end = ftello(file);
        s->length = end > 0 ? (uint64_t)end : 0;
        rewind(file);
    }
    return made;
}

opj_stream_t *OPJ_CALLCONV opj_stream_create_default_file_stream(const char *fname, OPJ_BOOL p_is_read_stream)
{
    return opj_stream_create_file_stream(fname, OPJ_J2K_STREAM_CHUNK_SIZE, p_is_read_stream);
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* Up to `count` bytes at the caller's position; fewer at the end. */
static size_t read_on(stream *s, uint8_t *buffer, size_t count)
{
    size_t done = 0;
    while (done < count && s->read) {
        OPJ_SIZE_T got = s->read(buffer + done, count - done, s->user);
        if (got == 0 || got == no_bytes || got > count - done)
            break;
        done += got;
    }
    s->at += done;
    return done;
}

/* Reads to the end. A program may have a buffer of its own, so the first piece has the stated length. */
static bool hold_all(stream *s)
{
    size_t capacity = s->length && s->length < ((uint64_t)1 << 40) ? (size_t)s->length + 1 : SHORT_INPUT;
    for (;;) {
        uint8_t *larger = realloc(s->held, capacity);
        if (!larger && !s->bytes)
            larger = realloc(s->held, capacity = SHORT_INPUT);
        if (!larger)
            return false;
        s->held = larger;
        s->bytes += read_on(s, s->held + s->bytes, capacity - s->bytes);
        if (s->bytes < capacity)
            return true;
        capacity *= 2;
    }
}

/* Whether the last byte before the stated end exists; some callers state more than they have. */
static bool length_holds(stream *s)
{
    uint8_t last;
    bool there = s->seek((OPJ_OFF_T)(s->length - 1), s->user) && read_on(s, &last, 1) == 1;
    s->at = 0;
    return s->seek(0, s->user) && there;
}

bool stream_prepare(stream *s)
{
    if (s->prepared)
        return true;
    bool long_one = s->seek && s->length > SHORT_INPUT && s->length <= INT64_MAX && length_holds(s);
    if (long_one)
        s->bytes = s->length;
    s->prepared = long_one || hold_all(s);
    return s->prepared;
}

bool stream_read_at(stream *s, uint64_t offset, void *buffer, size_t count)
{
    if (offset > s->bytes || count > s->bytes - offset)
        return false;
    if (s->held) {
        memcpy(buffer, s->held + offset, count);
        return true;
    }
    if (s->at != offset) {
        if (!s->seek || !s->seek((OPJ_OFF_T)offset, s->user))
            return false;
        s->at = offset;
    }
    return read_on(s, buffer, count) == count;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

bool stream_write(stream *s, const void *data, size_t count)
{
    const uint8_t *from = data;
    while (count) {
        OPJ_SIZE_T done = s->write ? s->write((void *)from, count, s->user) : no_bytes;
        if (done == 0 || done == no_bytes || done > count)
            return false;
        from += done;
        count -= done;
        s->at += done;
    }
    return true;
}

bool stream_rewrite(stream *s, uint64_t offset, const void *data, size_t count)
{
    uint64_t end = s->at;
    if (!s->seek || !s->seek((OPJ_OFF_T)offset, s->user))
        return false;
    bool written = stream_write(s, data, count);
    s->at = end;
    return s->seek((OPJ_OFF_T)end, s->user) && written;
}

/* ---- Fields -------------------------------------------------------------------------------------------------- */

uint32_t fields_take(fields *g, size_t count)
{
    uint32_t value = 0;
    if (count > g->bytes - g->at) {
        g->overrun = true;
        g->at = g->bytes;
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        value = value << 8 | g->data[g->at++];
    return value;
}
