/* reap.h - what it means for runs that processes have ended. */
#ifndef PLEAT_AGENT_REAP_H
#define PLEAT_AGENT_REAP_H

#include "agent/run.h"

/* Takes note of all processes that have ended: those that reapers tell, and children of this
 * process. Where a main process has, its run is ending: ending.c ends what is left of it. */
void pleat_runs_reap(struct pleat_agent *agent);

#endif
