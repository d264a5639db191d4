/* leftovers.h - ends what is left below a process that is a subreaper: everything that was ever
 * started below it is there, whatever session, parent or environment it gave itself. */
#ifndef PLEAT_AGENT_LEFTOVERS_H
#define PLEAT_AGENT_LEFTOVERS_H

#include "agent/tree.h"

/* Whether this process is not to be ended with those below `above`: a pleatd, or an agent of one,
 * that a job has started is nobody's business but its user's, with all below it. */
bool pleat_leftovers_spare(const struct pleat_tree *tree, struct pleat_tree_process *process,
                           pid_t above);

/* Ends all below this process, which must be a subreaper with one thread, but what is spared:
 * SIGTERM, after 2 s SIGKILL. Blocks until it is gone, at most 10 s. `why` is logged if there is
 * anything. */
void pleat_leftovers_end(const char *why);

#endif
