/* `lift2k volume`: slices of samples to the subbands of three directions, in a folder, and back. */
#include "cli/volume/volume.h"

#include <math.h>
#include <stdio.h>
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

/* A volume that is set up for the facts; NULL after a report. */
static l2k_volume *make_volume(cli_messages *messages, const cli_options *options, const cli_volume_facts *facts,
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

/* ---- The measure ------------------------------------------------------------------------------------------------- */

/* Coefficients by the bits of their magnitude: the gain of a third direction before any coding. */
typedef struct measure {
    uint64_t counts[33];
} measure;

/* Bits of the magnitude, rounded to an integer. */
static unsigned bits_of(const void *value, bool is_float)
{
    const double magnitude =
        is_float ? rint(fabs((double)*(const float *)value)) : fabs((double)*(const int32_t *)value);
    int exponent;
    frexp(magnitude, &exponent);
    return magnitude < 1 ? 0 : exponent > 32 ? 32 : (unsigned)exponent;
}

static void count_magnitudes(measure *m, const l2k_volume_slice *slice)
{
    for (uint32_t c = 0; c < slice->num_components; c++) {
        const l2k_coefficients *view = &slice->views[c];
        for (uint32_t band = 0; band < view->num_bands; band++) {
            const l2k_band_view *b = &view->bands[band];
            for (uint32_t y = 0; y < b->height; y++)
                for (uint32_t x = 0; x < b->width; x++) {
                    const size_t at = (size_t)(b->y + y) * view->stride + b->x + x;
                    m->counts[bits_of((const uint32_t *)view->base + at, view->type == L2K_COEFFICIENT_FLOAT32)]++;
                }
        }
    }
}

static double count_up_to(const measure *m, unsigned bits)
{
    double count = 0;
    for (unsigned i = 0; i <= bits; i++)
        count += (double)m->counts[i];
    return count;
}

static double share_up_to(const measure *m, unsigned bits)
{
    const double all = count_up_to(m, 32);
    return all > 0 ? 100 * count_up_to(m, bits) / all : 0;
}

static double mean_bits(const measure *m)
{
    double sum = 0;
    for (unsigned i = 0; i <= 32; i++)
        sum += i * (double)m->counts[i];
    return sum > 0 ? sum / count_up_to(m, 32) : 0;
}

static void print_measure(const measure *alone, const measure *together)
{
    printf("magnitude    slices alone    with Z\n");
    for (unsigned bits = 0; bits <= 6; bits++)
        printf("%s%-2u %17.1f %% %7.1f %%\n", bits ? "up to " : "      ", (1u << bits) - 1, share_up_to(alone, bits),
               share_up_to(together, bits));
    printf("mean bits %14.2f %11.2f\n", mean_bits(alone), mean_bits(together));
}

/* ---- Forward ------------------------------------------------------------------------------------------------- */

typedef struct transform {
    l2k_volume *volume; /* NULL: not needed */
    cli_messages messages;
    measure measure;
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
    t->volume = make_volume(&t->messages, f->options, facts, L2K_FORWARD);
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
            count_magnitudes(&t->measure, &slice);
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
    cli_progress_file();
    bool done = transform_all(&f);
    done = cli_dump_end(&f.folder, done);
    cli_progress_end();
    if (done && !options->quiet)
        cli_note("%u slice%s of %u x %u -> %s: %zu subbands, described in %s", f.facts.slices,
                 f.facts.slices == 1 ? "" : "s", f.facts.image.x1, f.facts.image.y1, f.folder.folder, f.files.count,
                 CLI_VOLUME_DESCRIPTION);
    if (done && options->measure)
        print_measure(&f.alone.measure, &f.written.measure);
    l2k_volume_free(f.written.volume);
    l2k_volume_free(f.alone.volume);
    cli_volume_files_free(&f.files);
    cli_slices_close(&f.slices);
    free(f.facts.components);
    return !done ? CLI_EXIT_FAILURE : options->measure ? cli_finish_output() : CLI_EXIT_OK;
}

/* ---- Back -------------------------------------------------------------------------------------------------------- */

typedef struct backward {
    const cli_options *options;
    const char *folder;
    cli_volume_facts facts;
    cli_messages messages;
    l2k_volume *volume;
    cli_volume_files files;
    cli_slices_out out;
} backward;

/* Takes all slices of samples that are ready. */
static bool drain(backward *b)
{
    for (bool got = true; got;) {
        l2k_status status = l2k_volume_get_slice(b->volume, b->out.picture.planes, &got);
        if (status != L2K_OK)
            return cli_messages_fail(&b->messages, status);
        if (got && !cli_slices_write(&b->out))
            return false;
    }
    return true;
}

static bool transform_back(backward *b)
{
    while (b->out.next < b->facts.slices) {
        l2k_volume_slice slice;
        l2k_status status = l2k_volume_next_coefficients(b->volume, &slice);
        if (status == L2K_OK && slice.views) {
            if (!cli_volume_read(&b->files, &slice, b->folder))
                return false;
            status = l2k_volume_put_coefficients(b->volume);
        }
        if (status != L2K_OK)
            return cli_messages_fail(&b->messages, status);
        if (!drain(b))
            return false;
        cli_progress_part((double)b->out.next / b->facts.slices);
    }
    return true;
}

static bool open_all(backward *b, const char *output)
{
    char *path = cli_join(b->folder, CLI_VOLUME_DESCRIPTION);
    const bool known = path ? cli_volume_facts_read(&b->facts, path) : cli_error(b->folder, "out of memory");
    free(path);
    if (!known)
        return false;
    for (uint32_t c = 0; c < b->facts.image.num_components; c++)
        l2k_component_size(&b->facts.image, c, &b->facts.components[c].width, &b->facts.components[c].height);
    b->volume = make_volume(&b->messages, b->options, &b->facts, L2K_INVERSE);
    return b->volume && cli_volume_list(&b->files, &b->facts, b->volume) &&
           cli_slices_create(&b->out, output, &b->facts, b->options->quiet);
}

static int run_back(const cli_options *options, const char *folder, const char *output)
{
    backward b = {.options = options, .folder = folder};
    cli_progress_begin(options, "transforming back", 1);
    cli_progress_file();
    bool done = open_all(&b, output) && transform_back(&b);
    done = cli_slices_end(&b.out, done);
    cli_progress_end();
    if (done && !options->quiet)
        cli_note("%s -> %s: %u slice%s of %u x %u", folder, output, b.facts.slices, b.facts.slices == 1 ? "" : "s",
                 b.facts.image.x1, b.facts.image.y1);
    l2k_volume_free(b.volume);
    cli_volume_files_free(&b.files);
    free(b.facts.components);
    return done ? CLI_EXIT_OK : CLI_EXIT_FAILURE;
}

/* ---- The command --------------------------------------------------------------------------------------------- */

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
    if (options->picture_option) {
        cli_error(options->names[0], "--%s is for slices; this is a folder of subbands", options->picture_option);
        return CLI_EXIT_USAGE;
    }
    return run_back(options, options->names[0], options->names[1]);
}
