/* Parsers of the rows: from the text of an option to the members of cli_options. */
#include "cli/options/table.h"

#include <stdlib.h>
#include <string.h>

#include "pictures/files/file.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

/* ---- Parts of files, and films --------------------------------------------------------------------------------- */

bool cli_take_page(const cli_option *row, const char *text, cli_options *options)
{
    int64_t page = 0;
    return (strcmp(text, "all") == 0 || cli_parse_number(row->name, text, 1, INT32_MAX, &page)) &&
           cli_set(&options->page, page);
}

bool cli_take_precision(const cli_option *row, const char *text, cli_options *options)
{
    uint32_t bits;
    const char *rest = cli_parse_field(text, strchr(text, ',') ? ',' : 0, &bits);
    options->keeps_values = rest && rest[-1] == ',';
    if (!rest || (options->keeps_values && strcmp(rest, "keep") != 0))
        return cli_bad_value(row->name, text, "not of the form BITS or BITS,keep");
    return ((bits >= 1 && bits <= 31) || cli_bad_value(row->name, text, "1 to 31 bits")) &&
           cli_set(&options->precision, bits);
}

bool cli_take_fps(const cli_option *row, const char *text, cli_options *options)
{
    uint32_t *fps = options->write.fps;
    const char *rest = cli_parse_field(text, strchr(text, ':') ? ':' : 0, &fps[0]);
    fps[1] = 1;
    if (rest && rest[-1] == ':')
        rest = cli_parse_field(rest, 0, &fps[1]);
    return (rest && fps[0] && fps[1]) ||
           cli_bad_value(row->name, text, "not of the form N or N:D, such as 24 or 30000:1001");
}

/* ---- The reference grid -------------------------------------------------------------------------------------- */

bool cli_take_pair(const cli_option *row, const char *text, cli_options *options)
{
    uint32_t numbers[2];
    cli_setting *to = cli_target_of(row, options);
    return cli_parse_numbers(row->name, text, row->argument, numbers, 2) && cli_set(&to[0], numbers[0]) &&
           cli_set(&to[1], numbers[1]);
}

bool cli_take_tile(const cli_option *row, const char *text, cli_options *options)
{
    const cli_setting *size = cli_target_of(row, options);
    return cli_take_pair(row, text, options) &&
           ((size[0].value && size[1].value) || cli_bad_value(row->name, text, "a tile must be at least 1,1"));
}

bool cli_take_region(const cli_option *row, const char *text, cli_options *options)
{
    uint32_t *r = options->region;
    if (!cli_parse_numbers(row->name, text, "X0,Y0,X1,Y1", r, 4))
        return false;
    if (r[0] >= r[2] || r[1] >= r[3])
        return cli_bad_value(row->name, text, "the region is empty: X0 must be less than X1 and Y0 less than Y1");
    return options->has_region = true;
}

/* ---- Precincts and layers ------------------------------------------------------------------------------------ */

bool cli_take_precincts(const cli_option *row, const char *text, cli_options *options)
{
    uint32_t sides[2 * (L2K_MAX_LEVELS + 1)];
    const size_t count = cli_count_items(text, ',');
    if (count % 2 || count > sizeof sides / sizeof sides[0])
        return cli_bad_value(row->name, text, "not of the form W,H[,W,H...] with at most 33 pairs");
    if (!cli_parse_numbers(row->name, text, "W,H[,W,H...]", sides, count))
        return false;
    options->num_precincts = count / 2;
    for (size_t i = 0; i < count / 2; i++)
        options->precincts[i] = (l2k_size){sides[2 * i], sides[2 * i + 1]};
    return true;
}

/* "RS,CS,LE,RE,CE,": five numbers and their commas; NULL for anything else. */
static const char *parse_change(const char *at, l2k_poc *change)
{
    uint32_t *fields[] = {&change->resolution_start, &change->component_start, &change->layer_end,
                          &change->resolution_end, &change->component_end};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        at = cli_parse_field(at, ',', fields[i]);
    return at;
}

/* The order's name. Returns what follows it, NULL if no order has the name. */
static const char *parse_progression(const char *at, l2k_poc *change)
{
    int64_t order;
    if (!at || !cli_find_name(cli_progressions, at, 4, &order))
        return NULL;
    change->progression = (l2k_progression)order;
    return at + 4;
}

bool cli_take_poc(const cli_option *row, const char *text, cli_options *options)
{
    free(options->poc);
    options->num_poc = 0;
    options->poc = calloc(cli_count_items(text, '/'), sizeof *options->poc);
    if (!options->poc)
        return cli_bad_value(row->name, text, "out of memory");
    for (const char *at = text;; at++) {
        l2k_poc *change = &options->poc[options->num_poc++];
        const char *first = cli_parse_field(at, ':', &change->tile);
        if (!first)
            change->tile = L2K_ALL_TILES;
        at = parse_progression(parse_change(first ? first : at, change), change);
        if (!at || (*at && *at != '/'))
            return cli_bad_value(row->name, text, "not of the form [T:]RS,CS,LE,RE,CE,ORDER[/...]");
        if (!*at)
            return true;
    }
}

