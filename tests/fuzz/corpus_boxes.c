/* Seed corpus: JP2 files assembled box by box (Annex I). */
#include "corpus.h"

static void save_built(const char *name, const file_builder *f)
{
    memory_file file = memory_of(NULL, 0);
    memory_write(&file, f->data, f->size);
    corpus_save_stream(name, file);
}

static void put_box(file_builder *f, const char *type, const void *data, size_t bytes)
{
    size_t box = begin(f, type);
    put_bytes(f, data, bytes);
    end(f, box);
}

/* Signature, header box with `count` boxes out of `boxes` (type and content), codestream. */
typedef struct box_bytes {
    const char *type;
    const char *data;
    size_t bytes;
} box_bytes;

#define BOX(type, data)                                                                                                \
    {                                                                                                                  \
        type, data, sizeof(data) - 1                                                                                   \
    }

static void make_file(const char *name, uint32_t components, const box_bytes *boxes, size_t count, bool behind)
{
    static file_builder f;
    picture p;
    picture_make(&p, 8, 7, components);
    for (uint32_t i = 0; i < 8 * 7; i++)
        p.samples[0][i] = (int32_t)(i * i % 6);
    put_signature(&f);
    size_t header = begin(&f, "jp2h");
    put_image_header(&f, &p, 7, 0);
    for (size_t i = 0; i < count && !behind; i++)
        put_box(&f, boxes[i].type, boxes[i].data, boxes[i].bytes);
    end(&f, header);
    for (size_t i = 0; i < count && behind; i++)
        put_box(&f, boxes[i].type, boxes[i].data, boxes[i].bytes);
    put_codestream(&f, &p);
    save_built(name, &f);
    picture_free(&p);
}

#define SRGB    BOX("colr", "\1\0\0\0\0\0\x10")
#define PALETTE BOX("pclr", "\0\5\3\7\7\7\1\2\3\4\5\6\7\x08\x09\xff\xfe\xfd\x80\x70\x60")
#define MAPPING BOX("cmap", "\0\0\1\0\0\0\1\1\0\0\1\2")

#define FILE_OF(name, components, behind, ...)                                                                         \
    make_file(name, components, (const box_bytes[]){__VA_ARGS__},                                                      \
              sizeof((const box_bytes[]){__VA_ARGS__}) / sizeof(box_bytes), behind)

static void make_palettes(void)
{
    FILE_OF("palette", 1, false, SRGB, PALETTE, MAPPING);
    FILE_OF("palette-behind", 1, true, SRGB, PALETTE, MAPPING);
    FILE_OF("palette-order", 1, false, MAPPING, PALETTE, SRGB);
    FILE_OF("palette-unmapped", 1, false, SRGB, PALETTE);
    FILE_OF("palette-mixed", 1, false, SRGB, PALETTE, BOX("cmap", "\0\0\1\0\0\0\0\0\0\0\0\0"));
    FILE_OF("palette-beside", 2, false, SRGB, PALETTE, BOX("cmap", "\0\0\1\2\0\0\1\0\0\1\0\0"));
    FILE_OF("palette-no-column", 1, false, SRGB, PALETTE, BOX("cmap", "\0\0\1\3\0\0\1\0"));
    FILE_OF("palette-no-component", 1, false, SRGB, PALETTE, BOX("cmap", "\0\5\1\1\0\0\1\0"));
    FILE_OF("palette-type", 1, false, SRGB, PALETTE, BOX("cmap", "\0\0\2\1"));
    FILE_OF("palette-twice", 1, false, PALETTE, PALETTE, MAPPING, MAPPING);
    FILE_OF("palette-signed", 1, false, BOX("pclr", "\0\2\2\x87\x8b\x81\x08\0\x7f\xf8\0"),
            BOX("cmap", "\0\0\1\0\0\0\1\1"));
    FILE_OF("palette-wide", 1, false, BOX("pclr", "\0\2\1\3\x1f\x2f"), BOX("cmap", "\0\0\1\0"));
    FILE_OF("palette-deep", 1, false, BOX("pclr", "\0\1\2\x1e\x17\x7f\xff\xff\xff\1\2\3"),
            BOX("cmap", "\0\0\1\0\0\0\1\1"));
    FILE_OF("palette-too-deep", 1, false, BOX("pclr", "\0\1\1\x1f\1\2\3\4"));
    FILE_OF("palette-overflow", 1, false, BOX("pclr", "\0\1\1\x1c\xff\2\3\4"));
    FILE_OF("palette-large", 1, false, BOX("pclr", "\xff\xff\x40\7\7"));
    FILE_OF("palette-short", 1, false, BOX("pclr", "\0\5\3\7\7\7\1\2\3"));
    FILE_OF("palette-stub", 1, false, BOX("pclr", "\0\5"));
    FILE_OF("palette-columns", 1, false, BOX("pclr", "\0\5\3\7"));
    FILE_OF("mapping-odd", 1, false, BOX("cmap", "\0\0\1"));
}

