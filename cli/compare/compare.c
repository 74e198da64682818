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

static const char *sign_name(const l2k_component *component)
{
    return component->is_signed ? "signed" : "unsigned";
}

static bool same_shape(const char *const names[2], const cli_picture pictures[2])
{
    const uint32_t count = pictures[0].image.num_components, other = pictures[1].image.num_components;
    if (count != other)
        return cli_error(names[1], "%u component%s, %s has %u", other, other == 1 ? "" : "s", names[0], count);
    for (uint32_t c = 0; c < count; c++) {
        const l2k_component *a = &pictures[0].components[c], *b = &pictures[1].components[c];
        if (a->width != b->width || a->height != b->height)
            return cli_error(names[1], "component %u has %u x %u samples, that of %s %u x %u", c, b->width, b->height,
                             names[0], a->width, a->height);
        if (a->precision != b->precision || a->is_signed != b->is_signed)
            return cli_error(names[1], "component %u is %u bit %s, that of %s %u bit %s", c, b->precision, sign_name(b),
                             names[0], a->precision, sign_name(a));
    }
    return true;
}

/* False: no memory. */
static bool print_component(uint32_t c, const cli_picture pictures[2], const cli_difference *difference)
{
    const l2k_component *component = &pictures[0].components[c];
    const double psnr = cli_psnr(difference->mse, component->precision);
    double ssim;
    if (!cli_ssim(&ssim, component, &pictures[0].planes[c], &pictures[1].planes[c]))
        return false;
    printf("%-9u  %10llu  %14.8g", c, (unsigned long long)difference->peak_error, difference->mse);
    printf(isinf(psnr) ? "  %9.0f" : "  %6.2f dB", psnr); /* "inf" */
    if (isnan(ssim))
        printf("  %8s\n", "-");
    else
        printf("  %8.6f\n", ssim);
    return true;
}

/* Returns the status. */
static int compare(const cli_picture pictures[2], bool quiet)
{
    unsigned long long samples = 0, differing = 0, peak_error = 0;
    if (!quiet)
        printf("%-9s  %10s  %14s  %9s  %8s\n", "component", "peak error", "MSE", "PSNR", "SSIM");
    for (uint32_t c = 0; c < pictures[0].image.num_components; c++) {
        const l2k_component *component = &pictures[0].components[c];
        cli_difference one = {0};
        cli_difference_add(&one, component, component->height, &pictures[0].planes[c], &pictures[1].planes[c]);
        samples += one.samples;
        differing += one.differing;
        peak_error = one.peak_error > peak_error ? one.peak_error : peak_error;
        if (!quiet && !print_component(c, pictures, &one))
            return EXIT_TROUBLE;
    }
    if (!quiet && differing)
        printf("The pictures differ in %llu of %llu samples, by at most %llu.\n", differing, samples, peak_error);
    else if (!quiet)
        printf("The pictures are identical: all %llu samples are equal.\n", samples);
    return cli_finish_output() != CLI_EXIT_OK ? EXIT_TROUBLE : differing ? EXIT_DIFFERENT : EXIT_IDENTICAL;
}

int cli_compare(const cli_options *options)
{
    const char *names[2];
    cli_picture pictures[2];
    memset(pictures, 0, sizeof pictures);
    bool done = cli_two_names(options, &names[0], &names[1]);
    if (done && strcmp(names[0], "-") == 0 && strcmp(names[1], "-") == 0)
        done = cli_error("compare", "only one of the two can be standard input");
    /* The first is in memory while the second is read, and both while they are compared. */
    for (int i = 0; done && i < 2; i++) {
        done = cli_any_picture_read(&pictures[i], names[i]);
        cli_memory_hold(cli_picture_bytes(&pictures[i]));
    }
    const int status = done && same_shape(names, pictures) ? compare(pictures, options->quiet) : EXIT_TROUBLE;
    cli_picture_free(&pictures[0]);
    cli_picture_free(&pictures[1]);
    return status;
}
