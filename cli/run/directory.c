/* Lists the files of a directory. */
#include "cli/run/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/files/file.h"
#include "pictures/user/report.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool cli_names_list(cli_names *names, const char *path)
{
    const struct dirent *entry;
    bool done = true;
    *names = (cli_names){0};
    DIR *open = opendir(path);
    if (!open)
        return cli_error(path, "%s", strerror(errno));
    while (done && (entry = readdir(open)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        char **items = realloc(names->items, (names->count + 1) * sizeof *items);
        names->items = items ? items : names->items;
        done = items && (items[names->count] = cli_join(path, entry->d_name)) != NULL;
        names->count += done;
    }
    closedir(open);
    if (names->count)
        qsort(names->items, names->count, sizeof *names->items, by_name);
    return done || cli_error(path, "out of memory");
}

void cli_names_free(cli_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}
