/* Metadata boxes: written with an image and listed with their content; boxes inside others; hostile ones. */
#include "jp2_build.h"

static const uint8_t some_id[16] = {0xC0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xFF};

/* What a box of each kind looks like behind LBox. */
static const struct kind {
    l2k_box_data data;
    const char *start;
    size_t start_bytes;
} kinds[] = {
    {{.content = L2K_CONTENT_XMP, .type = "uuid", .data = (const uint8_t *)"<x:xmpmeta/>", .bytes = 12},
     "uuid\xBE\x7A\xCF\xCB\x97\xA9\x42\xE8\x9C\x71\x99\x94\x91\xE3\xAF\xAC<x:xmp",
     26},
    {{.content = L2K_CONTENT_EXIF, .type = "uuid", .data = (const uint8_t *)"II*\0\10\0\0\0", .bytes = 8},
     "uuidJpgTiffExif->JP2II*\0",
     24},
    {{.content = L2K_CONTENT_IPTC, .type = "uuid", .data = (const uint8_t *)"\x1C\2\0\0\2\0\2", .bytes = 7},
     "uuid\x33\xC7\xA4\xD2\xB8\x1D\x47\x23\xA0\xBA\xF1\xA3\xE0\x97\xAD\x38\x1C\2",
     22},
    {{.content = L2K_CONTENT_GEOTIFF, .type = "uuid", .data = (const uint8_t *)"MM\0*", .bytes = 4},
     "uuid\xB1\x4B\xF8\xBD\x08\x3D\x4B\x43\xA5\xAE\x8C\xD7\xD5\xA6\xCE\x03MM",
     22},
    {{.content = L2K_CONTENT_UUID, .type = "uuid", .data = (const uint8_t *)"own", .bytes = 3},
     "uuid\xC0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\xFFown",
     23},
    {{.content = L2K_CONTENT_UUID, .type = "uuid"}, "uuid\xC0\1\2\3", 8},
    {{.content = L2K_CONTENT_XML, .type = "xml ", .data = (const uint8_t *)"<a/>", .bytes = 4}, "xml <a/>", 8},
    {{.content = L2K_CONTENT_LABEL, .type = "lbl ", .data = (const uint8_t *)"here", .bytes = 4}, "lbl here", 8},
    {{.content = L2K_CONTENT_OTHER, .type = "free", .data = (const uint8_t *)"\0\0", .bytes = 2}, "free\0\0", 6},
};

enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

static void all_boxes(l2k_box_data *boxes)
{
    for (size_t i = 0; i < NUM_KINDS; i++) {
        boxes[i] = kinds[i].data;
        if (boxes[i].content == L2K_CONTENT_UUID)
            memcpy(boxes[i].uuid, some_id, sizeof some_id);
    }
}

static l2k_decoder *open_bytes(const l2k_hooks *hooks, const void *data, size_t bytes, l2k_status expected)
{
    l2k_decoder *decoder = l2k_decoder_new(hooks);
    assert_int_equal(l2k_decoder_open_memory(decoder, data, bytes), expected);
    return decoder;
}

/* The next box of a type from number *index on, which goes past it. */
static l2k_box next_of_type(const l2k_decoder *decoder, const char *type, size_t *index)
{
    l2k_box box;
    do
        assert_int_equal(l2k_decoder_box(decoder, (*index)++, &box), L2K_OK);
    while (strcmp(box.type, type));
    return box;
}

/* ---- Written and read ---------------------------------------------------------------------------------------- */

static void check_listed(l2k_decoder *decoder)
{
    size_t index = 0;
    for (size_t i = 0; i < NUM_KINDS; i++) {
        l2k_box_data data;
        const l2k_box_data *put = &kinds[i].data;
        l2k_box box = next_of_type(decoder, put->type, &index);
        assert_int_equal(box.depth, 0);
        assert_int_equal(l2k_decoder_box_data(decoder, index - 1, &data), L2K_OK);
        assert_int_equal(data.content, put->content);
        assert_string_equal(data.type, put->type);
        assert_int_equal(data.bytes, put->bytes);
        if (put->bytes)
            assert_memory_equal(data.data, put->data, put->bytes);
        if (data.content == L2K_CONTENT_UUID)
            assert_memory_equal(data.uuid, some_id, 16);
    }
}

