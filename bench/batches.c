/* batches: images in host memory to codestreams in host memory and back, by size: one at a time and in batches, on the
 * CPU with all processors, by CUDA and by OpenCL. From it follow the sizes from which `auto` takes the GPU
 * (transform/choice.h), and what several images in flight gain.
 *
 *     batches [--in-flight N] [--least SIDE] [--most SIDE] [--seconds S] [--ht | --mq | --cinema] PICTURE
 *
 * PICTURE is a binary PGM or PPM file; the images are squares of it (repeated where it is too small), each at another
 * place, with sides from --least (64), doubled up to --most (4096). Milliseconds an image, best of the turns that fit
 * into S seconds. Results are compared with the CPU's. With --cinema, frames of 4096 x 2160 by the profile for 24
 * frames a second, for which the picture should have 12 bits. */
#define _POSIX_C_SOURCE 199309L

#include "bench/bench.h"
#include "bench/pnm.h"
#include "lift2k/lift2k.h"

/* ---- Images ------------------------------------------------------------------------------------------------------ */

enum { MOST_IMAGES = 256, APART = 1024 };

static bool cinema;

/* The picture, interleaved as pixels usually are, and repeated until it is large enough. */
typedef struct canvas {
    uint8_t *pixels;
    size_t side, pixel_bytes, row_bytes;
} canvas;

static canvas spread(const pnm *p, uint32_t most)
{
    canvas c = {.side = (size_t)most + APART, .pixel_bytes = (size_t)p->components * p->bytes};
    c.row_bytes = c.side * c.pixel_bytes;
    c.pixels = malloc(c.row_bytes * c.side);
    check(c.pixels != NULL, "memory");
    for (size_t y = 0; y < c.side; y++)
        for (size_t k = 0; k < p->components; k++) {
            const uint8_t *from = p->samples + k * pnm_plane_bytes(p) + y % p->height * p->width * p->bytes;
            uint8_t *to = c.pixels + y * c.row_bytes + k * p->bytes;
            for (size_t x = 0; x < c.side; x++)
                for (size_t b = 0; b < p->bytes; b++)
                    to[x * c.pixel_bytes + b] = from[x % p->width * p->bytes + b];
        }
    return c;
}

typedef struct images {
    unsigned count;
    uint32_t side, height;
    const canvas *canvas;
    l2k_component components[3];
    l2k_image image;
    l2k_plane planes[MOST_IMAGES][3], decoded[MOST_IMAGES][3];
    coded_image codes[MOST_IMAGES], reference[MOST_IMAGES];
    l2k_stream streams[MOST_IMAGES];
    l2k_encode_item encode[MOST_IMAGES];
    l2k_decode_item decode[MOST_IMAGES];
} images;

static void make_planes(const pnm *p, images *m, unsigned i)
{
    const canvas *from = m->canvas;
    uint8_t *first = from->pixels + i * 61 % APART * from->row_bytes + i * 97 % APART * from->pixel_bytes;
    uint8_t *to = malloc(m->side * from->pixel_bytes * m->side);
    check(to != NULL, "memory");
    for (uint32_t c = 0; c < p->components; c++) {
        l2k_plane plane = {first + (size_t)c * p->bytes, (ptrdiff_t)from->row_bytes, (ptrdiff_t)from->pixel_bytes,
                           p->bytes == 2 ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
        m->planes[i][c] = plane;
        plane.data = to + (size_t)c * p->bytes;
        plane.row_stride = (ptrdiff_t)(m->side * from->pixel_bytes);
        m->decoded[i][c] = plane;
    }
}

static images *make_images(const pnm *p, const canvas *from, uint32_t side, unsigned count)
{
    images *m = calloc(1, sizeof *m);
    check(m != NULL, "memory");
    m->count = count;
    m->side = side;
    m->canvas = from;
    for (uint32_t c = 0; c < p->components; c++)
        m->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = p->precision};
    m->height = cinema ? side * 135 / 256 : side;
    m->image = (l2k_image){.x1 = side, .y1 = m->height, .num_components = p->components, .components = m->components};
    for (unsigned i = 0; i < count; i++) {
        make_planes(p, m, i);
        m->streams[i] = (l2k_stream){.write = append_code, .user = &m->codes[i]};
        m->encode[i] = (l2k_encode_item){&m->image, m->planes[i], &m->streams[i], L2K_OK};
        m->decode[i].planes = m->decoded[i];
    }
    return m;
}

