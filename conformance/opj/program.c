/* Runs opj_compress and opj_decompress as child processes on files. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/opj/opj.h"
#include "conformance/process.h"

#define MAX_ARGUMENTS  64
#define ARGUMENT_BYTES 256

void opj_program_version(char *version, size_t size)
{
    static const char mark[] = "openjp2 library v";
    char line[512];
    FILE *help = popen("opj_compress -h 2>&1", "r");
    version[0] = 0;
    while (help && fgets(line, sizeof line, help)) {
        const char *at = strstr(line, mark);
        if (at && !version[0]) {
            at += sizeof mark - 1;
            snprintf(version, size, "%.*s", (int)strcspn(at, " \n"), at);
            size_t length = strlen(version);
            if (length && version[length - 1] == '.')
                version[length - 1] = 0;
        }
    }
    if (help)
        pclose(help);
}

/* ---- The picture as a file ----------------------------------------------------------------------------------- */

static void append_sample(bytes *b, int32_t value, bool wide, bool little)
{
    uint8_t low = (uint8_t)value, high = (uint8_t)(value >> 8);
    uint8_t pair[2] = {little ? low : high, little ? high : low};
    bytes_append(b, wide ? pair : &low, wide ? 2 : 1);
}

static void append_planes(bytes *b, const picture *p, bool little)
{
    for (uint32_t c = 0; c < p->image.num_components; c++)
        for (size_t i = 0; i < (size_t)p->components[c].width * p->components[c].height; i++)
            append_sample(b, p->samples[c][i], p->components[c].precision > 8, little);
}

static void append_pixels(bytes *b, const picture *p)
{
    for (size_t i = 0; i < (size_t)p->components[0].width * p->components[0].height; i++)
        for (uint32_t c = 0; c < p->image.num_components; c++)
            append_sample(b, p->samples[c][i], p->components[0].precision > 8, false);
}

static int pnm_header(const picture *p, char *header, size_t size)
{
    const l2k_component *c = &p->components[0];
    uint32_t maximum = (1u << c->precision) - 1, count = p->image.num_components;
    if (count == 1 || count == 3)
        return snprintf(header, size, "P%c\n%u %u\n%u\n", count == 1 ? '5' : '6', c->width, c->height, maximum);
    return snprintf(header, size, "P7\nWIDTH %u\nHEIGHT %u\nDEPTH %u\nMAXVAL %u\nTUPLTYPE %s\nENDHDR\n", c->width,
                    c->height, count, maximum, count == 2 ? "GRAYSCALE_ALPHA" : "RGB_ALPHA");
}

bytes picture_file(const picture *p, container kind)
{
    const l2k_component *c = &p->components[0];
    bytes b = {0};
    char header[256];
    if (kind == CONTAINER_PNM) {
        bytes_append(&b, header, (size_t)pnm_header(p, header, sizeof header));
        append_pixels(&b, p);
        return b;
    }
    if (kind == CONTAINER_PGX)
        bytes_append(&b, header,
                     (size_t)snprintf(header, sizeof header, "PG ML %c %u %u %u\n", c->is_signed ? '-' : '+',
                                      c->precision, c->width, c->height));
    append_planes(&b, p, kind == CONTAINER_RAWL);
    return b;
}

/* ---- opj_compress -------------------------------------------------------------------------------------------- */

typedef struct arguments {
    char text[MAX_ARGUMENTS][ARGUMENT_BYTES];
    char *pointers[MAX_ARGUMENTS + 1];
    int count;
} arguments;

#define ADD(a, ...) snprintf(next_argument(a), ARGUMENT_BYTES, __VA_ARGS__)

static char *next_argument(arguments *a)
{
    if (a->count == MAX_ARGUMENTS)
        abort();
    a->pointers[a->count] = a->text[a->count];
    return a->text[a->count++];
}

static void add_format(arguments *a, const picture *p, const handover *h)
{
    uint32_t factor_x = h->common.width ? h->common.width : 1, factor_y = h->common.height ? h->common.height : 1;
    const l2k_image *m = &p->image;
    if (factor_x > 1 || factor_y > 1) {
        ADD(a, "-s");
        ADD(a, "%u,%u", factor_x, factor_y);
    }
    if (h->container != CONTAINER_RAW && h->container != CONTAINER_RAWL)
        return;
    ADD(a, "-F");
    char *text = next_argument(a);
    int n = snprintf(text, ARGUMENT_BYTES, "%u,%u,%u,%u,%c@", (m->x1 - m->x0 - 1) / factor_x + 1,
                     (m->y1 - m->y0 - 1) / factor_y + 1, m->num_components, p->components[0].precision,
                     p->components[0].is_signed ? 's' : 'u');
    for (uint32_t c = 0; c < m->num_components; c++)
        n += snprintf(text + n, (size_t)(ARGUMENT_BYTES - n), "%s%ux%u", c ? ":" : "", p->components[c].dx / factor_x,
                      p->components[c].dy / factor_y);
}

