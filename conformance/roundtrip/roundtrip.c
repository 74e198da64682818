/* Tests encoding and decoding in all directions between lift2k and libopenjp2, and the targets of rate control.
 *
 * Usage: roundtrip lossless [count] [picture ...] | lossy|foreign [count] | encoder [count [seed]] |
 * rates|quality [picture ...]
 * Pictures are PGM, PPM and PNG files (see pictures.h), including those in L2K_IMAGES_DIR, if that is set. A named
 * picture that cannot be read is a failure. */
#include "conformance/roundtrip/roundtrip.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PICTURES 32

static natural_picture pictures[MAX_PICTURES];
static size_t num_pictures;

/* Drawings that compress to almost nothing leave rate control nothing to do. */
static bool has_content(const picture *p)
{
    static const coding lossless;
    bytes file = {0};
    bool good = lift_encode(p, &lossless, L2K_FORMAT_CODESTREAM, &file, NULL) == L2K_OK &&
                (double)file.size > picture_raw_bytes(p) / 5;
    bytes_free(&file);
    return good;
}

static void add_picture(const char *name, picture *p, bool any_content)
{
    if (num_pictures < MAX_PICTURES && (any_content || has_content(p))) {
        const char *slash = strrchr(name, '/');
        snprintf(pictures[num_pictures].name, sizeof pictures->name, "%s", slash ? slash + 1 : name);
        pictures[num_pictures++].p = p;
    } else {
        printf("not used, %s: %s\n", num_pictures < MAX_PICTURES ? "too little content" : "too many", name);
        picture_free(p);
    }
}

/* False if the file cannot be read. */
static bool add_file(const char *path, bool any_content)
{
    picture *p = picture_read(path);
    if (p)
        add_picture(path, p, any_content);
    return p;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the pictures of a foreign folder, leaving out unsuitable ones, for example with opacity. False if there is no
 * such folder. */
static bool add_directory(const char *path, bool any_content)
{
    char *names[256], whole[512];
    size_t count = 0;
    DIR *directory = opendir(path);
    if (!directory)
        return false;
    for (struct dirent *entry; count < 256 && (entry = readdir(directory));)
        if (is_picture_name(entry->d_name))
            names[count++] = strdup(entry->d_name);
    closedir(directory);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        snprintf(whole, sizeof whole, "%s/%s", path, names[i]);
        if (!add_file(whole, any_content))
            printf("not used, neither gray nor RGB or not readable: %s\n", whole);
        free(names[i]);
    }
    return true;
}

/* Adds the named files and those of L2K_IMAGES_DIR; returns how many could not be read. */
static long gather_pictures(char **names, bool any_content)
{
    const char *directory = getenv("L2K_IMAGES_DIR");
    long failures = 0;
    for (; *names; names++)
        if (!add_file(*names, any_content)) {
            printf("FAIL: cannot read %s\n", *names);
            failures++;
        }
    if (!directory || !*directory) {
        printf("L2K_IMAGES_DIR is not set: no further natural pictures\n");
    } else if (!add_directory(directory, any_content)) {
        printf("FAIL: cannot read L2K_IMAGES_DIR, %s\n", directory);
        failures++;
    }
    return failures;
}

static void add_synthetic(void)
{
    static const shape synthetic[] = {
        {.width = 640, .height = 512, .num_components = 3, .precision = 8, .seed = 11},
        {.width = 513, .height = 600, .num_components = 1, .precision = 12, .seed = 12},
    };
    add_picture("synthetic RGB 8 bit", picture_make(&synthetic[0]), false);
    add_picture("synthetic gray 12 bit", picture_make(&synthetic[1]), false);
}

/* Both decoders must return every picture. */
static long lossless_pictures(void)
{
    static const coding lossless;
    long failures = 0;
    for (size_t i = 0; i < num_pictures; i++) {
        char message[MESSAGE_BYTES] = "";
        bytes file = {0};
        picture *back[2] = {NULL, NULL};
        bool good = lift_encode(pictures[i].p, &lossless, L2K_FORMAT_CODESTREAM, &file, message) == L2K_OK;
        if (good) {
            back[0] = lift_decode(&file, NULL, NULL, message);
            back[1] = opj_library_decode(&file, NULL);
        }
        for (int k = 0; k < 2; k++) {
            good = good && back[k] && picture_compare(pictures[i].p, back[k]).peak == 0;
            picture_free(back[k]);
        }
        printf("%s%s: lossless in %zu bytes %s\n", good ? "" : "FAIL ", pictures[i].name, file.size, message);
        failures += !good;
        bytes_free(&file);
    }
    return failures;
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    char *end = NULL;
    unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], &end, 10) : 0;
    long failures = 1;
    if (end && *end)
        count = 0; /* a picture's name */
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(part, "lossless") == 0) {
        failures = gather_pictures(argv + (count ? 3 : 2), true);
        failures += lossless_pictures();
        failures += roundtrip_lossless(count ? count : 1500);
    } else if (strcmp(part, "lossy") == 0) {
        failures = roundtrip_lossy(count ? count : 400);
    } else if (strcmp(part, "foreign") == 0) {
        failures = roundtrip_foreign(count ? count : 500);
    } else if (strcmp(part, "encoder") == 0) {
        failures = roundtrip_encoder(count ? count : 1000, argc > 3 ? strtoull(argv[3], NULL, 0) : 0);
    } else if (strcmp(part, "rates") == 0 || strcmp(part, "quality") == 0) {
        add_synthetic();
        failures = gather_pictures(argv + 2, false);
        failures += (part[0] == 'r' ? roundtrip_rates : roundtrip_quality)(pictures, num_pictures);
    } else {
        fprintf(stderr,
                "usage: roundtrip lossless [count] [picture ...] | lossy|foreign [count] | encoder [count [seed]] | "
                "rates|quality [picture ...]\n");
    }
    for (size_t i = 0; i < num_pictures; i++)
        picture_free(pictures[i].p);
    printf("%s: %ld failures\n", part, failures);
    return failures ? 1 : 0;
}
