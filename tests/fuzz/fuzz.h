/* Shared by the fuzz targets. A target is a file with LLVMFuzzerTestOneInput, which libFuzzer, AFL++ or replay.c
 * calls. */
#ifndef L2K_TESTS_FUZZ_FUZZ_H
#define L2K_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lift2k/lift2k.h"
#include "pictures/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Checks a promise of the library; an input that breaks it is a finding. */
#define FUZZ_EXPECT(holds) ((holds) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #holds))

static inline void fuzz_broken(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    abort();
}

/* ---- Bytes that choose --------------------------------------------------------------------------------------- */

typedef struct fuzz_bytes {
    const uint8_t *data;
    size_t size, at;
} fuzz_bytes;

/* The next byte, 0 after the last. */
static inline uint32_t fuzz_byte(fuzz_bytes *b)
{
    return b->at < b->size ? b->data[b->at++] : 0;
}

static inline uint32_t fuzz_word(fuzz_bytes *b)
{
    uint32_t high = fuzz_byte(b);
    return high << 8 | fuzz_byte(b);
}

/* low .. high, both included. */
static inline uint32_t fuzz_between(fuzz_bytes *b, uint32_t low, uint32_t high)
{
    uint32_t span = high - low + 1;
    return low + (span <= 256 ? fuzz_byte(b) : fuzz_word(b)) % span;
}

/* A file's options are in its last bytes, so that the bytes before them remain an ordinary file, and damage to one
 * rarely affects the other. All 0 are the defaults. */
enum { FUZZ_TAIL = 24 };

static inline fuzz_bytes fuzz_cut_tail(const uint8_t *data, size_t *bytes)
{
    size_t tail = *bytes < FUZZ_TAIL ? *bytes : FUZZ_TAIL;
    *bytes -= tail;
    return (fuzz_bytes){data + *bytes, tail, 0};
}

/* ---- Hooks that check the library's promises ---- */

typedef struct fuzz_watch {
    size_t live, bytes, most; /* blocks; bytes allocated; limit of the bytes */
    uint32_t until_failure;   /* the number of the next allocation to fail, counted from now; 0 = none */
    bool failed;
    unsigned errors;
} fuzz_watch;

enum { FUZZ_HEAD = 64 }; /* keeps blocks aligned as malloc does */

static inline void *fuzz_allocate(void *user, size_t bytes)
{
    fuzz_watch *w = user;
    FUZZ_EXPECT(bytes <= w->most && w->bytes + bytes <= w->most);
    if (w->until_failure && --w->until_failure == 0) {
        w->failed = true;
        return NULL;
    }
    uint8_t *block = malloc(bytes + FUZZ_HEAD);
    if (!block)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    w->live++;
    w->bytes += bytes;
    return block + FUZZ_HEAD;
}

static inline void fuzz_release(void *user, void *block)
{
    fuzz_watch *w = user;
    size_t bytes;
    if (!block)
        return;
    memcpy(&bytes, (uint8_t *)block - FUZZ_HEAD, sizeof bytes);
    w->live--;
    w->bytes -= bytes;
    free((uint8_t *)block - FUZZ_HEAD);
}

/* One printable line. */
static inline void fuzz_message(void *user, l2k_severity severity, const char *text)
{
    fuzz_watch *w = user;
    size_t length = strlen(text);
    FUZZ_EXPECT(length > 0 && length < 256);
    for (size_t i = 0; i < length; i++)
        FUZZ_EXPECT(text[i] >= ' ' && text[i] <= '~');
    w->errors += severity == L2K_SEVERITY_ERROR;
}

static inline l2k_hooks fuzz_hooks(fuzz_watch *w, size_t most)
{
    *w = (fuzz_watch){.most = most};
    return (l2k_hooks){fuzz_allocate, fuzz_release, fuzz_message, NULL, w};
}

/* An error is reported exactly once, and nothing else is. */
static inline l2k_status fuzz_reported(fuzz_watch *w, l2k_status status)
{
    bool error = status != L2K_OK && status != L2K_INCOMPLETE;
    FUZZ_EXPECT(error ? w->errors > 0 : w->errors == 0);
    w->errors = 0;
    return status;
}

/* ---- Streams ------------------------------------------------------------------------------------------------- */

typedef struct fuzz_file {
    uint8_t *data;
    size_t size, at;
    size_t chunk; /* the most bytes that a read returns */
} fuzz_file;

static inline ptrdiff_t fuzz_read(void *user, void *buffer, size_t bytes)
{
    fuzz_file *file = user;
    size_t left = file->size - file->at;
    bytes = bytes < left ? bytes : left;
    bytes = bytes < file->chunk ? bytes : file->chunk;
    if (bytes)
        memcpy(buffer, file->data + file->at, bytes);
    file->at += bytes;
    return (ptrdiff_t)bytes;
}

