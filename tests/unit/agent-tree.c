/* Reading processes from a made-up /proc, and never signalling the wrong one. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/tree.h"

static char proc[64];

static void make(const char *name, const char *file, const void *bytes, size_t count)
{
    char path[160];
    snprintf(path, sizeof(path), "%s/%s", proc, name);
    (void)mkdir(path, 0700); /* may be there */
    snprintf(path, sizeof(path), "%s/%s/%s", proc, name, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, count), (ssize_t)count);
    close(fd);
}

static void make_thread_group(int pid, const char *name, char state, int parent, int session,
                              unsigned flags, int threads, unsigned long long start)
{
    char directory[16];
    char text[512];
    snprintf(directory, sizeof(directory), "%d", pid);
    snprintf(text, sizeof(text),
             "%d (%s) %c %d %d %d 34816 -1 %u 1 2 3 4 5 6 7 8 20 0 %d 0 %llu 1000 10 "
             "18446744073709551615 1 1 0 0 0\n",
             pid, name, state, parent, pid, session, flags, threads, start);
    make(directory, "stat", text, strlen(text));
}

static void make_process(int pid, const char *name, char state, int parent, int session,
                         unsigned long long start)
{
    make_thread_group(pid, name, state, parent, session, 0x400000, 1, start);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(proc, sizeof(proc), "/tmp/pleat-proc-XXXXXX");
    return mkdtemp(proc) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", proc);
    return system(command);
}

static void test_snapshot(void **state)
{
    (void)state;
    make_process(1, "init", 'S', 0, 1, 1);
    make_process(20, "a (b) c) S 7", 'R', 10, 10, 200);
    make_process(10, "sh", 'S', 1, 10, UINT64_MAX);
    make_process(30, "new\nline", 'Z', 20, 30, 300);
    make("self", "stat", "x", 1);
    make("40", "stat", "40 (cut", 7);
    make("41", "stat", "", 0);
    static const char other[] = "7 (x) S 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5\n";
    make("42", "stat", other, sizeof(other) - 1);
    make("43", "comm", "no stat", 7);

    struct pleat_process_tree tree = {0};
    assert_int_equal(pleat_process_tree_read(proc, &tree, NULL), 0);
    assert_int_equal(tree.count, 4);
    assert_int_equal(tree.vanished, 4);
    static const pid_t order[] = {1, 10, 20, 30};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(tree.items[i].pid, order[i]);
    const struct pleat_process_entry *process = pleat_process_tree_find(&tree, 20);
    assert_non_null(process);
    assert_int_equal(process->state, 'R');
    assert_int_equal(process->parent, 10);
    assert_int_equal(process->session, 10);
    assert_int_equal(process->start, 200);
    assert_true(pleat_process_tree_find(&tree, 10)->start == UINT64_MAX);
    assert_null(pleat_process_tree_find(&tree, 11));
    assert_true(pleat_process_tree_is_dead(pleat_process_tree_find(&tree, 30)));
    assert_false(pleat_process_tree_is_dead(process));
    /* read again: replaced, not added to */
    assert_int_equal(pleat_process_tree_read(proc, &tree, NULL), 0);
    assert_int_equal(tree.count, 4);
    pleat_process_tree_finish(&tree);

    struct pleat_error err;
    assert_int_equal(pleat_process_tree_read("/nonexistent", &tree, &err), PLEAT_E_SYSTEM);
    assert_non_null(strstr(err.text, "/nonexistent"));
}

/* The same tree, whatever the pieces are. */
static void test_in_pieces(void **state)
{
    (void)state;
    char name[16];
    for (int pid = 50; pid > 0; pid -= 7)
        make_process(pid, "some", 'S', 0, pid, (unsigned long long)pid);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "word%d", i);
        make(name, "stat", "x", 1);
    }
    make("60", "stat", "60 (cut", 7);
    struct pleat_process_tree whole = {0}, tree = {0};
    assert_int_equal(pleat_process_tree_read(proc, &whole, NULL), 0);
    assert_int_equal(whole.count, 8);
    for (size_t most = 1; most < 12; most++) {
        struct pleat_process_reading reading = {0};
        size_t pieces = 1;
        int more = 1;
        assert_int_equal(pleat_process_tree_begin(proc, &tree, &reading, NULL), 0);
        assert_int_equal(tree.count, 0);
        while ((more = pleat_process_tree_more(proc, &tree, &reading, most, NULL)) == 1)
            assert_int_equal(tree.count + tree.vanished, most * pieces++);
        assert_int_equal(more, 0);
        assert_int_equal(pieces, (whole.count + whole.vanished) / most + 1);
        assert_null(reading.directory);
        assert_int_equal(tree.count, whole.count);
        assert_int_equal(tree.vanished, 1);
        for (size_t i = 0; i < tree.count; i++)
            assert_int_equal(tree.items[i].pid, whole.items[i].pid);
    }
    pleat_process_tree_finish(&whole);
    pleat_process_tree_finish(&tree);
}

