/* Lists the files of a directory, with the planes of a picture joined to one name. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cli/run/tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures/files/file.h"
#include "pictures/formats.h"
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

/* The "_" in `file` if that is "NAME_number.pgx", numbered as planes are; else NULL. */
static const char *plane_mark(const char *file)
{
    const char *dot = strrchr(file, '.'), *at = dot;
    if (!cli_same_text(cli_extension(file), ".pgx"))
        return NULL;
    while (at > file && isdigit((unsigned char)at[-1]))
        at--;
    if (at == dot || dot - at > 5 || at == file || at[-1] != '_' || (*at == '0' && dot - at > 1))
        return NULL;
    return at - 1;
}

/* Links to folders are left alone: they can lead back. */
static void add_subfolder(cli_directory *directory, const char *folder)
{
    char *end = cli_link_end(folder);
    directory->folders++;
    if (end && strcmp(end, folder) == 0)
        add(&directory->subfolders, strdup(folder));
    free(end);
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

/* The number of planes read together as `whole`; 0 if that file exists. */
static uint32_t planes_of(const char *whole)
{
    struct stat facts;
    return stat(whole, &facts) == 0 ? 0 : cli_count_planes(whole);
}

/* Gives each plane the name under which all are read together, unless one before it is missing. In sorted files, the
 * planes of a name are counted once. */
static bool drop_numbers(cli_names *files)
{
    char *whole = NULL;
    uint32_t together = 0;
    for (size_t i = 0; i < files->count; i++) {
        char *file = files->items[i];
        const char *mark = plane_mark(file), *extension = cli_extension(file);
        if (!mark)
            continue;
        const size_t stem = (size_t)(mark - file);
        if (!whole || strncmp(whole, file, stem) != 0 || strcmp(whole + stem, extension) != 0) {
            free(whole);
            whole = strdup(file);
            if (!whole)
                return false;
            memcpy(whole + stem, extension, strlen(extension) + 1);
            together = planes_of(whole);
        }
        if (strtoul(mark + 1, NULL, 10) < together)
            memcpy(file, whole, strlen(whole) + 1);
    }
    free(whole);
    return true;
}

/* Removes the duplicates that planes of one picture have become. */
static void sort_once(cli_names *files)
{
    size_t kept = 0;
    sort(files);
    for (size_t i = 0; i < files->count; i++) {
        if (kept && strcmp(files->items[kept - 1], files->items[i]) == 0)
            free(files->items[i]);
        else
            files->items[kept++] = files->items[i];
    }
    files->count = kept;
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
    sort(&directory->files);
    sort(&directory->subfolders);
    if (!done || !drop_numbers(&directory->files))
        return cli_error(path, "out of memory");
    sort_once(&directory->files);
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
