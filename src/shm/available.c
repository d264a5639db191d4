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

/* What a control group still lets its processes have. Pages of files count as free, as they can be
 * dropped. */
static uint64_t room_of_group(const char *group)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/memory.max", group);
    uint64_t most = number_of(path, "", UINT64_MAX); /* "max" is no number */
    if (most == UINT64_MAX)
        return UINT64_MAX;
    snprintf(path, sizeof(path), "%s/memory.current", group);
    uint64_t used = number_of(path, "", 0);
    snprintf(path, sizeof(path), "%s/memory.stat", group);
    uint64_t files = add(number_of(path, "active_file ", 0), number_of(path, "inactive_file ", 0));
    uint64_t fixed = used > files ? used - files : 0;
    return most > fixed ? most - fixed : 0;
}

/* The smallest room of this process's group and all above it, since each may have a limit. */
static uint64_t room_of_groups(const char *root)
{
    char path[PATH_MAX];
    char line[PATH_MAX / 2];
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    bool found = false;
    while (!found && fgets(line, sizeof(line), file))
        found = !strncmp(line, "0::/", 4);
    fclose(file);
    if (!found)
        return UINT64_MAX;
    line[strcspn(line, "\n")] = '\0';
    char group[PATH_MAX];
    int top = snprintf(group, sizeof(group), "%s/sys/fs/cgroup", root);
    int length = snprintf(group, sizeof(group), "%s/sys/fs/cgroup%s", root, line + 3);
    if (top < 0 || length < 0 || (size_t)length >= sizeof(group))
        return UINT64_MAX;
    uint64_t least = UINT64_MAX;
    while (strlen(group) > (size_t)top) {
        uint64_t room = room_of_group(group);
        least = room < least ? room : least;
        *strrchr(group, '/') = '\0';
    }
    return least;
}

uint64_t pleat_available_bytes(const char *root)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    uint64_t machine = number_of(path, "MemAvailable:", UINT64_MAX / KIB);
    machine = machine >= UINT64_MAX / KIB ? UINT64_MAX : machine * KIB;
    uint64_t group = room_of_groups(root);
    return group < machine ? group : machine;
}
