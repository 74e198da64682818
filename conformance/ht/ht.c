/* HT code-blocks (T.814) against other codecs, on random pictures and parameters:
 *
 *     conformance_ht [--ojph FOLDER]... [--openhtj2k PROGRAM] [--keep FOLDER] [COUNT [SEED]]
 *
 * lift2k's files in OpenJPEG and in OpenJPH (ojph_expand); OpenJPH's (ojph_compress) in lift2k; the code-blocks of both
 * encoders, byte for byte. A decoder is not asked for what it does not support; the functions *_trouble list that, and
 * what none supports remains a round trip. --ojph adds another version's programs to those in PATH, --openhtj2k names
 * open_htj2k_dec; --keep writes lift2k's files and what they decode to, for imagecodecs.py.
 * The 5/3 must be equal, the 9/7 within 1, beyond 12 bits within 1 on the scale of 12 bits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/ht/codes.h"
#include "conformance/ht/ojph.h"
#include "conformance/process.h"
#include "conformance/tally.h"

enum { MOST_OJPH = 4, COMMAND_COUNT = 300 };

typedef struct other_ojph {
    ojph_programs programs;
    tally expanded, compressed, codes;
    char names[3][80];
} other_ojph;

static other_ojph others[MOST_OJPH];
static unsigned num_others;
static tally openjpeg = {.decoder = "OpenJPEG"}, openhtj2k = {.decoder = "OpenHTJ2K"};
static long round_trips_alone;
static const char *openhtj2k_program, *keep_folder;
static char scratch[256];

/* ---- Parameters ---------------------------------------------------------------------------------------------- */

static picture *random_picture(rng *r)
{
    shape s = random_shape(r, rng_below(r, 8) ? 200 : 600, 5, rng_below(r, 3) ? 16 : 24);
    if (rng_below(r, 2)) { /* what the most decoders take */
        s.num_components = s.num_components > 2 ? 3 : 1;
        s.is_signed = false;
    }
    return picture_make(&s);
}

/* A size or PSNR, which quantiser steps are to reach; or layers, which end after any refinement pass. */
static void random_targets(rng *r, coding *o)
{
    const bool psnr = rng_below(r, 2);
    if (o->ht_passes == 1 && o->irreversible && rng_below(r, 3) == 0) {
        o->target_kind = psnr ? L2K_TARGET_PSNR : L2K_TARGET_RATIO;
        o->num_targets = 1;
        o->targets[0] = psnr ? rng_between(r, 20, 50) : rng_between(r, 2, 40);
    } else if (o->ht_passes > 1 && rng_below(r, 3) == 0) {
        o->num_targets = rng_between(r, 2, 5);
        for (unsigned i = 0; i < o->num_targets; i++)
            o->targets[i] = 3.0 * (o->num_targets - i);
        o->targets[o->num_targets - 1] = 1;
    }
}

static coding random_ht_coding(rng *r, const picture *p)
{
    coding o = random_coding(r, p, rng_below(r, 16) ? 6 : 32);
    o.irreversible = rng_below(r, 2) && p->components[0].precision <= 16;
    o.ht_passes = rng_below(r, 2) ? 1 : rng_between(r, 1, 3);
    while (o.resolutions > 1 && has_thin_resolution(p, &o, 3) && rng_below(r, 8)) /* which Debian's OpenJPH cannot do */
        o.resolutions--;
    o.style = L2K_STYLE_HT | (o.ht_passes > 1 && rng_below(r, 3) == 0 ? L2K_STYLE_VSC : 0);
    random_targets(r, &o);
    if (o.irreversible && o.num_targets == 0 && rng_below(r, 2))
        o.step = ldexp(1 + rng_below(r, 1000) / 1000.0, -(int)rng_between(r, 3, p->components[0].precision + 2));
    return o;
}

static int64_t tolerance(const picture *p, const coding *o)
{
    const uint32_t precision = p->components[0].precision;
    return !o->irreversible ? 0 : precision <= 12 ? 1 : (int64_t)1 << (precision - 12);
}

/* ---- One case ------------------------------------------------------------------------------------------------ */

typedef struct ht_case {
    uint64_t seed;
    const picture *p;
    const coding *o;
    const bytes *file;
    const picture *ours;
    const char *stem;
} ht_case;

