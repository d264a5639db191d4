/* queue.h - why jobs wait, which qstat does not say: found from the jobs before them in the queue,
 * and what is free.
 */
#ifndef PLEAT_GRIDENGINE_QUEUE_H
#define PLEAT_GRIDENGINE_QUEUE_H

#include <jansson.h>

#include "base/error.h"

/* Gives each job whose reason is "?" one: "Resources" (no node has enough that is free), "Priority"
 * (others' jobs stand before it), "Down" (no queue takes jobs), "Scheduling" (none of these). Asks
 * nothing if there is no such job. */
int pleat_gridengine_say_why(json_t *jobs, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same, from what `qstat -xml -f -s p` says of all jobs that wait. */
void pleat_gridengine_explain(json_t *jobs, const json_t *root);
/* The most processors that one node has free now in this queue (NULL: in any), and how many all
 * have; 0: none. */
int pleat_gridengine_free(const char *queue, int64_t *most, int64_t *all,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
