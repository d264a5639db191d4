/* What Slurm's answers are read with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "slurm/ask.h"
#include "slurm/system.h"

/* The names with blanks between them; NULL: it is no list. */
static char *expanded(const char *list, struct pleat_string *text)
{
    json_t *names, *name;
    struct pleat_error err;
    size_t i;
    pleat_string_finish(text);
    if (pleat_slurm_hostlist(list, &names, &err)) {
        assert_int_equal(err.code, PLEAT_E_PROTOCOL);
        assert_non_null(strstr(err.text, "not a list of nodes"));
        assert_null(names);
        return NULL;
    }
    pleat_string_add(text, "");
    json_array_foreach(names, i, name)
        pleat_string_addf(text, "%s%s", i ? " " : "", json_string_value(name));
    json_decref(names);
    return text->text;
}

static void test_lists_of_nodes(void **state)
{
    (void)state;
    static const char *const lists[][2] = {
        {"", ""},
        {"a1", "a1"},
        {"a[1-3]", "a1 a2 a3"},
        {"a[1-3,07],b", "a1 a2 a3 a07 b"},
        {"n[008-011]", "n008 n009 n010 n011"},
        {"r[1-2]n[0-1]x", "r1n0x r1n1x r2n0x r2n1x"},
        {"a,b,c[9]", "a b c9"},
    };
    static const char *const wrong[] = {"a[",
                                        "a[]",
                                        "a[1",
                                        "a[3-1]",
                                        "a[1-]",
                                        "a[-1]",
                                        "a[x]",
                                        "a1]",
                                        ",",
                                        "a,,b",
                                        "a,",
                                        "-a",
                                        "a\nb",
                                        "a[1-2",
                                        "a[1,,2]",
                                        "\xff",
                                        "a[1 ]",
                                        "a[1-9999999]",
                                        "a[1]]b",
                                        "a[0123456789]",
                                        "a[1-1000]b[1-1001]"};
    struct pleat_string text = {0};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        assert_string_equal(expanded(lists[i][0], &text), lists[i][1]);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (expanded(wrong[i], &text))
            fail_msg("'%s' is a list: %s", wrong[i], text.text);
    pleat_string_finish(&text);
}

static void test_words(void **state)
{
    (void)state;
    assert_true(pleat_adapter_is_word("a", 1));
    assert_true(pleat_adapter_is_word("gpu&fast|x", 255));
    assert_false(pleat_adapter_is_word("", 255));
    assert_false(pleat_adapter_is_word("ab", 1));
    assert_false(pleat_adapter_is_word("-a", 255));
    assert_false(pleat_adapter_is_word("a\n", 255));
    assert_false(pleat_adapter_is_word("a\x7f", 255));
}

static void test_values_of_lines(void **state)
{
    (void)state;
    static const char line[] =
        "NodeName=a1 XCPUs=9 CPUs=4 State=IDLE+DRAIN Reason=is State=DOWN Last=";
    char value[8];
    assert_string_equal(pleat_slurm_value(line, "NodeName", value, sizeof(value)), "a1");
    assert_string_equal(pleat_slurm_value(line, "State", value, sizeof(value)), "IDLE+DR");
    assert_string_equal(pleat_slurm_value(line, "Last", value, sizeof(value)), "");
    assert_string_equal(pleat_slurm_value(line, "Name", value, sizeof(value)), "");
    assert_string_equal(pleat_slurm_value("", "Name", value, sizeof(value)), "");
    assert_int_equal(pleat_slurm_number(line, "CPUs", -1), 4);
    assert_int_equal(pleat_slurm_number(line, "State", -1), -1);
    assert_int_equal(pleat_slurm_number(line, "Other", 7), 7);
}

static void test_numbers(void **state)
{
    (void)state;
    int64_t number = 0;
    assert_true(pleat_adapter_is_number("9007199254740992", &number));
    assert_true(number == INT64_C(9007199254740992));
    static const char *const wrong[] = {
        "", "-1", "+1", " 1", "1 ", "1_2", "9007199254740993", "N/A", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(pleat_adapter_is_number(wrong[i], &number));
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int minutes;
    } times[] = {{"T=2-03:04:05", 3064},
                 {"T=2-03:04", 3064},
                 {"T=03:04:05", 184},
                 {"T=04:05", 4},
                 {"T=1-00:00:00 U=1", 1440},
                 {"T=00:00:59", 0},
                 {"T=UNLIMITED", -1},
                 {"T=", -1},
                 {"U=04:05", -1},
                 {"T=5", -1},
                 {"T=2-03", -1},
                 {"T=-04:05", -1},
                 {"T=:05", -1},
                 {"T=99999999999999999999:05", -1}};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        assert_int_equal(pleat_slurm_minutes(times[i].line, "T"), times[i].minutes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_of_nodes),  cmocka_unit_test(test_words),
        cmocka_unit_test(test_values_of_lines), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
