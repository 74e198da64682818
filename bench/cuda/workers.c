/* Workers of a codec, side by side. */
#define _POSIX_C_SOURCE 200112L
#include "bench/cuda/workers.h"

#include <pthread.h>

#include "bench/bench.h"

enum { MEASUREMENTS = 3, MOST_BATCH = 256 };

bool workers_make(workers *a, const codec *c, scene *e, const coding *k, unsigned count)
{
    *a = (workers){.codec = c, .scene = e};
    for (; a->count < count; a->count++) {
        a->members[a->count] = c->make(&e->shape, k, e->on_device);
        if (!a->members[a->count])
            return false;
    }
    return true;
}

void workers_free(workers *a)
{
    while (a->count > 0)
        a->codec->free(a->members[--a->count]);
}

/* ---- A thread -------------------------------------------------------------------------------------------------- */

typedef struct share {
    workers *workers;
    worker *worker;
    unsigned first, step, images; /* first, first + step, ... below images */
    unsigned turns;
    bool decodes, failed;
} share;

static bool code_one(const share *s, sample_image *m)
{
    const codec *c = s->workers->codec;
    const uint8_t *bytes;
    size_t count;
    return s->decodes ? c->decode(s->worker, m->bytes, m->count, m->decoded)
                      : c->encode(s->worker, m->samples, &bytes, &count);
}

static bool code_batch(const share *s)
{
    const codec *c = s->workers->codec;
    const sample_image *m = s->workers->scene->images;
    const void *from[MOST_BATCH];
    void *to[MOST_BATCH];
    size_t counts[MOST_BATCH];
    for (unsigned i = 0; i < s->images; i++) {
        from[i] = s->decodes ? m[i].bytes : m[i].samples;
        to[i] = m[i].decoded;
        counts[i] = m[i].count;
    }
    return s->decodes ? c->decode_batch(s->worker, from, counts, to, s->images)
                      : c->encode_batch(s->worker, from, s->images);
}

static void *work(void *opaque)
{
    share *s = opaque;
    const bool batch = s->workers->codec->encode_batch && s->images > 1 && s->images <= MOST_BATCH;
    for (unsigned turn = 0; turn < s->turns && !s->failed; turn++) {
        if (batch)
            s->failed = !code_batch(s);
        for (unsigned i = s->first; i < s->images && !s->failed && !batch; i += s->step)
            s->failed = !code_one(s, &s->workers->scene->images[i]);
    }
    return NULL;
}

/* ---- Time ------------------------------------------------------------------------------------------------------ */

/* Seconds an image, negative if something failed. */
static double run(workers *a, unsigned count, unsigned images, unsigned turns, bool decodes)
{
    share shares[MOST_WORKERS];
    pthread_t threads[MOST_WORKERS];
    bool failed = false;
    for (unsigned i = 0; i < count; i++)
        shares[i] = (share){a, a->members[i], i, count, images, turns, decodes, false};
    const double from = now();
    for (unsigned i = 1; i < count; i++)
        check(pthread_create(&threads[i], NULL, work, &shares[i]) == 0, "a thread");
    work(&shares[0]);
    for (unsigned i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    const double seconds = now() - from;
    for (unsigned i = 0; i < count; i++)
        failed |= shares[i].failed;
    return failed ? -1 : seconds / turns / images;
}

double workers_measure(workers *a, unsigned count, unsigned images, bool decodes, double seconds)
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
