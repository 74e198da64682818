/* `lift2k info`: what a JPEG 2000 file contains, as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/info/info.h"
#include "cli/input/input.h"
#include "cli/options/table.h"
#include "cli/run/messages.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

#define LABEL "%-20s"

/* ---- Names --------------------------------------------------------------------------------------------------- */

const char *cli_boxes_name(const l2k_info *info, l2k_decoder *decoder)
{
    const uint32_t part_15 = UINT32_C(1) << (32 - 15);
    l2k_box_data data;
    if (info->format != L2K_FORMAT_JP2)
        return NULL;
    if (l2k_decoder_box_data(decoder, 1, &data) == L2K_OK && strcmp(data.type, "ftyp") == 0 && data.bytes >= 4 &&
        memcmp(data.data, "jpx ", 4) == 0)
        return "JPX";
    return info->capabilities & part_15 ? "JPH" : "JP2";
}

const char *cli_name_of(cli_named what, unsigned value)
{
    static const char *const names[][8] = {
        [CLI_COLOUR] = {"unknown", "gray", "sRGB", "sYCC", "CMYK", "ICC profile", "e-sYCC", "CIELab"},
        [CLI_CHANNEL] = {"colour", "opacity", "premultiplied opacity", "unspecified"},
        [CLI_PROGRESSION] = {"LRCP", "RLCP", "RPCL", "PCRL", "CPRL"},
        [CLI_HT_BLOCKS] = {"all", "unknown", "where declared", "mixed with MQ"},
        [CLI_STYLE] = {"bypass", "reset", "termall", "vsc", "pterm", "segsym", "ht", "htmixed"}};
    return value < 8 && names[what][value] ? names[what][value] : "unknown";
}

const char *cli_component_transform_name(const l2k_info *info)
{
    return !info->component_transform ? "none" : l2k_wavelet_reversible(info->wavelet) ? "RCT" : "ICT";
}

/* ---- Boxes --------------------------------------------------------------------------------------------------- */

/* More of a document is not shown. */
#define MOST_TEXT ((size_t)1 << 20)

const char *cli_content_name(l2k_content content)
{
    static const char *const names[] = {NULL, "XMP", "Exif", "IPTC", "GeoJP2", NULL, "XML", "label"};
    return (unsigned)content < sizeof names / sizeof *names ? names[content] : NULL;
}

