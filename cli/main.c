#define _POSIX_C_SOURCE 200809L /* fcntl */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options/nearest.h"
#include "cli/run/progress.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/report.h"

int cli_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CLI_EXIT_OK;
    cli_error("standard output", "%s", strerror(errno ? errno : EIO));
    return CLI_EXIT_FAILURE;
}

int cli_print_help(const char *text)
{
    fputs(text, stdout);
    return cli_finish_output();
}

typedef struct command {
    const char *name;
    int (*run)(int count, char **arguments);
    const char *help;
} command;

static const command commands[] = {
    {"encode", cli_encode, cli_help_encode},   {"decode", cli_decode, cli_help_decode},
    {"info", cli_info, cli_help_info},         {"compare", cli_compare, cli_help_compare},
    {"view", cli_view_command, cli_help_view}, {"dump", cli_dump_command, cli_help_dump}};

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

/* "help", or "help COMMAND". */
static int print_some_help(const char *name)
{
    const command *found = name ? find_command(name) : NULL;
    return cli_print_help(found ? found->help : cli_help);
}

static int report_unknown(const char *word)
{
    struct stat facts;
    cli_nearest nearest = {.word = word};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        cli_nearest_try(&nearest, commands[i].name);
    if (nearest.best)
        cli_error(word, "no such command; did you mean %s? (lift2k --help lists them all)", nearest.best);
    else if (stat(word, &facts) == 0)
        cli_error(word, "a command comes before the file, such as encode, decode or info; see lift2k --help");
    else
        cli_error(word, "no such command; lift2k --help lists them all");
    return CLI_EXIT_USAGE;
}

/* A file opened later would become the standard stream that is closed, and messages would go into it. What is opened
 * instead fails where it is read or written as that stream; messages that nobody wants vanish. */
static bool fill_standard_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", modes[i]) != i)
            return cli_error("/dev/null", "%s", strerror(errno));
    return true;
}

int main(int count, char **arguments)
{
    if (!fill_standard_streams())
        return CLI_EXIT_FAILURE;
    if (count < 2) {
        fputs(cli_guide, stderr);
        return CLI_EXIT_USAGE;
    }
    const char *word = arguments[1];
    const command *found = find_command(word);
    cli_interrupt_watch();
    cli_report_guard(cli_progress_guard);
    if (found)
        return found->run(count - 1, arguments + 1);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return print_some_help(arguments[2]);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return cli_print_version();
    return report_unknown(word);
}
