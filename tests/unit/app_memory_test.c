/* libpleat's parts that need no MPI: who has which rows, and memory that comes and goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/blocks.h"
#include "app/memory.h"
#include "base/random.h"

static void test_blocks_cover_every_row_once(void **state)
{
    (void)state;
    for (int64_t rows = 1; rows < 40; rows++)
        for (int size = 1; size < 50; size++) {
            int64_t next = 0;
            for (int rank = 0; rank < size; rank++) {
                struct pleat_block block = pleat_block_of(rows, size, rank);
                int64_t count = pleat_block_count(block);
                assert_true(count == rows / size || count == rows / size + 1);
                if (count)
                    assert_int_equal(block.first, next);
                next += count;
            }
            assert_int_equal(next, rows);
            assert_int_equal(pleat_block_count(pleat_block_of(rows, size, size)), 0);
            assert_int_equal(pleat_block_count(pleat_block_of(rows, size, -1)), 0);
        }
}

static void test_blocks_of_huge_arrays(void **state)
{
    (void)state;
    struct pleat_block last = pleat_block_of(INT64_MAX, 65536, 65535);
    assert_true(last.end == INT64_MAX);
    assert_true(pleat_block_count(last) == INT64_MAX / 65536);
}

static void test_common_rows(void **state)
{
    (void)state;
    struct pleat_block common =
        pleat_block_common((struct pleat_block){0, 10}, (struct pleat_block){5, 20});
    assert_int_equal(common.first, 5);
    assert_int_equal(common.end, 10);
    common = pleat_block_common((struct pleat_block){0, 5}, (struct pleat_block){5, 9});
    assert_int_equal(pleat_block_count(common), 0);
}

/* A window wanders over the array; what it keeps must keep its contents. */
static void test_a_wandering_window(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct pleat_memory memory;
    struct pleat_error err = {0};
    struct pleat_random random;
    pleat_random_init(&random, 1);
    assert_int_equal(pleat_memory_reserve(&memory, BYTES, &err), 0);
    size_t first = 0;
    size_t end = 0;
    for (int round = 0; round < 300; round++) {
        size_t to = 1 + pleat_random_below(&random, BYTES);
        size_t from = pleat_random_below(&random, to);
        assert_int_equal(pleat_memory_open(&memory, from, to, &err), 0);
        if (round % 2)
            pleat_memory_populate(&memory, from, to);
        for (size_t i = first > from ? first : from; i < end && i < to; i += 97)
            assert_int_equal(memory.base[i], (unsigned char)(i * 31));
        for (size_t i = from; i < to; i++)
            memory.base[i] = (unsigned char)(i * 31);
        pleat_memory_keep(&memory, from, to);
        for (size_t i = from; i < to; i++)
            assert_int_equal(memory.base[i], (unsigned char)(i * 31));
        first = from;
        end = to;
    }
    pleat_memory_keep(&memory, 0, 0);
    assert_int_equal(memory.open_first, memory.open_end);
    pleat_memory_release(&memory);
    pleat_memory_release(&memory);
}

static long resident_pages(void)
{
    long total = 0;
    long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &total, &resident), 2);
    fclose(file);
    return resident;
}

static void test_memory_is_given_back(void **state)
{
    (void)state;
    const size_t bytes = (size_t)64 << 20;
    const long page = sysconf(_SC_PAGESIZE);
    struct pleat_memory memory;
    struct pleat_error err = {0};
    assert_int_equal(pleat_memory_reserve(&memory, 100 * bytes, &err), 0);
    long before = resident_pages();
    assert_int_equal(pleat_memory_open(&memory, bytes, 2 * bytes, &err), 0);
    memset(memory.base + bytes, 1, bytes);
    long full = resident_pages();
    assert_true(full - before >= (long)bytes / page * 9 / 10);
    pleat_memory_keep(&memory, bytes, bytes + bytes / 4);
    assert_true(full - resident_pages() >= (long)bytes / page / 2);
    assert_int_equal(memory.base[bytes + 5], 1);
    /* Opened again, it is zero. */
    assert_int_equal(pleat_memory_open(&memory, bytes, 2 * bytes, &err), 0);
    assert_int_equal(memory.base[2 * bytes - 1], 0);
    pleat_memory_release(&memory);
}

static void test_too_much(void **state)
{
    (void)state;
    struct pleat_memory memory;
    struct pleat_error err = {0};
    assert_int_equal(pleat_memory_reserve(&memory, SIZE_MAX, &err), PLEAT_E_NOMEM);
    assert_int_equal(pleat_memory_reserve(&memory, (size_t)1 << 60, &err), PLEAT_E_NOMEM);
    assert_non_null(strstr(err.text, "ulimit"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_cover_every_row_once),
        cmocka_unit_test(test_blocks_of_huge_arrays),
        cmocka_unit_test(test_common_rows),
        cmocka_unit_test(test_a_wandering_window),
        cmocka_unit_test(test_memory_is_given_back),
        cmocka_unit_test(test_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
