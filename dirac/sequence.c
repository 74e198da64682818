/* Sequence headers: a base video format, and what differs from it. */
#include "dirac/picture.h"

#include "base/scalar.h"

/* Width, height, chroma (0 to 2: 4:4:4, 4:2:2, 4:2:0), interlaced, top field first, then presets: frame rate, aspect
 * ratio, signal range, colours; the width of the clean area, which is in the middle. */
static const uint16_t formats[][10] = {
    {640, 480, 2, 0, 0, 1, 1, 1, 0, 640},    {176, 120, 2, 0, 0, 9, 2, 1, 1, 176},
    {176, 144, 2, 0, 1, 10, 3, 1, 2, 176},   {352, 240, 2, 0, 0, 9, 2, 1, 1, 352},
    {352, 288, 2, 0, 1, 10, 3, 1, 2, 352},   {704, 480, 2, 0, 0, 9, 2, 1, 1, 704},
    {704, 576, 2, 0, 1, 10, 3, 1, 2, 704},   {720, 480, 1, 1, 0, 4, 2, 3, 1, 704},
    {720, 576, 1, 1, 1, 3, 3, 3, 2, 704},    {1280, 720, 1, 0, 1, 7, 1, 3, 3, 1280},
    {1280, 720, 1, 0, 1, 6, 1, 3, 3, 1280},  {1920, 1080, 1, 1, 1, 4, 1, 3, 3, 1920},
    {1920, 1080, 1, 1, 1, 3, 1, 3, 3, 1920}, {1920, 1080, 1, 0, 1, 7, 1, 3, 3, 1920},
    {1920, 1080, 1, 0, 1, 6, 1, 3, 3, 1920}, {2048, 1080, 0, 0, 1, 2, 1, 4, 4, 2048},
    {4096, 2160, 0, 0, 1, 2, 1, 4, 4, 4096}, {3840, 2160, 1, 0, 1, 7, 1, 3, 5, 3840},
    {3840, 2160, 1, 0, 1, 6, 1, 3, 5, 3840}, {7680, 4320, 1, 0, 1, 7, 1, 3, 5, 7680},
    {7680, 4320, 1, 0, 1, 6, 1, 3, 5, 7680}, {1920, 1080, 1, 0, 1, 1, 1, 3, 3, 1920},
    {720, 486, 1, 1, 0, 4, 2, 3, 3, 720},
};

/* Presets, from index 1 on. */
static const uint32_t rates[][2] = {{24000, 1001}, {24, 1},  {25, 1},        {30000, 1001}, {30, 1}, {50, 1},
                                    {60000, 1001}, {60, 1},  {15000, 1001},  {25, 2},       {48, 1}, {48000, 1001},
                                    {96, 1},       {100, 1}, {120000, 1001}, {120, 1}};
static const uint32_t aspects[][2] = {{1, 1}, {10, 11}, {12, 11}, {40, 33}, {16, 11}, {4, 3}};
/* Offset and excursion of luma, then of chroma. */
static const uint32_t ranges[][4] = {{0, 255, 128, 255},          {16, 219, 128, 224},     {64, 876, 512, 896},
                                     {256, 3504, 2048, 3584},     {0, 1023, 512, 1023},    {0, 4095, 2048, 4095},
                                     {4096, 56064, 32768, 57344}, {0, 65535, 32768, 65535}};
/* Primaries, matrix, transfer function, from index 0 on. */
static const uint32_t colours[][3] = {{0, 0, 0}, {1, 1, 0}, {2, 1, 0}, {0, 0, 0},
                                      {3, 3, 3}, {4, 4, 0}, {4, 4, 4}, {4, 4, 5}};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* `values` numbers of a preset, or, with index 0, of the stream. False if there is no such preset. */
static bool take_preset(l2k_dirac_bits *bits, uint32_t index, const uint32_t *table, size_t presets, unsigned values,
                        uint32_t *out)
{
    if (index > presets)
        return false;
    for (unsigned i = 0; i < values; i++)
        out[i] = index ? table[(index - 1) * values + i] : l2k_dirac_uint(bits);
    return true;
}