static void free_images(images *m)
{
    for (unsigned i = 0; i < m->count; i++) {
        free(m->decoded[i][0].data);
        free(m->codes[i].bytes);
        free(m->reference[i].bytes);
    }
    free(m);
}

/* ---- One way to code them ---------------------------------------------------------------------------------------- */

typedef struct way {
    const char *name;
    l2k_backend backend;
    bool batch;
    unsigned in_flight;
    bool ht;
} way;

static l2k_encoder *make_encoder(const way *w)
{
    l2k_encoder *encoder = l2k_encoder_new(&(l2k_hooks){.message = report_message});
    check(encoder && l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM) == L2K_OK &&
              l2k_encoder_set(encoder, L2K_ENCODER_STYLE, w->ht ? L2K_STYLE_HT : 0) == L2K_OK &&
              l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, w->backend) == L2K_OK &&
              (!cinema || l2k_encoder_set_profile(encoder, L2K_PROFILE_CINEMA_4K, 24) == L2K_OK) &&
              l2k_encoder_set(encoder, L2K_ENCODER_IN_FLIGHT, w->in_flight) == L2K_OK,
          "making an encoder");
    return encoder;
}

static l2k_decoder *make_decoder(const way *w)
{
    l2k_decoder *decoder = l2k_decoder_new(&(l2k_hooks){.message = report_message});
    check(decoder && l2k_decoder_set(decoder, L2K_DECODER_BACKEND, w->backend) == L2K_OK &&
              l2k_decoder_set(decoder, L2K_DECODER_IN_FLIGHT, w->in_flight) == L2K_OK,
          "making a decoder");
    return decoder;
}

static void encode_all(l2k_encoder *encoder, const way *w, images *m)
{
    for (unsigned i = 0; i < m->count; i++)
        m->codes[i].count = 0;
    if (w->batch)
        check(l2k_encoder_encode_batch(encoder, m->encode, m->count) == L2K_OK, "encoding");
    else
        for (unsigned i = 0; i < m->count; i++)
            check(l2k_encoder_encode(encoder, &m->image, m->planes[i], &m->streams[i]) == L2K_OK, "encoding");
}

static void decode_all(l2k_decoder *decoder, const way *w, images *m)
{
    if (w->batch)
        check(l2k_decoder_decode_batch(decoder, m->decode, m->count) == L2K_OK, "decoding");
    else
        for (unsigned i = 0; i < m->count; i++)
            check(l2k_decoder_open_memory(decoder, m->decode[i].data, m->decode[i].bytes) == L2K_OK &&
                      l2k_decoder_decode(decoder, m->decoded[i]) == L2K_OK,
                  "decoding");
}

static void compare(images *m)
{
    for (unsigned i = 0; i < m->count; i++) {
        if (!m->reference[i].bytes)
            append_code(&m->reference[i], m->codes[i].bytes, m->codes[i].count);
        check(m->codes[i].count == m->reference[i].count &&
                  memcmp(m->codes[i].bytes, m->reference[i].bytes, m->codes[i].count) == 0,
              "the comparison of codestreams");
        const l2k_plane *from = &m->planes[i][0], *to = &m->decoded[i][0];
        for (uint32_t y = 0; y < m->height && !cinema; y++)
            check(memcmp((uint8_t *)from->data + y * from->row_stride, (uint8_t *)to->data + y * to->row_stride,
                         (size_t)to->row_stride) == 0,
                  "the comparison of samples");
    }
}

/* Milliseconds an image; [0] encoding, [1] decoding. */
static void measure(const way *w, images *m, double seconds, double best[2])
{
    l2k_encoder *encoder = make_encoder(w);
    l2k_decoder *decoder = make_decoder(w);
    best[0] = best[1] = 1e30;
    encode_all(encoder, w, m);
    for (unsigned i = 0; i < m->count; i++) {
        m->decode[i].data = m->codes[i].bytes;
        m->decode[i].bytes = m->codes[i].count;
    }
    decode_all(decoder, w, m);
    compare(m);
    for (int k = 0; k < 2; k++) {
        const double end = now_ms() + 500 * seconds;
        do {
            const double from = now_ms();
            if (k == 0)
                encode_all(encoder, w, m);
            else
                decode_all(decoder, w, m);
            const double ms = (now_ms() - from) / m->count;
            best[k] = ms < best[k] ? ms : best[k];
        } while (now_ms() < end);
    }
    compare(m);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
}

