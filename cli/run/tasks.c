/* Pairs inputs with outputs, from two names or from many files and directories. */
#include "cli/run/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures/files/file.h"
#include "pictures/user/report.h"

const char *const cli_coded_extensions[] = {".jp2", ".jph", ".j2k", ".j2c", ".jpc", ".jhc", NULL};

const char *cli_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *cli_output_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

bool cli_is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Takes ownership of the names; NULL stands for a failed allocation. */
static bool add_task(cli_tasks *tasks, char *input, char *output, unsigned page)
{
    cli_task *items = input && output ? realloc(tasks->items, (tasks->count + 1) * sizeof *items) : NULL;
    if (!items) {
        free(input);
        free(output);
        return cli_error("the list of files", "out of memory");
    }
    tasks->items = items;
    tasks->items[tasks->count++] = (cli_task){.input = input, .output = output, .page = page};
    return true;
}

/* Takes ownership of the output. With --page all, a task for each page, whose number follows the output's name; of an input
 * with a page that cannot be read, those before it are done all the same. */
static bool add(cli_tasks *tasks, const char *input, char *output)
{
    const cli_setting page = tasks->options->page;
    unsigned pages = 0;
    if (!page.given || page.value || !output)
        return add_task(tasks, strdup(input), output, (unsigned)page.value);
    bool done = strcmp(input, "-") != 0 || cli_error("--page all", "standard input can be read only once");
    if (done && !cli_reader_pages(input, &pages) && tasks->num_cut++ == 0) {
        tasks->cut = strdup(input);
        done = tasks->cut || cli_error(input, "out of memory");
    }
    for (unsigned i = 1; done && i <= pages; i++)
        done = add_task(tasks, strdup(input), cli_numbered_name(output, i, pages + 1), i);
    free(output);
    return done;
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

/* `folder` is that of the output. */
static bool add_file(cli_tasks *tasks, const char *input, const char *folder)
{
    return add(tasks, input, tasks->together ? strdup(folder) : output_for(input, folder, tasks->extension));
}

static bool among(const char *name, const char *const *extensions)
{
    while (*extensions && !cli_same_text(cli_extension(name), *extensions))
        extensions++;
    return *extensions;
}

static void report_left_out(const cli_tasks *tasks, const char *path, size_t files, size_t folders)
{
    char known[160] = "";
    size_t used = 0;
    for (const char *const *at = tasks->extensions; *at && used < sizeof known; at++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", *at);
    if (files)
        cli_note(path, "%zu file%s left out: the name ends in none of%s", files, files == 1 ? "" : "s", known);
    if (folders && !tasks->options->recursive)
        cli_note(path, "%zu folder%s in it left out: name %s as well, or use --recursive, to take the files in %s",
                 folders, folders == 1 ? "" : "s", folders == 1 ? "it" : "them", folders == 1 ? "it" : "them");
}

/* Its files, and then, with --recursive, those of its folders. Links to folders are left alone: they can lead back. */
static bool add_folder(cli_tasks *tasks, const char *path, const char *out)
{
    const bool quiet = tasks->options->quiet;
    size_t files = 0, folders = 0; /* left out */
    struct stat facts;
    cli_names names;
    bool done = cli_names_list(&names, path);
    for (size_t i = 0; done && i < names.count; i++) {
        const char *name = names.items[i];
        const bool exists = stat(name, &facts) == 0, known = among(name, tasks->extensions);
        if (exists && S_ISDIR(facts.st_mode))
            folders++;
        else if (!known)
            files += !exists || S_ISREG(facts.st_mode);
        else if (!exists && !quiet)
            cli_note(name, "left out: %s", strerror(errno));
        else if (exists && S_ISREG(facts.st_mode))
            done = add_file(tasks, name, out);
    }
    if (done && !quiet)
        report_left_out(tasks, path, files, folders);
    for (size_t i = 0; done && tasks->options->recursive && i < names.count; i++) {
        if (lstat(names.items[i], &facts) != 0 || !S_ISDIR(facts.st_mode))
            continue;
        char *below = cli_join(out, strrchr(names.items[i], '/') + 1);
        done = below && add_folder(tasks, names.items[i], tasks->together ? out : below);
        free(below);
    }
    cli_names_free(&names);
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

static bool make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST || cli_error(path, "%s", strerror(errno));
}

/* Makes the folders above the outputs, from that of --out-dir on. */
static bool make_folders(const cli_tasks *tasks, const char *out_dir)
{
    bool done = make_folder(out_dir);
    for (size_t i = 0; done && i < tasks->count; i++) {
        char *path = tasks->items[i].output;
        for (char *at = strchr(path + strlen(out_dir) + 1, '/'); done && at; at = strchr(at + 1, '/')) {
            *at = 0;
            done = make_folder(path);
            *at = '/';
        }
    }
    return done && (cli_is_folder(out_dir) || cli_error(out_dir, "%s", strerror(ENOTDIR)));
}

static bool add_all(cli_tasks *tasks, int count, const char *out)
{
    const cli_options *options = tasks->options;
    for (int i = 0; i < count; i++) {
        const char *path = options->names[i];
        if (strcmp(path, "-") == 0)
            return cli_error("-", "standard input has no name for its output in %s", out);
        if (!(cli_is_folder(path) ? add_folder(tasks, path, out) : add_file(tasks, path, out)))
            return false;
    }
    return tasks->count || tasks->num_cut ||
           cli_error(options->names[0], "no files to %s", cli_command_names[options->command]);
}

static bool make_many(cli_tasks *tasks, const cli_options *options)
{
    const char *command = cli_command_names[options->command];
    cli_reports_to_output();
    if (strcmp(options->out_dir, "-") == 0)
        return cli_error("--out-dir", "a folder is needed; many files cannot go into one stream");
    if (!options->num_names)
        return cli_error(command, "--out-dir needs files or directories as input; see lift2k %s --help", command);
    return add_all(tasks, options->num_names, options->out_dir);
}

/* If the user meant many files, the message says how to ask for that. */
static bool make_one(cli_tasks *tasks, const cli_options *options)
{
    const char *command = cli_command_names[options->command];
    char **names = options->names;
    const int count = options->num_names;
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], "-") != 0 && cli_is_folder(names[i]))
            return cli_error(names[i],
                             i && i == count - 1 ? "is a directory; lift2k %s FILES... --out-dir %s puts files there"
                                                 : "is a directory; lift2k %s %s --out-dir D takes the files in it",
                             command, names[i]);
    if (count > 2)
        return cli_error(names[2], "one file name too many; for many files use lift2k %s FILES... --out-dir D",
                         command);
    if (count < 2)
        return cli_error(command, "two file names are needed, IN and OUT; see lift2k %s --help", command);
    return add(tasks, names[0], strdup(names[1]));
}

