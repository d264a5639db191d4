/* Which CPUs the slots of a node are of which a batch system has granted some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/granted.h"
#include "support/cpu_set_of.h"

static void expect_list(const struct pleat_cpu_list *list, const char *wanted)
{
    struct pleat_string text = {0};
    pleat_cpu_list_text(list, &text);
    assert_string_equal(text.text ? text.text : "", wanted);
    pleat_string_finish(&text);
}

/* CPUs that others keep. */
struct others {
    struct pleat_cpu_set kept;
    int asked;
};

static bool take(void *arg, uint32_t cpu)
{
    struct others *others = arg;
    others->asked++;
    return !pleat_cpu_set_has(&others->kept, cpu);
}

static void test_which_are_picked(void **state)
{
    (void)state;
    static const struct {
        const char *order, *busy, *kept; /* busy, kept: NULL: none */
        uint32_t count;
        const char *wanted;
    } cases[] = {
        {"0-7", NULL, NULL, 3, "0-2"},
        {"0,2,4,6,1,3,5,7", NULL, NULL, 5, "0,2,4,6,1"}, /* in the order of the machine */
        {"0-7", "0-1", NULL, 3, "2-4"},
        {"0-7", "0-5", NULL, 3, "0,6-7"},
        {"0-7", NULL, "0-1", 3, "2-4"},
        {"0-7", "2-7", "0-1", 3, "2-4"},     /* a busy one before one that another agent has */
        {"0-7", "2-6", "0-1,7", 6, "0,2-6"}, /* and that before none */
        {"0-3", "0-3", "0-3", 2, "0-1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pleat_cpu_list order = {0}, cpus = {0};
        struct pleat_cpu_set busy_ones = {0};
        struct others others = {0};
        bool busy[8] = {false};
        assert_int_equal(pleat_cpu_list_parse(cases[i].order, &order, NULL), 0);
        if (cases[i].busy)
            busy_ones = set_of(cases[i].busy);
        if (cases[i].kept)
            others.kept = set_of(cases[i].kept);
        for (size_t c = 0; c < order.count; c++)
            busy[c] = pleat_cpu_set_has(&busy_ones, order.items[c]);
        assert_int_equal(
            pleat_granted_pick(&order, busy, cases[i].count, take, &others, &cpus, NULL), 0);
        expect_list(&cpus, cases[i].wanted);
        assert_true(others.asked <= 8); /* none is asked for twice */
        pleat_array_finish(&order);
        pleat_array_finish(&cpus);
    }
}

/* A job that is confined has all CPUs that the agent may use, and each several times where more was
 * granted. */
static void test_what_is_confined(void **state)
{
    (void)state;
    static const struct {
        const char *allowed;
        uint32_t count;
        const char *wanted;
    } cases[] = {{"0-1", 2, "0-1"}, {"0-1", 4, "0-1,0-1"}, {"1", 3, "1,1,1"}, {"0-1", 3, "0-1,0"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pleat_granted granted = {0};
        struct pleat_cpu_list cpus = {0};
        struct pleat_cpu_set allowed = set_of(cases[i].allowed);
        assert_int_equal(
            pleat_granted_begin(&granted, cases[i].count, "/proc", &allowed, &cpus, NULL), 0);
        expect_list(&cpus, cases[i].wanted);
        assert_int_equal(pleat_granted_choose(&granted, "/proc", &allowed, &cpus, NULL), 0);
        expect_list(&cpus, cases[i].wanted);
        assert_false(granted.chosen);
        pleat_array_finish(&cpus);
        pleat_granted_finish(&granted);
    }
}

/* Where nothing is confined agents of one host choose different CPUs, as long as there are some;
 * those of one that has ended are free again. */
static void test_agents_leave_one_anothers_alone(void **state)
{
    (void)state;
    /* two that no agent of this machine has */
    uint32_t first = PLEAT_CPUS_MAX / 2 + (uint32_t)getpid() % (PLEAT_CPUS_MAX / 2 - 1);
    struct pleat_cpu_set allowed = {0};
    pleat_cpu_set_add(&allowed, first);
    pleat_cpu_set_add(&allowed, first + 1);
    struct pleat_granted granted[3] = {{0}};
    struct pleat_cpu_list cpus[3] = {{0}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pleat_granted_begin(&granted[i], 1, "/proc", &allowed, &cpus[i], NULL), 0);
        assert_int_equal(cpus[i].count, 0);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pleat_granted_choose(&granted[i], "/proc", &allowed, &cpus[i], NULL), 0);
        assert_true(granted[i].chosen);
        assert_int_equal(cpus[i].count, 1);
        assert_int_equal(pleat_granted_choose(&granted[i], "/proc", &allowed, &cpus[i], NULL), 0);
        assert_int_equal(cpus[i].count, 1); /* once and for all */
    }
    assert_int_not_equal(cpus[0].items[0], cpus[1].items[0]);
    uint32_t freed = cpus[1].items[0];
    pleat_granted_finish(&granted[1]);
    assert_int_equal(pleat_granted_choose(&granted[2], "/proc", &allowed, &cpus[2], NULL), 0);
    assert_int_equal(cpus[2].items[0], freed);
    for (size_t i = 0; i < 3; i++) {
        pleat_array_finish(&cpus[i]);
        pleat_granted_finish(&granted[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_are_picked),
        cmocka_unit_test(test_what_is_confined),
        cmocka_unit_test(test_agents_leave_one_anothers_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
