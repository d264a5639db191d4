/* Cpusets, and groups with a limit of memory: where groups can be made, by files as they are on
 * machines of both versions, and what is written into them. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/cpuset.h"
#include "agent/memgroup.h"
#include "support/cpu_set_of.h"

static char root[64];

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/pleat-cpuset-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    return system(command);
}

/* Writes a file below the root, with the directories on the way. */
static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_text(const char *name, const char *wanted)
{
    char path[512], text[512];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, wanted);
}

static void expect_place(const struct pleat_cgroup_place *place, const char *wanted)
{
    char path[512];
    snprintf(path, sizeof(path), "%s%s", root, wanted);
    assert_string_equal(place->path, path);
}

static void test_nowhere(void **state)
{
    (void)state;
    struct pleat_cgroup_place place;
    assert_false(pleat_cpuset_find(root, &place)); /* no /proc */
    assert_string_equal(place.path, "");
    put("proc/self/mountinfo", "20 1 0:5 / /sys rw - sysfs sysfs rw\nnonsense\n\n");
    put("proc/self/cgroup", "0::/a\nx\n:\n::\n");
    assert_false(pleat_cpuset_find(root, &place));
    /* mounted, but the group is not there */
    put("proc/self/mountinfo", "20 1 0:5 / /cg rw - cgroup2 none rw\n");
    assert_false(pleat_cpuset_find(root, &place));
    /* the controller is not there */
    put("cg/a/cgroup.controllers", "memory pids\n");
    put("cg/a/cgroup.subtree_control", "");
    assert_false(pleat_cpuset_find(root, &place));
    assert_int_equal(pleat_cgroup_remove_all(&place, "pleat:"), 0);
}

static void test_version_1(void **state)
{
    (void)state;
    struct pleat_cgroup_place place;
    put("proc/self/mountinfo",
        "20 1 0:5 / /cg/memory rw shared:3 - cgroup cgroup rw,memory\n"
        "21 1 0:6 / /cg/cpuset rw shared:4 master:1 - cgroup cgroup rw,noprefix,cpuset\n");
    put("proc/self/cgroup", "5:memory:/elsewhere\n4:cpu,cpuset:/jobs/mine\n0::/\n");
    put("cg/cpuset/jobs/mine/cpuset.cpus", "0-3\n");
    put("cg/cpuset/jobs/mine/cpuset.mems", "0-1\n");
    assert_true(pleat_cpuset_find(root, &place));
    expect_place(&place, "/cg/cpuset/jobs/mine");
    /* of a container only a part of the hierarchy is mounted, and paths begin above it */
    put("proc/self/mountinfo", "21 1 0:6 /jobs /cg/cpuset/jobs rw - cgroup none rw,cpuset\n");
    assert_true(pleat_cpuset_find(root, &place));
    expect_place(&place, "/cg/cpuset/jobs/mine");
}

static void test_version_2(void **state)
{
    (void)state;
    struct pleat_cgroup_place place;
    put("proc/self/mountinfo", "20 1 0:5 / /cg rw - cgroup2 none rw,nsdelegate\n");
    put("proc/self/cgroup", "0::/slice/scope\n");
    put("cg/slice/scope/cgroup.controllers", "cpuset cpu\n");
    put("cg/slice/scope/cgroup.subtree_control", "cpu cpuset\n");
    assert_true(pleat_cpuset_find(root, &place));
    expect_place(&place, "/cg/slice/scope");
    /* the controller is handed on to those below where that is possible */
    put("cg/slice/scope/cgroup.subtree_control", "cpu\n");
    assert_true(pleat_cpuset_find(root, &place));
    expect_text("cg/slice/scope/cgroup.subtree_control", "+cpuset");
    /* ... and one above where it is not */
    put("cg/slice/scope/cgroup.controllers", "cpu cpusets\n");
    put("cg/slice/cgroup.controllers", "cpuset cpu\n");
    put("cg/slice/cgroup.subtree_control", "cpuset\n");
    assert_true(pleat_cpuset_find(root, &place));
    expect_place(&place, "/cg/slice");
}

