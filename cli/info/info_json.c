/* `lift2k info --json`. Keys may be added; existing ones keep their names and meaning (cli/options/help.c
 * lists them). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/info/info.h"
#include "cli/options/table.h"
#include "cli/run/json.h"

static void put_image(cli_json *json, const l2k_info *info)
{
    const l2k_image *image = &info->image;
    cli_json_put(json, "image { x0 %u y0 %u width %u height %u } components [", image->x0, image->y0,
                 image->x1 - image->x0, image->y1 - image->y0);
    for (const l2k_component *k = image->components; k < image->components + image->num_components; k++) {
        cli_json_put(json, "{ width %u height %u precision %u signed %d dx %u dy %u", k->width, k->height, k->precision,
                     k->is_signed, k->dx, k->dy);
        if (info->format == L2K_FORMAT_JP2)
            cli_json_put(json, "channel %s association %u", cli_name_of(CLI_CHANNEL, k->channel), k->association);
        cli_json_put(json, "}");
    }
    cli_json_put(json, "]");
}

static void put_density(cli_json *json, double x, double y)
{
    cli_json_put(json, "density { x %g y %g }", x, y);
}

static void put_colour(cli_json *json, const l2k_info *info)
{
    const l2k_image *image = &info->image;
    cli_json_put(json, "colour %s icc_bytes %ju palette_entries %u", cli_name_of(CLI_COLOUR, image->colour),
                 (uintmax_t)(image->icc ? image->icc_bytes : 0), info->palette_entries);
    if (image->density_x > 0 && image->density_y > 0)
        put_density(json, image->density_x, image->density_y);
    else
        cli_json_put(json, "density null");
}

static void put_blocks(cli_json *json, const l2k_info *info)
{
    cli_json_put(json, "code_blocks { width %u height %u style [", info->block_width, info->block_height);
    for (uint32_t bit = 0; bit < CLI_NUM_STYLES; bit++)
        if (info->style >> bit & 1)
            cli_json_put(json, "%s", cli_name_of(CLI_STYLE, bit));
    cli_json_put(json, "] }");
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
    char text[CLI_KERNEL_BYTES];
    size_t length;
    bool has_text = l2k_decoder_kernel(decoder, 0, text, sizeof text, &length) == L2K_OK && length;
    cli_json_put(json, "wavelet %s reversible %d kernel %s levels %u", l2k_wavelet_name(info->wavelet),
                 l2k_wavelet_reversible(info->wavelet), has_text ? text : NULL, info->levels);
    has_text = l2k_decoder_splits(decoder, 0, text, sizeof text, &length) == L2K_OK && length;
    cli_json_put(json, "splits %s component_transform %s", has_text ? text : NULL, cli_component_transform_name(info));
    put_blocks(json, info);
    put_precincts(json, info);
    cli_json_put(json, "progression %s layers %u guard_bits %u sop %d eph %d tlm %d plt %d",
                 cli_name_of(CLI_PROGRESSION, info->progression), info->num_layers, info->guard_bits, info->sop,
                 info->eph, info->tlm, info->plt);
    if (info->comment)
        cli_json_latin1(json, "comment", info->comment, strlen(info->comment));
    else
        cli_json_put(json, "comment null");
}

static void put_capabilities(cli_json *json, const l2k_info *info)
{
    if (info->ht)
        cli_json_put(json,
                     "ht { code_blocks %s multiple_sets %d regions %d heterogeneous %d irreversible %d "
                     "magnitude_bits %u }",
                     cli_name_of(CLI_HT_BLOCKS, info->ht_blocks), info->ht_multiple_sets, info->ht_regions,
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
    char uuid[CLI_UUID_ROOM];
    double x, y;
    char *text = cli_box_text(data);
    if (cli_content_name(data->content))
        cli_json_put(json, "content %s", cli_content_name(data->content));
    if (cli_box_uuid(data, uuid))
        cli_json_put(json, "uuid %s", uuid);
    if (text)
        cli_json_put(json, "text %s", text);
    free(text);
    if (cli_box_density(data, &x, &y))
        put_density(json, x, y);
}

static void put_boxes(cli_json *json, l2k_decoder *decoder)
{
    l2k_box box;
    l2k_box_data data;
    cli_json_put(json, "boxes [");
    for (size_t i = 0; l2k_decoder_box(decoder, i, &box) == L2K_OK; i++) {
        cli_json_put(json, "{");
        cli_json_latin1(json, "type", box.type, 4);
        cli_json_put(json, "depth %u offset %ju bytes %ju", box.depth, (uintmax_t)box.offset, (uintmax_t)box.bytes);
        if (l2k_decoder_box_data(decoder, i, &data) == L2K_OK)
            put_content(json, &data);
        cli_json_put(json, "}");
    }
    cli_json_put(json, "]");
}

void cli_info_json(const char *name, const l2k_info *info, l2k_decoder *decoder)
{
    cli_json json = {.file = stdout};
    const char *boxes = cli_boxes_name(info, decoder);
    cli_json_put(&json, "{ file %s format %s codestream_bytes %ju profile %u", name, boxes ? boxes : "codestream",
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

static void put_device(cli_json *json, uint32_t number, const l2k_device_info *device)
{
    const bool is_cuda = device->backend == L2K_BACKEND_CUDA;
    char capability[24] = "";
    if (is_cuda)
        snprintf(capability, sizeof capability, "%u.%u", device->compute_major, device->compute_minor);
    cli_json_put(json, "{ number %u backend %s name %s vendor %s driver %s memory %ju", number,
                 is_cuda ? "cuda" : "opencl", device->name, device->vendor, device->driver,
                 (uintmax_t)device->memory_bytes);
    cli_json_put(json, "compute_capability %s usable %d text %s }", capability, device->usable, device->reason);
}

void cli_devices_json(void)
{
    cli_json json = {.file = stdout};
    l2k_device_info device;
    cli_json_put(&json, "{ backends [");
    for (const cli_name *backend = cli_backends + 1; backend->name; backend++) {
        char text[256];
        const bool usable = l2k_backend_usable((l2k_backend)backend->value, text, sizeof text);
        cli_json_put(&json, "{ name %s usable %d text %s }", backend->name, usable, text);
    }
    cli_json_put(&json, "] devices [");
    for (uint32_t i = 0; l2k_device(i, &device); i++)
        put_device(&json, i, &device);
    cli_json_put(&json, "] }");
}