static bool set_format(l2k_dirac_sequence *sequence, uint32_t index, uint32_t range[4])
{
    if (index >= COUNT(formats))
        return false;
    const uint16_t *f = formats[index];
    sequence->width = f[0], sequence->height = f[1];
    sequence->chroma_x = f[2] > 0, sequence->chroma_y = f[2] > 1;
    sequence->interlaced = f[3], sequence->top_field_first = f[4];
    take_preset(NULL, f[5], *rates, COUNT(rates), 2, sequence->rate);
    take_preset(NULL, f[6], *aspects, COUNT(aspects), 2, sequence->aspect);
    take_preset(NULL, f[7], *ranges, COUNT(ranges), 4, range);
    for (unsigned i = 0; i < 3; i++)
        sequence->colour[i] = colours[f[8]][i];
    const uint32_t clean[4] = {f[9], f[1], (f[0] - f[9]) / 2u, 0};
    for (unsigned i = 0; i < 4; i++)
        sequence->clean[i] = clean[i];
    return true;
}

static bool read_colour(l2k_dirac_bits *bits, l2k_dirac_sequence *sequence)
{
    const uint32_t index = l2k_dirac_uint(bits);
    if (index >= COUNT(colours))
        return false;
    for (unsigned i = 0; i < 3; i++)
        sequence->colour[i] = !index && l2k_dirac_flag(bits) ? l2k_dirac_uint(bits) : colours[index][i];
    return true;
}

/* Returns what is wrong, or NULL. */
static const char *read_source(l2k_dirac_bits *bits, l2k_dirac_sequence *sequence, uint32_t range[4])
{
    if (l2k_dirac_flag(bits)) {
        sequence->width = l2k_dirac_uint(bits);
        sequence->height = l2k_dirac_uint(bits);
    }
    if (l2k_dirac_flag(bits)) {
        const uint32_t chroma = l2k_dirac_uint(bits);
        if (chroma > 2)
            return "chroma format";
        sequence->chroma_x = chroma > 0, sequence->chroma_y = chroma > 1;
    }
    if (l2k_dirac_flag(bits))
        sequence->interlaced = l2k_dirac_uint(bits) == 1;
    if (l2k_dirac_flag(bits) && !take_preset(bits, l2k_dirac_uint(bits), *rates, COUNT(rates), 2, sequence->rate))
        return "frame rate";
    if (l2k_dirac_flag(bits) && !take_preset(bits, l2k_dirac_uint(bits), *aspects, COUNT(aspects), 2, sequence->aspect))
        return "aspect ratio";
    if (l2k_dirac_flag(bits))
        take_preset(bits, 0, NULL, 0, 4, sequence->clean);
    if (l2k_dirac_flag(bits) && !take_preset(bits, l2k_dirac_uint(bits), *ranges, COUNT(ranges), 4, range))
        return "signal range";
    return l2k_dirac_flag(bits) && !read_colour(bits, sequence) ? "colour specification" : NULL;
}

l2k_status l2k_dirac_sequence_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_sequence *sequence)
{
    uint32_t range[4];
    sequence->major_version = l2k_dirac_uint(bits);
    l2k_dirac_uint(bits); /* minor version */
    sequence->profile = l2k_dirac_uint(bits);
    sequence->level = l2k_dirac_uint(bits);
    const char *wrong = set_format(sequence, l2k_dirac_uint(bits), range) ? NULL : "base video format";
    if (!wrong)
        wrong = read_source(bits, sequence, range);
    if (wrong)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "the sequence header has a %s that no standard knows", wrong);
    const uint32_t fields = l2k_dirac_uint(bits);
    sequence->fields = fields == 1;
    for (unsigned i = 0; i < 2; i++) {
        sequence->offset[i] = range[2 * i];
        sequence->excursion[i] = range[2 * i + 1];
        sequence->depth[i] = l2k_bit_length(range[2 * i + 1]);
        if (sequence->depth[i] < 1 || sequence->depth[i] > 16)
            return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "samples of %u bits", sequence->depth[i]);
    }
    sequence->wide = sequence->depth[0] > 8 || sequence->depth[1] > 8;
    if (fields > 1 || sequence->width == 0 || sequence->height == 0 ||
        (fields && sequence->height % (2u << sequence->chroma_y)))
        return l2k_fail(context, L2K_ERROR_CORRUPT, "a sequence of pictures %u x %u, coding mode %u", sequence->width,
                        sequence->height, fields);
    return L2K_OK;
}
