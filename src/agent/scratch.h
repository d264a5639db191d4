/* scratch.h - a directory of a run's own, which is removed with the run. */
#ifndef PLEAT_AGENT_SCRATCH_H
#define PLEAT_AGENT_SCRATCH_H

#include <stdint.h>

#include "base/error.h"

/* Makes the directory, mode 0700. One that exists already must be this user's: an earlier agent was
 * killed, or the run is started again. Its content is removed first. *lock is a descriptor of it
 * with a shared lock, by which others see that it is in use, for as long as the caller keeps the
 * descriptor open. A descriptor that the caller has already (*lock >= 0) stays. PLEAT_E_SYSTEM,
 * PLEAT_E_PERMISSION, PLEAT_E_BUSY. */
int pleat_scratch_make(const char *path, int *lock, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Writes the file PLEAT_SCRATCH_HOSTS in the directory: it tells MPICH's hydra the number of
 * processors. A failure is logged. */
#define PLEAT_SCRATCH_HOSTS "hosts"
void pleat_scratch_hosts(const char *path, uint32_t processors);
/* Removes the directory and its content, then closes *lock (-1: there is none). What cannot be
 * removed is logged. NULL: removes nothing. */
void pleat_scratch_remove(const char *path, int *lock);
/* What the names of scratch directories of this agent end with, from the first '+' on: one machine
 * may have several agents of an instance, for its nodes or for several sites. The last letter, a
 * '+', says that the agent locks them. */
#define PLEAT_SCRATCH_MARK 96
void pleat_scratch_mark(const char *site, uint32_t node, char mark[PLEAT_SCRATCH_MARK]);
/* Removes the directories of agents of the instance that have died on this host, whatever their
 * sites and nodes: those in `folder` that are this user's, have names that begin with
 * "pleat-INSTANCE-" and end with such a mark, and have no lock. Returns how many it removed. */
uint32_t pleat_scratch_sweep(const char *folder, const char *instance);

/* Makes a file in such a directory, of mode 0700, as a whole or not at all. */
int pleat_scratch_write(const char *directory, const char *name, const char *text,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
