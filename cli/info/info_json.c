/* `lift2k info --json`. Keys may be added; existing ones keep their names and meaning (cli/options/help.c
 * lists them). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/info/info.h"
#include "cli/run/json.h"

static void put_area(cli_json *json, const l2k_image *image)
{
    cli_json_open(json, "image", '{');
    cli_json_number(json, "x0", image->x0);
    cli_json_number(json, "y0", image->y0);
    cli_json_number(json, "width", image->x1 - image->x0);
    cli_json_number(json, "height", image->y1 - image->y0);
    cli_json_close(json, '}');
}

static void put_component(cli_json *json, const l2k_component *component, bool has_channel)
{
    cli_json_open(json, NULL, '{');
    cli_json_number(json, "width", component->width);
    cli_json_number(json, "height", component->height);
    cli_json_number(json, "precision", component->precision);
    cli_json_bool(json, "signed", component->is_signed);
    cli_json_number(json, "dx", component->dx);
    cli_json_number(json, "dy", component->dy);
    if (has_channel) {
        cli_json_text(json, "channel", cli_channel_name(component->channel));
        cli_json_number(json, "association", component->association);
    }
    cli_json_close(json, '}');
}

static void put_components(cli_json *json, const l2k_info *info)
{
    cli_json_open(json, "components", '[');
    for (uint32_t c = 0; c < info->image.num_components; c++)
        put_component(json, &info->image.components[c], info->format == L2K_FORMAT_JP2);
    cli_json_close(json, ']');
}

static void put_density(cli_json *json, double x, double y)
{
    cli_json_open(json, "density", '{');
    cli_json_real(json, "x", x);
    cli_json_real(json, "y", y);
    cli_json_close(json, '}');
}

static void put_colour(cli_json *json, const l2k_info *info)
{
    const l2k_image *image = &info->image;
    cli_json_text(json, "colour", cli_colour_name(image->colour));
    cli_json_number(json, "icc_bytes", image->icc ? image->icc_bytes : 0);
    cli_json_number(json, "palette_entries", info->palette_entries);
    if (image->density_x > 0 && image->density_y > 0)
        put_density(json, image->density_x, image->density_y);
    else
        cli_json_text(json, "density", NULL);
}

static void put_tiles(cli_json *json, const l2k_info *info)
{
    cli_json_open(json, "tiles", '{');
    cli_json_number(json, "x0", info->tile_x0);
    cli_json_number(json, "y0", info->tile_y0);
    cli_json_number(json, "width", info->tile_width);
    cli_json_number(json, "height", info->tile_height);
    cli_json_number(json, "across", info->tiles_across);
    cli_json_number(json, "down", info->tiles_down);
    cli_json_number(json, "tile_parts", info->num_tile_parts);
    cli_json_close(json, '}');
}

static void put_blocks(cli_json *json, const l2k_info *info)
{
    cli_json_open(json, "code_blocks", '{');
    cli_json_number(json, "width", info->block_width);
    cli_json_number(json, "height", info->block_height);
    cli_json_open(json, "style", '[');
    for (uint32_t bit = 0; bit < CLI_NUM_STYLES; bit++)
        if (info->style >> bit & 1)
            cli_json_text(json, NULL, cli_style_name(bit));
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

static void put_precincts(cli_json *json, const l2k_info *info)
{
    if (info->default_precincts) {
        cli_json_text(json, "precincts", NULL);
        return;
    }
    cli_json_open(json, "precincts", '[');
    for (uint32_t r = 0; r <= info->levels && r <= L2K_MAX_LEVELS; r++) {
        cli_json_open(json, NULL, '{');
        cli_json_number(json, "width", info->precincts[r].width);
        cli_json_number(json, "height", info->precincts[r].height);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

/* A text that the decoder has of component 0; null if there is none. */
static void put_text(cli_json *json, const char *key, const l2k_decoder *decoder,
                     l2k_status (*get)(const l2k_decoder *, uint32_t, char *, size_t, size_t *))
{
    char text[CLI_KERNEL_BYTES];
    size_t length;
    if (get(decoder, 0, text, sizeof text, &length) != L2K_OK)
        length = 0;
    cli_json_text(json, key, length ? text : NULL);
}

static void put_coding(cli_json *json, const l2k_info *info, const l2k_decoder *decoder)
{
    cli_json_text(json, "wavelet", l2k_wavelet_name(info->wavelet));
    cli_json_bool(json, "reversible", l2k_wavelet_reversible(info->wavelet));
    put_text(json, "kernel", decoder, l2k_decoder_kernel);
    cli_json_number(json, "levels", info->levels);
    put_text(json, "splits", decoder, l2k_decoder_splits);
    cli_json_text(json, "component_transform", cli_component_transform_name(info));
    put_blocks(json, info);
    put_precincts(json, info);
    cli_json_text(json, "progression", cli_progression_name(info->progression));
    cli_json_number(json, "layers", info->num_layers);
    cli_json_number(json, "guard_bits", info->guard_bits);
    cli_json_bool(json, "sop", info->sop);
    cli_json_bool(json, "eph", info->eph);
    cli_json_bool(json, "tlm", info->tlm);
    cli_json_bool(json, "plt", info->plt);
    if (info->comment)
        cli_json_latin1(json, "comment", info->comment, strlen(info->comment));
    else
        cli_json_text(json, "comment", NULL);
}

