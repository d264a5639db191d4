#include "scratch.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/marked.h"

#define MARK "PLEAT_BENCH_FOLD"

static char directory[64];
static char mark[64];

void scratch_init(void)
{
    snprintf(directory, sizeof(directory), "/dev/shm/pleat-bench-%d-XXXXXX", (int)getpid());
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

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    return where->level ? remove(path) : 0;
}

void scratch_clear(void)
{
    if (!directory[0])
        return;
    /* A process that was just forked may not show its environment yet: repeats until no marked
     * process is left. */
    while (marked_signal(mark, SIGKILL))
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
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
