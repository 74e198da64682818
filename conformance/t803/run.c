/* Runs the command in a child process. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/t803/t803.h"

enum { SECONDS = 20, MOST_ARGUMENTS = 16 };

static void become_command(const t803_set *set, char **arguments, const char *log)
{
    struct rlimit memory = {(rlim_t)4 << 30, (rlim_t)4 << 30};
    bool limited = strcmp(set->backend, "cpu") == 0; /* devices reserve far more addresses than memory */
#ifdef L2K_SANITIZE
    limited = false;
#endif
    int descriptor = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (descriptor >= 0)
        dup2(descriptor, 2);
    if (limited)
        setrlimit(RLIMIT_AS, &memory);
    alarm(SECONDS);
    execvp(arguments[0], arguments);
    _exit(127);
}

static int run_command(const t803_set *set, char **arguments, char message[MESSAGE_BYTES])
{
    char log[PATH_BYTES];
    int status = 0;
    snprintf(log, sizeof log, "%s/log", set->scratch);
    message[0] = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        become_command(set, arguments, log);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 127;
    FILE *f = fopen(log, "r");
    if (f && fgets(message, MESSAGE_BYTES, f))
        message[strcspn(message, "\n")] = 0;
    if (f)
        fclose(f);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int t803_decode(const t803_set *set, const t803_row *row, const char *output, const char *option, const char *value,
                char message[MESSAGE_BYTES])
{
    char input[PATH_BYTES], reduce[16], *arguments[MOST_ARGUMENTS];
    int n = 0;
    snprintf(input, sizeof input, "%s/%s", set->directory, row->file);
    snprintf(reduce, sizeof reduce, "%u", row->reduce);
    const char *all[] = {set->command, "decode",     input,     output, "--reduce", reduce,
                         "--backend",  set->backend, "--quiet", option, value,      NULL};
    while (all[n]) {
        arguments[n] = (char *)(uintptr_t)all[n];
        n++;
    }
    arguments[n] = NULL;
    return run_command(set, arguments, message);
}

/* ---- Planes -------------------------------------------------------------------------------------------------- */

static void plane_name(const t803_set *set, uint32_t c, char *path)
{
    snprintf(path, PATH_BYTES, "%s/o_%u.pgx", set->scratch, c);
}

picture *t803_read_plane(const t803_set *set, uint32_t c)
{
    char path[PATH_BYTES];
    plane_name(set, c, path);
    return read_pgx(path);
}

static void remove_planes(const t803_set *set)
{
    char path[PATH_BYTES];
    for (uint32_t c = 0; plane_name(set, c, path), unlink(path) == 0; c++)
        continue;
}

int t803_decode_planes(const t803_set *set, const t803_row *row, bool first_alone, char message[MESSAGE_BYTES])
{
    char output[PATH_BYTES];
    remove_planes(set);
    snprintf(output, sizeof output, "%s/o.pgx", set->scratch);
    return t803_decode(set, row, output, first_alone ? "--component" : NULL, "0", message);
}
