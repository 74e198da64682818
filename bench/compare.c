/* Compares files for codec.sh:
 *     compare --codestream A.j2k B.j2k   the same but for the COM marker segments of the main header?
 *     compare --samples A.ppm B.ppm      "identical", or the largest difference and the PSNR, of two 8-bit binary
 *                                        PPM files */
#include <stdbool.h>

#include "bench/pnm.h"

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static void fail(const char *name, const char *what)
{
    fprintf(stderr, "compare: %s: %s\n", name, what);
    exit(1);
}

static bytes read_all(const char *name)
{
    bytes b;
    FILE *file = fopen(name, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail(name, "cannot be opened");
    b.size = (size_t)ftell(file);
    rewind(file);
    b.data = calloc(b.size + 1, 1);
    if (!b.data || fread(b.data, 1, b.size, file) != b.size)
        fail(name, "cannot be read");
    fclose(file);
    return b;
}

/* Removes the COM segments before the first SOT, in place. */
static bytes without_comments(const char *name)
{
    bytes b = read_all(name);
    size_t at = 2, to = 2;
    while (at + 4 <= b.size && b.data[at + 1] != 0x90) {
        size_t segment = 2 + ((size_t)b.data[at + 2] << 8 | b.data[at + 3]);
        if (b.data[at] != 0xFF || segment > b.size - at)
            fail(name, "not a codestream");
        if (b.data[at + 1] != 0x64) {
            memmove(b.data + to, b.data + at, segment);
            to += segment;
        }
        at += segment;
    }
    memmove(b.data + to, b.data + at, b.size - at);
    b.size -= at - to;
    return b;
}

static bool same_codestream(const char *one, const char *other)
{
    bytes a = without_comments(one), b = without_comments(other);
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static int compare_samples(const char *one, const char *other)
{
    const pnm a = pnm_read(one, 1, 1), b = pnm_read(other, 1, 1);
    const size_t count = pnm_plane_bytes(&a) * 3;
    int most = 0;
    if (a.width != b.width || a.height != b.height || a.precision != 8 || b.precision != 8 || a.components != 3 ||
        b.components != 3)
        fail(other, "not an 8-bit PPM of the same size");
    for (size_t i = 0; i < count; i++) {
        const int difference = abs(a.samples[i] - b.samples[i]);
        most = difference > most ? difference : most;
    }
    if (most == 0)
        printf("identical\n");
    else
        printf("differ by at most %d, PSNR %.3f dB\n", most, pnm_psnr(a.samples, b.samples, count, 1, 8));
    return 0;
}

int main(int count, char **arguments)
{
    if (count == 4 && strcmp(arguments[1], "--codestream") == 0) {
        puts(same_codestream(arguments[2], arguments[3]) ? "identical" : "**different**");
        return 0;
    }
    if (count == 4 && strcmp(arguments[1], "--samples") == 0)
        return compare_samples(arguments[2], arguments[3]);
    fprintf(stderr, "usage: compare --codestream A.j2k B.j2k | --samples A.ppm B.ppm\n");
    return 2;
}
