/* relaunch.h - ending all processes of a malleable run and starting it again, within the same run.
 *
 * Two requests lead to a relaunch. The first is `resize` with `relaunch`: the application saves its
 * state, and its processes leave by themselves or are ended after a grace. Its outcome is told as
 * that of any resize, once the new processes have begun. The second is the request `relaunch`,
 * whatever the processes are doing: they are ended, and `relaunched` is told when the new ones are
 * started.
 *
 * For a script (launching.h) all of this concerns the program that it launched last, not the
 * script.
 */
#ifndef PLEAT_AGENT_RELAUNCH_H
#define PLEAT_AGENT_RELAUNCH_H

#include "agent/relaunch_plan.h"

/* The request `relaunch`. Returns 0 also where the same relaunch was demanded before: then its
 * outcome is told again. PLEAT_E_STATE: the run is over, or being ended. */
int pleat_relaunch_demand(struct pleat_run *run, const struct pleat_relaunch_order *order,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Only for launches: the program has ended and is not started again, whatever was planned. Settles
 * what is under way. */
void pleat_relaunch_ended(struct pleat_run *run);
/* No process is left, and the run goes on on another node: it has exited here. */
void pleat_relaunch_move(struct pleat_run *run);
/* No process is left: starts the run again. Where that fails, now or later, the run has exited. */
void pleat_relaunch_go(struct pleat_run *run);
/* Takes the outcome of the start that pleat_relaunch_go began. */
void pleat_relaunch_started(struct pleat_run *run, const struct pleat_error *failure);
/* Ends processes that should leave and have not left within their grace. To be called from time to
 * time. */
void pleat_relaunch_press(struct pleat_run *run);
/* The new processes go on: tells the outcome of the resize. */
void pleat_relaunch_begun(struct pleat_run *run, const struct pleat_mailbox_status *status);

#endif