static void test_groups(void **state)
{
    (void)state;
    struct pleat_cgroup_place place = {0};
    struct pleat_error err = {0};
    struct pleat_cpu_set some = set_of("0-1,5"), one = set_of("5");
    int procs = -1;
    snprintf(place.path, sizeof(place.path), "%s/cg/place", root);
    put("cg/place/cpuset.mems", "0-1\n");
    /* a file system that is none of cgroups makes no files: nothing is left of the attempt */
    assert_int_equal(pleat_cpuset_make(&place, "pleat:a:1", &some, &procs, &err), PLEAT_E_SYSTEM);
    assert_non_null(strstr(err.text, "pleat:a:1"));
    assert_int_equal(pleat_cpuset_change(&place, "pleat:a:1", &some, &err), PLEAT_E_SYSTEM);
    assert_int_equal(pleat_cgroup_remove(&place, "pleat:a:1", &err), 0);

    put("cg/place/pleat:a:1/cpuset.mems", "\n");
    put("cg/place/pleat:a:1/cpuset.cpus", "");
    put("cg/place/pleat:a:1/cgroup.procs", "");
    assert_int_equal(pleat_cpuset_make(&place, "pleat:a:1", &some, &procs, &err), 0);
    assert_true(fcntl(procs, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(write(procs, "0", 1), 1);
    close(procs);
    expect_text("cg/place/pleat:a:1/cpuset.mems", "0-1");
    expect_text("cg/place/pleat:a:1/cpuset.cpus", "0-1,5");
    expect_text("cg/place/pleat:a:1/cgroup.procs", "0");
    assert_int_equal(pleat_cpuset_change(&place, "pleat:a:1", &one, &err), 0);
    expect_text("cg/place/pleat:a:1/cpuset.cpus", "5");

    char empty[128];
    snprintf(empty, sizeof(empty), "%s/cg/place/pleat:a:2", root);
    assert_int_equal(mkdir(empty, 0755), 0);
    put("cg/place/pleat:b:2/x", "");
    /* the first one has files here, which those of cgroups do not count as; b's are not asked for
     */
    assert_int_equal(pleat_cgroup_remove_all(&place, "pleat:a:"), 1);
    assert_int_equal(access(empty, F_OK), -1);
    assert_int_equal(pleat_cgroup_remove(&place, "pleat:a:2", &err), 0);
    assert_int_equal(pleat_cgroup_remove(&place, "pleat:b:2", &err), PLEAT_E_SYSTEM);

    char longer[PLEAT_CGROUP_PATH_MAX];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(pleat_cpuset_make(&place, longer, &some, &procs, &err), PLEAT_E_TOOBIG);
}

static void test_memory(void **state)
{
    (void)state;
    struct pleat_cgroup_place place;
    struct pleat_error err = {0};
    int procs = -1;
    put("proc/self/mountinfo", "20 1 0:5 / /cg/memory rw - cgroup cgroup rw,memory\n"
                               "21 1 0:6 / /cg/two rw - cgroup2 none rw\n");
    put("proc/self/cgroup", "5:memory:/mine\n0::/own\n");
    put("cg/memory/mine/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(pleat_memgroup_find(root, &place));
    expect_place(&place, "/cg/memory/mine");
    assert_false(place.second);
    assert_int_equal(pleat_memgroup_ended(&place, "pleat:a:1"), 0);
    assert_int_equal(pleat_memgroup_make(&place, "pleat:a:1", 64, &procs, &err), PLEAT_E_SYSTEM);
    put("cg/memory/mine/pleat:a:1/memory.limit_in_bytes", "");
    put("cg/memory/mine/pleat:a:1/cgroup.procs", "");
    put("cg/memory/mine/pleat:a:1/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    assert_int_equal(pleat_memgroup_make(&place, "pleat:a:1", 64, &procs, &err), 0);
    assert_true(fcntl(procs, F_GETFD) & FD_CLOEXEC);
    close(procs);
    expect_text("cg/memory/mine/pleat:a:1/memory.limit_in_bytes", "65536");
    assert_int_equal(pleat_memgroup_ended(&place, "pleat:a:1"), 2);
    /* version 2, where version 1 has no such controller */
    put("proc/self/cgroup", "0::/own\n");
    put("cg/two/own/cgroup.controllers", "cpu memory\n");
    put("cg/two/own/cgroup.subtree_control", "cpu\n");
    assert_true(pleat_memgroup_find(root, &place));
    assert_true(place.second);
    expect_text("cg/two/own/cgroup.subtree_control", "+memory");
    put("cg/two/own/pleat:a:1/memory.max", "max\n");
    put("cg/two/own/pleat:a:1/memory.swap.max", "max\n");
    put("cg/two/own/pleat:a:1/cgroup.procs", "");
    put("cg/two/own/pleat:a:1/memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\n");
    assert_int_equal(pleat_memgroup_make(&place, "pleat:a:1", 1024, &procs, &err), 0);
    close(procs);
    expect_text("cg/two/own/pleat:a:1/memory.max", "1048576");
    expect_text("cg/two/own/pleat:a:1/memory.swap.max", "0");
    assert_int_equal(pleat_memgroup_ended(&place, "pleat:a:1"), 1);
}

/* On this machine, where it lets us. */
static void test_live(void **state)
{
    (void)state;
    struct pleat_cgroup_place place;
    struct pleat_cpu_set all, one = {0};
    struct pleat_error err = {0};
    char name[64];
    uint32_t cpu = 0;
    int procs = -1;
    if (!pleat_cpuset_find("", &place)) {
        print_message("SKIPPED: no cpuset of this machine can be written\n");
        skip();
    }
    assert_int_equal(pleat_cpu_set_get(0, &all), 0);
    while (!pleat_cpu_set_has(&all, cpu))
        cpu++;
    pleat_cpu_set_add(&one, cpu);
    snprintf(name, sizeof(name), "pleat:unit-%d", (int)getpid());
    if (pleat_cpuset_make(&place, name, &one, &procs, &err))
        fail_msg("%s", err.text);
    close(procs);
    assert_int_equal(pleat_cpuset_change(&place, name, &all, &err), 0);
    assert_int_equal(pleat_cpuset_make(&place, name, &one, &procs, &err), 0); /* taken over */
    close(procs);
    assert_int_equal(pleat_cgroup_remove_all(&place, name), 0);
    assert_int_equal(pleat_cpuset_change(&place, name, &one, &err), PLEAT_E_SYSTEM); /* gone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nowhere, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_version_1, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_version_2, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_groups, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_memory, make_root, remove_root),
        cmocka_unit_test(test_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
