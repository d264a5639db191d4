/* state.h - the letters with which Grid Engine's commands show the state of a job, or of a queue on
 * a host. */
#ifndef PLEAT_GRIDENGINE_STATE_H
#define PLEAT_GRIDENGINE_STATE_H

/* The reason of a job that has its slots and nodes, but has not begun there: it is on its way. */
#define PLEAT_GRIDENGINE_STARTING "Starting"

/* The state of a job, as qstat writes it: "running", "pending", "ended", and a reason ("": none;
 * "?": it stands in the queue). */
const char *pleat_gridengine_state(const char *letters, const char **reason);
/* Whether the state of a queue's instance keeps new jobs away, and why: "down" (its node does not
 * answer), "drained" (disabled by somebody, or by an error), "" (it takes jobs). */
const char *pleat_gridengine_instance(const char *letters);

#endif
