/* selection.h - which jobs a command is about: numbers, ranges, a name, a state, or all. */
#ifndef PLEAT_CLI_JOBS_SELECTION_H
#define PLEAT_CLI_JOBS_SELECTION_H

#include <jansson.h>

#include "base/array.h"
#include "cli/common/cli.h"
#include "client/client.h"

PLEAT_ARRAY(pleat_job_numbers, int64_t);

/* Which jobs a command can do something to, where it was not told their numbers. */
enum pleat_selects {
    PLEAT_SELECTS_LIVING,  /* all that have not ended */
    PLEAT_SELECTS_WAITING, /* in the queue, not held by their user */
    PLEAT_SELECTS_HELD,    /* held by their user */
    PLEAT_SELECTS_RUNNING  /* that have left the queue */
};

struct pleat_selection {
    const struct pleat_command *command;
    const char *name, *state; /* NULL: any */
    bool all;
    char **words; /* "12", "3-7" */
    int count;
};

/* The options --name, --state, --all; their values, and their lines for --help. */
enum { PLEAT_SELECT_NAME = 600, PLEAT_SELECT_STATE, PLEAT_SELECT_ALL };
#define PLEAT_SELECTION_OPTIONS                                                                    \
    {"name", required_argument, NULL, PLEAT_SELECT_NAME},                                          \
        {"state", required_argument, NULL, PLEAT_SELECT_STATE},                                    \
    {                                                                                              \
        "all", no_argument, NULL, PLEAT_SELECT_ALL                                                 \
    }
#define PLEAT_SELECTION_HELP                                                                       \
    "      --name PATTERN  only those with such a name: 'heat*'\n"                                 \
    "      --state STATE  only those in that state: waiting, held, running, or one that 'pleat "   \
    "ps'\n"                                                                                        \
    "                   shows\n"                                                                   \
    "      --all        all of which that makes sense\n"

/* Takes one of the options. PLEAT_E_INVALID. */
int pleat_selection_take(struct pleat_selection *selection, int option, const char *value,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Is it a selection at all, and one that can be read? 0; or the exit code, having said why not. */
int pleat_selection_check(const struct pleat_selection *selection);
/* The numbers of the jobs, each once: those given by number whatever they are, the others where
 * `selects` fits. Finish *jobs in any case. 0; or an exit code, having said why, PLEAT_EXIT_NO_JOB
 * where none is selected. */
int pleat_selection_jobs(const struct pleat_selection *selection, struct pleat_client *client,
                         enum pleat_selects selects, struct pleat_job_numbers *jobs);
/* Asks `method` about each of them, with "job" in a copy of `params` (borrowed, may be NULL), and
 * says how many jobs `done` says of it ("cancelled") if they were not named one by one. The others
 * are done where one is refused; the exit code of the last that was. */
int pleat_selection_ask(const struct pleat_selection *selection, struct pleat_client *client,
                        const struct pleat_job_numbers *jobs, const char *method,
                        const json_t *params, const char *done);
/* All of the above in a row: checks the selection, connects, and asks about each job. */
int pleat_selection_change(const struct pleat_selection *selection, enum pleat_selects selects,
                           const char *method, const json_t *params, const char *done);

#endif
