/* by_rows: pictures that are never in memory as a whole, encoded to a file and decoded from the mapped file by rows
 * (l2k_encoder_begin, l2k_decoder_begin). Prints samples per second of processor time, and memory: for encoding, what
 * the process holds beyond the coded bytes, for decoding beyond the file, both without the rows that the caller owns.
 * "x small" is the time of a sample over that in a picture of 2048 x 2048.
 *
 *     by_rows [--width N --height N] [--components N] [--bits N] [--tile N] [--threads N] [--turns N]
 *             [--coder ht|mq] [--wavelet 5/3|9/7] [--live FPS] FILE
 *
 * --live: frames whose rows come at that pace, and packets that leave before the last row (PCRL, precincts of 128 rows
 * of the frame); then these packets at the same pace, and rows that leave before the last packet (l2k_decoder_push).
 * Prints the time from the last row to the last byte, and from the last byte to the last row: median and greatest of
 * the frames.
 *
 * Without a size: 28260 x 52834, one component of 10 bits, and 18084 x 10173 RGB of 8 bits, untiled, with one thread;
 * each with both coders and wavelets. Each encoding or decoding has a process of its own. FILE is for codestreams, and
 * holds the last one in the end; 1 GB with the larger picture. */
#define _DEFAULT_SOURCE
#include <fcntl.h>

#include "bench/process.h"
#include "lift2k/lift2k.h"

enum { SMALL = 2048, SMALL_TURNS = 5, MOST_COMPONENTS = 4 };

