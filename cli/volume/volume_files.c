/* A volume's subbands as files: one for each subband of each component in three directions, slice by slice. */
#include <stdlib.h>

#include "cli/volume/volume.h"
#include "pictures/user/report.h"

/* ---- The list ------------------------------------------------------------------------------------------------ */

static void name_band(const cli_volume_facts *facts, cli_volume_band *band)
{
    const int digits = snprintf(NULL, 0, "%u", facts->image.num_components - 1);
    snprintf(band->name, sizeof band->name, "c%0*u_z%c%u_%s%u.raw", digits, band->component, band->z_high ? 'H' : 'L',
             band->z_level, cli_orientation_names[l2k_band_orientation(band->number)], band->level);
}

/* Whether slices of a low-pass or high-pass of a level leave the transform. */
static bool leaves(const cli_volume_facts *facts, unsigned z_level, bool z_high)
{
    if (z_level == 0)
        return !z_high && facts->z_levels == 0;
    return z_high || facts->isotropic || z_level == facts->z_levels;
}

static void measure_band(const cli_volume_facts *facts, const l2k_volume *volume, cli_volume_band *band)
{
    const l2k_component *k = &facts->components[band->component];
    const unsigned orientation = l2k_band_orientation(band->number);
    const bool goes_on = facts->isotropic && !band->z_high && orientation == L2K_LL && band->z_level < facts->z_levels;
    band->level = facts->isotropic ? band->z_level : l2k_band_level(facts->levels, l2k_band_resolution(band->number));
    band->width = cli_band_side(k->width, band->level, orientation & L2K_HL);
    band->height = cli_band_side(k->height, band->level, orientation & L2K_LH);
    band->depth = goes_on ? 0 : l2k_volume_depth(volume, band->z_level, band->z_high);
}

static bool add_bands(cli_volume_files *files, const l2k_volume *volume, uint32_t component, unsigned z_level,
                      bool high)
{
    const cli_volume_facts *facts = files->facts;
    const unsigned levels = facts->isotropic && facts->levels ? 1 : facts->levels;
    for (unsigned number = 0; leaves(facts, z_level, high) && number < 3 * levels + 1; number++) {
        cli_volume_band band = {.component = component, .z_level = z_level, .z_high = high, .number = number};
        measure_band(facts, volume, &band);
        if (!band.width || !band.height || !band.depth)
            continue;
        cli_volume_band *more = realloc(files->bands, (files->count + 1) * sizeof *more);
        if (!more)
            return cli_error("volume", "out of memory");
        name_band(facts, &band);
        files->bands = more;
        files->bands[files->count++] = band;
    }
    return true;
}

bool cli_volume_list(cli_volume_files *files, const cli_volume_facts *facts, const l2k_volume *volume)
{
    bool done = true;
    *files = (cli_volume_files){.facts = facts};
    for (uint32_t c = 0; c < facts->image.num_components; c++)
        for (unsigned z_level = facts->z_levels + 1; done && z_level-- > 0;)
            done = add_bands(files, volume, c, z_level, false) && add_bands(files, volume, c, z_level, true);
    return done;
}

void cli_volume_files_free(cli_volume_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->bands[i].path) {
            cli_input_close(&files->bands[i].input);
            free(files->bands[i].path);
        }
    free(files->bands);
}

/* ---- Slices -------------------------------------------------------------------------------------------------- */

static bool belongs(const cli_volume_band *band, const l2k_volume_slice *slice)
{
    return band->z_level == slice->level && band->z_high == slice->high;
}

bool cli_volume_write(const cli_volume_files *files, const l2k_volume_slice *slice)
{
    for (size_t i = 0; i < files->count; i++) {
        const cli_volume_band *band = &files->bands[i];
        if (!belongs(band, slice))
            continue;
        const l2k_plane plane = cli_dump_plane(&slice->views[band->component], band->number);
        if (!cli_words_write(&cli_dump_words, band->output, band->output->bytes, &plane, band->width, band->height))
            return false;
    }
    return true;
}

static bool open_band(cli_volume_band *band, const char *folder)
{
    band->path = cli_join(folder, band->name);
    return band->path ? cli_input_open(&band->input, band->path) : cli_error(folder, "out of memory");
}

bool cli_volume_read(const cli_volume_files *files, const l2k_volume_slice *slice, const char *folder)
{
    for (size_t i = 0; i < files->count; i++) {
        cli_volume_band *band = &files->bands[i];
        if (!belongs(band, slice))
            continue;
        if (!band->path && !open_band(band, folder))
            return false;
        const l2k_plane plane = cli_dump_plane(&slice->views[band->component], band->number);
        for (uint32_t y = 0; y < band->height; y++)
            if (!cli_words_read(&cli_dump_words, &band->input, (char *)plane.data + (ptrdiff_t)y * plane.row_stride,
                                band->width))
                return false;
    }
    return true;
}
