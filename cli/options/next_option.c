/* What getopt_long finds, and what it does not understand, with a hint at what may have been meant. */
#include <stdio.h>
#include <string.h>

#include "cli/options/nearest.h"
#include "cli/options/options.h"
#include "pictures/user/report.h"

const char *cli_option_name(const struct option *options, int value)
{
    while (options->name && options->val != value)
        options++;
    return options->name ? options->name : "?";
}

static size_t letters_of(const char *argument)
{
    return strcspn(argument, "=");
}

/* Those that begin with what was typed, with " or " between. */
static size_t list_candidates(const struct option *options, const char *typed, char *text, size_t room)
{
    size_t found = 0, used = 0;
    for (; options->name && used < room; options++)
        if (strncmp(options->name, typed, letters_of(typed)) == 0)
            used += (size_t)snprintf(text + used, room - used, "%s--%s", found++ ? " or " : "", options->name);
    return found;
}

/* `typed` begins after the hyphens. */
static void report_unknown(const struct option *options, const char *argument, const char *typed, const char *command)
{
    char name[80], candidates[200];
    cli_nearest nearest = {.word = typed};
    snprintf(name, sizeof name, "%.*s", (int)letters_of(argument), argument);
    if (list_candidates(options, typed, candidates, sizeof candidates) > 1) {
        cli_error(name, "could be %s; please write more of it", candidates);
        return;
    }
    for (; options->name; options++)
        cli_nearest_try(&nearest, options->name);
    if (nearest.best)
        cli_error(name, "no such option; did you mean --%s? (lift2k %s --help lists them all)", nearest.best, command);
    else
        cli_error(name, "no such option; lift2k %s --help lists them all", command);
}

/* getopt tells the culprit by its letter, except for long options. */
static void report_fault(int kind, char **arguments, const struct option *options, const char *command)
{
    const char *last = arguments[optind - 1];
    bool is_long = strncmp(last, "--", 2) == 0;
    char name[80];
    snprintf(name, sizeof name, "-%c", optopt);
    if (is_long)
        snprintf(name, sizeof name, "%.*s", (int)letters_of(last), last);
    if (kind == ':')
        cli_error(name, "the option needs a value; see lift2k %s --help", command);
    else if (is_long && optopt)
        cli_error(name, "the option takes no value; see lift2k %s --help", command);
    else if (is_long)
        report_unknown(options, last, last + 2, command);
    else
        cli_error(name, "no such option; lift2k %s --help lists them all", command);
}

/* "-tile" is read as -t with the value "ile", which nobody means. */
static bool lacks_hyphen(const char *argument, const struct option *options)
{
    if (argument[0] != '-' || argument[1] == '-' || letters_of(argument) < 3)
        return false;
    for (; options->name; options++)
        if (strncmp(options->name, argument + 1, letters_of(argument + 1)) == 0 &&
            !options->name[letters_of(argument + 1)])
            return true;
    return false;
}

int cli_next_option(int count, char **arguments, const char *letters, const struct option *options, const char *command)
{
    opterr = 0;
    int next = optind;
    while (next < count && arguments[next][0] != '-') /* names, which getopt passes over, too */
        next++;
    if (next < count && lacks_hyphen(arguments[next], options)) {
        cli_error(arguments[next], "did you mean -%s, with two hyphens?", arguments[next]);
        return '?';
    }
    int kind = getopt_long(count, arguments, letters, options, NULL);
    if (kind == '?' || kind == ':') {
        report_fault(kind, arguments, options, command);
        return '?';
    }
    return kind;
}
