/* Accepted sizes: floor and ceil against counting, texts there and back. */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "model/sizes.h"
#include "model/types.h"

enum { HIGHEST = 3000 };

static const int32_t listed[] = {1, 2, 4, 6, 9, 12, 16, 20, 25, 700, 2500};

/* By definition, without any cleverness. */
static bool is_taken(const struct pleat_sizes *sizes, int32_t n)
{
    switch (sizes->kind) {
    case PLEAT_SIZES_POWERS:
        while (n % 2 == 0)
            n /= 2;
        return n == 1;
    case PLEAT_SIZES_SQUARES:
        for (int32_t r = 1; r * r <= n; r++)
            if (r * r == n)
                return true;
        return false;
    case PLEAT_SIZES_MULTIPLES:
        return n % sizes->step == 0;
    case PLEAT_SIZES_GRIDS:
        for (int32_t r = 1; r * r <= n; r++)
            if (r * r == n || r * (r + 1) == n)
                return true;
        return false;
    case PLEAT_SIZES_LIST:
        for (uint32_t i = 0; i < sizes->count; i++)
            if (sizes->list[i] == n)
                return true;
        return false;
    default:
        return true;
    }
}

static void check_kind(const struct pleat_sizes *sizes)
{
    int32_t below = 0;
    for (int32_t n = 1; n <= HIGHEST; n++) {
        if (is_taken(sizes, n))
            below = n;
        if (pleat_sizes_floor(sizes, n) != below)
            fail_msg("kind %d: floor of %d is %d, expected %d", (int)sizes->kind, n,
                     pleat_sizes_floor(sizes, n), below);
    }
    int32_t above = 0;
    for (int32_t n = HIGHEST; n >= 1; n--) {
        if (is_taken(sizes, n))
            above = n;
        if (above && pleat_sizes_ceil(sizes, n) != above)
            fail_msg("kind %d: ceil of %d is %d, expected %d", (int)sizes->kind, n,
                     pleat_sizes_ceil(sizes, n), above);
    }
    assert_int_equal(pleat_sizes_floor(sizes, 0), 0);
    assert_int_equal(pleat_sizes_floor(sizes, -7), 0);
}

static void test_every_kind_against_counting(void **state)
{
    (void)state;
    for (int kind = 0; kind < PLEAT_SIZES_KIND_COUNT; kind++) {
        struct pleat_sizes sizes = {.kind = (enum pleat_sizes_kind)kind,
                                    .list = listed,
                                    .count = sizeof(listed) / sizeof(listed[0])};
        if (kind != PLEAT_SIZES_MULTIPLES)
            check_kind(&sizes);
        for (sizes.step = 1; kind == PLEAT_SIZES_MULTIPLES && sizes.step < 20; sizes.step++)
            check_kind(&sizes);
    }
}

