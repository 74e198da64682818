/* lift2k_pages bash|zsh, lift2k_pages man SUBCOMMAND: what is installed beside the command is written from the table of its
 * options: completions, and the options of a subcommand for lift2k(1). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/options/table.h"

/* ---- Completion ---------------------------------------------------------------------------------------------- */

/* "encode,-p | encode,--progression": for a `case` on the subcommand and the word before. */
static void print_pattern(const cli_option *row, const char *command)
{
    if (row->letter)
        printf("%s,-%c | ", command, row->letter);
    printf("%s,--%s) ", command, row->name);
}

static void print_value_cases(void)
{
    for (int command = 0; command < CLI_NUM_COMMANDS; command++)
        for (size_t i = 0; i < cli_num_options; i++) {
            const cli_option *row = &cli_option_table[i];
            if (!cli_option_is_for(row, (cli_command)command) || !row->names)
                continue;
            printf("    ");
            print_pattern(row, cli_command_names[command]);
            printf("values=\"");
            for (const cli_name *name = row->names; name->name; name++)
                printf("%s%s", name == row->names ? "" : " ", name->name);
            printf("\" ;;\n");
        }
}

static void print_option_cases(void)
{
    for (int command = 0; command < CLI_NUM_COMMANDS; command++) {
        printf("        %s,-*) values=\"", cli_command_names[command]);
        for (size_t i = 0; i < cli_num_options; i++) {
            const cli_option *row = &cli_option_table[i];
            if (!cli_option_is_for(row, (cli_command)command))
                continue;
            if (row->letter)
                printf("-%c ", row->letter);
            printf("--%s ", row->name);
        }
        printf("\" ;;\n");
    }
}

/* The same for both shells: from $command (lift2k for the first word), $before and $word to the words on offer. */
static void print_cases(void)
{
    printf("    case $command,$before in\n"
           "    lift2k,*) values=\"");
    for (int command = 0; command < CLI_NUM_COMMANDS; command++)
        printf("%s ", cli_command_names[command]);
    printf("--help --version\" ;;\n");
    print_value_cases();
    printf("    *)\n"
           "        case $command,$word in\n");
    print_option_cases();
    printf("        esac\n"
           "        ;;\n"
           "    esac\n");
}

/* Names of files are left to `-o default`. */
static void print_bash(void)
{
    printf("# Completion of lift2k for bash. Generated from the table of its options.\n"
           "_lift2k()\n"
           "{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} "
           "values=\n"
           "    [ \"$COMP_CWORD\" -gt 1 ] || command=lift2k\n");
    print_cases();
    printf("    COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
           "}\n"
           "\n"
           "complete -o default -F _lift2k lift2k\n");
}

static void print_zsh(void)
{
    printf("#compdef lift2k\n"
           "# Completion of lift2k for zsh. Generated from the table of its options.\n"
           "_lift2k()\n"
           "{\n"
           "    local word=$words[CURRENT] before=$words[CURRENT-1] command=$words[2] values=\n"
           "    (( CURRENT > 2 )) || command=lift2k\n");
    print_cases();
    printf("    if [[ -n $values ]]; then\n"
           "        compadd -- ${=values}\n"
           "    else\n"
           "        _files\n"
           "    fi\n"
           "}\n"
           "\n"
           "if [[ $funcstack[1] == _lift2k ]]; then\n"
           "    _lift2k \"$@\"\n"
           "fi\n");
}

/* ---- Manual -------------------------------------------------------------------------------------------------- */

static void print_escaped(char letter)
{
    if (letter == '-' || letter == '\\')
        putchar('\\');
    putchar(letter);
}

