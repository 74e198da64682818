/* Compares raw planes with libopenjp2's, which decodes in this process. */
#include "conformance/t803/t803.h"

#include <stdio.h>
#include <string.h>

static uint32_t ceil_div(uint64_t a, uint64_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

/* B-2 and B-14: ends of an axis on the component's grid, then on that of the resolution. */
static uint32_t length_by_standard(uint32_t from, uint32_t to, uint32_t factor, uint32_t reduce)
{
    uint64_t scale = (uint64_t)1 << reduce;
    return ceil_div(ceil_div(to, factor), scale) - ceil_div(ceil_div(from, factor), scale);
}

static bool has_standard_size(const picture *theirs, const picture *ours, uint32_t c, uint32_t reduce)
{
    const l2k_image *m = &theirs->image;
    const l2k_component *k = &theirs->components[c], *plane = &ours->components[0];
    return plane->width == length_by_standard(m->x0, m->x1, k->dx, reduce) &&
           plane->height == length_by_standard(m->y0, m->y1, k->dy, reduce);
}

static bool is_damaged(const t803_row *row)
{
    return strcmp(row->kind, "corrupt") == 0;
}

/* The precision of a damaged file is debatable; the samples count. */
static bool same_kind(const t803_row *row, const l2k_component *a, const l2k_component *b)
{
    return is_damaged(row) || (a->precision == b->precision && a->is_signed == b->is_signed);
}

/* Compares plane c, ours with theirs of the same size; *equal is false if there is any difference. */
static t803_finding compare_plane(const t803_row *row, const picture *theirs, const picture *ours, uint32_t c,
                                  bool *equal)
{
    const l2k_component *a = &theirs->components[c], *b = &ours->components[0];
    if (!has_standard_size(theirs, ours, c, row->reduce))
        return t803_found(T803_FAIL, "plane %u: %ux%u is not the size of B-14", c, b->width, b->height);
    if (a->width != b->width || a->height != b->height || !same_kind(row, a, b))
        return t803_found(T803_FAIL, "plane %u: another size or precision", c);
    t803_distance d = t803_measure(theirs, ours, c, 0, 0);
    *equal = d.peak == 0;
    if (d.peak > (row->exact[c] ? 0 : 1))
        return t803_found(T803_FAIL, "plane %u differs by up to %g", c, d.peak);
    return t803_found(T803_PASS, "");
}

static t803_finding compare_planes(const t803_set *set, const t803_row *row, const picture *theirs)
{
    uint32_t equal = 0, lossy = 0;
    for (uint32_t c = 0; c < theirs->image.num_components; c++) {
        picture *ours = t803_read_plane(set, c);
        bool same = false;
        t803_finding finding =
            ours ? compare_plane(row, theirs, ours, c, &same) : t803_found(T803_FAIL, "plane %u: no output", c);
        picture_free(ours);
        if (finding.outcome != T803_PASS)
            return finding;
        equal += same;
        lossy += !row->exact[c];
    }
    return t803_found(T803_PASS, "%u planes, %u of 9/7; %u equal", theirs->image.num_components, lossy, equal);
}

/* ---- Sizes in the set that deviate from the standard ---- */

/* Are there only zeros outside the part that has the size of `common`? */
static bool rest_is_zero(const picture *theirs, uint32_t c, const l2k_component *common)
{
    const l2k_component *k = &theirs->components[c];
    for (uint32_t y = 0; y < k->height; y++)
        for (uint32_t x = y < common->height ? common->width : 0; x < k->width; x++)
            if (theirs->samples[c][(size_t)y * k->width + x] != 0)
                return false;
    return true;
}

static t803_finding compare_common(const t803_row *row, const picture *theirs, const picture *ours, uint32_t c)
{
    const l2k_component *a = &theirs->components[c], *b = &ours->components[0];
    if (a->width != row->width[c] || a->height != row->height[c])
        return t803_found(T803_FAIL, "plane %u: %ux%u in the set, neither by B-14 nor by libopenjp2", c, row->width[c],
                          row->height[c]);
    if (t803_measure(theirs, ours, c, 0, 0).peak > (row->exact[c] ? 0 : 1))
        return t803_found(T803_FAIL, "plane %u: the samples of B-14 differ in the set", c);
    return t803_found(T803_PASS, "plane %u: %ux%u by B-14, %ux%u in the set, common samples equal, the rest %s", c,
                      b->width, b->height, a->width, a->height, rest_is_zero(theirs, c, b) ? "0" : "not 0");
}

/* Without a region libopenjp2 gives reduced images of odd origin a size that deviates, as do sets made with it. */
static t803_finding check_set_size(const t803_set *set, const t803_row *row, const bytes *file, t803_finding sofar)
{
    t803_finding worst = sofar;
    picture *theirs = NULL;
    for (uint32_t c = 0; c < PICTURE_MAX_COMPONENTS && row->width[c] && worst.outcome == T803_PASS; c++) {
        picture *ours = t803_read_plane(set, c);
        const l2k_component *k = ours ? &ours->components[0] : NULL;
        if (k && (k->width != row->width[c] || k->height != row->height[c])) {
            theirs = theirs ? theirs : opj_library_decode(file, &(decoding){.reduce = row->reduce, .no_area = true});
            worst = theirs && c < theirs->image.num_components ? compare_common(row, theirs, ours, c)
                                                               : t803_found(T803_FAIL, "plane %u: only in the set", c);
        }
        picture_free(ours);
    }
    picture_free(theirs);
    return worst;
}

/* ---- The test ------------------------------------------------------------------------------------------------ */

static t803_finding compare_file(const t803_set *set, const t803_row *row)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", set->directory, row->file);
    bytes file = bytes_read(path);
    picture *theirs = opj_library_decode(&file, &(decoding){.reduce = row->reduce});
    t803_finding finding =
        theirs ? compare_planes(set, row, theirs) : t803_found(T803_SKIPPED, "libopenjp2 refuses it");
    if (finding.outcome == T803_PASS)
        finding = check_set_size(set, row, &file, finding);
    picture_free(theirs);
    bytes_free(&file);
    return finding;
}

/* Damaged files may be refused, and any result from damage is accepted. */
t803_finding t803_check_planes(const t803_set *set, const t803_row *row)
{
    char message[MESSAGE_BYTES];
    bool damaged = is_damaged(row);
    int status = t803_decode_planes(set, row, false, message);
    if (status != 0)
        return t803_found(damaged ? T803_REFUSED : T803_FAIL, "status %d: %.150s", status, message);
    t803_finding finding = compare_file(set, row);
    if (damaged && finding.outcome == T803_FAIL)
        finding.outcome = T803_REFUSED;
    return finding;
}
