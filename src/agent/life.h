/* life.h - the life of a run: start, exit, forget. */
#ifndef PLEAT_AGENT_LIFE_H
#define PLEAT_AGENT_LIFE_H

#include "agent/run.h"

/* Begins to start a run. The outcome is told by `started` or `start_failed`; after either the run
 * must be forgotten in the end. After an error (no memory, too many runs) there is no run. */
int pleat_run_start(struct pleat_agent *agent, const struct pleat_run_request *request,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* No process of the run is left: starts it again where that is wanted, else tells the daemon.
 * Called by ending.c. */
void pleat_run_exited(struct pleat_run *run);
/* A run was STARTING: its program is executed (failure NULL), or cannot be. */
void pleat_run_start_settled(struct pleat_run *run, const struct pleat_error *failure);
/* A run is over; tells the daemon. `broken`: it could be relaunched. */
void pleat_run_finish(struct pleat_run *run, bool broken);
/* Only for launches: no process is left of a program that died in a resize, and the kind has
 * settled that. Tells that the program could be relaunched. */
void pleat_run_broke(struct pleat_run *run);
/* Only for a run that has exited broken, or to go on on another node: it will not. Tells its exit
 * once more, as final. */
void pleat_run_give_up(struct pleat_run *run);
/* Sends again what the daemon may have missed. */
void pleat_run_report(struct pleat_run *run);
/* Removes an EXITED or FAILED run from the agent and frees it. */
void pleat_run_destroy(struct pleat_run *run);

/* What the end of a run has waited for (run->end_waits) may have come. */
void pleat_run_look_at_end(struct pleat_run *run);

#endif
