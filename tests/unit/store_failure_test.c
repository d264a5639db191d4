/* The store when the disk is full, when the process is killed, and when two want the same file. */
#include "store_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* One transaction of `count` records. Few fail only when they are committed; many overflow SQLite's
 * cache and fail while they are appended. */
static int fill(struct pleat_store *store, int64_t first, int64_t count, struct pleat_error *err)
{
    int status = pleat_store_begin(store, err);
    for (int64_t value = first; !status && value < first + count; value++)
        status = append(store, value, err);
    return status ? status : pleat_store_commit(store, err);
}

static void test_full_then_retried(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_error err;
    append_committed(fixture->store, 1, 100);
    execute_sql(fixture->store, "PRAGMA max_page_count = 30");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fill(fixture->store, 101, 100000, &err), PLEAT_E_SYSTEM);
        assert_non_null(strstr(err.text, fixture->path));
        assert_non_null(strstr(err.text, "full"));
        assert_non_null(strstr(err.text, "free some space"));
        assert_int_equal(pleat_store_commit(fixture->store, NULL),
                         PLEAT_E_STATE); /* none is open */
        assert_records(fixture->store, 100);
    }
    execute_sql(fixture->store, "PRAGMA max_page_count = 1000000");
    append_committed(fixture->store, 101, 5000);
    assert_records(fixture->store, 5000);
    reopen(fixture);
    assert_records(fixture->store, 5000);
}

static void test_read_only_then_retried(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_error err;
    append_committed(fixture->store, 1, 10);
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    assert_int_equal(append(fixture->store, 11, NULL), 0);
    execute_sql(fixture->store, "PRAGMA query_only = ON");
    assert_int_equal(append(fixture->store, 12, &err), PLEAT_E_SYSTEM);
    assert_non_null(strstr(err.text, fixture->path));
    assert_non_null(strstr(err.text, "readonly"));
    assert_int_equal(pleat_store_commit(fixture->store, NULL), PLEAT_E_STATE); /* none is open */
    assert_int_equal(append(fixture->store, 12, &err), PLEAT_E_STATE);
    assert_records(fixture->store, 10);
    execute_sql(fixture->store, "PRAGMA query_only = OFF");
    append_committed(fixture->store, 11, 20);
    assert_records(fixture->store, 20);
}

/* In a child: the kernel refuses to let the files grow, in the middle of writing, then lets them.
 */
static int against_the_size_limit(struct fixture *fixture)
{
    char wal[128];
    struct stat st;
    struct rlimit limit;
    struct pleat_error err;
    signal(SIGXFSZ, SIG_IGN);
    append_committed(fixture->store, 1, 100);
    snprintf(wal, sizeof(wal), "%s-wal", fixture->path);
    if (stat(wal, &st) || getrlimit(RLIMIT_FSIZE, &limit))
        return 2;
    struct rlimit tight = {.rlim_cur = (rlim_t)st.st_size + 6000, .rlim_max = limit.rlim_max};
    if (setrlimit(RLIMIT_FSIZE, &tight))
        return 3;
    for (int i = 0; i < 4; i++) {
        if (fill(fixture->store, 101, i % 2 ? 100000 : 300, &err) != PLEAT_E_SYSTEM ||
            !strstr(err.text, fixture->path))
            return 4;
        assert_records(fixture->store, 100);
    }
    if (setrlimit(RLIMIT_FSIZE, &limit))
        return 5;
    append_committed(fixture->store, 101, 3000);
    assert_records(fixture->store, 3000);
    reopen(fixture);
    assert_records(fixture->store, 3000);
    pleat_store_close(fixture->store);
    return 0;
}

