/* loop.h - the agent's loop, and its connection to the daemon. */
#ifndef PLEAT_AGENT_LOOP_H
#define PLEAT_AGENT_LOOP_H

#include "agent/agent.h"

/* Runs until the agent is told to end. Returns 0, or the error of setting up. */
int pleat_agent_run(struct pleat_agent *agent, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
