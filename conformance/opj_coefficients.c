/* lift2k's transform stage against OpenJPEG's own, coefficient by coefficient: images are encoded and decoded in memory
 * by libopenjp2.a, whose wavelet functions are watched through the linker's --wrap. What they give (forward) and take
 * (inverse) must be what a plan gives and takes, bit for bit; OpenJPEG's decoded samples must be the plan's.
 *
 * Each case runs in its own process, since OpenJPEG's 9/7 encoder ends in an assertion where a resolution has width 0
 * but not height 0.
 *
 * Tied to OpenJPEG 2.5 on x86-64 by the mirrored structs below; skipped (exit status 77) elsewhere. Exit status 0 = all
 * equal. Needs:
 *   -Wl,--wrap=opj_dwt_encode,--wrap=opj_dwt_encode_real,--wrap=opj_dwt_decode,--wrap=opj_dwt_decode_real
 *   libopenjp2.a -lm -lpthread
 * Usage: opj_coefficients [cases [seed]] */
#define _GNU_SOURCE
#include <math.h>
#include <openjpeg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "quant/steps.h"
#include "transform/plan.h"

/* ---- OpenJPEG's structs, as far as they are read ------------------------------------------------------------- */

typedef struct opj_band {
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_UINT32 number;
    void *precincts;
    OPJ_UINT32 precincts_bytes;
    OPJ_INT32 planes;
    OPJ_FLOAT32 step;
} opj_band;

typedef struct opj_resolution {
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_UINT32 precincts_across, precincts_down, num_bands;
    opj_band bands[3];
    OPJ_UINT32 window[4];
} opj_resolution;

typedef struct opj_tilecomp {
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_UINT32 number, num_resolutions, num_decoded;
    opj_resolution *resolutions;
    OPJ_UINT32 resolutions_bytes;
    OPJ_INT32 *data;
} opj_tilecomp;

/* ---- What the watched functions saw -------------------------------------------------------------------------- */

typedef struct record {
    l2k_rect rect;
    unsigned component, levels, discard;
    uint32_t width, height;
    float steps[L2K_MAX_SUBBANDS]; /* OpenJPEG's */
    union {
        int32_t i;
        float f;
    } * data;
} record;

#define MAX_RECORDS 4096
static record records[MAX_RECORDS];
static unsigned num_records;

static void forget(void)
{
    while (num_records > 0)
        free(records[--num_records].data);
}

static void note(const opj_tilecomp *c, unsigned resolutions)
{
    if (num_records == MAX_RECORDS)
        abort();
    record *r = &records[num_records++];
    const opj_resolution *top = &c->resolutions[resolutions - 1];
    *r = (record){.rect = {(uint32_t)c->x0, (uint32_t)c->y0, (uint32_t)c->x1, (uint32_t)c->y1},
                  .component = c->number,
                  .levels = c->num_resolutions - 1,
                  .discard = c->num_resolutions - resolutions,
                  .width = (uint32_t)(top->x1 - top->x0),
                  .height = (uint32_t)(top->y1 - top->y0)};
    unsigned band = 0;
    for (unsigned k = 0; k < resolutions; k++)
        for (unsigned b = 0; b < c->resolutions[k].num_bands; b++)
            r->steps[band++] = c->resolutions[k].bands[b].step;
    size_t count = (size_t)r->width * r->height;
    r->data = malloc(count * 4 + 1);
    if (count)
        memcpy(r->data, c->data, count * 4);
}

OPJ_BOOL __real_opj_dwt_encode(void *tcd, opj_tilecomp *c);
OPJ_BOOL __wrap_opj_dwt_encode(void *tcd, opj_tilecomp *c)
{
    OPJ_BOOL done = __real_opj_dwt_encode(tcd, c);
    note(c, c->num_resolutions);
    return done;
}

OPJ_BOOL __real_opj_dwt_encode_real(void *tcd, opj_tilecomp *c);
OPJ_BOOL __wrap_opj_dwt_encode_real(void *tcd, opj_tilecomp *c)
{
    OPJ_BOOL done = __real_opj_dwt_encode_real(tcd, c);
    note(c, c->num_resolutions);
    return done;
}

OPJ_BOOL __real_opj_dwt_decode(void *tcd, opj_tilecomp *c, OPJ_UINT32 resolutions);
OPJ_BOOL __wrap_opj_dwt_decode(void *tcd, opj_tilecomp *c, OPJ_UINT32 resolutions)
{
    note(c, resolutions);
    return __real_opj_dwt_decode(tcd, c, resolutions);
}

