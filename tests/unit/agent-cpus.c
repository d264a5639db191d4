/* Lists and sets of CPUs, and in which order a machine's are those of slots. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/cpus.h"
#include "support/cpu_set_of.h"

static char *text_of(const struct pleat_cpu_list *list)
{
    struct pleat_string text = {0};
    pleat_cpu_list_text(list, &text);
    return text.text ? text.text : strdup("");
}

static void expect_list(const struct pleat_cpu_list *list, const char *wanted)
{
    char *text = text_of(list);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_lists(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
        size_t count;
    } good[] = {
        {"0", "0", 1},   {"0-3,8", "0-3,8", 5}, {" 1 , 0 ", "1,0", 2}, {"0,1,0,1", "0-1,0-1", 4},
        {"7-7", "7", 1}, {"8191", "8191", 1},   {"3,4,5", "3-5", 3},   {"2,1", "2,1", 2}};
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct pleat_cpu_list list = {0};
        struct pleat_error err = {0};
        if (pleat_cpu_list_parse(good[i].text, &list, &err))
            fail_msg("%s: %s", good[i].text, err.text);
        assert_int_equal(list.count, good[i].count);
        expect_list(&list, good[i].wanted);
        pleat_array_finish(&list);
    }
    static const char *const bad[] = {"",
                                      ",",
                                      "0,",
                                      ",0",
                                      "-1",
                                      "1-",
                                      "3-1",
                                      "a",
                                      "0-x",
                                      "0 1",
                                      "0--2",
                                      "8192",
                                      "0-8192",
                                      "1;2",
                                      "0x1",
                                      "1.5",
                                      "99999999999999999999",
                                      "0,,1",
                                      "0-1-2"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct pleat_cpu_list list = {0};
        struct pleat_error err = {0};
        assert_int_equal(pleat_array_push(&list, 5), 0);
        assert_int_equal(pleat_cpu_list_parse(bad[i], &list, &err), PLEAT_E_INVALID);
        assert_non_null(strstr(err.text, "CPU"));
        expect_list(&list, "5"); /* as it was */
        pleat_array_finish(&list);
    }
}

static void test_a_list_that_is_too_long(void **state)
{
    (void)state;
    struct pleat_string text = {0};
    struct pleat_cpu_list list = {0};
    pleat_string_add(&text, "0-8191");
    for (int i = 0; i < 7; i++)
        pleat_string_add(&text, ",0-8191");
    assert_int_equal(pleat_cpu_list_parse(text.text, &list, NULL), 0);
    assert_int_equal(list.count, PLEAT_CPU_LIST_MAX);
    list.count = 0;
    pleat_string_add(&text, ",0");
    assert_int_equal(pleat_cpu_list_parse(text.text, &list, NULL), PLEAT_E_TOOBIG);
    assert_int_equal(list.count, 0);
    pleat_array_finish(&list);
    pleat_string_finish(&text);
}

static void test_copies(void **state)
{
    (void)state;
    struct pleat_cpu_list from = {0}, to = {0};
    assert_int_equal(pleat_cpu_list_copy(&from, &to), 0);
    assert_int_equal(to.count, 0);
    assert_int_equal(pleat_cpu_list_parse("0-99", &from, NULL), 0);
    assert_int_equal(pleat_cpu_list_copy(&from, &to), 0);
    expect_list(&to, "0-99");
    from.count = 2;
    assert_int_equal(pleat_cpu_list_copy(&from, &to), 0);
    expect_list(&to, "0-1");
    pleat_array_finish(&from);
    pleat_array_finish(&to);
}

static void test_sets(void **state)
{
    (void)state;
    struct pleat_cpu_set a = set_of("0-3,1023-1025,8191"), b = set_of("2-5,1024"), none = {0};
    struct pleat_string text = {0};
    assert_int_equal(pleat_cpu_set_count(&a), 8);
    assert_true(pleat_cpu_set_has(&a, 1024) && pleat_cpu_set_has(&a, 8191));
    assert_false(pleat_cpu_set_has(&a, 4) || pleat_cpu_set_has(&a, 8192));
    pleat_cpu_set_add(&a, 8192); /* there is none */
    assert_int_equal(pleat_cpu_set_count(&a), 8);
    struct pleat_cpu_set both = pleat_cpu_set_both(&a, &b);
    pleat_cpu_set_text(&both, &text);
    assert_string_equal(text.text, "2-3,1024");
    text.length = 0;
    pleat_cpu_set_text(&a, &text);
    assert_string_equal(text.text, "0-3,1023-1025,8191");
    assert_false(pleat_cpu_set_equal(&a, &b));
    struct pleat_cpu_set same = set_of("8191,0-1,2-3,1025,1024,1023,0");
    assert_true(pleat_cpu_set_equal(&a, &same));
    assert_int_equal(pleat_cpu_set_count(&none), 0);
    pleat_string_finish(&text);
}