/* In memory, and in parts that are read as they are needed. */
static int read_part(void *user, uint64_t offset, void *buffer, size_t bytes)
{
    const memory_file *file = user;
    memcpy(buffer, file->data + offset, bytes);
    return 0;
}

static void check_file(memory_file *file)
{
    l2k_box_data data;
    l2k_decoder *decoder = open_bytes(NULL, file->data, file->size, L2K_OK);
    check_listed(decoder);
    assert_int_equal(l2k_decoder_box_data(decoder, 99, &data), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_open_file(decoder, &(l2k_file){file->size, read_part, file}), L2K_OK);
    check_listed(decoder);
    l2k_decoder_free(decoder);
}

static void test_kinds(void **unused)
{
    (void)unused;
    picture p, got;
    l2k_box_data boxes[NUM_KINDS];
    picture_make(&p, 7, 5, 3);
    memory_file plain = encode_with(&p, L2K_ENCODER_LEVELS, 1), code;
    all_boxes(boxes);
    p.image.boxes = boxes;
    p.image.num_boxes = NUM_KINDS;
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 1);
    const uint8_t *at = file.data + 77; /* signature, file type, header */
    for (size_t i = 0; i < NUM_KINDS; i++) {
        assert_memory_equal(at + 4, kinds[i].start, kinds[i].start_bytes);
        at += at[3];
    }
    assert_memory_equal(at, plain.data + 77, plain.size - 77);
    check_file(&file);
    assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
    assert_true(picture_equal(&p, &got));
    assert_null(got.image.boxes);
    code = encode_with(&p, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    assert_memory_equal(code.data, "\xFF\x4F\xFF\x51", 4);
    free(plain.data);
    free(file.data);
    free(code.data);
    picture_free(&p);
    picture_free(&got);
}

/* More metadata than the picture may take: it gets its bytes all the same. */
static void test_rate(void **unused)
{
    (void)unused;
    static uint8_t large[100000];
    const double ratio = 8;
    picture p;
    memory_file files[2];
    const l2k_box_data boxes[] = {
        {.type = "asoc"},
        {.content = L2K_CONTENT_LABEL, .depth = 1, .data = (const uint8_t *)"gml.data", .bytes = 8},
        {.content = L2K_CONTENT_XML, .depth = 1, .data = large, .bytes = sizeof large}};
    picture_make(&p, 128, 128, 1);
    p.image.boxes = boxes;
    for (int i = 0; i < 2; i++) {
        l2k_encoder *encoder = l2k_encoder_new(NULL);
        files[i] = memory_of(NULL, 0);
        l2k_stream stream = stream_of(&files[i]);
        p.image.num_boxes = 3 * (size_t)i;
        assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, &ratio, 1), L2K_OK);
        assert_int_equal(l2k_encoder_encode(encoder, &p.image, p.planes, &stream), L2K_OK);
        l2k_encoder_free(encoder);
    }
    assert_in_range(files[0].size, 1500, 2048);
    assert_int_equal(files[1].size, files[0].size + 25 + 3 * 8 + 8 + sizeof large);
    free(files[0].data);
    free(files[1].data);
    picture_free(&p);
}

static memory_file encode_by_rows(const picture *p, bool rewrites)
{
    memory_file out = memory_of(NULL, 0);
    l2k_stream stream = stream_of(&out);
    uint32_t y0, y1;
    stream.rewrite = rewrites ? memory_rewrite : NULL;
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_begin(encoder, &p->image, &stream), L2K_OK);
    assert_int_equal(l2k_encoder_next_rows(encoder, &y0, &y1), L2K_OK);
    assert_int_equal(l2k_encoder_put_rows(encoder, p->planes), L2K_OK);
    assert_int_equal(l2k_encoder_end(encoder), L2K_OK);
    l2k_encoder_free(encoder);
    return out;
}

/* More boxes than there is room for in front of the tile-parts: the same file to memory and by rows, where the
 * codestream box behind them may have no stated length. */
