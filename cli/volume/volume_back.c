/* `lift2k volume`, the way back: from a folder of subbands to slices of samples. */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/run/progress.h"
#include "cli/volume/volume.h"
#include "pictures/user/report.h"

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

static bool transform_all(backward *b)
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

/* Sizes of the components follow from the reference grid. */
static void measure_components(cli_volume_facts *facts)
{
    const l2k_image image = {.x1 = facts->width,
                             .y1 = facts->height,
                             .num_components = facts->num_components,
                             .components = facts->components};
    for (uint32_t c = 0; c < facts->num_components; c++)
        l2k_component_size(&image, c, &facts->components[c].width, &facts->components[c].height);
}

static bool open_all(backward *b, const char *output)
{
    char path[CLI_DUMP_PATH];
    const cli_dump place = {.folder = b->folder};
    if (!cli_dump_path(&place, CLI_VOLUME_DESCRIPTION, path, sizeof path) || !cli_volume_facts_read(&b->facts, path))
        return false;
    measure_components(&b->facts);
    b->volume = cli_volume_make(&b->messages, b->options, &b->facts, L2K_INVERSE);
    return b->volume && cli_volume_list(&b->files, &b->facts, b->volume) &&
           cli_slices_create(&b->out, output, &b->facts, b->options->quiet);
}

int cli_volume_back(const cli_options *options, const char *folder, const char *output)
{
    backward b = {.options = options, .folder = folder};
    cli_progress_begin(options, "transforming back", 1);
    cli_progress_file(folder);
    bool done = open_all(&b, output) && transform_all(&b);
    done = cli_slices_end(&b.out, done);
    cli_progress_end();
    if (done && !options->quiet)
        cli_note("%s -> %s: %u slice%s of %u x %u", folder, output, b.facts.slices, b.facts.slices == 1 ? "" : "s",
                 b.facts.width, b.facts.height);
    l2k_volume_free(b.volume);
    cli_volume_files_free(&b.files);
    free(b.facts.components);
    return done ? CLI_EXIT_OK : CLI_EXIT_FAILURE;
}
