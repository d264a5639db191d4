/* agent_lock.h - the file that an agent keeps locked as long as it lives (src/agent/main.c) */
#ifndef PLEAT_DAEMON_AGENT_LOCK_H
#define PLEAT_DAEMON_AGENT_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct daemon;

bool agent_lock_is_held(struct daemon *d, uint32_t site, uint32_t node);
/* Kills the process that holds the lock (SIGKILL). False: it cannot be told which process that is.
 */
bool agent_lock_kill(struct daemon *d, uint32_t site, uint32_t node);
/* Removes locks and keys of agents of sites that are gone. Whether some of these agents live, so
 * that it is to be called again. */
bool agent_locks_sweep(struct daemon *d);
/* Calls fn with the number of each node of a site for whose agent there is a key. fn may remove the
 * key. */
void agent_keys_each(struct daemon *d, uint32_t site, void (*fn)(void *arg, uint32_t node),
                     void *arg);

#endif
