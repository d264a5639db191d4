/* execute.h - the command line and environment of a run, and starting its main process. Nothing
 * waits for that: the new process tells through a pipe what came of it. */
#ifndef PLEAT_AGENT_EXECUTE_H
#define PLEAT_AGENT_EXECUTE_H

#include "agent/run.h"

/* The program of a run is executed (failure NULL), or cannot be. */
typedef void (*pleat_run_settled)(struct pleat_run *run, const struct pleat_error *failure);

/* Begins to start argv (not empty) with env and what an agent adds to it, in the run's directory,
 * with the run's output files, which are appended to: the run is STARTING then, until `settled` is
 * called from the loop. The arrays (of strings) are borrowed. */
int pleat_run_execute(struct pleat_run *run, const json_t *argv, const json_t *env,
                      pleat_run_settled settled, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The main process of a run has ended while the run was STARTING: settles that at once. */
void pleat_run_execute_ended(struct pleat_run *run);
/* Nobody waits for its start any more. */
void pleat_run_execute_drop(struct pleat_run *run);

#endif
