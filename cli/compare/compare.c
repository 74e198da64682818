/* `lift2k compare`: how much two pictures of the same shape differ. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/compare/difference.h"
#include "cli/input/input.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

/* The statuses of cmp and diff, so that a script can distinguish a difference from a failure. */
enum { EXIT_IDENTICAL = 0, EXIT_DIFFERENT = 1, EXIT_TROUBLE = 2 };

typedef struct comparison {
    const char *names[2];
    cli_picture pictures[2];
    bool quiet;
} comparison;

static const char *sign_name(const l2k_component *component)
{
    return component->is_signed ? "signed" : "unsigned";
}

static bool same_component(const comparison *both, uint32_t c)
{
    const l2k_component *a = &both->pictures[0].components[c], *b = &both->pictures[1].components[c];
    if (a->width != b->width || a->height != b->height)
        return cli_error(both->names[1], "component %u has %u x %u samples, that of %s %u x %u", c, b->width, b->height,
                         both->names[0], a->width, a->height);
    if (a->precision != b->precision || a->is_signed != b->is_signed)
        return cli_error(both->names[1], "component %u is %u bit %s, that of %s %u bit %s", c, b->precision,
                         sign_name(b), both->names[0], a->precision, sign_name(a));
    return true;
}

static bool same_shape(const comparison *both)
{
    uint32_t a = both->pictures[0].image.num_components, b = both->pictures[1].image.num_components;
    if (a != b)
        return cli_error(both->names[1], "%u component%s, %s has %u", b, b == 1 ? "" : "s", both->names[0], a);
    for (uint32_t c = 0; c < a; c++)
        if (!same_component(both, c))
            return false;
    return true;
}

static bool print_component(const comparison *both, uint32_t c, const cli_difference *difference)
{
    const l2k_component *component = &both->pictures[0].components[c];
    double ssim;
    if (!cli_ssim(&ssim, component, &both->pictures[0].planes[c], &both->pictures[1].planes[c]))
        return false;
    printf("%-9u  %10llu  %14.8g", c, (unsigned long long)difference->peak_error, difference->mse);
    double psnr = cli_psnr(difference->mse, component->precision);
    if (isinf(psnr))
        printf("  %9s", "inf");
    else
        printf("  %6.2f dB", psnr);
    if (isnan(ssim))
        printf("  %8s\n", "-");
    else
        printf("  %8.6f\n", ssim);
    return true;
}

static void print_verdict(const cli_difference *all)
{
    if (all->differing)
        printf("The pictures differ in %llu of %llu samples, by at most %llu.\n", (unsigned long long)all->differing,
               (unsigned long long)all->samples, (unsigned long long)all->peak_error);
    else
        printf("The pictures are identical: all %llu samples are equal.\n", (unsigned long long)all->samples);
}

static bool compare_samples(const comparison *both, cli_difference *all)
{
    memset(all, 0, sizeof *all);
    if (!both->quiet)
        printf("%-9s  %10s  %14s  %9s  %8s\n", "component", "peak error", "MSE", "PSNR", "SSIM");
    for (uint32_t c = 0; c < both->pictures[0].image.num_components; c++) {
        const l2k_component *component = &both->pictures[0].components[c];
        cli_difference one = {0};
        cli_difference_add(&one, component, component->height, &both->pictures[0].planes[c],
                           &both->pictures[1].planes[c]);
        all->samples += one.samples;
        all->differing += one.differing;
        all->peak_error = one.peak_error > all->peak_error ? one.peak_error : all->peak_error;
        if (!both->quiet && !print_component(both, c, &one))
            return false;
    }
    return true;
}

/* The first is in memory while the second is read, and both while they are compared. */
static bool read_both(comparison *both)
{
    for (int i = 0; i < 2; i++) {
        if (!cli_any_picture_read(&both->pictures[i], both->names[i]))
            return false;
        cli_memory_hold(cli_picture_bytes(&both->pictures[i]));
    }
    return true;
}

static int run(comparison *both)
{
    cli_difference all;
    bool done = read_both(both) && same_shape(both) && compare_samples(both, &all);
    if (done && !both->quiet)
        print_verdict(&all);
    cli_picture_free(&both->pictures[0]);
    cli_picture_free(&both->pictures[1]);
    if (!done || cli_finish_output() != CLI_EXIT_OK)
        return EXIT_TROUBLE;
    return all.differing ? EXIT_DIFFERENT : EXIT_IDENTICAL;
}

int cli_compare(const cli_options *options)
{
    comparison both = {.quiet = options->quiet};
    if (!cli_two_names(options, &both.names[0], &both.names[1]))
        return EXIT_TROUBLE;
    if (strcmp(both.names[0], "-") == 0 && strcmp(both.names[1], "-") == 0) {
        cli_error("compare", "only one of the two can be standard input");
        return EXIT_TROUBLE;
    }
    return run(&both);
}
