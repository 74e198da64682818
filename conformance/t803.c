/* The decoder over a test set in the manner of ISO/IEC 15444-4 (T.803), found through L2K_CONFORMANCE_DIR: manifest.tsv
 * with the columns file, sha256, kind, test, reference, reduce, peak, mse. Each file gets a process of its own,
 * with 20 seconds and 4 GiB.
 *  - test c1: within peak and mse of the references, component by component;
 *  - kinds valid and jp2: as libopenjp2 decodes it, to within 1;
 *  - others: no crash.
 * A refusal as unsupported that names its cause is counted, not failed. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/opj.h"

#define SKIPPED 77
#define MAX_FIELDS 8
#define FIELD_BYTES 512

enum { FIELD_FILE, FIELD_HASH, FIELD_KIND, FIELD_TEST, FIELD_REFERENCE, FIELD_REDUCE, FIELD_PEAK, FIELD_MSE };
enum { OUTCOME_PASS, OUTCOME_FAIL, OUTCOME_UNSUPPORTED, OUTCOME_ERROR, OUTCOMES };

typedef struct row {
    char fields[MAX_FIELDS][FIELD_BYTES];
} row;

static const char *directory;

static bool parse_row(const char *line, row *r)
{
    int n = 0;
    for (; n < MAX_FIELDS; n++) {
        size_t length = strcspn(line, "\t\r\n");
        snprintf(r->fields[n], FIELD_BYTES, "%.*s", (int)length, line);
        line += length;
        if (*line == '\t')
            line++;
    }
    return r->fields[FIELD_FILE][0] && strcmp(r->fields[FIELD_FILE], "file") != 0;
}

/* Entry number `index` of a list such as "1:2:3"; the last one stands for all further ones. */
static double entry(const char *list, unsigned index)
{
    while (index-- && strchr(list, ':'))
        list = strchr(list, ':') + 1;
    return atof(list);
}

static bool within(const picture *ours, unsigned c, const picture *reference, double peak, double mse)
{
    const l2k_component *a = &ours->components[c], *b = &reference->components[0];
    double worst = 0, sum = 0;
    size_t count = (size_t)a->width * a->height;
    if (a->width != b->width || a->height != b->height) {
        printf("    component %u is %ux%u, the reference %ux%u\n", c, a->width, a->height, b->width, b->height);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        double d = (double)ours->samples[c][i] - reference->samples[0][i];
        worst = d * d > worst * worst ? (d < 0 ? -d : d) : worst;
        sum += d * d;
    }
    if (worst > peak || sum > mse * (double)count)
        printf("    component %u: peak %g (at most %g), mse %g (at most %g)\n", c, worst, peak, sum / (double)count,
               mse);
    return worst <= peak && sum <= mse * (double)count;
}

static int check_references(const row *r, const picture *ours)
{
    char list[FIELD_BYTES], path[2 * FIELD_BYTES], *rest = list;
    bool good = true;
    snprintf(list, sizeof list, "%s", r->fields[FIELD_REFERENCE]);
    for (unsigned c = 0; rest && c < ours->image.num_components; c++) {
        snprintf(path, sizeof path, "%s/%s", directory, strsep(&rest, ","));
        picture *reference = read_pgx(path);
        if (!reference)
            printf("    cannot read %s\n", path);
        good = reference && within(ours, c, reference, entry(r->fields[FIELD_PEAK], c),
                                   entry(r->fields[FIELD_MSE], c)) && good;
        picture_free(reference);
    }
    return good ? OUTCOME_PASS : OUTCOME_FAIL;
}

static int check_against_library(const bytes *file, const decoding *d, const picture *ours)
{
    picture *theirs = opj_library_decode(file, d);
    difference worst = {.peak = 0};
    if (theirs)
        worst = picture_compare(theirs, ours);
    if (worst.peak < 0 || worst.peak > 1)
        difference_print(&worst);
    picture_free(theirs);
    return worst.peak >= 0 && worst.peak <= 1 ? OUTCOME_PASS : OUTCOME_FAIL;
}

static int check_row(const row *r)
{
    char path[2 * FIELD_BYTES], message[MESSAGE_BYTES];
    decoding d = {.reduce = (uint32_t)atoi(r->fields[FIELD_REDUCE]), .threads = 1};
    l2k_status status;
    bool reference = strcmp(r->fields[FIELD_TEST], "c1") == 0;
    bool robust = strcmp(r->fields[FIELD_KIND], "corrupt") == 0 || strcmp(r->fields[FIELD_KIND], "htj2k") == 0;
    snprintf(path, sizeof path, "%s/%s", directory, r->fields[FIELD_FILE]);
    bytes file = bytes_read(path);
    picture *ours = lift_decode(&file, &d, &status, message);
    if (!ours)
        printf("    %s: %s\n", l2k_status_text(status), message);
    if (!ours && status == L2K_ERROR_UNSUPPORTED && message[0])
        return OUTCOME_UNSUPPORTED;
    if (robust)
        return OUTCOME_PASS;
    if (!ours)
        return OUTCOME_ERROR;
    return reference ? check_references(r, ours) : check_against_library(&file, &d, ours);
}

static int run_row(const row *r)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit memory = {(rlim_t)4 << 30, (rlim_t)4 << 30};
#ifndef L2K_SANITIZE
        setrlimit(RLIMIT_AS, &memory);
#else
        (void)memory;
#endif
        alarm(20);
        int outcome = check_row(r);
        fflush(stdout);
        _exit(outcome);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return OUTCOME_FAIL;
    if (WIFSIGNALED(status))
        printf("    ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) < OUTCOMES ? WEXITSTATUS(status) : OUTCOME_FAIL;
}

int main(void)
{
    static const char *const names[OUTCOMES] = {"pass", "FAIL", "unsupported", "FAIL (refused)"};
    char path[FIELD_BYTES], line[8192];
    long totals[OUTCOMES] = {0};
    row r;
    directory = getenv("L2K_CONFORMANCE_DIR");
    snprintf(path, sizeof path, "%s/manifest.tsv", directory ? directory : "");
    FILE *manifest = directory ? fopen(path, "r") : NULL;
    if (!manifest) {
        printf("skipped: L2K_CONFORMANCE_DIR is not set, or holds no manifest.tsv\n");
        return SKIPPED;
    }
    while (fgets(line, sizeof line, manifest)) {
        if (!parse_row(line, &r) || strcmp(r.fields[FIELD_TEST], "c0") == 0)
            continue;
        int outcome = run_row(&r);
        printf("%s %s (%s, reduce %s)\n", names[outcome], r.fields[FIELD_FILE], r.fields[FIELD_TEST],
               r.fields[FIELD_REDUCE]);
        totals[outcome]++;
    }
    fclose(manifest);
    printf("%ld pass, %ld unsupported, %ld fail, %ld refused\n", totals[OUTCOME_PASS], totals[OUTCOME_UNSUPPORTED],
           totals[OUTCOME_FAIL], totals[OUTCOME_ERROR]);
    return totals[OUTCOME_FAIL] || totals[OUTCOME_ERROR] ? 1 : 0;
}
