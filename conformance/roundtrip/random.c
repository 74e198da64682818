/* Random pictures and options through both codecs: lossless, lossy, and OpenJPEG's files in lift2k. */
#include <stdio.h>

#include "conformance/roundtrip/roundtrip.h"

typedef long (*trial)(uint64_t seed);

static long run_trials(const char *name, trial one, unsigned count)
{
    long failures = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : failures)
    for (unsigned i = 0; i < count; i++)
        failures += one(i);
    printf("%s: %u random cases\n", name, count);
    return failures;
}

static void report(const char *part, uint64_t seed, const picture *p, const coding *o, const decoding *d,
                   const difference *worst, const char *message)
{
#pragma omp critical(print)
    {
        printf("FAIL %s, case %llu: %s\n", part, (unsigned long long)seed, message);
        print_case(p, o);
        if (d)
            print_decoding(d);
        if (worst)
            difference_print(worst);
    }
}

/* Decreasing ratios; the last layer takes everything if `lossless`. */
static void random_layers(rng *r, coding *o, bool lossless)
{
    double ratio = rng_between(r, 10, 100);
    o->target_kind = L2K_TARGET_RATIO;
    o->num_targets = rng_between(r, 1, 6);
    for (unsigned i = 0; i < o->num_targets; i++, ratio = 1 + (ratio - 1) * 0.6)
        o->targets[i] = ratio;
    if (lossless)
        o->targets[o->num_targets - 1] = 1;
}

/* Encodes. More tile-parts than a tile can have (A.4.2: TNsot has 8 bits) are the options' fault: then encodes
 * without. */
static l2k_status encode(const picture *p, coding *o, l2k_format format, bytes *file, char *message)
{
    l2k_status status = lift_encode(p, o, format, file, message);
    if (status != L2K_ERROR_ARGUMENT || !o->tile_parts)
        return status;
    o->tile_parts = L2K_TILE_PARTS_ONE;
    return lift_encode(p, o, format, file, message);
}

/* ---- Lossless ------------------------------------------------------------------------------------------------ */

/* Encodes and decodes with 1 to 4 threads: the same bytes, the same samples. Not for parallel regions, which would have
 * one thread only. */
static long threads_trial(uint64_t seed)
{
    rng r = {seed * 31 + 4};
    char message[MESSAGE_BYTES] = "";
    shape s = random_shape(&r, 300, 4, 16);
    picture *p = picture_make(&s), *first = NULL;
    coding o = random_coding(&r, p, rng_below(&r, 8) ? 6 : 32);
    bytes expected = {0};
    bool same = true;
    o.irreversible = rng_below(&r, 2);
    if (rng_below(&r, 2))
        random_layers(&r, &o, false);
    for (o.threads = 1; o.threads <= 4 && same; o.threads++) {
        bytes b = {0};
        decoding d = {.threads = o.threads};
        same = encode(p, &o, L2K_FORMAT_CODESTREAM, &b, message) == L2K_OK;
        picture *back = same ? lift_decode(&b, &d, NULL, message) : NULL;
        same = back && (!first || (bytes_equal(&b, &expected) && picture_compare(back, first).peak == 0));
        if (!first) {
            expected = b;
            first = back;
        } else {
            bytes_free(&b);
            picture_free(back);
        }
    }
    if (!same)
        report("threads", seed, p, &o, NULL, NULL, message[0] ? message : "the result depends on the threads");
    bytes_free(&expected);
    picture_free(first);
    picture_free(p);
    return !same;
}

static long lossless_trial(uint64_t seed)
{
    rng r = {seed * 7919 + 1};
    char message[MESSAGE_BYTES];
    shape s = random_shape(&r, 300, 5, 24);
    picture *p = picture_make(&s);
    coding o = random_coding(&r, p, rng_below(&r, 8) ? 6 : 32);
    if (rng_below(&r, 3) == 0)
        random_layers(&r, &o, true);
    bytes file = {0};
    l2k_format format = rng_below(&r, 4) ? L2K_FORMAT_CODESTREAM : L2K_FORMAT_JP2;
    picture *back = NULL;
    difference d = {.peak = -1};
    if (encode(p, &o, format, &file, message) == L2K_OK)
        back = lift_decode(&file, NULL, NULL, message);
    if (back)
        d = picture_compare(p, back);
    long failed = d.peak != 0;
    if (failed)
        report("lossless", seed, p, &o, NULL, back ? &d : NULL, back ? "another picture" : message);
    bytes_free(&file);
    picture_free(p);
    picture_free(back);
    return failed;
}

long roundtrip_lossless(unsigned count)
{
    long failures = run_trials("lossless", lossless_trial, count);
    for (unsigned i = 0; i < count / 15 + 1; i++)
        failures += threads_trial(i);
    printf("1 to 4 threads: %u random cases\n", count / 15 + 1);
    return failures;
}

/* ---- One file, both decoders --------------------------------------------------------------------------------- */

static uint32_t ceil_shift(uint32_t value, uint32_t step, uint32_t shift)
{
    uint64_t on_grid = ((uint64_t)value + step - 1) / step;
    return (uint32_t)((on_grid + (1ull << shift) - 1) >> shift);
}

/* libopenjp2 refuses to decode tiles or regions without samples of some component. */
static bool opj_decodes(const picture *p, const coding *o, const decoding *d)
{
    for (uint32_t c = 0; d->region && c < p->image.num_components; c++) {
        const l2k_component *k = &p->components[c];
        if (ceil_shift(d->x1, k->dx, d->reduce) == ceil_shift(d->x0, k->dx, d->reduce) ||
            ceil_shift(d->y1, k->dy, d->reduce) == ceil_shift(d->y0, k->dy, d->reduce))
            return false;
    }
    return !has_empty_tile_component(p, o, d->reduce);
}

