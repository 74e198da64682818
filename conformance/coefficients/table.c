/* Counts and prints the differences between OpenJPEG's values and ours, stage by stage. */
#include "conformance/coefficients/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/pictures.h"

/* Further differences of a picture are only counted. */
#define MOST_SHOWN 10

static const char *const names[NUM_STAGES] = {
    [STAGE_SHIFT] = "level shift",
    [STAGE_JOIN] = "component transform",
    [STAGE_WAVELET] = "wavelet",
    [STAGE_STEPS] = "steps and bit-planes of subbands",
    [STAGE_INDEX] = "quantiser indices",
    [STAGE_CODE] = "tier-1, coding",
    [STAGE_STREAM] = "codestream from our coefficients",
    [STAGE_INDEX_STREAM] = "codestream from our indices",
    [STAGE_DECODE] = "tier-1, decoding",
    [STAGE_DEQUANTISE] = "dequantised",
    [STAGE_UNWAVELET] = "inverse wavelet",
    [STAGE_SEPARATE] = "inverse component transform",
    [STAGE_SAMPLES] = "samples from our tier-1 on",
};

static const char *const backends[TABLE_BACKENDS] = {"-", "cpu", "cuda"};

const char *stage_name(stage_id s)
{
    return names[s];
}

stage_id stage_named(const char *name)
{
    stage_id s = 0;
    while (s < NUM_STAGES && strcmp(names[s], name) != 0)
        s++;
    return s;
}

grid grid_make(uint32_t width, uint32_t height)
{
    return (grid){width, height, test_allocate((size_t)width * height, sizeof(double))};
}

void grid_free(grid *g)
{
    free(g->values);
    *g = (grid){0};
}

/* ---- Differences ----------------------------------------------------------------------------------------------- */

static bool room_to_show(stage_table *t)
{
    t->shown++;
    if (t->shown == MOST_SHOWN + 1)
        printf("DIFFERENCE: further ones of this picture are counted only\n");
    return t->shown <= MOST_SHOWN;
}

static void show_place(const stage_table *t, const spot *s)
{
    printf("DIFFERENCE %s, %s; %s, %s; tile %u, component %u", t->image, t->parameters, names[s->stage],
           backends[s->backend], s->tile, s->component);
}

static void show_subband(const spot *s, unsigned band, uint32_t x, uint32_t y)
{
    static const char *const orientations[] = {"LL", "HL", "LH", "HH"};
    printf(", level %u, subband %s, row %u, column %u", l2k_band_level(s->levels, l2k_band_resolution(band)),
           orientations[l2k_band_orientation(band)], y, x);
}

static void show_values(double theirs, double ours)
{
    printf(": OpenJPEG %.9g, lift2k %.9g\n", theirs, ours);
}

/* The subband at a place in the view. */
static unsigned band_at(const l2k_coefficients *view, uint32_t x, uint32_t y)
{
    unsigned band = 0;
    while (band + 1 < view->num_bands &&
           (x < view->bands[band].x || x - view->bands[band].x >= view->bands[band].width || y < view->bands[band].y ||
            y - view->bands[band].y >= view->bands[band].height))
        band++;
    return band;
}

/* Equal means the same value and sign, so a zero differs from its negative; NaN equals nothing. */
static bool count(stage_table *t, const spot *s, double theirs, double ours)
{
    tally *row = &t->row[s->stage][s->backend];
    bool same = theirs == ours && signbit(theirs) == signbit(ours);
    row->compared++;
    if (same)
        return true;
    row->differing++;
    row->largest = fmax(row->largest, fabs(theirs - ours));
    return false;
}

void table_value(stage_table *t, const spot *s, unsigned band, uint32_t x, uint32_t y, const char *what, double theirs,
                 double ours)
{
    if (count(t, s, theirs, ours) || !room_to_show(t))
        return;
    show_place(t, s);
    show_subband(s, band, x, y);
    printf(", %s", what);
    show_values(theirs, ours);
}

static void show_element(stage_table *t, const spot *s, uint32_t x, uint32_t y, double theirs, double ours)
{
    if (!room_to_show(t))
        return;
    show_place(t, s);
    if (s->view) {
        unsigned band = band_at(s->view, x, y);
        show_subband(s, band, x - s->view->bands[band].x, y - s->view->bands[band].y);
    } else {
        printf(", row %u, column %u", y, x);
    }
    show_values(theirs, ours);
}

