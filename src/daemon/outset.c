/* What pleatd does before anything else: it sheds what it inherits, above all from a job that it is
 * started in.
 */
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/detach.h"
#include "daemon/daemon.h"
#include "daemon/outset.h"

extern char **environ;

/* Others read a process's initial environment (/proc/PID/environ); only execve replaces that. */
static void execute_again(char **argv)
{
    char self[4096], *preload;
    bool changed;
    char **left = pleat_detach_environment(environ, &preload, &changed);
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (left && changed && length > 0) {
        self[length] = '\0';
        execve(self, argv, left);
        execve("/proc/self/exe", argv, left); /* if the file was replaced meanwhile */
        daemon_log("the environment of a job stays: %s cannot be executed again", self);
    }
    free(left);
    free(preload);
}

/* Leaves the parent and the session: an agent also finds a job's processes by their parents.
 * 'pleat' starts pleatd in a session of its own, and does not wait for it; a shell does neither. */
static void leave_parents(void)
{
    if (getsid(0) == getpid())
        return;
    pid_t child = fork();
    if (child > 0) {
        daemon_log("started in a job: it goes on as process %d, in the background", (int)child);
        _exit(0);
    }
    (void)setsid();
}

static void leave_job(void)
{
    pid_t agent = pleat_detach_agent();
    leave_parents();
    pleat_detach_limits(agent);
    pleat_detach_niceness(agent);
    int stuck = pleat_detach_groups(agent);
    pleat_detach_cpus(agent); /* last, since a cpuset of the job would limit it */
    if (stuck)
        daemon_log("%d control groups of a job cannot be left: end this pleatd, and start it "
                   "outside of jobs",
                   stuck);
}

void daemon_outset(char **argv)
{
    sigset_t none;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        if (number != SIGHUP)                      /* stays as inherited, for nohup pleatd */
            (void)sigaction(number, &usual, NULL); /* fails for SIGKILL and SIGSTOP */
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)close_range(STDERR_FILENO + 1, ~0u, 0);
    umask(077);
    if (!pleat_detach_is_inside(environ))
        return;
    leave_job();
    execute_again(argv);
}
