/* make_corpus FOLDER: writes the seed corpus. FOLDER/codestreams is for the targets that take JPEG 2000 files,
 * FOLDER/parameters for those that derive everything from their bytes, FOLDER/images for the readers of picture
 * files, FOLDER/blocks for the block decoders, FOLDER/videos for the decoder of Dirac and VC-2. */
#include "corpus.h"

#include <sys/stat.h>

/* clang-format off */
static const uint8_t tails[][24] = {
    {0},
    {16, 0, 0, 0, 0, 0, 0, 21},                                         /* the 21st allocation fails; then a second round */
    {4, 7, 0, 0, 0, 0, 0, 0,                1},                         /* a stream in small reads; one resolution level less */
    {1},                                                                /* strict */
    {16, 0, 0, 0, 0, 0, 0, 0,               0, 0, 0, 2, 60, 90, 80, 70, /* a region, then another layer and component */
     0, 1, 1, 1},
    {24, 0, 0, 0, 0, 0, 0, 0,               2, 1, 0, 4, 3, 5, 20, 9,    /* opened again for the second round */
     1, 0, 2, 0},
    {2 + 4, 0, 0, 0, 0, 0, 0, 0,            0, 0, 0, 3, 200, 200, 200, 200},
    {0, 0, 40, 30},                                                     /* little memory, few samples */
    {4, 0, 0, 0, 2, 0},                                                 /* no more than 512 bytes */
    {16 + 32, 0, 0, 0, 0, 0, 0, 0,          0, 0, 0, 2, 60, 90, 80, 70, /* read in parts: one window, then another */
     0, 0, 0, 2, 20, 30, 100, 120},
    {16 + 32 + 64, 0, 0, 0, 0, 0, 0, 0,     0, 0, 0, 2, 60, 90, 80, 70, /* the same with code-blocks that are kept */
     0, 0, 0, 2, 70, 90, 80, 70},
    {24, 0, 0, 0, 0, 0, 0, 7},                                          /* an allocation fails early; then everything again */
};
/* clang-format on */

static const char *folder;
static size_t saved;

void corpus_save(const char *kind, const char *name, const void *data, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", folder, kind, name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, bytes, out) != bytes || fclose(out) != 0) {
        fprintf(stderr, "make_corpus: %s cannot be written\n", path);
        exit(2);
    }
    saved++;
}

static void save_with_tail(const char *name, memory_file file, const uint8_t *tail)
{
    memory_write(&file, tail, sizeof *tails);
    corpus_save("codestreams", name, file.data, file.size);
    free(file.data);
}

void corpus_save_stream(const char *name, memory_file file)
{
    save_with_tail(name, file, tails[saved % (sizeof tails / sizeof *tails)]);
}

void corpus_save_windows(const char *name, memory_file file)
{
    enum { IN_PARTS = 9, KINDS = 2 };
    save_with_tail(name, file, tails[IN_PARTS + saved % KINDS]);
}

/* For the targets that derive everything from their bytes, any bytes are valid; these are mostly 0, so that most
 * options, but not always the same ones, have their defaults. */
static void make_parameters(void)
{
    random_state = 7;
    for (unsigned n = 0; n < 160; n++) {
        char name[64];
        uint8_t bytes[64 + 400];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = i < 64 && random_below(8) >= n / 20 ? 0 : (uint8_t)random_u64();
        bytes[3] = bytes[3] ? bytes[3] : 31;
        snprintf(name, sizeof name, "parameters-%03u", n);
        corpus_save("parameters", name, bytes, n % 2 ? sizeof bytes : 64 + random_below(64));
    }
}

/* The same, with HT code-blocks: a choice that comes after those of precincts and layers. */
static void make_ht_parameters(void)
{
    for (unsigned n = 0; n < 60; n++) {
        char name[64];
        uint8_t bytes[64 + 400] = {0};
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = i < 64 && random_below(8) >= n / 10 ? 0 : (uint8_t)random_u64();
        bytes[3] = 31 + n;
        bytes[16] = (uint8_t)(2 * n + 1); /* where it is with the defaults before it */
        snprintf(name, sizeof name, "ht-parameters-%03u", n);
        corpus_save("parameters", name, bytes, sizeof bytes);
    }
}

static void make_folder(const char *kind)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, kind);
    mkdir(path, 0755);
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "make_corpus FOLDER: where the files go\n");
        return 2;
    }
    folder = arguments[1];
    mkdir(folder, 0755);
    make_folder("codestreams");
    make_folder("parameters");
    make_folder("images");
    make_folder("blocks");
    make_folder("videos");
    corpus_encoded();
    corpus_edited();
    corpus_segments();
    corpus_boxes();
    make_parameters();
    make_ht_parameters();
    corpus_images();
    corpus_ht();
#ifdef L2K_WITH_DIRAC
    corpus_videos();
#endif
    printf("%zu files\n", saved);
    return 0;
}
