/* What can be derived from a file's name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "pictures/files/file.h"

bool cli_becomes_file(const char *path)
{
    struct stat facts;
    return strcmp(path, "-") != 0 && (stat(path, &facts) != 0 || S_ISREG(facts.st_mode));
}

bool cli_is_stream(const char *path)
{
    struct stat facts;
    if (strcmp(path, "-") == 0)
        return true;
    return !*cli_extension(path) && stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

const char *cli_extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot : "";
}

char *cli_numbered_name(const char *path, uint32_t number, uint32_t count)
{
    const char *extension = cli_extension(path);
    const int digits = snprintf(NULL, 0, "%u", count - 1), stem = (int)(strlen(path) - strlen(extension));
    const size_t room = strlen(path) + 16;
    char *name = malloc(room);
    if (name)
        snprintf(name, room, "%.*s_%0*u%s", stem, path, digits, number, extension);
    return name;
}

char *cli_join(const char *folder, const char *name)
{
    const size_t length = strlen(folder), room = length + strlen(name) + 2;
    char *joined = malloc(room);
    if (joined)
        snprintf(joined, room, "%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", name);
    return joined;
}

void cli_take_separators(char *path)
{
#ifdef _WIN32
    for (; *path; path++)
        *path = *path == '\\' ? '/' : *path;
#else
    (void)path;
#endif
}

bool cli_same_text(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}
