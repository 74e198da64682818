/* Tests the decoder on a test set like that of ISO/IEC 15444-4 (T.803):
 *
 *     conformance_t803 [--backend cpu|cuda] [--only TEST|FILE] [--openhtj2k PROGRAM] [SET]
 *
 * SET, or else L2K_CONFORMANCE_SET, is a folder with manifest.tsv (file, -, kind, test, reference, reduce, peak, mse)
 * and, if there is one, planes.tsv (file, reduce, component, width, height, and "exact" or "lossy" in the tenth
 * column); or a copy of OpenJPEG's test data, for which openjpeg_data.tsv in this folder is the manifest. See
 * docs/conformance.md. Test "sets" makes its own files and needs no set. L2K_COMMAND is the command to test,
 * open_htj2k_dec a second opinion on these files. Prints a line for each check and a table of counts; exit status 77
 * without a set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/t803/t803.h"
#include "conformance/process.h"

enum { SKIPPED = 77, LINE_BYTES = 8192, MOST_COLUMNS = 16, MOST_TESTS = 7, MOST_ROWS = 4096 };

static const char *const tests[MOST_TESTS] = {"c1", "c0", "rgb8", "ppm", "planes", "robust", "sets"};
static const char *const outcomes[T803_OUTCOMES] = {"pass", "FAIL", "refused", "skipped"};
static long counts[MOST_TESTS][T803_OUTCOMES];
static t803_row rows[MOST_ROWS];
static size_t num_rows;

/* ---- Tables -------------------------------------------------------------------------------------------------- */

/* Cuts a line at its tabs; missing columns are empty. */
static void split(char *line, char *columns[MOST_COLUMNS])
{
    static char empty[] = "";
    line[strcspn(line, "\r\n")] = 0;
    for (int i = 0; i < MOST_COLUMNS; i++) {
        char *column = strsep(&line, "\t");
        columns[i] = column ? column : empty;
    }
}

static t803_row *add_row(const char *file, const char *kind, const char *test, uint32_t reduce)
{
    t803_row *row = &rows[num_rows++];
    if (num_rows >= MOST_ROWS) {
        printf("FAIL more than %d rows\n", MOST_ROWS);
        exit(1);
    }
    memset(row, 0, sizeof *row);
    snprintf(row->file, sizeof row->file, "%s", file);
    snprintf(row->kind, sizeof row->kind, "%s", kind);
    snprintf(row->test, sizeof row->test, "%s", test);
    row->reduce = reduce;
    return row;
}

static void read_manifest(FILE *f, bool with_planes)
{
    char line[LINE_BYTES], *c[MOST_COLUMNS];
    while (fgets(line, sizeof line, f)) {
        split(line, c);
        if (strcmp(c[0], "file") == 0 || !*c[0] || (!with_planes && strcmp(c[3], "planes") == 0))
            continue;
        t803_row *row = add_row(c[0], c[2], c[3], (uint32_t)atoi(c[5]));
        snprintf(row->references, sizeof row->references, "%s", c[4]);
        snprintf(row->peak, sizeof row->peak, "%s", c[6]);
        snprintf(row->mse, sizeof row->mse, "%s", c[7]);
    }
    fclose(f);
}

/* Consecutive lines with the same file and reduction become one row. */
static void read_planes(FILE *f)
{
    char line[LINE_BYTES], *c[MOST_COLUMNS], kind[16];
    t803_row *row = NULL;
    while (fgets(line, sizeof line, f)) {
        split(line, c);
        uint32_t reduce = (uint32_t)atoi(c[1]), component = (uint32_t)atoi(c[2]);
        if (strcmp(c[0], "file") == 0)
            continue;
        if (!row || strcmp(row->file, c[0]) != 0 || row->reduce != reduce) {
            snprintf(kind, sizeof kind, "%.*s", (int)strcspn(c[0], "/"), c[0]);
            row = add_row(c[0], kind, "planes", reduce);
        }
        if (component >= PICTURE_MAX_COMPONENTS)
            continue;
        row->exact[component] = strcmp(c[9], "exact") == 0;
        row->width[component] = (uint32_t)atoi(c[3]);
        row->height[component] = (uint32_t)atoi(c[4]);
    }
    fclose(f);
}

