/* encode --verify: decodes the output strip by strip, and compares it with the original. */
#include "cli/encode/encode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/run/messages.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

typedef struct checking {
    cli_coded_file *check;
    cli_reader *original;
    const char *name; /* of the file that was written */
    bool by_rows, lossless;
    cli_picture decoded;
    cli_difference *differences; /* of each component */
} checking;

bool cli_verify_prepare(cli_coded_file *check, const cli_batch *batch, cli_coder *coder)
{
    const cli_place place = cli_place_of(&batch->share, coder);
    const cli_setting settings[L2K_DECODER_NUM_OPTIONS] = {[L2K_DECODER_THREADS] = {coder->threads, true},
                                                           [L2K_DECODER_BACKEND] = place.backend,
                                                           [L2K_DECODER_DEVICE] = place.device,
                                                           [L2K_DECODER_DEVICES] = place.devices,
                                                           [L2K_DECODER_CPU] = batch->options->cpu,
                                                           [L2K_DECODER_GPU_MIN_SAMPLES] =
                                                               batch->share.gpu_min_samples};
    if (!check->decoder && !cli_coded_create(check, "--verify", batch->options->quiet, true))
        return false;
    check->messages.failed = place.failed;
    return cli_messages_check(&check->messages, cli_set_decoder(check->decoder, settings));
}

/* Where no sample may differ. */
static bool judge(const checking *k)
{
    for (uint32_t c = 0; k->lossless && c < k->decoded.image.num_components; c++) {
        const cli_difference *d = &k->differences[c];
        if (d->differing)
            return cli_error(k->name,
                             "--verify: component %u differs in %llu of %llu samples, by at most %llu; the file was "
                             "not kept",
                             c, (unsigned long long)d->differing, (unsigned long long)d->samples,
                             (unsigned long long)d->peak_error);
    }
    return true;
}

static bool describe(checking *k, l2k_info *info)
{
    l2k_image image;
    l2k_decoder *decoder = k->check->decoder;
    if (!cli_messages_check(&k->check->messages, l2k_decoder_info(decoder, info)) ||
        !cli_messages_check(&k->check->messages, l2k_decoder_image(decoder, &image)) ||
        !cli_picture_adopt(&k->decoded, &image, k->name))
        return false;
    k->decoded.image.icc = NULL; /* belongs to the decoder */
    if (!cli_pictures_alike(&k->original->picture.image, &k->decoded.image))
        return cli_error(k->name, "--verify: decoding gives a picture of another shape; the file was not kept");
    k->differences = calloc(image.num_components, sizeof *k->differences);
    return k->differences || cli_error(k->name, "out of memory");
}

static bool check_strip(checking *k, cli_strips *strip)
{
    const cli_picture *original = &k->original->picture, *decoded = &k->decoded;
    const cli_layout layout = cli_picture_can_interleave(decoded) ? CLI_INTERLEAVED : CLI_PLANAR;
    const uint32_t rows = strip->y1 - strip->y0;
    /* Both pictures, or strips of both, are in memory at the same time. */
    k->check->other_bytes = k->by_rows ? cli_picture_strip_bytes(original, rows) : cli_picture_bytes(original);
    if (!cli_memory_allowed(k->check->other_bytes + cli_picture_strip_bytes(decoded, rows), k->name) ||
        (k->by_rows && !cli_reader_rows(k->original, strip->y0, strip->y1)) || !cli_strips_decode(strip, layout))
        return false;
    for (uint32_t c = 0; c < decoded->image.num_components; c++)
        cli_difference_add(&k->differences[c], &decoded->components[c], decoded->rows[c].count, &original->planes[c],
                           &decoded->planes[c]);
    return true;
}

static bool check_strips(checking *k)
{
    l2k_info info;
    cli_strips strips;
    if (!describe(k, &info) ||
        !cli_strips_begin(&strips, k->check, &k->decoded, &info, 0, k->by_rows ? 0 : UINT64_MAX, k->by_rows))
        return false;
    while (cli_strips_next(&strips, CLI_VERIFY_FROM))
        if (!check_strip(k, &strips))
            return false;
    return cli_strips_end(&strips) && judge(k);
}

bool cli_verify(cli_coded_file *check, cli_output *output, cli_reader *original, bool by_rows,
                const cli_options *options, cli_difference **differences)
{
    checking k = {.check = check,
                  .original = original,
                  .name = output->name,
                  .by_rows = by_rows,
                  .lossless = cli_encode_is_lossless(options)};
    cli_input written;
    check->other_bytes = cli_picture_bytes(&original->picture);
    /* Indices are compared before the palette. */
    if (!cli_messages_check(&check->messages, l2k_decoder_set(check->decoder, L2K_DECODER_COMPONENT,
                                                              original->picture.num_entries ? 0 : -1)) ||
        !cli_output_reopen(output, &written))
        return false;
    const bool done = cli_coded_next(check, &written) && check_strips(&k);
    *differences = k.differences;
    cli_input_close(&written);
    cli_picture_free(&k.decoded);
    return done;
}

/* ---- The report ---------------------------------------------------------------------------------------------- */

/* A PSNR target applies to all components together. */
static void report_all(const char *name, const cli_picture *picture, const cli_difference *differences,
                       const cli_options *options)
{
    const bool asked = options->num_layer_targets && options->target == L2K_TARGET_PSNR;
    const double target = asked ? options->layer_targets[options->num_layer_targets - 1] : 0;
    char wanted[40] = "";
    double error = 0, samples = 0;
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        error += differences[c].squares / pow(ldexp(1, (int)picture->components[c].precision) - 1, 2);
        samples += (double)differences[c].samples;
    }
    if (target > 0)
        snprintf(wanted, sizeof wanted, ", %g dB asked for", target);
    if (error > 0 && (target > 0 || picture->image.num_components > 1))
        cli_report("%s: verified: all components PSNR %.2f dB%s", name, 10 * log10(samples / error), wanted);
}

/* Lossy files get a line for each component, and one for all; "identical" is printed once. */
void cli_verify_report(const char *name, const cli_picture *picture, const cli_difference *differences,
                       const cli_options *options)
{
    const bool lossless = cli_encode_is_lossless(options);
    char count[CLI_UNITS_ROOM];
    double samples = 0;
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        const double psnr = cli_psnr(differences[c].mse, picture->components[c].precision);
        samples += (double)differences[c].samples;
        if (!lossless && isinf(psnr))
            cli_report("%s: verified: component %u identical", name, c);
        else if (!lossless)
            cli_report("%s: verified: component %u PSNR %.2f dB, peak error %llu", name, c, psnr,
                       (unsigned long long)differences[c].peak_error);
    }
    if (lossless)
        cli_report("%s: verified: identical, %s", name, cli_count_text(samples, "samples", count));
    else
        report_all(name, picture, differences, options);
}
