#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/report.h"

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

static int print_version(void)
{
    printf("lift2k %s\n", l2k_version());
    return cli_finish_output();
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int (*run)(int count, char **arguments);
    } commands[] = {{"encode", cli_encode},   {"decode", cli_decode},     {"info", cli_info},
                    {"compare", cli_compare}, {"view", cli_view_command}, {"dump", cli_dump_command}};
    if (count < 2) {
        cli_error("encode, decode, info, compare, view or dump", "a command is needed; see lift2k --help");
        return CLI_EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(arguments[1], commands[i].name) == 0)
            return commands[i].run(count - 1, arguments + 1);
    if (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0)
        return cli_print_help(cli_help);
    if (strcmp(arguments[1], "--version") == 0)
        return print_version();
    cli_error(arguments[1], "no such command; see lift2k --help");
    return CLI_EXIT_USAGE;
}
