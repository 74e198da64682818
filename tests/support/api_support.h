/* The public interface for tests: files in memory, hooks that count and fail, small pictures. */
#ifndef L2K_TESTS_SUPPORT_API_SUPPORT_H
#define L2K_TESTS_SUPPORT_API_SUPPORT_H

#include "support.h"

#include "lift2k/lift2k.h"

/* ---- Streams ------------------------------------------------------------------------------------------------- */

typedef struct memory_file {
    uint8_t *data;
    size_t size, at;
    size_t chunk;   /* most bytes that one read returns; 0 = all */
    size_t fail_at; /* offset from which reading or writing fails; SIZE_MAX = never */
    size_t calls;
} memory_file;

static inline memory_file memory_of(const void *data, size_t size)
{
    return (memory_file){(uint8_t *)(uintptr_t)data, size, 0, 0, SIZE_MAX, 0};
}

static inline ptrdiff_t memory_read(void *user, void *buffer, size_t bytes)
{
    memory_file *file = user;
    size_t left = file->size - file->at;
    file->calls++;
    if (file->at >= file->fail_at)
        return -1;
    bytes = bytes < left ? bytes : left;
    if (file->chunk && bytes > file->chunk)
        bytes = file->chunk;
    if (bytes)
        memcpy(buffer, file->data + file->at, bytes);
    file->at += bytes;
    return (ptrdiff_t)bytes;
}

static inline int memory_write(void *user, const void *buffer, size_t bytes)
{
    memory_file *file = user;
    file->calls++;
    if (file->size + bytes > file->fail_at)
        return -1;
    file->data = realloc(file->data, file->size + bytes + 1);
    assert_non_null(file->data);
    memcpy(file->data + file->size, buffer, bytes);
    file->size += bytes;
    return 0;
}

/* For streams with `rewrite`. */
static inline int memory_rewrite(void *user, uint64_t offset, const void *buffer, size_t bytes)
{
    memory_file *file = user;
    assert_true(offset + bytes <= file->size);
    memcpy(file->data + offset, buffer, bytes);
    return 0;
}

static inline l2k_stream stream_of(memory_file *file)
{
    return (l2k_stream){.read = memory_read, .write = memory_write, .user = file};
}

/* ---- Hooks --------------------------------------------------------------------------------------------------- */

/* For one thread: the counters are not atomic. */
typedef struct watch {
    size_t allocations, live;
    size_t fail_at; /* the allocation that fails, with all after it; SIZE_MAX = none */
    bool once;      /* only that one */
    unsigned errors, warnings, notes;
    bool bad_line;
    char text[300]; /* the last error */
} watch;

static inline void *watch_allocate(void *user, size_t bytes)
{
    watch *w = user;
    size_t n = w->allocations++;
    if (w->once ? n == w->fail_at : n >= w->fail_at)
        return NULL;
    void *block = malloc(bytes);
    w->live += block != NULL;
    return block;
}

static inline void watch_release(void *user, void *block)
{
    watch *w = user;
    w->live -= block != NULL;
    free(block);
}

