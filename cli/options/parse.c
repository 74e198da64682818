/* Parses the command line with getopt_long, whose tables are made from ours, and suggests what an unknown word may have
 * meant. */
#include "cli/options/table.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures/files/file.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

enum { MAX_OPTIONS = 96 };

/* What getopt_long returns for row i: above all letters. */
enum { FIRST_ROW = 256 };

typedef struct tables {
    const char *command;
    struct option options[MAX_OPTIONS + 1];
    char letters[2 * MAX_OPTIONS + 2];
} tables;

static void make_tables(tables *t, cli_command command)
{
    size_t count = 0;
    char *letter = t->letters;
    memset(t, 0, sizeof *t);
    t->command = cli_command_names[command];
    *letter++ = ':'; /* distinguishes a missing value from an unknown option */
    for (size_t i = 0; i < cli_num_options && count < MAX_OPTIONS; i++) {
        const cli_option *row = &cli_option_table[i];
        if (!cli_option_is_for(row, command))
            continue;
        const int argument = !row->argument                         ? no_argument
                             : strncmp(row->argument, "[=", 2) != 0 ? required_argument
                                                                    : optional_argument;
        t->options[count++] =
            (struct option){row->name, argument, NULL, row->letter ? row->letter : FIRST_ROW + (int)i};
        if (row->letter)
            *letter++ = row->letter;
        if (row->letter && row->argument)
            *letter++ = ':';
    }
}

static const cli_option *find_row(cli_command command, int kind)
{
    if (kind >= FIRST_ROW)
        return &cli_option_table[kind - FIRST_ROW];
    for (size_t i = 0; i < cli_num_options; i++)
        if (cli_option_is_for(&cli_option_table[i], command) && cli_option_table[i].letter == kind)
            return &cli_option_table[i];
    return NULL;
}

/* ---- What may have been meant -------------------------------------------------------------------------------- */

#define MAX_LETTERS 32u