static void make_colours(void)
{
    FILE_OF("colour-icc", 3, false, BOX("colr", "\2\0\0ICC profile of a sort"));
    FILE_OF("colour-icc-any", 3, false, BOX("colr", "\3\0\0ICC profile of a sort"), SRGB);
    FILE_OF("colour-vendor", 3, false, BOX("colr", "\4\0\0????"), SRGB);
    FILE_OF("colour-short", 3, false, BOX("colr", "\1\0"));
    FILE_OF("colour-unknown", 3, false, BOX("colr", "\1\0\0\0\0\0\x63"), SRGB);
    FILE_OF("colour-lab", 3, false, BOX("colr", "\1\0\0\0\0\0\x0e"));
    FILE_OF("colour-lab-ranges", 3, false,
            BOX("colr", "\1\0\0\0\0\0\x0e\0\0\0\x64\0\0\0\0\0\0\0\xaa\0\0\0\x80\0\0\0\xc8\0\0\0\x60\0\x44\x35\x30"));
    FILE_OF("channels", 4, false, SRGB, BOX("cdef", "\0\4\0\0\0\0\0\3\0\1\0\0\0\2\0\2\0\0\0\1\0\3\0\1\0\0"));
    FILE_OF("channels-premultiplied", 2, false, SRGB, BOX("cdef", "\0\2\0\0\0\2\0\0\0\1\xff\xff\xff\xff"));
    FILE_OF("channels-none", 2, false, SRGB, BOX("cdef", "\0\1\0\7\0\0\0\1"));
    FILE_OF("channels-short", 2, false, SRGB, BOX("cdef", "\0\3\0\0\0\0"));
    FILE_OF("channels-twice", 1, false, BOX("cdef", "\0\1\0\0\0\0\0\1"), BOX("cdef", "\0\1\0\0\0\0\0\1"));
    FILE_OF("channels-behind", 1, true, BOX("cdef", "\0\1\0\0\0\0\0\1"));
}

/* One component as every possible channel, defined from the last to the first: the most work for sorting. */
static void make_reversed_channels(void)
{
    enum { COUNT = 16384 };
    static char mapping[4 * COUNT], definitions[2 + 6 * COUNT];
    char *at = definitions;
    *at++ = (char)(COUNT >> 8);
    *at++ = 0;
    for (uint32_t i = 0; i < COUNT; i++, at += 6) {
        at[0] = (char)(i >> 8);
        at[1] = (char)i;
        at[4] = (char)((COUNT - i) >> 8);
        at[5] = (char)(COUNT - i);
    }
    const box_bytes boxes[] = {{"cmap", mapping, sizeof mapping}, {"cdef", definitions, sizeof definitions}};
    make_file("channels-reversed", 1, boxes, 2, false);
}

