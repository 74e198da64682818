/* Child processes: programs, functions that may crash, and the folders for their files. */
#define _GNU_SOURCE
#include "conformance/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- Programs ---- */

bool run_program(char *const argv[], const char *output)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output ? output : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) != 0)
        status = -1;
    else if (waitpid(child, &status, 0) != child)
        status = -1;
    posix_spawn_file_actions_destroy(&actions);
    return status == 0;
}

bool program_exists(const char *name)
{
    const char *path = getenv("PATH");
    char candidate[4096];
    while (path && *path) {
        size_t length = strcspn(path, ":");
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, path, name);
        if (access(candidate, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

/* ---- Functions ---- */

static bool write_all(int descriptor, const bytes *b)
{
    for (size_t done = 0; done < b->size;) {
        ssize_t n = write(descriptor, b->data + done, b->size - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static void read_all(int descriptor, bytes *b)
{
    uint8_t chunk[65536];
    for (ssize_t n; (n = read(descriptor, chunk, sizeof chunk)) > 0;)
        bytes_append(b, chunk, (size_t)n);
}

bool work_apart(bool (*work)(void *user, bytes *out), void *user, bytes *out)
{
    int ends[2], status = -1;
    *out = (bytes){0};
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        _exit(work(user, out) && write_all(ends[1], out) ? 0 : 1);
    close(ends[1]);
    if (child > 0)
        read_all(ends[0], out);
    close(ends[0]);
    if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
        return true;
    bytes_free(out);
    return false;
}

/* ---- Folders ---- */

void scratch_make(char *path, size_t size)
{
    const char *parent = getenv("TMPDIR");
    snprintf(path, size, "%s/lift2k-conformance-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(path)) {
        perror(path);
        exit(1);
    }
}

void scratch_remove(const char *path)
{
    DIR *directory = opendir(path);
    char name[4096];
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            unlink(name);
        }
    if (directory)
        closedir(directory);
    rmdir(path);
}
