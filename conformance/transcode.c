/* Tests l2k_encoder_transcode:
 *
 *     conformance_transcode [COUNT [FIRST]]     random pictures and codings
 *     conformance_transcode FILE...             these files
 *     conformance_transcode set                 the smaller files of the test set that L2K_CONFORMANCE_SET names (T.803)
 *
 * Coefficients are those of l2k_decoder_coefficients: equal before and after, to HT and back to MQ, in other orders of
 * packets, of fewer layers and resolutions. Without options, and back from another order, files are the same to the byte
 * if lift2k encoded them. libopenjp2 and, where it is installed, OpenJPH decode the results as lift2k does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/ht/ojph.h"
#include "conformance/process.h"

/* What is set for a transcoding; -1: not given. */
typedef struct changes {
    int style, progression, sop, eph, plt, tlm, tile_parts;
    uint32_t reduce, layers, threads;
    bool rewrites, in_parts;
    l2k_size precinct; /* width 0: not given */
} changes;

static const changes unchanged = {-1, -1, -1, -1, -1, -1, -1, 0, 0, 1, false, false, {0, 0}};

typedef struct trial {
    uint64_t seed;
    const picture *p; /* NULL for files */
    const coding *o;
    const char *file;
    long checks, failures, witnessed;
} trial;

/* ---- The library ------------------------------------------------------------------------------------------------ */

static void keep_message(void *user, l2k_severity severity, const char *text)
{
    if (severity == L2K_SEVERITY_ERROR)
        snprintf(user, MESSAGE_BYTES, "%s", text);
}

static int append(void *user, const void *data, size_t size)
{
    bytes_append(user, data, size);
    return 0;
}

static int replace(void *user, uint64_t offset, const void *data, size_t size)
{
    memcpy(((bytes *)user)->data + offset, data, size);
    return 0;
}

static int read_at(void *user, uint64_t offset, void *buffer, size_t count)
{
    memcpy(buffer, ((const bytes *)user)->data + offset, count);
    return 0;
}

static l2k_decoder *open_file(const bytes *file, const changes *k, char *message, l2k_status *status)
{
    const l2k_hooks hooks = {.message = keep_message, .user = message};
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    message[0] = 0;
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, k->threads);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, k->reduce);
    l2k_decoder_set(decoder, L2K_DECODER_LAYERS, k->layers);
    *status = k->in_parts ? l2k_decoder_open_file(decoder, &(l2k_file){file->size, read_at, (void *)(uintptr_t)file})
                          : l2k_decoder_open_memory(decoder, file->data, file->size);
    return decoder;
}

static bytes transcode(const bytes *file, const changes *k, char *message, l2k_status *status)
{
    const l2k_hooks hooks = {.message = keep_message, .user = message};
    const int values[] = {k->style, k->progression, k->sop, k->eph, k->plt, k->tlm, k->tile_parts, (int)k->threads};
    static const l2k_encoder_option options[] = {L2K_ENCODER_STYLE,      L2K_ENCODER_PROGRESSION, L2K_ENCODER_SOP,
                                                 L2K_ENCODER_EPH,        L2K_ENCODER_PLT,         L2K_ENCODER_TLM,
                                                 L2K_ENCODER_TILE_PARTS, L2K_ENCODER_THREADS};
    bytes out = {0};
    l2k_decoder *decoder = open_file(file, k, message, status);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    const l2k_stream stream = {.write = append, .rewrite = k->rewrites ? replace : NULL, .user = &out};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i] >= 0)
            l2k_encoder_set(encoder, options[i], values[i]);
    if (k->precinct.width)
        l2k_encoder_set_precincts(encoder, &k->precinct, 1);
    if (*status == L2K_OK)
        *status = l2k_encoder_transcode(encoder, decoder, &stream);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    return out;
}

/* The sizes and values of a component's subbands. */
static l2k_status take(void *user, const l2k_tile_coefficients *c)
{
    const l2k_coefficients *view = c->view;
    for (uint32_t b = 0; b < view->num_bands; b++) {
        const l2k_band_view *band = &view->bands[b];
        if (band->height)
            bytes_append(user, &band->width, band->width ? sizeof band->width : 0);
        for (uint32_t y = 0; y < band->height; y++)
            bytes_append(user, (const int32_t *)view->base + (band->y + y) * view->stride + band->x,
                         band->width * sizeof(int32_t));
    }
    return L2K_OK;
}

