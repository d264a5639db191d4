#include "agent/memgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

bool pleat_memgroup_find(const char *root, struct pleat_cgroup_place *place)
{
    return pleat_cgroup_find(root, "memory", "memory.limit_in_bytes", place);
}

/* Sets the limit, and forbids swap, which would not count towards the limit. Kernels may have no
 * file for swap. */
static int set_limit(const struct pleat_cgroup_place *place, const char *group, int64_t limit_kb)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, limit_kb * 1024);
    int code =
        pleat_cgroup_write(group, place->second ? "memory.max" : "memory.limit_in_bytes", text);
    if (code)
        return code;
    if (place->second) {
        (void)pleat_cgroup_write(group, "memory.swap.max", "0");
        /* the kernel ends all processes of the group, if it ends one */
        (void)pleat_cgroup_write(group, "memory.oom.group", "1");
    } else {
        (void)pleat_cgroup_write(group, "memory.memsw.limit_in_bytes", text);
    }
    return 0;
}

int pleat_memgroup_make(const struct pleat_cgroup_place *place, const char *name, int64_t limit_kb,
                        int *procs, struct pleat_error *err)
{
    char group[PLEAT_CGROUP_PATH_MAX];
    int result = pleat_cgroup_make(place, name, err);
    if (result)
        return result;
    int code = pleat_cgroup_join(group, place->path, name) ? set_limit(place, group, limit_kb)
                                                           : ENAMETOOLONG;
    if (!code)
        code = pleat_cgroup_open(place, name, procs);
    if (!code)
        return 0;
    (void)!pleat_cgroup_remove(place, name, NULL);
    return pleat_error_sys(err, code, "cannot set up the group '%s' for its memory", group);
}

int64_t pleat_memgroup_ended(const struct pleat_cgroup_place *place, const char *name)
{
    char group[PLEAT_CGROUP_PATH_MAX];
    if (!pleat_cgroup_join(group, place->path, name))
        return 0;
    long long ended = pleat_cgroup_read_key(
        group, place->second ? "memory.events" : "memory.oom_control", "oom_kill");
    return ended > 0 ? ended : 0;
}