static long fail_case(const ht_case *k, const char *what, const difference *d)
{
    print_failure("HT", k->seed, k->p, k->o, what, d);
    return 1;
}

/* Takes `theirs`. */
static long compare_with(const ht_case *k, tally *t, picture *theirs)
{
    char what[200];
    tally_compared(t);
    snprintf(what, sizeof what, "%s does not decode", t->decoder);
    if (!theirs)
        return fail_case(k, what, NULL);
    difference d = picture_compare(theirs, k->ours);
    picture_free(theirs);
    if (d.peak >= 0 && d.peak <= tolerance(k->p, k->o))
        return 0;
    snprintf(what, sizeof what, "%s (left) and lift2k (right) decode different pictures", t->decoder);
    return fail_case(k, what, &d);
}

static const char *openjpeg_trouble(const ht_case *k)
{
    return has_empty_tile_component(k->p, k->o, 0) ? "a tile without samples of some component"
           : k->o->num_targets > 1                 ? "several layers"
           : opj_misses_precincts(k->p, k->o)      ? "RPCL or PCRL: it misses precincts"
                                                   : NULL;
}

/* OpenJPH and OpenHTJ2K: a line of one odd coefficient is halved, which is exact only if all is lossless. */
static bool rounds_otherwise(const ht_case *k)
{
    return !k->o->irreversible && k->o->ht_passes > 1 && has_thin_resolution(k->p, k->o, 2);
}

static const char *openhtj2k_trouble(const ht_case *k)
{
    if (k->p->image.x0 || k->p->image.y0)
        return "an image origin other than 0,0";
    if (coding_levels(k->o) > 30)
        return "more than 30 levels";
    if (rounds_otherwise(k))
        return "5/3, not lossless: a line of one odd coefficient, which is halved, is rounded in another way";
    for (uint32_t c = 0; c < k->p->image.num_components; c++) {
        if (k->p->components[c].precision > 15)
            return "16 bits and more, which it decodes incorrectly";
        if (k->p->components[c].dx > 1 || k->p->components[c].dy > 1)
            return "sub-sampled components, which it decodes incorrectly in part";
    }
    return NULL;
}

static picture *openhtj2k_decode(const ht_case *k)
{
    char input[560], output[560], plane[560]; /* a stem and what follows it */
    snprintf(input, sizeof input, "%s-second.j2c", k->stem);
    snprintf(output, sizeof output, "%s-second.pgx", k->stem);
    char *arguments[] = {(char *)(uintptr_t)openhtj2k_program, "-i", input, "-o", output, "-num_threads", "1", NULL};
    bool good = bytes_write(k->file, input) && run_program(arguments, NULL);
    picture *p = picture_empty(&k->p->image);
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        snprintf(plane, sizeof plane, "%s-second_%02u.pgx", k->stem, c);
        picture *one = good ? read_pgx(plane) : NULL;
        const l2k_component *a = &p->components[c], *b = one ? &one->components[0] : NULL;
        good = b && a->width == b->width && a->height == b->height;
        if (good)
            memcpy(p->samples[c], one->samples[0], (size_t)a->width * a->height * sizeof(int32_t));
        picture_free(one);
        unlink(plane);
    }
    unlink(input);
    if (good)
        return p;
    picture_free(p);
    return NULL;
}

static long with_openhtj2k(const ht_case *k)
{
    picture *theirs = openhtj2k_decode(k);
    if (theirs || coding_tiles(k->o, &k->p->image) == 1)
        return compare_with(k, &openhtj2k, theirs);
    tally_reason(&openhtj2k, "tiles, some of which it refuses");
    return 0;
}