/* Those of all tiles, and after each its status. */
static bytes coefficients(const bytes *file, const changes *k, l2k_status *status)
{
    char message[MESSAGE_BYTES];
    bytes out = {0};
    l2k_decoder *decoder = open_file(file, k, message, status);
    for (uint32_t tile = 0; *status == L2K_OK || *status == L2K_INCOMPLETE; tile++) {
        const l2k_status of_tile = l2k_decoder_coefficients(decoder, tile, take, &out);
        if (of_tile == L2K_ERROR_ARGUMENT && tile > 0)
            break;
        *status = of_tile == L2K_OK ? *status : of_tile;
    }
    l2k_decoder_free(decoder);
    return out;
}

/* ---- Checks ----------------------------------------------------------------------------------------------------- */

static void check(trial *t, bool good, const char *what, const char *message)
{
    t->checks++;
    t->failures += !good;
    if (good)
        return;
#pragma omp critical(print)
    {
        printf("FAIL case %llu %s: %s: %s\n", (unsigned long long)t->seed, t->file ? t->file : "", what, message);
        if (t->p)
            print_case(t->p, t->o);
    }
}

static bool is_done(l2k_status status)
{
    return status == L2K_OK || status == L2K_INCOMPLETE;
}

/* The transcoded file; its coefficients are those of the input with the same layers and resolutions. */
static bytes check_change(trial *t, const bytes *file, const changes *k, const char *what)
{
    char message[MESSAGE_BYTES];
    l2k_status status, before, after;
    bytes out = transcode(file, k, message, &status);
    check(t, is_done(status), what, message);
    if (!is_done(status))
        return out;
    bytes was = coefficients(file, k, &before), is = coefficients(&out, &unchanged, &after);
    check(t, is_done(before) && is_done(after) && bytes_equal(&was, &is), what, "other coefficients");
    check(t, before == status, what, "another status than the decoder's");
    bytes_free(&was);
    bytes_free(&is);
    return out;
}

static void check_layers(trial *t, const bytes *file, const bytes *out, const char *what)
{
    for (uint32_t layers = 1; t->o && layers < t->o->num_targets; layers++) {
        changes k = unchanged;
        l2k_status before, after;
        k.layers = layers;
        bytes was = coefficients(file, &k, &before), is = coefficients(out, &k, &after);
        check(t, bytes_equal(&was, &is), what, "other coefficients of some layers");
        bytes_free(&was);
        bytes_free(&is);
    }
}

static const ojph_programs *openjph;

/* Where lossy, decoders differ by one. */
static void check_decoders(trial *t, const bytes *out, bool ht, const char *what)
{
    const int64_t most = t->o->irreversible || t->o->kernel ? 1 : 0;
    picture *ours = lift_decode(out, NULL, NULL, NULL), *other = NULL;
    char stem[300];
    check(t, ours != NULL, what, "not decoded");
    if (ours && !has_empty_tile_component(t->p, t->o, 0) && !opj_misses_precincts(t->p, t->o) && !t->o->kernel) {
        other = opj_library_decode(out, NULL);
        t->witnessed += other != NULL;
        if (other)
            check(t, picture_compare(ours, other).peak <= most, what, "libopenjp2 decodes another picture");
    }
    picture_free(other);
    const bool in_boxes = out->data[0] != 0xFF; /* for which the helpers are not made */
    if (ours && ht && openjph && !in_boxes && !t->o->num_changes && !ojph_cannot_expand(openjph, t->p, t->o, out)) {
        snprintf(stem, sizeof stem, "%s.%llu", t->file, (unsigned long long)t->seed);
        other = ojph_expand(openjph, out, t->p, stem);
        t->witnessed++;
        check(t, other && picture_compare(ours, other).peak <= most, what, "OpenJPH decodes another picture");
        picture_free(other);
    }
    picture_free(ours);
}

static changes random_changes(rng *r)
{
    changes k = unchanged;
    int *some[] = {&k.sop, &k.eph, &k.plt, &k.tlm};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        *some[i] = (int)rng_below(r, 3) - 1;
    k.threads = 1 + rng_below(r, 3);
    k.rewrites = rng_below(r, 2);
    k.in_parts = rng_below(r, 2);
    return k;
}

