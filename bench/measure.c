/* measure [-n RUNS] [-w WARM] COMMAND... [-- COMMAND...]: runs commands and prints what each run cost.
 *
 * The commands, separated by "--", take turns: A B A B. The first WARM turns (1) are not printed; RUNS turns (7) are. A
 * line is: number-of-command wall-seconds user-seconds peak-resident-KiB. The commands' standard output goes to
 * /dev/null; their standard error is shown. A command that fails ends the program with exit status 1. */
#define _DEFAULT_SOURCE
#include <fcntl.h>

#include "bench/process.h"

#define MAX_COMMANDS 8

static void become(void *argument)
{
    char **command = argument;
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0)
        dup2(null, STDOUT_FILENO);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
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
        for (int i = 0; i < num_commands; i++) {
            const cost c = run_apart(become, commands[i]);
            if (turn >= 0)
                printf("%d %.4f %.4f %.0f\n", i, c.wall, c.user, c.peak_kib);
        }
    return 0;
}