OPJ_BOOL __real_opj_dwt_decode_real(void *tcd, opj_tilecomp *c, OPJ_UINT32 resolutions);
OPJ_BOOL __wrap_opj_dwt_decode_real(void *tcd, opj_tilecomp *c, OPJ_UINT32 resolutions)
{
    note(c, resolutions);
    return __real_opj_dwt_decode_real(tcd, c, resolutions);
}

/* ---- OpenJPEG in memory -------------------------------------------------------------------------------------- */

typedef struct memory {
    unsigned char *data;
    size_t bytes, at, capacity;
} memory;

static OPJ_SIZE_T write_memory(void *source, OPJ_SIZE_T bytes, void *user)
{
    memory *m = user;
    if (m->at + bytes > m->capacity) {
        m->capacity = 2 * (m->at + bytes);
        m->data = realloc(m->data, m->capacity);
    }
    memcpy(m->data + m->at, source, bytes);
    m->at += bytes;
    m->bytes = m->at > m->bytes ? m->at : m->bytes;
    return bytes;
}

static OPJ_SIZE_T read_memory(void *target, OPJ_SIZE_T bytes, void *user)
{
    memory *m = user;
    if (m->at == m->bytes)
        return (OPJ_SIZE_T)-1;
    bytes = bytes < m->bytes - m->at ? bytes : m->bytes - m->at;
    memcpy(target, m->data + m->at, bytes);
    m->at += bytes;
    return bytes;
}

static OPJ_BOOL seek_memory(OPJ_OFF_T at, void *user)
{
    ((memory *)user)->at = (size_t)at;
    return OPJ_TRUE;
}

static OPJ_OFF_T skip_memory(OPJ_OFF_T by, void *user)
{
    ((memory *)user)->at += (size_t)by;
    return by;
}

static opj_stream_t *open_memory(memory *m, OPJ_BOOL reading)
{
    opj_stream_t *stream = opj_stream_default_create(reading);
    m->at = 0;
    opj_stream_set_user_data(stream, m, NULL);
    opj_stream_set_user_data_length(stream, m->bytes);
    opj_stream_set_read_function(stream, read_memory);
    opj_stream_set_write_function(stream, write_memory);
    opj_stream_set_seek_function(stream, seek_memory);
    opj_stream_set_skip_function(stream, skip_memory);
    return stream;
}

/* ---- Cases --------------------------------------------------------------------------------------------------- */

static uint32_t state;

static uint32_t below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(state ^ state >> 15) * n) >> 32);
}

static opj_image_t *random_image(unsigned *components, bool *joint)
{
    opj_image_cmptparm_t parameters[4] = {0};
    uint32_t x0 = below(90), y0 = below(90), x1 = x0 + 1 + below(below(4) ? 150 : 9),
             y1 = y0 + 1 + below(below(4) ? 150 : 9);
    unsigned precision = 1 + below(16), is_signed = below(4) == 0;
    *components = below(2) ? 3 : 1 + below(4);
    *joint = *components >= 3 && below(3);
    for (unsigned c = 0; c < *components; c++) {
        parameters[c].dx = *joint ? 1 : 1 + below(3);
        parameters[c].dy = *joint ? 1 : 1 + below(3);
        parameters[c].w = l2k_ceil_div(x1, parameters[c].dx) - l2k_ceil_div(x0, parameters[c].dx);
        parameters[c].h = l2k_ceil_div(y1, parameters[c].dy) - l2k_ceil_div(y0, parameters[c].dy);
        parameters[c].prec = *joint ? precision : 1 + below(16);
        parameters[c].sgnd = is_signed;
        if (parameters[c].w == 0 || parameters[c].h == 0)
            return NULL;
        /* Its encoder takes ceil((x1 - x0) / dx) for the distance between rows, which is not always the width (B-12).
         */
        if (parameters[c].w != l2k_ceil_div(x1 - x0, parameters[c].dx))
            return NULL;
    }
    opj_image_t *image =
        opj_image_create(*components, parameters, *components >= 3 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY);
    image->x0 = x0, image->y0 = y0, image->x1 = x1, image->y1 = y1;
    unsigned kind = below(3);
    for (unsigned c = 0; c < *components; c++) {
        opj_image_comp_t *k = &image->comps[c];
        int32_t range = 1 << k->prec, low = k->sgnd ? -(range / 2) : 0;
        for (uint32_t i = 0; i < k->w * k->h; i++) {
            uint32_t x = i % k->w, y = i / k->w;
            uint32_t v = kind == 0   ? below((uint32_t)range)
                         : kind == 1 ? (uint32_t)((below(2)) * (unsigned)(range - 1))
                                     : (uint32_t)(range / 2 + range * 0.4 * sin(x * 0.11 + c) * cos(y * 0.07));
            k->data[i] = low + (int32_t)(v % (uint32_t)range);
        }
    }
    return image;
}

