/* The metadata boxes of an encoded file: what the picture carries, and the files of --xmp, --exif, --xml and --uuid. */
#include "cli/encode/boxes.h"

#include <stdlib.h>
#include <string.h>

#include "pictures/files/file.h"
#include "pictures/user/report.h"

/* More than anybody has, less than a box can hold. */
#define MOST_BYTES ((size_t)1 << 30)

/* ---- Files --------------------------------------------------------------------------------------------------- */

static uint8_t *read_all(cli_input *input, size_t *bytes)
{
    uint8_t *data = NULL;
    size_t room = 1 << 16;
    *bytes = 0;
    do {
        uint8_t *more = realloc(data, room *= 2);
        if (!more) {
            free(data);
            cli_error(input->name, "out of memory");
            return NULL;
        }
        data = more;
        *bytes += cli_input_read(input, data + *bytes, room - *bytes);
    } while (*bytes == room && room <= MOST_BYTES);
    if (cli_input_failed(input))
        cli_input_ended(input);
    else if (*bytes > MOST_BYTES)
        cli_error(input->name, "more than 1 GiB of metadata");
    else
        return data;
    free(data);
    return NULL;
}

/* What the option promises, the file must begin like. */
static bool check_kind(l2k_content content, const uint8_t *data, size_t bytes, const char *name)
{
    if (content == L2K_CONTENT_EXIF)
        return cli_metadata_is(CLI_EXIF, data, bytes) ||
               cli_error(name, "--exif: no Exif, which begins with II or MM as a TIFF file does");
    if (content == L2K_CONTENT_XMP)
        return cli_metadata_is(CLI_XMP, data, bytes) || cli_error(name, "--xmp: no XML in UTF-8");
    return true;
}

static bool load(const cli_box_option *option, l2k_box_data *box)
{
    cli_input input;
    if (!cli_input_open(&input, option->path))
        return false;
    size_t bytes;
    uint8_t *data = read_all(&input, &bytes);
    bool done = data != NULL;
    if (done && option->content == L2K_CONTENT_EXIF && cli_metadata_has_signature(data, bytes))
        memmove(data, data + 6, bytes -= 6);
    done = done && check_kind(option->content, data, bytes, input.name);
    cli_input_close(&input);
    *box = (l2k_box_data){.content = option->content, .data = data, .bytes = bytes};
    memcpy(box->uuid, option->uuid, sizeof box->uuid);
    return done;
}

bool cli_boxes_load(cli_boxes *given, const cli_options *options)
{
    *given = (cli_boxes){0};
    if (options->num_boxes == 0)
        return true;
    given->boxes = calloc(options->num_boxes, sizeof *given->boxes);
    if (!given->boxes)
        return cli_error("encode", "out of memory");
    given->count = options->num_boxes;
    for (size_t i = 0; i < given->count; i++)
        if (!load(&options->boxes[i], &given->boxes[i]))
            return false;
    return true;
}

void cli_boxes_unload(cli_boxes *given)
{
    for (size_t i = 0; i < given->count; i++)
        free((void *)(uintptr_t)given->boxes[i].data);
    free(given->boxes);
    *given = (cli_boxes){0};
}

/* ---- A picture ----------------------------------------------------------------------------------------------- */

static bool is_given(const cli_boxes *given, l2k_content content)
{
    for (size_t i = 0; i < given->count; i++)
        if (given->boxes[i].content == content)
            return true;
    return false;
}

bool cli_boxes_attach(const cli_boxes *given, bool carry, cli_picture *picture, l2k_box_data **list)
{
    static const l2k_content contents[CLI_NUM_METADATA] = {L2K_CONTENT_XMP, L2K_CONTENT_EXIF, L2K_CONTENT_IPTC,
                                                           L2K_CONTENT_GEOTIFF};
    size_t count = 0;
    free(*list);
    *list = calloc(CLI_NUM_METADATA + given->count, sizeof **list);
    if (!*list)
        return cli_error("encode", "out of memory");
    for (int kind = 0; carry && kind < CLI_NUM_METADATA; kind++) {
        const cli_blob *blob = &picture->metadata.blobs[kind];
        if (blob->data && !is_given(given, contents[kind]))
            (*list)[count++] = (l2k_box_data){.content = contents[kind], .data = blob->data, .bytes = blob->bytes};
    }
    for (size_t i = 0; i < given->count; i++)
        (*list)[count++] = given->boxes[i];
    picture->image.boxes = *list;
    picture->image.num_boxes = count;
    return true;
}
