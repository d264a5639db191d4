/* leftovers.h - ends all processes below a subreaper: everything that was ever started below it is
 * there, whatever session, parent or environment it gave itself. */
#ifndef PLEAT_AGENT_LEFTOVERS_H
#define PLEAT_AGENT_LEFTOVERS_H

#include "agent/tree.h"

/* The name of a reaper (reaper.h), by which it is told from an agent. */
#define PLEAT_REAPER_NAME "pleat-reaper"

/* Whether a process is spared when the processes below `above` are ended. A pleatd that a job has
 * started is spared, and an agent of such a pleatd, each with all processes below it: only their
 * user ends these. */
bool pleat_leftovers_spare(const struct pleat_process_tree *tree,
                           struct pleat_process_entry *process, pid_t above);

/* Ends all processes below this one, but those that are spared: SIGTERM, after 2 s SIGKILL. This
 * process must be a subreaper with one thread. Blocks until they are gone, at most 10 s. `why` is
 * logged if there are any. */
void pleat_leftovers_end(const char *why);

#endif
