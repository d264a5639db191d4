/* The lock file of a node's agent, as pleatd sees it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/detach.h"
#include "daemon/agent_lock.h"
#include "daemon/daemon.h"

static int open_lock(struct daemon *d, uint32_t site, uint32_t node)
{
    char path[700];
    snprintf(path, sizeof(path), "%s/agent-%s-%u.lock", d->paths.state, d->config.sites[site].name,
             node);
    return open(path, O_RDWR | O_CLOEXEC);
}

bool agent_lock_is_held(struct daemon *d, uint32_t site, uint32_t node)
{
    int fd = open_lock(d, site, node);
    if (fd < 0)
        return false;
    bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return locked;
}

/* The agent has written "PID START" into the file. The start time is compared, since the pid may
 * belong to another process by now. */
bool agent_lock_kill(struct daemon *d, uint32_t site, uint32_t node)
{
    char text[64] = "";
    int pid = 0;
    uint64_t start = 0;
    int fd = open_lock(d, site, node);
    ssize_t count = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
    if (fd >= 0)
        close(fd);
    if (count <= 0 || sscanf(text, "%d %" SCNu64, &pid, &start) != 2 || pid <= 1)
        return false;
    int process = pidfd_open(pid, 0);
    if (process < 0)
        return errno == ESRCH;
    bool is_it = pleat_detach_start_of(pid) == start;
    bool killed = is_it && pidfd_send_signal(process, SIGKILL, NULL, 0) == 0;
    close(process);
    return killed;
}

/* The node's number in "agent-SITE-NODE.lock", or .key, of that site; false: it is another file. */
static bool is_file_of(const char *file, const char *site, uint32_t *node)
{
    size_t length = strlen(site);
    int end = 0;
    return !strncmp(file, "agent-", 6) && !strncmp(file + 6, site, length) &&
           file[6 + length] == '-' && file[7 + length] >= '0' && file[7 + length] <= '9' &&
           sscanf(file + 7 + length, "%" SCNu32 "%n", node, &end) == 1 &&
           (!strcmp(file + 7 + length + end, ".lock") || !strcmp(file + 7 + length + end, ".key"));
}

/* The site that is gone, of whose agent a file is; PLEAT_NONE: of none. */
static uint32_t gone_site(struct daemon *d, const char *file, uint32_t *node)
{
    for (uint32_t i = 0; i < d->config.site_count; i++)
        if (d->config.sites[i].gone && is_file_of(file, d->config.sites[i].name, node))
            return i;
    return PLEAT_NONE;
}

bool agent_locks_sweep(struct daemon *d)
{
    char path[900];
    uint32_t node;
    bool left = false;
    DIR *directory = opendir(d->paths.state);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        uint32_t site = gone_site(d, entry->d_name, &node);
        if (site == PLEAT_NONE)
            continue;
        if (agent_lock_is_held(d, site, node)) {
            left = true;
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", d->paths.state, entry->d_name);
        (void)unlink(path);
    }
    if (directory)
        closedir(directory);
    return left;
}

void agent_keys_each(struct daemon *d, uint32_t site, void (*fn)(void *arg, uint32_t node),
                     void *arg)
{
    uint32_t node;
    DIR *directory = opendir(d->paths.state);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const size_t length = strlen(entry->d_name);
        if (is_file_of(entry->d_name, d->config.sites[site].name, &node) &&
            !strcmp(entry->d_name + length - 4, ".key"))
            fn(arg, node);
    }
    if (directory)
        closedir(directory);
}
