/* The description of a volume's subbands, volume.json. Keys may be added; existing ones keep their names and meaning
 * (the help lists them). */
#include <stdlib.h>
#include <string.h>

#include "cli/volume/volume.h"
#include "pictures/user/report.h"

/* ---- Writing ------------------------------------------------------------------------------------------------- */

void cli_volume_describe(cli_json *json, const cli_volume_facts *facts, const cli_volume_files *files)
{
    cli_json_put(json, "{ width %u height %u slices %u wavelet %s levels %u z_levels %u", facts->image.x1,
                 facts->image.y1, facts->slices, facts->is_float ? "9/7" : "5/3", facts->levels, facts->z_levels);
    cli_json_put(json, "isotropic %d component_transform %d value %s", facts->isotropic, facts->component_transform,
                 facts->is_float ? "float32" : "int32");
    cli_dump_put_components(json, facts->components, facts->image.num_components);
    cli_json_put(json, "subbands [");
    for (const cli_volume_band *band = files->bands; band < files->bands + files->count; band++)
        cli_json_put(
            json, "{ file %s component %u z_level %u z_high %d orientation %s level %u width %u height %u depth %u }",
            band->name, band->component, band->z_level, band->z_high,
            cli_orientation_names[l2k_band_orientation(band->number)], band->level, band->width, band->height,
            band->depth);
    cli_json_put(json, "] }");
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* Before the subbands, keys occur once, except those of components, which follow each other in order. */
enum { MOST_BYTES = 1 << 22 };

/* The text after the next `"key":` from *at on, which moves there; NULL without one. */
static const char *find(const char **at, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = strstr(*at, quoted);
    if (!found)
        return NULL;
    *at = found + strlen(quoted);
    return *at + strspn(*at, " \t\r\n");
}

static bool number(const char **at, const char *key, uint32_t most, uint32_t *value)
{
    const char *text = find(at, key);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    const unsigned long long read = strtoull(text, &end, 10);
    *value = (uint32_t)read;
    return read <= most;
}

static bool word(const char **at, const char *key, const char *yes, const char *no, bool *is_yes)
{
    const char *text = find(at, key);
    *is_yes = text && strncmp(text, yes, strlen(yes)) == 0;
    return *is_yes || (text && strncmp(text, no, strlen(no)) == 0);
}

static bool truth(const char **at, const char *key, bool *value)
{
    return word(at, key, "true", "false", value);
}

static uint32_t count_components(const char *at)
{
    const char *end = strstr(at, "\"subbands\":");
    uint32_t count = 0;
    for (const char *text = at; end && find(&text, "precision") && text < end;)
        count++;
    return count;
}

static bool read_components(const char **at, cli_volume_facts *facts)
{
    const uint32_t count = count_components(*at);
    if (count < 1 || count > L2K_MAX_COMPONENTS)
        return false;
    facts->components = calloc(count, sizeof *facts->components);
    facts->image.num_components = facts->components ? count : 0;
    facts->image.components = facts->components;
    for (uint32_t c = 0; c < facts->image.num_components; c++) {
        l2k_component *k = &facts->components[c];
        if (!number(at, "precision", 31, &k->precision) || !truth(at, "signed", &k->is_signed) ||
            !number(at, "dx", 255, &k->dx) || !number(at, "dy", 255, &k->dy) || !k->precision || !k->dx || !k->dy)
            return false;
    }
    return facts->image.num_components > 0;
}

static bool understand(cli_volume_facts *facts, const char *at)
{
    uint32_t levels, z_levels;
    if (!number(&at, "width", UINT32_MAX, &facts->image.x1) || !number(&at, "height", UINT32_MAX, &facts->image.y1) ||
        !number(&at, "slices", UINT32_MAX, &facts->slices) ||
        !word(&at, "wavelet", "\"9/7\"", "\"5/3\"", &facts->is_float) || !number(&at, "levels", 32, &levels) ||
        !number(&at, "z_levels", 32, &z_levels) || !truth(&at, "isotropic", &facts->isotropic) ||
        !truth(&at, "component_transform", &facts->component_transform))
        return false;
    facts->levels = levels;
    facts->z_levels = z_levels;
    return read_components(&at, facts);
}

bool cli_volume_facts_read(cli_volume_facts *facts, const char *path)
{
    cli_input input;
    size_t bytes = 0;
    memset(facts, 0, sizeof *facts);
    if (!cli_input_open(&input, path))
        return false;
    char *text = (char *)cli_input_all(&input, MOST_BYTES, &bytes);
    const bool done = text && ((bytes <= MOST_BYTES && understand(facts, text)) ||
                               cli_error(path, "not a description of a volume as lift2k volume writes it"));
    free(text);
    cli_input_close(&input);
    return done;
}
