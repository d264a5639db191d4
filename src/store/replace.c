/* Replaces the store's file by a new one, so that an interruption at any point leaves one of them
 * complete. The new file is made as PATH.salvage. Once it is complete and on the disk it is renamed
 * to PATH.salvaged, and from then on it is the store. The old file is kept aside.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "store/store-internal.h"

static void join(char *out, size_t size, const char *path, const char *end)
{
    snprintf(out, size, "%s%s", path, end);
}

static void sync_directory(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof(copy), "%s", path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

int pleat_store_swap(const char *path, const char *ready, const char *aside,
                     struct pleat_error *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    if (rename(path, aside) && errno != ENOENT)
        return pleat_error_sys(err, errno, "cannot rename %s to %s", path, aside);
    join(from, sizeof(from), path, "-wal");
    join(to, sizeof(to), aside, "-wal");
    if (rename(from, to) && errno != ENOENT)
        return pleat_error_sys(err, errno, "cannot rename %s to %s", from, to);
    join(from, sizeof(from), path, "-shm");
    (void)unlink(from);
    if (rename(ready, path))
        return pleat_error_sys(err, errno, "cannot rename %s to %s", ready, path);
    sync_directory(path);
    return 0;
}

void pleat_store_name_aside(const char *path, int64_t now_us, char *aside, size_t size)
{
    struct tm tm;
    char when[32];
    time_t seconds = (time_t)(now_us / 1000000);
    if (!gmtime_r(&seconds, &tm) || !strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm))
        snprintf(when, sizeof(when), "%lld", (long long)seconds);
    snprintf(aside, size, "%s.damaged-%s", path, when);
    for (int i = 1; access(aside, F_OK) == 0; i++)
        snprintf(aside, size, "%s.damaged-%s-%d", path, when, i);
}

int pleat_store_publish(const char *path, struct pleat_error *err)
{
    char making[PATH_MAX], ready[PATH_MAX];
    join(making, sizeof(making), path, ".salvage");
    join(ready, sizeof(ready), path, ".salvaged");
    int fd = open(making, O_RDONLY | O_CLOEXEC);
    int reason = fd < 0 || fsync(fd) ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (!reason && rename(making, ready))
        reason = errno;
    if (reason)
        return pleat_error_sys(err, reason, "cannot write %s", ready);
    sync_directory(path);
    return 0;
}

int pleat_store_resume(const char *path, struct pleat_error *err)
{
    char ready[PATH_MAX], aside[PATH_MAX];
    struct timespec now;
    join(ready, sizeof(ready), path, ".salvaged");
    if (access(ready, F_OK))
        return 0;
    clock_gettime(CLOCK_REALTIME, &now);
    pleat_store_name_aside(path, (int64_t)now.tv_sec * 1000000, aside, sizeof(aside));
    return pleat_store_swap(path, ready, aside, err);
}
