#include "agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <paths.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/oom.h"

/* The new process sends its pid, and the stage at which it failed, through a pipe that closes by
 * itself on success. */
enum stage {
    STAGE_THERE, /* no failure: code is the pid */
    STAGE_PROCESS,
    STAGE_SESSION,
    STAGE_FILES,
    STAGE_LIMIT,
    STAGE_CPUS,
    STAGE_TERMINAL,
    STAGE_INPUT,
    STAGE_OUTPUT,
    STAGE_ERROR,
    STAGE_CWD,
    STAGE_EXEC
};

struct failure {
    enum stage stage;
    int code; /* errno */
};

_Static_assert(sizeof(pid_t) <= sizeof(int), "a number of a process is told as a code");

/* The descriptor of the pipe in the new process, above 0 to 2. */
#define REPORT 3

static bool is_users(int code)
{
    switch (code) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EPERM:
    case ENOEXEC:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case E2BIG:
    case ENXIO:
    case ETXTBSY:
    case EROFS:
        return true;
    default:
        return false;
    }
}

/* ---- in the new process: only what is allowed between fork and exec ---- */

static void reset_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; number++)
        /* fails for SIGKILL, SIGSTOP and the signals of libc */
        (void)sigaction(number, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static const char *path_of(char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return _PATH_DEFPATH;
}

/* execve along PATH of the new environment. Unlike execvp it never falls back to sh. Returns errno:
 * the error of a file that was found and could not be executed wins over ENOENT. */
static int execute(char *const *argv, char *const *env)
{
    size_t name_length = strlen(argv[0]);
    if (name_length == 0)
        return ENOENT;
    if (strchr(argv[0], '/')) {
        execve(argv[0], argv, env);
        return errno;
    }
    int worst = ENOENT;
    for (const char *part = path_of(env);; part++) {
        size_t length = strcspn(part, ":");
        char path[PATH_MAX];
        if (length + name_length + 3 <= sizeof(path)) {
            memcpy(path, length ? part : ".", length ? length : 1);
            size_t used = length ? length : 1;
            path[used++] = '/';
            memcpy(path + used, argv[0], name_length + 1);
            execve(path, argv, env);
            if (errno != ENOENT && errno != ENOTDIR)
                worst = errno;
            if (worst != ENOENT && worst != EACCES)
                return worst;
        }
        part += length;
        if (!*part)
            return worst;
    }
}

/* Opens a file as this descriptor. O_NONBLOCK: a FIFO without a reader must be an error here, not a
 * wait. 0 or errno. */
static int open_as(int descriptor, const char *path, int how)
{
    int fd = open(path, how | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0)
        return errno;
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    if (fd == descriptor)
        return 0;
    int code = dup2(fd, descriptor) < 0 ? errno : 0;
    close(fd);
    return code;
}

/* Makes a terminal the controlling one. A terminal that another session has is refused: its number
 * may have been reused, so that it is not the one that was meant. */
static int open_terminal(const char *path)
{
    int code = open_as(0, path, O_RDWR);
    if (code)
        return code;
    return ioctl(0, TIOCSCTTY, 0) || dup2(0, 1) < 0 || dup2(0, 2) < 0 ? errno : 0;
}

static int open_files(const struct pleat_process_spec *spec, enum stage *stage)
{
    int out = O_WRONLY | O_APPEND | O_CREAT | (spec->truncate ? O_TRUNC : 0);
    if (spec->terminal) {
        *stage = STAGE_TERMINAL;
        return open_terminal(spec->terminal);
    }
    *stage = STAGE_INPUT;
    int code = open_as(0, spec->stdin_path ? spec->stdin_path : "/dev/null", O_RDONLY);
    if (code)
        return code;
    *stage = STAGE_OUTPUT;
    code = open_as(1, spec->stdout_path, out);
    if (code)
        return code;
    *stage = STAGE_ERROR;
    return open_as(2, spec->stderr_path, out);
}

/* The process runs also where its niceness cannot be lowered. */
static int set_limits(const struct pleat_process_spec *spec)
{
    if (spec->nice != PLEAT_PROCESS_NICE_HERE)
        (void)setpriority(PRIO_PROCESS, 0, spec->nice);
    if (spec->limits)
        return pleat_limits_set(spec->limits);
    return spec->files && setrlimit(RLIMIT_NOFILE, spec->files) ? errno : 0;
}

/* First the process is detached from the agent. After that it may hang without harm to anything but
 * its run. */
static enum stage become(const struct pleat_process_spec *spec, int report, int *code)
{
    enum stage stage;
    reset_signals();
    if (spec->announced) {
        (void)signal(SIGUSR1, SIG_IGN);
        (void)signal(SIGUSR2, SIG_IGN);
    }
    pleat_oom_first();
    if (setsid() < 0) {
        *code = errno;
        return STAGE_SESSION;
    }
    for (int i = 0; i < 2; i++)
        if (spec->groups[i] > 0) /* without the group the process is still bound */
            (void)!write(spec->groups[i], "0", 1);
    if ((report != REPORT && dup3(report, REPORT, O_CLOEXEC) < 0) ||
        syscall(SYS_close_range, REPORT + 1u, ~0u, 0) != 0) {
        *code = errno;
        return STAGE_FILES;
    }
    if (spec->cpus && (*code = pleat_cpu_set_tell(0, spec->cpus)) != 0)
        return STAGE_CPUS;
    if ((*code = open_files(spec, &stage)) != 0)
        return stage;
    if ((*code = set_limits(spec)) != 0)
        return STAGE_LIMIT;
    if (chdir(spec->cwd)) {
        *code = errno;
        return STAGE_CWD;
    }
    umask(spec->umask);
    *code = execute(spec->argv, spec->env);
    return STAGE_EXEC;
}

static void run_child(const struct pleat_process_spec *spec, int report)
{
    struct failure failure = {STAGE_PROCESS, 0};
    failure.code = spec->under ? pleat_reaper_divide(spec->under) : 0;
    if (failure.code == 0) {
        struct failure there = {STAGE_THERE, getpid()};
        (void)!write(report, &there, sizeof(there));
        failure.stage = become(spec, report, &failure.code);
    }
    int to = failure.stage <= STAGE_FILES ? report : REPORT;
    ssize_t written = write(to, &failure, sizeof(failure));
    _exit(written == sizeof(failure) ? 127 : 126);
}

/* ---- in the agent ---- */

static void explain_file(const char *what, const char *path, int code, struct pleat_error *err)
{
    (void)pleat_error_sys(err, code, "cannot open the %s file '%s'", what, path);
}

static int explain_exec(const char *program, int code, struct pleat_error *err)
{
    bool searched = !strchr(program, '/');
    switch (code) {
    case ENOENT:
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               searched ? "cannot start '%s': no such file in PATH"
                                        : "cannot start '%s': no such file, or the interpreter "
                                          "that it names does not exist",
                               program);
    case EACCES:
        return pleat_error_set(err, PLEAT_E_PERMISSION,
                               "cannot start '%s': it is not an executable file, or a directory on "
                               "the way to it is closed (see 'ls -l', 'chmod +x')",
                               program);
    case ENOEXEC:
        return pleat_error_set(err, PLEAT_E_PERMISSION,
                               "cannot start '%s': it is neither a program for this machine nor a "
                               "script that begins with '#!'",
                               program);
    case E2BIG:
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "cannot start '%s': its arguments and environment are too long "
                               "together",
                               program);
    default:
        (void)pleat_error_sys(err, code, "cannot start '%s'", program);
        return is_users(code) ? PLEAT_E_INVALID : PLEAT_E_SYSTEM;
    }
}

