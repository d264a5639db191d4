/* Which process stands where: by rank, by communication, by balance, and who moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/mapping.h"
#include "base/random.h"

#define N_MAX 64

static struct pleat_mapping_facts facts_of(uint32_t processes, const uint32_t *cpus, uint32_t count)
{
    struct pleat_mapping_facts facts = {.processes = processes, .now = {cpus, count}};
    return facts;
}

static void expect(const uint32_t *where, const char *digits)
{
    char text[N_MAX + 1] = "";
    for (size_t i = 0; i < strlen(digits); i++)
        text[i] = (char)('0' + (char)where[i]);
    assert_string_equal(text, digits);
}

static void test_round_robin(void **state)
{
    (void)state;
    static const uint32_t cpus[] = {4, 5, 6};
    uint32_t where[8];
    struct pleat_mapping_facts facts = facts_of(6, cpus, 3);
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_ROUND_ROBIN, &facts, where, NULL), 0);
    expect(where, "012012"); /* figure 3.9 */
    facts.processes = 8;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_ROUND_ROBIN, &facts, where, NULL), 0);
    expect(where, "01201201");
    facts.processes = 2;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_ROUND_ROBIN, &facts, where, NULL), 0);
    expect(where, "01");
    facts.processes = 0;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_ROUND_ROBIN, &facts, where, NULL),
                     PLEAT_E_INVALID);
}

/* From one partition to the next, as resizes do. */
static void change(uint32_t processes, const uint32_t *before, uint32_t count_before,
                   const uint32_t *now, uint32_t count, uint32_t *where)
{
    struct pleat_mapping_facts facts = facts_of(processes, now, count);
    facts.before = (struct pleat_mapping_partition){before, count_before};
    facts.where_before = where;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_ROUND_ROBIN, &facts, where, NULL), 0);
}

static void test_only_who_must_moves(void **state)
{
    (void)state;
    static const uint32_t cpus[] = {0, 1, 2, 3};
    static const uint32_t others[] = {3, 9};
    uint32_t where[8] = {0};
    change(8, NULL, 0, cpus, 1, where);
    expect(where, "00000000");
    change(8, cpus, 1, cpus, 2, where); /* half of them, and then it is round robin */
    expect(where, "01010101");
    change(8, cpus, 2, cpus, 4, where);
    expect(where, "01230123");
    change(8, cpus, 4, cpus, 3, where); /* of processor 3 alone */
    expect(where, "01200121");
    change(8, cpus, 3, cpus, 4, where);
    change(8, cpus, 4, others, 2, where); /* 3 stays, under another index */
    change(8, others, 2, cpus + 3, 1, where);
    expect(where, "00000000");
    /* a partition of which nothing is left */
    change(8, cpus + 3, 1, cpus, 2, where);
    expect(where, "01010101");
}

static void test_a_cpu_twice(void **state)
{
    (void)state;
    static const uint32_t two[] = {0, 1};
    static const uint32_t four[] = {0, 1, 0, 1};
    uint32_t where[8] = {0};
    change(8, NULL, 0, two, 2, where);
    change(8, two, 2, four, 4, where);
    expect(where, "01230123");
    change(8, four, 4, two, 2, where);
    expect(where, "01010101");
}

static uint32_t moved(const uint32_t *before, const uint32_t *old, const uint32_t *now,
                      const uint32_t *where, uint32_t processes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < processes; i++)
        count += before[old[i]] != now[where[i]];
    return count;
}

/* Random partitions one after the other: processors differ by at most one process, and no more
 * processes move than the numbers ask for. */
static void test_many_changes(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 7);
    for (int round = 0; round < 300; round++) {
        uint32_t n = 1 + (uint32_t)pleat_random_below(&random, N_MAX);
        uint32_t before[16], now[16], where[N_MAX], old[N_MAX];
        uint32_t count_before = 0;
        for (int step = 0; step < 10; step++) {
            uint32_t count = 1 + (uint32_t)pleat_random_below(&random, n < 16 ? n : 16);
            uint32_t first = (uint32_t)pleat_random_below(&random, 8);
            uint32_t held[16] = {0}, kept[32] = {0};
            for (uint32_t i = 0; i < count; i++)
                now[i] = first + i;
            memcpy(old, where, sizeof(old));
            change(n, before, count_before, now, count, where);
            for (uint32_t i = 0; i < n; i++)
                held[where[i]]++;
            for (uint32_t i = 0; i < count; i++)
                assert_in_range(held[i], n / count, (n + count - 1) / count);
            if (count_before) {
                /* who could have stayed: all but the surplus of those that are still there */
                uint32_t least = 0, more = n % count;
                for (uint32_t i = 0; i < n; i++)
                    kept[before[old[i]]]++;
                for (uint32_t i = 0; i < count; i++) {
                    uint32_t quota = n / count;
                    if (kept[now[i]] > quota && more) {
                        quota++;
                        more--;
                    }
                    least += kept[now[i]] < quota ? kept[now[i]] : quota;
                }
                assert_int_equal(moved(before, old, now, where, n), n - least);
            }
            memcpy(before, now, sizeof(before));
            count_before = count;
        }
    }
}