/* A message must be one non-empty line of at most 255 printable characters. */
static inline void watch_message(void *user, l2k_severity severity, const char *text)
{
    watch *w = user;
    size_t length = strlen(text);
    w->bad_line |= length == 0 || length > 255;
    for (size_t i = 0; i < length; i++)
        w->bad_line |= (unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~';
    w->errors += severity == L2K_SEVERITY_ERROR;
    w->warnings += severity == L2K_SEVERITY_WARNING;
    w->notes += severity == L2K_SEVERITY_NOTE;
    if (severity == L2K_SEVERITY_ERROR)
        snprintf(w->text, sizeof w->text, "%s", text);
}

static inline l2k_hooks watch_hooks(watch *w)
{
    *w = (watch){.fail_at = SIZE_MAX};
    return (l2k_hooks){watch_allocate, watch_release, watch_message, NULL, w};
}

/* Bytes allocated through the hook, and their peak. */
typedef struct meter {
    watch w;
    size_t bytes, peak;
    bool stop; /* what the progress hook says: true = stop */
} meter;

static inline bool metered_progress(void *user, double done)
{
    (void)done;
    return !((meter *)user)->stop;
}

/* For one thread. */
static inline void *metered_allocate(void *user, size_t bytes)
{
    meter *m = user;
    size_t *block = malloc(bytes + 64);
    assert_non_null(block);
    *block = bytes;
    m->bytes += bytes;
    m->peak = m->bytes > m->peak ? m->bytes : m->peak;
    return block + 8;
}

static inline void metered_release(void *user, void *block)
{
    meter *m = user;
    m->bytes -= ((size_t *)block)[-8];
    free((size_t *)block - 8);
}

static inline l2k_hooks metered_hooks(meter *m)
{
    *m = (meter){0};
    return (l2k_hooks){metered_allocate, metered_release, watch_message, metered_progress, m};
}

/* ---- Pictures ------------------------------------------------------------------------------------------------ */

enum { MOST_CHANNELS = 5 };

static inline void assert_same_file(const memory_file *a, const memory_file *b)
{
    assert_int_equal(a->size, b->size);
    assert_true(b->size == 0 || memcmp(a->data, b->data, b->size) == 0);
}

/* A picture with int32 samples, one plane per component. */
typedef struct picture {
    l2k_image image;
    l2k_component components[MOST_CHANNELS];
    l2k_plane planes[MOST_CHANNELS];
    int32_t *samples[MOST_CHANNELS];
    uint32_t width[MOST_CHANNELS], height[MOST_CHANNELS];
} picture;

/* Smooth content with some noise, so that all bit-planes and runs of zeros occur. */
static inline void picture_fill(picture *p, uint32_t c)
{
    const l2k_component *k = &p->components[c];
    l2k_component_size(&p->image, c, &p->width[c], &p->height[c]);
    size_t count = (size_t)p->width[c] * p->height[c];
    p->samples[c] = malloc((count + 1) * sizeof(int32_t));
    assert_non_null(p->samples[c]);
    int64_t range = (int64_t)1 << k->precision, low = k->is_signed ? -range / 2 : 0;
    for (size_t i = 0; i < count; i++) {
        int64_t v = (int64_t)(i % p->width[c] * 5 + i / p->width[c] * 3 + 7 * c) * range / 256 + random_below(4);
        p->samples[c][i] = (int32_t)(low + v % range);
    }
    p->planes[c] =
        (l2k_plane){p->samples[c], (ptrdiff_t)(p->width[c] * sizeof(int32_t)), sizeof(int32_t), L2K_SAMPLE_S32};
}

/* `count` unsigned 8-bit components without sub-sampling. Change them, then call picture_fill. */
static inline void picture_shape(picture *p, uint32_t width, uint32_t height, uint32_t count)
{
    memset(p, 0, sizeof *p);
    p->image = (l2k_image){.x1 = width, .y1 = height, .num_components = count, .components = p->components};
    p->image.colour = count < 3 ? L2K_COLOUR_GRAY : L2K_COLOUR_SRGB;
    for (uint32_t c = 0; c < count; c++)
        p->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 8, .association = c + 1};
}

static inline void picture_make(picture *p, uint32_t width, uint32_t height, uint32_t count)
{
    picture_shape(p, width, height, count);
    for (uint32_t c = 0; c < count; c++)
        picture_fill(p, c);
}

static inline void picture_free(picture *p)
{
    for (uint32_t c = 0; c < MOST_CHANNELS; c++) {
        free(p->samples[c]);
        p->samples[c] = NULL;
    }
}

/* Allocates planes for an image as l2k_decoder_image describes it. */
static inline void picture_adopt(picture *p, const l2k_image *image)
{
    memset(p, 0, sizeof *p);
    assert_in_range(image->num_components, 1, MOST_CHANNELS);
    p->image = *image;
    p->image.components = p->components;
    for (uint32_t c = 0; c < image->num_components; c++) {
        p->components[c] = image->components[c];
        p->width[c] = p->components[c].width;
        p->height[c] = p->components[c].height;
        size_t count = (size_t)p->width[c] * p->height[c];
        p->samples[c] = calloc(count, sizeof(int32_t));
        assert_non_null(p->samples[c]);
        p->planes[c] =
            (l2k_plane){p->samples[c], (ptrdiff_t)(p->width[c] * sizeof(int32_t)), sizeof(int32_t), L2K_SAMPLE_S32};
    }
}