/* Files, and what they must decode to: a line of numbers, then all planes in 32 bits of this machine. */
static void keep(const ht_case *k)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%06llu.j2c", keep_folder, (unsigned long long)k->seed);
    bool good = bytes_write(k->file, path);
    snprintf(path, sizeof path, "%s/%06llu.raw", keep_folder, (unsigned long long)k->seed);
    FILE *f = fopen(path, "wb");
    good = good && f;
    if (f)
        fprintf(f, "%lld %u %u", (long long)tolerance(k->p, k->o) + (rounds_otherwise(k) ? 3 : 0),
                k->p->image.num_components, codestream_has_transform(k->file));
    for (uint32_t c = 0; f && c < k->ours->image.num_components; c++)
        fprintf(f, " %u %u %u %d", k->ours->components[c].width, k->ours->components[c].height,
                k->ours->components[c].precision, k->ours->components[c].is_signed);
    if (f)
        fputc('\n', f);
    for (uint32_t c = 0; f && c < k->ours->image.num_components; c++) {
        size_t samples = (size_t)k->ours->components[c].width * k->ours->components[c].height;
        good = fwrite(k->ours->samples[c], 4, samples, f) == samples && good;
    }
    if (!f || fclose(f) != 0 || !good)
        fail_case(k, "the file to keep cannot be written", NULL);
}

static long with_others(const ht_case *k)
{
    long failures = 0, compared = 0;
    const char *trouble = openjpeg_trouble(k);
    if (trouble)
        tally_reason(&openjpeg, trouble);
    else
        failures += compare_with(k, &openjpeg, opj_library_decode(k->file, NULL));
    compared += !trouble;
    for (unsigned i = 0; i < num_others; i++) {
        trouble = ojph_cannot_expand(&others[i].programs, k->p, k->o, k->file);
        if (trouble)
            tally_reason(&others[i].expanded, trouble);
        else
            failures +=
                compare_with(k, &others[i].expanded, ojph_expand(&others[i].programs, k->file, k->ours, k->stem));
        compared += !trouble;
    }
    trouble = openhtj2k_program ? openhtj2k_trouble(k) : NULL;
    if (trouble)
        tally_reason(&openhtj2k, trouble);
    else if (openhtj2k_program)
        failures += with_openhtj2k(k);
    if (!compared) {
#pragma omp atomic
        round_trips_alone++;
    }
    return failures;
}

/* Layers must not change what all of them together decode to. */
static long check_layers(const ht_case *k)
{
    char message[MESSAGE_BYTES];
    const decoding d = {.threads = 1};
    coding single = *k->o;
    bytes file = {0};
    single.num_targets = 0;
    bool good = lift_encode(k->p, &single, L2K_FORMAT_CODESTREAM, &file, message) == L2K_OK;
    picture *got = good ? lift_decode(&file, &d, NULL, message) : NULL;
    good = got && picture_compare(got, k->ours).peak == 0;
    picture_free(got);
    bytes_free(&file);
    return good ? 0 : fail_case(k, "all layers decode to another picture than one", NULL);
}

/* Without refinement passes the 5/3 is lossless; the 9/7 with its default steps is near. */
static long check_round_trip(const ht_case *k)
{
    const difference d = picture_compare(k->p, k->ours);
    if (d.peak < 0 || (!k->o->irreversible && k->o->ht_passes < 2 && d.peak != 0))
        return fail_case(k, "lift2k does not decode to the picture", &d);
    if (k->o->irreversible && k->o->step <= 0 && k->o->num_targets == 0 && k->o->ht_passes < 2 && d.peak > 20)
        return fail_case(k, "lift2k decodes to a picture that is far off", &d);
    if (k->o->num_targets > 1)
        return check_layers(k);
    return 0;
}

static long check_file(ht_case *k)
{
    char message[MESSAGE_BYTES] = "";
    const decoding d = {.threads = 1};
    picture *ours = lift_decode(k->file, &d, NULL, message);
    if (!ours)
        return fail_case(k, message, NULL);
    k->ours = ours;
    long failures = check_round_trip(k) + with_others(k);
    /* OpenJPH decodes layers in part. The 0.26.3 of imagecodecs 2026.3.6 decodes some files of the 5/3 with refinement
     * passes to other samples than OpenJPH 0.9, 0.31, OpenJPEG, OpenHTJ2K and lift2k do. */
    if (keep_folder && k->o->num_targets < 2 && (k->o->irreversible || k->o->ht_passes < 2))
        keep(k);
    picture_free(ours);
    return failures;
}

