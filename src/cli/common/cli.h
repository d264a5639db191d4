/* cli.h - what the subcommands of `pleat` share: their description, options, failures.
 *
 * A subcommand is one file with one `const struct pleat_cli_command`. Its run function gets argv
 * with the command's name in argv[0], reads its options with pleat_options_next, and returns an
 * exit code (exit.h). What it prints goes to stdout; everything else to stderr, after "pleat: ".
 */
#ifndef PLEAT_CLI_COMMON_CLI_H
#define PLEAT_CLI_COMMON_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cli/common/exit.h"
#include "describe/option_reader.h"
#include "describe/values.h"

struct pleat_cli_command {
    const char *name;
    const char *arguments; /* the usage line, after the name of the command */
    const char *summary;   /* one line, for `pleat help` */
    const char *help; /* the rest of --help; the options common to all commands are added to it */
    bool json;        /* has --json */
    bool program;     /* takes the command line of a program: options end before it */
    int (*run)(int argc, char **argv);
    /* Parts of the command, which are commands called "NAME PART"; NULL after the last. `run` of
     * such a command calls pleat_command_run_part. */
    const struct pleat_cli_command *const *parts;
    /* prints --help where its text is not made of the members above; else NULL */
    void (*print_help)(void);
};

/* Settings that the common options change. */
struct pleat_settings {
    bool json;
    bool no_color;
};
extern struct pleat_settings pleat_settings;

/* The part of a command that is called by this last word; NULL: it has no such part. */
const struct pleat_cli_command *pleat_command_part(const struct pleat_cli_command *command,
                                                   const char *word);
/* Prints the --help of a command. */
void pleat_command_help(const struct pleat_cli_command *command);
/* Reads the common options in front of the part's name, then runs the part. */
int pleat_command_run_part(const struct pleat_cli_command *command, int argc, char **argv);

/* ---- options ---- */

enum { PLEAT_OPTION_EXIT = -2 };

struct pleat_options {
    const struct pleat_cli_command *command;
    struct pleat_option_reader reader;
    int argc;
    char **argv;
    int exit_code; /* after PLEAT_OPTION_EXIT */
    int first;     /* after PLEAT_OPTION_END: argv[first] is the first argument */
};

/* Begins to read options. `own` ends with a zeroed entry (NULL: none); the values of its entries
 * are above 0 and below 1000. The options common to all commands are added. */
void pleat_options_init(struct pleat_options *options, const struct pleat_cli_command *command,
                        int argc, char **argv, const struct option *own, const char *shorts);
/* Returns the next option's value, with its argument in optarg, or PLEAT_OPTION_END.
 * PLEAT_OPTION_EXIT: --help was given, or a usage error was reported: the command is to leave with
 * options->exit_code. */
int pleat_options_next(struct pleat_options *options);
/* As pleat_options_next, but prints no usage error: it is PLEAT_E_INVALID in *err. */
int pleat_options_next_quiet(struct pleat_options *options, struct pleat_error *err);
/* For commands whose only options are the common ones. Returns PLEAT_OPTION_END or
 * PLEAT_OPTION_EXIT. Checks that between `least` and `most` arguments are left. */
int pleat_options_plain(struct pleat_options *options, const struct pleat_cli_command *command,
                        int argc, char **argv, int least, int most);
/* Checks that between `least` and `most` (-1: any number) arguments are left. Returns 0; or
 * PLEAT_EXIT_USAGE, having reported it. */
int pleat_options_count(const struct pleat_options *options, int least, int most);

/* Reports a wrong command line. Returns PLEAT_EXIT_USAGE. */
int pleat_usage(const struct pleat_cli_command *command, const char *fmt, ...) PLEAT_PRINTF(2, 3);

/* ---- telling ---- */

/* Writes "pleat: ..." to stderr, in one write. Control characters become '?'. */
void pleat_say(const char *fmt, ...) PLEAT_PRINTF(1, 2);
/* Reports *err. Returns the exit code for it: PLEAT_EXIT_NO_DAEMON for PLEAT_E_CLOSED, else
 * PLEAT_EXIT_FAILED. */
int pleat_fail(const struct pleat_error *err);
/* Reports an error in a file of input. Returns PLEAT_EXIT_USAGE, or PLEAT_EXIT_FAILED where memory
 * ran out. */
int pleat_fail_input(const struct pleat_error *err);
/* Flushes stdout. Returns `code`, or PLEAT_EXIT_FAILED (reported on stderr) where not all was
 * written. */
int pleat_finish_output(int code);

#endif
