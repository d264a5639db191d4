/* launching.c - waits for a program that the agent may want to start again at another size
 * (wire/launching.h), while the script waits for `pleat launch`. All processes that the program
 * starts stay below this process, which is a subreaper. So the program is gone when this process
 * has no children. */
#include "cli/jobs/launching.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "shm/mailbox.h"
#include "shm/state.h"
#include "wire/launching.h"

/* Signals of the agent reach every process of the job: this process does not pass them on. */
static volatile sig_atomic_t launcher;
static pid_t agent_pid;

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT};

static void pass_on(int number, siginfo_t *info, void *context)
{
    int before = errno;
    (void)context;
    if (launcher > 0 && info->si_pid != agent_pid)
        kill((pid_t)launcher, number);
    else if (launcher <= 0 && number != SIGCONT && info->si_pid != agent_pid)
        _exit(128 + number);
    errno = before;
}

static void watch_signals(void)
{
    struct sigaction action;
    const char *agent = getenv("PLEAT_AGENT_PID"); /* <pid>:<start time> */
    agent_pid = agent ? (pid_t)atoi(agent) : 0;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++) {
        struct sigaction before;
        if (sigaction(passed_on[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(passed_on[i], &action, NULL);
    }
    (void)signal(SIGCHLD, SIG_DFL); /* if SIGCHLD were ignored, children could not be waited for */
}

/* Ends this process in the same way as the launcher ended. */
static int end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none); /* the core file of the program is enough */
    (void)signal(WTERMSIG(status), SIG_DFL);
    (void)raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

/* ---- the program ---- */

static void set_or_clear(const char *name, const char *value)
{
    if (*value)
        (void)setenv(name, value, 1);
    else
        (void)unsetenv(name);
}

static int be_told(const struct pleat_launching_record *start, struct pleat_error *err)
{
    char number[16];
    snprintf(number, sizeof(number), "%u", start->launch);
    set_or_clear(PLEAT_LAUNCH_ENV, number);
    set_or_clear(PLEAT_MAILBOX_ENV, start->mailbox);
    set_or_clear(PLEAT_DOORBELL_ENV, start->doorbell);
    set_or_clear(PLEAT_STATE_ENV, start->state);
    return getenv(PLEAT_STATE_ENV) ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

static _Noreturn void execute(char *const *argv, char *const *env, pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(PLEAT_EXIT_BEFORE_RUN);
    execvpe(argv[0], argv, env);
    int code = errno == ENOENT ? PLEAT_EXIT_NO_PROGRAM : PLEAT_EXIT_NOT_EXECUTABLE;
    pleat_say("launch: cannot start '%s': %s", argv[0], strerror(errno));
    _exit(code);
}

static int start(const struct pleat_launching_record *record, pleat_launching_compose compose,
                 void *arg, struct pleat_error *err)
{
    struct pleat_launch_command command = {0};
    pid_t parent = getpid();
    int code = be_told(record, err);
    if (!code)
        code = compose(arg, record->processes, &command, err);
    if (code)
        return code;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        execute(command.argv, command.env, parent);
    launcher = (sig_atomic_t)pid;
    pleat_launch_command_finish(&command);
    return pid > 0 ? 0 : pleat_error_sys(err, errno, "cannot start a process");
}

static int wait_for(pid_t pid)
{
    int status = 0;
    for (;;) {
        pid_t gone = waitpid(-1, &status, 0);
        if (gone == pid || (gone < 0 && errno != EINTR))
            return status;
    }
}

static void wait_for_all(void)
{
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
}

/* ---- with the agent ---- */

static int call(int fd, enum pleat_launching_kind kind, struct pleat_launching_record *record,
                struct pleat_error *err)
{
    int code = pleat_launching_send(fd, kind, record, err);
    return code ? code : pleat_launching_receive(fd, record, err);
}

/* Tells the agent that the program has ended, and asks what to do. 0: start the program again; 1:
 * leave; negative: an error. */
static int ask_what_now(int fd, int status, struct pleat_launching_record *record,
                        struct pleat_error *err)
{
    record->status = status;
    int code = call(fd, PLEAT_LAUNCHING_ENDED, record, err);
    if (!code && record->kind == PLEAT_LAUNCHING_REST) {
        wait_for_all();
        code = call(fd, PLEAT_LAUNCHING_ALONE, record, err);
    }
    return code ? code : record->kind == PLEAT_LAUNCHING_START ? 0 : 1;
}

static int run(int fd, struct pleat_launching_record record, pleat_launching_compose compose,
               void *arg, int *status, struct pleat_error *err)
{
    /* input that the program has read of a file is there again when the program is restarted */
    off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    int code = call(fd, PLEAT_LAUNCHING_BEGIN, &record, err);
    if (!code && record.kind != PLEAT_LAUNCHING_START)
        return pleat_error_set(err, PLEAT_E_BUSY, "%s", record.text);
    while (!code) {
        code = start(&record, compose, arg, err);
        if (code)
            return code;
        *status = wait_for((pid_t)launcher);
        launcher = 0;
        code = ask_what_now(fd, *status, &record, err);
        if (!code && input >= 0)
            (void)lseek(STDIN_FILENO, input, SEEK_SET);
    }
    return code > 0 ? 0 : code;
}

int pleat_launching_ask(const char *agent, uint32_t *processes, struct pleat_error *err)
{
    struct pleat_launching_record record = {0};
    int fd = -1;
    int code = pleat_launching_connect(agent, &fd, err);
    if (code)
        return code;
    code = call(fd, PLEAT_LAUNCHING_ASK, &record, err);
    *processes = record.processes;
    close(fd);
    return code;
}

/* A shell that executed this program may have left it children that are not the program's. Then
 * another process does the work. Returns in that process, and where there are no such children;
 * *status: how the other process ended. */
static bool step_aside(int *status)
{
    siginfo_t info;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT))
        return false;
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(PLEAT_EXIT_BEFORE_RUN);
    }
    if (pid <= 0)
        return false;
    launcher = (sig_atomic_t)pid;
    *status = wait_for(pid);
    return true;
}

int pleat_launching_run(const char *agent, const char *name, bool spawns,
                        pleat_launching_compose compose, void *arg, struct pleat_error *err)
{
    struct pleat_launching_record record = {.relaunches = !spawns};
    int status = 0;
    int fd = -1;
    watch_signals();
    if (step_aside(&status))
        return end_as(status);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    int code = pleat_launching_connect(agent, &fd, err);
    if (code)
        return code;
    snprintf(record.text, sizeof(record.text), "%.*s", (int)sizeof(record.text) - 1, name);
    code = run(fd, record, compose, arg, &status, err);
    close(fd);
    return code ? code : end_as(status);
}
