/* guard.h - a process above the agent, which ends what a killed agent leaves.
 *
 * The agent is a subreaper: all processes that it has ever started stay below it, whatever
 * sessions, parents or environments they gave themselves. When the agent dies the kernel hands them
 * to the next subreaper above, which is the guard. The guard ends them all, removes what the agent
 * had on this host, and then ends itself. It holds the lock of its agent, so that no other agent
 * starts before that. Where the lock file was removed, the guard makes it again: without the file
 * the next pleatd would start a second agent.
 */
#ifndef PLEAT_AGENT_GUARD_H
#define PLEAT_AGENT_GUARD_H

#include "agent/agent.h"

/* Divides this process, which must have one thread. The caller goes on as the guard: it ends when
 * the agent has ended, with the agent's status. The call returns in the agent, a child of the
 * guard. PLEAT_E_SYSTEM: there is no guard, and the call has returned in the calling process.
 * `name` is argv[0], into which guard and agent each put their own name; *guard is the pid of the
 * guard. `lock` is the agent's lock, which the guard holds, too, and lock_path its path; -1 and
 * NULL: there is none. Of `agent` there are its options and the places of groups. */
int pleat_guard_divide(const struct pleat_agent *agent, char *name, int lock, const char *lock_path,
                       pid_t *guard, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