static void test_ways(void **unused)
{
    (void)unused;
    static uint8_t large[20000];
    const l2k_box_data boxes[2] = {{.content = L2K_CONTENT_XML, .data = large, .bytes = sizeof large},
                                   {.content = L2K_CONTENT_LABEL, .data = large, .bytes = 7}};
    picture p, got;
    const uint8_t *bytes;
    size_t count;
    picture_make(&p, 40, 30, 3);
    p.image.boxes = boxes;
    p.image.num_boxes = 2;
    memory_file whole = encode_with(&p, L2K_ENCODER_SOP, 0);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_encode_memory(encoder, &p.image, p.planes, &bytes, &count), L2K_OK);
    assert_int_equal(count, whole.size);
    assert_memory_equal(bytes, whole.data, count);
    l2k_encoder_free(encoder);
    for (int rewrites = 0; rewrites < 2; rewrites++) {
        memory_file rows = encode_by_rows(&p, rewrites);
        assert_int_equal(rows.size, whole.size);
        if (rewrites)
            assert_memory_equal(rows.data, whole.data, whole.size);
        assert_int_equal(decode_bytes(NULL, rows.data, rows.size, &got), L2K_OK);
        assert_true(picture_equal(&p, &got));
        picture_free(&got);
        free(rows.data);
    }
    free(whole.data);
    picture_free(&p);
}

static void check_refused(const l2k_box_data *boxes, size_t count)
{
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    picture p;
    picture_make(&p, 7, 5, 1);
    p.image.boxes = boxes;
    p.image.num_boxes = count;
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    memory_file out = memory_of(NULL, 0);
    l2k_stream stream = stream_of(&out);
    assert_int_equal(l2k_encoder_encode(encoder, &p.image, p.planes, &stream), L2K_ERROR_ARGUMENT);
    assert_int_equal(w.errors, 1);
    assert_int_equal(out.size, 0);
    l2k_encoder_free(encoder);
    picture_free(&p);
}

static void test_refused(void **unused)
{
    (void)unused;
    static const uint8_t byte = 0;
    check_refused(NULL, 1);
    check_refused(&(l2k_box_data){.content = (l2k_content)8}, 1);
    check_refused(&(l2k_box_data){.content = L2K_CONTENT_OTHER}, 1);
    check_refused(&(l2k_box_data){.type = "abc"}, 1);
    check_refused(&(l2k_box_data){.type = {'a', 'b', 'c', 'd', 'e'}}, 1);
    check_refused(&(l2k_box_data){.type = "ab\nd"}, 1);
    check_refused(&(l2k_box_data){.type = "jp2c", .data = &byte, .bytes = 1}, 1);
    check_refused(&(l2k_box_data){.type = "uuid", .data = &byte, .bytes = 1}, 1);
    check_refused(&(l2k_box_data){.content = L2K_CONTENT_XML, .bytes = 1}, 1);
    check_refused(&(l2k_box_data){.content = L2K_CONTENT_XML, .data = &byte, .bytes = UINT32_MAX}, 1);
    check_refused(&(l2k_box_data){.content = L2K_CONTENT_XML, .depth = 1}, 1);
    check_refused((l2k_box_data[]){{.type = "asoc"}, {.content = L2K_CONTENT_XML, .depth = 2}}, 2);
    check_refused((l2k_box_data[]){{.type = "asoc", .data = &byte, .bytes = 1}, {.type = "free", .depth = 1}}, 2);
    check_refused((l2k_box_data[]){{.content = L2K_CONTENT_XML}, {.type = "free", .depth = 1}}, 2);
    check_refused((l2k_box_data[]){{.type = "asoc"}, {.type = "jp2c", .depth = 1}}, 2);
    check_refused(
        (l2k_box_data[]){{.type = "asoc"}, {.type = "free", .depth = 1, .bytes = UINT32_MAX - 7, .data = &byte}}, 2);
    l2k_box_data deep[18];
    for (uint32_t i = 0; i < 18; i++)
        deep[i] = (l2k_box_data){.type = "asoc", .depth = i};
    check_refused(deep, 18);
}

/* ---- Boxes inside others ------------------------------------------------------------------------------------- */

static void put_leaf(file_builder *f, const char *type, const char *text)
{
    size_t box = begin(f, type);
    put_bytes(f, text, strlen(text));
    end(f, box);
}

/* Up to where other boxes may follow. */
static void put_head(file_builder *f, const picture *p)
{
    put_signature(f);
    size_t header = begin(f, "jp2h");
    put_image_header(f, p, 7, 0);
    put_colour(f, 17);
    end(f, header);
}