static void add_made(void)
{
    static const char *const names[] = {"made-sets.j2c", "made-sets-causal.j2c", "made-sets-mixed.j2c"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add_row(names[i], "valid", "sets", 0);
}

static FILE *open_in(const char *directory, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return fopen(path, "r");
}

static bool read_set(const char *directory)
{
    FILE *manifest = open_in(directory, "manifest.tsv"), *planes = open_in(directory, "planes.tsv");
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/input/conformance", directory);
    if (!manifest && access(folder, R_OK) == 0)
        manifest = open_in(CONFORMANCE_SOURCE, "openjpeg_data.tsv");
    if (!manifest)
        return false;
    read_manifest(manifest, !planes);
    if (planes)
        read_planes(planes);
    return true;
}

/* ---- Results ------------------------------------------------------------------------------------------------- */

static void check_row(const t803_set *set, const t803_row *row)
{
    t803_finding finding = t803_check(set, row);
    printf("%-7s %-6s %-48s reduce %u  %s\n", outcomes[finding.outcome], row->test, row->file, row->reduce,
           finding.text);
    for (int i = 0; i < MOST_TESTS; i++)
        counts[i][finding.outcome] += strcmp(tests[i], row->test) == 0;
}

static long print_counts(void)
{
    long failures = 0;
    printf("\n%-8s", "test");
    for (int k = 0; k < T803_OUTCOMES; k++)
        printf("%9s", outcomes[k]);
    for (int i = 0; i < MOST_TESTS; i++) {
        printf("\n%-8s", tests[i]);
        for (int k = 0; k < T803_OUTCOMES; k++)
            printf("%9ld", counts[i][k]);
        failures += counts[i][T803_FAIL];
    }
    printf("\n");
    return failures;
}

/* Does `only` name the row's test or its file? */
static bool is_named(const t803_row *row, const char *only)
{
    return strcmp(only, row->test) == 0 || strcmp(only, row->file) == 0;
}

/* Does `only` name rows that need no set? To be asked while there are no others. */
static bool is_made(const char *only)
{
    for (size_t i = 0; i < num_rows; i++)
        if (is_named(&rows[i], only))
            return true;
    return false;
}

int main(int count, char **arguments)
{
    const char *only = NULL, *command = getenv("L2K_COMMAND");
    t803_set set = {.command = command && *command ? command : "lift2k", .backend = "cpu"};
    set.directory = getenv("L2K_CONFORMANCE_SET");
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--backend") == 0 && i + 1 < count)
            set.backend = arguments[++i];
        else if (strcmp(arguments[i], "--only") == 0 && i + 1 < count)
            only = arguments[++i];
        else if (strcmp(arguments[i], "--openhtj2k") == 0 && i + 1 < count)
            set.openhtj2k = arguments[++i];
        else
            set.directory = arguments[i];
    }
    add_made();
    const bool made_alone = only && is_made(only);
    if (!made_alone && (!set.directory || !*set.directory)) {
        printf("skipped: no test set; L2K_CONFORMANCE_SET or an argument names it (see docs/conformance.md)\n");
        return SKIPPED;
    }
    if (!made_alone && !read_set(set.directory)) {
        printf("FAIL %s has neither manifest.tsv nor input/conformance\n", set.directory);
        return 1;
    }
    scratch_make(set.scratch, sizeof set.scratch);
    for (size_t i = 0; i < num_rows; i++)
        if (!only || is_named(&rows[i], only))
            check_row(&set, &rows[i]);
    scratch_remove(set.scratch);
    long failures = print_counts();
    printf("%ld failures\n", failures);
    return failures ? 1 : 0;
}
