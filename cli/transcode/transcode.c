/* `lift2k transcode`: a JPEG 2000 file into another one without the transform. */
#include "cli/commands.h"
#include "cli/encode/encode.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"
#include "pictures/user/text.h"

typedef struct coder {
    cli_coder base;
    cli_coded_file coded; /* whose messages are those of the encoder, too */
    l2k_encoder *encoder;
} coder;

typedef struct transcode_file {
    cli_outcome outcome;
    cli_input input;
    cli_output output;
} transcode_file;

static void close_coder(cli_coder *base)
{
    coder *k = (coder *)base;
    cli_coded_close(&k->coded);
    l2k_encoder_free(k->encoder);
    k->encoder = NULL;
}

static bool make_coders(const cli_batch *batch, coder *k)
{
    const cli_options *options = batch->options;
    if (!cli_coded_create(&k->coded, "transcode", options->quiet, options->strict))
        return false;
    const l2k_hooks hooks = cli_messages_hooks(&k->coded.messages);
    k->encoder = l2k_encoder_new(&hooks);
    if (!k->encoder)
        return cli_error("transcode", "out of memory");
    const cli_setting settings[L2K_DECODER_NUM_OPTIONS] = {
        [L2K_DECODER_REDUCE] = options->reduce, [L2K_DECODER_LAYERS] = options->layers};
    return cli_encode_configure(k->encoder, &k->coded.messages, batch, &k->base, L2K_FORMAT_JP2) &&
           cli_messages_check(&k->coded.messages, cli_set_decoder(k->coded.decoder, settings));
}

static bool prepare(const cli_batch *batch, cli_coder *base)
{
    coder *k = (coder *)base;
    return (k->encoder || make_coders(batch, k)) &&
           l2k_encoder_set(k->encoder, L2K_ENCODER_THREADS, base->threads) == L2K_OK &&
           l2k_decoder_set(k->coded.decoder, L2K_DECODER_THREADS, base->threads) == L2K_OK;
}

/* Standard output gets what the input is. */
static bool choose_format(const cli_options *options, const coder *k, const cli_task *task, cli_outcome *outcome)
{
    l2k_info info;
    if (l2k_decoder_info(k->coded.decoder, &info) != L2K_OK)
        return false;
    const bool ht = options->ht || (info.style & L2K_STYLE_HT && !options->encoder[L2K_ENCODER_STYLE].given);
    l2k_format format = info.format;
    outcome->picture_bytes = cli_picture_raw_bytes(&info.image);
    return (cli_is_stream(task->output) || cli_encode_format(task->output, ht, &format)) &&
           l2k_encoder_set(k->encoder, L2K_ENCODER_FORMAT, format) == L2K_OK;
}

static bool code_file(const cli_batch *batch, cli_coder *base, const cli_task *task, void *state)
{
    transcode_file *file = state;
    coder *k = (coder *)base;
    if (!cli_input_open(&file->input, task->input) || !cli_coded_next(&k->coded, &file->input) ||
        !choose_format(batch->options, k, task, &file->outcome) || !cli_output_open(&file->output, task->output))
        return false;
    const l2k_stream stream = cli_encode_stream(&file->output);
    l2k_status status = l2k_encoder_set(k->encoder, L2K_ENCODER_LIMIT_MEMORY, (int64_t)cli_memory_left(0));
    cli_interrupt_wait(true);
    if (status == L2K_OK)
        status = l2k_encoder_transcode(k->encoder, k->coded.decoder, &stream);
    cli_interrupt_wait(false);
    if (file->output.error) /* errno is more precise than the library's error */
        return cli_output_fail(&file->output);
    if (!cli_coded_is_done(&k->coded, status) || !cli_output_commit(&file->output))
        return false;
    file->outcome.incomplete = k->coded.incomplete;
    file->outcome.coded_bytes = file->output.bytes;
    return true;
}

static void release_file(void *state)
{
    transcode_file *file = state;
    cli_output_discard(&file->output);
    cli_input_close(&file->input);
}

static void report_file(const cli_batch *batch, const cli_task *task, const void *state)
{
    const transcode_file *file = state;
    char text[CLI_UNITS_ROOM];
    (void)batch;
    cli_report("%s -> %s %s", cli_input_name(task->input), file->output.name, cli_bytes_text(file->output.bytes, text));
}

int cli_transcode(const cli_options *options)
{
    cli_batch batch = {options, "transcoding", {0},         NULL,         sizeof(coder), sizeof(transcode_file),
                       prepare, code_file,     report_file, release_file, close_coder};
    cli_tasks tasks;
    int status = CLI_EXIT_USAGE;
    if (options->ht && options->encoder[L2K_ENCODER_STYLE].given) {
        cli_error("--mq", "not together with --ht");
        return status;
    }
    if (cli_tasks_make(&tasks, options, cli_coded_extensions, options->ht ? "jph" : "jp2"))
        status = tasks.count ? cli_batch_run(&batch, &tasks) : CLI_EXIT_OK;
    cli_tasks_free(&tasks);
    return status;
}
