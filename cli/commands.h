/* The subcommands: arguments[0] is the subcommand's name, the result the exit status. */
#ifndef L2K_CLI_COMMANDS_H
#define L2K_CLI_COMMANDS_H

/* INCOMPLETE: there is an output, of an input that ends early. */
enum { CLI_EXIT_OK = 0, CLI_EXIT_FAILURE = 1, CLI_EXIT_USAGE = 2, CLI_EXIT_INCOMPLETE = 3 };

int cli_encode(int count, char **arguments);
int cli_decode(int count, char **arguments);
int cli_info(int count, char **arguments);
int cli_compare(int count, char **arguments);
int cli_view_command(int count, char **arguments);
int cli_dump_command(int count, char **arguments);

/* For somebody who calls lift2k without a word. */
extern const char cli_guide[];

extern const char cli_help[], cli_help_encode[], cli_help_decode[], cli_help_info[], cli_help_compare[];
extern const char cli_help_view[], cli_help_dump[];

/* Prints to standard output; the exit status tells whether all of it got there. */
int cli_print_help(const char *text);
int cli_finish_output(void);
int cli_print_version(void);

#endif
