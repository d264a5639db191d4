/* process_leave.h - processes that leave before their site takes their processors back
 *
 * A site says until when a claim is its owner's (CLAIM_ENDS). The run of a component whose agents
 * prepare processes is led from its first claim, and is over with that. The processes of its other
 * claims, at all sites, are told to leave in time (PLEAT_PARAM_LEAVE_PROCESSES), and the run goes
 * on without them. What is prepared, and not handed over, is given back. */
#ifndef PLEAT_CORE_PROCESS_LEAVE_H
#define PLEAT_CORE_PROCESS_LEAVE_H

#include "core/state.h"

/* When the next processes are to leave, later than now; PLEAT_NEVER: none are. */
int64_t processes_leave_next(const struct pleat_core *core, uint32_t component);
/* Tells those to leave that are to leave by now and were not told. Does nothing where the component
 * does not run. */
void processes_leave(struct pleat_core *core, uint32_t component);

#endif
