/* How much memory is available, as the files of a machine say that is made for each test. */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "shm/available.h"

static void put(const char *root, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Removes a directory of directories and files. */
static int remove_entry(const char *path, const struct stat *at, int kind, struct FTW *where)
{
    (void)at;
    (void)kind;
    (void)where;
    return remove(path);
}

static void make_root(char *root)
{
    strcpy(root, "/tmp/pleat-state-test-XXXXXX");
    assert_non_null(mkdtemp(root));
    assert_int_equal(pleat_available_bytes(root), UINT64_MAX);
    put(root, "proc/meminfo",
        "MemTotal:  9000 kB\nMemAvailable:   8000 kB\nCommitLimit: 7000 kB\nCommitted_AS: 1000 "
        "kB\n");
    assert_int_equal(pleat_available_bytes(root), 8000 * 1024);
}

static void remove_root(const char *root)
{
    assert_int_equal(nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void test_available_memory(void **state)
{
    (void)state;
    char root[64];
    make_root(root);
    put(root, "proc/self/cgroup", "1:cpu:/x\n0::/a/b\n");
    assert_int_equal(pleat_available_bytes(root), 8000 * 1024);
    put(root, "sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_int_equal(pleat_available_bytes(root), 8000 * 1024);
    put(root, "sys/fs/cgroup/a/memory.max", "5000000\n");
    put(root, "sys/fs/cgroup/a/memory.current", "3000000\n");
    assert_int_equal(pleat_available_bytes(root), 2000000);
    put(root, "sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 600000\nactive_file 400000\n");
    assert_int_equal(pleat_available_bytes(root), 3000000);
    put(root, "sys/fs/cgroup/a/memory.current", "9000000\n");
    assert_int_equal(pleat_available_bytes(root), 0);
    put(root, "sys/fs/cgroup/a/memory.max", "99999999999999999999999999\n");
    assert_true(pleat_available_bytes(root) <= 8000 * 1024);
    put(root, "proc/self/cgroup", "0::/\n"); /* in a container */
    put(root, "sys/fs/cgroup/memory.max", "1000000\n");
    assert_int_equal(pleat_available_bytes(root), 1000000);
    remove_root(root);
    /* This machine has some. */
    assert_in_range(pleat_available_bytes(""), 1, UINT64_MAX - 1);
}

/* Control groups of version 1, also beside version 2. */
static void test_available_memory_of_old_groups(void **state)
{
    (void)state;
    char root[64];
    make_root(root);
    put(root, "proc/self/cgroup", "9:cpu,memory:/a/b\n4:memory2:/c\n1:cpuset:/d\n0::/a/b\n");
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    put(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "99999999999\n");
    put(root, "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "6000000\n");
    put(root, "sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "1000000\n");
    put(root, "sys/fs/cgroup/memory/c/memory.limit_in_bytes", "1\n"); /* not its own */
    assert_int_equal(pleat_available_bytes(root), 5000000);
    put(root, "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "6000000\n");
    put(root, "sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4000000\n");
    put(root, "sys/fs/cgroup/memory/a/memory.stat",
        "active_file 5\ntotal_inactive_file 600000\ntotal_active_file 400000\n");
    assert_int_equal(pleat_available_bytes(root), 3000000);
    /* a container's own group is the uppermost, and its name that of outside */
    put(root, "proc/self/cgroup", "4:memory:/outside/name\n");
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
    put(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n");
    assert_int_equal(pleat_available_bytes(root), 1500000);
    put(root, "proc/self/cgroup", "nonsense\n\n:\n::\n4:memory");
    assert_int_equal(pleat_available_bytes(root), 8000 * 1024);
    remove_root(root);
}

/* What a kernel that is strict about memory has not promised. */
static void test_available_memory_where_the_kernel_is_strict(void **state)
{
    (void)state;
    char root[64];
    make_root(root);
    put(root, "proc/sys/vm/overcommit_memory", "1\n");
    assert_int_equal(pleat_available_bytes(root), 8000 * 1024);
    put(root, "proc/sys/vm/overcommit_memory", "2\n");
    assert_int_equal(pleat_available_bytes(root), 6000 * 1024);
    put(root, "proc/meminfo", "MemAvailable: 8000 kB\nCommitLimit: 10 kB\nCommitted_AS: 20 kB\n");
    assert_int_equal(pleat_available_bytes(root), 0);
    put(root, "proc/meminfo", "MemAvailable: 8000 kB\n");
    assert_int_equal(pleat_available_bytes(root), 8000 * 1024);
    remove_root(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_available_memory),
        cmocka_unit_test(test_available_memory_of_old_groups),
        cmocka_unit_test(test_available_memory_where_the_kernel_is_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