static inline int fuzz_write(void *user, const void *buffer, size_t bytes)
{
    fuzz_file *file = user;
    uint8_t *grown = realloc(file->data, file->size + bytes + 1);
    if (!grown)
        return -1;
    file->data = grown;
    if (bytes)
        memcpy(grown + file->size, buffer, bytes);
    file->size += bytes;
    return 0;
}

static inline int fuzz_rewrite(void *user, uint64_t offset, const void *buffer, size_t bytes)
{
    fuzz_file *file = user;
    FUZZ_EXPECT(offset + bytes <= file->size);
    memcpy(file->data + offset, buffer, bytes);
    return 0;
}

static inline l2k_stream fuzz_stream(fuzz_file *file)
{
    return (l2k_stream){fuzz_read, fuzz_write, fuzz_rewrite, file};
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

static inline size_t fuzz_sample_bytes(l2k_sample_type type)
{
    return type <= L2K_SAMPLE_S8 ? 1 : type <= L2K_SAMPLE_S16 ? 2 : 4;
}

/* The smallest type that holds a component, or the largest. */
static inline l2k_sample_type fuzz_sample_type(const l2k_component *k, bool largest)
{
    if (largest || k->precision > 16)
        return L2K_SAMPLE_S32;
    if (k->precision > 8)
        return k->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
    return k->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
}

static inline int64_t fuzz_get_sample(const l2k_plane *p, uint32_t x, uint32_t y)
{
    return cli_load_sample((const char *)p->data + (ptrdiff_t)y * p->row_stride + (ptrdiff_t)x * p->sample_stride,
                           p->type);
}

static inline void fuzz_put_sample(const l2k_plane *p, uint32_t x, uint32_t y, int64_t value)
{
    uint8_t *at = (uint8_t *)p->data + (ptrdiff_t)y * p->row_stride + (ptrdiff_t)x * p->sample_stride;
    switch (p->type) {
    case L2K_SAMPLE_U8:
    case L2K_SAMPLE_S8:
        *at = (uint8_t)value;
        return;
    case L2K_SAMPLE_U16:
    case L2K_SAMPLE_S16:
        *(uint16_t *)(void *)at = (uint16_t)value;
        return;
    default:
        *(int32_t *)(void *)at = (int32_t)value;
    }
}

/* Planes for the components of an image, each in a block of its exact size, so that the sanitizer sees accesses beyond
 * it. */
typedef struct fuzz_planes {
    uint32_t count;
    l2k_plane *planes;
    l2k_component *components;
} fuzz_planes;

static inline void fuzz_planes_free(fuzz_planes *p)
{
    for (uint32_t c = 0; p->planes && c < p->count; c++)
        free(p->planes[c].data);
    free(p->planes);
    free(p->components);
    *p = (fuzz_planes){0};
}

/* False, with nothing allocated, where they have more samples than `most`. Widths and heights must be set. */
static inline bool fuzz_planes_make(fuzz_planes *p, const l2k_image *image, bool largest, uint64_t most)
{
    uint64_t total = 0;
    for (uint32_t c = 0; c < image->num_components; c++)
        total += (uint64_t)image->components[c].width * image->components[c].height;
    *p = (fuzz_planes){.count = image->num_components};
    if (total > most)
        return false;
    p->planes = calloc(p->count, sizeof *p->planes);
    p->components = calloc(p->count, sizeof *p->components);
    for (uint32_t c = 0; p->planes && p->components && c < p->count; c++) {
        const l2k_component *k = &image->components[c];
        l2k_sample_type type = fuzz_sample_type(k, largest);
        size_t bytes = fuzz_sample_bytes(type);
        p->components[c] = *k;
        p->planes[c] = (l2k_plane){malloc((size_t)k->width * k->height * bytes), (ptrdiff_t)(k->width * bytes),
                                   (ptrdiff_t)bytes, type};
        if (!p->planes[c].data)
            abort();
        memset(p->planes[c].data, 0x5A, (size_t)k->width * k->height * bytes);
    }
    return p->planes && p->components;
}

/* Every sample is within its component's range. */
static inline void fuzz_check_samples(const fuzz_planes *p)
{
    for (uint32_t c = 0; c < p->count; c++) {
        const l2k_component *k = &p->components[c];
        int64_t range = (int64_t)1 << k->precision, low = k->is_signed ? -range / 2 : 0;
        for (uint32_t y = 0; y < k->height; y++)
            for (uint32_t x = 0; x < k->width; x++) {
                int64_t v = fuzz_get_sample(&p->planes[c], x, y);
                FUZZ_EXPECT(v >= low && v < low + range);
            }
    }
}

#endif