static void silent(const char *text, void *user)
{
    (void)text, (void)user;
}

static bool encode(opj_image_t *image, bool joint, bool real, unsigned levels, memory *out)
{
    opj_cparameters_t p;
    opj_set_default_encoder_parameters(&p);
    p.irreversible = real;
    p.numresolution = (int)levels + 1;
    p.tcp_mct = joint;
    p.tcp_numlayers = 1;
    p.cp_disto_alloc = 1;
    p.tcp_rates[0] = below(2) ? 0 : (float)(2 + below(20));
    if (below(3) == 0) {
        p.tile_size_on = OPJ_TRUE;
        p.cp_tx0 = (int)below(image->x0 + 1);
        p.cp_ty0 = (int)below(image->y0 + 1);
        p.cp_tdx = (int)(image->x0 - (uint32_t)p.cp_tx0 + 1 + below(100));
        p.cp_tdy = (int)(image->y0 - (uint32_t)p.cp_ty0 + 1 + below(100));
    }
    opj_codec_t *codec = opj_create_compress(OPJ_CODEC_J2K);
    opj_set_error_handler(codec, silent, NULL);
    bool done = opj_setup_encoder(codec, &p, image);
    opj_stream_t *stream = open_memory(out, OPJ_FALSE);
    done = done && opj_start_compress(codec, image, stream) && opj_encode(codec, stream) &&
           opj_end_compress(codec, stream);
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    return done;
}

static opj_image_t *decode(memory *in, unsigned reduce)
{
    opj_dparameters_t p;
    opj_image_t *image = NULL;
    opj_set_default_decoder_parameters(&p);
    p.cp_reduce = reduce;
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_J2K);
    opj_set_error_handler(codec, silent, NULL);
    opj_stream_t *stream = open_memory(in, OPJ_TRUE);
    bool done = opj_setup_decoder(codec, &p) && opj_read_header(stream, codec, &image) &&
                opj_decode(codec, stream, image) && opj_end_decompress(codec, stream);
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    if (!done) {
        opj_image_destroy(image);
        return NULL;
    }
    return image;
}

/* ---- The same through lift2k --------------------------------------------------------------------------------- */

static unsigned orientation_of(unsigned band)
{
    return band == 0 ? 0 : (band - 1) % 3 + 1;
}

static unsigned band_of(const l2k_coefficients *view, uint32_t x, uint32_t y)
{
    for (unsigned b = 0; b < view->num_bands; b++) {
        const l2k_band_view *v = &view->bands[b];
        if (x >= v->x && x - v->x < v->width && y >= v->y && y - v->y < v->height)
            return b;
    }
    abort();
}

/* Where OpenJPEG's encoder is known to be wrong: its 9/7 does not double a line of one sample at an odd coordinate (see
 * dwt/lifting.h), and its 5/3, filtering the rows of a resolution of width 0 at an odd coordinate, changes samples
 * beside it (its 9/7 ends in an assertion there). */
static bool meets_defect(const record *r, bool real)
{
    for (unsigned level = 0; level < r->levels; level++) {
        l2k_rect q = l2k_resolution_rect(r->rect, level);
        if (real && !l2k_rect_empty(q) && ((q.x1 - q.x0 == 1 && (q.x0 & 1)) || (q.y1 - q.y0 == 1 && (q.y0 & 1))))
            return true;
        if (!real && q.x0 == q.x1 && (q.x0 & 1))
            return true;
    }
    return false;
}

typedef struct run {
    l2k_context context;
    l2k_plan_spec spec;
    l2k_plan_component components[4];
    l2k_plane planes[4];
    l2k_plan *plan;
} run;

static void complain(void *user, l2k_severity severity, const char *text)
{
    (void)user, (void)severity;
    fprintf(stderr, "%s\n", text);
}