/* As in GMLJP2: a label and an association of a label and a document. */
static void put_association(file_builder *f)
{
    size_t outer = begin(f, "asoc");
    put_leaf(f, "lbl ", "gml.data");
    size_t inner = begin(f, "asoc");
    put_leaf(f, "lbl ", "gml.root-instance");
    put_leaf(f, "xml ", "<gml/>");
    end(f, inner);
    end(f, outer);
}

static l2k_box_data data_of(l2k_decoder *decoder, const char *type, uint32_t depth, size_t *index)
{
    l2k_box_data data;
    assert_int_equal(next_of_type(decoder, type, index).depth, depth);
    assert_int_equal(l2k_decoder_box_data(decoder, *index - 1, &data), L2K_OK);
    return data;
}

static void check_association(l2k_decoder *decoder, size_t *index)
{
    assert_int_equal(data_of(decoder, "asoc", 0, index).content, L2K_CONTENT_OTHER);
    l2k_box_data label = data_of(decoder, "lbl ", 1, index);
    assert_int_equal(label.content, L2K_CONTENT_LABEL);
    assert_int_equal(label.bytes, 8);
    assert_memory_equal(label.data, "gml.data", 8);
    data_of(decoder, "asoc", 1, index);
    assert_int_equal(data_of(decoder, "lbl ", 2, index).bytes, 17);
    assert_memory_equal(data_of(decoder, "xml ", 2, index).data, "<gml/>", 6);
}

static void test_associations(void **unused)
{
    (void)unused;
    static file_builder f;
    picture p;
    size_t index = 0;
    picture_make(&p, 7, 5, 1);
    put_head(&f, &p);
    put_association(&f);
    put_codestream(&f, &p);
    put_association(&f); /* behind it as well */
    size_t info = begin(&f, "uinf");
    put_leaf(&f, "url ", "....http://example.org");
    end(&f, info);
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_decoder *decoder = open_bytes(&hooks, f.data, f.size, L2K_OK);
    check_association(decoder, &index);
    check_association(decoder, &index);
    data_of(decoder, "uinf", 0, &index);
    data_of(decoder, "url ", 1, &index);
    assert_int_equal(w.warnings, 0);
    l2k_decoder_free(decoder);
    picture_free(&p);
}

static l2k_box_data text_box(l2k_content content, uint32_t depth, const char *text)
{
    return (l2k_box_data){.content = content, .depth = depth, .data = (const uint8_t *)text, .bytes = strlen(text)};
}

/* GMLJP2 between other boxes, some of them inside each other as deep as can be read. */
enum { GML_BOXES = 7, NESTED = 17 };

static size_t gml_boxes(l2k_box_data *boxes)
{
    size_t count = 0;
    boxes[count++] = text_box(L2K_CONTENT_XML, 0, "<before/>");
    boxes[count++] = (l2k_box_data){.type = "asoc"};
    boxes[count++] = text_box(L2K_CONTENT_LABEL, 1, "gml.data");
    boxes[count++] = (l2k_box_data){.type = "asoc", .depth = 1};
    boxes[count++] = text_box(L2K_CONTENT_LABEL, 2, "gml.root-instance");
    boxes[count++] = text_box(L2K_CONTENT_XML, 2, "<gml/>");
    boxes[count++] = text_box(L2K_CONTENT_LABEL, 1, "behind");
    for (uint32_t depth = 0; depth < NESTED; depth++)
        boxes[count++] = (l2k_box_data){.type = "asoc", .depth = depth};
    boxes[count++] = text_box(L2K_CONTENT_LABEL, 0, "after");
    return count;
}

/* The boxes behind the header box are those that were given, in their depth. */
static void check_given(l2k_decoder *decoder, const l2k_box_data *given, size_t count)
{
    size_t index = 0;
    next_of_type(decoder, "colr", &index); /* the last one of the header box */
    for (size_t i = 0; i < count; i++) {
        l2k_box_data data;
        assert_int_equal(l2k_decoder_box_data(decoder, index + i, &data), L2K_OK);
        assert_int_equal(data.depth, given[i].depth);
        assert_int_equal(data.content, given[i].content);
        if (given[i].content != L2K_CONTENT_OTHER) {
            assert_int_equal(data.bytes, given[i].bytes);
            assert_memory_equal(data.data, given[i].data, data.bytes);
        } else {
            assert_string_equal(data.type, given[i].type);
        }
    }
    l2k_box last;
    assert_int_equal(l2k_decoder_box(decoder, index + count, &last), L2K_OK);
    assert_string_equal(last.type, "jp2c");
}

