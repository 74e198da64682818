/* The tests of T.803: classes 0 and 1, the pictures as displayed, and robustness. */
#include "conformance/t803/t803.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

t803_finding t803_found(t803_outcome outcome, const char *format, ...)
{
    t803_finding f = {.outcome = outcome};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f.text, sizeof f.text, format, arguments);
    va_end(arguments);
    return f;
}

/* ---- Comparing ----------------------------------------------------------------------------------------------- */

static double number_of(const char *list, unsigned index)
{
    while (index-- && strchr(list, ':'))
        list = strchr(list, ':') + 1;
    return atof(list);
}

t803_distance t803_measure(const picture *reference, const picture *ours, uint32_t r, uint32_t c, unsigned shift)
{
    const l2k_component *a = &reference->components[r], *b = &ours->components[c];
    uint32_t width = a->width < b->width ? a->width : b->width, height = a->height < b->height ? a->height : b->height;
    t803_distance d = {0, 0};
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            double e = (double)reference->samples[r][(size_t)y * a->width + x] -
                       (double)(ours->samples[c][(size_t)y * b->width + x] >> shift);
            d.mse += e * e;
            e = e < 0 ? -e : e;
            d.peak = e > d.peak ? e : d.peak;
        }
    d.mse /= (double)width * height;
    return d;
}

/* Class 0 compares the top left part that the reference has; for a reference of fewer bits ours is shifted. */
static bool comparable(const picture *reference, const picture *ours, uint32_t r, uint32_t c, bool crop)
{
    const l2k_component *a = &reference->components[r], *b = &ours->components[c];
    if (crop)
        return b->width >= a->width && b->height >= a->height && b->precision >= a->precision;
    return a->width == b->width && a->height == b->height && a->precision == b->precision &&
           a->is_signed == b->is_signed;
}

/* Compares component r of a reference and c of ours with the limits of component c, and updates the worst values. */
static bool within(const t803_row *row, const picture *reference, uint32_t r, const picture *ours, uint32_t c,
                   uint32_t entry, t803_finding *finding)
{
    bool crop = strcmp(row->test, "c0") == 0;
    if (!comparable(reference, ours, r, c, crop)) {
        *finding = t803_found(T803_FAIL, "component %u: %ux%u, %u bit instead of %ux%u, %u bit", entry,
                              ours->components[c].width, ours->components[c].height, ours->components[c].precision,
                              reference->components[r].width, reference->components[r].height,
                              reference->components[r].precision);
        return false;
    }
    int bits = (int)ours->components[c].precision - (int)reference->components[r].precision;
    t803_distance d = t803_measure(reference, ours, r, c, bits > 0 ? (unsigned)bits : 0);
    double peak = number_of(row->peak, entry), mse = number_of(row->mse, entry);
    size_t length = strlen(finding->text);
    snprintf(finding->text + length, sizeof finding->text - length, "%s%g/%g %.3g/%g", length ? ", " : "", d.peak, peak,
             d.mse, mse);
    if (d.peak <= peak && d.mse <= mse)
        return true;
    finding->outcome = T803_FAIL;
    return false;
}

/* ---- The tests ----------------------------------------------------------------------------------------------- */

/* Classes 0 and 1: each plane against its own PGX. */
static t803_finding check_class(const t803_set *set, const t803_row *row)
{
    char message[MESSAGE_BYTES], list[sizeof row->references], path[PATH_BYTES], *rest = list;
    int status = t803_decode_planes(set, row, strcmp(row->test, "c0") == 0, message);
    t803_finding finding = {.outcome = T803_PASS};
    if (status != 0)
        return t803_found(T803_FAIL, "status %d: %s", status, message);
    snprintf(list, sizeof list, "%s", row->references);
    for (uint32_t c = 0; rest && finding.outcome == T803_PASS; c++) {
        snprintf(path, sizeof path, "%s/%s", set->directory, strsep(&rest, ","));
        picture *reference = read_pgx(path), *ours = t803_read_plane(set, c);
        if (!reference || !ours)
            finding = t803_found(T803_FAIL, "component %u: no %s", c, reference ? "output" : "reference");
        else
            within(row, reference, 0, ours, 0, c, &finding);
        picture_free(reference);
        picture_free(ours);
    }
    return finding;
}

/* The displayed picture, against a PPM or PGM. */
static t803_finding check_shown(const t803_set *set, const t803_row *row)
{
    char message[MESSAGE_BYTES], output[PATH_BYTES], path[PATH_BYTES];
    t803_finding finding = {.outcome = T803_PASS};
    snprintf(output, sizeof output, "%s/o.ppm", set->scratch);
    unlink(output);
    snprintf(path, sizeof path, "%s/%.500s", set->directory, row->references);
    int status = t803_decode(set, row, output, strcmp(row->test, "rgb8") == 0 ? "--rgb8" : NULL, NULL, message);
    if (status != 0)
        return t803_found(T803_FAIL, "status %d: %s", status, message);
    picture *reference = picture_read_pnm(path), *ours = picture_read_pnm(output);
    if (!reference || !ours)
        finding = t803_found(T803_FAIL, "no %s", reference ? "output" : "reference");
    for (uint32_t c = 0; reference && ours && finding.outcome == T803_PASS && c < 3; c++)
        within(row, reference, reference->image.num_components == 1 ? 0 : c, ours,
               ours->image.num_components == 1 ? 0 : c, c, &finding);
    picture_free(reference);
    picture_free(ours);
    return finding;
}

/* Any outcome except a crash, a hang or excessive memory. */
static t803_finding check_robust(const t803_set *set, const t803_row *row)
{
    char message[MESSAGE_BYTES];
    int status = t803_decode_planes(set, row, false, message);
    if (status >= 126)
        return t803_found(T803_FAIL, "ended by signal %d", status - 128);
    return t803_found(T803_PASS, "status %d", status);
}

t803_finding t803_check(const t803_set *set, const t803_row *row)
{
    static const struct {
        const char *test;
        t803_finding (*check)(const t803_set *, const t803_row *);
    } tests[] = {{"c1", check_class},  {"c0", check_class},      {"rgb8", check_shown},
                 {"ppm", check_shown}, {"robust", check_robust}, {"planes", t803_check_planes}};
    char path[PATH_BYTES];
    if (strcmp(row->test, "sets") == 0)
        return t803_check_sets(set, row);
    snprintf(path, sizeof path, "%s/%s", set->directory, row->file);
    if (access(path, R_OK) != 0)
        return t803_found(T803_SKIPPED, "not in this set");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(row->test, tests[i].test) == 0)
            return tests[i].check(set, row);
    return t803_found(T803_FAIL, "an unknown test");
}
