/* `lift2k volume`: slices of samples to the subbands of three directions, in a folder. */
#include "cli/volume/volume.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/run/progress.h"
#include "cli/run/tasks.h"
#include "pictures/user/report.h"

enum { DEFAULT_LEVELS = 5, DEFAULT_Z_LEVELS = 3 };

/* ---- The library --------------------------------------------------------------------------------------------- */

static l2k_status configure(l2k_volume *volume, const cli_options *options, const cli_volume_facts *facts,
                            l2k_direction direction)
{
    const int64_t settings[][2] = {{L2K_VOLUME_DIRECTION, direction},
                                   {L2K_VOLUME_WAVELET, facts->is_float ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3},
                                   {L2K_VOLUME_LEVELS, facts->levels},
                                   {L2K_VOLUME_Z_LEVELS, facts->z_levels},
                                   {L2K_VOLUME_ORDER, facts->isotropic ? L2K_VOLUME_ISOTROPIC : L2K_VOLUME_Z_FIRST},
                                   {L2K_VOLUME_COMPONENT_TRANSFORM, facts->component_transform},
                                   {L2K_VOLUME_BACKEND, options->backend.value},
                                   {L2K_VOLUME_THREADS, options->threads.value},
                                   {L2K_VOLUME_CPU, options->cpu.value}};
    l2k_status status = L2K_OK;
    for (size_t i = 0; status == L2K_OK && i < sizeof settings / sizeof *settings; i++)
        status = l2k_volume_set(volume, (l2k_volume_option)settings[i][0], settings[i][1]);
    return status == L2K_OK ? l2k_volume_prepare(volume, &facts->image, 0, facts->slices) : status;
}

l2k_volume *cli_volume_make(cli_messages *messages, const cli_options *options, const cli_volume_facts *facts,
                            l2k_direction direction)
{
    cli_messages_init(messages, options->names[0], options->quiet);
    l2k_hooks hooks = cli_messages_hooks(messages);
    hooks.progress = NULL;
    l2k_volume *volume = l2k_volume_new(&hooks);
    if (!volume) {
        cli_error(options->names[0], "out of memory");
        return NULL;
    }
    l2k_status status = configure(volume, options, facts, direction);
    if (status == L2K_OK)
        return volume;
    cli_messages_fail(messages, status);
    l2k_volume_free(volume);
    return NULL;
}

/* ---- Forward ------------------------------------------------------------------------------------------------- */

typedef struct transform {
    l2k_volume *volume; /* NULL: not needed */
    cli_messages messages;
    cli_volume_measure measure;
} transform;

typedef struct forward {
    const cli_options *options;
    cli_volume_facts facts;
    cli_slices slices;
    transform written, alone; /* alone: with --measure, without levels in Z */
    cli_volume_files files;
    cli_dump folder;
} forward;

static void choose(forward *f)
{
    const cli_options *o = f->options;
    cli_volume_facts *facts = &f->facts;
    facts->levels = (unsigned)cli_setting_or(o->encoder[L2K_ENCODER_LEVELS], DEFAULT_LEVELS);
    facts->isotropic = o->isotropic;
    facts->z_levels = (unsigned)cli_setting_or(o->z_levels, o->isotropic ? facts->levels : DEFAULT_Z_LEVELS);
    facts->is_float = cli_setting_or(o->encoder[L2K_ENCODER_WAVELET], L2K_WAVELET_5_3) == L2K_WAVELET_9_7;
    const cli_setting joined = o->encoder[L2K_ENCODER_COMPONENT_TRANSFORM];
    facts->component_transform =
        cli_setting_or(joined, 1) && cli_components_join(facts->components, facts->image.num_components, joined.given);
}

static bool make(transform *t, const forward *f, const cli_volume_facts *facts)
{
    t->volume = cli_volume_make(&t->messages, f->options, facts, L2K_FORWARD);
    return t->volume;
}

static bool make_transforms(forward *f)
{
    cli_volume_facts facts = f->facts;
    facts.z_levels = 0;
    facts.isotropic = false;
    return make(&f->written, f, &f->facts) && (!f->options->measure || make(&f->alone, f, &facts));
}

static bool open_files(forward *f)
{
    cli_dump *d = &f->folder;
    if (!cli_volume_list(&f->files, &f->facts, f->written.volume) || !cli_dump_make_folder(d, CLI_VOLUME_DESCRIPTION) ||
        !cli_output_open(&d->description, d->description_path))
        return false;
    for (size_t i = 0; i < f->files.count; i++) {
        f->files.bands[i].output = cli_dump_open_file(d, f->files.bands[i].name);
        if (!f->files.bands[i].output)
            return false;
    }
    return true;
}

