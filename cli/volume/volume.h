/* The parts of `lift2k volume`. */
#ifndef L2K_CLI_VOLUME_VOLUME_H
#define L2K_CLI_VOLUME_VOLUME_H

#include "cli/dump/dump.h"
#include "cli/options/options.h"
#include "cli/run/messages.h"
#include "pictures/writer.h"

#define CLI_VOLUME_DESCRIPTION "volume.json"

/* The content of the description, which determines the files' names. */
typedef struct cli_volume_facts {
    l2k_image image;           /* of every slice, at 0, 0 */
    l2k_component *components; /* of the image; owned */
    uint32_t slices;
    unsigned levels, z_levels;
    bool isotropic, component_transform, is_float;
} cli_volume_facts;

/* ---- Slices of samples (volume_slices.c) --------------------------------------------------------------------- */

/* Slices that are read one after the other. */
typedef struct cli_slices {
    const cli_options *options;
    int num_files;
    uint32_t count, next;
    bool by_pages;
    cli_input raw;       /* with --raw */
    cli_picture picture; /* the slice that was read last */
    cli_volume_facts *facts;
} cli_slices;

/* Opens the inputs and fills in width, height, slices and components. To be closed also after a failure. */
bool cli_slices_open(cli_slices *slices, const cli_options *options, cli_volume_facts *facts);
bool cli_slices_read(cli_slices *slices);
void cli_slices_close(cli_slices *slices);

/* Slices that are written one after the other: to one file of samples, or to a file each. */
typedef struct cli_slices_out {
    const char *path;
    bool is_raw, quiet;
    cli_film film;       /* the raw file */
    cli_picture picture; /* to be filled before each call of cli_slices_write */
    uint32_t count, next;
} cli_slices_out;

bool cli_slices_create(cli_slices_out *out, const char *path, const cli_volume_facts *facts, bool quiet);
bool cli_slices_write(cli_slices_out *out);
bool cli_slices_end(cli_slices_out *out, bool done);

/* ---- Subbands as files (volume_files.c) ---------------------------------------------------------------------- */

/* A subband of a component, in all three directions, and its file. */
typedef struct cli_volume_band {
    uint32_t component, z_level;
    bool z_high;
    uint32_t number; /* in views */
    uint32_t level;  /* within slices */
    uint32_t width, height, depth;
    char name[CLI_DUMP_NAME];
    cli_output *output; /* to be written, or */
    cli_input input;    /* to be read, once it has a path */
    char *path;
} cli_volume_band;

typedef struct cli_volume_files {
    const cli_volume_facts *facts;
    size_t count;
    cli_volume_band *bands;
} cli_volume_files;

/* Lists all subbands that are not empty; `volume` is prepared. */
bool cli_volume_list(cli_volume_files *files, const cli_volume_facts *facts, const l2k_volume *volume);
void cli_volume_files_free(cli_volume_files *files);

/* A slice of coefficients to or from its files. */
bool cli_volume_write(const cli_volume_files *files, const l2k_volume_slice *slice);
bool cli_volume_read(const cli_volume_files *files, const l2k_volume_slice *slice, const char *folder);

/* ---- The description (volume_description.c) ------------------------------------------------------------------ */

void cli_volume_describe(cli_json *json, const cli_volume_facts *facts, const cli_volume_files *files);

/* Reads the output of cli_volume_describe. */
bool cli_volume_facts_read(cli_volume_facts *facts, const char *path);

#endif
