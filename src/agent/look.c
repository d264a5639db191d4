#include "agent/look.h"

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/memgroup.h"
#include "agent/shared_files.h"

/* Whether the agent that "<pid>:<start>" names is dead. */
static bool is_dead(const char *text)
{
    int pid = 0;
    uint64_t start = 0;
    struct pleat_process_entry agent;
    if (sscanf(text, "%d:%" SCNu64, &pid, &start) != 2)
        return false;
    return pleat_process_tree_read_one("/proc", (pid_t)pid, &agent) || agent.start != start ||
           pleat_process_tree_is_dead(&agent);
}

/* An agent is known by the name of its first thread; reapers and guards have other names. */
static bool is_agent(pid_t pid)
{
    char path[64], name[32] = "";
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    bool is = file && fstat(fileno(file), &st) == 0 && st.st_uid == geteuid() &&
              fgets(name, sizeof(name), file) && !strncmp(name, "pleat-agent", 11);
    if (file)
        fclose(file);
    return is && pid != getpid();
}

/* The processes whose agent is dead. *agents: how many agents live. */
static json_t *strays(int *agents)
{
    struct pleat_process_tree tree = {0};
    struct pleat_string env = {0};
    struct pleat_error err;
    json_t *list = json_array();
    *agents = 0;
    if (pleat_process_tree_read("/proc", &tree, &err))
        return list;
    for (size_t i = 0; i < tree.count; i++) {
        pid_t pid = tree.items[i].pid;
        *agents += is_agent(pid);
        if (pleat_process_tree_is_dead(&tree.items[i]) ||
            pleat_process_tree_environ("/proc", pid, &env))
            continue;
        const char *whose = pleat_process_tree_environ_get(&env, PLEAT_AGENT_ENV);
        if (whose && pleat_process_tree_environ_get(&env, PLEAT_RUN_ENV) && is_dead(whose))
            json_array_append_new(list, json_integer(pid));
    }
    pleat_process_tree_finish(&tree);
    pleat_string_finish(&env);
    return list;
}

/* Directories of runs. While an agent lives, one of them may be in use. */
static int old_folders(int agents)
{
    DIR *directory = agents ? NULL : opendir(PLEAT_SHARED_MEMORY);
    int count = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        struct stat st;
        if (strncmp(entry->d_name, "pleat-", 6) || !strncmp(entry->d_name, "pleat-doctor-", 13) ||
            fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        count += S_ISDIR(st.st_mode) && st.st_uid == geteuid();
    }
    if (directory)
        closedir(directory);
    return count;
}

int pleat_agent_look(void)
{
    struct pleat_cgroup_place cpusets, memory;
    int agents;
    bool has_cpusets = pleat_cgroup_could("", "cpuset", "cpuset.cpus", &cpusets);
    bool has_memory = pleat_cgroup_could("", "memory", "memory.limit_in_bytes", &memory);
    json_t *processes = strays(&agents);
    json_t *seen = json_pack(
        "{s:s?, s:s?, s:o, s:i, s:i}", "cpusets", has_cpusets ? cpusets.path : NULL,
        "memory_groups", has_memory ? memory.path : NULL, "processes", processes, "files",
        (int)pleat_shared_files_left(PLEAT_SHARED_MEMORY), "folders", old_folders(agents));
    int rc = seen ? json_dumpf(seen, stdout, JSON_COMPACT) : -1;
    if (!rc)
        rc = putchar('\n') == EOF || fflush(stdout);
    json_decref(seen);
    return rc ? 1 : 0;
}
