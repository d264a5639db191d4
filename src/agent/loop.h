/* loop.h - the agent's loop, and its connection to the daemon. */
#ifndef PLEAT_AGENT_LOOP_H
#define PLEAT_AGENT_LOOP_H

#include "agent/agent.h"

/* Runs until the agent is told to end. `sweep` ends what earlier agents left: it is called once,
 * before anything of the daemon is heard, so before anything is started here. Returns 0, or the
 * error of setting up. */
int pleat_agent_run(struct pleat_agent *agent, void (*sweep)(const struct pleat_agent *agent),
                    struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
