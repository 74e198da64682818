/* Lists the files of a directory. */
#define _POSIX_C_SOURCE 200809L /* strdup, lstat */
#include "cli/run/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures/files/file.h"
#include "pictures/user/report.h"

static bool among(const char *name, const char *const *extensions)
{
    for (; *extensions; extensions++)
        if (cli_same_text(cli_extension(name), *extensions))
            return true;
    return false;
}

/* Takes ownership of `name`; NULL stands for a failed allocation. */
static bool add(cli_names *names, char *name)
{
    char **items = name ? realloc(names->items, (names->count + 1) * sizeof *items) : NULL;
    if (!items) {
        free(name);
        return false;
    }
    names->items = items;
    items[names->count++] = name;
    return true;
}

/* Links to folders are left alone: they can lead back. */
static void add_subfolder(cli_directory *directory, const char *folder)
{
    struct stat facts;
    directory->folders++;
    if (lstat(folder, &facts) == 0 && S_ISDIR(facts.st_mode))
        add(&directory->subfolders, strdup(folder));
}

/* Files that cannot be taken are reported or counted. */
static bool is_taken(cli_directory *directory, const char *file, const char *const *extensions, bool quiet)
{
    struct stat facts;
    bool exists = stat(file, &facts) == 0, known = among(file, extensions);
    if (!exists && known && !quiet)
        cli_note("lift2k: %s: left out: %s", file, strerror(errno));
    directory->left_out += !known && (!exists || S_ISREG(facts.st_mode));
    if (exists && S_ISDIR(facts.st_mode))
        add_subfolder(directory, file);
    return exists && known && S_ISREG(facts.st_mode);
}

static bool take(cli_directory *directory, const char *path, const char *name, const char *const *extensions,
                 bool quiet)
{
    char *file = cli_join(path, name);
    if (!file)
        return false;
    if (is_taken(directory, file, extensions, quiet))
        return add(&directory->files, file);
    free(file);
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(const cli_names *names)
{
    if (names->count)
        qsort(names->items, names->count, sizeof *names->items, by_name);
}

static void report_rest(const cli_directory *directory, const char *path, const char *const *extensions)
{
    char known[160];
    size_t used = 0;
    for (; *extensions && used < sizeof known; extensions++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", *extensions);
    cli_note("lift2k: %s: %zu file%s left out: the name ends in none of%s", path, directory->left_out,
             directory->left_out == 1 ? "" : "s", known);
}

bool cli_directory_list(cli_directory *directory, const char *path, const char *const *extensions, bool recursive,
                        bool quiet)
{
    const struct dirent *entry;
    bool done = true;
    memset(directory, 0, sizeof *directory);
    DIR *open = opendir(path);
    if (!open)
        return cli_error(path, "%s", strerror(errno));
    while (done && (entry = readdir(open)) != NULL)
        if (entry->d_name[0] != '.')
            done = take(directory, path, entry->d_name, extensions, quiet);
    closedir(open);
    if (!done)
        return cli_error(path, "out of memory");
    sort(&directory->files);
    sort(&directory->subfolders);
    if (directory->left_out && !quiet)
        report_rest(directory, path, extensions);
    if (directory->folders && !quiet && !recursive)
        cli_note(
            "lift2k: %s: %zu folder%s in it left out: name %s as well, or use --recursive, to take the files in %s",
            path, directory->folders, directory->folders == 1 ? "" : "s", directory->folders == 1 ? "it" : "them",
            directory->folders == 1 ? "it" : "them");
    return true;
}

static void free_names(cli_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

void cli_directory_free(cli_directory *directory)
{
    free_names(&directory->files);
    free_names(&directory->subfolders);
}
