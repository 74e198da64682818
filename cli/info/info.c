/* `lift2k info`: what a JPEG 2000 file contains. Keys may be added; existing ones keep their names and meaning
 * (cli/options/help.c lists them). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/input/input.h"
#include "cli/options/table.h"
#include "cli/run/json.h"
#include "cli/run/messages.h"
#include "pictures/user/report.h"

/* ---- Names --------------------------------------------------------------------------------------------------- */

/* "JP2", "JPH" (a codestream of Part 15 in JP2's boxes), "JPX" (by its brand), or of a bare codestream. */
static const char *format_name(const l2k_info *info, l2k_decoder *decoder)
{
    const uint32_t part_15 = UINT32_C(1) << (32 - 15);
    l2k_box_data data;
    if (info->format != L2K_FORMAT_JP2)
        return "codestream";
    if (l2k_decoder_box_data(decoder, 1, &data) == L2K_OK && strcmp(data.type, "ftyp") == 0 && data.bytes >= 4 &&
        memcmp(data.data, "jpx ", 4) == 0)
        return "JPX";
    return info->capabilities & part_15 ? "JPH" : "JP2";
}

/* STYLE: a bit of l2k_info.style by its number; the others: the library's values. */
typedef enum named { COLOUR, CHANNEL, PROGRESSION, HT_BLOCKS, STYLE } named;

static const char *name_of(named what, unsigned value)
{
    static const char *const names[][8] = {
        [COLOUR] = {"unknown", "gray", "sRGB", "sYCC", "CMYK", "ICC profile", "e-sYCC", "CIELab"},
        [CHANNEL] = {"colour", "opacity", "premultiplied opacity", "unspecified"},
        [PROGRESSION] = {"LRCP", "RLCP", "RPCL", "PCRL", "CPRL"},
        [HT_BLOCKS] = {"all", "unknown", "where declared", "mixed with MQ"},
        [STYLE] = {"bypass", "reset", "termall", "vsc", "pterm", "segsym", "ht", "htmixed"}};
    return value < 8 && names[what][value] ? names[what][value] : "unknown";
}

/* ---- Boxes --------------------------------------------------------------------------------------------------- */

/* More of a document is not shown, in text and in JSON. */
static const size_t most_text[] = {48, (size_t)1 << 20};

enum { UUID_ROOM = 40 };

