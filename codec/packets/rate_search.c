/* Finds the end of a layer of a given size by bisection (J.14). Most prefixes need not be measured: the size of their
 * bodies is known, and headers vary little. */
#include "codec/packets/slopes.h"

/* Estimates the bytes of a prefix without measuring: those of its segments, and about as many around them as at a
 * measured prefix. */
typedef struct forecast {
    bool usable;
    uint64_t bodies;  /* of the prefix measured */
    uint64_t headers; /* measured around them */
} forecast;

/* A search in progress. Prefixes are ordered by length. */
typedef struct search {
    l2k_slope_list *list;
    const l2k_prefix_measure *measure;
    uint64_t room, start; /* bytes of the layer; of the segments in layers above */
    size_t low, high;     /* the longest prefix that is known to fit, the shortest that is not */
    uint64_t low_bytes;
    bool low_measured, high_measured;
    forecast forecast;
} search;

/* ---- Foresight ----------------------------------------------------------------------------------------------- */

/* The expected headers for these bytes of bodies, and the possible error. */
static double expect(const forecast *f, uint64_t bodies, double *wrong)
{
    const double share = (double)f->headers / (double)(f->bodies + 1), far = fabs((double)bodies - (double)f->bodies);
    *wrong = far * (share + 0.02) + 16;
    return (double)f->headers + (bodies > f->bodies ? share * far : -share * far);
}

static uint64_t beyond_start(const search *s, uint64_t bytes)
{
    return bytes > s->start ? bytes - s->start : 0;
}

static l2k_status bodies_of(const search *s, size_t prefix, uint64_t *bodies)
{
    L2K_TRY(l2k_slopes_bytes(s->list, prefix, bodies));
    *bodies = beyond_start(s, *bodies);
    return L2K_OK;
}

/* The end of the bin in which prefixes reach about `room`; beyond `low`. */
static size_t guess_end(const search *s)
{
    const l2k_slope_list *list = s->list;
    size_t bin = l2k_slopes_bin(list, s->low) + 1;
    double wrong;
    for (; list->bins[bin].start < list->count; bin++) {
        const uint64_t bodies = list->bins[bin].bytes - s->start;
        if ((double)bodies + expect(&s->forecast, bodies, &wrong) > (double)s->room)
            break;
    }
    return list->bins[bin].start;
}

static l2k_status measure_at(search *s, size_t prefix, uint64_t *bytes)
{
    uint64_t bodies;
    L2K_TRY(s->measure->measure(s->measure->packets, prefix, bytes));
    if (s->forecast.usable) {
        L2K_TRY(bodies_of(s, prefix, &bodies));
        s->forecast.bodies = bodies;
        s->forecast.headers = *bytes > bodies ? *bytes - bodies : 0;
    }
    return L2K_OK;
}

/* Measures twice near the end that the search will find. */
static l2k_status look_ahead(search *s)
{
    uint64_t bytes, all;
    L2K_TRY(bodies_of(s, s->list->count, &all));
    s->forecast.usable = s->list->count - s->low > L2K_FEW_SEGMENTS && all > s->room;
    s->forecast.headers = s->room / 20;
    s->forecast.bodies = s->room - s->room / 20;
    for (int round = 0; s->forecast.usable && round < 2; round++)
        L2K_TRY(measure_at(s, guess_end(s), &bytes));
    return L2K_OK;
}

/* Whether a prefix clearly does not fit, or clearly fits and leaves more room than the search accepts. */
static l2k_status foresee(const search *s, size_t prefix, bool *clear, bool *fits)
{
    double wrong;
    *clear = s->forecast.usable;
    if (!s->forecast.usable)
        return L2K_OK;
    const l2k_slope_bin *bins = s->list->bins;
    const size_t bin = l2k_slopes_bin(s->list, prefix);
    const uint64_t least = beyond_start(s, bins[bin].bytes);
    const uint64_t most = beyond_start(s, bins[prefix < s->list->count ? bin + 1 : bin].bytes);
    const double lower = (double)least + expect(&s->forecast, least, &wrong) - wrong;
    const double upper = (double)most + expect(&s->forecast, most, &wrong) + wrong;
    *fits = upper < (double)(s->room - s->room / 5000);
    if (*fits || lower > (double)s->room)
        return L2K_OK;
    uint64_t bodies;
    L2K_TRY(bodies_of(s, prefix, &bodies));
    const double bytes = (double)bodies + expect(&s->forecast, bodies, &wrong);
    *fits = bytes + wrong < (double)(s->room - s->room / 5000);
    *clear = *fits || bytes - wrong > (double)s->room;
    return L2K_OK;
}

/* ---- The search ---------------------------------------------------------------------------------------------- */

/* Halves the interval until a prefix leaves little room, or nothing is between. */
static l2k_status halve(search *s)
{
    const size_t count = s->list->count;
    while (s->high - s->low > 1) {
        /* Everything first: it often fits, which saves the search. */
        const size_t middle = s->high > count ? count : s->low + (s->high - s->low) / 2;
        uint64_t bytes = 0;
        bool fits, clear;
        L2K_TRY(foresee(s, middle, &clear, &fits));
        if (!clear) {
            L2K_TRY(measure_at(s, middle, &bytes));
            fits = bytes <= s->room;
        }
        if (!fits) {
            s->high = middle;
            s->high_measured = !clear;
            continue;
        }
        s->low = middle;
        s->low_measured = !clear;
        s->low_bytes = bytes;
        if (!clear && s->room - bytes <= s->room / 5000)
            return L2K_OK;
    }
    return L2K_OK;
}

/* Measures the prefixes that the search took for clear. */
static l2k_status confirm(search *s, size_t first, bool *right)
{
    uint64_t bytes = 0;
    *right = true;
    if (!s->high_measured && s->high <= s->list->count && s->high - s->low == 1) {
        L2K_TRY(measure_at(s, s->high, &bytes));
        *right = bytes > s->room;
    }
    if (!s->low_measured && s->low > first && *right) {
        L2K_TRY(measure_at(s, s->low, &s->low_bytes));
        *right = s->low_bytes <= s->room;
    }
    return L2K_OK;
}

l2k_status l2k_fit_prefix(l2k_slope_list *list, const l2k_prefix_measure *measure, uint64_t room, size_t first,
                          l2k_fitted_prefix *fitted)
{
    const search all = {.list = list, .measure = measure, .room = room, .low = first, .high = list->count + 1};
    search s = all;
    bool right;
    L2K_TRY(l2k_slopes_bytes(list, first, &s.start));
    L2K_TRY(look_ahead(&s));
    L2K_TRY(halve(&s));
    L2K_TRY(confirm(&s, first, &right));
    if (!right) { /* measure at every step */
        s = all;
        L2K_TRY(halve(&s));
    }
    *fitted = (l2k_fitted_prefix){.prefix = s.low, .bytes = s.low_bytes};
    if (s.low_bytes == 0)
        return measure->measure(measure->packets, s.low, &fitted->bytes);
    fitted->leaves_room = s.low < list->count && l2k_leaves_room(room, s.low_bytes);
    return L2K_OK;
}
