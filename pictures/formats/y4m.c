/* YUV4MPEG2 (.y4m): a line about the film, then frames, each of a line and the planes of gray or YCbCr. A frame is a
 * picture: read one at a time, and written in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/reader.h"
#include "pictures/user/report.h"
#include "pictures/words.h"
#include "pictures/writer.h"

enum { MOST_LINE = sizeof((cli_film *)0)->header };

/* How the second and third component are sub-sampled. */
static const struct {
    const char *name;
    uint8_t count, dx, dy;
} spaces[] = {{"420", 3, 2, 2}, {"422", 3, 2, 1}, {"444", 3, 1, 1},
              {"411", 3, 4, 1}, {"440", 3, 1, 2}, {"mono", 1, 1, 1}};

enum { NUM_SPACES = sizeof spaces / sizeof *spaces };

/* ---- Reading ------------------------------------------------------------------------------------------------- */

typedef struct y4m_job {
    cli_words words;
    uint64_t at;          /* bytes read */
    uint64_t start;       /* of the frame's samples */
    uint64_t frame_bytes; /* of all its samples */
} y4m_job;

/* The line that begins with `word`; *ended where the file ends before it. */
static bool read_line(cli_reader *reader, const char *word, char line[MOST_LINE], bool *ended)
{
    y4m_job *job = reader->state;
    size_t length = 0;
    int c = cli_input_byte(&reader->input);
    *ended = c == EOF && !reader->input.error;
    for (; c != EOF && c != '\n' && length < MOST_LINE - 1; c = cli_input_byte(&reader->input))
        line[length++] = (char)c;
    line[length] = 0;
    job->at += length + 1;
    if (*ended)
        return false;
    if (c == EOF)
        return cli_input_ended(&reader->input);
    return (c == '\n' && strncmp(line, word, strlen(word)) == 0) || cli_error(reader->name, "Y4M: no %s line", word);
}

static bool parse_side(const char *text, uint32_t *side)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    *side = (uint32_t)value;
    return value > 0 && value <= INT32_MAX && *end == 0;
}

/* "420jpeg", "422", "444p12", "mono10". Suffixes such as "jpeg" and "mpeg2" tell the siting of chroma samples, which
 * does not matter here. */
static bool parse_space(cli_reader *reader, const char *text, unsigned *space)
{
    cli_words *words = &((y4m_job *)reader->state)->words;
    words->precision = 8;
    for (*space = 0; *space < NUM_SPACES; ++*space) {
        const size_t length = strlen(spaces[*space].name);
        if (strncmp(text, spaces[*space].name, length) != 0)
            continue;
        const char *rest = text + length;
        rest += spaces[*space].count == 3 && rest[0] == 'p' && rest[1] >= '0' && rest[1] <= '9';
        if (*rest >= '0' && *rest <= '9')
            words->precision = (uint32_t)strtoul(rest, NULL, 10);
        if (words->precision >= 8 && words->precision <= 16 && strcmp(text, "444alpha") != 0)
            return true;
    }
    return cli_error(reader->name, "Y4M: samples of kind %s are not supported", text);
}

static bool describe(cli_reader *reader, uint32_t width, uint32_t height, unsigned space)
{
    y4m_job *job = reader->state;
    cli_picture *picture = &reader->picture;
    const uint32_t count = spaces[space].count;
    if (!width || !height)
        return cli_error(reader->name, "Y4M: no width or no height");
    if (!cli_picture_create(picture, count, reader->name))
        return false;
    cli_picture_uniform(picture, width, height, job->words.precision, false);
    picture->image.colour = count == 1 ? L2K_COLOUR_GRAY : L2K_COLOUR_SYCC;
    for (uint32_t c = 1; c < count; c++) {
        l2k_component *k = &picture->components[c];
        k->dx = spaces[space].dx;
        k->dy = spaces[space].dy;
        k->width = cli_grid_start(width, k->dx, 0);
        k->height = cli_grid_start(height, k->dy, 0);
    }
    for (uint32_t c = 0; c < count; c++)
        job->frame_bytes += (uint64_t)picture->components[c].width * picture->components[c].height *
                            cli_sample_bytes(job->words.precision);
    return cli_picture_allowed(picture, reader->name);
}

static bool read_header(cli_reader *reader)
{
    char line[MOST_LINE];
    const char *kind = "420";
    uint32_t width = 0, height = 0;
    unsigned space;
    bool ended;
    if (!read_line(reader, "YUV4MPEG2 ", line, &ended))
        return false;
    for (char *word = line + 10, *space_after; word; word = space_after) {
        space_after = strchr(word, ' ');
        if (space_after)
            *space_after++ = 0;
        if ((*word == 'W' && !parse_side(word + 1, &width)) || (*word == 'H' && !parse_side(word + 1, &height)))
            return cli_error(reader->name, "Y4M: bad size %s", word);
        kind = *word == 'C' ? word + 1 : kind;
        reader->scan = *word == 'I' ? word[1] : reader->scan;
        uint32_t *ratio = *word == 'F' ? reader->rate : *word == 'A' ? reader->aspect : NULL;
        if (ratio)
            sscanf(word + 1, "%9u:%9u", &ratio[0], &ratio[1]);
    }
    return parse_space(reader, kind, &space) && describe(reader, width, height, space);
}

