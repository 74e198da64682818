/* Reads pictures from PNG, PGM and PPM files. */
#include "conformance/picture_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/opj.h"

static bool ends_in(const char *name, const char *end)
{
    size_t a = strlen(name), b = strlen(end);
    return a >= b && strcmp(name + a - b, end) == 0;
}

bool is_picture_name(const char *name)
{
    return ends_in(name, ".png") || ends_in(name, ".pgm") || ends_in(name, ".ppm");
}

static picture *read_png(const char *path)
{
    char *command = getenv("L2K_COMMAND"), scratch[256], name[512], coded[512], converted[512];
    scratch_make(scratch, sizeof scratch);
    snprintf(name, sizeof name, "%s", path);
    snprintf(coded, sizeof coded, "%s/picture.j2k", scratch);
    snprintf(converted, sizeof converted, "%s/picture.pnm", scratch);
    if (!command || !*command)
        command = "lift2k";
    char *encode[] = {command, "encode", name, coded, "--quiet", NULL};
    char *decode[] = {command, "decode", coded, converted, "--quiet", NULL};
    picture *p = run_program(encode, NULL) && run_program(decode, NULL) ? picture_read_pnm(converted) : NULL;
    scratch_remove(scratch);
    return p;
}

picture *picture_read(const char *path)
{
    return ends_in(path, ".png") ? read_png(path) : picture_read_pnm(path);
}