static void make_others(void)
{
    FILE_OF("depths", 3, false, BOX("bpcc", "\7\7\7"), SRGB);
    FILE_OF("density", 1, false,
            BOX("res ", "\0\0\0\x12resc\0\x48\0\1\0\x48\0\1\2\2"
                        "\0\0\0\x12resd\1\0\0\1\1\0\0\1\0\0"));
    FILE_OF("density-display", 1, false, BOX("res ", "\0\0\0\x12resd\1\0\0\1\1\0\0\1\xff\x80"));
    FILE_OF("density-zero", 1, false, BOX("res ", "\0\0\0\x12resc\0\x48\0\0\0\x48\0\1\2\2"));
    FILE_OF("density-nested", 1, false, BOX("res ", "\0\0\0\x10res \0\0\0\x08res "));
    FILE_OF("density-short", 1, false, BOX("res ", "\0\0\0\x0aresc\0\x48"));
    FILE_OF("density-palette", 1, false, BOX("res ", "\0\0\0\x0cpclr\0\2\1\7"), BOX("cmap", "\0\0\1\0"));
    FILE_OF("density-no-palette", 1, false, BOX("res ", "\0\0\0\x0cpclr\0\0\1\7"), BOX("cmap", "\0\0\1\0"));
    FILE_OF("density-mapping", 1, false,
            BOX("res ", "\0\0\0\x14"
                        "cmap\0\0\0\0\0\0\2\0\0\0\0\0"));
    FILE_OF("header-twice", 1, false, BOX("ihdr", "\0\0\0\7\0\0\0\x08\0\1\7\7\0\0"));
    FILE_OF("header-type", 1, false, BOX("ihdr", "\0\0\0\7\0\0\0\x08\0\1\7\x08\0\0"));
    FILE_OF("header-short", 1, false, BOX("ihdr", "\0\0\0\7"));
    FILE_OF("box-head", 1, false, BOX("res ", "\0\0\0"));
    FILE_OF("box-small", 1, false, BOX("res ", "\0\0\0\5resc"));
    FILE_OF("box-beyond", 1, false, BOX("res ", "\0\0\1\5resc"));
    FILE_OF("box-unnamed", 1, true, BOX("\x80\1\2\3", "what"), BOX("xml ", "<a/>"), BOX("uuid", "0123456789abcdef?"));
}

/* Metadata, sound and damaged, with boxes inside boxes. */
static void make_metadata(void)
{
    static char deep[8 * 40];
    for (unsigned i = 0; i < 40; i++) {
        memcpy(deep + 8 * i, "\0\0\0\0asoc", 8);
        deep[8 * i + 2] = (char)((sizeof deep - 8 * i) >> 8);
        deep[8 * i + 3] = (char)(sizeof deep - 8 * i);
    }
    FILE_OF("metadata", 1, true, BOX("uuid", "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac<x/>"),
            BOX("uuid", "JpgTiffExif->JP2Exif\0\0II*\0\x08\0\0\0\0\0"), BOX("uuid", "JpgTiffExif->JP2Exif"),
            BOX("xml ", "<?xml version='1.0'?><a/>"), BOX("uuid", "JpgTiffExif->JP2"), BOX("uuid", "short"));
    FILE_OF("metadata-association", 1, true,
            BOX("asoc", "\0\0\0\x10lbl gml.data\0\0\0\x1e"
                        "asoc\0\0\0\x0elbl a.root\0\0\0\x08xml "),
            BOX("uinf", "\0\0\0\x12ulst\0\0\0\0\0\0\0\0\0\0\0\0\0\x0curl \0\0\0\0"));
    FILE_OF("metadata-damaged", 1, true, BOX("asoc", "\0\0\0\x20lbl "), BOX("asoc", "\0\0\0\1lbl \xff\xff\xff\xff"),
            BOX("asoc", "\0\0\0\0asoc\0\0\0\0asoc\0\0\0\7asoc"), BOX("uinf", "\0\0"));
    make_file("metadata-deep", 1, (const box_bytes[]){{"asoc", deep, sizeof deep}}, 1, true);
}

/* Box lengths in all forms: LBox 0, XLBox, and data after the codestream. */
static void make_lengths(void)
{
    static file_builder f;
    picture p;
    picture_make(&p, 8, 7, 1);
    memory_file code = encode_with(&p, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    for (int form = 0; form < 6; form++) {
        char name[64];
        put_signature(&f);
        if (form != 4) {
            size_t header = begin(&f, "jp2h");
            put_image_header(&f, &p, 7, 0);
            put_colour(&f, 17);
            end(&f, header);
        }
        put(&f, form == 0 ? 0 : form == 1 || form == 5 ? 1 : code.size + 8 + (form == 2 ? 99 : 0), 4);
        put_bytes(&f, form == 5 ? "free" : "jp2c", 4);
        if (form == 1)
            put(&f, code.size + 16, 8);
        if (form == 5)
            put(&f, (uint64_t)1 << 40, 8);
        put_bytes(&f, code.data, code.size);
        if (form == 3)
            put(&f, 0x000000FF, 4), put_bytes(&f, "xml ", 4);
        snprintf(name, sizeof name, "length-%d", form);
        save_built(name, &f);
    }
    free(code.data);
    picture_free(&p);
    put_signature(&f);
    save_built("signature-only", &f);
}

void corpus_boxes(void)
{
    make_palettes();
    make_colours();
    make_reversed_channels();
    make_others();
    make_metadata();
    make_lengths();
}
