/* The description of a dump, subbands.json. Keys may be added; existing ones keep their names and meaning (the help
 * lists them). */
#include <errno.h>

#include "cli/dump/dump.h"
#include "pictures/user/report.h"

void cli_dump_put_components(cli_json *json, const l2k_component *components, uint32_t count)
{
    cli_json_put(json, "components [");
    for (const l2k_component *k = components; k < components + count; k++)
        cli_json_put(json, "{ precision %u signed %d dx %u dy %u }", k->precision, k->is_signed, k->dx, k->dy);
    cli_json_put(json, "]");
}

bool cli_dump_begin_description(cli_dump *dump)
{
    const cli_coefficients *input = &dump->input;
    const l2k_image *image = &input->info.image;
    if (!cli_output_open(&dump->description, dump->description_path))
        return false;
    dump->json.file = dump->description.stream;
    cli_json_put(&dump->json, "{ file %s source %s format %s", input->file.name,
                 input->file.is_jpeg2000 ? "codestream" : "picture", dump->format == CLI_DUMP_RAW ? "raw" : "pgx");
    cli_json_put(&dump->json, "image { x0 %u y0 %u x1 %u y1 %u } tiles_across %u tiles_down %u", image->x0, image->y0,
                 image->x1, image->y1, input->info.tiles_across, input->info.tiles_down);
    cli_dump_put_components(&dump->json, image->components, image->num_components);
    cli_json_put(&dump->json, "subbands [");
    return true;
}

void cli_dump_describe_band(cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, const char *name)
{
    cli_json *json = &dump->json;
    const l2k_subband_info *info = &k->bands[band];
    const bool reversible = l2k_wavelet_reversible(k->wavelet);
    cli_json_put(json, "{ file %s tile %u component %u band %u resolution %u orientation %s level %u", name, k->tile,
                 k->component, band, info->resolution, cli_orientation_names[info->orientation], info->level);
    cli_json_put(json, "width %u height %u rect { x0 %u y0 %u x1 %u y1 %u }", info->x1 - info->x0, info->y1 - info->y0,
                 info->x0, info->y0, info->x1, info->y1);
    cli_json_put(json, "tile_component { x0 %u y0 %u x1 %u y1 %u }", k->x0, k->y0, k->x1, k->y1);
    cli_json_put(json, "wavelet %s component_transform %s value %s", l2k_wavelet_name(k->wavelet),
                 !k->component_transform ? "none"
                 : reversible            ? "RCT"
                                         : "ICT",
                 reversible ? "coefficient" : "quantiser index");
    cli_json_put(json, "step_exponent %u step_mantissa %u step_size %g magnitude_bits %u bits %u }",
                 info->step.exponent, info->step.mantissa, info->step_size, info->magnitude_bits,
                 dump->format == CLI_DUMP_RAW ? 32 : cli_dump_bits(k, band));
}

bool cli_dump_end_description(cli_dump *dump)
{
    cli_json_put(&dump->json, "] complete %d }", !dump->input.file.coded.incomplete);
    if (fflush(dump->description.stream) == 0 && !ferror(dump->description.stream))
        return true;
    dump->description.error = errno ? errno : EIO;
    return cli_output_fail(&dump->description);
}