static void put_ht(cli_json *json, const l2k_info *info)
{
    if (!info->ht) {
        cli_json_text(json, "ht", NULL);
        return;
    }
    cli_json_open(json, "ht", '{');
    cli_json_text(json, "code_blocks", cli_ht_blocks_name(info->ht_blocks));
    cli_json_bool(json, "multiple_sets", info->ht_multiple_sets);
    cli_json_bool(json, "regions", info->ht_regions);
    cli_json_bool(json, "heterogeneous", info->ht_mixed_tiles);
    cli_json_bool(json, "irreversible", info->ht_irreversible);
    cli_json_number(json, "magnitude_bits", info->ht_magnitude_bits);
    cli_json_close(json, '}');
}

static void put_capabilities(cli_json *json, const l2k_info *info)
{
    put_ht(json, info);
    cli_json_number(json, "capabilities", info->capabilities);
    if (info->profile_number)
        cli_json_number(json, "profile_number", info->profile_number);
    else
        cli_json_text(json, "profile_number", NULL);
    if (info->corresponding_profile >= 0)
        cli_json_number(json, "corresponding_profile", (uint64_t)info->corresponding_profile);
    else
        cli_json_text(json, "corresponding_profile", NULL);
}

/* Absent items are left out. */
static void put_content(cli_json *json, const l2k_box_data *data)
{
    char uuid[CLI_UUID_ROOM];
    double x, y;
    char *text = cli_box_text(data);
    if (cli_content_name(data->content))
        cli_json_text(json, "content", cli_content_name(data->content));
    if (cli_box_uuid(data, uuid))
        cli_json_text(json, "uuid", uuid);
    if (text)
        cli_json_text(json, "text", text);
    free(text);
    if (cli_box_density(data, &x, &y))
        put_density(json, x, y);
}

static void put_boxes(cli_json *json, l2k_decoder *decoder)
{
    l2k_box box;
    l2k_box_data data;
    cli_json_open(json, "boxes", '[');
    for (size_t i = 0; l2k_decoder_box(decoder, i, &box) == L2K_OK; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_latin1(json, "type", box.type, 4);
        cli_json_number(json, "depth", box.depth);
        cli_json_number(json, "offset", box.offset);
        cli_json_number(json, "bytes", box.bytes);
        if (l2k_decoder_box_data(decoder, i, &data) == L2K_OK)
            put_content(json, &data);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

void cli_info_json(const char *name, const l2k_info *info, l2k_decoder *decoder)
{
    cli_json json = {.file = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "file", name);
    const char *boxes = cli_boxes_name(info, decoder);
    cli_json_text(&json, "format", boxes ? boxes : "codestream");
    cli_json_number(&json, "codestream_bytes", info->codestream_bytes);
    cli_json_number(&json, "profile", info->profile);
    put_area(&json, &info->image);
    put_components(&json, info);
    put_colour(&json, info);
    put_tiles(&json, info);
    put_coding(&json, info, decoder);
    put_capabilities(&json, info);
    put_boxes(&json, decoder);
    cli_json_close(&json, '}');
}

static void put_devices(cli_json *json)
{
    l2k_device_info device;
    cli_json_open(json, "devices", '[');
    for (uint32_t i = 0; l2k_device(i, &device); i++) {
        char capability[24] = "";
        if (device.backend == L2K_BACKEND_CUDA)
            snprintf(capability, sizeof capability, "%u.%u", device.compute_major, device.compute_minor);
        cli_json_open(json, NULL, '{');
        cli_json_number(json, "number", i);
        cli_json_text(json, "backend", device.backend == L2K_BACKEND_CUDA ? "cuda" : "opencl");
        cli_json_text(json, "name", device.name);
        cli_json_text(json, "vendor", device.vendor);
        cli_json_text(json, "driver", device.driver);
        cli_json_number(json, "memory", device.memory_bytes);
        cli_json_text(json, "compute_capability", capability);
        cli_json_bool(json, "usable", device.usable);
        cli_json_text(json, "text", device.reason);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

void cli_devices_json(void)
{
    cli_json json = {.file = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "backends", '[');
    for (size_t i = 0; i < CLI_NUM_DEVICES; i++) {
        char text[256];
        bool usable = l2k_backend_usable(cli_devices[i].backend, text, sizeof text);
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "name", cli_devices[i].name);
        cli_json_bool(&json, "usable", usable);
        cli_json_text(&json, "text", text);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    put_devices(&json);
    cli_json_close(&json, '}');
}
