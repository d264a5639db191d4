/* state.h - the letters by which Grid Engine's commands say how a job, or a queue on a host, is. */
#ifndef PLEAT_GRIDENGINE_STATE_H
#define PLEAT_GRIDENGINE_STATE_H

/* The state of a job, as qstat writes it: "running", "pending", "ended", and a reason ("": none;
 * "?": it stands in the queue). */
const char *pleat_gridengine_state(const char *letters, const char **reason);
/* Whether what a queue's instance is said to be keeps new jobs away, and how: "down" (its node does
 * not answer), "drained" (somebody does not want them, or an error), "" (it takes jobs). */
const char *pleat_gridengine_instance(const char *letters);

#endif
