/* rtp_receive [-n FRAMES] [-t SECONDS] [-j THREADS] PORT > FRAMES.ppm: receives gray or RGB pictures of 8 bits as JPEG
 * 2000 over RTP (RFC 9828), from the loopback interface, and writes rows as soon as their packets have arrived. Ends
 * after -n frames, or -t seconds (10) without a packet. What lost packets leave of a frame is written, too; the exit
 * status is then 3. For example:
 *
 *     rtp_receive 6000 | ffplay -f image2pipe -c:v ppm -
 *
 * PORT 0 is any free one, which a line on standard error tells. -j: 1 if it is not given. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <lift2k/lift2k.h>

#include "rtp_j2k.h"

typedef struct screen {
    l2k_decoder *decoder;
    l2k_image image;
    l2k_status status; /* L2K_INCOMPLETE before the headers of a codestream have arrived */
    bool begun;
    uint8_t *rows;
    uint32_t missing; /* rows that are still to be written */
    unsigned frames, complete;
} screen;

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    fprintf(stderr, "rtp_receive: %s%s\n", severity == L2K_SEVERITY_ERROR ? "" : "note: ", text);
}

static size_t row_bytes(const l2k_image *image)
{
    return (size_t)(image->x1 - image->x0) * image->num_components;
}

static l2k_status begin(screen *s)
{
    l2k_status status = l2k_decoder_image(s->decoder, &s->image);
    if (status != L2K_OK)
        return status;
    const uint32_t count = s->image.num_components;
    for (uint32_t c = 0; c < count; c++) {
        const l2k_component *component = &s->image.components[c];
        if ((count != 1 && count != 3) || component->dx != 1 || component->dy != 1 || component->precision != 8 ||
            component->is_signed) {
            fprintf(stderr, "rtp_receive: not a gray or RGB picture of 8 bits\n");
            return L2K_ERROR_UNSUPPORTED;
        }
    }
    status = l2k_decoder_begin(s->decoder);
    s->begun = status == L2K_OK;
    s->missing = s->image.y1 - s->image.y0;
    if (s->begun)
        printf("P%d\n%u %u\n255\n", count == 3 ? 6 : 5, (unsigned)(s->image.x1 - s->image.x0),
               (unsigned)(s->image.y1 - s->image.y0));
    return status;
}

/* Writes the rows that the bytes so far allow. */
static l2k_status take_rows(screen *s)
{
    uint32_t y0 = 0, y1 = 0;
    const size_t row = row_bytes(&s->image);
    l2k_status status = l2k_decoder_next_rows(s->decoder, &y0, &y1);
    while (status == L2K_OK && y0 < y1) {
        l2k_plane planes[3];
        s->rows = (uint8_t *)realloc(s->rows, (y1 - y0) * row);
        for (uint32_t c = 0; c < s->image.num_components; c++) {
            planes[c].data = s->rows + c;
            planes[c].row_stride = (ptrdiff_t)row;
            planes[c].sample_stride = (ptrdiff_t)s->image.num_components;
            planes[c].type = L2K_SAMPLE_U8;
        }
        status = s->rows ? l2k_decoder_get_rows(s->decoder, planes) : L2K_ERROR_MEMORY;
        if (status == L2K_OK && (fwrite(s->rows, row, y1 - y0, stdout) != y1 - y0 || fflush(stdout) != 0))
            status = L2K_ERROR_IO;
        if (status != L2K_OK)
            break;
        s->missing -= y1 - y0;
        status = l2k_decoder_next_rows(s->decoder, &y0, &y1);
    }
    return status;
}

static void push(screen *s, const uint8_t *bytes, size_t count)
{
    if (s->status == L2K_OK || s->status == L2K_INCOMPLETE)
        s->status = l2k_decoder_push(s->decoder, bytes, count);
    if (s->status == L2K_OK && !s->begun)
        s->status = begin(s);
    if (s->status == L2K_OK && s->begun)
        s->status = take_rows(s);
}

static int put_bytes(void *user, const uint8_t *bytes, size_t count)
{
    push((screen *)user, bytes, count);
    return 0;
}

static int end_frame(void *user, bool complete)
{
    screen *s = (screen *)user;
    push(s, NULL, 0);
    if (s->begun) {
        complete = l2k_decoder_end(s->decoder) == L2K_OK && complete;
        for (size_t left = s->missing * row_bytes(&s->image); left > 0; left--) /* after an error: black */
            putchar(0);
    }
    if (!complete)
        fprintf(stderr, "rtp_receive: frame %u is incomplete\n", s->frames);
    s->frames++;
    s->complete += complete;
    s->begun = false;
    s->status = L2K_INCOMPLETE;
    return 0;
}

static int open_socket(const char *port, int seconds)
{
    const int udp = socket(AF_INET, SOCK_DGRAM, 0), bytes = 32 << 20; /* as much of it as the system allows */
    const struct timeval limit = {seconds, 0};
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_port = htons((uint16_t)atoi(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(udp, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    setsockopt(udp, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (udp < 0 || bind(udp, (struct sockaddr *)&at, sizeof at) != 0 ||
        getsockname(udp, (struct sockaddr *)&at, &size) != 0) {
        perror("rtp_receive");
        exit(1);
    }
    fprintf(stderr, "rtp_receive: port %u\n", ntohs(at.sin_port));
    return udp;
}

int main(int argc, char **argv)
{
    static uint8_t packet[65536];
    static screen s;
    static rtp_j2k_receiver rtp;
    unsigned frames = ~0u;
    int seconds = 10, threads = 1;
    for (int option; (option = getopt(argc, argv, "n:t:j:")) != -1;)
        if (option == 'n')
            frames = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 't')
            seconds = atoi(optarg);
        else if (option == 'j')
            threads = atoi(optarg);
        else
            return 2;
    if (argc - optind != 1)
        return fprintf(stderr, "usage: rtp_receive [-n FRAMES] [-t SECONDS] [-j THREADS] PORT > FRAMES.ppm\n"), 2;
    const l2k_hooks hooks = {NULL, NULL, print_message, NULL, NULL};
    s.decoder = l2k_decoder_new(&hooks);
    s.status = L2K_INCOMPLETE;
    if (!s.decoder || l2k_decoder_set(s.decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU) != L2K_OK ||
        l2k_decoder_set(s.decoder, L2K_DECODER_THREADS, threads) != L2K_OK ||
        l2k_decoder_set(s.decoder, L2K_DECODER_LIMIT_SAMPLES, 1 << 28) != L2K_OK)
        return 1;
    rtp.data = put_bytes;
    rtp.end = end_frame;
    rtp.user = &s;
    const int udp = open_socket(argv[optind], seconds);
    while (s.frames < frames && !ferror(stdout)) {
        const ssize_t bytes = recv(udp, packet, sizeof packet, 0);
        if (bytes < 0)
            break;
        rtp_j2k_take(&rtp, packet, (size_t)bytes);
    }
    rtp_j2k_give_up(&rtp);
    fprintf(stderr, "rtp_receive: %u frames, of which %u are complete; %llu packets were lost\n", s.frames, s.complete,
            (unsigned long long)rtp.lost);
    l2k_decoder_free(s.decoder);
    free(s.rows);
    close(udp);
    return ferror(stdout) ? 1 : s.frames > 0 && s.complete == s.frames && rtp.lost == 0 ? 0 : 3;
}