/* One that is stopped, or begun anew, leaves nothing open. */
static void test_pieces_that_are_given_up(void **state)
{
    (void)state;
    make_process(1, "init", 'S', 0, 1, 1);
    make_process(2, "some", 'S', 1, 1, 2);
    struct pleat_process_tree tree = {0};
    struct pleat_process_reading reading = {0};
    struct pleat_error err;
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 40;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pleat_process_tree_begin(proc, &tree, &reading, NULL), 0);
        assert_int_equal(pleat_process_tree_more(proc, &tree, &reading, 1, NULL), 1);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    pleat_process_tree_stop(&reading);
    assert_null(reading.directory);
    pleat_process_tree_stop(&reading);
    assert_int_equal(pleat_process_tree_begin("/nonexistent", &tree, &reading, &err),
                     PLEAT_E_SYSTEM);
    assert_int_equal(tree.count, 0);
    pleat_process_tree_finish(&tree);
}

static void test_dying(void **state)
{
    (void)state;
    make_process(1, "lives", 'R', 0, 1, 1);
    make_thread_group(2, "exits", 'R', 1, 1, 0x40000c, 1, 2);
    make_thread_group(3, "is dead", 'Z', 1, 1, 0x40000c, 1, 3);
    make_thread_group(4, "only its first thread is dead", 'Z', 1, 1, 0x40000c, 2, 4);
    static const bool exiting[] = {false, true, true, false};
    static const bool dead[] = {false, false, true, false};
    for (int i = 0; i < 4; i++) {
        struct pleat_process_entry process;
        assert_int_equal(pleat_process_tree_read_one(proc, i + 1, &process), 0);
        assert_int_equal(process.exiting, exiting[i]);
        assert_int_equal(pleat_process_tree_is_dead(&process), dead[i]);
    }
}

static void test_descent(void **state)
{
    (void)state;
    make_process(1, "init", 'S', 0, 1, 1);
    make_process(2, "agent", 'S', 1, 2, 2);
    make_process(3, "child", 'S', 2, 3, 3);
    make_process(4, "grandchild", 'S', 3, 4, 4);
    make_process(5, "other", 'S', 1, 5, 5);
    make_process(6, "orphan", 'S', 99, 6, 6);
    /* a snapshot that was read while pids were given anew can have a cycle */
    make_process(7, "cycle", 'S', 8, 7, 7);
    make_process(8, "cycle", 'S', 7, 7, 8);
    struct pleat_process_tree tree = {0};
    assert_int_equal(pleat_process_tree_read(proc, &tree, NULL), 0);
    assert_true(pleat_process_tree_descends(&tree, pleat_process_tree_find(&tree, 3), 2));
    assert_true(pleat_process_tree_descends(&tree, pleat_process_tree_find(&tree, 4), 2));
    assert_true(pleat_process_tree_descends(&tree, pleat_process_tree_find(&tree, 4), 1));
    assert_false(pleat_process_tree_descends(&tree, pleat_process_tree_find(&tree, 2), 2));
    assert_false(pleat_process_tree_descends(&tree, pleat_process_tree_find(&tree, 5), 2));
    assert_false(pleat_process_tree_descends(&tree, pleat_process_tree_find(&tree, 6), 2));
    assert_false(pleat_process_tree_descends(&tree, pleat_process_tree_find(&tree, 7), 2));
    pleat_process_tree_finish(&tree);
}