/* The ID of a UUID box in its usual form; false for other boxes. */
static bool uuid_of(const l2k_box_data *data, char text[UUID_ROOM])
{
    char *at = text;
    if (strcmp(data->type, "uuid") != 0 || data->content == L2K_CONTENT_OTHER)
        return false;
    for (int i = 0; i < 16; i++)
        at += snprintf(at, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", data->uuid[i]);
    return true;
}

/* XMP, XML and labels, to be freed; NULL for other boxes. */
static char *text_of(const l2k_box_data *data, size_t most)
{
    const bool is_text =
        data->content == L2K_CONTENT_XMP || data->content == L2K_CONTENT_XML || data->content == L2K_CONTENT_LABEL;
    const size_t bytes = data->bytes < most ? data->bytes : most;
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
static bool density_of(const l2k_box_data *data, double *x, double *y)
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

/* ---- Items --------------------------------------------------------------------------------------------------- */

/* The longest description of a kernel: 8 steps of 32 taps of up to 17 characters. */
enum { KERNEL_BYTES = 8192 };

/* Latin-1, to be freed; NULL when out of memory. */
static char *utf8_of(const char *latin1)
{
    char *text = malloc(2 * strlen(latin1) + 1), *to = text;
    for (const unsigned char *at = (const unsigned char *)latin1; text && *at; at++) {
        if (*at >= 0x80)
            *to++ = (char)(0xc0 | *at >> 6);
        *to++ = (char)(*at < 0x80 ? *at : 0x80 | (*at & 0x3f));
    }
    if (text)
        *to = 0;
    return text;
}

static void put_image(cli_json *json, const l2k_info *info)
{
    const l2k_image *image = &info->image;
    cli_json_put(json, "image { x0 %u y0 %u width %u height %u } components [", image->x0, image->y0,
                 image->x1 - image->x0, image->y1 - image->y0);
    for (const l2k_component *k = image->components; k < image->components + image->num_components; k++) {
        cli_json_put(json, "{ width %u height %u precision %u signed %d dx %u dy %u", k->width, k->height, k->precision,
                     k->is_signed, k->dx, k->dy);
        if (info->format == L2K_FORMAT_JP2)
            cli_json_put(json, "channel %s association %u", name_of(CHANNEL, k->channel), k->association);
        cli_json_put(json, "}");
    }
    cli_json_put(json, "]");
}

static void put_colour(cli_json *json, const l2k_info *info)
{
    const l2k_image *image = &info->image;
    cli_json_put(json, "colour %s icc_bytes %ju palette_entries %u", name_of(COLOUR, image->colour),
                 (uintmax_t)(image->icc ? image->icc_bytes : 0), info->palette_entries);
    if (image->density_x > 0 && image->density_y > 0)
        cli_json_put(json, "density { x %g y %g }", image->density_x, image->density_y);
    else
        cli_json_put(json, "density null");
}

static void put_precincts(cli_json *json, const l2k_info *info)
{
    if (info->default_precincts) {
        cli_json_put(json, "precincts null");
        return;
    }
    cli_json_put(json, "precincts [");
    for (uint32_t r = 0; r <= info->levels && r <= L2K_MAX_LEVELS; r++)
        cli_json_put(json, "{ width %u height %u }", info->precincts[r].width, info->precincts[r].height);
    cli_json_put(json, "]");
}

static void put_coding(cli_json *json, const l2k_info *info, const l2k_decoder *decoder)
{
    char text[KERNEL_BYTES];
    size_t length;
    bool has_text = l2k_decoder_kernel(decoder, 0, text, sizeof text, &length) == L2K_OK && length;
    cli_json_put(json, "wavelet %s reversible %d kernel %s levels %u", l2k_wavelet_name(info->wavelet),
                 l2k_wavelet_reversible(info->wavelet), has_text ? text : NULL, info->levels);
    has_text = l2k_decoder_splits(decoder, 0, text, sizeof text, &length) == L2K_OK && length;
    cli_json_put(json, "splits %s component_transform %s", has_text ? text : NULL,
                 !info->component_transform              ? "none"
                 : l2k_wavelet_reversible(info->wavelet) ? "RCT"
                                                         : "ICT");
    cli_json_put(json, "code_blocks { width %u height %u style [", info->block_width, info->block_height);
    for (uint32_t bit = 0; bit < 8; bit++)
        if (info->style >> bit & 1)
            cli_json_put(json, "%s", name_of(STYLE, bit));
    cli_json_put(json, "] }");
    put_precincts(json, info);
    cli_json_put(json, "progression %s layers %u guard_bits %u sop %d eph %d tlm %d plt %d",
                 name_of(PROGRESSION, info->progression), info->num_layers, info->guard_bits, info->sop, info->eph,
                 info->tlm, info->plt);
    char *comment = info->comment ? utf8_of(info->comment) : NULL;
    cli_json_put(json, "comment %s", comment);
    free(comment);
}

static void put_capabilities(cli_json *json, const l2k_info *info)
{
    if (info->ht)
        cli_json_put(json,
                     "ht { code_blocks %s multiple_sets %d regions %d heterogeneous %d irreversible %d "
                     "magnitude_bits %u }",
                     name_of(HT_BLOCKS, info->ht_blocks), info->ht_multiple_sets, info->ht_regions,
                     info->ht_mixed_tiles, info->ht_irreversible, info->ht_magnitude_bits);
    else
        cli_json_put(json, "ht null");
    cli_json_put(json, "capabilities %u", info->capabilities);
    if (info->profile_number)
        cli_json_put(json, "profile_number %ju", (uintmax_t)info->profile_number);
    else
        cli_json_put(json, "profile_number null");
    if (info->corresponding_profile >= 0)
        cli_json_put(json, "corresponding_profile %ju", (uintmax_t)info->corresponding_profile);
    else
        cli_json_put(json, "corresponding_profile null");
}

/* Absent items are left out. */
static void put_content(cli_json *json, const l2k_box_data *data)
{
    static const char *const names[] = {NULL, "XMP", "Exif", "IPTC", "GeoJP2", NULL, "XML", "label"};
    char uuid[UUID_ROOM];
    double x, y;
    char *text = text_of(data, most_text[!json->text]);
    if ((unsigned)data->content < sizeof names / sizeof *names && names[data->content])
        cli_json_put(json, "content %s", names[data->content]);
    if (uuid_of(data, uuid))
        cli_json_put(json, "uuid %s", uuid);
    if (text)
        cli_json_put(json, "text %s", text);
    free(text);
    if (density_of(data, &x, &y))
        cli_json_put(json, "density { x %g y %g }", x, y);
}

static void put_boxes(cli_json *json, l2k_decoder *decoder)
{
    l2k_box box;
    l2k_box_data data;
    cli_json_put(json, "boxes [");
    for (size_t i = 0; l2k_decoder_box(decoder, i, &box) == L2K_OK; i++) {
        char *type = utf8_of(box.type);
        cli_json_put(json, "{ type %s depth %u offset %ju bytes %ju", type, box.depth, (uintmax_t)box.offset,
                     (uintmax_t)box.bytes);
        free(type);
        if (l2k_decoder_box_data(decoder, i, &data) == L2K_OK)
            put_content(json, &data);
        cli_json_put(json, "}");
    }
    cli_json_put(json, "]");
}

static void put_all(const char *name, bool as_json, const l2k_info *info, l2k_decoder *decoder)
{
    cli_json json = {.file = stdout, .text = !as_json};
    cli_json_put(&json, "{ file %s format %s codestream_bytes %ju profile %u", name, format_name(info, decoder),
                 (uintmax_t)info->codestream_bytes, info->profile);
    put_image(&json, info);
    put_colour(&json, info);
    cli_json_put(&json, "tiles { x0 %u y0 %u width %u height %u across %u down %u tile_parts %u }", info->tile_x0,
                 info->tile_y0, info->tile_width, info->tile_height, info->tiles_across, info->tiles_down,
                 info->num_tile_parts);
    put_coding(&json, info, decoder);
    put_capabilities(&json, info);
    put_boxes(&json, decoder);
    cli_json_put(&json, "}");
}

static void print_devices(bool as_json)
{
    cli_json json = {.file = stdout, .text = !as_json};
    l2k_device_info device;
    char text[256];
    cli_json_put(&json, "{ backends [");
    for (const cli_name *backend = cli_backends + 1; backend->name; backend++) {
        const bool usable = l2k_backend_usable((l2k_backend)backend->value, text, sizeof text);
        cli_json_put(&json, "{ name %s usable %d text %s }", backend->name, usable, text);
    }
    cli_json_put(&json, "] devices [");
    for (uint32_t i = 0; l2k_device(i, &device); i++) {
        const bool is_cuda = device.backend == L2K_BACKEND_CUDA;
        *text = 0;
        if (is_cuda)
            snprintf(text, sizeof text, "%u.%u", device.compute_major, device.compute_minor);
        cli_json_put(&json, "{ number %u backend %s name %s vendor %s driver %s memory %ju", i,
                     is_cuda ? "cuda" : "opencl", device.name, device.vendor, device.driver,
                     (uintmax_t)device.memory_bytes);
        cli_json_put(&json, "compute_capability %s usable %d text %s }", text, device.usable, device.reason);
    }
    cli_json_put(&json, "] }");
}

/* ---- The command --------------------------------------------------------------------------------------------- */

static bool print_info(const char *path, bool json, const char *before)
{
    cli_input input;
    cli_coded_file coded;
    l2k_info info;
    if (!cli_input_open(&input, path) || !cli_coded_open(&coded, &input, false))
        return false;
    const bool done = cli_messages_check(&coded.messages, l2k_decoder_info(coded.decoder, &info));
    if (done) {
        fputs(before, stdout);
        put_all(coded.messages.subject, json, &info, coded.decoder);
    }
    cli_coded_close(&coded);
    return done;
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
    if (options->devices == (options->num_names > 0)) {
        cli_error("info", "%s; see lift2k info --help",
                  options->devices ? "--devices takes no file name" : "a file name is needed");
        return CLI_EXIT_USAGE;
    }
    if (options->devices)
        print_devices(options->json);
    else
        done = print_all(options);
    const int status = cli_finish_output();
    return done ? status : CLI_EXIT_FAILURE;
}
