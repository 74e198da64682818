/* rtp_send [-f FPS] [-Q QUALITY] [-j THREADS] [-d N] HOST PORT < FRAMES.ppm: sends 8-bit PPM or PGM pictures, one behind
 * the other and all of one size, as HTJ2K over RTP (RFC 9828). Rows are encoded as they are read, and packets leave
 * before the frame is complete. For example:
 *
 *     ffmpeg -i /dev/video0 -c:v ppm -f image2pipe - | rtp_send 127.0.0.1 6000
 *
 * -f: rows come at the pace of a camera with that many frames a second, however fast they are read. -Q: quality factor,
 * 1 to 100, instead of lossless. -j: 1 if it is not given; several threads spin between rows. -d: leaves out every Nth
 * packet, as a bad network does. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <lift2k/lift2k.h>

#include "rtp_j2k.h"

enum { UDP_BYTES = 1472 /* Ethernet's 1500 less the headers of IPv4 and UDP */ };

typedef struct film {
    unsigned width, height, components, frames;
    double fps, begin; /* `begin`: of the film, then of its frames, in seconds */
    uint8_t *rows;
    rtp_j2k_sender rtp;
    int socket;
    struct sockaddr_in to;
    unsigned long packets, drop;
    double first_packet; /* of the frame */
} film;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_until(double when)
{
    const double seconds = when - now();
    const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    if (seconds > 0)
        nanosleep(&t, NULL);
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    fprintf(stderr, "rtp_send: %s%s\n", severity == L2K_SEVERITY_ERROR ? "" : "note: ", text);
}

static int send_packet(void *user, const uint8_t *packet, size_t bytes)
{
    film *f = (film *)user;
    if (f->first_packet == 0)
        f->first_packet = now();
    if (++f->packets % f->drop == 0)
        return 0;
    return sendto(f->socket, packet, bytes, 0, (struct sockaddr *)&f->to, sizeof f->to) == (ssize_t)bytes ? 0 : -1;
}

static int put_bytes(void *user, const void *bytes, size_t count)
{
    film *f = (film *)user;
    f->rtp.now = (uint32_t)(now() * RTP_J2K_CLOCK);
    return rtp_j2k_put(&f->rtp, (const uint8_t *)bytes, count);
}

/* The line in front of a frame's samples; false at the end of the film. */
static int read_header(film *f)
{
    char kind;
    unsigned width, height, maximum;
    const int found = scanf("P%c %u %u %u", &kind, &width, &height, &maximum);
    if (found == EOF)
        return 0;
    const unsigned components = kind == '6' ? 3 : 1;
    if (found != 4 || (kind != '5' && kind != '6') || maximum != 255 || width == 0 || height == 0 || getchar() == EOF ||
        (f->frames > 0 && (f->width != width || f->height != height || f->components != components))) {
        fprintf(stderr, "rtp_send: frame %u is no PPM or PGM of 8 bits and the size of those before\n", f->frames);
        exit(2);
    }
    f->width = width;
    f->height = height;
    f->components = components;
    return 1;
}

/* Precincts of 128 rows and PCRL let packets leave as rows come. */
static l2k_encoder *new_encoder(int quality, int threads)
{
    static const l2k_size precincts[] = {{32768, 128}, {32768, 64}, {32768, 32}, {32768, 16}, {32768, 8}, {32768, 4}};
    const int64_t options[][2] = {{L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM},
                                  {L2K_ENCODER_STYLE, L2K_STYLE_HT},
                                  {L2K_ENCODER_PROGRESSION, L2K_PCRL},
                                  {L2K_ENCODER_BACKEND, L2K_BACKEND_CPU},
                                  {L2K_ENCODER_THREADS, threads},
                                  {L2K_ENCODER_WAVELET, quality ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3},
                                  {L2K_ENCODER_QUALITY, quality}};
    const l2k_hooks hooks = {NULL, NULL, print_message, NULL, NULL};
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    if (!encoder || l2k_encoder_set_precincts(encoder, precincts, 6) != L2K_OK)
        exit(1);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (l2k_encoder_set(encoder, (l2k_encoder_option)options[i][0], options[i][1]) != L2K_OK)
            exit(2);
    return encoder;
}

