#include "base/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/rank_env.h"

#define RUN "PLEAT_RUN="
#define AGENT "PLEAT_AGENT_PID"
#define PRELOAD "LD_PRELOAD="
#define GROUP_PREFIX "pleat:" /* made by src/agent/bind.c */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool pleat_detach_is_inside(char *const *env)
{
    for (; *env; env++)
        if (begins(*env, RUN))
            return true;
    return false;
}

/* ---- environment ---- */

static bool is_of_a_job(const char *variable)
{
    if (begins(variable, "PLEAT_"))
        return !begins(variable, "PLEAT_DIR=") && !begins(variable, "PLEAT_TEST_");
    return pleat_rank_env_is(variable);
}

char **pleat_detach_environment(char *const *env, char **preload, bool *changed)
{
    size_t count = 0, kept = 0;
    while (env[count])
        count++;
    char **left = calloc(count + 1, sizeof(*left));
    *preload = NULL;
    *changed = false;
    for (size_t i = 0; left && i < count; i++) {
        if (is_of_a_job(env[i])) {
            *changed = true;
        } else if (pleat_rank_env_preloads(env[i]) && !*preload) {
            *changed = true;
            *preload = pleat_rank_env_preload(env[i]);
            if (!*preload) {
                free(left);
                return NULL;
            }
            if ((*preload)[strlen(PRELOAD)])
                left[kept++] = *preload;
        } else {
            left[kept++] = env[i];
        }
    }
    return left;
}

/* ---- the agent ---- */

uint64_t pleat_detach_start_of(pid_t pid)
{
    char path[64], text[1024];
    uint64_t start = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text[count > 0 ? count : 0] = '\0';
    /* the process's name may contain any characters */
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, "%" SCNu64, &start) == 1 ? start : 0;
}

pid_t pleat_detach_agent(void)
{
    const char *text = getenv(AGENT);
    int pid = 0;
    uint64_t start = 0;
    if (!text || sscanf(text, "%d:%" SCNu64, &pid, &start) != 2 || pid <= 1)
        return 0;
    return start && pleat_detach_start_of((pid_t)pid) == start ? (pid_t)pid : 0;
}

/* ---- limits ---- */

void pleat_detach_limits(pid_t like)
{
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        struct rlimit own, others;
        __rlimit_resource_t resource = (__rlimit_resource_t)which;
        if (getrlimit(resource, &own))
            continue;
        if (which != RLIMIT_CORE && which != RLIMIT_STACK)
            own.rlim_cur = own.rlim_max;
        else if (!like || prlimit(like, resource, NULL, &others))
            continue;
        else
            own.rlim_cur = others.rlim_cur < own.rlim_max ? others.rlim_cur : own.rlim_max;
        (void)setrlimit(resource, &own);
    }
}

void pleat_detach_niceness(pid_t like)
{
    errno = 0;
    int wanted = like ? getpriority(PRIO_PROCESS, (id_t)like) : 0;
    if (wanted == -1 && errno)
        wanted = 0;
    if (getpriority(PRIO_PROCESS, 0) > wanted)
        (void)setpriority(PRIO_PROCESS, 0, wanted);
}

void pleat_detach_cpus(pid_t like)
{
    enum { CPUS = 65536 };
    size_t size = CPU_ALLOC_SIZE(CPUS);
    cpu_set_t *cpus = CPU_ALLOC(CPUS);
    if (!cpus)
        return;
    CPU_ZERO_S(size, cpus);
    if (!like || sched_getaffinity(like, size, cpus))
        memset(cpus, 0xff, size); /* the kernel ignores CPUs that do not exist */
    (void)sched_setaffinity(0, size, cpus);
    CPU_FREE(cpus);
}

/* ---- control groups ---- */

enum { PATH_SIZE = 1024, LINE_SIZE = 4096 };

/* A line "4:memory:/path" of /proc/PID/cgroup. */
struct membership {
    char hierarchy[16], controllers[256], path[PATH_SIZE];
};

static bool read_membership(char *line, struct membership *m)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return false;
    *controllers++ = *path++ = '\0';
    return (size_t)snprintf(m->hierarchy, sizeof(m->hierarchy), "%s", line) <
               sizeof(m->hierarchy) &&
           (size_t)snprintf(m->controllers, sizeof(m->controllers), "%s", controllers) <
               sizeof(m->controllers) &&
           (size_t)snprintf(m->path, sizeof(m->path), "%s", path) < sizeof(m->path);
}

/* Finds the group of `pid` in the hierarchy of *own. */
static bool find_others(pid_t pid, const struct membership *own, struct membership *others)
{
    char path[64], line[LINE_SIZE];
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof(line), file))
        found = read_membership(line, others) && !strcmp(others->hierarchy, own->hierarchy);
    if (file)
        fclose(file);
    return found;
}

/* A line of proc(5) mountinfo: "36 35 98:0 ROOT POINT options [..] - TYPE source SUPEROPTIONS" */
static bool is_mount_of(const char *line, const struct membership *m, char *root, char *point)
{
    char type[64], options[512];
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %1023s %1023s", root, point) != 2 ||
        sscanf(rest, " - %63s %*s %511s", type, options) != 2)
        return false;
    if (!*m->controllers)
        return !strcmp(type, "cgroup2");
    const char *at = strstr(options, m->controllers);
    size_t length = strlen(m->controllers);
    return !strcmp(type, "cgroup") && at && (at == options || at[-1] == ',') &&
           (at[length] == '\0' || at[length] == ',');
}

/* Moves this process to the group `path` of the hierarchy. 0 or -1. */
static int move(const struct membership *m, const char *path)
{
    char line[LINE_SIZE], root[PATH_SIZE], point[PATH_SIZE], procs[2 * PATH_SIZE + 16];
    bool found = false;
    FILE *file = fopen("/proc/self/mountinfo", "re");
    while (file && !found && fgets(line, sizeof(line), file))
        found = is_mount_of(line, m, root, point);
    if (file)
        fclose(file);
    if (!found)
        return -1;
    size_t above = strcmp(root, "/") ? strlen(root) : 0;
    const char *below = strncmp(path, root, above) == 0 ? path + above : "";
    snprintf(procs, sizeof(procs), "%s%s/cgroup.procs", point, strcmp(below, "/") ? below : "");
    int fd = open(procs, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    bool moved = write(fd, "0", 1) == 1;
    close(fd);
    return moved ? 0 : -1;
}

/* Cuts the path before the component that an agent made. False: there is none. */
static bool cut(char *path)
{
    char *at = strstr(path, "/" GROUP_PREFIX);
    if (!at)
        return false;
    at[at == path] = '\0';
    return true;
}

int pleat_detach_groups(pid_t like)
{
    char line[LINE_SIZE];
    int stuck = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof(line), file)) {
        struct membership own, others;
        char around[PATH_SIZE];
        if (!read_membership(line, &own))
            continue;
        memcpy(around, own.path, sizeof(around));
        if (!cut(around))
            continue;
        if (like && find_others(like, &own, &others) && move(&own, others.path) == 0)
            continue;
        stuck += move(&own, around) != 0;
    }
    if (file)
        fclose(file);
    return stuck;
}
