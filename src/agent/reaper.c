#include "agent/reaper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/leftovers.h"
#include "agent/tree.h"

#define RECORDS 3 /* descriptor of the pipe in a reaper, which closes all above it */

struct reaper {
    pid_t agent, guard;
    pid_t main_process; /* 0: it has ended, which the agent was told */
    struct pleat_reaper_record record;
};

/* ---- its name ---- */

static char *title;
static size_t title_size;

void pleat_reaper_title_room(int argc, char **argv)
{
    if (argc < 1)
        return;
    title = argv[0];
    title_size = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) + 1 - argv[0]);
}

/* Sets the name that 'ps' shows. */
static void take_name(const char *job)
{
    if (!title)
        return;
    memset(title, 0, title_size);
    (void)snprintf(title, title_size, "%s: job %s", PLEAT_REAPER_NAME, job);
}

/* ---- its life ---- */

static void tell(struct reaper *reaper, bool alone)
{
    sigset_t pending;
    reaper->record.told |= sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
    reaper->record.alone = alone;
    /* without an agent no process reads the pipe, and the record is not needed */
    (void)!write(RECORDS, &reaper->record, sizeof(reaper->record));
}

/* Whether a process does not end by SIGTERM, as nohup(1) makes it of SIGHUP. */
static bool ignores_it(pid_t process)
{
    char path[40], text[4096];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text[count > 0 ? count : 0] = '\0';
    const char *at = strstr(text, "\nSigIgn:");
    unsigned long long ignored = at ? strtoull(at + strlen("\nSigIgn:"), NULL, 16) : 0;
    return ignored >> (SIGTERM - 1) & 1;
}

/* Tells how the main process has ended, which is not reaped yet. */
static void tell_end(struct reaper *reaper)
{
    siginfo_t info = {0};
    struct pleat_process_entry process;
    /* waitid(2) of the C library does not give the usage */
    if (syscall(SYS_waitid, P_PID, reaper->main_process, &info, WEXITED | WNOHANG | WNOWAIT,
                &reaper->record.usage))
        return;
    reaper->record.reaper = getpid();
    reaper->record.status =
        info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : W_EXITCODE(0, info.si_status);
    reaper->record.unexecuted =
        !pleat_process_tree_read_one("/proc", reaper->main_process, &process) && process.unexecuted;
    tell(reaper, false);
}

/* Waits for all processes that have ended. False: no child is left. */
static bool reap(struct reaper *reaper)
{
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT))
            return false; /* ECHILD: with WNOHANG the call is not interrupted */
        if (info.si_pid == 0)
            return true;
        if (info.si_pid == reaper->main_process) {
            tell_end(reaper);
            reaper->main_process = 0; /* its number may be another's from now on */
        }
        (void)waitpid(info.si_pid, NULL, WNOHANG);
    }
}

static _Noreturn void end_all(const char *why)
{
    pleat_leftovers_end(why);
    _exit(1);
}

/* The agent has ended. Where there is a guard, it ends the run. Without one the reaper ends its own
 * processes. */
static void agent_ended(const struct reaper *reaper)
{
    if (getppid() != reaper->guard) /* should the guard end, too, SIGTERM comes again */
        end_all("the agent has ended, and nobody above it ends this run: that is done now");
}

static _Noreturn void watch(struct reaper *reaper)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, PLEAT_REAPER_END);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (;;) {
        if (getppid() != reaper->agent)
            agent_ended(reaper);
        if (!reap(reaper)) {
            tell(reaper, true);
            _exit(0);
        }
        siginfo_t info = {0};
        const int number = sigwaitinfo(&signals, &info);
        reaper->record.told |= number == SIGTERM && !ignores_it(reaper->main_process);
        if (number == PLEAT_REAPER_END && info.si_pid == reaper->agent)
            end_all("a run that could not be watched is ended");
    }
}

static void keep_one_file(int records)
{
    if (records != RECORDS)
        (void)dup2(records, RECORDS);
    (void)syscall(SYS_close_range, RECORDS + 1u, ~0u, 0);
}

int pleat_reaper_divide(const struct pleat_reaper_order *order)
{
    struct reaper reaper = {.agent = order->agent, .guard = order->guard};
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        return errno;
    /* The main process has this name, too, until its program is executed: so neither of them is
     * taken for an agent. */
    (void)prctl(PR_SET_NAME, PLEAT_REAPER_NAME, 0, 0, 0);
    /* A batch system that follows process groups tells the agent's group to end. The run is not in
     * it, so the reaper must not be, either: it would say that the run was told. */
    (void)setpgid(0, 0);
    reaper.main_process = fork();
    if (reaper.main_process < 0)
        return errno;
    if (reaper.main_process == 0)
        return 0;
    keep_one_file(order->records);
    take_name(order->job);
    watch(&reaper);
}
