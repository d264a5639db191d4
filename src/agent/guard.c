#include "agent/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/bind.h"
#include "agent/leftovers.h"
#include "agent/log.h"
#include "agent/shared_files.h"
#include "base/clock.h"
#include "base/oom.h"

#define AGENT "pleat-agent"
#define GUARD "pleat-guard" /* as long as AGENT: it takes the place of that in argv[0] */

_Static_assert(sizeof(AGENT) == sizeof(GUARD), "one takes the other's place");

struct guard {
    const struct pleat_agent *of; /* the agent's state when guard and agent divided */
    int lock;                     /* -1: the agent has none */
    const char *lock_path;        /* borrowed */
    int64_t begun_s;              /* since 1970 */
};

/* Sets the name that 'ps' and 'top' show, in the place of the one that argv0 ends with. */
static void take_name(char *argv0, const char *name)
{
    size_t length = strlen(argv0), own = strlen(name);
    (void)prctl(PR_SET_NAME, name, 0, 0, 0);
    if (length >= own &&
        (!strcmp(argv0 + length - own, AGENT) || !strcmp(argv0 + length - own, GUARD)))
        memcpy(argv0 + length - own, name, own + 1);
}

/* ---- the lock ---- */

/* Makes the lock file again where it was removed. Its directory may be gone, too: pleatd makes that
 * again. */
static void keep_lock(struct guard *guard)
{
    struct stat mine, there;
    char owner[64];
    if (guard->lock < 0 || fstat(guard->lock, &mine) ||
        (stat(guard->lock_path, &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev))
        return;
    int fd = open(guard->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return; /* the directory is not there yet */
    ssize_t length = pread(guard->lock, owner, sizeof(owner), 0);
    if (flock(fd, LOCK_EX | LOCK_NB) || length < 0 || pwrite(fd, owner, (size_t)length, 0) < 0) {
        close(fd); /* another agent has taken the lock */
        return;
    }
    pleat_log("its lock was removed: made again");
    close(guard->lock);
    guard->lock = fd;
}

/* ---- what is left ---- */

/* Removes what the agent had on this host. No other agent goes on from that: a run is known to its
 * agent alone. Where there is no lock, another agent may serve the node by now, so groups, which
 * that might be about to use, are left to it. */
static void remove_rest(const struct guard *guard)
{
    pleat_leftovers_end("the agent has ended, and not all that it started: that is ended now");
    if (guard->lock >= 0)
        pleat_bind_remove_old(guard->of);
    (void)pleat_scratch_sweep(PLEAT_SHARED_MEMORY, guard->of->options.instance);
    (void)pleat_shared_files_sweep(PLEAT_SHARED_MEMORY, guard->begun_s);
}

/* ---- the life of a guard ---- */

static _Noreturn void watch(struct guard *guard, pid_t agent, const sigset_t *signals)
{
    static const struct timespec look = {.tv_sec = 1};
    int status = 0;
    for (pid_t ended = 0; ended != agent;) {
        siginfo_t info;
        int number = sigtimedwait(signals, &info, &look);
        if (number == SIGTERM || number == SIGINT)
            (void)kill(agent, PLEAT_AGENT_GUARD_SIGNAL); /* the agent ends its runs, then itself */
        else if (number == SIGUSR2)
            (void)kill(agent, number);
        do
            ended = waitpid(-1, &status, WNOHANG);
        while (ended > 0 && ended != agent);
        if (ended != agent) /* the directory may be about to be removed, too */
            keep_lock(guard);
    }
    remove_rest(guard);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int pleat_guard_divide(const struct pleat_agent *of, char *name, int lock, const char *lock_path,
                       pid_t *guard, struct pleat_error *err)
{
    sigset_t signals, before;
    take_name(name, GUARD);
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGUSR1); /* by which batch systems announce something */
    sigaddset(&signals, SIGUSR2);
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    bool reaps = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
    *guard = getpid();
    pid_t agent = reaps ? fork() : -1;
    int code = errno;
    if (agent > 0) {
        struct sigaction ignore = {.sa_handler = SIG_IGN};
        pleat_oom_last();
        (void)sigaction(SIGHUP, &ignore, NULL);
        (void)sigaction(SIGPIPE, &ignore, NULL);
        struct guard state = {.of = of,
                              .lock = lock,
                              .lock_path = lock_path,
                              .begun_s = pleat_clock_real_us() / PLEAT_US_PER_S - 1};
        watch(&state, agent, &signals);
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    take_name(name, AGENT);
    return agent < 0 ? pleat_error_sys(err, code, "no guard") : 0;
}
