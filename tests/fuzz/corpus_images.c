/* Seed corpus: picture files for the readers of the command. */
#include "corpus.h"

static void save_image(const char *name, const void *head, size_t head_bytes, size_t samples, uint32_t kind)
{
    memory_file file = memory_of(NULL, 0);
    uint8_t tail[24] = {(uint8_t)kind, 2, 7, 5, 2, 7, 0};
    memory_write(&file, head, head_bytes);
    for (size_t i = 0; i < samples; i++)
        memory_write(&file, &(uint8_t){(uint8_t)(i * 37)}, 1);
    memory_write(&file, tail, sizeof tail);
    corpus_save("images", name, file.data, file.size);
    free(file.data);
}

#define SAVE(name, head, samples, kind) save_image(name, head, sizeof(head) - 1, samples, kind)

static void make_pnm(void)
{
    SAVE("pbm-text", "P1\n# a comment\n5 3\n1 0 1 0 1\n0 1 0 1 0\n11011\n", 0, 0);
    SAVE("pgm-text", "P2 4 2 255 0 1 2 3\n255 254 7 8\n", 0, 2);
    SAVE("ppm-text", "P3\n2 2\n1000\n0 500 1000 1 2 3\n4 5 6 7 8 9\n", 0, 0);
    SAVE("pbm", "P4\n11 3\n", 6, 2);
    SAVE("pgm", "P5 7 5 255\n", 35, 2);
    SAVE("pgm-16", "P5 7 5 65535\n", 70, 0);
    SAVE("pgm-odd", "P5 3 2 9\n", 6, 0);
    SAVE("ppm", "P6 4 3 255 ", 36, 2);
    SAVE("ppm-16", "P6 4 3 1023 ", 72, 0);
    SAVE("pam", "P7\nWIDTH 4\nHEIGHT 3\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", 48, 2);
    SAVE("pam-gray", "P7\n# gray\nWIDTH 4\nHEIGHT 3\nDEPTH 2\nMAXVAL 65535\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n", 48, 0);
    SAVE("pam-bits", "P7\nWIDTH 4\nHEIGHT 3\nDEPTH 1\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE\nENDHDR\n", 12, 2);
    SAVE("pam-many", "P7\nWIDTH 2\nHEIGHT 2\nDEPTH 9\nMAXVAL 255\nENDHDR\n", 36, 0);
    SAVE("pnm-large", "P5 4000000000 4000000000 255\n", 3, 0);
    SAVE("pnm-short", "P6 30 30 255\n", 20, 2);
}

static void make_others(void)
{
    SAVE("pgx", "PG ML + 8 7 5\n", 35, 2);
    SAVE("pgx-signed", "PG LM -12 7 5\n", 70, 0);
    SAVE("pgx-deep", "PG ML 24 3 2\n", 24, 0);
    SAVE("y4m", "YUV4MPEG2 W7 H5 F25:1 Ip A1:1 C420jpeg\nFRAME\n", 35 + 24, 0);
    SAVE("y4m-deep", "YUV4MPEG2 W6 H2 C422p10 XYSCSS=422P10\nFRAME Ip\n", 48, 2);
    SAVE("y4m-mono", "YUV4MPEG2 H2 W6 Cmono16\nFRAME\n", 24 + 6, 2);
    SAVE("raw", "", 8 * 6 * 3, 1);
    SAVE("raw-rows", "", 8 * 6 * 3, 3);
}

/* Each table of Huffman codes has one code of one bit: no difference of DC, and the end of a block. */
#define JPEG_START(components)                                                                                         \
    "\xff\xd8\xff\xe1\x00\x12"                                                                                         \
    "Exif\0\0II*\0\x08\0\0\0\0\0"                                                                                      \
    "\xff\xdb\x00\x43\x00" ONES ONES ONES ONES "\xff\xc4\x00\x14\x00\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"              \
    "\xff\xc4\x00\x14\x10\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" components
#define ONES "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"

