/* submission.h - from the options of submit, run and a line of a mix file to a spec for the daemon.
 */
#ifndef PLEAT_CLI_SUBMISSION_H
#define PLEAT_CLI_SUBMISSION_H

#include <jansson.h>

#include "base/array.h"
#include "cli/cli.h"

/* The options, as they were given; strings are borrowed. */
struct pleat_submission {
    const char *name; /* NULL: the program's */
    const char *sizes;
    const char *runner;
    const char *mpi;
    const char *site;
    const char *chdir;
    const char *beside; /* a directory where programs are looked for first; NULL: the current */
    int64_t processors, least, most, initial; /* -1: not given */
    double estimate_s, deadline_s, begin_s;   /* 0: not given. The latter after the submission */
    int64_t priority;
    bool moldable;
    bool asks;
    char **argv;
    int argc;
};

#define PLEAT_SUBMISSION_SHORTS "n:"
/* The options, for pleat_options_init. */
extern const struct option pleat_submission_options[];
#define PLEAT_SUBMISSION_OPTIONS 18 /* their number, with the zeroed entry */
/* The options, for --help. */
#define PLEAT_SUBMISSION_HELP                                                                      \
    "  -n, --processors N   exactly N processors (rigid; default: 1)\n"                            \
    "      --min N          at least N processors (default: 1; may be 0: it may then be shrunk "   \
    "to\n"                                                                                         \
    "                       nothing where its program can)\n"                                      \
    "      --max N          at most N. With --min and --max apart the job is malleable if its\n"   \
    "                       program is linked with libpleat, else its size is chosen at its "      \
    "start\n"                                                                                      \
    "      --initial N      start with N (default: as many as are available)\n"                    \
    "      --sizes SIZES    which sizes it takes: any, powers (of two), squares, grids (r x r "    \
    "and\n"                                                                                        \
    "                       r x (r+1)), multiples:N, or a list such as 2,4,6 (default: any)\n"     \
    "      --moldable       its size is chosen at its start and stays, also if it could change\n"  \
    "      --asks           it decides itself, when offered a change, what it accepts\n"           \
    "      --runner KIND    auto, plain, mpi, malleable (default: auto: what it is linked with)\n" \
    "      --mpi WHICH      auto, openmpi, mpich, none (default: auto)\n"                          \
    "      --name NAME      (default: the program's name)\n"                                       \
    "      --site SITE      run there (default: anywhere)\n"                                       \
    "      --estimate TIME  how long it will run, as far as known: 90 (seconds), 15min, 2h\n"      \
    "      --priority N     where the order looks at priorities, higher ones go first "            \
    "(default: 0)\n"                                                                               \
    "      --deadline WHEN  to be done by then: 2h from the submission on, or at 14:30\n"          \
    "      --begin WHEN     start then (advance reservation): refused where its processors are\n"  \
    "                       taken; needs --estimate\n"                                             \
    "      --chdir DIR      run in DIR (default: the current directory)\n"

void pleat_submission_init(struct pleat_submission *submission);
/* Takes an option. 0; PLEAT_E_INVALID with what is wrong with it. */
int pleat_submission_take(struct pleat_submission *submission, int option, const char *value,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Checks what was given, finds the program, looks at what it is linked with, and captures the
 * environment. *spec is the caller's; lines about what was assumed are appended to *notes, each
 * ended by a newline. PLEAT_E_NOTFOUND: no such program; PLEAT_E_PERMISSION: it cannot be executed;
 * PLEAT_E_INVALID: the options do not fit together, or text that is not UTF-8; others as they come.
 */
int pleat_submission_spec(const struct pleat_submission *submission, json_t **spec,
                          struct pleat_string *notes, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