static inline bool component_equal(const picture *a, uint32_t ca, const picture *b, uint32_t cb)
{
    return a->width[ca] == b->width[cb] && a->height[ca] == b->height[cb] &&
           memcmp(a->samples[ca], b->samples[cb], (size_t)a->width[ca] * a->height[ca] * sizeof(int32_t)) == 0;
}

/* A sample of a plane with an integer type. */
static inline int32_t plane_sample(const l2k_plane *plane, uint32_t x, uint32_t y)
{
    const char *at = (const char *)plane->data + (ptrdiff_t)y * plane->row_stride + (ptrdiff_t)x * plane->sample_stride;
    switch (plane->type) {
    case L2K_SAMPLE_U8:
        return *(const uint8_t *)at;
    case L2K_SAMPLE_S8:
        return *(const int8_t *)at;
    case L2K_SAMPLE_U16:
        return *(const uint16_t *)(const void *)at;
    case L2K_SAMPLE_S16:
        return *(const int16_t *)(const void *)at;
    default:
        return *(const int32_t *)(const void *)at;
    }
}

static inline bool plane_equals_component(const l2k_plane *plane, const picture *p, uint32_t c)
{
    for (uint32_t y = 0; y < p->height[c]; y++)
        for (uint32_t x = 0; x < p->width[c]; x++)
            if (plane_sample(plane, x, y) != p->samples[c][(size_t)y * p->width[c] + x])
                return false;
    return true;
}

static inline bool picture_equal(const picture *a, const picture *b)
{
    bool equal = a->image.num_components == b->image.num_components;
    for (uint32_t c = 0; equal && c < a->image.num_components; c++)
        equal = component_equal(a, c, b, c);
    return equal;
}

/* ---- Whole runs ---------------------------------------------------------------------------------------------- */

static inline l2k_decoder *new_decoder(const l2k_hooks *hooks, unsigned threads)
{
    l2k_decoder *decoder = l2k_decoder_new(hooks);
    assert_non_null(decoder);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_THREADS, threads), L2K_OK);
    return decoder;
}

static inline l2k_status run_encoder(l2k_encoder *encoder, const picture *p, memory_file *out)
{
    l2k_stream stream = stream_of(out);
    return l2k_encoder_encode(encoder, &p->image, p->planes, &stream);
}

typedef struct encoder_setting {
    l2k_encoder_option option;
    int64_t value;
} encoder_setting;

/* Encodes with some options changed, which must succeed; the caller frees the data. */
static inline memory_file encode_with_all(const picture *p, const encoder_setting *settings, size_t count)
{
    memory_file out = memory_of(NULL, 0);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_non_null(encoder);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1), L2K_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(l2k_encoder_set(encoder, settings[i].option, settings[i].value), L2K_OK);
    assert_int_equal(run_encoder(encoder, p, &out), L2K_OK);
    l2k_encoder_free(encoder);
    return out;
}

static inline memory_file encode_with(const picture *p, l2k_encoder_option option, int64_t value)
{
    return encode_with_all(p, &(encoder_setting){option, value}, 1);
}

/* Opens and decodes; `p` is filled in only if there is a picture, even an incomplete one. */
static inline l2k_status run_decoder(l2k_decoder *decoder, const void *data, size_t bytes, picture *p)
{
    memory_file in = memory_of(data, bytes);
    l2k_stream stream = stream_of(&in);
    l2k_image image;
    l2k_status status = l2k_decoder_open(decoder, &stream);
    if (status == L2K_OK)
        status = l2k_decoder_image(decoder, &image);
    if (status != L2K_OK)
        return status;
    picture_adopt(p, &image);
    status = l2k_decoder_decode(decoder, p->planes);
    if (status != L2K_OK && status != L2K_INCOMPLETE)
        picture_free(p);
    return status;
}

static inline l2k_status decode_bytes(const l2k_hooks *hooks, const void *data, size_t bytes, picture *p)
{
    l2k_decoder *decoder = l2k_decoder_new(hooks);
    if (!decoder)
        return L2K_ERROR_MEMORY;
    l2k_status status = l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    if (status == L2K_OK)
        status = run_decoder(decoder, data, bytes, p);
    l2k_decoder_free(decoder);
    return status;
}

#endif
