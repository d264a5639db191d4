/* app_move.h - simulated applications that go on on another node
 *
 * All of their processes end, with their state kept there, and are started anew: where the time of
 * an allocation is over before the job is. Not those that fold, or that give pieces of work to
 * their processors. */
#ifndef PLEAT_SIM_APP_MOVE_H
#define PLEAT_SIM_APP_MOVE_H

#include "sim/internal.h"

/* Do jobs go on elsewhere when the time of their allocations is over? The run's parameters say so.
 */
bool app_moves_at_all(const struct sim *sim);
/* May jobs like that be led from another node than at first? */
bool app_may_move(const struct sim *sim, const struct pleat_workload_job *job);
/* Does the resize that the application was told of leave the node from which it is led? */
bool app_leaves_lead(const struct sim *sim, uint32_t component);
/* An application that is APP_MOVING is started: that run on its other node, where it goes on after
 * the site's time for starts, which do not fail. *other: another run, since that one was lost on
 * its way. */
int app_begin_elsewhere(struct sim *sim, uint32_t component, uint64_t run, bool *other);
/* It was started there, and computes on from where it was. Its next step is the caller's. */
int app_goes_on(struct sim *sim, uint32_t component);

#endif