typedef struct nearest {
    const char *word; /* as typed; ends at a 0 or at '=' */
    const char *best; /* NULL if nothing is near: more than a third of the letters differ */
    size_t distance;  /* of the best */
} nearest;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters left out, added, changed, or swapped with a neighbour: cost[i][j] is the distance between the first i letters
 * of a and the first j of b. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t cost[MAX_LETTERS + 1][MAX_LETTERS + 1];
    for (size_t i = 0; i <= a_length; i++) {
        for (size_t j = 0; j <= b_length; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            cost[i][j] =
                smaller(smaller(cost[i - 1][j], cost[i][j - 1]) + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = smaller(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a_length][b_length];
}

static void try_candidate(nearest *n, const char *candidate)
{
    size_t typed = strcspn(n->word, "="), letters = strlen(candidate);
    if (typed > MAX_LETTERS || letters > MAX_LETTERS)
        return;
    size_t distance = edit_distance(n->word, typed, candidate, letters);
    if (distance > (letters + 2) / 3 || distance >= letters || (n->best && distance >= n->distance))
        return;
    n->best = candidate;
    n->distance = distance;
}

bool cli_find_command(const char *word, cli_command *command)
{
    for (int i = 0; i < CLI_NUM_COMMANDS; i++)
        if (strcmp(word, cli_command_names[i]) == 0) {
            *command = (cli_command)i;
            return true;
        }
    return false;
}

void cli_report_unknown_command(const char *word)
{
    struct stat facts;
    nearest n = {.word = word};
    for (int i = 0; i < CLI_NUM_COMMANDS; i++)
        try_candidate(&n, cli_command_names[i]);
    if (n.best)
        cli_error(word, "no such command; did you mean %s? (lift2k --help lists all commands)", n.best);
    else if (stat(word, &facts) == 0)
        cli_error(word, "a command comes before the file, such as encode, decode or info; see lift2k --help");
    else
        cli_error(word, "no such command; lift2k --help lists all commands");
}

/* ---- Faults -------------------------------------------------------------------------------------------------- */

static size_t letters_of(const char *argument)
{
    return strcspn(argument, "=");
}

/* Lists the options that begin with `typed`, with " or " between them. */
static size_t list_candidates(const struct option *options, const char *typed, char *text, size_t room)
{
    size_t found = 0, used = 0;
    for (; options->name && used < room; options++)
        if (strncmp(options->name, typed, letters_of(typed)) == 0)
            used += (size_t)snprintf(text + used, room - used, "%s--%s", found++ ? " or " : "", options->name);
    return found;
}

/* `typed` begins after the hyphens. */
static void report_unknown(const tables *t, const char *argument, const char *typed)
{
    char name[80], candidates[200];
    nearest n = {.word = typed};
    snprintf(name, sizeof name, "%.*s", (int)letters_of(argument), argument);
    if (list_candidates(t->options, typed, candidates, sizeof candidates) > 1) {
        cli_error(name, "ambiguous: could be %s", candidates);
        return;
    }
    for (const struct option *option = t->options; option->name; option++)
        try_candidate(&n, option->name);
    if (n.best)
        cli_error(name, "no such option; did you mean --%s? (lift2k %s --help lists all options)", n.best, t->command);
    else
        cli_error(name, "no such option; lift2k %s --help lists all options", t->command);
}

/* getopt gives the letter of the culprit, except for long options. */
static bool report_fault(const tables *t, int kind, char **arguments)
{
    const char *last = arguments[optind - 1];
    bool is_long = strncmp(last, "--", 2) == 0;
    char name[80];
    snprintf(name, sizeof name, "-%c", optopt);
    if (is_long)
        snprintf(name, sizeof name, "%.*s", (int)letters_of(last), last);
    if (kind == ':')
        return cli_error(name, "the option needs a value; see lift2k %s --help", t->command);
    if (is_long && optopt)
        return cli_error(name, "the option takes no value; see lift2k %s --help", t->command);
    if (!is_long)
        return cli_error(name, "no such option; lift2k %s --help lists all options", t->command);
    report_unknown(t, last, last + 2);
    return false;
}

/* getopt reads "-tile" as -t with the value "ile", which is never meant. */
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

/* Looks at the option that getopt will take next; it skips names. */
static bool check_next(const tables *t, int count, char **arguments)
{
    int next = optind;
    while (next < count && arguments[next][0] != '-')
        next++;
    return next >= count || !lacks_hyphen(arguments[next], t->options) ||
           cli_error(arguments[next], "did you mean -%s, with two hyphens?", arguments[next]);
}

/* ---- Parsing ------------------------------------------------------------------------------------------------- */

static bool take_row(cli_options *options, const cli_option *row)
{
    if (row->parse == cli_take_out_dir)
        cli_take_separators(optarg);
    if (row->input == CLI_PICTURE_INPUT)
        options->picture_option = row->name;
    else if (row->input == CLI_CODED_INPUT)
        options->coded_option = row->name;
    if (!(row->video >> options->command & 1))
        options->still_option = row->name;
    return row->parse(row, optarg, options);
}

bool cli_options_parse(cli_options *options, cli_command command, int count, char **arguments)
{
    tables t;
    int kind;
    memset(options, 0, sizeof *options);
    options->command = command;
    make_tables(&t, command);
    opterr = 0;
    while (true) {
        if (!check_next(&t, count, arguments))
            return false;
        kind = getopt_long(count, arguments, t.letters, t.options, NULL);
        if (kind == -1)
            break;
        if (kind == '?' || kind == ':')
            return report_fault(&t, kind, arguments);
        if (!take_row(options, find_row(command, kind)))
            return false;
    }
    cli_allowed.pixels = (uint64_t)cli_setting_or(options->max_pixels, CLI_NO_LIMIT);
    cli_allowed.memory = (uint64_t)cli_setting_or(options->max_memory, CLI_NO_LIMIT);
    options->names = arguments + optind;
    options->num_names = count - optind;
    for (int i = 0; i < options->num_names; i++)
        cli_take_separators(options->names[i]);
    return true;
}

void cli_options_free(cli_options *options)
{
    free(options->kernel);
    free(options->layer_targets);
    free(options->boxes);
    free(options->poc);
}

bool cli_two_names(const cli_options *options, const char **first, const char **second)
{
    const char *command = cli_command_names[options->command];
    if (options->num_names < 2)
        return cli_error(command, "two file names are needed; see lift2k %s --help", command);
    if (options->num_names > 2)
        return cli_error(options->names[2], "one file name too many; see lift2k %s --help", command);
    *first = options->names[0];
    *second = options->names[1];
    return true;
}
