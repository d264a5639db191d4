/* Starting pleatd on demand, with a fake one (client_fake_daemon.c) in its place. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/client.h"

#define PATIENCE_US (20 * PLEAT_US_PER_S)

struct fixture {
    char directory[64];
    struct pleat_paths paths;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    strcpy(fixture->directory, "/tmp/pleat-test-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    setenv("PLEAT_DIR", fixture->directory, 1);
    setenv("FAKE_MODE", "serve", 1);
    assert_int_equal(pleat_paths_init(&fixture->paths, NULL), 0);
    *state = fixture;
    return 0;
}

/* Ends the daemon if one runs, and waits until it has let go of its lock. */
static void stop_daemon(const struct fixture *fixture)
{
    struct pleat_client *client = NULL;
    char lock[128];
    if (pleat_client_open(&fixture->paths, &client, NULL) == 0)
        (void)!pleat_client_call(client, "quit", NULL, NULL, NULL);
    pleat_client_close(client);
    snprintf(lock, sizeof(lock), "%s/lock", fixture->directory);
    int fd = open(lock, O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        assert_int_equal(flock(fd, LOCK_EX), 0);
        close(fd);
    }
}

static void remove_file(const struct fixture *fixture, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", fixture->directory, name);
    unlink(path);
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    stop_daemon(fixture);
    remove_file(fixture, "lock");
    remove_file(fixture, "pleatd.log");
    remove_file(fixture, "pleatd.sock");
    remove_file(fixture, "program");
    if (rmdir(fixture->directory))
        fail_msg("%s: %s", fixture->directory, strerror(errno));
    free(fixture);
    return 0;
}

static struct pleat_client *start(const struct fixture *fixture)
{
    struct pleat_client *client = NULL;
    struct pleat_error err;
    if (pleat_client_open_or_start(&fixture->paths, FAKE_PLEATD, NULL, &client, &err))
        fail_msg("%s", err.text);
    return client;
}

static json_t *ask_about(struct pleat_client *client)
{
    json_t *about = NULL;
    struct pleat_error err;
    if (pleat_client_call(client, "about", NULL, &about, &err))
        fail_msg("%s", err.text);
    return about;
}

static int64_t integer(const json_t *object, const char *name)
{
    int64_t value = -1;
    assert_int_equal(pleat_get_int(object, name, true, 0, INT64_MAX, &value, NULL), 0);
    return value;
}

static void on_usr1(int number)
{
    (void)number;
}

static void test_detached(void **state)
{
    struct fixture *fixture = *state;
    sigset_t usr1;
    /* what must not be inherited: handlers, the mask, descriptors, the directory */
    signal(SIGUSR1, on_usr1);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    int extra = open("/dev/zero", O_RDONLY);
    assert_true(extra > 2);
    char before[256];
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir("/tmp"), 0);
    setenv("PLEAT_DIR", fixture->directory + strlen("/tmp/"), 1); /* relative */
    assert_int_equal(pleat_paths_init(&fixture->paths, NULL), 0);

    struct pleat_client *client = start(fixture);
    json_t *about = ask_about(client);
    assert_int_equal(integer(about, "sid"), integer(about, "pid"));
    assert_int_not_equal(integer(about, "sid"), getsid(0));
    assert_string_equal(json_string_value(json_object_get(about, "cwd")), "/");
    assert_string_equal(json_string_value(json_object_get(about, "PLEAT_DIR")), fixture->directory);
    assert_true(json_is_true(json_object_get(about, "usr1_default")));
    assert_true(json_is_false(json_object_get(about, "usr1_blocked")));
    const json_t *fds = json_object_get(about, "fds");
    char *listed = json_dumps(fds, 0);
    char log[128];
    snprintf(log, sizeof(log), "%s/pleatd.log", fixture->directory);
    if (json_array_size(fds) != 3)
        fail_msg("descriptors: %s", listed);
    free(listed);
    for (size_t i = 0; i < 3; i++) {
        const json_t *entry = json_array_get(fds, i);
        assert_int_equal(json_integer_value(json_array_get(entry, 0)), i);
        assert_string_equal(json_string_value(json_array_get(entry, 1)), i ? log : "/dev/null");
    }
    struct stat st;
    assert_int_equal(stat(log, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    /* it is nobody's child here */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);

    json_decref(about);
    pleat_client_close(client);
    close(extra);
    assert_int_equal(chdir(before), 0);
    sigprocmask(SIG_UNBLOCK, &usr1, NULL);
    signal(SIGUSR1, SIG_DFL);
}

static void test_running_one_is_used(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_client *none = NULL;
    struct pleat_error err;
    assert_int_equal(pleat_client_open(&fixture->paths, &none, &err), PLEAT_E_NOTFOUND);
    assert_non_null(strstr(err.text, fixture->paths.socket));
    struct pleat_client *first = start(fixture);
    struct pleat_client *second = start(fixture);
    json_t *one = ask_about(first), *two = ask_about(second);
    assert_int_equal(integer(one, "pid"), integer(two, "pid"));
    json_decref(one);
    json_decref(two);
    pleat_client_close(first);
    pleat_client_close(second);
    /* a socket that an ended one left is no obstacle */
    stop_daemon(fixture);
    FILE *file = fopen(fixture->paths.socket, "w");
    assert_non_null(file);
    fclose(file);
    first = start(fixture);
    pleat_client_close(first);
}