bool cli_take_comment(const cli_option *row, const char *text, cli_options *options)
{
    options->comment = text;
    return strlen(text) <= 65531 || cli_bad_value(row->name, text, "a comment has at most 65531 bytes");
}

/* ",main=N", ",sub=N" and ",fps=F" after the name of a profile; false for anything else. */
static bool parse_profile_fields(const char *at, cli_options *options)
{
    while (*at == ',') {
        char *end = NULL;
        const bool fps = strncmp(at, ",fps=", 5) == 0, main = strncmp(at, ",main=", 6) == 0;
        if (!fps && !main && strncmp(at, ",sub=", 5) != 0)
            return false;
        const char *number = strchr(at, '=') + 1;
        if (*number < '0' || *number > '9')
            return false;
        const double value = strtod(number, &end);
        at = end;
        if (fps)
            options->frames_per_second = value;
        else if (options->profile.value >= (main ? L2K_PROFILE_BROADCAST : L2K_PROFILE_IMF_2K) && value < 16 &&
                 value == (double)(int)value)
            options->profile.value |= (int64_t)value << (main ? 0 : 4);
        else
            return false;
    }
    return *at == 0;
}

bool cli_take_profile(const cli_option *row, const char *text, cli_options *options)
{
    const size_t length = strcspn(text, ",");
    int64_t profile;
    options->frames_per_second = 0;
    return (cli_find_name(row->names, text, length, &profile) && cli_set(&options->profile, profile) &&
            parse_profile_fields(text + length, options)) ||
           cli_bad_value(row->name, text, "not a profile as in the help, with ,fps= and ,main=, and for IMF ,sub=");
}

bool cli_take_layers(const cli_option *row, const char *text, cli_options *options)
{
    const l2k_target target = (l2k_target)row->most;
    if (options->num_layer_targets && options->target != target)
        return cli_bad_value(row->name, text, "--rate and --psnr exclude each other");
    options->target = target;
    return cli_parse_reals(row->name, text, &options->layer_targets, &options->num_layer_targets);
}

/* A small text, which the options own; NULL after a report. */
static char *read_text(const char *path)
{
    enum { MOST = (1 << 16) - 1 };
    cli_input input;
    size_t bytes = 0;
    char *text = cli_input_open(&input, path) ? (char *)cli_input_all(&input, MOST, &bytes) : NULL;
    cli_input_close(&input);
    if (!text || bytes <= MOST)
        return text;
    cli_error(path, "too long for a kernel");
    free(text);
    return NULL;
}

bool cli_take_kernel(const cli_option *row, const char *text, cli_options *options)
{
    const cli_setting wavelet = options->encoder[L2K_ENCODER_WAVELET];
    if (wavelet.given && wavelet.value == L2K_WAVELET_9_7)
        return cli_error("--kernel", "takes the place of the 9/7: not with --irreversible");
    free(options->kernel);
    options->kernel = NULL;
    options->has_kernel = true;
    int64_t named;
    if (cli_find_name(row->names, text, strlen(text), &named))
        return cli_set(&options->encoder[L2K_ENCODER_WAVELET], named);
    options->encoder[L2K_ENCODER_WAVELET].given = false;
    options->kernel = read_text(text);
    return options->kernel != NULL;
}

bool cli_take_split(const cli_option *row, const char *text, cli_options *options)
{
    options->splits = text;
    return (text[strspn(text, "bhv")] == 0 && strlen(text) <= L2K_MAX_LEVELS) ||
           cli_bad_value(row->name, text, "a letter b, h or v for each of up to 32 levels");
}

bool cli_take_step(const cli_option *row, const char *text, cli_options *options)
{
    return cli_parse_real(row->name, text, &options->base_step);
}

/* ---- Boxes --------------------------------------------------------------------------------------------------- */

static bool add_box(const cli_option *row, const cli_box_option *box, cli_options *options)
{
    cli_box_option *boxes = realloc(options->boxes, (options->num_boxes + 1) * sizeof *boxes);
    if (!boxes)
        return cli_error(row->name, "out of memory");
    options->boxes = boxes;
    boxes[options->num_boxes++] = *box;
    return *box->path || cli_bad_value(row->name, box->path, "not the name of a file");
}

/* A file has one XMP packet, one Exif and one GML document, which is XML in associations. */
bool cli_take_box(const cli_option *row, const char *text, cli_options *options)
{
    const cli_box_option box = {.content = (l2k_content)row->most, .gml = row->least, .name = row->name, .path = text};
    for (size_t i = 0; (box.content != L2K_CONTENT_XML || box.gml) && i < options->num_boxes; i++)
        if (options->boxes[i].content == box.content && options->boxes[i].gml == box.gml)
            return cli_bad_value(row->name, text, "given twice");
    return add_box(row, &box, options);
}

/* 16 bytes in hexadecimal digits, with optional hyphens, and the comma after them; NULL for anything else. */
static const char *parse_uuid(const char *at, uint8_t *uuid)
{
    for (int i = 0; i < 32; at++) {
        if (*at == '-')
            continue;
        const int digit = cli_hexadecimal(*at);
        if (digit < 0)
            return NULL;
        uuid[i / 2] = (uint8_t)(uuid[i / 2] << 4 | digit);
        i++;
    }
    return *at == ',' ? at + 1 : NULL;
}

