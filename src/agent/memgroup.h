/* memgroup.h - groups of processes that together get no more memory than their limit (cgroup.h, the
 * controller `memory`). The kernel ends processes of a group that needs more. */
#ifndef PLEAT_AGENT_MEMGROUP_H
#define PLEAT_AGENT_MEMGROUP_H

#include <stdint.h>

#include "agent/cgroup.h"

/* Finds where this process may make memory groups; false: nowhere. root: "" for the real one. */
bool pleat_memgroup_find(const char *root, struct pleat_cgroup_place *place);

/* Makes a group with this limit and without swap (or takes over the group of that name); *procs as
 * in cpuset.h. PLEAT_E_SYSTEM, PLEAT_E_TOOBIG: nothing is left of the group. */
int pleat_memgroup_make(const struct pleat_cgroup_place *place, const char *name, int64_t limit_kb,
                        int *procs, struct pleat_error *err) PLEAT_MUST_CHECK;
/* How many processes of the group the kernel has ended because of the limit; 0 where that cannot be
 * read. */
int64_t pleat_memgroup_ended(const struct pleat_cgroup_place *place, const char *name);

#endif
