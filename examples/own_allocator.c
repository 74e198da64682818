/* own_allocator: the hooks of liblift2k. An allocator that counts, has a ceiling and checks that all memory is
 * released; a progress hook with a deadline. One encoder encodes several images, and the counters show what it
 * keeps. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lift2k/lift2k.h>

enum { SIDE = 1024 };

typedef struct host {
    pthread_mutex_t lock; /* hooks may be called from several threads at once */
    size_t in_use, most, taken, ceiling;
    double deadline; /* in seconds of the monotonic clock, 0 = none */
} host;

/* The size of a block precedes it, padded so that the block is aligned for any C object. */
typedef union header {
    size_t bytes;
    max_align_t alignment;
} header;

static void *allocate(void *user, size_t bytes)
{
    host *h = (host *)user;
    header *block = NULL;
    pthread_mutex_lock(&h->lock);
    if (bytes <= h->ceiling - h->in_use)
        block = (header *)malloc(sizeof *block + bytes);
    if (block) {
        block->bytes = bytes;
        h->taken++;
        h->in_use += bytes;
        h->most = h->in_use > h->most ? h->in_use : h->most;
    }
    pthread_mutex_unlock(&h->lock);
    return block ? block + 1 : NULL;
}

static void release(void *user, void *memory)
{
    host *h = (host *)user;
    header *block = (header *)memory;
    if (!block--)
        return;
    pthread_mutex_lock(&h->lock);
    h->in_use -= block->bytes;
    pthread_mutex_unlock(&h->lock);
    free(block);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Called on the thread that called the library; false asks it to stop. */
static bool before_deadline(void *user, double done)
{
    const host *h = (const host *)user;
    (void)done;
    return h->deadline == 0 || now() < h->deadline;
}

static int count_bytes(void *user, const void *buffer, size_t bytes)
{
    (void)buffer;
    *(size_t *)user += bytes;
    return 0;
}

static uint8_t pixels[SIDE][SIDE];

static void encode(host *h, l2k_encoder *encoder, uint32_t width, const char *what)
{
    l2k_component component;
    l2k_image image;
    memset(&component, 0, sizeof component);
    memset(&image, 0, sizeof image);
    component.dx = component.dy = 1;
    component.precision = 8;
    image.x1 = width;
    image.y1 = SIDE;
    image.num_components = 1;
    image.components = &component;
    image.colour = L2K_COLOUR_GRAY;
    l2k_plane plane = {pixels, SIDE, 1, L2K_SAMPLE_U8};
    size_t written = 0;
    l2k_stream stream = {NULL, count_bytes, NULL, &written};
    h->taken = 0;
    l2k_status status = l2k_encoder_encode(encoder, &image, &plane, &stream);
    printf("%-20s %s, %zu bytes written; blocks taken %zu, bytes in use %zu\n", what, l2k_strerror(status), written,
           h->taken, h->in_use);
}

int main(void)
{
    host h;
    memset(&h, 0, sizeof h);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            pixels[y][x] = (uint8_t)((x * x / 64 + y * y / 32) ^ (x & y));
    pthread_mutex_init(&h.lock, NULL);
    h.ceiling = (size_t)64 << 20;
    l2k_hooks hooks = {allocate, release, NULL, before_deadline, &h};
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    /* With more threads, their shares of an image vary, and so does the memory that each needs. */
    if (!encoder || l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1) != L2K_OK)
        return 1;
    encode(&h, encoder, SIDE, "first image:");
    encode(&h, encoder, SIDE, "the same shape:");
    size_t kept = h.taken;
    encode(&h, encoder, SIDE / 2, "another shape:");

    h.deadline = now();
    encode(&h, encoder, SIDE, "deadline over:");
    h.deadline = 0;

    h.ceiling = h.in_use + ((size_t)256 << 10);
    encode(&h, encoder, SIDE, "256 KiB and no more:");
    h.ceiling = (size_t)64 << 20;
    encode(&h, encoder, SIDE, "and again:");
    l2k_encoder_free(encoder);
    printf("encoder freed:       bytes in use %zu, at most %zu\n", h.in_use, h.most);
    pthread_mutex_destroy(&h.lock);
    return h.in_use == 0 && kept == 0 ? 0 : 1;
}
