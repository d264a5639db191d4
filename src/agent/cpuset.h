/* cpuset.h - groups of processes that cannot leave their CPUs (cgroup.h, the controller `cpuset`).
 *
 * Where no such group can be made or changed, processes are only bound (bind.h), and may bind
 * themselves elsewhere.
 */
#ifndef PLEAT_AGENT_CPUSET_H
#define PLEAT_AGENT_CPUSET_H

#include "agent/cgroup.h"
#include "base/cpus.h"

/* Finds where this process may make cpusets; false: nowhere. root: "" for the real one. */
bool pleat_cpuset_find(const char *root, struct pleat_cgroup_place *place);

/* Makes a group with these CPUs (or takes over the group of that name). *procs is the file
 * (close-on-exec) into which a process writes "0" to join it. PLEAT_E_SYSTEM, PLEAT_E_TOOBIG:
 * nothing is left of the group. */
int pleat_cpuset_make(const struct pleat_cgroup_place *place, const char *name,
                      const struct pleat_cpu_set *cpus, int *procs,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* The group has these CPUs from now on. */
int pleat_cpuset_change(const struct pleat_cgroup_place *place, const char *name,
                        const struct pleat_cpu_set *cpus, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