static memory_file encode_boxes(picture *p, const l2k_box_data *boxes, size_t count, bool ht)
{
    p->image.boxes = boxes;
    p->image.num_boxes = count;
    return encode_with(p, L2K_ENCODER_STYLE, ht ? L2K_STYLE_HT : 0);
}

static void test_written_associations(void **unused)
{
    (void)unused;
    l2k_box_data boxes[GML_BOXES + NESTED + 2], again;
    const size_t count = gml_boxes(boxes);
    picture p;
    picture_make(&p, 7, 5, 1);
    for (int ht = 0; ht < 2; ht++) {
        memory_file file = encode_boxes(&p, boxes, count, ht);
        l2k_decoder *decoder = open_bytes(NULL, file.data, file.size, L2K_OK);
        l2k_decoder_set(decoder, L2K_DECODER_STRICT, 1);
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
        check_given(decoder, boxes, count);
        size_t index = 0;
        again = data_of(decoder, "asoc", 0, &index);
        l2k_decoder_free(decoder);
        /* The content of an association in one piece gives the same file but for what GML asks for. */
        const l2k_box_data whole[] = {boxes[0], again};
        memory_file pieces = encode_boxes(&p, boxes, GML_BOXES, ht), one = encode_boxes(&p, whole, 2, ht);
        const size_t start = ht ? 32 : 32 + 25;
        assert_int_equal(pieces.size - start, one.size - 32);
        assert_memory_equal(pieces.data + start, one.data + 32, one.size - 32);
        free(pieces.data);
        free(one.data);
        free(file.data);
    }
    picture_free(&p);
}

/* GMLJP2 makes the file a JPX file, too, unless the codestream is none of Part 1; other associations do not. */
static void test_requirements(void **unused)
{
    (void)unused;
    static const uint8_t head[] = "\0\0\0\x18"
                                  "ftypjp2 \0\0\0\0jp2 jpx \0\0\0\x15"
                                  "rreq\1\xC0\x80\0\2\0\5\x80\0\x43\x40\0\0";
    l2k_box_data boxes[GML_BOXES + NESTED + 2];
    picture p;
    gml_boxes(boxes);
    picture_make(&p, 7, 5, 1);
    memory_file file = encode_boxes(&p, boxes, GML_BOXES, false);
    assert_memory_equal(file.data + 12, head, sizeof head - 1);
    free(file.data);
    file = encode_boxes(&p, boxes, GML_BOXES, true);
    assert_memory_equal(file.data + 12, "\0\0\0\x14\x66typjph \0\0\0\0jph \0\0\0\x2Djp2h", 28);
    free(file.data);
    file = encode_with(&p, L2K_ENCODER_WAVELET, L2K_WAVELET_HAAR);
    assert_memory_equal(file.data + 12, "\0\0\0\x14\x66typjp2 \0\0\0\0jp2 \0\0\0\x2Djp2h", 28);
    free(file.data);
    boxes[2] = text_box(L2K_CONTENT_LABEL, 1, "gml.date");
    file = encode_boxes(&p, boxes, GML_BOXES, false);
    assert_memory_equal(file.data + 12, "\0\0\0\x14\x66typjp2 \0\0\0\0jp2 \0\0\0\x2Djp2h", 28);
    free(file.data);
    picture_free(&p);
}

/* Exif as written by some: with its old signature in front; a UUID box that is too short; XLBox. */
static void test_variants(void **unused)
{
    (void)unused;
    static file_builder f;
    picture p;
    size_t index = 0;
    picture_make(&p, 7, 5, 1);
    put_head(&f, &p);
    size_t box = begin(&f, "uuid");
    put_bytes(&f, "JpgTiffExif->JP2Exif\0\0MM\0*", 26);
    end(&f, box);
    put_leaf(&f, "uuid", "short");
    put_bytes(&f, "\0\0\0\1xml \0\0\0\0\0\0\0\x14<b/>", 20);
    put_codestream(&f, &p);
    l2k_decoder *decoder = open_bytes(NULL, f.data, f.size, L2K_OK);
    l2k_box_data data = data_of(decoder, "uuid", 0, &index);
    assert_int_equal(data.content, L2K_CONTENT_EXIF);
    assert_int_equal(data.bytes, 4);
    assert_memory_equal(data.data, "MM\0*", 4);
    data = data_of(decoder, "uuid", 0, &index);
    assert_int_equal(data.content, L2K_CONTENT_OTHER);
    assert_memory_equal(data.data, "short", 5);
    data = data_of(decoder, "xml ", 0, &index);
    assert_int_equal(data.bytes, 4);
    assert_memory_equal(data.data, "<b/>", 4);
    l2k_decoder_free(decoder);
    picture_free(&p);
}