static void make_jpegs(void)
{
    SAVE("jpeg-gray",
         JPEG_START("\xff\xc0\x00\x0b\x08\x00\x07\x00\x09\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"
                    "\x0f\xff\xd9"),
         0, 0);
    SAVE("jpeg-progressive",
         JPEG_START("\xff\xc2\x00\x0b\x08\x00\x07\x00\x09\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x00\x00"
                    "\x3f\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x00\x3f\xff\xd9"),
         0, 2);
    SAVE("jpeg-cmyk",
         JPEG_START("\xff\xee\x00\x0e"
                    "Adobe\0\x64\0\0\0\0\0"
                    "\xff\xc0\x00\x14\x08\x00\x07\x00\x08\x04\x01\x11\x00\x02\x11\x00\x03\x11\x00\x04\x11\x00"
                    "\xff\xda\x00\x0e\x04\x01\x00\x02\x00\x03\x00\x04\x00\x00\x3f\x00\x00\xff\xd9"),
         0, 2);
}

/* ---- TIFF ---------------------------------------------------------------------------------------------------- */

typedef struct tag {
    uint32_t number, type, count, value;
} tag;

static void put_word(memory_file *f, bool big, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        memory_write(f, &(uint8_t){(uint8_t)(value >> 8 * (big ? bytes - 1 - i : i))}, 1);
}

/* One directory after the header, and the samples from byte 400 on. */
static void make_tiff(const char *name, bool big, const tag *tags, size_t count, uint32_t kind)
{
    memory_file f = memory_of(NULL, 0);
    memory_write(&f, big ? "MM" : "II", 2);
    put_word(&f, big, 42, 2);
    put_word(&f, big, 8, 4);
    put_word(&f, big, (uint32_t)count, 2);
    for (size_t i = 0; i < count; i++) {
        put_word(&f, big, tags[i].number, 2);
        put_word(&f, big, tags[i].type, 2);
        put_word(&f, big, tags[i].count, 4);
        put_word(&f, big, tags[i].value, tags[i].type == 3 ? 2 : 4);
        put_word(&f, big, 0, tags[i].type == 3 ? 2 : 0);
    }
    while (f.size < 400) /* place of BitsPerSample of several components: 8, or 16 */
        put_word(&f, big, kind & 4 ? 16 : 8, 2);
    save_image(name, f.data, f.size, 400, kind & 3);
    free(f.data);
}

#define TIFF(name, big, kind, ...)                                                                                     \
    make_tiff(name, big, (const tag[]){__VA_ARGS__}, sizeof((const tag[]){__VA_ARGS__}) / sizeof(tag), kind)
#define SHAPE(bits, count)                                                                                             \
    {256, 3, 1, 9}, {257, 3, 1, 7},                                                                                    \
    {                                                                                                                  \
        258, 3, count, count > 1 ? 300 : bits                                                                          \
    }

