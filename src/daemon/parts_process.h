/* parts_process.h - processes of evolving runs (processes.h) on other nodes than that from which
 * the run is led. Each is a part of the run (parts.h), and a run of its own on its node's agent.
 * What happens to it does not end the run: the agent that leads is told, and decides. */
#ifndef PLEAT_DAEMON_PARTS_PROCESS_H
#define PLEAT_DAEMON_PARTS_PROCESS_H

#include "daemon/parts.h"

/* Has the agent of the part's node, which is there, start the process on the processor of its
 * claim. */
int part_process_start(struct daemon *d, const struct part *part,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
