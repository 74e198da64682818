/* Encoding and decoding in all directions between lift2k and libopenjp2, and the targets of rate control.
 *
 * Usage: roundtrip lossless|lossy|foreign [count], or roundtrip rates|quality [picture.pgm|ppm ...]
 * rates and quality take two synthetic pictures, the named files, and what lies in L2K_IMAGES_DIR if that is set. */
#include "conformance/roundtrip.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PICTURES 32

static natural_picture pictures[MAX_PICTURES];
static size_t num_pictures;

/* Drawings that shrink to almost nothing leave rate control nothing to do. */
static bool has_content(const picture *p)
{
    static const coding lossless;
    bytes file = {0};
    bool good = lift_encode(p, &lossless, L2K_FORMAT_CODESTREAM, &file, NULL) == L2K_OK &&
                (double)file.size > picture_raw_bytes(p) / 5;
    bytes_free(&file);
    return good;
}

static void add_picture(const char *name, picture *p)
{
    if (p && num_pictures < MAX_PICTURES && has_content(p)) {
        const char *slash = strrchr(name, '/');
        snprintf(pictures[num_pictures].name, sizeof pictures->name, "%s", slash ? slash + 1 : name);
        pictures[num_pictures++].p = p;
    } else {
        printf("not used: %s\n", name);
        picture_free(p);
    }
}

static bool ends_in(const char *name, const char *end)
{
    size_t a = strlen(name), b = strlen(end);
    return a >= b && strcmp(name + a - b, end) == 0;
}

/* PGM and PPM directly, PNG where netpbm is installed. */
static void add_file(const char *path, const char *scratch)
{
    char converted[512], name[512];
    if (ends_in(path, ".png")) {
        snprintf(converted, sizeof converted, "%s/picture.pnm", scratch);
        snprintf(name, sizeof name, "%s", path);
        char *argv[] = {"pngtopnm", name, NULL};
        add_picture(path, run_program(argv, converted) ? picture_read_pnm(converted) : NULL);
    } else if (ends_in(path, ".pgm") || ends_in(path, ".ppm")) {
        add_picture(path, picture_read_pnm(path));
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_directory(const char *path, const char *scratch)
{
    char *names[256], whole[512];
    size_t count = 0;
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && count < 256 && (entry = readdir(directory));)
        names[count++] = strdup(entry->d_name);
    if (directory)
        closedir(directory);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        snprintf(whole, sizeof whole, "%s/%s", path, names[i]);
        add_file(whole, scratch);
        free(names[i]);
    }
}

static void gather_pictures(int argc, char **argv)
{
    static const shape synthetic[] = {
        {.width = 640, .height = 512, .num_components = 3, .precision = 8, .seed = 11},
        {.width = 513, .height = 600, .num_components = 1, .precision = 12, .seed = 12},
    };
    char scratch[256];
    const char *directory = getenv("L2K_IMAGES_DIR");
    scratch_make(scratch, sizeof scratch);
    add_picture("synthetic RGB 8 bit", picture_make(&synthetic[0]));
    add_picture("synthetic gray 12 bit", picture_make(&synthetic[1]));
    for (int i = 2; i < argc; i++)
        add_file(argv[i], scratch);
    if (directory)
        add_directory(directory, scratch);
    else
        printf("L2K_IMAGES_DIR is not set: no further natural pictures\n");
    scratch_remove(scratch);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    long failures = 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(part, "lossless") == 0) {
        failures = roundtrip_lossless(count ? count : 1500);
    } else if (strcmp(part, "lossy") == 0) {
        failures = roundtrip_lossy(count ? count : 400);
    } else if (strcmp(part, "foreign") == 0) {
        failures = roundtrip_foreign(count ? count : 500);
    } else if (strcmp(part, "rates") == 0 || strcmp(part, "quality") == 0) {
        gather_pictures(argc, argv);
        failures = (part[0] == 'r' ? roundtrip_rates : roundtrip_quality)(pictures, num_pictures);
        for (size_t i = 0; i < num_pictures; i++)
            picture_free(pictures[i].p);
    } else {
        fprintf(stderr, "usage: roundtrip lossless|lossy|foreign [count] | rates|quality [picture ...]\n");
    }
    printf("%s: %ld failures\n", part, failures);
    return failures ? 1 : 0;
}