/* ---- Hostile files ------------------------------------------------------------------------------------------- */

/* Associations inside one another, far beyond what is entered. */
static void test_depth(void **unused)
{
    (void)unused;
    enum { LEVELS = 10000 };
    static file_builder f;
    picture p;
    picture_make(&p, 7, 5, 1);
    put_head(&f, &p);
    for (unsigned i = 0; i < LEVELS; i++) {
        put(&f, 8 * (LEVELS - i), 4);
        put_bytes(&f, "asoc", 4);
    }
    put_codestream(&f, &p);
    l2k_decoder *decoder = open_bytes(NULL, f.data, f.size, L2K_OK);
    l2k_box box;
    uint32_t deepest = 0;
    size_t count = 0;
    for (; l2k_decoder_box(decoder, count, &box) == L2K_OK; count++)
        deepest = box.depth > deepest ? box.depth : deepest;
    assert_int_equal(deepest, 16);
    assert_int_equal(count, 5 + 17 + 1);
    l2k_decoder_free(decoder);
    picture_free(&p);
}

/* Lengths that lie, in many boxes: one warning, and an error for a strict reader. The picture is there. */
static void test_damage(void **unused)
{
    (void)unused;
    static const char *const inside[] = {"\0\0\0\x20lbl ", "\0\0\0\4lbl ", "\0\0\0\1lbl ", "\0\0\0",
                                         ("\xFF\xFF\xFF\xFF"
                                          "asoc")};
    static const size_t lengths[] = {8, 8, 8, 3, 8};
    static file_builder f;
    picture p, got;
    picture_make(&p, 7, 5, 1);
    put_head(&f, &p);
    for (size_t i = 0; i < 5 * 200; i++) {
        size_t box = begin(&f, i % 2 ? "asoc" : "uinf");
        put_bytes(&f, inside[i % 5], lengths[i % 5]);
        end(&f, box);
    }
    put_codestream(&f, &p);
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_decoder *decoder = open_bytes(&hooks, f.data, f.size, L2K_OK);
    assert_int_equal(w.warnings, 1);
    l2k_decoder_set(decoder, L2K_DECODER_STRICT, 1);
    assert_true(l2k_decoder_open_memory(decoder, f.data, f.size) != L2K_OK);
    assert_int_equal(w.errors, 1);
    l2k_decoder_free(decoder);
    assert_int_equal(decode_built(&f, &got), L2K_OK);
    assert_true(picture_equal(&p, &got));
    picture_free(&p);
    picture_free(&got);
}

static void test_limits(void **unused)
{
    (void)unused;
    static uint8_t large[1 << 20];
    picture p;
    l2k_box_data box = {.content = L2K_CONTENT_XML, .data = large, .bytes = sizeof large}, data;
    picture_make(&p, 7, 5, 1);
    p.image.boxes = &box;
    p.image.num_boxes = 1;
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 1);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    assert_int_equal(l2k_decoder_box_data(decoder, 0, &data), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, 1 << 19), L2K_OK);
    assert_int_equal(l2k_decoder_open_file(decoder, &(l2k_file){file.size, read_part, &file}), L2K_OK);
    size_t index = 0;
    uint64_t bytes, calls;
    next_of_type(decoder, "xml ", &index);
    l2k_decoder_read_count(decoder, &bytes, &calls);
    assert_true(bytes < 1 << 16); /* listing a box reads nothing of it */
    assert_int_equal(l2k_decoder_box_data(decoder, index - 1, &data), L2K_ERROR_LIMIT);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, 1 << 22), L2K_OK);
    assert_int_equal(l2k_decoder_box_data(decoder, index - 1, &data), L2K_OK);
    assert_memory_equal(data.data, large, sizeof large);
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_ways),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_associations), cmocka_unit_test(test_variants),
        cmocka_unit_test(test_depth),        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_limits),       cmocka_unit_test(test_written_associations),
        cmocka_unit_test(test_requirements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
