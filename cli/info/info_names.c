#include "cli/info/info_parts.h"

#define NAME_OF(names, value) ((uint32_t)(value) < sizeof(names) / sizeof *(names) ? (names)[value] : "unknown")

const cli_device cli_devices[CLI_NUM_DEVICES] = {{"cpu", L2K_BACKEND_CPU}, {"cuda", L2K_BACKEND_CUDA}};

const char *cli_colour_name(l2k_colour colour)
{
    static const char *const names[] = {"unknown", "gray", "sRGB", "sYCC", "CMYK", "ICC profile", "e-sYCC", "CIELab"};
    return NAME_OF(names, colour);
}

const char *cli_channel_name(l2k_channel channel)
{
    static const char *const names[] = {"colour", "opacity", "premultiplied opacity", "unspecified"};
    return NAME_OF(names, channel);
}

const char *cli_progression_name(l2k_progression progression)
{
    static const char *const names[] = {"LRCP", "RLCP", "RPCL", "PCRL", "CPRL"};
    return NAME_OF(names, progression);
}

const char *cli_component_transform_name(const l2k_info *info)
{
    return !info->component_transform ? "none" : info->wavelet == L2K_WAVELET_5_3 ? "RCT" : "ICT";
}

const char *cli_style_name(uint32_t bit)
{
    static const char *const names[CLI_NUM_STYLES] = {"bypass", "reset", "termall", "vsc", "pterm", "segsym"};
    return names[bit];
}
