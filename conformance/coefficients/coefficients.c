/* Compares lift2k's transform and tier-1 with OpenJPEG's, element by element, and prints a table.
 *
 * Usage: coefficients [--backend cpu|cuda|all] [--random N] [--seed S] [--spoil STAGE] [--stages] [picture ...]
 *   --backend   where lift2k's transform runs: all stands for the CPU, and CUDA where there is a GPU
 *   --random    N random pictures and options, 150 by default
 *   --seed      the seed of the first of them, 1 by default; the others follow
 *   --spoil     for the self-test: changes one value of lift2k's at that stage, which must be found
 *   --stages    only lists the stages that --spoil can name
 * Pictures are PNG, PGM and PPM files (pictures.h), each coded in several ways.
 *
 * Exit status: 0 all equal, 1 not, 77 nothing could be compared (another OpenJPEG, or no GPU where only CUDA was
 * requested). L2K_REQUIRE_GPU=1 makes a missing GPU a failure. */
#include "conformance/coefficients/coefficients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/require.h"

#define SKIPPED 77

enum { LONGEST_LINE = 70 };

typedef struct settings {
    bool on[TABLE_BACKENDS];
    unsigned random;
    uint64_t seed;
    stage_id spoil;
    char **pictures;
} settings;

/* ---- One trial ------------------------------------------------------------------------------------------------- */

static unsigned trials, refused;

static void refuse(const trial *t, const char *what)
{
    refused++;
    printf("left out, OpenJPEG does not %s it: %s\n", what, t->name);
}

static void compare_encoding(stage_table *table, const trial *t, const settings *s, const bytes *stream,
                             const bytes *raw)
{
    watch_log log = watch_read(raw);
    for (l2k_backend backend = L2K_BACKEND_CPU; backend < TABLE_BACKENDS; backend++)
        if (s->on[backend])
            compare_forward(table, t, backend, &log, stream);
    if (s->on[L2K_BACKEND_CPU])
        compare_coded_blocks(table, t, &log);
    if (s->on[L2K_BACKEND_CPU])
        compare_volume(table, t, &log);
    watch_free(&log);
}

static void compare_decoding(stage_table *table, const trial *t, const settings *s, const bytes *raw)
{
    watch_log log = watch_read(raw);
    for (l2k_backend backend = L2K_BACKEND_CPU; backend < TABLE_BACKENDS; backend++)
        if (s->on[backend])
            compare_inverse(table, t, backend, &log);
    watch_free(&log);
}

static void run_trial(stage_table *table, const trial *t, const settings *s)
{
    char parameters[128];
    bytes stream = {0}, raw = {0};
    trials++;
    describe_trial(t, parameters, sizeof parameters);
    table_begin(table, t->name, parameters);
    if (opj_watch_encode(t->p, &t->o, &stream, &raw)) {
        compare_encoding(table, t, s, &stream, &raw);
        bytes_free(&raw);
        if (opj_watch_decode(&stream, &t->d, &raw))
            compare_decoding(table, t, s, &raw);
        else
            refuse(t, "decode");
    } else {
        refuse(t, "encode");
    }
    table_end(table);
    bytes_free(&stream);
    bytes_free(&raw);
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

static bool run_picture(stage_table *table, const char *path, const settings *s)
{
    const char *slash = strrchr(path, '/');
    picture *p = picture_read(path);
    if (!p) {
        printf("FAIL: cannot read %s\n", path);
        return false;
    }
    for (unsigned i = 0; i < PICTURE_TRIALS; i++) {
        trial t = picture_trial(slash ? slash + 1 : path, p, i);
        run_trial(table, &t, s);
    }
    picture_free(p);
    return true;
}

static int run(const settings *s)
{
    stage_table table = {.spoil = s->spoil};
    bool good = true;
    for (char **path = s->pictures; *path; path++)
        good = run_picture(&table, *path, s) && good;
    for (unsigned i = 0; i < s->random; i++) {
        trial t = random_trial(s->seed + i);
        run_trial(&table, &t, s);
        picture_free(t.p);
    }
    for (uint32_t i = 0; i < 2 * LONGEST_LINE && s->random; i++) {
        trial t = line_trial(1 + i / 2, i % 2);
        run_trial(&table, &t, s);
        picture_free(t.p);
    }
    good = table_finish(&table) && good;
    if (s->spoil < NUM_STAGES && !table.spoiled) {
        printf("FAIL: nothing was there to be changed at the stage \"%s\"\n", stage_name(s->spoil));
        return 2;
    }
    printf("%u trials, seeds from %llu on; %u left out\n", trials, (unsigned long long)s->seed, refused);
    if (refused * 10 > trials) { /* more than a few indicate another fault */
        printf("FAIL: too many were left out\n");
        good = false;
    }
    return good ? 0 : 1;
}

/* ---- Arguments ------------------------------------------------------------------------------------------------- */

static int list_stages(void)
{
    for (stage_id i = 0; i < NUM_STAGES; i++)
        printf("%s\n", stage_name(i));
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: coefficients [--backend cpu|cuda|all] [--random N] [--seed S] [--spoil STAGE] [--stages] "
                    "[picture ...]\n");
    return 2;
}

static bool take_backend(settings *s, const char *name)
{
    bool all = strcmp(name, "all") == 0;
    s->on[L2K_BACKEND_CPU] = all || strcmp(name, "cpu") == 0;
    s->on[L2K_BACKEND_CUDA] = all || strcmp(name, "cuda") == 0;
    return s->on[L2K_BACKEND_CPU] || s->on[L2K_BACKEND_CUDA];
}

static bool take_number(const char *text, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return *text && !*end;
}

static bool take_option(settings *s, const char *name, const char *value)
{
    uint64_t number;
    if (strcmp(name, "--backend") == 0)
        return take_backend(s, value);
    if (strcmp(name, "--spoil") == 0)
        return (s->spoil = stage_named(value)) < NUM_STAGES;
    if (strcmp(name, "--seed") == 0)
        return take_number(value, &s->seed);
    if (strcmp(name, "--random") != 0 || !take_number(value, &number))
        return false;
    s->random = (unsigned)number;
    return true;
}

/* Without a GPU, CUDA is reported and left out, or ends the program where nothing else was requested. */
static int settle_backends(settings *s)
{
    int missing = s->on[L2K_BACKEND_CUDA] ? gpu_missing() : 0;
    if (missing)
        s->on[L2K_BACKEND_CUDA] = false;
    return missing == SKIPPED && s->on[L2K_BACKEND_CPU] ? 0 : missing;
}

int main(int argc, char **argv)
{
    settings s = {.random = 150, .seed = 1, .spoil = NUM_STAGES};
    const char *trouble = opj_watch_trouble();
    int at = 1;
    take_backend(&s, "all");
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && strcmp(argv[1], "--stages") == 0)
        return list_stages();
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at += 2)
        if (at + 1 >= argc || !take_option(&s, argv[at], argv[at + 1]))
            return usage();
    s.pictures = argv + at;
    if (trouble) {
        printf("SKIPPED: %s\n", trouble);
        return SKIPPED;
    }
    int missing = settle_backends(&s);
    return missing ? missing : run(&s);
}
