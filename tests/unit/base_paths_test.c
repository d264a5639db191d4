/* Where Pleat keeps things, and whom it trusts with a directory. */
#include "test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock_record.h"
#include "base/paths.h"

static const char *const names[] = {"PLEAT_DIR", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
                                    "XDG_CONFIG_HOME"};

static int clear_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    return 0;
}

static struct pleat_paths get(void)
{
    struct pleat_paths paths;
    struct pleat_error err;
    if (pleat_paths_init(&paths, &err))
        fail_msg("%s", err.text);
    return paths;
}

static void assert_too_big(void)
{
    struct pleat_paths paths;
    struct pleat_error err = {0};
    assert_int_equal(pleat_paths_init(&paths, &err), PLEAT_E_TOOBIG);
    assert_int_equal(err.code, PLEAT_E_TOOBIG);
    assert_non_null(strstr(err.text, "PLEAT_DIR"));
}

static void test_private_instance(void **state)
{
    (void)state;
    setenv("PLEAT_DIR", "/some/where", 1);
    setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
    struct pleat_paths paths = get();
    assert_string_equal(paths.runtime, "/some/where");
    assert_string_equal(paths.state, "/some/where");
    assert_string_equal(paths.config, "/some/where");
    assert_string_equal(paths.socket, "/some/where/pleatd.sock");
}

/* Neither a job's environment nor an answer could have such a name. */
static void test_a_name_that_is_no_text(void **state)
{
    (void)state;
    static const char *const variables[] = {"PLEAT_DIR", "HOME", "XDG_STATE_HOME",
                                            "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        struct pleat_paths paths;
        struct pleat_error err = {0};
        clear_environment(NULL);
        setenv(variables[i], "/some/caf\xe9", 1);
        assert_int_equal(pleat_paths_init(&paths, &err), PLEAT_E_INVALID);
        assert_non_null(strstr(err.text, "/some/caf\xe9"));
        assert_non_null(strstr(err.text, "PLEAT_DIR"));
        setenv(variables[i], "/some/caf\xc3\xa9", 1);
        (void)get();
    }
}

static void test_relative_private_instance(void **state)
{
    (void)state;
    char before[256];
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir("/tmp"), 0);
    setenv("PLEAT_DIR", "mine", 1);
    assert_string_equal(get().socket, "/tmp/mine/pleatd.sock");
    assert_int_equal(chdir(before), 0);
    setenv("PLEAT_DIR", "", 1); /* empty is as if it were not set */
    setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
    assert_string_equal(get().runtime, "/run/user/1/pleat");
}

static void test_xdg(void **state)
{
    (void)state;
    setenv("HOME", "/home/me", 1);
    setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
    struct pleat_paths paths = get();
    assert_string_equal(paths.socket, "/run/user/1/pleat/pleatd.sock");
    assert_string_equal(paths.state, "/home/me/.local/state/pleat");
    assert_string_equal(paths.config, "/home/me/.config/pleat");
    setenv("XDG_STATE_HOME", "/s", 1);
    setenv("XDG_CONFIG_HOME", "/c", 1);
    paths = get();
    assert_string_equal(paths.state, "/s/pleat");
    assert_string_equal(paths.config, "/c/pleat");
    /* relative ones are to be ignored */
    setenv("XDG_STATE_HOME", "s", 1);
    setenv("XDG_CONFIG_HOME", "", 1);
    paths = get();
    assert_string_equal(paths.state, "/home/me/.local/state/pleat");
    assert_string_equal(paths.config, "/home/me/.config/pleat");
}

static void test_without_any(void **state)
{
    (void)state;
    char expected[64];
    snprintf(expected, sizeof(expected), "/tmp/pleat-%lu", (unsigned long)getuid());
    struct pleat_paths paths = get();
    assert_string_equal(paths.runtime, expected);
    assert_string_equal(paths.state, expected);
    assert_string_equal(paths.config, expected);
}

