/* What a file's name tells. */
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "pictures/file.h"

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

bool cli_same_text(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}