bool cli_box_uuid(const l2k_box_data *data, char text[CLI_UUID_ROOM])
{
    char *at = text;
    if (strcmp(data->type, "uuid") != 0 || data->content == L2K_CONTENT_OTHER)
        return false;
    for (int i = 0; i < 16; i++)
        at += snprintf(at, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", data->uuid[i]);
    return true;
}

char *cli_box_text(const l2k_box_data *data)
{
    const bool is_text =
        data->content == L2K_CONTENT_XMP || data->content == L2K_CONTENT_XML || data->content == L2K_CONTENT_LABEL;
    const size_t bytes = data->bytes < MOST_TEXT ? data->bytes : MOST_TEXT;
    char *text = is_text ? malloc(bytes + 1) : NULL;
    if (!text)
        return NULL;
    if (bytes)
        memcpy(text, data->data, bytes);
    text[bytes] = 0;
    return text;
}

static uint32_t number(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

/* A fraction times a power of ten, vertical first (I.5.3.7). */
bool cli_box_density(const l2k_box_data *data, double *x, double *y)
{
    const uint8_t *at = data->data;
    if ((strcmp(data->type, "resc") != 0 && strcmp(data->type, "resd") != 0) || data->bytes != 10)
        return false;
    const double below_y = number(at + 2), below_x = number(at + 6);
    if (below_x == 0 || below_y == 0)
        return false;
    *y = number(at) / below_y * pow(10, (int8_t)at[8]);
    *x = number(at + 4) / below_x * pow(10, (int8_t)at[9]);
    return true;
}

/* The beginning of a document, on one line. */
static void print_beginning(const l2k_box_data *data)
{
    enum { SHOWN = 48 };
    char *text = cli_box_text(data);
    if (!text)
        return;
    const size_t length = strlen(text);
    text[length < SHOWN ? length : SHOWN] = 0;
    for (char *at = text; *at; at++)
        *at = *at == '\n' || *at == '\r' || *at == '\t' ? ' ' : *at;
    cli_make_printable(text);
    printf(" \"%s\"%s", text, length < SHOWN ? "" : "...");
    free(text);
}

static void print_content(const l2k_box_data *data)
{
    char uuid[CLI_UUID_ROOM];
    const char *name = cli_content_name(data->content);
    double x, y;
    if (cli_box_density(data, &x, &y))
        printf(": %.6g x %.6g pixels per metre", x, y);
    else if (name)
        printf(": %s", name);
    else if (cli_box_uuid(data, uuid))
        printf(": %s", uuid);
    if (data->content == L2K_CONTENT_XML || data->content == L2K_CONTENT_LABEL)
        print_beginning(data);
}

/* ---- Text ---------------------------------------------------------------------------------------------------- */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_channel(const l2k_component *component)
{
    printf(", %s", cli_name_of(CLI_CHANNEL, component->channel));
    if (component->association == 0)
        printf(" of the whole image");
    else if (component->association != 65535)
        printf(" %u", component->association);
}

static bool alike(const l2k_component *a, const l2k_component *b)
{
    return a->dx == b->dx && a->dy == b->dy && a->precision == b->precision && a->is_signed == b->is_signed &&
           a->channel == b->channel && a->width == b->width && a->height == b->height &&
           (a->association == b->association || a->channel == L2K_CHANNEL_COLOUR);
}

/* Consecutive equal components share a line: there may be 16384 of them. */
static void print_components(const l2k_info *info)
{
    const l2k_image *image = &info->image;
    printf(LABEL "%u\n", "components", image->num_components);
    for (uint32_t c = 0, last; c < image->num_components; c = last + 1) {
        const l2k_component *component = &image->components[c];
        char label[32];
        for (last = c; last + 1 < image->num_components && alike(component, component + (last + 1 - c));)
            last++;
        snprintf(label, sizeof label, last == c ? "  %u" : "  %u to %u", c, last);
        printf(LABEL "%u bit %s, %u x %u", label, component->precision, component->is_signed ? "signed" : "unsigned",
               component->width, component->height);
        if (component->dx != 1 || component->dy != 1)
            printf(", sub-sampled by %u x %u", component->dx, component->dy);
        if (info->format == L2K_FORMAT_JP2 && last == c)
            print_channel(component);
        putchar('\n');
    }
}

static void print_colour(const l2k_info *info)
{
    const l2k_image *image = &info->image;
    printf(LABEL "%s", "colour", cli_name_of(CLI_COLOUR, image->colour));
    if (image->icc)
        printf(" of %zu bytes", image->icc_bytes);
    if (info->palette_entries)
        printf(", palette of %u entr%s", info->palette_entries, info->palette_entries == 1 ? "y" : "ies");
    putchar('\n');
    if (image->density_x > 0 && image->density_y > 0)
        printf(LABEL "%.6g x %.6g pixels per metre (%.4g x %.4g dpi)\n", "density", image->density_x, image->density_y,
               image->density_x * 0.0254, image->density_y * 0.0254);
}

static void print_image(const l2k_info *info, l2k_decoder *decoder)
{
    const l2k_image *image = &info->image;
    const char *boxes = cli_boxes_name(info, decoder);
    printf(LABEL "%s, codestream of %llu bytes, profile %u\n", "format", boxes ? boxes : "bare codestream",
           (unsigned long long)info->codestream_bytes, info->profile);
    printf(LABEL "%u x %u at %u,%u\n", "image", image->x1 - image->x0, image->y1 - image->y0, image->x0, image->y0);
    print_components(info);
    print_colour(info);
    printf(LABEL "%u (%u x %u) of %u x %u, from %u,%u; %u tile-part%s\n", "tiles",
           info->tiles_across * info->tiles_down, info->tiles_across, info->tiles_down, info->tile_width,
           info->tile_height, info->tile_x0, info->tile_y0, info->num_tile_parts, plural(info->num_tile_parts));
}

static void print_precincts(const l2k_info *info)
{
    printf(LABEL, "precincts");
    if (info->default_precincts) {
        puts("maximal");
        return;
    }
    for (uint32_t r = 0; r <= info->levels && r <= L2K_MAX_LEVELS; r++)
        printf("%s%u x %u", r ? ", " : "", info->precincts[r].width, info->precincts[r].height);
    puts(" (lowest resolution first)");
}

static void print_style(uint32_t style)
{
    for (uint32_t bit = 0; bit < CLI_NUM_STYLES; bit++)
        if (style >> bit & 1)
            printf(", %s", cli_name_of(CLI_STYLE, bit));
}

static void print_kernel(const l2k_decoder *decoder)
{
    char text[CLI_KERNEL_BYTES];
    size_t length;
    if (l2k_decoder_kernel(decoder, 0, text, sizeof text, &length) != L2K_OK)
        return;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        printf(LABEL "%.*s\n", line == text ? "kernel" : "", (int)strcspn(line, "\n"), line);
}

static void print_splits(const l2k_decoder *decoder)
{
    char text[L2K_MAX_LEVELS + 1];
    size_t length;
    if (l2k_decoder_splits(decoder, 0, text, sizeof text, &length) == L2K_OK && length)
        printf(LABEL "%s (b both, h horizontally, v vertically, from the full size on)\n", "splits", text);
}

/* Prints which of two kinds of marker segments are present. */
static void print_pair(const char *label, bool has_first, const char *first, bool has_second, const char *second)
{
    printf(LABEL "%s%s%s\n", label, has_first ? first : "", has_first && has_second ? ", " : "",
           has_second  ? second
           : has_first ? ""
                       : "none");
}

static void print_coding(const l2k_info *info, const l2k_decoder *decoder)
{
    printf(LABEL "%s (%s), %u level%s\n", "wavelet", l2k_wavelet_name(info->wavelet),
           l2k_wavelet_reversible(info->wavelet) ? "reversible" : "irreversible", info->levels, plural(info->levels));
    print_kernel(decoder);
    print_splits(decoder);
    printf(LABEL "%s\n", "component transform", cli_component_transform_name(info));
    printf(LABEL "%u x %u", "code-blocks", info->block_width, info->block_height);
    print_style(info->style);
    putchar('\n');
    print_precincts(info);
    printf(LABEL "%s\n", "progression", cli_name_of(CLI_PROGRESSION, info->progression));
    printf(LABEL "%u\n", "layers", info->num_layers);
    printf(LABEL "%u\n", "guard bits", info->guard_bits);
    print_pair("packet markers", info->sop, "SOP", info->eph, "EPH");
    print_pair("length markers", info->tlm, "TLM", info->plt, "PLT");
}

/* Prints CAP, PRF and CPF, if present. */
static void print_capabilities(const l2k_info *info)
{
    if (info->ht)
        printf(LABEL "code-blocks %s, %s set%s, %s, %s, %s, %u magnitude bits\n", "high throughput",
               cli_name_of(CLI_HT_BLOCKS, info->ht_blocks), info->ht_multiple_sets ? "several" : "one",
               info->ht_multiple_sets ? "s" : "", info->ht_regions ? "regions of interest" : "no regions of interest",
               info->ht_mixed_tiles ? "heterogeneous" : "homogeneous",
               info->ht_irreversible ? "irreversible" : "reversible", info->ht_magnitude_bits);
    if (info->capabilities)
        printf(LABEL "%08x\n", "capabilities", info->capabilities);
    if (info->profile_number)
        printf(LABEL "%llu\n", "profile number", (unsigned long long)info->profile_number);
    if (info->corresponding_profile >= 0)
        printf(LABEL "%lld\n", "Part 1 counterpart", (long long)info->corresponding_profile);
}

/* Latin-1 to UTF-8 on one line. */
static void print_comment(const char *comment)
{
    if (!comment)
        return;
    printf(LABEL, "comment");
    for (const unsigned char *at = (const unsigned char *)comment; *at; at++) {
        if (*at >= 0xa0) {
            putchar(0xc0 | *at >> 6);
            putchar(0x80 | (*at & 0x3f));
        } else {
            putchar(*at < 0x20 || *at >= 0x7f ? ' ' : *at);
        }
    }
    putchar('\n');
}

static void print_boxes(l2k_decoder *decoder)
{
    l2k_box box;
    l2k_box_data data;
    for (size_t i = 0; l2k_decoder_box(decoder, i, &box) == L2K_OK; i++) {
        char type[5];
        for (int k = 0; k < 5; k++)
            type[k] = box.type[k] && (box.type[k] < 0x20 || box.type[k] > 0x7e) ? '?' : box.type[k];
        printf(LABEL "%*s%s, %llu bytes at %llu", i ? "" : "boxes", (int)(2 * (box.depth & 31)), "", type,
               (unsigned long long)box.bytes, (unsigned long long)box.offset);
        if (l2k_decoder_box_data(decoder, i, &data) == L2K_OK)
            print_content(&data);
        putchar('\n');
    }
}

static void print_text(const char *name, const l2k_info *info, l2k_decoder *decoder)
{
    char printable[4096];
    snprintf(printable, sizeof printable, "%s", name);
    cli_make_printable(printable);
    printf(LABEL "%s\n", "file", printable);
    print_image(info, decoder);
    print_coding(info, decoder);
    print_capabilities(info);
    print_comment(info->comment);
    print_boxes(decoder);
}

static bool print_info(const char *path, bool json, const char *before)
{
    cli_input input;
    cli_coded_file coded;
    l2k_info info;
    if (!cli_input_open(&input, path) || !cli_coded_open(&coded, &input, false))
        return false;
    l2k_status status = l2k_decoder_info(coded.decoder, &info);
    if (status == L2K_OK)
        fputs(before, stdout);
    if (status == L2K_OK)
        (json ? cli_info_json : print_text)(coded.messages.subject, &info, coded.decoder);
    else
        cli_messages_fail(&coded.messages, status);
    cli_coded_close(&coded);
    return status == L2K_OK;
}

static void print_device(uint32_t number, const l2k_device_info *device)
{
    printf("  %-3u %s: %s, ", number, device->usable ? "usable" : "not usable", device->name);
    if (device->backend == L2K_BACKEND_CUDA)
        printf("compute capability %u.%u", device->compute_major, device->compute_minor);
    else
        printf("OpenCL, %s, driver %s", device->vendor, device->driver);
    printf(", %llu MiB%s%s\n", (unsigned long long)(device->memory_bytes >> 20), device->usable ? "" : ": ",
           device->reason);
}

static void print_devices(void)
{
    for (const cli_name *backend = cli_backends + 1; backend->name; backend++) {
        char text[256];
        bool usable = l2k_backend_usable((l2k_backend)backend->value, text, sizeof text);
        printf("%-6s %s: %s\n", backend->name, usable ? "usable" : "not usable", text);
    }
    l2k_device_info device;
    for (uint32_t i = 0; l2k_device(i, &device); i++)
        print_device(i, &device);
}

static bool check_names(const cli_options *options)
{
    if (options->devices ? !options->num_names : options->num_names > 0)
        return true;
    return cli_error("info", "%s; see lift2k info --help",
                     options->devices ? "--devices takes no file name" : "a file name is needed");
}

/* Several files are an array in JSON; one that cannot be read has no element. */
static bool print_all(const cli_options *options)
{
    const bool array = options->json && options->num_names > 1;
    bool done = true, any = false;
    if (array)
        puts("[");
    for (int i = 0; i < options->num_names; i++) {
        const bool printed = print_info(options->names[i], options->json, any ? array ? ",\n" : "\n" : "");
        any |= printed;
        done &= printed;
    }
    if (array)
        puts("]");
    return done;
}

int cli_info(const cli_options *options)
{
    bool done = true;
    if (!check_names(options))
        return CLI_EXIT_USAGE;
    if (options->devices)
        (options->json ? cli_devices_json : print_devices)();
    else
        done = print_all(options);
    const int status = cli_finish_output();
    return done ? status : CLI_EXIT_FAILURE;
}
