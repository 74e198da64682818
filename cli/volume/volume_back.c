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

static bool open_all(backward *b, const char *output)
{
    char *path = cli_join(b->folder, CLI_VOLUME_DESCRIPTION);
    const bool known = path ? cli_volume_facts_read(&b->facts, path) : cli_error(b->folder, "out of memory");
    free(path);
    if (!known)
        return false;
    for (uint32_t c = 0; c < b->facts.image.num_components; c++)
        l2k_component_size(&b->facts.image, c, &b->facts.components[c].width, &b->facts.components[c].height);
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
                 b.facts.image.x1, b.facts.image.y1);
    l2k_volume_free(b.volume);
    cli_volume_files_free(&b.files);
    free(b.facts.components);
    return done ? CLI_EXIT_OK : CLI_EXIT_FAILURE;
}