static void add_geometry(arguments *a, const picture *p, const coding *o)
{
    if (p->image.x0 || p->image.y0) {
        ADD(a, "-d");
        ADD(a, "%u,%u", p->image.x0, p->image.y0);
    }
    if (o->tile.width) {
        ADD(a, "-t");
        ADD(a, "%u,%u", o->tile.width, o->tile.height);
    }
    if (o->tile_x0 || o->tile_y0) {
        ADD(a, "-T");
        ADD(a, "%u,%u", o->tile_x0, o->tile_y0);
    }
    if (o->block.width) {
        ADD(a, "-b");
        ADD(a, "%u,%u", o->block.width, o->block.height);
    }
    if (o->num_precincts) {
        ADD(a, "-c");
        char *text = next_argument(a);
        for (unsigned i = 0, n = 0; i < o->num_precincts; i++)
            n += (unsigned)snprintf(text + n, ARGUMENT_BYTES - n, "%s[%u,%u]", i ? "," : "", o->precincts[i].width,
                                    o->precincts[i].height);
    }
}

static void add_targets(arguments *a, const coding *o)
{
    if (!o->num_targets)
        return;
    ADD(a, o->target_kind == L2K_TARGET_PSNR ? "-q" : "-r");
    char *text = next_argument(a);
    for (unsigned i = 0, n = 0; i < o->num_targets; i++)
        n += (unsigned)snprintf(text + n, ARGUMENT_BYTES - n, "%s%g", i ? "," : "", o->targets[i]);
}

/* It counts tiles from 1. */
static void add_changes(arguments *a, const coding *o, const char *const orders[5])
{
    if (!o->num_changes)
        return;
    ADD(a, "-POC");
    char *text = next_argument(a);
    for (unsigned i = 0, n = 0; i < o->num_changes; i++) {
        const l2k_poc *c = &o->changes[i];
        n += (unsigned)snprintf(text + n, ARGUMENT_BYTES - n, "%sT%u=%u,%u,%u,%u,%u,%s", i ? "/" : "", c->tile + 1,
                                c->resolution_start, c->component_start, c->layer_end, c->resolution_end,
                                c->component_end, orders[c->progression]);
    }
}

static void add_profile(arguments *a, const coding *o)
{
    static const char *const imf[] = {"2K", "4K", "8K", "2K_R", "4K_R", "8K_R"};
    if (o->profile == L2K_PROFILE_CINEMA_4K)
        ADD(a, "-cinema4K");
    if (o->profile == L2K_PROFILE_CINEMA_2K) {
        ADD(a, "-cinema2K");
        ADD(a, "%u", o->frames);
    }
    if (o->profile < L2K_PROFILE_IMF_2K)
        return;
    ADD(a, "-IMF");
    ADD(a, "%s,mainlevel=%u,sublevel=%u,framerate=%u", imf[(o->profile >> 8) - 4], o->profile & 15,
        o->profile >> 4 & 15, o->frames);
}

static void add_coding(arguments *a, const coding *o)
{
    static const char *const orders[] = {"LRCP", "RLCP", "RPCL", "PCRL", "CPRL"};
    const char *const flags[] = {o->irreversible ? "-I" : NULL, o->sop ? "-SOP" : NULL, o->eph ? "-EPH" : NULL,
                                 o->plt ? "-PLT" : NULL, o->tlm ? "-TLM" : NULL};
    ADD(a, "-n");
    ADD(a, "%u", coding_levels(o) + 1);
    ADD(a, "-p");
    ADD(a, "%s", orders[o->progression]);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i])
            ADD(a, "%s", flags[i]);
    if (o->style) {
        ADD(a, "-M");
        ADD(a, "%u", o->style);
    }
    if (o->no_mct) {
        ADD(a, "-mct");
        ADD(a, "0");
    }
    if (o->tile_parts) {
        ADD(a, "-TP");
        ADD(a, "%c", "-RLC"[o->tile_parts]);
    }
    add_changes(a, o, orders);
    if (o->roi_shift) {
        ADD(a, "-ROI");
        ADD(a, "c=%u,U=%u", o->roi_component, o->roi_shift);
    }
    add_profile(a, o);
    if (o->guard_bits) {
        ADD(a, "-GuardBits");
        ADD(a, "%u", o->guard_bits);
    }
    add_targets(a, o);
}