/* Any file: to both kinds, in another order, with less. */
static void check_file(trial *t, rng *r, const bytes *file, uint32_t levels, uint32_t layers)
{
    changes k = random_changes(r);
    l2k_status status;
    char message[MESSAGE_BYTES];
    l2k_decoder_free(open_file(file, &k, message, &status));
    if (status != L2K_OK)
        return;
    k.style = L2K_STYLE_HT;
    bytes ht = check_change(t, file, &k, "to HT");
    k = random_changes(r);
    k.style = rng_below(r, 2) ? (int)rng_below(r, 64) & ~L2K_STYLE_VSC : 0;
    bytes mq = check_change(t, &ht, &k, "HT to MQ");
    bytes_free(&mq);
    bytes_free(&ht);
    mq = check_change(t, file, &k, "to MQ");
    check_layers(t, file, &mq, "to MQ");
    bytes_free(&mq);
    k = random_changes(r);
    k.progression = (int)rng_below(r, 5);
    k.reduce = rng_below(r, levels + 1);
    k.layers = rng_below(r, layers + 1);
    bytes out = transcode(file, &k, message, &status); /* of tiles that have a regular size without these levels */
    if (!is_done(status) && status != L2K_ERROR_TRUNCATED && !strstr(message, "no regular size") &&
        status != L2K_ERROR_UNSUPPORTED) /* HT and MQ code-blocks in one subband */
        check(t, false, "less", message);
    bytes_free(&out);
    if (is_done(status)) {
        out = check_change(t, file, &k, "less");
        bytes_free(&out);
    }
}

/* A file of lift2k's: the same to the byte where nothing changes, and back again. */
static void check_bytes(trial *t, rng *r, const bytes *file)
{
    char message[MESSAGE_BYTES];
    l2k_status status;
    changes k = unchanged;
    k.rewrites = rng_below(r, 2);
    bytes out = transcode(file, &k, message, &status);
    const bool lacks_blocks = t->o->max_bytes || t->o->component_bytes || /* whose bit-planes tag trees tell in part */
                              (t->o->num_targets && t->o->targets[t->o->num_targets - 1] > 1);
    const bool divided = t->o->tile_parts != L2K_TILE_PARTS_ONE; /* perhaps in another way with as many tile-parts */
    const bool same = bytes_equal(&out, file) || lacks_blocks || divided;
    check(t, status == L2K_OK && same, "unchanged", status == L2K_OK ? "other bytes" : message);
    bytes_free(&out);
    k = random_changes(r);
    k.progression = (int)rng_below(r, 5);
    if (rng_below(r, 2) && !t->o->num_precincts)
        k.precinct = (l2k_size){4096, 4096};
    const bool used_precincts = k.precinct.width;
    out = check_change(t, file, &k, "another order");
    k = unchanged;
    k.progression = t->o->progression;
    k.sop = t->o->sop;
    k.eph = t->o->eph;
    k.plt = t->o->plt;
    k.tlm = t->o->tlm;
    k.tile_parts = t->o->tile_parts;
    bytes back = transcode(&out, &k, message, &status);
    if (!t->o->num_changes && !lacks_blocks && !used_precincts)
        check(t, status == L2K_OK && bytes_equal(&back, file), "back again",
              status == L2K_OK ? "other bytes" : message);
    bytes_free(&out);
    bytes_free(&back);
}

/* ---- Random files ------------------------------------------------------------------------------------------------ */

static coding random_file(rng *r, const picture *p)
{
    coding o = random_coding(r, p, 5);
    if (rng_below(r, 2)) {
        o.style = L2K_STYLE_HT;
        o.ht_passes = rng_between(r, 1, 3);
    }
    o.irreversible = rng_below(r, 2);
    if (o.irreversible)
        o.step = rng_below(r, 2) ? 1.0 / (1 << rng_below(r, 10)) : 0;
    if (rng_below(r, 6) == 0)
        o.kernel = (l2k_wavelet)rng_between(r, L2K_WAVELET_HAAR, L2K_WAVELET_W4);
    if (o.kernel == L2K_WAVELET_W4)
        o.irreversible = true;
    o.num_targets = rng_below(r, 2) ? rng_between(r, 1, 4) : 0;
    for (unsigned i = 0; i < o.num_targets; i++)
        o.targets[i] = i + 1 == o.num_targets && rng_below(r, 2) ? 1 : 40.0 / (double)(1u << i);
    random_extras(r, p, &o);
    o.threads = 1;
    return o;
}

