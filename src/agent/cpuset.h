/* cpuset.h - groups of processes that cannot leave their CPUs (cgroups, version 1 or 2), where this
 * user may make such groups.
 *
 * A group is a directory; who is in it, and what these start, stays in it. Everything is read from
 * the root of a file system, so that tests can bring their own. What fails here leaves processes
 * bound as well as they can bind themselves.
 */
#ifndef PLEAT_AGENT_CPUSET_H
#define PLEAT_AGENT_CPUSET_H

#include "base/cpus.h"

#define PLEAT_CPUSET_PATH_MAX 1024

/* Where groups are made. A zeroed one: nowhere. */
struct pleat_cpuset_place {
    char path[PLEAT_CPUSET_PATH_MAX];
};

/* Finds where this process may make groups: version 1, its own group there; version 2, its own or
 * the one around it, where the controller is there for those below. False: nowhere.
 * root: "" for the real one. */
bool pleat_cpuset_find(const char *root, struct pleat_cpuset_place *place);

/* Makes a group (one of that name is taken over) with these CPUs; *procs is the file
 * (close-on-exec) into which a process writes "0" to join it. PLEAT_E_SYSTEM, PLEAT_E_TOOBIG;
 * nothing is left. */
int pleat_cpuset_make(const struct pleat_cpuset_place *place, const char *name,
                      const struct pleat_cpu_set *cpus, int *procs,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Its CPUs are these from now on. */
int pleat_cpuset_change(const struct pleat_cpuset_place *place, const char *name,
                        const struct pleat_cpu_set *cpus, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Removes it; nothing where there is none. PLEAT_E_BUSY: somebody is in it. */
int pleat_cpuset_remove(const struct pleat_cpuset_place *place, const char *name,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Removes all groups whose names begin so, and in which nobody is; how many are left. */
size_t pleat_cpuset_remove_all(const struct pleat_cpuset_place *place, const char *prefix);

#endif
