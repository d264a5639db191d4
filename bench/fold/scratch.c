#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK "PLEAT_BENCH_FOLD"
#define ENVIRONMENT_MAX (256 * 1024)

static char directory[64];
static char mark[64];

void scratch_init(void)
{
    snprintf(directory, sizeof(directory), "/dev/shm/pleat-bench-XXXXXX");
    if (!mkdtemp(directory)) {
        fprintf(stderr, "bench_fold: cannot make a directory in /dev/shm: %s\n", strerror(errno));
        directory[0] = '\0';
        exit(1);
    }
    char pid[16];
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv(MARK, pid, 1);
    snprintf(mark, sizeof(mark), "%s=%s", MARK, pid);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

const char *scratch_directory(void)
{
    return directory;
}

static bool is_marked(pid_t pid)
{
    static char environment[ENVIRONMENT_MAX];
    char path[64];
    size_t used = 0;
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    for (ssize_t got; used < sizeof(environment) - 1 &&
                      (got = read(fd, environment + used, sizeof(environment) - 1 - used)) > 0;)
        used += (size_t)got;
    close(fd);
    environment[used] = '\0';
    for (size_t at = 0; at < used; at += strlen(environment + at) + 1)
        if (!strcmp(environment + at, mark))
            return true;
    return false;
}

/* Each by its own number; returns how many there were. */
static int end_marked(void)
{
    DIR *proc = opendir("/proc");
    int count = 0;
    if (!proc)
        return 0;
    for (struct dirent *entry; (entry = readdir(proc));) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || pid == getpid() || !is_marked(pid))
            continue;
        count++;
        kill(pid, SIGKILL);
    }
    closedir(proc);
    return count;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    return where->level ? remove(path) : 0;
}

void scratch_clear(void)
{
    /* One that was just forked has no environment of its own yet: until nothing new appears. */
    while (end_marked())
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    if (directory[0])
        nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void scratch_finish(void)
{
    if (!directory[0])
        return;
    scratch_clear();
    rmdir(directory);
    directory[0] = '\0';
}