static l2k_status encode(const picture *p, coding *o, bytes *file, char *message)
{
    o->threads = 1;
    l2k_status status = lift_encode(p, o, L2K_FORMAT_CODESTREAM, file, message);
    if (status == L2K_ERROR_ARGUMENT && o->tile_parts) { /* more tile-parts than a tile can have */
        o->tile_parts = L2K_TILE_PARTS_ONE;
        status = lift_encode(p, o, L2K_FORMAT_CODESTREAM, file, message);
    }
    if (status == L2K_ERROR_ARGUMENT && o->step > 0) { /* a step that QCD cannot say */
        o->step = 0;
        status = lift_encode(p, o, L2K_FORMAT_CODESTREAM, file, message);
    }
    return status;
}

static long ours_trial(uint64_t seed)
{
    rng r = {seed * 2654435761 + 11};
    char message[MESSAGE_BYTES] = "", stem[512];
    picture *p = random_picture(&r);
    coding o = random_ht_coding(&r, p);
    bytes file = {0};
    snprintf(stem, sizeof stem, "%s/%llu", scratch, (unsigned long long)seed);
    ht_case k = {seed, p, &o, &file, NULL, stem};
    long failures = encode(p, &o, &file, message) == L2K_OK ? check_file(&k) : fail_case(&k, message, NULL);
    bytes_free(&file);
    picture_free(p);
    return failures;
}

/* ---- OpenJPH's files ----------------------------------------------------------------------------------------- */

static void keep_pair(const ht_case *k, const bytes *theirs)
{
    char path[600];
    if (!keep_folder)
        return;
    snprintf(path, sizeof path, "%s/%06llu-lift2k.j2c", keep_folder, (unsigned long long)k->seed);
    bytes_write(k->file, path);
    snprintf(path, sizeof path, "%s/%06llu-openjph.j2c", keep_folder, (unsigned long long)k->seed);
    bytes_write(theirs, path);
}

/* Code-blocks of OpenJPH's file and of lift2k's at the same parameters. Blocks of zeros are lift2k's choice to leave
 * out; OpenJPH 0.9 codes some. */
static long compare_codes(const ht_case *k, other_ojph *other, const bytes *theirs)
{
    char what[200];
    block_codes a, b;
    const bool ours_good = block_codes_read(k->file->data, k->file->size, &a);
    const bool good = block_codes_read(theirs->data, theirs->size, &b) && ours_good;
    size_t same = good ? block_codes_compare(&a, &b) : 0;
    long failures = 0;
    tally_compared(&other->codes);
    snprintf(what, sizeof what, "code-block %zu of %zu and %zu differs: lift2k's and %s", same, a.count, b.count,
             other->codes.decoder);
    if (!good || same < a.count) {
        failures = fail_case(k, what, NULL);
        keep_pair(k, theirs);
    }
    block_codes_free(&a);
    block_codes_free(&b);
    return failures;
}

/* What it wrote, in lift2k: the picture for the 5/3, unless its own decoder returns another one; and what that decoder
 * returns. *correct is false if that is not the picture. */
static long check_theirs(ht_case *k, other_ojph *other, const bytes *theirs, bool *correct)
{
    char message[MESSAGE_BYTES] = "";
    const decoding d = {.threads = 1};
    const char *trouble = ojph_cannot_expand(&other->programs, k->p, k->o, theirs);
    picture *ours = lift_decode(theirs, &d, NULL, message);
    if (!ours)
        return fail_case(k, message[0] ? message : "lift2k decodes it in part", NULL);
    k->ours = ours;
    long failures = 0;
    *correct = k->o->irreversible || picture_compare(k->p, ours).peak == 0;
    if (!trouble)
        failures = compare_with(k, &other->compressed, ojph_expand(&other->programs, theirs, ours, k->stem));
    else if (*correct && !k->o->irreversible)
        tally_compared(&other->compressed);
    else
        tally_reason(&other->compressed, trouble);
    if (!trouble && !failures && !*correct)
        tally_reason(&other->compressed, "compared, but both decode it to another picture than was encoded");
    picture_free(ours);
    return failures;
}