/* The processors that this machine has, each in two ways. */
static unsigned list_ways(way ways[6], unsigned in_flight)
{
    static const struct {
        const char *one, *batch;
        l2k_backend backend;
    } known[] = {{"CPU, one", "CPU, batch", L2K_BACKEND_CPU},
                 {"CUDA, one", "CUDA, batch", L2K_BACKEND_CUDA},
                 {"OpenCL, one", "OpenCL, batch", L2K_BACKEND_OPENCL}};
    unsigned count = 0;
    for (int i = 0; i < 3; i++) {
        char device[200];
        if (!l2k_backend_usable(known[i].backend, device, sizeof device))
            continue;
        printf("%s%s", count ? "; " : "", device);
        ways[count++] = (way){known[i].one, known[i].backend, .batch = false};
        ways[count++] = (way){known[i].batch, known[i].backend, .batch = true, .in_flight = i ? in_flight : 0};
    }
    return count;
}

static void measure_size(const pnm *p, const canvas *from, uint32_t side, double seconds, bool ht, way *ways,
                         unsigned num_ways)
{
    const unsigned count = side <= 256    ? MOST_IMAGES
                           : side <= 512  ? 64
                           : side <= 1024 ? 32
                           : side <= 2048 ? 16
                           : cinema       ? 48
                                          : 8;
    images *m = make_images(p, from, side, count);
    double ms[6][2];
    for (unsigned i = 0; i < num_ways; i++) {
        ways[i].ht = ht;
        measure(&ways[i], m, seconds, ms[i]);
    }
    for (int k = 0; k < 2; k++) {
        printf("| %s %s, %u x %u |", ht ? "HT" : "MQ", k ? "decode" : "encode", side, m->height);
        for (unsigned i = 0; i < num_ways; i++)
            printf(" %.3f |", ms[i][k]);
        printf("\n");
    }
    fflush(stdout);
    free_images(m);
}

int main(int argc, char **argv)
{
    unsigned in_flight = 8, least = 64, most = 4096;
    const number_option known[] = {{"--in-flight", &in_flight}, {"--least", &least}, {"--most", &most}};
    bool ht = true, mq = true;
    double seconds = 0.5;
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--ht") == 0)
            mq = false;
        else if (strcmp(argv[i], "--mq") == 0)
            ht = false;
        else if (strcmp(argv[i], "--cinema") == 0)
            cinema = true, ht = false, least = most = 4096;
        else if (strcmp(argv[i], "--seconds") == 0)
            seconds = atof(argv[++i]);
        else if (take_number(known, 3, argv[i], argv[i + 1]))
            i++;
        else
            break;
    }
    if (i + 1 != argc || in_flight > 64 || !(ht || mq) || least < 1 || most > 16384) {
        fprintf(stderr,
                "usage: batches [--in-flight N] [--least SIDE] [--most SIDE] [--seconds S] [--ht | --mq | --cinema] "
                "PICTURE\n");
        return 2;
    }
    pnm p = pnm_read(argv[i], 1, 1);
    const canvas from = spread(&p, most);
    way ways[6];
    const unsigned num_ways = list_ways(ways, in_flight);
    printf("; %u components, %u bits; %u in flight on a GPU; ms an image\n\n| |", p.components, p.precision, in_flight);
    for (unsigned w = 0; w < num_ways; w++)
        printf(" %s |", ways[w].name);
    printf("\n|---|");
    for (unsigned w = 0; w < num_ways; w++)
        printf("---|");
    printf("\n");
    for (int k = 0; k < 2; k++)
        for (uint32_t side = least; side <= most && (k == 0 ? ht : mq); side *= 2)
            measure_size(&p, &from, side, seconds, k == 0, ways, num_ways);
    free(from.pixels);
    free(p.samples);
    return 0;
}
