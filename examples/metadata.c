/* metadata OUT.jp2: writes a small picture with an XML document, a box of its own kind and GML, and lists its boxes.
 * metadata IN.jp2 -l: lists the boxes of a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lift2k/lift2k.h>

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user, (void)severity;
    fprintf(stderr, "metadata: %s\n", text);
}

static int write_file(void *user, const void *buffer, size_t bytes)
{
    return fwrite(buffer, 1, bytes, (FILE *)user) == bytes ? 0 : -1;
}

static ptrdiff_t read_file(void *user, void *buffer, size_t bytes)
{
    const size_t got = fread(buffer, 1, bytes, (FILE *)user);
    return ferror((FILE *)user) ? -1 : (ptrdiff_t)got;
}

static l2k_box_data text_box(l2k_content content, const char *text, uint32_t depth)
{
    l2k_box_data box;
    memset(&box, 0, sizeof box);
    box.content = content;
    box.depth = depth;
    box.data = (const uint8_t *)text;
    box.bytes = strlen(text);
    return box;
}

static l2k_box_data association(uint32_t depth)
{
    l2k_box_data box;
    memset(&box, 0, sizeof box);
    memcpy(box.type, "asoc", 5);
    box.depth = depth;
    return box;
}

static l2k_status write_picture(const l2k_hooks *hooks, const l2k_stream *stream)
{
    static uint8_t samples[64 * 64];
    static const char document[] = "<?xml version=\"1.0\"?><taken by=\"hand\"/>";
    static const char place[] = "<gml:FeatureCollection xmlns:gml=\"http://www.opengis.net/gml\"/>";
    static const uint8_t id[16] = {0x6d, 0x79, 0x6b, 0x69, 0x6e, 0x64, 0x6f, 0x66, 0x62, 0x6f, 0x78, 0x20, 0x20, 1};
    l2k_component component;
    l2k_image image;
    l2k_plane plane = {samples, 64, 1, L2K_SAMPLE_U8};
    l2k_box_data boxes[7];
    memset(&component, 0, sizeof component);
    memset(&image, 0, sizeof image);
    memset(boxes, 0, sizeof boxes);
    component.dx = component.dy = 1;
    component.precision = 8;
    component.association = 1;
    image.x1 = image.y1 = 64;
    image.num_components = 1;
    image.components = &component;
    image.colour = L2K_COLOUR_GRAY;

    boxes[0].content = L2K_CONTENT_XML;
    boxes[0].data = (const uint8_t *)document;
    boxes[0].bytes = strlen(document);
    boxes[1].content = L2K_CONTENT_UUID;
    memcpy(boxes[1].uuid, id, sizeof id);
    boxes[2] = association(0);
    boxes[3] = text_box(L2K_CONTENT_LABEL, "gml.data", 1);
    boxes[4] = association(1);
    boxes[5] = text_box(L2K_CONTENT_LABEL, "gml.root-instance", 2);
    boxes[6] = text_box(L2K_CONTENT_XML, place, 2);
    image.boxes = boxes;
    image.num_boxes = 7;

    l2k_encoder *encoder = l2k_encoder_new(hooks);
    l2k_status status = encoder ? l2k_encoder_encode(encoder, &image, &plane, stream) : L2K_ERROR_MEMORY;
    l2k_encoder_free(encoder);
    return status;
}

static l2k_status list(const l2k_hooks *hooks, const l2k_stream *stream)
{
    static const char *const names[] = {"", "XMP", "Exif", "IPTC", "GeoJP2", "of its own kind", "XML", "label"};
    l2k_decoder *decoder = l2k_decoder_new(hooks);
    l2k_status status = decoder ? l2k_decoder_open(decoder, stream) : L2K_ERROR_MEMORY;

    l2k_box_data box;
    for (size_t i = 0; status == L2K_OK && l2k_decoder_box_data(decoder, i, &box) == L2K_OK; i++)
        if (box.content == L2K_CONTENT_XML || box.content == L2K_CONTENT_LABEL)
            printf("%s: %.*s\n", names[box.content], (int)box.bytes, (const char *)box.data);
        else if (box.content != L2K_CONTENT_OTHER)
            printf("%s: %zu bytes\n", names[box.content], box.bytes);

    l2k_decoder_free(decoder);
    return status;
}

static l2k_status with_file(const char *name, const char *mode,
                            l2k_status (*work)(const l2k_hooks *, const l2k_stream *))
{
    const l2k_hooks hooks = {NULL, NULL, print_message, NULL, NULL};
    FILE *file = fopen(name, mode);
    const l2k_stream stream = {read_file, write_file, NULL, file};
    if (!file) {
        perror(name);
        return L2K_ERROR_IO;
    }
    l2k_status status = work(&hooks, &stream);
    return fclose(file) == 0 || status != L2K_OK ? status : L2K_ERROR_IO;
}

int main(int count, char **arguments)
{
    if (count != 2 && (count != 3 || strcmp(arguments[2], "-l") != 0)) {
        fprintf(stderr, "metadata OUT.jp2 | metadata IN.jp2 -l\n");
        return 2;
    }
    if (count == 2 && with_file(arguments[1], "wb", write_picture) != L2K_OK)
        return 1;
    return with_file(arguments[1], "rb", list) == L2K_OK ? 0 : 1;
}
