/* ending.h - ends whole trees of processes. */
#ifndef PLEAT_AGENT_ENDING_H
#define PLEAT_AGENT_ENDING_H

#include "agent/run.h"

/* SIGTERM to all of the run's processes now, SIGKILL after the grace. Called again: the earlier
 * time counts. Does not decide whether the run is started again. */
void pleat_run_kill(struct pleat_run *run, int64_t grace_us);
/* As pleat_run_kill, and the run is not started again. */
void pleat_run_end(struct pleat_run *run, int64_t grace_us);
/* Goes on with all runs that are being ended, and sets the timer for the next time. */
void pleat_runs_sweep(struct pleat_agent *agent);

#endif
