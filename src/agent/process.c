#include "agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <paths.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the new process could not do; sent through a pipe that closes by itself on success. */
enum stage { STAGE_SESSION, STAGE_FILES, STAGE_LIMIT, STAGE_CPUS, STAGE_CWD, STAGE_EXEC };

struct failure {
    enum stage stage;
    int code; /* errno */
};

struct files {
    int in;
    int out;
    int err;
    int report[2];
};

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
        (void)sigaction(number, &action, NULL); /* fails for KILL, STOP and libc's own */
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
 * a file that was found and could not be executed counts more than the absence of others. */
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

static enum stage become(const struct pleat_process_spec *spec, const struct files *files,
                         int *code)
{
    *code = 0;
    reset_signals();
    if (setsid() < 0) {
        *code = errno;
        return STAGE_SESSION;
    }
    if (dup2(files->in, 0) < 0 || dup2(files->out, 1) < 0 || dup2(files->err, 2) < 0 ||
        syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) != 0) {
        *code = errno;
        return STAGE_FILES;
    }
    if (spec->files && setrlimit(RLIMIT_NOFILE, spec->files)) {
        *code = errno;
        return STAGE_LIMIT;
    }
    if (spec->group > 0) /* bound it is also without */
        (void)!write(spec->group, "0", 1);
    if (spec->cpus && (*code = pleat_cpu_set_tell(0, spec->cpus)) != 0)
        return STAGE_CPUS;
    if (chdir(spec->cwd)) {
        *code = errno;
        return STAGE_CWD;
    }
    umask(spec->umask);
    *code = execute(spec->argv, spec->env);
    return STAGE_EXEC;
}

static void run_child(const struct pleat_process_spec *spec, const struct files *files)
{
    struct failure failure;
    failure.stage = become(spec, files, &failure.code);
    ssize_t written = write(files->report[1], &failure, sizeof(failure));
    _exit(written == sizeof(failure) ? 127 : 126);
}

/* ---- in the agent ---- */

/* `what` is the file for. O_NONBLOCK: a FIFO without a reader must be an error here, not a wait. */
static int open_file(const char *what, const char *path, int how, bool *user_fault, int *fd,
                     struct pleat_error *err)
{
    *fd = open(path, how | O_NOCTTY | O_CLOEXEC | O_NONBLOCK, 0600);
    if (*fd < 0) {
        int code = errno;
        *user_fault = is_users(code);
        (void)pleat_error_sys(err, code, "cannot open the %s file '%s'", what, path);
        if (*user_fault && err)
            err->code = PLEAT_E_INVALID;
        return *user_fault ? PLEAT_E_INVALID : PLEAT_E_SYSTEM;
    }
    int flags = fcntl(*fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(*fd, F_SETFL, flags & ~O_NONBLOCK);
    return 0;
}

static void close_all(struct files *files)
{
    int *all[] = {&files->in, &files->out, &files->err, &files->report[0], &files->report[1]};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (*all[i] >= 0)
            close(*all[i]);
        *all[i] = -1;
    }
}

static int open_all(const struct pleat_process_spec *spec, struct files *files, bool *user_fault,
                    struct pleat_error *err)
{
    *files = (struct files){-1, -1, -1, {-1, -1}};
    *user_fault = false;
    if (pipe2(files->report, O_CLOEXEC))
        return pleat_error_sys(err, errno, "cannot start '%s': no pipe", spec->argv[0]);
    int out = O_WRONLY | O_APPEND | O_CREAT | (spec->truncate ? O_TRUNC : 0);
    int result = open_file("input", spec->stdin_path ? spec->stdin_path : "/dev/null", O_RDONLY,
                           user_fault, &files->in, err);
    if (!result)
        result = open_file("output", spec->stdout_path, out, user_fault, &files->out, err);
    if (!result)
        result = open_file("output", spec->stderr_path, out, user_fault, &files->err, err);
    return result;
}

static int explain_exec(const char *program, int code, struct pleat_error *err)
{
    bool searched = !strchr(program, '/');
    switch (code) {
    case ENOENT:
        return pleat_error_set(err, PLEAT_E_INVALID,
                               searched ? "cannot start '%s': no such file in PATH"
                                        : "cannot start '%s': no such file, or the interpreter "
                                          "that it names does not exist",
                               program);
    case EACCES:
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "cannot start '%s': it is not an executable file, or a directory on "
                               "the way to it is closed (see 'ls -l', 'chmod +x')",
                               program);
    case ENOEXEC:
        return pleat_error_set(err, PLEAT_E_INVALID,
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
    case STAGE_SESSION:
        (void)pleat_error_sys(err, failure->code, "cannot start '%s': no new session", program);
        break;
    case STAGE_FILES:
        (void)pleat_error_sys(err, failure->code, "cannot start '%s': its files", program);
        break;
    case STAGE_LIMIT:
        (void)pleat_error_sys(err, failure->code, "cannot start '%s': its limit of open files",
                              program);
        break;
    case STAGE_CPUS:
        (void)pleat_error_sys(err, failure->code, "cannot start '%s': binding it to its CPUs",
                              program);
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
    if (*user_fault)
        result = PLEAT_E_INVALID;
    if (err)
        err->code = result;
    return result;
}

/* Waits for the pipe to close: with nothing in it, the program runs. */
static int await_exec(const struct pleat_process_spec *spec, struct files *files, pid_t pid,
                      bool *user_fault, struct pleat_error *err)
{
    struct failure failure;
    ssize_t count;
    close(files->report[1]);
    files->report[1] = -1;
    do
        count = read(files->report[0], &failure, sizeof(failure));
    while (count < 0 && errno == EINTR);
    if (count != sizeof(failure))
        return 0; /* it runs, or was killed before it could: then its end will be seen */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return explain(spec, &failure, user_fault, err);
}

int pleat_process_start(const struct pleat_process_spec *spec, pid_t *pid, bool *user_fault,
                        struct pleat_error *err)
{
    struct files files;
    int result = open_all(spec, &files, user_fault, err);
    if (!result) {
        /* Blocked, so that no handler of the agent runs in the child before it resets them. */
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        (void)sigprocmask(SIG_SETMASK, &all, &before);
        pid_t child = fork();
        if (child == 0)
            run_child(spec, &files);
        int code = errno;
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        if (child < 0)
            result = pleat_error_sys(err, code, "cannot start '%s': no new process", spec->argv[0]);
        else
            result = await_exec(spec, &files, child, user_fault, err);
        if (!result)
            *pid = child;
    }
    close_all(&files);
    return result;
}
