/* Windows of random files equal the part of the whole picture, to the bit: all progressions, tiles, origins, precincts,
 * styles, sub-sampling, layers, reductions, components, MQ and HT; windows of one open decoder in a row, near each
 * other and far away. libopenjp2's own windows are a second witness where it can decode the file (9/7: within 1).
 *
 * Usage: windows [COUNT [SEED [cuda]]]: COUNT windows, about; with cuda, on a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/opj/opj.h"

enum { WINDOWS_OF_FILE = 10 };

static l2k_backend backend = L2K_BACKEND_CPU;

/* ---- lift2k -------------------------------------------------------------------------------------------------- */

static int read_at(void *user, uint64_t offset, void *buffer, size_t count)
{
    const bytes *file = user;
    if (offset > file->size || count > file->size - offset)
        return -1;
    memcpy(buffer, file->data + offset, count);
    return 0;
}

static l2k_decoder *new_decoder(int64_t cache_bytes)
{
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, backend);
    l2k_decoder_set(decoder, L2K_DECODER_GPU_MIN_SAMPLES, 0);
    l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, cache_bytes);
    return decoder;
}

static l2k_decoder *open_file(bytes *file, int64_t cache_bytes, bool in_parts)
{
    l2k_decoder *decoder = new_decoder(cache_bytes);
    const l2k_file parts = {file->size, read_at, file};
    if ((in_parts ? l2k_decoder_open_file(decoder, &parts)
                  : l2k_decoder_open_memory(decoder, file->data, file->size)) == L2K_OK)
        return decoder;
    l2k_decoder_free(decoder);
    return NULL;
}

/* Another decoder for the same file. */
static l2k_decoder *open_again(l2k_decoder *opened, int64_t cache_bytes)
{
    l2k_decoder *decoder = new_decoder(cache_bytes);
    const l2k_status status = l2k_decoder_open_again(decoder, opened);
    l2k_decoder_free(opened);
    if (status == L2K_OK)
        return decoder;
    l2k_decoder_free(decoder);
    return NULL;
}

/* Of an open file; NULL where that fails or where there are no samples of some component. */
static picture *decode(l2k_decoder *decoder, const decoding *d, l2k_status *status)
{
    l2k_image image;
    l2k_plane planes[PICTURE_MAX_COMPONENTS];
    *status = coding_set_decoder(decoder, d);
    if (*status == L2K_OK)
        *status = l2k_decoder_image(decoder, &image);
    if (*status != L2K_OK)
        return NULL;
    picture *p = picture_empty(&image);
    for (uint32_t c = 0; c < image.num_components; c++)
        planes[c] = (l2k_plane){p->samples[c], (ptrdiff_t)p->components[c].width * 4, 4, L2K_SAMPLE_S32};
    *status = l2k_decoder_decode(decoder, planes);
    if (*status == L2K_OK)
        return p;
    picture_free(p);
    return NULL;
}

/* ---- Where a window lies in the whole ------------------------------------------------------------------------- */

static uint32_t reduced(uint32_t at, uint32_t step, uint32_t reduce)
{
    const uint64_t on_grid = ((uint64_t)at + step - 1) / step;
    return (uint32_t)((on_grid + (1ull << reduce) - 1) >> reduce);
}

/* The largest difference between a window and the part of a whole; -1 if they do not have the same components. */
static int64_t part_difference(const picture *whole, const picture *part, const decoding *d)
{
    int64_t peak = 0;
    if (part->image.num_components != whole->image.num_components)
        return -1;
    for (uint32_t c = 0; c < part->image.num_components; c++) {
        const l2k_component *k = &part->components[c];
        const uint32_t x0 = reduced(d->x0, k->dx, d->reduce) - reduced(whole->image.x0, k->dx, d->reduce);
        const uint32_t y0 = reduced(d->y0, k->dy, d->reduce) - reduced(whole->image.y0, k->dy, d->reduce);
        for (uint32_t y = 0; y < k->height; y++)
            for (uint32_t x = 0; x < k->width; x++) {
                const int64_t a = part->samples[c][(size_t)y * k->width + x];
                const int64_t b = whole->samples[c][(size_t)(y0 + y) * whole->components[c].width + x0 + x];
                peak = llabs(a - b) > peak ? llabs(a - b) : peak;
            }
    }
    return peak;
}