static void test_write_fails_in_the_middle(void **state)
{
    struct fixture *fixture = *state;
    pleat_store_close(fixture->store);
    fixture->store = NULL;
    pid_t child = fork();
    if (child == 0) {
        fixture->store = open_store(fixture->path);
        _exit(against_the_size_limit(fixture));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    fixture->store = open_store(fixture->path);
    assert_records(fixture->store, 3000);
}

/* A child that commits transactions of three records for ever and says so after each. */
static void commit_for_ever(const char *path, int tell)
{
    struct pleat_store *store = open_store(path);
    for (int64_t next = pleat_store_last_seq(store) + 1;; next += 3) {
        if (pleat_store_begin(store, NULL) || append(store, next, NULL) ||
            append(store, next + 1, NULL) || append(store, next + 2, NULL) ||
            pleat_store_commit(store, NULL))
            _exit(1);
        int64_t committed = next + 2;
        if (write(tell, &committed, sizeof(committed)) != sizeof(committed))
            _exit(2);
    }
}

/* Runs the child until it has said `commits` times that it committed, and kills it. */
static int64_t kill_after(const char *path, int commits)
{
    int pipes[2];
    int64_t said = 0, last = 0;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        close(pipes[0]);
        commit_for_ever(path, pipes[1]);
    }
    close(pipes[1]);
    for (int i = 0; i < commits; i++) {
        assert_int_equal(read(pipes[0], &said, sizeof(said)), sizeof(said));
        last = said;
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    while (read(pipes[0], &said, sizeof(said)) == sizeof(said))
        last = said;
    close(pipes[0]);
    return last;
}

static void test_killed_while_committing(void **state)
{
    struct fixture *fixture = *state;
    for (int round = 1; round <= 8; round++) {
        pleat_store_close(fixture->store);
        fixture->store = NULL;
        int64_t said = kill_after(fixture->path, round * 7);
        fixture->store = open_store(fixture->path);
        int64_t last = pleat_store_last_seq(fixture->store);
        /* what was said is there, whole transactions only; one may have been committed unsaid */
        assert_true(last == said || last == said + 3);
        assert_records(fixture->store, last);
    }
}

static void test_killed_in_a_transaction(void **state)
{
    struct fixture *fixture = *state;
    int pipes[2];
    char byte;
    int status;
    append_committed(fixture->store, 1, 50);
    pleat_store_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        struct pleat_store *store = open_store(fixture->path);
        append_committed(store, 51, 60);
        /* so much that part of it is in the file already when the process is killed */
        execute_sql(store, "PRAGMA cache_size = 5");
        if (pleat_store_begin(store, NULL))
            _exit(1);
        for (int64_t value = 61; value < 20000; value++)
            if (append(store, value, NULL))
                _exit(1);
        if (write(pipes[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    /* while it lives nobody else gets in */
    struct pleat_error err;
    struct pleat_store *second = NULL;
    assert_int_equal(pleat_store_open(fixture->path, sizeof(struct record), &second, &err),
                     PLEAT_E_BUSY);
    assert_null(second);
    assert_non_null(strstr(err.text, fixture->path));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(pipes[0]);
    close(pipes[1]);
    fixture->store = open_store(fixture->path);
    assert_records(fixture->store, 60);
    append_committed(fixture->store, 61, 70);
    assert_records(fixture->store, 70);
}

static int open_in_child(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        struct pleat_store *store = NULL;
        int code = pleat_store_open(path, sizeof(struct record), &store, NULL);
        _exit(-code);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

static void test_one_process_at_a_time(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_store *second = NULL;
    assert_int_equal(open_in_child(fixture->path), PLEAT_E_BUSY);
    append_committed(fixture->store, 1, 10);
    assert_int_equal(open_in_child(fixture->path), PLEAT_E_BUSY);
    /* nor twice in one process; and the attempt takes no lock away from the first */
    assert_int_equal(pleat_store_open(fixture->path, sizeof(struct record), &second, NULL),
                     PLEAT_E_BUSY);
    assert_int_equal(open_in_child(fixture->path), PLEAT_E_BUSY);
    append_committed(fixture->store, 11, 20);
    assert_records(fixture->store, 20);
    pleat_store_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(open_in_child(fixture->path), 0);
    fixture->store = open_store(fixture->path);
    assert_records(fixture->store, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(test_full_then_retried),         with_fixture(test_read_only_then_retried),
        with_fixture(test_write_fails_in_the_middle), with_fixture(test_killed_while_committing),
        with_fixture(test_killed_in_a_transaction),   with_fixture(test_one_process_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
