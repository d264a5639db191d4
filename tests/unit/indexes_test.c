/* Lists of the tasks of arrays: what is told of a list is what it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/indexes.h"

static int32_t place_of(const struct pleat_index_list *list, int32_t index)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == index)
            return (int32_t)i;
    return -1;
}

static void test_described_as_listed(void **state)
{
    static const char *const texts[] = {
        "7",         "0-9",   "0-9:2",       "1,4,7-8", "3-4,9,20-40:7%4",
        "0,1000000", "5-5:3", "0-4999%5000", "2,4-6"};
    (void)state;
    for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
        struct pleat_index_list list = {0};
        struct pleat_indexes told;
        int32_t limit;
        assert_int_equal(pleat_indexes_parse(texts[t], &list, &limit, NULL), 0);
        for (int32_t index = -1; index < 50; index++) {
            assert_int_equal(pleat_indexes_describe(texts[t], index, &told, NULL), 0);
            assert_int_equal(told.place, place_of(&list, index));
        }
        assert_int_equal(told.count, list.count);
        assert_int_equal(told.least, list.items[0]);
        assert_int_equal(told.most, list.items[list.count - 1]);
        assert_int_equal(told.step, list.count > 1 ? list.items[1] - list.items[0] : 1);
        assert_int_equal(told.limit, limit);
        pleat_array_finish(&list);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        int code;
    } wrong[] = {{"", PLEAT_E_INVALID},        {"a", PLEAT_E_INVALID},
                 {"3-1", PLEAT_E_INVALID},     {"1-", PLEAT_E_INVALID},
                 {"1,1", PLEAT_E_INVALID},     {"0-9:0", PLEAT_E_INVALID},
                 {"0-9,9", PLEAT_E_INVALID},   {"1,", PLEAT_E_INVALID},
                 {"0-9:4,8", PLEAT_E_INVALID}, {"1%0", PLEAT_E_INVALID},
                 {"1%2,3", PLEAT_E_INVALID},   {"1000001", PLEAT_E_INVALID},
                 {"0-5000", PLEAT_E_TOOBIG},   {"0-4998,4999-5000", PLEAT_E_TOOBIG}};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pleat_index_list list = {0};
        struct pleat_indexes told;
        int32_t limit;
        assert_int_equal(pleat_indexes_parse(wrong[i].text, &list, &limit, NULL), wrong[i].code);
        assert_int_equal(pleat_indexes_describe(wrong[i].text, 0, &told, NULL), wrong[i].code);
        pleat_array_finish(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_described_as_listed),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
