#include "shm/available.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KIB 1024u

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The number behind `key` at the beginning of a line of a file; `missing` if there is none. */
static uint64_t number_of(const char *path, const char *key, uint64_t missing)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return missing;
    char line[256];
    uint64_t value = missing;
    size_t length = strlen(key);
    while (fgets(line, sizeof(line), file))
        if (!strncmp(line, key, length) && sscanf(line + length, "%" SCNu64, &value) == 1)
            break;
    fclose(file);
    return value;
}

/* The files of control groups of one version. Limits bind all groups below, in both. */
struct groups {
    const char *at, *most, *used;
    const char *files[2];
};

static const struct groups versions[] = {
    {"/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_active_file ", "total_inactive_file "}},
    {"", "memory.max", "memory.current", {"active_file ", "inactive_file "}},
};

static uint64_t number_in(const char *group, const char *name, const char *key, uint64_t missing)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/%s", group, name);
    return number_of(path, key, missing);
}

/* The memory that a control group still allows its processes. Pages of files count as free, since
 * they can be dropped. */
static uint64_t room_of_group(const struct groups *groups, const char *group)
{
    uint64_t most = number_in(group, groups->most, "", UINT64_MAX); /* "max" is no number */
    if (most == UINT64_MAX)
        return UINT64_MAX;
    uint64_t used = number_in(group, groups->used, "", 0);
    uint64_t files = 0;
    for (size_t i = 0; i < sizeof(groups->files) / sizeof(groups->files[0]); i++)
        files = add(files, number_in(group, "memory.stat", groups->files[i], 0));
    uint64_t fixed = used > files ? used - files : 0;
    return most > fixed ? most - fixed : 0;
}

/* The smallest room of the group at `path` and all above it. The uppermost counts too: in a
 * container it may be the container's own, with `path` as it is called outside. */
static uint64_t room_of_path(const char *root, const struct groups *groups, const char *path)
{
    char group[PATH_MAX];
    int top = snprintf(group, sizeof(group), "%s/sys/fs/cgroup%s", root, groups->at);
    int length = snprintf(group, sizeof(group), "%s/sys/fs/cgroup%s%s", root, groups->at, path);
    if (top < 0 || length < 0 || (size_t)length >= sizeof(group))
        return UINT64_MAX;
    uint64_t least = UINT64_MAX;
    for (;;) {
        uint64_t room = room_of_group(groups, group);
        least = room < least ? room : least;
        if (strlen(group) <= (size_t)top)
            return least;
        *strrchr(group, '/') = '\0';
    }
}

/* Whether a list "a,b,c" has the word `memory`. */
static bool has_memory(const char *controllers)
{
    size_t length = strlen("memory");
    for (const char *at = controllers; (at = strstr(at, "memory")) != NULL; at += length)
        if ((at == controllers || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

/* The smallest room of this process's groups. A machine may have both versions; one of them limits
 * memory. */
static uint64_t room_of_groups(const char *root)
{
    char path[PATH_MAX];
    char line[PATH_MAX / 2];
    uint64_t least = UINT64_MAX;
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    while (fgets(line, sizeof(line), file)) { /* "4:cpu,memory:/path", or "0::/path" */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers++ = *group++ = '\0';
        bool second = !strcmp(line, "0") && !*controllers;
        if (!second && !has_memory(controllers))
            continue;
        uint64_t room = room_of_path(root, &versions[second], group);
        least = room < least ? room : least;
    }
    fclose(file);
    return least;
}

/* Of /proc/meminfo, in bytes. */
static uint64_t memory_of(const char *root, const char *key)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    uint64_t kib = number_of(path, key, UINT64_MAX / KIB);
    return kib >= UINT64_MAX / KIB ? UINT64_MAX : kib * KIB;
}

/* The memory that the kernel may still promise, where it promises no more than it has
 * (vm.overcommit_memory is 2). */
static uint64_t room_of_promises(const char *root)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/proc/sys/vm/overcommit_memory", root);
    if (number_of(path, "", 0) != 2)
        return UINT64_MAX;
    uint64_t most = memory_of(root, "CommitLimit:");
    uint64_t used = memory_of(root, "Committed_AS:");
    if (most == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    return most > used ? most - used : 0;
}

uint64_t pleat_available_bytes(const char *root)
{
    const uint64_t rooms[] = {memory_of(root, "MemAvailable:"), room_of_promises(root),
                              room_of_groups(root)};
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
        least = rooms[i] < least ? rooms[i] : least;
    return least;
}
