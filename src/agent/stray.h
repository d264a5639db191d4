/* stray.h - ends what a killed predecessor left. */
#ifndef PLEAT_AGENT_STRAY_H
#define PLEAT_AGENT_STRAY_H

#include "agent/agent.h"

/* Ends the processes that a dead agent of this instance, site and node left: SIGTERM, after 2 s
 * SIGKILL. Blocks until they are gone, at most 10 s. Processes of a living agent are never touched.
 */
void pleat_strays_end(const struct pleat_agent *agent);

#endif
