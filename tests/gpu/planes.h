/* Planes of an image in one piece of host or device memory, with guard bands before, between and behind the samples;
 * and decoding into such planes on either backend. */
#ifndef L2K_TESTS_GPU_PLANES_H
#define L2K_TESTS_GPU_PLANES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sample.h"
#include "conformance/coding.h"
#include "device.h"

enum { PLANES_GUARD = 64, PLANES_FILL = 0xA5 };

/* Where an image is coded, and from or into which memory. */
typedef enum place { ON_CPU, FROM_HOST, FROM_DEVICE, PLACES } place;

/* Those below it can be had. */
enum { PLACES_HERE = GPU_PLANES ? PLACES : FROM_DEVICE };

static const char *const place_names[PLACES] = {"CPU", "GPU, host memory", "GPU, device memory"};

/* ---- Layout ---------------------------------------------------------------------------------------------------- */

typedef struct layout {
    size_t size;
    uint32_t num_planes;
    uint32_t width[PICTURE_MAX_COMPONENTS], height[PICTURE_MAX_COMPONENTS];
    size_t at[PICTURE_MAX_COMPONENTS];        /* the first sample */
    l2k_plane planes[PICTURE_MAX_COMPONENTS]; /* without addresses */
} layout;

static inline l2k_sample_type layout_type(const l2k_component *k, bool narrow)
{
    if (!narrow || k->precision > 16)
        return L2K_SAMPLE_S32;
    if (k->precision <= 8)
        return k->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
    return k->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
}

static inline bool layout_can_interleave(const l2k_image *m)
{
    for (uint32_t c = 1; c < m->num_components; c++)
        if (m->components[c].width != m->components[0].width || m->components[c].height != m->components[0].height ||
            layout_type(&m->components[c], true) != layout_type(&m->components[0], true))
            return false;
    return m->num_components > 1;
}

/* The image's components have their sizes. The same image and random state give the same layout. */
static inline layout layout_make(rng *r, const l2k_image *image)
{
    layout l = {.size = PLANES_GUARD, .num_planes = image->num_components};
    const bool narrow = rng_below(r, 4) > 0, interleaved = rng_below(r, 2) && layout_can_interleave(image);
    const size_t padding = rng_below(r, 3) ? 0 : rng_below(r, 5), count = image->num_components;
    for (uint32_t c = 0; c < count; c++) {
        const l2k_component *k = &image->components[c];
        const l2k_sample_type type = layout_type(k, narrow);
        const size_t size = l2k_sample_bytes(type), sample = interleaved ? count * size : size;
        const size_t row = k->width * sample + padding * size;
        if (!interleaved || c == 0)
            l.size = (l.size + 15) / 16 * 16;
        l.at[c] = interleaved && c ? l.at[0] + c * size : l.size;
        l.width[c] = k->width, l.height[c] = k->height;
        l.planes[c] = (l2k_plane){NULL, (ptrdiff_t)row, (ptrdiff_t)sample, type};
        if (!interleaved || c == 0)
            l.size += row * k->height + PLANES_GUARD;
    }
    return l;
}

static inline void layout_place(const layout *l, uint8_t *memory, l2k_plane *planes)
{
    for (uint32_t c = 0; c < l->num_planes; c++) {
        planes[c] = l->planes[c];
        planes[c].data = memory + l->at[c];
    }
}

static inline uint8_t *layout_take(const layout *l)
{
    uint8_t *memory = malloc(l->size);
    if (!memory)
        exit(1);
    memset(memory, PLANES_FILL, l->size);
    return memory;
}

/* Stores samples of the picture, or the filler where there is none. */
static inline void layout_store(const layout *l, uint8_t *memory, const picture *p)
{
    static const int32_t filler = (int32_t)0xA5A5A5A5;
    l2k_plane planes[PICTURE_MAX_COMPONENTS];
    layout_place(l, memory, planes);
    for (uint32_t c = 0; c < l->num_planes; c++) {
        const size_t size = l2k_sample_bytes(planes[c].type), width = l->width[c];
        for (uint32_t y = 0; y < l->height[c]; y++)
            for (uint32_t x = 0; x < width; x++)
                memcpy(l2k_sample_at(&planes[c], x, y), p ? &p->samples[c][y * width + x] : &filler, size);
    }
}

