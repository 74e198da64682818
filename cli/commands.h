/* The subcommands. Each gets its parsed options and returns the exit status. */
#ifndef L2K_CLI_COMMANDS_H
#define L2K_CLI_COMMANDS_H

#include "cli/options/options.h"

/* INCOMPLETE: there is an output, but the input ended early. */
enum { CLI_EXIT_OK = 0, CLI_EXIT_FAILURE = 1, CLI_EXIT_USAGE = 2, CLI_EXIT_INCOMPLETE = 3 };

int cli_encode(const cli_options *options);
int cli_decode(const cli_options *options);
int cli_info(const cli_options *options);
int cli_compare(const cli_options *options);
int cli_view_command(const cli_options *options);
int cli_dump_command(const cli_options *options);
int cli_transcode(const cli_options *options);

/* Decode and info of a stream of Dirac or VC-2, which they know by its first bytes. */
bool cli_is_video(const cli_options *options);
int cli_video(const cli_options *options);
bool cli_video_options(const cli_options *options);

/* Encode with --vc2. */
int cli_encode_video(const cli_options *options);

/* For a call of lift2k without arguments. */
extern const char cli_guide[];

/* These print to standard output; the exit status says whether all of it was written. */
int cli_print_overview(void);
int cli_print_help(cli_command command);
int cli_print_version(void);
int cli_finish_output(void);

#endif