static void test_the_ends_of_the_range(void **state)
{
    (void)state;
    static const struct {
        enum pleat_sizes_kind kind;
        int32_t step, floor, ceil; /* of PLEAT_SIZE_MAX */
    } cases[] = {
        {PLEAT_SIZES_ANY, 0, PLEAT_SIZE_MAX, PLEAT_SIZE_MAX},
        {PLEAT_SIZES_POWERS, 0, PLEAT_SIZE_MAX, PLEAT_SIZE_MAX},  /* 2 to the 24 */
        {PLEAT_SIZES_SQUARES, 0, PLEAT_SIZE_MAX, PLEAT_SIZE_MAX}, /* 4096 squared */
        {PLEAT_SIZES_GRIDS, 0, PLEAT_SIZE_MAX, PLEAT_SIZE_MAX},
        {PLEAT_SIZES_MULTIPLES, 3, PLEAT_SIZE_MAX - 1, 0},
        {PLEAT_SIZES_MULTIPLES, PLEAT_SIZE_MAX, PLEAT_SIZE_MAX, PLEAT_SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pleat_sizes sizes = {.kind = cases[i].kind, .step = cases[i].step};
        assert_int_equal(pleat_sizes_floor(&sizes, PLEAT_SIZE_MAX), cases[i].floor);
        assert_int_equal(pleat_sizes_floor(&sizes, INT32_MAX), cases[i].floor);
        assert_int_equal(pleat_sizes_ceil(&sizes, PLEAT_SIZE_MAX), cases[i].ceil);
        assert_int_equal(pleat_sizes_ceil(&sizes, INT32_MAX), 0);
    }
    static const int32_t some[] = {5, 9};
    struct pleat_sizes list = {.kind = PLEAT_SIZES_LIST, .list = some, .count = 2};
    assert_int_equal(pleat_sizes_floor(&list, 4), 0);
    assert_int_equal(pleat_sizes_ceil(&list, 10), 0);
    list.count = 0;
    assert_int_equal(pleat_sizes_floor(&list, 4), 0);
    assert_int_equal(pleat_sizes_ceil(&list, 4), 0);
}

static void test_texts_there_and_back(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum pleat_sizes_kind kind;
    } texts[] = {{"any", PLEAT_SIZES_ANY},
                 {"powers", PLEAT_SIZES_POWERS},
                 {"squares", PLEAT_SIZES_SQUARES},
                 {"grids", PLEAT_SIZES_GRIDS},
                 {"multiples:1", PLEAT_SIZES_MULTIPLES},
                 {"multiples:16777216", PLEAT_SIZES_MULTIPLES},
                 {"7", PLEAT_SIZES_LIST},
                 {"2,4,6,9,12,16,20,25", PLEAT_SIZES_LIST},
                 {"1,16777216", PLEAT_SIZES_LIST}};
    struct pleat_size_list list = {0};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pleat_sizes sizes;
        struct pleat_string out = {0};
        assert_int_equal(pleat_sizes_parse(texts[i].text, &sizes, &list, NULL), 0);
        assert_int_equal(sizes.kind, texts[i].kind);
        assert_int_equal(list.count, sizes.kind == PLEAT_SIZES_LIST ? sizes.count : 0);
        pleat_sizes_format(&sizes, &out);
        assert_string_equal(out.text, texts[i].text);
        pleat_string_finish(&out);
    }
    pleat_array_finish(&list);
}

static void test_texts_that_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "Any",
                                        "power",
                                        "powers ",
                                        "multiples",
                                        "multiples:",
                                        "multiples:0",
                                        "multiples:-2",
                                        "multiples:2x",
                                        "multiples:16777217",
                                        "2,",
                                        ",2",
                                        "2,,3",
                                        "0,2",
                                        "-1,2",
                                        "3,2",
                                        "2,2",
                                        "2;3",
                                        "1.5",
                                        "16777217",
                                        "99999999999999999999",
                                        "2, 3x",
                                        "\xff\xfe",
                                        "2,4,squares"};
    struct pleat_size_list list = {0};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pleat_sizes sizes;
        struct pleat_error err = {0};
        int rc = pleat_sizes_parse(texts[i], &sizes, &list, &err);
        if (rc != PLEAT_E_INVALID)
            fail_msg("'%s' gives %d", texts[i], rc);
        assert_int_equal(err.code, rc);
        assert_non_null(strstr(err.text, "accepted sizes"));
    }
    pleat_array_finish(&list);
}

static void test_the_longest_list(void **state)
{
    (void)state;
    struct pleat_string text = {0};
    for (int i = 1; i <= PLEAT_SIZES_LIST_MAX; i++)
        pleat_string_addf(&text, "%s%d", i > 1 ? "," : "", i);
    struct pleat_size_list list = {0};
    struct pleat_sizes sizes;
    struct pleat_error err;
    assert_int_equal(pleat_sizes_parse(text.text, &sizes, &list, &err), 0);
    assert_int_equal(sizes.count, PLEAT_SIZES_LIST_MAX);
    assert_int_equal(pleat_sizes_floor(&sizes, PLEAT_SIZES_LIST_MAX + 5), PLEAT_SIZES_LIST_MAX);
    pleat_string_add(&text, ",5000");
    assert_int_equal(pleat_sizes_parse(text.text, &sizes, &list, &err), PLEAT_E_TOOBIG);
    assert_non_null(strstr(err.text, "1024"));
    pleat_string_finish(&text);
    pleat_array_finish(&list);
}

