/* Starts pleatd when none runs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/detach.h"
#include "base/paths.h"
#include "client/client.h"

#define START_LIMIT_US (10 * PLEAT_US_PER_S)
#define NAP_MS 20
#define AGAIN_US 250000 /* between two attempts to start pleatd */
#define EXIT_BUSY 4     /* exit status: another pleatd has the lock */
#define EXIT_NO_EXEC 127

extern char **environ;

/* A pleatd that is being started. A guardian process between us and pleatd waits for pleatd's end,
 * and writes its exit status into a pipe. When we close our end of the pipe the guardian leaves,
 * and init inherits pleatd. */
struct start {
    const char *pleatd;
    char log[sizeof(((struct pleat_paths *)0)->state) + 16];
    off_t log_before; /* size of pleatd's log before pleatd was started */
    char **environment;
    char *private_dir; /* "PLEAT_DIR=...", an entry of environment */
    pid_t guardian;    /* process id; 0: none */
    int report;        /* our end of the pipe; -1: none */
};

/* ---- finding pleatd ---- */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find_beside(char *path, size_t size)
{
    return pleat_paths_beside("pleatd", path, size, NULL) == 0 && is_program(path);
}

static bool find_on_path(char *path, size_t size)
{
    const char *rest = getenv("PATH");
    while (rest && *rest) {
        size_t length = strcspn(rest, ":");
        int used = snprintf(path, size, "%.*s/pleatd", (int)length, rest);
        /* empty and relative parts of PATH depend on the current directory: they are skipped */
        if (rest[0] == '/' && used > 0 && (size_t)used < size && is_program(path))
            return true;
        rest += length + (rest[length] == ':');
    }
    return false;
}

int pleat_client_find_daemon(char *path, size_t size, struct pleat_error *err)
{
    if (find_beside(path, size) || find_on_path(path, size))
        return 0;
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "pleatd is neither beside this program nor on PATH: install it there");
}

/* ---- starting pleatd ---- */

/* Makes the environment for pleatd, with an absolute PLEAT_DIR, since it runs in another directory.
 */
static int make_environment(struct start *start, const struct pleat_paths *paths)
{
    const char *private_dir = getenv("PLEAT_DIR");
    size_t count = 0;
    while (environ[count])
        count++;
    start->environment = calloc(count + 1, sizeof(char *));
    if (!start->environment)
        return PLEAT_E_NOMEM;
    memcpy(start->environment, environ, count * sizeof(char *));
    if (!private_dir || !private_dir[0])
        return 0;
    if (asprintf(&start->private_dir, "PLEAT_DIR=%s", paths->runtime) < 0) {
        start->private_dir = NULL;
        return PLEAT_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++)
        if (strncmp(start->environment[i], "PLEAT_DIR=", 10) == 0)
            start->environment[i] = start->private_dir;
    return 0;
}

/* Runs in the grandchild; may use only what is safe after a fork. */
static void become_daemon(const struct start *start, int null, int log)
{
    sigset_t none;
    char *arguments[] = {(char *)start->pleatd, NULL};
    struct sigaction action = {.sa_handler = SIG_DFL};
    setsid();
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &action, NULL); /* fails for SIGKILL and SIGSTOP */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* else limits of the first command's shell would hold for the daemon and all its jobs */
    pleat_detach_limits(0);
    pleat_detach_niceness(0);
    if (chdir("/") || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
        close_range(3, ~0u, CLOSE_RANGE_CLOEXEC))
        _exit(EXIT_NO_EXEC);
    execve(start->pleatd, arguments, start->environment);
    _exit(EXIT_NO_EXEC);
}

/* Runs in the child: starts pleatd, and stays until pleatd has ended or nobody reads the pipe any
 * more. */
static void guard(const struct start *start, int null, int log, int report)
{
    int status = EXIT_NO_EXEC << 8;
    pid_t daemon = fork();
    if (daemon == 0)
        become_daemon(start, null, log);
    if (daemon > 0) {
        struct pollfd polled[2] = {{.fd = pidfd_open(daemon, 0), .events = POLLIN},
                                   {.fd = report, .events = 0}}; /* POLLERR: no reader */
        int count;
        do {
            count = poll(polled, 2, -1);
        } while (count < 0 && errno == EINTR);
        if (!(polled[0].revents & POLLIN) || waitpid(daemon, &status, 0) != daemon)
            _exit(0);
    }
    ssize_t written = write(report, &status, sizeof(status));
    _exit(written == sizeof(status) ? 0 : 1);
}

static int fork_guardian(struct start *start, int null, int log, struct pleat_error *err)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC))
        return pleat_error_sys(err, errno, "cannot make a pipe to start pleatd");
    /* a signal handler of ours must not run in the child, which shares our files */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t child = fork();
    int reason = errno;
    if (child == 0) {
        close(pipes[0]);
        guard(start, null, log, pipes[1]);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(pipes[1]);
    if (child < 0) {
        close(pipes[0]);
        return pleat_error_sys(err, reason, "cannot start pleatd");
    }
    start->guardian = child;
    start->report = pipes[0];
    return 0;
}