/* ---- Random windows ------------------------------------------------------------------------------------------ */

/* Near the last one, or anywhere. */
static void random_window(rng *r, const l2k_image *m, decoding *d)
{
    const uint32_t width = m->x1 - m->x0, height = m->y1 - m->y0;
    if (d->region && rng_below(r, 3) == 0) {
        const uint32_t right = rng_below(r, 1 + (m->x1 - d->x1 < 20 ? m->x1 - d->x1 : 20));
        const uint32_t down = rng_below(r, 1 + (m->y1 - d->y1 < 20 ? m->y1 - d->y1 : 20));
        d->x0 += right;
        d->x1 += right;
        d->y0 += down;
        d->y1 += down;
        return;
    }
    const uint32_t most = rng_below(r, 2) ? 64 : 1000;
    const uint32_t w = 1 + rng_below(r, width < most ? width : most),
                   h = 1 + rng_below(r, height < most ? height : most);
    d->region = true;
    d->x0 = m->x0 + rng_below(r, width - w + 1);
    d->y0 = m->y0 + rng_below(r, height - h + 1);
    d->x1 = d->x0 + w;
    d->y1 = d->y0 + h;
}

static bool has_samples(const l2k_image *m, const decoding *d)
{
    for (uint32_t c = 0; c < m->num_components; c++) {
        const l2k_component *k = &m->components[c];
        if (reduced(d->x0, k->dx, d->reduce) == reduced(d->x1, k->dx, d->reduce) ||
            reduced(d->y0, k->dy, d->reduce) == reduced(d->y1, k->dy, d->reduce))
            return false;
    }
    return true;
}

/* Of what a file is decoded: the same for a few windows. */
static decoding random_kind(rng *r, const picture *p, const coding *o)
{
    decoding d = {.threads = 1};
    const uint32_t levels = coding_levels(o);
    if (rng_below(r, 2))
        d.reduce = rng_between(r, 0, levels < 3 ? levels : 3);
    if (o->num_targets > 1 && rng_below(r, 2))
        d.layers = rng_between(r, 1, o->num_targets);
    if (rng_below(r, 4) == 0) {
        d.one_component = true;
        d.component = rng_below(r, p->image.num_components);
    }
    return d;
}

static coding random_file(rng *r, const picture *p)
{
    coding o = random_coding(r, p, 6);
    o.irreversible = rng_below(r, 2);
    if (rng_below(r, 2)) {
        o.block = (l2k_size){4u << rng_below(r, 5), 4u << rng_below(r, 5)};
        o.num_precincts = rng_between(r, 1, CODING_MAX_PRECINCTS);
        for (unsigned i = 0; i < o.num_precincts; i++)
            o.precincts[i] = (l2k_size){1u << rng_between(r, 5, 8), 1u << rng_between(r, 5, 8)};
    }
    if (rng_below(r, 3) == 0) {
        o.style = L2K_STYLE_HT;
        o.ht_passes = rng_between(r, 1, 3);
    } else if (rng_below(r, 2)) {
        o.target_kind = L2K_TARGET_RATIO;
        o.num_targets = rng_between(r, 2, 5);
        for (unsigned i = 0; i < o.num_targets; i++)
            o.targets[i] = i + 1 == o.num_targets ? 1 : 40.0 / (i + 1);
    }
    return o;
}

/* ---- Trials -------------------------------------------------------------------------------------------------- */

typedef struct tally {
    long windows, witnessed, failures;
} tally;

static void report(uint64_t seed, const picture *p, const coding *o, const decoding *d, const char *what)
{
#pragma omp critical(print)
    {
        printf("FAIL case %llu: %s\n", (unsigned long long)seed, what);
        print_case(p, o);
        print_decoding(d);
    }
}

/* Of the 9/7, libopenjp2's windows differ from its whole pictures by 3 at times; then the whole is asked. */
static bool opj_agrees(const bytes *file, const coding *o, const decoding *d, const picture *ours)
{
    const int64_t most = o->irreversible ? 1 : 0;
    picture *window = opj_library_decode(file, d), *whole = NULL;
    int64_t peak = window ? picture_compare(window, ours).peak : -1;
    if (window && peak > most && o->irreversible) {
        decoding all = *d;
        all.region = false;
        all.x0 = all.y0 = all.x1 = all.y1 = 0;
        whole = opj_library_decode(file, &all);
        peak = whole ? part_difference(whole, ours, d) : -1;
    }
    picture_free(window);
    picture_free(whole);
    return peak >= 0 && peak <= most;
}

