/* Lanes of a codec at work, side by side. */
#define _POSIX_C_SOURCE 200112L
#include "bench/cuda/lanes.h"

#include <pthread.h>

#include "bench/bench.h"

enum { MEASUREMENTS = 3, MOST_BATCH = 256 };

bool lanes_make(lanes *a, const codec *c, scene *e, const coding *k, unsigned count)
{
    *a = (lanes){.codec = c, .scene = e};
    for (; a->count < count; a->count++) {
        a->members[a->count] = c->make(&e->shape, k, e->on_device);
        if (!a->members[a->count])
            return false;
    }
    return true;
}

void lanes_free(lanes *a)
{
    while (a->count > 0)
        a->codec->free(a->members[--a->count]);
}

/* ---- A thread -------------------------------------------------------------------------------------------------- */

typedef struct worker {
    lanes *lanes;
    lane *lane;
    unsigned first, step, images; /* first, first + step, ... below images */
    unsigned turns;
    bool decodes, failed;
} worker;

static bool code_one(const worker *w, sample_image *m)
{
    const codec *c = w->lanes->codec;
    const uint8_t *bytes;
    size_t count;
    return w->decodes ? c->decode(w->lane, m->bytes, m->count, m->decoded)
                      : c->encode(w->lane, m->samples, &bytes, &count);
}

static bool code_batch(const worker *w)
{
    const codec *c = w->lanes->codec;
    const sample_image *m = w->lanes->scene->images;
    const void *from[MOST_BATCH];
    void *to[MOST_BATCH];
    size_t counts[MOST_BATCH];
    for (unsigned i = 0; i < w->images; i++) {
        from[i] = w->decodes ? m[i].bytes : m[i].samples;
        to[i] = m[i].decoded;
        counts[i] = m[i].count;
    }
    return w->decodes ? c->decode_batch(w->lane, from, counts, to, w->images)
                      : c->encode_batch(w->lane, from, w->images);
}

static void *work(void *opaque)
{
    worker *w = opaque;
    const bool batch = w->lanes->codec->encode_batch && w->images > 1 && w->images <= MOST_BATCH;
    for (unsigned turn = 0; turn < w->turns && !w->failed; turn++) {
        if (batch)
            w->failed = !code_batch(w);
        for (unsigned i = w->first; i < w->images && !w->failed && !batch; i += w->step)
            w->failed = !code_one(w, &w->lanes->scene->images[i]);
    }
    return NULL;
}

/* ---- Time ------------------------------------------------------------------------------------------------------ */

/* Seconds an image, negative if something failed. */
static double run(lanes *a, unsigned count, unsigned images, unsigned turns, bool decodes)
{
    worker workers[MOST_LANES];
    pthread_t threads[MOST_LANES];
    bool failed = false;
    for (unsigned i = 0; i < count; i++)
        workers[i] = (worker){a, a->members[i], i, count, images, turns, decodes, false};
    const double from = now();
    for (unsigned i = 1; i < count; i++)
        check(pthread_create(&threads[i], NULL, work, &workers[i]) == 0, "a thread");
    work(&workers[0]);
    for (unsigned i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    const double seconds = now() - from;
    for (unsigned i = 0; i < count; i++)
        failed |= workers[i].failed;
    return failed ? -1 : seconds / turns / images;
}

double lanes_measure(lanes *a, unsigned count, unsigned images, bool decodes, double seconds)
{
    double ms[MEASUREMENTS];
    run(a, count, images, 2, decodes);
    const double once = run(a, count, images, 1, decodes) * images;
    const unsigned turns = once > 0 && once < seconds ? (unsigned)(seconds / once) + 1 : 1;
    for (int i = 0; i < MEASUREMENTS && once > 0; i++)
        ms[i] = 1e3 * run(a, count, images, turns, decodes);
    if (once <= 0)
        return -1;
    const double middle = median(ms, MEASUREMENTS);
    return ms[0] < 0 ? -1 : middle;
}