static int explain(const struct pleat_process_spec *spec, const struct failure *failure,
                   bool *user_fault, struct pleat_error *err)
{
    const char *program = spec->argv[0];
    int result = PLEAT_E_SYSTEM;
    *user_fault = false;
    switch (failure->stage) {
    case STAGE_THERE:
    case STAGE_PROCESS:
        (void)pleat_error_sys(err, failure->code, "cannot start '%s': no new process", program);
        break;
    case STAGE_SESSION:
        (void)pleat_error_sys(err, failure->code, "cannot start '%s': no new session", program);
        break;
    case STAGE_FILES:
        (void)pleat_error_sys(err, failure->code, "cannot start '%s': its files", program);
        break;
    case STAGE_LIMIT:
        (void)pleat_error_sys(err, failure->code, "cannot start '%s': its limits", program);
        break;
    case STAGE_CPUS:
        (void)pleat_error_sys(err, failure->code, "cannot start '%s': binding it to its CPUs",
                              program);
        break;
    case STAGE_TERMINAL:
        *user_fault = true;
        (void)pleat_error_sys(err, failure->code,
                              "cannot start '%s' on the terminal '%s' (is its 'pleat run --pty' "
                              "gone?)",
                              program, spec->terminal ? spec->terminal : "?");
        break;
    case STAGE_INPUT:
        *user_fault = is_users(failure->code);
        explain_file("input", spec->stdin_path ? spec->stdin_path : "/dev/null", failure->code,
                     err);
        break;
    case STAGE_OUTPUT:
    case STAGE_ERROR:
        *user_fault = is_users(failure->code);
        explain_file("output",
                     failure->stage == STAGE_OUTPUT ? spec->stdout_path : spec->stderr_path,
                     failure->code, err);
        break;
    case STAGE_CWD:
        *user_fault = is_users(failure->code);
        (void)pleat_error_sys(err, failure->code,
                              "cannot start '%s': cannot go to its working directory '%s'", program,
                              spec->cwd);
        break;
    case STAGE_EXEC:
        *user_fault = is_users(failure->code);
        result = explain_exec(program, failure->code, err);
        break;
    }
    if (*user_fault && failure->stage != STAGE_EXEC)
        result = PLEAT_E_INVALID;
    if (err)
        err->code = result;
    return result;
}