bool table_spoils(stage_table *t, stage_id s)
{
    bool now = t->spoil == s && !t->spoiled;
    t->spoiled = t->spoiled || now;
    return now;
}

void table_grids(stage_table *t, const spot *s, const grid *theirs, grid *ours)
{
    size_t size = (size_t)ours->width * ours->height;
    if (theirs->width != ours->width || theirs->height != ours->height) {
        table_missing(t, s, "values of the same size");
        return;
    }
    if (size && table_spoils(t, s->stage))
        ours->values[size / 2] += 1;
    for (size_t i = 0; i < size; i++)
        if (!count(t, s, theirs->values[i], ours->values[i]))
            show_element(t, s, (uint32_t)(i % ours->width), (uint32_t)(i / ours->width), theirs->values[i],
                         ours->values[i]);
}

void table_bytes(stage_table *t, const spot *s, unsigned band, uint32_t x, uint32_t y, const uint8_t *theirs,
                 size_t theirs_size, const uint8_t *ours, size_t ours_size)
{
    size_t longer = theirs_size > ours_size ? theirs_size : ours_size;
    bool shown = false;
    for (size_t i = 0; i < longer; i++) {
        double a = i < theirs_size ? theirs[i] : -1, b = i < ours_size ? ours[i] : -1;
        if (count(t, s, a, b) || shown || !room_to_show(t))
            continue;
        shown = true; /* differences after the first say little */
        show_place(t, s);
        if (band < L2K_MAX_SUBBANDS)
            show_subband(s, band, x, y);
        printf(", %s, byte %zu of %zu and %zu", band < L2K_MAX_SUBBANDS ? "code-block" : "codestream", i, theirs_size,
               ours_size);
        show_values(a, b);
    }
}

void table_missing(stage_table *t, const spot *s, const char *what)
{
    t->missing++;
    show_place(t, s);
    printf(": nothing to compare, there should be %s\n", what);
}

/* ---- The table ------------------------------------------------------------------------------------------------- */

static void print_row(const char *image, const char *parameters, stage_id s, unsigned backend, const tally *row)
{
    printf("%-16s %-70s %-33s %-7s %10llu %9llu %8.6g\n", image, parameters, names[s], backends[backend],
           (unsigned long long)row->compared, (unsigned long long)row->differing, row->largest);
}

static void print_head(void)
{
    printf("%-16s %-70s %-33s %-7s %10s %9s %8s\n", "image", "parameters", "stage", "backend", "elements", "differing",
           "largest");
}

void table_begin(stage_table *t, const char *image, const char *parameters)
{
    snprintf(t->image, sizeof t->image, "%s", image);
    snprintf(t->parameters, sizeof t->parameters, "%s", parameters);
    memset(t->row, 0, sizeof t->row);
    t->shown = 0;
}

void table_end(stage_table *t)
{
    if (!t->any_row)
        print_head();
    t->any_row = true;
    for (stage_id s = 0; s < NUM_STAGES; s++)
        for (unsigned backend = 0; backend < TABLE_BACKENDS; backend++) {
            const tally *row = &t->row[s][backend];
            tally *all = &t->all[s][backend];
            if (row->compared)
                print_row(t->image, t->parameters, s, backend, row);
            all->compared += row->compared;
            all->differing += row->differing;
            all->largest = fmax(all->largest, row->largest);
        }
}

bool table_finish(const stage_table *t)
{
    uint64_t compared = 0, differing = 0;
    printf("\n");
    print_head();
    for (stage_id s = 0; s < NUM_STAGES; s++)
        for (unsigned backend = 0; backend < TABLE_BACKENDS; backend++) {
            const tally *all = &t->all[s][backend];
            if (all->compared)
                print_row("all", "", s, backend, all);
            compared += all->compared;
            differing += all->differing;
        }
    printf("%llu elements compared, %llu differ, %llu missing\n", (unsigned long long)compared,
           (unsigned long long)differing, (unsigned long long)t->missing);
    return compared && !differing && !t->missing;
}
