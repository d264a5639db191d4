/* Starting processes without a loop: the child's state, and whose fault a failure is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/process.h"

static char *const environment[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};

static struct pleat_process_spec spec_of(char *const *argv)
{
    return (struct pleat_process_spec){.argv = argv,
                                       .env = environment,
                                       .cwd = "/",
                                       .nice = PLEAT_PROCESS_NICE_HERE,
                                       .stdout_path = "/dev/null",
                                       .stderr_path = "/dev/null"};
}

/* Begins a start, waits for its outcome, and reaps a process that failed: what the loop does in the
 * agent. */
static int start(const struct pleat_process_spec *spec, pid_t *pid, bool *user_fault,
                 struct pleat_error *err)
{
    int report = -1;
    pid_t child = 0;
    *user_fault = false;
    int result = pleat_process_begin(spec, &child, &report, err);
    if (result)
        return result;
    pid_t said = 0;
    do {
        struct pollfd polled = {.fd = report, .events = POLLIN};
        assert_int_equal(poll(&polled, 1, 60000), 1);
        result = pleat_process_outcome(spec, report, &said, user_fault, err);
    } while (result == 1);
    close(report);
    assert_int_equal(said, child);
    if (result)
        assert_int_equal(waitpid(child, NULL, 0), child);
    else
        *pid = child;
    return result;
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static int exit_code(char *script)
{
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, script, NULL};
    struct pleat_process_spec spec = spec_of(argv);
    pid_t pid = 0;
    bool user_fault = false;
    int status = 0;
    assert_int_equal(start(&spec, &pid, &user_fault, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_state_of_the_child(void **state)
{
    (void)state;
    int before = open_descriptors();
    int leak = open("/dev/zero", O_RDONLY); /* not close-on-exec, as a library might leave it */
    sigset_t blocked;
    sigset_t old;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &old), 0);
    void (*handler)(int) = signal(SIGUSR2, SIG_IGN);
    assert_int_equal(exit_code((char[]){"exit 41"}), 41);
    assert_int_equal(exit_code((char[]){"kill -USR1 $$; exit 1"}), 128 + SIGUSR1);
    assert_int_equal(exit_code((char[]){"kill -USR2 $$; exit 1"}), 128 + SIGUSR2);
    assert_int_equal(exit_code((char[]){"for n in 3 4 5 6 7 8 9 10 11 12; do "
                                        "test ! -e /proc/$$/fd/$n || exit 1; done"}),
                     0);
    assert_int_equal(exit_code((char[]){"set -- $(cat /proc/$$/stat); test $6 = $$"}), 0);
    assert_int_equal(exit_code((char[]){"test \"$(env | grep -vE '^(PWD|SHLVL|_)=')\" = "
                                        "PATH=/usr/bin:/bin"}),
                     0);
    signal(SIGUSR2, handler);
    assert_int_equal(sigprocmask(SIG_SETMASK, &old, NULL), 0);
    close(leak);
    assert_int_equal(open_descriptors(), before);
}

static void expect_failure(const struct pleat_process_spec *spec, int code, const char *text)
{
    int before = open_descriptors();
    pid_t pid = -7;
    bool users = code != PLEAT_E_SYSTEM, user_fault = !users;
    struct pleat_error err = {0};
    int result = start(spec, &pid, &user_fault, &err);
    assert_int_equal(result, code);
    assert_int_equal(err.code, result);
    assert_int_equal(user_fault, users);
    assert_non_null(strstr(err.text, text));
    assert_int_equal(pid, -7);
    assert_int_equal(open_descriptors(), before);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void test_users_faults(void **state)
{
    (void)state;
    char *const unknown[] = {(char[]){"no-such-program"}, NULL};
    char *const fine[] = {(char[]){"true"}, NULL};
    struct pleat_process_spec spec = spec_of(unknown);
    expect_failure(&spec, PLEAT_E_NOTFOUND, "cannot start 'no-such-program': no such file in PATH");
    spec = spec_of(fine);
    spec.cwd = "/nonexistent";
    expect_failure(&spec, PLEAT_E_INVALID, "/nonexistent");
    spec = spec_of(fine);
    spec.stdout_path = "/nonexistent/out";
    expect_failure(&spec, PLEAT_E_INVALID, "/nonexistent/out");
    spec = spec_of(fine);
    spec.stderr_path = "/";
    expect_failure(&spec, PLEAT_E_INVALID, "output file");
}

static void test_the_nodes_faults(void **state)
{
    (void)state;
    char *const fine[] = {(char[]){"true"}, NULL};
    struct pleat_process_spec spec = spec_of(fine);
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    int before = open_descriptors();
    int next[2]; /* the numbers that the two descriptors of a start would get */
    for (int i = 0; i < 2; i++)
        assert_true((next[i] = dup(0)) >= 0);
    for (int i = 0; i < 2; i++)
        close(next[i]);
    for (int i = 0; i < 2; i++) {
        struct rlimit few = {(rlim_t)next[i], old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        pid_t pid = 0;
        bool user_fault = true;
        int result = start(&spec, &pid, &user_fault, NULL);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
        assert_int_equal(open_descriptors(), before);
        assert_int_equal(result, PLEAT_E_SYSTEM);
        assert_false(user_fault);
    }
    /* a limit that cannot be set is refused by the child, not ignored */
    struct rlimit wrong = {.rlim_cur = 20, .rlim_max = 10};
    spec.files = &wrong;
    expect_failure(&spec, PLEAT_E_SYSTEM, "its limits");
}

/* A file system that does not answer keeps the new process waiting, not the caller. The stand-in:
 * whoever opens a file waits until the holder of its lease lets it go (fcntl(2), 45 s). */
static void test_nothing_waits(void **state)
{
    (void)state;
    char directory[] = "/tmp/pleat-wait-XXXXXX";
    char path[96];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/program", directory);
    int made = open(path, O_WRONLY | O_CREAT, 0700);
    assert_true(made >= 0);
    close(made);
    int held = open(path, O_RDONLY);
    void (*handler)(int) = signal(SIGIO, SIG_IGN);
    assert_int_equal(fcntl(held, F_SETLEASE, F_WRLCK), 0);
    char *const argv[] = {path, NULL};
    struct pleat_process_spec spec = spec_of(argv);
    pid_t pid = 0, said = 0;
    int report = -1, status = 0;
    bool user_fault = true;
    assert_int_equal(pleat_process_begin(&spec, &pid, &report, NULL), 0);
    while (fcntl(held, F_GETLEASE) == F_WRLCK) /* until it waits for the lease */
        assert_int_equal(pleat_process_outcome(&spec, report, &said, &user_fault, NULL), 1);
    assert_int_equal(pleat_process_outcome(&spec, report, &said, &user_fault, NULL), 1);
    assert_int_equal(said, pid);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(pleat_process_outcome(&spec, report, &said, &user_fault, NULL), 0);
    close(report);
    close(held);
    signal(SIGIO, handler);
    unlink(path);
    rmdir(directory);
}

static void test_limits(void **state)
{
    (void)state;
    struct pleat_limits limits;
    assert_int_equal(pleat_limits_parse("nofile=77:88 core=0:*", &limits, NULL), 0);
    char *const argv[] = {
        (char[]){"sh"}, (char[]){"-c"},
        (char[]){"test $(ulimit -Sn).$(ulimit -Hn).$(ulimit -Sc).$(nice) = 77.88.0.5"}, NULL};
    struct pleat_process_spec spec = spec_of(argv);
    spec.limits = &limits;
    spec.nice = 5;
    pid_t pid = 0;
    bool user_fault = false;
    int status = 1;
    assert_int_equal(start(&spec, &pid, &user_fault, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_search_prefers_what_can_run(void **state)
{
    (void)state;
    char directory[] = "/tmp/pleat-path-XXXXXX";
    char path[96];
    char variable[160];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/true", directory);
    int fd = open(path, O_WRONLY | O_CREAT, 0600); /* found first, not executable */
    assert_true(fd >= 0);
    close(fd);
    snprintf(variable, sizeof(variable), "PATH=%s:/nonexistent:/usr/bin:/bin", directory);
    char *const env[] = {variable, NULL};
    char *const argv[] = {(char[]){"true"}, NULL};
    struct pleat_process_spec spec = spec_of(argv);
    spec.env = env;
    pid_t pid = 0;
    bool user_fault = false;
    assert_int_equal(start(&spec, &pid, &user_fault, NULL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    snprintf(variable, sizeof(variable), "PATH=%s:/nonexistent", directory);
    expect_failure(&spec, PLEAT_E_PERMISSION, "not an executable file");
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_of_the_child),
        cmocka_unit_test(test_users_faults),
        cmocka_unit_test(test_the_nodes_faults),
        cmocka_unit_test(test_nothing_waits),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_search_prefers_what_can_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
