/* When a processor counts as contended, and what /proc/stat says about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/contention.h"

#define MS INT64_C(1000)

static void test_hysteresis(void **state)
{
    (void)state;
    struct pleat_contention it = {0};
    /* alone, idle or busy, and with a tick too many */
    for (int i = 0; i < 10; i++) {
        assert_false(pleat_contention_look(&it, 100 * MS, 100 * MS, 100 * MS));
        assert_false(pleat_contention_look(&it, 100 * MS, 0, 0));
        assert_false(pleat_contention_look(&it, 100 * MS, 110 * MS, 93 * MS));
    }
    /* one look is not enough */
    assert_false(pleat_contention_look(&it, 100 * MS, 100 * MS, 50 * MS));
    assert_false(pleat_contention_look(&it, 100 * MS, 100 * MS, 95 * MS));
    assert_false(pleat_contention_look(&it, 100 * MS, 100 * MS, 50 * MS));
    assert_true(pleat_contention_look(&it, 100 * MS, 100 * MS, 50 * MS));
    assert_true(it.contended);
    /* between the two limits it stays what it is */
    for (int i = 0; i < 10; i++)
        assert_false(pleat_contention_look(&it, 100 * MS, 100 * MS, 85 * MS));
    for (int i = 0; i < 4; i++)
        assert_false(pleat_contention_look(&it, 100 * MS, 100 * MS, 100 * MS));
    assert_true(pleat_contention_look(&it, 100 * MS, 0, 0));
    assert_false(it.contended);
    /* clocks that say nonsense */
    assert_false(pleat_contention_look(&it, 0, 5, 0));
    assert_false(pleat_contention_look(&it, -1, 5, 0));
    assert_false(pleat_contention_look(&it, 100 * MS, -5 * MS, 100 * MS));
}

static void test_reading(void **state)
{
    (void)state;
    char directory[] = "/tmp/pleat-stat-XXXXXX";
    char path[64];
    int64_t busy[3] = {7, 7, 7};
    int64_t tick_us = 1000000 / sysconf(_SC_CLK_TCK);
    assert_non_null(mkdtemp(directory));
    assert_int_equal(pleat_contention_read(directory, busy, 3, NULL), PLEAT_E_SYSTEM);
    snprintf(path, sizeof(path), "%s/stat", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 10 20 30 1000 500 4 5 99 3 3\n"
          "cpu2 1 0 0 9 9 0 0 0 0 0\ncpu7 1 1 1 1 1 1 1 1 0 0\nintr 5 5 5\ncpu1 5 5 5 5 5 5 5\n",
          file);
    fclose(file);
    assert_int_equal(pleat_contention_read(directory, busy, 3, NULL), 0);
    assert_int_equal(busy[0], 69 * tick_us);
    assert_int_equal(busy[1], 0);
    assert_int_equal(busy[2], 1 * tick_us);
    unlink(path);
    rmdir(directory);
    /* the real one: some CPU of this machine has done something */
    int64_t *all = calloc(4096, sizeof(*all));
    int64_t sum = 0;
    assert_non_null(all);
    assert_int_equal(pleat_contention_read("/proc", all, 4096, NULL), 0);
    for (int i = 0; i < 4096; i++)
        sum += all[i];
    assert_true(sum > 0);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hysteresis),
        cmocka_unit_test(test_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