static bool skip_frame(cli_reader *reader)
{
    y4m_job *job = reader->state;
    uint8_t bytes[1 << 14];
    uint64_t size;
    job->at += job->frame_bytes;
    if (cli_input_size(&reader->input, &size))
        return cli_input_holds(&reader->input, job->at) && cli_input_seek(&reader->input, job->at);
    for (uint64_t left = job->frame_bytes; left;) {
        const size_t part = left < sizeof bytes ? (size_t)left : sizeof bytes;
        if (!cli_input_exact(&reader->input, bytes, part))
            return false;
        left -= part;
    }
    return true;
}

/* Up to the samples of the frame. */
static bool find_frame(cli_reader *reader)
{
    y4m_job *job = reader->state;
    char line[MOST_LINE];
    uint64_t size;
    bool ended;
    for (unsigned page = 1;; page++) {
        if (!read_line(reader, "FRAME", line, &ended))
            return ended &&
                   cli_error(reader->name, page == 1 ? "Y4M: no frame" : "there is no page %u", reader->options.page);
        if (page >= reader->options.page)
            break;
        if (!skip_frame(reader))
            return false;
    }
    reader->picture.at_once = !cli_input_size(&reader->input, &size);
    if (!reader->picture.at_once) {
        job->start = job->at;
        reader->more_pages = size > job->at + job->frame_bytes;
    }
    if (reader->more_pages && !reader->options.page && !reader->options.quiet)
        cli_warning(reader->name, "there is more than one frame; only the first is read (--page all reads all)");
    return cli_input_holds(&reader->input, job->at + job->frame_bytes);
}

static bool open_y4m(cli_reader *reader)
{
    reader->layout = CLI_PLANAR;
    return read_header(reader) && find_frame(reader);
}

bool cli_y4m_next(cli_reader *reader, bool *ended)
{
    char line[MOST_LINE];
    return read_line(reader, "FRAME", line, ended) || *ended;
}

/* From a pipe, offsets count from the frame's samples on. */
static bool read_y4m(cli_reader *reader)
{
    const y4m_job *job = reader->state;
    return cli_read_planes(reader, &job->words, job->start, job->frame_bytes);
}

const cli_reader_kind cli_y4m_reader = {open_y4m, read_y4m, NULL, sizeof(y4m_job)};

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* The header line for the picture's film; false after a report of why it does not fit. */
static bool make_header(const cli_writer *writer, char line[MOST_LINE])
{
    const l2k_image *image = &writer->picture->image;
    const l2k_component *k = writer->picture->components;
    const uint32_t count = image->num_components, bits = k->precision, *fps = writer->options.fps;
    unsigned space = NUM_SPACES;
    if (count == 3 && image->colour == L2K_COLOUR_SRGB)
        return cli_error(writer->name, "RGB colours do not fit y4m, which has YCbCr; ppm, png or tif can hold them");
    for (uint32_t c = 0; c < count; c++)
        if (k[c].precision != bits || bits < 8 || bits > 16 || k[c].is_signed)
            return cli_error(writer->name, "y4m has unsigned samples of one precision from 8 to 16 bits");
    for (unsigned s = 0; s < NUM_SPACES && space == NUM_SPACES; s++)
        if (count == spaces[s].count &&
            (count == 1 || (k[1].width == cli_grid_start(k->width, spaces[s].dx, 0) && k[2].width == k[1].width &&
                            k[1].height == cli_grid_start(k->height, spaces[s].dy, 0) && k[2].height == k[1].height)))
            space = s;
    if (space == NUM_SPACES)
        return cli_error(writer->name, "y4m has gray, or YCbCr sub-sampled as 4:2:0, 4:2:2, 4:4:4, 4:1:1 or 4:4:0");
    char depth[sizeof "p4294967295"] = "";
    if (bits > 8)
        snprintf(depth, sizeof depth, "%s%u", count == 3 ? "p" : "", bits);
    snprintf(line, MOST_LINE, "YUV4MPEG2 W%u H%u F%u:%u Ip A0:0 C%s%s XYSCSS=%s%s\n", k->width, k->height, fps[0],
             fps[1], spaces[space].name, bits == 8 && space == 0 ? "jpeg" : depth, spaces[space].name, depth);
    return true;
}

static bool write_text(cli_writer *writer, const char *text)
{
    return cli_output_write(&writer->output, text, strlen(text)) || cli_output_fail(&writer->output);
}

static bool open_writer(cli_writer *writer)
{
    char line[MOST_LINE];
    cli_film *film = writer->options.film;
    if (!make_header(writer, line))
        return false;
    const bool first = !film || !*film->header;
    if (!first && strcmp(film->header, line) != 0)
        return cli_error(writer->name, "the frames differ in size, precision or sub-sampling");
    if (film)
        memcpy(film->header, line, MOST_LINE);
    if ((first && !write_text(writer, line)) || !write_text(writer, "FRAME\n"))
        return false;
    writer->start = writer->output.bytes;
    return true;
}

const cli_writer_kind cli_y4m_writer = {.open = open_writer, .planes = cli_write_planes};
