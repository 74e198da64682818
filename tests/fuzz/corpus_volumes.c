/* Seeds of `lift2k volume`: descriptions with the bytes of their files, and samples without a header. */
#include "corpus.h"

enum { TAIL = 24, COEFFICIENT_BYTES = 4096 };

/* A description as cli_volume_describe writes it, in its order; subbands are not read back, and left out. */
static size_t describe(char *text, size_t room, unsigned n)
{
    const unsigned width = 1 + 7 * (n % 5), height = 1 + 5 * (n % 4), slices = 1 + n % 9, levels = n % 4;
    const bool isotropic = n % 3 == 1;
    const unsigned components = n % 7 == 0 ? 3 : 1 + n % 2, z_levels = isotropic ? levels : n % 5;
    int at = snprintf(text, room,
                      "{\"width\": %u, \"height\": %u, \"slices\": %u, \"wavelet\": \"%s\", \"levels\": %u, "
                      "\"z_levels\": %u, \"isotropic\": %s, \"component_transform\": %s, \"value\": \"int32\", "
                      "\"components\": [",
                      width, height, slices, n % 2 ? "9/7" : "5/3", levels, z_levels, isotropic ? "true" : "false",
                      components == 3 ? "true" : "false");
    for (unsigned c = 0; c < components; c++)
        at += snprintf(text + at, room - (size_t)at, "%s{\"precision\": %u, \"signed\": %s, \"dx\": %u, \"dy\": 1}",
                       c ? ", " : "", 1 + n % 16, n % 5 == 0 ? "true" : "false", components == 2 && c ? 2u : 1u);
    return (size_t)at + (size_t)snprintf(text + at, room - (size_t)at, "], \"subbands\": []}\n");
}

static void save_description(unsigned n)
{
    static uint8_t bytes[2048 + COEFFICIENT_BYTES + TAIL];
    char name[64];
    size_t size = describe((char *)bytes, 2048, n);
    for (unsigned i = 0; i < COEFFICIENT_BYTES; i++) /* small, as coefficients are */
        bytes[size++] = i % 4 == 0 ? (uint8_t)(i * n >> 3) : 0;
    memset(bytes + size, 0, TAIL);
    bytes[size + 1] = COEFFICIENT_BYTES / 8 >> 8;
    bytes[size + 2] = COEFFICIENT_BYTES / 8 & 255;
    snprintf(name, sizeof name, "description-%02u", n);
    corpus_save("volumes", name, bytes, size + TAIL);
}

static void save_raw(unsigned n)
{
    const unsigned width = 1 + n % 6, height = 1 + n % 5, slices = 1 + n % 8, precision = 1 + n * 3 % 31;
    uint8_t bytes[6 * 5 * 8 * 4 + TAIL] = {0};
    char name[64];
    const size_t size = (size_t)width * height * slices * (precision <= 8 ? 1 : precision <= 16 ? 2 : 4);
    uint8_t *tail = bytes + size;
    const uint8_t choices[] = {1,
                               0,
                               0,
                               (uint8_t)(n & 3),
                               (uint8_t)(width - 1),
                               (uint8_t)(height - 1),
                               (uint8_t)(slices - 1),
                               (uint8_t)(precision - 1)};
    memcpy(tail, choices, sizeof choices);
    snprintf(name, sizeof name, "raw-%02u", n);
    corpus_save("volumes", name, bytes, size + TAIL);
}

void corpus_volumes(void)
{
    for (unsigned n = 0; n < 40; n++)
        save_description(n);
    for (unsigned n = 0; n < 31; n++)
        save_raw(n);
}