static trial try_random(uint64_t seed, const char *scratch)
{
    rng r = {seed * 2654435761u + 5};
    char message[MESSAGE_BYTES];
    shape s = random_shape(&r, rng_below(&r, 4) ? 120 : 400, 4, 16);
    picture *p = picture_make(&s);
    coding o = random_file(&r, p);
    trial t = {.seed = seed, .p = p, .o = &o, .file = scratch};
    bytes file = {0};
    const l2k_format format = rng_below(&r, 2) ? L2K_FORMAT_JP2 : L2K_FORMAT_CODESTREAM;
    l2k_status status = lift_encode(p, &o, format, &file, message);
    if (status == L2K_ERROR_ARGUMENT) { /* too many tile-parts, or changes that leave packets out */
        bytes_free(&file);
        o.tile_parts = L2K_TILE_PARTS_ONE;
        o.num_changes = 0;
        status = lift_encode(p, &o, format, &file, message);
    }
    if (status == L2K_OK) {
        check_bytes(&t, &r, &file);
        changes k = random_changes(&r);
        k.style = o.style & L2K_STYLE_HT ? 0 : L2K_STYLE_HT;
        bytes other = check_change(&t, &file, &k, "to the other kind");
        check_decoders(&t, &other, k.style, "to the other kind");
        bytes_free(&other);
        if (rng_below(&r, 3) == 0)
            file.size -= rng_below(&r, (uint32_t)file.size / 2);
        check_file(&t, &r, &file, coding_levels(&o), o.num_targets);
    }
    bytes_free(&file);
    picture_free(p);
    return t;
}

enum { SKIPPED = 77, SMALL = 100000 };

static trial try_file(const char *path, size_t most)
{
    trial t = {.file = path};
    rng r = {1};
    bytes file = bytes_read(path);
    if (file.size <= most)
        check_file(&t, &r, &file, 2, 2);
    bytes_free(&file);
    return t;
}

/* The files of manifest.tsv, each of which may have several lines. */
static trial try_set(const char *folder)
{
    trial all = {0};
    char line[8192], path[1200], before[1200] = "";
    snprintf(path, sizeof path, "%s/manifest.tsv", folder);
    FILE *manifest = fopen(path, "r");
    while (manifest && fgets(line, sizeof line, manifest)) {
        line[strcspn(line, "\t")] = 0;
        snprintf(path, sizeof path, "%.600s/%.500s", folder, line);
        if (strcmp(path, before) == 0)
            continue;
        strcpy(before, path);
        const trial t = try_file(path, SMALL);
        all.checks += t.checks;
        all.failures += t.failures;
    }
    if (manifest)
        fclose(manifest);
    return all;
}

int main(int count, char **arguments)
{
    const unsigned cases = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 200;
    const uint64_t first = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    long checks = 0, failures = 0, witnessed = 0;
    char scratch[256];
    ojph_programs programs;
    scratch_make(scratch, sizeof scratch);
    if (ojph_find(NULL, scratch, &programs))
        openjph = &programs;
    if (count > 1 && strcmp(arguments[1], "set") == 0) {
        const char *folder = getenv("L2K_CONFORMANCE_SET");
        const trial t = try_set(folder ? folder : "");
        checks = t.checks;
        failures = t.failures;
        if (!folder || !*folder) {
            printf("skipped: no test set; L2K_CONFORMANCE_SET names it (see docs/conformance.md)\n");
            scratch_remove(scratch);
            return SKIPPED;
        }
    } else if (count > 1 && cases == 0)
        for (int i = 1; i < count; i++) {
            const trial t = try_file(arguments[i], SIZE_MAX);
            checks += t.checks;
            failures += t.failures;
        }
#pragma omp parallel for schedule(dynamic) reduction(+ : checks, failures, witnessed)
    for (unsigned i = 0; i < cases; i++) {
        const trial t = try_random(first + i, scratch);
        checks += t.checks;
        failures += t.failures;
        witnessed += t.witnessed;
    }
    scratch_remove(scratch);
    printf("%ld checks, %ld files also with other decoders: %ld failures\n", checks, witnessed, failures);
    return failures != 0 || checks == 0;
}
