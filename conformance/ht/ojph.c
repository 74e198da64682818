/* Runs OpenJPH's programs: PGM and PPM files, raw planes for what these cannot hold. */
#include "conformance/ht/ojph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/process.h"

enum { ARGUMENT_BYTES = 512, MOST_ARGUMENTS = 40 };

static bool any_signed(const picture *p)
{
    for (uint32_t c = 0; c < p->image.num_components; c++)
        if (p->components[c].is_signed)
            return true;
    return false;
}

static bool subsampled(const picture *p)
{
    for (uint32_t c = 0; c < p->image.num_components; c++)
        if (p->components[c].dx > 1 || p->components[c].dy > 1)
            return true;
    return false;
}

static bool sampled_by_three(const picture *p)
{
    for (uint32_t c = 0; c < p->image.num_components; c++)
        if (p->components[c].dx % 3 == 0 || p->components[c].dy % 3 == 0)
            return true;
    return false;
}

/* Debian's. Found with this test: 0.31 has none of these. */
static const char *trouble_of_old(const ojph_programs *programs, const picture *p, const coding *o)
{
    if (programs->version >= 10)
        return NULL;
    if (has_thin_resolution(p, o, 3))
        return "0.9: a resolution of a tile-component with less than three rows or columns";
    if (any_signed(p) || p->components[0].precision > 16)
        return "0.9: signed samples, or more than 16 bits";
    if (o->block.width == 1024 && o->ht_passes > 1)
        return "0.9: code-blocks of 1024 columns with refinement passes";
    if (o->irreversible && coding_levels(o) == 0)
        return "0.9: 9/7 without levels";
    if (o->num_precincts)
        return "0.9: precincts, some of which have no sample in a subband";
    return NULL;
}

/* ---- ojph_expand --------------------------------------------------------------------------------------------- */

/* Its file formats: .yuv for planes of up to 16 bits without sign, .raw for one component of any kind, .ppm for three.
 */
static const char *extension_for(const picture *p, const bytes *file)
{
    return any_signed(p) || p->components[0].precision > 16 ? "raw" : codestream_has_transform(file) ? "ppm" : "yuv";
}

const char *ojph_cannot_expand(const ojph_programs *programs, const picture *p, const coding *o, const bytes *file)
{
    const uint32_t count = p->image.num_components;
    if (trouble_of_old(programs, p, o))
        return trouble_of_old(programs, p, o);
    if (programs->version < 10 && codestream_ht_bits(file) > 18)
        return "0.9: more than 18 magnitude bits";
    if (o->num_targets > 1)
        return "several layers";
    if (count != 1 && count != 3)
        return "other than 1 or 3 components, which its files cannot hold";
    if (count == 3 && any_signed(p))
        return "signed samples of 3 components, which its files cannot hold";
    if (count == 3 && p->components[0].precision > 16)
        return "more than 16 bits of 3 components, which its files cannot hold";
    if (!o->irreversible && o->ht_passes > 1 && has_thin_resolution(p, o, 2))
        return "5/3, not lossless: a line of one odd coefficient, which is halved, is rounded in another way";
    if (strcmp(extension_for(p, file), "raw") == 0 && (o->irreversible || o->ht_passes > 1))
        return "samples with sign or of more than 16 bits, not lossless: in .raw one beyond the range wraps around";
    return NULL;
}

static int32_t sample_at(const uint8_t *at, size_t size, bool big_endian, bool is_signed)
{
    uint32_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint32_t)at[i] << 8 * (big_endian ? size - 1 - i : i);
    const uint32_t top = 1u << (8 * size - 1);
    return is_signed ? (int32_t)((value ^ top) - top) : (int32_t)value;
}

/* The programs clamp to the bits of the deepest component. */
static int32_t clamp(const l2k_component *k, int32_t value)
{
    const int64_t range = (int64_t)1 << k->precision, low = k->is_signed ? -range / 2 : 0;
    return (int32_t)(value < low ? low : value >= low + range ? low + range - 1 : value);
}

static picture *read_planes(const char *path, const picture *like)
{
    bytes b = bytes_read(path);
    const uint8_t *at = b.data;
    uint32_t deepest = 0;
    size_t total = 0;
    for (uint32_t c = 0; c < like->image.num_components; c++) {
        deepest = like->components[c].precision > deepest ? like->components[c].precision : deepest;
        total += (size_t)like->components[c].width * like->components[c].height;
    }
    const size_t size = (deepest + 7) / 8;
    picture *p = b.size == total * size ? picture_empty(&like->image) : NULL;
    for (uint32_t c = 0; p && c < p->image.num_components; c++) {
        const l2k_component *k = &p->components[c];
        for (size_t i = 0; i < (size_t)k->width * k->height; i++, at += size)
            p->samples[c][i] = clamp(k, sample_at(at, size, false, k->is_signed));
    }
    bytes_free(&b);
    return p;
}