static void prepare(run *t, const record *tile, const opj_image_t *image, unsigned reduce, l2k_direction direction,
                    bool joint, bool real)
{
    *t = (run){.context = {{NULL, NULL, complain, NULL}, 1}};
    t->spec = (l2k_plan_spec){.direction = direction,
                              .type = L2K_COEFFICIENT_INT32,
                              .component_transform = joint,
                              .num_components = image->numcomps,
                              .components = t->components};
    for (unsigned c = 0; c < image->numcomps; c++) {
        const opj_image_comp_t *k = &image->comps[c];
        l2k_plan_component *p = &t->components[c];
        *p = (l2k_plan_component){.rect = tile[c].rect,
                                  .levels = tile[c].levels,
                                  .discard = tile[c].discard,
                                  .wavelet = real ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3,
                                  .precision = k->prec,
                                  .is_signed = k->sgnd};
        for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++) /* the decoder's steps leave the gain out */
            p->steps[b] =
                tile[c].steps[b] * (direction == L2K_INVERSE && real ? 1u << l2k_log2_gain(orientation_of(b)) : 1);
        l2k_rect part = l2k_resolution_rect(p->rect, reduce);
        uint32_t left = l2k_ceil_shift(l2k_ceil_div(image->x0, k->dx), reduce);
        uint32_t top = l2k_ceil_shift(l2k_ceil_div(image->y0, k->dy), reduce);
        t->planes[c] = (l2k_plane){k->data + (size_t)(part.y0 - top) * k->w + (part.x0 - left), (ptrdiff_t)k->w * 4, 4,
                                   L2K_SAMPLE_S32};
    }
    if (l2k_plan_create(&t->context, L2K_BACKEND_CPU, &t->spec, &t->plan) != L2K_OK)
        abort();
}

/* Shared with the processes of the cases. */
static struct tally {
    unsigned long compared[5], differ[5], defects;
} * tally;

/* What is compared; the forward and inverse ones plus 1 for the 9/7. */
enum { STEPS = 0, FORWARD = 1, INVERSE = 3 };
static const char *const names[5] = {"steps", "forward 5/3", "forward 9/7", "inverse 5/3", "inverse 9/7"};

static void count(unsigned kind, bool differs)
{
    tally->compared[kind]++;
    tally->differ[kind] += differs;
}

static unsigned long differences(void)
{
    unsigned long sum = 0;
    for (unsigned kind = 0; kind < 5; kind++)
        sum += tally->differ[kind];
    return sum;
}

static void check_steps(const run *t, const record *tile)
{
    for (unsigned c = 0; c < t->spec.num_components; c++)
        for (unsigned b = 0; b <= 3 * tile[c].levels; b++) {
            const l2k_band_view *band = &l2k_plan_coefficients(t->plan, c)->bands[b];
            if (band->width == 0 || band->height == 0) /* OpenJPEG leaves out the step as well */
                continue;
            unsigned o = orientation_of(b), level = b == 0 ? tile[c].levels : tile[c].levels - (b - 1) / 3;
            unsigned precision = t->components[c].precision;
            l2k_step step = l2k_step_choose(L2K_WAVELET_9_7, precision, level, o);
            count(STEPS, l2k_step_size(step, precision, o) != tile[c].steps[b]);
        }
}

static void compare_forward(const opj_image_t *image, const record *tile, bool joint, bool real)
{
    run t;
    prepare(&t, tile, image, 0, L2K_FORWARD, joint, real);
    if (real)
        check_steps(&t, tile);
    l2k_plan_forward(t.plan, t.planes);
    for (unsigned c = 0; c < image->numcomps; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(t.plan, c);
        if (meets_defect(&tile[c], real)) {
            tally->defects++;
            continue;
        }
        for (uint32_t y = 0; y < view->height; y++)
            for (uint32_t x = 0; x < view->width; x++) {
                size_t at = (size_t)y * tile[c].width + x;
                int32_t expected = tile[c].data[at].i;
                if (real) { /* as its tier-1 quantises */
                    long q = lrintf((tile[c].data[at].f / tile[c].steps[band_of(view, x, y)]) * 64.0f);
                    expected = (int32_t)(q < 0 ? -(-q >> 6) : q >> 6);
                }
                count(FORWARD + real, ((const int32_t *)view->base)[y * view->stride + x] != expected);
            }
    }
    l2k_plan_free(t.plan);
}

