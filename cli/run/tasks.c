/* Pairs inputs with outputs, from two names or from many files and directories. */
#include "cli/run/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures/files/file.h"
#include "pictures/user/report.h"

const char *cli_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *cli_output_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

static bool is_directory(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Takes ownership of the names; NULL stands for a failed allocation. */
static bool add(cli_tasks *tasks, char *input, char *output)
{
    if (tasks->count == tasks->room) {
        size_t room = tasks->room ? 2 * tasks->room : 16;
        cli_task *items = realloc(tasks->items, room * sizeof *items);
        if (items) {
            tasks->items = items;
            tasks->room = room;
        }
    }
    if (!input || !output || tasks->count == tasks->room) {
        free(input);
        free(output);
        return cli_error("the list of files", "out of memory");
    }
    tasks->items[tasks->count++] = (cli_task){input, output};
    return true;
}

/* "D/photo.jp2" for "pictures/photo.png". */
static char *output_for(const char *input, const char *out_dir, const char *extension)
{
    const char *slash = strrchr(input, '/'), *leaf = slash ? slash + 1 : input;
    int stem = (int)(strlen(leaf) - strlen(cli_extension(input)));
    size_t room = strlen(out_dir) + strlen(leaf) + strlen(extension) + 3;
    char *output = malloc(room);
    if (output)
        snprintf(output, room, "%s%s%.*s.%s", out_dir, out_dir[strlen(out_dir) - 1] == '/' ? "" : "/", stem, leaf,
                 extension);
    return output;
}

static bool add_file(cli_tasks *tasks, const char *input, const cli_options *options, const char *extension)
{
    return add(tasks, strdup(input), output_for(input, options->out_dir, extension));
}

static bool add_argument(cli_tasks *tasks, const char *path, const cli_options *options, const char *const *extensions,
                         const char *extension)
{
    cli_directory directory;
    if (strcmp(path, "-") == 0)
        return cli_error("-", "standard input has no name for its output in %s", options->out_dir);
    if (!is_directory(path))
        return add_file(tasks, path, options, extension);
    bool done = cli_directory_list(&directory, path, extensions, options->quiet);
    for (size_t i = 0; done && i < directory.count; i++)
        done = add_file(tasks, directory.files[i], options, extension);
    cli_directory_free(&directory);
    return done;
}

static int by_output(const void *a, const void *b)
{
    return strcmp((*(const cli_task *const *)a)->output, (*(const cli_task *const *)b)->output);
}

static bool all_differ(const cli_tasks *tasks)
{
    bool differ = true;
    const cli_task **sorted = malloc(tasks->count * sizeof *sorted);
    if (!sorted)
        return cli_error("the list of files", "out of memory");
    for (size_t i = 0; i < tasks->count; i++)
        sorted[i] = &tasks->items[i];
    qsort(sorted, tasks->count, sizeof *sorted, by_output);
    for (size_t i = 1; differ && i < tasks->count; i++)
        if (strcmp(sorted[i - 1]->output, sorted[i]->output) == 0)
            differ = cli_error(sorted[i]->output, "both %s and %s would become this file; nothing was done",
                               sorted[i - 1]->input, sorted[i]->input);
    free(sorted);
    return differ;
}

static bool make_many(cli_tasks *tasks, const cli_options *options, const char *const *extensions,
                      const char *extension)
{
    const char *command = cli_command_names[options->command];
    tasks->many = true;
    cli_reports_to_output();
    if (strcmp(options->out_dir, "-") == 0)
        return cli_error("--out-dir", "a folder is needed; many files cannot go into one stream");
    if (!options->num_names)
        return cli_error(command, "--out-dir needs files or directories as input; see lift2k %s --help", command);
    for (int i = 0; i < options->num_names; i++)
        if (!add_argument(tasks, options->names[i], options, extensions, extension))
            return false;
    if (!tasks->count)
        return cli_error(options->names[0], "no files to %s", command);
    if (!all_differ(tasks))
        return false;
    if (mkdir(options->out_dir, 0777) != 0 && errno != EEXIST)
        return cli_error(options->out_dir, "%s", strerror(errno));
    return is_directory(options->out_dir) || cli_error(options->out_dir, "%s", strerror(ENOTDIR));
}

/* If many files are meant, the message says how to ask for that. */
static bool make_one(cli_tasks *tasks, const cli_options *options)
{
    const char *command = cli_command_names[options->command];
    char **names = options->names;
    const int count = options->num_names;
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], "-") != 0 && is_directory(names[i]))
            return cli_error(names[i],
                             i && i == count - 1 ? "is a directory; lift2k %s FILES... --out-dir %s puts files there"
                                                 : "is a directory; lift2k %s %s --out-dir D takes the files in it",
                             command, names[i]);
    if (count > 2)
        return cli_error(names[2], "one file name too many; for many files use lift2k %s FILES... --out-dir D",
                         command);
    if (count < 2)
        return cli_error(command, "two file names are needed, IN and OUT; see lift2k %s --help", command);
    return add(tasks, strdup(names[0]), strdup(names[1]));
}

bool cli_tasks_make(cli_tasks *tasks, const cli_options *options, const char *const *extensions,
                    const char *default_extension)
{
    memset(tasks, 0, sizeof *tasks);
    if (options->out_dir)
        return make_many(tasks, options, extensions, options->extension ? options->extension : default_extension);
    if (options->extension)
        return cli_error("--ext", "needs --out-dir; without it, the output's name decides the format");
    if (options->in_flight.given)
        return cli_error("--in-flight", "needs --out-dir; there is only one file");
    return make_one(tasks, options);
}

void cli_tasks_free(cli_tasks *tasks)
{
    for (size_t i = 0; i < tasks->count; i++) {
        free(tasks->items[i].input);
        free(tasks->items[i].output);
    }
    free(tasks->items);
    memset(tasks, 0, sizeof *tasks);
}
