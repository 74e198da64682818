/* Sequence headers (VC-2, clause 11; Dirac, clause 10): a base video format, and what differs from it. */
#include "dirac/picture.h"

#include <string.h>

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

enum { RATE, ASPECT, CLEAN, RANGE, COLOUR, NUM_TABLES };

/* Presets, in the order in which a header has them: rows of some numbers, from index 1 on, of colours from 0 on. A
 * signal range is offset and excursion of luma, then of chroma; colours are primaries, matrix, transfer function. */
static const struct {
    uint32_t presets, numbers, rows[48];
} tables[] = {
    [RATE] = {16, 2, {24000, 1001, 24, 1, 25, 1, 30000, 1001, 30, 1, 50,  1, 60000,  1001, 60,  1,
                      15000, 1001, 25, 2, 48, 1, 48000, 1001, 96, 1, 100, 1, 120000, 1001, 120, 1}},
    [ASPECT] = {6, 2, {1, 1, 10, 11, 12, 11, 40, 33, 16, 11, 4, 3}},
    [CLEAN] = {0, 4, {0}},
    [RANGE] = {8, 4, {0, 255,  128, 255,  16, 219,  128,  224,  64,   876,   512,   896,   256, 3504,  2048,  3584,
                      0, 1023, 512, 1023, 0,  4095, 2048, 4095, 4096, 56064, 32768, 57344, 0,   65535, 32768, 65535}},
    [COLOUR] = {8, 3, {0, 0, 0, 1, 1, 0, 2, 1, 0, 0, 0, 0, 3, 3, 3, 4, 4, 0, 4, 4, 4, 4, 4, 5}},
};

static bool take_preset(unsigned table, uint32_t index, uint32_t *out)
{
    const uint32_t n = tables[table].numbers;
    if (index >= tables[table].presets)
        return false;
    memcpy(out, &tables[table].rows[index * n], n * sizeof *out);
    return true;
}

/* A preset, or, with index 0 or where there are none, numbers of the stream, each of the colours after a flag. False if
 * there is no such preset. */
static bool read_preset(l2k_dirac_bits *bits, unsigned table, uint32_t *out)
{
    const uint32_t index = table == CLEAN ? 0 : l2k_dirac_uint(bits);
    if (table == COLOUR ? !take_preset(table, index, out) : index && !take_preset(table, index - 1, out))
        return false;
    for (unsigned i = 0; i < tables[table].numbers && index == 0; i++)
        if (table != COLOUR || l2k_dirac_flag(bits))
            out[i] = l2k_dirac_uint(bits);
    return true;
}

l2k_status l2k_dirac_sequence_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_sequence *s)
{
    uint32_t range[4], chroma, head[5]; /* version, its second number, profile, level, base video format */
    uint32_t *const numbers[] = {s->rate, s->aspect, s->clean, range, s->colour};
    for (unsigned i = 0; i < 5; i++)
        head[i] = l2k_dirac_uint(bits);
    s->version = head[0], s->profile = head[2], s->level = head[3];
    bool known = head[4] < sizeof formats / sizeof *formats;
    const uint16_t *f = formats[known ? head[4] : 0];
    for (unsigned i = 0; i < 4; i++)
        take_preset(i < 2 ? i : i + 1, f[i + 5] - (i < 3), numbers[i < 2 ? i : i + 1]);
    s->width = f[0], s->height = f[1], chroma = f[2], s->interlaced = f[3], s->top_field_first = f[4];
    s->clean[0] = f[9], s->clean[1] = f[1], s->clean[2] = (f[0] - f[9]) / 2u, s->clean[3] = 0;
    if (l2k_dirac_flag(bits))
        s->width = l2k_dirac_uint(bits), s->height = l2k_dirac_uint(bits);
    if (l2k_dirac_flag(bits))
        chroma = l2k_dirac_uint(bits);
    if (l2k_dirac_flag(bits))
        s->interlaced = l2k_dirac_uint(bits) == 1;
    for (unsigned table = 0; table < NUM_TABLES; table++)
        known = known && (!l2k_dirac_flag(bits) || read_preset(bits, table, numbers[table]));
    const uint32_t fields = l2k_dirac_uint(bits);
    s->chroma_x = chroma > 0, s->chroma_y = chroma > 1, s->fields = fields == 1;
    for (unsigned i = 0; i < 2; i++) {
        s->offset[i] = range[2 * i], s->excursion[i] = range[2 * i + 1];
        s->depth[i] = l2k_bit_length(s->excursion[i]);
        known = known && s->depth[i] >= 1 && s->depth[i] <= 16;
    }
    s->wide = s->depth[0] > 8 || s->depth[1] > 8;
    if (known && chroma <= 2 && fields <= 1 && s->width && s->height &&
        s->height % (fields ? 2u << s->chroma_y : 1) == 0)
        return L2K_OK;
    return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "a sequence header with numbers that no standard knows");
}

/* A base video format for the order of fields, which nothing else tells, and all other parameters. */
void l2k_dirac_sequence_write(l2k_dirac_writer *writer, const l2k_dirac_sequence *s)
{
    const uint32_t range[] = {s->offset[0], s->excursion[0], s->offset[1], s->excursion[1]};
    const uint32_t *const numbers[] = {s->rate, s->aspect, s->clean, range, s->colour};
    const uint32_t head[] = {s->version, 0, s->profile, 0, s->top_field_first ? 2 : 0};
    const uint32_t size[] = {s->width, s->height, s->chroma_x + s->chroma_y, s->interlaced};
    for (unsigned i = 0; i < 5; i++)
        l2k_dirac_put_uint(writer, head[i]);
    for (unsigned i = 0; i < 4; i++) {
        l2k_dirac_put_bits(writer, 1, i != 1);
        l2k_dirac_put_uint(writer, size[i]);
    }
    for (unsigned table = 0; table < NUM_TABLES; table++) {
        const uint32_t n = tables[table].numbers, *rows = tables[table].rows;
        uint32_t index = table == CLEAN ? 0 : 4; /* the presets of all versions, and of FFmpeg */
        while (index && memcmp(&rows[(index - (table != COLOUR)) * n], numbers[table], n * sizeof *rows) != 0)
            index--;
        l2k_dirac_put_bits(writer, 1, 1);
        if (table != CLEAN)
            l2k_dirac_put_uint(writer, index);
        for (unsigned i = 0; i < n && index == 0; i++) {
            l2k_dirac_put_bits(writer, 1, table == COLOUR);
            l2k_dirac_put_uint(writer, numbers[table][i]);
        }
    }
    l2k_dirac_put_uint(writer, s->fields);
    l2k_dirac_put_ones(writer, 0);
}
