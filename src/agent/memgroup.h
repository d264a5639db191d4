/* memgroup.h - groups of processes that together get no more memory than their limit (cgroup.h, the
 * controller `memory`). What does not fit the kernel ends. */
#ifndef PLEAT_AGENT_MEMGROUP_H
#define PLEAT_AGENT_MEMGROUP_H

#include <stdint.h>

#include "agent/cgroup.h"

/* Finds where this process may make such groups; false: nowhere. root: "" for the real one. */
bool pleat_memgroup_find(const char *root, struct pleat_cgroup_place *place);

/* Makes a group (one of that name is taken over) with this limit, without swap; *procs as in
 * cpuset.h. PLEAT_E_SYSTEM, PLEAT_E_TOOBIG; nothing is left. */
int pleat_memgroup_make(const struct pleat_cgroup_place *place, const char *name, int64_t limit_kb,
                        int *procs, struct pleat_error *err) PLEAT_MUST_CHECK;
/* How many of its processes were ended since it was made because of its limit; 0 where that cannot
 * be read. */
int64_t pleat_memgroup_ended(const struct pleat_cgroup_place *place, const char *name);

#endif
