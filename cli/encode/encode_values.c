#include "cli/encode/encode_values.h"

#include "cli/options/options.h"
#include "pictures/user/report.h"

bool cli_encode_set(cli_encode_options *options, l2k_encoder_option option, int64_t value)
{
    options->values[option] = value;
    options->given[option] = true;
    return true;
}

static bool is_power_of_two(uint32_t value)
{
    return value && (value & (value - 1)) == 0;
}

/* From the coarsest layer to the finest: ratios fall, PSNRs rise, and 0 dB, which stands for everything, comes last. */
bool cli_parse_layers(cli_encode_options *options, l2k_target target, const char *name, const char *text)
{
    if (options->num_layers && options->target != target)
        return cli_bad_value(name, text, "--rate and --psnr exclude each other");
    options->target = target;
    if (!cli_parse_reals(name, text, &options->layers, &options->num_layers))
        return false;
    if (options->num_layers > 65535)
        return cli_error("--rate or --psnr", "%zu layers; 65535 is the most", options->num_layers);
    for (size_t i = 1; i < options->num_layers; i++) {
        double before = options->layers[i - 1], value = options->layers[i];
        if (target == L2K_TARGET_RATIO && value > before)
            return cli_bad_value(name, text, "ratios must fall from layer to layer");
        if (target == L2K_TARGET_PSNR && value != 0 && value < before)
            return cli_bad_value(name, text, "decibels must rise from layer to layer");
        if (target == L2K_TARGET_PSNR && before == 0)
            return cli_bad_value(name, text, "0 stands for everything and can only be the last layer");
    }
    return true;
}

bool cli_parse_tile(cli_encode_options *options, const char *name, const char *text)
{
    uint32_t size[2];
    if (!cli_parse_numbers(name, text, "W,H", size, 2))
        return false;
    if (!size[0] || !size[1])
        return cli_bad_value(name, text, "a tile must be at least 1,1");
    return cli_encode_set(options, L2K_ENCODER_TILE_WIDTH, size[0]) &&
           cli_encode_set(options, L2K_ENCODER_TILE_HEIGHT, size[1]);
}

bool cli_parse_tile_origin(cli_encode_options *options, const char *name, const char *text)
{
    uint32_t at[2];
    if (!cli_parse_numbers(name, text, "X,Y", at, 2))
        return false;
    return cli_encode_set(options, L2K_ENCODER_TILE_X0, at[0]) && cli_encode_set(options, L2K_ENCODER_TILE_Y0, at[1]);
}

bool cli_parse_origin(cli_encode_options *options, const char *name, const char *text)
{
    uint32_t at[2];
    if (!cli_parse_numbers(name, text, "X,Y", at, 2))
        return false;
    options->x0 = at[0];
    options->y0 = at[1];
    return true;
}

bool cli_parse_block(cli_encode_options *options, const char *name, const char *text)
{
    uint32_t size[2];
    if (!cli_parse_numbers(name, text, "W,H", size, 2))
        return false;
    for (int i = 0; i < 2; i++)
        if (!is_power_of_two(size[i]) || size[i] < 4 || size[i] > 1024)
            return cli_bad_value(name, text, "a code-block's sides must be powers of two from 4 to 1024");
    if (size[0] * size[1] > 4096)
        return cli_bad_value(name, text, "a code-block's area must be at most 4096");
    return cli_encode_set(options, L2K_ENCODER_BLOCK_WIDTH, size[0]) &&
           cli_encode_set(options, L2K_ENCODER_BLOCK_HEIGHT, size[1]);
}

bool cli_parse_precincts(cli_encode_options *options, const char *name, const char *text)
{
    uint32_t sides[2 * (L2K_MAX_LEVELS + 1)];
    size_t count = 1;
    for (const char *at = text; *at; at++)
        count += *at == ',';
    if (count % 2 || count > sizeof sides / sizeof sides[0])
        return cli_bad_value(name, text, "not of the form W,H[,W,H..] with at most 33 pairs");
    if (!cli_parse_numbers(name, text, "W,H[,W,H..]", sides, count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_power_of_two(sides[i]) || sides[i] > 32768)
            return cli_bad_value(name, text, "a precinct's sides must be powers of two from 1 to 32768");
    options->num_precincts = count / 2;
    for (size_t i = 0; i < count / 2; i++)
        options->precincts[i] = (l2k_size){sides[2 * i], sides[2 * i + 1]};
    return true;
}
