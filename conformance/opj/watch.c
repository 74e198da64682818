/* Watches libopenjp2 from inside, through functions that the linker puts before its own. */
#include "conformance/opj/watch.h"

#include <openjpeg.h>
#include <string.h>

#include "conformance/process.h"
#include "conformance/opj/record.h"

/* All variables here belong to a child process (work_apart), which does one job and ends. */
static struct {
    bytes log;
    const watch_plane *replacements; /* NULL: watch only */
    size_t num_replacements;
    bytes joining[3]; /* level-shifted samples, until their tile-component is known */
    l2k_rect separated[3];
    uint32_t separated_width[3], separated_height[3];
} watched;

static void record(const opj_tile_component *c, uint32_t resolutions, watch_kind kind)
{
    watch_plane plane = opj_record_plane(c, resolutions, kind);
    watch_write_plane(&watched.log, &plane);
}

/* ---- The component transforms ---------------------------------------------------------------------------------- */

/* These functions know neither tile nor size. Their input is kept until the wavelet identifies it. */
static bool join(void *const planes[3], size_t count)
{
    for (int c = 0; c < 3; c++)
        bytes_append(&watched.joining[c], planes[c], count * sizeof(watch_value));
    return !watched.replacements;
}

void __real_opj_mct_encode(OPJ_INT32 *c0, OPJ_INT32 *c1, OPJ_INT32 *c2, OPJ_SIZE_T n);
void __wrap_opj_mct_encode(OPJ_INT32 *c0, OPJ_INT32 *c1, OPJ_INT32 *c2, OPJ_SIZE_T n)
{
    if (join((void *[]){c0, c1, c2}, n))
        __real_opj_mct_encode(c0, c1, c2, n);
}

void __real_opj_mct_encode_real(OPJ_FLOAT32 *c0, OPJ_FLOAT32 *c1, OPJ_FLOAT32 *c2, OPJ_SIZE_T n);
void __wrap_opj_mct_encode_real(OPJ_FLOAT32 *c0, OPJ_FLOAT32 *c1, OPJ_FLOAT32 *c2, OPJ_SIZE_T n)
{
    if (join((void *[]){c0, c1, c2}, n))
        __real_opj_mct_encode_real(c0, c1, c2, n);
}

/* In decoding the wavelet comes first, so the sizes are known. */
static void record_separated(void *const planes[3])
{
    for (uint32_t c = 0; c < 3; c++) {
        watch_plane plane = {.kind = WATCH_SEPARATED,
                             .component = c,
                             .rect = watched.separated[c],
                             .width = watched.separated_width[c],
                             .height = watched.separated_height[c],
                             .values = planes[c]};
        watch_write_plane(&watched.log, &plane);
    }
}

void __real_opj_mct_decode(OPJ_INT32 *c0, OPJ_INT32 *c1, OPJ_INT32 *c2, OPJ_SIZE_T n);
void __wrap_opj_mct_decode(OPJ_INT32 *c0, OPJ_INT32 *c1, OPJ_INT32 *c2, OPJ_SIZE_T n)
{
    __real_opj_mct_decode(c0, c1, c2, n);
    record_separated((void *[]){c0, c1, c2});
}

void __real_opj_mct_decode_real(OPJ_FLOAT32 *c0, OPJ_FLOAT32 *c1, OPJ_FLOAT32 *c2, OPJ_SIZE_T n);
void __wrap_opj_mct_decode_real(OPJ_FLOAT32 *c0, OPJ_FLOAT32 *c1, OPJ_FLOAT32 *c2, OPJ_SIZE_T n)
{
    __real_opj_mct_decode_real(c0, c1, c2, n);
    record_separated((void *[]){c0, c1, c2});
}

/* ---- The wavelet transforms ------------------------------------------------------------------------------------ */

static void record_samples(const opj_tile_component *c)
{
    bytes *shifted = c->number < 3 ? &watched.joining[c->number] : NULL;
    if (!shifted || shifted->size == 0) {
        record(c, c->num_resolutions, WATCH_SHIFTED);
        return;
    }
    watch_plane plane = opj_record_plane(c, c->num_resolutions, WATCH_SHIFTED);
    plane.values = (const watch_value *)shifted->data;
    watch_write_plane(&watched.log, &plane);
    record(c, c->num_resolutions, WATCH_JOINED);
    bytes_free(shifted);
}

static bool replace(opj_tile_component *c)
{
    watch_log brought = {.planes = (watch_plane *)watched.replacements, .num_planes = watched.num_replacements};
    const watch_plane *plane = watch_find(&brought, WATCH_ANALYSED, c->number, opj_record_rect(c));
    if (plane)
        memcpy(c->data, plane->values, (size_t)plane->width * plane->height * sizeof *plane->values);
    return plane || l2k_rect_empty(opj_record_rect(c));
}

typedef OPJ_BOOL analysis(void *tcd, opj_tile_component *c);

static OPJ_BOOL analyse(void *tcd, opj_tile_component *c, analysis *original)
{
    if (watched.replacements)
        return replace(c);
    record_samples(c);
    OPJ_BOOL done = original(tcd, c);
    record(c, c->num_resolutions, WATCH_ANALYSED);
    return done;
}

