/* The names of numbered planes. */
#include "pictures/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures/files/file.h"

char *cli_pgx_plane_name(const char *path, uint32_t number)
{
    const char *extension = cli_extension(path);
    size_t stem = strlen(path) - strlen(extension), room = strlen(path) + 16;
    char *name = malloc(room);
    if (name)
        snprintf(name, room, "%.*s_%u%s", (int)stem, path, number, extension);
    return name;
}

uint32_t cli_count_planes(const char *path)
{
    struct stat facts;
    uint32_t count = 0;
    while (count < L2K_MAX_COMPONENTS) {
        char *plane = cli_pgx_plane_name(path, count);
        bool found = plane && stat(plane, &facts) == 0;
        free(plane);
        if (!found)
            break;
        count++;
    }
    return count;
}
