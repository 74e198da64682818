/* cancel: measures how long a call takes to return after its progress hook has said no. One RGB tile of SIDE x SIDE is
 * encoded and decoded repeatedly, stopped later each time; prints the waits, and the longest time between two calls of
 * the hook.
 *
 *     cc -O2 -Iinclude bench/cancel.c build/liblift2k.a -fopenmp -lm -o cancel && ./cancel [SIDE] [THREADS]
 */
#define _POSIX_C_SOURCE 199309L
#include <lift2k/lift2k.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

typedef struct course {
    double asked, longest; /* time of the hook's last call; the longest time between two calls */
    double stop_after, stopped;
    double start;
} course;

static bool on_progress(void *user, double done)
{
    course *c = user;
    double now = now_ms();
    (void)done;
    if (now - c->asked > c->longest)
        c->longest = now - c->asked;
    c->asked = now;
    if (now - c->start < c->stop_after)
        return true;
    c->stopped = now;
    return false;
}

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static int on_write(void *user, const void *buffer, size_t count)
{
    bytes *b = user;
    b->data = realloc(b->data, b->size + count);
    if (!b->data)
        return -1;
    memcpy(b->data + b->size, buffer, count);
    b->size += count;
    return 0;
}

typedef struct work {
    l2k_encoder *encoder;
    l2k_decoder *decoder;
    l2k_image image;
    l2k_component components[3];
    l2k_plane planes[3];
    bytes file;
    course course;
} work;

static l2k_status encode(work *w)
{
    w->file.size = 0;
    return l2k_encoder_encode(w->encoder, &w->image, w->planes, &(l2k_stream){.write = on_write, .user = &w->file});
}

static l2k_status decode(work *w)
{
    l2k_status status = l2k_decoder_open_memory(w->decoder, w->file.data, w->file.size);
    return status == L2K_OK ? l2k_decoder_decode(w->decoder, w->planes) : status;
}

static l2k_status timed(work *w, l2k_status (*run)(work *), double stop_after, double *ms)
{
    double now = now_ms();
    w->course = (course){.asked = now, .start = now, .stop_after = stop_after};
    l2k_status status = run(w);
    *ms = now_ms() - now;
    return status;
}

static void report(work *w, const char *name, l2k_status (*run)(work *))
{
    enum { STOPS = 20 };
    double whole, ms, sum = 0, most = 0, silent;
    if (timed(w, run, 1e30, &whole) != L2K_OK)
        exit(1);
    silent = w->course.longest;
    for (int i = 0; i < STOPS; i++) {
        if (timed(w, run, whole * (i + 0.5) / STOPS, &ms) != L2K_ERROR_CANCELLED)
            continue;
        double wait = now_ms() - w->course.stopped;
        sum += wait;
        most = wait > most ? wait : most;
        silent = w->course.longest > silent ? w->course.longest : silent;
    }
    printf(
        "%s: %.0f ms in all; returns %.1f ms after the hook says no (mean of %d), %.1f at most; not asked for %.1f at "
        "most\n",
        name, whole, sum / STOPS, STOPS, most, silent);
}

static void draw(work *w, uint32_t side)
{
    uint8_t *pixels = malloc((size_t)3 * side * side);
    uint32_t noise = 1;
    if (!pixels)
        exit(1);
    for (size_t i = 0; i < (size_t)3 * side * side; i++) {
        noise = noise * 1664525 + 1013904223;
        pixels[i] = (uint8_t)((i / 3 % side + i / 3 / side) / 8 + (noise >> 29));
    }
    w->image = (l2k_image){.x1 = side, .y1 = side, .num_components = 3, .components = w->components};
    for (int c = 0; c < 3; c++) {
        w->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
        w->planes[c] = (l2k_plane){pixels + c, 3 * (ptrdiff_t)side, 3, L2K_SAMPLE_U8};
    }
}

int main(int count, char **arguments)
{
    work w = {0};
    uint32_t side = count > 1 ? (uint32_t)atoi(arguments[1]) : 4096;
    l2k_hooks hooks = {.progress = on_progress, .user = &w.course};
    draw(&w, side);
    w.encoder = l2k_encoder_new(&hooks);
    w.decoder = l2k_decoder_new(&hooks);
    if (!w.encoder || !w.decoder)
        return 1;
    l2k_encoder_set(w.encoder, L2K_ENCODER_THREADS, count > 2 ? atoi(arguments[2]) : 0);
    l2k_decoder_set(w.decoder, L2K_DECODER_THREADS, count > 2 ? atoi(arguments[2]) : 0);
    report(&w, "encode", encode);
    if (encode(&w) != L2K_OK && timed(&w, encode, 1e30, &(double){0}) != L2K_OK)
        return 1;
    report(&w, "decode", decode);
    l2k_encoder_free(w.encoder);
    l2k_decoder_free(w.decoder);
    free(w.planes[0].data);
    free(w.file.data);
    return 0;
}
