#include "agent/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/log.h"
#include "base/write.h"

/* SITE_MAX: of a site's name in a mark, since sockets are made in scratch directories, and their
 * paths are short. */
enum { DESCRIPTORS = 16, SITE_MAX = 20 };

/* A directory that is being swept is free again soon. */
enum { LOCK_TRIES = 50, LOCK_PAUSE_NS = 20000000 };

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path) && errno != ENOENT ? -1 : 0;
}

static int remove_one_inside(const char *path, const struct stat *st, int type, struct FTW *where)
{
    return where->level > 0 ? remove_one(path, st, type, where) : 0;
}

/* Removes by `one`, without following links or leaving the file system. */
static void remove_by(const char *path, __nftw_func_t one)
{
    if (path && nftw(path, one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) && errno != ENOENT)
        pleat_log("cannot remove %s: %s", path, strerror(errno));
}

void pleat_scratch_remove(const char *path, int *lock)
{
    remove_by(path, remove_one);
    if (*lock >= 0)
        close(*lock);
    *lock = -1;
}

/* ---- locks ---- */

/* Opens the directory and locks it as `how` says, if it is this user's. -1: with errno;
 * EWOULDBLOCK: another process has it locked. */
static int open_locked(const char *path, int how)
{
    struct stat there, opened = {0};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), code = 0;
    if (fd < 0)
        return -1;
    if (fstat(fd, &opened) == 0 && opened.st_uid != geteuid())
        code = EPERM;
    else if (flock(fd, how | LOCK_NB) || lstat(path, &there))
        code = errno;
    else if (there.st_ino != opened.st_ino || there.st_dev != opened.st_dev)
        code = ENOENT; /* the directory was removed, and its path is another one's by now */
    if (!code)
        return fd;
    close(fd);
    errno = code;
    return -1;
}

/* Makes the directory where it is not there. Between that and the lock another agent may take it
 * for one that was left, and remove it: then it is made again. */
static int make_locked(const char *path, int *lock, struct pleat_error *err)
{
    static const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (mkdir(path, 0700) && errno != EEXIST)
            return pleat_error_sys(err, errno, "cannot make directory %s", path);
        *lock = open_locked(path, LOCK_SH);
        if (*lock >= 0)
            return 0;
        if (errno == ENOTDIR || errno == ELOOP || errno == EPERM || errno == EACCES)
            return pleat_error_set(err, PLEAT_E_PERMISSION,
                                   "%s is there already, and is not a directory of yours: remove "
                                   "it",
                                   path);
        if (errno != ENOENT && errno != EWOULDBLOCK)
            return pleat_error_sys(err, errno, "cannot lock directory %s", path);
        (void)nanosleep(&pause, NULL);
    }
    return pleat_error_set(err, PLEAT_E_BUSY,
                           "directory %s is locked by another process: end that, or try again",
                           path);
}

int pleat_scratch_make(const char *path, int *lock, struct pleat_error *err)
{
    int result = *lock < 0 ? make_locked(path, lock, err) : 0;
    if (result)
        return result;
    /* The directory itself stays. Otherwise another user who has seen its name could make one of
     * that name. */
    remove_by(path, remove_one_inside);
    if (fchmod(*lock, 0700) == 0)
        return 0;
    result = pleat_error_sys(err, errno, "cannot close directory %s", path);
    close(*lock);
    *lock = -1;
    return result;
}

/* The file is replaced as a whole: a process may be reading it. */
void pleat_scratch_hosts(const char *path, uint32_t processors)
{
    char file[512], fresh[512];
    int length = snprintf(file, sizeof(file), "%s/" PLEAT_SCRATCH_HOSTS, path);
    int longer = snprintf(fresh, sizeof(fresh), "%s/." PLEAT_SCRATCH_HOSTS, path);
    if (length < 0 || longer < 0 || (size_t)longer >= sizeof(fresh))
        return;
    FILE *text = fopen(fresh, "we");
    bool bad = !text || fprintf(text, "localhost:%" PRIu32 "\n", processors) < 0;
    if ((text && fclose(text)) || bad || rename(fresh, file))
        pleat_log("cannot write %s: %s", file, strerror(errno));
}

void pleat_scratch_mark(const char *site, uint32_t node, char mark[PLEAT_SCRATCH_MARK])
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *at = site; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    if (strlen(site) <= SITE_MAX)
        snprintf(mark, PLEAT_SCRATCH_MARK, "+%s+%" PRIu32 "+", site, node);
    else
        snprintf(mark, PLEAT_SCRATCH_MARK, "+%.*s-%08" PRIx32 "+%" PRIu32 "+", SITE_MAX - 9, site,
                 hash, node);
}

/* Whether an agent that locks its directories has made one of this name. */
static bool is_of_agent(const char *name, const char *prefix)
{
    size_t length = strlen(name);
    const char *mark = strchr(name, '+');
    return !strncmp(name, prefix, strlen(prefix)) && mark && mark < name + length - 1 &&
           name[length - 1] == '+';
}

uint32_t pleat_scratch_sweep(const char *folder, const char *instance)
{
    char prefix[128], path[PATH_MAX];
    uint32_t removed = 0;
    int length = snprintf(prefix, sizeof(prefix), "pleat-%s-", instance);
    DIR *directory = (size_t)length < sizeof(prefix) ? opendir(folder) : NULL;
    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        length = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (!is_of_agent(entry->d_name, prefix) || (size_t)length >= sizeof(path))
            continue;
        int lock = open_locked(path, LOCK_EX);
        removed += lock >= 0;
        if (lock >= 0)
            pleat_scratch_remove(path, &lock);
    }
    closedir(directory);
    if (removed)
        pleat_log("removed %" PRIu32 " directories in %s that agents which were killed had left",
                  removed, folder);
    return removed;
}

int pleat_scratch_write(const char *directory, const char *name, const char *text,
                        struct pleat_error *err)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", directory ? directory : "", name);
    if (!directory || length < 0 || (size_t)length >= sizeof(path))
        return pleat_error_set(err, PLEAT_E_INVALID, "'file' needs 'scratch', and a shorter name");
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot make %s", path);
    int code = pleat_write_all(fd, text, strlen(text));
    if (close(fd) && !code)
        code = errno;
    if (!code)
        return 0;
    (void)unlink(path);
    return pleat_error_sys(err, code, "cannot write %s", path);
}
