/* Prepares, decodes and writes one file: checks its format, cuts it into strips, converts and writes rows. */
#include "cli/decode/decode.h"

#include "pictures/user/limits.h"
#include "pictures/user/report.h"

static bool has_view(const cli_decode_file *file)
{
    return file->format < CLI_FORMAT_PGX;
}

static void warn_of_changes(const cli_decode_file *file, const char *target)
{
    const cli_view *view = &file->view;
    if (file->format != CLI_FORMAT_PNG && file->format != CLI_FORMAT_TIFF)
        return;
    if (view->least != view->depth || view->most != view->depth)
        cli_warning(target, "%u-bit samples are scaled to %u bits",
                    view->channels[0].precision != view->depth ? view->channels[0].precision
                                                               : view->channels[view->num_channels - 1].precision,
                    view->depth);
    if (view->premultiplied && file->format == CLI_FORMAT_PNG)
        cli_warning(target, "premultiplied opacity is written unchanged");
}

bool cli_decode_prepare(cli_decode_file *file, const cli_decode_job *job, const cli_task *task)
{
    const char *target = cli_output_name(task->output);
    uint32_t reduce = (uint32_t)job->options->reduce.value;
    file->format = job->format;
    file->written = &file->picture;
    if (job->options->rgb8) {
        if (!cli_rgb8_create(&file->conversion, &file->picture, job->format, job->options, cli_input_name(task->input)))
            return false;
        file->written = &file->conversion.picture;
        reduce = 0;
    }
    if (has_view(file) && (!cli_view_create(&file->view, file->written, reduce, target) ||
                           !cli_format_check(&file->format, &file->view, target)))
        return false;
    cli_write_options write = job->write;
    write.metadata = &file->picture.metadata;
    file->has_writer = cli_writer_open(&file->writer, task->output, file->format, file->written,
                                       has_view(file) ? &file->view : NULL, &write);
    if (file->has_writer && !job->options->rgb8 && has_view(file) && !job->options->quiet)
        warn_of_changes(file, target);
    return file->has_writer;
}

/* The number of output rows from rows of the reference grid above y1. */
static uint32_t rows_above(const cli_decode_file *file, const cli_decode_job *job, uint32_t y1)
{
    return job->options->rgb8 ? cli_view_rows_above(&file->conversion.decoded, y1)
           : has_view(file)   ? cli_view_rows_above(&file->view, y1)
                              : 0;
}

static bool write_strip(cli_decode_file *file, const cli_decode_job *job, const cli_task *task)
{
    const cli_strips *strip = &file->strips;
    const uint32_t end = rows_above(file, job, strip->y1);
    double start = cli_now();
    bool done = (!job->options->rgb8 || cli_rgb8_convert(&file->conversion, rows_above(file, job, strip->y0), end,
                                                         cli_output_name(task->output))) &&
                cli_writer_rows(&file->writer, end);
    file->writing += cli_now() - start;
    return done;
}

/* A picture with fewer samples than a strip needs is a single strip. */
static void begin_strips(cli_decode_file *file, const cli_decode_job *job, const l2k_info *info, const cli_task *task)
{
    const uint64_t least = !cli_writer_takes_rows(task->output, file->format, &job->write) ? UINT64_MAX
                           : job->options->by_rows                                         ? 0
                                                                                           : CLI_STRIP_SAMPLES;
    cli_strips_begin(&file->strips, &file->picture, info, (uint32_t)job->options->reduce.value, least);
}

/* Of many files, one is written while others are decoded, which pays more than writing each in strips. */
static bool decoder_cuts(const cli_decode_file *file, const cli_decode_job *job, const l2k_info *info,
                         const cli_task *task)
{
    return (task->is_alone || job->options->by_rows) &&
           cli_writer_takes_rows(task->output, file->format, &job->write) &&
           cli_strips_suit_decoder(&file->strips, info);
}

bool cli_decode_strips(cli_decode_file *file, cli_coded_file *coded, const cli_decode_job *job, const l2k_info *info,
                       const cli_task *task)
{
    const bool planar = job->options->rgb8 || !(has_view(file) || job->write.interleaved) ||
                        !cli_picture_can_interleave(&file->picture);
    cli_strips *strips = &file->strips;
    begin_strips(file, job, info, task);
    if (decoder_cuts(file, job, info, task)) {
        if (!cli_coded_begin_strips(coded, &file->picture))
            return false;
        strips->decoder = coded->decoder;
    }
    while (cli_strips_next(strips)) {
        cli_strips_progress(strips, 0, 1);
        if (!cli_coded_decode_rows(coded, &file->picture, planar ? CLI_PLANAR : CLI_INTERLEAVED, strips->y0, strips->y1,
                                   strips->reduce) ||
            !write_strip(file, job, task))
            return false;
    }
    return !strips->decoder || cli_coded_end_strips(coded);
}