static long theirs_trial(uint64_t seed, other_ojph *other)
{
    rng r = {seed * 40503 + 17};
    char message[MESSAGE_BYTES] = "", stem[512];
    picture *p = random_picture(&r);
    coding o = random_ht_coding(&r, p);
    bytes file = {0}, theirs = {0};
    long failures = 0;
    o.sop = o.eph = o.plt = o.tlm = false;
    o.tile_parts = L2K_TILE_PARTS_ONE;
    o.ht_passes = 1;
    o.style = L2K_STYLE_HT;
    o.num_targets = 0;
    for (uint32_t c = 0; c < p->image.num_components; c++) /* its raw planes are not transformed */
        o.no_mct = o.no_mct || p->components[c].dx > 1 || p->components[c].dy > 1;
    snprintf(stem, sizeof stem, "%s/t%llu", scratch, (unsigned long long)seed);
    ht_case k = {seed, p, &o, &file, NULL, stem};
    const char *trouble = ojph_cannot_compress(&other->programs, p, &o);
    if (trouble) {
        tally_reason(&other->compressed, trouble);
    } else if (ojph_compress(&other->programs, p, &o, stem, &theirs), theirs.size == 0) {
        failures = fail_case(&k, "ojph_compress does not encode", NULL);
    } else {
        bool correct = false;
        failures = check_theirs(&k, other, &theirs, &correct);
        if (correct && !o.irreversible && encode(p, &o, &file, message) == L2K_OK)
            failures += compare_codes(&k, other, &theirs);
    }
    bytes_free(&theirs);
    bytes_free(&file);
    picture_free(p);
    return failures;
}

/* ---- All ----------------------------------------------------------------------------------------------------- */

static void add_ojph(const char *folder)
{
    other_ojph *other = &others[num_others];
    if (num_others == MOST_OJPH || !ojph_find(folder, scratch, &other->programs)) {
        printf("OpenJPH%s%s: skipped, no ojph_compress and ojph_expand (Debian: openjph-tools)\n", folder ? " in " : "",
               folder ? folder : "");
        return;
    }
    num_others++;
    static const char *const roles[3] = {"ojph_expand", "files of ojph_compress", "code-blocks of ojph_compress"};
    for (int i = 0; i < 3; i++)
        snprintf(other->names[i], sizeof other->names[i], "OpenJPH %u.%u, %s", other->programs.version / 100,
                 other->programs.version % 100, roles[i]);
    other->expanded.decoder = other->names[0];
    other->compressed.decoder = other->names[1];
    other->codes.decoder = other->names[2];
}

static long run(unsigned count, uint64_t first)
{
    long failures = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : failures)
    for (unsigned i = 0; i < count; i++)
        failures += ours_trial(first + i);
    tally_print(&openjpeg, count);
    if (openhtj2k_program)
        tally_print(&openhtj2k, count);
    for (unsigned n = 0; n < num_others; n++)
        tally_print(&others[n].expanded, count);
    printf("lift2k alone: %ld of %u cases\n", round_trips_alone, count);
    for (unsigned n = 0; n < num_others; n++) {
#pragma omp parallel for schedule(dynamic) reduction(+ : failures)
        for (unsigned i = 0; i < count; i++)
            failures += theirs_trial(first + i, &others[n]);
        tally_print(&others[n].compressed, count);
        tally_print(&others[n].codes, count);
    }
    return failures;
}

int main(int count, char **arguments)
{
    unsigned cases = COMMAND_COUNT, given = 0;
    uint64_t first = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    scratch_make(scratch, sizeof scratch);
    add_ojph(NULL);
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--ojph") == 0 && i + 1 < count)
            add_ojph(arguments[++i]);
        else if (strcmp(arguments[i], "--openhtj2k") == 0 && i + 1 < count)
            openhtj2k_program = arguments[++i];
        else if (strcmp(arguments[i], "--keep") == 0 && i + 1 < count)
            keep_folder = arguments[++i];
        else if (given++ == 0)
            cases = (unsigned)strtoul(arguments[i], NULL, 10);
        else
            first = strtoull(arguments[i], NULL, 10);
    }
    long failures = run(cases, first);
    scratch_remove(scratch);
    printf("ht: %u cases, seeds %llu to %llu, %ld failures\n", cases, (unsigned long long)first,
           (unsigned long long)(first + cases - 1), failures);
    return failures ? 1 : 0;
}