static int start_daemon(struct start *start, struct pleat_error *err)
{
    struct stat st;
    int status;
    int log = open(start->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (log < 0)
        return pleat_error_sys(err, errno, "cannot write pleatd's log %s", start->log);
    start->log_before = fstat(log, &st) ? 0 : st.st_size;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        status = pleat_error_sys(err, errno, "cannot open /dev/null");
    else
        status = fork_guardian(start, null, log, err);
    if (null >= 0)
        close(null);
    close(log);
    return status;
}

/* Lets the guardian go; pleatd goes on. */
static void dismiss(struct start *start)
{
    if (start->report >= 0)
        close(start->report);
    start->report = -1;
    while (start->guardian && waitpid(start->guardian, NULL, 0) < 0 && errno == EINTR)
        continue;
    start->guardian = 0;
}

/* ---- when pleatd fails ---- */

/* The last lines that the log has got since the start, joined by '|'. */
static void log_tail(const struct start *start, char *text, size_t size)
{
    FILE *file = fopen(start->log, "re");
    text[0] = '\0';
    if (!file)
        return;
    size_t got = 0;
    if (fseeko(file, 0, SEEK_END) == 0) {
        off_t from = ftello(file) - (off_t)(size - 1);
        if (from < start->log_before)
            from = start->log_before;
        if (fseeko(file, from, SEEK_SET) == 0)
            got = fread(text, 1, size - 1, file);
    }
    fclose(file);
    while (got > 0 && text[got - 1] == '\n')
        got--;
    text[got] = '\0';
    for (char *at = text; *at; at++)
        if (*at == '\n')
            *at = '|';
}

static int start_failed(const struct start *start, int code, const char *how, int number,
                        struct pleat_error *err)
{
    char tail[200];
    log_tail(start, tail, sizeof(tail));
    return pleat_error_set(err, code, "pleatd (%s) %s %d%s%s; its log is %s", start->pleatd, how,
                           number, tail[0] ? ", saying: " : " and said nothing", tail, start->log);
}

/* Judges how pleatd ended. 0: another one has the lock, or it goes on in the background. */
static int judge(const struct start *start, int status, struct pleat_error *err)
{
    if (WIFSIGNALED(status))
        return start_failed(start, PLEAT_E_SYSTEM, "was ended by signal", WTERMSIG(status), err);
    int code = WEXITSTATUS(status);
    if (code == 0 || code == EXIT_BUSY)
        return 0;
    if (code == EXIT_NO_EXEC)
        return pleat_error_set(err, PLEAT_E_SYSTEM, "cannot run pleatd (%s): is it a program?",
                               start->pleatd);
    return start_failed(start, PLEAT_E_SYSTEM, "ended with code", code, err);
}

/* ---- waiting for pleatd ---- */

/* Waits NAP_MS, or until the pleatd that we started has ended: then *ended, with its wait status.
 */
static void nap(struct start *start, bool *ended, int *status)
{
    struct pollfd polled = {.fd = start->report, .events = POLLIN};
    *ended = false;
    if (poll(&polled, start->report >= 0 ? 1 : 0, NAP_MS) <= 0)
        return;
    /* without a status the guardian itself was killed, so nothing is known */
    *ended = read(start->report, status, sizeof(*status)) == (ssize_t)sizeof(*status);
    dismiss(start);
}

static bool nobody_there(int status)
{
    return status == PLEAT_E_NOTFOUND || status == PLEAT_E_CLOSED;
}

static int wait_for_daemon(struct start *start, const struct pleat_paths *paths,
                           const atomic_int *interrupted, struct pleat_client **client,
                           struct pleat_error *err)
{
    int64_t now_us = pleat_clock_monotonic_us();
    int64_t limit_us = now_us + START_LIMIT_US;
    int64_t again_us = now_us;
    for (;;) {
        bool ended;
        int how = 0;
        now_us = pleat_clock_monotonic_us();
        if (now_us >= limit_us)
            return start_failed(start, PLEAT_E_TIMEOUT, "did not answer; seconds waited:",
                                (int)(START_LIMIT_US / PLEAT_US_PER_S), err);
        if (start->report < 0 && now_us >= again_us) {
            int status = start_daemon(start, err);
            if (status)
                return status;
            again_us = now_us + AGAIN_US;
        }
        nap(start, &ended, &how);
        if (interrupted && *interrupted)
            return PLEAT_INTERRUPTED;
        int opened = pleat_client_open(paths, client, err);
        if (!nobody_there(opened))
            return opened;
        int failed = ended ? judge(start, how, err) : 0;
        if (failed)
            return failed;
    }
}

int pleat_client_open_or_start(const struct pleat_paths *paths, const char *pleatd,
                               const atomic_int *interrupted, struct pleat_client **client,
                               struct pleat_error *err)
{
    char found[4096];
    struct start start = {.pleatd = pleatd, .report = -1};
    int status = pleat_client_open(paths, client, err);
    if (!nobody_there(status))
        return status;
    status = pleat_paths_make_private(paths->runtime, err);
    if (!status)
        status = pleat_paths_make_private(paths->state, err);
    if (!status && !pleatd) {
        status = pleat_client_find_daemon(found, sizeof(found), err);
        start.pleatd = found;
    }
    if (status)
        return status;
    snprintf(start.log, sizeof(start.log), "%s/pleatd.log", paths->state);
    if (make_environment(&start, paths))
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory to start pleatd");
    else
        status = wait_for_daemon(&start, paths, interrupted, client, err);
    dismiss(&start);
    free(start.environment);
    free(start.private_dir);
    return status;
}