typedef struct task {
    unsigned width, height, components, bits, tile, threads, live; /* frames a second */
    bool ht, irreversible;
    const char *path;
    unsigned turns;
    /* What the process finds out. */
    double seconds; /* of the processor in the library, the least of the turns */
    size_t coded;   /* bytes */
} task;

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double processor_seconds(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- The picture ------------------------------------------------------------------------------------------------- */

/* From 0 to 2047 and back. */
static unsigned wave(unsigned at)
{
    const unsigned phase = at % 4096, height = phase < 2048 ? phase : 4095 - phase;
    return height * height >> 11;
}

/* Shades, edges and three bits of noise, so that it codes about like a photograph. Interleaved. */
static void make_row(const task *t, unsigned y, uint16_t *row)
{
    uint32_t noise = y * 2654435761u + 1;
    for (unsigned x = 0; x < t->width; x++)
        for (unsigned c = 0; c < t->components; c++) {
            const unsigned edge = ((x >> 6) + (y >> 5)) % 4 ? 0 : 256;
            const unsigned shade = (wave(x + y / 3 + 500 * c) + wave(y + x / 4)) * 3 / 4 + edge;
            noise = noise * 1664525u + 1013904223u;
            *row++ = (uint16_t)((t->bits < 12 ? shade >> (12 - t->bits) : shade << (t->bits - 12)) + (noise >> 29));
        }
}

/* The rows that pass between caller and library, with 16 bits a sample. */
typedef struct strip {
    uint16_t *samples;
    size_t row_samples, rows;
    l2k_plane planes[MOST_COMPONENTS];
} strip;

static strip make_strip(const task *t)
{
    return (strip){.row_samples = (size_t)t->width * t->components};
}

static const l2k_plane *room_for(strip *s, const task *t, unsigned rows)
{
    if (rows > s->rows) {
        s->rows = rows;
        s->samples = share(2 * s->row_samples * rows);
        memset(s->samples, 0, 2 * s->row_samples * rows); /* its pages are the caller's work */
    }
    for (unsigned c = 0; c < t->components; c++)
        s->planes[c] =
            (l2k_plane){s->samples + c, (ptrdiff_t)(2 * s->row_samples), 2 * (ptrdiff_t)t->components, L2K_SAMPLE_U16};
    return s->planes;
}

/* ---- Encoding and decoding --------------------------------------------------------------------------------------- */

/* The file, whose writing is the caller's work. */
typedef struct sink {
    FILE *file;
    double seconds;
} sink;

static int rewrite(void *user, uint64_t offset, const void *bytes, size_t count)
{
    sink *to = user;
    return fflush(to->file) == 0 && pwrite(fileno(to->file), bytes, count, (off_t)offset) == (ssize_t)count ? 0 : -1;
}

static int append(void *user, const void *bytes, size_t count)
{
    sink *to = user;
    to->seconds -= seconds_of(CLOCK_THREAD_CPUTIME_ID);
    const size_t written = fwrite(bytes, 1, count, to->file);
    to->seconds += seconds_of(CLOCK_THREAD_CPUTIME_ID);
    return written == count ? 0 : -1;
}

static void set_up(l2k_encoder *e, const task *t)
{
    const int64_t settings[][2] = {{L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM},
                                   {L2K_ENCODER_STYLE, t->ht ? L2K_STYLE_HT : 0},
                                   {L2K_ENCODER_WAVELET, t->irreversible ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3},
                                   {L2K_ENCODER_TILE_WIDTH, t->tile},
                                   {L2K_ENCODER_TILE_HEIGHT, t->tile},
                                   {L2K_ENCODER_BACKEND, L2K_BACKEND_CPU},
                                   {L2K_ENCODER_THREADS, t->threads},
                                   {L2K_ENCODER_PROGRESSION, t->live ? L2K_PCRL : L2K_LRCP}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        check(l2k_encoder_set(e, (l2k_encoder_option)settings[i][0], settings[i][1]) == L2K_OK, "an option");
}

static l2k_image image_of(const task *t, l2k_component components[MOST_COMPONENTS])
{
    for (unsigned c = 0; c < t->components; c++)
        components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = t->bits};
    return (l2k_image){.x1 = t->width,
                       .y1 = t->height,
                       .num_components = t->components,
                       .components = components,
                       .colour = t->components >= 3 ? L2K_COLOUR_SRGB : L2K_COLOUR_GRAY};
}

static double encode_once(l2k_encoder *e, strip *s, const task *t, sink to)
{
    l2k_component components[MOST_COMPONENTS] = {{0}};
    const l2k_image image = image_of(t, components);
    const l2k_stream stream = {.write = append, .rewrite = rewrite, .user = &to};
    uint32_t y0, y1;
    double seconds = -processor_seconds();
    check(l2k_encoder_begin(e, &image, &stream) == L2K_OK, "the beginning");
    while (l2k_encoder_next_rows(e, &y0, &y1) == L2K_OK && y0 < y1) {
        seconds += processor_seconds();
        const l2k_plane *planes = room_for(s, t, y1 - y0);
        for (uint32_t y = y0; y < y1; y++)
            make_row(t, y, s->samples + (y - y0) * s->row_samples);
        seconds -= processor_seconds();
        check(l2k_encoder_put_rows(e, planes) == L2K_OK, "encoding");
    }
    check(l2k_encoder_end(e) == L2K_OK, "the end");
    return seconds + processor_seconds() - to.seconds;
}

static void encode(void *argument)
{
    task *t = argument;
    const l2k_hooks hooks = {.message = report_message};
    l2k_encoder *e = l2k_encoder_new(&hooks);
    strip s = make_strip(t);
    check(e != NULL, "memory");
    set_up(e, t);
    for (unsigned i = 0; i < t->turns; i++) {
        FILE *file = fopen(t->path, "wb");
        check(file != NULL, t->path);
        const double seconds = encode_once(e, &s, t, (sink){file, 0});
        t->coded = (size_t)ftell(file);
        check(fclose(file) == 0, t->path);
        t->seconds = i == 0 || seconds < t->seconds ? seconds : t->seconds;
    }
}

static double decode_once(l2k_decoder *d, strip *s, const task *t, const void *data)
{
    uint32_t y0, y1;
    double seconds = -processor_seconds();
    check(l2k_decoder_open_memory(d, data, t->coded) == L2K_OK && l2k_decoder_begin(d) == L2K_OK, "opening");
    while (l2k_decoder_next_rows(d, &y0, &y1) == L2K_OK && y0 < y1) {
        seconds += processor_seconds();
        const l2k_plane *planes = room_for(s, t, y1 - y0);
        seconds -= processor_seconds();
        check(l2k_decoder_get_rows(d, planes) == L2K_OK, "decoding");
    }
    check(l2k_decoder_end(d) == L2K_OK, "the end");
    return seconds + processor_seconds();
}

static void decode(void *argument)
{
    task *t = argument;
    const l2k_hooks hooks = {.message = report_message};
    const int file = open(t->path, O_RDONLY);
    const void *data = mmap(NULL, t->coded, PROT_READ, MAP_PRIVATE, file, 0);
    l2k_decoder *d = l2k_decoder_new(&hooks);
    strip s = make_strip(t);
    check(d && data != MAP_FAILED && l2k_decoder_set(d, L2K_DECODER_THREADS, t->threads) == L2K_OK &&
              l2k_decoder_set(d, L2K_DECODER_BACKEND, L2K_BACKEND_CPU) == L2K_OK,
          "a decoder");
    for (unsigned i = 0; i < t->turns; i++) {
        const double seconds = decode_once(d, &s, t, data);
        t->seconds = i == 0 || seconds < t->seconds ? seconds : t->seconds;
    }
}

/* ---- Live ---------------------------------------------------------------------------------------------------------- */

enum { FRAMES = 41, PUSHES = 128 };

static void wait_until(double at)
{
    const double left = at - now();
    if (left > 0)
        nanosleep(&(struct timespec){(time_t)left, (long)(1e9 * (left - (double)(time_t)left))}, NULL);
}

/* Seconds from the last row to the last byte. */
static double send_frame(l2k_encoder *e, const strip *frame, const task *t, coded_image *to, double start)
{
    l2k_component components[MOST_COMPONENTS] = {{0}};
    const l2k_image image = image_of(t, components);
    const l2k_stream stream = {.write = append_code, .user = to};
    uint32_t y0, y1;
    to->count = 0;
    check(l2k_encoder_begin(e, &image, &stream) == L2K_OK, "the beginning");
    while (l2k_encoder_next_rows(e, &y0, &y1) == L2K_OK && y0 < y1) {
        l2k_plane planes[MOST_COMPONENTS];
        memcpy(planes, frame->planes, sizeof planes);
        for (unsigned c = 0; c < t->components; c++)
            planes[c].data = (char *)planes[c].data + y0 * planes[c].row_stride;
        wait_until(start + (double)y1 / t->height / t->live);
        check(l2k_encoder_put_rows(e, planes) == L2K_OK, "encoding");
    }
    check(l2k_encoder_end(e) == L2K_OK, "the end");
    return now() - start - 1.0 / t->live;
}

/* Seconds from the last byte to the last row. */
static double receive_frame(l2k_decoder *d, strip *rows, const task *t, const coded_image *from, double start)
{
    uint32_t y0, y1;
    bool begun = false;
    for (unsigned i = 0; i <= PUSHES; i++) {
        const size_t first = from->count * i / PUSHES, end = i < PUSHES ? from->count * (i + 1) / PUSHES : first;
        wait_until(start + (double)(i < PUSHES ? i + 1 : i) / PUSHES / t->live);
        const l2k_status status = l2k_decoder_push(d, from->bytes + first, end - first);
        check(status == L2K_OK || status == L2K_INCOMPLETE, "pushing");
        if (status == L2K_OK && !begun)
            check(l2k_decoder_begin(d) == L2K_OK, "the beginning");
        begun = begun || status == L2K_OK;
        while (begun && l2k_decoder_next_rows(d, &y0, &y1) == L2K_OK && y0 < y1)
            check(l2k_decoder_get_rows(d, room_for(rows, t, y1 - y0)) == L2K_OK, "decoding");
    }
    check(l2k_decoder_end(d) == L2K_OK && y1 == t->height, "the end");
    return now() - start - 1.0 / t->live;
}

static void print_latency(const task *t, double seconds[FRAMES])
{
    const double middle = median(seconds, FRAMES); /* sorts them */
    printf(" %.2f | %.2f | %.3f |", 1e3 * middle, 1e3 * seconds[FRAMES - 1], middle * t->live);
}

static void live(const task *t)
{
    const l2k_hooks hooks = {.message = report_message};
    l2k_encoder *e = l2k_encoder_new(&hooks);
    l2k_decoder *d = l2k_decoder_new(&hooks);
    l2k_size precincts[6];
    double seconds[2][FRAMES], start = 0;
    strip frame = make_strip(t), rows = make_strip(t);
    coded_image sent = {0};
    for (unsigned i = 0; i < 6; i++)
        precincts[i] = (l2k_size){(uint32_t)8192 >> i, (uint32_t)128 >> i};
    check(e && d && l2k_encoder_set_precincts(e, precincts, 6) == L2K_OK &&
              l2k_decoder_set(d, L2K_DECODER_THREADS, t->threads) == L2K_OK &&
              l2k_decoder_set(d, L2K_DECODER_BACKEND, L2K_BACKEND_CPU) == L2K_OK,
          "coders");
    set_up(e, t);
    room_for(&frame, t, t->height);
    for (unsigned y = 0; y < t->height; y++)
        make_row(t, y, frame.samples + y * frame.row_samples);
    for (unsigned i = 0; i < FRAMES; i++, start += 1.0 / t->live) {
        start = i ? start : now();
        seconds[0][i] = send_frame(e, &frame, t, &sent, start);
    }
    for (unsigned i = 0; i < FRAMES; i++, start += 1.0 / t->live) {
        start = i ? start : now();
        seconds[1][i] = receive_frame(d, &rows, t, &sent, start);
    }
    printf("| %u x %u x %u, %u bits, %u fps | %s %s |", t->width, t->height, t->components, t->bits, t->live,
           t->ht ? "HT" : "MQ", t->irreversible ? "9/7" : "5/3");
    print_latency(t, seconds[0]);
    print_latency(t, seconds[1]);
    printf("\n");
    fflush(stdout);
    free(sent.bytes);
    l2k_encoder_free(e);
    l2k_decoder_free(d);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

typedef struct figures {
    double rate[2], megabytes[2]; /* of encoding and decoding; samples a second */
    double bits;
} figures;

static figures measure(const task *of)
{
    figures f;
    task *t = share(sizeof *t);
    *t = *of;
    const double samples = (double)t->width * t->height * t->components;
    const cost encoding = run_apart(encode, t);
    f.rate[0] = samples / t->seconds;
    f.megabytes[0] =
        ((double)encoding.anonymous - (t->tile ? 0 : (double)t->coded)) / 1e6; /* tiles are written when done */
    const cost decoding = run_apart(decode, t);
    f.rate[1] = samples / t->seconds;
    f.megabytes[1] = (double)decoding.anonymous / 1e6;
    f.bits = 8 * (double)t->coded / samples;
    munmap(t, sizeof *t);
    return f;
}

static void row(const task *t)
{
    task small = *t;
    small.width = small.height = SMALL;
    small.turns = SMALL_TURNS;
    const figures s = measure(&small), f = measure(t);
    printf("| %u x %u x %u, %u bits | %s %s |", t->width, t->height, t->components, t->bits, t->ht ? "HT" : "MQ",
           t->irreversible ? "9/7" : "5/3");
    for (int i = 0; i < 2; i++)
        printf(" %.1f | %.2f | %.0f |", f.rate[i] / 1e6, s.rate[i] / f.rate[i], f.megabytes[i]);
    printf(" %.2f |\n", f.bits);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    task t = {.components = 1, .bits = 8, .threads = 1, .turns = 1};
    const char *coder = "", *wavelet = "";
    const number_option known[] = {{"--width", &t.width}, {"--height", &t.height}, {"--components", &t.components},
                                   {"--bits", &t.bits},   {"--tile", &t.tile},     {"--threads", &t.threads},
                                   {"--turns", &t.turns}, {"--live", &t.live}};
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
        if (strcmp(argv[i], "--coder") == 0)
            coder = argv[i + 1];
        else if (strcmp(argv[i], "--wavelet") == 0)
            wavelet = argv[i + 1];
        else if (!take_number(known, sizeof known / sizeof *known, argv[i], argv[i + 1]))
            break;
    if (argc - i != 1 || argv[i][0] == '-' || !t.components || t.components > MOST_COMPONENTS || !t.turns ||
        t.bits < 8 || t.bits > 16 || !t.width != !t.height) {
        fprintf(stderr,
                "usage: by_rows [--width N --height N] [--components N] [--bits 8..16] [--tile N] [--threads N]\n"
                "               [--turns N] [--coder ht|mq] [--wavelet 5/3|9/7] [--live FPS] FILE\n");
        return 2;
    }
    t.path = argv[i];
    printf("%s\n",
           t.live ? "| frames | coder | last row to last byte, ms | at most | frames | last byte to last row, ms | at "
                    "most | frames |\n|---|---|---|---|---|---|---|---|"
                  : "| picture | coder | encode, Msamples/s | x small | MB beyond the code | decode, Msamples/s | "
                    "x small | MB beyond the file | bits a sample |\n|---|---|---|---|---|---|---|---|---|");
    task pictures[] = {t, t};
    if (!t.width) {
        pictures[0].width = 28260, pictures[0].height = 52834, pictures[0].bits = 10;
        pictures[1].width = 18084, pictures[1].height = 10173, pictures[1].components = 3;
    }
    for (int p = 0; p < (t.width ? 1 : 2); p++)
        for (int kind = 0; kind < 4; kind++) {
            pictures[p].ht = kind < 2;
            pictures[p].irreversible = kind % 2;
            if (strcmp(coder, kind < 2 ? "mq" : "ht") != 0 && strcmp(wavelet, kind % 2 ? "5/3" : "9/7") != 0)
                (t.live ? live : row)(&pictures[p]);
        }
    return 0;
}
