/* guard.h - a process above the agent, which ends what a killed agent leaves.
 *
 * All that an agent has ever started stays below it, whatever sessions, parents or environments it
 * gave itself: the agent is its subreaper. When the agent dies the kernel hands all of that to the
 * next subreaper above, which is the guard. It ends everything, and then itself. It holds the lock
 * of its agent, so that none follows before that; where that file was removed, it makes it again,
 * or the next pleatd would start a second agent.
 */
#ifndef PLEAT_AGENT_GUARD_H
#define PLEAT_AGENT_GUARD_H

#include "agent/tree.h"

/* Divides this process, which must have one thread. What called goes on as the guard, and ends when
 * the agent has, with its status; this returns in the agent, a child of it. PLEAT_E_SYSTEM: there
 * is no guard, and this has returned in the process that called. `name` is argv[0], in which each
 * of the two puts its own name; *guard is the number of the guard. `lock` is the agent's, which the
 * guard has, too, and lock_path where it is; -1, NULL: there is none. */
int pleat_guard_divide(char *name, int lock, const char *lock_path, pid_t *guard,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
