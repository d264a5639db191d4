#include "agent/cpuset.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/cpus.h"

bool pleat_cpuset_find(const char *root, struct pleat_cgroup_place *place)
{
    return pleat_cgroup_find(root, "cpuset", "cpuset.cpus", place);
}

static int change(const char *group, const struct pleat_cpu_set *cpus)
{
    struct pleat_string text = {0};
    pleat_cpu_set_text(cpus, &text);
    int code =
        text.failed || !text.text ? ENOMEM : pleat_cgroup_write(group, "cpuset.cpus", text.text);
    pleat_string_finish(&text);
    return code;
}

/* Version 1: a process can join a group only when the group has memory nodes. */
static int give_memory(const char *place, const char *group)
{
    char mems[4096];
    if (!pleat_cgroup_read(group, "cpuset.mems", mems, sizeof(mems)) || *mems)
        return 0;
    if (!pleat_cgroup_read(place, "cpuset.mems", mems, sizeof(mems)) || !*mems)
        return 0; /* version 2: the group has the memory nodes of its parent */
    return pleat_cgroup_write(group, "cpuset.mems", mems);
}

static int set_up(const struct pleat_cgroup_place *place, const char *name,
                  const struct pleat_cpu_set *cpus, int *procs)
{
    char group[PLEAT_CGROUP_PATH_MAX];
    if (!pleat_cgroup_join(group, place->path, name))
        return ENAMETOOLONG;
    int code = give_memory(place->path, group);
    if (!code)
        code = change(group, cpus);
    return code ? code : pleat_cgroup_open(place, name, procs);
}

int pleat_cpuset_make(const struct pleat_cgroup_place *place, const char *name,
                      const struct pleat_cpu_set *cpus, int *procs, struct pleat_error *err)
{
    int result = pleat_cgroup_make(place, name, err);
    int code = result ? 0 : set_up(place, name, cpus, procs);
    if (!code)
        return result;
    (void)!pleat_cgroup_remove(place, name, NULL);
    return pleat_error_sys(err, code, "cannot set up the cpuset '%s/%s'", place->path, name);
}

int pleat_cpuset_change(const struct pleat_cgroup_place *place, const char *name,
                        const struct pleat_cpu_set *cpus, struct pleat_error *err)
{
    char group[PLEAT_CGROUP_PATH_MAX];
    int code = pleat_cgroup_join(group, place->path, name) ? change(group, cpus) : ENAMETOOLONG;
    return code ? pleat_error_sys(err, code, "cannot change the cpuset '%s'", group) : 0;
}