/* Pairs (0,4), (1,5), (2,6), (3,7) talk; everybody else a little. */
static uint64_t pairs(const void *arg, uint32_t from, uint32_t to)
{
    (void)arg;
    return from % 4 == to % 4 ? 1000 : 10;
}

static uint64_t silence(const void *arg, uint32_t from, uint32_t to)
{
    (void)arg;
    (void)from;
    (void)to;
    return 0;
}

static uint64_t ring(const void *arg, uint32_t from, uint32_t to)
{
    const uint32_t *count = arg;
    return to == (from + 1) % *count ? UINT64_MAX : 0;
}

static void test_communication(void **state)
{
    (void)state;
    static const uint32_t cpus[] = {0, 1, 2, 3};
    static const uint32_t eight = 8;
    uint32_t where[8];
    struct pleat_mapping_facts facts = facts_of(8, cpus, 4);
    facts.traffic = pairs;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_COMMUNICATION, &facts, where, NULL), 0);
    expect(where, "01230123"); /* round robin is as good: it stays */
    facts.now.count = 3;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_COMMUNICATION, &facts, where, NULL), 0);
    uint32_t together = 0;
    for (uint32_t i = 0; i < 4; i++)
        together += where[i] == where[i + 4];
    assert_int_equal(together, 3); /* of 3, 3 and 2 processes: one pair has to be split */
    facts.traffic = ring;
    facts.arg = &eight;
    facts.now.count = 2;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_COMMUNICATION, &facts, where, NULL), 0);
    uint32_t crossing = 0;
    for (uint32_t i = 0; i < 8; i++)
        crossing += where[i] != where[(i + 1) % 8];
    assert_int_equal(crossing, 2); /* two arcs; round robin has 8 crossings */
    /* groups stay where most of their processes are */
    uint32_t before[8];
    static const uint32_t turned[] = {1, 0};
    memcpy(before, where, sizeof(before));
    facts.before = facts.now;
    facts.where_before = before;
    facts.now.cpus = turned;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_COMMUNICATION, &facts, where, NULL), 0);
    assert_int_equal(moved(cpus, before, turned, where, 8), 0);
    /* nothing was sent, or it is not known: by rank */
    facts = facts_of(8, cpus, 2);
    facts.traffic = silence;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_COMMUNICATION, &facts, where, NULL), 0);
    expect(where, "01010101");
    facts.traffic = NULL;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_COMMUNICATION, &facts, where, NULL), 0);
    expect(where, "01010101");
}

static void test_balance(void **state)
{
    (void)state;
    static const uint32_t cpus[] = {0, 1};
    static const uint64_t equal[] = {5, 5, 5, 5, 5, 5, 5, 5};
    /* 7 6 4 4 3 | longest first: 7+3 = 10 and 6+4 = 10, and the other 4 makes 14 */
    static const uint64_t uneven[] = {4000, 7000, 4000, 6000, 3000};
    static const uint64_t one[] = {UINT64_MAX, 0, 0, 0};
    uint32_t where[8];
    struct pleat_mapping_facts facts = facts_of(5, cpus, 2);
    facts.useful_ns = uneven;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_BALANCE, &facts, where, NULL), 0);
    expect(where, "01010"); /* 11 and 13: nothing better is known */
    static const uint64_t heavy[] = {6000, 1000, 6000, 1000};
    facts.processes = 4;
    facts.useful_ns = heavy;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_BALANCE, &facts, where, NULL), 0);
    expect(where, "0011"); /* 7 and 7, where round robin has 12 and 2 */
    facts.useful_ns = one;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_BALANCE, &facts, where, NULL), 0);
    expect(where, "0101"); /* the heaviest is as heavy either way */
    facts.processes = 8;
    facts.useful_ns = equal;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_BALANCE, &facts, where, NULL), 0);
    expect(where, "01010101");
    facts.useful_ns = NULL;
    assert_int_equal(pleat_mapping_make(PLEAT_MAPPING_BALANCE, &facts, where, NULL), 0);
    expect(where, "01010101");
}

static void test_names(void **state)
{
    (void)state;
    enum pleat_mapping by = PLEAT_MAPPING_ROUND_ROBIN;
    struct pleat_error err;
    static const char *const names[] = {"round-robin", "communication", "balance"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pleat_mapping_parse(names[i], &by, &err), 0);
        assert_int_equal(by, i);
    }
    assert_int_equal(pleat_mapping_parse("random", &by, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "round-robin"));
    assert_int_equal(by, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_robin),   cmocka_unit_test(test_only_who_must_moves),
        cmocka_unit_test(test_a_cpu_twice),   cmocka_unit_test(test_many_changes),
        cmocka_unit_test(test_communication), cmocka_unit_test(test_balance),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
