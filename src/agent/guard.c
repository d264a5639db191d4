#include "agent/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/log.h"
#include "base/clock.h"
#include "base/oom.h"

#define AGENT "pleat-agent"
#define GUARD "pleat-guard" /* as long: it takes the other's place in argv[0] */
#define GRACE_US (2 * PLEAT_US_PER_S)
#define LIMIT_US (10 * PLEAT_US_PER_S)
#define LOOK_MS 20
#define QUIET_ROUNDS 3

_Static_assert(sizeof(AGENT) == sizeof(GUARD), "one takes the other's place");

struct guard {
    pid_t self;
    int lock;              /* -1: the agent has none */
    const char *lock_path; /* borrowed */
    struct pleat_tree tree;
    struct pleat_tree told; /* those that got SIGTERM */
};

/* What 'ps' and 'top' show. */
static void take_name(char *argv0, const char *name)
{
    size_t length = strlen(argv0), own = strlen(name);
    (void)prctl(PR_SET_NAME, name, 0, 0, 0);
    if (length >= own &&
        (!strcmp(argv0 + length - own, AGENT) || !strcmp(argv0 + length - own, GUARD)))
        memcpy(argv0 + length - own, name, own);
}

/* ---- what is left ---- */

/* A pleatd that was started in a job is nobody's business but its user's, with all below it. */
static bool is_daemon(pid_t pid)
{
    char path[64], program[4096];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(program, '/');
    return slash && (!strcmp(slash, "/pleatd") || !strcmp(slash, "/pleatd (deleted)"));
}

static bool is_spared(const struct guard *guard, const struct pleat_tree_process *process)
{
    for (size_t length = 0; process && process->pid != guard->self && length <= guard->tree.count;
         length++) {
        if (is_daemon(process->pid))
            return true;
        process = pleat_tree_find(&guard->tree, process->parent);
    }
    return false;
}

static bool was_told(const struct guard *guard, const struct pleat_tree_process *process)
{
    for (size_t i = 0; i < guard->told.count; i++)
        if (guard->told.items[i].pid == process->pid &&
            guard->told.items[i].start == process->start)
            return true;
    return false;
}

static void end_one(struct guard *guard, const struct pleat_tree_process *process, bool killing)
{
    struct pleat_error err;
    if (!killing && was_told(guard, process))
        return;
    if (!killing && pleat_array_push(&guard->told, *process))
        pleat_log("no memory to remember process %d", (int)process->pid);
    if (!killing && guard->told.count == 1)
        pleat_log("the agent has ended, and not all that it started: that is ended now");
    int result =
        pleat_tree_signal("/proc", process->pid, process->start, killing ? SIGKILL : SIGTERM, &err);
    if (!result && !killing) /* a stopped one would not see it */
        result = pleat_tree_signal("/proc", process->pid, process->start, SIGCONT, &err);
    if (result && result != PLEAT_E_NOTFOUND)
        pleat_log("%s", err.text);
}

/* Returns how many there are, or may be: what ended in this round may have started another that the
 * snapshot does not have. */
static size_t end_round(struct guard *guard, bool killing)
{
    struct pleat_error err;
    size_t left = 0;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        left = 1;
    if (pleat_tree_read("/proc", &guard->tree, &err)) {
        pleat_log("%s: cannot look for what the agent has left", err.text);
        return 1;
    }
    for (size_t i = 0; i < guard->tree.count; i++) {
        const struct pleat_tree_process *process = &guard->tree.items[i];
        if (pleat_tree_is_dead(process) ||
            !pleat_tree_descends(&guard->tree, process, guard->self) || is_spared(guard, process))
            continue;
        left++;
        end_one(guard, process, killing);
    }
    return left;
}

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

static void end_left(struct guard *guard)
{
    int64_t begin_us = pleat_clock_monotonic_us(), age_us = 0;
    int quiet = 0;
    size_t left = 0;
    while (has_children() && quiet < QUIET_ROUNDS && age_us < LIMIT_US) {
        age_us = pleat_clock_monotonic_us() - begin_us;
        left = end_round(guard, age_us >= GRACE_US);
        quiet = left ? 0 : quiet + 1;
        (void)poll(NULL, 0, LOOK_MS);
    }
    if (left && age_us >= LIMIT_US)
        pleat_log("%zu processes that the agent left do not end although they were killed", left);
    pleat_tree_finish(&guard->tree);
    pleat_tree_finish(&guard->told);
}

/* ---- the lock ---- */

/* Somebody has removed it, maybe with all of its directory, which pleatd makes again. */
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
        return; /* not yet */
    ssize_t length = pread(guard->lock, owner, sizeof(owner), 0);
    if (flock(fd, LOCK_EX | LOCK_NB) || length < 0 || pwrite(fd, owner, (size_t)length, 0) < 0) {
        close(fd); /* another agent came first */
        return;
    }
    pleat_log("its lock was removed: made again");
    close(guard->lock);
    guard->lock = fd;
}

/* ---- the life of a guard ---- */

static _Noreturn void watch(struct guard *guard, pid_t agent, const sigset_t *signals)
{
    static const struct timespec look = {.tv_sec = 1};
    int status = 0;
    for (pid_t ended = 0; ended != agent;) {
        siginfo_t info;
        int number = sigtimedwait(signals, &info, &look);
        keep_lock(guard);
        if (number == SIGTERM || number == SIGINT)
            (void)kill(agent, number); /* it knows what to do then */
        do
            ended = waitpid(-1, &status, WNOHANG);
        while (ended > 0 && ended != agent);
    }
    end_left(guard);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int pleat_guard_divide(char *name, int lock, const char *lock_path, struct pleat_error *err)
{
    sigset_t signals, before;
    take_name(name, GUARD);
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    bool reaps = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
    pid_t agent = reaps ? fork() : -1;
    int code = errno;
    if (agent > 0) {
        struct sigaction ignore = {.sa_handler = SIG_IGN};
        pleat_oom_last();
        (void)sigaction(SIGHUP, &ignore, NULL);
        (void)sigaction(SIGPIPE, &ignore, NULL);
        struct guard guard = {.self = getpid(), .lock = lock, .lock_path = lock_path};
        watch(&guard, agent, &signals);
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    take_name(name, AGENT);
    return agent < 0 ? pleat_error_sys(err, code, "no guard") : 0;
}