static void test_environ(void **state)
{
    (void)state;
    static const char bytes[] = "A=1\0AB=2\0EMPTY=\0NOTHING\0\0PLEAT_RUN=x:7\0CUT=ab";
    struct pleat_string env = {0};
    make("9", "environ", bytes, sizeof(bytes) - 1);
    assert_int_equal(pleat_process_tree_environ(proc, 9, &env), 0);
    assert_string_equal(pleat_process_tree_environ_get(&env, "A"), "1");
    assert_string_equal(pleat_process_tree_environ_get(&env, "AB"), "2");
    assert_string_equal(pleat_process_tree_environ_get(&env, "EMPTY"), "");
    assert_string_equal(pleat_process_tree_environ_get(&env, "PLEAT_RUN"), "x:7");
    assert_string_equal(pleat_process_tree_environ_get(&env, "CUT"), "ab");
    assert_null(pleat_process_tree_environ_get(&env, "NOTHING"));
    assert_null(pleat_process_tree_environ_get(&env, "LEAT_RUN"));
    assert_null(pleat_process_tree_environ_get(&env, "PLEAT_RU"));

    make("9", "environ", "", 0);
    assert_int_equal(pleat_process_tree_environ(proc, 9, &env), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_process_tree_environ(proc, 10, &env), PLEAT_E_NOTFOUND);

    /* no end in sight: bounded */
    size_t size = PLEAT_TREE_ENV_MAX + 10 * 4096;
    char *big = malloc(size);
    assert_non_null(big);
    memset(big, 'x', size);
    make("9", "environ", big, size);
    free(big);
    assert_int_equal(pleat_process_tree_environ(proc, 9, &env), 0);
    assert_in_range(env.length, PLEAT_TREE_ENV_MAX, PLEAT_TREE_ENV_MAX + 4096);
    assert_null(pleat_process_tree_environ_get(&env, "x"));
    pleat_string_finish(&env);
}

static void test_only_the_same_process_is_signalled(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    struct pleat_process_entry process;
    struct pleat_error err;
    int pidfd = -1;
    assert_int_equal(pleat_process_tree_read_one("/proc", pid, &process), 0);
    assert_int_equal(process.parent, getpid());
    /* another that has the same pid now */
    assert_int_equal(pleat_process_tree_signal("/proc", pid, process.start - 1, SIGKILL, &err),
                     PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_process_tree_open("/proc", pid, process.start + 1, &pidfd, &err),
                     PLEAT_E_NOTFOUND);
    assert_int_equal(pidfd, -1);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);

    assert_int_equal(pleat_process_tree_signal("/proc", pid, process.start, SIGKILL, &err), 0);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(pleat_process_tree_signal("/proc", pid, process.start, SIGKILL, &err),
                     PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_process_tree_read_one("/proc", pid, &process), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_process_tree_signal("/proc", getpid(), 1, SIGKILL, NULL),
                     PLEAT_E_NOTFOUND);
}

/* The child forks one itself, and says its number; both wait to be killed. */
static pid_t fork_two(pid_t *below)
{
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        pid_t own = fork();
        if (own > 0 && write(told[1], &own, sizeof(own)) != (ssize_t)sizeof(own))
            _exit(1);
        (void)alarm(60);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(told[0], below, sizeof(*below)), (ssize_t)sizeof(*below));
    close(told[0]);
    close(told[1]);
    return child;
}

static void test_only_descendants_are_read(void **state)
{
    (void)state;
    struct pleat_error err;
    struct pleat_process_tree tree = {0};
    pid_t below[2];
    const pid_t tops[2] = {fork_two(&below[0]), fork_two(&below[1])};
    for (size_t count = 1; count <= 2; count++) {
        assert_int_equal(pleat_process_tree_below("/proc", &tree, tops, count, &err), 0);
        assert_int_equal(tree.count, 2 * count);
        for (size_t i = 0; i < count; i++) {
            const struct pleat_process_entry *one = pleat_process_tree_find(&tree, below[i]);
            assert_true(one && pleat_process_tree_descends(&tree, one, tops[i]));
            assert_non_null(pleat_process_tree_find(&tree, tops[i]));
        }
    }
    const pid_t twice[2] = {tops[0], below[0]};
    assert_int_equal(pleat_process_tree_below("/proc", &tree, twice, 2, &err), 0);
    assert_int_equal(tree.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kill(below[i], SIGKILL), 0);
        assert_int_equal(kill(tops[i], SIGKILL), 0);
        assert_int_equal(waitpid(tops[i], NULL, 0), tops[i]);
    }
    assert_int_equal(pleat_process_tree_below("/proc", &tree, tops, 2, &err), 0);
    assert_int_equal(tree.count, 0);
    assert_int_equal(tree.vanished, 2);
    pleat_process_tree_finish(&tree);
}

static void test_a_kernel_without_lists_of_children(void **state)
{
    (void)state;
    struct pleat_error err;
    struct pleat_process_tree tree = {0};
    const pid_t top = 10;
    make_process(10, "reaper", 'S', 1, 10, 100);
    assert_int_equal(pleat_process_tree_below(proc, &tree, &top, 1, &err), PLEAT_E_UNSUPPORTED);
    pleat_process_tree_finish(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_snapshot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_in_pieces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pieces_that_are_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dying, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_descent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_environ, set_up, tear_down),
        cmocka_unit_test(test_only_the_same_process_is_signalled),
        cmocka_unit_test(test_only_descendants_are_read),
        cmocka_unit_test_setup_teardown(test_a_kernel_without_lists_of_children, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