static picture *read_ppm(const char *path, const picture *like)
{
    picture *read = picture_read_pnm(path), *p = read ? picture_empty(&like->image) : NULL;
    const l2k_component *k = &like->components[0];
    bool fits = read && read->components[0].width == k->width && read->components[0].height == k->height;
    for (uint32_t c = 0; fits && c < 3; c++)
        memcpy(p->samples[c], read->samples[c], (size_t)k->width * k->height * sizeof(int32_t));
    picture_free(read);
    if (fits)
        return p;
    picture_free(p);
    return NULL;
}

picture *ojph_expand(const ojph_programs *programs, const bytes *file, const picture *like, const char *stem)
{
    char input[ARGUMENT_BYTES], output[ARGUMENT_BYTES];
    const char *extension = extension_for(like, file);
    snprintf(input, sizeof input, "%s-expand.j2c", stem);
    snprintf(output, sizeof output, "%s-expand.%s", stem, extension);
    char *arguments[] = {(char *)(uintptr_t)programs->expand, "-i", input, "-o", output, NULL};
    picture *p = NULL;
    if (bytes_write(file, input) && run_program(arguments, NULL))
        p = (strcmp(extension, "ppm") == 0 ? read_ppm : read_planes)(output, like);
    unlink(input);
    unlink(output);
    return p;
}

/* ---- ojph_compress ------------------------------------------------------------------------------------------- */

const char *ojph_cannot_compress(const ojph_programs *programs, const picture *p, const coding *o)
{
    const uint32_t count = p->image.num_components;
    if (trouble_of_old(programs, p, o))
        return trouble_of_old(programs, p, o);
    if ((count != 1 && count != 3) || (count == 3 && any_signed(p)))
        return "other than 1 component, or 3 unsigned ones";
    if (p->components[0].precision > 16)
        return "more than 16 bits";
    if (subsampled(p) && (p->image.x0 || p->image.y0))
        return "sub-sampling with an origin: its files have other sizes then";
    if (subsampled(p) && any_signed(p))
        return "sub-sampling and signed samples";
    if (coding_levels(o) == 0)
        return "no levels: the lowest sample has a bit more than its header provides for";
    if (o->irreversible && coding_levels(o) + p->components[0].precision > 28)
        return "9/7: levels and bits for which it has no exponents";
    if (sampled_by_three(p) && (o->progression == L2K_RPCL || o->progression == L2K_PCRL))
        return "RPCL and PCRL with sub-sampling that is no power of two";
    if (o->sop || o->eph || o->plt || o->tlm || o->tile_parts || o->ht_passes > 1)
        return "SOP, EPH, PLT, TLM, tile-parts, refinement passes";
    return NULL;
}

typedef struct arguments {
    char text[MOST_ARGUMENTS][ARGUMENT_BYTES];
    char *pointers[MOST_ARGUMENTS + 1];
    int count;
} arguments;

#define ADD(a, ...) snprintf(next_argument(a), ARGUMENT_BYTES, __VA_ARGS__)

static char *next_argument(arguments *a)
{
    a->pointers[a->count] = a->text[a->count];
    return a->text[a->count++];
}

/* Raw planes bring no description. */
static void add_planes(arguments *a, const picture *p)
{
    const l2k_image *m = &p->image;
    char text[3][ARGUMENT_BYTES] = {"", "", ""};
    for (uint32_t c = 0; c < m->num_components; c++) {
        const l2k_component *k = &p->components[c];
        const char *comma = c ? "," : "";
        snprintf(text[0] + strlen(text[0]), 60, "%s%s", comma, k->is_signed ? "true" : "false");
        snprintf(text[1] + strlen(text[1]), 60, "%s%u", comma, k->precision);
        snprintf(text[2] + strlen(text[2]), 60, "%s{%u,%u}", comma, k->dx, k->dy);
    }
    ADD(a, "-dims");
    ADD(a, "{%u,%u}", m->x1 - m->x0, m->y1 - m->y0);
    ADD(a, "-num_comps");
    ADD(a, "%u", m->num_components);
    ADD(a, "-signed");
    ADD(a, "%s", text[0]);
    ADD(a, "-bit_depth");
    ADD(a, "%s", text[1]);
    ADD(a, "-downsamp");
    ADD(a, "%s", text[2]);
}