static void scales(const char *text, int32_t times, int32_t most, const char *expected)
{
    struct pleat_sizes sizes;
    struct pleat_size_list list = {0};
    struct pleat_string out = {0};
    struct pleat_error err = {0};
    assert_int_equal(pleat_sizes_parse(text, &sizes, &list, &err), 0);
    assert_int_equal(pleat_sizes_scale(&sizes, times, most, &out, &err), 0);
    if (strncmp(out.text, expected, strlen(expected)) != 0)
        fail_msg("%s times %d: %s, expected %s", text, times, out.text, expected);
    assert_int_equal(pleat_sizes_parse(out.text, &sizes, &list, &err), 0);
    assert_true(pleat_sizes_are_multiples(&sizes, times));
    pleat_string_finish(&out);
    pleat_array_finish(&list);
}

static void test_multiples(void **state)
{
    (void)state;
    scales("any", 3, 9, "multiples:3");
    scales("multiples:4", 3, 100, "multiples:12");
    scales("powers", 3, 4, "3,6,12,24,48");
    scales("squares", 2, 9, "2,8,18,32");
    scales("grids", 2, 9, "2,4,8,12,18,24");
    scales("2,3,5", 4, 5, "8,12,20");
    struct pleat_sizes sizes = {.kind = PLEAT_SIZES_POWERS};
    struct pleat_string out = {0};
    struct pleat_error err;
    assert_true(pleat_sizes_are_multiples(&sizes, 1));
    assert_false(pleat_sizes_are_multiples(&sizes, 2));
    sizes.kind = PLEAT_SIZES_SQUARES;
    assert_int_equal(pleat_sizes_scale(&sizes, 2, 1024 * 1024 * 2, &out, &err), PLEAT_E_TOOBIG);
    pleat_string_finish(&out);
}

/* What two texts have in common up to `most`; NULL: nothing. */
static void have_in_common(const char *one, const char *other, int32_t most, const char *expected)
{
    struct pleat_size_list lists[3] = {{0}};
    struct pleat_sizes sizes[3];
    struct pleat_string out = {0};
    struct pleat_error err;
    assert_int_equal(pleat_sizes_parse(one, &sizes[0], &lists[0], &err), 0);
    assert_int_equal(pleat_sizes_parse(other, &sizes[1], &lists[1], &err), 0);
    for (int turned = 0; turned < 2; turned++) {
        int code =
            pleat_sizes_common(&sizes[turned], &sizes[!turned], most, &sizes[2], &lists[2], &err);
        assert_int_equal(code, expected ? 0 : PLEAT_E_NOTFOUND);
        out.length = 0;
        if (expected)
            pleat_sizes_format(&sizes[2], &out);
        if (expected && strcmp(out.text, expected) != 0)
            fail_msg("%s and %s: %s, expected %s", one, other, out.text, expected);
    }
    for (int i = 0; i < 3; i++)
        pleat_array_finish(&lists[i]);
    pleat_string_finish(&out);
}

static void test_what_two_have_in_common(void **state)
{
    (void)state;
    have_in_common("any", "any", 9, "any");
    have_in_common("any", "powers", 9, "powers");
    have_in_common("any", "2,4,9,12", 9, "2,4,9");
    have_in_common("multiples:2", "multiples:3", 13, "6,12");
    have_in_common("powers", "squares", 64, "1,4,16,64");
    have_in_common("powers", "3,5,6", 64, NULL);
    have_in_common("any", "10,12", 9, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_against_counting),
        cmocka_unit_test(test_the_ends_of_the_range),
        cmocka_unit_test(test_texts_there_and_back),
        cmocka_unit_test(test_texts_that_are_refused),
        cmocka_unit_test(test_the_longest_list),
        cmocka_unit_test(test_multiples),
        cmocka_unit_test(test_what_two_have_in_common),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
