/* local_split.h - on which nodes of a divided machine the work of others runs.
 *
 * Per CPU: busy time (/proc/stat) less the time of Pleat's own processes that were last on that
 * CPU, averaged over about 10 s. The whole processors of local_load.h are divided in proportion to
 * that: all parts together are as many, whatever the measure per CPU.
 */
#ifndef PLEAT_SITE_LOCAL_SPLIT_H
#define PLEAT_SITE_LOCAL_SPLIT_H

#include <stdint.h>
#include <stdio.h>

#include "base/cpus.h"
#include "base/error.h"

struct pleat_local_split;

/* cpus: those of the slots, in their order; each node has its share of them. PLEAT_E_NOMEM. */
int pleat_local_split_create(const struct pleat_cpu_list *cpus, uint32_t nodes,
                             struct pleat_local_split **split) PLEAT_MUST_CHECK;
/* Begins a sample: reads the busy time of each CPU from the rest of proc/stat. */
void pleat_local_split_begin(struct pleat_local_split *split, FILE *stat);
/* One of Pleat's processes has used `ticks` ticks by itself, and was last on that CPU. To be called
 * for all of Pleat's processes, in the order of their numbers. */
void pleat_local_split_ours(struct pleat_local_split *split, int pid, int cpu, uint64_t ticks);
/* Ends the sample, elapsed_us after the last one; below 0: it is the first. */
void pleat_local_split_end(struct pleat_local_split *split, int64_t elapsed_us);
/* *processors: the node's part of `whole`. */
void pleat_local_split_parts(const struct pleat_local_split *split, int32_t whole,
                             int32_t *processors);
void pleat_local_split_destroy(struct pleat_local_split *split);

#endif
