/* cli.h - what the subcommands of `pleat` share: their table, options, failures.
 *
 * A subcommand is one file with one `const struct pleat_command`. Its run function gets argv with
 * the command's name in argv[0], reads its options with pleat_options_next, and returns an exit
 * code (exit.h). What it prints goes to stdout; all else to stderr, after "pleat: ".
 */
#ifndef PLEAT_CLI_CLI_H
#define PLEAT_CLI_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/exit.h"

struct pleat_command {
    const char *name;
    const char *arguments; /* the usage line after the name */
    const char *summary;   /* one line, for `pleat help` */
    const char *help;      /* the rest of --help; options common to all are added to it */
    bool json;             /* has --json */
    bool program;          /* takes a program's command line: options end before it */
    int (*run)(int argc, char **argv);
    /* its own subcommands, NULL after the last: commands called "NAME PART". run is then
     * pleat_command_run_part called with the command */
    const struct pleat_command *const *parts;
};

/* Settings that the common options change. */
struct pleat_settings {
    bool json;
    bool no_color;
};
extern struct pleat_settings pleat_settings;

/* The command called `name`, or NULL. */
const struct pleat_command *pleat_command_find(const char *name);
/* The i-th command, or NULL after the last. */
const struct pleat_command *pleat_command_at(size_t i);
/* Among the parts of a command, by its last word; NULL: there is none. */
const struct pleat_command *pleat_command_part(const struct pleat_command *command,
                                               const char *word);
void pleat_command_help(const struct pleat_command *command);
/* Reads the common options in front of the part's name, then runs the part. */
int pleat_command_run_part(const struct pleat_command *command, int argc, char **argv);
/* The known word nearest to `word`, if it is near enough to be meant; else NULL. */
const char *pleat_nearest(const char *word, const char *const *known, size_t count);

/* ---- options ---- */

#define PLEAT_OPTIONS_MAX 64

enum { PLEAT_OPTION_END = -1, PLEAT_OPTION_EXIT = -2 };

/* Reads options: all up to "--"; with `program` only those before the first word that is none. */
struct pleat_options {
    const struct pleat_command *command;
    int argc;
    char **argv;
    struct option table[PLEAT_OPTIONS_MAX];
    const char *shorts; /* the command's own short options, as for getopt */
    bool in_front;      /* only the options before the first argument */
    int exit_code;      /* after PLEAT_OPTION_EXIT */
    int first;          /* after PLEAT_OPTION_END: argv[first] is the first argument */
};

/* `own` ends with a zeroed entry (may be NULL), its values are above 0 and below 1000. Options
 * common to all commands are added, unless the command has no name (a line of a mix file). */
void pleat_options_init(struct pleat_options *options, const struct pleat_command *command,
                        int argc, char **argv, const struct option *own, const char *shorts);
/* The next option's value with its argument in optarg; PLEAT_OPTION_END; or PLEAT_OPTION_EXIT
 * (--help was given, or a usage error was reported): leave with options->exit_code. */
int pleat_options_next(struct pleat_options *options);
/* As above, but a usage error comes back as PLEAT_E_INVALID in *err and nothing is printed. */
int pleat_options_next_quiet(struct pleat_options *options, struct pleat_error *err);
/* For commands whose only options are the common ones: PLEAT_OPTION_END or PLEAT_OPTION_EXIT.
 * Checks that between `least` and `most` arguments are left. */
int pleat_options_plain(struct pleat_options *options, const struct pleat_command *command,
                        int argc, char **argv, int least, int most);
/* The same check on its own; reports, and returns 0 or PLEAT_EXIT_USAGE. */
int pleat_options_count(const struct pleat_options *options, int least, int most);

/* Reports a wrong command line; returns PLEAT_EXIT_USAGE. */
int pleat_usage(const struct pleat_command *command, const char *fmt, ...) PLEAT_PRINTF(2, 3);

/* Whole numbers and seconds as users write them; `what` names the option or argument in *err. */
int pleat_parse_int(const char *what, const char *text, int64_t low, int64_t high, int64_t *value,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_parse_seconds(const char *what, const char *text, double low, double high, double *value,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* "25" or "25%": a share of 0.25. */
int pleat_parse_percent(const char *what, const char *text, double *share,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Which of the `count` words: *index. err names those there are. */
int pleat_parse_word(const char *what, const char *text, const char *const *words, size_t count,
                     size_t *index, struct pleat_error *err) PLEAT_MUST_CHECK;
/* "90s", "15min" (or "15m"), "2h", "1.5d", "1h30m", and as batch systems have it "1:30:00",
 * "2-12:00:00", "2-12" (days-hours): not negative, each at most 1e9 s. What could mean several
 * things is refused with the question which: a number without a unit (but 0), and "1:30". */
int pleat_parse_duration(const char *what, const char *text, double *seconds,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* "[B:]SIG[@TIME]", as sbatch has it: a name ("USR1", "SIGUSR1") or a number, so long before the
 * time limit (60 s), to all processes or (B:) to the script alone. */
int pleat_parse_limit_signal(const char *what, const char *text, int *number, double *lead_s,
                             bool *script_only, struct pleat_error *err) PLEAT_MUST_CHECK;
/* "SIGUSR1", or "signal 35" where it has no name. */
const char *pleat_signal_name(int number, char *text, size_t size);
/* "512M", "1.5G", "2T", "100K", also with B or iB behind it: above 0, in KiB. What has no unit is
 * refused with the question which. */
int pleat_parse_memory(const char *what, const char *text, int64_t *kib,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Seconds from now on: a duration above 0, or a time of the day, "14:30" or "14:30:15": the next
 * one. */
int pleat_parse_when(const char *what, const char *text, double *seconds,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_parse_job(const char *text, int64_t *job, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- telling ---- */

/* "pleat: ..." on stderr, in one write; control characters become '?'. */
void pleat_say(const char *fmt, ...) PLEAT_PRINTF(1, 2);
/* Says what *err says. Returns the exit code for it: PLEAT_EXIT_NO_DAEMON for PLEAT_E_CLOSED, else
 * PLEAT_EXIT_FAILED. */
int pleat_fail(const struct pleat_error *err);
/* The same about a file of input: PLEAT_EXIT_USAGE, unless memory was short. */
int pleat_fail_input(const struct pleat_error *err);
/* Flushes stdout. Returns `code`, or PLEAT_EXIT_FAILED (said on stderr) if not all was written. */
int pleat_finish_output(int code);

#endif