static void test_too_long(void **state)
{
    (void)state;
    char path[700];
    memset(path, 'a', sizeof(path));
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    setenv("PLEAT_DIR", path, 1);
    assert_too_big();
    unsetenv("PLEAT_DIR");
    setenv("XDG_RUNTIME_DIR", path, 1);
    assert_too_big();
    setenv("XDG_RUNTIME_DIR", "/run", 1);
    setenv("XDG_STATE_HOME", path, 1);
    assert_too_big();
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", path, 1);
    assert_too_big();
    unsetenv("HOME");
    /* the longest that fits, and one more */
    size_t longest = sizeof(((struct pleat_paths *)0)->socket) - 1 - strlen("/pleatd.sock");
    path[longest] = '\0';
    setenv("PLEAT_DIR", path, 1);
    assert_int_equal(strlen(get().socket), sizeof(((struct pleat_paths *)0)->socket) - 1);
    path[longest] = 'a';
    path[longest + 1] = '\0';
    setenv("PLEAT_DIR", path, 1);
    assert_too_big();
}

static void test_make_private(void **state)
{
    (void)state;
    char base[64] = "/tmp/pleat-test-XXXXXX", path[128], part[128];
    struct stat st;
    struct pleat_error err;
    assert_non_null(mkdtemp(base));
    snprintf(part, sizeof(part), "%s/a", base);
    snprintf(path, sizeof(path), "%s/a/b", base);
    assert_int_equal(pleat_paths_make_private(path, &err), 0);
    assert_int_equal(stat(part, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(pleat_paths_make_private(path, &err), 0); /* again */
    char slash[160];
    snprintf(slash, sizeof(slash), "%s/", path);
    assert_int_equal(pleat_paths_make_private(slash, &err), 0);
    /* others may look, not write */
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(pleat_paths_make_private(path, &err), 0);
    assert_int_equal(chmod(path, 0770), 0);
    assert_int_equal(pleat_paths_make_private(path, &err), PLEAT_E_PERMISSION);
    assert_int_equal(chmod(path, 0702), 0);
    assert_int_equal(pleat_paths_make_private(path, &err), PLEAT_E_PERMISSION);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(rmdir(path), 0);
    /* a file in its place */
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(pleat_paths_make_private(path, &err), PLEAT_E_INVALID);
    snprintf(slash, sizeof(slash), "%s/c", path);
    assert_int_equal(pleat_paths_make_private(slash, &err), PLEAT_E_SYSTEM);
    assert_int_equal(unlink(path), 0);
    if (geteuid() == 0) { /* another user's */
        assert_int_equal(chown(part, 65534, 65534), 0);
        assert_int_equal(pleat_paths_make_private(part, &err), PLEAT_E_PERMISSION);
        assert_non_null(strstr(err.text, "65534"));
    }
    assert_int_equal(rmdir(part), 0);
    assert_int_equal(rmdir(base), 0);
    char long_path[600];
    memset(long_path, 'a', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    long_path[0] = '/';
    assert_int_equal(pleat_paths_make_private(long_path, &err), PLEAT_E_TOOBIG);
}

/* What another user put in our way is not used; what is root's or our own may be a link. */
static void test_what_others_put_there(void **state)
{
    (void)state;
    char base[] = "/tmp/pleat-paths-XXXXXX", link[64], real[64], below[80];
    struct pleat_error err;
    struct stat st;
    assert_non_null(mkdtemp(base));
    snprintf(link, sizeof(link), "%s/link", base);
    snprintf(real, sizeof(real), "%s/real", base);
    snprintf(below, sizeof(below), "%s/link/sub", base);
    assert_int_equal(mkdir(real, 0700), 0);
    assert_int_equal(symlink(real, link), 0);
    assert_int_equal(pleat_paths_make_private(link, &err), 0);
    setenv("XDG_RUNTIME_DIR", real, 1);
    setenv("XDG_CONFIG_HOME", base, 1);
    struct pleat_paths paths = get();
    assert_memory_equal(paths.runtime, real, strlen(real));
    assert_int_equal(pleat_paths_check_config(&paths, &err), 0); /* it is not there */
    snprintf(paths.config, sizeof(paths.config), "%s", real);
    assert_int_equal(pleat_paths_check_config(&paths, &err), 0);
    if (geteuid() == 0) {
        assert_int_equal(lchown(link, 65534, 65534), 0);
        assert_int_equal(pleat_paths_make_private(link, &err), PLEAT_E_PERMISSION);
        assert_non_null(strstr(err.text, "65534"));
        assert_int_equal(pleat_paths_make_private(below, &err), PLEAT_E_PERMISSION);
        snprintf(below, sizeof(below), "%s/sub", real);
        assert_int_equal(lstat(below, &st), -1); /* nothing was made through the link */
        assert_int_equal(chown(real, 65534, 65534), 0);
        assert_int_equal(pleat_paths_check_config(&paths, &err), PLEAT_E_PERMISSION);
        char expected[64];
        snprintf(expected, sizeof(expected), "/tmp/pleat-%lu", (unsigned long)getuid());
        assert_string_equal(get().runtime, expected);
    }
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(real), 0);
    assert_int_equal(rmdir(base), 0);
}

/* What another machine wrote keeps this one from its log; what cannot be read does not. */
static void test_lock_records(void **state)
{
    struct pleat_lock_record record, again;
    struct pleat_error err;
    char text[512];
    (void)state;
    pleat_lock_record_make(&record, "/run/pleatd.sock");
    assert_true(pleat_lock_record_format(&record, text, sizeof(text)) < (int)sizeof(text));
    pleat_lock_record_parse(&again, text);
    assert_int_equal(again.pid, getpid());
    assert_string_equal(again.socket, "/run/pleatd.sock");
    assert_string_equal(again.host, record.host);
    assert_string_equal(again.boot, record.boot);
    assert_int_equal(pleat_lock_record_check(&again, "/state", &err), 0);
    snprintf(again.boot, sizeof(again.boot), "another"); /* it was started again */
    assert_int_equal(pleat_lock_record_check(&again, "/state", &err), 0);
    snprintf(again.host, sizeof(again.host), "elsewhere");
    assert_int_equal(pleat_lock_record_check(&again, "/state", &err), PLEAT_E_BUSY);
    assert_non_null(strstr(err.text, "elsewhere"));
    assert_non_null(strstr(err.text, "/state/pleatd.lock"));
    snprintf(again.boot, sizeof(again.boot), "%s", record.boot); /* as in a container */
    assert_int_equal(pleat_lock_record_check(&again, "/state", &err), 0);
    static const char *const others[] = {
        "", "17", "17\n/s", "17\n/s\n", "17\n/s\nelsewhere boot", "17\n/s\nelsewhere\n", "\n\n\n"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        pleat_lock_record_parse(&again, others[i]);
        assert_int_equal(pleat_lock_record_check(&again, "/state", &err), 0);
        assert_string_equal(again.socket, i >= 3 && i < 6 ? "/s" : "");
    }
}

#define fresh(test) cmocka_unit_test_setup(test, clear_environment)

static void test_beside(void **state)
{
    (void)state;
    struct pleat_error err = {0};
    char path[PATH_MAX], small[8], self[PATH_MAX] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    assert_int_equal(pleat_paths_beside("test-base-paths", path, sizeof(path), &err), 0);
    assert_string_equal(path, self);
    assert_int_equal(pleat_paths_beside("pleatd", small, sizeof(small), &err), PLEAT_E_TOOBIG);
    assert_non_null(strstr(err.text, "pleatd is too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside),
        fresh(test_private_instance),
        fresh(test_relative_private_instance),
        fresh(test_a_name_that_is_no_text),
        fresh(test_xdg),
        fresh(test_without_any),
        fresh(test_too_long),
        fresh(test_make_private),
        fresh(test_what_others_put_there),
        fresh(test_lock_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
