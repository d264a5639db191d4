/* scratch.h - a directory that a run has for itself, and that goes with it. */
#ifndef PLEAT_AGENT_SCRATCH_H
#define PLEAT_AGENT_SCRATCH_H

#include <stdint.h>

#include "base/error.h"

/* Makes it, mode 0700. One that is there already must be this user's (an agent before this one was
 * killed, or the run is started again); what is in it goes first. PLEAT_E_SYSTEM,
 * PLEAT_E_PERMISSION. */
int pleat_scratch_make(const char *path, struct pleat_error *err) PLEAT_MUST_CHECK;
/* In it, the file PLEAT_SCRATCH_HOSTS says to MPICH's hydra how many processors there are. Not
 * to be able to is said in the log. */
#define PLEAT_SCRATCH_HOSTS "hosts"
void pleat_scratch_hosts(const char *path, uint32_t processors);
/* Removes it and all that is in it; what cannot be removed is said in the log. NULL: nothing. */
void pleat_scratch_remove(const char *path);
/* Removes those that an earlier agent of the instance left in shared memory. */
void pleat_scratch_remove_old(const char *instance);

#endif
