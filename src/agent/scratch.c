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
#include <sys/stat.h>
#include <unistd.h>

#include "agent/log.h"
#include "base/write.h"

/* SITE_MAX: of a site's name in a mark, since sockets are made in scratch directories, and their
 * paths are short. */
enum { DESCRIPTORS = 16, SITE_MAX = 20 };

#define SHARED_MEMORY "/dev/shm"

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

void pleat_scratch_remove(const char *path)
{
    remove_by(path, remove_one);
}

int pleat_scratch_make(const char *path, struct pleat_error *err)
{
    struct stat st;
    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno != EEXIST || lstat(path, &st))
        return pleat_error_sys(err, errno, "cannot make directory %s", path);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return pleat_error_set(err, PLEAT_E_PERMISSION,
                               "%s is there already, and is not a directory of yours: remove it",
                               path);
    /* The directory itself stays. Otherwise another user who has seen its name could make one of
     * that name. */
    remove_by(path, remove_one_inside);
    return chmod(path, 0700) ? pleat_error_sys(err, errno, "cannot close directory %s", path) : 0;
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
        snprintf(mark, PLEAT_SCRATCH_MARK, "+%s+%" PRIu32, site, node);
    else
        snprintf(mark, PLEAT_SCRATCH_MARK, "+%.*s-%08" PRIx32 "+%" PRIu32, SITE_MAX - 9, site, hash,
                 node);
}

void pleat_scratch_remove_old(const char *instance, const char *mark)
{
    char prefix[128], path[512];
    int length = snprintf(prefix, sizeof(prefix), "pleat-%s-", instance);
    DIR *directory = opendir(SHARED_MEMORY);
    if (!directory)
        return;
    for (struct dirent *entry; (size_t)length < sizeof(prefix) && (entry = readdir(directory));) {
        struct stat st;
        if (strncmp(entry->d_name, prefix, (size_t)length))
            continue;
        const char *whose = strchr(entry->d_name, '+');
        if (strcmp(whose ? whose : "", mark) != 0)
            continue; /* of another node: its agent may be using it */
        snprintf(path, sizeof(path), "%s/%s", SHARED_MEMORY, entry->d_name);
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
            pleat_scratch_remove(path);
    }
    closedir(directory);
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