/* Options in running text are bold; other hyphens are left alone. */
static void print_roff(const char *text, bool capital)
{
    bool bold = false;
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (const char *at = text; *at; at++) {
        if (!bold && at[0] == '-' && at[1] == '-' && (at == text || at[-1] == ' ')) {
            fputs("\\fB", stdout);
            bold = true;
        }
        if (bold && *at != '-' && !isalnum((unsigned char)*at)) {
            fputs("\\fR", stdout);
            bold = false;
        }
        if (bold)
            print_escaped(*at);
        else
            putchar(at == text && capital ? toupper((unsigned char)*at) : *at);
    }
    fputs(bold ? "\\fR" : "", stdout);
}

/* Placeholders are italic; words to be typed from a list are bold. */
static void print_argument(const cli_option *row)
{
    bool italic = false;
    if (row->names && strchr(row->argument, '|')) {
        printf("\\fB%s\\fR", row->argument);
        return;
    }
    for (const char *at = row->argument; *at; at++) {
        bool stands = isupper((unsigned char)*at) || (italic && isdigit((unsigned char)*at));
        if (stands != italic)
            fputs(stands ? "\\fI" : "\\fR", stdout);
        italic = stands;
        putchar(*at);
    }
    fputs(italic ? "\\fR" : "", stdout);
}

static void print_head(const cli_option *row, const char *macro)
{
    printf(".%s\n\\fB", macro);
    if (row->letter)
        printf("\\-%c\\fR, \\fB", row->letter);
    printf("\\-\\-");
    for (const char *at = row->name; *at; at++)
        print_escaped(*at);
    fputs("\\fR", stdout);
    if (row->argument) {
        fputs(strncmp(row->argument, "[=", 2) ? " " : "", stdout);
        print_argument(row);
    }
    putchar('\n');
}

static void print_row(const cli_option *row)
{
    print_head(row, "TP");
    print_roff(row->help, true);
    puts(".");
    if (row->detail) {
        print_roff(row->detail, false);
        putchar('\n');
    }
    if (row->fallback) {
        fputs("Default: ", stdout);
        print_roff(row->fallback, false);
        puts(".");
    }
}

/* The first subcommand that has the row: its section describes it. */
static cli_command home_of(const cli_option *row)
{
    int command = 0;
    while (!cli_option_is_for(row, (cli_command)command))
        command++;
    return (cli_command)command;
}

/* Options that another section describes, under one text. */
static void print_shared(cli_command command, cli_command home, cli_input_kind input)
{
    const bool limited = command == CLI_VIEW || command == CLI_DUMP;
    const char *macro = "TP";
    for (size_t i = 0; i < cli_num_options; i++) {
        const cli_option *row = &cli_option_table[i];
        if (!cli_option_is_for(row, command) || home_of(row) != home || (limited ? row->input : CLI_ANY_INPUT) != input)
            continue;
        print_head(row, macro);
        macro = "TQ";
    }
    if (macro[1] == 'Q')
        printf("%s\n.BR %s .\n",
               input == CLI_PICTURE_INPUT ? "For pictures only: as for"
               : input == CLI_CODED_INPUT ? "For JPEG 2000 files only: as for"
                                          : "As for",
               cli_command_names[home]);
}

static void print_manual(cli_command command)
{
    for (size_t i = 0; i < cli_num_options; i++)
        if (cli_option_is_for(&cli_option_table[i], command) && home_of(&cli_option_table[i]) == command)
            print_row(&cli_option_table[i]);
    for (int home = 0; home < (int)command; home++)
        for (int input = CLI_ANY_INPUT; input <= CLI_CODED_INPUT; input++)
            print_shared(command, (cli_command)home, (cli_input_kind)input);
}

int main(int count, char **arguments)
{
    cli_command command;
    const char *kind = count > 1 ? arguments[1] : "";
    if (count == 2 && strcmp(kind, "bash") == 0)
        print_bash();
    else if (count == 2 && strcmp(kind, "zsh") == 0)
        print_zsh();
    else if (count == 3 && strcmp(kind, "man") == 0 && cli_find_command(arguments[2], &command))
        print_manual(command);
    else
        return 2;
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
