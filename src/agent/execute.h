/* execute.h - the command line and environment of a run, and starting its main process. */
#ifndef PLEAT_AGENT_EXECUTE_H
#define PLEAT_AGENT_EXECUTE_H

#include "agent/run.h"

/* Starts argv (not empty) with env and what an agent adds to it, in the run's directory, with the
 * run's output files, which are appended to; sets run->pid, or run->user_fault. Blocks until the
 * program is executed. The arrays (of strings) are borrowed. */
int pleat_run_execute(struct pleat_run *run, const json_t *argv, const json_t *env,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