/* The frames of a film: files, or those in folders, into one Y4M file. */
static bool becomes_film(const cli_options *options)
{
    const int count = options->num_names;
    return options->command == CLI_DECODE && count >= 2 && strcmp(options->names[0], "-") != 0 &&
           cli_same_text(cli_extension(options->names[count - 1]), ".y4m");
}

static void skip_existing(cli_tasks *tasks)
{
    const size_t count = tasks->count;
    struct stat facts;
    tasks->count = 0;
    for (size_t i = 0; i < count; i++) {
        const cli_task task = tasks->items[i];
        if (stat(task.output, &facts) != 0 && !cli_is_plane_set(task.output)) {
            tasks->items[tasks->count++] = task;
            continue;
        }
        tasks->skipped++;
        free(task.input);
        free(task.output);
    }
    if (!tasks->count && tasks->skipped && !tasks->options->quiet)
        cli_report("%zu file%s skipped, whose output exists", tasks->skipped, tasks->skipped == 1 ? "" : "s");
}

bool cli_tasks_make(cli_tasks *tasks, const cli_options *options, const char *const *extensions,
                    const char *default_extension)
{
    *tasks = (cli_tasks){.options = options,
                         .extensions = extensions,
                         .extension = options->extension ? options->extension : default_extension};
    if (!options->out_dir && options->extension)
        return cli_error("--ext", "needs --out-dir; without it, the output's name decides the format");
    if (!options->out_dir && options->in_flight.given && !options->page.given)
        return cli_error("--in-flight", "needs --out-dir; there is only one file");
    if (!options->out_dir && options->recursive)
        return cli_error("--recursive", "needs --out-dir");
    tasks->together = !options->out_dir && becomes_film(options);
    const int last = options->num_names - 1;
    bool done = options->out_dir  ? make_many(tasks, options)
                : tasks->together ? add_all(tasks, last, options->names[last])
                                  : make_one(tasks, options);
    done = done && (tasks->count || !tasks->num_cut) && (tasks->together || all_differ(tasks));
    if (done && options->skip_existing)
        skip_existing(tasks);
    if (tasks->count == 1)
        tasks->items[0].is_alone = true;
    return done && (!options->out_dir || make_folders(tasks, options->out_dir));
}

void cli_tasks_free(cli_tasks *tasks)
{
    for (size_t i = 0; i < tasks->count; i++) {
        free(tasks->items[i].input);
        free(tasks->items[i].output);
    }
    free(tasks->items);
    free(tasks->cut);
    memset(tasks, 0, sizeof *tasks);
}
