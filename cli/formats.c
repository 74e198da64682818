#include "cli/formats.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/report.h"

cli_picture_reader *cli_reader_by_content(const cli_input *input)
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    const uint8_t *head = input->head;
    if (input->head_filled >= sizeof png && memcmp(head, png, sizeof png) == 0)
        return cli_png_read;
    if (input->head_filled >= 3 && head[0] == 'P' && head[1] == 'G' && (head[2] == ' ' || head[2] == '\t'))
        return cli_pgx_read;
    if (input->head_filled >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '7')
        return cli_pnm_read;
    return NULL;
}

static bool read_by_content(cli_input *input, cli_picture *picture)
{
    cli_picture_reader *reader = cli_reader_by_content(input);
    return reader ? reader(input, picture) : cli_error(input->name, "not a PNG, PNM, PAM or PGX file");
}

static bool exists(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0;
}

static bool read_file(cli_picture *picture, const char *path, cli_picture_reader *reader)
{
    cli_input input;
    if (!cli_input_open(&input, path))
        return false;
    bool done = reader(&input, picture);
    cli_input_close(&input);
    return done;
}

/* How many of NAME_0.pgx, NAME_1.pgx, ... there are. */
static uint32_t count_planes(const char *path)
{
    uint32_t count = 0;
    while (count < L2K_MAX_COMPONENTS) {
        char *plane = cli_pgx_plane_name(path, count);
        bool found = plane && exists(plane);
        free(plane);
        if (!found)
            break;
        count++;
    }
    return count;
}

/* Moves the only component of `one` into place c of `all`. */
static void move_plane(cli_picture *all, uint32_t c, cli_picture *one)
{
    uint32_t association = all->components[c].association;
    all->components[c] = one->components[0];
    all->components[c].association = association;
    all->planes[c] = one->planes[0];
    all->buffers[c] = one->buffers[0];
    one->buffers[0] = NULL;
}

static bool read_plane(cli_picture *all, uint32_t c, const char *path)
{
    cli_picture one = {0};
    cli_input input;
    char *name = cli_pgx_plane_name(path, c);
    if (!name)
        return cli_error(path, "out of memory");
    bool done = cli_input_open(&input, name);
    if (done) {
        done = cli_pgx_read(&input, &one);
        cli_input_close(&input);
    }
    if (done)
        move_plane(all, c, &one);
    cli_picture_free(&one);
    free(name);
    return done;
}

static bool read_planes(cli_picture *picture, const char *path, uint32_t count)
{
    if (!cli_picture_create(picture, count, path))
        return false;
    for (uint32_t c = 0; c < count; c++)
        if (!read_plane(picture, c, path))
            return false;
    return true;
}

bool cli_picture_read_with(cli_picture *picture, const char *path, cli_picture_reader *reader)
{
    memset(picture, 0, sizeof *picture);
    if (strcmp(path, "-") != 0 && cli_same_text(cli_extension(path), ".pgx") && !exists(path)) {
        uint32_t count = count_planes(path);
        if (count)
            return read_planes(picture, path, count);
    }
    return read_file(picture, path, reader);
}

bool cli_picture_read(cli_picture *picture, const char *path)
{
    return cli_picture_read_with(picture, path, read_by_content);
}

bool cli_format_of_name(const char *path, cli_format *format)
{
    static const struct {
        const char *extension;
        cli_format format;
    } known[] = {{".png", CLI_FORMAT_PNG}, {".pbm", CLI_FORMAT_PBM}, {".pgm", CLI_FORMAT_PGM}, {".ppm", CLI_FORMAT_PPM},
                 {".pnm", CLI_FORMAT_PNM}, {".pam", CLI_FORMAT_PAM}, {".pgx", CLI_FORMAT_PGX}};
    *format = CLI_FORMAT_NETPBM;
    if (cli_is_stream(path))
        return true;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (cli_same_text(cli_extension(path), known[i].extension)) {
            *format = known[i].format;
            return true;
        }
    }
    return cli_error(path, "unknown output format; known are .png .pbm .pgm .ppm .pnm .pam .pgx");
}