static l2k_status encode_rows(l2k_encoder *encoder, film *f, uint32_t y0, uint32_t y1)
{
    l2k_plane planes[3];
    const size_t row = (size_t)f->width * f->components;
    f->rows = (uint8_t *)realloc(f->rows, (y1 - y0) * row);
    if (!f->rows)
        return L2K_ERROR_MEMORY;
    if (fread(f->rows, row, y1 - y0, stdin) != y1 - y0)
        return L2K_ERROR_IO;
    if (f->fps > 0)
        wait_until(f->begin + (double)y1 / f->height / f->fps);
    for (unsigned c = 0; c < f->components; c++) {
        planes[c].data = f->rows + c;
        planes[c].row_stride = (ptrdiff_t)row;
        planes[c].sample_stride = (ptrdiff_t)f->components;
        planes[c].type = L2K_SAMPLE_U8;
    }
    l2k_status status = l2k_encoder_put_rows(encoder, planes);
    if (status == L2K_OK && y1 < f->height && rtp_j2k_flush(&f->rtp) != 0)
        status = L2K_ERROR_IO;
    return status;
}

static l2k_status send_frame(l2k_encoder *encoder, film *f)
{
    l2k_component components[3];
    l2k_image image;
    const l2k_stream stream = {NULL, put_bytes, NULL, f};
    memset(&image, 0, sizeof image);
    memset(components, 0, sizeof components);
    image.x1 = f->width;
    image.y1 = f->height;
    image.num_components = f->components;
    image.components = components;
    image.colour = f->components == 3 ? L2K_COLOUR_SRGB : L2K_COLOUR_GRAY;
    for (unsigned c = 0; c < f->components; c++) {
        components[c].dx = components[c].dy = 1;
        components[c].precision = 8;
    }
    rtp_j2k_begin(&f->rtp, (uint32_t)(uint64_t)(f->begin * RTP_J2K_CLOCK));
    l2k_status status = l2k_encoder_begin(encoder, &image, &stream);
    for (uint32_t y0 = 0, y1 = 0; status == L2K_OK && y1 < f->height;) {
        status = l2k_encoder_next_rows(encoder, &y0, &y1);
        if (status == L2K_OK)
            status = encode_rows(encoder, f, y0, y1);
    }
    if (status == L2K_OK)
        status = l2k_encoder_end(encoder);
    if (status == L2K_OK && rtp_j2k_end(&f->rtp) != 0)
        status = L2K_ERROR_IO;
    return status;
}

static void set_up(film *f, const char *host, const char *port)
{
    f->socket = socket(AF_INET, SOCK_DGRAM, 0);
    f->to.sin_family = AF_INET;
    f->to.sin_port = htons((uint16_t)atoi(port));
    if (f->socket < 0 || inet_pton(AF_INET, host, &f->to.sin_addr) != 1) {
        fprintf(stderr, "rtp_send: %s is no IPv4 address\n", host);
        exit(2);
    }
    f->rtp.most_bytes = UDP_BYTES;
    f->rtp.send = send_packet;
    f->rtp.user = f;
    f->rtp.header.payload_type = 96;
    f->rtp.header.ssrc = (uint32_t)getpid();
    f->rtp.header.p = f->rtp.header.r = true;
    f->rtp.header.s = f->rtp.header.range = true; /* sRGB */
    f->rtp.header.prims = 1;
    f->rtp.header.trans = 13;
}

int main(int argc, char **argv)
{
    static film f;
    int quality = 0, threads = 1;
    l2k_status status = L2K_OK;
    double first = 0, last = 0;
    f.drop = ~0ul;
    for (int option; (option = getopt(argc, argv, "f:Q:j:d:")) != -1;)
        switch (option) {
        case 'f':
            f.fps = atof(optarg);
            break;
        case 'Q':
            quality = atoi(optarg);
            break;
        case 'j':
            threads = atoi(optarg);
            break;
        case 'd':
            f.drop = strtoul(optarg, NULL, 10);
            break;
        default:
            return 2;
        }
    if (argc - optind != 2 || f.drop == 0)
        return fprintf(stderr, "usage: rtp_send [-f FPS] [-Q QUALITY] [-j THREADS] [-d N] HOST PORT < FRAMES.ppm\n"), 2;
    set_up(&f, argv[optind], argv[optind + 1]);
    l2k_encoder *encoder = new_encoder(quality, threads);
    const double start = now();
    for (; status == L2K_OK && read_header(&f); f.frames++) {
        f.begin = f.fps > 0 ? start + f.frames / f.fps : now();
        f.first_packet = 0;
        status = send_frame(encoder, &f);
        first += f.first_packet - f.begin;
        last += now() - f.begin;
    }
    if (status == L2K_OK && f.frames > 0)
        fprintf(stderr,
                "rtp_send: %u frames, %lu packets; of a frame the first left after %.1f ms, the last after %.1f ms\n",
                f.frames, f.packets, 1e3 * first / f.frames, 1e3 * last / f.frames);
    l2k_encoder_free(encoder);
    free(f.rows);
    return status != L2K_OK;
}