static void fill_view(const l2k_coefficients *view, const record *r, bool real)
{
    for (uint32_t y = 0; y < view->height; y++)
        for (uint32_t x = 0; x < view->width; x++) {
            size_t at = (size_t)y * r->width + x;
            int32_t *target = &((int32_t *)view->base)[y * view->stride + x];
            *target = r->data[at].i;
            if (!real)
                continue;
            float half = 0.5f * r->steps[band_of(view, x, y)];
            *target = (int32_t)lrintf(r->data[at].f / half);
            if ((float)*target * half != r->data[at].f)
                abort(); /* not what its tier-1 computes */
        }
}

static void compare_inverse(const opj_image_t *image, const record *tile, unsigned reduce, bool joint, bool real)
{
    run t;
    prepare(&t, tile, image, reduce, L2K_INVERSE, joint, real);
    for (unsigned c = 0; c < image->numcomps; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(t.plan, c);
        fill_view(view, &tile[c], real);
        t.planes[c].data = malloc((size_t)view->width * view->height * 4 + 1);
        t.planes[c].row_stride = (ptrdiff_t)view->width * 4;
    }
    run where;
    prepare(&where, tile, image, reduce, L2K_INVERSE, joint, real);
    l2k_plan_inverse(t.plan, t.planes);
    for (unsigned c = 0; c < image->numcomps; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(t.plan, c);
        for (uint32_t y = 0; y < view->height; y++)
            for (uint32_t x = 0; x < view->width; x++) {
                const char *row = (const char *)where.planes[c].data + (ptrdiff_t)y * where.planes[c].row_stride;
                count(INVERSE + real,
                      ((const int32_t *)t.planes[c].data)[(size_t)y * view->width + x] != ((const int32_t *)row)[x]);
            }
        free(t.planes[c].data);
    }
    l2k_plan_free(where.plan);
    l2k_plan_free(t.plan);
}

static bool one_case(void)
{
    unsigned components, levels = below(7), reduce = below(2) ? 0 : below(levels + 1);
    bool joint, real = below(2);
    opj_image_t *image = random_image(&components, &joint);
    if (!image)
        return false;
    /* The encoder works in the image's own memory, so it gets a copy. */
    int32_t *samples[4];
    for (unsigned c = 0; c < components; c++) {
        size_t bytes = (size_t)image->comps[c].w * image->comps[c].h * 4;
        samples[c] = malloc(bytes);
        memcpy(samples[c], image->comps[c].data, bytes);
    }
    memory file = {0};
    bool done = encode(image, joint, real, levels, &file);
    for (unsigned c = 0; c < components; c++) {
        size_t bytes = (size_t)image->comps[c].w * image->comps[c].h * 4;
        if (!image->comps[c].data)
            image->comps[c].data = opj_image_data_alloc(bytes);
        memcpy(image->comps[c].data, samples[c], bytes);
        free(samples[c]);
    }
    for (unsigned k = 0; done && k + components <= num_records; k += components)
        compare_forward(image, &records[k], joint, real);
    opj_image_destroy(image);
    forget();
    opj_image_t *decoded = done ? decode(&file, reduce) : NULL;
    for (unsigned k = 0; decoded && k + components <= num_records; k += components)
        compare_inverse(decoded, &records[k], reduce, joint, real);
    done = done && decoded;
    if (decoded)
        opj_image_destroy(decoded);
    forget();
    free(file.data);
    return done;
}

static bool run_case(uint32_t seed)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        state = seed;
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        _exit(one_case() ? 0 : 1);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool known_openjpeg(void)
{
#ifdef __x86_64__
    if (strncmp(opj_version(), "2.5.", 4) == 0)
        return true;
    printf("skipped: the structs are those of OpenJPEG 2.5.x, and this is %s\n", opj_version());
#else
    printf("skipped: the structs are those of x86-64\n");
#endif
    return false;
}

int main(int argc, char **argv)
{
    unsigned cases = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, refused = 0;
    uint32_t first = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    if (!known_openjpeg())
        return 77;
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED)
        return 2;
    for (unsigned i = 0; i < cases; i++) {
        unsigned long before = differences();
        uint32_t seed = (first + i) * 2654435761u;
        refused += !run_case(seed);
        if (differences() != before)
            printf("case %u: %lu differences\n", first + i, differences() - before);
    }
    for (unsigned kind = 0; kind < 5; kind++)
        printf("%s: %lu compared, %lu differ\n", names[kind], tally->compared[kind], tally->differ[kind]);
    printf("%u cases, %u of them beyond OpenJPEG; %lu tile-components left out for its defects\n", cases, refused,
           tally->defects);
    return differences() != 0 || refused * 2 > cases;
}