static void try_windows(rng *r, uint64_t seed, const picture *p, const coding *o, bytes *file, tally *t)
{
    l2k_status status;
    decoding d = random_kind(r, p, o);
    const decoding all = {
        .x0 = p->image.x0, .y0 = p->image.y0, .x1 = p->image.x1, .y1 = p->image.y1, .reduce = d.reduce};
    if (!has_samples(&p->image, &all))
        return;
    static const int64_t cache_bytes[] = {0, 20000, 1 << 24};
    const int64_t cache = cache_bytes[rng_below(r, 3)];
    const bool in_parts = rng_below(r, 2);
    l2k_decoder *decoder = open_file(file, cache, in_parts);
    picture *whole = decoder ? decode(decoder, &d, &status) : NULL;
    const bool opj_can =
        !(o->style & L2K_STYLE_HT) && !has_empty_tile_component(p, o, d.reduce) && !opj_misses_precincts(p, o);
    if (!whole)
        report(seed, p, o, &d, "the whole picture is not decoded");
    t->failures += !whole;
    if (whole && rng_below(r, 2)) { /* the first window of a fresh decoder */
        l2k_decoder_free(decoder);
        decoder = open_file(file, cache, in_parts);
    }
    for (int i = 0; whole && i < WINDOWS_OF_FILE; i++) {
        random_window(r, &p->image, &d);
        if (rng_below(r, 8) == 0)
            decoder = open_again(decoder, cache);
        if (!has_samples(&p->image, &d))
            continue;
        picture *part = decoder ? decode(decoder, &d, &status) : NULL;
        const char *wrong = !part                                   ? "a window is not decoded"
                            : part_difference(whole, part, &d) != 0 ? "a window is not the part of the whole"
                                                                    : NULL;
        t->windows++;
        if (!wrong && opj_can && rng_below(r, 4) == 0) {
            t->witnessed++;
            wrong = opj_agrees(file, o, &d, part) ? NULL : "libopenjp2 decodes another window";
        }
        picture_free(part);
        if (!wrong)
            continue;
        report(seed, p, o, &d, wrong);
        t->failures++;
        break;
    }
    picture_free(whole);
    l2k_decoder_free(decoder);
}

static tally trial(uint64_t seed)
{
    rng r = {seed * 2654435761u + 11};
    tally t = {0};
    char message[MESSAGE_BYTES];
    shape s = random_shape(&r, rng_below(&r, 3) ? 200 : 900, 4, 16);
    picture *p = picture_make(&s);
    coding o = random_file(&r, p);
    bytes file = {0};
    l2k_status status = lift_encode(p, &o, L2K_FORMAT_CODESTREAM, &file, message);
    if (status == L2K_ERROR_ARGUMENT) { /* too many tile-parts, or precincts smaller than what a resolution needs */
        o.tile_parts = L2K_TILE_PARTS_ONE;
        status = lift_encode(p, &o, L2K_FORMAT_CODESTREAM, &file, message);
    }
    if (status == L2K_OK) {
        try_windows(&r, seed, p, &o, &file, &t);
        try_windows(&r, seed, p, &o, &file, &t);
    } else {
        decoding d = {0};
        report(seed, p, &o, &d, message);
        t.failures++;
    }
    bytes_free(&file);
    picture_free(p);
    return t;
}

int main(int count, char **arguments)
{
    const unsigned windows = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 1000;
    const uint64_t first = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    const unsigned files = (windows + 2 * WINDOWS_OF_FILE - 1) / (2 * WINDOWS_OF_FILE);
    long done = 0, witnessed = 0, failures = 0;
    if (count > 3 && strcmp(arguments[3], "cuda") == 0)
        backend = L2K_BACKEND_CUDA;
#pragma omp parallel for schedule(dynamic) reduction(+ : done, witnessed, failures) if (backend == L2K_BACKEND_CPU)
    for (unsigned i = 0; i < files; i++) {
        const tally t = trial(first + i);
        done += t.windows;
        witnessed += t.witnessed;
        failures += t.failures;
    }
    printf("%ld windows of %u files, %ld of them also with libopenjp2: %ld failures\n", done, files, witnessed,
           failures);
    return failures != 0 || done == 0;
}
