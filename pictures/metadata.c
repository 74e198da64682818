/* Metadata of pictures as blobs: XMP, Exif and IPTC. */
#include "pictures/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "pictures/user/report.h"

const char *const cli_metadata_names[CLI_NUM_METADATA] = {NULL, "XMP", "Exif", "IPTC", "georeferencing"};

enum { SIGNATURE_BYTES = 6, BOM_BYTES = 3 };

bool cli_metadata_has_signature(const uint8_t *data, size_t bytes)
{
    return bytes >= SIGNATURE_BYTES && memcmp(data, "Exif\0\0", SIGNATURE_BYTES) == 0;
}

/* XML in UTF-8: after a byte order mark and space comes '<'. */
static bool is_xml(const uint8_t *data, size_t bytes)
{
    size_t at = bytes >= BOM_BYTES && memcmp(data, "\xEF\xBB\xBF", BOM_BYTES) == 0 ? BOM_BYTES : 0;
    while (at < bytes && (data[at] == ' ' || data[at] == '\t' || data[at] == '\r' || data[at] == '\n'))
        at++;
    return at < bytes && data[at] == '<' && !memchr(data, 0, bytes);
}

bool cli_metadata_is(l2k_content kind, const uint8_t *data, size_t bytes)
{
    if (kind == L2K_CONTENT_IPTC)
        return bytes > 0 && data[0] == 0x1C; /* the tag marker of IIM */
    if (kind == L2K_CONTENT_XMP)
        return is_xml(data, bytes);
    return bytes >= 8 && (memcmp(data, "II*\0", 4) == 0 || memcmp(data, "MM\0*", 4) == 0); /* a TIFF file */
}

bool cli_metadata_keep(cli_metadata *metadata, l2k_content kind, const void *data, size_t bytes, bool quiet,
                       const char *name)
{
    const uint8_t *from = data;
    cli_blob *blob = &metadata->blobs[kind];
    const bool is_long = bytes > CLI_MOST_METADATA;
    if (blob->data)
        return true;
    /* What only files of one format have around it. */
    if (!is_long && kind == L2K_CONTENT_EXIF && cli_metadata_has_signature(from, bytes)) {
        from += SIGNATURE_BYTES;
        bytes -= SIGNATURE_BYTES;
    }
    while (!is_long && kind == L2K_CONTENT_XMP && bytes > 0 && from[bytes - 1] == 0)
        bytes--;
    if (is_long || !cli_metadata_is(kind, from, bytes)) {
        if (!quiet)
            cli_warning(name, "the %s in it is %s and left out", cli_metadata_names[kind],
                        is_long ? "larger than 16 MiB" : "damaged");
        return true;
    }
    blob->data = malloc(bytes);
    if (!blob->data)
        return cli_error(name, "out of memory");
    memcpy(blob->data, from, bytes);
    blob->bytes = bytes;
    return true;
}

/* "8BIM", a number, a name of even length with its length, and the length of the data that follow, padded to even. */
bool cli_metadata_find_iptc(const uint8_t **at, const uint8_t **end)
{
    enum { IPTC = 0x0404 };
    while (*end - *at >= 12 && memcmp(*at, "8BIM", 4) == 0) {
        const unsigned number = (*at)[4] << 8 | (*at)[5];
        const size_t header = 10 + (((*at)[6] + 2u) & ~1u);
        if ((size_t)(*end - *at) < header)
            return false;
        const uint8_t *data = *at + header;
        const size_t bytes = (size_t)data[-4] << 24 | (size_t)data[-3] << 16 | (size_t)data[-2] << 8 | data[-1];
        if (bytes > (size_t)(*end - data))
            return false;
        *at = data;
        if (number == IPTC) {
            *end = data + bytes;
            return true;
        }
        *at += bytes + (bytes % 2 && bytes < (size_t)(*end - data));
    }
    return false;
}

void cli_metadata_free(cli_metadata *metadata)
{
    for (int kind = 0; kind < CLI_NUM_METADATA; kind++)
        free(metadata->blobs[kind].data);
    memset(metadata, 0, sizeof *metadata);
}