int pleat_process_outcome(const struct pleat_process_spec *spec, int report, pid_t *pid,
                          bool *user_fault, struct pleat_error *err)
{
    struct failure failure;
    ssize_t count;
    *user_fault = false;
    do {
        count = read(report, &failure, sizeof(failure));
        if (count == sizeof(failure) && failure.stage == STAGE_THERE)
            *pid = failure.code;
    } while ((count < 0 && errno == EINTR) ||
             (count == sizeof(failure) && failure.stage == STAGE_THERE));
    if (count < 0 && errno == EAGAIN)
        return 1;
    return count == sizeof(failure) ? explain(spec, &failure, user_fault, err) : 0;
}

int pleat_process_begin(const struct pleat_process_spec *spec, pid_t *child, int *report,
                        struct pleat_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return pleat_error_sys(err, errno, "cannot start '%s': no pipe", spec->argv[0]);
    /* Signals are blocked, so that no handler of the agent runs in the child before the child
     * resets them. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid_t forked = fork();
    if (forked == 0)
        run_child(spec, ends[1]);
    int code = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (forked < 0) {
        close(ends[0]);
        return pleat_error_sys(err, code, "cannot start '%s': no new process", spec->argv[0]);
    }
    *child = forked;
    *report = ends[0];
    return 0;
}

bool pleat_process_input_is_file(pid_t pid)
{
    struct statx file;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/0", (int)pid);
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &file))
        return false;
    bool is_null = S_ISCHR(file.stx_mode) && file.stx_rdev_major == 1 && file.stx_rdev_minor == 3;
    return S_ISREG(file.stx_mode) || is_null;
}
