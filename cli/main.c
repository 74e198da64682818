/* The command `lift2k`: finds the subcommand, parses its options and runs it. */
#define _POSIX_C_SOURCE 200809L /* fcntl */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
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

static int run_command(cli_command command, int count, char **arguments)
{
    static int (*const runs[CLI_NUM_COMMANDS])(const cli_options *) = {
        [CLI_ENCODE] = cli_encode,      [CLI_DECODE] = cli_decode,     [CLI_INFO] = cli_info,
        [CLI_COMPARE] = cli_compare,    [CLI_VIEW] = cli_view_command, [CLI_DUMP] = cli_dump_command,
        [CLI_TRANSCODE] = cli_transcode};
    cli_options options;
    int status = CLI_EXIT_USAGE;
    if (cli_options_parse(&options, command, count, arguments)) {
        int (*run)(const cli_options *) = runs[command];
#ifdef L2K_WITH_DIRAC
        run = options.vc2.given ? cli_encode_video : cli_is_video(&options) ? cli_video : run;
#endif
        status = options.help ? cli_print_help(command) : run(&options);
    }
    cli_options_free(&options);
    return status;
}

/* Arguments that begin with no subcommand: "help", "help COMMAND" and the like. */
static int run_other(int count, char **arguments)
{
    const char *word = arguments[0];
    cli_command command;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return count > 1 && cli_find_command(arguments[1], &command) ? cli_print_help(command) : cli_print_overview();
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return cli_print_version();
    cli_report_unknown_command(word);
    return CLI_EXIT_USAGE;
}

/* A file opened later would otherwise take the place of a closed standard stream and receive messages. The streams are
 * opened in the wrong direction: their use fails as on a closed one, and messages vanish. */
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
    cli_command command;
    if (!fill_standard_streams())
        return CLI_EXIT_FAILURE;
    if (count < 2) {
        fputs(cli_guide, stderr);
        return CLI_EXIT_USAGE;
    }
    cli_interrupt_watch();
    cli_report_guard(cli_progress_guard);
    if (cli_find_command(arguments[1], &command))
        return run_command(command, count - 1, arguments + 1);
    return run_other(count - 1, arguments + 1);
}
