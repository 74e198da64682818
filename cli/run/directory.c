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

char *cli_join(const char *path, const char *name)
{
    size_t room = strlen(path) + strlen(name) + 2;
    char *joined = malloc(room);
    if (joined)
        snprintf(joined, room, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", name);
    return joined;
}

/* Takes ownership of `file`. */
static bool add(cli_directory *directory, char *file)
{
    if (directory->count == directory->room) {
        size_t room = directory->room ? 2 * directory->room : 16;
        char **files = realloc(directory->files, room * sizeof *files);
        if (!files) {
            free(file);
            return false;
        }
        directory->files = files;
        directory->room = room;
    }
    directory->files[directory->count++] = file;
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
    char **more = realloc(directory->subfolders, (directory->num_subfolders + 1) * sizeof *more);
    directory->folders++;
    if (more)
        directory->subfolders = more;
    if (more && end && strcmp(end, folder) == 0 && (more[directory->num_subfolders] = strdup(folder)) != NULL)
        directory->num_subfolders++;
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
    if (!is_taken(directory, file, extensions, quiet)) {
        free(file);
        return true;
    }
    return add(directory, file);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef struct plane {
    char *whole; /* "NAME.pgx" */
    char *file;  /* belongs to the directory */
    uint32_t number;
} plane;

static int by_whole(const void *a, const void *b)
{
    return strcmp(((const plane *)a)->whole, ((const plane *)b)->whole);
}

/* Collects the files that may be planes; false if out of memory. */
static bool find_planes(const cli_directory *directory, plane *planes, size_t *count)
{
    for (size_t i = 0; i < directory->count; i++) {
        char *file = directory->files[i];
        const char *mark = plane_mark(file), *extension = cli_extension(file);
        if (!mark)
            continue;
        plane *found = &planes[*count];
        *found = (plane){strdup(file), file, (uint32_t)strtoul(mark + 1, NULL, 10)};
        if (!found->whole)
            return false;
        memcpy(found->whole + (mark - file), extension, strlen(extension) + 1);
        ++*count;
    }
    return true;
}

/* The number of planes read together as `whole`; 0 if that file exists. */
static uint32_t planes_of(const char *whole)
{
    struct stat facts;
    return stat(whole, &facts) == 0 ? 0 : cli_count_planes(whole);
}

/* Gives each plane the name under which all are read together, unless one before it is missing. They are sorted so that
 * the planes of a name are counted once. */
static void drop_numbers(plane *planes, size_t count)
{
    uint32_t together = 0;
    qsort(planes, count, sizeof *planes, by_whole);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_whole(&planes[i - 1], &planes[i]) != 0)
            together = planes_of(planes[i].whole);
        if (planes[i].number < together)
            memcpy(planes[i].file, planes[i].whole, strlen(planes[i].whole) + 1);
    }
}

static bool join_planes(cli_directory *directory)
{
    size_t count = 0;
    plane *planes = malloc(directory->count * sizeof *planes);
    bool done = planes && find_planes(directory, planes, &count);
    if (done && count)
        drop_numbers(planes, count);
    for (size_t i = 0; i < count; i++)
        free(planes[i].whole);
    free(planes);
    return done;
}

/* Removes the duplicates that planes of one picture have become. */
static void sort_once(cli_directory *directory)
{
    size_t kept = 0;
    qsort(directory->files, directory->count, sizeof *directory->files, by_name);
    for (size_t i = 0; i < directory->count; i++) {
        if (kept && strcmp(directory->files[kept - 1], directory->files[i]) == 0)
            free(directory->files[i]);
        else
            directory->files[kept++] = directory->files[i];
    }
    directory->count = kept;
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
    if (!done || (directory->count && !join_planes(directory)))
        return cli_error(path, "out of memory");
    if (directory->count)
        sort_once(directory);
    if (directory->left_out && !quiet)
        report_rest(directory, path, extensions);
    if (directory->num_subfolders)
        qsort(directory->subfolders, directory->num_subfolders, sizeof *directory->subfolders, by_name);
    if (directory->folders && !quiet && !recursive)
        cli_note(
            "lift2k: %s: %zu folder%s in it left out: name %s as well, or use --recursive, to take the files in %s",
            path, directory->folders, directory->folders == 1 ? "" : "s", directory->folders == 1 ? "it" : "them",
            directory->folders == 1 ? "it" : "them");
    return true;
}

void cli_directory_free(cli_directory *directory)
{
    for (size_t i = 0; i < directory->count; i++)
        free(directory->files[i]);
    free(directory->files);
    for (size_t i = 0; i < directory->num_subfolders; i++)
        free(directory->subfolders[i]);
    free(directory->subfolders);
    memset(directory, 0, sizeof *directory);
}