static void make_tiffs(void)
{
    TIFF("tiff-gray", false, 0, SHAPE(8, 1), {259, 3, 1, 1}, {262, 3, 1, 1}, {273, 4, 1, 400}, {277, 3, 1, 1},
         {278, 3, 1, 7}, {279, 4, 1, 63});
    /* Exif in what fills the gap: eight tags of number 8 and unknown type; and in the directory itself. */
    TIFF("tiff-metadata", false, 0, SHAPE(8, 1), {259, 3, 1, 1}, {262, 3, 1, 1}, {270, 2, 4, 0x636261},
         {273, 4, 1, 400}, {274, 3, 1, 6}, {277, 3, 1, 1}, {278, 3, 1, 7}, {279, 4, 1, 63}, {700, 1, 20, 300},
         {33723, 7, 20, 300}, {34665, 4, 1, 320}, {34853, 4, 1, 300});
    TIFF("tiff-metadata-loop", true, 0, SHAPE(8, 1), {259, 3, 1, 1}, {262, 3, 1, 1}, {273, 4, 1, 400}, {277, 3, 1, 1},
         {278, 3, 1, 7}, {279, 4, 1, 63}, {700, 1, 60, 390}, {34665, 4, 1, 8});
    TIFF("tiff-white", true, 2, SHAPE(8, 1), {259, 3, 1, 1}, {262, 3, 1, 0}, {273, 4, 1, 400}, {277, 3, 1, 1},
         {278, 3, 1, 7}, {279, 4, 1, 63});
    TIFF("tiff-white-opacity", false, 2, SHAPE(8, 2), {259, 3, 1, 1}, {262, 3, 1, 0}, {273, 4, 1, 400}, {277, 3, 1, 2},
         {278, 3, 1, 7}, {279, 4, 1, 126}, {338, 3, 1, 2});
    TIFF("tiff-opacities", true, 0, SHAPE(8, 3), {259, 3, 1, 1}, {262, 3, 1, 0}, {273, 4, 1, 400}, {277, 3, 1, 3},
         {278, 3, 1, 7}, {279, 4, 1, 189}, {338, 3, 2, 0x20002});
    TIFF("tiff-wide-tiles", false, 2, {256, 3, 1, 1}, {257, 3, 1, 16}, {258, 3, 1, 8}, {259, 3, 1, 8}, {262, 3, 1, 1},
         {277, 3, 1, 1}, {322, 4, 1, 1u << 25}, {323, 3, 1, 16}, {324, 4, 1, 400}, {325, 4, 1, 256});
    TIFF("tiff-bits", false, 0, SHAPE(1, 1), {259, 3, 1, 1}, {262, 3, 1, 1}, {273, 4, 1, 400}, {277, 3, 1, 1},
         {278, 3, 1, 7}, {279, 4, 1, 14});
    TIFF("tiff-rgb", false, 2, {256, 3, 1, 9}, {257, 3, 1, 7}, {258, 3, 3, 300}, {259, 3, 1, 1}, {262, 3, 1, 2},
         {273, 4, 1, 400}, {277, 3, 1, 3}, {278, 3, 1, 7}, {279, 4, 1, 189}, {284, 3, 1, 1});
    TIFF("tiff-planes", true, 4, {256, 3, 1, 9}, {257, 3, 1, 7}, {258, 3, 1, 16}, {259, 3, 1, 1}, {262, 3, 1, 1},
         {273, 4, 1, 400}, {277, 3, 1, 1}, {278, 3, 1, 7}, {279, 4, 1, 126}, {284, 3, 1, 2}, {339, 3, 1, 2});
    TIFF("tiff-tiles", false, 0, SHAPE(8, 1), {259, 3, 1, 1}, {262, 3, 1, 1}, {277, 3, 1, 1}, {322, 3, 1, 16},
         {323, 3, 1, 16}, {324, 4, 1, 400}, {325, 4, 1, 256});
    TIFF("tiff-palette", false, 0, SHAPE(8, 1), {259, 3, 1, 1}, {262, 3, 1, 3}, {273, 4, 1, 400}, {277, 3, 1, 1},
         {278, 3, 1, 7}, {279, 4, 1, 63}, {320, 3, 768, 10});
    TIFF("tiff-packbits", false, 0, SHAPE(8, 1), {259, 3, 1, 32773}, {262, 3, 1, 1}, {273, 4, 1, 400}, {277, 3, 1, 1},
         {278, 3, 1, 7}, {279, 4, 1, 63});
    TIFF("tiff-large", false, 2, {256, 4, 1, 0xFFFFFFF0}, {257, 4, 1, 0xFFFFFFF0}, {258, 3, 1, 8}, {259, 3, 1, 1},
         {262, 3, 1, 1}, {273, 4, 1, 400}, {277, 3, 1, 1}, {278, 4, 1, 0xFFFFFFFF}, {279, 4, 1, 63});
}

void corpus_images(void)
{
    make_pnm();
    make_others();
    make_jpegs();
    make_tiffs();
}
