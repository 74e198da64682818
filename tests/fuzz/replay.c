/* Runs a fuzz target without a fuzzer:
 *
 *     fuzz_TARGET RUNS FILE|FOLDER...
 *
 * calls it with every named file and every file of a named folder, unchanged and with a tail of zeros (fuzz.h), then
 * RUNS times with a damaged one, reproducibly. An input that breaks it, or that takes longer than a second of processor
 * time (ten with sanitizers), is saved as crash-TARGET in the current folder. */
#define _DEFAULT_SOURCE /* open */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#if defined(L2K_SANITIZE)
enum { MOST_SECONDS = 10 };
#else
enum { MOST_SECONDS = 1 };
#endif

typedef struct seed {
    uint8_t *data;
    size_t size;
} seed;

static seed *seeds;
static size_t num_seeds;

static const uint8_t *current;
static size_t current_bytes;
static char crash_name[64];

/* ---- Saving what crashes ---- */

static void leave(void)
{
    int file = open(crash_name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, current, current_bytes) != (ssize_t)current_bytes)
        return;
    close(file);
    static const char text[] = "the input was saved as crash-... in this folder\n";
    if (write(2, text, sizeof text - 1) < 0)
        return;
}

static void on_signal(int number)
{
    signal(number, SIG_DFL);
    leave();
    raise(number);
}

/* Sanitizers end the process without a signal. */
#if defined(L2K_SANITIZE)
void __sanitizer_set_death_callback(void (*callback)(void));
#else
static void __sanitizer_set_death_callback(void (*callback)(void))
{
    (void)callback;
}
#endif

static void prepare_for_crashes(const char *program)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    const char *name = strrchr(program, '/');
    snprintf(crash_name, sizeof crash_name, "crash-%s", name ? name + 1 : program);
    __sanitizer_set_death_callback(leave);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_signal);
}

/* ---- Seeds --------------------------------------------------------------------------------------------------- */

static void add_seed(const uint8_t *data, size_t size)
{
    if ((num_seeds & (num_seeds - 1)) == 0)
        seeds = realloc(seeds, (2 * num_seeds + 1) * sizeof *seeds);
    seed *s = seeds ? &seeds[num_seeds++] : NULL;
    if (s)
        *s = (seed){malloc(size + 1), size};
    if (!s || !s->data)
        abort();
    memcpy(s->data, data, size);
}

static bool add_file(const char *path)
{
    static uint8_t bytes[1 << 22];
    FILE *in = fopen(path, "rb");
    if (!in)
        return false;
    size_t size = fread(bytes, 1, sizeof bytes - FUZZ_TAIL, in);
    bool whole = !ferror(in) && fgetc(in) == EOF;
    fclose(in);
    memset(bytes + size, 0, FUZZ_TAIL);
    add_seed(bytes, size);
    add_seed(bytes, size + FUZZ_TAIL);
    return whole;
}

enum { NAME_ROOM = 256 };

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool add_path(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return add_file(path);
    char(*names)[NAME_ROOM] = NULL;
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".md"))
            continue;
        names = realloc(names, (count + 1) * sizeof *names);
        if (!names)
            abort();
        snprintf(names[count++], NAME_ROOM, "%s", entry->d_name);
    }
    closedir(folder);
    if (count)
        qsort(names, count, sizeof *names, by_name);
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, names[i]);
        good = add_path(name) && good;
    }
    free(names);
    return good;
}

/* ---- Damage -------------------------------------------------------------------------------------------------- */

/* splitmix64 */
static uint64_t random_u64(void)
{
    static uint64_t state = 1;
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static size_t random_below(size_t bound)
{
    return (size_t)(random_u64() % bound);
}

/* One of a few kinds of damage, mostly small, so that headers often survive. Returns the new length. */
static size_t damage_once(uint8_t *data, size_t size)
{
    size_t near = size < 200 ? size : 200, at = random_below(random_below(2) ? size : near);
    size_t run = random_below(size - at < 20 ? size - at : 20);
    switch (random_below(7)) {
    case 0:
        data[at] ^= (uint8_t)(1u << random_below(8));
        return size;
    case 1:
        data[at] = random_below(2) ? 0xFF : (uint8_t)random_u64();
        return size;
    case 2:
        data[at] = (uint8_t)(data[at] + random_below(3) - 1);
        return size;
    case 3: /* cut out */
        memmove(data + at, data + at + run, size - at - run);
        return size - run;
    case 4: /* copy within */
        memmove(data + random_below(size - run), data + at, run);
        return size;
    case 5: /* the tail, which has the options */
        data[size - 1 - random_below(size < FUZZ_TAIL ? size : FUZZ_TAIL)] = (uint8_t)random_u64();
        return size;
    default:
        return random_below(4) ? size : 1 + random_below(size - 1);
    }
}

static size_t damage(uint8_t *data, size_t size)
{
    for (size_t n = 1 + random_below(4); n > 0 && size > 1; n--)
        size = damage_once(data, size);
    return size;
}

/* ---- Runs ---------------------------------------------------------------------------------------------------- */

static double slowest;

/* Runs on a block of the exact size, so that the sanitizer sees reads beyond it. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        abort();
    memcpy(exact, data, size);
    current = exact;
    current_bytes = size;
    clock_t start = clock();
    LLVMFuzzerTestOneInput(exact, size);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    slowest = seconds > slowest ? seconds : slowest;
    FUZZ_EXPECT(seconds < MOST_SECONDS);
    free(exact);
}

static void run_damaged(const seed *s)
{
    uint8_t *copy = malloc(s->size + 1);
    if (!copy)
        abort();
    memcpy(copy, s->data, s->size);
    run(copy, damage(copy, s->size));
    free(copy);
}

int main(int count, char **arguments)
{
    struct rusage usage;
    char *end = NULL;
    unsigned long runs = count > 2 ? strtoul(arguments[1], &end, 10) : 0;
    if (!end || *end) {
        fprintf(stderr, "%s RUNS FILE|FOLDER...: the number of damaged inputs, and what to damage\n", arguments[0]);
        return 2;
    }
    prepare_for_crashes(arguments[0]);
    for (int i = 2; i < count; i++)
        if (!add_path(arguments[i])) {
            fprintf(stderr, "%s: %s cannot be read, or has files of more than 4 MiB\n", arguments[0], arguments[i]);
            return 2;
        }
    if (num_seeds == 0) {
        fprintf(stderr, "%s: there are no files to begin with\n", arguments[0]);
        return 2;
    }
    for (size_t i = 0; i < num_seeds; i++)
        run(seeds[i].data, seeds[i].size);
    for (unsigned long i = 0; i < runs; i++)
        run_damaged(&seeds[i % num_seeds]);
    getrusage(RUSAGE_SELF, &usage);
    printf("%zu files, %lu damaged, slowest %.3f s, at most %ld MiB\n", num_seeds / 2, runs, slowest,
           usage.ru_maxrss / 1024);
    for (size_t i = 0; i < num_seeds; i++)
        free(seeds[i].data);
    free(seeds);
    return 0;
}