static void join_arguments(const arguments *a, char *command)
{
    size_t n = 0;
    command[0] = 0;
    for (int i = 0; i < a->count && n < COMMAND_BYTES; i++)
        n += (size_t)snprintf(command + n, COMMAND_BYTES - n, "%s%s", i ? " " : "", a->text[i]);
}

void opj_program_encode(const picture *p, const coding *o, const handover *h, const char *stem, bytes *out,
                        char *command)
{
    static const char *const extensions[] = {"raw", "rawl", NULL, "pgx"};
    static const char *const pnm_extensions[] = {"pgm", "pam", "ppm", "pam"};
    arguments *a = test_allocate(1, sizeof *a);
    bool pnm = h->container == CONTAINER_PNM;
    ADD(a, "opj_compress");
    ADD(a, "-i");
    ADD(a, "%s.%s", stem, pnm ? pnm_extensions[(p->image.num_components - 1) % 4] : extensions[h->container]);
    const char *input = a->pointers[a->count - 1];
    ADD(a, "-o");
    ADD(a, "%s.j2k", stem);
    const char *output = a->pointers[a->count - 1];
    add_format(a, p, h);
    add_geometry(a, p, o);
    add_coding(a, o);
    join_arguments(a, command);
    bytes file = picture_file(p, h->container);
    *out = (bytes){0};
    unlink(output);
    if (bytes_write(&file, input) && run_program(a->pointers, NULL))
        *out = bytes_read(output);
    bytes_free(&file);
    free(a);
}

/* ---- opj_decompress ------------------------------------------------------------------------------------------ */

/* "PG ML + 8 w h"; the sign and the space after it are optional. */
static bool pgx_header(const char *text, char *order, char *sign, unsigned *precision, unsigned *width,
                       unsigned *height)
{
    int used = 0;
    *order = strncmp(text, "PG ML", 5) == 0 ? 'M' : 'L';
    sscanf(text, *order == 'M' ? "PG ML %n" : "PG LM %n", &used);
    if (used == 0)
        return false;
    *sign = text[used];
    used += *sign == '+' || *sign == '-';
    return sscanf(text + used, "%u %u %u", precision, width, height) == 3;
}

picture *read_pgx(const char *path)
{
    bytes b = bytes_read(path);
    bytes_append(&b, "", 1);
    char order, sign;
    unsigned precision, width, height;
    const uint8_t *body = memchr(b.data, '\n', b.size);
    picture *p = NULL;
    if (body && pgx_header((const char *)b.data, &order, &sign, &precision, &width, &height)) {
        shape s = {.width = width,
                   .height = height,
                   .num_components = 1,
                   .precision = precision,
                   .is_signed = sign == '-',
                   .content = CONTENT_FLAT};
        size_t size = precision <= 8 ? 1 : precision <= 16 ? 2 : 4, count = (size_t)width * height;
        p = body + 1 + count * size < b.data + b.size ? picture_make(&s) : NULL;
        for (size_t i = 0; p && i < count; i++) {
            uint32_t value = 0;
            for (size_t k = 0; k < size; k++)
                value = value << 8 | body[1 + i * size + (order == 'M' ? k : size - 1 - k)];
            uint32_t top = 1u << (8 * size - 1);
            p->samples[0][i] = s.is_signed ? (int32_t)((value ^ top) - top) : (int32_t)value;
        }
    }
    bytes_free(&b);
    return p;
}

picture *opj_program_decode(const bytes *file, const char *stem)
{
    char input[ARGUMENT_BYTES], output[ARGUMENT_BYTES], result[ARGUMENT_BYTES + 8];
    snprintf(input, sizeof input, "%s-decode.j2k", stem);
    snprintf(output, sizeof output, "%s-decode.pgx", stem);
    /* opj_decompress adds the component's number to the names of PGX files. */
    snprintf(result, sizeof result, "%s-decode_0.pgx", stem);
    char *argv[] = {"opj_decompress", "-i", input, "-o", output, NULL};
    unlink(output);
    unlink(result);
    if (!bytes_write(file, input) || !run_program(argv, NULL))
        return NULL;
    return read_pgx(access(result, R_OK) == 0 ? result : output);
}
