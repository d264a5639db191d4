/* selection.h - the jobs that a command is about: by numbers, ranges, a name, a state, or all. */
#ifndef PLEAT_CLI_JOBS_SELECTION_H
#define PLEAT_CLI_JOBS_SELECTION_H

#include <jansson.h>

#include "base/array.h"
#include "cli/common/cli.h"
#include "client/client.h"

PLEAT_ARRAY(pleat_job_numbers, int64_t);

/* Which jobs a command applies to, where they are not named by their numbers. */
enum pleat_selects {
    PLEAT_SELECTS_LIVING,  /* jobs that have not ended */
    PLEAT_SELECTS_WAITING, /* jobs in the queue, not held by their user */
    PLEAT_SELECTS_HELD,    /* jobs held by their user */
    PLEAT_SELECTS_RUNNING  /* jobs that have left the queue */
};

struct pleat_selection {
    const struct pleat_cli_command *command;
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
    "      --name PATTERN  only jobs whose name matches: 'heat*'\n"                                \
    "      --state STATE  only jobs in that state: waiting, held (by their "                       \
    "user), running, or one\n"                                                                     \
    "                   that 'pleat ps' shows\n"                                                   \
    "      --all        all jobs to which the command applies\n"

/* Takes one of the options. PLEAT_E_INVALID. */
int pleat_selection_take(struct pleat_selection *selection, int option, const char *value,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Checks that something is selected and that the words can be read. Returns 0; or the exit code,
 * having reported why not. */
int pleat_selection_check(const struct pleat_selection *selection);
/* Finds the numbers of the jobs, each once. Jobs given by number are taken in any state, others
 * where `selects` fits. Finish *jobs in any case. Returns 0; or an exit code, having reported why:
 * PLEAT_EXIT_NO_JOB where no job is selected. */
int pleat_selection_jobs(const struct pleat_selection *selection, struct pleat_client *client,
                         enum pleat_selects selects, struct pleat_job_numbers *jobs);
/* Calls `method` for each of the jobs, with "job" in a copy of `params` (borrowed, may be NULL).
 * Where jobs were not named one by one, it prints how many were changed, with the word `done`
 * ("cancelled"). It goes on after a refusal. Returns the exit code of the last refusal. */
int pleat_selection_ask(const struct pleat_selection *selection, struct pleat_client *client,
                        const struct pleat_job_numbers *jobs, const char *method,
                        const json_t *params, const char *done);
/* Does all of it: checks the selection, connects, and calls the method for each job. */
int pleat_selection_change(const struct pleat_selection *selection, enum pleat_selects selects,
                           const char *method, const json_t *params, const char *done);

#endif