static void test_many_start_at_once(void **state)
{
    enum { CLIENTS = 12 };
    struct fixture *fixture = *state;
    int gate[2], results[2];
    int64_t pids[CLIENTS];
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pipe(results), 0);
    pid_t children[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            char byte;
            close(gate[1]);
            if (read(gate[0], &byte, 1) != 0)
                _exit(1);
            struct pleat_client *client = start(fixture);
            json_t *about = ask_about(client);
            int64_t pid = integer(about, "pid");
            json_decref(about);
            pleat_client_close(client);
            _exit(write(results[1], &pid, sizeof(pid)) == sizeof(pid) ? 0 : 1);
        }
    }
    close(gate[0]);
    close(gate[1]); /* all go */
    for (int i = 0; i < CLIENTS; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(read(results[0], &pids[i], sizeof(pids[i])), sizeof(pids[i]));
        assert_int_equal(pids[i], pids[0]);
    }
    close(results[0]);
    close(results[1]);
}

static void test_daemon_that_dies(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_client *client = NULL;
    struct pleat_error err;
    setenv("FAKE_MODE", "crash", 1);
    assert_int_equal(pleat_client_open_or_start(&fixture->paths, FAKE_PLEATD, NULL, &client, &err),
                     PLEAT_E_SYSTEM);
    assert_non_null(strstr(err.text, "signal 15"));
    assert_non_null(strstr(err.text, "about to fail"));
    setenv("FAKE_MODE", "die", 1);
    int64_t before_us = pleat_clock_monotonic_us();
    assert_int_equal(pleat_client_open_or_start(&fixture->paths, FAKE_PLEATD, NULL, &client, &err),
                     PLEAT_E_SYSTEM);
    assert_null(client);
    /* at once, not after the time it may take to start */
    assert_true(pleat_clock_monotonic_us() - before_us < 5 * PLEAT_US_PER_S);
    assert_non_null(strstr(err.text, "ended with code 3"));
    assert_non_null(strstr(err.text, "pleat.conf:7: unknown key 'sites'|giving up"));
    assert_non_null(strstr(err.text, "pleatd.log"));
    assert_null(strstr(err.text, "about to fail")); /* that was said earlier */
}

static void test_no_program(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_client *client = NULL;
    struct pleat_error err;
    char path[128];
    assert_int_equal(
        pleat_client_open_or_start(&fixture->paths, "/no/such/pleatd", NULL, &client, &err),
        PLEAT_E_SYSTEM);
    assert_non_null(strstr(err.text, "/no/such/pleatd"));
    snprintf(path, sizeof(path), "%s/program", fixture->directory);
    int fd = open(path, O_WRONLY | O_CREAT, 0700);
    assert_int_equal(write(fd,
                           "\x7f"
                           "ELF?",
                           5),
                     5);
    close(fd);
    assert_int_equal(pleat_client_open_or_start(&fixture->paths, path, NULL, &client, &err),
                     PLEAT_E_SYSTEM);
    assert_non_null(strstr(err.text, "is it a program?"));
}

static int count_lines(const char *path)
{
    int lines = 0, byte;
    FILE *file = fopen(path, "r");
    while (file && (byte = getc(file)) != EOF)
        lines += byte == '\n';
    if (file)
        fclose(file);
    return lines;
}

/* The lock is held by one that is just ending: the clients must outlast it and start another. */
static void test_while_another_ends(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    snprintf(path, sizeof(path), "%s/lock", fixture->directory);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    pid_t child = fork();
    if (child == 0) {
        close(lock);
        struct pleat_client *client = start(fixture);
        pleat_client_close(client);
        _exit(0);
    }
    snprintf(path, sizeof(path), "%s/pleatd.log", fixture->directory);
    int64_t limit_us = pleat_clock_monotonic_us() + PATIENCE_US;
    while (count_lines(path) < 2) { /* two have found it locked */
        assert_true(pleat_clock_monotonic_us() < limit_us);
        poll(NULL, 0, 5);
    }
    close(lock);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_interrupted(void **state)
{
    struct fixture *fixture = *state;
    atomic_int flag = 1;
    struct pleat_client *client = NULL;
    char path[128];
    snprintf(path, sizeof(path), "%s/lock", fixture->directory);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(pleat_client_open_or_start(&fixture->paths, FAKE_PLEATD, &flag, &client, NULL),
                     PLEAT_INTERRUPTED);
    assert_null(client);
    close(lock);
}

static void test_finding_it(void **state)
{
    struct fixture *fixture = *state;
    char path[256], search[512];
    struct pleat_error err;
    char *before = strdup(getenv("PATH"));
    /* there is none beside this test */
    snprintf(search, sizeof(search), "relative::%s:%.*s", fixture->directory,
             (int)(strrchr(FAKE_PLEATD, '/') - FAKE_PLEATD), FAKE_PLEATD);
    setenv("PATH", search, 1);
    assert_int_equal(pleat_client_find_daemon(path, sizeof(path), &err), 0);
    assert_string_equal(path, FAKE_PLEATD);
    setenv("PATH", fixture->directory, 1);
    assert_int_equal(pleat_client_find_daemon(path, sizeof(path), &err), PLEAT_E_NOTFOUND);
    unsetenv("PATH");
    assert_int_equal(pleat_client_find_daemon(path, sizeof(path), &err), PLEAT_E_NOTFOUND);
    setenv("PATH", before, 1);
    free(before);
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(test_detached),           with_fixture(test_running_one_is_used),
        with_fixture(test_many_start_at_once), with_fixture(test_daemon_that_dies),
        with_fixture(test_no_program),         with_fixture(test_while_another_ends),
        with_fixture(test_interrupted),        with_fixture(test_finding_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
