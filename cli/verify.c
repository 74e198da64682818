#include "cli/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/difference.h"
#include "cli/units.h"

static bool set(cli_source *check, l2k_decoder_option option, int64_t value)
{
    l2k_status status = l2k_decoder_set(check->decoder, option, value);
    return status == L2K_OK || cli_messages_fail(&check->messages, status);
}

bool cli_verify_create(cli_source *check, const cli_common_options *options)
{
    return cli_source_create(check, "--verify", options->quiet, true) &&
           set(check, L2K_DECODER_THREADS, options->threads) && set(check, L2K_DECODER_BACKEND, options->backend) &&
           (options->gpu_min_samples < 0 || set(check, L2K_DECODER_GPU_MIN_SAMPLES, options->gpu_min_samples));
}

static bool same_shape(const cli_picture *a, const cli_picture *b)
{
    if (a->image.num_components != b->image.num_components)
        return false;
    for (uint32_t c = 0; c < a->image.num_components; c++) {
        const l2k_component *left = &a->components[c], *right = &b->components[c];
        if (left->width != right->width || left->height != right->height || left->precision != right->precision ||
            left->is_signed != right->is_signed)
            return false;
    }
    return true;
}

static void tell_component(const char *name, uint32_t c, const cli_difference *difference, uint32_t precision)
{
    double psnr = cli_psnr(difference->mse, precision);
    if (isinf(psnr))
        cli_note("%s: verified: component %u identical", name, c);
    else
        cli_note("%s: verified: component %u PSNR %.2f dB, peak error %llu", name, c, psnr,
                 (unsigned long long)difference->peak_error);
}

/* The lines of single components are for losses; "identical" is said once. */
static bool compare(const char *name, const cli_picture *encoded, const cli_picture *decoded, bool lossless, bool quiet)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < encoded->image.num_components; c++) {
        cli_difference one;
        cli_difference_find(&one, &encoded->components[c], &encoded->planes[c], &decoded->planes[c]);
        samples += one.samples;
        if (lossless && one.differing)
            return cli_error(name,
                             "--verify: component %u differs in %llu of %llu samples, by at most %llu; the file was "
                             "not kept",
                             c, (unsigned long long)one.differing, (unsigned long long)one.samples,
                             (unsigned long long)one.peak_error);
        if (!lossless && !quiet)
            tell_component(name, c, &one, encoded->components[c].precision);
    }
    char count[CLI_UNITS_ROOM];
    if (lossless && !quiet)
        cli_note("%s: verified: identical, %s", name, cli_count_text((double)samples, "samples", count));
    return true;
}

static bool decode(cli_source *check, cli_picture *decoded)
{
    l2k_image image;
    l2k_status status = l2k_decoder_image(check->decoder, &image);
    if (status != L2K_OK)
        return cli_messages_fail(&check->messages, status);
    if (!cli_picture_adopt(decoded, &image, check->messages.subject))
        return false;
    decoded->image.icc = NULL; /* the decoder's */
    return cli_source_decode(check, decoded, cli_picture_can_interleave(decoded) ? CLI_INTERLEAVED : CLI_PLANAR);
}

bool cli_verify(cli_source *check, cli_output *output, const cli_picture *picture, bool lossless)
{
    cli_picture decoded = {0};
    cli_input written;
    if (!cli_output_reopen(output, &written))
        return false;
    bool done = cli_source_next(check, &written) && decode(check, &decoded);
    if (done)
        done =
            same_shape(picture, &decoded)
                ? compare(output->name, picture, &decoded, lossless, check->messages.quiet)
                : cli_error(output->name, "--verify: decoding gives a picture of another shape; the file was not kept");
    cli_input_close(&written);
    cli_picture_free(&decoded);
    return done;
}