analysis __real_opj_dwt_encode, __real_opj_dwt_encode_real;

OPJ_BOOL __wrap_opj_dwt_encode(void *tcd, opj_tile_component *c)
{
    return analyse(tcd, c, __real_opj_dwt_encode);
}

OPJ_BOOL __wrap_opj_dwt_encode_real(void *tcd, opj_tile_component *c)
{
    return analyse(tcd, c, __real_opj_dwt_encode_real);
}

typedef OPJ_BOOL synthesis(void *tcd, opj_tile_component *c, OPJ_UINT32 resolutions);

static OPJ_BOOL synthesise(void *tcd, opj_tile_component *c, OPJ_UINT32 resolutions, synthesis *original)
{
    opj_record_blocks(&watched.log, c, resolutions, WATCH_RECEIVED);
    record(c, resolutions, WATCH_DEQUANTISED);
    OPJ_BOOL done = original(tcd, c, resolutions);
    record(c, resolutions, WATCH_SYNTHESISED);
    if (c->number < 3) {
        watch_plane plane = opj_record_plane(c, resolutions, WATCH_SYNTHESISED);
        watched.separated[c->number] = plane.rect;
        watched.separated_width[c->number] = plane.width;
        watched.separated_height[c->number] = plane.height;
    }
    return done;
}

synthesis __real_opj_dwt_decode, __real_opj_dwt_decode_real;

OPJ_BOOL __wrap_opj_dwt_decode(void *tcd, opj_tile_component *c, OPJ_UINT32 resolutions)
{
    return synthesise(tcd, c, resolutions, __real_opj_dwt_decode);
}

OPJ_BOOL __wrap_opj_dwt_decode_real(void *tcd, opj_tile_component *c, OPJ_UINT32 resolutions)
{
    return synthesise(tcd, c, resolutions, __real_opj_dwt_decode_real);
}

/* ---- Tier-1, encoding ------------------------------------------------------------------------------------------ */

OPJ_BOOL __real_opj_t1_encode_cblks(void *tcd, opj_tile *tile, void *tcp, const OPJ_FLOAT64 *norms, OPJ_UINT32 count);
OPJ_BOOL __wrap_opj_t1_encode_cblks(void *tcd, opj_tile *tile, void *tcp, const OPJ_FLOAT64 *norms, OPJ_UINT32 count)
{
    OPJ_BOOL done = __real_opj_t1_encode_cblks(tcd, tile, tcp, norms, count);
    for (uint32_t c = 0; c < tile->num_components; c++)
        opj_record_blocks(&watched.log, &tile->components[c], tile->components[c].num_resolutions, WATCH_CODED);
    return done;
}

/* ---- In a child process ---- */

typedef struct errand {
    const picture *p;
    const coding *o;
    const watch_plane *planes;
    size_t count;
    const bytes *stream;
    const decoding *d;
} errand;

/* The output: a length, the codestream, the log. */
static bool encode(void *user, bytes *out)
{
    const errand *e = user;
    bytes stream;
    watched.replacements = e->planes;
    watched.num_replacements = e->count;
    if (!opj_library_encode_here(e->p, e->o, NULL, &stream))
        return false;
    bytes_append(out, &(uint64_t){stream.size}, sizeof(uint64_t));
    bytes_append(out, stream.data, stream.size);
    bytes_append(out, watched.log.data, watched.log.size);
    return true;
}

static bool encode_apart(errand *e, bytes *stream, bytes *raw)
{
    bytes both;
    uint64_t size;
    if (!work_apart(encode, e, &both))
        return false;
    memcpy(&size, both.data, sizeof size);
    bytes_append(stream, both.data + sizeof size, (size_t)size);
    if (raw)
        bytes_append(raw, both.data + sizeof size + size, both.size - sizeof size - (size_t)size);
    bytes_free(&both);
    return true;
}

bool opj_watch_encode(const picture *p, const coding *o, bytes *stream, bytes *raw)
{
    return encode_apart(&(errand){.p = p, .o = o}, stream, raw);
}

bool opj_watch_encode_from(const picture *p, const coding *o, const watch_plane *planes, size_t count, bytes *stream)
{
    return encode_apart(&(errand){.p = p, .o = o, .planes = planes, .count = count}, stream, NULL);
}

static void record_picture(const picture *p)
{
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        watch_plane plane = {.kind = WATCH_PICTURE,
                             .component = c,
                             .width = p->components[c].width,
                             .height = p->components[c].height,
                             .values = (const watch_value *)p->samples[c]};
        watch_write_plane(&watched.log, &plane);
    }
}

static bool decode(void *user, bytes *out)
{
    const errand *e = user;
    picture *p = opj_library_decode(e->stream, e->d);
    if (p)
        record_picture(p);
    *out = watched.log;
    return p;
}

bool opj_watch_decode(const bytes *stream, const decoding *d, bytes *raw)
{
    return work_apart(decode, &(errand){.stream = stream, .d = d}, raw);
}

const char *opj_watch_trouble(void)
{
#ifdef __x86_64__
    return strncmp(opj_version(), "2.5.", 4) == 0 ? NULL : "the structs are those of OpenJPEG 2.5.x";
#else
    return "the structs are those of x86-64";
#endif
}