static decoding random_decoding(rng *r, const picture *p, const coding *o)
{
    decoding d = {0};
    const l2k_image *m = &p->image;
    uint32_t levels = coding_levels(o) < 3 ? coding_levels(o) : 3;
    if (rng_below(r, 2))
        d.reduce = rng_between(r, 0, levels);
    if (rng_below(r, 3) == 0)
        d.layers = rng_between(r, 1, o->num_targets + 1);
    if (rng_below(r, 3) == 0) {
        d.region = true;
        d.x0 = m->x0 + rng_below(r, m->x1 - m->x0);
        d.y0 = m->y0 + rng_below(r, m->y1 - m->y0);
        d.x1 = rng_between(r, d.x0 + 1, m->x1);
        d.y1 = rng_between(r, d.y0 + 1, m->y1);
    }
    if (rng_below(r, 4) == 0) {
        d.one_component = true;
        d.component = rng_below(r, m->num_components);
    }
    if (!opj_decodes(p, o, &d))
        d = (decoding){0};
    return d;
}

/* The 5/3 must agree exactly, the 9/7 within 1. */
static long decoders_agree(const char *part, uint64_t seed, const picture *p, const coding *o, const bytes *file,
                           const decoding *d)
{
    char message[MESSAGE_BYTES];
    picture *theirs = opj_library_decode(file, d), *ours = lift_decode(file, d, NULL, message);
    difference worst = {.peak = -1};
    long failed = 1;
    if (theirs && ours)
        worst = picture_compare(theirs, ours);
    if (!ours)
        report(part, seed, p, o, d, NULL, message);
    else if (!theirs)
        report(part, seed, p, o, d, NULL, "libopenjp2 does not decode");
    else if (worst.peak < 0 || worst.peak > (o->irreversible ? 1 : 0))
        report(part, seed, p, o, d, &worst, "libopenjp2 (left) and lift2k (right) decode different pictures");
    else
        failed = 0;
    picture_free(theirs);
    picture_free(ours);
    return failed;
}

static long many_decodings(const char *part, uint64_t seed, rng *r, const picture *p, const coding *o,
                           const bytes *file)
{
    decoding d = {0};
    long failures = decoders_agree(part, seed, p, o, file, &d);
    for (int i = 0; i < 4 && !failures; i++) {
        d = random_decoding(r, p, o);
        failures += decoders_agree(part, seed, p, o, file, &d);
    }
    return failures;
}

/* Removes options that libopenjp2 cannot decode. */
static void make_decodable(const picture *p, coding *o)
{
    if (has_empty_tile_component(p, o, 0))
        o->tile = (l2k_size){0, 0};
    if (opj_misses_precincts(p, o))
        o->progression = L2K_LRCP;
}

/* ---- Lossy and foreign --------------------------------------------------------------------------------------- */

static long lossy_trial(uint64_t seed)
{
    rng r = {seed * 104729 + 2};
    char message[MESSAGE_BYTES];
    shape s = random_shape(&r, 300, 4, 16);
    picture *p = picture_make(&s);
    coding o = random_coding(&r, p, rng_below(&r, 8) ? 6 : 32);
    bytes file = {0};
    long failures = 0;
    o.irreversible = rng_below(&r, 3) > 0;
    if (rng_below(&r, 4))
        random_layers(&r, &o, false);
    make_decodable(p, &o);
    if (encode(p, &o, L2K_FORMAT_CODESTREAM, &file, message) == L2K_OK) {
        failures = many_decodings("lossy", seed, &r, p, &o, &file);
    } else {
        report("lossy", seed, p, &o, NULL, NULL, message);
        failures = 1;
    }
    bytes_free(&file);
    picture_free(p);
    return failures;
}

long roundtrip_lossy(unsigned count)
{
    return run_trials("lossy", lossy_trial, count);
}

/* Options for which OpenJPEG writes a correct file (see opj_cannot_encode). */
static coding foreign_coding(rng *r, const picture *p)
{
    coding o = random_coding(r, p, 6);
    o.irreversible = rng_below(r, 2);
    if (rng_below(r, 3))
        random_layers(r, &o, rng_below(r, 2));
    make_decodable(p, &o);
    while (coding_levels(&o) && opj_cannot_encode(p, &o))
        o.resolutions--;
    if (opj_cannot_encode(p, &o))
        o.tile_parts = L2K_TILE_PARTS_ONE;
    if (opj_cannot_encode(p, &o))
        o.irreversible = false;
    return o;
}

static long not_encoded;

static long foreign_trial(uint64_t seed)
{
    rng r = {seed * 15485863 + 3};
    shape s = random_shape(&r, 250, 4, 16);
    picture *p = picture_make(&s);
    coding o = foreign_coding(&r, p);
    opj_extras x = {.guard_bits = rng_below(&r, 4) ? 2 : rng_between(&r, 3, 7)};
    bytes file;
    long failures = 0;
    if (opj_library_encode(p, &o, &x, &file)) {
        failures = many_decodings("foreign", seed, &r, p, &o, &file);
    } else {
        not_encoded++;
    }
    bytes_free(&file);
    picture_free(p);
    return failures;
}

long roundtrip_foreign(unsigned count)
{
    long failures = 0;
    /* Sequential: the encoder's processes must not fork while another thread holds the allocator's locks. */
    for (unsigned i = 0; i < count; i++)
        failures += foreign_trial(i);
    printf("foreign: %u random cases, %ld of them not encoded by libopenjp2\n", count, not_encoded);
    return failures + (not_encoded > count / 50);
}