/* From the lowest resolution level up. lift2k halves the last size that is given where OpenJPH repeats it. */
static void add_precincts(arguments *a, const coding *o)
{
    ADD(a, "-precincts");
    char *text = next_argument(a);
    for (uint32_t i = coding_levels(o) + 1, n = 0; i-- > 0;) {
        const uint32_t given = i < o->num_precincts ? i : o->num_precincts - 1, halvings = i - given;
        const uint32_t width = halvings < 32 ? o->precincts[given].width >> halvings : 0;
        const uint32_t height = halvings < 32 ? o->precincts[given].height >> halvings : 0;
        n += (uint32_t)snprintf(text + n, ARGUMENT_BYTES - n, "%s{%u,%u}", n ? "," : "", width < 2 ? 2 : width,
                                height < 2 ? 2 : height);
    }
}

static void add_coding(arguments *a, const picture *p, const coding *o)
{
    static const char *const orders[] = {"LRCP", "RLCP", "RPCL", "PCRL", "CPRL"};
    ADD(a, "-num_decomps");
    ADD(a, "%u", coding_levels(o));
    ADD(a, "-reversible");
    ADD(a, "%s", o->irreversible ? "false" : "true");
    ADD(a, "-prog_order");
    ADD(a, "%s", orders[o->progression]);
    ADD(a, "-block_size");
    ADD(a, "{%u,%u}", o->block.width ? o->block.width : 64, o->block.height ? o->block.height : 64);
    ADD(a, "-image_offset");
    ADD(a, "{%u,%u}", p->image.x0, p->image.y0);
    ADD(a, "-tile_size");
    ADD(a, "{%u,%u}", o->tile.width ? o->tile.width : p->image.x1, o->tile.height ? o->tile.height : p->image.y1);
    ADD(a, "-tile_offset");
    ADD(a, "{%u,%u}", o->tile_x0, o->tile_y0);
    if (o->step > 0) {
        ADD(a, "-qstep");
        ADD(a, "%.9g", o->step);
    }
    if (o->num_precincts)
        add_precincts(a, o);
}

void ojph_compress(const ojph_programs *programs, const picture *p, const coding *o, const char *stem, bytes *out)
{
    arguments *a = test_allocate(1, sizeof *a);
    const uint32_t count = p->image.num_components;
    const bool planes = subsampled(p) || any_signed(p) || (count == 3 && o->no_mct);
    const char *extension = any_signed(p) ? "raw" : planes ? "yuv" : count == 1 ? "pgm" : "ppm";
    ADD(a, "%s", programs->compress);
    ADD(a, "-i");
    ADD(a, "%s-compress.%s", stem, extension);
    ADD(a, "-o");
    ADD(a, "%s-compress.j2c", stem);
    if (planes)
        add_planes(a, p);
    add_coding(a, p, o);
    bytes file = picture_file(p, planes ? CONTAINER_RAWL : CONTAINER_PNM);
    *out = (bytes){0};
    if (bytes_write(&file, a->text[2]) && run_program(a->pointers, NULL))
        *out = bytes_read(a->text[4]);
    unlink(a->text[2]);
    unlink(a->text[4]);
    bytes_free(&file);
    free(a);
}

/* ---- Finding them -------------------------------------------------------------------------------------------- */

/* The version in the COM marker segment of a file. */
static unsigned version_of(const bytes *file)
{
    static const char mark[] = "OpenJPH Ver ";
    unsigned major = 0, minor = 0;
    for (size_t at = 0; at + sizeof mark + 8 < file->size; at++)
        if (memcmp(file->data + at, mark, sizeof mark - 1) == 0)
            return sscanf((const char *)file->data + at + sizeof mark - 1, "%u.%u", &major, &minor) == 2
                       ? 100 * major + minor
                       : 0;
    return 0;
}

bool ojph_find(const char *folder, const char *scratch, ojph_programs *programs)
{
    const char *slash = folder ? "/" : "";
    const shape s = {.width = 16, .height = 16, .num_components = 1, .precision = 8};
    const coding o = {0};
    char stem[400];
    bytes file;
    folder = folder ? folder : "";
    snprintf(programs->compress, sizeof programs->compress, "%s%sojph_compress", folder, slash);
    snprintf(programs->expand, sizeof programs->expand, "%s%sojph_expand", folder, slash);
    snprintf(stem, sizeof stem, "%s/version", scratch);
    picture *p = picture_make(&s);
    ojph_compress(programs, p, &o, stem, &file);
    programs->version = version_of(&file);
    bool found = file.size > 0;
    bytes_free(&file);
    picture_free(p);
    return found;
}
