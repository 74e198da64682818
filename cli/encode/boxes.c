/* The metadata boxes of an encoded file: the picture's own, and the files of --xmp, --exif, --xml, --gml and --uuid. */
#include "cli/encode/encode.h"

#include <stdlib.h>
#include <string.h>

#include "pictures/files/file.h"
#include "pictures/user/report.h"

/* More than any real metadata, less than a box can hold. */
#define MOST_BYTES ((size_t)1 << 30)

/* ---- Files --------------------------------------------------------------------------------------------------- */

/* The file must begin as the option's kind of metadata does. */
static bool check_kind(const cli_box_option *option, const uint8_t *data, size_t bytes, const char *name)
{
    if (option->content == L2K_CONTENT_EXIF)
        return cli_metadata_is(L2K_CONTENT_EXIF, data, bytes) ||
               cli_error(name, "--exif: no Exif, which begins with II or MM as a TIFF file does");
    if (option->content == L2K_CONTENT_XMP || option->gml)
        return cli_metadata_is(L2K_CONTENT_XMP, data, bytes) || cli_error(name, "--%s: no XML in UTF-8", option->name);
    return true;
}

static bool load(const cli_box_option *option, l2k_box_data *box)
{
    cli_input input;
    if (!cli_input_open(&input, option->path))
        return false;
    size_t bytes;
    uint8_t *data = cli_input_all(&input, MOST_BYTES, &bytes);
    bool done = data && (bytes <= MOST_BYTES || cli_error(input.name, "more than 1 GiB of metadata"));
    if (done && option->content == L2K_CONTENT_EXIF && cli_metadata_has_signature(data, bytes))
        memmove(data, data + 6, bytes -= 6);
    while (done && option->gml && bytes > 0 && data[bytes - 1] == 0) /* some writers of boxes append zeros */
        bytes--;
    done = done && check_kind(option, data, bytes, input.name);
    cli_input_close(&input);
    *box = (l2k_box_data){.content = option->content, .data = data, .bytes = bytes};
    memcpy(box->uuid, option->uuid, sizeof box->uuid);
    return done;
}

/* The boxes around the root instance of GMLJP2 (OGC 08-085). */
#define LABEL(text, in)                                                                                                \
    {                                                                                                                  \
        .content = L2K_CONTENT_LABEL, .depth = in, .data = (const uint8_t *)text, .bytes = sizeof text - 1             \
    }
enum { GML_DEPTH = 2, AROUND_GML = 4 };
static const l2k_box_data around_gml[AROUND_GML] = {
    {.type = "asoc"}, LABEL("gml.data", 1), {.type = "asoc", .depth = 1}, LABEL("gml.root-instance", GML_DEPTH)};

bool cli_boxes_load(cli_boxes *given, const cli_options *options)
{
    *given = (cli_boxes){0};
    if (options->num_boxes == 0)
        return true;
    given->boxes = calloc(options->num_boxes + AROUND_GML, sizeof *given->boxes);
    if (!given->boxes)
        return cli_error("encode", "out of memory");
    for (size_t i = 0; i < options->num_boxes; i++) {
        const cli_box_option *option = &options->boxes[i];
        if (option->gml) {
            memcpy(given->boxes + given->count, around_gml, sizeof around_gml);
            given->count += AROUND_GML;
        }
        l2k_box_data *box = &given->boxes[given->count++];
        if (!load(option, box))
            return false;
        box->depth = option->gml ? GML_DEPTH : 0;
    }
    return true;
}

void cli_boxes_unload(cli_boxes *given)
{
    for (size_t i = 0; i < given->count; i++)
        if (given->boxes[i].content != L2K_CONTENT_LABEL)
            free((void *)(uintptr_t)given->boxes[i].data);
    free(given->boxes);
    *given = (cli_boxes){0};
}

/* ---- A picture ----------------------------------------------------------------------------------------------- */

bool cli_boxes_attach(const cli_boxes *given, bool carry, cli_picture *picture, l2k_box_data **list)
{
    size_t count = 0;
    free(*list);
    *list = calloc(CLI_NUM_METADATA + given->count, sizeof **list);
    if (!*list)
        return cli_error("encode", "out of memory");
    for (int kind = 0; carry && kind < CLI_NUM_METADATA; kind++) {
        const cli_blob *blob = &picture->metadata.blobs[kind];
        bool left_out = !blob->data;
        for (size_t i = 0; i < given->count; i++)
            left_out |= given->boxes[i].content == (l2k_content)kind;
        if (!left_out)
            (*list)[count++] = (l2k_box_data){.content = (l2k_content)kind, .data = blob->data, .bytes = blob->bytes};
    }
    for (size_t i = 0; i < given->count; i++)
        (*list)[count++] = given->boxes[i];
    picture->image.boxes = *list;
    picture->image.num_boxes = count;
    return true;
}