static inline bool layout_untouched(const layout *l, uint8_t *memory)
{
    layout_store(l, memory, NULL);
    for (size_t i = 0; i < l->size; i++)
        if (memory[i] != PLANES_FILL)
            return false;
    return true;
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

/* Tiles that went to the CPU are told by notes. */
typedef struct talk {
    char error[MESSAGE_BYTES], note[MESSAGE_BYTES];
    unsigned notes;
} talk;

static inline void talk_message(void *user, l2k_severity severity, const char *text)
{
    talk *t = user;
    if (severity == L2K_SEVERITY_ERROR)
        snprintf(t->error, sizeof t->error, "%s", text);
    if (severity == L2K_SEVERITY_NOTE && strstr(text, "CPU")) {
        snprintf(t->note, sizeof t->note, "%s", text);
        t->notes++;
    }
}

/* ---- Decoding -------------------------------------------------------------------------------------------------- */

typedef struct outcome {
    l2k_status status;
    bool opened, touched_guards;
    layout layout;
    uint8_t *memory; /* on the host; whole, with guards; NULL if there was nothing to decode into */
} outcome;

static inline void outcome_free(outcome *o)
{
    free(o->memory);
    o->memory = NULL;
}

static inline l2k_status set_place(l2k_decoder *d, place where)
{
    const l2k_status status = l2k_decoder_set(d, L2K_DECODER_BACKEND, where == ON_CPU ? L2K_BACKEND_CPU : GPU_BACKEND);
    if (status == L2K_OK)
        return l2k_decoder_set(d, L2K_DECODER_MEMORY, where == FROM_DEVICE ? L2K_MEMORY_DEVICE : L2K_MEMORY_HOST);
    return status;
}

/* Memory on the device that gets its content a while later, in a stream of its own; until then it is 0. */
typedef struct late_memory {
    uint8_t *memory, *content;
    void *stream;
} late_memory;

static inline late_memory late_take(const uint8_t *from, size_t size)
{
    late_memory m = {gpu_take(size), gpu_take(size), gpu_new_stream()};
    uint8_t *zeros = calloc(1, size);
    if (!zeros)
        exit(1);
    gpu_copy_in(m.memory, zeros, size);
    gpu_copy_in(m.content, from, size);
    gpu_copy_later(m.memory, m.content, size, m.stream);
    free(zeros);
    return m;
}

static inline void late_give_back(late_memory *m, uint8_t *now, size_t size)
{
    gpu_wait();
    gpu_copy_out(now, m->memory, size);
    gpu_give_back(m->memory);
    gpu_give_back(m->content);
    gpu_free_stream(m->stream);
}

/* After an error only the guards count. */
static inline void decode_planes(l2k_decoder *d, place where, outcome *o)
{
    l2k_plane planes[PICTURE_MAX_COMPONENTS];
    const size_t size = o->layout.size;
    late_memory late = {NULL, NULL, NULL};
    o->memory = layout_take(&o->layout);
    if (where == FROM_DEVICE) {
        late = late_take(o->memory, size);
        l2k_decoder_set_stream(d, late.stream);
    }
    layout_place(&o->layout, late.memory ? late.memory : o->memory, planes);
    o->status = l2k_decoder_decode(d, planes);
    if (late.memory)
        late_give_back(&late, o->memory, size);
    l2k_decoder_set_stream(d, NULL);
    if (o->status != L2K_OK && o->status != L2K_INCOMPLETE) {
        o->touched_guards = !layout_untouched(&o->layout, o->memory);
        outcome_free(o);
    }
}

/* The layout follows from the seed. */
static inline outcome decode_at(l2k_decoder *d, const bytes *file, place where, uint64_t seed)
{
    outcome o = {.status = set_place(d, where)};
    l2k_image image;
    rng r = {seed};
    if (o.status == L2K_OK)
        o.status = l2k_decoder_open_memory(d, file->data, file->size);
    o.opened = o.status == L2K_OK;
    if (o.opened)
        o.status = l2k_decoder_image(d, &image);
    if (o.status != L2K_OK)
        return o;
    if (image.num_components > PICTURE_MAX_COMPONENTS) {
        o.status = L2K_ERROR_LIMIT;
        return o;
    }
    o.layout = layout_make(&r, &image);
    decode_planes(d, where, &o);
    return o;
}

/* NULL if both agree, otherwise what differs. */
static inline const char *outcomes_differ(const outcome *a, const outcome *b)
{
    if (a->status != b->status)
        return "another status";
    if (a->touched_guards || b->touched_guards)
        return "bytes beside the samples are overwritten";
    if (a->memory && (a->layout.size != b->layout.size || memcmp(a->memory, b->memory, a->layout.size) != 0))
        return "other samples, or bytes beside them overwritten";
    return NULL;
}

#endif
