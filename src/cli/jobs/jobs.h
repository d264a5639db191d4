/* jobs.h - shows jobs as the daemon describes them (docs/protocol.md, "A job"). */
#ifndef PLEAT_CLI_JOBS_JOBS_H
#define PLEAT_CLI_JOBS_JOBS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/array.h"

/* Prints the jobs as a table, or with --json as `{"jobs":[...]}`. Returns an exit code. */
int pleat_jobs_print(const json_t *jobs);

bool pleat_job_ended(const json_t *job);
/* Whether its user holds it in the queue. */
bool pleat_job_is_held(const json_t *job);
/* Whether the job is done, with exit code 0. */
bool pleat_job_succeeded(const json_t *job);
/* The exit code that a shell would give for the job: its exit code, 128 + signal, 130 if the user
 * cancelled it, or 125, 126, 127 where its program did not run. */
int pleat_job_exit_code(const json_t *job);
/* Appends how the job ended: "exit 0", "signal 9 (SIGKILL)", or the reason. "-": it has not ended.
 */
void pleat_job_add_ending(const json_t *job, struct pleat_string *out);
/* The colour for a job's state, or NULL. */
const char *pleat_job_colour(const json_t *job);

#endif
