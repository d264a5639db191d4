/* execute.h - the command line and environment of a run, and starting its main process. Starting
 * does not block: the new process reports through a pipe what came of its start. */
#ifndef PLEAT_AGENT_EXECUTE_H
#define PLEAT_AGENT_EXECUTE_H

#include "agent/run.h"

/* Called when the program of a run was executed (failure NULL), or could not be. */
typedef void (*pleat_run_settled)(struct pleat_run *run, const struct pleat_error *failure);

/* Begins to start argv (not empty) as this generation of the run, with env and the variables that
 * an agent adds. The program runs in the run's directory, and its output is appended to the run's
 * output files. `settled` is called from the loop; until then a run whose generation `now` is
 * started is STARTING. The arrays (of strings) are borrowed. */
int pleat_run_execute(struct pleat_run *run, struct pleat_generation *generation,
                      const json_t *argv, const json_t *env, pleat_run_settled settled,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Of a start that is under way: reads what the main process has told so far. False: it tells no
 * more, since it executes its program, or ends, or has ended, or there never was one. */
bool pleat_run_execute_goes_on(struct pleat_run *run, struct pleat_generation *generation);
/* The main process of a start that is under way has ended, or there is none: settles the start at
 * once. `unexecuted`: it had not executed its program. Unless the run was to end that is a failure
 * of the start, by no fault of the user's. `number`: the signal that ended it. */
void pleat_run_execute_ended(struct pleat_run *run, struct pleat_generation *generation,
                             bool unexecuted, int number);
/* Gives up a start: `settled` will not be called. */
void pleat_run_execute_drop(struct pleat_generation *generation);

/* The exit code that a shell would give for a run that could not be started: 127 where there is no
 * such program, 126 where it cannot be executed, else 125. */
int pleat_run_failure_code(const struct pleat_run *run);

#endif