bool cli_take_uuid(const cli_option *row, const char *text, cli_options *options)
{
    cli_box_option box = {.content = L2K_CONTENT_UUID, .name = row->name};
    box.path = parse_uuid(text, box.uuid);
    return box.path ? add_box(row, &box, options)
                    : cli_bad_value(row->name, text, "not of the form ID,FILE with an ID of 32 hexadecimal digits");
}

/* ---- Samples without a header -------------------------------------------------------------------------------- */

#define MOST_BITS 24u /* of the encoder */

/* False if a word is none of the four. */
static bool parse_order(const char *text, bool *big_endian, bool *interleaved)
{
    static const cli_name words[] = {{"le", 0}, {"be", 1}, {"planar", 2}, {"interleaved", 3}, {NULL, 0}};
    for (int64_t word;; text++) {
        const size_t length = strcspn(text, ",");
        if (!cli_find_name(words, text, length, &word))
            return false;
        *(word < 2 ? big_endian : interleaved) = word & 1;
        text += length;
        if (!*text)
            return true;
    }
}

bool cli_take_raw_order(const cli_option *row, const char *text, cli_options *options)
{
    if (!parse_order(text, &options->write.big_endian, &options->write.interleaved))
        return cli_bad_value(row->name, text, "not a list of be or le, planar or interleaved");
    return options->has_raw = true;
}

bool cli_take_raw(const cli_option *row, const char *text, cli_options *options)
{
    cli_raw *raw = &options->raw;
    const char *at = text;
    memset(raw, 0, sizeof *raw);
    at = cli_parse_field(at, ',', &raw->width);
    at = cli_parse_field(at, ',', &raw->height);
    at = cli_parse_field(at, ',', &raw->count);
    at = cli_parse_field(at, ',', &raw->precision);
    if (!at || (*at != 'u' && *at != 's') || (at[1] && at[1] != ',') ||
        (at[1] && !parse_order(at + 2, &raw->big_endian, &raw->interleaved)))
        return cli_bad_value(row->name, text, "not of the form W,H,C,BITS,u|s[,be|le][,planar|interleaved]");
    raw->is_signed = *at == 's';
    if (!raw->width || !raw->height || !raw->count || raw->count > L2K_MAX_COMPONENTS)
        return cli_bad_value(row->name, text, "a picture must be at least 1,1 and have 1 to 16384 components");
    if (!raw->precision || raw->precision > MOST_BITS)
        return cli_bad_value(row->name, text, "samples can have 1 to 24 bits");
    return options->has_raw = true;
}

/* ---- Subbands ------------------------------------------------------------------------------------------------ */

/* "HL2": orientation and level. */
bool cli_take_band(const cli_option *row, const char *text, cli_options *options)
{
    static const cli_name orientations[] = {{"LL", L2K_LL}, {"HL", L2K_HL}, {"LH", L2K_LH}, {"HH", L2K_HH}, {NULL, 0}};
    int64_t orientation;
    if (!cli_find_name(orientations, text, 2, &orientation) || !cli_parse_field(text + 2, 0, &options->band_level) ||
        options->band_level > L2K_MAX_LEVELS || (options->band_level == 0 && orientation != L2K_LL))
        return cli_bad_value(row->name, text, "not a subband: LL, HL, LH or HH and its level, such as HL1");
    options->orientation = (l2k_orientation)orientation;
    return options->has_band = true;
}

bool cli_take_gain(const cli_option *row, const char *text, cli_options *options)
{
    if (!cli_parse_real(row->name, text, &options->gain))
        return false;
    return options->gain <= 1e6 || cli_bad_value(row->name, text, "more than 1e6");
}

/* ---- Limits and many files ----------------------------------------------------------------------------------- */

/* "all", or ordinals. */
bool cli_take_devices(const cli_option *row, const char *text, cli_options *options)
{
    options->all_devices = cli_same_text(text, "all");
    options->device_set = 0;
    for (const char *at = text; at && !options->all_devices; at = at[-1] == ',' ? at : NULL) {
        uint32_t device;
        at = cli_parse_field(at, strchr(at, ',') ? ',' : 0, &device);
        const uint64_t bit = at && device < CLI_MOST_DEVICES ? (uint64_t)1 << device : 0;
        if (!bit || (options->device_set & bit))
            return cli_bad_value(row->name, text, "neither all nor a list of different device numbers from 0 to 62");
        options->device_set |= bit;
    }
    return true;
}

bool cli_take_out_dir(const cli_option *row, const char *text, cli_options *options)
{
    options->out_dir = text;
    return *text || cli_bad_value(row->name, text, "not the name of a directory");
}

/* Accepted with and without its dot. */
bool cli_take_extension(const cli_option *row, const char *text, cli_options *options)
{
    options->extension = *text == '.' ? text + 1 : text;
    return (*options->extension && !strchr(options->extension, '/')) ||
           cli_bad_value(row->name, text, "not the end of a file name, such as jp2 or png");
}