/* Transforms the slice that was read, and takes all slices of coefficients that are ready. */
static bool run_transform(forward *f, transform *t)
{
    l2k_volume_slice slice;
    if (!t->volume)
        return true;
    l2k_status status = l2k_volume_put_slice(t->volume, f->slices.picture.planes);
    while (status == L2K_OK && (status = l2k_volume_get_coefficients(t->volume, &slice)) == L2K_OK && slice.views) {
        if (f->options->measure)
            cli_volume_count(&t->measure, &slice);
        if (t == &f->written && !cli_volume_write(&f->files, &slice))
            return false;
    }
    return status == L2K_OK || cli_messages_fail(&t->messages, status);
}

static bool finish(forward *f)
{
    for (size_t i = 0; i < f->files.count; i++)
        if (!cli_dump_end_file(f->files.bands[i].output))
            return false;
    f->folder.json.file = cli_output_stream(&f->folder.description);
    if (!f->folder.json.file)
        return cli_output_fail(&f->folder.description);
    cli_volume_describe(&f->folder.json, &f->facts, &f->files);
    return true;
}

static bool transform_all(forward *f)
{
    if (!cli_slices_open(&f->slices, f->options, &f->facts))
        return false;
    choose(f);
    if (!make_transforms(f) || !open_files(f))
        return false;
    for (uint32_t z = 0; z < f->facts.slices; z++) {
        if (!cli_slices_read(&f->slices) || !run_transform(f, &f->written) || !run_transform(f, &f->alone))
            return false;
        cli_progress_part((z + 1.0) / f->facts.slices);
    }
    return finish(f);
}

static int run_forward(const cli_options *options)
{
    forward f = {.options = options, .folder = {.folder = options->names[options->num_names - 1]}};
    cli_progress_begin(options, "transforming", 1);
    cli_progress_file(options->names[0]);
    bool done = transform_all(&f);
    done = cli_dump_end(&f.folder, done);
    cli_progress_end();
    if (done && !options->quiet)
        cli_note("%u slice%s of %u x %u -> %s: %zu subbands, described in %s", f.facts.slices,
                 f.facts.slices == 1 ? "" : "s", f.facts.image.x1, f.facts.image.y1, f.folder.folder, f.files.count,
                 CLI_VOLUME_DESCRIPTION);
    if (done && options->measure)
        cli_volume_print(&f.alone.measure, &f.written.measure);
    l2k_volume_free(f.written.volume);
    l2k_volume_free(f.alone.volume);
    cli_volume_files_free(&f.files);
    cli_slices_close(&f.slices);
    free(f.facts.components);
    return !done ? CLI_EXIT_FAILURE : options->measure ? cli_finish_output() : CLI_EXIT_OK;
}

/* ---- The command --------------------------------------------------------------------------------------------- */

/* Refuses options that the folder's description decides, instead of silently ignoring them. */
static bool check_back(const cli_options *options)
{
    const cli_setting *encoder = options->encoder;
    const struct {
        bool given;
        const char *name;
    } forward_only[] = {{options->has_raw, "raw"},
                        {options->z_levels.given, "z-levels"},
                        {options->isotropic, "isotropic"},
                        {options->measure, "measure"},
                        {encoder[L2K_ENCODER_WAVELET].given, "irreversible"},
                        {encoder[L2K_ENCODER_LEVELS].given, "levels"},
                        {encoder[L2K_ENCODER_COMPONENT_TRANSFORM].given,
                         encoder[L2K_ENCODER_COMPONENT_TRANSFORM].value ? "mct" : "no-mct"}};
    for (size_t i = 0; i < sizeof forward_only / sizeof *forward_only; i++)
        if (forward_only[i].given)
            return cli_error(options->names[0], "--%s is for slices; this is a folder of subbands",
                             forward_only[i].name);
    return true;
}

int cli_volume_command(const cli_options *options)
{
    if (options->num_names < 2) {
        cli_error("volume", "slices and a folder are needed, or a folder and an output; see lift2k volume --help");
        return CLI_EXIT_USAGE;
    }
    if (!cli_is_folder(options->names[0]))
        return run_forward(options);
    if (options->num_names > 2) {
        cli_error("volume", "a folder of subbands becomes one output, not %d", options->num_names - 1);
        return CLI_EXIT_USAGE;
    }
    return check_back(options) ? cli_volume_back(options, options->names[0], options->names[1]) : CLI_EXIT_USAGE;
}
