/* The description of a dump, subbands.json. Keys may be added; existing ones keep their names and meaning (the help
 * lists them). */
#include <errno.h>

#include "cli/dump/dump.h"
#include "pictures/user/report.h"

static void put_area(cli_json *json, const char *key, cli_area area)
{
    cli_json_open(json, key, '{');
    cli_json_number(json, "x0", area.x0);
    cli_json_number(json, "y0", area.y0);
    cli_json_number(json, "x1", area.x1);
    cli_json_number(json, "y1", area.y1);
    cli_json_close(json, '}');
}

void cli_dump_put_components(cli_json *json, const l2k_component *components, uint32_t count)
{
    cli_json_open(json, "components", '[');
    for (uint32_t c = 0; c < count; c++) {
        cli_json_open(json, NULL, '{');
        cli_json_number(json, "precision", components[c].precision);
        cli_json_bool(json, "signed", components[c].is_signed);
        cli_json_number(json, "dx", components[c].dx);
        cli_json_number(json, "dy", components[c].dy);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void put_input(cli_json *json, const cli_dump *dump)
{
    const l2k_image *image = &dump->input.info.image;
    cli_json_text(json, "file", dump->input.file.name);
    cli_json_text(json, "source", dump->input.file.is_jpeg2000 ? "codestream" : "picture");
    cli_json_text(json, "format", dump->format == CLI_DUMP_RAW ? "raw" : "pgx");
    put_area(json, "image", (cli_area){image->x0, image->y0, image->x1, image->y1});
    cli_json_number(json, "tiles_across", dump->input.info.tiles_across);
    cli_json_number(json, "tiles_down", dump->input.info.tiles_down);
    cli_dump_put_components(json, image->components, image->num_components);
}

bool cli_dump_begin_description(cli_dump *dump)
{
    if (!cli_output_open(&dump->description, dump->description_path))
        return false;
    dump->json.file = cli_output_stream(&dump->description);
    if (!dump->json.file)
        return cli_output_fail(&dump->description);
    cli_json_open(&dump->json, NULL, '{');
    put_input(&dump->json, dump);
    cli_json_open(&dump->json, "subbands", '[');
    return true;
}

static void put_coding(cli_json *json, const l2k_tile_coefficients *k, uint32_t band)
{
    const l2k_subband_info *info = &k->bands[band];
    bool reversible = l2k_wavelet_reversible(k->wavelet);
    cli_json_text(json, "wavelet", l2k_wavelet_name(k->wavelet));
    cli_json_text(json, "component_transform", !k->component_transform ? "none" : reversible ? "RCT" : "ICT");
    cli_json_text(json, "value", reversible ? "coefficient" : "quantiser index");
    cli_json_number(json, "step_exponent", info->step.exponent);
    cli_json_number(json, "step_mantissa", info->step.mantissa);
    cli_json_real(json, "step_size", info->step_size);
    cli_json_number(json, "magnitude_bits", info->magnitude_bits);
}

void cli_dump_describe_band(cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, const char *name)
{
    cli_json *json = &dump->json;
    const l2k_subband_info *info = &k->bands[band];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "file", name);
    cli_json_number(json, "tile", k->tile);
    cli_json_number(json, "component", k->component);
    cli_json_number(json, "band", band);
    cli_json_number(json, "resolution", info->resolution);
    cli_json_text(json, "orientation", cli_orientation_names[info->orientation]);
    cli_json_number(json, "level", info->level);
    cli_json_number(json, "width", info->x1 - info->x0);
    cli_json_number(json, "height", info->y1 - info->y0);
    put_area(json, "rect", (cli_area){info->x0, info->y0, info->x1, info->y1});
    put_area(json, "tile_component", (cli_area){k->x0, k->y0, k->x1, k->y1});
    put_coding(json, k, band);
    cli_json_number(json, "bits", dump->format == CLI_DUMP_RAW ? 32 : cli_dump_bits(k, band));
    cli_json_close(json, '}');
}

bool cli_dump_end_description(cli_dump *dump)
{
    cli_json_close(&dump->json, ']');
    cli_json_bool(&dump->json, "complete", !dump->input.incomplete);
    cli_json_close(&dump->json, '}');
    if (fflush(dump->description.stream) == 0 && !ferror(dump->description.stream))
        return true;
    dump->description.error = errno ? errno : EIO;
    return cli_output_fail(&dump->description);
}