static void test_threads_are_told(void **state)
{
    (void)state;
    struct pleat_cpu_set before, now, one = {0}, beyond = set_of("8191");
    assert_int_equal(pleat_cpu_set_get(0, &before), 0);
    assert_true(pleat_cpu_set_count(&before) >= 1);
    uint32_t cpu = 0;
    while (!pleat_cpu_set_has(&before, cpu))
        cpu++;
    pleat_cpu_set_add(&one, cpu);
    assert_int_equal(pleat_cpu_set_tell(0, &one), 0);
    assert_int_equal(pleat_cpu_set_get(getpid(), &now), 0);
    assert_true(pleat_cpu_set_equal(&one, &now));
    assert_int_equal(pleat_cpu_set_tell(0, &beyond), EINVAL);
    assert_int_equal(pleat_cpu_set_tell(0, &before), 0);
    assert_int_equal(pleat_cpu_set_tell(0x7ffffff0, &one), ESRCH);
    assert_int_equal(pleat_cpu_set_get(0x7ffffff0, &now), ESRCH);
}

static void test_the_order_of_machines(void **state)
{
    (void)state;
    static const struct {
        const char *topology, *allowed, *wanted;
    } cases[] = {
        {"pack:2 core:4 pu:1", "0-7", "0-7"},
        /* both threads of a core are neighbours in their numbers: first all first ones */
        {"pack:1 core:4 pu:2", "0-7", "0,2,4,6,1,3,5,7"},
        /* numbered as most machines do: core 0 has 0 and 4, and so on */
        {"pack:1 core:4 pu:2(indexes=0,4,1,5,2,6,3,7)", "0-7", "0-7"},
        /* packages take turns in the numbers: neighbours are in the same one */
        {"pack:2 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)", "0-7", "0,2,4,6,1,3,5,7"},
        {"pack:2 numa:1 core:2 pu:2", "0-7", "0,2,4,6,1,3,5,7"},
        /* CPUs that may not be used are left out: then the second thread is the core's first */
        {"pack:1 core:4 pu:2", "1,2-3,7", "1-2,7,3"},
        {"pack:1 core:2 pu:4", "0-7", "0,4,1,5,2,6,3,7"},
        /* no cores known */
        {"numa:2 pu:3", "0-5", "0-5"},
        /* CPUs that the description does not show come last */
        {"pack:1 core:2 pu:1", "0-3", "0-3"},
        {"pack:1 core:2 pu:1", "1,9,70", "1,9,70"},
        /* it is none */
        {"nonsense", "2,0", "0,2"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pleat_cpu_set allowed = set_of(cases[i].allowed);
        struct pleat_cpu_list cpus = {0};
        assert_int_equal(pleat_cpus_in_order(cases[i].topology, &allowed, &cpus, NULL), 0);
        expect_list(&cpus, cases[i].wanted);
        pleat_array_finish(&cpus);
    }
}

/* Nodes of one machine: each has whole cores, and whole sockets where that is possible. */
static void test_shares(void **state)
{
    (void)state;
    static const struct {
        const char *topology, *allowed, *wanted[2];
    } cases[] = {
        {"pack:2 core:2 pu:2", "0-7", {"0-3", "4-7"}},
        {"pack:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", "0-7", {"0-1,4-5", "2-3,6-7"}},
        {"pack:1 core:3 pu:1", "0-2", {"0-1", "2"}},
        {"pack:1 core:2 pu:1", "0", {"0", ""}},
        {"nonsense", "2,0,7", {"0,2", "7"}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (uint32_t share = 0; share < 2; share++) {
            struct pleat_cpu_set cpus = set_of(cases[i].allowed);
            struct pleat_string text = {0};
            assert_int_equal(pleat_cpus_share(cases[i].topology, share, 2, &cpus, NULL), 0);
            pleat_cpu_set_text(&cpus, &text);
            assert_string_equal(text.text ? text.text : "", cases[i].wanted[share]);
            pleat_string_finish(&text);
        }
    }
    struct pleat_cpu_list list = {0};
    assert_int_equal(pleat_cpu_list_parse("0,0,1,1,1", &list, NULL), 0);
    pleat_cpus_keep_share(&list, 1, 2);
    expect_list(&list, "1,1");
    pleat_array_finish(&list);
}

static void test_this_machine(void **state)
{
    (void)state;
    struct pleat_cpu_set allowed, found = {0};
    struct pleat_cpu_list cpus = {0};
    assert_int_equal(pleat_cpu_set_get(0, &allowed), 0);
    assert_int_equal(pleat_cpus_in_order(NULL, &allowed, &cpus, NULL), 0);
    assert_int_equal(cpus.count, pleat_cpu_set_count(&allowed)); /* each once */
    pleat_cpu_set_add_list(&found, &cpus);
    assert_true(pleat_cpu_set_equal(&found, &allowed));
    pleat_array_finish(&cpus);
}

/* Programs of jobs get the agent's environment: variables that it sets for hwloc are not in it
 * afterwards. */
static void test_the_environment_is_as_before(void **state)
{
    (void)state;
    struct pleat_cpu_set allowed;
    struct pleat_cpu_list cpus = {0};
    assert_int_equal(pleat_cpu_set_get(0, &allowed), 0);
    assert_int_equal(unsetenv("HWLOC_PLUGINS_PATH"), 0);
    assert_int_equal(pleat_cpus_in_order(NULL, &allowed, &cpus, NULL), 0);
    assert_null(getenv("HWLOC_PLUGINS_PATH"));
    assert_int_equal(setenv("HWLOC_PLUGINS_PATH", "/a:/b", 1), 0);
    assert_int_equal(pleat_cpus_in_order(NULL, &allowed, &cpus, NULL), 0);
    assert_string_equal(getenv("HWLOC_PLUGINS_PATH"), "/a:/b");
    assert_int_equal(unsetenv("HWLOC_PLUGINS_PATH"), 0);
    pleat_array_finish(&cpus);
}

static void test_named_ones(void **state)
{
    (void)state;
    struct pleat_cpu_set allowed = set_of("0-1,4");
    struct pleat_cpu_list cpus = {0};
    struct pleat_error err = {0};
    assert_int_equal(pleat_cpus_named("4,0-1,0", &allowed, &cpus, &err), 0);
    expect_list(&cpus, "4,0-1,0");
    cpus.count = 0;
    assert_int_equal(pleat_cpus_named("0,2", &allowed, &cpus, &err), PLEAT_E_INVALID);
    assert_string_equal(err.text, "CPU 2 is not there, or may not be used: of this machine's there "
                                  "are 0-1,4");
    assert_int_equal(pleat_cpus_named("two", &allowed, &cpus, &err), PLEAT_E_INVALID);
    assert_int_equal(cpus.count, 0);
    pleat_array_finish(&cpus);
}

static void test_cpus_of_slots(void **state)
{
    (void)state;
    struct pleat_cpu_list cpus = {0}, of = {0};
    struct pleat_error err = {0};
    assert_int_equal(pleat_cpu_list_parse("4,0-1,0", &cpus, NULL), 0);
    assert_int_equal(pleat_cpus_of_slots(&cpus, 2, 2, &of, &err), 0);
    assert_int_equal(pleat_cpus_of_slots(&cpus, 0, 1, &of, &err), 0);
    expect_list(&of, "1,0,4");
    static const uint32_t wrong[][2] = {{4, 1}, {0, 5}, {3, 2}, {1, UINT32_MAX}, {UINT32_MAX, 2}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(pleat_cpus_of_slots(&cpus, wrong[i][0], wrong[i][1], &of, &err),
                         PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "4 CPUs"));
    expect_list(&of, "1,0,4");
    pleat_array_finish(&cpus);
    pleat_array_finish(&of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_a_list_that_is_too_long),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_threads_are_told),
        cmocka_unit_test(test_the_order_of_machines),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_the_environment_is_as_before),
        cmocka_unit_test(test_named_ones),
        cmocka_unit_test(test_cpus_of_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
