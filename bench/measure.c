/* measure [-n RUNS] [-w WARM] COMMAND... [-- COMMAND...]: runs commands and prints what each run cost.
 *
 * The commands, separated by "--", take turns: A B A B. The first WARM turns (1) are not printed; RUNS turns (7) are. A
 * line is: number-of-command wall-seconds user-seconds peak-resident-KiB. The commands' standard output goes to
 * /dev/null; their standard error is shown. A command that fails ends the program with exit status 1. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COMMANDS 8

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void become(char **command)
{
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0)
        dup2(null, STDOUT_FILENO);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

/* A child of vfork would count this process's memory in its peak; fork gives it a small one. */
static void run(int number, char **command, int print)
{
    struct rusage usage;
    int status;
    double start = now();
    pid_t child = fork();
    if (child == 0)
        become(command);
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("measure");
        exit(1);
    }
    double wall = now() - start;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "measure: %s failed\n", command[0]);
        exit(1);
    }
    if (print)
        printf("%d %.4f %.4f %ld\n", number, wall,
               (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec, usage.ru_maxrss);
}

int main(int count, char **arguments)
{
    char **commands[MAX_COMMANDS];
    int runs = 7, warm = 1, num_commands = 0, at = 1;
    for (; at + 1 < count && arguments[at][0] == '-'; at += 2) {
        if (strcmp(arguments[at], "-n") == 0)
            runs = atoi(arguments[at + 1]);
        else if (strcmp(arguments[at], "-w") == 0)
            warm = atoi(arguments[at + 1]);
        else
            break;
    }
    for (int fresh = 1; at < count; at++) {
        if (strcmp(arguments[at], "--") == 0) {
            arguments[at] = NULL; /* ends the previous command */
            fresh = 1;
        } else if (fresh && num_commands < MAX_COMMANDS) {
            commands[num_commands++] = &arguments[at];
            fresh = 0;
        }
    }
    if (num_commands == 0 || runs < 1 || warm < 0) {
        fprintf(stderr, "usage: measure [-n RUNS] [-w WARM] COMMAND... [-- COMMAND...]\n");
        return 2;
    }
    for (int turn = -warm; turn < runs; turn++)
        for (int i = 0; i < num_commands; i++)
            run(i, commands[i], turn >= 0);
    return 0;
}
