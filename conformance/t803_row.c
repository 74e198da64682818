/* Checking one row: the command decodes the file in a process of its own, with 20 seconds and 4 GiB, and what it writes
 * is compared with the references, or with what libopenjp2 decodes. */
#include "conformance/t803_row.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, SECONDS = 20, MOST_ARGUMENTS = 16 };

static t803_finding found(t803_outcome outcome, const char *format, ...)
{
    t803_finding f = {.outcome = outcome};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f.text, sizeof f.text, format, arguments);
    va_end(arguments);
    return f;
}

/* ---- The command --------------------------------------------------------------------------------------------- */

static void become_command(const t803_set *set, char **arguments, const char *log)
{
    struct rlimit memory = {(rlim_t)4 << 30, (rlim_t)4 << 30};
    bool limited = strcmp(set->backend, "cuda") != 0; /* which reserves far more addresses than memory */
#ifdef L2K_SANITIZE
    limited = false;
#endif
    int descriptor = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (descriptor >= 0)
        dup2(descriptor, 2);
    if (limited)
        setrlimit(RLIMIT_AS, &memory);
    alarm(SECONDS);
    execvp(arguments[0], arguments);
    _exit(127);
}

/* The exit status, or 128 and the signal. The first line of standard error is put into `message`. */
static int run_command(const t803_set *set, char **arguments, char message[MESSAGE_BYTES])
{
    char log[PATH_BYTES];
    int status = 0;
    snprintf(log, sizeof log, "%s/log", set->scratch);
    message[0] = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        become_command(set, arguments, log);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 127;
    FILE *f = fopen(log, "r");
    if (f && fgets(message, MESSAGE_BYTES, f))
        message[strcspn(message, "\n")] = 0;
    if (f)
        fclose(f);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int decode(const t803_set *set, const t803_row *row, const char *output, const char *option, const char *value,
                  char message[MESSAGE_BYTES])
{
    char input[PATH_BYTES], reduce[16], *arguments[MOST_ARGUMENTS];
    int n = 0;
    snprintf(input, sizeof input, "%s/%s", set->directory, row->file);
    snprintf(reduce, sizeof reduce, "%u", row->reduce);
    const char *all[] = {set->command, "decode",     input,     output, "--reduce", reduce,
                         "--backend",  set->backend, "--quiet", option, value,      NULL};
    while (all[n]) {
        arguments[n] = (char *)(uintptr_t)all[n];
        n++;
    }
    arguments[n] = NULL;
    return run_command(set, arguments, message);
}

/* ---- Comparing ----------------------------------------------------------------------------------------------- */

static double number_of(const char *list, unsigned index)
{
    while (index-- && strchr(list, ':'))
        list = strchr(list, ':') + 1;
    return atof(list);
}

typedef struct distance {
    double peak, mse;
} distance;

/* The top left part that the reference has; a reference of fewer bits is met by shifting ours (T.803, class 0). */
static distance measure(const picture *reference, const picture *ours, uint32_t r, uint32_t c)
{
    const l2k_component *a = &reference->components[r], *b = &ours->components[c];
    unsigned shift = b->precision > a->precision ? b->precision - a->precision : 0;
    distance d = {0, 0};
    for (uint32_t y = 0; y < a->height; y++)
        for (uint32_t x = 0; x < a->width; x++) {
            double e = (double)reference->samples[r][(size_t)y * a->width + x] -
                       (double)(ours->samples[c][(size_t)y * b->width + x] >> shift);
            d.mse += e * e;
            e = e < 0 ? -e : e;
            d.peak = e > d.peak ? e : d.peak;
        }
    d.mse /= (double)a->width * a->height;
    return d;
}

static bool comparable(const picture *reference, const picture *ours, uint32_t r, uint32_t c, bool crop)
{
    const l2k_component *a = &reference->components[r], *b = &ours->components[c];
    if (crop)
        return b->width >= a->width && b->height >= a->height && b->precision >= a->precision;
    return a->width == b->width && a->height == b->height && a->precision == b->precision &&
           a->is_signed == b->is_signed;
}

/* Component r of a reference and c of ours against the limits of component c; adds to the worst seen. */
static bool within(const t803_row *row, const picture *reference, uint32_t r, const picture *ours, uint32_t c,
                   uint32_t entry, t803_finding *finding)
{
    bool crop = strcmp(row->test, "c0") == 0;
    if (!comparable(reference, ours, r, c, crop)) {
        *finding =
            found(T803_FAIL, "component %u: %ux%u, %u bit instead of %ux%u, %u bit", entry, ours->components[c].width,
                  ours->components[c].height, ours->components[c].precision, reference->components[r].width,
                  reference->components[r].height, reference->components[r].precision);
        return false;
    }
    distance d = measure(reference, ours, r, c);
    double peak = number_of(row->peak, entry), mse = number_of(row->mse, entry);
    size_t length = strlen(finding->text);
    snprintf(finding->text + length, sizeof finding->text - length, "%s%g/%g %.3g/%g", length ? ", " : "", d.peak, peak,
             d.mse, mse);
    if (d.peak <= peak && d.mse <= mse)
        return true;
    finding->outcome = T803_FAIL;
    return false;
}

/* ---- The tests ----------------------------------------------------------------------------------------------- */

static void plane_name(const t803_set *set, uint32_t c, char *path)
{
    snprintf(path, PATH_BYTES, "%s/o_%u.pgx", set->scratch, c);
}

static picture *read_plane(const t803_set *set, uint32_t c)
{
    char path[PATH_BYTES];
    plane_name(set, c, path);
    return read_pgx(path);
}

static void remove_planes(const t803_set *set)
{
    char path[PATH_BYTES];
    for (uint32_t c = 0; plane_name(set, c, path), unlink(path) == 0; c++)
        continue;
}

static int decode_planes(const t803_set *set, const t803_row *row, bool first_alone, char message[MESSAGE_BYTES])
{
    char output[PATH_BYTES];
    remove_planes(set);
    snprintf(output, sizeof output, "%s/o.pgx", set->scratch);
    return decode(set, row, output, first_alone ? "--component" : NULL, "0", message);
}

/* Classes 0 and 1: plane after plane against a PGX of its own. */
static t803_finding check_class(const t803_set *set, const t803_row *row)
{
    char message[MESSAGE_BYTES], list[sizeof row->references], path[PATH_BYTES], *rest = list;
    int status = decode_planes(set, row, strcmp(row->test, "c0") == 0, message);
    t803_finding finding = {.outcome = T803_PASS};
    if (status != 0)
        return found(T803_FAIL, "status %d: %s", status, message);
    snprintf(list, sizeof list, "%s", row->references);
    for (uint32_t c = 0; rest && finding.outcome == T803_PASS; c++) {
        snprintf(path, sizeof path, "%s/%s", set->directory, strsep(&rest, ","));
        picture *reference = read_pgx(path), *ours = read_plane(set, c);
        if (!reference || !ours)
            finding = found(T803_FAIL, "component %u: no %s", c, reference ? "output" : "reference");
        else
            within(row, reference, 0, ours, 0, c, &finding);
        picture_free(reference);
        picture_free(ours);
    }
    return finding;
}

/* What a person sees, against a PPM or PGM. */
static t803_finding check_shown(const t803_set *set, const t803_row *row)
{
    char message[MESSAGE_BYTES], output[PATH_BYTES], path[PATH_BYTES];
    t803_finding finding = {.outcome = T803_PASS};
    snprintf(output, sizeof output, "%s/o.ppm", set->scratch);
    unlink(output);
    snprintf(path, sizeof path, "%s/%.500s", set->directory, row->references);
    int status = decode(set, row, output, strcmp(row->test, "rgb8") == 0 ? "--rgb8" : NULL, NULL, message);
    if (status != 0)
        return found(T803_FAIL, "status %d: %s", status, message);
    picture *reference = picture_read_pnm(path), *ours = picture_read_pnm(output);
    if (!reference || !ours)
        finding = found(T803_FAIL, "no %s", reference ? "output" : "reference");
    for (uint32_t c = 0; reference && ours && finding.outcome == T803_PASS && c < 3; c++)
        within(row, reference, reference->image.num_components == 1 ? 0 : c, ours,
               ours->image.num_components == 1 ? 0 : c, c, &finding);
    picture_free(reference);
    picture_free(ours);
    return finding;
}

/* Any end but a crash, a hang or a greed for memory. */
static t803_finding check_robust(const t803_set *set, const t803_row *row)
{
    char message[MESSAGE_BYTES];
    int status = decode_planes(set, row, false, message);
    if (status >= 126)
        return found(T803_FAIL, "ended by signal %d", status - 128);
    return found(T803_PASS, "status %d", status);
}

/* libopenjp2 decodes in this process: the planes of damaged files are asked for in processes of their own. */
static t803_finding compare_planes(const t803_set *set, const t803_row *row, const picture *theirs)
{
    t803_finding finding = {.outcome = T803_PASS};
    uint32_t equal = 0, lossy = 0;
    for (uint32_t c = 0; c < theirs->image.num_components; c++) {
        picture *ours = read_plane(set, c);
        distance d = {0, 0};
        if (!ours || !comparable(theirs, ours, c, 0, false))
            finding = found(T803_FAIL, "plane %u: %s", c, ours ? "another size or precision" : "no output");
        else
            d = measure(theirs, ours, c, 0);
        picture_free(ours);
        if (finding.outcome == T803_PASS && d.peak > (row->exact[c] ? 0 : 1))
            finding = found(T803_FAIL, "plane %u differs by up to %g", c, d.peak);
        if (finding.outcome != T803_PASS)
            return finding;
        equal += d.peak == 0;
        lossy += !row->exact[c];
    }
    return found(T803_PASS, "%u planes, %u of 9/7; %u equal", theirs->image.num_components, lossy, equal);
}

static t803_finding check_planes(const t803_set *set, const t803_row *row)
{
    char message[MESSAGE_BYTES], path[PATH_BYTES];
    bool damaged = strcmp(row->kind, "corrupt") == 0, other_part = strcmp(row->kind, "htj2k") == 0;
    int status = decode_planes(set, row, false, message);
    if (status != 0 && (damaged || other_part))
        return found(T803_REFUSED, "status %d: %.150s", status, message);
    if (status != 0)
        return found(T803_FAIL, "status %d: %.150s", status, message);
    snprintf(path, sizeof path, "%s/%s", set->directory, row->file);
    bytes file = bytes_read(path);
    picture *theirs = opj_library_decode(&file, &(decoding){.reduce = row->reduce});
    t803_finding finding = theirs ? compare_planes(set, row, theirs) : found(T803_SKIPPED, "libopenjp2 refuses it");
    if (damaged && finding.outcome == T803_FAIL)
        finding.outcome = T803_REFUSED; /* whatever is made of damage is as good */
    picture_free(theirs);
    bytes_free(&file);
    return finding;
}

t803_finding t803_check(const t803_set *set, const t803_row *row)
{
    static const struct {
        const char *test;
        t803_finding (*check)(const t803_set *, const t803_row *);
    } tests[] = {{"c1", check_class},  {"c0", check_class},      {"rgb8", check_shown},
                 {"ppm", check_shown}, {"robust", check_robust}, {"planes", check_planes}};
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", set->directory, row->file);
    if (access(path, R_OK) != 0)
        return found(T803_SKIPPED, "not in this set");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(row->test, tests[i].test) == 0)
            return tests[i].check(set, row);
    return found(T803_FAIL, "an unknown test");
}
